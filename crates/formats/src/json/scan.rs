//! Where a JSON value ends, and which values and damage one physical line holds.

use std::ops::Range;

/// A stretch of one line. The pieces of a line tile it exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it lies in the line.
    pub range: Range<usize>,
    /// What it is.
    pub kind: PieceKind,
}

/// Why a run of NULs is damage: a crash leaves them where the bytes of records should be.
pub const NULS: &str = "NUL bytes";
/// Why text that ends too early is no JSON.
pub const TORN: &str = "torn";

/// What a stretch of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// One JSON value.
    Value {
        /// The line holds more than this value and white space, so an agent that parses line by
        /// line drops it.
        fused: bool,
    },
    /// White space, line ends, byte order marks.
    Blank,
    /// Not JSON, and why: [`TORN`] where the text ends too early, [`NULS`], else `not JSON`.
    Bad(&'static str),
}

/// Why no value ends: the offset of the first byte that cannot be, or the end of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop {
    at: usize,
}

/// End of the one JSON value that begins exactly at `from`; `None` where `JSON.parse` would refuse
/// it.
pub fn scan_value(bytes: &[u8], from: usize) -> Option<usize> {
    scan(bytes, from).ok()
}

/// The one value of a line that holds nothing else but white space.
pub fn whole(line: &[u8]) -> Option<Range<usize>> {
    let start = skip_space(line, 0);
    let end = scan_value(line, start)?;
    (skip_space(line, end) == line.len()).then_some(start..end)
}

/// Cut one line into values, blanks and damage. Tried in order: the whole line is a value; NUL runs
/// (damage of their own) and byte order marks are skipped; several objects stand side by side; an
/// object follows a truncated one; else the rest is bad.
pub fn split(line: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(2);
    if let Some(value) = whole(line) {
        push(&mut pieces, 0..value.start, PieceKind::Blank);
        push(
            &mut pieces,
            value.clone(),
            PieceKind::Value { fused: false },
        );
        push(&mut pieces, value.end..line.len(), PieceKind::Blank);
        return pieces;
    }
    if is_blank(line) {
        push_blank(&mut pieces, line, 0..line.len());
        return pieces;
    }
    let mut at = 0;
    while at < line.len() {
        let start = skip_blank(line, at);
        push_blank(&mut pieces, line, at..start);
        if start == line.len() {
            break;
        }
        at = match scan(line, start) {
            // A scalar beside other bytes is as likely a word of broken text as a record.
            Ok(end) if line[start] == b'{' || skip_blank(line, end) == line.len() => {
                push(&mut pieces, start..end, PieceKind::Value { fused: true });
                end
            }
            Ok(end) => bad(&mut pieces, line, start, end),
            Err(stop) => match resume(line, start, stop) {
                Some((bad_end, next)) => {
                    push(&mut pieces, start..bad_end, PieceKind::Bad(TORN));
                    push_blank(&mut pieces, line, bad_end..next);
                    next
                }
                None => bad(&mut pieces, line, start, stop.at),
            },
        };
    }
    pieces
}

/// The rest of the line from `start` is bad; its line end stays a blank of its own.
fn bad(pieces: &mut Vec<Piece>, line: &[u8], start: usize, stopped: usize) -> usize {
    let tail = line
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'))
        .count();
    let end = (line.len() - tail).max(start);
    let why = if stopped >= end { TORN } else { "not JSON" };
    push(pieces, start..end, PieceKind::Bad(why));
    push(pieces, end..line.len(), PieceKind::Blank);
    line.len()
}

/// Where the next object begins when the one before it was cut short: the first byte that cannot
/// continue it is the new `{` itself or, inside a string, the letter after `{"`; or a run of NULs
/// lies between. Returns the end of the damage and the begin of the object.
fn resume(line: &[u8], start: usize, stop: Stop) -> Option<(usize, usize)> {
    let after_nul = line
        .get(stop.at..)?
        .iter()
        .position(|byte| *byte != 0)
        .map_or(line.len(), |n| stop.at + n);
    [
        stop.at,
        stop.at.saturating_sub(2),
        stop.at.saturating_sub(1),
        after_nul,
    ]
    .into_iter()
    .filter(|next| *next > start && line[*next..].starts_with(b"{\""))
    .find(|next| {
        scan(line, *next).is_ok_and(|end| {
            let rest = skip_blank(line, end);
            rest == line.len() || line[rest] == b'{'
        })
    })
    .map(|next| {
        if next == after_nul {
            (stop.at, next)
        } else {
            (next, next)
        }
    })
}

fn push(pieces: &mut Vec<Piece>, range: Range<usize>, kind: PieceKind) {
    if !range.is_empty() {
        pieces.push(Piece { range, kind });
    }
}

/// What stands between values is blank, but for a run of NULs in it: those were other bytes once.
fn push_blank(pieces: &mut Vec<Piece>, line: &[u8], range: Range<usize>) {
    let between = &line[range.clone()];
    let (Some(first), Some(last)) = (memchr::memchr(0, between), memchr::memrchr(0, between))
    else {
        return push(pieces, range, PieceKind::Blank);
    };
    let run = range.start + first..range.start + last + 1;
    push(pieces, range.start..run.start, PieceKind::Blank);
    push(pieces, run.clone(), PieceKind::Bad(NULS));
    push(pieces, run.end..range.end, PieceKind::Blank);
}

/// Blank to an agent (`!line.trim()`), or nothing but NULs and byte order marks.
fn is_blank(line: &[u8]) -> bool {
    skip_blank(line, 0) == line.len()
        || std::str::from_utf8(line).is_ok_and(|text| super::trim(text).is_empty())
}

