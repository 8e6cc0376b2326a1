//! Which lines came before? Versions write history into the same file again: on taking a session up
//! again, on a second compaction and with `--input-format stream-json` the lines as they were, and
//! on some compactions what they kept under new ids.

use std::collections::{BTreeSet, VecDeque};

use crc_fast::{CrcAlgorithm, checksum};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::facts;
use super::usage::answer_key;
use crate::model::{Facts, Usage, keep_last};
use crate::{json, stable_hash};

/// Lines that are remembered behind the first ones, of which one may come again: the desktop writes
/// the first of a person's twice.
const RECENT: usize = 16;

/// By so many marks the first lines are remembered for good: two for a line that says something,
/// one for a link. A mark takes 8 bytes and its place in a tree, and 7 where the state is stored.
const MARKS: usize = 8 << 10;

/// So many figures of the first answers are remembered for good, each by a mark: so many bits of a
/// hash of the answer, and so many of one of the figure.
const FIGURES: usize = 1 << 10;
const ANSWER_BITS: u32 = 18;
const FIGURE_BITS: u32 = 10;

/// The bits of a hash that are a mark. Among so many marks one that is another line's is found once
/// in two thousand million lines.
const MARK: u64 = (1 << 44) - 1;

/// The lines so far, as far as they are remembered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Lines {
    /// Of the first lines.
    first: Marks,
    /// Of the last lines behind those.
    last: VecDeque<u64>,
    /// Of the first answers, with what they took.
    figures: Marks,
}

/// By what a line is known again.
pub(super) struct LineMarks {
    /// Its id and what it says.
    by_id: u64,
    /// When it was said, and what.
    by_time: Option<u64>,
}

/// Whether a line came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    No,
    /// It is the same line.
    Same,
    /// It says what a line before it said, under another id.
    Renamed,
}

impl Lines {
    /// Whether a line came before. One that is said anew is later than all before it: `latest`.
    pub fn again(&mut self, known: &LineMarks, latest: Option<i64>, facts: &Facts) -> Again {
        if self.has(known.by_id) {
            return Again::Same;
        }
        let is_old = facts.time_ms.is_some() && facts.time_ms < latest;
        let renamed = known.by_time.filter(|_| is_old);
        let is_renamed = renamed.is_some_and(|mark| self.has(mark));
        self.note(known.by_id);
        if is_renamed {
            return Again::Renamed;
        }
        if let Some(mark) = known.by_time {
            self.note(mark);
        }
        Again::No
    }

    /// Notes the output tokens of an answer: whether another figure of it was known. Where two
    /// answers share a mark, an old figure may pass for a new one: the catalogue counts it once all
    /// the same.
    pub fn note_figure(&mut self, usage: &Usage, request: Option<&str>) -> bool {
        let Some(id) = usage.response_id.as_deref().filter(|_| usage.is_repeated) else {
            return false;
        };
        let bits = |hash: u64, bits: u32| hash & ((1 << bits) - 1);
        let answer = bits(answer_key(id, request), ANSWER_BITS) << FIGURE_BITS;
        let output = usage.output.unwrap_or(0).to_le_bytes();
        let mark = answer | bits(stable_hash::of([&output[..]]), FIGURE_BITS);
        let marks = &mut self.figures.0;
        let before = marks.range(answer..answer + (1 << FIGURE_BITS)).next();
        let before = before.copied().filter(|_| !marks.contains(&mark));
        if marks.len() < FIGURES {
            marks.insert(mark);
        } else if let Some(before) = before {
            marks.remove(&before);
            marks.insert(mark);
        }
        before.is_some()
    }

    /// Notes what the answer of a line took, which is new.
    pub fn note_figures(&mut self, facts: &Facts) {
        for usage in facts.all_usage() {
            self.note_figure(usage, facts.copied_with.as_deref());
        }
    }

    fn has(&self, mark: u64) -> bool {
        self.first.0.contains(&mark) || self.last.contains(&mark)
    }

    fn note(&mut self, mark: u64) {
        if self.first.0.len() < MARKS {
            self.first.0.insert(mark);
            return;
        }
        // Two of each.
        keep_last(&mut self.last, mark, 2 * RECENT);
    }
}

