//! How do all versions of a session's rows stand one behind the other? So that a row that is new or
//! changed is written once, wherever it stands, and no other row again.
//!
//! First stand the lines of all rows as they were at first. For each later state there follows a
//! line that says when it was read and which lines of the state before give way to others,
//! `{"kept":MS,"changes":[[FIRST,GONE,NEW],…]}`, and then the new lines. FIRST counts the lines of
//! the state before, from 0 on. What rows look like does not matter here, except that no line of
//! one begins so.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// How a line begins that is no row.
const STEP: &[u8] = b"{\"kept\":";

/// What led from one state to the next.
#[derive(Serialize, Deserialize)]
struct Step {
    /// When the next state was read, in ms since the epoch.
    kept: i64,
    /// Lines that give way, in order: the first of them, how many, and how many new ones.
    changes: Vec<(usize, usize, usize)>,
}

/// One state of a session's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowState {
    /// When it was read, in ms since the epoch; `None`: it is the first.
    pub kept_ms: Option<i64>,
    /// Bytes of its lines.
    pub length: u64,
}

/// The lines of the newest state.
///
/// # Errors
/// Those of reading, and [`ErrorKind::InvalidData`] where these are no versions of rows.
pub fn newest_rows(versions: impl Read) -> io::Result<Vec<u8>> {
    Ok(replay(versions, |_, _| {})?.concat())
}

/// Every state, the oldest first.
///
/// # Errors
/// As of [`newest_rows`].
pub fn row_states(versions: impl Read) -> io::Result<Vec<RowState>> {
    let mut states = Vec::new();
    replay(versions, |kept_ms, lines| {
        let length = lines.iter().map(|line| line.len() as u64).sum();
        states.push(RowState { kept_ms, length });
    })?;
    Ok(states)
}

/// What is to be written behind these versions, so that `lines` are the newest; nothing where they
/// are.
///
/// # Errors
/// As of [`newest_rows`]; that one of the lines begins as none of a row does
/// ([`ErrorKind::Unsupported`]).
pub fn next_rows(versions: impl Read, lines: &[u8], kept_ms: i64) -> io::Result<Vec<u8>> {
    let old = replay(versions, |_, _| {})?;
    let new: Vec<&[u8]> = lines.split_inclusive(|byte| *byte == b'\n').collect();
    if new.iter().any(|line| line.starts_with(STEP)) {
        let why = "a row of it looks like a note of this archive, so its changes are not kept";
        return Err(io::Error::new(ErrorKind::Unsupported, why));
    }
    let changes = changes(&old, &new);
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let step = Step {
        kept: kept_ms,
        changes: (changes.iter())
            .map(|change| (change.gone.start, change.gone.len(), change.new.len()))
            .collect(),
    };
    let mut written = serde_json::to_vec(&step)?;
    written.push(b'\n');
    for change in changes {
        written.extend(new[change.new].concat());
    }
    Ok(written)
}

/// Go through all states, and give back the lines of the last one.
fn replay(
    versions: impl Read,
    mut each: impl FnMut(Option<i64>, &[Vec<u8>]),
) -> io::Result<Vec<Vec<u8>>> {
    let mut input = BufReader::new(versions);
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut kept_ms = None;
    let mut steps = 0_u64;
    while let Some(line) = next_line(&mut input)? {
        if !line.starts_with(STEP) {
            lines.push(line);
            continue;
        }
        each(kept_ms, &lines);
        steps += 1;
        let step: Step = serde_json::from_slice(&line).map_err(|_| damaged(steps))?;
        kept_ms = Some(step.kept);
        take_step(&step, &mut lines, &mut input)?.ok_or_else(|| damaged(steps))?;
    }
    each(kept_ms, &lines);
    Ok(lines)
}

