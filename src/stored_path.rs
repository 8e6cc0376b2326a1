//! How is the path of a file below a root stored, and where is the file then? What is stored has
//! slashes on every system, and a path that is shown, or compared with one that an agent wrote, has
//! the system's own.

use std::path::{Path, PathBuf};

/// A path below a root as it is stored.
pub fn slashed(relative: impl Into<String>) -> String {
    let relative = relative.into();
    match cfg!(windows) {
        true => relative.replace('\\', "/"),
        false => relative,
    }
}

/// The path of what is stored as `relative` below `root`.
pub fn below(root: &Path, relative: impl AsRef<Path>) -> PathBuf {
    native(root.join(relative))
}

/// The same path with the system's own separators: Windows takes slashes too, and its programs
/// write none.
pub fn native(path: PathBuf) -> PathBuf {
    match cfg!(windows) {
        true => path.components().collect(),
        false => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(windows))]
    #[test]
    fn a_name_may_hold_a_backslash() {
        assert_eq!(slashed(r"a\b/c"), r"a\b/c");
        assert_eq!(below(Path::new("/r"), r"a\b/c"), Path::new(r"/r/a\b/c"));
    }

    #[cfg(windows)]
    #[test]
    fn what_is_stored_has_slashes_and_what_is_shown_has_none() {
        assert_eq!(slashed(r"a\b\c"), "a/b/c");
        let path = below(Path::new(r"C:\Users\ada/.pi"), "a/b/c");
        assert_eq!(path.to_str(), Some(r"C:\Users\ada\.pi\a\b\c"));
        assert_eq!(native(r"\\?\C:\a".into()).to_str(), Some(r"\\?\C:\a"));
    }
}
