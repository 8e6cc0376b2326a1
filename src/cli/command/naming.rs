//! Which session was meant? Where several may be, somebody at a terminal is asked.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use sessionary::index::{ListScope, MOST_CALLED_SO, NameScope, TitleMatch, steps_from_last};
use sessionary::model::{SessionRow, ShortIds};
use sessionary::{Config, Error, Index};

use super::address::MOST_COLONS;
use super::{current_directory, here, no_index, title, why_pending};
use crate::demo;
use crate::failure::{Failure, Kind};
use crate::here::Here;
use crate::output::Screen;
use crate::output::text::{fit, plain_line};
use crate::output::time::count;
use crate::redact;

/// Sessions that a name fits are listed up to so many.
pub const MOST_CANDIDATES: usize = 20;

/// The session that `name` means. A file that is in no scanned folder gets an index of its own, in
/// `index`'s place.
pub fn session(
    name: &str,
    index: &mut Index,
    config: &Config,
    screen: &Screen,
) -> Result<SessionRow, Failure> {
    let found = Lookup::new(index, config, screen, TitleMatch::Part).find(name);
    take(found, index, screen)
}

/// The session to be removed that `name` means in full: no part of a title, and not `last`.
pub fn named_in_full(
    name: &str,
    index: &Index,
    config: &Config,
    screen: &Screen,
) -> Result<SessionRow, Failure> {
    if steps_from_last(name).is_some() {
        let last = format!("{name}: what is removed is not named by where it stands in a list");
        return Err(Failure::usage(last).hint(IN_FULL));
    }
    let lookup = Lookup::new(index, config, screen, TitleMatch::WholeName);
    match lookup.find(name) {
        Err(failure) if failure.kind() == Kind::NotFound => Err(lookup.only_nearly(name, &failure)),
        found => {
            let row = chosen(found.map(|found| found.0), index, screen)?;
            let begun = row.id.get(..name.len());
            let is_begun = begun.is_some_and(|begun| begun.eq_ignore_ascii_case(name));
            match is_begun && row.id != name && name.len() < SHOWN {
                true => {
                    let what = format!("{name} is too short a part of {}", plain_line(&row.id));
                    Err(Failure::usage(what).hint(IN_FULL))
                }
                false => Ok(row),
            }
        }
    }
}

/// How a session is named that is to be removed.
const IN_FULL: &str = "a session that is removed is named by its id (8 letters of it, or as many as lists show), its path or its whole name";
/// Letters that lists show of an id at least.
const SHOWN: usize = 8;
/// So many sessions are named at most that may have been meant.
const MOST_MEANT: usize = 3;

/// The session that `text` means, and the id of the entry behind the last colon. A colon may belong
/// to the name itself. A file that is in no scanned folder gets an index of its own, in `index`'s
/// place.
pub fn named(
    text: &str,
    index: &mut Index,
    config: &Config,
    screen: &Screen,
) -> Result<(SessionRow, Option<String>), Failure> {
    let (mut failed, mut doubtful) = (None, None);
    // A part of a title is the last guess.
    for titles in [TitleMatch::Whole, TitleMatch::Part] {
        let lookup = Lookup::new(index, config, screen, titles);
        let (found, entry) = lookup.find_entry(text, &mut doubtful)?;
        match found {
            Err(failure) if failure.kind() == Kind::NotFound => {
                failed.get_or_insert(failure);
            }
            found => {
                let session = take(found, index, screen)?;
                let entry =
                    entry.map(|entry| index.ask(|snapshot| snapshot.entry_named(&session, &entry)));
                return Ok((session, entry.transpose()?));
            }
        }
    }
    match doubtful {
        Some((found, entry)) => Ok((take(found, index, screen)?, Some(entry))),
        None => Err(failed.unwrap_or_else(|| Failure::not_found(text))),
    }
}

/// A session, and the index of its own that a file outside the scanned folders gets.
type FoundSession = Result<(SessionRow, Option<Index>), Failure>;

/// A session that seems to have no entry of this name, or none at all: what is said where nothing
/// else fits.
type Doubtful = Option<(FoundSession, String)>;

/// What was found, its index in `index`'s place.
fn take(found: FoundSession, index: &mut Index, screen: &Screen) -> Result<SessionRow, Failure> {
    match found {
        Ok((row, None)) => Ok(row),
        Ok((row, Some(beside))) => {
            *index = beside;
            Ok(row)
        }
        Err(failure) => chosen(Err(failure), index, screen),
    }
}

/// Where sessions are looked for, and by how much of what they are called.
struct Lookup<'a> {
    index: &'a Index,
    config: &'a Config,
    screen: &'a Screen,
    titles: TitleMatch,
}

impl<'a> Lookup<'a> {
    fn new(index: &'a Index, config: &'a Config, screen: &'a Screen, titles: TitleMatch) -> Self {
        Self {
            index,
            config,
            screen,
            titles,
        }
    }

