//! Which directories are watched? All below every root, and for a root that is not there the
//! nearest one above it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::Watch;
use crate::databases::{companion, is_alone, names_files};
use crate::format::Format;
use crate::format::names::{Names, beside_root, name_beside_root};
use crate::model::Placement;
use crate::source::discover::relative;
use crate::source::events::{WatchedTree, is_unreported};
use crate::source::filesystem::remote_file_system;
use crate::source::identity::Identity;
use crate::source::links::Links;
use crate::source::root::RootSpec;

/// A root as it is watched.
pub(super) struct WatchedRoot {
    /// Absolute, as it is named.
    pub path: PathBuf,
    /// The path with all links resolved, if it exists.
    real: PathBuf,
    flat: bool,
    /// Device and inode; `None`: it is not there, and awaited.
    own: Option<(i64, i64)>,
    /// What is watched in its place.
    above: Option<PathBuf>,
    /// How its agent writes; `None`: nobody knows.
    format: Option<&'static dyn Format>,
    /// The files of names beside it, where its agent has such files.
    names: Option<&'static Names>,
    /// What lies below it, as far as that matters to the watcher.
    met: WatchedTree,
}

impl WatchedRoot {
    fn new(spec: &RootSpec, format: Option<&'static dyn Format>) -> WatchedRoot {
        let path = std::path::absolute(&spec.path).unwrap_or_else(|_| spec.path.clone());
        WatchedRoot {
            real: path.clone(),
            path,
            flat: spec.flat,
            own: None,
            above: None,
            format,
            names: format.and_then(|format| format.names(&spec.path)),
            met: WatchedTree::default(),
        }
    }

    /// Whether it is to come.
    fn is_awaited(&self) -> bool {
        self.own.is_none()
    }

    /// The folder in which its files of names lie.
    fn beside(&self) -> Option<&Path> {
        self.names.and_then(|_| self.path.parent())
    }

    /// The path below the root of the file of names that this one is, or is a part of.
    fn names_file(&self, path: &Path) -> Option<String> {
        let beside = self
            .beside()
            .filter(|beside| path.parent() == Some(*beside))?;
        let file = path.strip_prefix(beside).ok()?.to_str()?;
        let file = companion(file).filter(|_| !is_alone(file)).unwrap_or(file);
        let is_one = self.names.is_some_and(|names| names.is_one(file));
        is_one.then(|| beside_root(file))
    }

    /// How many of its files of names may change without a notification.
    fn unreported_names(&self) -> u64 {
        let files = self.names.map(|names| names_files(&self.path, names));
        let names = files
            .iter()
            .flatten()
            .filter_map(|file| name_beside_root(file));
        let files = names.filter_map(|name| Some(self.beside()?.join(name)));
        files.filter(|file| is_unreported(file)).count() as u64
    }

    /// Whether a file below it is read.
    fn is_read(&self, file: &Path) -> bool {
        let below = file.strip_prefix(&self.path);
        let Some((format, below)) = self.format.zip(below.ok()) else {
            return false;
        };
        let is_ignored = matches!(format.place(below, self.flat), Placement::Ignore(_));
        !is_ignored || format.folder_beside(below).is_some()
    }

    /// Whether something else stands at its path than what is watched.
    fn is_other(&self) -> bool {
        directory(&self.path) != self.own
    }

    /// Whether some of its directories belong to another root too, by another name. The system
    /// notifies changes by one of the names only.
    fn shares(&self, other: &WatchedRoot) -> bool {
        let is_in = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
        self.own.is_some()
            && other.own.is_some()
            && (self.own == other.own || is_in(&self.real, &other.real))
            && !is_in(&self.path, &other.path)
    }
}

fn directory(path: &Path) -> Option<(i64, i64)> {
    let own = fs::metadata(path).ok().filter(|own| own.is_dir())?;
    let Identity { device, inode, .. } = Identity::of(&own);
    Some((device, inode))
}

