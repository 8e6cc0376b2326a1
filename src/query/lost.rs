//! From where does an entry go on whose parent is lost?
//!
//! Claude Code names parents that it never wrote, above all after compactions, and says that a
//! compaction goes on from an entry which it kept and wrote behind it, so that this goes on from
//! itself. Nobody branched there.

use std::collections::HashMap;

use super::turns::NONE;

/// Hangs each entry whose parent is in no entry on the last one before it in the file from which
/// something may go on, and the first entry of each cycle on the one before that. Where there is
/// none, it is a root. Entries that name the same lost parent are branches of one another, so all
/// hang where the first of its kind does. What subagents say and what is said to them hangs on such
/// entries alone, the session's own on no such ones.
pub(super) fn put_lost_in_line(
    parents: &mut [u32],
    lost: impl Fn(usize) -> Option<u32>,
    may_lead: &[bool],
    sidechain: &[bool],
) {
    let mut last = [NONE; 2];
    let mut in_place_of = HashMap::new();
    let mut before = Vec::with_capacity(parents.len());
    for at in 0..parents.len() {
        let last = &mut last[usize::from(sidechain[at])];
        before.push(*last);
        if let Some(parent) = lost(at) {
            parents[at] = *in_place_of.entry((parent, sidechain[at])).or_insert(*last);
        }
        if may_lead[at] {
            *last = at as u32;
        }
    }
    cut_cycles(parents, &before);
}

/// Hangs the first entry of each cycle on one from which the way up is known to end at a root: on
/// that before the entry from which the cycle was first come upon.
fn cut_cycles(parents: &mut [u32], before: &[u32]) {
    // The entry at which the way up began that first came by.
    let mut passed = vec![NONE; parents.len()];
    for start in 0..parents.len() as u32 {
        let mut at = start;
        while at != NONE && passed[at as usize] == NONE {
            passed[at as usize] = start;
            at = parents[at as usize];
        }
        if at == NONE || passed[at as usize] != start {
            continue;
        }
        let (mut first, mut next) = (at, parents[at as usize]);
        while next != at {
            first = first.min(next);
            next = parents[next as usize];
        }
        parents[first as usize] = before[start as usize];
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    /// Parents that are in no entry: this one and those behind it.
    const LOST: u32 = u32::MAX - 9;

    fn in_line(above: &[u32], silent: &[usize], sidechain: &[usize]) -> Vec<u32> {
        let all = 0..above.len();
        let may_lead: Vec<bool> = all.clone().map(|at| !silent.contains(&at)).collect();
        let sidechain: Vec<bool> = all.map(|at| sidechain.contains(&at)).collect();
        let known = |above: &u32| if *above >= LOST { NONE } else { *above };
        let mut parents: Vec<u32> = above.iter().map(known).collect();
        let lost = |at: usize| Some(above[at]).filter(|above| (LOST..NONE).contains(above));
        put_lost_in_line(&mut parents, lost, &may_lead, &sidechain);
        parents
    }

    #[test]
    fn what_lost_its_parent_goes_on_from_the_entry_before_it() {
        assert_eq!(in_line(&[LOST, 0, LOST + 1, 2], &[], &[]), [NONE, 0, 1, 2]);
        // Somebody went back to what both were said after.
        let above = [NONE, 0, LOST, 2, LOST, 4];
        assert_eq!(in_line(&above, &[], &[]), [NONE, 0, 1, 2, 1, 4]);
        // A root is one, and what has nothing to read leads nowhere.
        assert_eq!(
            in_line(&[NONE, 0, LOST, NONE], &[1], &[]),
            [NONE, 0, 0, NONE]
        );
    }

    #[test]
    fn a_session_goes_on_from_no_subagent() {
        let above = [NONE, NONE, 1, LOST, LOST + 1];
        assert_eq!(in_line(&above, &[], &[1, 2, 4]), [NONE, NONE, 1, 0, 2]);
    }

    #[test]
    fn a_compaction_goes_on_from_what_stands_before_it() {
        // The compaction names what it kept, which stands behind its summary.
        let above = [NONE, 0, 1, 5, 3, 4, 5];
        assert_eq!(in_line(&above, &[], &[]), [NONE, 0, 1, 2, 3, 4, 5]);
        // A parent behind its child that leads elsewhere is followed.
        assert_eq!(in_line(&[NONE, 2, 0], &[], &[]), [NONE, 2, 0]);
    }

    #[test]
    fn no_way_up_is_without_end() {
        let mut rng = StdRng::seed_from_u64(5);
        for _ in 0..4_000 {
            let length = rng.random_range(1..20);
            let mut above: Vec<u32> = Vec::new();
            for at in 0..length {
                let parent = rng.random_range(0..length + 2);
                above.push(match parent {
                    _ if parent == at || parent == length => NONE,
                    _ if parent > length => LOST,
                    _ => parent,
                });
            }
            let some = |rng: &mut StdRng| -> Vec<usize> {
                (0..length as usize)
                    .filter(|_| rng.random_bool(0.2))
                    .collect()
            };
            let (silent, sidechain) = (some(&mut rng), some(&mut rng));
            let parents = in_line(&above, &silent, &sidechain);
            for from in 0..length {
                let (mut at, mut steps) = (from, 0);
                while at != NONE {
                    at = parents[at as usize];
                    steps += 1;
                    assert!(steps <= length, "{above:?}: {parents:?}");
                }
            }
        }
    }

    /// Each parent stands behind its child, but for that of the last entry.
    #[test]
    fn a_session_that_hangs_upside_down_takes_one_walk() {
        let length = 1_000_000;
        let mut above: Vec<u32> = (1..=length).collect();
        above.push(length - 1);
        let parents = in_line(&above, &[], &[]);
        assert_eq!(parents[length as usize - 1], NONE);
    }
}
