//! Every SELECT that answers a question.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use rusqlite::{OptionalExtension, Row, params};

use super::entries::in_file;
use super::error::Error;
use super::open::Catalogue;
use super::write::key_range;
use crate::archive::Place;
use crate::format::{agent_called, resume};
use crate::model::{Base, SessionRow};
use crate::source::checkpoint::{Proof, ReadState};
use crate::source::content::Location;
use crate::source::discover::ForeignFile;
use crate::source::identity::{Identity, file_at};
use crate::source::links::{ABOVE_A_ROOT, NOT_FOLLOWED};

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

/// From where a changed source is read on.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// Proof of the bytes that were read.
    pub proof: Proof,
    /// Saved fold, JSON.
    pub fold: String,
}

/// A source at one moment.
#[derive(Debug, Clone)]
pub struct SourceState {
    /// What is known of it.
    pub known: StoredSource,
    /// From where it is read on.
    pub checkpoint: Option<Checkpoint>,
    /// Key of its first entry. It changes when the rows were written again, because no key is used
    /// twice.
    pub first: Option<i64>,
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

/// A root with what was found there.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct StoredRoot {
    pub root: i64,
    pub error: Option<String>,
    pub files: u64,
    pub sessions: u64,
    pub newest_ms: Option<i64>,
    pub excluded: u64,
    pub links_not_followed: u64,
    pub unknown: u64,
    pub first_unknown: Option<String>,
    pub entries: u64,
    pub unparsed: u64,
}

/// Sessions in which nothing is known: no header, no directory, no message of anybody; but not
/// those of which no whole line is written yet. Only those without a header are looked into.
const UNKNOWN: &str = "s.path <> '' AND s.messages = 0 AND s.created_raw IS NULL AND s.created_ms IS NULL AND s.cwd = ''
    AND (s.entries > 0 OR EXISTS (SELECT 1 FROM _problems p JOIN _session_sources ss USING (source)
                                  WHERE ss.session = s.session AND NOT p.provisional))
    AND NOT EXISTS (SELECT 1 FROM _entries e WHERE e.role IS NOT NULL
                    AND e.key BETWEEN s.session << 24 AND ((s.session + 1) << 24) - 1)";

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
    pub source_bytes: u64,
    pub last_scan_ms: Option<i64>,
}

/// Rows that are read at once.
const PAGE: usize = 1_000;

/// The problems of one source, some of them at a time.
pub struct ProblemsOfSource<'c> {
    catalogue: &'c Catalogue,
    source: i64,
    /// Where the next page begins; `None`: there is no other.
    from: Option<i64>,
    page: IntoIter<StoredProblem>,
}

