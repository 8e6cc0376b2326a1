//! Which sessions does a list have, and by what are they sorted?

use std::ops::ControlFlow;
use std::path::PathBuf;

use rusqlite::params_from_iter;
use rusqlite::types::Value;
use serde::Serialize;

use super::error::Error;
use super::open::Catalogue;
use crate::model::Sort;

/// What places a session's row in a list.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct SortKeyRow {
    pub session: i64,
    pub root: i64,
    pub listed: bool,
    pub modified_ms: i64,
    pub file_ms: i64,
    pub created_ms: Option<i64>,
    /// What the list is sorted by, where that is not the agents' order; `None` = not recorded.
    pub key: Option<f64>,
    /// Whether it is of the directory asked for.
    pub is_here: bool,
}

/// Which rows are wanted, and with what to sort them by. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)]
pub struct RowSelection {
    pub sort: Sort,
    /// Only those with one of these ids.
    pub ids: Option<Vec<String>>,
    /// Only these.
    pub numbers: Option<Vec<i64>>,
    /// Only those with a name.
    pub named: bool,
    /// Only those whose files are there.
    pub live: bool,
    /// Only those of this machine.
    pub own: bool,
    /// Only those with entries that report an error.
    pub errors: bool,
    /// Only sessions that cost at least this many US dollars.
    pub cost: Option<f64>,
    /// Only those that used a model whose name holds this text.
    pub model: Option<String>,
    /// Only those last modified at this moment or later, in ms.
    pub since_ms: Option<i64>,
    /// Only those last modified before, in ms; with `since_ms`, those in which something happened
    /// between the two.
    pub until_ms: Option<i64>,
    /// Only those of one of these working directories.
    pub folders: Option<Vec<String>>,
    /// Folders (of a session's project, else its working directory) that are the directory asked
    /// for.
    pub here: Option<Vec<String>>,
    /// Remotes whose sessions are there too, where `here` asks for some.
    pub remotes: Vec<String>,
    /// Only those of `here`, by their working directories or remotes, and nothing else is asked:
    /// then no others are read.
    pub only_here: bool,
}

impl RowSelection {
    /// Whether all rows are wanted, in the agents' order.
    pub fn is_all(&self) -> bool {
        *self == RowSelection::default()
    }

    /// The statement, and what is bound to it.
    fn statement(&self) -> (String, Vec<Value>) {
        if self.is_all() {
            // In the agents' order, nearly: what is sorted already is sorted fast.
            let all = "SELECT session, root, listed, modified_ms, file_ms, created_ms, NULL, 1
                       FROM _rows ORDER BY listed DESC, modified_ms DESC, file_ms DESC";
            return (all.to_owned(), Vec::new());
        }
        if let Some(here) = self.here.as_ref().filter(|_| self.only_here) {
            let sql = ONLY_HERE.replace("OWN", OWN);
            return (sql, vec![list(here), list(&self.remotes)]);
        }
        let mut bound = Vec::new();
        let mut bind = |value: Value| {
            bound.push(value);
            format!("?{}", bound.len())
        };
        let here = match &self.here {
            Some(here) => HERE
                .replace("PROJECT", PROJECT)
                .replace("OWN", OWN)
                .replace("FOLDERS", &bind(list(here)))
                .replace("REMOTES", &bind(list(&self.remotes))),
            None => "1".to_owned(),
        };
        let mut asked = vec!["1".to_owned()];
        let lists = [
            (WITH_IDS, self.ids.as_ref().map(list)),
            (WITH_NUMBERS, self.numbers.as_ref().map(list)),
            (OF_FOLDERS, self.folders.as_ref().map(list)),
        ];
        let lists = lists.into_iter();
        asked.extend(lists.filter_map(|(one, list)| Some(one.replace("LIST", &bind(list?)))));
        let marks = [
            (self.named, "trim(s.name) <> ''"),
            (self.live, "s.gone_ms IS NULL"),
            (self.own, OWN),
            (self.errors, "s.errors > 0"),
        ];
        let marks = marks.iter().filter(|(is_asked, _)| *is_asked);
        asked.extend(marks.map(|(_, mark)| (*mark).to_owned()));
        let cost = self.cost.map(|cost| bind(cost.into()));
        asked.extend(cost.map(|cost| format!("s.cost >= {cost}")));
        if let Some(model) = &self.model {
            asked.push(OF_MODEL.replace("MODEL", &bind(model.to_lowercase().into())));
        }
        let since = self.since_ms.map(|since| bind(since.into()));
        let until = self.until_ms.map(|until| bind(until.into()));
        asked.extend(
            since
                .iter()
                .map(|since| format!("s.modified_ms >= {since}")),
        );
        asked.extend(until.map(|until| before(&until, since.as_deref())));
        let key = key(self.sort);
        let some = format!(
            "SELECT r.session, r.root, r.listed, r.modified_ms, r.file_ms, r.created_ms,
                    CAST({key} AS REAL), {here}
             FROM _rows r JOIN _sessions s USING (session) WHERE {}",
            asked.join(" AND ")
        );
        (some, bound)
    }
}

