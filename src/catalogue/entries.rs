//! Which entries are there, and which tools and labels do they name?

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use rusqlite::{OptionalExtension, Row, params};

use super::answered::NEAR;
use super::error::Error;
use super::open::Catalogue;
use super::statements::{PAGE, Paged};
use super::write::flag::{BESIDE, PROMPT};
use super::write::{flag, key_range};
use crate::model::ARRIVAL_BITS;

/// Kinds of entries that are on no branch.
pub const KINDS_BESIDE: [&str; 2] = ["session", "meta"];

macro_rules! searched {
    () => {
        "coalesce(time_ms, taken_ms, (SELECT created_ms FROM _sessions WHERE session = key >> 24))"
    };
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
    pub taken_ms: Option<i64>,
    pub row: Option<String>,
    /// The time that searches use: see [`SEARCHED`].
    pub searched_ms: Option<i64>,
}

/// Where an entry stands in its source, and the hash that it is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct EntrySpan {
    pub start: u64,
    pub length: u64,
    pub hash: u64,
}

/// Where the record of an entry stands, and the hash that it is known by.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct RecordPlace {
    pub source: i64,
    pub start: u64,
    pub length: u64,
    pub hash: u64,
    pub row: Option<String>,
}

/// An entry as far as its place among the others depends on it.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct EntryPosition<'a> {
    pub key: i64,
    pub line: u64,
    pub kind: &'a str,
    pub id: Option<&'a str>,
    pub parent: Option<&'a str>,
    pub time_ms: Option<i64>,
    pub agent_sees: bool,
    pub has_role: bool,
    pub is_assistant: bool,
    pub is_injected: bool,
    pub flags: i64,
    /// It has nothing to read.
    pub is_silent: bool,
    /// Its line says it; else another entry of that line does.
    pub has_bytes: bool,
}

impl StoredEntry {
    /// Whether it is on no branch.
    pub fn is_beside(&self) -> bool {
        EntryPosition::of(self).is_beside()
    }
}

impl<'a> EntryPosition<'a> {
    /// Of an entry.
    pub fn of(entry: &'a StoredEntry) -> EntryPosition<'a> {
        EntryPosition {
            key: entry.key,
            line: entry.line,
            kind: &entry.kind,
            id: entry.id.as_deref(),
            parent: entry.parent.as_deref(),
            time_ms: entry.time_ms,
            agent_sees: entry.agent_sees,
            has_role: entry.role.is_some(),
            is_assistant: entry.role.as_deref() == Some("assistant"),
            is_injected: entry.role.as_deref() == Some("injected"),
            flags: entry.flags,
            is_silent: entry.flags & flag::SILENT != 0,
            has_bytes: entry.length > 0,
        }
    }

    /// Whether it is on no branch.
    pub fn is_beside(&self) -> bool {
        self.flags & BESIDE != 0 || KINDS_BESIDE.contains(&self.kind)
    }

    /// The id of the entry at which the session stands from here on.
    pub fn stands_at(&self) -> Option<&'a str> {
        self.parent.filter(|_| self.flags & BESIDE != 0)
    }
}

/// An entry on the way from its session's end to its beginning.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct BranchEntry<'a> {
    pub key: i64,
    /// `None` for an entry that its agent does not see, because no entry continues from it.
    pub id: Option<&'a [u8]>,
    pub parent: Option<&'a [u8]>,
}

pub(super) const ENTRY: &str = concat!(
    "key, source, start, length, line, hash, kind, role, id, parent, time_ms, agent_sees, flags, stop_reason, taken_ms, row, ",
    searched!()
);

/// What an [`EntryPosition`] is made of.
const PLACED: &str = "key, line, kind, id, parent, time_ms, agent_sees, role IS NOT NULL, role IS 'assistant', flags, length > 0, role IS 'injected'";

/// The time of an entry that searches use: its own, or else that of the entry before it in its
/// file, or else the start of its session.
pub(super) const SEARCHED: &str = searched!();

impl Catalogue {
    /// Entries of a session in file order, source by source.
    pub fn entries(&self, session: i64) -> Result<Vec<StoredEntry>, Error> {
        let (low, high) = key_range(session);
        let sql = format!(
            "SELECT {ENTRY} FROM _entries WHERE key BETWEEN ?1 AND ?2 ORDER BY source, start"
        );
        self.all(&sql, [low, high], stored_entry)
    }

