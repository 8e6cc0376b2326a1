//! What is stored of sources and sessions?

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Row, params};

use super::entries::in_file;
use super::error::Error;
use super::open::Catalogue;
use super::statements::{PAGE, Paged};
use crate::archive::SourcePath;
use crate::format::{resume, resumes_unlisted};
use crate::model::{Base, NO_MESSAGES, SessionRow};
use crate::source::checkpoint::{NO_REVISION, Proof, ReadState};
use crate::source::content::Location;
use crate::source::identity::Identity;
use crate::stored_path;

/// A source as stored.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct StoredSource {
    pub source: i64,
    pub relative: String,
    pub stored: ReadState,
    pub unlisted: Option<String>,
    pub unread: bool,
    /// Since when its file is gone, and it is read from the archive.
    pub gone_ms: Option<i64>,
    /// Whether the archive holds what was read of it; `None`: it is not kept.
    pub is_kept: Option<bool>,
}

impl StoredSource {
    /// The source of this path below its root, among those `known` of it, sorted by path.
    pub fn find<'k>(known: &'k [StoredSource], relative: &str) -> Option<&'k StoredSource> {
        let at = known.binary_search_by(|known| (*known.relative).cmp(relative));
        at.ok().map(|at| &known[at])
    }
}

/// From where a changed source is read on.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// Proof of the bytes that were read.
    pub proof: Proof,
    /// Saved fold, JSON.
    pub fold: String,
    /// Of a session in a database what was known where a turn began, as it is stored.
    pub turn: Option<String>,
}

/// A source at one moment.
#[derive(Debug, Clone)]
pub struct SourceState {
    /// What is known of it.
    pub known: StoredSource,
    /// From where it is read on.
    pub checkpoint: Option<Checkpoint>,
    /// Key and hash of its first entry. They change when the rows were written again, because no
    /// key is used twice, and when they were moved, because the first one is another one then.
    pub first: Option<(i64, i64)>,
}

/// A session as stored: its number and its list row.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct StoredSession {
    pub session: i64,
    pub format: String,
    pub version: Option<i64>,
    /// What it goes on from without holding it.
    pub base: Option<Base>,
    pub row: SessionRow,
}

/// A problem of a source.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct StoredProblem {
    pub start: u64,
    pub length: u64,
    pub provisional: bool,
    pub reason: String,
}

/// What there is in all.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Totals {
    pub sessions: u64,
    pub entries: u64,
    /// All of them, what could not be read among them.
    pub problems: u64,
    /// Files, folders and roots that could not be read.
    pub unread: u64,
    /// Files that are no sessions, and links that are not followed.
    pub passed_over: u64,
    pub source_bytes: u64,
    pub last_scan_ms: Option<i64>,
}

impl Catalogue {
    /// How many messages each session has.
    pub fn message_counts(&self) -> Result<HashMap<u64, u32>, Error> {
        let sql = "SELECT session, messages FROM _sessions WHERE path <> ''";
        let counts: Vec<(u64, u32)> = self.all(sql, [], |r| {
            Ok((r.get::<_, i64>(0)?.cast_unsigned(), r.get(1)?))
        })?;
        Ok(counts.into_iter().collect())
    }

    /// All sources of a root, sorted by path.
    pub fn known_sources(&self, root: i64) -> Result<Vec<StoredSource>, Error> {
        self.with(|c| {
            // Along the table and sorted here: by the index on paths each row would be looked up
            // for itself.
            let mut known: Vec<StoredSource> = c
                .prepare_cached(&format!(
                    "SELECT {KNOWN} FROM _sources NOT INDEXED WHERE root = ?1"
                ))?
                .query_map([root], self::known)?
                .collect::<Result<_, _>>()?;
            known.sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
            Ok(known)
        })
    }

    /// The checkpoint of a source.
    pub fn checkpoint(&self, source: i64) -> Result<Option<Checkpoint>, Error> {
        self.first(
            "SELECT proof, fold, turn FROM _checkpoints WHERE source = ?1",
            [source],
            |r| {
                Ok(Checkpoint {
                    proof: Proof::from_bytes(r.get_ref(0)?.as_blob().unwrap_or_default()),
                    fold: r.get(1)?,
                    turn: r.get(2)?,
                })
            },
        )
    }