pub(super) fn skip_space(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

fn skip_blank(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n' | 0) => at += 1,
            Some(0xef) if bytes[at..].starts_with(b"\xef\xbb\xbf") => at += 3,
            _ => return at,
        }
    }
}

/// The open brackets around the scanned byte, one bit each (1 = object): a machine word for the
/// first 64 levels, the heap beyond.
#[derive(Default)]
struct Nesting {
    depth: usize,
    bits: u64,
    spilled: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.spilled.push(self.bits);
        }
        self.bits = self.bits << 1 | u64::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.bits = self.spilled.pop().unwrap_or_default();
        }
    }

    fn in_object(&self) -> bool {
        self.bits & 1 == 1
    }
}

fn scan(bytes: &[u8], from: usize) -> Result<usize, Stop> {
    let mut open = Nesting::default();
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b'"') => at = string(bytes, at)?,
            Some(bracket @ (b'{' | b'[')) => {
                let object = *bracket == b'{';
                at = skip_space(bytes, at + 1);
                if bytes.get(at) == Some(&(bracket + 2)) {
                    at += 1;
                } else {
                    open.push(object);
                    if object {
                        at = key(bytes, at)?;
                    }
                    continue;
                }
            }
            Some(b'-' | b'0'..=b'9') => at = number(bytes, at)?,
            Some(b't') => at = word(bytes, at, b"true")?,
            Some(b'f') => at = word(bytes, at, b"false")?,
            Some(b'n') => at = word(bytes, at, b"null")?,
            _ => return Err(Stop { at }),
        }
        // A value has ended: close brackets until a comma asks for the next one.
        loop {
            if open.depth == 0 {
                return Ok(at);
            }
            at = skip_space(bytes, at);
            let object = open.in_object();
            match bytes.get(at) {
                Some(b',') => {
                    at = skip_space(bytes, at + 1);
                    if object {
                        at = key(bytes, at)?;
                    }
                    break;
                }
                Some(b'}') if object => {}
                Some(b']') if !object => {}
                _ => return Err(Stop { at }),
            }
            open.pop();
            at += 1;
        }
    }
}

/// Past `"key" :` and the white space after it.
fn key(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    if bytes.get(at) != Some(&b'"') {
        return Err(Stop { at });
    }
    let at = skip_space(bytes, string(bytes, at)?);
    if bytes.get(at) != Some(&b':') {
        return Err(Stop { at });
    }
    Ok(skip_space(bytes, at + 1))
}

/// The end of the string that begins at `quote`.
pub(super) fn string(bytes: &[u8], quote: usize) -> Result<usize, Stop> {
    let mut at = quote + 1;
    loop {
        at = special(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => match bytes.get(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                Some(b'u') => {
                    for digit in at + 2..at + 6 {
                        if !bytes.get(digit).is_some_and(u8::is_ascii_hexdigit) {
                            return Err(Stop { at: digit });
                        }
                    }
                    at += 6;
                }
                _ => return Err(Stop { at: at + 1 }),
            },
            // A control character, or the end.
            _ => return Err(Stop { at }),
        }
    }
}

/// The first quote, backslash or control character from `at` on, or the end of the bytes. Eight
/// bytes a step: real text has an escape every few words, too often for a call to memchr each.
/// Where nothing is found soon, as in base64, more at once: loops of fixed length without a way out
/// become vector instructions.
fn special(bytes: &[u8], mut at: usize) -> usize {
    const SOON: usize = 32;
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let mut soon = at + SOON;
    while let Some(chunk) = bytes
        .get(at..at + 8)
        .and_then(|chunk| <[u8; 8]>::try_from(chunk).ok())
    {
        let chunk = u64::from_le_bytes(chunk);
        let control = chunk.wrapping_sub(ONES * 0x20) & !chunk;
        let quote = chunk ^ (ONES * u64::from(b'"'));
        let quote = quote.wrapping_sub(ONES) & !quote;
        let backslash = chunk ^ (ONES * u64::from(b'\\'));
        let backslash = backslash.wrapping_sub(ONES) & !backslash;
        let found = (control | quote | backslash) & HIGH;
        if found != 0 {
            // Borrows run upwards only, so the lowest mark is true.
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
        if at >= soon {
            at = plain(bytes, at);
            soon = at + SOON;
        }
    }
    while bytes
        .get(at)
        .is_some_and(|byte| *byte >= 0x20 && *byte != b'"' && *byte != b'\\')
    {
        at += 1;
    }
    at
}

/// Past bytes that are none of those, in steps of 32: never past one of them.
fn plain(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
        // Without a branch a byte.
        let found = chunk.iter().fold(0, |found, byte| {
            found | u8::from(*byte < 0x20) | u8::from(*byte == b'"') | u8::from(*byte == b'\\')
        });
        if found != 0 {
            break;
        }
        at += 32;
    }
    at
}

fn number(bytes: &[u8], from: usize) -> Result<usize, Stop> {
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let mut at = from + usize::from(bytes[from] == b'-');
    at += match digits(at) {
        0 => return Err(Stop { at }),
        _ if bytes[at] == b'0' => 1,
        count => count,
    };
    if bytes.get(at) == Some(&b'.') {
        match digits(at + 1) {
            0 => return Err(Stop { at: at + 1 }),
            count => at += 1 + count,
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        match digits(at) {
            0 => return Err(Stop { at }),
            count => at += count,
        }
    }
    Ok(at)
}

fn word(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, Stop> {
    for (index, byte) in word.iter().enumerate() {
        if bytes.get(at + index) != Some(byte) {
            return Err(Stop { at: at + index });
        }
    }
    Ok(at + word.len())
}
