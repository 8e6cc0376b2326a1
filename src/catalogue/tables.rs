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

/// What is read of a table, and from what.
struct Source {
    name: &'static str,
    from: &'static str,
    /// Each as `name:kind`: `i` an integer, `r` a real, `t` a text.
    columns: &'static str,
}

impl Source {
    /// The name and the kind of each column.
    fn columns(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let columns = self.columns.split_whitespace();
        columns.filter_map(|column| column.split_once(':'))
    }
}

/// All that the views are made from, but for sums and what only this index is concerned with. A
/// session is there once all of its file is in. What has a number comes before what names it.
const SOURCES: &[Source] = &[
    Source {
        name: "_sources",
        from: "(SELECT s.source, r.agent, r.path AS root_path, s.relative, s.length AS size,
                (s.mtime_ns - s.mtime_ns % 1000000) / 1000000 AS mtime_ms, s.consumed, s.unread
            FROM _sources s JOIN _roots r USING (root) ORDER BY s.source)",
        columns: "source:i agent:t root_path:t relative:t size:i mtime_ms:i consumed:i \
            unread:t",
    },
    Source {
        name: "_sessions",
        from: "(SELECT s.*, r.agent, r.path AS root_path, r.label,
                coalesce(s.repository, s.remote) AS repository_or_remote
            FROM _sessions s JOIN _roots r USING (root) WHERE s.path <> '' ORDER BY s.session)",
        columns: "session:i agent:t label:t root_path:t path:t id:t cwd:t name:t \
            parent_session:t created_raw:t created_ms:i modified_ms:i file_ms:i \
            messages:i typed:t first_message:t entries:i problems:i errors:i version:i \
            leaf:t provider:t model:t tokens:i cost:r listed_cost:r bytes:i hidden:t \
            own:t subagent:i list_order:t git_branch:t thinking_level:t \
            repository_or_remote:t",
    },
    Source {
        name: "_session_sources",
        from: "_session_sources",
        columns: "session:i source:i part:t",
    },
    Source {
        name: "_entries",
        from: "_entries",
        columns: "key:i source:i start:i length:i line:i hash:i kind:t role:t id:t parent:t \
            time_ms:i agent_sees:i flags:i stop_reason:t taken_ms:i row:t",
    },
    Source {
        name: "_calls",
        from: "_calls",
        columns: "key:i ordinal:i call_id:t tool:t is_result:i is_error:i subject:t \
            duration_ms:i answer:i",
    },
    Source {
        name: "_usage",
        from: "_usage",
        columns: "key:i what:i counted:i time_ms:i model:t input:i output:i cache_read:i \
            cache_write:i total:i cost_total:r reasoning:i provider:t response_id:t \
            cost_input:r cost_output:r cost_cache_read:r cost_cache_write:r said:i",
    },
    Source {
        name: "_stepped",
        from: "_stepped",
        columns: "key:i input:i output:i cache_read:i cache_write:i reasoning:i cost_total:r",
    },
    Source {
        name: "_runs",
        from: "_runs",
        columns: "key:i turns:i cost:r duration_ms:i",
    },
    Source {
        name: "_files",
        from: "_files",
        columns: "key:i ordinal:i path:t modified:i",
    },
    Source {
        name: "_labels",
        from: "_labels",
        columns: "key:i target:t text:t",
    },
    Source {
        name: "_compactions",
        from: "_compactions",
        columns: "key:i first_kept:t tokens_before:i",
    },
    Source {
        name: "_problems",
        from: "_problems",
        columns: "source:i start:i length:i provisional:i reason:t",
    },
    Source {
        name: "_strays",
        from: "(SELECT r.agent, r.path AS root_path, t.relative, t.reason, t.unread
            FROM _strays t JOIN _roots r USING (root))",
        columns: "agent:t root_path:t relative:t reason:t unread:i",
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
    let mut columns: Vec<Column> = (source.columns())
        .map(|(name, kind)| Column {
            name,
            values: match kind {
                "i" => Values::Integers(Vec::new()),
                "r" => Values::Reals(Vec::new()),
                _ => Values::Texts(Vec::new()),
            },
        })
        .collect();
    let names: Vec<&str> = source.columns().map(|(name, _)| name).collect();
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

#[cfg(test)]
mod tests {
    #[test]
    fn every_column_has_a_name_and_a_kind() {
        for source in super::SOURCES {
            let kinds: Vec<&str> = source.columns().map(|(_, kind)| kind).collect();
            assert_eq!(kinds.len(), source.columns.split_whitespace().count());
            assert!(kinds.iter().all(|kind| ["i", "r", "t"].contains(kind)));
        }
    }
}
