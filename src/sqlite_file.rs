//! By what name does SQLite open a file, and which file stands beside it?

use std::path::{Path, PathBuf};

/// The path of a file that SQLite keeps beside the database, by its ending, as `-wal`.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The name by which SQLite opens the file as the query says, as `mode=ro`. With `immutable=1` it
/// reads the file alone, and none beside it.
pub fn uri(path: &Path, query: &str) -> String {
    // After `file:` SQLite takes what follows as it is: of Windows drives, shares (`\\host\share`)
    // and `\\?\` too. Two slashes would begin the name of a host: before them stands that of none.
    let escaped = path
        .to_string_lossy()
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let host = if escaped.starts_with("//") { "//" } else { "" };
    format!("file:{host}{escaped}?{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(windows))]
    #[test]
    fn a_path_keeps_its_letters() {
        let uri = uri(Path::new("/a b/50%?#.db"), "mode=ro");
        assert_eq!(uri, "file:/a b/50%25%3f%23.db?mode=ro");
    }

    #[test]
    fn two_slashes_are_no_host() {
        let uri = uri(Path::new("//a/b.db"), "mode=ro");
        assert_eq!(uri, "file:////a/b.db?mode=ro");
    }

    #[cfg(windows)]
    #[test]
    fn a_path_keeps_its_letters() {
        for (path, name) in [
            (r"C:\a b\50%#.db", r"C:\a b\50%25%23.db"),
            (r"\\host\share\a.db", r"\\host\share\a.db"),
            (r"\\?\C:\a.db", r"\\%3f\C:\a.db"),
        ] {
            assert_eq!(
                uri(Path::new(path), "mode=ro"),
                format!("file:{name}?mode=ro")
            );
        }
    }

    #[test]
    fn a_name_is_added_to() {
        let wal = beside(Path::new("a.b/c.db"), "-wal");
        assert_eq!(wal, Path::new("a.b/c.db-wal"));
    }
}
