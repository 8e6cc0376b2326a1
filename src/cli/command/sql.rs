//! What else can be asked? Any question in SQL.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use sessionary::model::SCHEMA_VERSION;
use sessionary::{Config, Index, Rows};

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::style::Tone;
use crate::output::table::Table;
use crate::output::text::plain_line;

/// Ask the catalogue in SQL, read-only
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary sql 'SELECT agent, count(*) FROM sessions GROUP BY agent'\n  \
    sessionary sql \"SELECT name FROM sqlite_schema WHERE type = 'view'\"\n  \
    sessionary --json sql 'SELECT * FROM problems'\n  \
    sessionary sql --snapshot /srv/share/sessions.sqlite\n\n\
    migrations/README.md in the source describes every view and column. Tables whose names begin with _\n\
    may change at any time.")]
pub struct Sql {
    /// One SELECT
    #[arg(value_name = "QUERY", required_unless_present = "snapshot")]
    query: Option<String>,
    /// Save the whole catalogue as one new, private file, for containers and other users
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    snapshot: Option<PathBuf>,
}

/// What `sql --json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    schema_version: u32,
    columns: &'a [String],
    rows: &'a [Vec<Value>],
}

pub fn run(args: &Sql, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let mut index = super::open(config, screen)?;
    if let Some(file) = &args.snapshot {
        return snapshot(file, &mut index, screen);
    }
    let rows = index.sql(args.query.as_deref().unwrap_or_default())?;
    if screen.json {
        screen.json(&Answer {
            schema_version: SCHEMA_VERSION,
            columns: &rows.columns,
            rows: &rows.rows,
        })?;
    } else {
        screen.print(&table(&rows, screen))?;
    }
    super::afterwards(&mut index);
    Ok(Outcome::found(!rows.rows.is_empty()))
}

/// What `sql --snapshot --json` prints.
#[derive(Serialize)]
struct Saved<'a> {
    schema_version: u32,
    path: &'a Path,
    bytes: u64,
    complete: bool,
}

fn snapshot(file: &Path, index: &mut Index, screen: &Screen) -> Result<Outcome, Failure> {
    let (bytes, complete) = index.save_catalogue(file)?;
    if screen.json {
        screen.json(&Saved {
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
    super::afterwards(index);
    Ok(Outcome::Found)
}

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
    for row in &rows.rows {
        table.row(
            row.iter()
                .map(|value| match value {
                    Value::Null => (Tone::Quiet, "NULL".to_owned()),
                    Value::String(text) => (Tone::Plain, plain_line(text)),
                    other => (Tone::Plain, plain_line(&other.to_string())),
                })
                .collect(),
        );
    }
    table.render(screen.style, screen.width)
}
