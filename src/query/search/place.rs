//! Where in its session's tree does a hit stand, and what is beside it there?

use std::collections::{HashMap, HashSet};

use super::Search;
use super::ascent::LeafPath;
use crate::catalogue::Catalogue;
use crate::catalogue::entries::{EntryPosition, StoredEntry};
use crate::catalogue::read::StoredSession;
use crate::error::Error;
use crate::format::Structure;
use crate::model::{BranchPlace, Neighbour, iso};
use crate::query::outline::{Outline, OutlineQuery};
use crate::query::preview::first_words;
use crate::query::show::{Reader, address, around};

/// Characters shown of a neighbour.
const TEXT: usize = 160;

/// Where these entries of one session stand; those that stand nowhere, as in sessions that never
/// branch, are left out.
pub(super) fn places(
    search: &Search<'_>,
    session: &StoredSession,
    entries: &[&StoredEntry],
) -> Result<HashMap<i64, BranchPlace>, Error> {
    if !search.snapshot.has_branches(session) {
        return Ok(HashMap::new());
    }
    let structure = search.snapshot.structure(session);
    let mut asked: Vec<&StoredEntry> = entries.to_vec();
    asked.retain(|entry| !EntryPosition::of(entry).is_beside());
    let catalogue = search.catalogue;
    let leaf = match structure {
        Some(Structure::Tree | Structure::LooseTree) => search.snapshot.leaf(session)?,
        _ => None,
    };
    if leaf.is_some() {
        // In a session whose entries have ids, an entry without one has no place in the tree.
        asked.retain(|entry| entry.id.is_some());
    }
    if asked.is_empty() {
        return Ok(HashMap::new());
    }
    // The way up by parents alone does not come by all answers of tools there.
    if leaf.is_some() && structure == Some(Structure::Tree) {
        let compactions = catalogue.compactions(session.session)?;
        let keys = asked.iter().map(|entry| entry.key).collect();
        let mut ascent = LeafPath::new(keys, leaf, compactions);
        let is_in_order =
            catalogue.each_upwards(session.session, &mut |entry| ascent.meet(entry))?;
        if is_in_order && let Some(places) = ascent.places() {
            return Ok(places);
        }
    }
    let branches = Branches::read(search, session)?;
    let place = |entry: &StoredEntry| Some((entry.key, branches.place(entry.key)?));
    Ok(asked.into_iter().filter_map(place).collect())
}

/// A session's entries and how they hang together.
pub(super) struct Branches {
    outline: Outline,
    /// Where in the outline each entry is.
    numbers: HashMap<i64, usize>,
    active: HashSet<usize>,
    /// What the agent no longer sees: on the active branch, but before what the last compaction
    /// kept.
    compacted: HashSet<usize>,
}

impl Branches {
    pub fn read(search: &Search<'_>, session: &StoredSession) -> Result<Self, Error> {
        let catalogue = search.catalogue;
        let outline = (search.snapshot).outline(session, OutlineQuery::BRANCHES)?;
        // The branch leads from the leaf upwards.
        let branch = outline.active_branch();
        let place = |key: i64| branch.iter().position(|at| outline.keys[*at] == key);
        let mut compacted = HashSet::new();
        let compactions = catalogue.compactions(session.session)?;
        let last = compactions
            .iter()
            .filter_map(|(key, kept)| Some((place(*key)?, kept)))
            .min();
        if let Some((at, kept)) = last {
            let kept = match (outline.in_line, kept) {
                (true, _) => {
                    let compaction = outline.keys[branch[at]];
                    catalogue.first_kept_by_index(session.session, compaction)?
                }
                (false, Some(id)) => catalogue.key_of_id(session.session, id)?,
                (false, None) => None,
            };
            let kept = kept.and_then(place).filter(|kept| *kept > at);
            compacted.extend(&branch[kept.unwrap_or(at) + 1..]);
        }
        Ok(Self {
            numbers: outline.places().collect(),
            active: branch.into_iter().collect(),
            compacted,
            outline,
        })
    }

    fn at(&self, key: i64) -> Option<usize> {
        self.numbers.get(&key).copied()
    }

    fn place(&self, key: i64) -> Option<BranchPlace> {
        let at = self.at(key)?;
        Some(match self.active.contains(&at) {
            false => BranchPlace::Abandoned,
            true if self.compacted.contains(&at) => BranchPlace::Compacted,
            true => BranchPlace::Active,
        })
    }

    /// So many entries before and after it along its branch, oldest first.
    pub fn neighbours(
        &self,
        key: i64,
        count: usize,
        catalogue: &Catalogue,
        reader: &mut Reader<'_>,
    ) -> Result<Vec<Neighbour>, Error> {
        let Some(at) = self.at(key) else {
            return Ok(Vec::new());
        };
        let mut branch = self.outline.branch_through(at);
        branch.reverse();
        let mut neighbours = Vec::new();
        let mut is_after = false;
        for &near in around(&branch, at, count) {
            if near == at {
                is_after = true;
                continue;
            }
            let Some(entry) = catalogue.entry(self.outline.keys[near])? else {
                continue;
            };
            neighbours.push(Neighbour {
                entry: address(&entry),
                after: is_after,
                kind: entry.kind.clone(),
                role: entry.role.clone(),
                time: entry.time_ms.and_then(iso),
                time_ms: entry.time_ms,
                text: beginning(&reader.text(&entry)?.unwrap_or_default()),
            });
        }
        Ok(neighbours)
    }
}

/// The beginning of a text, on one line.
fn beginning(text: &[(crate::model::Class, Vec<String>)]) -> String {
    let words = text
        .iter()
        .flat_map(|(_, pieces)| pieces)
        .flat_map(|piece| piece.split_whitespace());
    first_words(words, TEXT)
}
