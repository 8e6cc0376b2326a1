//! The entries that a search reads itself: no more of each than it asks for.

use rusqlite::params;

use super::open::{Catalogue, Error};

/// An entry's place in its source, and the facts that searches filter by.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct OwedRow<'a> {
    pub key: i64,
    pub start: u64,
    pub length: u64,
    pub hash: u64,
    pub time_ms: Option<i64>,
    pub flags: i64,
    pub kind: &'a str,
    pub role: Option<&'a str>,
}

impl Catalogue {
    /// Show the entries of one source whose keys lie in `first..=last`, in file order.
    pub fn owed_entries(
        &self,
        source: i64,
        first: i64,
        last: i64,
        mut each: impl FnMut(OwedRow<'_>),
    ) -> Result<(), Error> {
        let mut run = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(
                "SELECT key, start, length, hash, time_ms, flags, kind, role FROM _entries
                 WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY start",
            )?;
            let mut rows = statement.query(params![first, last, source])?;
            while let Some(row) = rows.next()? {
                let kind = row.get_ref(6)?;
                let role = row.get_ref(7)?;
                each(OwedRow {
                    key: row.get(0)?,
                    start: row.get::<_, i64>(1)? as u64,
                    length: row.get::<_, i64>(2)? as u64,
                    hash: row.get::<_, i64>(3)? as u64,
                    time_ms: row.get(4)?,
                    flags: row.get(5)?,
                    kind: kind.as_str()?,
                    role: role.as_str_or_null()?,
                });
            }
            Ok(())
        };
        self.told(run())
    }
}
