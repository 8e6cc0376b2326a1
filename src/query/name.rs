//! Which session does a name mean? An id, a unique prefix of one, a path, or `last`.

use std::path::{Path, PathBuf};

use super::list::{ListScope, canonical};
use crate::catalogue::read::StoredSession;
use crate::error::Error;
use crate::model::SessionRow;
use crate::query::Snapshot;

impl Snapshot<'_> {
    /// The session that `name` means: `last` (first row of `list` in `cwd`), a path, an id, or a
    /// unique prefix of ids.
    ///
    /// # Errors
    /// [`Error::NoName`]; [`Error::NotFound`]; [`Error::Ambiguous`] with all candidates.
    pub fn resolve(&self, name: &str, cwd: &Path) -> Result<SessionRow, Error> {
        let not_found = || self.not_found(name);
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
        let catalogue = self.catalogue;
        let roots = self.root_numbers()?;
        if name.contains(['/', '\\']) || name.ends_with(".jsonl") {
            let asked = cwd.join(name);
            let path = canonical(&asked);
            let names = [asked.file_name(), path.file_name()];
            let all = catalogue.paths_of_sessions(&roots)?;
            let is_it = |(_, at): &&(String, PathBuf)| canonical(at) == path;
            // Links are resolved only where the name fits; a link to the file may have another one.
            let fits = |one: &&(String, PathBuf)| names.contains(&one.1.file_name()) && is_it(one);
            if let Some((id, at)) = all.iter().find(fits).or_else(|| all.iter().find(is_it)) {
                let found = catalogue.sessions_with_id(&roots, id)?;
                if let Some(found) = found.into_iter().find(|s| s.row.path == *at) {
                    return Ok(found.row);
                }
            }
        }
        let mut found = catalogue.sessions_with_id(&roots, name)?;
        if found.is_empty() {
            found = catalogue.sessions_beginning(&roots, name)?;
        }
        match (found.pop(), found.is_empty()) {
            (None, _) => Err(not_found()),
            (Some(one), true) => Ok(one.row),
            (Some(last), false) => Err(Error::Ambiguous {
                name: name.to_string(),
                candidates: found.into_iter().chain([last]).map(|s| s.row).collect(),
            }),
        }
    }

    /// The only session of an index of one file.
    pub fn only(&self) -> Result<SessionRow, Error> {
        let mut sessions = self.stored_sessions()?;
        match (sessions.pop(), sessions.is_empty()) {
            (Some(one), true) => Ok(one.row),
            _ => Err(self.not_found("")),
        }
    }

    /// The stored form of a row.
    pub(super) fn stored(&self, row: &SessionRow) -> Result<StoredSession, Error> {
        let roots = self.root_numbers()?;
        self.catalogue
            .sessions_with_id(&roots, &row.id)?
            .into_iter()
            .find(|s| s.row.path == row.path && s.row.agent == row.agent)
            .ok_or_else(|| self.not_found(&row.id))
    }
}
