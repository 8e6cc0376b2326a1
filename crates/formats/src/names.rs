//! Files beside a root in which an agent keeps what its sessions are called, as data.
//!
//! Nothing here opens a file. What such a file says of a session is a source of that session, of
//! one line: `{"table":T,"key":ID,"row":{"name":N,"is_pinned":true}}`. Its path is the file's with
//! the session's id below it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::json::{self, Text};

/// How the path below a root begins of what lies beside it, in the folder above.
const ABOVE: &str = "../";

/// The path below a root of what has this name beside it.
pub fn beside_root(name: &str) -> String {
    format!("{ABOVE}{name}")
}

/// The name beside its root of what has this path below it; `None`: it does not lie beside it.
pub fn name_beside_root(relative: &str) -> Option<&str> {
    relative.strip_prefix(ABOVE)
}

/// Whether what has this path below a root lies beside it: a file of names, or what one says of a
/// session.
pub fn is_beside_root(relative: &str) -> bool {
    name_beside_root(relative).is_some()
}

/// Where names are kept. All of it lies in the folder above the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    /// How the name of a database begins and ends; between them is a number, and of several that
    /// hold the table the one with the highest counts.
    pub database: (&'static str, &'static str),
    /// Its table.
    pub table: NamesTable,
    /// A file of lines, each of which names a session anew.
    pub lines: NamesFile,
}

/// A table with a row for each session. Columns that it lacks are no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamesTable {
    /// Its name.
    pub name: &'static str,
    /// The session's id.
    pub key: &'static str,
    /// The name that was given to it.
    pub given: &'static str,
    /// Its title, and the message of which agents make one: a title that is no other text is no
    /// name.
    pub title: (&'static str, &'static str),
    /// A column and its value in the rows of sessions whose title is never a name.
    pub untitled: (&'static str, &'static str),
    /// Whether the session is pinned.
    pub pinned: &'static str,
}

/// A file of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamesFile {
    /// Its name.
    pub name: &'static str,
    /// What stands for a table in the lines that are made of it.
    pub table: &'static str,
    /// The member that holds the session's id.
    pub key: &'static str,
    /// The member that holds its name. An empty one says nothing.
    pub given: &'static str,
}

impl Names {
    /// The number in the name of a database of names; `None`: it is no such name.
    pub fn number_of(&self, file: &str) -> Option<u64> {
        let (begin, end) = self.database;
        file.strip_prefix(begin)?.strip_suffix(end)?.parse().ok()
    }

    /// Whether a file of that name holds names.
    pub fn is_one(&self, file: &str) -> bool {
        file == self.lines.name || self.number_of(file).is_some()
    }
}

impl NamesFile {
    /// The id of the session that a line names, and its name; `None`: it names none.
    pub fn said<'a>(&self, line: &'a [u8]) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        let mut parser = serde_json::Deserializer::from_str(json::utf8(line)?);
        let (session, name) = self.deserialize(&mut parser).ok()?;
        parser.end().ok()?;
        let name = trimmed(name.0?);
        (!name.is_empty()).then_some((trimmed(session.0?), name))
    }
}

fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

/// Reads the two members out of a line, and builds nothing of the others.
impl<'de> DeserializeSeed<'de> for &NamesFile {
    type Value = (Text<'de>, Text<'de>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &NamesFile {
    type Value = (Text<'de>, Text<'de>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = (Text::default(), Text::default());
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.as_str() {
                Some(key) if key == self.key => found.0 = map.next_value()?,
                Some(key) if key == self.given => found.1 = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_session_or_costs_itself_alone() {
        let file = NamesFile {
            name: "names.jsonl",
            table: "names",
            key: "id",
            given: "name",
        };
        let said = |line: &str| {
            let said = file.said(line.as_bytes());
            said.map(|(session, name)| format!("{session}={name}"))
        };
        for (line, wanted) in [
            (r#"{"id":"a","name":" b "}"#, Some("a=b")),
            (
                r#"{"other":[{"id":"c"}],"name":"\u0062","id":"a"}"#,
                Some("a=b"),
            ),
            (r#"{"id":"a","name":"b","name":"c"}"#, Some("a=c")),
            (r#"{"id":"a","name":" "}"#, None),
            (r#"{"id":7,"name":"b"}"#, None),
            (r#"{"id":"a"}"#, None),
            (r#"{"id":"a","name":"b"} x"#, None),
            (r#"["id","name"]"#, None),
            ("", None),
        ] {
            assert_eq!(said(line).as_deref(), wanted, "{line}");
        }
        assert_eq!(file.said(b"{\"id\":\"a\",\"name\":\"\xff\"}"), None);
    }
}
