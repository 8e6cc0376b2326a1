//! What did user or model say in a line, as pi's list joins it? Only what leads there is looked
//! into: the rest of a line, most of it thoughts, arguments and pictures, is passed over.

use std::ops::Range;

use crate::json::{self, scan_value, unquote, walk_array, walk_object};

/// Text of a user or assistant message as pi's list joins it into `allMessagesText`. Of members
/// that are repeated the last one counts, as for `JSON.parse`.
pub(super) fn listed_text(record: &[u8]) -> Option<String> {
    json::tiers(record, of_line).filter(|text| !text.is_empty())
}

/// What is said in a line, if only nothing; `None` where it is no JSON object.
fn of_line(json: &str) -> Option<String> {
    let (mut is_message, mut said) = (false, String::new());
    let start = json.len() - json.trim_start_matches(SPACE).len();
    let end = walk_object(json, start, &mut |key, at| match key {
        "type" => {
            let value = value(json, at)?;
            is_message = is_one_of(&json[value.clone()], &["\"message\""]);
            Some(value.end)
        }
        "message" => {
            let (of_message, end) = of_message(json, at)?;
            said = of_message;
            Some(end)
        }
        _ => scan_value(json.as_bytes(), at),
    })?;
    let is_whole = json[end..].trim_start_matches(SPACE).is_empty();
    is_whole.then(|| if is_message { said } else { String::new() })
}

/// What is said in the message that begins at `at`, and where it ends.
fn of_message(json: &str, at: usize) -> Option<(String, usize)> {
    if json.as_bytes().get(at) != Some(&b'{') {
        return Some((String::new(), value(json, at)?.end));
    }
    let (mut is_spoken, mut said) = (false, String::new());
    let end = walk_object(json, at, &mut |key, at| match key {
        "role" => {
            let value = value(json, at)?;
            is_spoken = is_one_of(&json[value.clone()], &["\"user\"", "\"assistant\""]);
            Some(value.end)
        }
        "content" => {
            let (of_content, end) = of_content(json, at)?;
            said = of_content;
            Some(end)
        }
        _ => scan_value(json.as_bytes(), at),
    })?;
    Some((if is_spoken { said } else { String::new() }, end))
}

/// A text, or `blocks.filter(text).map(text).join(" ")` as JavaScript does it.
fn of_content(json: &str, at: usize) -> Option<(String, usize)> {
    if json.as_bytes().get(at) != Some(&b'[') {
        let value = value(json, at)?;
        let literal = &json[value.clone()];
        let is_text = literal.starts_with('"');
        let text = is_text.then(|| json::decode(literal.as_bytes()).into_owned());
        return Some((text.unwrap_or_default(), value.end));
    }
    let mut joined: Option<String> = None;
    let end = walk_array(json, at, &mut |at| {
        let (text, end) = of_block(json, at)?;
        match (text, &mut joined) {
            (None, _) => {}
            (Some(text), None) => joined = Some(text),
            (Some(text), Some(joined)) => {
                joined.push(' ');
                joined.push_str(&text);
            }
        }
        Some(end)
    })?;
    Some((joined.unwrap_or_default(), end))
}

/// The text of a block of text, and where the block ends.
fn of_block(json: &str, at: usize) -> Option<(Option<String>, usize)> {
    if json.as_bytes().get(at) != Some(&b'{') {
        return Some((None, value(json, at)?.end));
    }
    let (mut is_text, mut text) = (false, "");
    let end = walk_object(json, at, &mut |key, at| {
        let value = value(json, at)?;
        match key {
            "type" => is_text = is_one_of(&json[value.clone()], &["\"text\""]),
            "text" => text = &json[value.clone()],
            _ => {}
        }
        Some(value.end)
    })?;
    let text = is_text.then(|| match text.starts_with('"') {
        true => json::decode(text.as_bytes()).into_owned(),
        false => json::string(text),
    });
    Some((text, end))
}

const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Where the value stands that begins at `at`.
fn value(json: &str, at: usize) -> Option<Range<usize>> {
    Some(at..scan_value(json.as_bytes(), at)?)
}

/// Whether a value is one of these texts, each with its quotes: hardly one is written otherwise.
fn is_one_of(literal: &str, texts: &[&str]) -> bool {
    let is_same = |text: &&str| text[1..text.len() - 1] == *unquote(literal);
    texts.contains(&literal) || literal.contains('\\') && texts.iter().any(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(content: &str) -> Option<String> {
        let message = format!(r#"{{"role":"user","content":{content},"n":1e999}}"#);
        listed_text(format!(r#" {{"type":"message","message":{message}}} "#).as_bytes())
    }

    #[test]
    fn texts_are_joined_as_javascript_does() {
        for (content, text) in [
            (r#""plain \"text\"\n""#, Some("plain \"text\"\n")),
            (r#""""#, None),
            ("null", None),
            ("[]", None),
            (r#"[{"type":"text","text":"a"}]"#, Some("a")),
            (
                r#"[ {"text":"b","type":"text"} , {"type":"image","text":"no"}, {"type":"text","text":"c"} ]"#,
                Some("b c"),
            ),
            (
                r#"[null,"x",{"type":"text"},{"type":"text","text":null}]"#,
                Some(" "),
            ),
            (
                r#"[{"type":"text","text":7},{"type":"text","text":[1,{"a":2}]}]"#,
                Some("7 1,[object Object]"),
            ),
            (
                r#"[{"type":"text","text":"\ud83e\udd80 \ud83e"}]"#,
                Some("🦀 \u{fffd}"),
            ),
            (r#"[{"type":"t\u0065xt","t\u0065xt":"é"}]"#, Some("é")),
        ] {
            assert_eq!(said(content).as_deref(), text, "{content}");
        }
    }

    #[test]
    fn of_repeated_members_the_last_one_counts() {
        let block = r#"{"type":"image","type":"text","text":"x","text":"y"}"#;
        assert_eq!(
            said(&format!(r#""z","content":[{block}]"#)).as_deref(),
            Some("y")
        );
        assert_eq!(said(&format!(r#"[{block}],"role":"toolResult""#)), None);
        assert_eq!(
            said(r#""a"},"message":{"role":"assistant","content":"b""#).as_deref(),
            Some("b")
        );
        assert_eq!(said(r#""a"},"message":7,"m":{"a":1"#), None);
        assert_eq!(said(r#""a"},"type":"custom","m":{"a":1"#), None);
    }

    #[test]
    fn what_is_no_line_says_nothing() {
        assert_eq!(said(r#""torn"#), None);
        assert_eq!(said(r#"[{"type":"text","text":"a"},]"#), None);
        assert_eq!(said(r#""a"}} {"b":{"c":1"#), None);
        assert_eq!(listed_text(b"[1]"), None);
        // Bytes that are no UTF-8 are read as Node reads them.
        let bytes =
            b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"a\xffb\"}}";
        assert_eq!(listed_text(bytes).as_deref(), Some("a\u{fffd}b"));
    }
}
