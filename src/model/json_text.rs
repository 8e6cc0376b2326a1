//! How many bytes does a text take in JSON, and how is it cut so that it takes fewer?

use super::acts;

/// Marks the place where text was cut off.
const CUT: char = '…';

/// Cut a text at its end until `over` bytes of its JSON are gone, or nothing is left of it; what
/// acts on a terminal counts as an escape. How many bytes are gone.
pub fn shorten(text: &mut String, over: usize) -> usize {
    let (mut kept, mut gone) = (text.len(), 0);
    for (at, character) in text.char_indices().rev() {
        if gone >= over + CUT.len_utf8() {
            break;
        }
        (kept, gone) = (at, gone + written(character));
    }
    text.truncate(kept);
    if kept > 0 {
        text.push(CUT);
        gone -= CUT.len_utf8();
    }
    gone
}

/// Whether a text ends where it was cut off, before which byte.
pub fn end_of_cut(text: &str) -> usize {
    text.trim_end_matches(CUT).len()
}

/// Bytes of a character in JSON.
fn written(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        _ if acts(character) => 6 * character.len_utf16(),
        _ => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn as_much_is_gone_as_is_asked_for_or_all() {
        for text in ["plain text", "\"\\\n\u{1b}[31m", "日本語のテキスト", ""] {
            let bytes = |text: &str| {
                let json = serde_json::to_string(text).unwrap();
                let acts = text
                    .chars()
                    .filter(|one| super::acts(*one) && *one as u32 >= 0x20);
                json.len()
                    + acts
                        .map(|one| 6 * one.len_utf16() - one.len_utf8())
                        .sum::<usize>()
            };
            for over in 0..30 {
                let mut cut = text.to_owned();
                let gone = shorten(&mut cut, over);
                assert_eq!(bytes(text) - bytes(&cut), gone, "{text:?} {over}");
                assert!(gone >= over || cut.is_empty(), "{text:?} {over}");
            }
        }
    }
}
