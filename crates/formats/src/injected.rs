//! What did a program put into a person's message?
//!
//! Agents add reminders, environment descriptions, instructions, files and skills to what a person
//! typed, between tags: such whose name has a hyphen or a `_` in it (`<system-reminder>`,
//! `<environment_context>`) or is in capitals (`<INSTRUCTIONS>`), or which have a name themselves
//! (`<file name="…">`). People hardly ever write such in prose. What a person pasted may stand
//! between tags as well, and is theirs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Bytes in which a tag ends.
const LONGEST_TAG: usize = 1024;

/// Between tags of this name stands what a person pasted.
const PASTED: &str = "pasted_content";

/// Where such blocks are, ascending; those within others are left out. What is
/// [pasted](pasted_blocks) neither begins nor ends one.
pub fn injected_blocks(text: &str) -> Vec<Range<usize>> {
    let pasted = pasted_blocks(text);
    // By name, where their ends begin: a name whose end is missing is not looked for again and
    // again.
    let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, _) in text.match_indices("</") {
        let name = name_at(text, at + 2);
        if !is_within(&pasted, at) && text[at + 2 + name.len()..].starts_with('>') {
            ends.entry(name).or_default().push(at);
        }
    }
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (open, _) in text.match_indices('<') {
        let is_in_last = blocks.last().is_some_and(|block| open < block.end);
        if is_in_last || is_within(&pasted, open) {
            continue;
        }
        let name = name_at(text, open + 1);
        let rest = &text[open + 1 + name.len()..];
        let is_capital = name.len() > 3 && name.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_programs = name.contains(['-', '_']) || is_capital || rest.starts_with(" name=");
        if !is_programs || !rest.starts_with(['>', ' ']) || is_empty(rest) || name == PASTED {
            continue;
        }
        let ends = ends.get(name).map_or(&[][..], Vec::as_slice);
        let next = ends.partition_point(|end| *end <= open);
        if let Some(end) = ends.get(next) {
            blocks.push(open..end + "</>".len() + name.len());
        }
    }
    blocks
}

/// Where a person pasted something, ascending: from `<pasted_content id="8a62">` to
/// `</pasted_content id="8a62">`, as Claude Code marks it. The end has the same id, which nothing
/// that is pasted can know; an end without one counts where there is none with it.
pub fn pasted_blocks(text: &str) -> Vec<Range<usize>> {
    let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, tag) in text.match_indices("</pasted_content") {
        let (id, rest) = paste_id(&text[at + tag.len()..]);
        if rest.starts_with('>') {
            ends.entry(id)
                .or_default()
                .push(text.len() - rest.len() + 1);
        }
    }
    if ends.is_empty() {
        return Vec::new();
    }
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (open, tag) in text.match_indices("<pasted_content") {
        let (id, rest) = paste_id(&text[open + tag.len()..]);
        let is_within = blocks.last().is_some_and(|block| open < block.end);
        if is_within || id.is_empty() || !rest.starts_with('>') {
            continue;
        }
        let next = |id: &str| {
            let ends = ends.get(id)?;
            ends.get(ends.partition_point(|end| *end <= open)).copied()
        };
        if let Some(end) = next(id).or_else(|| next("")) {
            blocks.push(open..end);
        }
    }
    blocks
}

/// Whether a place is in one of the blocks, which are ascending.
pub(crate) fn is_within(blocks: &[Range<usize>], at: usize) -> bool {
    let next = blocks.get(blocks.partition_point(|block| block.end <= at));
    next.is_some_and(|block| block.start <= at)
}

/// The id that a tag has, and what stands behind it.
fn paste_id(rest: &str) -> (&str, &str) {
    let with_id = rest.strip_prefix(" id=\"").map(|rest| {
        let id = name_at(rest, 0);
        Some((id, rest[id.len()..].strip_prefix('"')?))
    });
    with_id.flatten().unwrap_or(("", rest))
}

/// The text without the tags around what was pasted, each of which has a line of its own.
pub(crate) fn without_paste_tags(text: &str) -> Cow<'_, str> {
    let blocks = pasted_blocks(text);
    if blocks.is_empty() {
        return text.into();
    }
    let (mut without, mut at) = (String::with_capacity(text.len()), 0);
    for block in blocks {
        without.push_str(&text[at..block.start]);
        let pasted = &text[block.clone()];
        let pasted = pasted.split_once('>').map_or("", |(_, pasted)| pasted);
        let pasted = pasted.rsplit_once("</").map_or("", |(pasted, _)| pasted);
        let pasted = pasted.strip_prefix('\n').unwrap_or(pasted);
        without.push_str(pasted.strip_suffix('\n').unwrap_or(pasted));
        at = block.end;
    }
    without.push_str(&text[at..]);
    without.into()
}

/// The name of a tag that may stand there.
fn name_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    &rest[..rest.bytes().take_while(|byte| is_in_name(byte)).count()]
}

/// Whether a tag that goes on so has nothing in it (`<property name="a"/>`).
fn is_empty(rest: &str) -> bool {
    let tag = &rest.as_bytes()[..rest.len().min(LONGEST_TAG)];
    let end = tag.iter().position(|byte| *byte == b'>');
    end.is_some_and(|end| tag[..end].ends_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pasted_is_known_by_the_id_of_its_tags() {
        for (text, pasted, without) in [
            (
                "see \n\n<pasted_content id=\"8a62\">\na log\n</pasted_content id=\"8a62\">\nwhy",
                &["a log"][..],
                "see \n\na log\nwhy",
            ),
            // What is pasted may hold an end, with another id or none.
            (
                "<pasted_content id=\"a1\">x</pasted_content>y</pasted_content id=\"b2\">z\
                 </pasted_content id=\"a1\"> now <pasted_content id=\"b2\">w\
                 </pasted_content id=\"b2\">",
                &["x</pasted_content>y</pasted_content id=\"b2\">z", "w"],
                "x</pasted_content>y</pasted_content id=\"b2\">z now w",
            ),
            (
                "fix <pasted_content id=\"ab12\">it</pasted_content> now",
                &["it"],
                "fix it now",
            ),
            (
                "<pasted_content id=\"a\">x",
                &[],
                "<pasted_content id=\"a\">x",
            ),
            (
                "<pasted_content>x</pasted_content>",
                &[],
                "<pasted_content>x</pasted_content>",
            ),
        ] {
            let found = pasted_blocks(text);
            assert_eq!(found.len(), pasted.len(), "{text}");
            for (block, pasted) in found.into_iter().zip(pasted) {
                assert!(text[block].contains(pasted), "{text}");
            }
            assert_eq!(without_paste_tags(text), without);
            assert_eq!(injected_blocks(text), []);
        }
    }

    #[test]
    fn pastes_without_end_are_looked_through_once() {
        let open = "<pasted_content id=\"a\">".repeat(200_000);
        assert_eq!(
            pasted_blocks(&format!("{open}</pasted_content id=\"b\">")),
            []
        );
        assert_eq!(without_paste_tags(&open), open);
    }
}
