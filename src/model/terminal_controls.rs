//! Which characters act on a terminal, or on the order of what is shown, instead of being shown?
//! JSON has escapes for them.

use std::borrow::Cow;

/// Whether a character acts instead of being shown.
pub fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The escape of a character in JSON, as `\u001b`; beyond 16 bits two of them.
pub fn json_escape(character: char) -> String {
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units).iter();
    units.map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Escapes what serde_json leaves as it is and a terminal would act on. It only ever stands inside
/// strings, so the JSON means the same; an end of a line stands between them, and stays.
pub fn terminal_safe_json(json: &str) -> Cow<'_, str> {
    // What acts is beyond ASCII or DEL: JSON itself writes the other controls as escapes.
    let mut rest = json;
    while let Some(at) = first_beyond_ascii(rest.as_bytes()) {
        let tail = &rest[at..];
        let end = tail
            .bytes()
            .position(|byte| byte < 0x7f)
            .unwrap_or(tail.len());
        if tail[..end].chars().any(acts) {
            return Cow::Owned(escaped(json));
        }
        rest = &tail[end..];
    }
    Cow::Borrowed(json)
}

/// The last character of ASCII, which acts.
const DEL: u8 = 0x7f;

/// Whether nothing in a piece of JSON could act, as all of it is ASCII.
pub fn is_safe_json(json: &[u8]) -> bool {
    json.is_ascii() && memchr::memchr(DEL, json).is_none()
}

/// Where the first byte beyond printing ASCII is. Most of it has none: blocks of bytes are asked at
/// once.
fn first_beyond_ascii(bytes: &[u8]) -> Option<usize> {
    let clear = bytes.chunks(64).take_while(|block| is_safe_json(block));
    let from = clear.map(<[u8]>::len).sum();
    let at = bytes[from..].iter().position(|byte| *byte >= DEL)?;
    Some(from + at)
}

fn escaped(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        if acts(character) && character != '\n' {
            safe.push_str(&json_escape(character));
        } else {
            safe.push(character);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same() {
        let text = "a\u{9b}31m\u{202e}\u{7f}\u{feff}\u{e0041}\u{1b}é日";
        let json = serde_json::to_string(text).unwrap_or_default();
        let safe = terminal_safe_json(&json);
        assert!(!safe.chars().any(acts), "{safe:?}");
        assert_eq!(
            serde_json::from_str::<String>(&safe).ok().as_deref(),
            Some(text)
        );
    }
}
