//! Is every file below a root stored as a source, or as a foreign file with its reason?
//!
//! Files come and go. Where a directory still has the fingerprint that is stored, the next scan
//! passes it over, so what is stored of its files must be right. Every other directory is read by
//! the next scan, so there the index is only behind.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use super::{Inspection, Source};
use crate::catalogue::read::StoredSource;
use crate::error::Error;
use crate::format::Format;
use crate::ingest::{DatabaseListing, Look, leave_out, look_at_names};
use crate::model::StoreName;
use crate::source::content::is_in_database;
use crate::source::discover::{Discovery, ForeignFile, discover};
use crate::source::fingerprints::{DirectoryFingerprint, Folder, Folders, parent};
use crate::source::identity::now_ns;
use crate::source::root::RootSpec;

/// What is stored of a root, as of one moment.
#[derive(Default)]
struct StoredRootState {
    /// `None`: it is not in the catalogue.
    number: Option<i64>,
    known: Vec<StoredSource>,
    /// Of its sessions.
    session_keys: HashSet<String>,
    foreign_files: BTreeMap<String, ForeignFile>,
    /// The directories with the number of files in each.
    folders: BTreeMap<String, u64>,
    /// Those of them that the next scan passes over if they are as they were.
    fingerprints: HashMap<String, DirectoryFingerprint>,
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
        let mut stored = self.stored(spec, format)?;
        let root = stored.number;
        if root.is_none() && !spec.path.exists() {
            return Ok(Vec::new());
        }
        if !stored.is_as_asked {
            let what = "its format, label, shape or machine differs from what is asked for";
            self.differs(StoreName::Catalogue, Some(&spec.path), what.to_owned());
        }
        let mut discovery = discover(&spec.path, spec.flat, format, &config.links(spec));
        let (none, no_more) = (Folders::default(), HashSet::new());
        let names = look_at_names(&spec.path, format, &none, no_more, &mut discovery);
        DatabaseListing {
            catalogue,
            root,
            spec,
            format,
            known: &[],
            look: Look::All,
        }
        .add_to(&mut discovery)?;
        names.list(catalogue, root, &spec.path, &mut discovery)?;
        let exclude = config.rules.exclude();
        let left = leave_out(catalogue, root, spec, format, exclude, &mut discovery)?;
        if let Some(reason) = &discovery.error {
            self.unread(&spec.path, reason.clone());
        } else if left.files != stored.excluded {
            let what = "has a different number of excluded files".to_owned();
            match exclude.is_empty() {
                true => self.differs(StoreName::Catalogue, Some(&spec.path), what),
                // All files are looked at each time.
                false => self.behind(StoreName::Catalogue, Some(&spec.path), what),
            }
        }
        let gone = match discovery.error {
            Some(_) => HashSet::new(),
            None => self.contents(&RootComparison::new(spec, format, &stored, &discovery)),
        };
        stored.known.retain(|known| !gone.contains(&known.relative));
        let mut sources = Vec::new();
        for known in stored.known {
            let archived = match known.gone_ms {
                Some(_) => catalogue.source_place(known.source)?,
                None => None,
            };
            let path = archived.map(|(location, _)| location);
            sources.extend(root.map(|root| Source {
                root,
                path: path.unwrap_or_else(|| spec.at(&known.relative).into()),
                known,
                format,
            }));
        }
        Ok(sources)
    }

    fn stored(&self, spec: &RootSpec, format: &dyn Format) -> Result<StoredRootState, Error> {
        let (catalogue, config) = (self.catalogue, &self.stores.config);
        let now_ms = now_ns() / 1_000_000;
        catalogue.at_one_moment(|| {
            let Some(root) = catalogue.root_of(&spec.agent, &spec.path)? else {
                return Ok(StoredRootState {
                    is_as_asked: true,
                    ..StoredRootState::default()
                });
            };
            // Where something is excluded, each scan reads all directories, so no fingerprint
            // counts.
            let kept = match config.rules.exclude().is_empty() {
                true => catalogue.folders(root, format.about().revision, now_ms)?,
                false => Vec::new(),
            };
            let fingerprint = |folder: Folder| {
                folder
                    .fingerprint
                    .map(|fingerprint| (folder.relative, fingerprint))
            };
            let foreign_files = catalogue.foreign_files(root)?.into_iter();
            Ok(StoredRootState {
                number: Some(root),
                known: catalogue.known_sources(root)?,
                session_keys: catalogue.session_keys(root)?,
                foreign_files: foreign_files
                    .map(|foreign_file| (foreign_file.relative.clone(), foreign_file))
                    .collect(),
                folders: catalogue.folder_files(root)?,
                fingerprints: kept.into_iter().filter_map(fingerprint).collect(),
                excluded: catalogue.excluded_files(root)?,
                is_as_asked: catalogue.root_is_as(root, spec)?,
            })
        })
    }

    /// Compare what lies below a root with what is stored of it. Returns the sources that were
    /// reported here as missing.
    fn contents(&mut self, root: &RootComparison<'_>) -> HashSet<String> {
        for unread in &root.discovery.unreadable {
            self.unread(&root.path(&unread.relative), unread.reason.clone());
        }
        let mut foreign_files: BTreeMap<&str, &ForeignFile> = root
            .stored
            .foreign_files
            .iter()
            .map(|(path, foreign_file)| (path.as_str(), foreign_file))
            .collect();
        let unread = self.sources(root, &mut foreign_files);
        self.foreign_files(root, foreign_files);
        let gone = root.gone();
        for relative in &gone {
            self.mismatch(root, relative, "is in the catalogue, but is not there");
        }
        self.folders(root);
        for foreign_file in unread {
            self.unread(
                &root.path(&foreign_file.relative),
                foreign_file.reason.clone(),
            );
        }
        gone
    }

    /// A file is not stored as it is: the index is wrong where its directory is known, else behind.
    fn mismatch(&mut self, root: &RootComparison<'_>, relative: &str, what: &str) {
        let path = root.path(relative);
        match root.is_known(parent(relative)) {
            true => self.differs(StoreName::Catalogue, Some(&path), what.to_owned()),
            false => self.behind(StoreName::Catalogue, Some(&path), what.to_owned()),
        }
    }

    /// Every file that was found must be a source of its session. New files that could not be read
    /// are stored as foreign files: these are taken out of `foreign_files` and returned.
    fn sources<'r>(
        &mut self,
        root: &RootComparison<'r>,
        foreign_files: &mut BTreeMap<&'r str, &'r ForeignFile>,
    ) -> Vec<&'r ForeignFile> {
        let known = root.stored.known.iter();
        let known: HashMap<&str, &StoredSource> = known
            .map(|known| (known.relative.as_str(), known))
            .collect();
        let mut unread = Vec::new();
        for file in &root.discovery.found {
            if let Some(known) = known.get(file.relative.as_str()) {
                if !known.unread && known.unlisted != file.unlisted {
                    let what = "is listed by its agent, or is not, for another reason";
                    self.mismatch(root, &file.relative, what);
                }
                if !root.stored.session_keys.contains(&file.session_key) {
                    let what = "does not belong to the session that its path names";
                    self.mismatch(root, &file.relative, what);
                }
                continue;
            }
            match foreign_files.remove(file.relative.as_str()) {
                Some(foreign_file) => unread.push(foreign_file),
                None => self.mismatch(root, &file.relative, "is not in the catalogue"),
            }
        }
        unread
    }

    /// The stored foreign files must be the files that are found to be no sources, with their
    /// reasons.
    fn foreign_files(
        &mut self,
        root: &RootComparison<'_>,
        mut stored: BTreeMap<&str, &ForeignFile>,
    ) {
        // A path that is in both lists is stored only once.
        let unreadable = root.discovery.unreadable.iter();
        let expected: BTreeMap<&String, &ForeignFile> = unreadable
            .chain(&root.discovery.foreign_files)
            .map(|foreign_file| (&foreign_file.relative, foreign_file))
            .collect();
        for (relative, foreign_file) in expected {
            if stored.remove(relative.as_str()) != Some(foreign_file) {
                let what =
                    "is not listed among the files that are not sources, or for another reason";
                self.mismatch(root, relative, what);
            }
        }
        for relative in stored.keys() {
            self.mismatch(
                root,
                relative,
                "is listed among the files that are not sources, but is not there",
            );
        }
    }

    /// The directories that are stored must be those that are there. Of directories that are not
    /// known, their files are checked instead.
    fn folders(&mut self, root: &RootComparison<'_>) {
        // None of them is stored before the first scan of a newer version.
        if root.stored.folders.is_empty() {
            return;
        }
        let vouches = |relative: &str| relative.is_empty() || root.is_known(parent(relative));
        let mut mismatch = |relative: &str, what: &str| {
            self.differs(
                StoreName::Catalogue,
                Some(&root.path(relative)),
                what.to_owned(),
            );
        };
        let mut folders = root.stored.folders.clone();
        for folder in &root.discovery.folders {
            let is_as_stored = match folders.remove(&folder.relative) {
                Some(files) => files == folder.files || !root.is_known(&folder.relative),
                None => !vouches(&folder.relative),
            };
            if !is_as_stored {
                mismatch(&folder.relative, "is a directory that is not known");
            }
        }
        for relative in folders.keys().filter(|relative| vouches(relative)) {
            mismatch(relative, "is known as a directory, but is not there");
        }
    }
}