    /// The source at a path below a root, as it is at one moment.
    pub fn source_state(&self, root: i64, relative: &str) -> Result<Option<SourceState>, Error> {
        let first = "SELECT key, hash FROM _entries WHERE key =
                         (SELECT min((SELECT min(key) FROM _entries e WHERE e.source = ss.source
                                 AND e.key BETWEEN ss.session << 24 AND ((ss.session + 1) << 24) - 1))
                          FROM _session_sources ss WHERE ss.source = ?1)";
        self.at_one_moment(|| {
            let query = format!("SELECT {KNOWN} FROM _sources WHERE root = ?1 AND relative = ?2");
            let found = self.first(&query, params![root, relative], known)?;
            let Some(known) = found else {
                return Ok(None);
            };
            Ok(Some(SourceState {
                checkpoint: self.checkpoint(known.source)?,
                first: self.first(first, [known.source], |r| Ok((r.get(0)?, r.get(1)?)))?,
                known,
            }))
        })
    }

    /// All sessions of these roots, those the agent lists first; each agent's order.
    pub fn sessions(&self, roots: &[i64]) -> Result<Vec<StoredSession>, Error> {
        let list = numbers(roots);
        let query = format!("{SESSION} WHERE s.root IN ({list})");
        self.all(&query, [], stored_session)
    }

    /// Sessions by number.
    pub fn sessions_by_number(&self, sessions: &[i64]) -> Result<Vec<StoredSession>, Error> {
        let query = format!("{SESSION} WHERE s.session IN ({})", numbers(sessions));
        self.with(|c| c.prepare(&query)?.query_map([], stored_session)?.collect())
    }

    /// Where a source lies, and the name of its format.
    pub fn source_place(&self, source: i64) -> Result<Option<(Location, String)>, Error> {
        let sql = format!(
            "SELECT r.format, {LOCATION} FROM _sources s JOIN _roots r USING (root) WHERE s.source = ?1"
        );
        self.first(&sql, [source], |r| Ok((location(r, 1)?, r.get(0)?)))
    }

    /// Where the main source of the session at this path is.
    pub fn main_source(&self, path: &Path) -> Result<Option<Location>, Error> {
        let sql = format!(
            "SELECT {LOCATION} FROM _sessions m JOIN _session_sources p USING (session) JOIN _sources s USING (source)
                 JOIN _roots r ON r.root = s.root
             WHERE m.path = ?1 AND p.part = 'main' LIMIT 1"
        );
        self.first(&sql, [path.to_string_lossy()], |r| location(r, 0))
    }

    /// Whether a file of the session at this path itself is there: its main one, or the copy that
    /// it is.
    pub fn has_own_source(&self, path: &Path) -> Result<bool, Error> {
        let sql = "SELECT EXISTS (SELECT 1 FROM _sessions m JOIN _session_sources p USING (session)
            WHERE m.path = ?1 AND p.part IN ('main', 'copy'))";
        self.one(sql, [path.to_string_lossy()], |r| r.get(0))
    }

    /// Sources of a session.
    pub fn sources_of(&self, session: i64) -> Result<Vec<i64>, Error> {
        let sql = "SELECT source FROM _session_sources JOIN _sources USING (source) WHERE session = ?1 ORDER BY relative";
        self.all(sql, [session], |r| r.get(0))
    }

    /// Problems of a source in file order.
    pub fn problems(&self, source: i64) -> Paged<'_, StoredProblem> {
        let sql = "SELECT start, length, provisional, reason FROM _problems WHERE source = ?1 AND start >= ?2
            ORDER BY start LIMIT ?3";
        let mut next = Some(i64::MIN);
        Paged::new(move || {
            let Some(from) = next.take() else {
                return Ok(None);
            };
            let page: Vec<_> = self.all(sql, params![source, from, PAGE as i64], |r| {
                let start = r.get(0)?;
                let problem = StoredProblem {
                    start: in_file(start),
                    length: in_file(r.get(1)?),
                    provisional: r.get(2)?,
                    reason: r.get(3)?,
                };
                Ok((start, problem))
            })?;
            let last = page.last().filter(|_| page.len() == PAGE);
            next = last.and_then(|(start, _)| start.checked_add(1));
            Ok(Some(page.into_iter().map(|(_, problem)| problem).collect()))
        })
    }

    /// Whether the last scan of a source could not read it.
    pub fn is_noted_unread(&self, source: i64) -> Result<bool, Error> {
        let sql = "SELECT EXISTS (SELECT 1 FROM _sources WHERE source = ?1 AND unread IS NOT NULL)";
        self.one(sql, [source], |r| r.get(0))
    }

    /// Sessions, entries, problems, bytes of all sources, last scan.
    pub fn totals(&self) -> Result<Totals, Error> {
        let sql = "SELECT (SELECT count(*) FROM _sessions), (SELECT count(*) FROM _entries), (SELECT count(*) FROM problems),
            (SELECT count(*) FROM problems WHERE what IN ('unread', 'root')),
            (SELECT count(*) FROM problems WHERE what = 'file'),
            (SELECT coalesce(sum(length), 0) FROM _sources), (SELECT last_scan_ms FROM _store)";
        self.one(sql, [], |r| {
            let count = |at| r.get::<_, i64>(at).map(|count| count as u64);
            Ok(Totals {
                sessions: count(0)?,
                entries: count(1)?,
                problems: count(2)?,
                unread: count(3)?,
                passed_over: count(4)?,
                source_bytes: count(5)?,
                last_scan_ms: r.get(6)?,
            })
        })
    }

    /// SQLite's own check of the file; `None` when all is well.
    pub fn integrity(&self) -> Result<Option<String>, Error> {
        let said: String = self.one("PRAGMA integrity_check(1)", [], |r| r.get(0))?;
        Ok((said != "ok").then_some(said))
    }
}

