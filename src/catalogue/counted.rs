//! Which of the copies of an answer counts?
//!
//! A fork, a clone and a copied file repeat the answers of the session that they came from. Each is
//! counted once, in the session that began first: so `usage` adds up to what was spent. It is decided
//! whenever rows of an answer come or go, in the same transaction, and depends on what the sessions
//! say alone, not on the order in which they were read.

use std::borrow::Cow;

use rusqlite::{Connection, params};

use super::answered::answer_earlier;
use super::open::{Catalogue, Error};
use super::sums::BLOCK_BITS;
use super::write::{EntryRow, key_range};
use crate::model::Usage;
use crate::source::checkpoint::hash;

/// Copies of one answer agree in these.
const SAME: &str = "u.response_id, u.model, u.input, u.output, u.cost_total";

/// The order in which they are looked at: the first one counts. A session that is not all in comes
/// last. Within a session the first of its sources by path has it, and there the first.
const ORDER: &str = "s.path = '', coalesce(s.created_ms, 1 << 62), s.path, f.relative, e.start";

/// What `_usage.what` says.
mod what {
    pub const ANSWER: i64 = 0;
    /// Only of an answer, which tells it.
    pub const STEP: i64 = 1;
    /// It calls, and records nothing else that counts.
    pub const CALLS: i64 = 3;
}

/// What an entry has in `_usage`.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted<'e> {
    /// As written; nothing in entries that only call.
    pub usage: Cow<'e, Usage>,
    /// What the row is of.
    pub what: i64,
    /// The same in all copies of the entry.
    pub said: i64,
    /// Of the entry, else of the one before it in its file.
    pub time_ms: Option<i64>,
}

impl<'e> Counted<'e> {
    /// Nothing, where there is nothing to be counted once.
    pub(super) fn of(entry: &'e EntryRow) -> Option<Counted<'e>> {
        let facts = &entry.facts;
        let (usage, what) = match facts.spent() {
            Some((usage, is_step)) => {
                let what = if is_step { what::STEP } else { what::ANSWER };
                (Cow::Borrowed(usage), what)
            }
            None if facts.calls.iter().any(|call| !call.is_result) => {
                (Cow::Owned(Usage::default()), what::CALLS)
            }
            None => return None,
        };
        Some(Counted {
            said: said(entry.hash, facts.id.as_deref(), facts.time_ms, &usage),
            usage,
            what,
            time_ms: facts.time_ms.or(entry.taken_ms),
        })
    }

    pub(super) fn into_owned(self) -> Counted<'static> {
        Counted {
            usage: Cow::Owned(self.usage.into_owned()),
            ..self
        }
    }
}

/// A number that all copies of an entry have: of the response's id, else of the entry's id and time,
/// which forks keep, else of its time, else of all its bytes.
fn said(bytes: u64, id: Option<&str>, time_ms: Option<i64>, usage: &Usage) -> i64 {
    let number = match (usage.response_id.as_deref(), id, time_ms) {
        (Some(id), ..) if !id.is_empty() => hash(id.as_bytes()),
        (_, Some(id), Some(time)) if !id.is_empty() => hash(id.as_bytes()) ^ time.cast_unsigned(),
        (_, _, Some(time)) => time.cast_unsigned(),
        _ => bytes,
    };
    number.cast_signed()
}

/// The sums of these entries are to be made anew: see [`super::sums`].
pub(super) fn touch(c: &Connection, first: i64, last: i64) -> rusqlite::Result<()> {
    let mut touch = c.prepare_cached("INSERT OR IGNORE INTO _unsummed VALUES (?1)")?;
    (first >> BLOCK_BITS..=last >> BLOCK_BITS).try_for_each(|block| touch.execute([block]).map(drop))
}

/// Entries of a session were added: count what they say, if the session is all in. Else it is
/// counted with the session.
pub(super) fn take_in(c: &Connection, session: i64, first: i64, last: i64) -> rusqlite::Result<()> {
    add_turns(c, session, first, last)?;
    answer_earlier(c, session, first, last)?;
    touch(c, first, last)?;
    let mut is_ready = c.prepare_cached("SELECT path <> '' FROM _sessions WHERE session = ?1")?;
    match is_ready.query_row([session], |r| r.get(0))? {
        true => settle(c, &copied(c, first, last)?),
        false => Ok(()),
    }
}

