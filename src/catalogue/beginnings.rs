//! Which entries have this id, or one that begins so? No index tells, but runs tell of nearly all entries that they have not.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use rusqlite::params;

use super::chains::{BEGINNING, begins_alike};
use super::open::{Catalogue, Error};
use super::read::numbers;

/// To read so many rows more costs less than to look for the next one.
const NEAR: i64 = 8;

impl Catalogue {
    /// Entries of sessions of these roots with this id, or whose id begins so; the newest first.
    pub fn keys_of_id(
        &self,
        roots: &[i64],
        id: &str,
        most: usize,
    ) -> Result<(Vec<i64>, u64), Error> {
        let query = format!(
            "SELECT id = ?1, time_ms, key FROM _entries
             WHERE key BETWEEN ?2 AND ?3 AND id >= ?1 AND id < ?1 || char(1114111)
               AND (SELECT root FROM _sessions WHERE session = key >> 24) IN ({})",
            numbers(roots)
        );
        self.with(|c| {
            let mut all = 0;
            let mut statement = c.prepare_cached(&query)?;
            let mut found: Vec<(bool, Option<i64>, i64)> = Vec::new();
            for place in self.places_of_id(id)? {
                let mut rows = statement.query(params![id, place.start(), place.end()])?;
                while let Some(row) = rows.next()? {
                    all += 1;
                    found.push((row.get(0)?, row.get(1)?, row.get(2)?));
                    if found.len() > most.saturating_mul(2) {
                        keep_first(&mut found, most);
                    }
                }
            }
            keep_first(&mut found, most);
            Ok((found.into_iter().map(|(_, _, key)| key).collect(), all))
        })
    }

    /// The entries among which those are whose id begins so: all that stand in no run, and in runs those whose bytes fit.
    fn places_of_id(&self, id: &str) -> rusqlite::Result<Vec<RangeInclusive<i64>>> {
        let everywhere = vec![i64::MIN..=i64::MAX];
        if id.len() < BEGINNING {
            return Ok(everywhere);
        }
        let mut places: Vec<RangeInclusive<i64>> = Vec::new();
        let mut add = |first: i64, last: i64| match places.last_mut() {
            Some(before) if first.saturating_sub(*before.end()) <= NEAR => {
                *before = *before.start()..=last;
            }
            _ => places.push(first..=last),
        };
        let mut chains = self
            .connection
            .prepare_cached("SELECT key, ids FROM _chains ORDER BY key")?;
        let mut chains = chains.query([])?;
        // All before this entry are told.
        let mut from = i64::MIN;
        while let Some(chain) = chains.next()? {
            let first: i64 = chain.get(0)?;
            if first < from {
                // They are damaged: runs do not overlap.
                return Ok(everywhere);
            }
            if first > from {
                add(from, first - 1);
            }
            from = first;
            for is_alike in begins_alike(chain.get_ref(1)?.as_blob()?, id) {
                if is_alike {
                    add(from, from);
                }
                from = from.saturating_add(1);
            }
        }
        add(from, i64::MAX);
        Ok(places)
    }
}

/// The one with this very id first, then the newest.
fn keep_first(found: &mut Vec<(bool, Option<i64>, i64)>, most: usize) {
    found.sort_by_key(|(is_it, time_ms, _)| Reverse((*is_it, *time_ms)));
    found.truncate(most);
}
