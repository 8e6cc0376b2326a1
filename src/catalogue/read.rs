//! Every SELECT that answers a question.

use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::{OptionalExtension, Row, params};

use super::open::{Catalogue, Error};
use super::write::key_range;
use crate::model::{Call, Compaction, FileTouch, Label, SessionRow, Usage};
use crate::source::checkpoint::{Proof, Stored};
use crate::source::identity::Identity;

/// A source as stored.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Known {
    pub source: i64,
    pub relative: String,
    pub stored: Stored,
    pub unlisted: Option<String>,
    pub unread: bool,
}

/// From where a changed source is read on.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// Proof of the bytes that were read.
    pub proof: Proof,
    /// Saved fold, JSON.
    pub fold: String,
}

/// A session as stored: its number and its list row.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct StoredSession {
    pub session: i64,
    pub format: String,
    pub created_ms: Option<i64>,
    pub modified_ms: i64,
    pub file_ms: i64,
    pub row: SessionRow,
}

/// An entry as stored.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct StoredEntry {
    pub key: i64,
    pub source: i64,
    pub start: u64,
    pub length: u64,
    pub line: u64,
    pub hash: u64,
    pub kind: String,
    pub role: Option<String>,
    pub id: Option<String>,
    pub parent: Option<String>,
    pub time_ms: Option<i64>,
    pub agent_sees: bool,
    pub flags: i64,
    pub stop_reason: Option<String>,
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
    pub agent: String,
    pub path: PathBuf,
    pub error: Option<String>,
    pub files: u64,
    pub sessions: u64,
    pub newest_ms: Option<i64>,
}

const ENTRY: &str = "key, source, start, length, line, hash, kind, role, id, parent, time_ms, agent_sees, flags, stop_reason";

impl Catalogue {
    /// Take one snapshot for all that follows, until [`Catalogue::end_snapshot`].
    pub fn snapshot(&self) -> Result<(), Error> {
        // A deferred transaction holds a snapshot from its first read on.
        self.told(self.connection.execute_batch("BEGIN; SELECT 1 FROM _store"))
    }

    /// Let the snapshot go.
    pub fn end_snapshot(&self) {
        self.rollback();
    }

    /// All sources of a root, sorted by path.
    pub fn known_sources(&self, root: i64) -> Result<Vec<Known>, Error> {
        let run = || -> rusqlite::Result<Vec<Known>> {
            // Along the table and sorted here: by the index on paths each row would be looked up for itself.
            let mut known: Vec<Known> = self
                .connection
                .prepare_cached(&format!(
                    "SELECT {KNOWN} FROM _sources NOT INDEXED WHERE root = ?1"
                ))?
                .query_map([root], self::known)?
                .collect::<Result<_, _>>()?;
            known.sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
            Ok(known)
        };
        self.told(run())
    }

    /// The checkpoint of a source.
    pub fn checkpoint(&self, source: i64) -> Result<Option<Checkpoint>, Error> {
        self.told(
            self.connection
                .prepare_cached("SELECT proof, fold FROM _checkpoints WHERE source = ?1")
                .and_then(|mut s| {
                    s.query_row([source], |r| {
                        Ok(Checkpoint {
                            proof: Proof::from_bytes(r.get_ref(0)?.as_blob().unwrap_or_default()),
                            fold: r.get(1)?,
                        })
                    })
                    .optional()
                }),
        )
    }

    /// Files below a root that are no source, and why; sorted by path.
    pub fn strays(&self, root: i64) -> Result<Vec<(String, String)>, Error> {
        let run = || -> rusqlite::Result<Vec<(String, String)>> {
            self.connection
                .prepare_cached(
                    "SELECT relative, reason FROM _strays WHERE root = ?1 ORDER BY relative",
                )?
                .query_map([root], |r| Ok((r.get(0)?, r.get(1)?)))?
                .collect()
        };
        self.told(run())
    }

