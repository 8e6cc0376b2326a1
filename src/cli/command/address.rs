//! Which part of an address names the session, and which the entry? A colon may belong to a name
//! itself, so each of them is tried.

use sessionary::model::{Cancel, SessionRow};

use crate::background::go_on;
use crate::failure::{Failure, Kind};

/// Bytes of what a program asks for by a text, at most: a longer one takes long and names nothing.
const MOST: usize = 8 << 10;

/// Colons that are tried: an id of an entry has fewer.
pub const MOST_COLONS: usize = 32;

/// That a text is no longer than an address or a query may be.
pub fn bounded(what: &str, text: &str) -> Result<(), Failure> {
    match text.len() > MOST {
        true => Err(Failure::usage(format!(
            "`{what}` has {} bytes; {MOST} are the most",
            text.len()
        ))),
        false => Ok(()),
    }
}

/// The session that stands before a colon, and what stands behind it; `None` where none does. The
/// last colon is tried first.
pub fn before_colon<'a>(
    address: &'a str,
    cancel: &Cancel,
    find: impl Fn(&str) -> Result<SessionRow, Failure>,
) -> Result<Option<(SessionRow, &'a str)>, Failure> {
    for (at, _) in address.rmatch_indices(':').take(MOST_COLONS) {
        go_on(cancel)?;
        let (session, entry) = (&address[..at], &address[at + 1..]);
        if session.is_empty() || entry.is_empty() {
            continue;
        }
        match find(session) {
            Ok(row) => return Ok(Some((row, entry))),
            Err(failure) if failure.kind() == Kind::NotFound => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn each_colon_is_tried_until_a_session_is_found_or_nobody_waits() {
        let cancel = Cancel::default();
        let row = |name: &str| {
            let mut row = SessionRow::default();
            name.clone_into(&mut row.id);
            row
        };
        let find = |name: &str| match name {
            "a" | "a:b" => Ok(row(name)),
            "broken" => Err(Failure::refused("no disk")),
            name => Err(Failure::not_found(name)),
        };
        let found = |address: &'static str| {
            let found = before_colon(address, &cancel, find);
            found.map(|found| found.map(|(row, entry)| (row.id, entry)))
        };
        assert_eq!(found("a:1").unwrap(), Some(("a".to_owned(), "1")));
        assert_eq!(found("a:b:1").unwrap(), Some(("a:b".to_owned(), "1")));
        assert_eq!(found("a:b:c:1").unwrap(), Some(("a:b".to_owned(), "c:1")));
        assert_eq!(found("a").unwrap(), None);
        assert_eq!(found("::").unwrap(), None);
        assert_eq!(found("broken:1").unwrap_err().message(), "no disk");
        let colons = ":x".repeat(100);
        let asked = Cell::new(0);
        let ask = |name: &str| {
            asked.set(asked.get() + 1);
            Err(Failure::not_found(name))
        };
        assert!(before_colon(&colons, &cancel, ask).unwrap().is_none());
        assert_eq!(asked.get(), MOST_COLONS);
        // Nothing is looked for that nobody waits for.
        asked.set(0);
        let stopped = before_colon(&colons, &cancel, |name| {
            cancel.cancel();
            ask(name)
        });
        assert!(stopped.is_err());
        assert_eq!(asked.get(), 1);
    }
}