// The last column is `not_read_yet`: what a source of it held was neither read nor found damaged.
const _: () = assert!(NO_REVISION == 4_294_967_295);
pub(super) const SESSION: &str = "SELECT s.session, s.root, r.format, s.modified_ms, s.file_ms, s.version,
        r.agent, r.label, s.path, s.id, s.cwd, s.name, s.parent_session, s.created_ms, s.messages, s.first_message,
        s.hidden, s.entries, s.problems, s.errors, s.provider, s.model, s.tokens, s.cost, s.listed_cost, s.bytes, s.own,
        (WITH RECURSIVE below(session) AS (
            SELECT s.session
            UNION SELECT c.session FROM below JOIN _sessions c ON c.parent = below.session WHERE c.subagent)
         SELECT count(*) - 1 FROM below), s.typed, s.git_branch, s.thinking_level, s.base_session, s.base_end, s.subagent,
        s.gone_ms, coalesce(s.repository, s.remote), nullif(r.host, ''),
        s.entries = 0 AND s.bytes = 0 AND EXISTS (SELECT 1 FROM _session_sources p JOIN _sources f USING (source)
            WHERE p.session = s.session AND f.revision = 4294967295 AND NOT f.racy)
 FROM _sessions s JOIN _roots r USING (root)";

pub(super) fn stored_session(r: &Row<'_>) -> rusqlite::Result<StoredSession> {
    let modified_ms: i64 = r.get(3)?;
    let hidden: Option<String> = r.get(16)?;
    let (agent, path, id): (String, String, String) = (r.get(6)?, r.get(8)?, r.get(9)?);
    let (cwd, format): (String, String) = (r.get(10)?, r.get(2)?);
    let (name, first_message): (Option<String>, Option<String>) = (r.get(11)?, r.get(15)?);
    let title = title(name.as_deref(), r.get(28)?, first_message.as_deref());
    let (created_ms, gone_ms): (Option<i64>, Option<i64>) = (r.get(13)?, r.get(34)?);
    let own = r.get_ref(26)?.as_str_or_null().ok().flatten();
    let resume = may_resume(r, &agent, hidden.as_deref())?
        .then(|| resume(&agent, &format, &path, (&id, own), &cwd))
        .flatten();
    let session = r.get(0)?;
    Ok(StoredSession {
        session,
        base: base(r.get(31)?, r.get(32)?),
        format,
        version: r.get(5)?,
        row: SessionRow {
            agent,
            label: r.get(7)?,
            host: r.get(36)?,
            subagents: r.get::<_, i64>(27)? as u64,
            path: PathBuf::from(path),
            id,
            cwd,
            title,
            name,
            parent_session_path: r.get(12)?,
            created: created_ms.and_then(crate::model::iso),
            created_ms,
            modified: crate::model::iso(modified_ms),
            modified_ms: Some(modified_ms),
            message_count: r.get::<_, i64>(14)? as u64,
            first_message,
            all_messages_text: None,
            listed_by_agent: hidden.is_none(),
            reason: hidden,
            entries: r.get::<_, i64>(17)? as u64,
            problems: r.get::<_, i64>(18)? as u64,
            errors: r.get::<_, i64>(19)? as u64,
            provider: r.get(20)?,
            model: r.get(21)?,
            tokens: r.get(22)?,
            cost: r.get(23)?,
            listed_cost: r.get(24)?,
            bytes: r.get::<_, i64>(25)? as u64,
            resume,
            git_branch: r.get(29)?,
            repository: r.get(35)?,
            thinking_level: r.get(30)?,
            not_read_yet: r.get(37)?,
            archived: gone_ms.is_some(),
            gone_since: gone_ms.and_then(crate::model::iso),
            gone_since_ms: gone_ms,
            own: own.and_then(|own| serde_json::from_str(own).ok()),
            number: session,
        },
    })
}

