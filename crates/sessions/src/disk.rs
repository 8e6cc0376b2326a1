//! How does a session's file change? By whole lines at its end, under a lock; whatever goes wrong,
//! no byte of it is lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::entry::Entry;
use super::error::Error;
use super::load::{LoadedEntries, load};
use sessionary_formats::identity::Identity;
use sessionary_formats::pi::Dialect;

/// Bytes before the known end that prove that the file is still the one that was read.
const PROOF: u64 = 4096;
/// How often a file is looked for again that is replaced while it is being locked.
const TRIES: usize = 32;

/// A session file as it was seen last.
#[derive(Debug)]
pub(super) struct Disk {
    pub path: PathBuf,
    dialect: Dialect,
    /// `None`: the file is not there yet.
    known: Option<FileStamp>,
}

#[derive(Debug)]
struct FileStamp {
    identity: Identity,
    /// Up to where its entries are read.
    end: u64,
    /// The bytes before that.
    proof: Vec<u8>,
}

/// What happened to a file since it was seen last.
pub(super) enum FileChange {
    Nothing,
    /// Other programs appended these.
    Appended(Vec<Entry>),
    /// It is not the file that was seen: another one took its place, or it was rewritten.
    Replaced,
}

impl Disk {
    /// A file that is not there yet.
    pub(super) fn new(dialect: Dialect, path: PathBuf) -> Self {
        Self {
            path,
            dialect,
            known: None,
        }
    }

    /// Reads a file. `None` where it is not there.
    pub(super) fn open(
        dialect: Dialect,
        path: PathBuf,
    ) -> Result<Option<(Self, LoadedEntries)>, Error> {
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let read = |file: &mut File| {
            let identity = Identity::of(&file.metadata()?);
            let loaded = load(dialect, file, 0, u64::MAX)?;
            let known = FileStamp {
                identity,
                end: loaded.end,
                proof: proof(file, loaded.end)?,
            };
            Ok((loaded, known))
        };
        let (loaded, known) = read(&mut file).map_err(Error::io(&path))?;
        let known = Some(known);
        let disk = Self {
            path,
            dialect,
            known,
        };
        Ok(Some((disk, loaded)))
    }

    /// Whether the file is there, as far as is known.
    pub(super) fn exists(&self) -> bool {
        self.known.is_some()
    }

