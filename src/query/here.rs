//! Is a session one of the directories that were asked for?

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::catalogue::filter_columns::SessionFilterRow;
use crate::repository::common_folder;

/// Whose sessions are meant: those of a directory, of folders with all below them, of repositories.
/// The default is all of them, wherever they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WhereScope {
    /// Only sessions of this working directory (by the session's header, links resolved on both
    /// sides).
    pub cwd: Option<PathBuf>,
    /// Only sessions whose working directory is one of these or lies below one of them (links
    /// resolved on both sides); none = wherever they are.
    pub within: Vec<PathBuf>,
    /// The common folders of the git repositories whose working trees `within` are (see
    /// [`Repository`](crate::repository::Repository)): what lies below them in another repository,
    /// as far as it is there, is left out. None: nothing is.
    pub repositories: Vec<PathBuf>,
    /// The remotes of these repositories (see [`Repository::remote`]): sessions of one of them, by
    /// [`SessionRow::repository`], count wherever their directory is.
    ///
    /// [`Repository::remote`]: crate::repository::Repository::remote
    /// [`SessionRow::repository`]: crate::model::SessionRow::repository
    pub remotes: Vec<String>,
}

impl WhereScope {
    /// Only sessions of this working directory.
    pub fn directory(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: Some(cwd.into()),
            ..Self::default()
        }
    }
}

/// The directories that were asked for, with links resolved; none of them: every one.
#[derive(Debug, Clone, Default)]
pub(super) struct Here {
    /// This one alone.
    at: Option<PathBuf>,
    /// These with all below them.
    within: HashSet<PathBuf>,
    /// The common folders of the repositories whose working trees they are.
    repositories: Vec<PathBuf>,
    /// Their remotes: sessions of these count wherever they are.
    remotes: HashSet<String>,
}

impl Here {
    pub fn of(asked: &WhereScope) -> Self {
        let repositories = asked.repositories.iter();
        Self {
            at: asked.cwd.as_deref().map(canonical),
            within: asked.within.iter().map(|folder| resolved(folder)).collect(),
            repositories: repositories.map(|one| canonical(one)).collect(),
            remotes: asked.remotes.iter().cloned().collect(),
        }
    }

    /// Whether every directory is meant.
    pub fn is_everywhere(&self) -> bool {
        self.at.is_none() && self.within.is_empty() && self.remotes.is_empty()
    }

    /// Its remotes.
    pub fn remotes(&self) -> impl Iterator<Item = &String> {
        self.remotes.iter()
    }

    /// Whether a directory is one of `within` or lies below one. Of a repository's working tree
    /// nothing counts that lies in a repository that was not asked for.
    fn holds(&self, place: &Path) -> bool {
        let is_asked = |above: &&Path| self.within.contains(*above);
        let Some(asked) = place.ancestors().find(is_asked) else {
            return false;
        };
        if self.repositories.is_empty() {
            return true;
        }
        let mut below = place.ancestors().take_while(|above| *above != asked);
        below
            .find_map(common_folder)
            .is_none_or(|nearest| self.repositories.contains(&nearest))
    }
}

/// Working directories, each looked up once.
pub(super) struct ResolvedDirs<'a> {
    here: &'a Here,
    canonical: HashMap<String, PathBuf>,
    within: HashMap<String, bool>,
    repositories: HashMap<String, Option<PathBuf>>,
}

impl<'a> ResolvedDirs<'a> {
    pub fn new(here: &'a Here) -> Self {
        Self {
            here,
            canonical: HashMap::new(),
            within: HashMap::new(),
            repositories: HashMap::new(),
        }
    }

    /// Whether the session is one of those of `here`: it was started there, or, where its agent
    /// goes by projects, its project is there, or the working tree that holds it; or it is of the
    /// same remote.
    pub fn is_here(&mut self, session: &SessionFilterRow<'_>) -> bool {
        let remotes = &self.here.remotes;
        if session.repository.is_some_and(|one| remotes.contains(one)) {
            return true;
        }
        // A folder of another machine is none of these, whatever it is called.
        if !session.host.is_empty() {
            return false;
        }
        match session.own("projectRoot") {
            Some(project) => self.is_folder_here(&project, true),
            None => self.is_folder_here(session.cwd, false),
        }
    }

    /// Whether sessions of a working directory, or of a project, are of `here`.
    pub fn is_folder_here(&mut self, folder: &str, is_project: bool) -> bool {
        let here = self.here;
        let is_at = here.at.as_deref().is_none_or(|at| {
            self.is_at(folder, at) || is_project && self.repository(folder) == Some(at)
        });
        let is_any = here.within.is_empty() && here.remotes.is_empty();
        is_at && (is_any || self.is_within(folder))
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

    fn is_within(&mut self, cwd: &str) -> bool {
        if cwd.is_empty() {
            return false;
        }
        if let Some(known) = self.within.get(cwd) {
            return *known;
        }
        let found = self.here.holds(&resolved(Path::new(cwd)));
        self.within.insert(cwd.to_string(), found);
        found
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
        let here = Here::of(&WhereScope {
            within: vec![link.join("app"), real.join("gone")],
            ..WhereScope::default()
        });
        let mut places = ResolvedDirs::new(&here);
        let mut is_here =
            |folder: PathBuf| places.is_folder_here(&folder.display().to_string(), false);
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
