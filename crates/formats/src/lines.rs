//! A file cut into blocks of whole physical lines with bounded memory, and the unterminated rest at
//! the end.

use std::io::Read;
use std::sync::{Mutex, MutexGuard};

/// Bytes asked of the file at once.
const CHUNK: usize = 256 * 1024;
/// Bytes asked of the file at once where hardly any are expected.
const LITTLE: usize = 4 * 1024;
/// A line that needs a larger buffer waits its turn: never two at once.
const GIANT: usize = 16 * 1024 * 1024;

static GIANTS: Mutex<()> = Mutex::new(());

/// A reused buffer over a reader. It holds whole lines; a line longer than the buffer makes it grow
/// to that line.
pub struct Lines<R> {
    file: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// Bytes read from the file.
    pub bytes_read: u64,
    giant: Option<MutexGuard<'static, ()>>,
}

impl<R> std::fmt::Debug for Lines<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines")
            .field("bytes_read", &self.bytes_read)
            .finish_non_exhaustive()
    }
}

impl<R: Read> Lines<R> {
    /// Lines of `file` from where it stands, in `buffer` (reused between files). It is likely to
    /// have `expected` bytes more: for an appended line no more memory is touched than that.
    pub fn new(file: R, mut buffer: Vec<u8>, expected: u64) -> Lines<R> {
        // One byte more, so that the end is met without growing.
        let wanted = usize::try_from(expected).map_or(CHUNK, |expected| expected.saturating_add(1));
        let wanted = wanted.clamp(LITTLE, CHUNK);
        if buffer.len() < wanted {
            buffer.resize(wanted, 0);
        }
        Lines {
            file,
            buffer,
            start: 0,
            end: 0,
            ended: false,
            bytes_read: 0,
            giant: None,
        }
    }

    /// Give the buffer back, cut down after a giant line.
    pub fn into_buffer(mut self) -> Vec<u8> {
        if self.buffer.len() > GIANT {
            self.buffer = Vec::new();
        }
        self.buffer
    }

    /// The next whole lines, as many as the buffer holds, the last one with its newline too; then
    /// what follows the file's last newline, without one. `None` at the end of the file.
    pub fn next_block(&mut self) -> std::io::Result<Option<(&[u8], bool)>> {
        let mut searched = 0;
        loop {
            let from = self.start;
            if let Some(at) = memchr::memrchr(b'\n', &self.buffer[from + searched..self.end]) {
                self.start = from + searched + at + 1;
                return Ok(Some((&self.buffer[from..self.start], true)));
            }
            searched = self.end - from;
            if self.ended {
                self.start = self.end;
                return Ok((searched > 0).then(|| (&self.buffer[from..self.end], false)));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> std::io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            if self.buffer.len() >= GIANT && self.giant.is_none() {
                self.giant = Some(
                    GIANTS
                        .lock()
                        .unwrap_or_else(|poisoned| poisoned.into_inner()),
                );
            }
            // A quarter more, not twice as much: a giant line must not cost more than twice its
            // size.
            let more = (self.buffer.len() / 4).max(CHUNK);
            self.buffer
                .try_reserve_exact(more)
                .map_err(|_| std::io::ErrorKind::OutOfMemory)?;
            self.buffer.resize(self.buffer.len() + more, 0);
        }
        loop {
            match self.file.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => {
                    self.end += n;
                    self.bytes_read += n as u64;
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_length_come_back() {
        let long = "x".repeat(CHUNK * 3 + 5);
        let text = format!("a\n\n{long}\nlast");
        let mut lines = Lines::new(text.as_bytes(), Vec::new(), 0);
        let mut found = Vec::new();
        while let Some((block, ended)) = lines.next_block().unwrap() {
            found.push((block.len(), ended));
        }
        assert_eq!(found, [(3, true), (CHUNK * 3 + 6, true), (4, false)]);
        assert_eq!(lines.bytes_read, text.len() as u64);
    }
}
