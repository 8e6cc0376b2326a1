//! How does a session's file change? By whole lines at its end, under a lock; whatever goes wrong, no byte of it is lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::entry::Entry;
use super::error::Error;
use super::value::is_truthy;
use crate::source::identity::Identity;
use crate::source::lines::Lines;

/// Bytes before the known end that prove that the file is still the one that was read.
const PROOF: u64 = 4096;
/// How often a file is looked for again that is replaced while it is being locked.
const TRIES: usize = 32;

/// A session file as it was seen last.
#[derive(Debug)]
pub(super) struct Disk {
    pub path: PathBuf,
    /// `None`: the file is not there yet.
    known: Option<Known>,
}

#[derive(Debug)]
struct Known {
    identity: Identity,
    /// Up to where its entries are read.
    end: u64,
    /// The bytes before that.
    proof: Vec<u8>,
}

/// The entries of a file from some place on.
pub(super) struct Loaded {
    pub entries: Vec<Entry>,
    /// Behind the last of them. What follows is a line that is still being written, or torn.
    pub end: u64,
}

/// What happened to a file since it was seen last.
pub(super) enum News {
    Nothing,
    /// Other programs appended these.
    Appended(Vec<Entry>),
    /// It is not the file that was seen: another one took its place, or it was written anew.
    Replaced,
}

impl Disk {
    /// A file that is not there yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, known: None }
    }

    /// Reads a file. `None` where it is not there.
    pub(super) fn open(path: PathBuf) -> Result<Option<(Self, Loaded)>, Error> {
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let read = |file: &mut File| {
            let identity = Identity::of(&file.metadata()?);
            let loaded = load(file, 0)?;
            let known = Known {
                identity,
                end: loaded.end,
                proof: proof(file, loaded.end)?,
            };
            Ok((loaded, known))
        };
        let (loaded, known) = read(&mut file).map_err(Error::io(&path))?;
        let known = Some(known);
        Ok(Some((Self { path, known }, loaded)))
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
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(Error::io(path))?;
        let written = file
            .lock()
            .and_then(|()| file.write_all(lines))
            .and_then(|()| if sync { file.sync_all() } else { Ok(()) })
            .and_then(|()| self.see(&mut file, lines.len() as u64));
        if written.is_err() {
            // It was not there before, and half of it helps nobody.
            let _ = fs::remove_file(&self.path);
        }
        written.map_err(Error::io(&self.path))
    }

    /// Locks the file against our own kind (agents lock nothing) and says what is new in it.
    pub(super) fn lock(&mut self) -> Result<(Locked<'_>, News), Error> {
        let mut file = self.locked_file()?;
        let news = self.news(&mut file).map_err(Error::io(&self.path))?;
        Ok((Locked { disk: self, file }, news))
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
            file.lock().map_err(Error::io(path))?;
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

    fn news(&mut self, file: &mut File) -> io::Result<News> {
        let Some(known) = &mut self.known else {
            return Ok(News::Replaced);
        };
        let identity = Identity::of(&file.metadata()?);
        if identity == known.identity && identity.size == known.end {
            return Ok(News::Nothing);
        }
        let same = (identity.device, identity.inode)
            == (known.identity.device, known.identity.inode)
            && identity.size >= known.end
            && proof(file, known.end)? == known.proof;
        if !same {
            return Ok(News::Replaced);
        }
        // An entry that was read before its line ended, and did not end there.
        if identity.size > known.end && known.end > 0 && known.proof.last() != Some(&b'\n') {
            let mut next = [0];
            file.seek(SeekFrom::Start(known.end))?;
            file.read_exact(&mut next)?;
            if !matches!(next[0], b'\n' | b'\r') {
                return Ok(News::Replaced);
            }
        }
        let loaded = load(file, known.end)?;
        known.identity = identity;
        known.end = loaded.end;
        known.proof = proof(file, loaded.end)?;
        Ok(match loaded.entries.is_empty() {
            true => News::Nothing,
            false => News::Appended(loaded.entries),
        })
    }

    fn see(&mut self, file: &mut File, end: u64) -> io::Result<()> {
        self.known = Some(Known {
            identity: Identity::of(&file.metadata()?),
            end,
            proof: proof(file, end)?,
        });
        Ok(())
    }
}

/// A locked session file. The lock ends with it.
pub(super) struct Locked<'d> {
    disk: &'d mut Disk,
    file: File,
}