    /// Whether nothing was in the file.
    pub(super) fn is_empty(&self) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.identity.size == 0)
    }

    /// Makes the file, and the folders above it, with these lines. An existing file is an error.
    pub(super) fn create(&mut self, lines: &[u8], sync: bool) -> Result<(), Error> {
        let path = &self.path;
        let to_sync = make_folder_of(path)?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(Error::io(path))?;
        let locked = file.lock().map_err(Error::no_lock(path));
        let written = locked.and_then(|()| {
            let written = file
                .write_all(lines)
                .and_then(|()| if sync { file.sync_all() } else { Ok(()) })
                .and_then(|()| self.see(&mut file, lines.len() as u64));
            written.map_err(Error::io(&self.path))
        });
        if sync {
            sync_folders(&to_sync);
        }
        if written.is_err() {
            // It was not there before, and half of it helps nobody.
            let _ = fs::remove_file(&self.path);
        }
        written
    }

    /// Locks the file against our own kind (agents lock nothing) and says what is new in it.
    pub(super) fn lock(&mut self) -> Result<(LockedFile<'_>, FileChange), Error> {
        let mut file = self.locked_file()?;
        let news = self.news(&mut file).map_err(Error::io(&self.path))?;
        Ok((LockedFile { disk: self, file }, news))
    }

    fn locked_file(&self) -> Result<File, Error> {
        let path = &self.path;
        for _ in 0..TRIES {
            let opened = OpenOptions::new().read(true).append(true).open(path);
            let file = match opened {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(Error::Gone { path: path.clone() });
                }
                Err(error) => return Err(Error::io(path)(error)),
            };
            file.lock().map_err(Error::no_lock(path))?;
            // Who held the lock may have put another file in its place.
            let place = |metadata: fs::Metadata| {
                let identity = Identity::of(&metadata);
                (identity.device, identity.inode)
            };
            let held = file.metadata().map(place).map_err(Error::io(path))?;
            match fs::metadata(path).map(place) {
                Ok(there) if there == held => return Ok(file),
                _ => continue,
            }
        }
        Err(Error::Replaced { path: path.clone() })
    }

    fn news(&mut self, file: &mut File) -> io::Result<FileChange> {
        let Some(known) = &mut self.known else {
            return Ok(FileChange::Replaced);
        };
        let identity = Identity::of(&file.metadata()?);
        if identity == known.identity && identity.size == known.end {
            return Ok(FileChange::Nothing);
        }
        let Some(loaded) = known.further(self.dialect, file, u64::MAX)? else {
            return Ok(FileChange::Replaced);
        };
        known.identity = identity;
        known.end = loaded.end;
        known.proof = proof(file, loaded.end)?;
        Ok(match loaded.entries.is_empty() {
            true => FileChange::Nothing,
            false => FileChange::Appended(loaded.entries),
        })
    }

    /// Whether the file is still what it was when it was seen last.
    pub(super) fn is_as_seen(&self, file: &File) -> io::Result<bool> {
        let now = Identity::of(&file.metadata()?);
        Ok(self
            .known
            .as_ref()
            .is_some_and(|known| known.identity == now))
    }

    pub(super) fn see(&mut self, file: &mut File, end: u64) -> io::Result<()> {
        self.known = Some(FileStamp {
            identity: Identity::of(&file.metadata()?),
            end,
            proof: proof(file, end)?,
        });
        Ok(())
    }

    /// Has the file count as replaced when it is locked next, whatever is in it.
    pub(super) fn distrust(&mut self) {
        if let Some(known) = &mut self.known {
            // No file is as long.
            known.end = u64::MAX;
        }
    }

    /// Sees lines of our own, and gives the entries between what was known and them. `None`: the
    /// file is another one.
    fn see_written(
        &mut self,
        file: &mut File,
        written: &Range<u64>,
    ) -> io::Result<Option<Vec<Entry>>> {
        let others = match &self.known {
            Some(known) if known.end == written.start => Some(Vec::new()),
            Some(known) => known
                .further(self.dialect, file, written.start)?
                .map(|loaded| loaded.entries),
            None => None,
        };
        if others.is_some() {
            self.see(file, written.end)?;
        }
        Ok(others)
    }
}

impl FileStamp {
    /// The entries behind the known end of the file, up to a new end. `None`: the bytes that were
    /// known are no longer there.
    fn further(
        &self,
        dialect: Dialect,
        file: &mut File,
        until: u64,
    ) -> io::Result<Option<LoadedEntries>> {
        let identity = Identity::of(&file.metadata()?);
        let same = (identity.device, identity.inode) == (self.identity.device, self.identity.inode)
            && identity.size >= self.end
            && proof(file, self.end)? == self.proof;
        if !same {
            return Ok(None);
        }
        // An entry that was read before its line ended, and did not end there.
        if identity.size > self.end && self.end > 0 && self.proof.last() != Some(&b'\n') {
            let mut next = [0];
            file.seek(SeekFrom::Start(self.end))?;
            file.read_exact(&mut next)?;
            if !matches!(next[0], b'\n' | b'\r') {
                return Ok(None);
            }
        }
        load(dialect, file, self.end, until).map(Some)
    }
}

/// A locked session file. The lock ends with it.
pub(super) struct LockedFile<'d> {
    pub(super) disk: &'d mut Disk,
    pub(super) file: File,
}

impl LockedFile<'_> {
    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.disk.path
    }

    /// Appends whole lines in one write, first ending a line that has no end. Gives the entries
    /// that programs without a lock appended since the file was locked: they stand before these
    /// lines.
    ///
    /// When it fails, on a full disk say, the file ends where it did; see [`append_lines`].
    pub(super) fn append(&mut self, lines: &str, sync: bool) -> Result<Vec<Entry>, Error> {
        let written = append_lines(&mut self.file, lines.as_bytes(), sync)
            .map_err(Error::io(&self.disk.path))?;
        match self.disk.see_written(&mut self.file, &written) {
            Ok(Some(others)) => Ok(others),
            // The lines are in the file, so this is no failure. The whole file is read again before
            // the next lines are appended.
            Ok(None) | Err(_) => {
                self.disk.distrust();
                Ok(Vec::new())
            }
        }
    }
}

/// Makes the folder of a file that is to be made, and those above it that are missing. Gives the
/// folders in which a name is new then, for [`sync_folders`].
pub(super) fn make_folder_of(file: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder = file.parent().unwrap_or(file);
    let to_sync = folders_to_sync(folder);
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    Ok(to_sync)
}

