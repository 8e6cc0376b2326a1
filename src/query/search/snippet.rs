//! Which part of a passage is shown?

use std::ops::Range;

use crate::model::Class;
use crate::words::Matcher;

/// Characters of a snippet before and after the first match.
const BEFORE: usize = 60;
const AFTER: usize = 140;

/// The text around the first match, on one line, and where the matches are in it.
pub(super) fn snippet(
    matcher: Option<&Matcher>,
    class: Class,
    pieces: &[String],
) -> (String, Vec<(usize, usize)>) {
    let first = pieces
        .iter()
        .map(|piece| {
            (
                piece,
                matcher
                    .map(|m| m.highlights(class, piece))
                    .unwrap_or_default(),
            )
        })
        .find(|(_, found)| !found.is_empty());
    let Some((piece, found)) = first.or_else(|| pieces.first().map(|piece| (piece, Vec::new())))
    else {
        return (String::new(), Vec::new());
    };
    let middle = found.first().map_or(0, |r| r.start);
    let start = piece[..middle]
        .char_indices()
        .rev()
        .take(BEFORE)
        .last()
        .map_or(middle, |(at, _)| at);
    let end = piece[middle..]
        .char_indices()
        .nth(AFTER)
        .map_or(piece.len(), |(at, _)| middle + at);
    one_line(piece, start..end, &found)
}

/// This part of a text on one line, `…` where more of it is left out, and where the matches are in
/// the line.
fn one_line(
    piece: &str,
    part: Range<usize>,
    found: &[Range<usize>],
) -> (String, Vec<(usize, usize)>) {
    let Range { start, end } = part;
    let mut text = String::new();
    if start > 0 {
        text.push('…');
    }
    let mut marks = Vec::new();
    let mut open: Option<usize> = None;
    let mut found = found
        .iter()
        .filter(|r| r.end <= end && r.start >= start)
        .peekable();
    let mut blank = false;
    for (offset, c) in piece[start..end].char_indices() {
        let at = start + offset;
        if found.peek().is_some_and(|r| r.end <= at)
            && let Some(from) = open.take()
        {
            marks.push((from, text.len()));
            found.next();
        }
        if open.is_none() && found.peek().is_some_and(|r| r.start == at) {
            open = Some(text.len());
        }
        if c.is_whitespace() || c.is_control() {
            if !blank {
                text.push(' ');
            }
            blank = true;
        } else {
            text.push(c);
            blank = false;
        }
    }
    if let Some(from) = open {
        marks.push((from, text.len()));
    }
    if end < piece.len() {
        text.push('…');
    }
    (text, marks)
}
