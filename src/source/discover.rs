//! Which files lie below a root, with the identity of each? Directories are read in parallel; the
//! contents of unchanged directories are not listed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, Scope, available_parallelism};
use std::{fs, io};

use super::fingerprints::{DirectoryFingerprint, Folder, Folders};
use super::identity::{Identity, now_ns};
use super::links::Links;
use super::listing::{DirEntry, Kind, Listing, list};
use crate::databases::{FileState, companion};
use crate::format::{Format, WriteMode};
use crate::model::{Placement, SourcePart};

mod scoped;

pub use scoped::{discover_at, hinted, outermost, relative};

/// A source as found.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct FoundSource {
    /// Path below the root.
    pub relative: String,
    pub identity: Identity,
    /// It is a link to the file.
    pub is_link: bool,
    /// Key of its session below the root.
    pub place: String,
    pub part: SourcePart,
    pub unlisted: Option<String>,
}

/// A database as found: whoever knows what is stored of its sessions lists them.
#[derive(Debug, Clone)]
pub struct FoundDatabase {
    /// Path below the root.
    pub relative: String,
    /// `None` when its sessions must be listed again in any case.
    pub fingerprint: Option<DirectoryFingerprint>,
}

/// A file that is no source, or what could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignFile {
    /// Path below the root.
    pub relative: String,
    /// Why it is none.
    pub reason: String,
    /// It may be one, or hold some.
    pub unread: bool,
}

/// All that lies below one root.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// The sources, sorted by path.
    pub found: Vec<FoundSource>,
    /// Databases of sessions that changed, none of which is in `found` yet.
    pub databases: Vec<FoundDatabase>,
    /// Files that are no source, and why.
    pub foreign_files: Vec<ForeignFile>,
    /// Directories and files that could not be read: nothing below them counts as gone.
    pub unreadable: Vec<ForeignFile>,
    /// Device of the root.
    pub device: i64,
    /// Its inode there.
    pub inode: i64,
    /// The root itself could not be read: nothing below it counts as gone.
    pub error: Option<String>,
    /// Every directory whose path is UTF-8, and every database: its sessions lie in it as files lie
    /// in a directory.
    pub folders: Vec<Folder>,
    /// Those of them that were not kept, each with the directories in it. `found` and
    /// `foreign_files` are of these alone.
    pub read: Vec<(String, Vec<String>)>,
}

impl Discovery {
    /// Whether a source that was not found may still exist.
    pub fn hides(&self, relative: &str) -> bool {
        self.error.is_some()
            || self.unreadable.iter().any(|unread| {
                let below = unread.relative.as_str();
                relative == below
                    || relative
                        .strip_prefix(below)
                        .is_some_and(|rest| rest.starts_with('/'))
            })
    }

    fn foreign_file(&mut self, path: &Path, reason: &str) {
        self.foreign_files.push(ForeignFile {
            relative: in_words(path),
            reason: reason.to_owned(),
            unread: false,
        });
    }

    fn unread(&mut self, path: &Path, why: &dyn std::fmt::Display) {
        self.unreadable.push(ForeignFile {
            relative: in_words(path),
            reason: why.to_string(),
            unread: true,
        });
    }

    /// Take in a file. `false`: it is reported in every scan, so its directory has to be read in
    /// every scan.
    fn file(
        &mut self,
        path: &Path,
        (identity, is_link): (Identity, bool),
        flat: bool,
        format: &dyn Format,
    ) -> bool {
        if is_companion(path, flat, format) {
            return true;
        }
        match format.place(path, flat) {
            Placement::Source {
                session,
                part,
                unlisted,
            } => match path.to_str() {
                Some(relative) => self.found.push(FoundSource {
                    relative: slashed(relative),
                    identity,
                    is_link,
                    place: session,
                    part,
                    unlisted,
                }),
                None => {
                    // Sessions are named by their paths, in SQL and in JSON: paths are text.
                    self.unread(path, &"its name is not UTF-8; rename it to have it read");
                    return false;
                }
            },
            Placement::Database => match path.to_str() {
                Some(relative) => self.databases.push(FoundDatabase {
                    relative: slashed(relative),
                    fingerprint: None,
                }),
                None => {
                    self.unread(path, &"its name is not UTF-8; rename it to have it read");
                    return false;
                }
            },
            Placement::Ignore(reason) => self.foreign_file(path, reason),
        }
        true
    }

    /// Take in a directory that was read, and the directories in it. It keeps its fingerprint only
    /// if each of them has a UTF-8 path: others would be missed while the fingerprint holds.
    fn folder(
        &mut self,
        relative: String,
        fingerprint: Option<DirectoryFingerprint>,
        files: u64,
        deeper: &[Directory],
        databases: Vec<String>,
    ) {
        let names = deeper.iter().filter_map(|inside| inside.below.to_str());
        let mut names: Vec<String> = names.map(slashed).collect();
        self.folders.push(Folder {
            relative: relative.clone(),
            fingerprint: fingerprint.filter(|_| names.len() == deeper.len()),
            files,
        });
        names.extend(databases);
        self.read.push((relative, names));
    }

