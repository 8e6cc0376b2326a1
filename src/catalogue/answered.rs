//! Which entry answers a call? The next entry that answers its id. How the call ended is then
//! stored with the call.
//!
//! Call and answer mostly come in one chunk, which puts them together before it is written. What is
//! done here is for those that do not.

use rusqlite::params;

use super::error::Error;
use super::open::Catalogue;
use super::write::key_range;

/// How many entries are searched for the answer to a call, because the search has to end somewhere.
pub(super) const NEAR: i64 = 1000;

/// Where a call stands: its entry, and its number in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPlace {
    key: i64,
    ordinal: i64,
}

impl Catalogue {
    /// Calls before these entries, which are new, may have their answer among them.
    pub(super) fn answer_earlier(
        &self,
        session: i64,
        first: i64,
        last: i64,
    ) -> rusqlite::Result<()> {
        self.answer(session, first, (first, last))
    }

    /// These entries were removed: calls before them have no answer there any more, but perhaps
    /// behind them.
    pub(super) fn forget_answers(
        &self,
        session: i64,
        first: i64,
        last: i64,
    ) -> rusqlite::Result<()> {
        let (low, high) = key_range(session);
        let mut forget = self.connection.prepare_cached(
            "UPDATE _calls SET answer = NULL, is_error = NULL, duration_ms = NULL
             WHERE key BETWEEN ?1 AND ?2 - 1 AND answer BETWEEN ?2 AND ?3 RETURNING key",
        )?;
        let forgotten = forget.query_map([low.max(first - NEAR), first, last], |r| r.get(0))?;
        let forgotten = forgotten.collect::<Result<Vec<i64>, _>>()?;
        if forgotten.is_empty() {
            return Ok(());
        }
        forgotten.iter().for_each(|call| self.touch(*call, *call));
        self.answer(session, first, (last + 1, high))
    }

    /// Calls that stand less than [`NEAR`] before an entry and have no answer get the first that is
    /// among these entries.
    fn answer(&self, session: i64, before: i64, among: (i64, i64)) -> rusqlite::Result<()> {
        let c = &self.connection;
        let from = key_range(session).0.max(before - NEAR);
        let calls: Vec<(i64, i64, String)> = c
            .prepare_cached(
                "SELECT key, ordinal, call_id FROM _calls
                 WHERE key BETWEEN ?1 AND ?2 - 1 AND NOT is_result AND call_id IS NOT NULL
                   AND is_error IS NULL AND answer IS NULL",
            )?
            .query_map([from, before], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?
            .collect::<Result<_, _>>()?;
        for (call, ordinal, id) in calls {
            let last = among.1.min(call + NEAR);
            let answered = c
                .prepare_cached(
                    "UPDATE _calls SET answer = a.key, is_error = a.is_error,
                                       duration_ms = coalesce(_calls.duration_ms, a.duration_ms)
                     FROM (SELECT key, is_error, duration_ms FROM _calls
                           WHERE key BETWEEN ?3 AND ?4 AND is_result AND call_id = ?5 ORDER BY key, ordinal LIMIT 1) a
                     WHERE _calls.key = ?1 AND ordinal = ?2",
                )?
                .execute(params![call, ordinal, among.0, last, id])?;
            if answered > 0 {
                self.touch(call, call);
            }
        }
        Ok(())
    }

    /// The calls that entries with keys from `first` to `last` answer: the key of the answer, and
    /// where the call stands.
    pub fn calls_answered(&self, first: i64, last: i64) -> Result<Vec<(i64, CallPlace)>, Error> {
        let sql = "SELECT answer, key, ordinal FROM _calls
            WHERE key BETWEEN ?1 - ?3 AND ?2 AND answer BETWEEN ?1 AND ?2 ORDER BY key, ordinal";
        self.all(sql, [first, last, NEAR], |r| {
            let (key, ordinal) = (r.get(1)?, r.get(2)?);
            Ok((r.get(0)?, CallPlace { key, ordinal }))
        })
    }

    /// The tool of a call, and what it is about.
    pub fn call_at(&self, at: CallPlace) -> Result<(Option<String>, Option<String>), Error> {
        let sql = "SELECT tool, subject FROM _calls WHERE key = ?1 AND ordinal = ?2";
        let found = self.first(sql, [at.key, at.ordinal], |r| Ok((r.get(0)?, r.get(1)?)))?;
        Ok(found.unwrap_or_default())
    }

    /// How many calls have another answer than they should, or none (for `verify`).
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn wrongly_answered(&self) -> Result<u64, Error> {
        let sql = "SELECT count(*) FROM _calls c LEFT JOIN _calls a ON a.is_result AND (a.key, a.ordinal) = (
                 SELECT k.key, k.ordinal FROM _calls k
                 WHERE k.key BETWEEN c.key AND c.key + ?1 AND k.key >> 24 = c.key >> 24
                   AND k.is_result AND k.call_id = c.call_id
                 ORDER BY k.key, k.ordinal LIMIT 1)
             WHERE c.is_result AND c.answer IS NOT NULL
                 OR NOT c.is_result AND c.answer IS NULL AND c.is_error IS NULL AND a.key IS NOT NULL
                 OR NOT c.is_result AND c.answer IS NOT NULL AND (c.answer IS NOT a.key OR c.is_error IS NOT a.is_error
                   OR a.duration_ms IS NOT NULL AND c.duration_ms IS NULL)";
        let wrong = self.one(sql, [NEAR], |r| r.get(0))?;
        Ok(i64::cast_unsigned(wrong))
    }
}
