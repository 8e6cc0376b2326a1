//! Where do some entries stand in their session's tree? Found on the way up from the leaf, without
//! an outline of the whole session.

use std::collections::{HashMap, HashSet};
use std::hash::Hasher;
use std::ops::ControlFlow;

use rustc_hash::{FxBuildHasher, FxHasher};

use crate::catalogue::entries::BranchEntry;
use crate::model::BranchPlace;

/// The way from a session's leaf to its root, read in reverse file order.
///
/// This works as long as parents stand before their children and no id that matters is used twice.
/// Any other session is reported as tangled, and its whole outline must be read.
pub(super) struct LeafPath {
    /// The entries whose places are asked for, the last one in the file first.
    asked: std::iter::Peekable<std::vec::IntoIter<i64>>,
    /// The last entry that the agent sees.
    leaf: Option<i64>,
    /// The compactions of the session: what each kept first.
    compactions: HashMap<i64, Option<String>>,
    /// Id of the next entry of the branch; `None`: that is the leaf.
    next: Option<Vec<u8>>,
    compacted: CompactionState,
    /// Entries of the branch between its last compaction and the first entry that it kept, while it
    /// is not known whether that entry comes.
    pending: Vec<i64>,
    places: HashMap<i64, BranchPlace>,
    /// Hashes of the ids that were met. Two that collide cost an outline, never a wrong answer.
    met: HashSet<u64, FxBuildHasher>,
    /// An entry that was asked for, or one that a compaction kept, was met off the branch.
    abandoned: bool,
    tangled: bool,
}

/// A number that stands for an id.
fn hash(id: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(id);
    hasher.finish()
}

/// Whether what is met further up has been put into a summary.
enum CompactionState {
    No,
    /// From the entry with this id upwards.
    Above(Vec<u8>),
    Yes,
}

impl LeafPath {
    pub fn new(
        mut asked: Vec<i64>,
        leaf: Option<i64>,
        compactions: Vec<(i64, Option<String>)>,
    ) -> Self {
        asked.sort_unstable_by(|a, b| b.cmp(a));
        // Prose and output of one entry are two hits.
        asked.dedup();
        Self {
            asked: asked.into_iter().peekable(),
            leaf,
            compactions: compactions.into_iter().collect(),
            next: None,
            compacted: CompactionState::No,
            pending: Vec::new(),
            places: HashMap::new(),
            met: HashSet::default(),
            abandoned: false,
            tangled: false,
        }
    }

