//! Where does a line end, and which one is too long to be kept?

use std::io::{BufRead, Read};

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
            let mut line = Vec::new();
            let mut part = self.input.by_ref().take(MOST as u64 + 1);
            if part.read_until(b'\n', &mut line).ok()? == 0 {
                return None;
            }
            let is_ended = line.pop_if(|last| *last == b'\n').is_some();
            if !is_ended && line.len() > MOST {
                self.input.skip_until(b'\n').ok()?;
                return Some(Line::TooLong);
            }
            if !line.trim_ascii().is_empty() {
                return Some(Line::Whole(line));
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
