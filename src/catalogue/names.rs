//! Which sessions have this id, or this path? Found without reading the rows of all the others.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::params;

use super::open::{Catalogue, Error};
use super::read::{StoredSession, numbers};

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
        let run = || -> rusqlite::Result<Vec<i64>> {
            let mut query = self.connection.prepare_cached(sql)?;
            let mut found = Vec::new();
            for root in in_order(roots) {
                let mut rows = query.query(params![root, start])?;
                while let Some(row) = rows.next()? {
                    if !row.get_ref(1)?.as_str()?.starts_with(start) {
                        break;
                    }
                    found.push(row.get(0)?);
                }
            }
            Ok(found)
        };
        self.numbered(&self.told(run())?)
    }

    /// Sessions of some roots with paths that are the one asked for, by root and id.
    pub fn sessions_at(
        &self,
        roots: &[i64],
        mut is_it: impl FnMut(&Path) -> bool,
    ) -> Result<Vec<StoredSession>, Error> {
        // Along the table: by the index each row would be looked up for itself.
        let sql = format!(
            "SELECT session, path, root, id FROM _sessions NOT INDEXED WHERE root IN ({})",
            numbers(roots)
        );
        let mut run = || -> rusqlite::Result<Vec<(i64, String, i64)>> {
            let mut query = self.connection.prepare_cached(&sql)?;
            let (mut rows, mut found) = (query.query([])?, Vec::new());
            while let Some(row) = rows.next()? {
                if is_it(Path::new(row.get_ref(1)?.as_str()?)) {
                    found.push((row.get(2)?, row.get(3)?, row.get(0)?));
                }
            }
            found.sort();
            Ok(found)
        };
        let found: Vec<i64> = self.told(run())?.into_iter().map(|(.., n)| n).collect();
        self.numbered(&found)
    }

    /// Sessions in the order of these numbers.
    fn numbered(&self, sessions: &[i64]) -> Result<Vec<StoredSession>, Error> {
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let places: HashMap<_, _> = (0..).zip(sessions).map(|(at, n)| (*n, at)).collect();
        let mut found = self.sessions_by_number(sessions)?;
        found.sort_by_key(|s| places.get(&s.session).copied().unwrap_or(usize::MAX));
        Ok(found)
    }
}

/// Each once, in the order of their numbers.
fn in_order(roots: &[i64]) -> Vec<i64> {
    let mut roots = roots.to_vec();
    roots.sort_unstable();
    roots.dedup();
    roots
}
