//! The only INSERT, UPDATE and DELETE of source, session and entry rows.

use rusqlite::{OptionalExtension, params};

pub use super::insert::Inserts;
use super::open::{Catalogue, Error};
use crate::format::{Format, Shape, SourceFacts};
use crate::model::{Facts, Fold, Part, SessionFacts};
use crate::source::checkpoint::Proof;
use crate::source::identity::{Identity, nearest_ms};

/// Bits of a key that count arrivals within a session.
pub const ARRIVAL_BITS: u32 = 24;
/// Entries a session may ever have had.
pub const MOST_ARRIVALS: i64 = 1 << ARRIVAL_BITS;
/// Changes kept for those who poll.
const CHANGES_KEPT: i64 = 100_000;

/// Flags of an entry row.
pub mod flag {
    /// The final newline is missing; not given to the words yet.
    pub const PROVISIONAL: i64 = 1;
    /// Reports an error.
    pub const ERROR: i64 = 2;
    /// Holds an image.
    pub const IMAGE: i64 = 4;
    /// One of several values on one line.
    pub const FUSED: i64 = 8;
    /// A tool answers in it: the words get it with the output, everything else with the prose.
    pub const ANSWER: i64 = 16;
    /// Not all of its text is searched.
    pub const CUT: i64 = 32;
}

/// One entry on its way into the catalogue.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct EntryRow {
    pub start: u64,
    pub length: u64,
    /// Physical line, from 1.
    pub line: u64,
    pub hash: u64,
    pub flags: i64,
    pub facts: Facts,
}

/// Bytes that are no entry.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct ProblemRow {
    pub start: u64,
    pub length: u64,
    pub provisional: bool,
    pub reason: String,
}

/// Where the entries of a chunk go as they are read: into [`Inserts`] for the catalogue, or into a
/// plain list to be compared with it.
pub trait Entries: Default {
    /// The next entry in file order.
    fn add(&mut self, entry: EntryRow);
    /// Bytes of memory they take, about; 0 where nothing has to be bounded.
    fn bytes(&self) -> usize;
}

