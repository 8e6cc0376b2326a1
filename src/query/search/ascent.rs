//! Where do some entries stand in their session's tree? Told on the way up from the leaf, without an outline of the whole.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;

use crate::catalogue::chains::id_hash;
use crate::catalogue::upwards::{Met, Wish};
use crate::model::{ARRIVAL_BITS, Place};

/// The way from a session's leaf to its root, met in reverse file order.
///
/// It holds as long as a parent stands before its children and ids are not used twice where it matters; what is tangled
/// otherwise is told so, and the whole outline must say.
pub(super) struct Ascent {
    /// Whose places are asked, the last one in the file first.
    asked: std::iter::Peekable<std::vec::IntoIter<i64>>,
    /// The last entry that the agent sees.
    leaf: Option<i64>,
    /// The compactions of the session: what each kept first.
    compactions: HashMap<i64, Option<String>>,
    next: Next,
    compacted: Compacted,
    /// On the branch between its last compaction and what that kept, as far as is known.
    pending: Vec<i64>,
    places: HashMap<i64, Place>,
    /// Ids that were met, as hashes: two that are alike by chance cost an outline, not an answer.
    met: HashSet<u64, FxBuildHasher>,
    /// One of them, or what a compaction kept, was not on the branch when it was met.
    abandoned: bool,
    /// The entry met last.
    last: Option<At>,
    tangled: bool,
}

/// The next entry of the branch.
enum Next {
    Leaf,
    /// The one that is met next.
    Before,
    /// The one with this id.
    Id(Id),
}

/// Whether what is met further up has been put into a summary.
enum Compacted {
    No,
    /// From this entry upwards.
    Above(Id),
    Yes,
}

/// An id that is looked for.
struct Id {
    hash: u64,
    text: Vec<u8>,
}

impl Id {
    fn new(text: &[u8]) -> Self {
        Self {
            hash: id_hash(text),
            text: text.to_owned(),
        }
    }
}

/// An entry where it is met.
#[derive(Clone, Copy)]
struct At {
    key: i64,
    id: Option<u64>,
    goes_on: bool,
}

