//! Where does a line end, and which one is too long to be kept?

use std::io::BufRead;

use super::message::{Code, Fault};

/// Bytes of a line, at most.
const MOST: usize = 1 << 20;

/// A line that was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Whole(Vec<u8>),
    /// It was read to its end, and nothing of it was kept.
    TooLong,
}

/// What is said of a line that is too long.
pub fn too_long() -> Fault {
    let said = format!("a line has {} KiB at most", MOST >> 10);
    Fault::new(Code::InvalidRequest, said)
}

/// The lines of an input, those with nothing on them left out.
pub struct Lines<R> {
    input: R,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Self {
        Self { input }
    }

    /// The next line; `None` at the end, and where nothing can be read any more.
    pub fn next(&mut self) -> Option<Line> {
        loop {
            let (mut line, mut is_long) = (Vec::new(), false);
            let ended = loop {
                let there = match self.input.fill_buf() {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                    Err(_) => return None,
                    Ok(there) => there,
                };
                let end = memchr::memchr(b'\n', there);
                let part = &there[..end.unwrap_or(there.len())];
                is_long |= line.len() + part.len() > MOST;
                match is_long {
                    true => line = Vec::new(),
                    false => line.extend_from_slice(part),
                }
                let (taken, is_end) = (part.len() + usize::from(end.is_some()), there.is_empty());
                self.input.consume(taken);
                if end.is_some() || is_end {
                    break is_end;
                }
            };
            match (is_long, line.trim_ascii().is_empty()) {
                (true, _) => return Some(Line::TooLong),
                (false, false) => return Some(Line::Whole(line)),
                (false, true) if ended => return None,
                (false, true) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_cut_and_long_ones_are_not_kept() {
        let long = "x".repeat(MOST + 1);
        let text = format!("one\n\n \r\n{long}\n{}\nlast", &long[1..]);
        // Whatever is read at once.
        for at_once in [1 << 10, 1 << 16, 1 << 22] {
            let mut lines = Lines::new(BufReader::with_capacity(at_once, text.as_bytes()));
            assert_eq!(lines.next(), Some(Line::Whole(b"one".to_vec())));
            assert_eq!(lines.next(), Some(Line::TooLong));
            assert_eq!(
                lines.next(),
                Some(Line::Whole(long.as_bytes()[1..].to_vec()))
            );
            assert_eq!(lines.next(), Some(Line::Whole(b"last".to_vec())));
            assert_eq!(lines.next(), None);
        }
    }
}
