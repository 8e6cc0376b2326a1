//! Of which remote is the repository around a directory? Each directory is looked up once.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use super::{holds_home, remote, top_around};
use crate::regular;

/// The remotes of directories.
#[derive(Debug, Default)]
pub(crate) struct Remotes {
    home: Option<PathBuf>,
    known: HashMap<String, FoundRemote>,
    /// By the folder of the machine that has them: what its directories are of.
    foreign: HashMap<PathBuf, BTreeMap<String, String>>,
}

/// The file beside the folders of another machine's sessions that says of which repositories that
/// machine's directories are: an object of directories, each with its remote, and of files, where a
/// directory has several.
const FOREIGN: &str = "repositories.json";
/// Bytes of it that are read at most.
const MOST_FOREIGN: u64 = 16 << 20;
/// No remote is longer.
const LONGEST_REMOTE: usize = 1 << 10;

/// What was found of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FoundRemote {
    /// Its remote. Of a directory that is gone, that of the nearest folder above it which is there.
    pub remote: Option<String>,
    /// Whether it is there.
    pub is_there: bool,
}

impl Remotes {
    /// Without the repositories at the top of this home folder, or above it: who keeps that in git
    /// does not work on one thing.
    pub fn apart_from(home: Option<&Path>) -> Self {
        let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_path_buf()));
        Self {
            home,
            known: HashMap::new(),
            foreign: HashMap::new(),
        }
    }

    /// The remote of a directory.
    pub fn of(&mut self, directory: &str) -> FoundRemote {
        if let Some(known) = self.known.get(directory) {
            return known.clone();
        }
        let found = self.find(Path::new(directory));
        self.known.insert(directory.to_owned(), found.clone());
        found
    }

    /// The remote of a session of another machine, as that machine said: by its file, where the
    /// directory was a checkout of several repositories, else by its directory. Here may be another
    /// directory of that name.
    pub fn of_foreign(&mut self, root: &Path, file: &Path, directory: &str) -> FoundRemote {
        let folder = root.parent().unwrap_or(root);
        let said = self
            .foreign
            .entry(folder.to_path_buf())
            .or_insert_with(|| foreign(&folder.join(FOREIGN)).unwrap_or_default());
        // Of a document that stands for rows, a session is below its file.
        let below = file.strip_prefix(folder).unwrap_or(Path::new(""));
        let by_file = below.ancestors().find_map(|file| {
            let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
            said.get(&parts.join("/"))
        });
        let remote = by_file.or_else(|| said.get(directory));
        let remote = remote.filter(|remote| remote.len() <= LONGEST_REMOTE);
        FoundRemote {
            remote: remote.cloned(),
            is_there: remote.is_some(),
        }
    }

    fn find(&self, directory: &Path) -> FoundRemote {
        let mut above = directory.ancestors().filter(|above| above.is_absolute());
        let resolved = above.find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
        let Some((above, there)) = resolved else {
            return FoundRemote::default();
        };
        FoundRemote {
            remote: self.remote_at(&there),
            is_there: above == directory,
        }
    }

    fn remote_at(&self, there: &Path) -> Option<String> {
        let (top, common) = top_around(there)?;
        match holds_home(&top, self.home.as_deref()) {
            true => None,
            false => remote(&common, &top),
        }
    }

    /// Look all of them up again when they are asked for.
    pub fn forget(&mut self) {
        self.known.clear();
        self.foreign.clear();
    }
}

fn foreign(file: &Path) -> Option<BTreeMap<String, String>> {
    // What is cut off is no object.
    let bytes = regular::read_unlinked(file, MOST_FOREIGN).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn of_directories_that_are_gone_and_of_a_home_in_git() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let home = folder.path().canonicalize()?.join("home");
        for (top, url) in [("", "https://host/dots"), ("app", "git@host:app.git")] {
            let git = home.join(top).join(".git");
            fs::create_dir_all(&git)?;
            fs::write(git.join("HEAD"), "")?;
            fs::write(
                git.join("config"),
                format!("[remote \"origin\"]\nurl = {url}\n"),
            )?;
        }
        std::os::unix::fs::symlink(home.join("app"), home.join("link"))?;
        let mut remotes = Remotes::apart_from(Some(&home));
        let mut of = |below: &str| remotes.of(&home.join(below).display().to_string());
        for (within, is_there) in [
            ("app", true),
            ("app/gone/too", false),
            ("link", true),
            ("app/.git", true),
        ] {
            let remote = Some("host/app".to_owned());
            assert_eq!(of(within), FoundRemote { remote, is_there }, "{within}");
        }
        for outside in ["", "other", ".git"] {
            assert_eq!(of(outside).remote, None, "{outside}");
        }
        for nowhere in ["", "app", "home/app"] {
            assert_eq!(remotes.of(nowhere), FoundRemote::default());
        }
        // It is asked once, until that is forgotten.
        fs::remove_dir_all(home.join("app"))?;
        let app = home.join("app").display().to_string();
        assert_eq!(remotes.of(&app).remote.as_deref(), Some("host/app"));
        remotes.forget();
        assert_eq!(remotes.of(&app), FoundRemote::default());
        Ok(())
    }
}