    /// What user and model said in a session, as far as its agent sees it, in file order.
    pub fn said(&self, session: i64) -> Result<Vec<RecordPlace>, Error> {
        let (low, high) = key_range(session);
        // In one source nothing has to be sorted.
        let order = match self.has_one_source(session)? {
            true => "key",
            false => "source, start",
        };
        let sql = format!(
            "SELECT source, start, length, hash, row FROM _entries
             WHERE key BETWEEN ?1 AND ?2 AND agent_sees AND role IN ('user', 'assistant')
             ORDER BY {order}"
        );
        self.all(&sql, [low, high], |r| {
            Ok(RecordPlace {
                source: r.get(0)?,
                start: in_file(r.get(1)?),
                length: in_file(r.get(2)?),
                hash: r.get::<_, i64>(3)? as u64,
                row: r.get(4)?,
            })
        })
    }

    /// Give `take` the entries of a session in file order, source by source as their paths are
    /// sorted, one at a time: a long session needs no more memory than a short one. What files
    /// beside the root say of it comes last: that may come and go, and no place of another entry
    /// changes. With `end` only those that begin before that byte.
    pub fn each_placed(
        &self,
        session: i64,
        end: Option<u64>,
        take: &mut dyn FnMut(EntryPosition<'_>),
    ) -> Result<(), Error> {
        let (low, high) = key_range(session);
        // In one source nothing has to be sorted.
        let order = match self.has_one_source(session)? {
            true => "key",
            false => {
                "(SELECT (relative GLOB '../*') || relative FROM _sources s WHERE s.source = e.source), start"
            }
        };
        let sql = format!(
            "SELECT {PLACED} FROM _entries e
             WHERE key BETWEEN ?1 AND ?2 AND start < ?3 ORDER BY {order}"
        );
        let end = end.map_or(i64::MAX, u64::cast_signed);
        self.each(&sql, [low, high, end], |row| {
            take(placed(row)?);
            Ok(())
        })
    }

    /// Give `take` the entries of a session with one source from one of them on, towards the end
    /// of the file or, `upwards`, towards its beginning, until it breaks off. `false`: the session
    /// has several sources, and `take` got none.
    pub fn each_placed_from(
        &self,
        key: i64,
        upwards: bool,
        take: &mut dyn FnMut(EntryPosition<'_>) -> ControlFlow<()>,
    ) -> Result<bool, Error> {
        let session = key >> ARRIVAL_BITS;
        if !self.has_one_source(session)? {
            return Ok(false);
        }
        let (low, high) = key_range(session);
        let (low, high, order) = match upwards {
            true => (low, key, "DESC"),
            false => (key, high, "ASC"),
        };
        let sql = format!(
            "SELECT {PLACED} FROM _entries WHERE key BETWEEN ?1 AND ?2 ORDER BY key {order}"
        );
        self.with(|c| {
            let mut statement = c.prepare_cached(&sql)?;
            let mut rows = statement.query([low, high])?;
            while let Some(row) = rows.next()? {
                if take(placed(row)?).is_break() {
                    break;
                }
            }
            Ok(true)
        })
    }

    /// Whether all of a session is in one source. Its keys are in file order then, because a source
    /// that changes before its end is read again from the beginning.
    pub fn has_one_source(&self, session: i64) -> Result<bool, Error> {
        let sql = "SELECT count(*) = 1 FROM _session_sources WHERE session = ?1";
        let is_one = self.first(sql, [session], |r| r.get(0))?;
        Ok(is_one.unwrap_or(false))
    }

    /// Give `take` the entries of a session with one source from the last to the first, until it
    /// breaks off. Entries that are on no branch are left out. `false`: the session has several
    /// sources, and `take` got none.
    pub fn each_upwards(
        &self,
        session: i64,
        take: &mut dyn FnMut(BranchEntry<'_>) -> ControlFlow<()>,
    ) -> Result<bool, Error> {
        let (low, high) = key_range(session);
        if !self.has_one_source(session)? {
            return Ok(false);
        }
        self.with(|c| {
            let mut statement = c.prepare_cached(&format!(
                "SELECT key, CASE WHEN agent_sees THEN id END, parent FROM _entries
                 WHERE key BETWEEN ?1 AND ?2 AND kind <> ?3 AND kind <> ?4 AND flags & {BESIDE} = 0
                 ORDER BY key DESC"
            ))?;
            let mut rows = statement.query(params![low, high, KINDS_BESIDE[0], KINDS_BESIDE[1]])?;
            while let Some(row) = rows.next()? {
                let entry = BranchEntry {
                    key: row.get(0)?,
                    id: row.get_ref(1)?.as_bytes_or_null()?,
                    parent: row.get_ref(2)?.as_bytes_or_null()?,
                };
                if take(entry).is_break() {
                    break;
                }
            }
            Ok(true)
        })
    }

    /// The [leaf](crate::model::Leaf) of a session of which some entry has an id. It holds for
    /// sessions whose tree is in one source, whose keys are in file order.
    pub fn leaf(&self, session: i64) -> Result<Option<i64>, Error> {
        let (low, high) = key_range(session);
        self.with(|c| {
            // Upwards: the last entry that may be the leaf, or the last one that says where the
            // session stands, if what it names stands before it.
            let mut last = c.prepare_cached(&format!(
                "SELECT key, CASE WHEN flags & {BESIDE} THEN parent END FROM _entries
                 WHERE key BETWEEN ?1 AND ?2 AND kind <> ?3 AND kind <> ?4
                   AND (agent_sees AND id IS NOT NULL AND flags & {BESIDE} = 0
                        OR flags & {BESIDE} AND parent IS NOT NULL)
                 ORDER BY key DESC"
            ))?;
            let mut named = c.prepare_cached(&format!(
                "SELECT key FROM _entries
                 WHERE key BETWEEN ?1 AND ?2 AND id = ?3 AND agent_sees AND flags & {BESIDE} = 0
                   AND kind <> ?4 AND kind <> ?5 ORDER BY key DESC LIMIT 1"
            ))?;
            let mut rows = last.query(params![low, high, KINDS_BESIDE[0], KINDS_BESIDE[1]])?;
            while let Some(row) = rows.next()? {
                let key: i64 = row.get(0)?;
                let Some(stands_at) = row.get::<_, Option<String>>(1)? else {
                    return Ok(Some(key));
                };
                let bound = params![low, key, stands_at, KINDS_BESIDE[0], KINDS_BESIDE[1]];
                let stands = named.query_row(bound, |r| r.get(0)).optional()?;
                if stands.is_some() {
                    return Ok(stands);
                }
            }
            Ok(None)
        })
    }

    /// The entry at which the session stands by its row, by its id.
    pub fn named_leaf(&self, session: i64) -> Result<Option<String>, Error> {
        let sql = "SELECT leaf FROM _sessions WHERE session = ?1";
        Ok(self.first(sql, [session], |r| r.get(0))?.flatten())
    }

    /// The entries of one source one after the other, in the order in which they were read, which
    /// is that of the file.
    pub fn each_entry_of_source(&self, source: i64) -> Result<Paged<'_, StoredEntry>, Error> {
        let sql = "SELECT session FROM _session_sources WHERE source = ?1 ORDER BY session DESC";
        let mut sessions: Vec<i64> = self.all(sql, [source], |r| r.get(0))?;
        let mut after = i64::MIN;
        let sql = format!(
            "SELECT {ENTRY} FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY key LIMIT ?4"
        );
        Ok(Paged::new(move || {
            let Some(session) = sessions.last() else {
                return Ok(None);
            };
            let (low, high) = key_range(*session);
            let from = low.max(after.saturating_add(1));
            let bound = params![from, high, source, PAGE as i64];
            let page: Vec<_> = self.all(&sql, bound, stored_entry)?;
            if page.len() < PAGE {
                sessions.pop();
            }
            after = page.last().map_or(after, |last| last.key);
            Ok(Some(page))
        }))
    }

    /// Entries of one source whose keys lie in `first..=last`, in file order.
    pub fn entries_between(
        &self,
        source: i64,
        first: i64,
        last: i64,
    ) -> Result<Vec<StoredEntry>, Error> {
        let sql = format!(
            "SELECT {ENTRY} FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY start"
        );
        self.all(&sql, params![first, last, source], stored_entry)
    }

    /// The places of all entries of a source that belongs to one session, in order; none where
    /// something of it is no entry, or not yet.
    pub fn entry_spans(&self, source: i64) -> Result<Vec<EntrySpan>, Error> {
        let problems = "SELECT EXISTS (SELECT 1 FROM _problems WHERE source = ?1)";
        let sessions = self.with(|_| self.sessions_of(source))?;
        let [session] = sessions[..] else {
            return Ok(Vec::new());
        };
        if self.one(problems, [source], |row| row.get(0))? {
            return Ok(Vec::new());
        }
        let (first, last) = key_range(session);
        let sql = "SELECT start, length, hash, flags FROM _entries
            WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY key";
        let places: Vec<(EntrySpan, bool)> =
            self.all(sql, params![first, last, source], |row| {
                let place = EntrySpan {
                    start: in_file(row.get(0)?),
                    length: in_file(row.get(1)?),
                    hash: row.get::<_, i64>(2)?.cast_unsigned(),
                };
                Ok((place, row.get::<_, i64>(3)? & flag::PROVISIONAL != 0))
            })?;
        Ok(
            match places.iter().any(|(_, is_provisional)| *is_provisional) {
                true => Vec::new(),
                false => places.into_iter().map(|(place, _)| place).collect(),
            },
        )
    }

    /// Entries that hold a system prompt or tool schemas, those of the newest sessions first; of
    /// sessions that are equally new, as copies are, in the order of their paths.
    pub fn entries_with_prompts(&self) -> Result<Vec<StoredEntry>, Error> {
        let sql = format!(
            "SELECT {ENTRY} FROM _entries WHERE flags & {PROMPT}
            ORDER BY (SELECT s.modified_ms FROM _sessions s WHERE s.session = key >> 24) DESC,
                (SELECT s.path FROM _sessions s WHERE s.session = key >> 24), key DESC"
        );
        self.all(&sql, [], stored_entry)
    }

    /// One entry.
    pub fn entry(&self, key: i64) -> Result<Option<StoredEntry>, Error> {
        self.first(
            &format!("SELECT {ENTRY} FROM _entries WHERE key = ?1"),
            [key],
            stored_entry,
        )
    }

    /// Tools called or answered by an entry.
    pub fn tools(&self, key: i64) -> Result<Vec<String>, Error> {
        let mut tools = self.tools_between(key, key)?;
        Ok(tools.remove(&key).unwrap_or_default())
    }

    /// The tools called or answered by each entry whose key lies in `first..=last`. Some agents
    /// name the tool in the call alone: Claude Code, Codex, Copilot.
    pub fn tools_between(&self, first: i64, last: i64) -> Result<HashMap<i64, Vec<String>>, Error> {
        let named = "SELECT key, tool FROM _calls
            WHERE key BETWEEN ?1 AND ?2 ORDER BY key, ordinal";
        let of_answers = "SELECT a.key, c.tool FROM _calls c
              CROSS JOIN _calls a ON a.key = c.answer AND a.is_result AND a.call_id = c.call_id
            WHERE c.key BETWEEN ?1 - ?3 AND ?2 AND c.answer BETWEEN ?1 AND ?2
              AND c.tool IS NOT NULL AND a.tool IS NULL ORDER BY c.key, c.ordinal";
        let mut tools: HashMap<i64, Vec<String>> = HashMap::new();
        // For `DISTINCT` SQLite would make a table.
        let mut known = HashSet::new();
        let are_all_named = Cell::new(true);
        let mut add = |row: &Row<'_>| {
            let (key, tool): (i64, Option<String>) = (row.get(0)?, row.get(1)?);
            match tool {
                Some(tool) if known.insert((key, tool.clone())) => {
                    tools.entry(key).or_default().push(tool);
                }
                Some(_) => {}
                None => are_all_named.set(false),
            }
            Ok(())
        };
        self.each(named, [first, last], &mut add)?;
        if !are_all_named.get() {
            self.each(of_answers, [first, last, NEAR], add)?;
        }
        Ok(tools)
    }

    /// Labels of a session in file order: target and text.
    pub fn labels(&self, session: i64) -> Result<Vec<(String, Option<String>)>, Error> {
        let (low, high) = key_range(session);
        // Few entries are labelled: SQLite would begin with all that the session has.
        let sql = "SELECT l.target, l.text FROM _labels l CROSS JOIN _entries e USING (key)
            WHERE l.key BETWEEN ?1 AND ?2 AND e.agent_sees ORDER BY e.source, e.start";
        self.all(sql, [low, high], |r| Ok((r.get(0)?, r.get(1)?)))
    }
}

/// A position in a file, or a length. A damaged value becomes one that is larger than any file; the
/// sum of two of them does not overflow.
pub(super) fn in_file(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or(u64::MAX).min(1 << 62)
}

fn placed<'r>(row: &'r Row<'_>) -> rusqlite::Result<EntryPosition<'r>> {
    let flags = row.get(9)?;
    Ok(EntryPosition {
        key: row.get(0)?,
        line: row.get::<_, i64>(1)? as u64,
        kind: row.get_ref(2)?.as_str()?,
        id: row.get_ref(3)?.as_str_or_null()?,
        parent: row.get_ref(4)?.as_str_or_null()?,
        time_ms: row.get(5)?,
        agent_sees: row.get(6)?,
        has_role: row.get(7)?,
        is_assistant: row.get(8)?,
        is_injected: row.get(11)?,
        flags,
        is_silent: flags & flag::SILENT != 0,
        has_bytes: row.get(10)?,
    })
}

pub(super) fn stored_entry(r: &Row<'_>) -> rusqlite::Result<StoredEntry> {
    Ok(StoredEntry {
        key: r.get(0)?,
        source: r.get(1)?,
        start: in_file(r.get(2)?),
        length: in_file(r.get(3)?),
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
        taken_ms: r.get(14)?,
        row: r.get(15)?,
        searched_ms: r.get(16)?,
    })
}
