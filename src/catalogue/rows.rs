//! What does `list --json` print of each session? Its row as JSON, which is built when the session
//! changes and stored beside the columns that a list sorts by. A list of thousands is then little
//! more than copying.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};

use super::error::Error;
use super::open::Catalogue;
use super::read::{SESSION, stored_session};
use crate::model::{SessionRow, Sort};
use crate::source::checkpoint::hash;

/// A row before its agent, label and host, which its root says, and its subagents, which are
/// counted when it is read.
const HEAD: &str = r#"{"agent":"","label":null,"host":null,"subagents":0,"#;

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
    /// Only those last modified at this moment or later, in ms.
    pub since_ms: Option<i64>,
    /// Only those last modified before, in ms.
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
        let list = |folders: &Vec<String>| Value::from(serde_json::json!(folders).to_string());
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
        if let Some(ids) = &self.ids {
            asked.push(WITH_IDS.replace("IDS", &bind(list(ids))));
        }
        let marks = [
            (self.named, "trim(s.name) <> ''"),
            (self.live, "s.gone_ms IS NULL"),
            (self.own, OWN),
            (self.errors, "s.errors > 0"),
        ];
        let marks = marks.iter().filter(|(is_asked, _)| *is_asked);
        asked.extend(marks.map(|(_, mark)| (*mark).to_owned()));
        if let Some(cost) = self.cost {
            asked.push(format!("s.cost >= {}", bind(cost.into())));
        }
        if let Some(since) = self.since_ms {
            asked.push(format!("s.modified_ms >= {}", bind(since.into())));
        }
        if let Some(until) = self.until_ms {
            asked.push(format!("s.modified_ms < {}", bind(until.into())));
        }
        if let Some(folders) = &self.folders {
            let folders = bind(list(folders));
            asked.push(format!("s.cwd IN (SELECT value FROM json_each({folders}))"));
        }
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
const WITH_IDS: &str = "s.session IN (SELECT i.session FROM _roots o CROSS JOIN json_each(IDS) j
                   CROSS JOIN _sessions i ON i.root = o.root AND i.id = j.value)";

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

/// The beginning of a row.
pub fn head(
    agent: &str,
    label: Option<&str>,
    host: Option<&str>,
    subagents: u64,
) -> Result<String, serde_json::Error> {
    let agent = serde_json::to_string(agent)?;
    let (label, host) = (
        serde_json::to_string(&label)?,
        serde_json::to_string(&host)?,
    );
    Ok(format!(
        r#"{{"agent":{agent},"label":{label},"host":{host},"subagents":{subagents},"#
    ))
}

/// What was said in a row without its head, as it reads: the name, the first message, provider and
/// model, the branch with what follows, and what only its agent records; empty where there is none.
/// Beside them stand ids, paths, numbers and commands.
pub fn said(json: &str) -> [Cow<'_, str>; 5] {
    static MEMBERS: LazyLock<[Finder<'static>; 8]> = LazyLock::new(|| {
        [
            r#","name":"#,
            r#","parentSessionPath":"#,
            r#","firstMessage":"#,
            r#","listed_by_agent":"#,
            r#","provider":"#,
            r#","tokens":"#,
            r#","git_branch":"#,
            r#","own":"#,
        ]
        .map(Finder::new)
    });
    // In a text every quote has a backslash before it, so these are the members themselves.
    let mut ends = [json.len(); 8];
    let mut from = 0;
    for (end, member) in ends.iter_mut().zip(&*MEMBERS) {
        let Some(at) = member.find(&json.as_bytes()[from..]) else {
            continue;
        };
        *end = from + at;
        from = *end + member.needle().len();
    }
    let [name, parent, message, listed, provider, tokens, branch, own] = ends;
    if listed == json.len() {
        // No row: nothing of it is known to be none.
        let mut all = [const { Cow::Borrowed("") }; 5];
        all[0] = as_it_reads(json);
        return all;
    }
    let part = |member: usize, end: usize| {
        let value = json.get(member..end).and_then(|part| part.split_once(':'));
        match value {
            Some((_, "null")) | None => Cow::Borrowed(""),
            Some((_, value)) => as_it_reads(value),
        }
    };
    [
        part(name, parent),
        part(message, listed),
        part(provider, tokens),
        part(branch, own),
        part(own, json.len()),
    ]
}

