//! Where does the next page begin? Behind what was shown, however the index has grown since.
//!
//! Scores change while sessions are added, so no score tells where a page ended. A cursor names
//! what was shown; the next page is the best of the rest. Nothing is shown twice, nothing is lost.
//!
//! It names the question as well, so that a cursor of another question is refused, and the moment
//! at which it was asked: `today` is the same day on every page.

use std::collections::HashSet;

use super::SearchScope;
use crate::error::Error;
use crate::model::{Zone, iso};
use crate::source::checkpoint::hash;

/// Hexadecimal digits of a fingerprint.
pub(super) const DIGITS: usize = 10;
/// What cursors of this kind begin with.
const MARK: &str = "3-";
/// Hexadecimal digits of a question, and of a moment.
const QUESTION: usize = 16;

/// A short name of a passage or its text.
pub(super) type Fingerprint = u64;

/// The fingerprint of a hash.
pub(super) fn fingerprint(hash: u64) -> Fingerprint {
    (hash ^ hash >> 40) & ((1 << (4 * DIGITS)) - 1)
}

/// What is asked, in short: query, filters, time zone and order. How much of the answer a page
/// shows may change from page to page, and so may the working trees of a repository and the
/// sessions that are left out.
pub(super) fn question(query: &str, scope: &SearchScope, zone: &Zone) -> u64 {
    let at = &scope.at;
    let within = match at.repositories.is_empty() {
        true => &at.within[..],
        false => &[],
    };
    let asked = (
        query.trim(),
        &at.cwd,
        (within, &at.repositories, &at.remotes),
        scope.as_typed,
        scope.newest_first,
        scope.passages,
        scope.exact,
        (scope.every_copy, scope.only_live, scope.ignore_age),
        zone.name(),
    );
    hash(format!("{asked:?}").as_bytes())
}

/// What earlier pages have shown.
#[derive(Debug, Default)]
pub(super) struct SeenHits {
    question: u64,
    now_ms: i64,
    list: Vec<Fingerprint>,
    set: HashSet<Fingerprint>,
}

impl SeenHits {
    /// Read a cursor of this question; without one nothing was shown, and it is asked `now_ms`.
    pub fn read(cursor: Option<&str>, question: u64, now_ms: i64) -> Result<Self, Error> {
        let mut shown = Self {
            question,
            now_ms,
            ..Self::default()
        };
        let Some(cursor) = cursor else {
            return Ok(shown);
        };
        let number = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| Error::Cursor);
        let digits = cursor.strip_prefix(MARK).ok_or(Error::Cursor)?;
        let (asked, digits) = digits.split_at_checked(QUESTION).ok_or(Error::Cursor)?;
        let (moment, digits) = digits.split_at_checked(QUESTION).ok_or(Error::Cursor)?;
        let asked = number(asked)?;
        shown.now_ms = number(moment)?.cast_signed();
        iso(shown.now_ms).ok_or(Error::Cursor)?;
        let digits = digits.as_bytes();
        if digits.len() % DIGITS != 0 {
            return Err(Error::Cursor);
        }
        for digits in digits.chunks(DIGITS) {
            let text = std::str::from_utf8(digits).map_err(|_| Error::Cursor)?;
            shown.add(number(text)?);
        }
        if asked != question {
            return Err(Error::OtherCursor);
        }
        Ok(shown)
    }

    /// The moment at which the first page was asked for, in ms.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
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
        let (question, now_ms) = (self.question, self.now_ms);
        let mut text = format!("{MARK}{question:0QUESTION$x}{now_ms:0QUESTION$x}");
        for one in self.list.iter().copied().chain(more) {
            text.push_str(&format!("{one:0DIGITS$x}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::here::WhereScope;

    #[test]
    fn a_cursor_reads_what_was_written() {
        let prints = [0, 7, u64::MAX, 1 << 63].map(fingerprint);
        let shown = SeenHits::read(None, 7, -5).unwrap();
        let cursor = shown.cursor(prints.into_iter());
        let shown = SeenHits::read(Some(&cursor), 7, 9).unwrap();
        assert!(prints.iter().all(|print| shown.holds(*print)));
        assert_eq!(shown.cursor(std::iter::empty()), cursor);
        // On every page it is the moment of the first one.
        assert_eq!(shown.now_ms(), -5);
        let other = SeenHits::read(Some(&cursor), 8, 9);
        assert!(matches!(other, Err(Error::OtherCursor)));
        for wrong in [
            "",
            "x",
            "3-",
            "3-123",
            "1-0000000000",
            "2-0000000000000007",
            "3-0000000000000007",
            "3-00000000000000070000000000000009123",
            "3-00000000000000070000000000000009zzzzzzzzzz",
            "3-00000000000000070000000000000009日本語a",
            "3-0000000000000007zzzzzzzzzzzzzzzz",
            // Before the calendar begins.
            "3-00000000000000078000000000000000",
            "3-日本語日本語",
            "4-00000000000000070000000000000009",
        ] {
            let read = SeenHits::read(Some(wrong), 7, 9);
            assert!(matches!(read, Err(Error::Cursor)), "{wrong}");
        }
    }

    #[test]
    fn a_question_is_query_filters_zone_and_order() {
        let scope = SearchScope::default();
        let asked = question("foo", &scope, &Zone::UTC);
        let same = SearchScope {
            limit: Some(3),
            context: 2,
            max_bytes: Some(9_000),
            now_ms: Some(5),
            ..scope.clone()
        };
        assert_eq!(question(" foo ", &same, &Zone::UTC), asked);
        let of_repository = |tree: &str| SearchScope {
            at: WhereScope {
                within: vec![tree.into()],
                repositories: vec!["/app/.git".into()],
                ..WhereScope::default()
            },
            ..scope.clone()
        };
        let asked_of_it = question("foo", &of_repository("/app"), &Zone::UTC);
        let elsewhere = question("foo", &of_repository("/app-fix"), &Zone::UTC);
        assert_eq!(elsewhere, asked_of_it);
        assert_ne!(asked_of_it, asked);
        let newest_first = true;
        for other in [
            question("bar", &scope, &Zone::UTC),
            question("foo", &scope, &Zone::named("Asia/Tokyo").unwrap()),
            question(
                "foo",
                &SearchScope {
                    newest_first,
                    ..scope.clone()
                },
                &Zone::UTC,
            ),
            question(
                "foo",
                &SearchScope {
                    passages: true,
                    ..scope.clone()
                },
                &Zone::UTC,
            ),
            question(
                "foo",
                &SearchScope {
                    exact: true,
                    ..scope.clone()
                },
                &Zone::UTC,
            ),
            question(
                "foo",
                &SearchScope {
                    every_copy: true,
                    ..scope.clone()
                },
                &Zone::UTC,
            ),
            question(
                "foo",
                &SearchScope {
                    ignore_age: true,
                    ..scope.clone()
                },
                &Zone::UTC,
            ),
            question(
                "foo",
                &SearchScope {
                    at: WhereScope::directory("/w"),
                    ..scope.clone()
                },
                &Zone::UTC,
            ),
        ] {
            assert_ne!(other, asked);
        }
    }
}
