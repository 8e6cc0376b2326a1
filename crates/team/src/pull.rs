//! How do the files of other hosts come out of a store, each as its host has it, and what a host
//! has taken back away?
//!
//! Manifests are asked of one host after the other. A copy that is what its manifest says is left
//! alone, one that lacks an end is added to, any other is written beside its place and renamed. A
//! file whose blocks have not come yet stays as it was. What a host no longer names goes, but only
//! where all its manifests could be used: one of a later version may be of any file.

use std::collections::BTreeSet;
use std::io;

use serde::Serialize;

use crate::block::Part;
use crate::copies::{Copies, Need};
use crate::error::{Error, Problem};
use crate::manifest::{Host, Manifest, Manifests};
use crate::settings::DataFolder;
use crate::store::Store;

/// After so many files that were written it is saved which they are.
const SAVED_EVERY: u64 = 256;

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
pub fn pull(store: &mut dyn Store, data: &DataFolder, this: &Host) -> Result<Pulled, Error> {
    let mut pulled = Pulled::default();
    let mut hosts: BTreeSet<String> = store.hosts()?.into_iter().collect();
    if hosts.contains(&this.host) && !store.is_taken(this)? {
        hosts.remove(&this.host);
    }
    for host in &hosts {
        match store.manifests(host) {
            Ok(Some(manifests)) => {
                let begun = Pull::begin(store, data, host, &mut pulled.problems);
                let done = begun.and_then(|pull| pull.all(manifests));
                match done {
                    Ok(done) => pulled.hosts.push(done),
                    Err(error) => pulled.problems.push(Problem::new(host, error)),
                }
            }
            Ok(None) => pulled.problems.push(Problem::new(
                host,
                "it has not said yet who it is; copies of its files stay as they are",
            )),
            Err(error) => pulled.problems.push(Problem::new(host, error)),
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

/// The pull of one host's files.
struct Pull<'a> {
    store: &'a mut dyn Store,
    copies: Copies,
    problems: &'a mut Vec<Problem>,
    done: PulledHost,
}

impl<'a> Pull<'a> {
    fn begin(
        store: &'a mut dyn Store,
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

    fn all(mut self, manifests: Manifests) -> Result<PulledHost, Error> {
        let host = std::path::PathBuf::from(&self.done.host);
        let is_complete = manifests.problems.is_empty();
        self.problems.extend(manifests.problems);
        self.done.files = manifests.files.len() as u64;
        self.copies
            .write_repositories(&manifests.files)
            .map_err(Error::at(&host))?;
        let mut folded = BTreeSet::new();
        for (place, manifest) in &manifests.files {
            let brought = match folded.insert(place.to_string().to_lowercase()) {
                true => self.file(manifest),
                false => Err(Failed::Wrong(ONLY_CASE.to_owned())),
            };
            match brought {
                Ok(()) => {}
                Err(Failed::Waiting) => self.done.waiting += 1,
                Err(Failed::Wrong(why)) => {
                    let what = format!("{}/{place}", self.done.host);
                    self.problems.push(Problem::new(what, why));
                }
            }
            let changed = self.done.written + self.done.appended;
            if changed > 0 && changed.is_multiple_of(SAVED_EVERY) {
                self.copies.save().map_err(Error::at(&host))?;
            }
        }
        if is_complete {
            self.done.removed = self
                .copies
                .keep_only(&manifests.files)
                .map_err(Error::at(&host))?;
        }
        self.copies.save().map_err(Error::at(&host))?;
        Ok(self.done)
    }

    fn file(&mut self, manifest: &Manifest) -> Result<(), Failed> {
        match self.copies.need(manifest)? {
            Need::Nothing => {}
            Need::Append(parts) => {
                let (store, host) = (&mut *self.store, &self.done.host);
                self.copies
                    .append(manifest, parts, |part| said(store, host, part))?;
                self.done.appended += 1;
                self.done.bytes += parts.iter().map(|part| u64::from(part.bytes)).sum::<u64>();
            }
            Need::Whole => {
                let (store, host) = (&mut *self.store, &self.done.host);
                self.copies
                    .write(manifest, |part| said(store, host, part))?;
                self.done.written += 1;
                self.done.bytes += manifest.bytes();
            }
        }
        Ok(())
    }
}

/// What a part says, proven.
fn said(store: &mut dyn Store, host: &str, part: &Part) -> Result<Vec<u8>, Failed> {
    let packed = store.block(host, &part.id);
    let packed = packed.map_err(|error| Failed::Wrong(error.to_string()))?;
    let packed = packed.ok_or(Failed::Waiting)?;
    part.unpack(&packed)
        .map_err(|why| Failed::Wrong(why.to_owned()))
}