/// Put the new lines of a step, which follow in `input`, into the lines of the state before it.
/// `None`: the step does not fit that state, or lines are missing.
///
/// Lines before the first change of their number stay where they are: most steps change a few rows
/// and add others behind all.
fn take_step(
    step: &Step,
    lines: &mut Vec<Vec<u8>>,
    input: &mut impl BufRead,
) -> io::Result<Option<()>> {
    let is_moving = |(_, gone, new): &(usize, usize, usize)| gone != new;
    let staying = step.changes.iter().position(is_moving);
    let (staying, moving) = (step.changes).split_at(staying.unwrap_or(step.changes.len()));
    // Changes are in order, and none reaches into the next.
    let mut at = 0;
    for (first, gone, _) in staying {
        let end = first.checked_add(*gone).filter(|_| *first >= at);
        let Some(there) = end.and_then(|end| lines.get_mut(*first..end)) else {
            return Ok(None);
        };
        at = first + gone;
        for line in there {
            let Some(new) = next_line(input)? else {
                return Ok(None);
            };
            *line = new;
        }
    }
    let Some((start, ..)) = moving.first() else {
        return Ok(Some(()));
    };
    if !(at..=lines.len()).contains(start) {
        return Ok(None);
    }
    let mut old = lines.split_off(*start).into_iter();
    at = *start;
    for (first, gone, new) in moving {
        let (Some(between), Some(end)) = (first.checked_sub(at), first.checked_add(*gone)) else {
            return Ok(None);
        };
        if end - at > old.len() {
            return Ok(None);
        }
        lines.extend(old.by_ref().take(between));
        old.by_ref().take(*gone).for_each(drop);
        for _ in 0..*new {
            let Some(new) = next_line(input)? else {
                return Ok(None);
            };
            lines.push(new);
        }
        at = end;
    }
    lines.extend(old);
    Ok(Some(()))
}

/// A line with its end; `None` at the end of all.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    Ok(Some(line).filter(|line| !line.is_empty()))
}

fn damaged(step: u64) -> io::Error {
    let what = format!(
        "change {step} of the kept rows does not fit the rows before it; restore the archive from \
         a backup"
    );
    io::Error::new(ErrorKind::InvalidData, what)
}

/// Old lines that give way to new ones, by their numbers.
struct Replacement {
    gone: Range<usize>,
    new: Range<usize>,
}

