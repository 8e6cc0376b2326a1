//! Which sessions does a database hold, and has each changed? Its rows are not read for that.
//!
//! The identity of a session in a database is its change stamp, in the fields of a file's: when its
//! own row was changed and its number in the agent's sequence, by which a look tells what may have
//! changed; how many rows it has, the greatest of their times, and the sum of them. Where the agent
//! keeps such a sequence, rows are counted only of sessions whose number or own row is another one.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::documents::store;
use super::open::read;
use super::rows::each_line;
use super::schema::{Present, quoted};
use super::shelf::within;
use super::turns::Sums;
use crate::format::database::{Database, Layout, Shelf, Stamp};
use crate::format::identity::Identity;
use crate::format::stable_hash;

/// What is known of sessions.
#[derive(Clone, Copy)]
pub struct KnownIdentities<'a> {
    /// By the key of one its identity when it was read.
    pub of: &'a dyn Fn(&str) -> Option<Identity>,
    /// Whether that stands where the agent notes no change.
    pub stand: bool,
}

impl KnownIdentities<'_> {
    /// The identity that stands where the agent notes no change.
    pub fn standing(&self, key: &str) -> Option<Identity> {
        (self.of)(key).filter(|_| self.stand)
    }
}

/// The number of a session of which the agent keeps none.
const NO_NUMBER: i64 = -1;
const NS_A_MS: i64 = 1_000_000;

/// Every session of the database at `path` with its identity. Those whose number and own row are as
/// `known` keep their identity, uncounted. Nor are rows counted of those that are read whatever
/// would come of it: these have an identity that none is read with.
///
/// # Errors
/// When the database cannot be read.
pub fn list(
    path: &Path,
    database: &'static Database,
    known: KnownIdentities<'_>,
) -> io::Result<BTreeMap<String, Identity>> {
    if let Some(documents) = store(path, database) {
        return documents.list(known);
    }
    read(path, |connection| {
        let mut all = BTreeMap::new();
        for layout in database.layouts {
            if let Some(stamps) = Stamps::of(connection, layout)? {
                stamps.each(known, &mut all)?;
            }
        }
        Ok(all)
    })
}

/// The identity of the session of that key in the database at `path`.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is none; when the database cannot be read.
pub fn identity(path: &Path, database: &'static Database, session: &str) -> io::Result<Identity> {
    if let Some(documents) = store(path, database) {
        return documents.identity(session);
    }
    let found = read(path, |connection| {
        for layout in database.layouts {
            if let Some(stamps) = Stamps::of(connection, layout)?
                && let Some(identity) = stamps.one(session)?
            {
                return Ok(Some(identity));
            }
        }
        Ok(None)
    })?;
    found.ok_or_else(|| ErrorKind::NotFound.into())
}

/// A key as text; rows without one are no sessions.
pub(super) fn key(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Integer(number) => Some(number.to_string()),
        _ => None,
    })
}

/// The change stamps of sessions of one layout.
pub(super) struct Stamps<'c> {
    connection: &'c Connection,
    /// Key, change time and number of sessions, to be grouped by the key.
    sessions: String,
    /// The key's column.
    key: String,
    has_numbers: bool,
    /// Of each table what is counted of one session.
    counts: Vec<Count>,
}

/// What is counted of the rows of a session in a table.
enum Count {
    /// A statement that gives their number, the greatest of their times and a sum.
    Sums(String),
    /// All they say.
    Whole(Present),
    /// A statement that gives the names of the files of what is put away, and their folder.
    Files(String, PathBuf),
}

impl Count {
    fn of(present: Present) -> Count {
        let table = present.table;
        let (newest, sum) = match table.stamp {
            Stamp::Whole => return Count::Whole(present),
            Stamp::Last => ("0".to_owned(), format!("max({})", quoted(table.key))),
            Stamp::Times => {
                let changed = present.changed();
                (
                    format!("max({changed})"),
                    format!("sum({changed} % {})", Sums::MOST_OF_TIME),
                )
            }
        };
        Count::Sums(format!(
            "SELECT count(*), coalesce({newest}, 0), coalesce({sum}, 0) FROM {} WHERE {}",
            quoted(table.name),
            present.of_session,
        ))
    }

    /// The files of a shelf, if it has any.
    fn files(
        connection: &Connection,
        shelf: &Shelf,
        layout: &'static Layout,
    ) -> rusqlite::Result<Option<Count>> {
        let folder = connection.path().map(Path::new).and_then(Path::parent);
        let (Some((below, name)), Some(folder)) = (shelf.file, folder) else {
            return Ok(None);
        };
        let present = Present::of(connection, shelf.table, layout)?;
        Ok(present.filter(|own| own.has(name)).map(|own| {
            let (name, table) = (quoted(name), quoted(own.table.name));
            let sql = format!(
                "SELECT {name} FROM {table} WHERE {} AND {} IS NULL",
                own.of_session,
                quoted(shelf.blob),
            );
            Count::Files(sql, folder.join(below))
        }))
    }
}