/// JSON with what its escapes stand for in place of them: no JSON any more, but what is in its
/// strings can be found in it.
fn as_it_reads(json: &str) -> Cow<'_, str> {
    let mut rest = json;
    let mut text = String::new();
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let mut behind = rest[at + 1..].chars();
        match behind.next() {
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            // serde_json writes no others than those of control characters.
            Some('u') => {
                let code = behind.as_str().get(..4);
                let code = code.and_then(|hex| u32::from_str_radix(hex, 16).ok());
                text.extend(code.and_then(char::from_u32));
                behind = behind.as_str().get(4..).unwrap_or_default().chars();
            }
            // A quote, a slash or a backslash.
            Some(other) => text.push(other),
            None => {}
        }
        rest = behind.as_str();
    }
    if rest.len() == json.len() {
        return Cow::Borrowed(json);
    }
    text.push_str(rest);
    Cow::Owned(text)
}

fn without_head(row: SessionRow) -> rusqlite::Result<String> {
    let row = SessionRow {
        agent: String::new(),
        label: None,
        host: None,
        subagents: 0,
        ..row
    };
    let failed = |e: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(e.into());
    let mut json = serde_json::to_string(&row).map_err(failed)?;
    debug_assert!(json.starts_with(HEAD));
    json.drain(..HEAD.len());
    Ok(json)
}

/// A hash by which a row's JSON is checked when it is read, because it is printed without being
/// parsed.
fn row_hash(session: i64, json: &str) -> i64 {
    (hash(json.as_bytes()) ^ session.cast_unsigned()).cast_signed()
}

/// A row's JSON is not what was written: the catalogue is damaged.
fn not_as_written() -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(1, "json".to_owned(), rusqlite::types::Type::Text)
}

fn as_written<'r>(row: &'r rusqlite::Row<'_>, session: i64) -> rusqlite::Result<&'r str> {
    let json = row.get_ref(0)?.as_str().map_err(|_| not_as_written())?;
    match row.get::<_, i64>(1)? == row_hash(session, json) {
        true => Ok(json),
        false => Err(not_as_written()),
    }
}

impl Catalogue {
    /// Build the JSON row of a session again from its columns.
    pub(super) fn make_ready(&self, session: i64) -> rusqlite::Result<()> {
        let c = &self.connection;
        let stored = c
            .prepare_cached(&format!("{SESSION} WHERE s.session = ?1"))?
            .query_row([session], stored_session)?;
        let json = without_head(stored.row)?;
        c.prepare_cached(
            "INSERT OR REPLACE INTO _rows (session, root, listed, modified_ms, file_ms, created_ms, json, hash)
             SELECT session, root, hidden IS NULL, modified_ms, file_ms, created_ms, ?2, ?3
             FROM _sessions WHERE session = ?1",
        )?
        .execute(params![session, json, row_hash(session, &json)])?;
        Ok(())
    }

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

    /// Show the JSON of these sessions' rows without their heads, one after the other, with the
    /// position of the session. Sessions that are gone are left out. A text is not copied for it: a
    /// list of 18,000 sessions takes a quarter less time.
    pub fn each_ready_row<E: From<Error>>(
        &self,
        sessions: impl Iterator<Item = i64>,
        mut each: impl FnMut(usize, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = "SELECT json, hash FROM _rows WHERE session = ?1";
        let mut statement = self.with_path(self.connection.prepare_cached(sql))?;
        for (at, session) in sessions.enumerate() {
            let mut rows = self.with_path(statement.query([session]))?;
            if let Some(row) = self.with_path(rows.next())? {
                each(at, self.with_path(as_written(row, session))?)?;
            }
        }
        Ok(())
    }

    /// The path in a session's row; empty when the session is gone.
    pub fn row_path(&self, session: i64) -> Result<PathBuf, Error> {
        let sql = "SELECT path FROM _sessions WHERE session = ?1";
        let path: Option<String> = self.first(sql, [session], |r| r.get(0))?;
        Ok(path.unwrap_or_default().into())
    }

    /// The row whose JSON this is.
    pub fn row_of(&self, json: &str) -> Result<SessionRow, Error> {
        self.with_path(serde_json::from_str(json).map_err(|_| not_as_written()))
    }

    /// Sessions of subagents, each with the sessions above it that are there: its parent, that
    /// one's parent, and so on.
    pub fn subagents(&self) -> Result<Vec<(i64, i64)>, Error> {
        let sql = "WITH RECURSIVE above(child, root, parent) AS (
               SELECT session, root, parent_session FROM _sessions WHERE subagent
               UNION SELECT child, p.root, p.parent_session FROM above JOIN _sessions p
                     ON p.root = above.root AND p.id = above.parent AND p.subagent)
            SELECT DISTINCT child, p.session FROM above JOIN _sessions p
              ON p.root = above.root AND p.id = above.parent AND p.session <> child";
        self.all(sql, [], |r| Ok((r.get(0)?, r.get(1)?)))
    }

