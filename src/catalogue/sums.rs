//! What do answers and calls come to, some hundred entries at a time?
//!
//! A report adds up a few thousand of these sums where it would read all answers: at 1.1 GB of
//! sessions 8 ms a panel, which were 200 to 600. Whoever changes a row [touches] its block, and the
//! transaction does not end before the block's sums are made anew.
//!
//! [touches]: super::counted::touch

use rusqlite::Connection;

use super::open::{Catalogue, Error};

/// Entries of a block: `1 << BLOCK_BITS`. The views know it too.
pub(super) const BLOCK_BITS: i64 = 8;

/// What a quarter of an hour takes, in ms. No time zone begins its days between two of them.
macro_rules! quarter {
    ($time:literal) => {
        concat!($time, " - ", $time, " % 900000")
    };
}

/// What `_usage_sums` holds of the blocks in `b`, put in place of `{}`.
const USAGE: &str = concat!(
    "SELECT b.block, row_number() OVER (PARTITION BY b.block ORDER BY t.quarter_ms, t.provider, t.model), t.quarter_ms,
            t.provider, t.model, count(*), sum(t.input), sum(t.output), sum(t.cache_read), sum(t.cache_write),
            sum(t.reasoning), sum(t.total), sum(t.cost_input), sum(t.cost_output), sum(t.cost_cache_read),
            sum(t.cost_cache_write), sum(t.cost_total)
     FROM {} b CROSS JOIN (SELECT u.*, ",
    quarter!("coalesce(u.time_ms, s.created_ms)"),
    " AS quarter_ms FROM _answers u JOIN _sessions s ON s.session = u.key >> 24) t
     WHERE t.key BETWEEN b.block << 8 AND (b.block << 8) + 255
     GROUP BY b.block, t.quarter_ms, t.provider, t.model"
);

/// The same of `_call_sums`.
const CALLS: &str =
    "SELECT b.block, row_number() OVER (PARTITION BY b.block ORDER BY c.tool), c.tool, count(*), count(c.is_error),
            sum(c.is_error), count(c.duration_ms), sum(c.duration_ms), max(c.duration_ms)
     FROM {} b CROSS JOIN _calls c JOIN _usage u USING (key)
     WHERE c.key BETWEEN b.block << 8 AND (b.block << 8) + 255 AND NOT c.is_result AND u.counted IS NOT 0
     GROUP BY b.block, c.tool";

/// Quarters of an hour that have no day yet.
const QUARTERS: &str = "
    INSERT INTO _quarters SELECT quarter_ms, strftime('%Y-%m-%d', quarter_ms / 1000, 'unixepoch'), ''
    FROM (SELECT DISTINCT s.quarter_ms FROM _unsummed b CROSS JOIN _usage_sums s USING (block)) WHERE quarter_ms IS NOT NULL
      AND quarter_ms NOT IN (SELECT quarter_ms FROM _quarters)";

/// Their days in the zone of this process, where others stand there.
const LOCAL_DAYS: &str = "
    UPDATE _quarters SET local_day = strftime('%Y-%m-%d', quarter_ms / 1000, 'unixepoch', 'localtime')
    WHERE local_day = '' OR local_day <> strftime('%Y-%m-%d', quarter_ms / 1000, 'unixepoch', 'localtime')";

/// What tells time zones apart: when it is there noon of two days of each of some years.
const ZONE: &str = "
    WITH RECURSIVE years(year) AS (VALUES (2015) UNION ALL SELECT year + 1 FROM years WHERE year < 2035)
    SELECT group_concat(strftime('%d%H%M', year || '-01-15 12:00', 'localtime')
                        || strftime('%d%H%M', year || '-07-15 12:00', 'localtime'), ' ') FROM years";

/// Make the sums of all blocks that were touched.
pub(super) fn sum_up(c: &Connection) -> rusqlite::Result<()> {
    let mut touched = c.prepare_cached("SELECT EXISTS (SELECT 1 FROM _unsummed)")?;
    if !touched.query_row([], |r| r.get::<_, bool>(0))? {
        return Ok(());
    }
    for (table, sums) in [("_usage_sums", USAGE), ("_call_sums", CALLS)] {
        c.prepare_cached(&format!(
            "DELETE FROM {table} WHERE block IN (SELECT block FROM _unsummed)"
        ))?
        .execute([])?;
        let sums = sums.replace("{}", "_unsummed");
        c.prepare_cached(&format!("INSERT INTO {table} {sums}"))?
            .execute([])?;
    }
    if c.prepare_cached(QUARTERS)?.execute([])? > 0 {
        c.prepare_cached(LOCAL_DAYS)?.execute([])?;
    }
    c.prepare_cached("DELETE FROM _unsummed")?.execute([])?;
    Ok(())
}

impl Catalogue {
    /// Local days are those of this process from now on.
    pub(super) fn take_zone(&self) -> rusqlite::Result<()> {
        let c = &self.connection;
        let mut differs = c.prepare(&format!("SELECT zone IS NOT ({ZONE}) FROM _store"))?;
        if !differs.query_row([], |r| r.get(0))? {
            return Ok(());
        }
        c.execute_batch(&format!(
            "BEGIN IMMEDIATE; {LOCAL_DAYS}; UPDATE _store SET zone = ({ZONE}); COMMIT"
        ))
    }

    /// How many sums are not what they should be (for `verify`).
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn wrong_sums(&self) -> Result<u64, Error> {
        let run = || -> rusqlite::Result<i64> {
            let mut wrong = 0;
            for (table, of, sums) in [
                ("_usage_sums", "_usage", USAGE),
                ("_call_sums", "_calls", CALLS),
            ] {
                let blocks = format!("(SELECT DISTINCT key >> {BLOCK_BITS} AS block FROM {of})");
                let sums = sums.replace("{}", &blocks);
                let (missing, left_over): (i64, i64) = self.connection.query_row(
                    &format!(
                        "WITH wanted AS MATERIALIZED ({sums})
                         SELECT (SELECT count(*) FROM (SELECT * FROM wanted EXCEPT SELECT * FROM {table})),
                                (SELECT count(*) FROM (SELECT * FROM {table} EXCEPT SELECT * FROM wanted))"
                    ),
                    [],
                    |r| Ok((r.get(0)?, r.get(1)?)),
                )?;
                wrong += missing.max(left_over);
            }
            let days: i64 = self.connection.query_row(
                "SELECT count(*) FROM _usage_sums s LEFT JOIN _quarters q USING (quarter_ms)
                 WHERE s.quarter_ms IS NOT NULL
                   AND (q.day IS NOT strftime('%Y-%m-%d', quarter_ms / 1000, 'unixepoch') OR q.local_day IS NULL OR q.local_day = '')",
                [],
                |r| r.get(0),
            )?;
            Ok(wrong + days)
        };
        self.told(run()).map(i64::cast_unsigned)
    }
}