/// A root as it was found, beside what is stored of it.
struct RootComparison<'r> {
    spec: &'r RootSpec,
    format: &'r dyn Format,
    stored: &'r StoredRootState,
    discovery: &'r Discovery,
    /// Of the directories that were found.
    fingerprints: HashMap<&'r str, Option<DirectoryFingerprint>>,
}

impl<'r> RootComparison<'r> {
    fn new(
        spec: &'r RootSpec,
        format: &'r dyn Format,
        stored: &'r StoredRootState,
        discovery: &'r Discovery,
    ) -> Self {
        let folders = discovery.folders.iter();
        RootComparison {
            spec,
            format,
            stored,
            discovery,
            fingerprints: folders
                .map(|folder| (folder.relative.as_str(), folder.fingerprint))
                .collect(),
        }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.spec.at(relative)
    }

    /// Whether a directory has the fingerprint that is stored: the next scan passes it over then.
    fn is_known(&self, folder: &str) -> bool {
        let fingerprint = self.fingerprints.get(folder).copied().flatten();
        fingerprint.is_some() && fingerprint == self.stored.fingerprints.get(folder).copied()
    }

    /// The stored sources that are not there, though their directories are known or their database
    /// was listed.
    fn gone(&self) -> HashSet<String> {
        let found = self.discovery.found.iter();
        let found: HashSet<&str> = found.map(|file| file.relative.as_str()).collect();
        // What is in a database is found by its own listing alone.
        let is_listed = |relative: &str| is_in_database(self.format, relative);
        let is_gone = |relative: &str| {
            !found.contains(relative)
                && (self.is_known(parent(relative)) || is_listed(relative))
                && !self.discovery.hides(relative)
        };
        let known = self.stored.known.iter();
        let known = known.filter(|known| known.gone_ms.is_none());
        let known = known.map(|known| &known.relative);
        known.filter(|known| is_gone(known)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::*;
    use crate::catalogue::Catalogue;
    use crate::config::Config;
    use crate::model::{Verification, Zone};
    use crate::query::Stores;
    use crate::repository::Remotes;

    /// Look at a root while somebody forgets it at the `nth` step of SQLite's machine; whether
    /// there were so many.
    fn is_forgotten_at(nth: usize, config: &Config, writer: &Arc<Mutex<Catalogue>>) -> bool {
        let spec = &config.roots[0];
        let root = writer.lock().unwrap().ensure_root(spec).unwrap();
        let read = Catalogue::open_readable(&config.catalogue_path());
        let mut stores = Stores::of(config.clone(), read.unwrap().unwrap());
        let met = Arc::new(AtomicUsize::new(0));
        let (counted, writer) = (Arc::clone(&met), Arc::clone(writer));
        stores.catalogue.each_step(1, move || {
            if counted.fetch_add(1, Ordering::Relaxed) == nth {
                let writer = writer.lock().unwrap();
                writer.begin().unwrap();
                writer.forget_root(root).unwrap();
                writer.commit().unwrap();
            }
        });
        let mut inspection = Inspection {
            stores: &stores,
            catalogue: &stores.catalogue,
            found: Verification::default(),
            files: BTreeMap::new(),
        };
        let sources = inspection.root(spec, config.format("pi").unwrap());
        assert!(sources.unwrap().is_empty(), "step {nth}");
        assert_eq!(inspection.found.differences, [], "step {nth}");
        met.load(Ordering::Relaxed) > nth
    }

    #[test]
    fn a_root_is_of_one_moment_wherever_somebody_forgets_it() {
        let place = tempfile::tempdir().unwrap();
        let spec = RootSpec::new("pi", place.path().join("sessions"));
        std::fs::create_dir(&spec.path).unwrap();
        let config = Config::new(place.path().join("index"), vec![spec]);
        std::fs::create_dir_all(config.generation_dir()).unwrap();
        let writer = Catalogue::open_writable(
            &config.catalogue_path(),
            config.wal_bytes,
            Duration::from_secs(60),
            &Zone::UTC,
            Remotes::default(),
        );
        let writer = Arc::new(Mutex::new(writer.unwrap()));
        let forgotten = (0..).take_while(|nth| is_forgotten_at(*nth, &config, &writer));
        let steps = forgotten.count();
        assert!(steps > 10, "{steps} steps");
    }
}
