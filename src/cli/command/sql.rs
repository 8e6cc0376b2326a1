//! What else can be asked? Any question in SQL.

mod schema;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};
use sessionary::index::{Rows, SavedCatalogue, SqlPart, StreamOutcome};
use sessionary::model::SCHEMA_VERSION;
use sessionary::{Config, Error, Index};

use crate::background::afterwards;
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::csv;
use crate::output::spool::Spool;
use crate::output::style::Tone;
use crate::output::table::Table;
use crate::output::text::plain_line;
use crate::output::time::money;
use crate::output::{SafeJson, Screen};

/// Query the catalogue in SQL, read-only
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary sql 'SELECT agent, count(*) FROM sessions GROUP BY agent'\n  \
    sessionary sql 'SELECT local_day, round(cost_total, 2) FROM usage_by_local_day'\n  \
    sessionary sql --schema\n  \
    sessionary sql - < report.sql\n  \
    sessionary sql --csv 'SELECT * FROM usage' > usage.csv\n  \
    sessionary sql --jsonl 'SELECT id, cost FROM sessions'\n  \
    sessionary --json sql 'SELECT * FROM problems'\n  \
    sessionary sql --snapshot /srv/share/sessions.sqlite\n  \
    sqlite3 \"file:$(sessionary sql --path)?mode=ro\"\n  \
    sessionary sql --at team 'SELECT host, count(*) FROM sessions GROUP BY host'\n\n\
    CSV (RFC 4180): NULL is an empty field, an empty text is \"\". JSON Lines: one object per row.\n\
    Rows are printed as they are found; only a table waits for all rows, to align its columns.\n\
    raw(entry) is an entry's record as it stands in its file: json_extract(raw(entry), '$.type').\n\
    preview(entry) is its text on one line, cut after 200 characters, without keys and tokens.\n\
    local_day(ms) and local_time(ms) are day and time of a moment in your time zone.\n\
    docs/sql.md describes every view and column. Tables whose names start with _ may change at any time.")]
pub struct Sql {
    /// One SELECT; - reads it from standard input
    #[arg(value_name = "QUERY", required_unless_present_any = ["snapshot", "path", "schema"])]
    query: Option<String>,
    /// Print every view and its columns
    #[arg(long, conflicts_with_all = ["query", "csv", "jsonl", "snapshot", "path"])]
    schema: bool,
    /// Print CSV
    #[arg(long, conflicts_with_all = ["json", "jsonl"])]
    csv: bool,
    /// Print one line of JSON per row
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,
    /// Save the whole catalogue to a new, private file, for containers and other users
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "csv", "jsonl"], add = values::file())]
    snapshot: Option<PathBuf>,
    /// Print the path of the catalogue, for tools that read it themselves
    #[arg(long, conflicts_with_all = ["query", "csv", "jsonl", "snapshot"])]
    path: bool,
    /// Ask the team's database: docs/team.md
    #[arg(long, value_name = "WHERE", conflicts_with_all = ["snapshot", "path"])]
    at: Option<Door>,
}

/// Who answers, if it is not the catalogue.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Door {
    // `sessionary-team`, by the database in which a team shares its sessions.
    Team,
}

/// What `sessionary-team` is asked for in the place of this; `None`: nothing, the catalogue
/// answers.
pub fn for_team(args: &Sql) -> Option<Vec<OsString>> {
    let Door::Team = args.at?;
    let mut arguments = vec!["sql"];
    for (flag, is_set) in [
        ("--csv", args.csv),
        ("--jsonl", args.jsonl),
        ("--schema", args.schema),
    ] {
        arguments.extend(is_set.then_some(flag));
    }
    // A query may begin with a comment, and so as an option does.
    if let Some(query) = &args.query {
        arguments.extend(["--", query]);
    }
    Some(arguments.into_iter().map(OsString::from).collect())
}

