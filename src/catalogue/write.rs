//! The one write transaction, and what it writes of sources, sessions and entries.

use rusqlite::{OptionalExtension, params};

use super::counted::{self, RowChange};
use super::entries::in_file;
use super::error::Error;
pub use super::insert::EntryRows;
use super::open::Catalogue;
use crate::format::Format;
pub(crate) use crate::model::ARRIVAL_BITS;
use crate::model::{Facts, Fold, SourcePart};
use crate::source::checkpoint::Proof;
use crate::source::identity::Identity;

/// Entries a session may ever have had.
pub const MOST_ARRIVALS: i64 = 1 << ARRIVAL_BITS;

/// Flags of an entry row.
pub mod flag {
    use crate::model::Class;

    /// The final newline is missing; not given to the words yet.
    pub const PROVISIONAL: i64 = 1;
    /// Reports an error.
    pub const ERROR: i64 = 2;
    /// Holds an image.
    pub const IMAGE: i64 = 4;
    /// One of several values on one line.
    pub const FUSED: i64 = 8;
    /// Holds the result of a tool: the words get it with the output, everything else with the
    /// prose.
    pub const TOOL_RESULT: i64 = 16;
    /// Not all of its text is searched.
    pub const CUT: i64 = 32;
    /// Holds a system prompt or tool schemas, which the words never get.
    pub const PROMPT: i64 = 64;
    /// An earlier entry of its source says its prose word for word: the words never get it.
    const REPEATED_PROSE: i64 = 256;
    /// An earlier entry of its source says its output word for word.
    const REPEATED_OUTPUT: i64 = 512;

    /// The flag of an entry whose text of this class stands in an earlier one.
    pub fn repeated(class: Class) -> i64 {
        match class {
            Class::Prose => REPEATED_PROSE,
            Class::Output => REPEATED_OUTPUT,
        }
    }
    /// On no branch. Where it has a parent, it says that the session stands at that entry.
    pub const BESIDE: i64 = 128;
    /// Nothing to read: what it says stands in another entry, or is the agent's note to itself.
    pub const SILENT: i64 = 1024;
    /// Of the conversation of a subagent, within the file of its session or in its own.
    pub const SIDECHAIN: i64 = 2048;
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
    /// The time of the last entry before it in its source that has one; `None` where it has its
    /// own.
    pub taken_ms: Option<i64>,
    /// Of a row of a database which it is, `table:key`.
    pub row: Option<String>,
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

/// Bytes of memory that one takes, about: itself, and its reason with what the allocator adds.
const PROBLEM_BYTES: usize = size_of::<ProblemRow>() + 64;

/// Where the entries of a chunk go as they are read: into [`EntryRows`] for the catalogue, or into
/// a plain list to be compared with it.
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
    /// Number of the root.
    pub root: i64,
    /// Path of the source below the root.
    pub relative: String,
    /// Key of the session below the root.
    pub session_key: String,
    /// Which part of the session the source is.
    pub part: SourcePart,
    /// Why the agent would not list a session at this path.
    pub unlisted: Option<String>,
    /// Since when its file is gone, and it is read from the archive.
    pub gone_ms: Option<i64>,
    /// On a source's first chunk: forget all rows from this offset on.
    pub forget_from: Option<u64>,
    /// With it, where what is not forgotten has other places now.
    pub moved: Option<MovedEntries>,
    /// New entries in file order.
    pub entries: E,
    /// New problems in file order.
    pub problems: Vec<ProblemRow>,
    /// Identity as observed before reading. Kept back until the last chunk.
    pub identity: Identity,
    /// Bytes of the content when its identity was taken.
    pub length: u64,
    /// See [`Identity::is_racy`].
    pub racy: bool,
    /// The source was read on, and of what was read before the tail alone was proven.
    pub unproven: bool,
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
    /// Of a session in a database what was known where a turn began, as it is stored.
    pub turn: Option<String>,
    /// Whether this is the last chunk of the source.
    pub last: bool,
    /// Bytes of the source that the chunk covers.
    pub source_bytes: u64,
}

