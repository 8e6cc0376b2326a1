//! Where do hosts put what they share? One trait, and behind it a folder or a database.

pub mod dir;
pub mod postgres;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use sessionary::index::SqlPart;
use sessionary::settings::Surroundings;

use crate::block::BlockId;
use crate::error::{Error, Problem};
use crate::manifest::{Host, Manifest, Manifests, Place};
use crate::rows::{BundleKey, Rows};

/// The longest manifest that is read, in bytes. One names a block of 256 KiB or more by some 200
/// bytes, so of a file of 4 GiB, the longest that is shared, it has some 4 MB.
const LONGEST_MANIFEST: u64 = 8 << 20;

/// Bytes of all manifests of a host that are read, so that no host fills the memory of all who
/// pull. Sessions of 10 GB have some 20 MB of them.
const MOST_OF_MANIFESTS: u64 = 256 << 20;
/// What each of them counts for besides its bytes: also of one that says nothing something is held.
const BESIDE_MANIFEST: u64 = 256;

/// What is put into a store at once.
#[derive(Debug, Default)]
pub struct Batch {
    /// Blocks, compressed.
    pub blocks: Vec<(BlockId, Vec<u8>)>,
    /// Manifests, whose blocks are in the store or in this batch.
    pub manifests: Vec<Manifest>,
    /// The rows of bundles, in the place of those that are there.
    pub rows: Option<Rows>,
}

impl Batch {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.manifests.is_empty() && self.rows.is_none()
    }
}

/// What hosts share. Whoever writes, writes in the place of its own host alone; whatever else is
/// read may be missing, damaged or hostile.
pub trait Store {
    /// The hosts that have shared something here, in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn hosts(&mut self) -> Result<Vec<String>, Error>;

    /// Whether there is a host of this name, whichever machine it is.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn has(&mut self, host: &str) -> Result<bool, Error>;

    /// Whether another machine has the name of this host, as far as may be seen.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn is_taken(&mut self, host: &Host) -> Result<bool, Error>;

    /// Be this host from now on: its place is made where it is missing.
    ///
    /// # Errors
    /// When the store cannot be written, or another machine has this name.
    fn claim(&mut self, host: &Host) -> Result<(), Error>;

    /// The manifests of a host; `None`: the host is not there at all, which says nothing of what it
    /// shares.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn manifests(&mut self, host: &str) -> Result<Option<Manifests>, Error>;

    /// These blocks of a host, compressed, as they are, but for those that are not there (yet).
    ///
    /// # Errors
    /// When one of them cannot be read.
    fn packed(&mut self, host: &str, ids: &[&BlockId])
    -> Result<BTreeMap<BlockId, Vec<u8>>, Error>;

    /// The blocks that this host has here.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn blocks(&mut self, host: &str) -> Result<BTreeSet<BlockId>, Error>;

    /// The seals of the bundles of which it has rows of this host; `None`: it is not asked in SQL,
    /// and takes none.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn seals(&mut self, host: &str) -> Result<Option<BTreeMap<BundleKey, String>>, Error> {
        let _ = host;
        Ok(None)
    }

    /// Put blocks, then the manifests that need them, and with these their rows. Whenever it is
    /// killed, no manifest names a block that is not there.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn put(&mut self, host: &str, batch: &Batch) -> Result<(), Error>;

    /// Wait until all that was put stays, whatever crashes.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn settle(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Take manifests back, and the rows of the bundles to which they belong.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn take_back(&mut self, host: &str, places: &[Place]) -> Result<(), Error>;

    /// Remove these blocks, which no manifest of the host names, and what was left unfinished.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn sweep(&mut self, host: &str, blocks: &BTreeSet<BlockId>) -> Result<(), Error>;

    /// Ask for what the rows of all hosts say, in SQL that only reads; days and times are those of
    /// this zone. An error of `each` ends it.
    ///
    /// # Errors
    /// When the store has no SQL, or does not answer.
    fn sql(&mut self, query: &str, zone: &str, each: EachPart<'_>) -> Result<(), Error> {
        let _ = (query, zone, each);
        Err(Error::refused(
            "the store is a folder, which cannot be asked in SQL",
            "`sessionary team pull` brings what is in it, and then `sessionary sql` asks that: its `sessions.host` says of which machine a session is",
        ))
    }
}

/// What is done with each piece of the answer to a query.
pub type EachPart<'a> = &'a mut dyn FnMut(SqlPart<'_>) -> io::Result<()>;

/// Make the folder of the store at this address where it is missing. Nothing else makes it: one
/// that is missing later is not mounted, and what were put in its place would reach nobody.
///
/// # Errors
/// When it cannot be made.
pub fn make(address: &str) -> Result<(), Error> {
    match address.split_once(':') {
        Some(("dir", path)) => dir::Dir::make(path),
        // The tables of a database are made when it is opened.
        _ => Ok(()),
    }
}

/// The store at this address. Where it needs a password, that is looked for in these surroundings;
/// what is passed over there is told to `say`, and why.
///
/// # Errors
/// When it is no address, or the store cannot be reached.
pub fn open(
    address: &str,
    surroundings: &Surroundings,
    say: &dyn Fn(&str),
) -> Result<Box<dyn Store + Send>, Error> {
    match address.split_once(':') {
        Some(("dir", path)) => Ok(Box::new(dir::Dir::open(path)?)),
        Some(("postgres" | "postgresql", rest)) => {
            let opened = postgres::Postgres::open(rest, surroundings, say)?;
            Ok(Box::new(opened))
        }
        // The text is not repeated: it may hold a password.
        _ => Err(Error::refused(
            "this is no store",
            "a store is dir:PATH, a folder that something else synchronises, or postgres://USER@HOST/DATABASE",
        )),
    }
}

/// What this machine has sent is not where it was.
pub fn is_not_known() -> Error {
    Error::refused(
        "this machine has sent sessions to this store, in which it is not known any more: the \
         store is not all there, or it is another one",
        format!("mount it, or wait until it is synchronised; {WAYS_OUT}"),
    )
}

/// What else can be done where a store does not come back.
const WAYS_OUT: &str = "`sessionary team init STORE --keep` begins anew and keeps the copies of \
    other machines' sessions, `leave --keep` removes these too";

/// Not all manifests of a host are read.
fn too_many(host: &str) -> Problem {
    let most = MOST_OF_MANIFESTS >> 20;
    let why = format!("its manifests have more than {most} MiB; no more of them are read");
    Problem::new(host, why)
}

/// Another machine has this name.
pub fn name_is_taken(host: &str) -> Error {
    Error::refused(
        format!("another machine is called {host} in this store"),
        "choose another name: sessionary team init STORE --host NAME",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Key, LEAST, Part};
    use crate::manifest::LARGEST;

    #[test]
    fn the_longest_file_has_a_manifest_that_is_read() {
        let part = Part::of(&vec![b'x'; LEAST], &Key([1; 32]));
        let bytes = serde_json::to_vec(&part).unwrap().len() as u64 + 1;
        // As much again is left for what else it says.
        assert!(bytes * LARGEST.div_ceil(LEAST as u64) < LONGEST_MANIFEST / 2);
    }
}
