//! What do the sessions of all machines say to a question in SQL?

use std::io::{self, IsTerminal, Write};

use clap::Args;
use serde_json::{Value, json};
use sessionary::index::SqlPart;
use sessionary::model::{SCHEMA_VERSION, terminal_safe_json};
use sessionary_team::Error;

use crate::context::Context;
use crate::output::{Outcome, line};

/// Every column of every view of the contract.
const COLUMNS: &str = "SELECT c.table_name, c.column_name FROM information_schema.columns c
    WHERE c.table_schema = 'sessionary_catalogue' AND c.table_name NOT LIKE '\\_%'
    ORDER BY c.table_name, c.ordinal_position";

/// What helps where the server does not take a question.
const DIALECT: &str = "the dialect is PostgreSQL's; docs/team.md says what differs";

/// Ask the sessions of all machines in SQL, where the store is a database
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary sql --at team 'SELECT host, count(*) FROM sessions GROUP BY host'\n  \
    sessionary sql --at team --csv 'SELECT * FROM usage' > usage.csv\n  \
    sessionary sql --at team --schema\n\n\
    The views are those of docs/sql.md, the dialect is PostgreSQL's; docs/team.md says what differs.\n\
    You see what your role may read.\n\
    Exit codes: 0 there are rows; 1 there is none; 2 error.")]
pub struct Sql {
    /// One SELECT; - reads it from standard input
    #[arg(value_name = "QUERY", required_unless_present = "schema")]
    query: Option<String>,
    /// Print every view and its columns
    #[arg(long, conflicts_with_all = ["query", "csv", "jsonl"])]
    schema: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "jsonl")]
    csv: bool,
    /// Print one line of JSON per row
    #[arg(long)]
    jsonl: bool,
}

pub fn run(args: &Sql, context: &Context) -> Result<Outcome, Error> {
    let query = match args.query.as_deref() {
        None => COLUMNS.to_owned(),
        Some("-") => {
            io::read_to_string(io::stdin()).map_err(Error::at("standard input".as_ref()))?
        }
        Some(typed) => typed.to_owned(),
    };
    if query.trim().is_empty() {
        return Err(Error::refused(
            "the query is empty",
            "`sessionary team sql --help` has examples",
        ));
    }
    let settings = context.settings()?;
    let mut store = context.store(&settings.store)?;
    let zone = context.zone()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut answer = Answer::new(args, context);
    let answered = store.sql(&query, &zone, &mut |part| answer.take(part, &mut out));
    let ended = answered.and_then(|()| {
        let ended = answer.end(&mut out).and_then(|()| out.flush());
        ended.map_err(Error::at("the output".as_ref()))
    });
    match ended {
        // Whoever read it has gone.
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {}
        Err(refused) if is_of_the_query(&refused) => {
            return Err(Error::refused(refused.to_string(), DIALECT));
        }
        ended => ended?,
    }
    match answer.rows {
        0 => Ok(Outcome::LeftOut),
        _ => Ok(Outcome::Done),
    }
}

/// Whether the server did not like what it was asked. That it has gone, stops or is full, that a
/// time is over, or that others were in the way, is not the dialect's fault: so begin the SQLSTATEs
/// of that.
fn is_of_the_query(error: &Error) -> bool {
    const OF_THE_SERVER: [&str; 8] = ["08", "25P", "40", "53", "55P03", "57", "58", "XX"];
    match error {
        Error::Database {
            code: Some(code), ..
        } => !OF_THE_SERVER.iter().any(|class| code.starts_with(class)),
        _ => false,
    }
}

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Csv,
    Lines,
    Json,
    Schema,
}

/// An answer that is being printed. Only a table waits for all rows, to align its columns.
struct Answer {
    form: Form,
    is_terminal: bool,
    names: Vec<String>,
    rows: u64,
    kept: Vec<Vec<Value>>,
}

impl Answer {
    fn new(args: &Sql, context: &Context) -> Answer {
        let form = match args {
            Sql { schema: true, .. } => Form::Schema,
            Sql { csv: true, .. } => Form::Csv,
            Sql { jsonl: true, .. } => Form::Lines,
            _ if context.json => Form::Json,
            _ => Form::Table,
        };
        Answer {
            form,
            is_terminal: io::stdout().is_terminal(),
            names: Vec::new(),
            rows: 0,
            kept: Vec::new(),
        }
    }

