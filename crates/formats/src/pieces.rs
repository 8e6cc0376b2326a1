//! Which text of a record is searched: collects the pieces of its two passages and leaves out what
//! no person would look for (ids, signatures, base64, `data:` URLs) or saw (colours of a terminal).

use super::json::{self, Leaf, Raw};
use super::terminal::seen;
use crate::model::{Class, Passage};

/// A run of base64 letters this long is no text.
const BASE64_RUN: usize = 256;
/// Broken into lines, each but the last is at least this long.
const BASE64_LINE: usize = 40;

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

    /// A text that is decoded already.
    pub fn prose_text(&mut self, text: &str) {
        add_text(&mut self.prose, text);
    }

    /// What tools were given and gave back.
    pub fn output(&mut self, text: &Raw<'_>) {
        add(&mut self.output, text);
    }

    /// What a tool gave back, a text that is decoded already.
    pub fn output_text(&mut self, text: &str) {
        add_text(&mut self.output, text);
    }

    /// Text that was decoded already.
    pub fn text(&mut self, class: Class, text: &str) {
        let pieces = match class {
            Class::Prose => &mut self.prose,
            Class::Output => &mut self.output,
        };
        add_text(pieces, text);
    }

    /// Every text and number of a tool's arguments: here an "id" is what the tool was asked about.
    pub fn leaves_of_arguments(&mut self, value: &Raw<'_>) {
        let json = value.0.unwrap_or_default();
        walk(&mut self.output, json, usize::MAX, is_signature);
    }

    /// Every text and number of `details` and the like.
    pub fn leaves(&mut self, value: &Raw<'_>) {
        self.leaves_up_to(value, usize::MAX);
    }

    /// Every text and number of `details` and the like, as long as the pieces stay within `limit`
    /// bytes together. Returns whether that was all.
    pub fn leaves_up_to(&mut self, value: &Raw<'_>, limit: usize) -> bool {
        let json = value.0.unwrap_or_default();
        walk(&mut self.output, json, limit, is_no_text)
    }

    /// Every text and number of a record or block of unknown type, but its type.
    pub fn unknown(&mut self, value: &str) {
        walk(&mut self.output, value, usize::MAX, is_no_text_or_type);
    }

    /// All pieces as if they were of one class, prose first.
    pub fn into_pieces(mut self) -> Vec<String> {
        self.prose.append(&mut self.output);
        self.prose
    }

    /// At most one passage per class, prose first.
    pub fn into_passages(self) -> Vec<Passage> {
        [(Class::Prose, self.prose), (Class::Output, self.output)]
            .into_iter()
            .filter(|(_, pieces)| !pieces.is_empty())
            .map(|(class, pieces)| Passage { class, pieces })
            .collect()
    }
}

/// A field that should be text. Where it is something else its leaves are taken: its keys and
/// escapes are no text.
fn add(pieces: &mut Vec<String>, value: &Raw<'_>) {
    match value.text() {
        Some(text) => add_text(pieces, &text),
        None => {
            let json = value.0.unwrap_or_default();
            walk(pieces, json, usize::MAX, is_no_text_or_type);
        }
    }
}

fn add_text(pieces: &mut Vec<String>, text: &str) {
    let text = seen(text.into());
    if is_encoded(&text) {
        return;
    }
    pieces.extend(
        without_data_urls(text.into_owned())
            .into_iter()
            .filter(|piece| !piece.is_empty()),
    );
}

/// Whether all pieces stayed within the limit.
fn walk(pieces: &mut Vec<String>, json: &str, limit: usize, skip: fn(&str) -> bool) -> bool {
    let (mut left, mut all) = (limit, true);
    json::leaves(json.as_bytes(), |key, leaf| {
        if skip(key) {
            return;
        }
        let found = match leaf {
            Leaf::Text(text) => match seen(text) {
                text if is_encoded(&text) => return,
                text => without_data_urls(text.into_owned()),
            },
            Leaf::Number(number) => vec![number.to_owned()],
        };
        for piece in found.into_iter().filter(|piece| !piece.is_empty()) {
            if piece.len() > left {
                (left, all) = (0, false);
                return;
            }
            left -= piece.len();
            pieces.push(piece);
        }
    });
    all
}

/// No more of a name is looked at than its end: it may be as long as its record.
fn is_signature(key: &str) -> bool {
    const NAMES: [&str; 6] = [
        "encrypted_content",
        "encryptedcontent",
        "resumetoken",
        "resume_token",
        "approvalurl",
        "approval_url",
    ];
    const END: &[u8] = b"signature";
    let end = &key.as_bytes()[key.len().saturating_sub(END.len())..];
    end.eq_ignore_ascii_case(END) || NAMES.iter().any(|name| key.eq_ignore_ascii_case(name))
}

fn is_no_text(key: &str) -> bool {
    is_signature(key)
        || key == "id"
        || key.ends_with("Id")
        || key.ends_with("_id")
        || key.ends_with("ID")
}

fn is_no_text_or_type(key: &str) -> bool {
    is_no_text(key) || matches!(key, "type" | "timestamp")
}

/// A `data:` URL, or one long run of base64 letters.
fn is_encoded(text: &str) -> bool {
    text.starts_with("data:") && text.contains(";base64,") && !text.contains(' ')
        || text.len() >= BASE64_RUN && is_base64(text)
}

/// Base64 is one line, or lines of one length but for the last; words below each other are not.
fn is_base64(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut lines = text.lines().peekable();
    let width = lines.peek().map_or(0, |line| line.len());
    if width < BASE64_LINE {
        return false;
    }
    while let Some(line) = lines.next() {
        let fits = if lines.peek().is_some() {
            line.len() == width
        } else {
            line.len() <= width
        };
        if !fits || !line.bytes().all(is_letter) {
            return false;
        }
    }
    true
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
        assert!(is_encoded(&format!(
            "{0}\n{0}\n{0}\n{0}\nQUI=",
            "QUJD".repeat(19)
        )));
        assert!(!is_encoded(&"apple\npear\n".repeat(40)));
    }
}