/// The first entry of a source is another one now, of which nothing but its bytes is stored; those
/// behind it are as they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MovedEntries {
    /// Bytes of the first entry.
    pub length: u64,
    /// Hash of the first entry's bytes.
    pub hash: u64,
    /// By how many bytes the others stand further back.
    pub by: i64,
}

impl<E: Entries> Chunk<E> {
    /// Bytes of memory it takes, about.
    pub fn memory(&self) -> u64 {
        let first = |fold: &Fold| fold.first_message.as_ref().map_or(0, String::len);
        let texts = first(&self.fold) + first(&self.shown);
        (self.rows_memory() + self.proof.bytes() + texts) as u64
    }

    /// Bytes of memory that its entries and problems take, about. They may be many more than the
    /// bytes of the file: a line of two bytes may be a problem.
    pub fn rows_memory(&self) -> usize {
        self.entries.bytes() + self.problems.len() * PROBLEM_BYTES
    }
}

impl Catalogue {
    /// Do this in one write transaction, which is undone where it fails. The work may commit a part
    /// of it, and begin again.
    ///
    /// # Errors
    /// Those of the work, and of [`Catalogue::begin`] and [`Catalogue::commit`].
    pub fn transaction<T, E: From<Error>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.begin()?;
        let done = work().and_then(|done| Ok(self.commit().map(|()| done)?));
        if done.is_err() {
            self.rollback();
        }
        done
    }

    /// Begin the one write transaction.
    ///
    /// # Errors
    /// [`Error::Blocked`] when the WAL has its greatest length and a read transaction keeps it from
    /// being shortened.
    pub fn begin(&self) -> Result<(), Error> {
        self.make_room()?;
        self.step("catalogue.begin")?;
        self.execute("BEGIN IMMEDIATE", []).map(drop)
    }

    /// Commit it, with what follows from all that was written: which session is the parent of
    /// which, which answers count, and what they come to.
    ///
    /// # Errors
    /// When that cannot be written; it is undone then.
    pub fn commit(&self) -> Result<(), Error> {
        let run = || {
            self.step("catalogue.commit")?;
            self.with_path(self.end_transaction())?;
            self.execute("COMMIT", [])?;
            self.step("catalogue.committed")
        };
        let done = run();
        if done.is_err() {
            self.rollback();
        }
        done
    }

    /// Undo it, if there is one.
    pub fn rollback(&self) {
        if !self.connection.is_autocommit() {
            // Nothing is lost when this fails: closing the connection rolls back too.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.unsettled.take();
        self.touched.take();
        self.renamed.take();
    }

    /// What follows from all that was written.
    fn end_transaction(&self) -> rusqlite::Result<()> {
        self.find_parents()?;
        self.settle()?;
        self.sum_up()
    }

    /// Add a chunk. Within the transaction.
    ///
    /// # Errors
    /// [`Error::Full`] when the session has had more entries than its keys can count; nothing was
    /// written. Given back is a session of many files: its row is made once, by
    /// [`Catalogue::refold_session`], before the commit.
    pub fn apply(
        &self,
        chunk: &Chunk<EntryRows>,
        format: &dyn Format,
    ) -> Result<Option<i64>, Error> {
        let mut arrivals = 0;
        if let Some((session, had)) = self.with_path(self.known_arrivals(chunk))? {
            let is_due = had >= MOST_ARRIVALS / 2 && chunk.forget_from == Some(0);
            let is_renumbered = is_due && self.with_path(self.remove_rewritten(session))?;
            arrivals = if is_renumbered { 0 } else { had };
        }
        if arrivals + chunk.entries.count() > MOST_ARRIVALS {
            return Err(Error::Full {
                relative: chunk.relative.clone(),
            });
        }
        self.step("catalogue.write")?;
        self.with_path(self.apply_rows(chunk, format))
    }

    /// The number of the chunk's session, if it is known, and how many arrivals it has had.
    fn known_arrivals(&self, chunk: &Chunk<EntryRows>) -> rusqlite::Result<Option<(i64, i64)>> {
        self.connection
            .prepare_cached(
                "SELECT session, next_arrival FROM _sessions WHERE root = ?1 AND place = ?2",
            )?
            .query_row(params![chunk.root, chunk.session_key], |r| {
                Ok((r.get(0)?, r.get(1)?))
            })
            .optional()
    }

    fn apply_rows(
        &self,
        chunk: &Chunk<EntryRows>,
        format: &dyn Format,
    ) -> rusqlite::Result<Option<i64>> {
        let c = &self.connection;
        let source = self.ensure_source(chunk)?;
        let (session, arrival, is_ready) = self.ensure_session(chunk, source)?;
        if let Some(moved) = chunk.moved {
            self.move_entries(source, session, moved)?;
        }
        if let Some(from) = chunk.forget_from {
            self.forget(source, session, from)?;
        }
        let first_key = session << ARRIVAL_BITS | arrival;
        chunk.entries.run(c, first_key, source)?;
        let last_key = first_key + chunk.entries.count() - 1;
        counted::add_turns(c, session, first_key, last_key)?;
        self.answer_earlier(session, first_key, last_key)?;
        self.touch(first_key, last_key);
        if is_ready {
            self.unsettle(first_key, last_key, RowChange::Come)?;
        }
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
        let of_many = format.about().has_many_sources();
        if chunk.last && !of_many {
            self.refold(session, format, Some((source, &chunk.shown)))?;
        }
        Ok(of_many.then_some(session))
    }

    /// The source's row, with its checkpoint.
    fn ensure_source(&self, chunk: &Chunk<EntryRows>) -> rusqlite::Result<i64> {
        let c = &self.connection;
        // Until the last chunk is in, the stored identity matches no file: the next scan resumes.
        let (identity, length) = if chunk.last {
            (chunk.identity, chunk.length)
        } else {
            let unfinished = Identity {
                size: chunk.consumed,
                mtime_ns: 0,
                ctime_ns: 0,
                ..chunk.identity
            };
            (unfinished, chunk.consumed)
        };
        let fold = serde_json::to_string(&chunk.fold)
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        let source: i64 = c
            .prepare_cached(
                "INSERT INTO _sources (root, relative, device, inode, size, mtime_ns, ctime_ns, racy, revision, consumed,
                                       unlisted, unproven, length, gone_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
                 ON CONFLICT (root, relative) DO UPDATE SET device = ?3, inode = ?4, size = ?5, mtime_ns = ?6, ctime_ns = ?7,
                     racy = ?8, revision = ?9, consumed = ?10, unlisted = ?11, unread = NULL,
                     unproven = ?12, length = ?13, gone_ms = ?14
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
                    chunk.unlisted,
                    chunk.unproven,
                    length as i64,
                    chunk.gone_ms
                ],
                |r| r.get(0),
            )?;
        c.prepare_cached("INSERT OR REPLACE INTO _checkpoints VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![source, chunk.proof.to_bytes(), fold, chunk.turn])?;
        Ok(source)
    }

    /// The session's row, its next arrival, and whether it was all in before.
    fn ensure_session(
        &self,
        chunk: &Chunk<EntryRows>,
        source: i64,
    ) -> rusqlite::Result<(i64, i64, bool)> {
        let c = &self.connection;
        let known = c
            .prepare_cached(
                "SELECT session, next_arrival, path <> '' FROM _sessions WHERE root = ?1 AND place = ?2",
            )?
            .query_row(params![chunk.root, chunk.session_key], |r| {
                Ok((r.get(0)?, r.get(1)?, r.get(2)?))
            })
            .optional()?;
        let (session, arrival, is_ready) = match known {
            Some(known) => known,
            None => {
                let session = c
                    .prepare_cached(
                        "INSERT INTO _sessions (root, place, next_arrival, id, cwd, modified_ms, file_ms, messages, entries,
                                                problems, errors, bytes, path)
                         VALUES (?1, ?2, 0, '', '', 0, 0, 0, 0, 0, 0, 0, '') RETURNING session",
                    )?
                    .query_row(params![chunk.root, chunk.session_key], |r| r.get::<_, i64>(0))?;
                (session, 0, false)
            }
        };
        c.prepare_cached("INSERT OR IGNORE INTO _session_sources VALUES (?1, ?2, ?3)")?
            .execute(params![session, source, part_name(chunk.part)])?;
        Ok((session, arrival, is_ready))
    }

    /// Outbox rows for the chunk's entries.
    fn queue(&self, source: i64, first: i64, chunk: &Chunk<EntryRows>) -> rusqlite::Result<()> {
        let newest_ms = chunk
            .shown
            .last_entry_ms
            .unwrap_or_else(|| chunk.identity.mtime_ms());
        let mut add = self.connection.prepare_cached(
            "INSERT INTO _outbox (source, first, last, answers, bytes, newest_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for run in chunk.entries.outbox() {
            for of_tools in [false, true] {
                add.execute((
                    source,
                    first + run.first,
                    first + run.last,
                    of_tools,
                    run.bytes,
                    newest_ms,
                ))?;
            }
        }
        Ok(())
    }

    /// Give the entries of a source the places that they have now. What is said of them anywhere
    /// stays as it is.
    fn move_entries(&self, source: i64, session: i64, moved: MovedEntries) -> rusqlite::Result<()> {
        let c = &self.connection;
        let (low, high) = key_range(session);
        c.prepare_cached(
            "UPDATE _entries SET length = ?3, hash = ?4
             WHERE key = (SELECT min(key) FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?5)",
        )?
        .execute(params![
            low,
            high,
            moved.length.cast_signed(),
            moved.hash.cast_signed(),
            source
        ])?;
        if moved.by != 0 {
            c.prepare_cached(
                "UPDATE _entries SET start = start + ?4
                 WHERE key BETWEEN ?1 AND ?2 AND source = ?3 AND start > 0",
            )?
            .execute(params![low, high, source, moved.by])?;
        }
        Ok(())
    }

    /// Forget the rows of a source from an offset on.
    pub(super) fn forget(&self, source: i64, session: i64, from: u64) -> rusqlite::Result<()> {
        let c = &self.connection;
        let (low, high) = key_range(session);
        // Entries of a source are stored in the order of its bytes, so the ones to remove are its
        // last ones; mostly there are none.
        let mut of_source = c.prepare_cached(
            "SELECT key, flags & ?4, start FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY key DESC",
        )?;
        let mut rows = of_source.query(params![low, high, source, flag::PROVISIONAL])?;
        let mut keys: Vec<(i64, bool)> = Vec::new();
        while let Some(row) = rows.next()? {
            // A damaged row may name any place: a source that is read from its first byte loses all
            // its rows.
            if in_file(row.get(2)?) < from {
                break;
            }
            keys.push((row.get(0)?, row.get(1)?));
        }
        drop(rows);
        keys.reverse();
        for (first, last) in runs(keys.iter().map(|k| k.0)) {
            self.unsettle(first, last, RowChange::Go)?;
            self.touch(first, last);
            for table in [
                "_entries",
                "_calls",
                "_usage",
                "_stepped",
                "_files",
                "_labels",
                "_compactions",
                "_runs",
            ] {
                c.prepare_cached(&format!("DELETE FROM {table} WHERE key BETWEEN ?1 AND ?2"))?
                    .execute(params![first, last])?;
            }
            self.forget_answers(session, first, last)?;
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
}

/// First and last key a session can have.
pub fn key_range(session: i64) -> (i64, i64) {
    (session << ARRIVAL_BITS, ((session + 1) << ARRIVAL_BITS) - 1)
}

/// Runs of consecutive numbers.
pub(super) fn runs(keys: impl Iterator<Item = i64>) -> Vec<(i64, i64)> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for key in keys {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == key => *last = key,
            _ => runs.push((key, key)),
        }
    }
    runs
}

fn part_name(part: SourcePart) -> &'static str {
    match part {
        SourcePart::Main => "main",
        SourcePart::Subagent => "subagent",
        SourcePart::Copy => "copy",
        SourcePart::Side => "side",
    }
}