impl LineMarks {
    /// `None` of a line without an id. Written again it may have other fields around what was said,
    /// and in an answer's message other figures, so only the content counts, with its pictures, and
    /// which answer it is of. What nobody said is a link, which is another one below another line.
    pub fn of(record: &[u8], facts: &Facts) -> Option<LineMarks> {
        let id = facts.id.as_deref()?;
        let what = match &facts.role {
            Some(_) => json::utf8(record).and_then(said),
            // One id is that of many.
            None if facts.kind == facts::HOOK => None,
            None => Some((facts.parent.as_deref().unwrap_or_default(), "")),
        };
        let Some((what, answer)) = what else {
            let by_id = checksum(CrcAlgorithm::Crc64Nvme, record) & MARK;
            return Some(LineMarks {
                by_id,
                by_time: None,
            });
        };
        // What is long is gone through once.
        let what = stable_hash::of([&facts.kind, what, answer].map(str::as_bytes)).to_le_bytes();
        let mark = |by: &str| stable_hash::of([&what[..], by.as_bytes()]) & MARK;
        let time = facts.time_raw.as_deref().filter(|_| facts.role.is_some());
        Some(LineMarks {
            by_id: mark(id),
            by_time: time.map(mark),
        })
    }
}

/// What was said on a line, as it stands, and the id of the answer that it is of. What comes behind
/// it, a result's twin above all, is not gone through once more.
fn said(line: &str) -> Option<(&str, &str)> {
    let (mut said, start) = (None, line.len() - line.trim_start().len());
    json::walk_object(line, start, &mut |key, at| match key {
        "message" => {
            said = of_message(line, at);
            None
        }
        "attachment" | "content" => {
            let end = json::scan_value(line.as_bytes(), at)?;
            said = line.get(at..end).map(|said| (said, ""));
            None
        }
        _ => json::scan_value(line.as_bytes(), at),
    });
    said
}

/// The content of the message that begins at `at`, or all of it where it has none, and its id. An
/// answer names that first, with what it took behind the content.
fn of_message(line: &str, at: usize) -> Option<(&str, &str)> {
    let (mut content, mut id) = (None, None);
    let end = json::walk_object(line, at, &mut |key, at| {
        let end = json::scan_value(line.as_bytes(), at)?;
        match key {
            "content" => content = line.get(at..end),
            "id" => id = line.get(at..end),
            _ => {}
        }
        (content.is_none() || id.is_none()).then_some(end)
    });
    let whole = || line.get(at..end.or_else(|| json::scan_value(line.as_bytes(), at))?);
    Some((content.or_else(whole)?, id.unwrap_or_default()))
}

/// Marks, stored as the text of what each is more than the one before it: [`BITS`] bits a sign, the
/// lowest ones first, with [`MORE`] where others follow.
#[derive(Debug, Clone, Default, PartialEq)]
struct Marks(BTreeSet<u64>);

/// The signs of a text in which marks are stored: those with [`MORE`] are the second half.
const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BITS: u32 = 5;
const MORE: u64 = 1 << BITS;

impl Serialize for Marks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(self.0.len() * 8);
        let mut before = 0;
        for mark in &self.0 {
            let mut more = mark - before;
            while more >= MORE {
                text.push(char::from(SIGNS[((more % MORE) | MORE) as usize]));
                more >>= BITS;
            }
            text.push(char::from(SIGNS[more as usize]));
            before = *mark;
        }
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Marks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Marks, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let (mut marks, mut mark, mut more, mut shift) = (Vec::new(), 0u64, 0u64, 0);
        for byte in text.bytes() {
            let sign = match byte {
                b'A'..=b'Z' => Some(byte - b'A'),
                b'a'..=b'z' => Some(byte - b'a' + 26),
                b'0'..=b'9' => Some(byte - b'0' + 52),
                b'-' => Some(62),
                b'_' => Some(63),
                _ => None,
            };
            let sign = sign.filter(|_| shift < u64::BITS);
            let bits = u64::from(sign.ok_or_else(|| de::Error::custom("no mark of a line"))?);
            more |= (bits % MORE) << shift;
            shift += BITS;
            if bits < MORE {
                mark = mark.wrapping_add(more);
                marks.push(mark);
                (more, shift) = (0, 0);
            }
        }
        Ok(Marks(marks.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_stored_in_few_bytes() {
        let mut marks = Marks::default();
        for number in 0..MARKS as u64 {
            marks
                .0
                .insert(stable_hash::of([&number.to_le_bytes()[..]]) & MARK);
        }
        marks.0.extend([0, 1, 31, 32, 33, MARK]);
        let stored = serde_json::to_string(&marks).unwrap();
        assert!(stored.len() < MARKS * 7 + 100, "{}", stored.len());
        assert_eq!(serde_json::from_str::<Marks>(&stored).unwrap(), marks);
        assert_eq!(serde_json::to_string(&Marks::default()).unwrap(), "\"\"");
        for damaged in ["\"!\"", "7", "\"____________________\""] {
            assert!(serde_json::from_str::<Marks>(damaged).is_err());
        }
    }
}
