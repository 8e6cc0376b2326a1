//! Which sessions do the databases and documents hold that were found below a root?
//!
//! Of a session that is in several of them one counts: a database, else the folder of documents,
//! else the first document by its path that holds it.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::{fs, io};

use crate::catalogue::read::StoredSource;
use crate::databases::{self, KnownIdentities, Store, store};
use crate::format::Format;
use crate::format::database::Database;
use crate::format::identity::Identity;
use crate::model::{Placement, SourcePart};
use crate::source::content::file_name;
use crate::source::discover::{Discovery, ForeignFile, FoundDatabase, FoundSource};
use crate::source::fingerprints::Folder;

/// At which sessions of databases to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// At all: their rows are counted.
    All,
    /// At those that changed by what the agent notes of changes, where it notes any.
    Changes,
}

/// Add the sessions of the databases that were found below the root at `path`, of whose sources
/// these are known, sorted by path.
pub fn list_databases(
    path: &Path,
    format: &dyn Format,
    known: &[StoredSource],
    look: Look,
    discovery: &mut Discovery,
) {
    let (Some(database), true) = (format.database(), !discovery.databases.is_empty()) else {
        return;
    };
    let mut all = std::mem::take(&mut discovery.databases);
    let rank = |found: &FoundDatabase| Rank::of(&path.join(&found.relative), database);
    all.sort_by_cached_key(|found| (rank(found), found.relative.clone()));
    let mut counted = match all.last().map(rank) {
        Some(Rank::Folder | Rank::File) => keys_of_databases(path, format, database),
        _ => HashSet::new(),
    };
    for mut found in all {
        let listed = list(path, database, &found.relative, known, look);
        let listed = listed.map(|mut sessions| {
            if rank(&found) != Rank::Database {
                let all = sessions.len();
                sessions.retain(|key, _| counted.insert(key.clone()));
                // What it holds counts once the other one no longer does.
                found.fingerprint = found.fingerprint.filter(|_| sessions.len() == all);
            }
            sessions
        });
        add(found, format, listed, discovery);
    }
    discovery.sort();
}

/// Which of several that hold a session counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Database,
    Folder,
    File,
}

impl Rank {
    fn of(path: &Path, database: &'static Database) -> Rank {
        match store(path, database) {
            None => Rank::Database,
            Some(Store::Folder(_)) => Rank::Folder,
            Some(Store::File(..)) => Rank::File,
        }
    }
}

/// The sessions of one of them.
fn list(
    root: &Path,
    database: &'static Database,
    relative: &str,
    known: &[StoredSource],
    look: Look,
) -> io::Result<BTreeMap<String, Identity>> {
    let as_stored = |key: &str| {
        let inside = inside(relative, key);
        let at = known.binary_search_by(|known| known.relative.cmp(&inside));
        let stored = &known[at.ok()?].stored;
        // Of a source that was not read to its end no identity is stored.
        (stored.identity.mtime_ns != 0).then_some(stored.identity)
    };
    let none = |_: &str| None;
    let known: KnownIdentities<'_> = match look {
        Look::All => &none,
        Look::Changes => &as_stored,
    };
    databases::list(&root.join(relative), database, known)
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
                let place = format.place_within(Path::new(&found.relative), &key);
                FoundSource {
                    place: place.unwrap_or_else(|| relative.clone()),
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
            discovery.unreadable.push(ForeignFile {
                relative: found.relative.clone(),
                reason: error.to_string(),
                unread: true,
            });
        }
    }
}

/// The sessions of all databases that lie in the root at `path` itself. Of one that cannot be read
/// none.
fn keys_of_databases(
    path: &Path,
    format: &dyn Format,
    database: &'static Database,
) -> HashSet<String> {
    let names = fs::read_dir(path).into_iter().flatten().flatten();
    let databases = names.map(|entry| entry.path()).filter(|found| {
        let is_one = |name| format.place(Path::new(name), false) == Placement::Database;
        found.file_name().is_some_and(is_one)
            && found.is_file()
            && Rank::of(found, database) == Rank::Database
    });
    let keys = databases.flat_map(|found| databases::keys(&found, database).unwrap_or_default());
    keys.collect()
}
