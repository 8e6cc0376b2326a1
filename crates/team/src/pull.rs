//! How do the files of other hosts come out of a store, each as its host has it, and what a host
//! has taken back away?
//!
//! Manifests are asked of one host after the other. A copy that is what its manifest says is left
//! alone, one that lacks an end is added to, any other is written beside its place and renamed, on
//! all cores. A file whose blocks have not come yet stays as it was. What a host no longer names
//! goes, but only where all its manifests could be used: one of a later version may be of any file.

mod blocks;

use std::collections::BTreeSet;
use std::io;
use std::sync::Mutex;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;
use sessionary::with_causes;

use self::blocks::{ASKED_AT_ONCE, Blocks, SharedStore};
use crate::block::Part;
use crate::copies::{Copies, Copy, Need};
use crate::error::{Error, Problem};
use crate::manifest::{Host, Manifest, Manifests, Place};
use crate::settings::DataFolder;
use crate::store::Store;

/// After so many bytes that were written it is saved which files they are.
const SAVED_EVERY: u64 = 256 << 20;

/// Why a file is not brought that another one would be on Windows and macOS.
const ONLY_CASE: &str = "the path of another file differs from this one by its case alone";

/// What a pull did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pulled {
    /// Each other host in the store.
    pub hosts: Vec<PulledHost>,
    /// What was left out, and why.
    pub problems: Vec<Problem>,
}

/// What a pull did for one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PulledHost {
    /// Its name.
    pub host: String,
    /// Files that it shares.
    pub files: u64,
    /// Files that were written as a whole.
    pub written: u64,
    /// Files that were added to.
    pub appended: u64,
    /// Files that it no longer shares, and that were removed here.
    pub removed: u64,
    /// Files that were left as they are, since not all of their blocks are in the store.
    pub waiting: u64,
    /// Bytes that were written.
    pub bytes: u64,
}

/// Bring what other hosts share to this machine. Where another one has taken its name, which is its
/// own from its first push on, that is another host too.
///
/// # Errors
/// When the store does not answer. What is wrong with one host or one file is a [`Problem`].
pub fn pull(
    mut store: Box<dyn Store + Send>,
    data: &DataFolder,
    this: &Host,
) -> Result<Pulled, Error> {
    let mut pulled = Pulled::default();
    let mut hosts: BTreeSet<String> = store.hosts()?.into_iter().collect();
    if hosts.contains(&this.host) && !store.is_taken(this)? {
        hosts.remove(&this.host);
    }
    let store = Mutex::new(store);
    for host in &hosts {
        let found = blocks::alone(&store).manifests(host);
        match found {
            Ok(Some(manifests)) => {
                let begun = Pull::begin(&store, data, host, &mut pulled.problems);
                match begun.and_then(|pull| pull.all(&manifests)) {
                    Ok(done) => pulled.hosts.push(done),
                    Err(error) => pulled
                        .problems
                        .push(Problem::new(host, with_causes(&error))),
                }
            }
            Ok(None) => pulled.problems.push(Problem::new(
                host,
                "it has not said yet who it is; copies of its files stay as they are",
            )),
            Err(error) => pulled
                .problems
                .push(Problem::new(host, with_causes(&error))),
        }
    }
    Ok(pulled)
}

/// Why a file was not brought.
enum Failed {
    /// A block has not come yet.
    Waiting,
    /// Something is wrong with it.
    Wrong(String),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Wrong(error.to_string())
    }
}

/// A file of which a copy lacks something.
struct Wanted<'m> {
    place: &'m Place,
    manifest: &'m Manifest,
    /// What it lacks.
    parts: &'m [Part],
    /// Whether there is the rest of it.
    is_begun: bool,
}

impl Wanted<'_> {
    fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.bytes)).sum()
    }
}

/// The pull of one host's files.
struct Pull<'a> {
    store: &'a SharedStore,
    copies: Copies,
    problems: &'a mut Vec<Problem>,
    done: PulledHost,
}

