//! Where does an answer wait until it is printed? In memory, and what is more in a private file.
//!
//! Whoever reads our output may stop reading for hours, as a pager does. So an answer is made as a
//! whole, the snapshot that it was made on is let go, and only then it is printed: nothing of the
//! index is held while nobody reads. An answer that fails, or that is to be asked for once more,
//! leaves nothing on standard output.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of an answer that are held in memory, the first ones. The lists of most people are
/// shorter.
const HELD: usize = 2 << 20;

/// Whether anything was printed.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Whether some of an answer is out: it cannot be taken back.
pub fn has_begun() -> bool {
    BEGUN.load(Ordering::Relaxed)
}

/// Some of an answer goes out now. Who prints past a [`Spool`] says so before.
pub fn begin() {
    BEGUN.store(true, Ordering::Relaxed);
}

/// An answer that is being made. It is given up when this is dropped.
#[derive(Debug, Default)]
pub struct Spool {
    held: Vec<u8>,
    rest: Overflow,
    bytes: u64,
}

/// What is too much for memory.
#[derive(Debug, Default)]
enum Overflow {
    #[default]
    None,
    /// The file has no name and goes with us.
    File(BufWriter<File>),
    /// No file can be made: memory has to do.
    Held,
}

impl From<String> for Spool {
    /// A finished text.
    fn from(text: String) -> Self {
        Self {
            bytes: text.len() as u64,
            held: text.into_bytes(),
            rest: Overflow::None,
        }
    }
}

impl Spool {
    /// How long it is so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All of it, where it is held in memory.
    pub fn whole(&self) -> Option<&[u8]> {
        match self.rest {
            Overflow::None => Some(&self.held),
            Overflow::File(_) | Overflow::Held => None,
        }
    }

    /// Prints the answer.
    pub fn print(mut self) -> io::Result<()> {
        io::stdout().flush()?;
        // Without the standard library's search for the last end of a line in every block.
        #[cfg(unix)]
        let mut out: File = {
            use std::os::fd::AsFd;
            io::stdout().as_fd().try_clone_to_owned()?.into()
        };
        #[cfg(not(unix))]
        let mut out = io::stdout().lock();
        self.show(&mut out)
    }

    /// Writes the answer to where somebody sees it, again at every call.
    pub fn show(&mut self, out: &mut impl Write) -> io::Result<()> {
        if !self.held.is_empty() {
            begin();
        }
        self.copy_to(out)
    }

    /// Writes the answer to `out`.
    pub fn copy_to(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.held)?;
        if let Overflow::File(file) = &mut self.rest {
            // Rewinding writes what is buffered.
            file.rewind()?;
            io::copy(file.get_mut(), out)?;
        }
        out.flush()
    }

    /// Takes what does not fit into memory.
    fn put_into_file(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Overflow::None = self.rest {
            let file = tempfile::tempfile();
            self.rest = file.map_or(Overflow::Held, |file| Overflow::File(BufWriter::new(file)));
        }
        match &mut self.rest {
            Overflow::File(file) => file.write_all(bytes),
            Overflow::Held | Overflow::None => self.held.write_all(bytes),
        }
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_full = !matches!(self.rest, Overflow::None);
        if is_full || self.held.len() + bytes.len() > HELD {
            self.put_into_file(bytes).map_err(no_room)?;
        } else {
            self.held.extend_from_slice(bytes);
        }
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    /// Nothing is printed before the answer is whole.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn no_room(error: io::Error) -> io::Error {
    let place = std::env::temp_dir();
    let said = format!("{}: no room for a long answer: {error}", place.display());
    io::Error::new(error.kind(), said)
}
