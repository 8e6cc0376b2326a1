//! SQL of the user's own: read-only, by SQLite's authorizer.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::Error::{MultipleStatement, SqlInputError, SqliteFailure};
use rusqlite::ErrorCode::AuthorizationForStatementDenied;
use rusqlite::ffi::SQLITE_ERROR;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::open::{Catalogue, Error};
use super::raw::{Preview, SharedEntryReader};

/// What the refusal of a statement says.
const ONLY_READS: &str = "only reading is allowed: SELECT, and the PRAGMAs table_info, table_xinfo, table_list, user_version and data_version";

/// The answer to a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// Column names.
    pub columns: Vec<String>,
    /// One value a column; blobs as hexadecimal text.
    pub rows: Vec<Vec<Value>>,
}

/// What a query gives, piece by piece.
#[derive(Debug, Clone, Copy)]
pub enum SqlPart<'a> {
    /// The names of its columns: once, and first.
    Columns(&'a [String]),
    /// A row, one value a column; blobs as hexadecimal text.
    Row(&'a [Value]),
}

/// How the answer to a query has ended.
#[derive(Debug, Default)]
pub struct SqlEnd {
    /// Files that `raw(entry)` or `preview(entry)` found to hold other bytes than those catalogued,
    /// by their sources.
    pub changed: BTreeMap<i64, PathBuf>,
    /// Whether all files had been looked at since the catalogue was empty.
    pub was_scanned: bool,
}

impl Catalogue {
    /// Run one statement that only reads, on a snapshot of its own. An error of `each` ends it and
    /// is given back.
    pub fn sql(
        &self,
        query: &str,
        preview: Preview,
        each: &mut dyn FnMut(SqlPart<'_>) -> std::io::Result<()>,
    ) -> Result<std::io::Result<SqlEnd>, Error> {
        // A connection of its own: what is forbidden here stays allowed for our own statements.
        let Some(mut own) = Catalogue::open_readable(self.path())? else {
            if self.is_replaced() {
                let path = self.path().to_path_buf();
                return Err(Error::Replaced { path });
            }
            return Ok(each(SqlPart::Columns(&[])).map(|()| SqlEnd::default()));
        };
        // Only who asks for records pays for what reads them.
        let asked = query.to_ascii_lowercase();
        let raw = match ["raw", "preview"].iter().any(|name| asked.contains(name)) {
            true => Some(SharedEntryReader::register(&own, preview)?),
            false => {
                own.snapshot()?;
                None
            }
        };
        let was_scanned = own.was_scanned()?;
        let mut run = |connection: &mut rusqlite::Connection| {
            connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
                AuthAction::Function {
                    function_name: "load_extension",
                } => Authorization::Deny,
                AuthAction::Select
                | AuthAction::Read { .. }
                | AuthAction::Function { .. }
                | AuthAction::Recursive => Authorization::Allow,
                AuthAction::Pragma {
                    pragma_name,
                    pragma_value: None,
                } if ["table_info", "table_list", "user_version", "data_version"]
                    .contains(&pragma_name) =>
                {
                    Authorization::Allow
                }
                AuthAction::Pragma {
                    pragma_name: "table_info" | "table_xinfo",
                    ..
                } => Authorization::Allow,
                _ => Authorization::Deny,
            }))?;
            let mut statement = match connection.prepare(query) {
                Err(SqliteFailure(code, _)) if code.code == AuthorizationForStatementDenied => {
                    return Ok(Err(not_a_query(ONLY_READS, query, -1)));
                }
                // Rows of several answers would have the columns of one.
                Err(MultipleStatement) => {
                    return Ok(Err(not_a_query(
                        "it has more than one statement",
                        query,
                        -1,
                    )));
                }
                Err(SqlInputError { msg, offset, .. }) => {
                    return Ok(Err(not_a_query(&msg, query, offset)));
                }
                // The same where SQLite does not know at which character.
                Err(SqliteFailure(code, Some(msg))) if code.extended_code == SQLITE_ERROR => {
                    return Ok(Err(not_a_query(&msg, query, -1)));
                }
                prepared => prepared?,
            };
            // What no authorizer is asked about, as VACUUM.
            if !statement.readonly() {
                return Ok(Err(not_a_query(ONLY_READS, query, -1)));
            }
            if statement.column_count() == 0 {
                return Ok(Err(not_a_query("it asks nothing", query, -1)));
            }
            let columns: Vec<String> = statement.column_names().map(str::to_string).collect();
            if let Err(error) = each(SqlPart::Columns(&columns)) {
                return Ok(Ok(Err(error)));
            }
            let mut values = Vec::with_capacity(columns.len());
            let mut rows = statement.query([])?;
            loop {
                let row = match rows.next() {
                    // What a function of the query makes of its values.
                    Err(SqliteFailure(code, Some(msg))) if code.extended_code == SQLITE_ERROR => {
                        return Ok(Err(not_a_query(&msg, query, -1)));
                    }
                    row => row?,
                };
                let Some(row) = row else { break };
                values.clear();
                for at in 0..columns.len() {
                    values.push(value(row.get_ref(at)?));
                }
                if let Err(error) = each(SqlPart::Row(&values)) {
                    return Ok(Ok(Err(error)));
                }
            }
            Ok(Ok(Ok(())))
        };
        let result: rusqlite::Result<_> = run(&mut own.connection);
        Ok(self.told(result)??.map(|()| SqlEnd {
            changed: raw.map(|raw| raw.changed()).unwrap_or_default(),
            was_scanned,
        }))
    }
}

/// What is wrong with a query, and at which character.
fn not_a_query(what: &str, query: &str, offset: i32) -> Error {
    let before = usize::try_from(offset)
        .ok()
        .and_then(|offset| query.get(..offset));
    let place =
        before.map(|before| format!(", at character {} of the query", before.chars().count() + 1));
    Error::Query {
        message: format!("{what}{}", place.unwrap_or_default()),
    }
}

fn value(stored: ValueRef<'_>) -> Value {
    match stored {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(i) => Value::from(i),
        ValueRef::Real(f) => Value::from(f),
        ValueRef::Text(t) => Value::from(String::from_utf8_lossy(t).into_owned()),
        ValueRef::Blob(b) => Value::from(b.iter().map(|b| format!("{b:02x}")).collect::<String>()),
    }
}
