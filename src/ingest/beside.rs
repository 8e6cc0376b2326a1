//! What do files that lie beside a session's say of it? They are no sources: what they say is kept
//! with the session.

use std::collections::btree_map::{BTreeMap, Entry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::catalogue::read::StoredSource;
use crate::catalogue::{Catalogue, Error};
use crate::format::Format;
use crate::regular::{self, Recent};
use crate::source::checkpoint::NO_REVISION;
use crate::source::discover::Discovery;
use crate::source::root::RootSpec;

/// The longest path that a file of a working directory may hold.
pub const LONGEST_CWD: u64 = 32 << 10;
/// The most that is read of a file that lists working directories.
const LONGEST_LIST: u64 = 4 << 20;
/// The most that is read of a file that names sessions.
const LONGEST_NAMES: u64 = 64 << 20;
/// The most that is read of the first line of another session.
const LONGEST_HEADER: u64 = 64 << 10;
/// What is said of a session that such a file does not name.
const NOTHING: &str = "{}";

/// What such files say of each session: one names all those of a folder, and is read for each.
static NAMES: Recent<Option<BTreeMap<String, String>>> = Recent::new();
/// The same of those that list working directories.
static LISTS: Recent<Option<BTreeMap<String, String>>> = Recent::new();
/// The beginnings of other sessions: one started many.
static HEADERS: Recent<Vec<u8>> = Recent::new();

/// The working directory of the session at `path` that a file beside it holds, or that stands in
/// one of the lists; `None` where none of these says it.
pub fn cwd_beside(format: &dyn Format, path: &Path) -> io::Result<Option<String>> {
    match cwd_held(format, path)? {
        None => match cwd_listed(format, path) {
            // Nor are sessions the worse for a list that nobody may read, or that is not whole.
            Err(error) if is_unreadable(&error) => Ok(None),
            listed => listed,
        },
        held => Ok(held),
    }
}

/// The working directory that the file beside the session at `path` holds.
pub fn cwd_held(format: &dyn Format, path: &Path) -> io::Result<Option<String>> {
    let held = format.cwd_beside(path).map(|file| cwd_in(&file));
    Ok(held.transpose()?.flatten())
}

/// The working directory of the session at `path` that stands in one of the lists; an error where
/// it stands in none, and one of them cannot be read as a whole.
pub fn cwd_listed(format: &dyn Format, path: &Path) -> io::Result<Option<String>> {
    let Some((files, name)) = format.cwd_lists(path) else {
        return Ok(None);
    };
    let mut said = Ok(None);
    for file in files {
        let list = LISTS.of(&file, |file| {
            Ok(format.cwds_in_list(&regular::beginning(file, LONGEST_LIST)?))
        });
        match there(list).map(|list| list.map(|(_, list)| list)) {
            Ok(None) => {}
            Ok(Some(list)) => match list.as_ref() {
                None => said = Err(ErrorKind::InvalidData.into()),
                Some(list) => {
                    if let Some(cwd) = list.get(&name) {
                        return Ok(Some(cwd.clone()));
                    }
                }
            },
            Err(error) => said = Err(error),
        }
    }
    said
}

/// Whether it may stay so that a list cannot be read.
fn is_unreadable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::InvalidData
    )
}

/// The working directory that a file holds; `None` where there is no such file, or no such text.
fn cwd_in(path: &Path) -> io::Result<Option<String>> {
    let Some(text) = there(regular::read(path, LONGEST_CWD))? else {
        return Ok(None);
    };
    let text = String::from_utf8(text).unwrap_or_default();
    Ok(Some(text.trim().to_owned()).filter(|cwd| !cwd.is_empty()))
}

/// Have those of the `known` sources that were found read again whose working directory stands in a
/// file beside them or in a list, and is another one than when they were read.
pub fn doubt_directories(
    catalogue: &Catalogue,
    spec: &RootSpec,
    format: &dyn Format,
    discovery: &Discovery,
    known: &mut [StoredSource],
) -> Result<(), Error> {
    // One file says it of all sources beside it.
    let mut read: BTreeMap<PathBuf, Option<String>> = BTreeMap::new();
    for source in known {
        let path = spec.at(&source.relative);
        let Some(file) = format.cwd_beside(&path) else {
            continue;
        };
        if discovery.source(&source.relative).is_none() {
            continue;
        }
        // Where it cannot be read it is as it was.
        let cwd = match read.entry(file) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let cwd = cwd_beside(format, &path).map(Option::unwrap_or_default);
                new.insert(cwd.ok())
            }
        };
        if let Some(cwd) = cwd
            && catalogue.has_other_cwd(source.source, cwd)?
        {
            source.stored.revision = NO_REVISION;
        }
    }
    Ok(())
}

/// What the file that names the sessions beside the source at `path` says of its session; `None`
/// where no such file can be read.
pub fn named_beside(format: &dyn Format, path: &Path) -> io::Result<Option<String>> {
    let Some((file, session)) = format.names_beside(path) else {
        return Ok(None);
    };
    let names = NAMES.of(&file, |file| {
        Ok(format.names_in(&regular::beginning(file, LONGEST_NAMES)?))
    });
    let names = there(names)?.map(|(_, names)| names);
    let Some(names) = names.as_deref().and_then(Option::as_ref) else {
        return Ok(None);
    };
    let said = names.get(&session).map_or(NOTHING, String::as_str);
    let Some(other) = format.names_depend_on(path, said) else {
        return Ok(Some(said.to_owned()));
    };
    // What cannot be read says no more.
    let beginning = HEADERS.of(&other, |file| regular::beginning(file, LONGEST_HEADER));
    let beginning = beginning.map(|(_, read)| read).unwrap_or_default();
    let line = beginning
        .split(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    Ok(Some(format.names_with(said, line.unwrap_or_default())))
}

/// Have those of the `known` sources that were found read again of which a file beside them says
/// something else than when they were read.
pub fn doubt_names(
    catalogue: &Catalogue,
    spec: &RootSpec,
    format: &dyn Format,
    discovery: &Discovery,
    known: &mut [StoredSource],
) -> Result<(), Error> {
    for source in known {
        let path = spec.at(&source.relative);
        let Some((file, _)) = format.names_beside(&path) else {
            continue;
        };
        if discovery.source(&source.relative).is_none() {
            continue;
        }
        let said = match named_beside(format, &path) {
            // One that is gone says nothing.
            Ok(None) if matches!(file.try_exists(), Ok(false)) => None,
            Ok(Some(said)) => Some(said),
            // Where it cannot be read it is as it was.
            _ => continue,
        };
        if catalogue.has_other_name(source.source, said.as_deref())? {
            source.stored.revision = NO_REVISION;
        }
    }
    Ok(())
}

/// Of what is no file nothing is read, and neither is the session any the worse for it.
fn there<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if regular::is_refusal(&error) => Ok(None),
        Err(error) => Err(error),
    }
}
