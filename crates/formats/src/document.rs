//! Where in a document are the elements of a list, and what stands around them?

use std::borrow::Cow;
use std::ops::Range;

use crate::json;

/// Where each element of the list is that the object has as `key`; none where it has no such
/// member. `None`: it is no list.
pub(crate) fn list(object: &str, key: &str) -> Option<Vec<Range<usize>>> {
    let members = json::members(object);
    let Some(list) = members.iter().rfind(|member| member.key == key) else {
        return Some(Vec::new());
    };
    if !list.value.starts_with('[') {
        return None;
    }
    let at = list.value_range().start;
    let base = list.value.as_ptr().addr();
    let elements = json::elements(list.value).into_iter().map(|element| {
        let start = at + element.as_ptr().addr() - base;
        start..start + element.len()
    });
    Some(elements.collect())
}

/// The records, with the bytes before, between and behind them, where more stands there than a
/// comma.
pub(crate) fn around(text: &str, records: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut found = Vec::with_capacity(2 * records.len() + 1);
    let mut at = 0;
    let end = text.len()..text.len();
    for record in records.into_iter().chain([end]) {
        let between = at..record.start;
        let is_comma = |c: char| c == ',' || c.is_ascii_whitespace();
        if !text[between.clone()].trim_matches(is_comma).is_empty() {
            found.push(between);
        }
        at = record.end;
        found.push(record);
    }
    found.pop();
    found
}

/// A range in a part of a text, in the text: `by` is where the part begins.
pub(crate) fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// A text in which everything stands where it stands in these bytes: what is no UTF-8 is within
/// strings.
pub(crate) fn same_places(bytes: &[u8]) -> Cow<'_, str> {
    match json::utf8(bytes) {
        Some(text) => text.into(),
        None => {
            let ascii = bytes
                .iter()
                .map(|byte| if byte.is_ascii() { *byte as char } else { '?' });
            ascii.collect::<String>().into()
        }
    }
}
