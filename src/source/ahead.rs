//! What lies in the directories of some roots, listed before it is known what of it was there before? Listing takes longer
//! than opening a catalogue: both are done at the same time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::identity::now_ns;
use super::listing::{Kind, Listed, Listing, list};

/// So many names are kept at most, some megabytes.
const MOST_NAMES: usize = 20_000;

/// Directories as they were listed, by their paths. Each is given away once.
#[derive(Default)]
pub struct Listings {
    /// Before the first of them was listed.
    started_ns: Option<i64>,
    by_path: Mutex<HashMap<PathBuf, Vec<Listed>>>,
}

impl Listings {
    /// From when on a change may not be in them, if it is not `now_ns`.
    pub fn started_ns(&self, now_ns: i64) -> i64 {
        self.started_ns.unwrap_or(now_ns)
    }

    /// What the directory at `path` holds.
    pub fn list(&self, path: &Path) -> std::io::Result<Listing> {
        let mut by_path = self.by_path.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = by_path.remove(path);
        drop(by_path);
        match listed {
            Some(names) => Ok(Listing {
                names,
                broken_off: None,
            }),
            None => list(path),
        }
    }
}

/// A thread that lists, until its listings are wanted.
#[derive(Default)]
pub struct Ahead(Option<(Arc<AtomicBool>, JoinHandle<Listings>)>);

impl Ahead {
    /// Begin to list what lies below these directories; `false`: without the directories in it. Without a thread for it
    /// nothing is listed.
    pub fn start(roots: Vec<(PathBuf, bool)>) -> Self {
        let wanted = Arc::new(AtomicBool::new(false));
        let is_wanted = Arc::clone(&wanted);
        let listing = Builder::new().spawn(move || listings(roots, &is_wanted));
        Self(listing.ok().map(|listing| (wanted, listing)))
    }

    /// What was listed so far.
    pub fn stop(&mut self) -> Listings {
        let Some((wanted, listing)) = self.0.take() else {
            return Listings::default();
        };
        wanted.store(true, Ordering::Relaxed);
        listing.join().unwrap_or_default()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some((wanted, _)) = &self.0 {
            wanted.store(true, Ordering::Relaxed);
        }
    }
}

fn listings(roots: Vec<(PathBuf, bool)>, is_wanted: &AtomicBool) -> Listings {
    let started_ns = Some(now_ns());
    let mut by_path = HashMap::new();
    let (mut waiting, mut names) = (roots, 0);
    while let Some((path, deep)) = waiting.pop() {
        if names > MOST_NAMES || is_wanted.load(Ordering::Relaxed) {
            break;
        }
        // What cannot be listed without doubt is listed once more by who tells of it.
        let Ok(listing) = list(&path) else { continue };
        if listing.broken_off.is_some() || listing.names.iter().any(|name| name.what.is_err()) {
            continue;
        }
        for Listed { name, what } in &listing.names {
            if deep && matches!(what, Ok((Kind::Folder, _))) {
                waiting.push((path.join(name), true));
            }
        }
        names += listing.names.len();
        by_path.insert(path, listing.names);
    }
    Listings {
        started_ns,
        by_path: Mutex::new(by_path),
    }
}