    /// The format and label a root was last scanned with.
    pub fn root_is(&self, root: i64) -> Result<(String, Option<String>, bool), Error> {
        self.told(self.connection.query_row(
            "SELECT format, label, flat FROM _roots WHERE root = ?1",
            [root],
            |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)),
        ))
    }

    /// Number of a root, if it was ever scanned.
    pub fn root_of(&self, agent: &str, path: &std::path::Path) -> Result<Option<i64>, Error> {
        self.told(
            self.connection
                .query_row(
                    "SELECT root FROM _roots WHERE host = '' AND agent = ?1 AND path = ?2",
                    params![agent, path.to_string_lossy()],
                    |r| r.get(0),
                )
                .optional(),
        )
    }

    /// Every working directory that a session names.
    pub fn working_directories(&self) -> Result<Vec<String>, Error> {
        let run = || -> rusqlite::Result<Vec<String>> {
            self.connection
                .prepare_cached("SELECT DISTINCT cwd FROM _sessions WHERE cwd <> ''")?
                .query_map([], |r| r.get(0))?
                .collect()
        };
        self.told(run())
    }

    /// Numbers of all roots ever scanned.
    pub fn root_numbers(&self) -> Result<Vec<i64>, Error> {
        let run = || -> rusqlite::Result<Vec<i64>> {
            self.connection
                .prepare_cached("SELECT root FROM _roots")?
                .query_map([], |r| r.get(0))?
                .collect()
        };
        self.told(run())
    }

    /// The device a root was on when it was last read.
    pub fn root_device(&self, root: i64) -> Result<Option<i64>, Error> {
        self.told(self.connection.query_row(
            "SELECT device FROM _roots WHERE root = ?1",
            [root],
            |r| r.get(0),
        ))
    }

    /// All sessions of these roots, those the agent lists first; each agent's order.
    pub fn sessions(&self, roots: &[i64]) -> Result<Vec<StoredSession>, Error> {
        let list = numbers(roots);
        let query = format!("{SESSION} WHERE s.root IN ({list})");
        let run = || -> rusqlite::Result<Vec<StoredSession>> {
            self.connection
                .prepare_cached(&query)?
                .query_map([], stored_session)?
                .collect()
        };
        self.told(run())
    }

    /// Sessions by number.
    pub fn sessions_by_number(&self, sessions: &[i64]) -> Result<Vec<StoredSession>, Error> {
        let query = format!("{SESSION} WHERE s.session IN ({})", numbers(sessions));
        let run = || -> rusqlite::Result<Vec<StoredSession>> {
            self.connection
                .prepare(&query)?
                .query_map([], stored_session)?
                .collect()
        };
        self.told(run())
    }

    /// Entries of a session in file order, source by source.
    pub fn entries(&self, session: i64) -> Result<Vec<StoredEntry>, Error> {
        let (low, high) = key_range(session);
        let run = || -> rusqlite::Result<Vec<StoredEntry>> {
            self.connection
                .prepare_cached(&format!(
                    "SELECT {ENTRY} FROM _entries WHERE key BETWEEN ?1 AND ?2 ORDER BY source, start"
                ))?
                .query_map([low, high], stored_entry)?
                .collect()
        };
        self.told(run())
    }

    /// All entries of one source in file order.
    pub fn entries_of_source(&self, source: i64) -> Result<Vec<StoredEntry>, Error> {
        let run = || -> rusqlite::Result<Vec<StoredEntry>> {
            let sessions: Vec<i64> = self
                .connection
                .prepare_cached("SELECT session FROM _session_sources WHERE source = ?1")?
                .query_map([source], |r| r.get(0))?
                .collect::<Result<_, _>>()?;
            let mut all = Vec::new();
            for session in sessions {
                let (low, high) = key_range(session);
                let found: Vec<StoredEntry> = self
                    .connection
                    .prepare_cached(&format!(
                        "SELECT {ENTRY} FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY start"
                    ))?
                    .query_map([low, high, source], stored_entry)?
                    .collect::<Result<_, _>>()?;
                all.extend(found);
            }
            Ok(all)
        };
        self.told(run())
    }

    /// The child rows of an entry.
    #[allow(clippy::type_complexity)]
    pub fn children(
        &self,
        key: i64,
    ) -> Result<
        (
            Vec<Call>,
            Option<Usage>,
            Vec<FileTouch>,
            Option<Label>,
            Option<Compaction>,
        ),
        Error,
    > {
        let run = || -> rusqlite::Result<_> {
            let c = &self.connection;
            let calls = c
                .prepare_cached(
                    "SELECT call_id, tool, is_result, is_error, subject, duration_ms FROM _calls WHERE key = ?1 ORDER BY ordinal",
                )?
                .query_map([key], |r| {
                    Ok(Call {
                        call_id: r.get(0)?,
                        tool: r.get(1)?,
                        is_result: r.get(2)?,
                        is_error: r.get(3)?,
                        subject: r.get(4)?,
                        duration_ms: r.get(5)?,
                    })
                })?
                .collect::<Result<Vec<_>, _>>()?;
            let usage = c
                .prepare_cached(
                    "SELECT provider, model, response_id, input, output, cache_read, cache_write, reasoning, total,
                            cost_input, cost_output, cost_cache_read, cost_cache_write, cost_total FROM _usage WHERE key = ?1",
                )?
                .query_row([key], |r| {
                    Ok(Usage {
                        provider: r.get(0)?,
                        model: r.get(1)?,
                        response_id: r.get(2)?,
                        input: r.get(3)?,
                        output: r.get(4)?,
                        cache_read: r.get(5)?,
                        cache_write: r.get(6)?,
                        reasoning: r.get(7)?,
                        total: r.get(8)?,
                        cost_input: r.get(9)?,
                        cost_output: r.get(10)?,
                        cost_cache_read: r.get(11)?,
                        cost_cache_write: r.get(12)?,
                        cost_total: r.get(13)?,
                    })
                })
                .optional()?;
            let files = c
                .prepare_cached(
                    "SELECT path, modified FROM _files WHERE key = ?1 ORDER BY ordinal",
                )?
                .query_map([key], |r| {
                    Ok(FileTouch {
                        path: r.get(0)?,
                        modified: r.get(1)?,
                    })
                })?
                .collect::<Result<Vec<_>, _>>()?;
            let label = c
                .prepare_cached("SELECT target, text FROM _labels WHERE key = ?1")?
                .query_row([key], |r| {
                    Ok(Label {
                        target: r.get(0)?,
                        text: r.get(1)?,
                    })
                })
                .optional()?;
            let compaction = c
                .prepare_cached(
                    "SELECT first_kept, tokens_before FROM _compactions WHERE key = ?1",
                )?
                .query_row([key], |r| {
                    Ok(Compaction {
                        first_kept: r.get(0)?,
                        tokens_before: r.get(1)?,
                    })
                })
                .optional()?;
            Ok((calls, usage, files, label, compaction))
        };
        self.told(run())
    }

    /// Rows that belong to nothing.
    pub fn orphans(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        for (table, owner, what) in [
            (
                "_entries",
                "key >> 24 IN (SELECT session FROM _sessions) AND source IN (SELECT source FROM _sources)",
                "session or source",
            ),
            ("_calls", "key IN (SELECT key FROM _entries)", "entry"),
            ("_usage", "key IN (SELECT key FROM _entries)", "entry"),
            ("_files", "key IN (SELECT key FROM _entries)", "entry"),
            ("_labels", "key IN (SELECT key FROM _entries)", "entry"),
            ("_compactions", "key IN (SELECT key FROM _entries)", "entry"),
            (
                "_problems",
                "source IN (SELECT source FROM _sources)",
                "source",
            ),
            (
                "_rows",
                "session IN (SELECT session FROM _sessions)",
                "session",
            ),
            (
                "_checkpoints",
                "source IN (SELECT source FROM _sources)",
                "source",
            ),
            (
                "_sessions",
                "session IN (SELECT session FROM _session_sources)",
                "source",
            ),
            (
                "_sources",
                "source IN (SELECT source FROM _session_sources)",
                "session",
            ),
            (
                "_session_sources",
                "source IN (SELECT source FROM _sources) AND session IN (SELECT session FROM _sessions)",
                "session or source",
            ),
            (
                "_sessions",
                "root IN (SELECT s.root FROM _session_sources ss JOIN _sources s USING (source)
                          WHERE ss.session = _sessions.session)",
                "root that holds its sources",
            ),
            ("_strays", "root IN (SELECT root FROM _roots)", "root"),
            ("_folders", "root IN (SELECT root FROM _roots)", "root"),
            (
                "_calls",
                "ordinal < (SELECT count(*) FROM _calls c WHERE c.key = _calls.key)",
                "place in its entry",
            ),
            (
                "_files",
                "ordinal < (SELECT count(*) FROM _files f WHERE f.key = _files.key)",
                "place in its entry",
            ),
        ] {
            let rows: i64 = self.told(self.connection.query_row(
                &format!("SELECT count(*) FROM {table} WHERE NOT ({owner})"),
                [],
                |r| r.get(0),
            ))?;
            if rows > 0 {
                found.push(format!("{rows} rows of {table} belong to no {what}"));
            }
        }
        Ok(found)
    }

    /// Entries of one source whose keys lie in `first..=last`, in file order.
    pub fn entries_between(
        &self,
        source: i64,
        first: i64,
        last: i64,
    ) -> Result<Vec<StoredEntry>, Error> {
        let run = || -> rusqlite::Result<Vec<StoredEntry>> {
            self.connection
                .prepare_cached(&format!(
                    "SELECT {ENTRY} FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY start"
                ))?
                .query_map(params![first, last, source], stored_entry)?
                .collect()
        };
        self.told(run())
    }

    /// Entries of these sessions that are provisional: they live in the overlay only.
    pub fn provisional_entries(&self) -> Result<Vec<StoredEntry>, Error> {
        let run = || -> rusqlite::Result<Vec<StoredEntry>> {
            // A provisional entry is the last of a source whose end is not consumed. CROSS JOIN keeps this order: the
            // planner would begin with all entries.
            self.connection
                .prepare_cached(
                    "SELECT e.key, e.source, e.start, e.length, e.line, e.hash, e.kind, e.role, e.id, e.parent, e.time_ms, e.agent_sees, e.flags, e.stop_reason
                     FROM _sources s CROSS JOIN _session_sources ss USING (source)
                       CROSS JOIN _entries e ON e.key BETWEEN ss.session << 24 AND (ss.session << 24) + 16777215
                         AND e.source = s.source AND e.flags & 1
                     WHERE s.consumed < s.size",
                )?
                .query_map([], stored_entry)?
                .collect()
        };
        self.told(run())
    }

    /// One entry.
    pub fn entry(&self, key: i64) -> Result<Option<StoredEntry>, Error> {
        self.told(
            self.connection
                .prepare_cached(&format!("SELECT {ENTRY} FROM _entries WHERE key = ?1"))
                .and_then(|mut s| s.query_row([key], stored_entry).optional()),
        )
    }

    /// Tools called or answered by an entry.
    pub fn tools(&self, key: i64) -> Result<Vec<String>, Error> {
        let run = || -> rusqlite::Result<Vec<String>> {
            self.connection
                .prepare_cached("SELECT DISTINCT tool FROM _calls WHERE key = ?1 AND tool IS NOT NULL ORDER BY ordinal")?
                .query_map([key], |r| r.get(0))?
                .collect()
        };
        self.told(run())
    }

    /// The same for a range of keys.
    pub fn tools_between(&self, first: i64, last: i64) -> Result<HashMap<i64, Vec<String>>, Error> {
        let run = || -> rusqlite::Result<HashMap<i64, Vec<String>>> {
            let mut tools: HashMap<i64, Vec<String>> = HashMap::new();
            let mut statement = self
                .connection
                .prepare_cached("SELECT key, tool FROM _calls WHERE key BETWEEN ?1 AND ?2 AND tool IS NOT NULL ORDER BY key, ordinal")?;
            let mut rows = statement.query([first, last])?;
            while let Some(row) = rows.next()? {
                let of = tools.entry(row.get(0)?).or_default();
                let tool: String = row.get(1)?;
                if !of.contains(&tool) {
                    of.push(tool);
                }
            }
            Ok(tools)
        };
        self.told(run())
    }

    /// Path, format and file order of a source.
    pub fn source_place(&self, source: i64) -> Result<Option<(PathBuf, String)>, Error> {
        self.told(
            self.connection
                .prepare_cached(
                    "SELECT r.path, s.relative, r.format FROM _sources s JOIN _roots r USING (root) WHERE s.source = ?1",
                )
                .and_then(|mut s| {
                    s.query_row([source], |r| {
                        let root: String = r.get(0)?;
                        let relative: String = r.get(1)?;
                        Ok((PathBuf::from(root).join(relative), r.get(2)?))
                    })
                    .optional()
                }),
        )
    }

    /// Sources of a session.
    pub fn sources_of(&self, session: i64) -> Result<Vec<i64>, Error> {
        let run = || -> rusqlite::Result<Vec<i64>> {
            self.connection
                .prepare_cached(
                    "SELECT source FROM _session_sources JOIN _sources USING (source) WHERE session = ?1 ORDER BY relative",
                )?
                .query_map([session], |r| r.get(0))?
                .collect()
        };
        self.told(run())
    }

    /// Problems of a source in file order.
    pub fn problems(&self, source: i64) -> Result<Vec<StoredProblem>, Error> {
        let run = || -> rusqlite::Result<Vec<StoredProblem>> {
            self.connection
                .prepare_cached(
                    "SELECT start, length, provisional, reason FROM _problems WHERE source = ?1 ORDER BY start",
                )?
                .query_map([source], |r| {
                    Ok(StoredProblem {
                        start: r.get::<_, i64>(0)? as u64,
                        length: r.get::<_, i64>(1)? as u64,
                        provisional: r.get(2)?,
                        reason: r.get(3)?,
                    })
                })?
                .collect()
        };
        self.told(run())
    }

    /// Labels of a session in file order: target and text.
    pub fn labels(&self, session: i64) -> Result<Vec<(String, Option<String>)>, Error> {
        let (low, high) = key_range(session);
        let run = || -> rusqlite::Result<Vec<(String, Option<String>)>> {
            self.connection
                .prepare_cached(
                    "SELECT l.target, l.text FROM _labels l JOIN _entries e USING (key)
                     WHERE l.key BETWEEN ?1 AND ?2 AND e.agent_sees ORDER BY e.source, e.start",
                )?
                .query_map([low, high], |r| Ok((r.get(0)?, r.get(1)?)))?
                .collect()
        };
        self.told(run())
    }

    /// Path of the session that a session of the same root names by its id.
    pub fn path_of_id(&self, id: &str, beside: i64) -> Result<Option<String>, Error> {
        self.told(
            self.connection
                .prepare_cached(
                    "SELECT path FROM _sessions WHERE id = ?1 AND root = (SELECT root FROM _sessions WHERE session = ?2)
                     ORDER BY path",
                )
                .and_then(|mut s| s.query_row(params![id, beside], |r| r.get(0)).optional()),
        )
    }

    /// Paths of sessions of the same root that name `session` as their parent by its id.
    pub fn children_of_id(&self, id: &str, session: i64) -> Result<Vec<String>, Error> {
        let run = || -> rusqlite::Result<Vec<String>> {
            self.connection
                .prepare_cached(
                    "SELECT path FROM _sessions WHERE parent_session = ?1
                       AND root = (SELECT root FROM _sessions WHERE session = ?2) ORDER BY created_ms, path",
                )?
                .query_map(params![id, session], |r| r.get(0))?
                .collect()
        };
        self.told(run())
    }

    /// Paths of sessions whose header names `path` as their parent.
    pub fn forks_of(&self, path: &str) -> Result<Vec<String>, Error> {
        let run = || -> rusqlite::Result<Vec<String>> {
            self.connection
                .prepare_cached("SELECT path FROM _sessions WHERE parent_session = ?1 ORDER BY created_ms, path")?
                .query_map([path], |r| r.get(0))?
                .collect()
        };
        self.told(run())
    }

    /// The parent a session's header names, by the session's path.
    pub fn parent_of(&self, path: &str) -> Result<Option<String>, Error> {
        self.told(
            self.connection
                .query_row(
                    "SELECT parent_session FROM _sessions WHERE path = ?1",
                    [path],
                    |r| r.get(0),
                )
                .optional(),
        )
        .map(Option::flatten)
    }

    /// All roots with their counts.
    pub fn roots(&self) -> Result<Vec<StoredRoot>, Error> {
        let run = || -> rusqlite::Result<Vec<StoredRoot>> {
            self.connection
                .prepare_cached(
                    "SELECT r.agent, r.path, r.error,
                            (SELECT count(*) FROM _sources s WHERE s.root = r.root),
                            (SELECT count(*) FROM _sessions s WHERE s.root = r.root),
                            (SELECT max(modified_ms) FROM _sessions s WHERE s.root = r.root)
                     FROM _roots r ORDER BY r.root",
                )?
                .query_map([], |r| {
                    Ok(StoredRoot {
                        agent: r.get(0)?,
                        path: PathBuf::from(r.get::<_, String>(1)?),
                        error: r.get(2)?,
                        files: r.get::<_, i64>(3)? as u64,
                        sessions: r.get::<_, i64>(4)? as u64,
                        newest_ms: r.get(5)?,
                    })
                })?
                .collect()
        };
        self.told(run())
    }

    /// Sessions, entries, problems, bytes of all sources, last scan.
    pub fn totals(&self) -> Result<(u64, u64, u64, u64, Option<i64>), Error> {
        self.told(self.connection.query_row(
            "SELECT (SELECT count(*) FROM _sessions), (SELECT count(*) FROM _entries), (SELECT count(*) FROM problems),
                    (SELECT coalesce(sum(size), 0) FROM _sources), (SELECT last_scan_ms FROM _store)",
            [],
            |r| {
                Ok((
                    r.get::<_, i64>(0)? as u64,
                    r.get::<_, i64>(1)? as u64,
                    r.get::<_, i64>(2)? as u64,
                    r.get::<_, i64>(3)? as u64,
                    r.get(4)?,
                ))
            },
        ))
    }

    /// SQLite's own check of the file; `None` when all is well.
    pub fn integrity(&self) -> Result<Option<String>, Error> {
        let said: String = self.told(self.connection.query_row(
            "PRAGMA integrity_check(1)",
            [],
            |r| r.get(0),
        ))?;
        Ok((said != "ok").then_some(said))
    }
}

