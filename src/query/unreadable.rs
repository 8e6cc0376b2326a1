//! Bytes of a session's file that are no entry, each where it stands among the entries.

use std::iter::Peekable;

use crate::catalogue::read::StoredProblem;
use crate::catalogue::{self, Catalogue, Paged};
use crate::model::{Class, Mask, ShownEntry};
use crate::source::place::RangeReader;

/// Characters of the bytes that are shown.
const PREVIEW: usize = 200;
/// Bytes that are read for that, at most: a key that begins within the preview is masked as a
/// whole, and one that is longer is not shown.
const READ: u64 = 4 << 10;
/// Bytes of a part, where all are read, and of the end of one that the next one repeats: a key that
/// begins in the one and ends in the other is found whole.
const PART: u64 = 1 << 20;
const REPEATED: u64 = 16 << 10;
/// Bytes that are looked through at once for ends of lines.
const AT_ONCE: u64 = 64 << 10;

/// The unreadable bytes of one source, in file order.
pub(super) struct Unreadable<'c> {
    source: i64,
    problems: Peekable<Paged<'c, StoredProblem>>,
    /// To be looked into; `None`: it has no lines, or cannot be read.
    file: Option<RangeReader>,
    mask: Option<Mask>,
    has_lines: bool,
    /// All of it is asked for, instead of the beginnings.
    is_whole: bool,
    /// What follows of the bytes whose first parts were given, and where.
    rest: Option<(StoredProblem, u64)>,
    /// Some that were asked for could not be read.
    is_lost: bool,
    /// A place in the file, and its line.
    at: u64,
    line: u64,
}

impl<'c> Unreadable<'c> {
    /// Those of `source`; `file`: what it holds, where it has lines.
    pub fn new(
        catalogue: &'c Catalogue,
        source: i64,
        file: Option<RangeReader>,
        mask: Option<&Mask>,
    ) -> Self {
        Unreadable {
            source,
            problems: catalogue.problems(source).peekable(),
            file,
            mask: mask.cloned(),
            has_lines: true,
            is_whole: false,
            rest: None,
            is_lost: false,
            at: 0,
            line: 1,
        }
    }

    /// All of them from beginning to end, of sources without lines too.
    pub fn whole(self, has_lines: bool) -> Self {
        Unreadable {
            has_lines,
            is_whole: true,
            ..self
        }
    }

    /// The source, where some of its bytes could not be read although all were asked for.
    pub fn lost(&self) -> Option<i64> {
        self.is_lost.then_some(self.source)
    }

    /// An entry that ends at byte `end` stands on this line.
    pub fn pass(&mut self, end: u64, line: u64) {
        (self.at, self.line) = (end, line);
    }

    fn take_before(&mut self, byte: u64) -> Result<Option<StoredProblem>, catalogue::Error> {
        let stands_before = |problem: &Result<StoredProblem, _>| match problem {
            Ok(problem) => problem.start < byte,
            Err(_) => true,
        };
        self.problems.next_if(stands_before).transpose()
    }

    /// Those that stand before this byte are not asked for.
    pub fn skip_before(&mut self, byte: u64) -> Result<(), catalogue::Error> {
        while self.take_before(byte)?.is_some() {}
        Ok(())
    }

    /// The next one that stands before this byte, or the next part of it.
    pub fn next_before(&mut self, byte: u64) -> Result<Option<ShownEntry>, catalogue::Error> {
        let (problem, from) = match self.rest.take() {
            Some(rest) => rest,
            None => match self.take_before(byte)? {
                Some(problem) => {
                    let start = problem.start;
                    (problem, start)
                }
                None => return Ok(None),
            },
        };
        let line = self.line_of(problem.start);
        let text = match self.is_whole {
            true => self.part(&problem, from),
            false => self.preview(&problem),
        };
        let text = text.filter(|text| !text.is_empty());
        Ok(Some(ShownEntry {
            id: format!("@{}", problem.start),
            parent: None,
            line,
            start: problem.start,
            end: problem.start + problem.length,
            kind: "problem".into(),
            role: None,
            label: None,
            time: None,
            time_ms: None,
            is_error: false,
            has_image: false,
            agent_sees: false,
            text: text
                .map(|text| vec![(Class::Output, vec![text])])
                .unwrap_or_default(),
            problem: Some(problem.reason),
            ordinal: None,
            inherited_from: None,
        }))
    }

    /// The line on which this byte stands; 0 where nobody can say.
    fn line_of(&mut self, byte: u64) -> u64 {
        let Some(file) = &mut self.file else {
            return 0;
        };
        if !self.has_lines {
            return 0;
        }
        while self.at < byte {
            let length = (byte - self.at).min(AT_ONCE);
            let Ok(Some(bytes)) = file.bytes(self.at, length) else {
                return 0;
            };
            self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
            self.at += length;
        }
        self.line
    }

    /// A part of the bytes, as the file stands now; what follows is kept for the next time.
    fn part(&mut self, problem: &StoredProblem, from: u64) -> Option<String> {
        let left = (problem.start + problem.length).saturating_sub(from);
        let length = left.min(PART);
        let bytes = self.file.as_mut().map(|file| file.bytes(from, length));
        let Some(Ok(Some(bytes))) = bytes else {
            self.is_lost = true;
            return None;
        };
        let text = String::from_utf8_lossy(bytes).replace('\0', "");
        if left > length {
            self.rest = Some((problem.clone(), from + length - REPEATED));
        }
        let masked = self.mask.as_ref().and_then(|mask| mask.of(&text));
        Some(masked.unwrap_or(text))
    }

    /// What the bytes say, as the file stands now.
    fn preview(&mut self, problem: &StoredProblem) -> Option<String> {
        let file = self.file.as_mut()?;
        let bytes = file.bytes(problem.start, problem.length.min(READ));
        let text = String::from_utf8_lossy(bytes.ok()??).replace('\0', "");
        Some(match &self.mask {
            Some(mask) => masked_beginning(&text, problem.length <= READ, mask),
            None => beginning(&text).to_owned(),
        })
    }
}

fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(PREVIEW);
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

/// The beginning of `text`, masked. `is_whole`: nothing follows this text.
///
/// A key that is cut in two may no longer look like one. So the text is cut only where a run of
/// characters ends, and it is shown only as far as more of it would be masked alike.
fn masked_beginning(text: &str, is_whole: bool, mask: &Mask) -> String {
    let ends_run = |c: char| c.is_whitespace() || c == '"' || c == '\'';
    let known = match text.rfind(ends_run) {
        _ if is_whole => text,
        Some(last) => &text[..last],
        None => "",
    };
    let least = beginning(known).len();
    let end = known[least..].find(ends_run).map(|behind| least + behind);
    let masked = |text: &str| mask.of(text).unwrap_or_else(|| text.to_owned());
    let (alone, all) = (masked(&known[..end.unwrap_or(known.len())]), masked(known));
    let alike = alone.chars().zip(all.chars()).take_while(|(a, b)| a == b);
    alike.take(PREVIEW).map(|(same, _)| same).collect()
}
