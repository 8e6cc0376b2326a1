//! What became of the calls of an entry, and which of them asked this program?

use std::collections::HashSet;

use super::Snapshot;
use super::show::address;
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::model::SessionRow;

/// What the catalogue knows of the calls of one entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EntryCalls {
    /// The tool, where they are of one.
    pub tool: Option<String>,
    /// Whether all of them failed.
    pub failed: bool,
    /// Whether the entry also holds what a tool gave back.
    pub holds_output: bool,
}

impl Snapshot<'_> {
    /// What became of the calls of the entry with this id, or `L<line>`, in a session.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn entry_calls(&self, session: &SessionRow, entry: &str) -> Result<EntryCalls, Error> {
        let number = self.stored(session)?.session;
        let line = entry.strip_prefix('L').and_then(|line| line.parse().ok());
        let key = match (self.catalogue.key_of_id(number, entry)?, line) {
            (None, Some(line)) => self.catalogue.key_of_line(number, line)?,
            (key, _) => key,
        };
        let Some(key) = key else {
            return Ok(EntryCalls::default());
        };
        let (failed, is_answer, tool) = self.catalogue.became_of_calls(key)?;
        let entry = self.catalogue.entry(key)?;
        let has_result = entry.is_some_and(|entry| entry.flags & flag::TOOL_RESULT != 0);
        Ok(EntryCalls {
            tool,
            failed,
            holds_output: is_answer || has_result,
        })
    }

    /// How many calls of tools a session holds.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn count_calls(&self, session: &SessionRow) -> Result<u64, Error> {
        Ok(self.catalogue.count_calls(self.stored(session)?.session)?)
    }

    /// The entries of a session that only ask this program something, as
    /// [`ShownEntry::id`](crate::model::ShownEntry::id) names them: its calls, what it answered,
    /// and what somebody typed shortly before.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn asking_entries(&self, session: &SessionRow) -> Result<HashSet<String>, Error> {
        let number = self.stored(session)?.session;
        let mut keys = self.catalogue.own_calls(number)?;
        keys.extend(self.catalogue.typed_before(number, &keys)?);
        let entries = keys.into_iter().map(|key| self.catalogue.entry(key));
        let entries = entries.filter_map(Result::transpose);
        entries.map(|entry| Ok(address(&entry?))).collect()
    }
}
