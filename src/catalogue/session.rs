//! What does a session's row say? What the folds of its sources make of it, now and whenever one of
//! them changes.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::{OptionalExtension, ToSql, params};

use super::counted::RowChange;
use super::error::Error;
use super::open::Catalogue;
use super::rank::RankedTimes;
use super::write::{flag, key_range};
use crate::format::{Format, ListOrder, SourceFacts};
use crate::model::{Fold, SessionFacts, SourcePart};
use crate::repository::FoundRemote;
use crate::source::identity::nearest_ms;
use crate::stored_path;

/// How a session's row differs from what it is about to say.
#[derive(Default)]
struct RowBefore {
    /// It began at another time.
    began_elsewhere: bool,
    /// All of it was in.
    was_ready: bool,
    /// Its path was another one.
    is_moved: bool,
    /// Its file was not known to be gone.
    was_there: bool,
    /// It was called otherwise, named another parent, or its file has gone or come back.
    is_renamed: bool,
}

impl Catalogue {
    /// Make the session's row from the folds of its sources. `fresh` is a fold newer than the
    /// stored one.
    pub(super) fn refold(
        &self,
        session: i64,
        format: &dyn Format,
        fresh: Option<(i64, &Fold)>,
    ) -> rusqlite::Result<()> {
        let Some(made) = self.make_session(session, format, fresh)? else {
            return Ok(());
        };
        let RowBefore {
            began_elsewhere,
            was_ready,
            is_moved,
            was_there,
            is_renamed,
        } = self.row_before(session, &made)?;
        if is_renamed {
            self.note_names(session)?;
        }
        if began_elsewhere {
            self.touch_undated(session)?;
        }
        if began_elsewhere && was_ready {
            self.queue_undated(session)?;
        }
        self.write_row(session, &made)?;
        if is_renamed {
            self.note_names(session)?;
        }
        let of_steps = format.about().has_many_sources();
        if of_steps {
            self.settle_steps(session)?;
        }
        let (first, last) = key_range(session);
        if of_steps || was_ready && (began_elsewhere || is_moved) {
            self.unsettle(first, last, RowChange::Move)?;
        } else if !was_ready {
            self.unsettle(first, last, RowChange::Come)?;
        }
        let what = match made.gone_ms {
            Some(_) if was_there => "archived",
            _ => "changed",
        };
        self.connection
            .prepare_cached(
                "INSERT INTO _changes (session, what, id, path) VALUES (?1, ?4, ?2, ?3)",
            )?
            .execute(params![session, made.facts.id, made.path, what])?;
        self.make_ready(session)
    }

    /// What the session's row says so far, beside what it is about to say.
    fn row_before(&self, session: i64, made: &SessionRecord) -> rusqlite::Result<RowBefore> {
        let mut before = self.connection.prepare_cached(
            "SELECT created_ms IS NOT ?2, path <> '', path <> ?3, gone_ms IS NULL,
                    (id, path, parent_session, gone_ms IS NULL) IS NOT (?4, ?3, ?5, ?6)
             FROM _sessions WHERE session = ?1",
        )?;
        let (facts, path) = (&made.facts, &made.path);
        let is_there = made.gone_ms.is_none();
        let about_to_say = params![
            session,
            facts.created_ms,
            path,
            facts.id,
            facts.parent_session,
            is_there
        ];
        let before = before.query_row(about_to_say, |r| {
            Ok(RowBefore {
                began_elsewhere: r.get(0)?,
                was_ready: r.get(1)?,
                is_moved: r.get(2)?,
                was_there: r.get(3)?,
                is_renamed: r.get(4)?,
            })
        });
        Ok(before.optional()?.unwrap_or_default())
    }

    fn write_row(&self, session: i64, made: &SessionRecord) -> rusqlite::Result<()> {
        let mut update = self.connection.prepare_cached(&format!(
            "UPDATE _sessions SET {},
                 remote = CASE WHEN ?37 OR cwd IS NOT ?3 THEN ?36 ELSE coalesce(remote, ?36) END
             WHERE session = ?1",
            each_column("=", ", ")
        ))?;
        let found = self.found_remote(session, &made.path, &made.facts.cwd)?;
        made.with_columns(session, |columns| {
            let of_directory: [&dyn ToSql; 2] = [&found.remote, &found.is_there];
            update
                .execute(&[columns, &of_directory].concat()[..])
                .map(drop)
        })
    }

