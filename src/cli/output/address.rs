//! How is a session or an entry named where people read it? By the shortest beginnings of its ids.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sessionary::model::{SearchAnswer, SessionRow, ShortIds};
use sessionary::{Error, Index};

use super::text::plain_line;

/// What tells the sessions of the index apart, and the entries that are named.
#[derive(Default)]
pub struct ShortAddresses {
    sessions: ShortIds,
    entries: HashMap<PathBuf, ShortIds>,
}

impl ShortAddresses {
    /// Those of an answer.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn of(answer: &SearchAnswer, index: &Index) -> Result<Self, Error> {
        let hits = answer.sessions.iter().flat_map(|group| {
            let ids = group.hits.iter().flat_map(|hit| {
                let beside = hit.context.iter().map(|one| &one.entry);
                std::iter::once(&hit.entry).chain(beside)
            });
            ids.map(|id| (&group.session, id.as_str()))
        });
        let named = answer.named.iter();
        let named = named.filter_map(|one| Some((&one.session, one.entry.as_deref()?)));
        Self::of_entries(hits.chain(named), index)
    }

    /// Those of these entries, each with its session.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn of_entries<'a>(
        named: impl IntoIterator<Item = (&'a SessionRow, &'a str)>,
        index: &Index,
    ) -> Result<Self, Error> {
        let mut entries = HashMap::new();
        for (row, id) in named {
            // One that has gone since is named in full.
            if ShortIds::may_cut(id)
                && !entries.contains_key(&row.path)
                && let Ok(ids) = index.ask(|snapshot| snapshot.short_entry_ids(row))
            {
                entries.insert(row.path.clone(), ids);
            }
        }
        Ok(Self {
            sessions: index.ask(|snapshot| snapshot.short_ids())?,
            entries,
        })
    }

    /// The name of a session.
    pub fn session(&self, row: &SessionRow) -> String {
        plain_line(self.sessions.short(&row.id))
    }

    /// The name of an entry within its session.
    pub fn entry(&self, of: &Path, entry: &str) -> String {
        let ids = self.entries.get(of);
        plain_line(ids.map_or(entry, |ids| ids.short(entry)))
    }

    /// `SESSION:ENTRY`.
    pub fn address(&self, row: &SessionRow, entry: &str) -> String {
        format!("{}:{}", self.session(row), self.entry(&row.path, entry))
    }
}
