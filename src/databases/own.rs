//! What do all sessions of a database say of themselves in their own rows? Of what is in them no
//! row is read.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::list::key;
use super::open::read;
use super::schema::{Present, quoted};
use super::write::{column, write};
use crate::format::database::Database;

/// The line of each session's own row, by the key of the session.
///
/// # Errors
/// When the database cannot be read.
pub fn own_lines(
    path: &Path,
    database: &'static Database,
) -> io::Result<BTreeMap<String, Vec<u8>>> {
    read(path, |connection| {
        let mut lines = BTreeMap::new();
        for layout in database.layouts {
            let Some(own) = Present::of(connection, &layout.sessions, layout)? else {
                continue;
            };
            let sql = format!("SELECT {} FROM {}", own.named(), quoted(own.table.name));
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query([])?;
            let session = column(&own, own.table.session);
            while let Some(row) = rows.next()? {
                let named = key(row, session)?.filter(|key| !lines.contains_key(key));
                let Some(named) = named else {
                    continue;
                };
                let mut line = Vec::new();
                write(&mut line, &own, row, None)?;
                line.pop();
                lines.insert(named, line);
            }
        }
        Ok(lines)
    })
}