    fn add(&mut self, mut other: Discovery) {
        self.found.append(&mut other.found);
        self.databases.append(&mut other.databases);
        self.foreign_files.append(&mut other.foreign_files);
        self.unreadable.append(&mut other.unreadable);
        self.folders.append(&mut other.folders);
        self.read.append(&mut other.read);
    }

    /// Every list by path.
    pub fn sort(&mut self) {
        self.found
            .sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
        self.foreign_files.sort();
        self.unreadable.sort();
    }
}

/// Walk the root at `path`, and look at every file.
pub fn discover(path: &Path, flat: bool, format: &dyn Format, links: &Links) -> Discovery {
    discover_changes(path, flat, format, links, &Folders::default())
}

/// Walk the root at `path`, and look at the files in directories that changed since they were
/// `known`.
pub fn discover_changes(
    path: &Path,
    flat: bool,
    format: &dyn Format,
    links: &Links,
    known: &Folders,
) -> Discovery {
    if path.to_str().is_none() {
        return Discovery {
            error: Some("its path is not UTF-8".into()),
            ..Discovery::default()
        };
    }
    // Before the first scan: what is changed later is so close to it that it counts as racy.
    let started_ns = now_ns();
    let metadata = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => metadata,
        Ok(_) => {
            return Discovery {
                error: Some("not a directory".into()),
                ..Discovery::default()
            };
        }
        Err(error) => {
            return Discovery {
                error: Some(error.to_string()),
                ..Discovery::default()
            };
        }
    };
    let identity = Identity::of(&metadata);
    let waiting = vec![Directory {
        below: PathBuf::new(),
        identity,
        above: vec![(identity.device, identity.inode)],
        behind: None,
    }];
    let walk = Walk {
        started_ns,
        ..Walk::new(path, flat, format, links, known, waiting)
    };
    std::thread::scope(|scope| walk.walk(scope));
    let mut all = walk
        .all
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = all
        .unreadable
        .iter()
        .position(|unread| unread.relative.is_empty())
    {
        all.error = Some(all.unreadable.swap_remove(at).reason);
    }
    (all.device, all.inode) = identity.file();
    all.sort();
    all
}

/// So many directories wait before another thread is worth starting.
const WORTH_A_THREAD: usize = 8;

/// Whether directories vouch for the files in them.
pub fn vouches(flat: bool, format: &dyn Format) -> bool {
    // Windows reports neither inode nor change time.
    // Databases are written in place.
    let is_renamed = format.write_mode() == WriteMode::Rename && format.database().is_none();
    cfg!(unix) && !flat && is_renamed
}

/// Whether the file is a part of a database beside it.
fn is_companion(path: &Path, flat: bool, format: &dyn Format) -> bool {
    format.database().is_some()
        && path
            .to_str()
            .and_then(companion)
            .is_some_and(|database| format.place(Path::new(database), flat) == Placement::Database)
}

struct Walk<'a> {
    root: &'a Path,
    flat: bool,
    format: &'a dyn Format,
    links: &'a Links,
    /// Directories as they were.
    known: &'a Folders,
    /// Whether directories vouch for the files in them.
    vouches: bool,
    started_ns: i64,
    waiting: Mutex<Vec<Directory>>,
    walkers: AtomicUsize,
    cores: OnceLock<usize>,
    all: Mutex<Discovery>,
}

/// A directory still to be looked at.
struct Directory {
    /// Its path below the root.
    below: PathBuf,
    identity: Identity,
    /// Device and inode of every directory on the way here, so that links cannot lead in circles.
    above: Vec<(i64, i64)>,
    /// The first link on the way here.
    behind: Option<Arc<LinkBudget>>,
}

/// Files and folders without any session among them that are looked at behind one link: a disk of
/// other things, or links that lead to one another, would never end.
const MOST_BEHIND: usize = if cfg!(test) { 500 } else { 200_000 };

/// What was found behind a link and holds no sessions.
struct LinkBudget {
    link: PathBuf,
    others: AtomicUsize,
}

impl LinkBudget {
    fn new(link: PathBuf) -> Arc<LinkBudget> {
        let others = AtomicUsize::new(0);
        Arc::new(LinkBudget { link, others })
    }

    /// Count what lies in one directory, and the directory itself. Going beyond the limit is
    /// reported once.
    fn add(&self, others: usize, here: &mut Discovery) {
        let before = self.others.fetch_add(others, Ordering::Relaxed);
        if before <= MOST_BEHIND && before + others > MOST_BEHIND {
            let what = "files and folders of other things: not all of it is looked at";
            here.unread(
                &self.link,
                &format!("link to more than {MOST_BEHIND} {what}"),
            );
        }
    }

    fn is_over(&self) -> bool {
        self.others.load(Ordering::Relaxed) > MOST_BEHIND
    }
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
    fn file(&self, below: &Path, what: (Identity, bool), here: &mut Discovery) -> bool {
        let is_compressed = below.extension().is_some_and(|end| end == "zst");
        if is_compressed && self.root.join(below.with_extension("")).is_file() {
            here.foreign_file(below, "compressed; the file itself stands beside it");
            return true;
        }
        here.file(below, what, self.flat, self.format)
    }

