//! Which names mean a file? Sessions name it as they were told, from the folder they ran in.

use std::path::{Component, Path, PathBuf};

/// The names of a file.
pub(super) struct FileNames {
    file: Named,
    last: String,
}

enum Named {
    /// One file: its path as it was asked for, and with links resolved.
    File(Vec<PathBuf>),
    /// The file at this path in any working tree of a repository, those that are gone and those of
    /// other machines among them.
    Anywhere {
        relative: PathBuf,
        trees: Vec<PathBuf>,
    },
}

impl FileNames {
    /// Of the file at an absolute path.
    pub fn of(file: &Path) -> Self {
        let mut paths = vec![plain(file)];
        paths.extend(resolved(file));
        Self::named(file, Named::File(paths))
    }

    /// Of the file at this path in a repository with these working trees.
    pub fn anywhere(relative: &Path, trees: &[PathBuf]) -> Self {
        let (relative, trees) = (relative.to_path_buf(), trees.to_vec());
        Self::named(&relative.clone(), Named::Anywhere { relative, trees })
    }

    fn named(path: &Path, file: Named) -> Self {
        let last = path.file_name().unwrap_or_default();
        Self {
            last: last.to_string_lossy().into_owned(),
            file,
        }
    }

    /// Its name without the folder.
    pub fn last(&self) -> &str {
        &self.last
    }

    /// Whether this path means the file, in a call that was to run in `folder` in a session that
    /// ran in `cwd`.
    pub fn are_meant(&self, path: &str, folder: Option<&str>, cwd: &str) -> bool {
        self.tree(path, folder, cwd).is_some()
    }

    /// The working tree in which this path means the file; of one file always the same. `None`: it
    /// means another one.
    pub fn tree(&self, path: &str, folder: Option<&str>, cwd: &str) -> Option<PathBuf> {
        let named = absolute(path, folder, cwd);
        match &self.file {
            _ if named.file_name().is_none_or(|name| *name != *self.last) => None,
            Named::File(paths) => {
                let is_meant = paths.contains(&named)
                    || resolved(&named).is_some_and(|path| paths.contains(&path));
                is_meant.then(PathBuf::new)
            }
            Named::Anywhere { relative, trees } => {
                let depth = relative.components().count();
                let top = named.ancestors().nth(depth)?;
                let is_inside = named.strip_prefix(top).is_ok_and(|below| below == relative);
                // Where there is no such folder, the session itself has to have run in it.
                let is_gone = || !top.exists() && Path::new(cwd).starts_with(top);
                (is_inside && (trees.iter().any(|tree| tree == top) || is_gone()))
                    .then(|| top.to_path_buf())
            }
        }
    }
}

/// Where a path leads that is written in a session.
pub(super) fn absolute(path: &str, folder: Option<&str>, cwd: &str) -> PathBuf {
    let from = Path::new(cwd).join(folder.unwrap_or_default());
    plain(&from.join(path))
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The path with the links on the way to the file resolved; the file itself may be gone.
fn resolved(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}
