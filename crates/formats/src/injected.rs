//! What did a program put into a person's message?
//!
//! Agents add reminders, environment descriptions, instructions, files and skills to what a person
//! typed, between tags: such whose name has a hyphen or a `_` in it (`<system-reminder>`,
//! `<environment_context>`) or is in capitals (`<INSTRUCTIONS>`), or which have a name themselves
//! (`<file name="…">`). People hardly ever write such in prose.

use std::collections::HashMap;
use std::ops::Range;

/// Bytes in which a tag ends.
const LONGEST_TAG: usize = 1024;

/// Where such blocks are, ascending; those within others are left out.
pub fn injected_blocks(text: &str) -> Vec<Range<usize>> {
    // By name, where their ends begin: a name whose end is missing is not looked for again and
    // again.
    let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, _) in text.match_indices("</") {
        let name = name_at(text, at + 2);
        if text[at + 2 + name.len()..].starts_with('>') {
            ends.entry(name).or_default().push(at);
        }
    }
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (open, _) in text.match_indices('<') {
        if blocks.last().is_some_and(|block| open < block.end) {
            continue;
        }
        let name = name_at(text, open + 1);
        let rest = &text[open + 1 + name.len()..];
        let is_capital = name.len() > 3 && name.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_programs = name.contains(['-', '_']) || is_capital || rest.starts_with(" name=");
        if !is_programs || !rest.starts_with(['>', ' ']) || is_empty(rest) {
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
