//! OpenCode's sessions: rows of a database. In 1.x there is one for the session, for each message
//! and for each part of a message; in 2.x one for the session and for each message. A database that
//! came from 1.x has both, and a session that stands in both is read as 2.x has it. Until 1.2 what
//! is a row was a JSON document in a folder, and `opencode export` prints all of a session as one.
//!
//! 1.18 was looked at. What is read of 2.x is what its source says (`packages/schema`), and of the
//! folder what others wrote of it.

use std::path::Path;

use super::{About, Format, SourceFacts, Structure, WriteMode};
use crate::database::{Database, Events, Inner, Layout, Sequence, Table, Turn};
use crate::model::{Facts, Fold, LeafRule, Passage, Placement, SessionFacts};

mod documents;
mod events;
mod export;
mod facts;
mod fold;
mod line;
mod place;
mod put_in;
mod second;
#[cfg(test)]
mod tests;
mod text;

pub use fold::State;

/// OpenCode's format.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenCode;

/// A part of a message; the row itself does not say whose.
static PART: Table = Table {
    name: "part",
    key: "id",
    session: "session_id",
    // Ids ascend with time.
    order: &["id"],
    changed: "time_updated",
    json: &["data"],
    ..Table::PLAIN
};

const fn sessions(name: &'static str) -> Table {
    Table {
        name,
        key: "id",
        session: "id",
        changed: "time_updated",
        json: &["summary_diffs", "metadata", "revert", "permission", "model"],
        ..Table::PLAIN
    }
}

static DATABASE: Database = Database {
    layouts: &[
        Layout {
            sessions: sessions("session_v2"),
            rows: &[Table {
                name: "session_message",
                key: "id",
                session: "session_id",
                order: &["seq"],
                changed: "time_updated",
                json: &["data"],
                turn: Some(Turn {
                    column: "type",
                    member: None,
                    text: "user",
                }),
                ..Table::PLAIN
            }],
            sequence: None,
        },
        Layout {
            sessions: sessions("session"),
            rows: &[Table {
                name: "message",
                key: "id",
                session: "session_id",
                order: &["time_created"],
                changed: "time_updated",
                json: &["data"],
                inner: Some(Inner {
                    table: &PART,
                    outer: "message_id",
                    repeats: ("data", "role"),
                }),
                turn: Some(Turn {
                    column: "data",
                    member: Some("role"),
                    text: "user",
                }),
                ..Table::PLAIN
            }],
            // Since 1.18: one for every change of a session, its messages and their parts.
            sequence: Some(Sequence {
                table: "event_sequence",
                session: "aggregate_id",
                number: "seq",
                events: Some(Events {
                    table: "event",
                    key: "id",
                    session: "aggregate_id",
                    number: "seq",
                    says: ("type", "data"),
                    changed: events::changed,
                }),
            }),
        },
    ],
    documents: Some(&documents::DOCUMENTS),
    own_rows_name: true,
};

impl Format for OpenCode {
    fn about(&self) -> About {
        About {
            revision: 13,
            write_mode: WriteMode::Overwrite,
            structure: Structure::Line,
            database: Some(&DATABASE),
            exported: Some(export::document),
            ..About::of("opencode")
        }
    }

    fn leaf_rule(&self, own: Option<&serde_json::Value>) -> LeafRule {
        let reverted = own.and_then(|own| own.get("revert")?.as_str());
        reverted.map_or(LeafRule::OfEntries, |id| LeafRule::Before(id.to_owned()))
    }

    fn place(&self, relative: &Path, _flat: bool) -> Placement {
        place::place(relative)
    }

    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        place::leaves_out(folder)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(record)
    }

    fn facts_of_line(&self, line: &[u8]) -> Option<Facts> {
        facts::of_text(line)
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(record)
    }

    fn prompts_at(&self, _path: &Path, record: &[u8]) -> Vec<String> {
        text::prompts(record)
    }

    fn relate(&self, fold: &mut Fold, _record: &[u8], facts: &mut Facts) {
        fold::relate(fold, facts);
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn says_the_same(&self, fold: &Fold, facts: &Facts) -> bool {
        fold::says_the_same(fold, facts)
    }

    fn renews(&self, fold: &mut Fold, facts: &Facts) -> bool {
        fold::renews(fold, facts)
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}