    fn take(&mut self, part: SqlPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        match part {
            SqlPart::Columns(names) => {
                self.names = names.to_vec();
                match self.form {
                    Form::Csv => self.csv(names.iter().cloned().map(Value::from), out),
                    Form::Json => {
                        let names = json!(names).to_string();
                        let names = terminal_safe_json(&names);
                        let head = format!(r#"{{"schema_version":{SCHEMA_VERSION}"#);
                        write!(out, r#"{head},"columns":{names},"rows":["#)
                    }
                    Form::Table | Form::Lines | Form::Schema => Ok(()),
                }
            }
            SqlPart::Row(values) => {
                self.rows += 1;
                match self.form {
                    Form::Csv => self.csv(values.iter().cloned(), out),
                    Form::Lines => self.object(values, out),
                    Form::Json => {
                        let comma = if self.rows > 1 { "," } else { "" };
                        let values = json!(values).to_string();
                        write!(out, "{comma}{}", terminal_safe_json(&values))
                    }
                    Form::Table | Form::Schema => {
                        self.kept.push(values.to_vec());
                        Ok(())
                    }
                }
            }
        }
    }

    fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.form {
            Form::Json => out.write_all(b"]}\n"),
            Form::Table => self.table(out),
            Form::Schema => self.schema(out),
            Form::Csv | Form::Lines => Ok(()),
        }
    }

    /// As RFC 4180 says; NULL is nothing, an empty text is `""`.
    fn csv(&self, values: impl Iterator<Item = Value>, out: &mut dyn Write) -> io::Result<()> {
        let fields: Vec<String> = values
            .map(|value| match value {
                Value::Null => String::new(),
                Value::String(text) if self.is_terminal => quoted(&line(&text)),
                Value::String(text) => quoted(&text),
                other => other.to_string(),
            })
            .collect();
        write!(out, "{}\r\n", fields.join(","))
    }

    /// Member by member: a map would put the columns in another order. Of two columns of one name
    /// the second is told by its number.
    fn object(&self, values: &[Value], out: &mut dyn Write) -> io::Result<()> {
        for (at, (name, value)) in self.names.iter().zip(values).enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let key = match self.names[..at].contains(name) {
                true => format!("{name}:{}", at + 1),
                false => name.clone(),
            };
            let (key, value) = (json!(key).to_string(), value.to_string());
            let (key, value) = (terminal_safe_json(&key), terminal_safe_json(&value));
            write!(out, "{before}{key}:{value}")?;
        }
        out.write_all(b"}\n")
    }

    fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        let cell = |value: &Value| match value {
            Value::Null => "NULL".to_owned(),
            Value::String(text) => line(text),
            other => other.to_string(),
        };
        let names: Vec<String> = self.names.iter().map(|name| line(name)).collect();
        let rows: Vec<Vec<String>> = (self.kept.iter())
            .map(|row| row.iter().map(cell).collect())
            .collect();
        let length = |text: &String| text.chars().count();
        let width = |at: usize| {
            let cells = rows.iter().map(|row| length(&row[at]));
            let widest = cells.chain([length(&names[at])]).max().unwrap_or(0);
            // A format takes no more.
            widest.min(usize::from(u16::MAX))
        };
        let widths: Vec<usize> = (0..names.len()).map(width).collect();
        let is_number = |at: usize| {
            let mut values = self.kept.iter().map(|row| &row[at]);
            values.all(|value| value.is_number() || value.is_null())
        };
        let is_number: Vec<bool> = (0..names.len()).map(is_number).collect();
        for row in std::iter::once(&names).chain(&rows) {
            let cells: Vec<String> = (row.iter().enumerate())
                .map(|(at, cell)| match (is_number[at], widths[at]) {
                    (true, width) => format!("{cell:>width$}"),
                    (false, width) => format!("{cell:<width$}"),
                })
                .collect();
            writeln!(out, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }

    fn schema(&self, out: &mut dyn Write) -> io::Result<()> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for rows in self.kept.chunk_by(|a, b| a[0] == b[0]) {
            let columns: Vec<String> = rows.iter().map(|row| text(&row[1])).collect();
            writeln!(out, "{}({})", text(&rows[0][0]), columns.join(", "))?;
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    match text.is_empty() || text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
