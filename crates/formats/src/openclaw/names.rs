//! What `sessions.json` says of a session: which key leads to it, and what that is called.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::PI;
use super::place::{self, Kind};
use crate::Format;
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
    /// The session that this key has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starter: Option<String>,
    /// When that began, as its own file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starter_ms: Option<i64>,
}

impl Named {
    /// What was kept.
    pub fn read(said: &str) -> Named {
        serde_json::from_str(said).unwrap_or_default()
    }

    /// The session that started this one, which began at `began`. One that began later has its key
    /// only since then.
    pub fn starter_before(&self, began: Option<i64>) -> Option<String> {
        let is_before = |ms: i64| began.is_none_or(|began| ms <= began);
        let starter = self.starter.clone();
        starter.filter(|_| self.starter_ms.is_some_and(is_before))
    }
}

/// One of its entries.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow)]
    session_id: Text<'a>,
    /// Of a thread, and of what was forked from another key, its name is not that id.
    #[serde(borrow)]
    session_file: Text<'a>,
    #[serde(borrow)]
    display_name: Text<'a>,
    #[serde(borrow)]
    label: Text<'a>,
    #[serde(borrow)]
    spawned_by: Text<'a>,
}

impl Entry<'_> {
    /// By the file that it names, into which OpenClaw writes even where the id is another one since
    /// (issues 70320, 77770 and 78607 of OpenClaw's: a reset gave the session another id alone).
    fn by_file(&self) -> Option<&str> {
        place::named(self.session_file.as_str()?)
    }

    /// By its id, unless it names another file.
    fn by_id(&self) -> Option<&str> {
        let id = self.session_id.as_str()?;
        self.by_file().is_none_or(|file| file == id).then_some(id)
    }
}

/// All of them, by their keys.
type Entries<'a> = BTreeMap<String, Loose<Entry<'a>>>;

/// It lies beside the files of sessions; and what it calls the session at `path`.
pub(super) fn beside(path: &Path) -> Option<(PathBuf, String)> {
    let name = place::name(path).filter(|name| name.kind == Kind::Live)?;
    Some((
        path.with_file_name("sessions.json"),
        name.session.to_owned(),
    ))
}

/// The file of the session that started the one at `path`, if the key above has it still.
pub(super) fn starter(path: &Path, said: &str) -> Option<PathBuf> {
    let starter = Named::read(said).starter?;
    // It may be any text.
    let file = path.with_file_name(format!("{starter}.jsonl"));
    place::name(&file).filter(|name| name.session == starter && name.kind == Kind::Live)?;
    Some(file)
}

/// The same with when that began, by the first line of its file.
pub(super) fn with_starter(said: &str, line: &[u8]) -> String {
    let header = PI.facts(line).header;
    let named = Named {
        starter_ms: header.and_then(|header| header.created_ms),
        ..Named::read(said)
    };
    serde_json::to_string(&named).unwrap_or_else(|_| said.to_owned())
}

/// What it says of each session to which a key leads, as JSON. `None`: it is no JSON.
pub(super) fn of(names: &[u8]) -> Option<BTreeMap<String, String>> {
    // It may be half written.
    let is_whole = names.trim_ascii().starts_with(b"{") && names.trim_ascii().ends_with(b"}");
    if !is_whole {
        return None;
    }
    json::tiers(names, |text| {
        let entries = json::parse::<Entries<'_>>(text)?;
        let mut named = BTreeMap::new();
        for find in [Entry::by_file, Entry::by_id] {
            for (key, entry) in &entries {
                let entry = entry.object();
                // Of several keys the first.
                if let Some((entry, session)) = entry.and_then(|entry| Some((entry, find(entry)?)))
                    && !named.contains_key(session)
                {
                    let said = serde_json::to_string(&said(&entries, key, entry)).ok()?;
                    named.insert(session.to_owned(), said);
                }
            }
        }
        Some(named)
    })
}

fn said(entries: &Entries<'_>, key: &str, entry: &Entry<'_>) -> Named {
    let above = entry.spawned_by.as_str();
    let above = above.and_then(|above| entries.get(above)?.object());
    Named {
        key: Some(key.to_owned()),
        display_name: entry.display_name.owned(),
        label: entry.label.owned(),
        spawned_by: entry.spawned_by.owned(),
        starter: above
            .and_then(|above| above.by_file().or(above.by_id()))
            .map(str::to_owned),
        starter_ms: None,
    }
}
