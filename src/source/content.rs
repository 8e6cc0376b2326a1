//! What does a source hold? The one way to open it, whatever it is: a file, a compressed file, or a
//! session in an agent's database; at its place or, since that is gone, in the archive.
//!
//! Places of entries, proofs and checkpoints count the bytes of the content: of a file its own, of
//! a compressed file those that it decodes to, of a session in a database the lines of its rows. So
//! whoever reads a source need not know which it is.

mod in_database;

use std::fs::{self, File};
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::SpooledTempFile;

use self::in_database::SessionKey;
pub use self::in_database::{file_name, has_rows, is_in_database, place_within, row, rows};
use super::identity::Identity;
use crate::archive::{Archive, ArchivedFile, SourcePath};
use crate::databases::{RowNames, Session, Turn, newest_rows};
use crate::format::Format;
use crate::regular;

/// Content that is made is kept in memory up to so many bytes, and in a file without a name beyond.
const MOST_IN_MEMORY: usize = 64 << 20;

/// Agents stamp their rows in milliseconds, and not at the moment at which they are committed.
pub const ROWS_REST_NS: i64 = 2_000_000_000;

/// Where a source is: at a path, or, since its file is gone, in the archive. It stands for its
/// path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    path: PathBuf,
    /// The archive's folder, and what the source is called there.
    archived: Option<Box<(PathBuf, SourcePath)>>,
}

impl Location {
    /// In the archive in `folder`. `None`: the place lies below no root.
    pub fn archived(folder: &Path, place: SourcePath) -> Option<Location> {
        Some(Location {
            path: place.path()?,
            archived: Some(Box::new((folder.to_path_buf(), place))),
        })
    }

    /// Open it; it is a source of `format`.
    ///
    /// # Errors
    /// Those of the file system, or of the archive; of a compressed file that it cannot be decoded.
    pub fn open(&self, format: &dyn Format) -> io::Result<Content> {
        match &self.archived {
            None => Content::open(format, &self.path),
            Some(archived) => {
                let file = archived_file(archived)?;
                match is_in_database(format, &archived.1.relative) {
                    true => Content::of_rows(file),
                    false => Content::of(RawFile::Archived(Box::new(file)), &self.path),
                }
            }
        }
    }

    /// Open the session in a database that it is with its own row and those from that turn on,
    /// `behind` bytes behind its own row as they were before. `None`: rows before the turn are
    /// other ones now, or that is not known.
    ///
    /// # Errors
    /// As of [`Location::open`].
    pub fn open_from(
        &self,
        format: &dyn Format,
        behind: u64,
        turn: &Turn,
    ) -> io::Result<Option<Content>> {
        match (&self.archived, SessionKey::of(format, &self.path)) {
            (None, Some(session)) => session.open_from(behind, turn),
            _ => Ok(None),
        }
    }

    /// Whether it is in the archive.
    pub fn is_archived(&self) -> bool {
        self.archived.is_some()
    }

    /// Whether the content of the source, which is one of `format`, is its file: then the size in
    /// its identity is the length of the content.
    pub fn is_file(&self, format: &dyn Format) -> bool {
        let is_rows = match &self.archived {
            None => SessionKey::of(format, &self.path).is_some(),
            Some(archived) => is_in_database(format, &archived.1.relative),
        };
        !is_rows && !is_compressed(&self.path)
    }

    /// Its identity, as a scan observes it.
    ///
    /// # Errors
    /// Those of the file system, or of the archive.
    pub fn identity(&self, format: &dyn Format) -> io::Result<Identity> {
        match &self.archived {
            None => identity(format, &self.path),
            Some(archived) => RawFile::Archived(Box::new(archived_file(archived)?)).identity(),
        }
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Location {
        Location {
            path,
            archived: None,
        }
    }
}

impl Deref for Location {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

fn archived_file((folder, place): &(PathBuf, SourcePath)) -> io::Result<ArchivedFile> {
    let archive = Archive::open_readable(folder)?.ok_or(ErrorKind::NotFound)?;
    Ok(ArchivedFile::newest(archive, place)?.ok_or(ErrorKind::NotFound)?)
}

/// What a source holds, opened.
pub struct Content(Kind);

enum Kind {
    /// The file itself.
    File(RawFile),
    /// What a compressed file decodes to.
    Decoded {
        file: RawFile,
        bytes: SpooledTempFile,
        length: u64,
    },
    /// A session in a database as it was when it was opened.
    Rows {
        identity: Identity,
        lines: Cursor<Vec<u8>>,
        names: Arc<RowNames>,
        /// The bytes between the first line and the others, which were not read.
        skipped: Range<u64>,
        /// Where turns begin.
        turns: Vec<(u64, Turn)>,
    },
}

/// The source that was opened last, where opening it means to read or to decode all of it: who
/// reads one part of it after the other does that once.
#[derive(Default)]
pub struct LastOpened(Option<(Location, Content)>);

impl LastOpened {
    /// Open the source at `path`, which is one of `format`; one of which a part was just read is
    /// open still, as it was then.
    ///
    /// # Errors
    /// Those of [`Location::open`].
    pub fn open(&mut self, path: &Location, format: &dyn Format) -> io::Result<Content> {
        match self.0.take() {
            Some((last, content)) if last == *path => Ok(content),
            _ => path.open(format),
        }
    }