pub(super) const SESSION: &str = "SELECT s.session, s.root, r.format, s.modified_ms, s.file_ms, s.leaf,
        r.agent, r.label, s.path, s.id, s.cwd, s.name, s.parent_session, s.created_ms, s.messages, s.first_message,
        s.hidden, s.entries, s.problems, s.errors, s.provider, s.model, s.tokens, s.cost, s.listed_cost, s.bytes, s.own
 FROM _sessions s JOIN _roots r USING (root)";

pub(super) fn stored_session(r: &Row<'_>) -> rusqlite::Result<StoredSession> {
    let modified_ms: i64 = r.get(3)?;
    let hidden: Option<String> = r.get(16)?;
    Ok(StoredSession {
        session: r.get(0)?,
        format: r.get(2)?,
        created_ms: r.get(13)?,
        modified_ms,
        file_ms: r.get(4)?,
        row: SessionRow {
            agent: r.get(6)?,
            label: r.get(7)?,
            path: PathBuf::from(r.get::<_, String>(8)?),
            id: r.get(9)?,
            cwd: r.get(10)?,
            name: r.get(11)?,
            parent_session_path: r.get(12)?,
            created: r.get::<_, Option<i64>>(13)?.and_then(crate::model::iso),
            modified: crate::model::iso(modified_ms),
            message_count: r.get::<_, i64>(14)? as u64,
            first_message: r
                .get::<_, Option<String>>(15)?
                .unwrap_or_else(|| "(no messages)".into()),
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
            own: match r.get_ref(26)?.as_str_or_null() {
                Ok(Some(own)) => serde_json::from_str(own).ok(),
                _ => None,
            },
        },
    })
}