    /// The session that `name` means.
    fn find(&self, name: &str) -> FoundSession {
        let cwd = current_directory().unwrap_or_default();
        // What is here is found out only where it is asked.
        let counts = self.titles != TitleMatch::WholeName && steps_from_last(name).is_some();
        let here = counts.then(|| here(self.screen)).transpose()?;
        let scope = NameScope {
            last: here.as_ref().map(Here::own_list),
            titles: self.titles,
            cwd,
        };
        match self.index.resolve(name, &scope) {
            // A demo knows no other files than its own.
            Err(Error::NotFound { .. }) if scope.cwd.join(name).is_file() && !demo::runs() => {
                let beside = Index::of_file(self.config, &scope.cwd.join(name))?;
                Ok((beside.ask(|snapshot| snapshot.only())?, Some(beside)))
            }
            Err(error @ Error::NotFound { .. }) => {
                Err(self.not_found(name, error, here.as_ref(), &scope))
            }
            resolved => Ok((resolved?, None)),
        }
    }

    /// Of several sessions that `name` fits the one that has this entry, if no other has it.
    fn only_one_with(
        &self,
        entry: &str,
        name: &str,
        found: FoundSession,
    ) -> Result<FoundSession, Failure> {
        let Err(failure) = &found else {
            return Ok(found);
        };
        let candidates = failure.candidates().unwrap_or_default();
        // Of those that are not among them another may have it.
        let is_by_id = candidates.iter().all(|row| row.id.starts_with(name));
        if candidates.len() >= MOST_CALLED_SO && !is_by_id {
            return Ok(found);
        }
        let mut with_entry = Vec::new();
        for row in candidates {
            if has_own_entry(self.index, row, entry)? {
                with_entry.push(row);
            }
        }
        match with_entry[..] {
            [row] => Ok(Ok((row.clone(), None))),
            _ => Ok(found),
        }
    }

    /// The session, and the entry behind the last colon, if there is one of that name.
    fn find_entry(
        &self,
        text: &str,
        doubtful: &mut Doubtful,
    ) -> Result<(FoundSession, Option<String>), Failure> {
        let whole = self.find(text);
        // Parts of titles are looked for only where nothing else fits, and longer ones fit better.
        let is_found = |failure: &Failure| failure.kind() != Kind::NotFound;
        if self.titles == TitleMatch::Part && whole.as_ref().err().is_none_or(is_found) {
            return Ok((whole, None));
        }
        // A beginning of an id is only the second guess: `a:1` is an entry of `a`, and not the
        // session `a:12`.
        let is_it = |row: &SessionRow| row.id == text || is_called(row, text);
        if Path::new(text).exists() || whole.as_ref().is_ok_and(|(row, _)| is_it(row)) {
            return Ok((whole, None));
        }
        for (at, _) in text.rmatch_indices(':').take(MOST_COLONS) {
            let (session, entry) = (&text[..at], &text[at + 1..]);
            if session.is_empty() || entry.is_empty() {
                continue;
            }
            let found = self.only_one_with(entry, session, self.find(session))?;
            if self.has_entry(&found, entry)? {
                return Ok((found, Some(entry.to_owned())));
            }
            let is_none = |failure: &Failure| failure.kind() == Kind::NotFound;
            if !found.as_ref().is_err_and(is_none) || steps_from_last(session).is_some() {
                doubtful.get_or_insert((found, entry.to_owned()));
            }
        }
        Ok((whole, None))
    }

    /// Whether what was found, or one of the sessions it may be, has an entry of this name.
    fn has_entry(&self, found: &FoundSession, entry: &str) -> Result<bool, Error> {
        match found {
            Ok((row, beside)) => has_entry(beside.as_ref().unwrap_or(self.index), row, entry),
            Err(failure) => {
                let candidates = failure.candidates().unwrap_or_default();
                let mut each = candidates
                    .iter()
                    .map(|row| has_entry(self.index, row, entry));
                each.find(|has| !matches!(has, Ok(false)))
                    .unwrap_or(Ok(false))
            }
        }
    }

    /// Why nothing is called so in full, and what may have been meant.
    fn only_nearly(&self, name: &str, failure: &Failure) -> Failure {
        let mut said = Failure::not_found(failure.message());
        let parts = Lookup::new(self.index, self.config, self.screen, TitleMatch::Part);
        let meant = match parts.find(name) {
            Ok((row, None)) => vec![row],
            Err(several) => several.candidates().unwrap_or_default().to_vec(),
            Ok(_) => Vec::new(),
        };
        for row in meant.iter().filter(|_| meant.len() <= MOST_MEANT) {
            let (title, id) = (title_of(row), plain_line(&row.id));
            said = said.hint(match title == name {
                true => format!("that is the title of a session without a name: its id is {id}"),
                false => format!("did you mean {title:?} ({id})?"),
            });
        }
        said.hint(IN_FULL)
    }