    /// Every folder that sessions are looked for by, and whether it is a project's.
    pub fn folders_of_sessions(&self) -> Result<Vec<(String, bool)>, Error> {
        let sql = format!(
            "SELECT DISTINCT {PROJECT}, (s.own ->> '$.projectRoot') IS NOT NULL FROM _sessions s"
        );
        self.all(&sql, [], |r| Ok((r.get(0)?, r.get(1)?)))
    }

    /// Sessions whose ready row says something else than their columns.
    pub fn ready_rows_that_differ(&self) -> Result<u64, Error> {
        self.with(|c| {
            let mut all = c.prepare(SESSION)?;
            let mut rows = all.query([])?;
            let mut same = c.prepare_cached(
                "SELECT count(*) FROM _rows r JOIN _sessions s USING (session)
                 WHERE r.session = ?1 AND r.json = ?2 AND r.hash = ?3 AND r.root = s.root AND r.listed = (s.hidden IS NULL)
                   AND r.modified_ms = s.modified_ms AND r.file_ms = s.file_ms AND r.created_ms IS s.created_ms",
            )?;
            let mut differ = 0;
            while let Some(row) = rows.next()? {
                let stored = stored_session(row)?;
                // While the first file of a session is read in parts it has no row yet.
                if stored.row.path.as_os_str().is_empty() {
                    continue;
                }
                let json = without_head(stored.row)?;
                let equal: bool = same.query_row(
                    params![stored.session, json, row_hash(stored.session, &json)],
                    |r| r.get(0),
                )?;
                differ += u64::from(!equal);
            }
            Ok(differ)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_parts_with_what_was_said_hold_all_of_it() {
        let named = r#","listed_by_agent":true,"own":1,"name":"#;
        let row = SessionRow {
            path: named.into(),
            id: named.to_owned(),
            cwd: named.to_owned(),
            name: Some(format!("{named} the name")),
            first_message: format!("{named} the message"),
            provider: Some(named.to_owned()),
            model: Some("the model".to_owned()),
            git_branch: Some("the branch".to_owned()),
            own: Some(json!({ named: "what is its own" })),
            ..SessionRow::default()
        };
        let json = without_head(row.clone()).unwrap();
        let [name, message, ran, branch, own] = said(&json);
        assert_eq!(name, format!("\"{named} the name\""));
        assert_eq!(message, format!("\"{named} the message\""));
        assert!(ran.contains(named) && ran.contains("the model"));
        assert!(branch.starts_with("\"the branch\""));
        assert!(own.contains("what is its own"));
        let bare = SessionRow {
            name: None,
            own: None,
            ..row
        };
        let json = without_head(bare).unwrap();
        let [name, message, _, _, own] = said(&json);
        assert_eq!([&*name, &*own], ["", ""]);
        assert_eq!(message, format!("\"{named} the message\""));
        assert_eq!(said("{}"), ["{}", "", "", "", ""]);
    }

    #[test]
    fn escapes_read_as_what_they_stand_for() {
        for text in [
            "plain",
            "two\nlines\r\n\tand \"quotes\" \\ \\\\ \\n \\\\n",
            "\u{1b}[1m\u{8}\u{c}\u{0} é 日本 \u{10ffff}\\",
            "\\",
            "\\\"",
            "",
        ] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(as_it_reads(&json), format!("\"{text}\""));
        }
    }
}