impl Locked<'_> {
    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.disk.path
    }

    /// Appends whole lines in one write, first ending a line that has no end. Gives the entries that a program without a
    /// lock appended in that very moment: they stand before these lines.
    ///
    /// When it fails, on a full disk say, the file ends where it did.
    pub(super) fn append(&mut self, lines: &str, sync: bool) -> Result<Vec<Entry>, Error> {
        self.try_append(lines, sync)
            .map_err(Error::io(&self.disk.path))
    }

    fn try_append(&mut self, lines: &str, sync: bool) -> io::Result<Vec<Entry>> {
        let file = &mut self.file;
        let start = file.seek(SeekFrom::End(0))?;
        let written = append_lines(file, lines, sync)?;
        let others = if written.start > start {
            let between = written.start - start;
            let mut between = vec![0; usize::try_from(between).unwrap_or(0)];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut between)?;
            entries(&between)
        } else {
            Vec::new()
        };
        self.disk.see(&mut self.file, written.end)?;
        Ok(others)
    }

    /// Puts other bytes in the file's place: `change` makes them of what is there. The old file is kept below `backups`
    /// under that name first.
    pub(super) fn replace(
        mut self,
        backups: &Path,
        name: &str,
        change: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<(), Error> {
        let path = self.disk.path.clone();
        let mut old = Vec::new();
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.read_to_end(&mut old))
            .map_err(Error::io(&path))?;
        back_up(backups, name, &old)?;
        // A symbolic link stays one: what it names is replaced.
        let real = path.canonicalize().map_err(Error::io(&path))?;
        self.put(&real, &change(&old)).map_err(Error::io(&real))
    }

    fn put(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        // Its name ends in no way that an agent looks for.
        let mut new = tempfile::Builder::new()
            .prefix(".session-")
            .suffix(".tmp")
            .tempfile_in(folder)?;
        new.write_all(bytes)?;
        new.as_file()
            .set_permissions(self.file.metadata()?.permissions())?;
        new.as_file().sync_all()?;
        let mut file = new.persist(path).map_err(|error| error.error)?;
        self.disk.see(&mut file, bytes.len() as u64)
    }
}

/// Appends whole lines to a locked file in one write, first ending a line that has no end. Where they stand then: a program
/// without a lock may have come between. When it fails the file ends where it did.
pub(super) fn append_lines(file: &mut File, lines: &str, sync: bool) -> io::Result<Range<u64>> {
    let start = file.seek(SeekFrom::End(0))?;
    let mut text = String::new();
    if start > 0 && last_byte(file, start)? != b'\n' {
        text.push('\n');
    }
    text.push_str(lines);
    let mut written = 0;
    while written < text.len() {
        match file.write(&text.as_bytes()[written..]) {
            Ok(0) => return Err(undo(file, start, written, io::ErrorKind::WriteZero.into())),
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(undo(file, start, written, error)),
        }
    }
    if sync {
        file.sync_data()?;
    }
    // The last write ended behind our lines.
    let end = file.stream_position()?;
    Ok(end.saturating_sub(text.len() as u64)..end)
}

/// Cuts off what was written of a line that could not be written whole, unless another program went on behind it.
fn undo(file: &File, start: u64, written: usize, error: io::Error) -> io::Error {
    if written > 0
        && file
            .metadata()
            .is_ok_and(|now| now.len() == start + written as u64)
    {
        let _ = file.set_len(start);
    }
    error
}

/// A private copy of a file's bytes that outlasts a crash.
fn back_up(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let make = || {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        // Made by `tempfile`, it is the owner's alone.
        let mut copy = tempfile::NamedTempFile::new_in(folder)?;
        copy.write_all(bytes)?;
        copy.as_file().sync_all()?;
        copy.persist(folder.join(name))
            .map_err(|error| error.error)?;
        Ok(())
    };
    make().map_err(Error::io(folder))
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

/// The entries from that place on, as the agent reads them: lines that are one JSON value, but not null, false, 0 or "".
fn load(file: &mut File, from: u64) -> io::Result<Loaded> {
    file.seek(SeekFrom::Start(from))?;
    let mut lines = Lines::new(file, Vec::new());
    let mut loaded = Loaded {
        entries: Vec::new(),
        end: from,
    };
    while let Some((block, whole)) = lines.next_block()? {
        if whole {
            loaded.entries.extend(entries(block));
        } else {
            match Entry::parse(block) {
                Some(entry) => loaded.entries.extend(Some(entry).filter(counts)),
                None => break,
            }
        }
        loaded.end += block.len() as u64;
    }
    Ok(loaded)
}

/// The entries in whole lines.
pub(super) fn entries(lines: &[u8]) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', lines).chain([lines.len()]) {
        found.extend(entry(&lines[from..end]));
        from = end + 1;
    }
    found
}

/// The entry that a line is to the agent.
pub(super) fn entry(line: &[u8]) -> Option<Entry> {
    if line.is_empty() {
        return None;
    }
    Entry::parse(line).filter(counts)
}

fn counts(entry: &Entry) -> bool {
    is_truthy(entry.json())
}
