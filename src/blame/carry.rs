//! Which lines of a text are lines of an earlier one? Unlike a diff, which always finds some way
//! from one to the other, this leaves open where there are several.
//!
//! A line that stands once in both texts, and says enough, is the same line. Lines between two such
//! neighbours are the same where all of them are equal. Where one change alone lies between the
//! texts, they are the same also from the upper neighbour downwards and from the lower one upwards,
//! as far as they are equal, if there are as many of them as before. Nothing is known of what
//! stands in a gap, so nothing is carried beyond a gap.

use std::collections::{HashMap, HashSet};

use super::is_telling;

/// What a line of a text is to an earlier text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The earlier text's line with this number.
    Same(usize),
    /// One of the earlier text's lines, or new: nobody can tell.
    Open,
    /// New.
    New,
}

impl Origin {
    /// The number of the line that it is.
    pub fn same(self) -> Option<usize> {
        match self {
            Origin::Same(at) => Some(at),
            Origin::Open | Origin::New => None,
        }
    }
}

/// What happened between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    /// One change.
    One,
    /// Anything.
    Anything,
}

/// What each line of `new` is to `old`. `None` among `old` is a gap: any lines.
pub(crate) fn carry(old: &[Option<&str>], new: &[&str], happened: Between) -> Vec<Origin> {
    let mut found: Vec<Option<Origin>> = vec![None; new.len()];
    let mut taken = vec![false; old.len()];
    let is_whole = !old.contains(&None);
    let anchors = anchors(old, new);
    for (at, to) in &anchors {
        found[*to] = Some(Origin::Same(*at));
        taken[*at] = true;
    }
    for stretch in stretches(&anchors, old, new.len(), is_whole) {
        let (from, into) = (stretch.old.start, stretch.new.start);
        let (old, new) = (&old[stretch.old], &new[stretch.new]);
        for (place, origin) in between(old, new, happened).into_iter().enumerate() {
            let moved = match origin {
                Origin::Same(at) => Origin::Same(from + at),
                origin => origin,
            };
            if let Origin::Same(at) = moved {
                taken[at] = true;
            }
            found[into + place] = Some(moved);
        }
    }
    // Elsewhere a line may be any that was not found again.
    let left = old.iter().zip(&taken).filter(|(_, taken)| !**taken);
    let left: HashSet<&str> = left.filter_map(|(line, _)| *line).collect();
    let found = found.into_iter().zip(new);
    found
        .map(|(origin, line)| match origin {
            Some(origin) => origin,
            None if left.contains(line) => Origin::Open,
            None => Origin::New,
        })
        .collect()
}

/// Lines of both texts that stand between the same neighbours.
struct Stretch {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

/// The stretches between anchors that follow each other in both texts. The ends of a text that is
/// known as a whole are neighbours, too.
fn stretches(
    anchors: &[(usize, usize)],
    old: &[Option<&str>],
    new: usize,
    is_whole: bool,
) -> Vec<Stretch> {
    let mut in_old: Vec<usize> = anchors.iter().map(|(at, _)| *at).collect();
    in_old.sort_unstable();
    // The anchor that follows in the old text; behind the last one its end.
    let mut next_of: HashMap<Option<usize>, usize> = HashMap::new();
    let mut before = None;
    for at in in_old.into_iter().chain([old.len()]) {
        next_of.insert(before, at);
        before = Some(at);
    }
    let mut stretches = Vec::new();
    let mut upper: (Option<usize>, usize) = (None, 0);
    let ends = anchors.iter().copied().chain([(old.len(), new)]);
    for (at, to) in ends {
        let is_edge = upper.0.is_none() || at == old.len();
        let from = upper.0.map_or(0, |upper| upper + 1);
        if next_of.get(&upper.0) == Some(&at)
            && (is_whole || !is_edge && !old[from..at].contains(&None))
        {
            stretches.push(Stretch {
                old: from..at,
                new: upper.1..to,
            });
        }
        upper = (Some(at), to + 1);
    }
    stretches
}

/// Lines that stand once in both, and say enough, by their places in `new`. Where `old` has gaps
/// they also need neighbours that are the same.
pub(super) fn anchors(old: &[Option<&str>], new: &[&str]) -> Vec<(usize, usize)> {
    let mut once: HashMap<&str, (Option<usize>, Option<usize>)> = HashMap::new();
    let mut often: Vec<&str> = Vec::new();
    for (at, line) in old.iter().enumerate() {
        if let Some(line) = line.filter(|line| is_telling(line))
            && once.entry(line).or_default().0.replace(at).is_some()
        {
            often.push(line);
        }
    }
    for (at, line) in new.iter().enumerate() {
        if let Some(places) = once.get_mut(line)
            && places.1.replace(at).is_some()
        {
            often.push(line);
        }
    }
    for line in often {
        once.remove(line);
    }
    let places = once.into_values().filter_map(|(at, to)| at.zip(to));
    let mut anchors: Vec<(usize, usize)> = places.collect();
    anchors.sort_unstable_by_key(|(_, to)| *to);
    if old.contains(&None) {
        anchors.retain(|(at, to)| is_supported(old, new, *at, *to));
    }
    anchors
}

/// Whether a line of a text with gaps stands beside what stood beside it: on both sides, or on one
/// if that says enough.
fn is_supported(old: &[Option<&str>], new: &[&str], at: usize, to: usize) -> bool {
    let pair = |at: usize, to: usize| Some(((*old.get(at)?)?, *new.get(to)?));
    let above = at.checked_sub(1).zip(to.checked_sub(1));
    let above = above.and_then(|(at, to)| pair(at, to));
    let below = pair(at + 1, to + 1);
    let beside = [above, below].into_iter().flatten();
    let same: Vec<&str> = beside
        .filter(|(old, new)| old == new)
        .map(|(_, new)| new)
        .collect();
    same.len() == 2 || same.into_iter().any(is_telling)
}

/// What lines between two neighbours are to those that stood there.
fn between(old: &[Option<&str>], new: &[&str], happened: Between) -> Vec<Origin> {
    let is_same = |(old, new): &(&Option<&str>, &&str)| old.as_ref() == Some(new);
    let head = old.iter().zip(new).take_while(is_same).count();
    if head == old.len() && head == new.len() {
        return (0..head).map(Origin::Same).collect();
    }
    let lines = old.iter().rev().zip(new.iter().rev());
    let tail = lines.take_while(is_same).count();
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    for line in old.iter().flatten() {
        counts.entry(line).or_default().0 += 1;
    }
    for line in new {
        counts.entry(line).or_default().1 += 1;
    }
    let origin = |(at, line): (usize, &&str)| {
        let (before, after) = counts.get(line).copied().unwrap_or_default();
        let to_end = new.len() - at;
        match before {
            0 => Origin::New,
            _ if happened == Between::Anything => Origin::Open,
            _ if before == after && at < head => Origin::Same(at),
            _ if before == after && to_end <= tail => Origin::Same(old.len() - to_end),
            _ => Origin::Open,
        }
    };
    new.iter().enumerate().map(origin).collect()
}