    /// Why there is no such session.
    fn not_found(
        &self,
        name: &str,
        error: Error,
        here: Option<&Here>,
        scope: &NameScope,
    ) -> Failure {
        if let Some(no_index) = no_index(self.index) {
            return no_index.hint("a session file can be named by its path");
        }
        if matches!(
            error,
            Error::NotFound {
                complete: false,
                ..
            }
        ) {
            return Failure::from(error).hint(why_pending(self.screen, self.index));
        }
        let (Some(here), Some(last)) = (here, &scope.last) else {
            return error.into();
        };
        let place = here.name(self.screen);
        let one = ListScope {
            limit: Some(1),
            ..last.clone()
        };
        let said = match self.index.list(&one).map_or(0, |list| list.total) {
            0 => format!("there are no sessions in {place}"),
            1 => format!("{name}: there is only one session in {place}"),
            some => format!(
                "{name}: there are only {} in {place}",
                count(some, "session")
            ),
        };
        Failure::not_found(said).hint("`sessionary list --all` shows every session")
    }
}

/// Whether the session has an entry of this id, or several whose ids begin so.
fn has_own_entry(index: &Index, row: &SessionRow, entry: &str) -> Result<bool, Error> {
    index.ask(|snapshot| match snapshot.entry_named(row, entry) {
        Ok(id) => snapshot.has_entry(row, &id),
        Err(Error::AmbiguousEntry { .. }) => Ok(true),
        Err(error) => Err(error),
    })
}

/// The same, or whether it inherits one.
fn has_entry(index: &Index, row: &SessionRow, entry: &str) -> Result<bool, Error> {
    index.ask(|snapshot| match snapshot.entry_named(row, entry) {
        Ok(id) => snapshot.shows_entry(row, &id),
        Err(Error::AmbiguousEntry { .. }) => Ok(true),
        Err(error) => Err(error),
    })
}

/// Whether this is what a session is called, in any case.
fn is_called(row: &SessionRow, text: &str) -> bool {
    let asked = plain_line(text).to_lowercase();
    let called = row.name.as_deref().into_iter().chain([row.title.as_str()]);
    called
        .into_iter()
        .any(|called| plain_line(called).to_lowercase() == asked)
}

/// What was found; where several are, the one that somebody chooses.
fn chosen(
    found: Result<SessionRow, Failure>,
    index: &Index,
    screen: &Screen,
) -> Result<SessionRow, Failure> {
    let Err(failure) = found else {
        return found;
    };
    let Some(candidates) = failure.candidates() else {
        return Err(failure);
    };
    if let Some(own) = only_own(candidates) {
        return Ok(own.clone());
    }
    let mut lines = described(candidates, index, screen)?;
    let more = candidates.len() - lines.len();
    if more > 0 {
        lines.push(format!(
            "and {more} more: more of the name tells them apart"
        ));
    }
    if screen.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(lines.into_iter().fold(failure, Failure::hint));
    }
    let listed = candidates.len() - more;
    for (at, line) in lines.iter().enumerate() {
        let number = match at < listed {
            true => (at + 1).to_string(),
            false => String::new(),
        };
        screen.say(&format!("{number:>3}  {line}"));
    }
    write!(io::stderr(), "Which one? [1-{listed}] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let number = answer.trim().parse::<usize>().ok();
    let row = number.and_then(|number| candidates[..listed].get(number.checked_sub(1)?));
    row.cloned()
        .ok_or_else(|| Failure::declined("no session was chosen"))
}

/// Of one session and its copies on other machines the one that is here.
fn only_own(candidates: &[SessionRow]) -> Option<&SessionRow> {
    let first = candidates.first()?;
    let is_one = candidates
        .iter()
        .all(|row| row.id == first.id && row.agent == first.agent);
    let mut own = candidates.iter().filter(|row| row.host.is_none());
    own.next().filter(|_| is_one && own.next().is_none())
}

/// A line about each session that a name fits, [`MOST_CANDIDATES`] at most. Each begins with what
/// names the session: its id as far as it is needed, or, where that is the id of another one too,
/// its path.
fn described(
    candidates: &[SessionRow],
    index: &Index,
    screen: &Screen,
) -> Result<Vec<String>, Failure> {
    let (mut ids, snapshot) = (Vec::new(), index.snapshot()?);
    snapshot.each_row(&snapshot.page(&ListScope::default())?, |row| {
        ids.push(row.id.into_boxed_str());
        Ok(())
    })?;
    drop(snapshot);
    let ids = ShortIds::of(ids);
    let line = |row: &SessionRow| {
        let is_same = |other: &&SessionRow| other.id == row.id;
        let name = match candidates.iter().filter(is_same).count() {
            1 => ids.short(&row.id).to_owned(),
            _ => screen.path(&row.path),
        };
        let age = screen.age(row.modified.as_deref());
        let project = screen.path(Path::new(&row.cwd));
        format!("{name} · {age} · {project} · {}", title_of(row))
    };
    Ok(candidates.iter().take(MOST_CANDIDATES).map(line).collect())
}

/// A session's title on one line. Keys are redacted: an error may be kept in a log.
fn title_of(row: &SessionRow) -> String {
    let (_, title) = title(row);
    fit(&redact::redacted(&title).unwrap_or(title), 60)
}
