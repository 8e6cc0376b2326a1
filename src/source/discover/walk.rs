//! What lies in each directory below a root? Several threads look at once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, Scope, available_parallelism};
use std::{fs, io};

use super::budget::LinkBudget;
use super::{Discovery, FoundDatabase, vouches};
use crate::databases::DatabaseState;
use crate::format::Format;
use crate::model::Placement;
use crate::source::fingerprints::{DirectoryFingerprint, Folder, Folders};
use crate::source::identity::{Identity, now_ns};
use crate::source::links::Links;
use crate::source::listing::{DirEntry, Kind, Listing, list};
use crate::stored_path::slashed;

/// So many directories wait before another thread is worth starting.
const WORTH_A_THREAD: usize = 8;

/// A walk below a root that is under way.
pub struct Walk<'a> {
    pub root: &'a Path,
    pub flat: bool,
    pub format: &'a dyn Format,
    links: &'a Links,
    /// Folders that are roots of their own, and whether they are flat.
    other_roots: Vec<(PathBuf, bool)>,
    /// Directories as they were.
    known: &'a Folders,
    /// Whether directories vouch for the files in them.
    vouches: bool,
    pub started_ns: i64,
    waiting: Mutex<Vec<Directory>>,
    walkers: AtomicUsize,
    cores: OnceLock<usize>,
    pub all: Mutex<Discovery>,
}

/// A directory still to be looked at.
pub struct Directory {
    /// Its path below the root.
    pub below: PathBuf,
    pub identity: Identity,
    /// Device and inode of every directory on the way here, so that links cannot lead in circles.
    pub above: Vec<(i64, i64)>,
    /// The first link on the way here.
    pub behind: Option<Arc<LinkBudget>>,
}

/// A name in a directory; of a link, what it leads to.
struct Name {
    name: OsString,
    kind: Kind,
    identity: Identity,
    is_link: bool,
}

impl<'a> Walk<'a> {
    /// Take in a file: see [`Discovery::file`]. Of a file that is there as it was and compressed
    /// the plain one is read, as Codex does (0.169).
    pub fn file(
        &self,
        below: &Path,
        identity: Identity,
        is_link: bool,
        here: &mut Discovery,
    ) -> bool {
        let is_compressed = below.extension().is_some_and(|end| end == "zst");
        if is_compressed && self.root.join(below.with_extension("")).is_file() {
            here.foreign_file(below, "compressed; the file itself stands beside it");
            return true;
        }
        here.file(below, identity, is_link, self.flat, self.format)
    }

    pub fn new(
        root: &'a Path,
        flat: bool,
        format: &'a dyn Format,
        links: &'a Links,
        known: &'a Folders,
        waiting: Vec<Directory>,
    ) -> Walk<'a> {
        Walk {
            root,
            flat,
            format,
            links,
            other_roots: links.nested_in(root),
            known,
            vouches: vouches(flat, format),
            started_ns: now_ns(),
            waiting: Mutex::new(waiting),
            walkers: AtomicUsize::new(1),
            cores: OnceLock::new(),
            all: Mutex::default(),
        }
    }
}

