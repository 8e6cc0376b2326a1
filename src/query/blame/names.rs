//! Which names mean a file? Sessions name it as they were told, from the folder they ran in.

use std::path::{Path, PathBuf};

use crate::model::SessionRow;
use crate::repository::Repository;
use crate::session::plain;

/// The names of a file.
pub(super) struct FileNames {
    file: FileIdentity,
    file_name: String,
    checkout: Option<Checkout>,
}

/// Where a file is in its repository: sessions of other machines name it in checkouts of theirs.
struct Checkout {
    remote: String,
    relative: PathBuf,
}

enum FileIdentity {
    /// One file: its path as it was asked for, and with links resolved.
    File(Vec<PathBuf>),
    /// The file at this path in any working tree of a repository, those that are gone among them.
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
        let checkout = paths.last().and_then(|file| Checkout::of(file));
        Self::named(file, FileIdentity::File(paths), checkout)
    }

    /// Of the file at this path in a repository with these working trees.
    pub fn anywhere(relative: &Path, trees: &[PathBuf]) -> Self {
        let (relative, trees) = (relative.to_path_buf(), trees.to_vec());
        let mut there = trees.iter().filter_map(|tree| Repository::around(tree));
        let remote = there.find_map(|repository| repository.remote());
        let checkout = remote.map(|remote| Checkout {
            remote,
            relative: relative.clone(),
        });
        Self::named(
            &relative.clone(),
            FileIdentity::Anywhere { relative, trees },
            checkout,
        )
    }

    fn named(path: &Path, file: FileIdentity, checkout: Option<Checkout>) -> Self {
        let file_name = path.file_name().unwrap_or_default();
        Self {
            file_name: file_name.to_string_lossy().into_owned(),
            file,
            checkout,
        }
    }

    /// Its path with links resolved, where it is one file.
    pub fn file(&self) -> Option<&Path> {
        match &self.file {
            FileIdentity::File(paths) => paths.last().map(PathBuf::as_path),
            FileIdentity::Anywhere { .. } => None,
        }
    }

    /// Its name without the folder.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Whether they mean this path, in a call of the session that was to run in `folder`.
    pub fn mean(&self, path: &str, folder: Option<&str>, session: &SessionRow) -> bool {
        self.tree(path, folder, session).is_some()
    }

    /// The working tree in which this path means the file; of one file always the same. `None`: it
    /// means another one.
    pub fn tree(&self, path: &str, folder: Option<&str>, session: &SessionRow) -> Option<PathBuf> {
        let cwd = &session.cwd;
        let named = absolute(path, folder, cwd);
        match &self.file {
            _ if named
                .file_name()
                .is_none_or(|name| *name != *self.file_name) =>
            {
                None
            }
            file if session.host.is_some() => {
                let top = self.checkout.as_ref()?.top(&named, session)?;
                Some(match file {
                    FileIdentity::File(_) => PathBuf::new(),
                    FileIdentity::Anywhere { .. } => top,
                })
            }
            FileIdentity::File(paths) => {
                let is_meant = paths.contains(&named)
                    || resolved(&named).is_some_and(|path| paths.contains(&path));
                is_meant.then(PathBuf::new)
            }
            FileIdentity::Anywhere { relative, trees } => {
                let top = above(&named, relative)?;
                // Where there is no such folder, the session itself has to have run in it, in a
                // checkout of the same repository, or where agents make its work trees.
                let remote = self.checkout.as_ref().map(|checkout| &checkout.remote);
                let is_remote = || remote.is_some() && session.repository.as_ref() == remote;
                let is_of_it = || is_remote() || trees.iter().any(|tree| is_work_tree(top, tree));
                let is_gone = || !top.exists() && Path::new(cwd).starts_with(top) && is_of_it();
                (trees.iter().any(|tree| tree == top) || is_gone()).then(|| top.to_path_buf())
            }
        }
    }
}

impl Checkout {
    /// Of a file in the repository around it, if that has a remote.
    fn of(file: &Path) -> Option<Self> {
        let repository = Repository::around(file.parent()?)?;
        Some(Self {
            remote: repository.remote()?,
            relative: file.strip_prefix(&repository.top).ok()?.to_path_buf(),
        })
    }

    /// The top of another machine's checkout in which the session ran, where that path means the
    /// file in it.
    fn top(&self, named: &Path, session: &SessionRow) -> Option<PathBuf> {
        let top = above(named, &self.relative)?;
        let is_of_it = session.repository.as_ref() == Some(&self.remote);
        (is_of_it && Path::new(&session.cwd).starts_with(top)).then(|| top.to_path_buf())
    }
}

/// Whether a folder is where Claude Code, and others, make work trees of the one around it, which
/// they remove afterwards: `.claude/worktrees/NAME` and `.worktrees/NAME`.
fn is_work_tree(folder: &Path, around: &Path) -> bool {
    let places = [".claude/worktrees", ".worktrees"];
    let mut places = places.iter().map(|place| around.join(place));
    places.any(|place| folder.parent() == Some(&place))
}

/// The folder below which a path is this one.
fn above<'a>(named: &'a Path, relative: &Path) -> Option<&'a Path> {
    let top = named.ancestors().nth(relative.components().count())?;
    let is_inside = named.strip_prefix(top).is_ok_and(|below| below == relative);
    is_inside.then_some(top)
}

/// Where a path leads that is written in a session.
pub(in crate::query) fn absolute(path: &str, folder: Option<&str>, cwd: &str) -> PathBuf {
    let from = Path::new(cwd).join(folder.unwrap_or_default());
    plain(&from.join(path))
}

/// The path with the links on the way to the file resolved; the file itself may be gone.
fn resolved(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}