/// clido's figures count from the start of its process: within a run they grow, and a fall is the
/// next run. What a turn cost is what they grew by.
fn add_turns(c: &Connection, session: i64, first: i64, last: i64) -> rusqlite::Result<()> {
    c.prepare_cached(
        "INSERT INTO _usage (key, cost_total, what, said, time_ms, counted)
         SELECT key, cost - CASE WHEN before <= cost THEN before ELSE 0 END, 2, hash, time_ms, 1
         FROM (SELECT r.key, r.cost, e.hash, coalesce(e.time_ms, e.taken_ms) AS time_ms,
                      (SELECT p.cost FROM _runs p WHERE p.key BETWEEN ?3 AND r.key - 1
                       ORDER BY p.key DESC LIMIT 1) AS before
               FROM _runs r JOIN _entries e USING (key)
               WHERE r.key BETWEEN ?1 AND ?2 AND r.cost IS NOT NULL)",
    )?
    .execute(params![first, last, key_range(session).0])?;
    Ok(())
}

/// What some entries said, where others say it too.
pub(super) fn copied(c: &Connection, first: i64, last: i64) -> rusqlite::Result<Vec<i64>> {
    c.prepare_cached(
        "SELECT DISTINCT a.said FROM _usage a WHERE a.key BETWEEN ?1 AND ?2
           AND EXISTS (SELECT 1 FROM _usage b WHERE b.said = a.said AND b.key <> a.key)",
    )?
    .query_map([first, last], |r| r.get(0))?
    .collect()
}

/// Decide anew which of the rows count that say one of these.
pub(super) fn settle(c: &Connection, said: &[i64]) -> rusqlite::Result<()> {
    if said.is_empty() {
        return Ok(());
    }
    let mut settle = c.prepare_cached(&format!(
        "UPDATE _usage SET counted = w.first
         FROM (SELECT u.key, row_number() OVER (PARTITION BY {SAME} ORDER BY {ORDER}) = 1 AS first
               FROM _usage u JOIN _sessions s ON s.session = u.key >> 24 JOIN _entries e ON e.key = u.key
                 JOIN _sources f ON f.source = e.source
               WHERE u.said = ?1 AND u.counted IS NOT NULL) w
         WHERE _usage.key = w.key AND _usage.counted <> w.first RETURNING key"
    ))?;
    for said in said {
        let mut settled = settle.query([said])?;
        while let Some(row) = settled.next()? {
            let key = row.get(0)?;
            touch(c, key, key)?;
        }
    }
    Ok(())
}

/// A session began at another time, or is all in: so are its copies of answers.
pub(super) fn settle_session(c: &Connection, session: i64) -> rusqlite::Result<()> {
    let (first, last) = key_range(session);
    settle(c, &copied(c, first, last)?)
}

/// A session began at another time: so did its answers that have none of their own.
pub(super) fn touch_undated(c: &Connection, session: i64) -> rusqlite::Result<()> {
    let (first, last) = key_range(session);
    c.prepare_cached(
        "INSERT OR IGNORE INTO _unsummed
         SELECT DISTINCT key >> ?3 FROM _usage WHERE key BETWEEN ?1 AND ?2 AND time_ms IS NULL",
    )?
    .execute([first, last, BLOCK_BITS])?;
    Ok(())
}

/// agentuse writes tokens and cost of a message, and of its steps, which are told by the message. It
/// begins with zeros, which are no total yet: what it lacks its steps say.
pub(super) fn settle_steps(c: &Connection, session: i64) -> rusqlite::Result<()> {
    let (first, last) = key_range(session);
    c.prepare_cached(&format!(
        "UPDATE _usage SET counted = CASE WHEN w.counts THEN 1 END FROM ({COUNTING}) w
         WHERE _usage.key = w.key AND (_usage.counted IS NOT NULL) <> w.counts"
    ))?
    .execute([first, last])?;
    c.prepare_cached("DELETE FROM _stepped WHERE key BETWEEN ?1 AND ?2")?
        .execute([first, last])?;
    c.prepare_cached(&format!("INSERT INTO _stepped {STEPPED}"))?
        .execute([first, last])?;
    c.prepare_cached(
        "INSERT OR IGNORE INTO _unsummed
         SELECT DISTINCT key >> ?3 FROM _usage WHERE key BETWEEN ?1 AND ?2",
    )?
    .execute([first, last, BLOCK_BITS])?;
    Ok(())
}

/// Answers and steps, with the message that each is of, or is.
macro_rules! spent {
    () => {
        "SELECT u.*, u.what = 1 AS is_step, CASE WHEN u.what = 1 THEN e.parent ELSE e.id END AS message,
                coalesce(u.input, 0) + coalesce(u.output, 0) + coalesce(u.cache_read, 0) + coalesce(u.cache_write, 0) AS tokens,
                coalesce(u.cost_total, 0) AS cost
         FROM _usage u JOIN _entries e USING (key) WHERE u.key BETWEEN ?1 AND ?2 AND u.what < 2"
    };
}

