//! What do files beside a root call its sessions? What they say of a session that is there is one
//! more source of it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::plan::SourcePlan;
use super::targets::SyncedRoot;
use crate::catalogue::{Catalogue, Error};
use crate::databases::{DatabaseState, Said, identity_of_line, named, names_files};
use crate::format::Format;
use crate::format::names::{Names, is_beside_root, name_beside_root};
use crate::model::SourcePart;
use crate::source::content::file_name;
use crate::source::discover::{Discovery, ForeignFile, FoundSource};
use crate::source::fingerprints::{Folder, Folders, parent};
use crate::source::identity::now_ns;

/// The folder in which files of names lie, as a path below their root.
pub const FOLDER: &str = "..";

/// The files of names beside a root that have to be looked at.
#[derive(Debug, Default)]
pub struct NamesToList {
    names: Option<&'static Names>,
    files: Vec<Folder>,
    /// Sessions that may be read from the archive.
    archive: HashSet<String>,
}

/// Look for files of names, and whether one of them changed since they were `known`. If one did, or
/// something below the root changed, or sessions of the `archive` may come back, all are listed
/// again: each of these can decide which name counts.
pub fn look_at_names(
    root: &Path,
    format: &dyn Format,
    known: &Folders,
    archive: HashSet<String>,
    discovery: &mut Discovery,
) -> NamesToList {
    let Some(names) = format.names(root).filter(|_| discovery.error.is_none()) else {
        return NamesToList::default();
    };
    let has_changed = !(discovery.read.is_empty() && archive.is_empty());
    let started_ns = now_ns();
    let files = names_files(root, names);
    for (folder, below) in &mut discovery.read {
        if folder.is_empty() {
            below.push(FOLDER.to_owned());
        }
    }
    let mut looked = Vec::new();
    let mut is_as_it_was = !has_changed;
    for relative in &files {
        let state = DatabaseState::of(&beside(root, relative)).ok();
        let fingerprint = state.and_then(|state| state.fingerprint(&[], started_ns));
        let kept = fingerprint.and_then(|fingerprint| known.kept(relative, fingerprint));
        is_as_it_was &= kept.is_some();
        looked.push(Folder {
            fingerprint,
            ..Folder::unsettled(relative)
        });
    }
    let all = (looked.iter()).map(|folder| folder.relative.clone());
    let all: Vec<String> = all.collect();
    if is_as_it_was {
        discovery.folders.append(&mut looked);
    } else {
        discovery
            .read
            .extend(all.iter().map(|file| (file.clone(), Vec::new())));
    }
    // Of files that are gone nothing is left.
    discovery.read.push((FOLDER.to_owned(), all));
    let (names, files) = (Some(names), looked);
    NamesToList {
        names,
        files,
        archive,
    }
}

/// Where a file lies whose path below the root at `root` this is.
fn beside(root: &Path, relative: &str) -> PathBuf {
    let name = name_beside_root(relative).unwrap_or(relative);
    root.parent().unwrap_or(root).join(name)
}

impl NamesToList {
    /// All of them, whatever is known.
    pub fn all(root: &Path, format: &dyn Format) -> NamesToList {
        let Some(names) = format.names(root) else {
            return NamesToList::default();
        };
        let files = names_files(root, names).into_iter();
        let files = files.map(|file| Folder::unsettled(&file)).collect();
        let names = Some(names);
        NamesToList {
            names,
            files,
            archive: HashSet::new(),
        }
    }

    /// Add what they say of the sessions of this root that are known or were found, and of those
    /// of the archive: of one that is not read from there it is forgotten again.
    pub fn list(
        self,
        catalogue: &Catalogue,
        root: Option<i64>,
        path: &Path,
        discovery: &mut Discovery,
    ) -> Result<(), Error> {
        let (Some(names), false) = (self.names, self.files.is_empty()) else {
            return Ok(());
        };
        let mut session_keys = match root {
            Some(root) => catalogue.session_keys(root)?,
            None => HashSet::new(),
        };
        let found = discovery.found.iter();
        session_keys.extend(found.map(|found| found.session_key.clone()));
        session_keys.extend(self.archive);
        let mut listing = NamesListing {
            names,
            known: match root {
                Some(root) => known_files(catalogue, root)?,
                None => BTreeSet::new(),
            },
            session_keys,
            told: HashSet::new(),
            has_database: false,
            discovery,
        };
        for file in self.files {
            listing.add(path, file);
        }
        discovery.sort();
        Ok(())
    }
}

