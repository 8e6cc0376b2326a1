//! What is a project called?

/// What a working directory is called: its last folder. One that is a mere number, as tools call
/// the working trees that they make, is told apart by the folder above it (`app/1`).
pub fn project_name(cwd: &str) -> &str {
    let path = cwd.trim_end_matches(['/', '\\']);
    let name = last_folder(path);
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_digit()) {
        return name;
    }
    let above = path[..path.len() - name.len()].trim_end_matches(['/', '\\']);
    match last_folder(above) {
        "" => name,
        parent => &path[above.len() - parent.len()..],
    }
}

fn last_folder(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::project_name;

    #[test]
    fn a_number_is_no_name_of_a_project() {
        for (cwd, name) in [
            ("/code/app", "app"),
            ("/code/app/", "app"),
            ("/trees/app/1", "app/1"),
            ("/trees/app/12/", "app/12"),
            ("/trees//1", "trees//1"),
            (r"C:\trees\app\2", r"app\2"),
            ("/1", "1"),
            ("1", "1"),
            ("", ""),
            ("/", ""),
            ("/日本/3", "日本/3"),
        ] {
            assert_eq!(project_name(cwd), name, "{cwd}");
        }
    }
}