/// Columns of a [`Known`] source.
pub(super) const KNOWN: &str =
    "source, relative, device, inode, size, mtime_ns, ctime_ns, racy, revision, consumed,
    unlisted, unread IS NOT NULL";

pub(super) fn known(r: &Row<'_>) -> rusqlite::Result<Known> {
    Ok(Known {
        source: r.get(0)?,
        relative: r.get(1)?,
        stored: Stored {
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
        },
        unlisted: r.get(10)?,
        unread: r.get(11)?,
    })
}

fn stored_entry(r: &Row<'_>) -> rusqlite::Result<StoredEntry> {
    Ok(StoredEntry {
        key: r.get(0)?,
        source: r.get(1)?,
        start: r.get::<_, i64>(2)? as u64,
        length: r.get::<_, i64>(3)? as u64,
        line: r.get::<_, i64>(4)? as u64,
        hash: r.get::<_, i64>(5)? as u64,
        kind: r.get(6)?,
        role: r.get(7)?,
        id: r.get(8)?,
        parent: r.get(9)?,
        time_ms: r.get(10)?,
        agent_sees: r.get(11)?,
        flags: r.get(12)?,
        stop_reason: r.get(13)?,
    })
}

fn numbers(list: &[i64]) -> String {
    list.iter()
        .map(i64::to_string)
        .collect::<Vec<_>>()
        .join(",")
}