impl<'c> Stamps<'c> {
    /// `None`: the database is of another layout.
    pub fn of(
        connection: &'c Connection,
        layout: &'static Layout,
    ) -> rusqlite::Result<Option<Stamps<'c>>> {
        let Some(sessions) = Present::of(connection, &layout.sessions, layout)? else {
            return Ok(None);
        };
        let mut counts = Vec::new();
        for table in layout.rows {
            let inner = table.inner.map(|inner| inner.table);
            let shelves = table.shelves.iter().map(|shelf| shelf.table);
            for table in [table].into_iter().chain(inner).chain(shelves) {
                if let Some(present) = Present::of(connection, table, layout)? {
                    counts.push(Count::of(present));
                }
            }
            for shelf in table.shelves {
                counts.extend(Count::files(connection, shelf, layout)?);
            }
        }
        let sequence = match layout.sequence {
            Some(sequence) => super::schema::columns(connection, sequence.table)?
                .iter()
                .any(|column| column == sequence.number)
                .then_some(sequence),
            None => None,
        };
        let key = format!("s.{}", quoted(layout.sessions.session));
        let changed = match sessions.has(layout.sessions.changed) {
            true => format!("max(s.{})", quoted(layout.sessions.changed)),
            false => "0".to_owned(),
        };
        let (number, join) = match sequence {
            Some(sequence) => (
                format!("coalesce(max(n.{}), {NO_NUMBER})", quoted(sequence.number)),
                format!(
                    " LEFT JOIN {} n ON n.{} = {key}",
                    quoted(sequence.table),
                    quoted(sequence.session)
                ),
            ),
            None => (NO_NUMBER.to_string(), String::new()),
        };
        let name = quoted(layout.sessions.name);
        Ok(Some(Stamps {
            connection,
            sessions: format!("SELECT {key}, coalesce({changed}, 0), {number} FROM {name} s{join}"),
            key,
            has_numbers: sequence.is_some(),
            counts,
        }))
    }

    /// Add every session that is not there yet.
    pub fn each(
        &self,
        known: KnownIdentities<'_>,
        all: &mut BTreeMap<String, Identity>,
    ) -> rusqlite::Result<()> {
        let sql = format!("{} GROUP BY {}", self.sessions, self.key);
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some(key) = key(row, 0)?.filter(|key| !all.contains_key(key)) else {
                continue;
            };
            let (changed, number) = (integer(row, 1)?, integer(row, 2)?);
            let is_known = |known: &Identity| (known.device, known.inode) == (changed, number);
            let says_all = self.has_numbers && number != NO_NUMBER;
            let identity = match (known.of)(&key) {
                Some(known) if !is_known(&known) => uncounted(changed, number),
                Some(stands) if known.stand && says_all => stands,
                Some(_) => self.counted(&key, changed, number)?,
                None => uncounted(changed, number),
            };
            all.insert(key, identity);
        }
        Ok(())
    }

    /// The identity of one session; `None`: there is none of this key.
    pub fn one(&self, session: &str) -> rusqlite::Result<Option<Identity>> {
        match self.own(session)? {
            Some((changed, number)) => self.counted(session, changed, number).map(Some),
            None => Ok(None),
        }
    }

    /// When the own row of a session was changed, and its number; `None`: there is none of this
    /// key.
    pub fn own(&self, session: &str) -> rusqlite::Result<Option<(i64, i64)>> {
        let sql = format!(
            "{} WHERE {key} = ?1 GROUP BY {key}",
            self.sessions,
            key = self.key
        );
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement.query_row([session], |row| Ok((integer(row, 1)?, integer(row, 2)?)));
        found.optional()
    }

    /// The identity of one session by what is in its own row, and its rows, which are counted.
    pub fn counted(&self, session: &str, changed: i64, number: i64) -> rusqlite::Result<Identity> {
        let mut sums = Sums::default();
        for count in &self.counts {
            let sql = match count {
                Count::Sums(sql) => sql,
                Count::Whole(present) => {
                    each_line(self.connection, present, session, |line| {
                        let number = stable_hash::to_add_up(line);
                        sums.rows += 1;
                        sums.times = sums.times.wrapping_add(number.cast_signed());
                    })?;
                    continue;
                }
                Count::Files(sql, folder) => {
                    let stamp = self.of_files((sql, folder), session)?;
                    sums.times = sums.times.wrapping_add(stamp);
                    continue;
                }
            };
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([session], |row| {
                sums.rows += integer(row, 0)?;
                sums.newest = sums.newest.max(integer(row, 1)?);
                sums.times = sums.times.wrapping_add(integer(row, 2)?);
                Ok(())
            })?;
        }
        Ok(identity_of(changed, number, &sums))
    }

    /// A sum over the sizes and times of files of a session. One that is not there adds nothing.
    fn of_files(&self, (sql, folder): (&str, &Path), session: &str) -> rusqlite::Result<i64> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([session])?;
        let mut sum = 0_i64;
        while let Some(row) = rows.next()? {
            let name = row.get_ref(0)?.as_str().unwrap_or_default();
            if let Some(Ok(file)) = within(folder, name).map(|path| path.symlink_metadata()) {
                let file = Identity::of(&file);
                let stamp = format!("{name} {} {}", file.size, file.mtime_ns);
                let number = stable_hash::to_add_up(stamp.as_bytes());
                sum = sum.wrapping_add(number.cast_signed());
            }
        }
        Ok(sum)
    }
}

/// The identity of a session by what is in its own row, and these sums over its others.
pub(super) fn identity_of(changed: i64, number: i64, sums: &Sums) -> Identity {
    Identity {
        device: changed,
        inode: number,
        size: (1 + sums.rows).cast_unsigned(),
        mtime_ns: changed.max(sums.newest).saturating_mul(NS_A_MS),
        ctime_ns: changed.wrapping_add(sums.times),
    }
}

/// The identity of a session whose rows are not counted.
fn uncounted(changed: i64, number: i64) -> Identity {
    Identity {
        device: changed,
        inode: number,
        size: 0,
        mtime_ns: changed.saturating_mul(NS_A_MS),
        ctime_ns: i64::MIN,
    }
}

/// A number; of a value that is none 0.
pub(super) fn integer(row: &Row<'_>, at: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(at)? {
        ValueRef::Integer(number) => number,
        ValueRef::Real(number) => number as i64,
        _ => 0,
    })
}