    /// A part of it was read.
    pub fn keep(&mut self, path: &Location, content: Content) {
        self.0 = content.is_kept_whole().then(|| (path.clone(), content));
    }
}

/// A file, or what is kept of it.
enum RawFile {
    File(File),
    Archived(Box<ArchivedFile>),
}

impl RawFile {
    fn identity(&self) -> io::Result<Identity> {
        match self {
            RawFile::File(file) => Ok(Identity::of(&file.metadata()?)),
            // It is no file of the system, and nobody changes it.
            RawFile::Archived(file) => Ok(kept_identity(file)),
        }
    }
}

fn kept_identity(file: &ArchivedFile) -> Identity {
    let generation = file.generation();
    Identity {
        size: generation.length,
        mtime_ns: generation.mtime_ns,
        ..Identity::default()
    }
}

/// The identity of the source at `path`, as a scan observes it.
///
/// # Errors
/// Those of the file system.
pub fn identity(format: &dyn Format, path: &Path) -> io::Result<Identity> {
    match SessionKey::of(format, path) {
        Some(place) => place.identity(),
        None => Ok(Identity::of(&fs::metadata(path)?)),
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "zst")
}

impl Content {
    /// Open the source at `path`, which is one of `format`.
    ///
    /// # Errors
    /// Those of the file system; of a compressed file that it cannot be decoded; of a session in a
    /// database what its agent or SQLite says against reading it.
    pub fn open(format: &dyn Format, path: &Path) -> io::Result<Content> {
        if let Some(session) = SessionKey::of(format, path) {
            return session.open();
        }
        Content::of(RawFile::File(regular::open(path)?), path)
    }

    fn of(file: RawFile, path: &Path) -> io::Result<Content> {
        match is_compressed(path) {
            true => decoded(file).map(Content),
            false => Ok(Content(Kind::File(file))),
        }
    }

    /// The newest of all versions of rows that are kept.
    fn of_rows(mut kept: ArchivedFile) -> io::Result<Content> {
        let lines = newest_rows(&mut kept)?;
        Ok(Content::of_lines(kept_identity(&kept), lines))
    }

    fn of_lines(identity: Identity, lines: Vec<u8>) -> Content {
        Content(Kind::Rows {
            identity,
            lines: Cursor::new(lines),
            names: Arc::default(),
            skipped: 0..0,
            turns: Vec::new(),
        })
    }

    /// A session in a database of whose lines these bytes were not read.
    fn of_session(session: Session, skipped: Range<u64>) -> Content {
        let length = skipped.end - skipped.start;
        let turns = session.turns.into_iter();
        Content(Kind::Rows {
            identity: session.identity,
            lines: Cursor::new(session.lines),
            names: Arc::new(session.names),
            skipped,
            turns: turns.map(|(start, turn)| (start + length, turn)).collect(),
        })
    }

    /// The identity of what was opened, as it is now.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn identity(&self) -> io::Result<Identity> {
        match &self.0 {
            Kind::File(file) | Kind::Decoded { file, .. } => file.identity(),
            Kind::Rows { identity, .. } => Ok(*identity),
        }
    }

    /// How many bytes it holds now.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn length(&self) -> io::Result<u64> {
        match &self.0 {
            Kind::File(file) => Ok(file.identity()?.size),
            Kind::Decoded { length, .. } => Ok(*length),
            Kind::Rows { lines, skipped, .. } => {
                Ok(lines.get_ref().len() as u64 + (skipped.end - skipped.start))
            }
        }
    }

    /// The lines of a session in a database that were read; `None`: it is none.
    pub fn rows(&self) -> Option<&[u8]> {
        match &self.0 {
            Kind::File(_) | Kind::Decoded { .. } => None,
            Kind::Rows { lines, .. } => Some(lines.get_ref()),
        }
    }

    /// Where turns begin in a session in a database, if that is known.
    pub fn take_turns(&mut self) -> Vec<(u64, Turn)> {
        match &mut self.0 {
            Kind::File(_) | Kind::Decoded { .. } => Vec::new(),
            Kind::Rows { turns, .. } => std::mem::take(turns),
        }
    }