impl Walk<'_> {
    /// Look at waiting directories until there are none. A thread that finds more than it can do
    /// starts another.
    pub fn walk<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let mut here = Discovery::default();
        loop {
            let Some(directory) = self.waiting().pop() else {
                break;
            };
            let deeper = self.directory(&directory, &mut here);
            let waiting = {
                let mut waiting = self.waiting();
                waiting.extend(deeper);
                waiting.len()
            };
            if waiting > WORTH_A_THREAD
                && self.walkers.load(Ordering::Relaxed) < self.most_walkers()
            {
                self.walkers.fetch_add(1, Ordering::Relaxed);
                let started = Builder::new().spawn_scoped(scope, || self.walk(scope));
                if started.is_err() {
                    self.walkers.fetch_sub(1, Ordering::Relaxed);
                }
            }
        }
        self.walkers.fetch_sub(1, Ordering::Relaxed);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.add(here);
    }

    /// The number of cores is looked up only when there is much to do, because that costs as much
    /// as some files.
    fn most_walkers(&self) -> usize {
        let cores = || available_parallelism().map_or(1, usize::from);
        (*self.cores.get_or_init(cores)).max(1)
    }

    pub fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Directory>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Look at one directory; the directories in it are given back.
    #[expect(
        clippy::too_many_lines,
        reason = "each step needs what those before it found"
    )]
    fn directory(&self, directory: &Directory, here: &mut Discovery) -> Vec<Directory> {
        if directory
            .behind
            .as_ref()
            .is_some_and(|behind| behind.is_over())
        {
            return Vec::new();
        }
        let below = &directory.below;
        let path = below.to_str().map(slashed);
        let kept = |fingerprint: DirectoryFingerprint| {
            path.as_ref()
                .and_then(|path| self.known.kept(path, fingerprint))
        };
        // Who has the files in it may be another root than before.
        let is_shared = self.is_in_another_root(below);
        if self.vouches
            && !is_shared
            && let Some(folder) = kept(DirectoryFingerprint::of_directory(&directory.identity))
        {
            here.folders.push(folder.clone());
            let inside = self.known.inside(&folder.relative);
            directory.note_others(folder.files, 1 + inside.len(), here);
            return self.inside(directory, inside, here);
        }
        let mut settled = !self.vouches || !directory.identity.is_racy(self.started_ns);
        let names = match self.names(below, here, &mut settled) {
            Ok(names) => names,
            Err(error) => {
                here.unread(below, &error);
                here.folders.extend(path.as_deref().map(Folder::unsettled));
                return Vec::new();
            }
        };
        let fingerprint = match self.vouches {
            true => DirectoryFingerprint::of_directory(&directory.identity),
            false => {
                let beside = self.cwd_beside(below, &mut settled);
                let beside = beside.iter().map(|(name, own)| (&**name, Kind::Other, own));
                let names = names.iter().map(|n| (&*n.name, n.kind, &n.identity));
                DirectoryFingerprint::of_files(names.chain(beside))
            }
        };
        settled &= !is_shared;
        let folder = kept(fingerprint).filter(|_| settled && !self.vouches);
        let mut paths = names
            .iter()
            .map(|found| (below.join(&found.name), found.kind));
        let is_left = is_shared && paths.any(|(path, kind)| self.is_of_another_root(&path, kind));
        let files_before = here.found.len();
        // The directory itself, and what is in it.
        let listed = 1 + names.len();
        let (mut deeper, mut databases) = (Vec::new(), Vec::new());
        for found in names {
            let path = || below.join(&found.name);
            match found.kind {
                // Often a folder of a project: what lies below it is the project's.
                Kind::Folder if self.flat => {}
                Kind::File if is_left => {}
                Kind::Folder if is_left && self.is_database(&path()) => {}
                Kind::Folder if self.is_database(&path()) => {
                    databases.extend(self.look_at_documents(&path(), here));
                }
                Kind::Folder => {
                    match self.enter(directory, path(), found.identity, found.is_link) {
                        Ok(inside) => deeper.push(inside),
                        Err(why) if folder.is_none() => here.foreign_file(&path(), why),
                        Err(_) => {}
                    }
                }
                Kind::File if self.is_database(&path()) => {
                    databases.extend(self.look_at_database(&path(), settled, here));
                }
                Kind::File if folder.is_none() => {
                    settled &= self.file(&path(), found.identity, found.is_link, here);
                }
                Kind::File | Kind::Link | Kind::Other => {}
            }
        }
        let files = match folder {
            Some(folder) => folder.files,
            None => (here.found.len() - files_before) as u64,
        };
        directory.note_others(files, listed, here);
        if let Some(folder) = folder {
            here.folders.push(folder.clone());
        } else if let Some(path) = path {
            here.folder(
                path,
                Some(fingerprint).filter(|_| settled),
                files,
                &deeper,
                databases,
            );
        }
        deeper
    }

    /// Whether what is at this path is left to another root: that has something beside it, or this.
    pub fn is_left(&self, path: &Path, kind: Kind) -> bool {
        let folder = path.parent().unwrap_or(Path::new(""));
        if !self.is_in_another_root(folder) || kind == Kind::Folder && !self.is_database(path) {
            return false;
        }
        let beside = fs::read_dir(self.root.join(folder)).into_iter().flatten();
        let mut beside = beside.flatten().map(|found| folder.join(found.file_name()));
        self.is_of_another_root(path, kind)
            || beside.any(|path| self.is_of_another_root(&path, Kind::File))
    }

    /// Whether another root has what is at this path. In a folder that is named as a root and is
    /// none of the format's it has nothing.
    fn is_of_another_root(&self, path: &Path, kind: Kind) -> bool {
        let mut others = self.other_roots.iter();
        others.any(|(root, flat)| {
            path.strip_prefix(root).is_ok_and(|within| {
                let is_below = *flat && within.components().count() > 1;
                match self.format.place(within, *flat) {
                    Placement::Source { .. } => kind == Kind::File && !is_below,
                    Placement::Database => !is_below,
                    Placement::Ignore(_) => false,
                }
            })
        })
    }

    fn is_in_another_root(&self, folder: &Path) -> bool {
        let mut others = self.other_roots.iter();
        others.any(|(root, _)| folder.starts_with(root))
    }

    /// The folders that are other roots.
    pub fn other_roots(&self) -> Vec<String> {
        let paths = self
            .other_roots
            .iter()
            .filter_map(|(path, _)| path.to_str());
        paths.map(slashed).collect()
    }

    pub fn is_database(&self, path: &Path) -> bool {
        self.format.about().database.is_some()
            && path.to_str().is_some()
            && self.format.place(path, self.flat) == Placement::Database
    }

    /// Take in a folder of documents, which does not vouch for them. Its path is given back.
    pub fn look_at_documents(&self, path: &Path, here: &mut Discovery) -> Option<String> {
        let relative = slashed(path.to_str()?);
        here.read.push((relative.clone(), Vec::new()));
        here.databases.push(FoundDatabase {
            relative: relative.clone(),
            fingerprint: None,
        });
        Some(relative)
    }

    /// Take in a database, unless it is as it was. Its path is given back.
    fn look_at_database(&self, path: &Path, settled: bool, here: &mut Discovery) -> Option<String> {
        let relative = slashed(path.to_str()?);
        let state = match DatabaseState::of(&self.root.join(path)) {
            Ok(state) => state,
            Err(error) => {
                here.unread(path, &error);
                return Some(relative);
            }
        };
        let folders = self.shelf_folders(path);
        let fingerprint = state.fingerprint(&folders, self.started_ns);
        let fingerprint = fingerprint.filter(|_| settled);
        let kept = fingerprint.and_then(|fingerprint| self.known.kept(&relative, fingerprint));
        match kept {
            Some(folder) => here.folders.push(folder.clone()),
            None => {
                here.read.push((relative.clone(), Vec::new()));
                here.databases.push(FoundDatabase {
                    relative: relative.clone(),
                    fingerprint,
                });
            }
        }
        Some(relative)
    }

    /// The folders of other files of a database that are there.
    fn shelf_folders(&self, path: &Path) -> Vec<Identity> {
        let folders = self
            .format
            .about()
            .database
            .map(|database| database.shelf_folders());
        let above = self.root.join(path.parent().unwrap_or(Path::new("")));
        let folders = folders
            .into_iter()
            .flatten()
            .map(|folder| above.join(folder));
        let known = folders.filter_map(|folder| folder.metadata().ok());
        known.map(|known| Identity::of(&known)).collect()
    }

    /// The directory in another one that the walk goes into, or why it does not.
    pub fn enter(
        &self,
        directory: &Directory,
        below: PathBuf,
        identity: Identity,
        is_link: bool,
    ) -> Result<Directory, &'static str> {
        if let Some(why) = self.format.leaves_out(&below) {
            return Err(why);
        }
        directory
            .enter(below, identity, is_link)
            .ok_or("link to a folder above it")
    }

    /// What is in a directory. `settled` becomes false when it may be something else without
    /// another fingerprint.
    fn names(
        &self,
        below: &Path,
        here: &mut Discovery,
        settled: &mut bool,
    ) -> io::Result<Vec<Name>> {
        let Listing {
            names: listed,
            broken_off,
        } = list(&self.root.join(below))?;
        if let Some(error) = broken_off {
            here.unread(below, &error);
            *settled = false;
        }
        let mut names = Vec::with_capacity(listed.len());
        for DirEntry { name, what } in listed {
            let mut is_link = false;
            let (kind, identity) = match what {
                Ok((Kind::Link, _)) => match self.target(&below.join(&name)) {
                    Ok(metadata) => {
                        is_link = true;
                        // What a link leads to, and whether it is followed, changes without a trace
                        // in the directory.
                        *settled &= !self.vouches;
                        (Kind::of(&metadata), Identity::of(&metadata))
                    }
                    Err(reason) => {
                        *settled = false;
                        here.foreign_file(&below.join(&name), &reason);
                        continue;
                    }
                },
                Ok(found) => found,
                // Gone between the listing and the look.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    here.unread(&below.join(&name), &error);
                    *settled = false;
                    continue;
                }
            };
            *settled &= kind != Kind::File || !identity.is_racy(self.started_ns);
            names.push(Name {
                name,
                kind,
                identity,
                is_link,
            });
        }
        Ok(names)
    }

    /// The files that say the working directory of what is in a directory; they lie elsewhere.
    /// `settled` becomes false when one may say another without another identity.
    fn cwd_beside(&self, below: &Path, settled: &mut bool) -> Vec<(OsString, Identity)> {
        let any = self.root.join(below).join("any");
        let file = self.format.cwd_beside(&any).into_iter();
        let lists = self.format.cwd_lists(&any).into_iter();
        let files = file.chain(lists.flat_map(|(lists, _)| lists));
        let mut there = Vec::new();
        for file in files {
            if let Ok(metadata) = fs::metadata(&file) {
                let identity = Identity::of(&metadata);
                *settled &= !identity.is_racy(self.started_ns);
                there.push((file.into_os_string(), identity));
            }
        }
        there
    }

    /// What the link at a path leads to, or why it is not followed.
    pub fn target(&self, below: &Path) -> Result<fs::Metadata, String> {
        let link = self.root.join(below);
        let target =
            fs::metadata(&link).map_err(|error| format!("link that leads nowhere: {error}"))?;
        self.links.follow(&link)?;
        Ok(target)
    }

    /// The directories that were in a directory, which is as it was.
    fn inside(
        &self,
        directory: &Directory,
        inside: &[String],
        here: &mut Discovery,
    ) -> Vec<Directory> {
        let mut deeper = Vec::with_capacity(inside.len());
        for below in inside {
            match fs::metadata(self.root.join(below)) {
                Ok(metadata) if metadata.is_dir() => {
                    deeper.push(directory.with(PathBuf::from(below), Identity::of(&metadata)));
                }
                // It vanished after its parent was read; the next scan finds that the parent
                // changed.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    here.unread(Path::new(below), &error);
                    here.folders.push(Folder::unsettled(below));
                }
            }
        }
        deeper
    }
}

impl Directory {
    /// Behind a link, count what a directory lists as other things if no file in it belongs to a
    /// session.
    fn note_others(&self, files: u64, listed: usize, here: &mut Discovery) {
        if let Some(behind) = self.behind.as_ref().filter(|_| files == 0) {
            behind.add(listed, here);
        }
    }

    /// A directory in this one that a walk goes into; `None`: a link that leads back to a directory
    /// above.
    fn enter(&self, below: PathBuf, identity: Identity, is_link: bool) -> Option<Directory> {
        let own = (identity.device, identity.inode);
        // Without inodes (on Windows) such a link cannot be recognized, so none is followed.
        if is_link && (own == (0, 0) || self.above.contains(&own)) {
            return None;
        }
        let mut inside = self.with(below, identity);
        if is_link && inside.behind.is_none() {
            inside.behind = Some(LinkBudget::new(inside.below.clone()));
        }
        Some(inside)
    }

    /// A directory in this one.
    fn with(&self, below: PathBuf, identity: Identity) -> Directory {
        let mut above = self.above.clone();
        above.push((identity.device, identity.inode));
        Directory {
            below,
            identity,
            above,
            behind: self.behind.clone(),
        }
    }
}
