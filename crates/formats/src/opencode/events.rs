//! What does a row of the table `event` say was changed? 1.18 writes one for every change, with all
//! that the changed row says then.

use serde::Deserialize;

use crate::database::Changed;
use crate::json::{self, Text};

#[derive(Deserialize, Default)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow)]
    info: Row<'a>,
    #[serde(borrow)]
    part: Row<'a>,
}

/// A message, or a part of one.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Row<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(rename = "messageID", borrow)]
    message: Text<'a>,
}

/// What is removed, and types of other versions, are not known here.
pub(super) fn changed(kind: &str, data: &str) -> Option<Changed> {
    let event = || json::parse::<Event<'_>>(data);
    match kind {
        "session.updated.1" => Some(Changed::Session),
        "message.updated.1" => event()?.info.id.owned().map(Changed::Row),
        "message.part.updated.1" => event()?.part.message.owned().map(Changed::Row),
        _ => None,
    }
}
