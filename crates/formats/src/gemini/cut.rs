//! Where are the messages in a document, and in a line that sets them all anew?

use std::ops::Range;

use serde::Deserialize;

use super::fold::State;
use crate::document::{around, list, same_places, shifted};
use crate::json::{self, Loose, Text};

/// The key of what a line sets.
const SET: &[u8] = b"\"$set\"";

/// The head of a document of a known shape, each message, and the tail: see
/// [`Format::elements`](crate::Format::elements). Without messages it is one record.
pub(super) fn document(document: &[u8]) -> Option<Vec<Range<usize>>> {
    let whole = json::whole(document)?;
    let text = same_places(document);
    let inner = &text[whole.clone()];
    json::member(inner, "sessionId")?;
    let found = messages(inner)?.into_iter().map(|(_, range)| range);
    let around = around(inner, found.collect()).into_iter();
    Some(around.map(|range| shifted(&range, whole.start)).collect())
}

/// Whether a record begins with this key, as changes do. What else a line may say is not looked
/// through for it.
pub(super) fn changes(record: &[u8], key: &[u8]) -> bool {
    const BEGINNING: usize = 32;
    let beginning = &record[..record.len().min(BEGINNING)];
    memchr::memmem::find(beginning, key).is_some()
}

/// Where in a line the messages are that it sets and that were not there before, and what stands
/// around them; nothing where there is none of them.
pub(super) fn line(state: &State, record: &[u8]) -> Vec<Range<usize>> {
    if !changes(record, SET) {
        return Vec::new();
    }
    let text = same_places(record);
    let Some((set, at)) = set_in(&text) else {
        return Vec::new();
    };
    let new = messages(set).unwrap_or_default().into_iter();
    let new = new.filter(|(id, _)| id.as_deref().is_some_and(|id| state.is_new(id)));
    let new: Vec<_> = new.map(|(_, range)| shifted(&range, at)).collect();
    match new.is_empty() {
        true => Vec::new(),
        false => around(&text, new),
    }
}

/// The ids of all messages that a line sets; `None`: it sets none.
pub(super) fn ids(line: &[u8]) -> Option<Vec<String>> {
    if !changes(line, SET) {
        return None;
    }
    let text = same_places(line);
    let (set, _) = set_in(&text)?;
    json::member(set, "messages")?;
    Some(
        messages(set)?
            .into_iter()
            .filter_map(|(id, _)| id)
            .collect(),
    )
}

/// The value of `$set`, and where it stands.
fn set_in(line: &str) -> Option<(&str, usize)> {
    let members = json::members(line);
    let set = members.iter().rfind(|member| member.key == "$set")?;
    Some((set.value, set.value_range().start))
}

/// Each of the `messages` of an object, with its id; `None`: they are no list.
fn messages(object: &str) -> Option<Vec<(Option<String>, Range<usize>)>> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Named<'a> {
        #[serde(borrow)]
        id: Text<'a>,
    }
    let messages = list(object, "messages")?.into_iter().map(|range| {
        let named = json::tiers(object[range.clone()].as_bytes(), |text| {
            let named = json::parse::<Loose<Named<'_>>>(text)?;
            Some(named.object().and_then(|named| named.id.owned()))
        });
        (named.flatten(), range)
    });
    Some(messages.collect())
}
