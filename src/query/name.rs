//! Which session does a name mean? An id, the beginning of one, `last`, a path, or what the session
//! is called.

use std::path::{Path, PathBuf};

use super::filter::composed;
use super::here::{WhereScope, canonical};
use super::list::ListScope;
use crate::catalogue::read::StoredSession;
use crate::error::Error;
use crate::model::SessionRow;
use crate::query::Snapshot;

/// So many sessions that a name or title fits are candidates at most, the newest: where there are
/// so many, there may be more.
pub const MOST_CALLED_SO: usize = 100;

/// What a name of a session may be, beside its id, the beginning of its id, and its path.
#[derive(Debug, Clone, Default)]
pub struct NameScope {
    /// The directory that relative paths count from.
    pub cwd: PathBuf,
    /// The list of which `last` is the first row, `last~1` the next one; `None`: `last` is a name
    /// as any other.
    pub last: Option<ListScope>,
    /// Which names and titles count.
    pub titles: TitleMatch,
}

/// How much of what a session is called has to be given, in any case, blanks as one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TitleMatch {
    /// Its name in full.
    WholeName,
    /// Its name or title in full.
    #[default]
    Whole,
    /// Its name or title in full, else a part of one that only one session has.
    Part,
}

impl NameScope {
    /// Paths count from `cwd`, `last` is the first session that a list of that directory has, and
    /// names and titles are given in full.
    pub fn of(cwd: &Path) -> Self {
        Self {
            cwd: cwd.to_path_buf(),
            last: Some(ListScope {
                at: WhereScope::directory(cwd),
                fold_subagents: true,
                ..ListScope::default()
            }),
            titles: TitleMatch::Whole,
        }
    }
}

/// How far from the newest session a name is that counts from it: `last` is 0, `last~2` is 2.
#[doc(hidden)]
pub fn steps_from_last(name: &str) -> Option<usize> {
    let rest = name.strip_prefix("last")?;
    match rest.strip_prefix('~') {
        // A sign would be read as well.
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => digits.parse().ok(),
        Some(_) => None,
        None => rest.is_empty().then_some(0),
    }
}

impl Snapshot<'_> {
    /// The session that `name` means. The first of these counts that there is: `last` or `last~N`;
    /// an id; the beginning of ids; a path; a whole name or title; a part of one; the beginning of
    /// ids in any case.
    ///
    /// # Errors
    /// [`Error::NoName`]; [`Error::NotFound`]; [`Error::Ambiguous`] with the candidates: of names
    /// and titles the newest [`MOST_CALLED_SO`].
    pub fn resolve(&self, name: &str, scope: &NameScope) -> Result<SessionRow, Error> {
        // Ids are what files say, and some say "".
        if name.is_empty() {
            return Err(Error::NoName);
        }
        // Before ids: no file may take what is typed most.
        let last = scope.last.as_ref().zip(steps_from_last(name));
        if let Some((list, steps)) = last {
            return self.nth(list, steps)?.ok_or_else(|| self.not_found(name));
        }
        let roots = self.root_numbers()?;
        let mut found = self.catalogue.sessions_with_id(&roots, name)?;
        if found.is_empty() {
            found = self.catalogue.sessions_beginning(&roots, name)?;
        }
        let mut found: Vec<SessionRow> = found.into_iter().map(|found| found.row).collect();
        if found.is_empty() {
            found.extend(self.at_path(&roots, name, &scope.cwd)?);
        }
        if found.is_empty() {
            found = self.called(name, scope.titles)?;
        }
        if found.is_empty() {
            let by_id = self
                .catalogue
                .sessions_by_id(&roots, name, MOST_CALLED_SO)?;
            found = by_id.into_iter().map(|found| found.row).collect();
        }
        match (found.pop(), found.is_empty()) {
            (None, _) => Err(self.not_found(name)),
            (Some(one), true) => Ok(one),
            (Some(last), false) => Err(Error::Ambiguous {
                name: name.to_string(),
                candidates: found.into_iter().chain([last]).collect(),
            }),
        }
    }

    /// One row of a list.
    fn nth(&self, list: &ListScope, offset: usize) -> Result<Option<SessionRow>, Error> {
        let scope = ListScope {
            offset,
            limit: Some(1),
            ..list.clone()
        };
        Ok(self.list(&scope)?.sessions.into_iter().next())
    }

    /// The session whose file `name` is the path of.
    fn at_path(&self, roots: &[i64], name: &str, cwd: &Path) -> Result<Option<SessionRow>, Error> {
        if !name.contains(['/', '\\']) && !name.ends_with(".jsonl") {
            return Ok(None);
        }
        let asked = cwd.join(name);
        let path = canonical(&asked);
        let names = [asked.file_name(), path.file_name()];
        let all = self.catalogue.paths_of_sessions(roots)?;
        let is_it = |(_, at): &&(String, PathBuf)| canonical(at) == path;
        // Links are resolved only where the name fits; a link to the file may have another one.
        let fits = |one: &&(String, PathBuf)| names.contains(&one.1.file_name()) && is_it(one);
        let Some((id, at)) = all.iter().find(fits).or_else(|| all.iter().find(is_it)) else {
            return Ok(None);
        };
        let found = self.catalogue.sessions_with_id(roots, id)?;
        let found = found.into_iter().find(|session| session.row.path == *at);
        Ok(found.map(|found| found.row))
    }

    /// The sessions that are called so, in the order of the list; of parts only where nothing is
    /// called so as a whole.
    fn called(&self, name: &str, titles: TitleMatch) -> Result<Vec<SessionRow>, Error> {
        let asked = folded(name);
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        if asked.is_empty() {
            return Ok(whole);
        }
        let page = self.page(&ListScope::default())?;
        self.each_row(&page, |row| {
            let title = (titles != TitleMatch::WholeName).then_some(row.title.as_str());
            let called: Vec<String> = row
                .name
                .as_deref()
                .into_iter()
                .chain(title)
                .map(folded)
                .collect();
            if called.contains(&asked) {
                if whole.len() < MOST_CALLED_SO {
                    whole.push(row);
                }
            } else if titles == TitleMatch::Part
                && parts.len() < MOST_CALLED_SO
                && called.iter().any(|called| called.contains(&asked))
            {
                parts.push(row);
            }
            Ok(())
        })?;
        Ok(match whole.is_empty() {
            true => parts,
            false => whole,
        })
    }

    /// The only session of an index of one file.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there are several, or none.
    pub fn only(&self) -> Result<SessionRow, Error> {
        let mut sessions = self.stored_sessions()?;
        match (sessions.pop(), sessions.is_empty()) {
            (Some(one), true) => Ok(one.row),
            _ => Err(self.not_found("")),
        }
    }

    /// The stored form of a row.
    pub(super) fn stored(&self, row: &SessionRow) -> Result<StoredSession, Error> {
        let roots = self.root_numbers()?;
        self.catalogue
            .sessions_with_id(&roots, &row.id)?
            .into_iter()
            .find(|s| s.row.path == row.path && s.row.agent == row.agent)
            .ok_or_else(|| self.not_found(&row.id))
    }
}

/// A name or title as it is compared: in lowercase, on one line, blanks as one, letters composed.
pub(crate) fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    composed(&words.join(" ")).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps() {
        for (name, steps) in [
            ("last", Some(0)),
            ("last~0", Some(0)),
            ("last~12", Some(12)),
            ("last~", None),
            ("last~+1", None),
            ("last~1x", None),
            ("last~99999999999999999999999", None),
            ("lastly", None),
            ("Last", None),
        ] {
            assert_eq!(steps_from_last(name), steps, "{name}");
        }
    }
}