    /// Whether something of this identity could be changed, as seen from the clock at `now_ns`,
    /// without another one.
    pub fn is_racy(&self, identity: &Identity, now_ns: i64) -> bool {
        match &self.0 {
            Kind::File(_) | Kind::Decoded { .. } => identity.is_racy(now_ns),
            Kind::Rows { .. } => identity.mtime_ns.saturating_add(ROWS_REST_NS) >= now_ns,
        }
    }

    /// Which rows its lines are; `None`: they are no rows of a database.
    pub fn row_names(&self) -> Option<Arc<RowNames>> {
        match &self.0 {
            Kind::File(_) | Kind::Decoded { .. } => None,
            Kind::Rows { names, .. } => Some(Arc::clone(names)),
        }
    }

    /// Whether it becomes longer while it is open when its agent appends to it.
    pub fn grows(&self) -> bool {
        matches!(self.0, Kind::File(RawFile::File(_)))
    }

    /// Whether all of it is kept once it was read, and not each piece as it is read.
    pub fn is_kept_whole(&self) -> bool {
        !matches!(self.0, Kind::File(_))
    }

    /// What is kept of it, from the beginning: its file as it is, so that it can be restored, or
    /// all of its rows, of which those that changed are kept.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn kept(&mut self) -> io::Result<&mut dyn Read> {
        Ok(match &mut self.0 {
            Kind::File(file) | Kind::Decoded { file, .. } => {
                file.rewind()?;
                file
            }
            Kind::Rows { lines, .. } => {
                lines.rewind()?;
                lines
            }
        })
    }
}

/// Bytes that any compressed file may have decompressed, and how many more for each of its own: a
/// few that become very many are no session, and would fill the disk.
const DECODED_ANYWAY: u64 = 64 << 20;
const MOST_DECODED: u64 = 250;

fn decoded(mut file: RawFile) -> io::Result<Kind> {
    let mut bytes = SpooledTempFile::new(MOST_IN_MEMORY);
    let damaged = |error| io::Error::other(format!("it cannot be decompressed: {error}"));
    let packed = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let most = DECODED_ANYWAY.saturating_add(packed.saturating_mul(MOST_DECODED));
    let decoder = zstd::Decoder::new(&mut file).map_err(damaged)?;
    let length = io::copy(&mut decoder.take(most + 1), &mut bytes).map_err(damaged)?;
    if length > most {
        let why = format!("it has {packed} bytes, and decompressed more than {most}");
        return Err(io::Error::other(why));
    }
    bytes.rewind()?;
    Ok(Kind::Decoded {
        file,
        bytes,
        length,
    })
}

impl Read for RawFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            RawFile::File(file) => file.read(buffer),
            RawFile::Archived(file) => file.read(buffer),
        }
    }
}

impl Seek for RawFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            RawFile::File(file) => file.seek(to),
            RawFile::Archived(file) => file.seek(to),
        }
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::File(file) => file.read(buffer),
            Kind::Decoded { bytes, .. } => bytes.read(buffer),
            Kind::Rows { lines, .. } => lines.read(buffer),
        }
    }
}

impl Seek for Content {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.0 {
            Kind::File(file) => file.seek(to),
            Kind::Decoded { bytes, .. } => bytes.seek(to),
            Kind::Rows { lines, skipped, .. } => match to {
                SeekFrom::Start(at) if at >= skipped.end => {
                    lines.seek(SeekFrom::Start(at - (skipped.end - skipped.start)))
                }
                to => lines.seek(to),
            },
        }
    }
}

/// The first line, with its end.
pub fn first_line(lines: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', lines).map_or(lines.len(), |end| end + 1);
    &lines[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::FORMATS;

    #[test]
    fn a_compressed_file_holds_what_it_decodes_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl.zst");
        let text = "{\"type\":\"session\"}\n".repeat(1000);
        let compressed = zstd::encode_all(text.as_bytes(), 1).unwrap();
        fs::write(&path, &compressed).unwrap();
        let mut content = Content::open(FORMATS[0], &path).unwrap();
        assert_eq!(content.length().unwrap(), text.len() as u64);
        assert_eq!(content.identity().unwrap().size, compressed.len() as u64);
        let mut read = String::new();
        content.read_to_string(&mut read).unwrap();
        assert_eq!(read, text);
        content.seek(SeekFrom::Start(19)).unwrap();
        let mut first = [0; 19];
        content.read_exact(&mut first).unwrap();
        assert_eq!(first, text.as_bytes()[19..38]);
    }

    #[test]
    fn a_compressed_file_that_was_cut_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl.zst");
        let compressed = zstd::encode_all(&b"{}\n".repeat(1000)[..], 1).unwrap();
        fs::write(&path, &compressed[..compressed.len() - 3]).unwrap();
        let error = Content::open(FORMATS[0], &path).err().unwrap();
        assert!(error.to_string().contains("decompressed"), "{error}");
    }
}
