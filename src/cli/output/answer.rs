//! How does an answer get to standard output? In large blocks. An answer that fails before the first of them is out leaves
//! nothing there, and may be asked for once more.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that are written at once.
const BLOCK: usize = 64 << 10;

/// Whether anything was written.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Whether some of an answer is out: it cannot be taken back.
pub fn has_begun() -> bool {
    BEGUN.load(Ordering::Relaxed)
}

/// Standard output. What was not flushed is given up when this is dropped.
pub struct Answer {
    held: Vec<u8>,
    out: Stdout,
}

/// Without the standard library's search for the last end of a line in every block.
#[cfg(unix)]
type Stdout = std::fs::File;
#[cfg(not(unix))]
type Stdout = io::StdoutLock<'static>;

impl Answer {
    /// Nothing yet.
    pub fn new() -> io::Result<Self> {
        io::stdout().flush()?;
        #[cfg(unix)]
        let out = {
            use std::os::fd::AsFd;
            io::stdout().as_fd().try_clone_to_owned()?.into()
        };
        #[cfg(not(unix))]
        let out = io::stdout().lock();
        let held = Vec::new();
        Ok(Self { held, out })
    }

    fn put(&mut self) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        BEGUN.store(true, Ordering::Relaxed);
        self.out.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }
}

impl Write for Answer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held.len() + bytes.len() > BLOCK {
            self.put()?;
        }
        if bytes.len() >= BLOCK {
            BEGUN.store(true, Ordering::Relaxed);
            return self.out.write(bytes);
        }
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.put()?;
        self.out.flush()
    }
}
