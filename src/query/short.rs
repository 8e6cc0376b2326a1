//! Which entry does the beginning of an id mean, and how short may beginnings be?

use super::name::folded;
use super::tree::current_labels;
use crate::catalogue::read::StoredSession;
use crate::error::Error;
use crate::model::{SessionRow, ShortIds};
use crate::query::Snapshot;

impl Snapshot<'_> {
    /// What tells the ids of all sessions apart, as [`Snapshot::resolve`] takes them.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn short_ids(&self) -> Result<ShortIds, Error> {
        let roots = self.root_numbers()?;
        Ok(ShortIds::of(self.catalogue.ids_of_sessions(&roots)?))
    }

    /// What tells the ids of a session's entries apart, as [`Snapshot::entry_named`] takes them.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn short_entry_ids(&self, session: &SessionRow) -> Result<ShortIds, Error> {
        let stored = self.stored(session)?;
        let mut ids = self.catalogue.entry_ids(stored.session, "")?;
        ids.extend(self.inherited_ids(&stored, "")?);
        ids.sort_unstable();
        ids.dedup();
        Ok(ShortIds::of(ids))
    }

    /// The id of the entry that `name` means: an id, `L<line>`, the beginning of one id, or else a
    /// label in full. What means none is given back as it is.
    ///
    /// # Errors
    /// [`Error::AmbiguousEntry`]; when the catalogue cannot be read.
    pub fn entry_named(&self, session: &SessionRow, name: &str) -> Result<String, Error> {
        let line = name.strip_prefix('L');
        let is_line = line.is_some_and(|line| line.parse::<u64>().is_ok());
        let mut begun = match is_line || name.is_empty() {
            true => Vec::new(),
            false => self.entry_ids(session, name)?,
        };
        if begun.is_empty() && !is_line {
            begun = self.labelled(session, name)?;
        }
        match begun.as_slice() {
            [one] => Ok(one.to_string()),
            [_, _, ..] if begun.iter().all(|id| **id != *name) => Err(Error::AmbiguousEntry {
                entry: name.to_owned(),
                candidates: begun.into_iter().map(String::from).collect(),
            }),
            _ => Ok(name.to_owned()),
        }
    }

    /// The ids of a session's entries that are labelled so, in any case and in order.
    fn labelled(&self, session: &SessionRow, label: &str) -> Result<Vec<Box<str>>, Error> {
        let asked = folded(label);
        let stored = self.stored(session)?;
        let labels = current_labels(self.catalogue.labels(stored.session)?);
        let is_asked = |text: &String| !asked.is_empty() && folded(text) == asked;
        let found = labels.into_iter().filter(|(_, text)| is_asked(text));
        let mut ids: Vec<Box<str>> = found.map(|(id, _)| id.into()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// The ids of a session's entries that begin so, each once and in order; where none does, of
    /// those that it inherits.
    fn entry_ids(&self, session: &SessionRow, start: &str) -> Result<Vec<Box<str>>, Error> {
        let stored = self.stored(session)?;
        let own = self.catalogue.entry_ids(stored.session, start)?;
        match own.is_empty() {
            true => self.inherited_ids(&stored, start),
            false => Ok(own),
        }
    }

    /// The ids that begin so of what it [inherits](super::lineage), each once and in order.
    fn inherited_ids(&self, stored: &StoredSession, start: &str) -> Result<Vec<Box<str>>, Error> {
        let mut ids = Vec::new();
        for (part, base) in self.lineage(stored)?.parts {
            ids.extend(self.catalogue.entry_ids_before(part, start, base.end)?);
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}
