//! What lies below a root now, and what is known of it? Only of directories that changed.

use std::collections::HashSet;

use super::beside::{doubt_directories, doubt_names};
use super::exclude::{ExclusionResult, leave_out};
use super::listed::{DatabaseListing, Look};
use super::names::look_at_names;
use crate::catalogue::{Catalogue, Error, read::StoredSource};
use crate::config::Config;
use crate::format::Format;
use crate::source::discover::{Discovery, ForeignFile, discover_changes};
use crate::source::fingerprints::{Folder, Folders, parent};
use crate::source::root::RootSpec;

/// What lies below a root, and what is known of the same directories.
pub struct RootScan {
    /// Of directories that are as they were nothing but themselves.
    pub discovery: Discovery,
    /// Sources in the directories that were read.
    pub known: Vec<StoredSource>,
    /// What is excluded: of it nothing is in `discovery`.
    pub left_out: ExclusionResult,
    /// The directories as they were.
    folders: Folders,
}

/// The directories of the root that is stored as `root`, as they were.
fn folders(
    catalogue: &Catalogue,
    config: &Config,
    format: &dyn Format,
    root: Option<i64>,
    now_ms: i64,
) -> Result<Folders, Error> {
    Ok(match root {
        // Another file of its session may decide whether a file is excluded, so all files are
        // looked at.
        _ if !config.rules.exclude().is_empty() => Folders::default(),
        Some(root) => Folders::of(catalogue.folders(root, format.about().revision, now_ms)?),
        None => Folders::default(),
    })
}

/// Scan the root of `spec`, which is stored as `root`. The sessions of the `archive` may be read
/// from there.
pub fn scan_root(
    catalogue: &Catalogue,
    config: &Config,
    spec: &RootSpec,
    format: &dyn Format,
    root: Option<i64>,
    archive: HashSet<String>,
    now_ms: i64,
) -> Result<RootScan, Error> {
    // What the archive has may be there in a directory that is as it was.
    let folders = match archive.is_empty() {
        true => folders(catalogue, config, format, root, now_ms)?,
        false => Folders::default(),
    };
    let links = config.links(spec);
    let mut discovery = discover_changes(&spec.path, spec.flat, format, &links, &folders);
    let names = look_at_names(&spec.path, format, &folders, archive, &mut discovery);
    // What was below a root that is not there any more may be in the archive.
    let is_gone = discovery.root_is_gone(&spec.path);
    let mut known = match root {
        Some(root) if folders.is_empty() || is_gone => catalogue.known_sources(root)?,
        Some(root) => catalogue.known_sources_in(root, &discovery.read)?,
        None => Vec::new(),
    };
    let look = match folders.is_empty() {
        true => Look::All,
        false => Look::Changes,
    };
    let databases = DatabaseListing {
        catalogue,
        root,
        spec,
        format,
        known: &known,
        look,
    };
    databases.add_to(&mut discovery)?;
    names.list(catalogue, root, &spec.path, &mut discovery)?;
    doubt_directories(catalogue, spec, format, &discovery, &mut known)?;
    doubt_names(catalogue, spec, format, &discovery, &mut known)?;
    let left_out = leave_out(
        catalogue,
        root,
        spec,
        format,
        config.rules.exclude(),
        &mut discovery,
    )?;
    Ok(RootScan {
        discovery,
        known,
        left_out,
        folders,
    })
}

impl RootScan {
    /// Sources below the root, looked at or not.
    pub fn files(&self) -> u64 {
        self.discovery.found.len() as u64 + self.kept().map(|folder| folder.files).sum::<u64>()
    }

    /// The directories that were not read.
    fn kept(&self) -> impl Iterator<Item = &Folder> {
        let read: HashSet<&str> = self.discovery.read.iter().map(|(r, _)| &**r).collect();
        let all = self.discovery.folders.iter();
        all.filter(move |folder| !read.contains(&*folder.relative))
    }

    /// Files that are no source, in directories that were not read: they stay listed as before.
    pub fn foreign_files_kept(
        &self,
        catalogue: &Catalogue,
        root: i64,
    ) -> Result<Vec<ForeignFile>, Error> {
        if self.folders.is_empty() {
            return Ok(Vec::new());
        }
        let read: HashSet<&str> = self
            .discovery
            .read
            .iter()
            .map(|(r, _)| r.as_str())
            .collect();
        let seen: HashSet<&str> = self
            .discovery
            .folders
            .iter()
            .map(|folder| folder.relative.as_str())
            .collect();
        let mut foreign_files = catalogue.foreign_files(root)?;
        foreign_files.retain(|ForeignFile { relative, .. }| {
            let folder = parent(relative);
            seen.contains(folder) && !read.contains(folder) && !seen.contains(relative.as_str())
        });
        Ok(foreign_files)
    }

    /// Note the directories; in those with a source that is in doubt all files are looked at again.
    pub fn note_folders(
        &self,
        catalogue: &Catalogue,
        root: i64,
        format: &dyn Format,
        now_ms: i64,
        doubtful: &HashSet<(i64, String)>,
    ) -> Result<(), Error> {
        let mut seen = self.discovery.folders.clone();
        for folder in &mut seen {
            if doubtful.contains(&(root, folder.relative.clone())) {
                folder.fingerprint = None;
            }
        }
        let full = self.folders.is_empty();
        let (changed, gone) = self.folders.changes(&seen);
        let full_scan = full.then_some((format.about().revision, now_ms));
        catalogue.note_folders(root, full_scan, &changed, &gone)
    }
}
