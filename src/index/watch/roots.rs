//! Which directories are watched? All below every root, and for a root that is not there the nearest one above it.

use std::fs;
use std::path::{Path, PathBuf};

use super::Watch;
use crate::index::RootSpec;
use crate::source::events::Met;
use crate::source::filesystem::untold;
use crate::source::identity::Identity;

/// A root as it is watched.
#[derive(Debug)]
pub(super) struct Root {
    /// Absolute, as it is named.
    pub path: PathBuf,
    flat: bool,
    /// Device and inode; `None`: it is not there, and awaited.
    own: Option<(i64, i64)>,
    /// What was met below it.
    met: Met,
}

impl Root {
    fn new(spec: &RootSpec) -> Root {
        Root {
            path: std::path::absolute(&spec.path).unwrap_or_else(|_| spec.path.clone()),
            flat: spec.flat,
            own: None,
            met: Met::default(),
        }
    }

    /// Whether it is to come.
    pub fn is_awaited(&self) -> bool {
        self.own.is_none()
    }

    /// Whether something else stands at its path than what is watched.
    pub fn is_other(&self) -> bool {
        directory(&self.path) != self.own
    }
}

fn directory(path: &Path) -> Option<(i64, i64)> {
    let own = fs::metadata(path).ok().filter(|own| own.is_dir())?;
    let Identity { device, inode, .. } = Identity::of(&own);
    Some((device, inode))
}

impl Watch<'_> {
    /// Watch every root of the configuration, those that were not there before and those that changed among them.
    pub(super) fn watch_roots(&mut self) {
        let known = self.roots.len();
        let new = self.indexer.config.roots.iter().skip(known);
        self.roots.extend(new.map(Root::new));
        for at in 0..self.roots.len() {
            if self.polls.is_some() {
                return;
            }
            self.watch_root(at);
        }
    }

    fn watch_root(&mut self, at: usize) {
        let (path, flat) = (self.roots[at].path.clone(), self.roots[at].flat);
        loop {
            if let Some(remote) = untold(&path) {
                return self.poll(format!("{} is on {remote}", path.display()));
            }
            // Asked before it is watched: another one in its place is noticed later.
            let own = directory(&path);
            let watched = match own {
                Some(_) => self.events.watch_tree(&path, flat),
                None => Ok(Met::default()),
            };
            match watched {
                Ok(met) if met.directories > 0 => {
                    self.roots[at].own = own;
                    self.roots[at].met = met;
                    return;
                }
                Ok(_) => {}
                Err(refusal) => return self.poll(refusal.0),
            }
            self.roots[at].own = None;
            self.roots[at].met = Met::default();
            let nearest = || path.ancestors().skip(1).find(|above| above.is_dir());
            let Some(above) = nearest() else {
                return;
            };
            match self.events.watch(above) {
                // What came in the meantime is seen now, what comes later is told.
                Ok(true) if nearest() == Some(above) && directory(&path).is_none() => return,
                Ok(_) => {}
                // Nobody tells of what comes into a directory that may not be read; the full scan finds it.
                Err(_) => return,
            }
        }
    }

    /// A directory that is new is watched before it is looked at.
    pub(super) fn watch_if_directory(&mut self, at: usize, path: &Path) {
        let Ok(own) = fs::symlink_metadata(path) else {
            return;
        };
        let root = &mut self.roots[at];
        root.met.untold += u64::from(own.is_symlink());
        if root.flat || self.polls.is_some() || !(own.is_dir() || path.is_dir()) {
            return;
        }
        match self.events.watch_tree(path, false) {
            Ok(met) => {
                root.met.directories += met.directories;
                root.met.untold += met.untold;
            }
            Err(refusal) => self.poll(refusal.0),
        }
    }

    /// Say what is watched, and whether that is all there is.
    pub(super) fn say(&mut self) -> Result<(), crate::index::Error> {
        let untold: u64 = self.roots.iter().map(|root| root.met.untold).sum();
        let why = match &self.polls {
            Some(why) => Some(why.clone()),
            None if !cfg!(target_os = "linux") => {
                Some("changes are told late on this system".to_owned())
            }
            None if self.full.is_some() => Some("not everything is looked at yet".to_owned()),
            None if self.unreadable > 0 => Some("some files could not be read".to_owned()),
            None if untold > 0 => {
                Some("links, or directories that cannot be read, are below the roots".to_owned())
            }
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
