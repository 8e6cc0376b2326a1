//! What a file of OpenClaw's is, by its path alone: `<agent>/…` below the folder of its agents.

use std::path::Path;

use crate::model::{Placement, SourcePart};

/// The database of an agent, in the folder of this name.
const DATABASE: (&str, &str) = ("agent", "openclaw-agent.sqlite");
/// Where transcripts lie, and where they were put once they were imported into the database.
const SESSIONS: &str = "sessions";
const IMPORTED: &str = "session-sqlite-import-archive";
/// How what stands behind the name of such a transcript begins.
const MARK: &str = ".imported-";

/// What a transcript in a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The session itself.
    Live,
    /// What it was when it was imported into the database.
    Imported,
    Deleted,
    Reset,
    /// A copy made before something was changed: before a repair, before a compaction.
    Copy,
}

/// A transcript by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name<'p> {
    pub agent: &'p str,
    pub session: &'p str,
    pub kind: Kind,
}

/// The names in a path.
fn parts(path: &Path) -> Vec<&str> {
    path.iter().filter_map(|part| part.to_str()).collect()
}

/// The transcript at that path, which need not be below a root.
pub(super) fn name(path: &Path) -> Option<Name<'_>> {
    let parts = parts(path);
    // What was imported may lie in folders of any name, which say nothing.
    let imported = parts.iter().position(|part| *part == IMPORTED);
    let is_imported = imported.is_some();
    let folder = imported.or_else(|| parts.iter().rposition(|part| *part == SESSIONS))?;
    let agent = parts.get(folder.checked_sub(1)?)?;
    let (name, below) = parts.get(folder + 1..)?.split_last()?;
    if !below.is_empty() && !is_imported {
        return None;
    }
    let (session, kind) = transcript(name)?;
    Some(Name {
        agent,
        session,
        kind: match kind {
            Kind::Live if is_imported => Kind::Imported,
            kind => kind,
        },
    })
}

/// Session and kind of a transcript of that name. What was imported has the key before it, or
/// `archive-tier`, and behind it a mark: `agent_main_main.s1.jsonl.imported-1796062761582`.
fn transcript(name: &str) -> Option<(&str, Kind)> {
    let Some((named, _)) = name.rsplit_once(MARK) else {
        return transcript_at_work(name);
    };
    let (session, kind) = transcript_at_work(named)?;
    let session = session.rsplit('.').next().filter(|id| !id.is_empty())?;
    let kind = match kind {
        Kind::Live => Kind::Imported,
        kind => kind,
    };
    Some((session, kind))
}

/// The same of one that has no such mark.
fn transcript_at_work(name: &str) -> Option<(&str, Kind)> {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    if is_telemetry(name) {
        return None;
    }
    for (mark, kind) in [
        (".checkpoint.", Kind::Copy),
        (".bak-", Kind::Copy),
        (".bak.", Kind::Copy),
        (".jsonl.reset.", Kind::Reset),
        (".jsonl.deleted.", Kind::Deleted),
    ] {
        if let Some((session, _)) = name.split_once(mark) {
            let session = session.strip_suffix(".jsonl").unwrap_or(session);
            let is_transcript = name.contains(".jsonl") && !session.is_empty();
            return is_transcript.then_some((session, kind));
        }
    }
    let session = name.strip_suffix(".jsonl").filter(|id| !id.is_empty())?;
    Some((session, Kind::Live))
}

/// The session that a header names as the one from which its own was copied: by its file, by its
/// row (`sqlite:AGENT:SESSION:FILE`), or by itself.
pub(super) fn named(origin: &str) -> Option<&str> {
    let origin = origin.trim();
    let session = match origin.strip_prefix("sqlite:") {
        Some(row) => row.split(':').nth(1)?,
        None => {
            let name = origin.rsplit(['/', '\\']).next()?;
            transcript(name).map_or(name, |(session, _)| session)
        }
    };
    Some(session).filter(|session| !session.is_empty())
}

fn is_telemetry(name: &str) -> bool {
    name.contains(".trajectory.") || name.contains(".trajectory-")
}

/// Whether a file is a copy beside its session.
pub(super) fn is_copy(path: &Path) -> bool {
    name(path).is_some_and(|name| name.kind == Kind::Copy)
}

pub(super) fn place(relative: &Path) -> Placement {
    if let [_, folder, file] = parts(relative)[..]
        && folder == DATABASE.0
    {
        return match file {
            _ if file == DATABASE.1 => Placement::Database,
            _ if file.contains(".sqlite") => Placement::Ignore("a lock beside the database"),
            _ => Placement::Ignore("no transcript"),
        };
    }
    let file = relative.file_name().unwrap_or_default().to_string_lossy();
    match name(relative) {
        Some(name) if parts(relative).first() == Some(&name.agent) => Placement::Source {
            session: key(name.agent, name.session),
            part: match name.kind {
                Kind::Copy => SourcePart::Copy,
                _ => SourcePart::Main,
            },
            unlisted: match name.kind {
                Kind::Live => None,
                Kind::Imported => Some("put away once it was imported into the database"),
                Kind::Deleted => Some("deleted"),
                Kind::Reset => Some("reset"),
                Kind::Copy => Some("a copy made before a change"),
            }
            .map(str::to_owned),
        },
        _ if file == "sessions.json" => Placement::Ignore("names of sessions"),
        _ if is_telemetry(&file) => Placement::Ignore("the agent's telemetry, never read"),
        _ => Placement::Ignore("no transcript"),
    }
}

/// The key of a session in a database: that of its files.
pub(super) fn within(database: &Path, session: &str) -> Option<String> {
    Some(key(parts(database).first()?, session))
}

fn key(agent: &str, session: &str) -> String {
    format!("{agent}/{session}")
}

/// Folders of other things.
pub(super) fn leaves_out(folder: &Path) -> Option<&'static str> {
    match parts(folder)[..] {
        [_] | [_, SESSIONS | IMPORTED, ..] if !folder.ends_with("sessions/cold") => None,
        [_, agent] if agent == DATABASE.0 => None,
        [_, SESSIONS, "cold"] => Some("transcripts that are read through the database"),
        _ => Some("no transcripts"),
    }
}
