//! Where does an answer wait until it is printed? In memory, and what is more in a private file.
//!
//! Whoever reads our output may stop reading for hours, as a pager does. So an answer is made as a
//! whole, the snapshot that it was made on is let go, and only then it is printed: nothing of the
//! index is held while nobody reads. An answer that fails, or that is to be asked for once more,
//! leaves nothing on standard output.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of an answer that are held in memory. The lists of most people are shorter.
const HELD: usize = 2 << 20;

/// Whether anything was printed.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Whether some of an answer is out: it cannot be taken back.
pub fn has_begun() -> bool {
    BEGUN.load(Ordering::Relaxed)
}

/// An answer that is being made. It is given up when this is dropped.
#[derive(Debug, Default)]
pub struct Spool {
    held: Vec<u8>,
    /// What came before that, where it was too much. The file has no name and goes with us.
    file: Option<File>,
    /// No file can be made: memory has to do.
    lacks_file: bool,
}

impl Spool {
    /// Prints the answer.
    pub fn print(self) -> io::Result<()> {
        io::stdout().flush()?;
        // Without the standard library's search for the last end of a line in every block.
        #[cfg(unix)]
        let mut out: File = {
            use std::os::fd::AsFd;
            io::stdout().as_fd().try_clone_to_owned()?.into()
        };
        #[cfg(not(unix))]
        let mut out = io::stdout().lock();
        if self.file.is_some() || !self.held.is_empty() {
            BEGUN.store(true, Ordering::Relaxed);
        }
        self.copy_to(&mut out)
    }

    /// Writes the answer to `out`.
    pub fn copy_to(self, out: &mut impl Write) -> io::Result<()> {
        if let Some(mut file) = self.file {
            file.rewind()?;
            io::copy(&mut file, out)?;
        }
        out.write_all(&self.held)?;
        out.flush()
    }

    /// Puts what is held into the file.
    fn spill(&mut self) -> io::Result<()> {
        let file = match (&mut self.file, self.lacks_file) {
            (_, true) => return Ok(()),
            (Some(file), false) => file,
            (None, false) => match tempfile::tempfile() {
                Ok(file) => self.file.insert(file),
                Err(_) => {
                    self.lacks_file = true;
                    return Ok(());
                }
            },
        };
        file.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held.len() + bytes.len() > HELD {
            self.spill().map_err(|error| {
                let place = std::env::temp_dir();
                let said = format!("{}: no room for a long answer: {error}", place.display());
                io::Error::new(error.kind(), said)
            })?;
        }
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Nothing is printed before the answer is whole.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
