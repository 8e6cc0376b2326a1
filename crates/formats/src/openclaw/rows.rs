//! Rows that say something of a session, beside its transcript.

use serde::Deserialize;

use crate::json::{self, Int, Loose, Raw, Text};
use crate::model::{Facts, Passage};
use crate::pieces::Pieces;

/// How the line of a row begins that is no line of a transcript.
const ROW: &[u8] = b"{\"table\":";

/// A row of any table.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    table: Text<'a>,
    #[serde(borrow)]
    row: Loose<Box<Row<'a>>>,
}

/// The columns of all tables that are read; none is named alike in two of them with another
/// meaning.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Row<'a> {
    #[serde(borrow)]
    pub session_id: Raw<'a>,
    #[serde(borrow)]
    pub session_key: Text<'a>,
    pub created_at: Int,
    pub updated_at: Int,
    // session_windows.
    #[serde(borrow)]
    pub previous_session_id: Text<'a>,
    #[serde(borrow)]
    pub reason: Text<'a>,
    #[serde(borrow)]
    pub channel: Text<'a>,
    #[serde(borrow)]
    pub account_id: Text<'a>,
    #[serde(borrow)]
    pub agent_harness_id: Text<'a>,
    #[serde(borrow)]
    pub spawned_by: Text<'a>,
    #[serde(borrow)]
    pub display_name: Text<'a>,
    // session_nodes.
    #[serde(borrow)]
    pub current_session_id: Text<'a>,
    #[serde(borrow)]
    pub fork_source_session_id: Text<'a>,
    #[serde(borrow)]
    pub fork_source_entry_id: Text<'a>,
    #[serde(borrow)]
    pub label: Text<'a>,
    pub archived_at: Int,
    // session_transcript_index_state.
    #[serde(borrow)]
    pub leaf_event_id: Text<'a>,
    pub needs_rebuild: Int,
}

/// Which table a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Window,
    Node,
    Archive,
    Index,
    Other,
}

impl Kind {
    fn of(table: &str) -> Kind {
        match table {
            "session_windows" => Kind::Window,
            "session_nodes" => Kind::Node,
            "session_transcript_archives" => Kind::Archive,
            "session_transcript_index_state" => Kind::Index,
            _ => Kind::Other,
        }
    }
}

/// Read the row that a record is; `None`: it is a line of a transcript.
pub(super) fn read<R>(record: &[u8], read: impl Fn(&str, Kind, &Row<'_>) -> R) -> Option<R> {
    if !record.starts_with(ROW) {
        return None;
    }
    json::tiers(record, |text| {
        let line = json::parse::<Loose<Line<'_>>>(text)?;
        let (table, row) = match &line {
            Loose::Object(line) => (line.table.as_str().unwrap_or_default(), line.row.object()),
            _ => ("", None),
        };
        let none = Row::default();
        Some(read(
            table,
            Kind::of(table),
            row.map_or(&none, |row| &**row),
        ))
    })
}

/// The facts of a row, which is no part of the talk. `None`: it is a line of a transcript.
pub(super) fn facts(record: &[u8]) -> Option<Facts> {
    read(record, |table, kind, row| Facts {
        kind: table.to_owned(),
        time_ms: row.created_at.0.filter(|_| kind == Kind::Window),
        agent_sees: true,
        is_beside: true,
        silent: names(row).next().is_none(),
        stands_at: stands_at(kind, row),
        ..Facts::default()
    })
}

/// What a row says that a session is called.
fn names<'r>(row: &'r Row<'_>) -> impl Iterator<Item = &'r str> {
    let names = [&row.display_name, &row.label].into_iter();
    let names = names.filter_map(|name| name.as_str());
    names.filter(|name| !name.trim().is_empty())
}

/// The text of a row: what the session is called. `None`: it is a line of a transcript.
pub(super) fn passages(record: &[u8]) -> Option<Vec<Passage>> {
    read(record, |_, _, row| {
        let mut pieces = Pieces::default();
        names(row).for_each(|name| pieces.prose_text(name));
        pieces.into_passages()
    })
}

/// The id of the entry at which the session stands.
pub(super) fn stands_at(kind: Kind, row: &Row<'_>) -> Option<String> {
    // What it says holds no longer where it has to be made anew.
    let is_current = kind == Kind::Index && row.needs_rebuild.0 != Some(1);
    row.leaf_event_id.owned().filter(|_| is_current)
}

/// Whether a kind of entry is that of a row.
pub(super) fn is_row(kind: &str) -> bool {
    Kind::of(kind) != Kind::Other || kind == "transcript_rewrite_watermarks"
}
