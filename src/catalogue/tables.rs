//! What does the catalogue hold of its sessions, table by table? A store that holds the same of
//! many machines, and makes the views of the contract from it, takes its rows from here.

use rusqlite::Row;

use super::error::Error;
use super::open::Catalogue;

/// A table with all of its rows, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, each with as many values.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What the rows have in it, in their order.
    pub values: Values,
}

/// The values of a column; `None` is NULL.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Reals(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<String>>),
}

/// What is in a column.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Integer,
    Real,
    Text,
}
use Kind::{Integer, Real, Text};

/// What is read of a table, and from what.
struct Source {
    name: &'static str,
    from: &'static str,
    columns: &'static [(&'static str, Kind)],
}

/// All that the views are made from, but for sums and what only this index is concerned with. A
/// session is there once all of its file is in. What has a number comes before what names it.
const SOURCES: &[Source] = &[
    Source {
        name: "_sources",
        from: "(SELECT s.source, r.agent, r.path AS root_path, s.relative, s.length AS size,
                (s.mtime_ns - s.mtime_ns % 1000000) / 1000000 AS mtime_ms, s.consumed, s.unread
            FROM _sources s JOIN _roots r USING (root) ORDER BY s.source)",
        columns: &[
            ("source", Integer),
            ("agent", Text),
            ("root_path", Text),
            ("relative", Text),
            ("size", Integer),
            ("mtime_ms", Integer),
            ("consumed", Integer),
            ("unread", Text),
        ],
    },
    Source {
        name: "_sessions",
        from: "(SELECT s.*, r.agent, r.path AS root_path, r.label,
                coalesce(s.repository, s.remote) AS repository_or_remote
            FROM _sessions s JOIN _roots r USING (root) WHERE s.path <> '' ORDER BY s.session)",
        columns: &[
            ("session", Integer),
            ("agent", Text),
            ("label", Text),
            ("root_path", Text),
            ("path", Text),
            ("id", Text),
            ("cwd", Text),
            ("name", Text),
            ("parent_session", Text),
            ("created_raw", Text),
            ("created_ms", Integer),
            ("modified_ms", Integer),
            ("file_ms", Integer),
            ("messages", Integer),
            ("typed", Text),
            ("first_message", Text),
            ("entries", Integer),
            ("problems", Integer),
            ("errors", Integer),
            ("version", Integer),
            ("leaf", Text),
            ("provider", Text),
            ("model", Text),
            ("tokens", Integer),
            ("cost", Real),
            ("listed_cost", Real),
            ("bytes", Integer),
            ("hidden", Text),
            ("own", Text),
            ("subagent", Integer),
            ("list_order", Text),
            ("git_branch", Text),
            ("thinking_level", Text),
            ("repository_or_remote", Text),
        ],
    },
    Source {
        name: "_session_sources",
        from: "_session_sources",
        columns: &[("session", Integer), ("source", Integer), ("part", Text)],
    },
    Source {
        name: "_entries",
        from: "_entries",
        columns: &[
            ("key", Integer),
            ("source", Integer),
            ("start", Integer),
            ("length", Integer),
            ("line", Integer),
            ("hash", Integer),
            ("kind", Text),
            ("role", Text),
            ("id", Text),
            ("parent", Text),
            ("time_ms", Integer),
            ("agent_sees", Integer),
            ("flags", Integer),
            ("stop_reason", Text),
            ("taken_ms", Integer),
            ("row", Text),
        ],
    },
    Source {
        name: "_calls",
        from: "_calls",
        columns: &[
            ("key", Integer),
            ("ordinal", Integer),
            ("call_id", Text),
            ("tool", Text),
            ("is_result", Integer),
            ("is_error", Integer),
            ("subject", Text),
            ("duration_ms", Integer),
            ("answer", Integer),
        ],
    },
    Source {
        name: "_usage",
        from: "_usage",
        columns: &[
            ("key", Integer),
            ("what", Integer),
            ("counted", Integer),
            ("time_ms", Integer),
            ("model", Text),
            ("input", Integer),
            ("output", Integer),
            ("cache_read", Integer),
            ("cache_write", Integer),
            ("total", Integer),
            ("cost_total", Real),
            ("reasoning", Integer),
            ("provider", Text),
            ("response_id", Text),
            ("cost_input", Real),
            ("cost_output", Real),
            ("cost_cache_read", Real),
            ("cost_cache_write", Real),
            ("said", Integer),
        ],
    },
    Source {
        name: "_stepped",
        from: "_stepped",
        columns: &[
            ("key", Integer),
            ("input", Integer),
            ("output", Integer),
            ("cache_read", Integer),
            ("cache_write", Integer),
            ("reasoning", Integer),
            ("cost_total", Real),
        ],
    },
    Source {
        name: "_runs",
        from: "_runs",
        columns: &[
            ("key", Integer),
            ("turns", Integer),
            ("cost", Real),
            ("duration_ms", Integer),
        ],
    },
    Source {
        name: "_files",
        from: "_files",
        columns: &[
            ("key", Integer),
            ("ordinal", Integer),
            ("path", Text),
            ("modified", Integer),
        ],
    },
    Source {
        name: "_labels",
        from: "_labels",
        columns: &[("key", Integer), ("target", Text), ("text", Text)],
    },
    Source {
        name: "_compactions",
        from: "_compactions",
        columns: &[
            ("key", Integer),
            ("first_kept", Text),
            ("tokens_before", Integer),
        ],
    },
    Source {
        name: "_problems",
        from: "_problems",
        columns: &[
            ("source", Integer),
            ("start", Integer),
            ("length", Integer),
            ("provisional", Integer),
            ("reason", Text),
        ],
    },
    Source {
        name: "_strays",
        from: "(SELECT r.agent, r.path AS root_path, t.relative, t.reason, t.unread
            FROM _strays t JOIN _roots r USING (root))",
        columns: &[
            ("agent", Text),
            ("root_path", Text),
            ("relative", Text),
            ("reason", Text),
            ("unread", Integer),
        ],
    },
];

impl Catalogue {
    /// Every table from which the views about sessions are made, with all of its rows.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn tables(&self) -> Result<Vec<Table>, Error> {
        self.with(|c| SOURCES.iter().map(|source| table(c, source)).collect())
    }
}

fn table(c: &rusqlite::Connection, source: &Source) -> rusqlite::Result<Table> {
    let columns = source.columns.iter();
    let mut columns: Vec<Column> = columns
        .map(|&(name, kind)| Column {
            name,
            values: match kind {
                Integer => Values::Integers(Vec::new()),
                Real => Values::Reals(Vec::new()),
                Text => Values::Texts(Vec::new()),
            },
        })
        .collect();
    let names: Vec<&str> = source.columns.iter().map(|(name, _)| *name).collect();
    let mut asked = c.prepare(&format!("SELECT {} FROM {}", names.join(", "), source.from))?;
    let mut rows = asked.query([])?;
    while let Some(row) = rows.next()? {
        for (at, column) in columns.iter_mut().enumerate() {
            add(row, at, &mut column.values)?;
        }
    }
    Ok(Table {
        name: source.name,
        columns,
    })
}

fn add(row: &Row<'_>, at: usize, values: &mut Values) -> rusqlite::Result<()> {
    match values {
        Values::Integers(values) => values.push(row.get(at)?),
        Values::Reals(values) => values.push(row.get(at)?),
        Values::Texts(values) => values.push(row.get(at)?),
    }
    Ok(())
}
