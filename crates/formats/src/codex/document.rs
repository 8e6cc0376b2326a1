//! What the first Codex wrote, in TypeScript, from April to June 2025:
//! `{"session": {…}, "items": […]}`, the items as in lines without an envelope.

use std::ops::Range;

use crate::document::{around, list, same_places, shifted};
use crate::json;

/// What stands before the items, with the header, and each item: see
/// [`Format::elements`](crate::Format::elements).
pub(super) fn elements(document: &[u8]) -> Option<Vec<Range<usize>>> {
    let whole = json::whole(document)?;
    let text = same_places(document);
    let inner = &text[whole.clone()];
    json::member(inner, "session")?;
    let mut found = around(inner, list(inner, "items")?);
    let closes = |c: char| c.is_ascii_whitespace() || "]}".contains(c);
    found.pop_if(|last| inner[last.clone()].chars().all(closes));
    let found = found.into_iter();
    Some(found.map(|range| shifted(&range, whole.start)).collect())
}

/// The header in what stands before the items; `None` in every line.
pub(super) fn header(text: &str) -> Option<&str> {
    let members = text.trim_start().strip_prefix('{')?.trim_start();
    let begins = members.starts_with("\"session\"");
    begins.then(|| json::member(text, "session")).flatten()
}
