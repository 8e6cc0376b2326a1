//! Did a person type this, or did a program put it into their message?
//!
//! Agents add reminders, environment descriptions and instructions to what a person typed, between
//! tags such as `<system-reminder>` or `<environment_context>`: names with a hyphen or a `_` in
//! them, which people hardly ever write in prose.

use std::ops::Range;

/// Whether all that was found stands between such tags. `found` is not empty.
pub(super) fn is_injected(text: &str, found: &[Range<usize>]) -> bool {
    if found.is_empty() || !text.contains("</") {
        return false;
    }
    let blocks = blocks(text);
    found.iter().all(|place| {
        blocks
            .iter()
            .any(|block| block.start <= place.start && place.end <= block.end)
    })
}

/// Where tagged blocks are; those within others are left out.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('<').map(|offset| at + offset) {
        at = open + 1;
        let rest = &text[at..];
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            .count();
        let name = &rest[..length];
        if !name.contains(['-', '_']) || !rest[length..].starts_with(['>', ' ']) {
            continue;
        }
        let close = format!("</{name}>");
        if let Some(end) = text[at..].find(&close) {
            let end = at + end + close.len();
            blocks.push(open..end);
            at = end;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::is_injected;

    #[test]
    fn between_tags_of_programs() {
        let text = "fix it <system-reminder>run fix again</system-reminder> please <b>fix</b>";
        let places = |word: &str| -> Vec<std::ops::Range<usize>> {
            text.match_indices(word)
                .map(|(at, _)| at..at + word.len())
                .collect()
        };
        assert!(is_injected(text, &places("again")));
        assert!(!is_injected(text, &places("fix")));
        assert!(!is_injected(text, &places("please")));
        assert!(!is_injected(
            "a <b>bold</b> word",
            std::slice::from_ref(&(5..9))
        ));
        assert!(!is_injected(
            "<open-only> x",
            std::slice::from_ref(&(12..13))
        ));
        assert!(!is_injected(text, &[]));
    }
}
