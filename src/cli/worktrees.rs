//! Which other directories are working trees of the same git repository? Read from `.git`; git is
//! not run.

use std::fs;
use std::path::{Path, PathBuf};

/// The main and all linked working trees of the repository around `directory`, but for the one it
/// is in.
pub fn siblings(directory: &Path) -> Vec<PathBuf> {
    let Some((own, common)) = directory.ancestors().find_map(repository) else {
        return Vec::new();
    };
    let main = common.parent().map(Path::to_path_buf);
    let linked = fs::read_dir(common.join("worktrees"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let file = first_line(&entry.path().join("gitdir"))?;
            PathBuf::from(file).parent().map(Path::to_path_buf)
        });
    let mut found: Vec<PathBuf> = main
        .into_iter()
        .chain(linked)
        .map(|path| path.canonicalize().unwrap_or(path))
        .filter(|path| *path != own)
        .collect();
    found.sort();
    found.dedup();
    found
}

/// If `directory` is the top of a working tree: itself, and the repository's common folder.
fn repository(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = directory.join(".git");
    let metadata = fs::metadata(&git).ok()?;
    let own = directory.canonicalize().ok()?;
    if metadata.is_dir() {
        return Some((own, git.canonicalize().ok()?));
    }
    // A linked working tree: `.git` names a folder of its own, in which `commondir` names the
    // shared one.
    let line = first_line(&git)?;
    let private = directory.join(line.strip_prefix("gitdir:")?.trim());
    let common = private.join(first_line(&private.join("commondir"))?);
    Some((own, common.canonicalize().ok()?))
}

fn first_line(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_and_linked_trees_know_each_other() -> std::io::Result<()> {
        let home = tempfile::tempdir()?;
        let at = |path: &str| home.path().join(path);
        fs::create_dir_all(at("app/src"))?;
        fs::create_dir_all(at("app/.git/worktrees/fix"))?;
        fs::create_dir_all(at("app-fix"))?;
        fs::write(at("app/.git/worktrees/fix/commondir"), "../..\n")?;
        let link = format!("{}\n", at("app-fix/.git").display());
        fs::write(at("app/.git/worktrees/fix/gitdir"), link)?;
        let private = at("app/.git/worktrees/fix");
        fs::write(
            at("app-fix/.git"),
            format!("gitdir: {}\n", private.display()),
        )?;
        assert_eq!(siblings(&at("app/src")), [at("app-fix").canonicalize()?]);
        assert_eq!(siblings(&at("app-fix")), [at("app").canonicalize()?]);
        assert_eq!(siblings(home.path()), Vec::<PathBuf>::new());
        Ok(())
    }
}
