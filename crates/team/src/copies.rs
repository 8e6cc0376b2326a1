//! Which copies of another host's files are here, and what was each made from?
//!
//! They lie below `team/HOST/AGENT/` of the data folder, where nothing else writes. `pulled.json`
//! beside them says of which parts each consists, its size and its time; a file that is not what it
//! says is written anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, FileTimes, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::block::Part;
use crate::files::{self, Readers, UNFINISHED};
use crate::manifest::{Manifest, Place};
use crate::repositories;

/// What `pulled.json` is never longer than.
const LONGEST: u64 = 1 << 30;
/// Copies take no more of what is free on the disk.
const MOST_OF_FREE: (u64, u64) = (9, 10);
/// What is known of the copies.
const KNOWN: &str = "pulled.json";

/// A copy, as it was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    parts: Vec<Part>,
    modified_ms: i64,
    bytes: u64,
    /// The time that the file system gave it.
    time_ns: i128,
}

/// What has to be done for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need<'a> {
    /// It is as its manifest says.
    Nothing,
    /// These parts are to be added to it.
    Append(&'a [Part]),
    /// It is to be written.
    Whole,
}

/// The copies of one host's files.
pub struct Copies {
    folder: PathBuf,
    known: BTreeMap<String, Copy>,
    is_saved: bool,
}

impl Copies {
    /// Those of this host below `hosts`; its folder is made.
    pub fn open(hosts: &Path, host: &str) -> io::Result<Copies> {
        let known = files::below(hosts, &format!("{host}/{KNOWN}"), Some(Readers::Owner))?;
        // What is not known is written anew.
        let read = files::read(&known, LONGEST).ok().flatten();
        let read = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Copies {
            folder: hosts.join(host),
            known: read.unwrap_or_default(),
            is_saved: true,
        })
    }

    /// What has to be done that there is the file of this manifest.
    pub fn need<'a>(&self, manifest: &'a Manifest) -> io::Result<Need<'a>> {
        let path = files::below(&self.folder, &manifest.place.to_string(), None)?;
        let Some(copy) = self.known.get(&manifest.place.to_string()) else {
            return Ok(Need::Whole);
        };
        let is_as_left = match fs::symlink_metadata(&path) {
            Ok(found) => {
                is_own(&found) && found.len() == copy.bytes && time_ns(&found) == copy.time_ns
            }
            Err(_) => false,
        };
        Ok(match manifest.parts.strip_prefix(&*copy.parts) {
            Some([]) if is_as_left && copy.modified_ms == manifest.modified_ms => Need::Nothing,
            Some(rest) if is_as_left => Need::Append(rest),
            _ => Need::Whole,
        })
    }

    /// Why so many bytes more are not brought: a block that is named again and again takes little
    /// in the store, and others write to this disk too.
    pub fn lacks_room(&self, bytes: u64) -> Option<String> {
        let free = files::free(&self.folder)?;
        let (part, of) = MOST_OF_FREE;
        let (needs, has) = (bytes >> 20, free >> 20);
        (bytes > free / of * part).then(|| {
            format!("its files take {needs} MiB more, and {has} MiB are free: none is brought")
        })
    }

    /// Add the parts that a copy lacks, each given by `bytes`, and say how it is left. Where one
    /// cannot be had, the copy is as it was.
    pub fn append<E: From<io::Error>>(
        &self,
        manifest: &Manifest,
        parts: &[Part],
        mut bytes: impl FnMut(&Part) -> Result<Vec<u8>, E>,
    ) -> Result<Copy, E> {
        let path = files::below(&self.folder, &manifest.place.to_string(), None)?;
        let mut file = files::open_to_append(&path)?;
        let before = file.metadata()?;
        for part in parts {
            let added = bytes(part).and_then(|bytes| Ok(file.write_all(&bytes)?));
            if let Err(why) = added {
                file.set_len(before.len())?;
                file.set_modified(before.modified()?)?;
                return Err(why);
            }
        }
        Ok(left(manifest, &file)?)
    }

    /// Write a copy, each of its parts given by `bytes`, and say how it is left.
    pub fn write<E: From<io::Error>>(
        &self,
        manifest: &Manifest,
        mut bytes: impl FnMut(&Part) -> Result<Vec<u8>, E>,
    ) -> Result<Copy, E> {
        let name = manifest.place.to_string();
        let path = files::below(&self.folder, &name, Some(Readers::Owner))?;
        let folder = path.parent().unwrap_or(&self.folder);
        let mut file = files::begin(folder, Readers::Owner)?;
        for part in &manifest.parts {
            let bytes = bytes(part)?;
            file.write_all(&bytes)?;
        }
        let copy = left(manifest, file.as_file())?;
        // What is in its place is replaced; a folder there, which no manifest names, gives way.
        if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            fs::remove_dir_all(&path)?;
        }
        // It is not flushed to the disk: what a crash leaves of it is not as long as it is known to
        // be, and so it is written anew.
        files::place(file, &path)?;
        Ok(copy)
    }

    /// Keep in mind how a copy was left.
    pub fn know(&mut self, place: &Place, copy: Copy) {
        self.known.insert(place.to_string(), copy);
        self.is_saved = false;
    }

    /// Remove whatever is no file of these manifests. How many files that were.
    pub fn keep_only(&mut self, manifests: &BTreeMap<Place, Manifest>) -> io::Result<u64> {
        let mut removed = 0;
        let known = self.known.len();
        let names: BTreeSet<String> = manifests.keys().map(|of| folded(&of.to_string())).collect();
        self.known.retain(|name, _| names.contains(&folded(name)));
        self.is_saved &= self.known.len() == known;
        for (name, path) in files::list(&self.folder)? {
            let found = path.symlink_metadata()?;
            if found.is_dir() {
                tidy(
                    &path,
                    &name,
                    &|name| names.contains(&folded(name)),
                    &mut removed,
                )?;
            } else if name.starts_with(UNFINISHED) || found.is_symlink() {
                files::remove(&path)?;
            }
        }
        Ok(removed)
    }

    /// Say of which repositories the sessions are.
    pub fn write_repositories(&self, manifests: &BTreeMap<Place, Manifest>) -> io::Result<()> {
        let text = json(&repositories::of(manifests.values()));
        let path = self.folder.join(repositories::FILE);
        match files::read(&path, LONGEST) {
            Ok(Some(there)) if there == text => Ok(()),
            _ => files::write(&path, &text, Readers::Owner),
        }
    }

    /// Write down what is known of the copies.
    pub fn save(&mut self) -> io::Result<()> {
        if !self.is_saved {
            files::write(&self.folder.join(KNOWN), &json(&self.known), Readers::Owner)?;
            self.is_saved = true;
        }
        Ok(())
    }
}