/// In which folders a name is new once this one is made and a file in it: in itself, in those above
/// it that are missing, and in the one that is there, which holds the name of the next.
pub(super) fn folders_to_sync(folder: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for above in folder.ancestors() {
        // Of a path that names no folder.
        let above = match above.as_os_str().is_empty() {
            true => Path::new("."),
            false => above,
        };
        folders.push(above.to_path_buf());
        if above.exists() {
            break;
        }
    }
    folders
}

/// Has the names in these folders outlast a crash, where their file system can be told to: what was
/// written is in its place either way.
pub(super) fn sync_folders(folders: &[impl AsRef<Path>]) {
    // On Windows a folder is no file that could be opened.
    if cfg!(unix) {
        for folder in folders {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
    }
}

/// Appends whole lines to a locked file in one write, after ending a last line that has no end.
/// Returns where the lines are: a program that takes no lock may have written before them.
///
/// When it fails, the file is cut back to its old end, unless such a program has written behind
/// these lines: cutting would remove its line too. Then whatever was written of them stays.
pub(super) fn append_lines(file: &mut File, lines: &[u8], sync: bool) -> io::Result<Range<u64>> {
    append_and(file, lines, |file| match sync {
        true => file.sync_data(),
        false => Ok(()),
    })
}

fn append_and(
    file: &mut File,
    lines: &[u8],
    settle: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<Range<u64>> {
    let start = file.seek(SeekFrom::End(0))?;
    let mut text = Vec::with_capacity(lines.len() + 1);
    if start > 0 && last_byte(file, start)? != b'\n' {
        text.push(b'\n');
    }
    text.extend_from_slice(lines);
    let mut written = 0;
    while written < text.len() {
        match file.write(&text[written..]) {
            Ok(0) => {
                undo(file, start, written);
                return Err(io::ErrorKind::WriteZero.into());
            }
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                undo(file, start, written);
                return Err(error);
            }
        }
    }
    // The last write ended behind our lines.
    let end = file.stream_position()?;
    let start = end.saturating_sub(text.len() as u64);
    settle(file).inspect_err(|_| undo(file, start, text.len()))?;
    Ok(start..end)
}

/// Cuts off what was written from there on, unless another program went on behind it.
fn undo(file: &File, start: u64, written: usize) {
    let ours = start + written as u64;
    if written > 0 && file.metadata().is_ok_and(|now| now.len() == ours) {
        let _ = file.set_len(start);
    }
}

fn last_byte(file: &mut File, end: u64) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::Start(end - 1))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

fn proof(file: &mut File, end: u64) -> io::Result<Vec<u8>> {
    let from = end.saturating_sub(PROOF);
    let mut bytes = vec![0; (end - from) as usize];
    file.seek(SeekFrom::Start(from))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_in_every_folder_that_is_made_and_in_the_one_above() {
        let place = tempfile::tempdir().expect("a folder");
        let project = place.path().join("sessions/--w--");
        let made = make_folder_of(&project.join("one.jsonl")).expect("made");
        let all: Vec<&Path> = project.ancestors().take(3).collect();
        assert_eq!(made, all);
        assert_eq!(all[2], place.path());
        // The next file is new in its folder alone.
        let made = make_folder_of(&project.join("two.jsonl")).expect("there");
        assert_eq!(made, [project]);
        // Paths below the working directory.
        assert_eq!(folders_to_sync(Path::new("")), [Path::new(".")]);
        let below = ["no such folder/below", "no such folder", "."].map(Path::new);
        assert_eq!(folders_to_sync(below[0]), below);
    }

    #[test]
    fn lines_that_cannot_be_synced_are_taken_back_unless_others_went_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("session.jsonl");
        fs::write(&path, "torn").expect("written");
        let open = || OpenOptions::new().read(true).append(true).open(&path);
        let mut file = open().expect("the file");
        let broken = |_: &File| Err(io::Error::other("broken"));
        assert!(append_and(&mut file, b"ours\n", broken).is_err());
        assert_eq!(fs::read(&path).expect("read"), b"torn");

        let meddled = |_: &File| {
            open()?.write_all(b"theirs\n")?;
            Err(io::Error::other("broken"))
        };
        assert!(append_and(&mut file, b"ours\n", meddled).is_err());
        assert_eq!(fs::read(&path).expect("read"), b"torn\nours\ntheirs\n");
    }
}
