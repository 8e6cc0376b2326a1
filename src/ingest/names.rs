//! What do files beside a root call its sessions? What they say of a session that is there is one
//! more source of it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::catalogue::{Catalogue, Error};
use crate::databases::{ABOVE, FileState, identity_of_line, named, names_files};
use crate::format::Format;
use crate::format::names::Names;
use crate::model::SourcePart;
use crate::source::content::file_name;
use crate::source::discover::{Discovery, ForeignFile, FoundSource};
use crate::source::fingerprints::{Folder, Folders};
use crate::source::identity::now_ns;
use crate::source::root::RootSpec;

/// The folder in which files of names lie, as a path below their root.
pub const FOLDER: &str = "..";

/// The files of names beside a root that have to be looked at.
#[derive(Debug, Default)]
pub struct NamesToList {
    names: Option<&'static Names>,
    files: Vec<Folder>,
}

/// Look which files of names there are, and whether one of them has changed since they were
/// `known`.
/// All are listed again then, for one may say what another one does not, and where something below
/// the root has changed, for a session may have come that one of them names.
pub fn look_at_names(
    root: &Path,
    format: &dyn Format,
    known: &Folders,
    discovery: &mut Discovery,
) -> NamesToList {
    let Some(names) = format.names(root).filter(|_| discovery.error.is_none()) else {
        return NamesToList::default();
    };
    let has_changed = !discovery.read.is_empty();
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
        let state = FileState::of(&beside(root, relative)).ok();
        let fingerprint = state.and_then(|state| state.fingerprint(started_ns));
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
    NamesToList { names, files }
}

/// Where a file lies whose path below the root at `root` this is.
fn beside(root: &Path, relative: &str) -> PathBuf {
    let name = relative.strip_prefix(ABOVE).unwrap_or(relative);
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
        NamesToList { names, files }
    }

    /// Add what they say of the sessions of this root that are known or were found.
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
        let mut places = match root {
            Some(root) => catalogue.places(root)?,
            None => HashSet::new(),
        };
        places.extend(discovery.found.iter().map(|found| found.place.clone()));
        let mut told = HashSet::new();
        for file in self.files {
            match named(&beside(path, &file.relative), names) {
                Ok(named) => {
                    for (session, said) in named {
                        let is_there = places.contains(&session);
                        // What counts less is no source.
                        if !is_there || said.has_name && !told.insert(session.clone()) {
                            continue;
                        }
                        discovery.found.push(FoundSource {
                            relative: format!("{}/{}", file.relative, file_name(&session)),
                            identity: identity_of_line(&said.line),
                            is_link: false,
                            place: session,
                            part: SourcePart::Side,
                            unlisted: None,
                        });
                    }
                    discovery.folders.push(file);
                }
                Err(error) => {
                    discovery.folders.push(Folder::unsettled(&file.relative));
                    discovery.unreadable.push(ForeignFile {
                        relative: file.relative,
                        reason: error.to_string(),
                        unread: true,
                    });
                }
            }
        }
        discovery.sort();
        Ok(())
    }
}

/// Forget the names of sessions that are no longer there. Gives back how many sessions were.
pub fn forget_names_of_none<'a>(
    catalogue: &Catalogue,
    roots: impl Iterator<Item = (i64, &'a RootSpec, &'a dyn Format)>,
) -> Result<u64, Error> {
    let mut vanished = 0;
    for (root, spec, format) in roots {
        if format.names(&spec.path).is_none() {
            continue;
        }
        for source in catalogue.names_of_none(root)? {
            let (has_vanished, _) = catalogue.remove_source(source)?;
            vanished += u64::from(has_vanished);
        }
    }
    Ok(vanished)
}