impl<'a> Pull<'a> {
    fn begin(
        store: &'a SharedStore,
        data: &DataFolder,
        host: &str,
        problems: &'a mut Vec<Problem>,
    ) -> Result<Pull<'a>, Error> {
        let hosts = data.hosts();
        let copies = Copies::open(&hosts, host).map_err(Error::at(&hosts.join(host)))?;
        let done = PulledHost {
            host: host.to_owned(),
            ..PulledHost::default()
        };
        Ok(Pull {
            store,
            copies,
            problems,
            done,
        })
    }

    fn all(mut self, manifests: &Manifests) -> Result<PulledHost, Error> {
        let host = std::path::PathBuf::from(&self.done.host);
        self.problems.extend(manifests.problems.iter().cloned());
        self.done.files = manifests.files.len() as u64;
        self.copies
            .write_repositories(&manifests.files)
            .map_err(Error::at(&host))?;
        let mut wanted = self.wanted(manifests);
        let bytes = wanted.iter().map(Wanted::bytes).sum();
        if let Some(why) = self.copies.lacks_room(bytes) {
            self.problems.push(Problem::new(&self.done.host, why));
            wanted.clear();
        }
        for some in runs(&wanted, SAVED_EVERY) {
            let groups = runs(some, ASKED_AT_ONCE).into_par_iter();
            let brought: Vec<_> = groups.flat_map_iter(|group| self.bring(group)).collect();
            for (wanted, brought) in some.iter().zip(brought) {
                self.note(wanted, brought);
            }
            self.copies.save().map_err(Error::at(&host))?;
        }
        if manifests.problems.is_empty() {
            self.done.removed = self
                .copies
                .keep_only(&manifests.files)
                .map_err(Error::at(&host))?;
        }
        self.copies.save().map_err(Error::at(&host))?;
        Ok(self.done)
    }

    /// The files whose copies are not as their manifests say.
    fn wanted<'m>(&mut self, manifests: &'m Manifests) -> Vec<Wanted<'m>> {
        let mut folded = BTreeSet::new();
        let mut wanted = Vec::new();
        for (place, manifest) in &manifests.files {
            let need = match folded.insert(place.to_string().to_lowercase()) {
                true => self.copies.need(manifest).map_err(Failed::from),
                false => Err(Failed::Wrong(ONLY_CASE.to_owned())),
            };
            let (parts, is_begun) = match need {
                Ok(Need::Nothing) => continue,
                Ok(Need::Append(parts)) => (parts, true),
                Ok(Need::Whole) => (&*manifest.parts, false),
                Err(failed) => {
                    self.failed(place, failed);
                    continue;
                }
            };
            wanted.push(Wanted {
                place,
                manifest,
                parts,
                is_begun,
            });
        }
        wanted
    }

    /// Bring what some copies lack, one after the other.
    fn bring(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Copy, Failed>> {
        let parts = wanted.iter().flat_map(|of| of.parts).collect();
        let mut blocks = Blocks::of(self.store, &self.done.host, parts);
        let mut one = |of: &Wanted<'_>| match of.is_begun {
            true => self
                .copies
                .append(of.manifest, of.parts, |part| blocks.said(part)),
            false => self.copies.write(of.manifest, |part| blocks.said(part)),
        };
        wanted.iter().map(&mut one).collect()
    }

    /// Keep in mind what became of a file.
    fn note(&mut self, wanted: &Wanted<'_>, brought: Result<Copy, Failed>) {
        match brought {
            Ok(copy) => {
                self.copies.know(wanted.place, copy);
                self.done.bytes += wanted.bytes();
                match wanted.is_begun {
                    true => self.done.appended += 1,
                    false => self.done.written += 1,
                }
            }
            Err(failed) => self.failed(wanted.place, failed),
        }
    }

    fn failed(&mut self, place: &Place, failed: Failed) {
        match failed {
            Failed::Waiting => self.done.waiting += 1,
            Failed::Wrong(why) => {
                let what = format!("{}/{place}", self.done.host);
                self.problems.push(Problem::new(what, why));
            }
        }
    }
}

/// These files in their order, in runs that lack no more than so many bytes each, or are one file.
fn runs<'w, 'm>(wanted: &'w [Wanted<'m>], most: u64) -> Vec<&'w [Wanted<'m>]> {
    let mut bytes = wanted.first().map_or(0, Wanted::bytes);
    let is_same_run = |_: &Wanted<'_>, next: &Wanted<'_>| {
        bytes += next.bytes();
        let fits = bytes <= most;
        if !fits {
            bytes = next.bytes();
        }
        fits
    };
    wanted.chunk_by(is_same_run).collect()
}
