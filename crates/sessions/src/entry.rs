//! What does an entry say? It is kept as its line; what is asked most is found once.

use bytestring::ByteString;

use super::message::Message;
use super::text::{PendingText, Span};
use super::typed::{
    BranchSummaryEntry, CompactionEntry, ContextEditEntry, CustomEntry, CustomMessageEntry,
    LabelEntry, ModelChangeEntry, SessionEntry, SessionInfoEntry, ThinkingLevelChangeEntry,
    UsageEntry,
};
use super::value::Value;
use sessionary_formats::json;

/// One entry as its line: whatever is in it is kept to the byte. [`Entry::typed`] reads it.
///
/// Entries share the text that was read of their file: keeping one of them, or a clone, keeps all
/// of that text in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    json: ByteString,
    kind: Span,
    id: Span,
    parent: Span,
    timestamp: Span,
    message: Span,
    role: Span,
    has_content: bool,
    /// Of what is not written as it reads.
    decoded: Option<Box<DecodedTexts>>,
}

/// Texts that are written with escapes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct DecodedTexts {
    kind: Option<Box<str>>,
    id: Option<Box<str>>,
    parent: Option<Box<str>>,
    timestamp: Option<Box<str>>,
    role: Option<Box<str>>,
}

impl Entry {
    /// The entry in a line; `None` where that is not one JSON value.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        // Bytes that are no UTF-8 are what agents read them as.
        let line = ByteString::from(String::from_utf8_lossy(line).into_owned());
        Self::within(&line, &line)
    }

    /// The entry in a line of a text, which it keeps as a whole.
    pub(super) fn within(text: &ByteString, line: &str) -> Option<Self> {
        let json = line.trim_matches([' ', '\t', '\r', '\n']);
        let [mut kind, mut id, mut parent, mut timestamp, mut role] =
            [(); 5].map(|()| PendingText::default());
        let (mut message, mut has_content) = (Span::default(), false);
        let end = json::walk_object(json, 0, &mut |key, value| {
            let (is, any) = match key {
                "type" => (&mut kind, false),
                "id" => (&mut id, true),
                "parentId" => (&mut parent, true),
                "timestamp" => (&mut timestamp, true),
                "message" => {
                    // Of several the last one counts.
                    (role, has_content) = (PendingText::default(), false);
                    let end = json::walk_object(json, value, &mut |key, value| {
                        let end = json::scan_value(json.as_bytes(), value)?;
                        match key {
                            "role" => role = PendingText::of(json, value..end, false),
                            "content" => has_content = &json[value..end] != "null",
                            _ => {}
                        }
                        Some(end)
                    });
                    let end = match end {
                        Some(end) => end,
                        None => json::scan_value(json.as_bytes(), value)?,
                    };
                    message = Span::of(value..end).unwrap_or_default();
                    return Some(end);
                }
                _ => return json::scan_value(json.as_bytes(), value),
            };
            let end = json::scan_value(json.as_bytes(), value)?;
            *is = PendingText::of(json, value..end, any);
            Some(end)
        });
        let end = match end {
            Some(end) => end,
            None if json.starts_with('{') => return None,
            None => json::scan_value(json.as_bytes(), 0)?,
        };
        if end != json.len() {
            return None;
        }
        let decoded = DecodedTexts {
            kind: kind.1,
            id: id.1,
            parent: parent.1,
            timestamp: timestamp.1,
            role: role.1,
        };
        Some(Self {
            json: text.slice_ref(json),
            kind: kind.0,
            id: id.0,
            parent: parent.0,
            timestamp: timestamp.0,
            message,
            role: role.0,
            has_content,
            decoded: (decoded != DecodedTexts::default()).then(|| Box::new(decoded)),
        })
    }

    /// What is written there, or reads so.
    fn text(&self, span: Span, of: impl Fn(&DecodedTexts) -> &Option<Box<str>>) -> &str {
        let decoded = self
            .decoded
            .as_deref()
            .and_then(|decoded| of(decoded).as_deref());
        decoded.unwrap_or(&self.json[span.range()])
    }

    /// The entry as it is written, without the line's end. Bytes that are no UTF-8 are U+FFFD, as
    /// agents read them.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The type; "" where the line does not say.
    pub fn kind(&self) -> &str {
        self.text(self.kind, |decoded| &decoded.kind)
    }

    /// The id; of one that is no text its JSON. An entry without an id can be no leaf and no
    /// parent.
    pub fn id(&self) -> Option<&str> {
        said(self.text(self.id, |decoded| &decoded.id))
    }

    /// That id, as a part of the line where it stands there.
    pub(super) fn shared_id(&self) -> Option<ByteString> {
        let id = self.id()?;
        let decoded = self.decoded.as_deref();
        Some(match decoded.is_some_and(|decoded| decoded.id.is_some()) {
            true => id.into(),
            false => self.json.slice_ref(id),
        })
    }

    /// The parent's id.
    pub fn parent_id(&self) -> Option<&str> {
        said(self.text(self.parent, |decoded| &decoded.parent))
    }

    /// When it was written, as it says.
    pub fn timestamp(&self) -> Option<&str> {
        said(self.text(self.timestamp, |decoded| &decoded.timestamp))
    }

    /// When it was written, in ms since the epoch, as JavaScript reads dates; `None` where it
    /// cannot.
    pub fn time_ms(&self) -> Option<i64> {
        json::date_ms(self.timestamp()?)
    }

    /// The entry, read.
    pub fn typed(&self) -> SessionEntry {
        let text = self.json();
        match self.kind() {
            "message" => self
                .message()
                .map(|message| SessionEntry::Message(message.into_owned())),
            "thinking_level_change" => {
                ThinkingLevelChangeEntry::read(text).map(SessionEntry::ThinkingLevelChange)
            }
            "model_change" => ModelChangeEntry::read(text).map(SessionEntry::ModelChange),
            "compaction" => CompactionEntry::read(text).map(SessionEntry::Compaction),
            "branch_summary" => BranchSummaryEntry::read(text).map(SessionEntry::BranchSummary),
            "custom" => CustomEntry::read(text).map(SessionEntry::Custom),
            "custom_message" => CustomMessageEntry::read(text).map(SessionEntry::CustomMessage),
            "label" => LabelEntry::read(text).map(SessionEntry::Label),
            "session_info" => SessionInfoEntry::read(text).map(SessionEntry::SessionInfo),
            "usage" => UsageEntry::read(text).map(SessionEntry::Usage),
            "context_edit" => ContextEditEntry::read(text).map(SessionEntry::ContextEdit),
            _ => None,
        }
        .unwrap_or(SessionEntry::Unknown)
    }

    /// The message of a message entry; `None` for any other, and where it is no object.
    pub fn message(&self) -> Option<Message<'_>> {
        if self.kind() != "message" {
            return None;
        }
        let message = match &self.json[self.message.range()] {
            "" => self.member("message")?,
            message => message,
        };
        let role = self.text(self.role, |decoded| &decoded.role);
        message
            .starts_with('{')
            .then(|| Message::trusted(role, message))
    }

    /// The role of a message entry's message; "" for any other.
    pub fn role(&self) -> &str {
        match self.kind() {
            "message" => self.text(self.role, |decoded| &decoded.role),
            _ => "",
        }
    }

    /// Whether a message entry's message has content.
    pub(super) fn has_content(&self) -> bool {
        self.has_content
    }

    /// A member's JSON text.
    pub(super) fn member(&self, key: &str) -> Option<&str> {
        json::member(&self.json, key)
    }
}

