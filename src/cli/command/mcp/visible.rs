//! Which sessions may an agent see? Those of its client's repository.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use sessionary::index::{ListScope, SearchScope, WhereScope};
use sessionary::locations::file_url;

use crate::here::Here;
use crate::places;

/// So long is waited for a client that was asked for its roots.
const PATIENCE: Duration = Duration::from_millis(500);

/// Where the client works, as it says itself.
#[derive(Default)]
pub struct Roots {
    known: Mutex<RootsState>,
    turned: Condvar,
}

#[derive(Default)]
struct RootsState {
    is_asked: bool,
    directories: Option<Vec<PathBuf>>,
}

impl Roots {
    /// The client was asked.
    pub fn asked(&self) {
        self.known().is_asked = true;
    }

    /// It has answered; or it has refused to.
    pub fn answered(&self, result: Option<&Value>) {
        let mut known = self.known();
        known.is_asked = false;
        let roots = result.and_then(|result| result.get("roots"));
        if let Some(Value::Array(roots)) = roots {
            let uris = roots.iter().filter_map(|root| root.get("uri")?.as_str());
            known.directories = Some(uris.filter_map(directory).collect());
        }
        self.turned.notify_all();
    }

    pub fn are_known(&self) -> bool {
        self.known().directories.is_some()
    }

    /// The directories that the client has named; `None`: it has named none. One that does not
    /// answer in time is waited for once; its answer counts whenever it comes.
    pub fn wait(&self) -> Option<Vec<PathBuf>> {
        let is_asked = |known: &mut RootsState| known.is_asked;
        let waited = self
            .turned
            .wait_timeout_while(self.known(), PATIENCE, is_asked);
        let (mut known, _) = waited.unwrap_or_else(PoisonError::into_inner);
        known.is_asked = false;
        known.directories.clone()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, RootsState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The directory that a `file://` address names.
fn directory(uri: &str) -> Option<PathBuf> {
    file_url(uri).filter(|path| path.is_absolute())
}

/// Whose sessions are seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visible {
    at: WhereScope,
    /// What it is called; every directory where it has no name.
    pub name: Option<String>,
}

impl Visible {
    /// The repositories around these directories; `None`: none of them is a place to work on one
    /// thing, as a home folder is none.
    pub fn around(directories: &[PathBuf]) -> Option<Self> {
        let surroundings = places::surroundings();
        let here = directories.iter();
        let here = here.map(|directory| Here::around(directory.clone(), &surroundings));
        let mut here: Vec<Here> = here.filter(|here| !here.is_alone()).collect();
        here.dedup();
        if here.is_empty() {
            return None;
        }
        let names: Vec<String> = here.iter().map(|here| name(&here.directory)).collect();
        let mut at = WhereScope::default();
        for one in here.iter().map(Here::scope) {
            at.within.extend(one.within);
            at.repositories.extend(one.repositories);
            at.remotes.extend(one.remotes);
        }
        Some(Self {
            at,
            name: Some(names.join(", ")),
        })
    }

    /// Narrows a list to it.
    pub fn list(&self, scope: ListScope) -> ListScope {
        ListScope {
            at: self.at.clone(),
            ..scope
        }
    }

    /// Narrows a search to it.
    pub fn search(&self, scope: SearchScope) -> SearchScope {
        SearchScope {
            at: self.at.clone(),
            ..scope
        }
    }
}

fn name(directory: &Path) -> String {
    let name = directory.file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_say_where_it_works_is_waited_for_once() {
        let roots = Roots::default();
        roots.asked();
        assert_eq!(roots.wait(), None);
        assert!(!roots.known().is_asked);
        roots.answered(Some(&serde_json::json!({"roots": [{"uri": "file:///a"}]})));
        assert_eq!(roots.wait(), Some(vec![PathBuf::from("/a")]));
    }

    #[test]
    fn a_root_is_a_folder_of_this_machine() {
        let named = |uri: &str| directory(uri).map(|path| path.display().to_string());
        assert_eq!(named("file:///a%20b/c%C3%A9").as_deref(), Some("/a b/cé"));
        assert_eq!(named("file://localhost/a%").as_deref(), Some("/a%"));
        assert_eq!(named("file:///a?b#c").as_deref(), Some("/a"));
        for other in ["https://a/b", "file://host/a", "/a", "file:///%ff", ""] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
