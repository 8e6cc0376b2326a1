//! Which tools were called, and what became of it? A call that forks and copies repeat is one call.

use super::error::Error;
use super::open::Catalogue;
use super::read::numbers;
use super::usage_row::counted::NO;
use super::write::ARRIVAL_BITS;

/// Calls of one tool in one session.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct CalledRow<'a> {
    pub session: i64,
    pub agent: &'a str,
    pub cwd: &'a str,
    pub tool: Option<&'a str>,
    pub calls: u64,
    /// Of which it is known whether they failed.
    pub answered: u64,
    pub errors: u64,
    /// Of which it is known how long they took.
    pub timed: u64,
    pub ms: u64,
}

impl Catalogue {
    /// Show what was called in every session of these roots, from one moment on and before another.
    /// What copies repeat counts once among these roots, as if there were no others.
    pub fn each_called(
        &self,
        roots: &[i64],
        since_ms: Option<i64>,
        until_ms: Option<i64>,
        mut each: impl FnMut(CalledRow<'_>),
    ) -> Result<(), Error> {
        let moved = self.counted_elsewhere(roots)?;
        let moved = moved.map_or_else(String::new, |copies| {
            format!("OR u.key IN (SELECT key FROM ({copies}))")
        });
        let query = format!(
            "SELECT s.session, r.agent, s.cwd, c.tool, count(*), count(c.is_error), coalesce(sum(c.is_error), 0),
               count(c.duration_ms), coalesce(CAST(sum(1.0 * c.duration_ms) AS INTEGER), 0)
            FROM _sessions s JOIN _roots r USING (root)
              JOIN _calls c ON c.key BETWEEN s.session << {ARRIVAL_BITS} AND ((s.session + 1) << {ARRIVAL_BITS}) - 1
              JOIN _usage u ON u.key = c.key
            WHERE s.path <> '' AND s.root IN ({}) AND NOT c.is_result AND (u.counted IS NOT {NO} {moved})
              AND (?1 IS NULL OR coalesce(u.time_ms, s.created_ms) >= ?1)
              AND (?2 IS NULL OR coalesce(u.time_ms, s.created_ms) < ?2)
            GROUP BY s.session, c.tool",
            numbers(roots)
        );
        self.each(&query, [since_ms, until_ms], |row| {
            let whole =
                |at| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)?.try_into().unwrap_or(0));
            each(CalledRow {
                session: row.get(0)?,
                agent: row.get_ref(1)?.as_str()?,
                cwd: row.get_ref(2)?.as_str()?,
                tool: row.get_ref(3)?.as_str_or_null()?,
                calls: whole(4)?,
                answered: whole(5)?,
                errors: whole(6)?,
                timed: whole(7)?,
                ms: whole(8)?,
            });
            Ok(())
        })
    }
}
