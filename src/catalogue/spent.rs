//! What did answers take, and what did they cost? Read from the sums that are kept of every 256
//! entries: a report reads a few thousand rows, whatever it adds up. Where the index has other
//! roots too, it also reads the copies in those that are asked for that count only there.

use rusqlite::Row;

use super::error::Error;
use super::open::Catalogue;
use super::read::numbers;
use super::sums::SESSION_BITS;
use crate::model::Tokens;

/// Answers of one session, model and quarter of an hour.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct SpentRow<'a> {
    pub session: i64,
    pub agent: &'a str,
    /// The machine that its session was copied from; "" for this one.
    pub host: &'a str,
    pub cwd: &'a str,
    /// When the quarter began; `None`: no time is known.
    pub quarter_ms: Option<i64>,
    pub provider: Option<&'a str>,
    pub model: Option<&'a str>,
    pub answers: u64,
    pub tokens: Tokens,
    /// US dollars.
    pub cost: Option<f64>,
}

impl Catalogue {
    /// Show what was spent in every session of these roots. What copies repeat counts once among
    /// these roots, as if there were no others.
    pub fn each_spent(
        &self,
        roots: &[i64],
        mut each: impl FnMut(SpentRow<'_>),
    ) -> Result<(), Error> {
        let sums = format!(
            "SELECT s.session, r.agent, s.cwd, u.quarter_ms, u.provider, u.model, u.answers,
               u.input, u.output, u.cache_read, u.cache_write, u.total, u.cost_total, r.host
            FROM _sessions s JOIN _roots r USING (root)
              JOIN _usage_sums u ON u.block BETWEEN s.session << {SESSION_BITS} AND ((s.session + 1) << {SESSION_BITS}) - 1
            WHERE s.path <> '' AND s.root IN ({})",
            numbers(roots)
        );
        let copies = self.counted_elsewhere(roots)?;
        let copies = copies.map(|copies| {
            format!(
                "SELECT s.session, r.agent, s.cwd, u.quarter_ms, u.provider, u.model, 1,
                   u.input, u.output, u.cache_read, u.cache_write, CAST(u.total AS INTEGER), u.cost_total, r.host
                FROM ({copies}) c JOIN _recorded u ON u.key = c.key
                  JOIN _sessions s ON s.session = u.session JOIN _roots r USING (root)
                WHERE c.counts = 1"
            )
        });
        for query in [Some(sums), copies].into_iter().flatten() {
            self.each(&query, [], |row| {
                each(spent(row)?);
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn spent<'a>(row: &'a Row<'_>) -> rusqlite::Result<SpentRow<'a>> {
    // What an agent wrote below 0 is no number of tokens.
    let tokens = |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(at)?.map(whole));
    Ok(SpentRow {
        session: row.get(0)?,
        agent: row.get_ref(1)?.as_str()?,
        host: row.get_ref(13)?.as_str()?,
        cwd: row.get_ref(2)?.as_str()?,
        quarter_ms: row.get(3)?,
        provider: row.get_ref(4)?.as_str_or_null()?,
        model: row.get_ref(5)?.as_str_or_null()?,
        answers: whole(row.get(6)?),
        tokens: Tokens {
            input: tokens(7)?,
            output: tokens(8)?,
            cache_read: tokens(9)?,
            cache_write: tokens(10)?,
            total: tokens(11)?,
        },
        cost: row.get(12)?,
    })
}

fn whole(number: i64) -> u64 {
    number.try_into().unwrap_or(0)
}
