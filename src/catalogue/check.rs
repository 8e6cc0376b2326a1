//! Does every row belong to something?

use super::error::Error;
use super::open::Catalogue;

/// A table, what holds of its rows that belong to something, and what that is.
const OWNERS: [(&str, &str, &str); 18] = [
    (
        "_entries",
        "key >> 24 IN (SELECT session FROM _sessions) AND source IN (SELECT source FROM _sources)",
        "session or source",
    ),
    ("_calls", "key IN (SELECT key FROM _entries)", "entry"),
    ("_usage", "key IN (SELECT key FROM _entries)", "entry"),
    ("_files", "key IN (SELECT key FROM _entries)", "entry"),
    ("_labels", "key IN (SELECT key FROM _entries)", "entry"),
    ("_compactions", "key IN (SELECT key FROM _entries)", "entry"),
    ("_runs", "key IN (SELECT key FROM _entries)", "entry"),
    (
        "_problems",
        "source IN (SELECT source FROM _sources)",
        "source",
    ),
    (
        "_rows",
        "session IN (SELECT session FROM _sessions)",
        "session",
    ),
    (
        "_checkpoints",
        "source IN (SELECT source FROM _sources)",
        "source",
    ),
    (
        "_sessions",
        "session IN (SELECT session FROM _session_sources)",
        "source",
    ),
    (
        "_sources",
        "source IN (SELECT source FROM _session_sources)",
        "session",
    ),
    (
        "_session_sources",
        "source IN (SELECT source FROM _sources) AND session IN (SELECT session FROM _sessions)",
        "session or source",
    ),
    (
        "_sessions",
        "root IN (SELECT s.root FROM _session_sources ss JOIN _sources s USING (source)
                          WHERE ss.session = _sessions.session)",
        "root that holds its sources",
    ),
    ("_strays", "root IN (SELECT root FROM _roots)", "root"),
    ("_folders", "root IN (SELECT root FROM _roots)", "root"),
    (
        "_calls",
        "ordinal = 0 OR EXISTS (SELECT 1 FROM _calls c
                                WHERE c.key = _calls.key AND c.ordinal = _calls.ordinal - 1)",
        "place in its entry",
    ),
    (
        "_files",
        "ordinal = 0 OR EXISTS (SELECT 1 FROM _files f
                                WHERE f.key = _files.key AND f.ordinal = _files.ordinal - 1)",
        "place in its entry",
    ),
];

impl Catalogue {
    /// Rows that belong to nothing.
    pub fn orphans(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        for (table, owner, what) in OWNERS {
            let sql = format!("SELECT count(*) FROM {table} WHERE NOT ({owner})");
            let rows: i64 = self.one(&sql, [], |r| r.get(0))?;
            if rows > 0 {
                found.push(format!("{rows} rows of {table} belong to no {what}"));
            }
        }
        Ok(found)
    }
}
