//! Which sessions have this id, and where do all of them lie? Told without reading the rows of all
//! the others.

use std::path::PathBuf;

use rusqlite::{Row, params};

use super::error::Error;
use super::open::Catalogue;
use super::read::{SESSION, StoredSession, numbers, stored_session};
use super::write::key_range;

impl Catalogue {
    /// Sessions of some roots with an id, by root.
    pub fn sessions_with_id(&self, roots: &[i64], id: &str) -> Result<Vec<StoredSession>, Error> {
        let sql = "SELECT session, id FROM _sessions WHERE root = ?1 AND id = ?2 ORDER BY session";
        self.along_ids(roots, sql, id)
    }

    /// Sessions of some roots with ids that begin so, by root and id.
    pub fn sessions_beginning(
        &self,
        roots: &[i64],
        start: &str,
    ) -> Result<Vec<StoredSession>, Error> {
        // In the order of their bytes these ids follow one another.
        let sql =
            "SELECT session, id FROM _sessions WHERE root = ?1 AND id >= ?2 ORDER BY id, session";
        self.along_ids(roots, sql, start)
    }

    fn along_ids(
        &self,
        roots: &[i64],
        sql: &str,
        start: &str,
    ) -> Result<Vec<StoredSession>, Error> {
        self.with(|c| {
            let mut query = c.prepare_cached(sql)?;
            let mut row_of = c.prepare_cached(&format!("{SESSION} WHERE s.session = ?1"))?;
            let mut found = Vec::new();
            for root in in_order(roots) {
                let mut rows = query.query(params![root, start])?;
                while let Some(row) = rows.next()? {
                    if !row.get_ref(1)?.as_str()?.starts_with(start) {
                        break;
                    }
                    found.push(row_of.query_row([row.get::<_, i64>(0)?], stored_session)?);
                }
            }
            Ok(found)
        })
    }

    /// The ids of all sessions of some roots, in no order.
    pub fn ids_of_sessions(&self, roots: &[i64]) -> Result<Vec<Box<str>>, Error> {
        let roots = numbers(roots);
        let sql = format!("SELECT id FROM _sessions WHERE root IN ({roots})");
        self.all(&sql, [], |r| r.get(0))
    }

    /// The ids of a session's entries that begin so, each once and in order.
    pub fn entry_ids(&self, session: i64, start: &str) -> Result<Vec<Box<str>>, Error> {
        let (low, high) = key_range(session);
        let sql = "SELECT DISTINCT id FROM _entries WHERE key BETWEEN ?1 AND ?2
            AND substr(id, 1, length(?3)) = ?3 ORDER BY id";
        self.all(sql, params![low, high, start], |r| r.get(0))
    }

    /// The same, of entries that begin before this byte of their file.
    pub fn entry_ids_before(
        &self,
        session: i64,
        start: &str,
        end: u64,
    ) -> Result<Vec<Box<str>>, Error> {
        let (low, high) = key_range(session);
        let sql = "SELECT DISTINCT id FROM _entries WHERE key BETWEEN ?1 AND ?2
            AND substr(id, 1, length(?3)) = ?3 AND start < ?4 ORDER BY id";
        self.all(sql, params![low, high, start, end.cast_signed()], |r| {
            r.get(0)
        })
    }

    /// The ids and paths of all sessions of some roots, by root and id.
    pub fn paths_of_sessions(&self, roots: &[i64]) -> Result<Vec<(String, PathBuf)>, Error> {
        // Along the table: by the index each row would be looked up for itself.
        let sql = format!(
            "SELECT root, id, session, path FROM _sessions NOT INDEXED WHERE root IN ({})",
            numbers(roots)
        );
        let row = |r: &Row<'_>| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?));
        let mut all: Vec<(i64, String, i64, String)> = self.all(&sql, [], row)?;
        all.sort_unstable();
        let named = all.into_iter().map(|(_, id, _, path)| (id, path.into()));
        Ok(named.collect())
    }
}

/// Each once, in the order of their numbers.
fn in_order(roots: &[i64]) -> Vec<i64> {
    let mut roots = roots.to_vec();
    roots.sort_unstable();
    roots.dedup();
    roots
}
