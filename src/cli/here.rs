//! Which directories does "here" mean? The repository: all its working trees, those that are gone
//! among them.

use std::path::{Path, PathBuf};

use sessionary::index::{ListScope, WhereScope};
use sessionary::repository::{Repository, holds_home};
use sessionary::settings::Surroundings;

use crate::known_trees;
use crate::output::Screen;

/// Where somebody stands, and what counts as there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Here {
    /// The current directory.
    pub directory: PathBuf,
    /// Directories that count with all below them; none: the current directory alone.
    pub within: Vec<PathBuf>,
    /// The repository around the current directory, if that is what counts.
    repository: Option<Repository>,
}

impl Here {
    /// The current directory alone.
    pub fn alone(directory: PathBuf) -> Self {
        Self {
            directory,
            within: Vec::new(),
            repository: None,
        }
    }

    /// All working trees of the repository around `directory`; where there is none, the directory
    /// with all below it. A home folder, or one above it, never counts with all below: who keeps it
    /// in git does not work on one thing.
    pub fn around(directory: PathBuf, surroundings: &Surroundings) -> Self {
        let home = surroundings.home.as_deref();
        let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_path_buf()));
        let is_all = |folder: &Path| holds_home(folder, home.as_deref());
        let found = Repository::around(&directory).filter(|found| !is_all(&found.top));
        if let Some(repository) = found {
            let file = known_trees::file(surroundings);
            let mut within = known_trees::all_trees(&repository, file.as_deref());
            within.retain(|tree| !is_all(tree));
            return Self {
                directory,
                within,
                repository: Some(repository),
            };
        }
        let resolved = directory.canonicalize();
        match is_all(resolved.as_deref().unwrap_or(&directory)) {
            true => Self::alone(directory),
            false => Self {
                within: vec![directory.clone()],
                directory,
                repository: None,
            },
        }
    }

    /// Whether the current directory alone counts.
    pub fn is_alone(&self) -> bool {
        self.within.is_empty()
    }

    /// Whose sessions are here, as the library takes it: those of other checkouts of the
    /// repository's remote too.
    pub fn scope(&self) -> WhereScope {
        let repository = self.repository.iter();
        WhereScope {
            cwd: self.is_alone().then(|| self.directory.clone()),
            within: self.within.clone(),
            repositories: repository.clone().map(|one| one.common.clone()).collect(),
            remotes: repository.filter_map(Repository::remote).collect(),
        }
    }

    /// The list of which `last` is the first row: the sessions here as `list` has them, of this
    /// machine alone.
    pub fn own_list(&self) -> ListScope {
        ListScope {
            at: self.scope(),
            only_own: true,
            fold_subagents: true,
            ..ListScope::default()
        }
    }

    /// What it is called.
    pub fn name(&self, screen: &Screen) -> String {
        match &self.repository {
            Some(found) => format!("the repository {}", screen.path(&found.top)),
            None => screen.path(&self.directory),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_home_folder_in_git_is_not_one_repository() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let home = folder.path().canonicalize()?.join("home");
        let here = |below: &str| {
            let surroundings = Surroundings {
                home: Some(home.clone()),
                ..Surroundings::default()
            };
            let here = Here::around(home.join(below), &surroundings);
            let below = |path: &PathBuf| path.strip_prefix(&home).ok().map(Path::to_path_buf);
            (
                here.within.iter().filter_map(below).collect::<Vec<_>>(),
                here.repository.is_some(),
            )
        };
        fs::create_dir_all(home.join("code/app/.git"))?;
        fs::write(home.join("code/app/.git/HEAD"), "")?;
        fs::create_dir_all(home.join("code/app/src"))?;
        let is = |within: &[&str], is_repository| {
            (
                within.iter().map(PathBuf::from).collect::<Vec<_>>(),
                is_repository,
            )
        };
        for at in ["", "..", "code", "code/app/src"] {
            for git in ["home/.git", ".git"] {
                let before = here(at);
                fs::create_dir_all(folder.path().join(git))?;
                fs::write(folder.path().join(git).join("HEAD"), "")?;
                assert_eq!(here(at), before, "{at} {git}");
                fs::remove_dir_all(folder.path().join(git))?;
            }
        }
        assert_eq!(here(""), is(&[], false));
        assert_eq!(here("code"), is(&["code"], false));
        assert_eq!(here("code/app/src"), is(&["code/app"], true));
        Ok(())
    }
}