impl Watch<'_> {
    /// Whether a root was replaced by another directory. Checked are the roots with notifications,
    /// or all of them when a reader asks.
    pub(super) fn roots_are_others(&self) -> bool {
        let asked = !self.fences.is_empty();
        let mut roots = self.roots.iter().enumerate();
        roots.any(|(at, root)| (asked || self.hints.contains_key(&at)) && root.is_other())
    }

    /// Something may have changed at this path.
    pub(super) fn hint(&mut self, reported: &Path) {
        for path in self.names(reported) {
            for at in 0..self.roots.len() {
                let root = &self.roots[at];
                if let Some(file) = root.names_file(&path) {
                    self.hints.entry(at).or_default().insert(file);
                    self.roots[at].met.unreported += u64::from(is_unreported(&path));
                    continue;
                }
                match path.strip_prefix(&root.path) {
                    Ok(below) if below.as_os_str().is_empty() => {
                        self.scan_all("a root came or went");
                    }
                    Ok(below) => {
                        // A path that is not UTF-8 becomes a hint for the directory that contains
                        // it.
                        let text = below.ancestors().find_map(relative).unwrap_or_default();
                        self.hints.entry(at).or_default().insert(text);
                        if path == reported {
                            self.watch_if_directory(at, reported);
                        }
                    }
                    Err(_) if root.is_awaited() && root.path.starts_with(&path) => {
                        self.scan_all("a root came");
                    }
                    Err(_) => {}
                }
            }
        }
    }

    /// All names by which roots and links lead to this path. If a directory has several, the system
    /// notifies changes by one of them.
    fn names(&self, path: &Path) -> BTreeSet<PathBuf> {
        let mut names = BTreeSet::from([path.to_path_buf()]);
        let links = || self.roots.iter().flat_map(|root| &root.met.links);
        let shares = |root: &WatchedRoot| self.roots.iter().any(|other| root.shares(other));
        if links().next().is_none() && !self.roots.iter().any(shares) {
            return names;
        }
        let folder = path
            .parent()
            .and_then(|folder| fs::canonicalize(folder).ok());
        let (Some(folder), Some(name)) = (folder, path.file_name()) else {
            return names;
        };
        let real = folder.join(name);
        let ends = links().filter_map(|(link, end)| Some((link, end.as_ref()?)));
        let roots = self.roots.iter().map(|root| (&root.path, &root.real));
        for (named, end) in roots.chain(ends) {
            match real.strip_prefix(end) {
                Ok(below) if below.as_os_str().is_empty() => names.insert(named.clone()),
                Ok(below) => names.insert(named.join(below)),
                Err(_) => false,
            };
        }
        // Directories that are mounted twice.
        for root in &self.roots {
            let Ok(below) = path.strip_prefix(&root.path) else {
                continue;
            };
            let same = self
                .roots
                .iter()
                .filter(|other| root.shares(other) && root.own == other.own);
            names.extend(same.map(|other| other.path.join(below)));
        }
        names
    }

    /// Watch every root of the configuration, those that were not there before and those that
    /// changed among them.
    pub(super) fn watch_roots(&mut self) {
        let known = self.roots.len();
        let config = &self.indexer.config;
        let new = config.roots.iter().skip(known);
        let watched = |spec: &RootSpec| WatchedRoot::new(spec, config.format(&spec.format));
        self.roots.extend(new.map(watched));
        for at in 0..self.roots.len() {
            if self.polls.is_some() {
                return;
            }
            self.watch_root(at);
        }
    }

    fn watch_root(&mut self, at: usize) {
        let (path, flat) = (self.roots[at].path.clone(), self.roots[at].flat);
        let links = self.links(at);
        loop {
            if let Some(remote) = remote_file_system(&path) {
                return self.poll(format!("{} is on {remote}", path.display()));
            }
            // Asked before it is watched: another one in its place is noticed later.
            let own = directory(&path);
            let root = &self.roots[at];
            let is_read = |file: &Path| root.is_read(file);
            let watched = match own {
                Some(_) => self.events.watch_tree(&path, flat, &links, &is_read),
                None => Ok(WatchedTree::default()),
            };
            match watched {
                Ok(met) if met.directories > 0 => {
                    let root = &mut self.roots[at];
                    root.own = own;
                    root.real = fs::canonicalize(&path).unwrap_or(path);
                    root.met = met;
                    root.met.unreported += root.unreported_names();
                    let above = root.above.take();
                    let beside = root.beside().map(Path::to_path_buf);
                    self.await_no_more(above);
                    if let Some(beside) = beside
                        && let Err(refusal) = self.events.watch(&beside)
                    {
                        self.poll(refusal.0);
                    }
                    return;
                }
                Ok(_) => {}
                Err(refusal) => return self.poll(refusal.0),
            }
            self.roots[at].own = None;
            self.roots[at].met = WatchedTree::default();
            let nearest = || path.ancestors().skip(1).find(|above| above.is_dir());
            let Some(above) = nearest() else {
                return;
            };
            let before = self.roots[at].above.replace(above.to_path_buf());
            self.await_no_more(before.filter(|before| before != above));
            match self.events.watch(above) {
                // What came in the meantime is seen now; what comes later is notified.
                Ok(true) if nearest() == Some(above) && directory(&path).is_none() => return,
                Ok(_) => {}
                // There are no notifications for a directory that may not be read; the full scan
                // finds what comes into it.
                Err(_) => return,
            }
        }
    }

    /// Where links below a root may lead.
    fn links(&self, at: usize) -> Links {
        let config = &self.indexer.config;
        let spec = config.roots.get(at);
        spec.map_or_else(Links::default, |spec| config.links(spec))
    }

    /// A directory above a root needs to be watched no more, unless for another root.
    fn await_no_more(&mut self, above: Option<PathBuf>) {
        let Some(above) = above else {
            return;
        };
        let is_needed = |root: &WatchedRoot| {
            root.above.as_ref() == Some(&above)
                || !root.is_awaited() && root.beside() == Some(&above)
                || !root.is_awaited() && above.starts_with(&root.path)
        };
        if above != self.presence.directory() && !self.roots.iter().any(is_needed) {
            self.events.unwatch(&above);
        }
    }

    /// A new directory is watched before it is read. When a link comes or goes, so do the
    /// notifications of the directory that it leads to, and then all watches are set up again.
    fn watch_if_directory(&mut self, at: usize, path: &Path) {
        let own = fs::symlink_metadata(path);
        let is_link = own.as_ref().is_ok_and(fs::Metadata::is_symlink);
        let root = &mut self.roots[at];
        if is_link || root.met.links.remove(path).is_some() {
            return self.scan_now("a link came or went");
        }
        root.met.unreported += u64::from(root.is_read(path) && is_unreported(path));
        let is_directory = own.is_ok_and(|own| own.is_dir());
        if root.flat || self.polls.is_some() || !is_directory {
            return;
        }
        let links = self.links(at);
        let root = &self.roots[at];
        let is_read = |file: &Path| root.is_read(file);
        match self.events.watch_tree(path, false, &links, &is_read) {
            Ok(met) if !met.links.is_empty() => self.scan_now("links came"),
            Ok(met) => self.roots[at].met.unreported += met.unreported,
            Err(refusal) => self.poll(refusal.0),
        }
    }

    /// Publish what is watched, and whether that is everything. `false`: it cannot be written now.
    pub(super) fn say(&mut self) -> bool {
        let shares = |root: &WatchedRoot| self.roots.iter().any(|other| root.shares(other));
        let unreported = |root: &WatchedRoot| root.met.unreported + u64::from(shares(root));
        let unreported: u64 = self.roots.iter().map(unreported).sum();
        let why = match &self.polls {
            Some(why) => Some(why.clone()),
            None if !cfg!(target_os = "linux") => {
                Some("this system reports changes late".to_owned())
            }
            None if self.full.is_some() => Some("not everything has been scanned yet".to_owned()),
            None if self.unreadable > 0 => Some("some files could not be read".to_owned()),
            None if unreported > 0 => Some(
                "there are links, files with several names, or directories that cannot be read, below the roots or beside them".to_owned(),
            ),
            None => None,
        };
        self.state.watches = self.polls.is_none();
        self.state.vouches = why.is_none();
        self.state.why = why;
        self.state.directories = self.roots.iter().map(|root| root.met.directories).sum();
        self.state.set_roots(&self.indexer.config);
        self.presence.say(&self.state)
    }
}
