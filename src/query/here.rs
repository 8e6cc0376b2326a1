//! Is a session one of the directories that were asked for?

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::catalogue::filter_columns::SessionFilterRow;

/// The directories that were asked for, with links resolved; none of them: every one.
#[derive(Debug, Clone, Default)]
pub(super) struct Here {
    /// This one alone.
    at: Option<PathBuf>,
    /// These with all below them.
    within: Vec<PathBuf>,
}

impl Here {
    pub fn of(at: Option<&Path>, within: &[PathBuf]) -> Self {
        Self {
            at: at.map(canonical),
            within: within.iter().map(|folder| resolved(folder)).collect(),
        }
    }

    /// Whether every directory is meant.
    pub fn is_everywhere(&self) -> bool {
        self.at.is_none() && self.within.is_empty()
    }
}

/// Working directories with links resolved, each looked up once.
#[derive(Default)]
pub(super) struct ResolvedDirs {
    canonical: HashMap<String, PathBuf>,
    resolved: HashMap<String, PathBuf>,
    repositories: HashMap<String, Option<PathBuf>>,
}

impl ResolvedDirs {
    /// Whether the session is one of `here`: it was started there, or, where its agent goes by
    /// projects, its project is there, or the working tree that holds it.
    pub fn is_here(&mut self, session: &SessionFilterRow<'_>, here: &Here) -> bool {
        match session.own("projectRoot") {
            Some(project) => self.is_folder_here(&project, true, here),
            None => self.is_folder_here(session.cwd, false, here),
        }
    }

    /// Whether sessions of a working directory, or of a project, are of `here`.
    pub fn is_folder_here(&mut self, folder: &str, is_project: bool, here: &Here) -> bool {
        let is_at = here.at.as_deref().is_none_or(|at| {
            self.is_at(folder, at) || is_project && self.repository(folder) == Some(at)
        });
        is_at && (here.within.is_empty() || self.is_within(folder, &here.within))
    }

    fn is_at(&mut self, cwd: &str, at: &Path) -> bool {
        if cwd.is_empty() {
            return false;
        }
        if !self.canonical.contains_key(cwd) {
            let place = canonical(Path::new(cwd));
            self.canonical.insert(cwd.to_string(), place);
        }
        self.canonical.get(cwd).is_some_and(|place| place == at)
    }

    fn is_within(&mut self, cwd: &str, folders: &[PathBuf]) -> bool {
        if cwd.is_empty() {
            return false;
        }
        if !self.resolved.contains_key(cwd) {
            let place = resolved(Path::new(cwd));
            self.resolved.insert(cwd.to_string(), place);
        }
        let place = self.resolved.get(cwd);
        place.is_some_and(|place| folders.iter().any(|folder| place.starts_with(folder)))
    }

    /// The nearest directory with a `.git` above a project. git itself is never run.
    fn repository(&mut self, project: &str) -> Option<&Path> {
        if !self.repositories.contains_key(project) {
            let place = canonical(Path::new(project));
            let found = place
                .ancestors()
                .filter(|_| place.is_absolute())
                .find(|folder| folder.join(".git").exists());
            self.repositories
                .insert(project.to_string(), found.map(Path::to_path_buf));
        }
        self.repositories.get(project)?.as_deref()
    }
}

/// Links resolved; a directory that is gone stays as written.
pub(super) fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.components().collect())
}

/// Links resolved, of a directory that is gone in what is left of the way to it.
fn resolved(path: &Path) -> PathBuf {
    let there = path.ancestors().filter(|above| above.is_absolute());
    let there = there.map(|above| (above, std::fs::canonicalize(above)));
    let found = there
        .filter_map(|(above, found)| Some((above, found.ok()?)))
        .next();
    found
        .and_then(|(above, found)| Some(found.join(path.strip_prefix(above).ok()?)))
        // A path of this directory itself would end with a separator.
        .map_or_else(|| canonical(path), |path| path.components().collect())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn folders_below_and_folders_that_are_gone() -> std::io::Result<()> {
        let home = tempfile::tempdir()?;
        let real = home.path().join("real");
        let link = home.path().join("link");
        std::fs::create_dir_all(real.join("app/src"))?;
        std::os::unix::fs::symlink(&real, &link)?;
        let here = Here::of(None, &[link.join("app"), real.join("gone")]);
        let mut places = ResolvedDirs::default();
        let mut is_here =
            |folder: PathBuf| places.is_folder_here(&folder.display().to_string(), false, &here);
        for inside in ["app", "app/src", "app/src/gone", "gone", "gone/too"] {
            assert!(is_here(real.join(inside)), "{inside}");
            assert!(is_here(link.join(inside)), "{inside}");
        }
        for outside in ["", "application", "gone-too"] {
            assert!(!is_here(real.join(outside)), "{outside}");
        }
        assert!(!is_here(PathBuf::new()));
        Ok(())
    }
}
