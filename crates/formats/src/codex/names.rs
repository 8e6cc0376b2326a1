//! What Codex calls a thread elsewhere than in its rollouts.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::place::FOLDERS;
use crate::json::{self, Flag, Loose, Text};
use crate::model::{Class, Facts, Header, Passage};
use crate::names::{Names, NamesFile, NamesTable};
use crate::pieces::Pieces;

/// The kind of an entry that is one of these names.
pub(super) const KIND: &str = "title";
/// The id of that entry.
const ID: &str = "thread_name";
/// What a line of the older file begins with.
const IN_INDEX: &str = r#"{"table":"session_index","#;
const IN_DATABASE: &str = r#"{"table":"threads","#;

/// As Codex 0.169 has them: `resolve_thread_names` of its thread store.
static NAMES: Names = Names {
    database: ("state_", ".sqlite"),
    table: NamesTable {
        name: "threads",
        key: "id",
        given: "name",
        title: ("title", "first_user_message"),
        untitled: ("history_mode", "paginated"),
        pinned: "is_pinned",
    },
    lines: NamesFile {
        name: "session_index.jsonl",
        table: "session_index",
        key: "id",
        given: "thread_name",
    },
};

/// Beside which roots names lie: the two folders of rollouts in Codex's own.
pub(super) fn names(root: &Path) -> Option<&'static Names> {
    let name = root.file_name()?.to_str()?;
    FOLDERS.contains(&name).then_some(&NAMES)
}

/// Which of the two files a line was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum NamedIn {
    Database,
    Index,
}

impl NamedIn {
    /// `None`: it is a line of a rollout.
    pub fn of(line: &str) -> Option<NamedIn> {
        match () {
            () if line.starts_with(IN_DATABASE) => Some(NamedIn::Database),
            () if line.starts_with(IN_INDEX) => Some(NamedIn::Index),
            () => None,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    row: Loose<Row<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Row<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    is_pinned: Flag,
}

fn row(line: &str) -> Option<Row<'_>> {
    match json::parse::<Loose<Line<'_>>>(line)? {
        Loose::Object(Line {
            row: Loose::Object(row),
        }) => Some(row),
        _ => Some(Row::default()),
    }
}

/// The facts of such a line. It is none of the talk.
pub(super) fn facts(line: &str, named_in: NamedIn) -> Option<Facts> {
    let row = row(line)?;
    let pinned = row.is_pinned.0 == Some(true) && named_in == NamedIn::Database;
    Some(Facts {
        kind: KIND.to_owned(),
        // Its line in its own file is a line of the rollout too.
        id: Some(ID.to_owned()),
        agent_sees: true,
        is_beside: true,
        silent: row.name.as_str().is_none(),
        name: row.name.owned(),
        header: pinned.then(|| Header {
            own: Some(r#"{"is_pinned":true}"#.to_owned()),
            ..Header::default()
        }),
        ..Facts::default()
    })
}

pub(super) fn passages(line: &str) -> Option<Vec<Passage>> {
    let mut pieces = Pieces::default();
    if let Some(name) = row(line)?.name.as_str() {
        pieces.text(Class::Prose, name);
    }
    Some(pieces.into_passages())
}