pub fn run(args: &Sql, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let typed = match args.query.as_deref() {
        Some("-") => Some(io::read_to_string(io::stdin()).map_err(not_read)?),
        typed => typed.map(str::to_owned),
    };
    if typed.as_ref().is_some_and(|query| query.trim().is_empty()) {
        return Err(
            Failure::usage("the query is empty").hint("`sessionary sql --help` has examples")
        );
    }
    let mut index = super::answerable(super::open(config, screen)?)?;
    if args.path {
        return path(&mut index, screen);
    }
    if args.schema {
        schema::print(&mut index, screen)?;
        return Ok(Outcome::Yes);
    }
    if let Some(file) = &args.snapshot {
        return snapshot(file, &mut index, screen);
    }
    let query = typed.as_deref().unwrap_or_default();
    let ((spool, rows), streamed) = super::answer(|| {
        let mut out = Spool::default();
        let (rows, streamed) = if args.csv {
            // What a terminal would act on is shown as in every table; a file gets every byte.
            let is_terminal = io::stdout().is_terminal();
            as_csv(&index, query, screen, is_terminal, &mut out)?
        } else if args.jsonl {
            as_lines(&index, query, screen, &mut SafeJson(&mut out))?
        } else if screen.json {
            as_json(&index, query, screen, &mut SafeJson(&mut out))?
        } else {
            as_table(&index, query, screen, &mut out)?
        };
        Ok(((out, rows), streamed))
    })
    .map_err(|failure| schema::with_nearest(failure, query, &index))?;
    match args.csv || args.jsonl {
        true => spool.print()?,
        false => super::page(spool, &mut index, screen)?,
    }
    // Files that cannot be read are in the view `problems`; what keeps the catalogue from being
    // current is nowhere in it.
    let streamed = StreamOutcome {
        complete: streamed.complete || index.report().is_some_and(|r| r.files_unreadable > 0),
        ..streamed
    };
    super::say_ended(screen, &index, &streamed);
    afterwards(&mut index, screen);
    Ok(Outcome::of(rows > 0))
}

fn not_read(error: io::Error) -> Failure {
    anyhow::Error::new(error)
        .context("standard input cannot be read")
        .into()
}

fn as_csv(
    index: &Index,
    query: &str,
    screen: &Screen,
    is_terminal: bool,
    out: &mut dyn Write,
) -> Result<(usize, StreamOutcome), Error> {
    let shown = |value: &Value| match value {
        Value::String(text) if is_terminal => Value::from(plain_line(text)),
        other => other.clone(),
    };
    let mut rows = 0;
    let streamed = index.sql_each(query, &[], screen.mask().as_ref(), &mut |part| match part {
        SqlPart::Columns(names) => {
            let names: Vec<Value> = names.iter().map(|name| name.as_str().into()).collect();
            csv::line(out, names.iter().map(shown)).map_err(super::cannot_print)
        }
        SqlPart::Row(values) => {
            rows += 1;
            csv::line(out, values.iter().map(shown)).map_err(super::cannot_print)
        }
    })?;
    Ok((rows, streamed))
}

/// An object a row. Of two columns of one name the second is told by its number.
fn as_lines(
    index: &Index,
    query: &str,
    screen: &Screen,
    out: &mut dyn Write,
) -> Result<(usize, StreamOutcome), Error> {
    let (mut rows, mut keys) = (0, Vec::<String>::new());
    let streamed = index.sql_each(query, &[], screen.mask().as_ref(), &mut |part| match part {
        SqlPart::Columns(names) => {
            for (number, name) in (1..).zip(names) {
                let is_new = !keys.contains(name);
                keys.push(if is_new {
                    name.clone()
                } else {
                    format!("{name}:{number}")
                });
            }
            Ok(())
        }
        SqlPart::Row(values) => {
            rows += 1;
            object(&keys, values, out).map_err(super::cannot_print)
        }
    })?;
    Ok((rows, streamed))
}

/// A row as an object, member by member: a map would put the columns in another order.
fn object(keys: &[String], values: &[Value], out: &mut dyn Write) -> io::Result<()> {
    for (number, (key, value)) in keys.iter().zip(values).enumerate() {
        let before = if number == 0 { '{' } else { ',' };
        write!(out, "{before}{}:{value}", json!(key))?;
    }
    out.write_all(b"}\n")
}