/// Sessions before a moment: last modified then, or with something that happened since another.
fn before(until: &str, since: Option<&str>) -> String {
    match since {
        Some(since) => BETWEEN.replace("SINCE", since).replace("UNTIL", until),
        None => format!("s.modified_ms < {until}"),
    }
}

/// What rows are sorted by.
fn key(sort: Sort) -> &'static str {
    match sort {
        Sort::Agents => "NULL",
        Sort::Modified => "s.modified_ms",
        Sort::Created => "s.created_ms",
        Sort::Messages => "s.messages",
        Sort::Tokens => "s.tokens",
        Sort::Cost => "s.cost",
        Sort::Size => "s.bytes",
        Sort::Errors => "s.errors",
    }
}

/// Sessions with one of these ids: by way of the roots there is an index.
const WITH_IDS: &str = "s.session IN (SELECT i.session FROM _roots o CROSS JOIN json_each(LIST) j
                   CROSS JOIN _sessions i ON i.root = o.root AND i.id = j.value)";

/// Sessions with one of these numbers.
const WITH_NUMBERS: &str = "r.session IN (SELECT value FROM json_each(LIST))";

/// Sessions of one of these working directories.
const OF_FOLDERS: &str = "s.cwd IN (SELECT value FROM json_each(LIST))";

/// Sessions that used a model whose name holds this text.
const OF_MODEL: &str = "(instr(lower(s.model), MODEL) > 0
     OR s.session IN (SELECT key >> 24 FROM _usage WHERE instr(lower(model), MODEL) > 0))";

/// Sessions, modified since the one moment, in which something happened before the other one.
/// Those that went on later are asked for an entry of that time.
const BETWEEN: &str = "(s.modified_ms < UNTIL OR s.created_ms >= SINCE AND s.created_ms < UNTIL
     OR EXISTS (SELECT 1 FROM _entries e
                WHERE e.key BETWEEN s.session << 24 AND (s.session + 1 << 24) - 1
                  AND e.time_ms >= SINCE AND e.time_ms < UNTIL))";

/// The folder that a session is looked for by: its project where its agent goes by projects.
const PROJECT: &str = "coalesce(s.own ->> '$.projectRoot', s.cwd)";

/// Whether a session is of this machine.
const OWN: &str = "s.root IN (SELECT root FROM _roots WHERE host = '')";

/// Whether a session is of one of these folders, or of a repository with one of these remotes. A
/// folder of another machine is none of these, whatever it is called.
const HERE: &str = "(PROJECT IN (SELECT value FROM json_each(FOLDERS)) AND OWN
     OR coalesce(s.repository, s.remote, '') IN (SELECT value FROM json_each(REMOTES)))";

/// The rows of sessions with such a working directory, or such a remote: there is an index for
/// each.
const ONLY_HERE: &str = "SELECT session, root, listed, modified_ms, file_ms, created_ms, NULL, 1
    FROM _rows WHERE session IN (
        SELECT s.session FROM json_each(?1) j CROSS JOIN _sessions s ON s.cwd = j.value WHERE OWN
        UNION SELECT s.session FROM json_each(?2) j
            CROSS JOIN _sessions s ON coalesce(s.repository, s.remote) = j.value)";

