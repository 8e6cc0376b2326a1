//! Which sessions do the databases and documents hold that were found below a root?
//!
//! What is in two of them are two sessions, as two copies of a file are. Only the folder of
//! documents is left alone once a database beside it holds any of its sessions: then its agent took
//! all of them over, and what the database lacks was deleted since, or is of an older version that
//! was run again. Which of the two it is cannot be told, and nothing deleted comes back.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::{fs, io};

use crate::catalogue::read::StoredSource;
use crate::catalogue::{Catalogue, Error};
use crate::databases::{self, KnownIdentities, Store, store};
use crate::format::Format;
use crate::format::database::{Database, Documents};
use crate::format::identity::Identity;
use crate::model::{Placement, SourcePart};
use crate::source::content::file_name;
use crate::source::discover::{Discovery, ForeignFile, FoundDatabase, FoundSource};
use crate::source::fingerprints::Folder;
use crate::source::root::RootSpec;

/// Why the folder of documents is left alone.
const TAKEN_OVER: &str = "not read: the database beside these documents has sessions of them, and \
    what it lacks was deleted there or written by an older version since";

/// At which sessions of databases to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// At all: the rows of those that look as they were are counted.
    All,
    /// At those that changed by what the agent notes of changes, where it notes any.
    Changes,
}

/// What lists the sessions of a root's databases.
pub struct DatabaseListing<'a> {
    pub catalogue: &'a Catalogue,
    /// The root's number, where it is stored.
    pub root: Option<i64>,
    pub spec: &'a RootSpec,
    pub format: &'a dyn Format,
    /// What is known of its sources, sorted by path.
    pub known: &'a [StoredSource],
    pub look: Look,
}

impl DatabaseListing<'_> {
    /// Add the sessions of the databases that were found.
    pub fn add_to(&self, discovery: &mut Discovery) -> Result<(), Error> {
        let (spec, format) = (self.spec, self.format);
        let (Some(database), true) = (format.about().database, !discovery.databases.is_empty())
        else {
            return Ok(());
        };
        let (folders, others): (Vec<_>, Vec<_>) = std::mem::take(&mut discovery.databases)
            .into_iter()
            .partition(|found| is_folder(database, &found.relative));
        for found in others {
            if spec.host.is_some() && store(&spec.at(&found.relative), database).is_none() {
                leave_out(found, discovery);
                continue;
            }
            let listed = self.list(database, &found.relative);
            add(found, format, listed, discovery);
        }
        for found in folders {
            let beside = self.names_beside(discovery)?;
            let listed = match is_taken_over(&spec.at(&found.relative), database, &beside) {
                Ok(false) => self.list(database, &found.relative),
                Ok(true) => {
                    let left_out = ForeignFile::left_out(found.relative.clone(), TAKEN_OVER);
                    discovery.foreign_files.push(left_out);
                    Ok(BTreeMap::new())
                }
                Err(error) => Err(error),
            };
            add(found, format, listed, discovery);
        }
        discovery.sort();
        Ok(())
    }

    /// The last names in the paths of all sessions in databases that lie in the root itself: those
    /// that were found now, and of a database at which nobody looked, or could, those that are
    /// known.
    fn names_beside(&self, discovery: &Discovery) -> Result<HashSet<String>, Error> {
        let (spec, format) = (self.spec, self.format);
        let is_database = |path: &Path| {
            format.place(path, false) == Placement::Database
                && path.extension().is_none_or(|end| end != Documents::END)
                && spec.at(path).is_file()
        };
        let all = fs::read_dir(&spec.path).into_iter().flatten().flatten();
        let all = all.filter(|entry| is_database(Path::new(&entry.file_name())));
        let all = all.filter_map(|entry| entry.file_name().into_string().ok());
        let is_read = |name: &String| {
            let mut read = discovery.read.iter();
            read.any(|(folder, _)| folder == name) && !discovery.hides(name)
        };
        let (read, unread): (Vec<_>, Vec<_>) = all.partition(is_read);
        let found = discovery.found.iter().map(|found| &*found.relative);
        let found = found.filter_map(|relative| {
            let (above, name) = relative.rsplit_once('/')?;
            read.iter()
                .any(|read| read == above)
                .then(|| name.to_owned())
        });
        let mut names: HashSet<String> = found.collect();
        if let Some(root) = self.root {
            let known = self
                .catalogue
                .known_at(root, &unread.into_iter().collect())?;
            let known = known.iter().filter(|known| known.gone_ms.is_none());
            let known = known.filter_map(|known| known.relative.rsplit_once('/'));
            names.extend(known.map(|(_, name)| name.to_owned()));
        }
        Ok(names)
    }

    /// The sessions of one of them.
    fn list(
        &self,
        database: &'static Database,
        relative: &str,
    ) -> io::Result<BTreeMap<String, Identity>> {
        let as_stored = |key: &str| {
            let inside = inside(relative, key);
            let stored = &StoredSource::find(self.known, &inside)?.stored;
            // Of a source that was not read to its end no identity is stored.
            (stored.identity.mtime_ns != 0).then_some(stored.identity)
        };
        let known = KnownIdentities {
            of: &as_stored,
            stand: self.look == Look::Changes,
        };
        databases::list(&self.spec.at(relative), database, known)
    }
}

/// A database of another machine is not opened: SQLite trusts what is in one, and nobody shares
/// any.
fn leave_out(found: FoundDatabase, discovery: &mut Discovery) {
    let why = "a database of another machine, never opened";
    let left_out = ForeignFile::left_out(found.relative.clone(), why);
    discovery.foreign_files.push(left_out);
    discovery.folders.push(Folder {
        relative: found.relative,
        fingerprint: found.fingerprint,
        files: 0,
    });
}

fn is_folder(database: &Database, relative: &str) -> bool {
    let documents = database.documents;
    documents.is_some_and(|documents| documents.folder == relative)
}

/// Whether any of the sessions of these names is in the folder of documents too.
fn is_taken_over(
    folder: &Path,
    database: &'static Database,
    names: &HashSet<String>,
) -> io::Result<bool> {
    match store(folder, database) {
        Some(Store::Folder(folder)) if !names.is_empty() => {
            let keys = folder.keys()?;
            Ok(keys.iter().any(|key| names.contains(&file_name(key))))
        }
        _ => Ok(false),
    }
}

fn inside(relative: &str, key: &str) -> String {
    format!("{relative}/{}", file_name(key))
}

/// Add what was listed of one of them.
fn add(
    found: FoundDatabase,
    format: &dyn Format,
    listed: io::Result<BTreeMap<String, Identity>>,
    discovery: &mut Discovery,
) {
    match listed {
        Ok(sessions) => {
            discovery.folders.push(Folder {
                relative: found.relative.clone(),
                fingerprint: found.fingerprint,
                files: sessions.len() as u64,
            });
            let source = |(key, identity): (String, _)| {
                let relative = inside(&found.relative, &key);
                let session_key = format.place_within(Path::new(&found.relative), &key);
                FoundSource {
                    session_key: session_key.unwrap_or_else(|| relative.clone()),
                    relative,
                    identity,
                    is_link: false,
                    part: SourcePart::Main,
                    unlisted: None,
                }
            };
            discovery.found.extend(sessions.into_iter().map(source));
        }
        Err(error) => {
            discovery.folders.push(Folder::unsettled(&found.relative));
            let unread = ForeignFile::unread(found.relative, &error);
            discovery.unreadable.push(unread);
        }
    }
}
