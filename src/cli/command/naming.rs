//! Which session was meant? Where several may be, somebody at a terminal is asked.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use sessionary::index::{ListScope, NameScope, TitleMatch, steps_from_last};
use sessionary::model::SessionRow;
use sessionary::{Config, Error, Index};

use super::{current_directory, here, no_index, title, why_pending};
use crate::demo;
use crate::failure::{Failure, Kind, MOST_CANDIDATES};
use crate::here::Here;
use crate::output::Screen;
use crate::output::text::{fit, plain_line};
use crate::output::time::count;

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

/// The session that `name` means in full: no part of a title, and not `last`.
pub fn named_in_full(
    name: &str,
    index: &Index,
    config: &Config,
    screen: &Screen,
) -> Result<SessionRow, Failure> {
    let found = Lookup::new(index, config, screen, TitleMatch::WholeName).find(name);
    match found.map(|found| found.0) {
        Err(failure) if failure.kind() == Kind::NotFound && steps_from_last(name).is_some() => {
            let last = format!("{name}: `delete` takes ids, paths and whole names only");
            Err(Failure::usage(last).hint("`sessionary list` shows the ids of sessions"))
        }
        found => chosen(found, screen),
    }
}

/// The session, and the entry behind the last colon. A colon may belong to the name itself.
pub fn named(
    text: &str,
    index: &mut Index,
    config: &Config,
    screen: &Screen,
) -> Result<(SessionRow, Option<String>), Failure> {
    let mut failed = None;
    // A part of a title is the last guess.
    for titles in [TitleMatch::Whole, TitleMatch::Part] {
        let lookup = Lookup::new(index, config, screen, titles);
        let (found, entry) = lookup.find_entry(text);
        match found {
            Err(failure) if failure.kind() == Kind::NotFound => {
                failed.get_or_insert(failure);
            }
            found => return Ok((take(found, index, screen)?, entry)),
        }
    }
    Err(failed.unwrap_or_else(|| Failure::not_found(text)))
}

/// A session, and the index of its own that a file outside the scanned folders gets.
type Found = Result<(SessionRow, Option<Index>), Failure>;

/// What was found, its index in `index`'s place.
fn take(found: Found, index: &mut Index, screen: &Screen) -> Result<SessionRow, Failure> {
    match found {
        Ok((row, None)) => Ok(row),
        Ok((row, Some(beside))) => {
            *index = beside;
            Ok(row)
        }
        Err(failure) => chosen(Err(failure), screen),
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
    fn find(&self, name: &str) -> Found {
        let cwd = current_directory().unwrap_or_default();
        // What is here is found out only where it is asked.
        let counts = self.titles != TitleMatch::WholeName && steps_from_last(name).is_some();
        let here = counts.then(|| here(self.screen)).transpose()?;
        let scope = NameScope {
            last: here.as_ref().map(|here| ListScope {
                cwd: here.cwd(),
                within: here.within.clone(),
                repository: here.repository(),
                ..ListScope::default()
            }),
            titles: self.titles,
            cwd,
        };
        match self.index.resolve(name, &scope) {
            // A demo knows no other files than its own.
            Err(Error::NotFound { .. }) if scope.cwd.join(name).is_file() && !demo::runs() => {
                let beside = Index::of_file(self.config, &scope.cwd.join(name))?;
                Ok((beside.only()?, Some(beside)))
            }
            Err(error @ Error::NotFound { .. }) => {
                Err(self.not_found(name, error, here.as_ref(), &scope))
            }
            resolved => Ok((resolved?, None)),
        }
    }

    /// The session, and the entry behind the last colon.
    fn find_entry(&self, text: &str) -> (Found, Option<String>) {
        let whole = self.find(text);
        // Parts of titles are looked for only where nothing else fits, and longer ones fit better.
        let is_found = |failure: &Failure| failure.kind() != Kind::NotFound;
        if self.titles == TitleMatch::Part && whole.as_ref().err().is_none_or(is_found) {
            return (whole, None);
        }
        // A beginning of an id is only the second guess: `a:1` is an entry of `a`, and not the
        // session `a:12`.
        let is_it = |row: &SessionRow| row.id == text || is_called(row, text);
        if Path::new(text).exists() || whole.as_ref().is_ok_and(|(row, _)| is_it(row)) {
            return (whole, None);
        }
        for (at, _) in text.rmatch_indices(':') {
            let (session, entry) = (&text[..at], &text[at + 1..]);
            if session.is_empty() || entry.is_empty() {
                continue;
            }
            match self.find(session) {
                Err(failure)
                    if failure.kind() == Kind::NotFound && steps_from_last(session).is_none() => {}
                found => return (found, Some(entry.to_owned())),
            }
        }
        (whole, None)
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

/// Whether this is what a session is called, in any case.
fn is_called(row: &SessionRow, text: &str) -> bool {
    let asked = plain_line(text).to_lowercase();
    let called = row.name.as_deref().into_iter().chain([row.title.as_str()]);
    called
        .into_iter()
        .any(|called| plain_line(called).to_lowercase() == asked)
}

/// What was found; where several are, the one that somebody chooses.
fn chosen(found: Result<SessionRow, Failure>, screen: &Screen) -> Result<SessionRow, Failure> {
    let candidates = found.as_ref().err().and_then(Failure::candidates);
    let is_asked = !screen.json && io::stdin().is_terminal() && io::stderr().is_terminal();
    match candidates {
        Some(candidates) if is_asked => {
            ask_which(candidates, screen)?.ok_or_else(|| Failure::declined("no session was chosen"))
        }
        _ => found,
    }
}

/// Asks for the number of a session.
fn ask_which(candidates: &[SessionRow], screen: &Screen) -> io::Result<Option<SessionRow>> {
    let listed = &candidates[..candidates.len().min(MOST_CANDIDATES)];
    for (at, row) in listed.iter().enumerate() {
        let (_, title) = title(row);
        let about = [
            screen.age(row.modified.as_deref()),
            plain_line(&row.agent),
            plain_line(&row.id),
            screen.path(Path::new(&row.cwd)),
        ];
        let title = fit(&screen.masked(title), 60);
        screen.say(&format!("{:>3}  {title}  {}", at + 1, about.join(" · ")));
    }
    let more = candidates.len() - listed.len();
    if more > 0 {
        screen.say(&format!(
            "     and {more} more: more of the name tells them apart"
        ));
    }
    write!(io::stderr(), "Which one? [1-{}] ", listed.len())?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let number = answer.trim().parse::<usize>().ok();
    let row = number.and_then(|number| listed.get(number.checked_sub(1)?));
    Ok(row.cloned())
}
