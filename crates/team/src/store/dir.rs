//! A store that is a folder. Each host writes only below its own name, whole files that are renamed
//! into place, so any program that synchronises folders may carry it:
//!
//! ```text
//! PATH/HOST/host.json              who this is
//! PATH/HOST/blocks/ab/ab….zst      a block, by its id
//! PATH/HOST/files/….json           a manifest, by the hash of agent and path
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use super::{
    BESIDE_MANIFEST, Batch, LONGEST_MANIFEST, MOST_OF_MANIFESTS, Store, WAYS_OUT, too_many,
};
use crate::block::{BlockId, MOST_PACKED, is_digits, is_hash};
use crate::error::{Error, Problem};
use crate::files::{self, Readers, UNFINISHED};
use crate::manifest::{Host, Manifest, Manifests, Place};
use crate::names::check_host;

/// A folder.
pub struct Dir {
    path: PathBuf,
}

impl Dir {
    /// The store in this folder.
    ///
    /// # Errors
    /// When the path is not absolute, or no folder is there.
    pub fn open(path: &str) -> Result<Dir, Error> {
        let path = absolute(path)?;
        // The folder itself may be reached by a link of the user's.
        match path.canonicalize() {
            Ok(path) if path.is_dir() => Ok(Dir { path }),
            Ok(_) => Err(Error::refused(
                format!("{}: this is no folder, so no store", path.display()),
                "name another with `sessionary team init dir:PATH`",
            )),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::refused(
                format!("{}: the folder of the store is not there", path.display()),
                format!("mount it, or wait until it is synchronised; {WAYS_OUT}"),
            )),
            Err(error) => Err(Error::at(&path)(error)),
        }
    }

    /// Make this folder and those above it, where they are missing.
    ///
    /// # Errors
    /// When the path is not absolute, or the folder cannot be made.
    pub fn make(path: &str) -> Result<(), Error> {
        let path = absolute(path)?;
        files::make_folder(&path, Readers::Group).map_err(Error::at(&path))
    }

    /// A path in the place of a host, to which no link leads.
    fn at(&self, host: &str, name: &str, make: Option<Readers>) -> Result<PathBuf, Error> {
        check_host(host)
            .map_err(|why| Error::refused(format!("{host:?}: {why}"), "choose another name"))?;
        let name = format!("{host}/{name}");
        files::below(&self.path, &name, make).map_err(Error::at(&self.path.join(&name)))
    }

    /// The folders in which a host's blocks are. A desktop may lay files of its own beside them.
    fn block_folders(&self, host: &str) -> Result<Vec<PathBuf>, Error> {
        let blocks = self.at(host, "blocks", None)?;
        let all = files::list(&blocks)
            .map_err(Error::at(&blocks))?
            .into_iter();
        let is_ours = |(name, _): &(String, PathBuf)| name.len() == 2 && is_digits(name);
        Ok(all.filter(is_ours).map(|(_, path)| path).collect())
    }

    /// Write files, then put them into their places.
    fn write(&self, host: &str, all: impl Iterator<Item = (String, Vec<u8>)>) -> Result<(), Error> {
        let mut begun: Vec<(NamedTempFile, PathBuf)> = Vec::new();
        for (name, bytes) in all {
            let path = self.at(host, &name, Some(Readers::Group))?;
            let folder = path.parent().unwrap_or(&self.path);
            let file = files::begin(folder, Readers::Group)
                .and_then(|mut file| file.write_all(&bytes).map(|()| file));
            begun.push((file.map_err(Error::at(&path))?, path));
        }
        for (file, path) in begun {
            files::finish(file, &path).map_err(Error::at(&path))?;
        }
        Ok(())
    }

    /// What a host says of itself; `None`: nothing is there.
    fn host(&self, host: &str) -> Result<Option<Host>, Error> {
        let path = self.at(host, "host.json", None)?;
        let Some(bytes) = files::read(&path, LONGEST_MANIFEST).map_err(Error::at(&path))? else {
            return Ok(None);
        };
        let said: Host = serde_json::from_slice(&bytes).map_err(|why| Error::Damaged {
            path: path.clone(),
            why: why.to_string(),
        })?;
        if said.host != host {
            let why = "it names another host than the folder in which it stands".to_owned();
            return Err(Error::Damaged { path, why });
        }
        Ok(Some(said))
    }
}

/// The path of a folder, which is read from whatever directory the command runs in.
fn absolute(path: &str) -> Result<PathBuf, Error> {
    let path = PathBuf::from(path);
    match path.is_absolute() {
        true => Ok(path),
        false => Err(Error::refused(
            format!(
                "dir:{}: the path of the folder is not absolute",
                path.display()
            ),
            "name the whole path, for example dir:/home/ada/Sync/sessions",
        )),
    }
}

impl Store for Dir {
    fn hosts(&mut self) -> Result<Vec<String>, Error> {
        let all = files::list(&self.path).map_err(Error::at(&self.path))?;
        let names = all.into_iter().map(|(name, _)| name);
        let is_host = |name: &String| check_host(name).is_ok() && self.path.join(name).is_dir();
        Ok(names.filter(is_host).collect())
    }

    fn has(&mut self, host: &str) -> Result<bool, Error> {
        Ok(self.host(host)?.is_some())
    }

    fn is_taken(&mut self, host: &Host) -> Result<bool, Error> {
        Ok(self.host(&host.host)?.is_some_and(|of| of.id != host.id))
    }

    fn claim(&mut self, host: &Host) -> Result<(), Error> {
        match self.host(&host.host)? {
            Some(there) if there.id == host.id => Ok(()),
            Some(_) => Err(super::name_is_taken(&host.host)),
            None => {
                let said = ("host.json".to_owned(), line(host));
                self.write(&host.host, std::iter::once(said))
            }
        }
    }