    fn new(
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
    fn walk<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
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

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Directory>> {
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
        if self.vouches
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
            false => DirectoryFingerprint::of_files(
                names.iter().map(|n| (&*n.name, n.kind, &n.identity)),
            ),
        };
        let folder = kept(fingerprint).filter(|_| settled && !self.vouches);
        let files_before = here.found.len();
        // The directory itself, and what is in it.
        let listed = 1 + names.len();
        let (mut deeper, mut databases) = (Vec::new(), Vec::new());
        for found in names {
            let path = || below.join(&found.name);
            match found.kind {
                // Often a folder of a project: what lies below it is the project's.
                Kind::Folder if self.flat => {}
                Kind::Folder => match self.enter(directory, path(), &found) {
                    Ok(inside) => deeper.push(inside),
                    Err(why) if folder.is_none() => here.foreign_file(&path(), why),
                    Err(_) => {}
                },
                Kind::File if self.is_database(&path()) => {
                    databases.extend(self.look_at_database(&path(), settled, here));
                }
                Kind::File if folder.is_none() => {
                    let what = (found.identity, found.is_link);
                    settled &= self.file(&path(), what, here);
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

    fn is_database(&self, path: &Path) -> bool {
        self.format.database().is_some()
            && path.to_str().is_some()
            && self.format.place(path, self.flat) == Placement::Database
    }

    /// Take in a database, unless it is as it was. Its path is given back.
    fn look_at_database(&self, path: &Path, settled: bool, here: &mut Discovery) -> Option<String> {
        let relative = slashed(path.to_str()?);
        let state = match FileState::of(&self.root.join(path)) {
            Ok(state) => state,
            Err(error) => {
                here.unread(path, &error);
                return Some(relative);
            }
        };
        let fingerprint = state.fingerprint(self.started_ns).filter(|_| settled);
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

    /// The directory in another one that the walk goes into, or why it does not.
    fn enter(
        &self,
        directory: &Directory,
        below: PathBuf,
        found: &Name,
    ) -> Result<Directory, &'static str> {
        if let Some(why) = self.format.leaves_out(&below) {
            return Err(why);
        }
        directory
            .enter(below, found)
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

    /// What the link at a path leads to, or why it is not followed.
    fn target(&self, below: &Path) -> Result<fs::Metadata, String> {
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
    fn enter(&self, below: PathBuf, found: &Name) -> Option<Directory> {
        let own = (found.identity.device, found.identity.inode);
        // Without inodes (on Windows) such a link cannot be recognized, so none is followed.
        if found.is_link && (own == (0, 0) || self.above.contains(&own)) {
            return None;
        }
        let mut inside = self.with(below, found.identity);
        if found.is_link && inside.behind.is_none() {
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

/// As paths are stored on every system.
pub fn slashed(relative: impl Into<String>) -> String {
    let relative = relative.into();
    match cfg!(windows) {
        true => relative.replace('\\', "/"),
        false => relative,
    }
}

/// A path below the root as text. Names that differ stay different: bytes that are not UTF-8 become
/// `\xNN`.
fn in_words(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    slashed(text)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn discover_all(root: &Path) -> Discovery {
        let links = Links::anywhere(vec![root.to_path_buf()]);
        discover(root, false, crate::format::FORMATS[0], &links)
    }

    #[test]
    fn what_lies_behind_a_link_has_an_end_unless_it_is_sessions() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("root")).unwrap();
        fs::write(at("root/own.jsonl"), "{}\n").unwrap();
        for (folder, kind) in [("sessions", "jsonl"), ("others", "txt")] {
            symlink(at(folder), at("root").join(folder)).unwrap();
            for folder in (0..25).map(|number| at(&format!("{folder}/{number}"))) {
                fs::create_dir_all(&folder).unwrap();
                for number in 0..25 {
                    fs::write(folder.join(format!("{number}.{kind}")), "{}\n").unwrap();
                }
            }
        }
        let found = discover_all(&at("root"));
        assert_eq!(found.found.len(), 1 + 25 * 25);
        let [unread] = &found.unreadable[..] else {
            panic!("{:?}", found.unreadable)
        };
        assert_eq!(unread.relative, "others");
        assert!(found.hides("others/1/1.txt") && !found.hides("sessions/1/1.jsonl"));
        assert!((1..=MOST_BEHIND).contains(&found.foreign_files.len()));
    }

    #[test]
    fn links_that_lead_to_one_another_have_an_end() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: String| place.path().join(name);
        fs::create_dir(at("root".to_owned())).unwrap();
        // There are more ways through them than anybody could go.
        for from in 0..14 {
            fs::create_dir(at(format!("{from}"))).unwrap();
            for to in 0..14 {
                symlink(at(format!("{to}")), at(format!("{from}/{to}"))).unwrap();
            }
        }
        symlink(at("0".to_owned()), at("root/link".to_owned())).unwrap();
        let found = discover_all(&at("root".to_owned()));
        assert_eq!(found.unreadable[0].relative, "link");
    }
}
