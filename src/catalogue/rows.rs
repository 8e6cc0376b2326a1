//! What does `list --json` print of each session? Its row as JSON, which is built when the session
//! changes and stored beside the columns that a list sorts by. A list of thousands is then little
//! more than copying.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rusqlite::params;

use super::error::Error;
use super::open::Catalogue;
use super::read::{SESSION, stored_session};
use crate::model::SessionRow;
use crate::source::checkpoint::hash;

/// A row before its agent, label and host, which its root says, and its subagents, which are
/// counted when it is read.
const HEAD: &str = r#"{"agent":"","label":null,"host":null,"subagents":0,"#;

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

    /// The row whose JSON this is.
    pub fn row_of(&self, json: &str) -> Result<SessionRow, Error> {
        self.with_path(serde_json::from_str(json).map_err(|_| not_as_written()))
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
            first_message: Some(format!("{named} the message")),
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
