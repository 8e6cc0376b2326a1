//! Where in its session's tree does a hit stand, and what is beside it there?

use std::collections::HashSet;

use super::Search;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::read::StoredSession;
use crate::index::Error;
use crate::model::{Neighbour, Place, iso};
use crate::query::show::{Reader, address};
use crate::query::tree::Shape;

/// Characters shown of a neighbour.
const TEXT: usize = 160;

/// A session's entries and how they hang together.
pub(super) struct Branches {
    entries: Vec<StoredEntry>,
    shape: Shape,
    active: HashSet<usize>,
    /// What the agent no longer sees: on the active branch, but before what the last compaction kept.
    compacted: HashSet<usize>,
    linear: bool,
}

impl Branches {
    pub fn read(search: &Search<'_>, session: &StoredSession) -> Result<Self, Error> {
        let mut entries = search.index.entries_in_order(search.catalogue, session)?;
        entries.retain(|entry| entry.kind != "session" && entry.kind != "meta");
        let all: Vec<&StoredEntry> = entries.iter().collect();
        let declared = search.index.is_linear(session);
        let shape = Shape::of(&all, declared);
        let branch = shape.active_branch(&all);
        let mut compacted = HashSet::new();
        // The branch leads from the leaf upwards.
        if let Some(at) = branch
            .iter()
            .position(|at| entries[*at].kind == "compaction")
        {
            let children = search.catalogue.children(entries[branch[at]].key)?;
            let kept = children
                .compaction
                .and_then(|compaction| compaction.first_kept);
            let above = &branch[at + 1..];
            let first_kept = above
                .iter()
                .position(|at| kept.is_some() && entries[*at].id == kept)
                .map_or(0, |at| at + 1);
            compacted.extend(&above[first_kept..]);
        }
        Ok(Self {
            linear: declared || entries.iter().all(|entry| entry.id.is_none()),
            active: branch.into_iter().collect(),
            compacted,
            shape,
            entries,
        })
    }

    fn at(&self, key: i64) -> Option<usize> {
        self.entries.iter().position(|entry| entry.key == key)
    }

    /// Where the entry stands; `None` in sessions that never branch.
    pub fn place(&self, key: i64) -> Option<Place> {
        let at = self.at(key)?;
        Some(match (self.linear, self.active.contains(&at)) {
            (true, _) => return None,
            (false, false) => Place::Abandoned,
            (false, true) if self.compacted.contains(&at) => Place::Compacted,
            (false, true) => Place::Active,
        })
    }

    /// So many entries before and after it along its branch, oldest first.
    pub fn neighbours(
        &self,
        key: i64,
        count: usize,
        reader: &mut Reader<'_>,
    ) -> Result<Vec<Neighbour>, Error> {
        let Some(at) = self.at(key) else {
            return Ok(Vec::new());
        };
        let mut above = self.shape.branch(at);
        above.truncate(count + 1);
        above.reverse();
        let mut chosen = above;
        while chosen.len() < 2 * count + 1 {
            let Some(next) = chosen.last().and_then(|at| self.onward(*at)) else {
                break;
            };
            let after = chosen
                .iter()
                .position(|one| *one == at)
                .map_or(0, |here| chosen.len() - here - 1);
            if after == count || chosen.contains(&next) {
                break;
            }
            chosen.push(next);
        }
        let here = chosen.iter().position(|one| *one == at).unwrap_or(0);
        let mut neighbours = Vec::new();
        for (number, at) in chosen.into_iter().enumerate() {
            if number == here {
                continue;
            }
            let entry = &self.entries[at];
            neighbours.push(Neighbour {
                entry: address(entry),
                after: number > here,
                kind: entry.kind.clone(),
                role: entry.role.clone(),
                time: entry.time_ms.and_then(iso),
                text: beginning(&reader.text(entry)?),
            });
        }
        Ok(neighbours)
    }

    /// The next entry of the branch: the one on the active branch, else the last that goes on here.
    fn onward(&self, at: usize) -> Option<usize> {
        let children = self.shape.children(at);
        let active = children.iter().find(|child| self.active.contains(child));
        active.or(children.last()).copied()
    }
}

/// The beginning of a text, on one line.
fn beginning(text: &[(crate::model::Class, Vec<String>)]) -> String {
    let words = text
        .iter()
        .flat_map(|(_, pieces)| pieces)
        .flat_map(|piece| piece.split_whitespace());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(TEXT) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}