impl ProblemsOfSource<'_> {
    /// The next one.
    pub fn next(&mut self) -> Result<Option<StoredProblem>, Error> {
        loop {
            if let Some(problem) = self.page.next() {
                return Ok(Some(problem));
            }
            let Some(from) = self.from.take() else {
                return Ok(None);
            };
            let sql = "SELECT start, length, provisional, reason FROM _problems WHERE source = ?1 AND start >= ?2
                ORDER BY start LIMIT ?3";
            let bound = params![self.source, from, PAGE as i64];
            let page: Vec<_> = self.catalogue.all(sql, bound, |r| {
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
            self.from = last.and_then(|(start, _)| start.checked_add(1));
            let problems: Vec<_> = page.into_iter().map(|(_, problem)| problem).collect();
            self.page = problems.into_iter();
        }
    }
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

    /// Take one snapshot for all that follows, until [`Catalogue::end_snapshot`]. For
    /// [`Index::snapshot`](crate::Index::snapshot), which is how questions are asked.
    pub fn snapshot(&self) -> Result<(), Error> {
        // A deferred transaction holds a snapshot from its first read on.
        let taken = self.connection.execute_batch("BEGIN; SELECT 1 FROM _store");
        if taken.is_err() {
            self.rollback();
        }
        self.with_path(taken)
    }

    /// What `ask` asks for, all of it of one state: for [`Index::verify`](crate::Index::verify),
    /// which takes many short snapshots.
    pub fn at_one_moment<T, E: From<Error>>(
        &self,
        ask: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        // Within a transaction it is one already.
        if self.holds_snapshot() {
            return ask();
        }
        self.snapshot()?;
        let asked = ask();
        self.end_snapshot();
        asked
    }

    /// Have `step` called after so many steps of SQLite's machine, again and again; 0: no more.
    #[cfg(test)]
    pub fn each_step(&mut self, steps: i32, mut step: impl FnMut() + Send + 'static) {
        let on_step = (steps > 0).then_some(move || {
            step();
            false
        });
        self.connection.progress_handler(steps, on_step).unwrap();
    }

    /// Let the snapshot go.
    pub fn end_snapshot(&self) {
        self.rollback();
    }

    /// Whether a snapshot was taken that has not ended.
    pub fn holds_snapshot(&self) -> bool {
        !self.connection.is_autocommit()
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
            "SELECT proof, fold FROM _checkpoints WHERE source = ?1",
            [source],
            |r| {
                Ok(Checkpoint {
                    proof: Proof::from_bytes(r.get_ref(0)?.as_blob().unwrap_or_default()),
                    fold: r.get(1)?,
                })
            },
        )
    }

    /// The source at a path below a root, as it is at one moment.
    pub fn source_state(&self, root: i64, relative: &str) -> Result<Option<SourceState>, Error> {
        let first = "SELECT min((SELECT min(key) FROM _entries e WHERE e.source = ss.source
                            AND e.key BETWEEN ss.session << 24 AND ((ss.session + 1) << 24) - 1))
                     FROM _session_sources ss WHERE ss.source = ?1";
        self.at_one_moment(|| {
            let query = format!("SELECT {KNOWN} FROM _sources WHERE root = ?1 AND relative = ?2");
            let found = self.first(&query, params![root, relative], known)?;
            let Some(known) = found else {
                return Ok(None);
            };
            Ok(Some(SourceState {
                checkpoint: self.checkpoint(known.source)?,
                first: self.one(first, [known.source], |r| r.get(0))?,
                known,
            }))
        })
    }

    /// Files below a root that are no source, and why; sorted by path.
    pub fn foreign_files(&self, root: i64) -> Result<Vec<ForeignFile>, Error> {
        let sql = "SELECT relative, reason, unread FROM _strays WHERE root = ?1 ORDER BY relative";
        self.all(sql, [root], |r| {
            Ok(ForeignFile {
                relative: r.get(0)?,
                reason: r.get(1)?,
                unread: r.get(2)?,
            })
        })
    }

    /// How many links below a root were not followed at the last scan, for that reason.
    pub fn links_not_followed(&self, root: i64, reason: &str) -> Result<u64, Error> {
        let count = "SELECT count(*) FROM _strays WHERE root = ?1 AND reason = ?2";
        let count = self.one(count, params![root, reason], |r| r.get::<_, i64>(0))?;
        Ok(count as u64)
    }

    /// The format and label a root was last scanned with.
    pub fn root_is(&self, root: i64) -> Result<(String, Option<String>, bool), Error> {
        let is = "SELECT format, label, flat FROM _roots WHERE root = ?1";
        self.one(is, [root], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
    }

    /// Number of a root, if it was ever scanned, be it under another name: the one it was named by
    /// first stays, as long as it leads there.
    pub fn root_of(&self, agent: &str, path: &Path) -> Result<Option<i64>, Error> {
        let of = "SELECT root FROM _roots WHERE host = '' AND agent = ?1 AND path = ?2";
        self.with(|c| {
            let mut of = c.prepare_cached(of)?;
            let root = of.query_row(params![agent, path.to_string_lossy()], |r| r.get(0));
            if let Some(root) = root.optional()? {
                return Ok(Some(root));
            }
            let Some(folder) = file_at(path) else {
                return Ok(None);
            };
            let mut same = c.prepare_cached(
                "SELECT root, path FROM _roots
                 WHERE host = '' AND agent = ?1 AND device = ?2 AND inode = ?3 ORDER BY root",
            )?;
            let mut rows = same.query(params![agent, folder.0, folder.1])?;
            while let Some(row) = rows.next()? {
                let named: String = row.get(1)?;
                if file_at(named.as_ref()) == Some(folder) {
                    return row.get(0).map(Some);
                }
            }
            Ok(None)
        })
    }

    /// Every working directory that a session names.
    pub fn working_directories(&self) -> Result<Vec<String>, Error> {
        // From one to the next along the index: there are far fewer than sessions.
        let sql = "WITH RECURSIVE here(cwd) AS (
                SELECT min(cwd) FROM _sessions WHERE cwd > ''
                UNION ALL
                SELECT (SELECT min(cwd) FROM _sessions WHERE cwd > here.cwd) FROM here WHERE cwd IS NOT NULL)
            SELECT cwd FROM here WHERE cwd IS NOT NULL";
        self.all(sql, [], |r| r.get(0))
    }

    /// Numbers of all roots ever scanned.
    pub fn root_numbers(&self) -> Result<Vec<i64>, Error> {
        self.all("SELECT root FROM _roots", [], |r| r.get(0))
    }

    /// The device a root was on when it was last read.
    pub fn root_device(&self, root: i64) -> Result<Option<i64>, Error> {
        let device = "SELECT device FROM _roots WHERE root = ?1";
        self.one(device, [root], |r| r.get(0))
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

    /// Path, format and file order of a source.
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

    /// Sources of a session.
    pub fn sources_of(&self, session: i64) -> Result<Vec<i64>, Error> {
        let sql = "SELECT source FROM _session_sources JOIN _sources USING (source) WHERE session = ?1 ORDER BY relative";
        self.all(sql, [session], |r| r.get(0))
    }

    /// Problems of a source in file order.
    pub fn problems(&self, source: i64) -> ProblemsOfSource<'_> {
        ProblemsOfSource {
            catalogue: self,
            source,
            from: Some(i64::MIN),
            page: Vec::new().into_iter(),
        }
    }

    /// Path of the session that a session of the same root names by its id.
    pub fn path_of_id(&self, id: &str, beside: i64) -> Result<Option<String>, Error> {
        let sql = "SELECT path FROM _sessions WHERE id = ?1 AND root = (SELECT root FROM _sessions WHERE session = ?2)
            ORDER BY path";
        self.first(sql, params![id, beside], |r| r.get(0))
    }

    /// The session of that id, of the agent of the session `beside` it, with what it goes on from
    /// itself.
    pub fn base(&self, id: &str, beside: i64) -> Result<Option<(i64, Option<Base>)>, Error> {
        let sql = "SELECT s.session, s.base_session, s.base_end
            FROM _roots r CROSS JOIN _sessions s ON s.root = r.root AND s.id = ?1
            WHERE s.path <> '' AND r.agent = (SELECT agent FROM _roots JOIN _sessions USING (root) WHERE session = ?2)
            ORDER BY s.hidden IS NOT NULL, s.path";
        self.first(sql, params![id, beside], |r| {
            Ok((r.get(0)?, base(r.get(1)?, r.get(2)?)))
        })
    }

    /// Whether that many bytes of a session are whole entries of its one source, but for what lies
    /// beside that.
    pub fn reaches(&self, session: i64, end: u64) -> Result<bool, Error> {
        let (low, high) = key_range(session);
        let sql = "SELECT count(*) = 1 AND max(length) >= ?2 AND NOT EXISTS (
                SELECT 1 FROM _entries e
                WHERE e.key BETWEEN ?3 AND ?4 AND e.start < ?2 AND e.start + e.length > ?2
                    AND e.flags & 128 = 0)
            FROM _session_sources JOIN _sources USING (source) WHERE session = ?1 AND part <> 'side'";
        let bound = params![session, end.cast_signed(), low, high];
        let reaches = self.first(sql, bound, |r| r.get::<_, Option<bool>>(0))?;
        Ok(reaches.flatten().unwrap_or(false))
    }

    /// Paths of sessions of the same root that name `session` as their parent by its id.
    pub fn children_of_id(&self, id: &str, session: i64) -> Result<Vec<String>, Error> {
        let sql = "SELECT path FROM _sessions WHERE parent_session = ?1
            AND root = (SELECT root FROM _sessions WHERE session = ?2) ORDER BY created_ms, path";
        self.all(sql, params![id, session], |r| r.get(0))
    }

    /// Paths of sessions whose header names `path` as their parent.
    pub fn forks_of(&self, path: &str) -> Result<Vec<String>, Error> {
        let sql = "SELECT path FROM _sessions WHERE parent_session = ?1 ORDER BY created_ms, path";
        self.all(sql, [path], |r| r.get(0))
    }

    /// The parent a session's header names, by the session's path.
    pub fn parent_of(&self, path: &str) -> Result<Option<String>, Error> {
        self.first(
            "SELECT parent_session FROM _sessions WHERE path = ?1",
            [path],
            |r| r.get(0),
        )
        .map(Option::flatten)
    }

    /// All roots with their counts.
    pub fn roots(&self) -> Result<Vec<StoredRoot>, Error> {
        let sql = format!(
            "SELECT r.root, r.error,
                   (SELECT count(*) FROM _sources s WHERE s.root = r.root),
                   (SELECT count(*) FROM _sessions s WHERE s.root = r.root),
                   (SELECT max(modified_ms) FROM _sessions s WHERE s.root = r.root), r.excluded,
                   (SELECT count(*) FROM _strays s WHERE s.root = r.root AND s.reason IN (?1, ?2)),
                   (SELECT count(*) FROM _sessions s WHERE s.root = r.root AND {UNKNOWN}),
                   (SELECT min(path) FROM _sessions s WHERE s.root = r.root AND {UNKNOWN}),
                   (SELECT coalesce(sum(entries), 0) FROM _sessions s WHERE s.root = r.root),
                   (SELECT coalesce(sum(problems), 0) FROM _sessions s WHERE s.root = r.root)
            FROM _roots r ORDER BY r.root"
        );
        self.all(&sql, [NOT_FOLLOWED, ABOVE_A_ROOT], |r| {
            Ok(StoredRoot {
                root: r.get(0)?,
                error: r.get(1)?,
                files: r.get::<_, i64>(2)? as u64,
                sessions: r.get::<_, i64>(3)? as u64,
                newest_ms: r.get(4)?,
                excluded: r.get::<_, i64>(5)? as u64,
                links_not_followed: r.get::<_, i64>(6)? as u64,
                unknown: r.get::<_, i64>(7)? as u64,
                first_unknown: r.get(8)?,
                entries: r.get::<_, i64>(9)? as u64,
                unparsed: r.get::<_, i64>(10)? as u64,
            })
        })
    }

    /// The last sessions of a root, at most so many, each with what only its agent records of it.
    pub fn last_sessions(&self, root: i64, most: usize) -> Result<Vec<(i64, String)>, Error> {
        let sql = "SELECT session, coalesce(own, '') FROM _sessions WHERE root = ?1 AND path <> ''
            ORDER BY modified_ms DESC, session LIMIT ?2";
        let bound = params![root, most as i64];
        self.all(sql, bound, |r| Ok((r.get(0)?, r.get(1)?)))
    }

    /// How many of the last entries of a session, of at most so many, are of each kind.
    pub fn last_kinds(&self, session: i64, most: usize) -> Result<Vec<(String, u64)>, Error> {
        let sql =
            "SELECT kind, count(*) FROM (SELECT kind FROM _entries WHERE key BETWEEN ?1 AND ?2
            ORDER BY key DESC LIMIT ?3) GROUP BY kind";
        let (low, high) = key_range(session);
        let bound = params![low, high, most as i64];
        self.all(sql, bound, |r| Ok((r.get(0)?, r.get::<_, i64>(1)? as u64)))
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
            (SELECT coalesce(sum(length), 0) FROM _sources), (SELECT last_scan_ms FROM _store)";
        self.one(sql, [], |r| {
            let count = |at| r.get::<_, i64>(at).map(|count| count as u64);
            Ok(Totals {
                sessions: count(0)?,
                entries: count(1)?,
                problems: count(2)?,
                unread: count(3)?,
                source_bytes: count(4)?,
                last_scan_ms: r.get(5)?,
            })
        })
    }

    /// SQLite's own check of the file; `None` when all is well.
    pub fn integrity(&self) -> Result<Option<String>, Error> {
        let said: String = self.one("PRAGMA integrity_check(1)", [], |r| r.get(0))?;
        Ok((said != "ok").then_some(said))
    }
}

