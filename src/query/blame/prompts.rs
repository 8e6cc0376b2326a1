//! Which message led to a call? What a person typed last before it on its branch.

use std::collections::{HashMap, HashSet};

use crate::catalogue::entries::{EntryPosition, StoredEntry};
use crate::catalogue::write::flag;

/// A session's entries in file order, and how they hang together.
pub(super) struct Chain {
    entries: Vec<StoredEntry>,
    /// The last entry of each id.
    by_id: HashMap<String, usize>,
}

impl Chain {
    pub fn of(entries: Vec<StoredEntry>) -> Self {
        let ids = entries.iter().enumerate();
        let ids = ids.filter_map(|(at, entry)| Some((entry.id.clone()?, at)));
        Self {
            by_id: ids.collect(),
            entries,
        }
    }

    /// All of them.
    pub fn entries(&self) -> &[StoredEntry] {
        &self.entries
    }

    /// The message that led to this entry.
    pub fn prompt_of(&self, key: i64) -> Option<&StoredEntry> {
        let from = self.entries.iter().position(|entry| entry.key == key)?;
        let above = self.above(from);
        above.or_else(|| {
            // Where entries do not hang together, what was typed before it in its file.
            let source = self.entries[from].source;
            let before = self.entries[..from].iter().rev();
            before
                .filter(|entry| entry.source == source)
                .find(|entry| is_typed(entry))
        })
    }

    fn above(&self, from: usize) -> Option<&StoredEntry> {
        let mut met = HashSet::from([from]);
        let mut at = from;
        loop {
            let entry = &self.entries[at];
            if at != from && is_typed(entry) {
                return Some(entry);
            }
            let parent = entry.parent.as_ref();
            at = *self.by_id.get(parent?)?;
            if !met.insert(at) {
                return None;
            }
        }
    }
}

fn is_typed(entry: &StoredEntry) -> bool {
    entry.role.as_deref() == Some("user")
        && entry.flags & (flag::SILENT | flag::TOOL_RESULT) == 0
        && !EntryPosition::of(entry).is_beside()
}