/// One object with all rows, written as they come.
fn as_json(
    index: &Index,
    query: &str,
    screen: &Screen,
    out: &mut dyn Write,
) -> Result<(usize, StreamOutcome), Error> {
    let mut rows = 0;
    let streamed = index.sql_each(query, &[], screen.mask().as_ref(), &mut |part| match part {
        SqlPart::Columns(names) => {
            let names = json!(names);
            write!(
                out,
                r#"{{"schema_version":{SCHEMA_VERSION},"columns":{names},"rows":["#
            )
            .map_err(super::cannot_print)
        }
        SqlPart::Row(values) => {
            let comma = if rows > 0 { "," } else { "" };
            rows += 1;
            write!(out, "{comma}{}", json!(values)).map_err(super::cannot_print)
        }
    })?;
    out.write_all(b"]}\n").map_err(super::cannot_print)?;
    Ok((rows, streamed))
}

/// All rows, lined up.
fn as_table(
    index: &Index,
    query: &str,
    screen: &Screen,
    out: &mut dyn Write,
) -> Result<(usize, StreamOutcome), Error> {
    let mut rows = Rows::default();
    let streamed = index.sql_each(query, &[], screen.mask().as_ref(), &mut |part| {
        match part {
            SqlPart::Columns(names) => rows.columns = names.to_vec(),
            SqlPart::Row(values) => rows.rows.push(values.to_vec()),
        }
        Ok::<(), Error>(())
    })?;
    let table = table(&rows, screen);
    out.write_all(table.as_bytes())
        .map_err(super::cannot_print)?;
    Ok((rows.rows.len(), streamed))
}

/// What `sql --snapshot --json` prints.
#[derive(Serialize)]
struct SnapshotReport<'a> {
    schema_version: u32,
    path: &'a Path,
    bytes: u64,
    complete: bool,
}

fn snapshot(file: &Path, index: &mut Index, screen: &Screen) -> Result<Outcome, Failure> {
    let SavedCatalogue {
        bytes, complete, ..
    } = index.save_catalogue(file)?;
    if screen.json {
        screen.json(&SnapshotReport {
            schema_version: SCHEMA_VERSION,
            path: file,
            bytes,
            complete,
        })?;
    } else {
        screen.print(&format!(
            "{}: {}\n",
            file.display(),
            crate::output::time::bytes(bytes)
        ))?;
    }
    super::say_pending(screen, index, complete, None);
    afterwards(index, screen);
    Ok(Outcome::Yes)
}

fn path(index: &mut Index, screen: &Screen) -> Result<Outcome, Failure> {
    let path = index.config().catalogue_path();
    match screen.json {
        true => screen.json(&json!({"schema_version": SCHEMA_VERSION, "path": path}))?,
        false => screen.print(&format!("{}\n", path.display()))?,
    }
    afterwards(index, screen);
    Ok(Outcome::Yes)
}

/// Columns of the views that hold US dollars.
const MONEY: [&str; 7] = [
    "cost",
    "listed_cost",
    "cost_input",
    "cost_output",
    "cost_cache_read",
    "cost_cache_write",
    "cost_total",
];

fn table(rows: &Rows, screen: &Screen) -> String {
    let mut table = Table::named(rows.columns.iter().map(|name| plain_line(name)));
    for column in 0..rows.columns.len() {
        let mut values = rows
            .rows
            .iter()
            .filter_map(|row| row.get(column))
            .filter(|value| !value.is_null())
            .peekable();
        if values.peek().is_some() && values.all(Value::is_number) {
            table.align_right(column);
        }
    }
    let is_for_people = io::stdout().is_terminal();
    for row in &rows.rows {
        let cells = row.iter().zip(&rows.columns);
        let cells = cells.map(|(value, column)| match value {
            Value::Null => (Tone::Quiet, "NULL".to_owned()),
            Value::String(text) => (Tone::Plain, plain_line(text)),
            other => match other
                .as_f64()
                .filter(|_| is_for_people && MONEY.contains(&column.as_str()))
            {
                Some(usd) => (Tone::Plain, money(usd)),
                None => (Tone::Plain, plain_line(&other.to_string())),
            },
        });
        table.row(cells.collect());
    }
    table.render(screen.style, screen.width)
}