    /// The entry before the one met last. It breaks off when enough is known, as when the branch
    /// ends.
    pub fn meet(&mut self, BranchEntry { key, id, parent }: BranchEntry<'_>) -> ControlFlow<()> {
        let is_next = match &self.next {
            None => self.leaf == Some(key),
            Some(next) => id == Some(next),
        };
        let is_kept = matches!(&self.compacted, CompactionState::Above(kept) if id == Some(kept));
        if is_kept {
            self.settle(match is_next {
                true => BranchPlace::Active,
                false => BranchPlace::Compacted,
            });
            // The places of all entries above it were derived from that.
            self.abandoned |= !is_next;
        }
        self.place(key, is_next, is_kept);
        if is_kept {
            self.compacted = CompactionState::Yes;
        }
        self.met.extend(id.map(hash));
        if !is_next {
            return ControlFlow::Continue(());
        }
        if self.is_settled() {
            return ControlFlow::Break(());
        }
        if matches!(self.compacted, CompactionState::No)
            && let Some(kept) = self.compactions.remove(&key)
        {
            self.compacted = match kept.map(String::into_bytes) {
                Some(kept) if self.met.contains(&hash(&kept)) => return self.tangle(),
                Some(kept) => CompactionState::Above(kept),
                None => CompactionState::Yes,
            };
        }
        match parent {
            Some(parent) if self.met.contains(&hash(parent)) => self.tangle(),
            Some(parent) => {
                parent.clone_into(self.next.get_or_insert_default());
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    }

    /// Where the entry stands, if that is asked.
    fn place(&mut self, key: i64, is_next: bool, is_kept: bool) {
        while self.asked.next_if(|asked| *asked > key).is_some() {}
        if self.asked.next_if_eq(&key).is_none() {
            return;
        }
        let place = match &self.compacted {
            _ if !is_next => Some(BranchPlace::Abandoned),
            CompactionState::No => Some(BranchPlace::Active),
            CompactionState::Above(_) => is_kept.then_some(BranchPlace::Active),
            CompactionState::Yes => Some(BranchPlace::Compacted),
        };
        self.abandoned |= !is_next;
        match place {
            Some(place) => drop(self.places.insert(key, place)),
            None => self.pending.push(key),
        }
    }

    /// Whether all stand on the branch: nothing that is met further up changes that. An entry
    /// beside the branch may still turn out to be on it, if a parent stands after its child in the
    /// file. So for such an entry the way goes on up to the root.
    fn is_settled(&mut self) -> bool {
        self.asked.peek().is_none() && self.pending.is_empty() && !self.abandoned
    }

    /// Where the entries stand; `None`: the session is tangled.
    pub fn places(mut self) -> Option<HashMap<i64, BranchPlace>> {
        if self.tangled {
            return None;
        }
        // What the compaction kept is not on this branch: all above it is in the summary.
        self.settle(BranchPlace::Compacted);
        let rest = self.asked.map(|key| (key, BranchPlace::Abandoned));
        self.places.extend(rest);
        Some(self.places)
    }

    /// Gives this place to the entries that wait for one.
    fn settle(&mut self, place: BranchPlace) {
        let pending = self.pending.drain(..).map(|key| (key, place));
        self.places.extend(pending);
    }

    fn tangle(&mut self) -> ControlFlow<()> {
        self.tangled = true;
        ControlFlow::Break(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::LeafPath;
    use crate::catalogue::entries::BranchEntry;
    use crate::model::BranchPlace;

    struct One {
        id: Option<String>,
        parent: Option<String>,
        sees: bool,
    }

    /// Where each entry stands, found from the whole session at once: ids resolve to their last
    /// entry.
    fn model(session: &[One], compactions: &[(i64, Option<String>)]) -> HashMap<i64, BranchPlace> {
        let by_id: HashMap<&str, usize> = session
            .iter()
            .enumerate()
            .filter_map(|(at, one)| Some((one.id.as_deref()?, at)))
            .collect();
        let mut branch = Vec::new();
        let mut at = session.iter().rposition(|one| one.sees);
        while let Some(here) = at.filter(|at| !branch.contains(at)) {
            branch.push(here);
            let above = session[here].parent.as_deref();
            at = above
                .and_then(|id| by_id.get(id).copied())
                .filter(|above| *above != here);
        }
        let place = |at: usize| branch.iter().position(|one| *one == at);
        let mut compacted = Vec::new();
        let last = compactions
            .iter()
            .filter_map(|(key, kept)| Some((place(*key as usize)?, kept)))
            .min();
        if let Some((at, kept)) = last {
            let kept = kept.as_deref().and_then(|id| by_id.get(id));
            let kept = kept.and_then(|kept| place(*kept)).filter(|kept| *kept > at);
            compacted.extend(&branch[kept.unwrap_or(at) + 1..]);
        }
        (0..session.len())
            .map(|at| {
                let place = match (branch.contains(&at), compacted.contains(&at)) {
                    (false, _) => BranchPlace::Abandoned,
                    (true, true) => BranchPlace::Compacted,
                    (true, false) => BranchPlace::Active,
                };
                (at as i64, place)
            })
            .collect()
    }

    /// The places of the entries that are asked for, as the way up finds them.
    fn places(
        session: &[One],
        compactions: &[(i64, Option<String>)],
        asked: &[i64],
    ) -> Option<HashMap<i64, BranchPlace>> {
        let leaf = session.iter().rposition(|one| one.sees);
        let leaf = leaf.map(|at| at as i64);
        let mut ascent = LeafPath::new(asked.to_vec(), leaf, compactions.to_vec());
        for (at, one) in session.iter().enumerate().rev() {
            let entry = BranchEntry {
                key: at as i64,
                id: one.id.as_deref().map(str::as_bytes),
                parent: one.parent.as_deref().map(str::as_bytes),
            };
            if ascent.meet(entry).is_break() {
                break;
            }
        }
        ascent.places()
    }

    /// What a compaction kept stands on its branch, but behind its child in the file.
    #[test]
    fn what_was_kept_may_be_met_before_its_turn() {
        let entries = [
            ("r", None),
            ("a", Some("k")),
            ("k", Some("r")),
            ("p", Some("a")),
            ("c", Some("p")),
            ("l", Some("c")),
        ];
        let session = entries.map(|(id, parent)| One {
            id: Some(id.to_owned()),
            parent: parent.map(str::to_owned),
            sees: true,
        });
        let compactions = [(4, Some("k".to_owned()))];
        assert_eq!(model(&session, &compactions)[&3], BranchPlace::Active);
        let places = places(&session, &compactions, &[3]);
        assert_eq!(places, None, "it is tangled");
    }

    #[test]
    fn an_ascent_tells_what_the_whole_session_tells_or_that_it_is_tangled() {
        let mut rng = StdRng::seed_from_u64(7);
        let (mut placed, mut tangled) = (0, 0);
        for round in 0..8_000 {
            let tidy = round % 2 == 0;
            let length = rng.random_range(1..30);
            let name = |at: usize| format!("e{at}");
            let session: Vec<One> = (0..length)
                .map(|at: usize| {
                    let range = if tidy {
                        at.saturating_sub(4)..at.max(1)
                    } else {
                        0..length
                    };
                    let parent = match rng.random_range(0..20) {
                        0 => None,
                        1 => Some("nowhere".to_owned()),
                        2..15 if at > 0 => Some(name(at - 1)),
                        _ => Some(name(rng.random_range(range))),
                    };
                    let id = match rng.random_range(0..40) {
                        0 if !tidy => name(rng.random_range(0..length)),
                        _ => name(at),
                    };
                    One {
                        id: (tidy || rng.random_bool(0.95)).then_some(id),
                        parent: parent.filter(|_| at > 0),
                        sees: rng.random_bool(0.9),
                    }
                })
                .collect();
            let mut compactions = Vec::new();
            for key in 0..length {
                if rng.random_bool(0.1) {
                    let kept = name(rng.random_range(0..length));
                    compactions.push((key as i64, rng.random_bool(0.8).then_some(kept)));
                }
            }
            let asked: Vec<i64> = (0..length as i64)
                .filter(|_| rng.random_bool(0.4))
                .collect();
            let model = model(&session, &compactions);
            match places(&session, &compactions, &asked) {
                Some(places) => {
                    placed += 1;
                    for key in asked {
                        assert_eq!(
                            places.get(&key),
                            model.get(&key),
                            "round {round}, entry {key}"
                        );
                    }
                }
                None => tangled += 1,
            }
        }
        assert!(
            placed > 4_000 && tangled > 400,
            "{placed} placed, {tangled} tangled"
        );
    }
}