    fn manifests(&mut self, host: &str) -> Result<Option<Manifests>, Error> {
        if self.host(host)?.is_none() {
            return Ok(None);
        }
        let folder = self.at(host, "files", None)?;
        let (mut found, mut read) = (Manifests::default(), 0);
        for (name, path) in files::list(&folder).map_err(Error::at(&folder))? {
            // A file that is being written, or a synchroniser's own: of a conflict the other side.
            if !is_manifest(&name) {
                continue;
            }
            let bytes = path.symlink_metadata().map_or(0, |of| of.len());
            read += BESIDE_MANIFEST + bytes.min(LONGEST_MANIFEST);
            if read > MOST_OF_MANIFESTS {
                found.problems.push(too_many(host));
                break;
            }
            match manifest(&path) {
                Ok(manifest) => take(manifest, host, &name, &mut found),
                Err(why) => {
                    found
                        .problems
                        .push(Problem::new(path.display().to_string(), why));
                }
            }
        }
        Ok(Some(found))
    }

    fn packed(
        &mut self,
        host: &str,
        ids: &[&BlockId],
    ) -> Result<BTreeMap<BlockId, Vec<u8>>, Error> {
        let mut packed = BTreeMap::new();
        for id in ids {
            let path = self.at(host, &block_name(id), None)?;
            let found = files::read(&path, MOST_PACKED as u64).map_err(Error::at(&path))?;
            packed.extend(found.map(|bytes| ((*id).clone(), bytes)));
        }
        Ok(packed)
    }

    fn blocks(&mut self, host: &str) -> Result<BTreeSet<BlockId>, Error> {
        let mut ids = BTreeSet::new();
        for within in self.block_folders(host)? {
            let all = files::list(&within).map_err(Error::at(&within))?;
            let names = all.iter().filter_map(|(name, _)| name.strip_suffix(".zst"));
            ids.extend(names.filter_map(BlockId::parse));
        }
        Ok(ids)
    }

    fn put(&mut self, host: &str, batch: &Batch) -> Result<(), Error> {
        let blocks = batch.blocks.iter();
        self.write(
            host,
            blocks.map(|(id, packed)| (block_name(id), packed.clone())),
        )?;
        let manifests = batch.manifests.iter();
        self.write(
            host,
            manifests.map(|of| (manifest_name(&of.place), line(of))),
        )
    }

    fn take_back(&mut self, host: &str, places: &[Place]) -> Result<(), Error> {
        places.iter().try_for_each(|place| {
            let path = self.at(host, &manifest_name(place), None)?;
            files::remove(&path).map_err(Error::at(&path))
        })
    }

    fn sweep(&mut self, host: &str, blocks: &BTreeSet<BlockId>) -> Result<(), Error> {
        for id in blocks {
            let path = self.at(host, &block_name(id), None)?;
            files::remove(&path).map_err(Error::at(&path))?;
        }
        let manifests = self.at(host, "files", None)?;
        let is_copy = |name: &str| name.ends_with(".json") && !is_manifest(name);
        tidy(&manifests, is_copy).map_err(Error::at(&manifests))?;
        for within in self.block_folders(host)? {
            let is_copy = |name: &str| name.ends_with(".zst") && !is_block(name);
            tidy(&within, is_copy).map_err(Error::at(&within))?;
        }
        let place = self.path.join(host);
        tidy(&place, |_| false).map_err(Error::at(&place))
    }
}

/// Remove from a folder what was left unfinished, the copies that a synchroniser made of what is
/// ours, and the folder if nothing is in it.
fn tidy(folder: &Path, is_copy: impl Fn(&str) -> bool) -> std::io::Result<()> {
    let all = files::list(folder)?;
    let is_left = |name: &str| name.starts_with(UNFINISHED) || is_copy(name);
    let left = all.iter().filter(|(name, _)| is_left(name));
    for (_, path) in left {
        files::remove(path)?;
    }
    if all.is_empty() {
        // Another process may have put something there just now.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

/// Whether a manifest is called so.
fn is_manifest(name: &str) -> bool {
    name.strip_suffix(".json").is_some_and(is_hash)
}

/// Whether a block is called so.
fn is_block(name: &str) -> bool {
    name.strip_suffix(".zst").is_some_and(is_hash)
}

fn manifest(path: &Path) -> Result<Manifest, String> {
    let bytes = files::read(path, LONGEST_MANIFEST).map_err(|error| error.to_string())?;
    let bytes = bytes.ok_or("it has gone")?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

/// Take a manifest that may be used; of any other say what is wrong.
fn take(manifest: Manifest, host: &str, name: &str, found: &mut Manifests) {
    let is_called = name.strip_suffix(".json") == Some(manifest.place.name().as_str());
    let checked = manifest.check(host).and_then(|()| match is_called {
        true => Ok(()),
        false => Err("its name is that of another file's manifest".to_owned()),
    });
    match checked {
        Ok(()) => drop(found.files.insert(manifest.place.clone(), manifest)),
        Err(why) => {
            let what = format!("{host}: manifest {name}");
            found.problems.push(Problem::new(what, why));
        }
    }
}

fn block_name(id: &BlockId) -> String {
    let id = id.as_str();
    format!("blocks/{}/{id}.zst", &id[..2])
}

fn manifest_name(place: &Place) -> String {
    format!("files/{}.json", place.name())
}

/// A line of JSON.
fn line(of: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(of).unwrap_or_default();
    text.push(b'\n');
    text
}
