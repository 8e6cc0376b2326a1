//! What lies below a root now, and what is known of it? Only of directories that changed.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::thread::Builder;

use super::exclude::{LeftOut, leave_out};
use crate::catalogue::{Catalogue, Error, read::Known};
use crate::format::Format;
use crate::index::{Config, RootSpec};
use crate::source::ahead::{Ahead, Listings};
use crate::source::discover::{Before, Discovery, Stray, discover_changes, vouches};
use crate::source::folders::{Folder, Folders, parent};
use crate::source::identity::now_ns;

/// What lies below a root, and what is known of the same directories.
pub struct Look {
    /// Of directories that are as they were nothing but themselves.
    pub discovery: Discovery,
    /// Sources in the directories that were read.
    pub known: Vec<Known>,
    /// What is excluded: of it nothing is in `discovery`.
    pub left_out: LeftOut,
    /// The directories as they were.
    folders: Folders,
}

/// What was seen of a root by who does not need the catalogue for it.
#[derive(Default)]
pub struct Seen {
    /// The directories as they were.
    folders: Folders,
    discovery: Discovery,
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
        // Whether a file is excluded may be told by another one of its session: all are looked at.
        _ if !config.rules.exclude().is_empty() => Folders::default(),
        Some(root) => Folders::of(catalogue.folders(root, format.revision(), now_ms)?),
        None => Folders::default(),
    })
}

/// What was seen of each root that is configured, in that order; `None` of one with a format that is not known.
pub type AllSeen = Vec<Option<Seen>>;

/// Begin to list what lies below the roots, but where a directory that is known vouches for what is in it.
pub fn list_ahead(config: &Config) -> Ahead {
    let lists = |spec: &&RootSpec| {
        let format = config.format(&spec.format);
        format.is_some_and(|format| !vouches(spec.flat, format))
    };
    let roots = config.roots.iter().filter(lists);
    Ahead::start(roots.map(|spec| (spec.path.clone(), !spec.flat)).collect())
}

/// Look at all roots.
pub fn look_at_all(catalogue: &Catalogue, config: &Config, ahead: Ahead) -> Result<AllSeen, Error> {
    Ok(see(config, known(catalogue, config)?, ahead))
}

/// The directories of every root with a format that is known, as they were.
type AllKnown<'a> = Vec<Option<(&'a dyn Format, Folders)>>;

fn known<'a>(catalogue: &Catalogue, config: &'a Config) -> Result<AllKnown<'a>, Error> {
    let now_ms = now_ns() / 1_000_000;
    let known = |spec: &RootSpec| {
        let Some(format) = config.format(&spec.format) else {
            return Ok(None);
        };
        let root = catalogue.root_of(&spec.agent, &spec.path)?;
        let folders = folders(catalogue, config, format, root, now_ms)?;
        Ok(Some((format, folders)))
    };
    config.roots.iter().map(known).collect()
}

/// Look at every root.
fn see(config: &Config, known: AllKnown<'_>, mut ahead: Ahead) -> AllSeen {
    let listings = ahead.stop();
    let see = |(spec, known): (&RootSpec, _)| {
        let (format, folders): (_, Folders) = known?;
        let before = Before {
            known: &folders,
            listings: &listings,
        };
        let discovery = discover(config, spec, format, before);
        Some(Seen { folders, discovery })
    };
    config.roots.iter().zip(known).map(see).collect()
}

fn discover(
    config: &Config,
    spec: &RootSpec,
    format: &dyn Format,
    before: Before<'_>,
) -> Discovery {
    let links = config.links(&spec.agent);
    discover_changes(&spec.path, spec.flat, format, &links, before)
}

/// Look at the root of `spec`, which is stored as `root`, where it was not `seen` yet.
pub fn look(
    catalogue: &Catalogue,
    config: &Config,
    spec: &RootSpec,
    format: &dyn Format,
    root: Option<i64>,
    now_ms: i64,
    seen: Option<Seen>,
) -> Result<Look, Error> {
    let known = |seen: &Seen| match root {
        Some(root) if seen.folders.is_empty() => catalogue.known_sources(root),
        Some(root) => catalogue.known_sources_in(root, &seen.discovery.read),
        None => Ok(Vec::new()),
    };
    let see = |folders| {
        let before = Before {
            known: &folders,
            listings: &Listings::default(),
        };
        let discovery = discover(config, spec, format, before);
        Seen { folders, discovery }
    };
    let (seen, known) = match seen {
        Some(seen) => {
            let known = known(&seen)?;
            (seen, known)
        }
        None => match (root, folders(catalogue, config, format, root, now_ms)?) {
            // What is there and what is known of all of it take about as long: at the same time.
            (Some(root), folders) if folders.is_empty() => std::thread::scope(|scope| {
                let seeing = Builder::new().spawn_scoped(scope, || see(Folders::default()));
                let known = catalogue.known_sources(root)?;
                let seen = match seeing {
                    Ok(seeing) => seeing.join().unwrap_or_else(|panic| resume_unwind(panic)),
                    // Or without a thread for it one after the other.
                    Err(_) => see(folders),
                };
                Ok::<_, Error>((seen, known))
            })?,
            (_, folders) => {
                let seen = see(folders);
                let known = known(&seen)?;
                (seen, known)
            }
        },
    };
    let Seen {
        folders,
        mut discovery,
    } = seen;
    let left_out = leave_out(
        catalogue,
        root,
        spec,
        format,
        config.rules.exclude(),
        &mut discovery,
    )?;
    Ok(Look {
        discovery,
        known,
        left_out,
        folders,
    })
}

impl Look {
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

    /// Files that are no source in the directories that were not read: they are told as before.
    pub fn strays_kept(&self, catalogue: &Catalogue, root: i64) -> Result<Vec<Stray>, Error> {
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
        let mut strays = catalogue.strays(root)?;
        strays.retain(|Stray { relative, .. }| {
            let folder = parent(relative);
            seen.contains(folder) && !read.contains(folder) && !seen.contains(relative.as_str())
        });
        Ok(strays)
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
                folder.seal = None;
            }
        }
        let full = self.folders.is_empty();
        let (changed, gone) = self.folders.changes(&seen);
        let full_scan = full.then_some((format.revision(), now_ms));
        catalogue.note_folders(root, full_scan, &changed, &gone)
    }
}
