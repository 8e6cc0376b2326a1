//! How does a file of version 1 or 2 become one of version 3? Line by line: what does not change
//! stays to the byte.

use super::entry::Entry;
use super::splice;
use super::value::{Value, quoted};
use sessionary_formats::json;

/// What the entries of one file become. Ids of version 1 are chosen once, so that entries keep them
/// until they are written.
#[derive(Debug, Clone)]
pub(super) struct Migration {
    /// The version that the file has.
    pub from: i64,
    /// By entry, the header and further ones counted: its new id. Empty from version 2 on.
    ids: Vec<Option<String>>,
}

impl Migration {
    /// For the entries of a file of that version, header first; `None` where it is new enough.
    pub(super) fn of(
        version: i64,
        entries: &[Entry],
        mut new_id: impl FnMut(&dyn Fn(&str) -> bool) -> String,
    ) -> Option<Self> {
        let version = actual(version, entries);
        if version >= super::CURRENT_SESSION_VERSION {
            return None;
        }
        let mut ids = Vec::new();
        if version < 2 {
            let mut taken = std::collections::HashSet::new();
            for entry in entries {
                let named = is_object(entry) && entry.kind() != "session";
                let id = named.then(|| new_id(&|id| taken.contains(id)));
                taken.extend(id.clone());
                ids.push(id);
            }
        }
        Some(Self { from: version, ids })
    }

    /// The text of the entry at that place.
    pub(super) fn text(&self, at: usize, entry: &Entry) -> String {
        let mut text = entry.json().to_owned();
        if !is_object(entry) {
            return text;
        }
        if entry.kind() == "session" {
            return splice::set(&text, "version", "3");
        }
        if let Some(Some(id)) = self.ids.get(at) {
            text = splice::set(&text, "id", &quoted(id));
            let parent = self.ids[..at].iter().rev().flatten().next();
            let parent = parent.map_or_else(|| "null".to_owned(), |id| quoted(id));
            text = splice::set(&text, "parentId", &parent);
            if entry.kind() == "compaction" {
                text = self.kept(at, text);
            }
        }
        if entry.role() == "hookMessage"
            && let Some(message) = entry.member("message")
        {
            let message = splice::set(message, "role", "\"custom\"");
            text = splice::set(&text, "message", &message);
        }
        text
    }

    /// A compaction of version 1 counts the entries before the first one kept, the header as one;
    /// from version 2 on it names that entry. A count that points to the header, behind the
    /// compaction or nowhere keeps nothing.
    fn kept(&self, at: usize, text: String) -> String {
        let Some(count) = json::member(&text, "firstKeptEntryIndex").and_then(f64::read) else {
            return text;
        };
        let whole = (count.fract() == 0.0 && count >= 0.0).then_some(count as usize);
        let first = whole
            .filter(|place| *place <= at)
            .and_then(|place| self.ids.get(place)?.as_deref());
        let text = match first {
            Some(id) => splice::set(&text, "firstKeptEntryId", &quoted(id)),
            None => text,
        };
        splice::without(&text, "firstKeptEntryIndex")
    }
}

/// The version that a file really has: pi forks files of version 1 without their entries getting
/// ids, under a header of version 3. A parent is none where no entry has an id.
fn actual(version: i64, entries: &[Entry]) -> i64 {
    let mut rest = entries
        .iter()
        .filter(|entry| is_object(entry) && entry.kind() != "session")
        .peekable();
    match rest.peek().is_some() && rest.all(|entry| entry.id().is_none()) {
        true => 1,
        false => version,
    }
}

fn is_object(entry: &Entry) -> bool {
    entry.json().starts_with('{')
}
