//! What `sessions.json` says of a session: which key leads to it, and what that is called.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::place::{self, Kind};
use crate::json::{self, Loose, Text};

/// What is kept of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Named {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawned_by: Option<String>,
}

/// One of its entries.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    display_name: Text<'a>,
    #[serde(borrow)]
    label: Text<'a>,
    #[serde(borrow)]
    spawned_by: Text<'a>,
}

/// It lies beside the files of sessions.
pub(super) fn beside(path: &Path) -> Option<PathBuf> {
    let is_live = place::name(path).is_some_and(|name| name.kind == Kind::Live);
    is_live.then(|| path.with_file_name("sessions.json"))
}

/// What it says of the session at `path`, as JSON; nothing in it where no key leads there. `None`:
/// it is no JSON.
pub(super) fn of(path: &Path, names: &[u8]) -> Option<String> {
    let session = place::name(path)?.session;
    // It may be half written.
    let is_whole = names.trim_ascii().starts_with(b"{") && names.trim_ascii().ends_with(b"}");
    if !is_whole {
        return None;
    }
    // Most files are of sessions that no key leads to any more.
    let is_named = memchr::memmem::find(names, session.as_bytes()).is_some();
    let named = match is_named {
        true => json::tiers(names, |text| {
            let entries = json::parse::<BTreeMap<String, Loose<Entry<'_>>>>(text)?;
            Some(entry(&entries, session))
        })?,
        false => Named::default(),
    };
    serde_json::to_string(&named).ok()
}

fn entry(entries: &BTreeMap<String, Loose<Entry<'_>>>, session: &str) -> Named {
    let found = entries.iter().find_map(|(key, entry)| {
        let entry = entry.object()?;
        (entry.session_id.as_str() == Some(session)).then_some((key, entry))
    });
    found.map_or_else(Named::default, |(key, entry)| Named {
        key: Some(key.clone()),
        display_name: entry.display_name.owned(),
        label: entry.label.owned(),
        spawned_by: entry.spawned_by.owned(),
    })
}