    /// Searches give entries without a time the start of their session. When that changes, these
    /// entries go into the outbox again, because the words have them with the old one.
    fn queue_undated(&self, session: i64) -> rusqlite::Result<()> {
        let (low, high) = key_range(session);
        let c = &self.connection;
        // Entries that a range in the outbox names already are indexed with the new start, and must
        // not be added twice.
        let mut queued = c.prepare_cached(
            "SELECT answers, source, first, last FROM _outbox
             WHERE first BETWEEN ?1 AND ?2 AND first < last ORDER BY answers, source, first",
        )?;
        let queued: Vec<(bool, i64, i64, i64)> = queued
            .query_map([low, high], |r| {
                Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?))
            })?
            .collect::<Result<_, _>>()?;
        let is_queued = |of_tools: bool, source: i64, key: i64| {
            let next = queued
                .partition_point(|(a, s, first, _)| (*a, *s, *first) <= (of_tools, source, key));
            let before = next.checked_sub(1).and_then(|at| queued.get(at));
            before.is_some_and(|(a, s, _, last)| (*a, *s) == (of_tools, source) && key <= *last)
        };
        let mut undated = c.prepare_cached(
            "SELECT source, key, length, flags & ?4 <> 0 FROM _entries
             WHERE key BETWEEN ?1 AND ?2 AND time_ms IS NULL AND taken_ms IS NULL AND flags & ?3 = 0",
        )?;
        let mut undated: Vec<(i64, i64, i64, bool)> = undated
            .query_map([low, high, flag::PROVISIONAL, flag::TOOL_RESULT], |r| {
                Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?))
            })?
            .collect::<Result<_, _>>()?;
        undated.retain(|(source, key, _, of_tools)| !is_queued(*of_tools, *source, *key));
        // The words may have them by the old start, though that is not known yet.
        let keys: HashSet<(i64, i64)> = undated.iter().map(|(s, key, ..)| (*s, *key)).collect();
        let mut single = c.prepare_cached(
            "SELECT item, source, first FROM _outbox WHERE first BETWEEN ?1 AND ?2 AND first = last",
        )?;
        let single: Vec<(i64, (i64, i64))> = single
            .query_map([low, high], |r| Ok((r.get(0)?, (r.get(1)?, r.get(2)?))))?
            .collect::<Result<_, _>>()?;
        for (item, of) in single {
            if keys.contains(&of) {
                c.prepare_cached("DELETE FROM _outbox WHERE item = ?1")?
                    .execute([item])?;
            }
        }
        for (source, key, bytes, _) in undated {
            c.prepare_cached("INSERT INTO _dead (first, last) VALUES (?1, ?1)")?
                .execute([key])?;
            for of_tools in [false, true] {
                c.prepare_cached(
                    "INSERT INTO _outbox (source, first, last, answers, bytes, newest_ms) VALUES (?1, ?2, ?2, ?3, ?4, 0)",
                )?
                .execute(params![source, key, of_tools, bytes])?;
            }
        }
        Ok(())
    }

    /// What the session's row must say.
    fn make_session(
        &self,
        session: i64,
        format: &dyn Format,
        fresh: Option<(i64, &Fold)>,
    ) -> rusqlite::Result<Option<SessionRecord>> {
        let rows = self.source_rows(session, fresh)?;
        let Some(main) = rows
            .iter()
            .find(|r| r.part == SourcePart::Main)
            .or(rows.first())
        else {
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
        let facts = format.session(&facts);
        let path = stored_path::below(std::path::Path::new(&main.root), &main.relative);
        let file_ms = rows
            .iter()
            .map(|r| r.mtime_ns.div_euclid(1_000_000))
            .max()
            .unwrap_or_default();
        let times = RankedTimes {
            by_creation: format.about().list_order == ListOrder::Created,
            is_listed: facts.hidden.is_none(),
            modified_ms: facts.modified_ms,
            file_ms,
            created_ms: facts.created_ms,
        };
        Ok(Some(SessionRecord {
            list_order: times.rank(true).text(&path),
            facts,
            path: path.to_string_lossy().into_owned(),
            gone_ms: main.gone_ms,
            file_ms,
            problems: rows.iter().map(|r| r.problems as i64).sum(),
            bytes: rows.iter().map(|r| r.length).sum(),
        }))
    }

    /// The sources of a session, as they are catalogued; of the fresh one with its new fold.
    fn source_rows(
        &self,
        session: i64,
        fresh: Option<(i64, &Fold)>,
    ) -> rusqlite::Result<Vec<SourceRow>> {
        self.connection
            .prepare_cached(
                "SELECT s.source, s.relative, s.mtime_ns, s.length, k.fold, ss.part, s.unlisted,
                        (SELECT count(*) FROM _problems p WHERE p.source = s.source),
                        (SELECT reason FROM _problems p WHERE p.source = s.source ORDER BY start LIMIT 1), r.path, s.gone_ms
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
                Ok(SourceRow {
                    relative: r.get(1)?,
                    mtime_ns: r.get(2)?,
                    length: r.get(3)?,
                    fold,
                    part: part_of(&r.get::<_, String>(5)?),
                    unlisted: r.get(6)?,
                    problems: r.get::<_, i64>(7)? as u64,
                    reason: r.get(8)?,
                    root: r.get(9)?,
                    gone_ms: r.get(10)?,
                })
            })?
            .collect()
    }

    /// Whether the row of the source's session says something else than its files (for `verify`).
    pub fn session_differs(
        &self,
        source: i64,
        format: &dyn Format,
        fresh: &Fold,
    ) -> Result<Option<String>, Error> {
        self.with(|c| {
            let sessions = self.sessions_of(source)?;
            if sessions.is_empty() {
                return Ok(Some("it belongs to no session".into()));
            }
            for session in sessions {
                let Some(made) = self.make_session(session, format, Some((source, fresh)))? else {
                    continue;
                };
                let mut same = c.prepare_cached(&format!(
                    "SELECT count(*) FROM _sessions WHERE session = ?1 AND {}",
                    each_column("IS", " AND ")
                ))?;
                let equal: i64 =
                    made.with_columns(session, |columns| same.query_row(columns, |r| r.get(0)))?;
                if equal == 0 {
                    return Ok(Some(format!(
                        "the row of session {} differs from its files",
                        made.facts.id
                    )));
                }
            }
            Ok(None)
        })
    }

    /// Of which repositories directories are, is looked up anew from here on: each directory once.
    pub fn doubt_remotes(&self) {
        self.remotes.borrow_mut().forget();
    }

    /// Of which repository a session's directory is: of one of another machine what that said.
    fn found_remote(&self, session: i64, path: &str, cwd: &str) -> rusqlite::Result<FoundRemote> {
        let foreign = "SELECT r.path FROM _sessions JOIN _roots r USING (root)
            WHERE session = ?1 AND r.host <> ''";
        let mut foreign = self.connection.prepare_cached(foreign)?;
        let root = foreign.query_row([session], |r| r.get::<_, String>(0));
        let mut remotes = self.remotes.borrow_mut();
        Ok(match root.optional()? {
            Some(root) => remotes.of_foreign(Path::new(&root), Path::new(path), cwd),
            None => remotes.of(cwd),
        })
    }

    /// Sessions below a root of another machine whose repository that machine has named, or named
    /// otherwise, since they were read.
    pub fn named_remotes(&self, root: i64) -> Result<Vec<(i64, String)>, Error> {
        let sql = "SELECT s.session, s.path, s.cwd, s.remote, r.path
            FROM _sessions s JOIN _roots r USING (root)
            WHERE root = ?1 AND r.host <> ''
                AND s.path <> '' AND s.cwd <> '' AND s.repository IS NULL";
        let mut named = Vec::new();
        let mut remotes = self.remotes.borrow_mut();
        // One statement, as every look at the files asks for all of them.
        self.each(sql, [root], |r| {
            let text = |at: usize| Ok::<_, rusqlite::Error>(r.get_ref(at)?.as_str()?);
            let (path, cwd, root) = (text(1)?, text(2)?, text(4)?);
            let found = remotes.of_foreign(Path::new(root), Path::new(path), cwd);
            let known: Option<String> = r.get(3)?;
            if let Some(remote) = found.remote.filter(|remote| known.as_ref() != Some(remote)) {
                named.push((r.get(0)?, remote));
            }
            Ok(())
        })?;
        Ok(named)
    }

    /// Note of which repository a session is. Within a transaction.
    pub fn note_remote(&self, session: i64, remote: &str) -> Result<(), Error> {
        self.with(|c| {
            c.prepare_cached("UPDATE _sessions SET remote = ?2 WHERE session = ?1")?
                .execute(params![session, remote])?;
            let changed = "INSERT INTO _changes (session, what, id, path)
                SELECT session, 'changed', id, path FROM _sessions WHERE session = ?1";
            c.prepare_cached(changed)?.execute([session])?;
            self.make_ready(session)
        })
    }

    /// After a migration: look up what sessions say beside their files, make their rows again, and
    /// find their parents.
    pub(super) fn renew_sessions(&self) -> rusqlite::Result<()> {
        let c = &self.connection;
        let sessions: Vec<(i64, String, String)> = c
            .prepare("SELECT session, path, cwd FROM _sessions WHERE path <> ''")?
            .query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?
            .collect::<Result<_, _>>()?;
        for (session, path, cwd) in sessions {
            let found = self.found_remote(session, &path, &cwd)?;
            c.prepare_cached("UPDATE _sessions SET remote = ?2 WHERE session = ?1")?
                .execute(params![session, found.remote])?;
            self.make_ready(session)?;
            self.note_names(session)?;
        }
        self.find_parents()
    }

    /// Make a session's row from its sources.
    pub fn refold_session(&self, session: i64, format: &dyn Format) -> Result<(), Error> {
        self.with_path(self.refold(session, format, None))
    }

    /// The sessions to which a source belongs.
    pub(super) fn sessions_of(&self, source: i64) -> rusqlite::Result<Vec<i64>> {
        let sql = "SELECT session FROM _session_sources WHERE source = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_map([source], |r| r.get(0))?.collect()
    }

    /// The file's mtime moved though its content did not: what the session shows may depend on it.
    pub fn refold_source(
        &self,
        source: i64,
        format: &dyn Format,
        shown: Option<&Fold>,
    ) -> Result<(), Error> {
        self.with(|_| {
            for session in self.sessions_of(source)? {
                self.refold(session, format, shown.map(|fold| (source, fold)))?;
            }
            Ok(())
        })
    }
}

