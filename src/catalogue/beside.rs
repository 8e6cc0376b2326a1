//! Which sources lie beside their root, in a file of names, and is the session there that they
//! name?

use rusqlite::params;

use super::error::Error;
use super::open::Catalogue;

/// The paths below a root that lead to what lies beside it: from here on, and before.
pub(super) const BESIDE: (&str, &str) = ("../", "..0");

impl Catalogue {
    /// The names of sessions of a root of which nothing else is left: their sources, and the places
    /// of these sessions.
    pub fn names_of_none(&self, root: i64) -> Result<Vec<(i64, Option<String>)>, Error> {
        let sql = "SELECT source, (SELECT place FROM _session_sources JOIN _sessions USING (session)
                WHERE source = f.source)
            FROM _sources f WHERE root = ?1 AND relative >= ?2 AND relative < ?3
            AND NOT EXISTS (SELECT 1 FROM _session_sources own JOIN _session_sources other USING (session)
                JOIN _sources o ON o.source = other.source
                WHERE own.source = f.source AND NOT (o.relative >= ?2 AND o.relative < ?3))";
        let (from, to) = BESIDE;
        self.all(sql, params![root, from, to], |r| Ok((r.get(0)?, r.get(1)?)))
    }
}
