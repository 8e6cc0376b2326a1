//! Where does the next page of a list begin? Behind what was shown, however the files have grown
//! since.
//!
//! A cursor names what was shown, by numbers that stay while files grow; the next page is all the
//! rest, in the order that it has then. Nothing is shown twice, nothing is lost. It names the
//! question as well, so that a cursor of another question is refused.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use sessionary::Error;

/// What cursors of this kind begin with: those of `search` begin otherwise.
const MARK: &str = "p1-";
/// Hexadecimal digits of a question.
const QUESTION: usize = 16;
/// Names by hash begin here, beyond all numbers of entries.
const HASHES: u64 = 1 << 40;

/// What is asked, in short: everything that decides what is shown and in which order.
pub fn question(asked: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    asked.hash(&mut hasher);
    hasher.finish()
}

/// The number of what has only a name.
pub fn number_of(name: impl Hash) -> u64 {
    HASHES | (question(name) & (HASHES - 1))
}

/// What earlier pages have shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    question: u64,
    /// Runs of numbers, from each first to its last one, with a gap between any two.
    runs: BTreeMap<u64, u64>,
}

impl Shown {
    /// Reads a cursor of this question; without one nothing was shown.
    pub fn read(cursor: Option<&str>, question: u64) -> Result<Self, Error> {
        let mut shown = Self {
            question,
            runs: BTreeMap::new(),
        };
        let Some(cursor) = cursor else {
            return Ok(shown);
        };
        let rest = cursor.strip_prefix(MARK).ok_or(Error::Cursor)?;
        let (asked, runs) = rest.split_at_checked(QUESTION).ok_or(Error::Cursor)?;
        let number = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| Error::Cursor);
        let asked = number(asked)?;
        let mut from = 0_u64;
        for run in runs.split('.').skip(1) {
            let (gap, more) = run.split_once('-').unwrap_or((run, "0"));
            let first = from.checked_add(number(gap)?).ok_or(Error::Cursor)?;
            let last = first.checked_add(number(more)?).ok_or(Error::Cursor)?;
            from = last.checked_add(1).ok_or(Error::Cursor)?;
            shown.runs.insert(first, last);
        }
        match asked == question {
            true => Ok(shown),
            false => Err(Error::OtherCursor),
        }
    }

    /// Whether an earlier page has shown it.
    pub fn holds(&self, number: u64) -> bool {
        let before = self.runs.range(..=number).next_back();
        before.is_some_and(|(_, last)| *last >= number)
    }

    /// Notes what is shown.
    pub fn add(&mut self, number: u64) {
        if self.holds(number) {
            return;
        }
        let before = self.runs.range(..number).next_back();
        let first = match before {
            Some((first, last)) if last + 1 == number => *first,
            _ => number,
        };
        let last = self.runs.remove(&number.saturating_add(1));
        self.runs.insert(first, last.unwrap_or(number));
    }

    /// The cursor behind these: each run as its distance from the last one and how many follow its
    /// first number.
    pub fn cursor(&self) -> String {
        let (mut text, mut from) = (format!("{MARK}{:0QUESTION$x}", self.question), 0);
        for (first, last) in &self.runs {
            text.push_str(&format!(".{:x}", first - from));
            if last > first {
                text.push_str(&format!("-{:x}", last - first));
            }
            from = last + 1;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_what_was_written() {
        let mut shown = Shown::read(None, 7).unwrap();
        for number in (0..42)
            .rev()
            .chain([45, 91, 90, 45, number_of("a"), number_of("b")])
        {
            shown.add(number);
        }
        let cursor = shown.cursor();
        assert!(
            cursor.starts_with("p1-0000000000000007.0-29.3.2c-1."),
            "{cursor}"
        );
        assert_eq!(Shown::read(Some(&cursor), 7).unwrap(), shown);
        assert!(matches!(
            Shown::read(Some(&cursor), 8),
            Err(Error::OtherCursor)
        ));
        for wrong in [
            "",
            "p1-",
            "2-0000000000000007",
            "p1-000000000000007",
            "p1-0000000000000007.",
            "p1-0000000000000007.x",
            "p1-0000000000000007.0-ffffffffffffffff",
            "p1-0000000000000007.ffffffffffffffff.1",
            "p1-日本語日本語",
        ] {
            let read = Shown::read(Some(wrong), 7);
            assert!(matches!(read, Err(Error::Cursor)), "{wrong}");
        }
    }
}
