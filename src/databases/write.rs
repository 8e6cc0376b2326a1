//! How is a row written as a line?

use std::borrow::Cow;
use std::io::Write;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::list::key;
use super::schema::Present;
use crate::format::database::Inner;
use crate::format::json;

/// No more is repeated in each line.
const LONGEST_REPEATED: usize = 64;

/// What the rows that belong to this one repeat of it, as a member of their lines.
pub(super) fn repeated(
    row: &Row<'_>,
    outer: &Present,
    inner: &Inner,
) -> rusqlite::Result<Option<String>> {
    let (from, member) = inner.repeats;
    if !outer.has(from) {
        return Ok(None);
    }
    let ValueRef::Text(text) = row.get_ref(column(outer, from))? else {
        return Ok(None);
    };
    let text = said(text);
    let value = json::whole(text.as_bytes()).and_then(|_| json::member(&text, member));
    let value = value.filter(|value| value.len() <= LONGEST_REPEATED);
    let member_of = |value: &str| format!("\"{}\":{{\"{member}\":{value}}},", outer.table.name);
    Ok(value.map(|value| member_of(&on_one_line(value))))
}

/// The place of a column that is there.
pub(super) fn column(present: &Present, name: &str) -> usize {
    let mut columns = present.columns.iter();
    columns
        .position(|column| column == name)
        .unwrap_or_default()
}

/// Write the line of a row.
pub(super) fn write(
    lines: &mut Vec<u8>,
    present: &Present,
    row: &Row<'_>,
    repeated: Option<&str>,
) -> rusqlite::Result<()> {
    let own = key(row, column(present, present.table.key))?.unwrap_or_default();
    lines.extend_from_slice(b"{\"table\":");
    text(lines, present.table.name);
    lines.extend_from_slice(b",\"key\":");
    text(lines, &own);
    lines.push(b',');
    lines.extend_from_slice(repeated.unwrap_or_default().as_bytes());
    lines.extend_from_slice(b"\"row\":{");
    let columns = present.columns.iter().zip(&present.members);
    for (at, (name, member)) in columns.enumerate() {
        if at > 0 {
            lines.push(b',');
        }
        lines.extend_from_slice(member.as_bytes());
        let is_json = present.table.json.contains(&name.as_str());
        value(lines, row.get_ref(at)?, is_json);
    }
    lines.extend_from_slice(b"}}\n");
    Ok(())
}

fn value(lines: &mut Vec<u8>, value: ValueRef<'_>, is_json: bool) {
    match value {
        ValueRef::Null => lines.extend_from_slice(b"null"),
        ValueRef::Integer(number) => lines.extend_from_slice(number.to_string().as_bytes()),
        ValueRef::Real(number) => match serde_json::to_string(&number) {
            Ok(number) => lines.extend_from_slice(number.as_bytes()),
            Err(_) => lines.extend_from_slice(b"null"),
        },
        ValueRef::Text(bytes) => {
            let said = said(bytes);
            match is_json && json::whole(said.as_bytes()).is_some() {
                true => lines.extend_from_slice(on_one_line(said.trim()).as_bytes()),
                false => text(lines, &said),
            }
        }
        ValueRef::Blob(bytes) => {
            // A vector takes all that is written to it.
            let _ = std::write!(lines, "{{\"bytes\":{}}}", bytes.len());
        }
    }
}

/// Text of a database, whatever its bytes are.
pub(super) fn said(bytes: &[u8]) -> Cow<'_, str> {
    match json::utf8(bytes) {
        Some(text) => text.into(),
        None => String::from_utf8_lossy(bytes),
    }
}

fn text(lines: &mut Vec<u8>, text: &str) {
    // Text is always written.
    let _ = serde_json::to_writer(lines, text);
}

/// JSON without its line breaks, which stand between its tokens only.
pub(super) fn on_one_line(json: &str) -> Cow<'_, str> {
    match memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_some() {
        true => json.replace(['\n', '\r'], " ").into(),
        false => json.into(),
    }
}