/// What a session's row is made from, of one source.
struct SourceRow {
    relative: String,
    mtime_ns: i64,
    length: i64,
    fold: Fold,
    part: SourcePart,
    unlisted: Option<String>,
    problems: u64,
    reason: Option<String>,
    root: String,
    gone_ms: Option<i64>,
}

/// The columns of a session's row that its sources make.
const COLUMNS: &str = "id cwd name parent_session created_raw created_ms modified_ms file_ms \
    messages first_message entries problems errors version leaf provider model tokens cost \
    listed_cost bytes hidden path own subagent list_order typed git_branch thinking_level \
    base_session base_end gone_ms repository has_moved";

/// Each of [`COLUMNS`] with its parameter; the first one is the session's number.
fn each_column(relation: &str, between: &str) -> String {
    let columns = (2..).zip(COLUMNS.split_whitespace());
    let columns = columns.map(|(at, name)| format!("{name} {relation} ?{at}"));
    columns.collect::<Vec<_>>().join(between)
}

/// A session's row as its sources make it.
struct SessionRecord {
    facts: SessionFacts,
    path: String,
    gone_ms: Option<i64>,
    list_order: String,
    file_ms: i64,
    problems: i64,
    bytes: i64,
}

impl SessionRecord {
    /// The session's number, then what its row has in [`COLUMNS`].
    fn with_columns<R>(&self, session: i64, with: impl FnOnce(&[&dyn ToSql]) -> R) -> R {
        let s = &self.facts;
        let counts = [s.message_count, s.entry_count, s.error_count].map(|count| count as i64);
        with(&[
            &session,
            &s.id,
            &s.cwd,
            &s.name,
            &s.parent_session,
            &s.created_raw,
            &s.created_ms,
            &s.modified_ms,
            &self.file_ms,
            &counts[0],
            &s.first_message,
            &counts[1],
            &self.problems,
            &counts[2],
            &s.version,
            &s.leaf,
            &s.provider,
            &s.model,
            &s.tokens,
            &s.cost,
            &s.listed_cost,
            &self.bytes,
            &s.hidden,
            &self.path,
            &s.own,
            &s.is_subagent,
            &self.list_order,
            &s.typed,
            &s.git_branch,
            &s.thinking_level,
            &s.base.as_ref().map(|base| &base.session),
            &s.base.as_ref().map(|base| base.end.cast_signed()),
            &self.gone_ms,
            &s.repository,
            &s.has_moved,
        ])
    }
}

fn part_of(name: &str) -> SourcePart {
    match name {
        "subagent" => SourcePart::Subagent,
        "copy" => SourcePart::Copy,
        "side" => SourcePart::Side,
        _ => SourcePart::Main,
    }
}
