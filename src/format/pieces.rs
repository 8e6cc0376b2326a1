//! Which text of a record is searched: collects the pieces of its two passages and leaves out
//! what no person would look for (ids, signatures, base64, `data:` URLs).

use super::json::{self, Leaf, Raw};
use crate::model::{Class, Passage};

/// A run of base64 letters this long is no text.
const BASE64_RUN: usize = 256;

/// The pieces of one record.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    prose: Vec<String>,
    output: Vec<String>,
}

impl Pieces {
    /// What people and models say.
    pub fn prose(&mut self, text: &Raw<'_>) {
        add(&mut self.prose, text);
    }

    /// What tools were given and gave back.
    pub fn output(&mut self, text: &Raw<'_>) {
        add(&mut self.output, text);
    }

    /// Every text and number of a tool's arguments: here an "id" is what the tool was asked about.
    pub fn leaves_of_arguments(&mut self, value: &Raw<'_>) {
        self.walk(value.0.unwrap_or_default(), usize::MAX, is_signature);
    }

    /// Every text and number of `details` and the like.
    pub fn leaves(&mut self, value: &Raw<'_>) {
        self.walk(value.0.unwrap_or_default(), usize::MAX, is_no_text);
    }

    /// The same, as long as the pieces stay within `limit` bytes together.
    pub fn leaves_up_to(&mut self, value: &Raw<'_>, limit: usize) {
        self.walk(value.0.unwrap_or_default(), limit, is_no_text);
    }

    /// Every text and number of a record or block of unknown type, but its type.
    pub fn unknown(&mut self, value: &str) {
        self.walk(value, usize::MAX, |key| {
            is_no_text(key) || matches!(key, "type" | "timestamp")
        });
    }

    fn walk(&mut self, json: &str, limit: usize, skip: fn(&str) -> bool) {
        let mut left = limit;
        json::leaves(json.as_bytes(), |key, leaf| {
            if skip(key) {
                return;
            }
            let piece = match leaf {
                Leaf::Text(text) if is_encoded(&text) => return,
                Leaf::Text(text) => without_data_urls(text.into_owned()),
                Leaf::Number(number) => vec![number.to_owned()],
            };
            for piece in piece.into_iter().filter(|piece| !piece.is_empty()) {
                if piece.len() > left {
                    left = 0;
                    return;
                }
                left -= piece.len();
                self.output.push(piece);
            }
        });
    }

    /// At most one passage a class, prose first.
    pub fn into_passages(self) -> Vec<Passage> {
        [(Class::Prose, self.prose), (Class::Output, self.output)]
            .into_iter()
            .filter(|(_, pieces)| !pieces.is_empty())
            .map(|(class, pieces)| Passage { class, pieces })
            .collect()
    }
}

fn add(pieces: &mut Vec<String>, text: &Raw<'_>) {
    let Some(text) = text.shown() else { return };
    pieces.extend(
        without_data_urls(text)
            .into_iter()
            .filter(|piece| !piece.is_empty()),
    );
}

fn is_signature(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.ends_with("signature") || key == "encrypted_content" || key == "encryptedcontent"
}

fn is_no_text(key: &str) -> bool {
    is_signature(key)
        || key == "id"
        || key.ends_with("Id")
        || key.ends_with("_id")
        || key.ends_with("ID")
}

/// A `data:` URL, or one long run of base64 letters.
fn is_encoded(text: &str) -> bool {
    text.starts_with("data:") && text.contains(";base64,") && !text.contains(' ')
        || text.len() >= BASE64_RUN
            && text.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r')
            })
}

/// The text around the `data:…;base64,…` URLs in it, whose letters would be found as words.
fn without_data_urls(text: String) -> Vec<String> {
    if memchr::memmem::find(text.as_bytes(), b";base64,").is_none() {
        return vec![text];
    }
    let mut parts = Vec::new();
    let mut rest = text.as_str();
    while let Some(mark) = rest.find(";base64,") {
        let payload = mark + ";base64,".len();
        let length = rest[payload..]
            .bytes()
            .take_while(|byte| {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'%')
            })
            .count();
        // The media type before the mark is short and has no spaces.
        let head = &rest[..mark];
        let url = head
            .rfind("data:")
            .filter(|at| !head[*at..].contains(char::is_whitespace))
            .unwrap_or(mark);
        parts.push(rest[..url].to_owned());
        rest = &rest[payload + length..];
    }
    parts.push(rest.to_owned());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls_leave_only_the_text_around_them() {
        let parts =
            without_data_urls("see ![x](data:image/png;base64,iVBORw0KGgo=) there".to_owned());
        assert_eq!(parts, ["see ![x](", ") there"]);
    }

    #[test]
    fn long_base64_is_no_text_and_long_prose_is() {
        assert!(is_encoded(&"QUJD".repeat(100)));
        assert!(!is_encoded(&"ABC ".repeat(100)));
    }
}
