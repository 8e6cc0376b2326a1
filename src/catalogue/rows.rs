//! What does `list --json` print of each session? Its row as JSON, made when the session changes, beside what a list
//! sorts by: a list of thousands is then hardly more than copying.

use rusqlite::params;

use super::open::{Catalogue, Error};
use super::read::{SESSION, stored_session};
use crate::model::SessionRow;

/// A row before its agent and label, which its root says and which are not stored.
const HEAD: &str = r#"{"agent":"","label":null,"#;

/// A session's row, ready to print.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct ReadyRow<'a> {
    pub root: i64,
    pub listed: bool,
    pub modified_ms: i64,
    pub file_ms: i64,
    pub created_ms: Option<i64>,
    /// The JSON object without its head: see [`head`].
    pub json: &'a str,
}

/// The beginning of the rows of one root.
pub fn head(agent: &str, label: Option<&str>) -> Result<String, serde_json::Error> {
    let (agent, label) = (
        serde_json::to_string(agent)?,
        serde_json::to_string(&label)?,
    );
    Ok(format!(r#"{{"agent":{agent},"label":{label},"#))
}

fn without_head(row: SessionRow) -> rusqlite::Result<String> {
    let row = SessionRow {
        agent: String::new(),
        label: None,
        ..row
    };
    let failed = |e: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(e.into());
    let mut json = serde_json::to_string(&row).map_err(failed)?;
    debug_assert!(json.starts_with(HEAD));
    json.drain(..HEAD.len());
    Ok(json)
}

impl Catalogue {
    /// Make the row of a session anew from its columns.
    pub(super) fn make_ready(&self, session: i64) -> rusqlite::Result<()> {
        let c = &self.connection;
        let stored = c
            .prepare_cached(&format!("{SESSION} WHERE s.session = ?1"))?
            .query_row([session], stored_session)?;
        c.prepare_cached(
            "INSERT OR REPLACE INTO _rows SELECT session, root, hidden IS NULL, modified_ms, file_ms, created_ms, ?2
             FROM _sessions WHERE session = ?1",
        )?
        .execute(params![session, without_head(stored.row)?])?;
        Ok(())
    }

    /// All rows, in no order.
    pub fn ready_rows(&self, mut each: impl FnMut(ReadyRow<'_>)) -> Result<(), Error> {
        let mut run = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(
                "SELECT root, listed, modified_ms, file_ms, created_ms, json FROM _rows",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                each(ReadyRow {
                    root: row.get(0)?,
                    listed: row.get(1)?,
                    modified_ms: row.get(2)?,
                    file_ms: row.get(3)?,
                    created_ms: row.get(4)?,
                    json: row.get_ref(5)?.as_str()?,
                });
            }
            Ok(())
        };
        self.told(run())
    }

    /// Sessions whose ready row says something else than their columns.
    pub fn ready_rows_that_differ(&self) -> Result<u64, Error> {
        let run = || -> rusqlite::Result<u64> {
            let c = &self.connection;
            let mut all = c.prepare(SESSION)?;
            let mut rows = all.query([])?;
            let mut same = c.prepare_cached(
                "SELECT count(*) FROM _rows r JOIN _sessions s USING (session)
                 WHERE r.session = ?1 AND r.json = ?2 AND r.root = s.root AND r.listed = (s.hidden IS NULL)
                   AND r.modified_ms = s.modified_ms AND r.file_ms = s.file_ms AND r.created_ms IS s.created_ms",
            )?;
            let mut differ = 0;
            while let Some(row) = rows.next()? {
                let stored = stored_session(row)?;
                let json = without_head(stored.row)?;
                let equal: bool = same.query_row(params![stored.session, json], |r| r.get(0))?;
                differ += u64::from(!equal);
            }
            Ok(differ)
        };
        self.told(run())
    }
}