pub(super) const SESSION: &str = "SELECT s.session, s.root, r.format, s.modified_ms, s.file_ms, s.version,
        r.agent, r.label, s.path, s.id, s.cwd, s.name, s.parent_session, s.created_ms, s.messages, s.first_message,
        s.hidden, s.entries, s.problems, s.errors, s.provider, s.model, s.tokens, s.cost, s.listed_cost, s.bytes, s.own,
        (WITH RECURSIVE below(session, id) AS (
            SELECT s.session, s.id
            UNION SELECT c.session, c.id FROM below JOIN _sessions c
                  ON c.subagent AND c.root = s.root AND c.parent_session = below.id)
         SELECT count(*) - 1 FROM below), s.typed, s.git_branch, s.thinking_level, s.base_session, s.base_end, s.subagent,
        s.gone_ms
 FROM _sessions s JOIN _roots r USING (root)";

pub(super) fn stored_session(r: &Row<'_>) -> rusqlite::Result<StoredSession> {
    let modified_ms: i64 = r.get(3)?;
    let hidden: Option<String> = r.get(16)?;
    let (agent, path, id): (String, String, String) = (r.get(6)?, r.get(8)?, r.get(9)?);
    let (cwd, format): (String, String) = (r.get(10)?, r.get(2)?);
    let (name, first): (Option<String>, Option<String>) = (r.get(11)?, r.get(15)?);
    let first_message = first.unwrap_or_else(|| "(no messages)".into());
    let named = name.clone().filter(|name| !name.is_empty());
    let title = named
        .or(r.get(28)?)
        .unwrap_or_else(|| first_message.clone());
    let gone_ms: Option<i64> = r.get(34)?;
    let own = r.get_ref(26)?.as_str_or_null().ok().flatten();
    let resume = may_resume(r, &agent, hidden.is_none())?
        .then(|| resume(&agent, &format, &path, (&id, own), &cwd))
        .flatten();
    let created_ms: Option<i64> = r.get(13)?;
    Ok(StoredSession {
        session: r.get(0)?,
        base: base(r.get(31)?, r.get(32)?),
        format,
        version: r.get(5)?,
        row: SessionRow {
            agent,
            label: r.get(7)?,
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
            thinking_level: r.get(30)?,
            archived: gone_ms.is_some(),
            gone_since: gone_ms.and_then(crate::model::iso),
            gone_since_ms: gone_ms,
            own: own.and_then(|own| serde_json::from_str(own).ok()),
        },
    })
}

/// Whether its agent takes the session up again, which it lists or not. It finds nothing of one
/// whose file is gone.
fn may_resume(r: &Row<'_>, agent: &str, is_listed: bool) -> rusqlite::Result<bool> {
    let (is_subagent, gone_ms): (bool, Option<i64>) = (r.get(33)?, r.get(34)?);
    let resumes_unlisted = || agent_called(agent).is_some_and(|agent| agent.resumes_unlisted);
    Ok(gone_ms.is_none() && (is_listed || !is_subagent && resumes_unlisted()))
}

fn base(session: Option<String>, end: Option<i64>) -> Option<Base> {
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
    let place = |relative| -> rusqlite::Result<Place> {
        Ok(Place {
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
    Ok(archived.unwrap_or_else(|| root.join(relative).into()))
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
