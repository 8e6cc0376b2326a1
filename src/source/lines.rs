//! A file cut into physical lines with bounded memory: whole lines only, and the unterminated rest at the end.

use std::io::Read;
use std::sync::{Mutex, MutexGuard};

/// Bytes asked of the file at once.
const CHUNK: usize = 256 * 1024;
/// A line that needs a larger buffer waits its turn: never two at once.
const GIANT: usize = 16 * 1024 * 1024;

static GIANTS: Mutex<()> = Mutex::new(());

/// A reused buffer over a reader. It holds whole lines; a line longer than the buffer makes it grow to that line.
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

impl<R: Read> Lines<R> {
    /// Lines of `file` from where it stands, in `buffer` (reused between files).
    pub fn new(file: R, mut buffer: Vec<u8>) -> Lines<R> {
        if buffer.len() < CHUNK {
            buffer.resize(CHUNK, 0);
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

    /// The next line without its newline, and whether it has one. `None` at the end of the file.
    pub fn next_line(&mut self) -> std::io::Result<Option<(&[u8], bool)>> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start + searched..self.end]) {
                let (from, to) = (self.start, self.start + searched + at);
                self.start = to + 1;
                return Ok(Some((&self.buffer[from..to], true)));
            }
            searched = self.end - self.start;
            if self.ended {
                if searched == 0 {
                    return Ok(None);
                }
                let from = self.start;
                self.start = self.end;
                return Ok(Some((&self.buffer[from..self.end], false)));
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
            // A quarter more, not twice as much: a giant line must not cost more than twice its size.
            let more = (self.buffer.len() / 4).max(CHUNK);
            self.buffer.reserve_exact(more);
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
        let mut lines = Lines::new(text.as_bytes(), Vec::new());
        let mut found = Vec::new();
        while let Some((line, ended)) = lines.next_line().unwrap() {
            found.push((line.len(), ended));
        }
        assert_eq!(
            found,
            [(1, true), (0, true), (CHUNK * 3 + 5, true), (4, false)]
        );
        assert_eq!(lines.bytes_read, text.len() as u64);
    }
}