fn said(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Option<String> {
        let entry = Entry::parse(line.as_bytes())?;
        let message = entry.message();
        Some(format!(
            "{}|{:?}|{:?}|{:?}|{}|{}|{}",
            entry.kind(),
            entry.id(),
            entry.parent_id(),
            entry.timestamp(),
            entry.role(),
            message.as_ref().map_or("-", Message::as_str),
            entry.has_content(),
        ))
    }

    #[test]
    fn an_entry_says_what_its_line_says_however_it_is_written() {
        for (line, said) in [
            (
                r#" {"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":[]}} "#,
                r#"message|Some("a")|None|Some("t")|user|{"role":"user","content":[]}|true"#,
            ),
            // Escapes, values that are no text, and of repeated keys the last.
            (
                r#"{"type":"mess\u0061ge","id":7,"id":"\u0062","parentId":[1, 2],"timestamp":1e3,"message":{"role":"\u0075ser"}}"#,
                r#"message|Some("b")|Some("[1, 2]")|Some("1e3")|user|{"role":"\u0075ser"}|false"#,
            ),
            (
                r#"{"type":"message","id":"\u0061","id":"","message":{"role":"user","content":1},"message":{"content":null}}"#,
                r#"message|None|None|None||{"content":null}|false"#,
            ),
            (
                r#"{"type":"message","message":{"role":"user"},"message":7}"#,
                r#"message|None|None|None||-|false"#,
            ),
            (
                r#"{"type":7,"message":{"role":"user"}}"#,
                r#"|None|None|None||-|false"#,
            ),
            (r#"{ }"#, r#"|None|None|None||-|false"#),
            ("[1]", r#"|None|None|None||-|false"#),
        ] {
            assert_eq!(shown(line).as_deref(), Some(said), "{line}");
        }
        for none in [
            "",
            "{",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":1}x"#,
            r#"{"message":{"role":}}"#,
            r#"{"message":{]}"#,
            "{\"a\":\"\u{1}\"}",
            r#"{"id":"\x"}"#,
            "7 7",
        ] {
            assert_eq!(shown(none), None, "{none}");
        }
    }
}