impl Entries for Vec<EntryRow> {
    fn add(&mut self, entry: EntryRow) {
        self.push(entry);
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// Some of a source, in order: rows and the state that is true once they are in.
pub struct Chunk<E> {
    /// Root and path of the source.
    pub root: i64,
    /// See `root`.
    pub relative: String,
    /// Key of the session below the root, and which part of it the source is.
    pub place: String,
    /// See `place`.
    pub part: Part,
    /// Why the agent would not list a session at this path.
    pub unlisted: Option<String>,
    /// On a source's first chunk: forget all rows from this offset on.
    pub forget_from: Option<u64>,
    /// New entries in file order.
    pub entries: E,
    /// New problems in file order.
    pub problems: Vec<ProblemRow>,
    /// Identity as observed before reading. Kept back until the last chunk.
    pub identity: Identity,
    /// See [`Identity::is_racy`].
    pub racy: bool,
    /// Revision of the format.
    pub revision: u32,
    /// Byte up to which all is catalogued for good.
    pub consumed: u64,
    /// Proof of those bytes.
    pub proof: Proof,
    /// Fold over the entries before `consumed`.
    pub fold: Fold,
    /// Fold including a provisional entry, for the session's row.
    pub shown: Fold,
    /// Whether this is the last chunk of the source.
    pub last: bool,
}

impl Catalogue {
    /// Begin the one write transaction.
    pub fn begin(&self) -> Result<(), Error> {
        self.told(self.connection.execute_batch("BEGIN IMMEDIATE"))
    }

    /// Commit it.
    pub fn commit(&self) -> Result<(), Error> {
        self.told(self.connection.execute_batch("COMMIT"))
    }

    /// Undo it, if there is one.
    pub fn rollback(&self) {
        if !self.connection.is_autocommit() {
            // Nothing is lost when this fails: closing the connection rolls back too.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// The row of a root, made or brought up to date.
    pub fn ensure_root(&self, root: &crate::index::RootSpec) -> Result<i64, Error> {
        self.told(
            self.connection
                .prepare_cached(
                    "INSERT INTO _roots (host, agent, format, label, path, flat) VALUES ('', ?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (host, agent, path) DO UPDATE SET format = ?2, label = ?3, flat = ?5
                     WHERE format IS NOT ?2 OR label IS NOT ?3 OR flat IS NOT ?5",
                )
                .and_then(|mut s| {
                    s.execute(params![root.agent, root.format, root.label, root.path.to_string_lossy(), root.flat])
                }),
        )?;
        let root = self.root_of(&root.agent, &root.path)?;
        self.told(root.ok_or(rusqlite::Error::QueryReturnedNoRows))
    }

    /// What the last scan found of a root as a whole.
    pub fn note_root(
        &self,
        root: i64,
        device: i64,
        error: Option<&str>,
        strays: &[(String, String)],
    ) -> Result<(), Error> {
        let run = || -> rusqlite::Result<()> {
            self.connection.execute(
                "UPDATE _roots SET error = ?2, device = CASE WHEN ?2 IS NULL THEN ?3 ELSE device END
                 WHERE root = ?1 AND (error IS NOT ?2 OR (?2 IS NULL AND device IS NOT ?3))",
                params![root, error, device],
            )?;
            if error.is_some() {
                return Ok(());
            }
            let known: Vec<(String, String)> = self
                .connection
                .prepare_cached(
                    "SELECT relative, reason FROM _strays WHERE root = ?1 ORDER BY relative",
                )?
                .query_map([root], |r| Ok((r.get(0)?, r.get(1)?)))?
                .collect::<Result<_, _>>()?;
            if known != strays {
                self.connection
                    .execute("DELETE FROM _strays WHERE root = ?1", [root])?;
                let mut add = self
                    .connection
                    .prepare_cached("INSERT OR REPLACE INTO _strays VALUES (?1, ?2, ?3)")?;
                for (relative, reason) in strays {
                    add.execute(params![root, relative, reason])?;
                }
            }
            Ok(())
        };
        self.told(run())
    }

    /// A file below a root that is no source, or could not be read.
    pub fn note_stray(&self, root: i64, relative: &str, reason: &str) -> Result<(), Error> {
        self.told(self.connection.execute(
            "INSERT OR REPLACE INTO _strays VALUES (?1, ?2, ?3)",
            params![root, relative, reason],
        ))
        .map(|_| ())
    }

    /// Note that a full scan ended.
    ///
    /// A scan that changed nothing moves the time by whole minutes only: a look must not cost a write.
    pub fn note_scan(&self, now_ms: i64, changed: bool) -> Result<(), Error> {
        let run = || -> rusqlite::Result<()> {
            self.connection.execute(
                "UPDATE _store SET last_scan_ms = ?1 WHERE ?2 OR last_scan_ms IS NULL OR last_scan_ms < ?1 - 60000",
                params![now_ms, changed],
            )?;
            if !changed {
                return Ok(());
            }
            self.connection.execute(
                "DELETE FROM _changes WHERE seq <= (SELECT max(seq) FROM _changes) - ?1",
                [CHANGES_KEPT],
            )?;
            Ok(())
        };
        self.told(run())
    }

    /// Only the identity of an unchanged source moved (touched, or racy before).
    pub fn note_identity(&self, source: i64, identity: &Identity, racy: bool) -> Result<(), Error> {
        self.told(
            self.connection
                .prepare_cached(
                    "UPDATE _sources SET device = ?2, inode = ?3, size = ?4, mtime_ns = ?5, ctime_ns = ?6, racy = ?7,
                     unread = NULL WHERE source = ?1",
                )
                .and_then(|mut s| {
                    s.execute(params![
                        source,
                        identity.device,
                        identity.inode,
                        identity.size as i64,
                        identity.mtime_ns,
                        identity.ctime_ns,
                        racy
                    ])
                }),
        )
        .map(|_| ())
    }

    /// A known source that could not be read: its rows stay.
    pub fn note_unread(&self, source: i64, reason: &str) -> Result<(), Error> {
        self.told(self.connection.execute(
            "UPDATE _sources SET unread = ?2 WHERE source = ?1",
            params![source, reason],
        ))
        .map(|_| ())
    }

    /// Add a chunk. Within the transaction. A session of many files is given back: its row is made once, by
    /// [`Catalogue::refold_session`], before the commit.
    ///
    /// # Errors
    /// [`Error::Full`] when the session has had more entries than its keys can count; nothing was written.
    pub fn apply(&self, chunk: &Chunk<Inserts>, format: &dyn Format) -> Result<Option<i64>, Error> {
        let arrivals = self.told(self.arrivals(chunk))?;
        if arrivals + chunk.entries.count() > MOST_ARRIVALS {
            return Err(Error::Full {
                relative: chunk.relative.clone(),
            });
        }
        self.told(self.apply_rows(chunk, format))
    }

    /// Arrivals that the chunk's session has had; none when it is about to get a number of its own again.
    fn arrivals(&self, chunk: &Chunk<Inserts>) -> rusqlite::Result<i64> {
        let c = &self.connection;
        let known: Option<(i64, i64)> = c
            .prepare_cached(
                "SELECT session, next_arrival FROM _sessions WHERE root = ?1 AND place = ?2",
            )?
            .query_row(params![chunk.root, chunk.place], |r| {
                Ok((r.get(0)?, r.get(1)?))
            })
            .optional()?;
        let Some((session, arrivals)) = known else {
            return Ok(0);
        };
        if arrivals < MOST_ARRIVALS / 2 || chunk.forget_from != Some(0) {
            return Ok(arrivals);
        }
        // A file rewritten over and over: its session starts again under a new number.
        let sources: Vec<i64> = c
            .prepare_cached("SELECT source FROM _session_sources WHERE session = ?1")?
            .query_map([session], |r| r.get(0))?
            .collect::<Result<_, _>>()?;
        let [source] = sources[..] else {
            return Ok(arrivals);
        };
        self.forget(source, session, 0)?;
        c.execute("DELETE FROM _session_sources WHERE session = ?1", [session])?;
        c.execute("DELETE FROM _sessions WHERE session = ?1", [session])?;
        c.execute("DELETE FROM _rows WHERE session = ?1", [session])?;
        Ok(0)
    }

    fn apply_rows(
        &self,
        chunk: &Chunk<Inserts>,
        format: &dyn Format,
    ) -> rusqlite::Result<Option<i64>> {
        let c = &self.connection;
        // Until the last chunk is in, the stored identity matches no file: the next scan resumes.
        let identity = if chunk.last {
            chunk.identity
        } else {
            Identity {
                size: chunk.consumed,
                mtime_ns: 0,
                ctime_ns: 0,
                ..chunk.identity
            }
        };
        let fold = serde_json::to_string(&chunk.fold)
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        let source: i64 = c
            .prepare_cached(
                "INSERT INTO _sources (root, relative, device, inode, size, mtime_ns, ctime_ns, racy, revision, consumed,
                                       unlisted)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                 ON CONFLICT (root, relative) DO UPDATE SET device = ?3, inode = ?4, size = ?5, mtime_ns = ?6, ctime_ns = ?7,
                     racy = ?8, revision = ?9, consumed = ?10, unlisted = ?11, unread = NULL
                 RETURNING source",
            )?
            .query_row(
                params![
                    chunk.root,
                    chunk.relative,
                    identity.device,
                    identity.inode,
                    identity.size as i64,
                    identity.mtime_ns,
                    identity.ctime_ns,
                    chunk.racy,
                    chunk.revision,
                    chunk.consumed as i64,
                    chunk.unlisted
                ],
                |r| r.get(0),
            )?;
        c.prepare_cached("INSERT OR REPLACE INTO _checkpoints VALUES (?1, ?2, ?3)")?
            .execute(params![source, chunk.proof.to_bytes(), fold])?;
        let (session, arrival) = self.ensure_session(chunk, source)?;
        if let Some(from) = chunk.forget_from {
            self.forget(source, session, from)?;
        }
        let first_key = session << ARRIVAL_BITS | arrival;
        chunk.entries.run(c, first_key, source)?;
        for problem in &chunk.problems {
            c.prepare_cached("INSERT OR REPLACE INTO _problems VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute(params![
                    source,
                    problem.start as i64,
                    problem.length as i64,
                    problem.provisional,
                    problem.reason
                ])?;
        }
        self.queue(source, first_key, chunk)?;
        c.prepare_cached("UPDATE _sessions SET next_arrival = ?2 WHERE session = ?1")?
            .execute(params![session, arrival + chunk.entries.count()])?;
        if format.shape() == Shape::Document {
            return Ok(Some(session));
        }
        if chunk.last {
            self.refold(session, format, Some((source, &chunk.shown)))?;
        }
        Ok(None)
    }

    /// The session's row and its next arrival.
    fn ensure_session(&self, chunk: &Chunk<Inserts>, source: i64) -> rusqlite::Result<(i64, i64)> {
        let c = &self.connection;
        let known = c
            .prepare_cached(
                "SELECT session, next_arrival FROM _sessions WHERE root = ?1 AND place = ?2",
            )?
            .query_row(params![chunk.root, chunk.place], |r| {
                Ok((r.get(0)?, r.get(1)?))
            })
            .optional()?;
        let (session, arrival) = match known {
            Some(known) => known,
            None => {
                let session = c
                    .prepare_cached(
                        "INSERT INTO _sessions (root, place, next_arrival, id, cwd, modified_ms, file_ms, messages, entries,
                                                problems, errors, bytes, path)
                         VALUES (?1, ?2, 0, '', '', 0, 0, 0, 0, 0, 0, 0, '') RETURNING session",
                    )?
                    .query_row(params![chunk.root, chunk.place], |r| r.get::<_, i64>(0))?;
                (session, 0)
            }
        };
        c.prepare_cached("INSERT OR IGNORE INTO _session_sources VALUES (?1, ?2, ?3)")?
            .execute(params![session, source, part_name(chunk.part)])?;
        Ok((session, arrival))
    }

    /// Outbox rows for the chunk's entries.
    fn queue(&self, source: i64, first: i64, chunk: &Chunk<Inserts>) -> rusqlite::Result<()> {
        let newest_ms = chunk
            .shown
            .last_entry_ms
            .unwrap_or_else(|| chunk.identity.mtime_ms());
        let mut add = self.connection.prepare_cached(
            "INSERT INTO _outbox (source, first, last, answers, bytes, newest_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for run in chunk.entries.owed() {
            for answers in [false, true] {
                add.execute((
                    source,
                    first + run.first,
                    first + run.last,
                    answers,
                    run.bytes,
                    newest_ms,
                ))?;
            }
        }
        Ok(())
    }

    /// Forget the rows of a source from an offset on.
    fn forget(&self, source: i64, session: i64, from: u64) -> rusqlite::Result<()> {
        let c = &self.connection;
        let (low, high) = key_range(session);
        let keys: Vec<(i64, bool)> = c
            .prepare_cached(
                "SELECT key, flags & 1 FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 AND start >= ?4 ORDER BY key",
            )?
            .query_map(params![low, high, source, from as i64], |r| Ok((r.get(0)?, r.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (first, last) in runs(keys.iter().map(|k| k.0)) {
            for table in [
                "_entries",
                "_calls",
                "_usage",
                "_files",
                "_labels",
                "_compactions",
            ] {
                c.prepare_cached(&format!("DELETE FROM {table} WHERE key BETWEEN ?1 AND ?2"))?
                    .execute(params![first, last])?;
            }
            c.prepare_cached(
                "DELETE FROM _outbox WHERE source = ?1 AND first >= ?2 AND last <= ?3",
            )?
            .execute(params![source, first, last])?;
        }
        // Provisional entries were never given to the words.
        for (first, last) in runs(keys.iter().filter(|k| !k.1).map(|k| k.0)) {
            c.prepare_cached("INSERT INTO _dead (first, last) VALUES (?1, ?2)")?
                .execute(params![first, last])?;
        }
        c.prepare_cached("DELETE FROM _problems WHERE source = ?1 AND start >= ?2")?
            .execute(params![source, from as i64])?;
        Ok(())
    }

    /// A source is gone: its rows go, and its session when that was its last source. Whether one went, and the
    /// sessions that lost it and whose rows are to be made again by [`Catalogue::refold_session`].
    pub fn remove_source(&self, source: i64) -> Result<(bool, Vec<i64>), Error> {
        let run = || -> rusqlite::Result<(bool, Vec<i64>)> {
            let c = &self.connection;
            let sessions: Vec<i64> = c
                .prepare_cached("SELECT session FROM _session_sources WHERE source = ?1")?
                .query_map([source], |r| r.get(0))?
                .collect::<Result<_, _>>()?;
            let (mut vanished, mut left_over) = (false, Vec::new());
            for session in sessions {
                self.forget(source, session, 0)?;
                c.execute(
                    "DELETE FROM _session_sources WHERE session = ?1 AND source = ?2",
                    params![session, source],
                )?;
                let left: i64 = c.query_row(
                    "SELECT count(*) FROM _session_sources WHERE session = ?1",
                    [session],
                    |r| r.get(0),
                )?;
                if left == 0 {
                    c.execute(
                        "INSERT INTO _changes (session, what, id, path) SELECT session, 'gone', id, path FROM _sessions WHERE session = ?1",
                        [session],
                    )?;
                    c.execute("DELETE FROM _sessions WHERE session = ?1", [session])?;
                    c.execute("DELETE FROM _rows WHERE session = ?1", [session])?;
                    vanished = true;
                } else {
                    left_over.push(session);
                }
            }
            c.execute("DELETE FROM _outbox WHERE source = ?1", [source])?;
            c.execute("DELETE FROM _sources WHERE source = ?1", [source])?;
            c.execute("DELETE FROM _checkpoints WHERE source = ?1", [source])?;
            Ok((vanished, left_over))
        };
        self.told(run())
    }

    /// Make the session's row from the folds of its sources. `fresh` is a fold newer than the stored one.
    fn refold(
        &self,
        session: i64,
        format: &dyn Format,
        fresh: Option<(i64, &Fold)>,
    ) -> rusqlite::Result<()> {
        let Some(made) = self.make_session(session, format, fresh)? else {
            return Ok(());
        };
        let c = &self.connection;
        let s = &made.facts;
        c.prepare_cached(
            "UPDATE _sessions SET id = ?2, cwd = ?3, name = ?4, parent_session = ?5, created_raw = ?6, created_ms = ?7,
                 modified_ms = ?8, file_ms = ?9, messages = ?10, first_message = ?11, entries = ?12, problems = ?13, errors = ?14,
                 version = ?15, leaf = ?16, provider = ?17, model = ?18, tokens = ?19, cost = ?20, listed_cost = ?21,
                 bytes = ?22, hidden = ?23, path = ?24, own = ?25
             WHERE session = ?1",
        )?
        .execute(params![
            session,
            s.id,
            s.cwd,
            s.name,
            s.parent_session,
            s.created_raw,
            s.created_ms,
            s.modified_ms,
            made.file_ms,
            s.message_count as i64,
            s.first_message,
            s.entry_count as i64,
            made.problems,
            s.error_count as i64,
            s.version,
            s.leaf,
            s.provider,
            s.model,
            s.tokens,
            s.cost,
            s.listed_cost,
            made.bytes,
            s.hidden,
            made.path,
            s.own
        ])?;
        c.prepare_cached(
            "INSERT INTO _changes (session, what, id, path) VALUES (?1, 'changed', ?2, ?3)",
        )?
        .execute(params![session, s.id, made.path])?;
        self.make_ready(session)
    }

    /// What the session's row must say.
    fn make_session(
        &self,
        session: i64,
        format: &dyn Format,
        fresh: Option<(i64, &Fold)>,
    ) -> rusqlite::Result<Option<Made>> {
        struct Row {
            relative: String,
            mtime_ns: i64,
            size: i64,
            fold: Fold,
            part: Part,
            unlisted: Option<String>,
            problems: u64,
            reason: Option<String>,
            root: String,
        }
        let c = &self.connection;
        let rows: Vec<Row> = c
            .prepare_cached(
                "SELECT s.source, s.relative, s.mtime_ns, s.size, k.fold, ss.part, s.unlisted,
                        (SELECT count(*) FROM _problems p WHERE p.source = s.source),
                        (SELECT reason FROM _problems p WHERE p.source = s.source ORDER BY start LIMIT 1), r.path
                 FROM _session_sources ss JOIN _sources s USING (source) JOIN _checkpoints k USING (source)
                   JOIN _roots r USING (root)
                 WHERE ss.session = ?1 ORDER BY s.relative",
            )?
            .query_map([session], |r| {
                let source: i64 = r.get(0)?;
                let fold = match fresh {
                    Some((of, fold)) if of == source => fold.clone(),
                    _ => serde_json::from_str(&r.get::<_, String>(4)?).unwrap_or_default(),
                };
                Ok(Row {
                    relative: r.get(1)?,
                    mtime_ns: r.get(2)?,
                    size: r.get(3)?,
                    fold,
                    part: part_of(&r.get::<_, String>(5)?),
                    unlisted: r.get(6)?,
                    problems: r.get::<_, i64>(7)? as u64,
                    reason: r.get(8)?,
                    root: r.get(9)?,
                })
            })?
            .collect::<Result<_, _>>()?;
        let Some(main) = rows.iter().find(|r| r.part == Part::Main).or(rows.first()) else {
            return Ok(None);
        };
        let facts: Vec<SourceFacts<'_>> = rows
            .iter()
            .map(|r| SourceFacts {
                relative: std::path::Path::new(&r.relative),
                mtime_ms: nearest_ms(r.mtime_ns),
                fold: &r.fold,
                part: r.part,
                unlisted: r.unlisted.as_deref(),
                problems: (r.problems, r.reason.as_deref()),
            })
            .collect();
        Ok(Some(Made {
            facts: format.session(&facts),
            path: std::path::Path::new(&main.root)
                .join(&main.relative)
                .to_string_lossy()
                .into_owned(),
            file_ms: rows
                .iter()
                .map(|r| r.mtime_ns.div_euclid(1_000_000))
                .max()
                .unwrap_or_default(),
            problems: rows.iter().map(|r| r.problems as i64).sum(),
            bytes: rows.iter().map(|r| r.size).sum(),
        }))
    }

    /// Whether the row of the source's session says something else than its files (for `verify`).
    pub fn session_differs(
        &self,
        source: i64,
        format: &dyn Format,
        fresh: &Fold,
    ) -> Result<Option<String>, Error> {
        let run = || -> rusqlite::Result<Option<String>> {
            let c = &self.connection;
            let sessions: Vec<i64> = c
                .prepare_cached("SELECT session FROM _session_sources WHERE source = ?1")?
                .query_map([source], |r| r.get(0))?
                .collect::<Result<_, _>>()?;
            if sessions.is_empty() {
                return Ok(Some("it belongs to no session".into()));
            }
            for session in sessions {
                let Some(made) = self.make_session(session, format, Some((source, fresh)))? else {
                    continue;
                };
                let s = &made.facts;
                let equal: bool = c
                    .prepare_cached(
                        "SELECT count(*) FROM _sessions WHERE session = ?1 AND id IS ?2 AND cwd IS ?3 AND name IS ?4
                           AND parent_session IS ?5 AND created_raw IS ?6 AND created_ms IS ?7 AND modified_ms IS ?8
                           AND file_ms IS ?9 AND messages IS ?10 AND first_message IS ?11 AND entries IS ?12
                           AND problems IS ?13 AND errors IS ?14 AND version IS ?15 AND leaf IS ?16 AND provider IS ?17
                           AND model IS ?18 AND tokens IS ?19 AND cost IS ?20 AND listed_cost IS ?21 AND bytes IS ?22
                           AND hidden IS ?23 AND path IS ?24 AND own IS ?25",
                    )?
                    .query_row(
                        params![
                            session,
                            s.id,
                            s.cwd,
                            s.name,
                            s.parent_session,
                            s.created_raw,
                            s.created_ms,
                            s.modified_ms,
                            made.file_ms,
                            s.message_count as i64,
                            s.first_message,
                            s.entry_count as i64,
                            made.problems,
                            s.error_count as i64,
                            s.version,
                            s.leaf,
                            s.provider,
                            s.model,
                            s.tokens,
                            s.cost,
                            s.listed_cost,
                            made.bytes,
                            s.hidden,
                            made.path,
                            s.own
                        ],
                        |r| r.get::<_, i64>(0),
                    )?
                    == 1;
                if !equal {
                    return Ok(Some(format!(
                        "the row of session {} differs from its files",
                        s.id
                    )));
                }
            }
            Ok(None)
        };
        self.told(run())
    }

    /// Make a session's row from its sources.
    pub fn refold_session(&self, session: i64, format: &dyn Format) -> Result<(), Error> {
        self.told(self.refold(session, format, None))
    }

    /// The file's mtime moved though its content did not: what the session shows may depend on it.
    pub fn refold_source(
        &self,
        source: i64,
        format: &dyn Format,
        shown: Option<&Fold>,
    ) -> Result<(), Error> {
        let run = || -> rusqlite::Result<()> {
            let sessions: Vec<i64> = self
                .connection
                .prepare_cached("SELECT session FROM _session_sources WHERE source = ?1")?
                .query_map([source], |r| r.get(0))?
                .collect::<Result<_, _>>()?;
            for session in sessions {
                self.refold(session, format, shown.map(|fold| (source, fold)))?;
            }
            Ok(())
        };
        self.told(run())
    }
}

/// A session's row as its sources make it.
struct Made {
    facts: SessionFacts,
    path: String,
    file_ms: i64,
    problems: i64,
    bytes: i64,
}

/// First and last key a session can have.
pub fn key_range(session: i64) -> (i64, i64) {
    (session << ARRIVAL_BITS, ((session + 1) << ARRIVAL_BITS) - 1)
}

/// Runs of consecutive numbers.
fn runs(keys: impl Iterator<Item = i64>) -> Vec<(i64, i64)> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for key in keys {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == key => *last = key,
            _ => runs.push((key, key)),
        }
    }
    runs
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Main => "main",
        Part::Subagent => "subagent",
        Part::Copy => "copy",
        Part::Side => "side",
    }
}

fn part_of(name: &str) -> Part {
    match name {
        "subagent" => Part::Subagent,
        "copy" => Part::Copy,
        "side" => Part::Side,
        _ => Part::Main,
    }
}