/// What leads from the old lines to the new ones. Rows seldom change their order: a line that comes
/// before one that it followed is written again.
fn changes(old: &[Vec<u8>], new: &[&[u8]]) -> Vec<Replacement> {
    let mut places: HashMap<&[u8], VecDeque<usize>> = HashMap::new();
    for (at, line) in old.iter().enumerate() {
        places.entry(line).or_default().push_back(at);
    }
    let mut all = Vec::new();
    let mut open = Replacement {
        gone: 0..0,
        new: 0..0,
    };
    for (at, line) in new.iter().enumerate() {
        let there = places.get_mut(line);
        let there = there.and_then(|there| {
            while there.front().is_some_and(|place| *place < open.gone.start) {
                there.pop_front();
            }
            there.pop_front()
        });
        let Some(there) = there else {
            continue;
        };
        (open.gone.end, open.new.end) = (there, at);
        let next = Replacement {
            gone: there + 1..there + 1,
            new: at + 1..at + 1,
        };
        all.push(std::mem::replace(&mut open, next));
    }
    (open.gone.end, open.new.end) = (old.len(), new.len());
    all.push(open);
    all.retain(|change| !change.gone.is_empty() || !change.new.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn joined(lines: &[String]) -> Vec<u8> {
        lines.concat().into_bytes()
    }

    /// Every state is there, and none is written twice.
    #[test]
    fn every_state_is_found_again() {
        for seed in 0..50 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let (mut lines, mut number) = (Vec::<String>::new(), 0);
            let (mut versions, mut states) = (Vec::new(), Vec::new());
            for state in 0..20 {
                for _ in 0..random.random_range(0..6) {
                    number += 1;
                    let line = format!("{{\"table\":\"t\",\"key\":{number}}}\n");
                    match random.random_range(0..5) {
                        0 if !lines.is_empty() => {
                            drop(lines.remove(random.random_range(0..lines.len())));
                        }
                        1 if !lines.is_empty() => {
                            let at = random.random_range(0..lines.len());
                            lines[at] = line;
                        }
                        // Also lines that are equal, and lines that move.
                        2 if !lines.is_empty() => {
                            let at = random.random_range(0..lines.len());
                            let moved = lines[at].clone();
                            lines.insert(random.random_range(0..=lines.len()), moved);
                        }
                        _ => lines.insert(random.random_range(0..=lines.len()), line),
                    }
                }
                let now = joined(&lines);
                let more = match versions.is_empty() {
                    true => now.clone(),
                    false => next_rows(&versions[..], &now, state).unwrap(),
                };
                versions.extend(more);
                if !versions.is_empty() && states.last() != Some(&now) {
                    states.push(now.clone());
                }
                assert_eq!(newest_rows(&versions[..]).unwrap(), now, "seed {seed}");
                let again = next_rows(&versions[..], &now, state).unwrap();
                assert!(again.is_empty(), "seed {seed}");
            }
            let found = row_states(&versions[..]).unwrap();
            let lengths: Vec<u64> = found.iter().map(|state| state.length).collect();
            let expected: Vec<u64> = states.iter().map(|state| state.len() as u64).collect();
            assert_eq!(lengths, expected, "seed {seed}");
        }
    }

    #[test]
    fn a_change_writes_its_own_rows() {
        let mut lines: Vec<String> = (0..1000)
            .map(|key| format!("{{\"table\":\"t\",\"key\":{key},\"row\":\"{key:0100}\"}}\n"))
            .collect();
        let versions = joined(&lines);
        lines[0] = "{\"table\":\"t\",\"key\":0,\"row\":\"changed\"}\n".into();
        lines.remove(500);
        lines.push("{\"table\":\"t\",\"key\":1000,\"row\":\"new\"}\n".into());
        let more = next_rows(&versions[..], &joined(&lines), 7).unwrap();
        let expected = [
            "{\"kept\":7,\"changes\":[[0,1,1],[500,1,0],[1000,0,1]]}\n",
            &lines[0],
            &lines[999],
        ];
        assert_eq!(String::from_utf8(more).unwrap(), expected.concat());
    }

    /// One step with as many changes as there are rows.
    #[test]
    fn alternate_rows_go_in_one_step() {
        let lines: Vec<String> = (0..200_000)
            .map(|key| format!("{{\"table\":\"t\",\"key\":{key}}}\n"))
            .collect();
        let left: Vec<String> = lines.iter().step_by(2).cloned().collect();
        let (before, now) = (joined(&lines), joined(&left));
        let more = next_rows(&before[..], &now, 7).unwrap();
        let versions = [before, more].concat();
        assert_eq!(newest_rows(&versions[..]).unwrap(), now);
        // Equal rows of which some are there no longer.
        let same = "{\"table\":\"t\"}\n".repeat(200_000);
        let fewer = &same[..same.len() / 2];
        let more = next_rows(same.as_bytes(), fewer.as_bytes(), 7).unwrap();
        let versions = [same.as_bytes(), &more].concat();
        assert_eq!(newest_rows(&versions[..]).unwrap(), fewer.as_bytes());
    }

    #[test]
    fn no_row_is_taken_for_a_step() {
        let rows = "a\n{\"kept\":1,\"changes\":[[0,1,0]]}\n";
        let error = next_rows(&b"a\n"[..], rows.as_bytes(), 7).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn what_was_damaged_is_no_state() {
        for damaged in [
            "{\"kept\":1}\n",
            "a\n{\"kept\":1,\"changes\":[[1,1,0]]}\n",
            "a\n{\"kept\":1,\"changes\":[[0,0,2]]}\nb\n",
            "a\n{\"kept\":1,\"changes\":[[18446744073709551615,1,0]]}\n",
            "a\n{\"kept\":1,\"changes\":[[18446744073709551615,1,1]]}\nb\n",
            "a\n{\"kept\":1,\"changes\":[[0,1,0],[1,18446744073709551615,0]]}\n",
            "a\n{\"kept\":1,\"changes\":[[0,0,1],[0,0,18446744073709551615],[9,0,0]]}\nb\n",
            "a\nb\n{\"kept\":1,\"changes\":[[1,1,0],[0,1,0]]}\n",
            "a\nb\n{\"kept\":1,\"changes\":[[1,1,1],[0,1,1]]}\nc\nd\n",
            "a\nb\n{\"kept\":1,\"changes\":[[0,2,1],[1,1,0]]}\nc\n",
        ] {
            let error = newest_rows(damaged.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{damaged}");
            let said = error.to_string();
            let remedy = "restore the archive from a backup";
            assert!(
                said.starts_with("change 1 ") && said.ends_with(remedy),
                "{said}"
            );
        }
        assert_eq!(newest_rows(&b""[..]).unwrap(), b"");
    }
}
