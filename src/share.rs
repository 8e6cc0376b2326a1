//! What of a session's file may leave the machine? Its bytes with the secrets left out, so that it
//! is still a file of its agent's: ids, parents, times, usage and keys stay, and what was JSON is.
//!
//! A secret that was cut in half is not known for one. So nothing is given of a line, or of a
//! document, that its agent has not written to its end.

use rayon::prelude::*;

use crate::format::Shape;
use crate::format::json::{PieceKind, masked_but, split, whole};
use crate::model::Mask;
use crate::redact::MARK;
use crate::threads;

/// So many bytes are worth another thread.
const PIECE: usize = 64 << 10;

/// The bytes of a file that may be shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedBytes {
    /// From the beginning of the file on.
    pub bytes: Vec<u8>,
    /// How many secrets were left out of them.
    pub redactions: usize,
    /// How many bytes at the end of the file are not among them, as they are not written to their
    /// end yet.
    pub unfinished: u64,
}

impl SharedBytes {
    /// All of a file, as it is.
    pub(crate) fn raw(bytes: Vec<u8>) -> SharedBytes {
        SharedBytes {
            bytes,
            ..SharedBytes::default()
        }
    }

    /// A file of this shape, with what `mask` knows left out. `is_at_rest`: it was not written to
    /// for a while, so that a text without an end of line is all of it.
    pub(crate) fn masked(file: &[u8], shape: Shape, is_at_rest: bool, mask: &Mask) -> SharedBytes {
        let finished = match shape {
            _ if is_whole(file) => file,
            Shape::Text if is_at_rest => file,
            Shape::Text | Shape::Lines => finished_lines(file),
            Shape::Document | Shape::Elements => &[],
        };
        let mut shared = SharedBytes {
            unfinished: (file.len() - finished.len()) as u64,
            ..SharedBytes::default()
        };
        match shape {
            _ if is_whole(finished) => shared.add_json(finished, mask),
            Shape::Text | Shape::Document | Shape::Elements => shared.add_text(finished, mask),
            Shape::Lines => shared.add_lines(finished, mask),
        }
        shared
    }

    /// Lines, on every core: to look for secrets takes longer than all else.
    fn add_lines(&mut self, lines: &[u8], mask: &Mask) {
        let pieces = pieces(lines);
        let masked = |lines: &&[u8]| {
            let mut masked = SharedBytes::default();
            let lines = lines.split_inclusive(|byte| *byte == b'\n');
            lines.for_each(|line| masked.add_line(line, mask));
            masked
        };
        let all: Vec<SharedBytes> = match (pieces.len() > 1).then(threads::pool).flatten() {
            Some(pool) => pool.install(|| pieces.par_iter().map(masked).collect()),
            None => pieces.iter().map(masked).collect(),
        };
        self.bytes.reserve(lines.len());
        for masked in all {
            self.bytes.extend_from_slice(&masked.bytes);
            self.redactions += masked.redactions;
        }
    }

    /// One line: the JSON in it, and whatever else a crash or two writers at once left there.
    fn add_line(&mut self, line: &[u8], mask: &Mask) {
        for piece in split(line) {
            let bytes = &line[piece.range];
            match piece.kind {
                PieceKind::Value { .. } => self.add_json(bytes, mask),
                PieceKind::Blank => self.bytes.extend_from_slice(bytes),
                PieceKind::Bad(_) => self.add_text(bytes, mask),
            }
        }
    }

    fn add_json(&mut self, json: &[u8], mask: &Mask) {
        let text = String::from_utf8_lossy(json);
        let masked = masked_but(&text, mask, is_id);
        self.add(json, &text, masked);
    }

    fn add_text(&mut self, bytes: &[u8], mask: &Mask) {
        let text = String::from_utf8_lossy(bytes);
        let masked = mask.of(&text);
        self.add(bytes, &text, masked);
    }

    fn add(&mut self, bytes: &[u8], text: &str, masked: Option<String>) {
        let Some(masked) = masked else {
            return self.bytes.extend_from_slice(bytes);
        };
        // A text may speak of the mark itself.
        let marks = |text: &str| text.matches(MARK).count();
        self.redactions += marks(&masked).saturating_sub(marks(text));
        self.bytes.extend_from_slice(masked.as_bytes());
    }
}

/// Whole lines, in pieces of some size each.
fn pieces(lines: &[u8]) -> Vec<&[u8]> {
    let (mut pieces, mut rest) = (Vec::new(), lines);
    while rest.len() > PIECE {
        let end = memchr::memchr(b'\n', &rest[PIECE..]).map_or(rest.len(), |at| PIECE + at + 1);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// Whether a member of a record is one of its ids, or its time. What a model is called is neither.
fn is_id(key: &str) -> bool {
    let is_name = key.starts_with("model") || key.starts_with("provider");
    let ends = ["id", "Id", "ID", "uuid", "Uuid"];
    key == "timestamp" || !is_name && ends.iter().any(|end| key.ends_with(end))
}

/// Whether it is one JSON document, and no more will follow of its value.
fn is_whole(file: &[u8]) -> bool {
    whole(file).is_some_and(|value| matches!(file[value.start], b'{' | b'['))
}

/// All but a last line that may go on.
fn finished_lines(file: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b'\n', file).map_or(0, |at| at + 1);
    match is_whole(&file[end..]) {
        true => file,
        false => &file[..end],
    }
}
