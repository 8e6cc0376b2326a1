//! Which of the copies of an answer counts?
//!
//! A fork, a clone and a copied file repeat the answers of the session that they came from. Each is
//! counted once, in the session that began first: so `usage` adds up to what was spent. It is decided
//! whenever rows of an answer come or go, in the same transaction, and depends on what the sessions
//! say alone, not on the order in which they were read.

use rusqlite::{Connection, params};

use super::open::{Catalogue, Error};
use super::write::key_range;
use crate::model::Facts;
use crate::source::checkpoint::hash;

/// Copies of one answer agree in these.
const SAME: &str = "u.response_id, u.model, u.input, u.output, u.cost_total";

/// The order in which they are looked at: the first one counts. A session that is not all in comes
/// last. Within a session the first of its sources by path has it, and there the first.
const ORDER: &str = "s.path = '', coalesce(s.created_ms, 1 << 62), s.path, f.relative, e.start";

/// A number that all copies of an answer have: of the response's id, else of the entry's id and time,
/// which forks keep, else of its time, else of all its bytes.
pub(super) fn said(bytes: u64, facts: &Facts) -> i64 {
    let response = facts
        .spent()
        .and_then(|(usage, _)| usage.response_id.as_deref());
    let number = match (response, facts.id.as_deref(), facts.time_ms) {
        (Some(id), ..) if !id.is_empty() => hash(id.as_bytes()),
        (_, Some(id), Some(time)) if !id.is_empty() => hash(id.as_bytes()) ^ time.cast_unsigned(),
        (_, _, Some(time)) => time.cast_unsigned(),
        _ => bytes,
    };
    number.cast_signed()
}

/// Entries of a session were added: count what they say, if the session is all in. Else it is
/// counted with the session.
pub(super) fn take_in(c: &Connection, session: i64, first: i64, last: i64) -> rusqlite::Result<()> {
    add_turns(c, session, first, last)?;
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
        "INSERT INTO _usage (key, cost_total, step, said, time_ms, counted)
         SELECT key, cost - CASE WHEN before <= cost THEN before ELSE 0 END, 2, hash, time_ms, 1
         FROM (SELECT r.key, r.cost, e.hash, e.time_ms,
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
         WHERE _usage.key = w.key AND _usage.counted <> w.first"
    ))?;
    said.iter()
        .try_for_each(|said| settle.execute([said]).map(drop))
}

/// A session began at another time, or is all in: so are its copies of answers.
pub(super) fn settle_session(c: &Connection, session: i64) -> rusqlite::Result<()> {
    let (first, last) = key_range(session);
    settle(c, &copied(c, first, last)?)
}

/// agentuse writes tokens and cost of a message, and of its steps, which are told by the message. It
/// begins with zeros, which are no total yet: what it lacks its steps say.
pub(super) fn settle_steps(c: &Connection, session: i64) -> rusqlite::Result<()> {
    let (first, last) = key_range(session);
    c.prepare_cached(&format!(
        "UPDATE _usage SET counted = CASE WHEN w.counts THEN 1 END, step = w.step FROM ({STEPS}) w
         WHERE _usage.key = w.key AND ((_usage.counted IS NOT NULL) <> w.counts OR _usage.step <> w.step)"
    ))?
    .execute([first, last])?;
    Ok(())
}

/// What `_usage.step` must be, and whether the row counts, if no copy of it does.
const STEPS: &str = "
    SELECT key, NOT (is_step AND has_message) AS counts, CASE WHEN is_step THEN 1 ELSE 3 * is_lacking END AS step
    FROM (SELECT r.key, r.is_step, min(r.is_step) OVER w = 0 AS has_message,
                 sum((1 - r.is_step) * r.tokens) OVER w = 0 AND sum(r.is_step * r.tokens) OVER w <> 0
                   OR sum((1 - r.is_step) * r.cost) OVER w = 0 AND sum(r.is_step * r.cost) OVER w <> 0 AS is_lacking
          FROM (SELECT u.key, u.step = 1 AS is_step, CASE WHEN u.step = 1 THEN e.parent ELSE e.id END AS message,
                       coalesce(u.input, 0) + coalesce(u.output, 0) + coalesce(u.cache_read, 0)
                         + coalesce(u.cache_write, 0) AS tokens,
                       coalesce(u.cost_total, 0) AS cost
                FROM _usage u JOIN _entries e USING (key) WHERE u.key BETWEEN ?1 AND ?2 AND u.step <> 2) r
          WINDOW w AS (PARTITION BY r.key >> 24, r.message))";

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
                              FROM _usage WHERE step = 2) u USING (key)
                   LEFT JOIN _entries e USING (key)
                 WHERE r.cost IS NOT u.cost_total OR u.said IS NOT e.hash OR u.time_ms IS NOT e.time_ms
                   OR coalesce(provider, model, response_id, input, output, cache_read, cache_write, reasoning, total,
                               cost_input, cost_output, cost_cache_read, cost_cache_write) IS NOT NULL",
                [],
                |r| r.get::<_, i64>(0),
            )?;
            let steps: i64 = self.connection.query_row(
                &format!(
                    "SELECT count(*) FROM ({STEPS}) w JOIN _usage u USING (key)
                       JOIN _sessions s ON s.session = u.key >> 24
                     WHERE s.path <> '' AND ((u.counted IS NOT NULL) <> w.counts OR u.step <> w.step)"
                ),
                [0, i64::MAX],
                |r| r.get(0),
            )?;
            Ok(copies + turns + steps)
        };
        self.told(run()).map(i64::cast_unsigned)
    }
}
