//! Which session does a name mean? An id, a unique prefix of one, a path, or `last`.

use std::path::Path;

use super::list::{ListScope, canonical};
use crate::catalogue::read::StoredSession;
use crate::index::{Error, Index};
use crate::model::SessionRow;

impl Index {
    /// The session that `name` means: `last` (first row of `list` in `cwd`), a path, an id, or a unique prefix of ids.
    ///
    /// # Errors
    /// [`Error::NoName`]; [`Error::NotFound`]; [`Error::Ambiguous`] with all candidates.
    pub fn resolve(&self, name: &str, cwd: &Path) -> Result<SessionRow, Error> {
        let not_found = || Error::NotFound {
            name: name.to_string(),
        };
        // Ids are what files say, and some say "".
        if name.is_empty() {
            return Err(Error::NoName);
        }
        if name == "last" {
            let scope = ListScope {
                cwd: Some(cwd.to_path_buf()),
                limit: Some(1),
                ..ListScope::default()
            };
            return self
                .list(&scope)?
                .sessions
                .into_iter()
                .next()
                .ok_or_else(not_found);
        }
        let sessions = self.stored_sessions()?;
        if name.contains(['/', '\\']) || name.ends_with(".jsonl") {
            let asked = cwd.join(name);
            let path = canonical(&asked);
            let names = [asked.file_name(), path.file_name()];
            // Links are resolved only where the name fits; a link to the file may have another one.
            let found = sessions
                .iter()
                .find(|s| names.contains(&s.row.path.file_name()) && canonical(&s.row.path) == path)
                .or_else(|| sessions.iter().find(|s| canonical(&s.row.path) == path));
            if let Some(found) = found {
                return Ok(found.row.clone());
            }
        }
        let exact: Vec<&StoredSession> = sessions.iter().filter(|s| s.row.id == name).collect();
        let found = if exact.is_empty() {
            sessions
                .iter()
                .filter(|s| s.row.id.starts_with(name))
                .collect()
        } else {
            exact
        };
        match found.as_slice() {
            [] => Err(not_found()),
            [one] => Ok(one.row.clone()),
            several => Err(Error::Ambiguous {
                name: name.to_string(),
                candidates: several.iter().map(|s| s.row.clone()).collect(),
            }),
        }
    }

    /// The only session of an index of one file.
    pub fn only(&self) -> Result<SessionRow, Error> {
        let mut sessions = self.stored_sessions()?;
        match (sessions.pop(), sessions.is_empty()) {
            (Some(one), true) => Ok(one.row),
            _ => Err(Error::NotFound {
                name: String::new(),
            }),
        }
    }

    /// The stored form of a row.
    pub(super) fn stored(&self, row: &SessionRow) -> Result<StoredSession, Error> {
        self.stored_sessions()?
            .into_iter()
            .find(|s| s.row.path == row.path && s.row.agent == row.agent)
            .ok_or_else(|| Error::NotFound {
                name: row.id.clone(),
            })
    }
}
