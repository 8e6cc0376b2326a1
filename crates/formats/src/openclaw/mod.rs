//! OpenClaw's sessions, which was Clawdbot and Moltbot: pi's lines. Until July 2026 they lie in
//! files, a session each; since 2026.8 they are rows of a database, one for each of OpenClaw's
//! agents, into which the files were imported.
//!
//! 2026.9.6 was looked at, and files of the time before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{About, Format, SourceFacts, Structure, WriteMode};
use crate::database::{Database, Holds, Layout, Line, Shelf, Stamp, Table};
use crate::model::{Facts, Fold, LeafRule, Passage, Placement, SessionFacts};
use crate::pi::Dialect;

mod anew;
mod called;
mod facts;
mod failed;
mod fold;
mod leaves;
mod line;
mod metadata;
mod names;
mod own;
mod place;
mod rows;
#[cfg(test)]
mod tests;
mod text;
mod typed;

pub use fold::State;

/// OpenClaw's format.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenClaw;

/// How OpenClaw reads pi's lines: by an early pi that it holds itself.
const PI: Dialect = Dialect::PI;

/// One session of several that one key had one after the other.
static WINDOWS: Table = Table {
    name: "session_windows",
    key: "session_id",
    session: "session_id",
    changed: "updated_at",
    without: &["transcript_observed_at", "status"],
    ..Table::PLAIN
};

/// What is known of the session's own key.
static NODE: Table = Table {
    name: "session_nodes",
    key: "session_key",
    session: "session_key",
    by: Some("session_key"),
    stamp: Stamp::Whole,
    // The first holds system prompts, the others change with every turn.
    without: &[
        "entry_json",
        "legacy_acp_migration_json",
        "entry_valid",
        "updated_at",
        "status",
        "last_read_at",
        "last_interaction_at",
        "last_activity_at",
    ],
    ..Table::PLAIN
};

/// The same of the key that started it, without what that one is called.
static STARTER: Table = Table {
    by: Some("spawned_by"),
    by_row_of: Some(&NODE),
    without: &[
        "entry_json",
        "legacy_acp_migration_json",
        "entry_valid",
        "updated_at",
        "status",
        "last_read_at",
        "last_interaction_at",
        "last_activity_at",
        "display_name",
        "label",
    ],
    ..NODE
};

/// The branch on which the session stands.
const INDEX: Table = Table {
    name: "session_transcript_index_state",
    key: "session_id",
    session: "session_id",
    stamp: Stamp::Whole,
    ..Table::PLAIN
};

/// A number that is another one once earlier rows were replaced.
const WATERMARKS: Table = Table {
    name: "transcript_rewrite_watermarks",
    key: "session_id",
    session: "session_id",
    stamp: Stamp::Whole,
    ..Table::PLAIN
};

/// Transcripts of sessions that rest.
static COLD: Table = Table {
    name: "session_transcript_cold_archives",
    key: "session_id",
    session: "session_id",
    stamp: Stamp::Whole,
    without: &["archive_blob"],
    ..Table::PLAIN
};

/// Transcripts of sessions that were deleted or reset.
static ARCHIVES: Table = Table {
    name: "session_transcript_archives",
    key: "archive_name",
    session: "session_id",
    order: &["created_at"],
    changed: "created_at",
    stamp: Stamp::Whole,
    without: &[
        "archive_blob",
        "published_at",
        "publish_attempts",
        "last_publish_attempt_at",
        "last_publish_error",
    ],
    ..Table::PLAIN
};

const ARCHIVED: Shelf = Shelf {
    table: &ARCHIVES,
    blob: "archive_blob",
    encoding: Some("encoding"),
    file: None,
    holds: Holds::Lines,
};

/// One of pi's lines each.
const fn events(shelves: &'static [Shelf]) -> Table {
    Table {
        name: "transcript_events",
        key: "seq",
        session: "session_id",
        order: &["seq"],
        stamp: Stamp::Last,
        line: Some(Line {
            text: "event_json",
            packed: ("event_zstd", "event_utf8_bytes"),
        }),
        shelves,
        ..Table::PLAIN
    }
}

static DATABASE: Database = Database {
    layouts: &[
        Layout {
            sessions: WINDOWS,
            rows: &[
                NODE,
                STARTER,
                WATERMARKS,
                events(&[
                    Shelf {
                        table: &COLD,
                        blob: "archive_blob",
                        encoding: None,
                        file: Some(("../sessions/cold", "archive_name")),
                        holds: Holds::Events,
                    },
                    ARCHIVED,
                ]),
                INDEX,
            ],
            sequence: None,
        },
        Layout {
            sessions: ARCHIVES,
            rows: &[events(&[ARCHIVED])],
            sequence: None,
        },
    ],
    documents: None,
    // What one is called stands in the row of its key.
    own_rows_name: false,
};

impl Format for OpenClaw {
    fn about(&self) -> About {
        About {
            revision: 14,
            write_mode: WriteMode::Overwrite,
            // Files that were imported, and copies that were made before something was changed, say
            // the same entries again.
            structure: Structure::RewrittenTree,
            has_several_files: true,
            database: Some(&DATABASE),
            ..About::of("openclaw")
        }
    }

    fn leaf_rule(&self, _own: Option<&serde_json::Value>) -> LeafRule {
        // Its rows say it, else a `leaf` line, which a copy may have as well.
        LeafRule::Named
    }

    fn place(&self, relative: &Path, _flat: bool) -> Placement {
        place::place(relative)
    }

    fn place_within(&self, database: &Path, key: &str) -> Option<String> {
        place::within(database, key)
    }

    fn names_beside(&self, path: &Path) -> Option<(PathBuf, String)> {
        names::beside(path)
    }

    fn names_in(&self, names: &[u8]) -> Option<BTreeMap<String, String>> {
        names::of(names)
    }

    fn names_depend_on(&self, path: &Path, said: &str) -> Option<PathBuf> {
        names::starter(path, said)
    }

    fn names_with(&self, said: &str, line: &[u8]) -> String {
        names::with_starter(said, line)
    }

    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        place::leaves_out(folder)
    }

    fn facts(&self, record: &[u8]) -> Facts {
        facts::facts(record)
    }

    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        let facts = facts::facts(record);
        Facts {
            // A row is, wherever it stands.
            is_beside: facts.is_beside || place::is_copy(path),
            ..facts
        }
    }

    fn relate(&self, fold: &mut Fold, record: &[u8], facts: &mut Facts) {
        fold::relate(fold, record, facts);
    }

    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        text::passages(record)
    }

    fn prompts_at(&self, path: &Path, record: &[u8]) -> Vec<String> {
        PI.prompts_at(path, record)
    }

    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold::fold(fold, facts);
    }

    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        fold::session(sources)
    }
}