/// The files of which names are known, as paths below the root that is stored as `root`.
fn known_files(catalogue: &Catalogue, root: i64) -> Result<BTreeSet<String>, Error> {
    let names = catalogue.known_at(root, &BTreeSet::from([FOLDER.to_owned()]))?;
    let files = names.iter().map(|name| parent(&name.relative).to_owned());
    Ok(files.collect())
}

/// Files of names while they are listed, one after the other.
struct NamesListing<'d> {
    names: &'static Names,
    /// The files of which names are known.
    known: BTreeSet<String>,
    /// The sessions that are there.
    session_keys: HashSet<String>,
    /// Those that a file has named.
    told: HashSet<String>,
    /// Whether it is settled which database counts.
    has_database: bool,
    discovery: &'d mut Discovery,
}

impl NamesListing<'_> {
    /// Add what a file says of the sessions. Of databases the first that holds names counts alone.
    fn add(&mut self, root: &Path, file: Folder) {
        let path = beside(root, &file.relative);
        let is_database = self.is_database(&file.relative);
        if is_database && self.has_database {
            self.discovery.folders.push(file);
            return;
        }
        match named(&path, self.names, &self.session_keys) {
            Ok(named) => {
                self.has_database |= is_database && named.is_some();
                self.take(&file.relative, named.unwrap_or_default());
                self.discovery.folders.push(file);
            }
            Err(error) => {
                // Nobody says that what is no database was meant to hold names, unless it did.
                let is_foreign = error.kind() == ErrorKind::Unsupported;
                if is_database && (!is_foreign || self.known.contains(&file.relative)) {
                    self.has_database = true;
                    self.keep_known(&file.relative);
                }
                let unsettled = Folder::unsettled(&file.relative);
                self.discovery.folders.push(unsettled);
                self.unread(file.relative, error.to_string());
            }
        }
    }

    fn is_database(&self, relative: &str) -> bool {
        let name = name_beside_root(relative);
        name.is_some_and(|name| self.names.number_of(name).is_some())
    }

    fn take(&mut self, relative: &str, named: BTreeMap<String, Said>) {
        for (session, said) in named {
            // What counts less is no source.
            if said.has_name && !self.told.insert(session.clone()) {
                continue;
            }
            self.discovery.found.push(FoundSource {
                relative: format!("{relative}/{}", file_name(&session)),
                identity: identity_of_line(&said.line),
                is_link: false,
                session_key: session,
                part: SourcePart::Side,
                unlisted: None,
            });
        }
    }

    /// The database at `relative` counts, and cannot be read: what others said stays.
    fn keep_known(&mut self, relative: &str) {
        let others: Vec<String> = (self.known.iter())
            .filter(|known| *known != relative && self.is_database(known))
            .cloned()
            .collect();
        for other in others {
            let name = name_beside_root(relative).unwrap_or(relative);
            let reason = format!("what it says stays until {name} can be read, which counts");
            self.unread(other, reason);
        }
    }

    fn unread(&mut self, relative: String, reason: String) {
        let unread = ForeignFile::unread(relative, &reason);
        self.discovery.unreadable.push(unread);
    }
}

/// Forget names whose sessions are gone and which none of these `plans` brings back. (A renamed
/// session file leaves the source of its name unchanged, so that source is not read again.) Gives
/// back how many sessions were forgotten.
pub fn forget_names_of_none(
    catalogue: &Catalogue,
    roots: &[SyncedRoot<'_>],
    plans: &[SourcePlan<'_>],
) -> Result<u64, Error> {
    let brought = plans.iter().filter(|plan| !is_beside_root(plan.relative));
    let brought: HashSet<(i64, &str)> = brought.map(|plan| (plan.root, plan.session_key)).collect();
    let mut vanished = 0;
    for root in roots {
        if root.format.names(&root.spec.path).is_none() {
            continue;
        }
        for (source, key) in catalogue.names_of_none(root.number)? {
            if key.is_some_and(|key| brought.contains(&(root.number, &*key))) {
                continue;
            }
            let (has_vanished, _) = catalogue.remove_source(source)?;
            vanished += u64::from(has_vanished);
        }
    }
    Ok(vanished)
}