/// A session that another one has started, or one below that.
pub struct StartedSession {
    /// Its number.
    pub session: i64,
    /// Number of its root.
    pub root: i64,
    /// Number of the session above it.
    pub above: i64,
    /// Number of the root of the session above it.
    pub root_above: i64,
}

impl Catalogue {
    /// The rows that are wanted, until `each` breaks off. Where all of them are wanted, those that
    /// are listed come first, of these what was modified last, then what was written last; else
    /// there is no order that could be relied on.
    pub fn placed_rows(
        &self,
        wanted: &RowSelection,
        mut each: impl FnMut(SortKeyRow) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let (sql, bound) = wanted.statement();
        self.with(|c| {
            let mut statement = c.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(bound))?;
            while let Some(row) = rows.next()? {
                let row = SortKeyRow {
                    session: row.get(0)?,
                    root: row.get(1)?,
                    listed: row.get(2)?,
                    modified_ms: row.get(3)?,
                    file_ms: row.get(4)?,
                    created_ms: row.get(5)?,
                    key: row.get(6)?,
                    is_here: row.get(7)?,
                };
                if each(row).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// How many rows there are, and the roots that have some.
    pub fn row_count(&self) -> Result<(u64, Vec<i64>), Error> {
        // SQLite counts the rows of a whole index page by page.
        let count = self.one("SELECT count(*) FROM _rows", [], |r| r.get::<_, i64>(0))?;
        let roots = "SELECT root FROM _roots r
            WHERE EXISTS (SELECT 1 FROM _sessions s WHERE s.root = r.root)";
        Ok((count.cast_unsigned(), self.all(roots, [], |r| r.get(0))?))
    }

    /// Sessions without a row: of their first file a part was read so far.
    pub fn sessions_without_row(&self) -> Result<Vec<i64>, Error> {
        let sql = "SELECT session FROM _sessions WHERE path = ''";
        self.all(sql, [], |r| r.get(0))
    }

    /// The path in a session's row; empty when the session is gone.
    pub fn row_path(&self, session: i64) -> Result<PathBuf, Error> {
        let sql = "SELECT path FROM _sessions WHERE session = ?1";
        let path: Option<String> = self.first(sql, [session], |r| r.get(0))?;
        Ok(path.unwrap_or_default().into())
    }

    /// Sessions of subagents, each with the sessions above it that are there: its parent, that
    /// one's parent, and so on. One that has started itself, by way of others, is above itself.
    pub fn subagents(&self) -> Result<Vec<StartedSession>, Error> {
        let sql = "WITH RECURSIVE above(child, parent) AS (
               SELECT session, parent FROM _sessions WHERE subagent AND parent IS NOT NULL
               UNION SELECT child, p.parent FROM above JOIN _sessions p ON p.session = above.parent
                     WHERE p.subagent AND p.parent IS NOT NULL)
            SELECT child, c.root, above.parent, p.root FROM above
              JOIN _sessions c ON c.session = child JOIN _sessions p ON p.session = above.parent";
        self.all(sql, [], |r| {
            Ok(StartedSession {
                session: r.get(0)?,
                root: r.get(1)?,
                above: r.get(2)?,
                root_above: r.get(3)?,
            })
        })
    }

    /// Every folder that sessions are looked for by, and whether it is a project's.
    pub fn folders_of_sessions(&self) -> Result<Vec<(String, bool)>, Error> {
        let sql = format!(
            "SELECT DISTINCT {PROJECT}, (s.own ->> '$.projectRoot') IS NOT NULL FROM _sessions s"
        );
        self.all(&sql, [], |r| Ok((r.get(0)?, r.get(1)?)))
    }
}

/// What `json_each` takes apart.
fn list<T: Serialize>(values: &T) -> Value {
    Value::from(serde_json::json!(values).to_string())
}