/// Whether a row counts, if no copy of it does.
const COUNTING: &str = concat!(
    "SELECT key, NOT (is_step AND min(is_step) OVER (PARTITION BY key >> 24, message) = 0) AS counts FROM (",
    spent!(),
    ")"
);

/// What `_stepped` must hold.
const STEPPED: &str = concat!(
    "SELECT key, CASE WHEN own_tokens <> 0 THEN input ELSE coalesce(step_input, input) END AS input,
            CASE WHEN own_tokens <> 0 THEN output ELSE coalesce(step_output, output) END AS output,
            CASE WHEN own_tokens <> 0 THEN cache_read ELSE coalesce(step_cache_read, cache_read) END AS cache_read,
            CASE WHEN own_tokens <> 0 THEN cache_write ELSE coalesce(step_cache_write, cache_write) END AS cache_write,
            CASE WHEN own_tokens <> 0 THEN reasoning ELSE coalesce(step_reasoning, reasoning) END AS reasoning,
            CASE WHEN own_cost <> 0 THEN cost_total ELSE coalesce(step_cost, cost_total) END AS cost_total
     FROM (SELECT r.*, sum((1 - is_step) * tokens) OVER w AS own_tokens, sum((1 - is_step) * cost) OVER w AS own_cost,
                  sum(is_step * tokens) OVER w AS step_tokens,
                  sum(CASE WHEN is_step THEN input END) OVER w AS step_input,
                  sum(CASE WHEN is_step THEN output END) OVER w AS step_output,
                  sum(CASE WHEN is_step THEN cache_read END) OVER w AS step_cache_read,
                  sum(CASE WHEN is_step THEN cache_write END) OVER w AS step_cache_write,
                  sum(CASE WHEN is_step THEN reasoning END) OVER w AS step_reasoning,
                  sum(CASE WHEN is_step THEN cost_total END) OVER w AS step_cost
           FROM (",
    spent!(),
    ") r WINDOW w AS (PARTITION BY r.key >> 24, r.message))
     WHERE NOT is_step AND (own_tokens = 0 AND step_tokens <> 0 OR own_cost = 0 AND step_cost <> 0)"
);

impl Catalogue {
    /// How many answers are counted where they should not be, or the other way round (for `verify`).
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn wrongly_counted(&self) -> Result<u64, Error> {
        let run = || -> rusqlite::Result<i64> {
            let copies: i64 = self.connection.query_row(
                &format!(
                    "SELECT count(*) FROM (
                       SELECT u.counted, row_number() OVER (PARTITION BY u.said, {SAME} ORDER BY {ORDER}) = 1 AS first
                       FROM _usage u JOIN _sessions s ON s.session = u.key >> 24 JOIN _entries e ON e.key = u.key
                         JOIN _sources f ON f.source = e.source
                       WHERE u.counted IS NOT NULL AND s.path <> '')
                     WHERE counted <> first"
                ),
                [],
                |r| r.get(0),
            )?;
            let turns = self.connection.query_row(
                "SELECT count(*) FROM (SELECT entry AS key, cost FROM runs WHERE cost IS NOT NULL) r
                   FULL JOIN (SELECT key, cost_total, provider, model, response_id, input, output, cache_read, cache_write,
                                     reasoning, total, cost_input, cost_output, cost_cache_read, cost_cache_write, said, time_ms
                              FROM _usage WHERE what = 2) u USING (key)
                   LEFT JOIN _entries e USING (key)
                 WHERE r.cost IS NOT u.cost_total OR u.said IS NOT e.hash OR u.time_ms IS NOT coalesce(e.time_ms, e.taken_ms)
                   OR coalesce(provider, model, response_id, input, output, cache_read, cache_write, reasoning, total,
                               cost_input, cost_output, cost_cache_read, cost_cache_write) IS NOT NULL",
                [],
                |r| r.get::<_, i64>(0),
            )?;
            let steps: i64 = self.connection.query_row(
                &format!(
                    "SELECT count(*) FROM ({COUNTING}) w JOIN _usage u USING (key) JOIN _sessions s ON s.session = u.key >> 24
                     WHERE s.path <> '' AND (u.counted IS NOT NULL) <> w.counts"
                ),
                [0, i64::MAX],
                |r| r.get(0),
            )?;
            let stepped: i64 = self.connection.query_row(
                &format!(
                    "SELECT count(*) FROM (SELECT * FROM _stepped EXCEPT {STEPPED})
                     UNION ALL SELECT count(*) FROM ({STEPPED} EXCEPT SELECT * FROM _stepped)
                     ORDER BY 1 DESC LIMIT 1"
                ),
                [0, i64::MAX],
                |r| r.get(0),
            )?;
            let steps = steps + stepped;
            Ok(copies + turns + steps)
        };
        self.told(run()).map(i64::cast_unsigned)
    }
}
