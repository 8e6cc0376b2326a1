//! Is every file below a root a source, or told as a stray with its reason?
//!
//! Files come and go. A directory that has the seal it is stored with is the one that the index
//! says it knows, and the next look passes it over: what is stored of its files must hold. Of any
//! other directory the next look takes in what is there.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Inspection, Source};
use crate::catalogue::read::StoredSource;
use crate::error::Error;
use crate::format::Format;
use crate::ingest::leave_out;
use crate::source::discover::{Discovery, ForeignFile, discover};
use crate::source::fingerprints::{DirectoryFingerprint, Folder, parent};
use crate::source::identity::now_ns;
use crate::source::root::RootSpec;

/// What is stored of a root, as of one moment.
#[derive(Default)]
struct StoredRootState {
    known: Vec<StoredSource>,
    /// Of its sessions.
    places: HashSet<String>,
    strays: BTreeMap<String, ForeignFile>,
    /// The directories with the number of files in each.
    folders: BTreeMap<String, u64>,
    /// Those of them that the next look passes over if they are as they were.
    seals: HashMap<String, DirectoryFingerprint>,
    excluded: u64,
    is_as_asked: bool,
}

impl<'i> Inspection<'i> {
    /// Hold what lies below a root against what is stored of it; its sources are left to be
    /// compared.
    pub(super) fn root(
        &mut self,
        spec: &RootSpec,
        format: &'i dyn Format,
    ) -> Result<Vec<Source<'i>>, Error> {
        let (catalogue, config) = (self.catalogue, &self.stores.config);
        let root = catalogue.root_of(&spec.agent, &spec.path)?;
        if root.is_none() && !spec.path.exists() {
            return Ok(Vec::new());
        }
        let stored = match root {
            Some(root) => self.stored(root, spec, format)?,
            None => StoredRootState {
                is_as_asked: true,
                ..StoredRootState::default()
            },
        };
        if !stored.is_as_asked {
            let what = "its format, label or shape differs from what is asked for".to_string();
            self.differs("catalogue", Some(&spec.path), what);
        }
        let links = config.links(&spec.agent);
        let mut discovery = discover(&spec.path, spec.flat, format, &links);
        let exclude = config.rules.exclude();
        let left = leave_out(catalogue, root, spec, format, exclude, &mut discovery)?;
        if let Some(reason) = &discovery.error {
            self.unread(&spec.path, reason.clone());
        } else if left.files != stored.excluded {
            let what = "has a different number of excluded files".to_owned();
            match exclude.is_empty() {
                true => self.differs("catalogue", Some(&spec.path), what),
                // All files are looked at each time.
                false => self.behind("catalogue", Some(&spec.path), what),
            }
        }
        let gone = match discovery.error {
            Some(_) => HashSet::new(),
            None => self.contents(spec, &stored, &discovery),
        };
        let source = |known: StoredSource| {
            Some(Source {
                root: root?,
                path: spec.path.join(&known.relative),
                known,
                format,
            })
        };
        let known = stored.known.into_iter();
        let known = known.filter(|known| !gone.contains(&known.relative));
        Ok(known.filter_map(source).collect())
    }

    fn stored(
        &self,
        root: i64,
        spec: &RootSpec,
        format: &dyn Format,
    ) -> Result<StoredRootState, Error> {
        let (catalogue, config) = (self.catalogue, &self.stores.config);
        let now_ms = now_ns() / 1_000_000;
        catalogue.at_one_moment(|| {
            // Where something is excluded each look reads all directories.
            let kept = match config.rules.exclude().is_empty() {
                true => catalogue.folders(root, format.revision(), now_ms)?,
                false => Vec::new(),
            };
            let seal = |folder: Folder| folder.seal.map(|seal| (folder.relative, seal));
            let strays = catalogue.strays(root)?.into_iter();
            let asked = (spec.format.clone(), spec.label.clone(), spec.flat);
            Ok(StoredRootState {
                known: catalogue.known_sources(root)?,
                places: catalogue.places(root)?,
                strays: strays
                    .map(|stray| (stray.relative.clone(), stray))
                    .collect(),
                folders: catalogue.folder_files(root)?,
                seals: kept.into_iter().filter_map(seal).collect(),
                excluded: catalogue.excluded_files(root)?,
                is_as_asked: catalogue.root_is(root)? == asked,
            })
        })
    }

    /// Compare what lies below a root with what is stored of it. Gives back the sources of which it
    /// is told here that they are not there.
    fn contents(
        &mut self,
        spec: &RootSpec,
        stored: &StoredRootState,
        discovery: &Discovery,
    ) -> HashSet<String> {
        for unread in &discovery.unreadable {
            self.unread(&spec.path.join(&unread.relative), unread.reason.clone());
        }
        let seals: HashMap<&str, Option<DirectoryFingerprint>> = discovery
            .folders
            .iter()
            .map(|folder| (folder.relative.as_str(), folder.seal))
            .collect();
        let is_known = |folder: &str| {
            let seal = seals.get(folder).copied().flatten();
            seal.is_some() && seal == stored.seals.get(folder).copied()
        };
        let mut tell = |relative: &str, what: &str| {
            let path = spec.path.join(relative);
            match is_known(parent(relative)) {
                true => self.differs("catalogue", Some(&path), what.to_owned()),
                false => self.behind("catalogue", Some(&path), what.to_owned()),
            }
        };
        let mut strays: BTreeMap<&str, &ForeignFile> = stored
            .strays
            .iter()
            .map(|(path, stray)| (path.as_str(), stray))
            .collect();
        let mut unread = Vec::new();
        let sources: HashSet<&str> = stored.known.iter().map(|k| k.relative.as_str()).collect();
        for file in &discovery.found {
            if sources.contains(file.relative.as_str()) {
                if !stored.places.contains(&file.place) {
                    tell(
                        &file.relative,
                        "does not belong to the session that its path names",
                    );
                }
                continue;
            }
            // A new file that could not be read is told as a stray.
            match strays.remove(file.relative.as_str()) {
                Some(stray) => unread.push(stray),
                None => tell(&file.relative, "is not in the catalogue"),
            }
        }
        // Of two reasons for one path the first is kept.
        let expected: BTreeMap<&String, &ForeignFile> = discovery
            .unreadable
            .iter()
            .chain(&discovery.strays)
            .map(|stray| (&stray.relative, stray))
            .collect();
        for (relative, stray) in expected {
            if strays.remove(relative.as_str()) != Some(stray) {
                tell(
                    relative,
                    "is not listed among the files that are not sources, or for another reason",
                );
            }
        }
        for relative in strays.keys() {
            tell(
                relative,
                "is listed among the files that are not sources, but is not there",
            );
        }
        let found: HashSet<&str> = discovery
            .found
            .iter()
            .map(|f| f.relative.as_str())
            .collect();
        let is_gone = |relative: &str| {
            !found.contains(relative) && is_known(parent(relative)) && !discovery.hides(relative)
        };
        let known = stored.known.iter().map(|known| &known.relative);
        let gone: HashSet<String> = known.filter(|known| is_gone(known)).cloned().collect();
        for relative in &gone {
            tell(relative, "is in the catalogue, but is not there");
        }
        self.folders(spec, stored, discovery, &is_known);
        for stray in unread {
            self.unread(&spec.path.join(&stray.relative), stray.reason.clone());
        }
        gone
    }

    /// Directories that are known must be those that are there. Of others their files tell.
    fn folders(
        &mut self,
        spec: &RootSpec,
        stored: &StoredRootState,
        discovery: &Discovery,
        is_known: &dyn Fn(&str) -> bool,
    ) {
        // None of them is known before the first scan of a newer version.
        if stored.folders.is_empty() {
            return;
        }
        let vouches = |relative: &str| relative.is_empty() || is_known(parent(relative));
        let mut tell = |relative: &str, what: &str| {
            let path = spec.path.join(relative);
            self.differs("catalogue", Some(&path), what.to_owned());
        };
        let mut folders = stored.folders.clone();
        for folder in &discovery.folders {
            let is_as_stored = match folders.remove(&folder.relative) {
                Some(files) => files == folder.files || !is_known(&folder.relative),
                None => !vouches(&folder.relative),
            };
            if !is_as_stored {
                tell(&folder.relative, "is a directory that is not known");
            }
        }
        for relative in folders.keys().filter(|relative| vouches(relative)) {
            tell(relative, "is known as a directory, but is not there");
        }
    }
}
