//! What does a source hold? The one way to open it, whatever it is: a file, or a compressed file.
//!
//! Places of entries, proofs and checkpoints count the bytes of the content: of a file its own, of
//! a compressed file those that it decodes to. So whoever reads a source need not know which it is.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use tempfile::SpooledTempFile;

use super::identity::Identity;
use crate::format::Format;

/// Content that is made is kept in memory up to so many bytes, and in a file without a name beyond.
const MOST_IN_MEMORY: usize = 64 << 20;

/// What a source holds, opened.
pub struct Content(Kind);

enum Kind {
    /// The file itself.
    File(File),
    /// What a compressed file decodes to.
    Decoded {
        file: File,
        bytes: SpooledTempFile,
        length: u64,
    },
}

/// The identity of the source at `path`, as a scan observes it.
///
/// # Errors
/// Those of the file system.
pub fn identity(format: &dyn Format, path: &Path) -> io::Result<Identity> {
    let _ = format;
    Ok(Identity::of(&fs::metadata(path)?))
}

/// Whether the content of the source at `path` is its file: then the size in its identity is the
/// length of the content.
pub fn is_file(format: &dyn Format, path: &Path) -> bool {
    let _ = format;
    !is_compressed(path)
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "zst")
}

impl Content {
    /// Open the source at `path`, which is one of `format`.
    ///
    /// # Errors
    /// Those of the file system; of a compressed file that it cannot be decoded.
    pub fn open(format: &dyn Format, path: &Path) -> io::Result<Content> {
        let _ = format;
        let file = File::open(path)?;
        match is_compressed(path) {
            true => decoded(file).map(Content),
            false => Ok(Content(Kind::File(file))),
        }
    }

    /// The identity of what was opened, as it is now.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn identity(&self) -> io::Result<Identity> {
        let (Kind::File(file) | Kind::Decoded { file, .. }) = &self.0;
        Ok(Identity::of(&file.metadata()?))
    }

    /// How many bytes it holds now.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn length(&self) -> io::Result<u64> {
        match &self.0 {
            Kind::File(file) => Ok(file.metadata()?.len()),
            Kind::Decoded { length, .. } => Ok(*length),
        }
    }

    /// Whether it becomes longer while it is open when its agent appends to it.
    pub fn grows(&self) -> bool {
        matches!(self.0, Kind::File(_))
    }
}

fn decoded(file: File) -> io::Result<Kind> {
    let mut bytes = SpooledTempFile::new(MOST_IN_MEMORY);
    let damaged = |error| io::Error::other(format!("it cannot be decompressed: {error}"));
    let mut decoder = zstd::Decoder::new(&file).map_err(damaged)?;
    let length = io::copy(&mut decoder, &mut bytes).map_err(damaged)?;
    bytes.rewind()?;
    Ok(Kind::Decoded {
        file,
        bytes,
        length,
    })
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::File(file) => file.read(buffer),
            Kind::Decoded { bytes, .. } => bytes.read(buffer),
        }
    }
}

impl Seek for Content {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.0 {
            Kind::File(file) => file.seek(to),
            Kind::Decoded { bytes, .. } => bytes.seek(to),
        }
    }
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
