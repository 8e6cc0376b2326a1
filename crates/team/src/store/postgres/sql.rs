//! How is a question in SQL answered by the rows of all hosts?
//!
//! In a transaction that only reads, as one statement, in which the names of the contract need no
//! schema. Numbers stay numbers; what else there is comes as the text that PostgreSQL makes of it.

use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::Type;
use serde_json::{Number, Value};
use sessionary::index::SqlPart;

use super::failed;
use crate::error::Error;
use crate::store::EachPart;

/// Give `each` the columns and the rows of the answer.
pub fn answer(
    client: &mut Client,
    query: &str,
    zone: &str,
    each: EachPart<'_>,
) -> Result<(), Error> {
    let transaction = client.build_transaction().read_only(true).start();
    let mut transaction = transaction.map_err(failed)?;
    // No push waits for it, so who reads its rows may take long. What changes the views does.
    let settings = "SET LOCAL search_path = sessionary_catalogue;
        SET LOCAL idle_in_transaction_session_timeout = '1d'";
    transaction.batch_execute(settings).map_err(failed)?;
    let set = "SELECT set_config('TimeZone', $1, true)";
    transaction.execute(set, &[&zone]).map_err(|_| {
        Error::refused(
            format!("the database does not know the time zone {zone}"),
            "set TZ, or `timezone` in the configuration file, to a name such as Europe/Berlin",
        )
    })?;
    // Behind the query a comment may stand at the end of its last line.
    let query = query.trim().trim_end_matches(';');
    let asked = transaction.prepare(query).map_err(failed)?;
    let names: Vec<String> = (asked.columns().iter())
        .map(|column| column.name().to_owned())
        .collect();
    let kinds: Vec<Type> = (asked.columns().iter())
        .map(|column| column.type_().clone())
        .collect();
    if names.is_empty() {
        return Err(Error::refused("it asks nothing", "one SELECT is answered"));
    }
    let output = |source| Error::Io {
        path: "the output".into(),
        source,
    };
    each(SqlPart::Columns(&names)).map_err(output)?;
    // Names may be there twice, so columns are counted.
    let columns: Vec<String> = (1..=names.len()).map(|at| format!("c{at}")).collect();
    let texts: Vec<String> = columns.iter().map(|of| format!("q.{of}::text")).collect();
    let all = format!(
        "SELECT {} FROM (\n{query}\n) AS q ({})",
        texts.join(", "),
        columns.join(", ")
    );
    let parameters: [&str; 0] = [];
    let mut rows = transaction.query_raw(&all, parameters).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let values = kinds.iter().enumerate();
        let values: Vec<Value> = values.map(|(at, kind)| value(row.get(at), kind)).collect();
        each(SqlPart::Row(&values)).map_err(output)?;
    }
    Ok(())
}

fn value(text: Option<&str>, kind: &Type) -> Value {
    let Some(text) = text else {
        return Value::Null;
    };
    let is_whole = [Type::INT2, Type::INT4, Type::INT8, Type::NUMERIC].contains(kind);
    if let (true, Ok(number)) = (is_whole, text.parse::<i64>()) {
        return Value::from(number);
    }
    let is_number = [Type::FLOAT4, Type::FLOAT8, Type::NUMERIC].contains(kind);
    if let (true, Ok(number)) = (is_number, text.parse::<f64>())
        && let Some(number) = Number::from_f64(number)
    {
        return Value::Number(number);
    }
    match (kind, text) {
        (&Type::BOOL, "true") => Value::Bool(true),
        (&Type::BOOL, "false") => Value::Bool(false),
        _ => Value::from(text),
    }
}