/// Give a copy its time, and say how it is left.
fn left(manifest: &Manifest, file: &fs::File) -> io::Result<Copy> {
    let since = Duration::from_millis(u64::try_from(manifest.modified_ms).unwrap_or_default());
    let time = UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::now());
    file.set_times(FileTimes::new().set_modified(time))?;
    let found = file.metadata()?;
    Ok(Copy {
        parts: manifest.parts.clone(),
        modified_ms: manifest.modified_ms,
        bytes: found.len(),
        time_ns: time_ns(&found),
    })
}

/// Remove from a folder what is not to stay, and folders in it where nothing does. No link is
/// followed.
///
/// The folder of an agent stays: an index that finds it empty forgets what was in it, one that does
/// not find it takes it to be out of reach for now.
fn tidy(
    folder: &Path,
    name: &str,
    stays: &dyn Fn(&str) -> bool,
    removed: &mut u64,
) -> io::Result<()> {
    for (part, path) in files::list(folder)? {
        let name = format!("{name}/{part}");
        if path.symlink_metadata()?.is_dir() {
            tidy(&path, &name, stays, removed)?;
            if fs::read_dir(&path)?.next().is_none() {
                fs::remove_dir(&path)?;
            }
        } else if !stays(&name) {
            files::remove(&path)?;
            *removed += u64::from(!part.starts_with(UNFINISHED));
        }
    }
    Ok(())
}

/// A name as the file system compares it.
fn folded(name: &str) -> String {
    match cfg!(any(windows, target_os = "macos")) {
        true => name.to_lowercase(),
        false => name.to_owned(),
    }
}

/// Whether it is a plain file that has no other name, which could stand elsewhere.
fn is_own(found: &Metadata) -> bool {
    #[cfg(unix)]
    let has_one_name = std::os::unix::fs::MetadataExt::nlink(found) == 1;
    #[cfg(not(unix))]
    let has_one_name = true;
    found.is_file() && has_one_name
}

fn time_ns(found: &Metadata) -> i128 {
    let time = found.modified().unwrap_or(UNIX_EPOCH);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos().cast_signed(),
        Err(before) => -before.duration().as_nanos().cast_signed(),
    }
}

/// JSON and an end of line.
fn json(of: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(of).unwrap_or_default();
    text.push(b'\n');
    text
}
