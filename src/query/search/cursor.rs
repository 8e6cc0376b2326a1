//! Where does the next page begin? Behind what was shown, however the index has grown since.
//!
//! Scores change while sessions are added, so no score tells where a page ended. A cursor names
//! what was shown; the next page is the best of the rest. Nothing is shown twice, nothing is lost.

use std::collections::HashSet;

use crate::index::Error;

/// Hexadecimal digits of a fingerprint.
pub(super) const DIGITS: usize = 10;
/// What cursors of this kind begin with.
const MARK: &str = "1-";

/// A short name of a passage or its text.
pub(super) type Fingerprint = u64;

/// The fingerprint of a hash.
pub(super) fn fingerprint(hash: u64) -> Fingerprint {
    (hash ^ hash >> 40) & ((1 << (4 * DIGITS)) - 1)
}

/// What earlier pages have shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    list: Vec<Fingerprint>,
    set: HashSet<Fingerprint>,
}

impl Shown {
    /// Read a cursor; without one nothing was shown.
    pub fn read(cursor: Option<&str>) -> Result<Self, Error> {
        let mut shown = Self::default();
        let Some(cursor) = cursor else {
            return Ok(shown);
        };
        let digits = cursor.strip_prefix(MARK).ok_or(Error::Cursor)?.as_bytes();
        if digits.len() % DIGITS != 0 {
            return Err(Error::Cursor);
        }
        for digits in digits.chunks(DIGITS) {
            let text = std::str::from_utf8(digits).map_err(|_| Error::Cursor)?;
            shown.add(u64::from_str_radix(text, 16).map_err(|_| Error::Cursor)?);
        }
        Ok(shown)
    }

    /// Note what is shown.
    pub fn add(&mut self, one: Fingerprint) {
        if self.set.insert(one) {
            self.list.push(one);
        }
    }

    /// Whether an earlier page has shown it.
    pub fn holds(&self, one: Fingerprint) -> bool {
        self.set.contains(&one)
    }

    /// How many were shown, at most.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Bytes that these take in the JSON of a cursor.
    pub fn bytes(&self) -> usize {
        self.list.len() * DIGITS
    }

    /// The cursor behind these and `more`.
    pub fn cursor(&self, more: impl Iterator<Item = Fingerprint>) -> String {
        let mut text = MARK.to_owned();
        for one in self.list.iter().copied().chain(more) {
            text.push_str(&format!("{one:0DIGITS$x}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_what_was_written() {
        let prints = [0, 7, u64::MAX, 1 << 63].map(fingerprint);
        let cursor = Shown::default().cursor(prints.into_iter());
        let shown = Shown::read(Some(&cursor)).unwrap();
        assert!(prints.iter().all(|print| shown.holds(*print)));
        assert_eq!(shown.cursor(std::iter::empty()), cursor);
        for wrong in [
            "",
            "x",
            "1-123",
            "1-zzzzzzzzzz",
            "1-日本語a",
            "2-0000000000",
        ] {
            assert!(Shown::read(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