impl Ascent {
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
            next: Next::Leaf,
            compacted: Compacted::No,
            pending: Vec::new(),
            places: HashMap::new(),
            met: HashSet::default(),
            abandoned: false,
            last: None,
            tangled: false,
        }
    }

    /// What is met next. Enough is known when the branch ends.
    pub fn meet(&mut self, met: Met<'_>) -> Wish {
        match met {
            Met::Entry { key, id, goes_on } => self.entry(At { key, id, goes_on }),
            Met::Id(id) => match self.last {
                Some(at) => self.stands(at, self.is_next(at, id), self.is_kept(id)),
                None => Wish::Next,
            },
            Met::Parent(parent) => self.parent(parent),
        }
    }

    fn entry(&mut self, at: At) -> Wish {
        if self.last.replace(at).is_none() {
            // Arrivals count the session's entries.
            let arrival = at.key & ((1 << ARRIVAL_BITS) - 1);
            self.met.reserve(arrival.clamp(0, 1 << 20) as usize);
        }
        let is_alike = |wanted: &Id| at.id == Some(wanted.hash);
        let may_be_next = matches!(&self.next, Next::Id(wanted) if is_alike(wanted));
        let may_be_kept = matches!(&self.compacted, Compacted::Above(kept) if is_alike(kept));
        match may_be_next || may_be_kept {
            true => Wish::Id,
            false => self.stands(at, self.is_next(at, None), false),
        }
    }

    fn is_next(&self, at: At, id: Option<&[u8]>) -> bool {
        match &self.next {
            Next::Leaf => self.leaf == Some(at.key),
            Next::Before => true,
            Next::Id(wanted) => id == Some(&wanted.text),
        }
    }

    fn is_kept(&self, id: Option<&[u8]>) -> bool {
        matches!(&self.compacted, Compacted::Above(kept) if id == Some(&kept.text))
    }

    /// The entry is the next of the branch, and what the compaction kept, or not.
    fn stands(&mut self, At { key, id, goes_on }: At, is_next: bool, is_kept: bool) -> Wish {
        if is_kept {
            self.settle(match is_next {
                true => Place::Active,
                false => Place::Compacted,
            });
            // What was told of all above it rests on that.
            self.abandoned |= !is_next;
        }
        while self.asked.next_if(|asked| *asked > key).is_some() {}
        if self.asked.next_if_eq(&key).is_some() {
            let place = match &self.compacted {
                _ if !is_next => Some(Place::Abandoned),
                Compacted::No => Some(Place::Active),
                Compacted::Above(_) => is_kept.then_some(Place::Active),
                Compacted::Yes => Some(Place::Compacted),
            };
            self.abandoned |= !is_next;
            match place {
                Some(place) => drop(self.places.insert(key, place)),
                None => self.pending.push(key),
            }
        }
        if is_kept {
            self.compacted = Compacted::Yes;
        }
        let is_new = id.is_none_or(|id| self.met.insert(id));
        // The entry that goes on from it meant the one with its id that stands last.
        if !is_new && matches!(self.next, Next::Before) {
            return self.tangle();
        }
        if !is_next {
            return Wish::Next;
        }
        if self.is_told() {
            return Wish::Enough;
        }
        if matches!(self.compacted, Compacted::No)
            && let Some(kept) = self.compactions.remove(&key)
        {
            self.compacted = match kept.map(|kept| Id::new(kept.as_bytes())) {
                Some(kept) if self.met.contains(&kept.hash) => return self.tangle(),
                Some(kept) => Compacted::Above(kept),
                None => Compacted::Yes,
            };
        }
        if goes_on {
            self.next = Next::Before;
            return Wish::Next;
        }
        Wish::Parent
    }

    /// Whether all stand on the branch: nothing that is met further up changes that. What stands beside it may still turn out
    /// to be on it, by a parent that stands after its child: there the way goes on up to the root.
    fn is_told(&mut self) -> bool {
        self.asked.peek().is_none() && self.pending.is_empty() && !self.abandoned
    }

    fn parent(&mut self, parent: Option<&[u8]>) -> Wish {
        let Some(wanted) = parent.map(Id::new) else {
            return Wish::Enough;
        };
        if self.met.contains(&wanted.hash) {
            return self.tangle();
        }
        self.next = Next::Id(wanted);
        Wish::Next
    }

    /// Where the entries stand; `None`: the session is tangled.
    pub fn places(mut self) -> Option<HashMap<i64, Place>> {
        if self.tangled {
            return None;
        }
        // What the compaction kept is not on this branch: all above it is in the summary.
        self.settle(Place::Compacted);
        let rest = self.asked.map(|key| (key, Place::Abandoned));
        self.places.extend(rest);
        Some(self.places)
    }

    /// What is pending stands here.
    fn settle(&mut self, place: Place) {
        let pending = self.pending.drain(..).map(|key| (key, place));
        self.places.extend(pending);
    }

    fn tangle(&mut self) -> Wish {
        self.tangled = true;
        Wish::Enough
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::Ascent;
    use crate::catalogue::chains::id_hash;
    use crate::catalogue::upwards::{Met, Wish};
    use crate::model::Place;

    struct One {
        id: Option<String>,
        parent: Option<String>,
        sees: bool,
    }

    /// The same from the whole session at once, ids resolved to their last entry.
    fn model(session: &[One], compactions: &[(i64, Option<String>)]) -> HashMap<i64, Place> {
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
                    (false, _) => Place::Abandoned,
                    (true, true) => Place::Compacted,
                    (true, false) => Place::Active,
                };
                (at as i64, place)
            })
            .collect()
    }

    /// What the way up tells of the entries that are asked. `is_in_run`: whether that an entry goes on from the one before is
    /// told with it.
    fn places(
        session: &[One],
        compactions: &[(i64, Option<String>)],
        asked: &[i64],
        mut is_in_run: impl FnMut() -> bool,
    ) -> Option<HashMap<i64, Place>> {
        let leaf = session.iter().rposition(|one| one.sees);
        let leaf = leaf.map(|at| at as i64);
        let mut ascent = Ascent::new(asked.to_vec(), leaf, compactions.to_vec());
        for (at, one) in session.iter().enumerate().rev() {
            let id = one.id.as_deref().map(str::as_bytes);
            let before = at.checked_sub(1).and_then(|at| session[at].id.as_ref());
            let goes_on = before.is_some() && before == one.parent.as_ref() && is_in_run();
            let mut wish = ascent.meet(Met::Entry {
                key: at as i64,
                id: id.map(id_hash),
                goes_on,
            });
            if wish == Wish::Id {
                wish = ascent.meet(Met::Id(id));
            }
            if wish == Wish::Parent {
                wish = ascent.meet(Met::Parent(one.parent.as_deref().map(str::as_bytes)));
            }
            if wish == Wish::Enough {
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
        assert_eq!(model(&session, &compactions)[&3], Place::Active);
        for in_runs in [false, true] {
            let places = places(&session, &compactions, &[3], || in_runs);
            assert_eq!(places, None, "it is tangled");
        }
    }

    /// Two ids of which as much as is kept is the same.
    const ALIKE: [&str; 2] = [
        "0000000000000000000000000000000000000",
        "0000110110101011001100111111011011100",
    ];

    #[test]
    fn an_ascent_tells_what_the_whole_session_tells_or_that_it_is_tangled() {
        assert_eq!(id_hash(ALIKE[0].as_bytes()), id_hash(ALIKE[1].as_bytes()));
        let mut rng = StdRng::seed_from_u64(7);
        let (mut told, mut tangled, mut told_with_alike) = (0, 0, 0);
        for round in 0..8_000 {
            let tidy = round % 2 == 0;
            let length = rng.random_range(1..30);
            // Once in four times two entries have ids that are alike.
            let alike = [0, 1].map(|_| rng.random_range(0..4 * length));
            let name = |at: usize| match alike.iter().position(|one| *one == at) {
                Some(one) => ALIKE[one].to_owned(),
                None => format!("e{at}"),
            };
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
            match places(&session, &compactions, &asked, || rng.random_bool(0.8)) {
                Some(places) => {
                    told += 1;
                    told_with_alike += u32::from(alike.iter().all(|at| *at < length));
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
            told > 4_000 && tangled > 400 && told_with_alike > 100,
            "{told} told, {tangled} tangled, {told_with_alike} of those told with ids that are alike"
        );
    }
}
