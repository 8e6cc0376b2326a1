//! SQL of the user's own: read-only, by SQLite's authorizer.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::Error::{MultipleStatement, SqlInputError, SqliteFailure};
use rusqlite::ErrorCode::AuthorizationForStatementDenied;
use rusqlite::ffi::{SQLITE_ERROR, SQLITE_MISMATCH};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{self, ValueRef};
use rusqlite::{Connection, Statement, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::Error;
use super::open::Catalogue;
use super::raw::{Preview, SharedEntryReader};
use crate::model::Zone;

/// What the refusal of a statement says.
const ONLY_READS: &str = "only reading is allowed: SELECT, and the PRAGMAs table_info, table_xinfo, table_list, user_version and data_version";

/// The answer to a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rows {
    /// Column names.
    pub columns: Vec<String>,
    /// One value per column; blobs as hexadecimal text.
    pub rows: Vec<Vec<Value>>,
}

/// What a query gives, piece by piece.
#[derive(Debug, Clone, Copy)]
pub enum SqlPart<'a> {
    /// The names of its columns: once, and first.
    Columns(&'a [String]),
    /// A row, one value per column; blobs as hexadecimal text.
    Row(&'a [Value]),
}

/// How the answer to a query has ended.
#[derive(Debug, Default)]
pub struct SqlEnd {
    /// Files that `raw(entry)` or `preview(entry)` found to hold other bytes than those catalogued,
    /// by their sources.
    pub changed: BTreeMap<i64, PathBuf>,
    /// Whether there was a full scan since the catalogue was empty.
    pub was_scanned: bool,
}

impl Catalogue {
    /// Run one statement that only reads, on a snapshot of its own, with these values for its
    /// parameters; local days are those of `zone`. An error of `each` ends it and is given back.
    pub fn sql<E>(
        &self,
        query: &str,
        values: &[Value],
        preview: Preview,
        zone: &Zone,
        each: &mut dyn FnMut(SqlPart<'_>) -> Result<(), E>,
    ) -> Result<Result<SqlEnd, E>, Error> {
        // The authorizer goes onto a separate connection, so that our own statements stay allowed.
        let Some(mut own) = Catalogue::open_readable(self.path())? else {
            if self.is_replaced() {
                let path = self.path().to_path_buf();
                return Err(Error::Replaced { path });
            }
            return Ok(each(SqlPart::Columns(&[])).map(|()| SqlEnd::default()));
        };
        // The reader of records costs something, so it is registered only for queries that use it.
        let asked = query.to_ascii_lowercase();
        let raw = match ["raw", "preview"].iter().any(|name| asked.contains(name)) {
            true => Some(SharedEntryReader::register(&own, preview)?),
            false => {
                own.snapshot()?;
                None
            }
        };
        own.with_path(own.see_days_of(zone))?;
        let was_scanned = own.was_scanned()?;
        let answered = answer(&mut own.connection, query, values, each);
        Ok(self.with_path(answered)??.map(|()| SqlEnd {
            changed: raw.map(|raw| raw.changed()).unwrap_or_default(),
            was_scanned,
        }))
    }
}

/// Run a query and give `each` its columns and rows. SQLite's own failures are the outer error; a
/// query that is not allowed or makes no sense is the middle one; an error of `each` the inner one.
fn answer<E>(
    connection: &mut Connection,
    query: &str,
    given: &[Value],
    each: &mut dyn FnMut(SqlPart<'_>) -> Result<(), E>,
) -> rusqlite::Result<Result<Result<(), E>, Error>> {
    connection.authorizer(Some(allow_reading))?;
    let mut statement = match prepare(connection, query)? {
        Ok(statement) => statement,
        Err(refused) => return Ok(Err(refused)),
    };
    let wanted = statement.parameter_count();
    if wanted != given.len() {
        let what = format!(
            "values for its parameters: {wanted}, given: {}",
            given.len()
        );
        return Ok(Err(not_a_query(&what, query, -1)));
    }
    let columns: Vec<String> = statement.column_names().map(str::to_string).collect();
    if let Err(error) = each(SqlPart::Columns(&columns)) {
        return Ok(Ok(Err(error)));
    }
    let mut values = Vec::with_capacity(columns.len());
    let mut rows = statement.query(params_from_iter(given.iter().map(bound)))?;
    loop {
        let row = match rows.next() {
            // A function in the query rejects its values, or a limit is no number.
            Err(SqliteFailure(code, Some(msg)))
                if [SQLITE_ERROR, SQLITE_MISMATCH].contains(&code.extended_code) =>
            {
                return Ok(Err(not_a_query(&msg, query, -1)));
            }
            row => row?,
        };
        let Some(row) = row else {
            return Ok(Ok(Ok(())));
        };
        values.clear();
        for at in 0..columns.len() {
            values.push(value(row.get_ref(at)?));
        }
        if let Err(error) = each(SqlPart::Row(&values)) {
            return Ok(Ok(Err(error)));
        }
    }
}

/// SQLite asks before each thing that a statement does: only what reads is allowed.
fn allow_reading(context: AuthContext<'_>) -> Authorization {
    match context.action {
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
    }
}

/// The statement of a query that reads and has an answer; else why it is refused.
fn prepare<'c>(
    connection: &'c Connection,
    query: &str,
) -> rusqlite::Result<Result<Statement<'c>, Error>> {
    let refused = |what: &str, offset| Ok(Err(not_a_query(what, query, offset)));
    let statement = match connection.prepare(query) {
        Err(SqliteFailure(code, _)) if code.code == AuthorizationForStatementDenied => {
            return refused(ONLY_READS, -1);
        }
        // Several statements may have different columns, and an answer has one set of them.
        Err(MultipleStatement) => return refused("it has more than one statement", -1),
        Err(SqlInputError { msg, offset, .. }) => return refused(&msg, offset),
        // SQLite reports some mistakes in a query without the character at which they stand.
        Err(SqliteFailure(code, Some(msg))) if code.extended_code == SQLITE_ERROR => {
            return refused(&msg, -1);
        }
        prepared => prepared?,
    };
    // The authorizer is not asked about everything that writes: VACUUM is one such statement.
    if !statement.readonly() {
        return refused(ONLY_READS, -1);
    }
    if statement.column_count() == 0 {
        return refused("it asks nothing", -1);
    }
    Ok(Ok(statement))
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

/// A value as SQLite takes it. Numbers beyond its integers become real ones, as in its own SQL.
fn bound(given: &Value) -> types::Value {
    match given {
        Value::Null => types::Value::Null,
        Value::Bool(is) => types::Value::Integer(i64::from(*is)),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => types::Value::Integer(whole),
            None => number
                .as_f64()
                .map_or(types::Value::Null, types::Value::Real),
        },
        Value::String(text) => types::Value::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => types::Value::Text(given.to_string()),
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
