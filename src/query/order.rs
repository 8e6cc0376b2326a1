//! In which order are a session's entries shown?

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::catalogue::entries::StoredEntry;

/// The session's own entry, then the others by time and id (those without a time last), each
/// followed by the entries that name it as their parent, in the same order.
pub(super) fn by_time(mut entries: Vec<StoredEntry>) -> Vec<StoredEntry> {
    entries.sort_by(|a, b| {
        let first = |e: &StoredEntry| e.kind != "session";
        first(a)
            .cmp(&first(b))
            .then_with(|| match (a.time_ms, b.time_ms) {
                (Some(a), Some(b)) => a.cmp(&b),
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
            })
            .then_with(|| a.id.cmp(&b.id))
            // Entries that share an id, or have none, are ordered by their bytes: the order in
            // which they were read must not matter.
            .then_with(|| a.hash.cmp(&b.hash))
    });
    let mut place: HashMap<&str, usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if let Some(id) = entry.id.as_deref() {
            place.entry(id).or_insert(at);
        }
    }
    let mut children = vec![Vec::new(); entries.len()];
    let mut roots = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let above = entry
            .parent
            .as_deref()
            .and_then(|id| place.get(id))
            .copied();
        match above.filter(|above| *above != at) {
            Some(above) => children[above].push(at),
            None => roots.push(at),
        }
    }
    let mut order = Vec::with_capacity(entries.len());
    let mut seen = vec![false; entries.len()];
    // What no root leads to is a cycle: it follows its first entry.
    for from in roots.into_iter().chain(0..entries.len()) {
        let mut stack = vec![from];
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                order.push(at);
                stack.extend(children[at].iter().rev());
            }
        }
    }
    let mut entries: Vec<Option<StoredEntry>> = entries.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|at| entries[at].take())
        .collect()
}
