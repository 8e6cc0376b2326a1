//! What do versions of 2025 write otherwise?
//!
//! Up to 1.0.60 the line before what commands print is made once a process: each later command
//! names that first one again, not what came between. Up to 1.0.90 a compaction is a summary alone,
//! which names no line before it.

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::facts::SUMMARY;
use super::line::blocks;
use super::queue::numbers;
use crate::json::{self, Raw};
use crate::model::{Compaction, Facts};

/// Of the first version that is known to write such a line anew for each command.
const ONE_EACH: [u32; 3] = [1, 0, 90];

/// How the line before what commands print begins.
const CAVEAT: &str = "Caveat: The messages below";

/// With what the line of a command begins, and of what was typed behind `!` and `#`.
const COMMANDS: [&str; 3] = ["<command-", "<bash-input>", "<user-memory-input>"];

/// What is remembered of the lines before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Older {
    /// The last line before what commands print.
    #[serde(skip_serializing_if = "Option::is_none")]
    caveat: Option<Caveat>,
    /// The last line that is no subagent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// The session that the first line names, where that is the one before what commands print.
    #[serde(skip_serializing_if = "Option::is_none")]
    alone: Option<String>,
}

/// A line before what commands print.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Caveat {
    id: String,
    session: Option<String>,
    /// Another line hangs on it.
    has_child: bool,
}

impl Older {
    /// The session that only the line before what commands print named so far, where this one is
    /// another's: of a copy it has the id of the file, and the lines behind it their own one.
    pub fn take_named_alone(&mut self, record: &[u8], facts: &Facts) -> Option<String> {
        let session = session(facts)?;
        let alone = self.alone.take().filter(|alone| alone != session);
        if self.last.is_none() && is_caveat(record, facts) {
            self.alone = Some(session.clone());
        }
        alone
    }

    /// Whether the line before what commands print begins another session: 1.0.35 goes on in the
    /// same file behind `/clear`, and writes the one line of its process once more.
    pub fn begins_anew(&self, record: &[u8], facts: &Facts) -> bool {
        let caveat = self.caveat.as_ref().filter(|caveat| {
            facts.parent.is_none()
                && facts.id.as_ref() == Some(&caveat.id)
                && session(facts) != caveat.session.as_ref()
        });
        caveat.is_some() && is_older(record) && is_caveat(record, facts)
    }

    /// Notes a line that is new. A command that names a line which another one hangs on already
    /// goes on from the line before it, and so does a summary that names none: it is a compaction.
    pub fn pass(&mut self, record: &[u8], facts: &mut Facts) {
        if facts.is_sidechain || facts.id.is_none() {
            return;
        }
        if let Some(caveat) = &mut self.caveat
            && facts.parent.as_ref() == Some(&caveat.id)
            && std::mem::replace(&mut caveat.has_child, true)
            && is_older(record)
            && is_command(record)
        {
            facts.parent.clone_from(&self.last);
        }
        if self.last.is_some() && is_summary(record, facts) {
            facts.parent.clone_from(&self.last);
            facts.compaction = Some(Compaction::default());
        }
        if is_caveat(record, facts) {
            self.caveat = facts.id.clone().map(|id| Caveat {
                id,
                session: session(facts).cloned(),
                has_child: false,
            });
        }
        self.last.clone_from(&facts.id);
    }
}

/// The session that a line names.
fn session(facts: &Facts) -> Option<&String> {
    facts.header.as_ref()?.id.as_ref()
}

/// Whether the version writes one line before what all commands print.
fn is_older(record: &[u8]) -> bool {
    let version = json::utf8(record).and_then(|line| Raw(json::member(line, "version")).text());
    let version = version.and_then(|version| numbers(&version));
    version.is_some_and(|version| version < ONE_EACH)
}

/// Whether this is what was typed for a command, behind `!` or behind `#`.
fn is_command(record: &[u8]) -> bool {
    let begins = |text: String| {
        COMMANDS
            .iter()
            .any(|with| text.trim_start().starts_with(with))
    };
    json::utf8(record).and_then(text).is_some_and(begins)
}

/// Whether this is the summary of a compaction that no other line says.
fn is_summary(record: &[u8], facts: &Facts) -> bool {
    facts.role.as_deref() == Some("injected")
        && facts.kind == "user"
        && facts.parent.is_none()
        && json::utf8(record).is_some_and(|line| {
            json::member(line, "isCompactSummary") == Some("true")
                || text(line).is_some_and(|text| text.starts_with(SUMMARY))
        })
}

/// Whether this is the line before what commands print.
fn is_caveat(record: &[u8], facts: &Facts) -> bool {
    facts.role.as_deref() == Some("injected")
        && memmem::find(record, CAVEAT.as_bytes()).is_some()
        && json::utf8(record).is_some_and(|line| {
            json::member(line, "isMeta") == Some("true")
                && text(line).is_some_and(|text| text.starts_with(CAVEAT))
        })
}

/// The text of a message, or of its first block.
fn text(line: &str) -> Option<String> {
    let content = Raw(json::member(json::member(line, "message")?, "content"));
    let of_block = || blocks(&content)?.first()?.object()?.text.text();
    Some(content.text().or_else(of_block)?.into_owned())
}