/// What people call a session by: the name that it was given, else the title that its first prompt
/// makes, else what was said first.
fn title(name: Option<&str>, made: Option<String>, first_message: Option<&str>) -> String {
    let named = name.filter(|name| !name.is_empty()).map(str::to_owned);
    let said = || first_message.unwrap_or(NO_MESSAGES).to_owned();
    named.or(made).unwrap_or_else(said)
}

/// Whether its agent takes the session up again, which it lists or not. It finds nothing of one
/// whose file is gone, or is another machine's.
fn may_resume(r: &Row<'_>, agent: &str, hidden: Option<&str>) -> rusqlite::Result<bool> {
    let (is_subagent, gone_ms): (bool, Option<i64>) = (r.get(33)?, r.get(34)?);
    let is_own = r.get::<_, Option<String>>(36)?.is_none();
    let takes_up = |reason| resumes_unlisted(agent, reason, is_subagent);
    Ok(is_own && gone_ms.is_none() && hidden.is_none_or(takes_up))
}

pub(super) fn base(session: Option<String>, end: Option<i64>) -> Option<Base> {
    Some(Base {
        session: session?,
        end: in_file(end?),
    })
}

/// Columns of a [`Location`], of a source `s` below a root `r`.
pub(super) const LOCATION: &str = "r.agent, r.path, s.relative,
    CASE WHEN s.gone_ms IS NOT NULL THEN (SELECT archive FROM _store) END";

/// The location in the columns from this one on.
pub(super) fn location(r: &Row<'_>, at: usize) -> rusqlite::Result<Location> {
    let place = |relative| -> rusqlite::Result<SourcePath> {
        Ok(SourcePath {
            agent: r.get(at)?,
            root: PathBuf::from(r.get::<_, String>(at + 1)?),
            relative,
        })
    };
    let relative: String = r.get(at + 2)?;
    let archive: Option<String> = r.get(at + 3)?;
    let archived = match archive {
        Some(folder) => Location::archived(Path::new(&folder), place(relative.clone())?),
        None => None,
    };
    let root = Path::new(r.get_ref(at + 1)?.as_str()?);
    Ok(archived.unwrap_or_else(|| stored_path::below(root, relative).into()))
}

/// Columns of a [`StoredSource`] source.
pub(super) const KNOWN: &str =
    "source, relative, device, inode, size, mtime_ns, ctime_ns, racy, revision, consumed,
    unlisted, unread IS NOT NULL, length, gone_ms, is_kept";

pub(super) fn known(r: &Row<'_>) -> rusqlite::Result<StoredSource> {
    Ok(StoredSource {
        source: r.get(0)?,
        relative: r.get(1)?,
        stored: ReadState {
            identity: Identity {
                device: r.get(2)?,
                inode: r.get(3)?,
                size: r.get::<_, i64>(4)? as u64,
                mtime_ns: r.get(5)?,
                ctime_ns: r.get(6)?,
            },
            racy: r.get(7)?,
            revision: r.get(8)?,
            consumed: r.get::<_, i64>(9)? as u64,
            length: r.get::<_, i64>(12)? as u64,
        },
        unlisted: r.get(10)?,
        unread: r.get(11)?,
        gone_ms: r.get(13)?,
        is_kept: r.get(14)?,
    })
}

pub(super) fn numbers(list: &[i64]) -> String {
    list.iter()
        .map(i64::to_string)
        .collect::<Vec<_>>()
        .join(",")
}
