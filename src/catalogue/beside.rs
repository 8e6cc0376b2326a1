//! Which sources lie beside their root, in a file of names, and is the session there that they
//! name? And what did a file say that lies beside a source, when that was read?

use rusqlite::params;

use super::error::Error;
use super::open::Catalogue;

/// [`is_beside_root`](crate::format::names::is_beside_root) as a range of paths, for which SQLite
/// has an index: from here on, and before.
pub(super) const BESIDE_ROOT: (&str, &str) = ("../", "..0");

impl Catalogue {
    /// Whether a file that lies beside a source held another working directory than this when the
    /// source was read.
    pub fn has_other_cwd(&self, source: i64, cwd: &str) -> Result<bool, Error> {
        let sql = "SELECT coalesce(fold ->> '$.cwd_beside', '') <> ?2
            FROM _checkpoints WHERE source = ?1";
        let other = self.first(sql, params![source, cwd], |r| r.get(0))?;
        Ok(other.unwrap_or(false))
    }

    /// Whether a file that names the session of a source said something else of it than this when
    /// the source was read; `None`: it says nothing.
    pub fn has_other_name(&self, source: i64, said: Option<&str>) -> Result<bool, Error> {
        // A fold may be long, and is not parsed: quotes within its texts are escaped, so that this
        // is nothing but the member, as it was written.
        let text = said.map(|said| serde_json::Value::from(said).to_string());
        let member = format!("\"named_beside\":{}", text.unwrap_or_default());
        let sql = "SELECT (instr(fold, ?2) = 0) = ?3 FROM _checkpoints WHERE source = ?1";
        let as_said = params![source, member, said.is_some()];
        let other = self.first(sql, as_said, |r| r.get(0))?;
        Ok(other.unwrap_or(false))
    }

    /// The names of sessions of a root of which nothing else is left: their sources, and the places
    /// of these sessions.
    pub fn names_of_none(&self, root: i64) -> Result<Vec<(i64, Option<String>)>, Error> {
        let sql = "SELECT source, (SELECT place FROM _session_sources JOIN _sessions USING (session)
                WHERE source = f.source)
            FROM _sources f WHERE root = ?1 AND relative >= ?2 AND relative < ?3
            AND NOT EXISTS (SELECT 1 FROM _session_sources own JOIN _session_sources other USING (session)
                JOIN _sources o ON o.source = other.source
                WHERE own.source = f.source AND NOT (o.relative >= ?2 AND o.relative < ?3))";
        let (from, to) = BESIDE_ROOT;
        self.all(sql, params![root, from, to], |r| Ok((r.get(0)?, r.get(1)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::names::{beside_root, is_beside_root};

    #[test]
    fn the_range_holds_what_lies_beside_a_root() {
        let (from, to) = BESIDE_ROOT;
        let beside = ["", "\u{1}", "a", "names.jsonl/ID", "\u{10ffff}"].map(beside_root);
        let below = ["", ".", "..", "...", "..0", "..a", "a/../b", ".git", "/"];
        let all = beside.iter().map(String::as_str).chain(below);
        for relative in all {
            let is_within = (from..to).contains(&relative);
            assert_eq!(is_within, is_beside_root(relative), "{relative:?}");
        }
        assert!(beside.iter().all(|relative| is_beside_root(relative)));
    }
}
