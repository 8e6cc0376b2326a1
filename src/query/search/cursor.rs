//! Where does the next page begin? Behind what was shown, however the index has grown since.
//!
//! Scores change while sessions are added, so no score tells where a page ended. A cursor names
//! what was shown; the next page is the best of the rest. Nothing is shown twice, nothing is lost.
//!
//! It names the question as well, so that a cursor of another question is refused.

use std::collections::HashSet;

use super::SearchScope;
use crate::error::Error;
use crate::source::checkpoint::hash;

/// Hexadecimal digits of a fingerprint.
pub(super) const DIGITS: usize = 10;
/// What cursors of this kind begin with.
const MARK: &str = "2-";
/// Hexadecimal digits of a question.
const QUESTION: usize = 16;

/// A short name of a passage or its text.
pub(super) type Fingerprint = u64;

/// The fingerprint of a hash.
pub(super) fn fingerprint(hash: u64) -> Fingerprint {
    (hash ^ hash >> 40) & ((1 << (4 * DIGITS)) - 1)
}

/// What is asked, in short: query, filters and order. How much of the answer a page shows may
/// change from page to page.
pub(super) fn question(query: &str, scope: &SearchScope) -> u64 {
    let asked = (
        query.trim(),
        &scope.cwd,
        &scope.within,
        scope.as_typed,
        scope.newest_first,
        scope.passages,
        scope.exact,
        scope.every_copy,
    );
    hash(format!("{asked:?}").as_bytes())
}

/// What earlier pages have shown.
#[derive(Debug, Default)]
pub(super) struct SeenHits {
    question: u64,
    list: Vec<Fingerprint>,
    set: HashSet<Fingerprint>,
}

impl SeenHits {
    /// Read a cursor of this question; without one nothing was shown.
    pub fn read(cursor: Option<&str>, question: u64) -> Result<Self, Error> {
        let mut shown = Self {
            question,
            ..Self::default()
        };
        let Some(cursor) = cursor else {
            return Ok(shown);
        };
        let digits = cursor.strip_prefix(MARK).ok_or(Error::Cursor)?;
        let (asked, digits) = digits.split_at_checked(QUESTION).ok_or(Error::Cursor)?;
        let asked = u64::from_str_radix(asked, 16).map_err(|_| Error::Cursor)?;
        let digits = digits.as_bytes();
        if digits.len() % DIGITS != 0 {
            return Err(Error::Cursor);
        }
        for digits in digits.chunks(DIGITS) {
            let text = std::str::from_utf8(digits).map_err(|_| Error::Cursor)?;
            shown.add(u64::from_str_radix(text, 16).map_err(|_| Error::Cursor)?);
        }
        if asked != question {
            return Err(Error::OtherCursor);
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

    /// The cursor behind these and `more`.
    pub fn cursor(&self, more: impl Iterator<Item = Fingerprint>) -> String {
        let mut text = format!("{MARK}{:0QUESTION$x}", self.question);
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
        let shown = SeenHits::read(None, 7).unwrap();
        let cursor = shown.cursor(prints.into_iter());
        let shown = SeenHits::read(Some(&cursor), 7).unwrap();
        assert!(prints.iter().all(|print| shown.holds(*print)));
        assert_eq!(shown.cursor(std::iter::empty()), cursor);
        let other = SeenHits::read(Some(&cursor), 8);
        assert!(matches!(other, Err(Error::OtherCursor)));
        for wrong in [
            "",
            "x",
            "2-",
            "2-123",
            "1-0000000000",
            "2-0000000000000007123",
            "2-0000000000000007zzzzzzzzzz",
            "2-0000000000000007日本語a",
            "2-日本語日本語",
            "3-0000000000000007",
        ] {
            let read = SeenHits::read(Some(wrong), 7);
            assert!(matches!(read, Err(Error::Cursor)), "{wrong}");
        }
    }

    #[test]
    fn a_question_is_query_filters_and_order() {
        let scope = SearchScope::default();
        let asked = question("foo", &scope);
        let same = SearchScope {
            limit: 3,
            context: 2,
            max_bytes: 9_000,
            now_ms: 5,
            ..scope.clone()
        };
        assert_eq!(question(" foo ", &same), asked);
        let newest_first = true;
        for other in [
            question("bar", &scope),
            question(
                "foo",
                &SearchScope {
                    newest_first,
                    ..scope.clone()
                },
            ),
            question(
                "foo",
                &SearchScope {
                    passages: true,
                    ..scope.clone()
                },
            ),
            question(
                "foo",
                &SearchScope {
                    exact: true,
                    ..scope.clone()
                },
            ),
            question(
                "foo",
                &SearchScope {
                    every_copy: true,
                    ..scope.clone()
                },
            ),
            question(
                "foo",
                &SearchScope {
                    cwd: Some("/w".into()),
                    ..scope.clone()
                },
            ),
        ] {
            assert_ne!(other, asked);
        }
    }
}
