//! Which names had a file before? A patch moved it, a command, or somebody whose commit says so.
//!
//! A command counts where it did not fail and where nothing has the old name now: then it did what
//! it says, as far as [`Moves`] knows what that is. Of a commit see [`former_paths`].

use std::path::{Path, PathBuf};

use super::calls::{Calls, FileCall};
use super::moves::{MovedFrom, Moves};
use super::names::FileNames;
use crate::blame::{is_telling, lines};
use crate::commits::{FileNow, former_paths};
use crate::error::Error;
use crate::repository::Repository;

/// Names of a file, with that of now.
pub(super) const MOST_NAMES: usize = 9;

/// A name of a file.
pub(super) struct FileName {
    pub names: FileNames,
    /// Until when it had it, in milliseconds since 1970; `i64::MAX`: it has it now.
    pub until_ms: i64,
    /// Since when: before, another file had it, over which this one was moved.
    pub since_ms: i64,
    /// Before, another file may have had it.
    doubtful_ms: i64,
}

impl FileName {
    fn new(names: FileNames, until_ms: i64) -> Self {
        Self {
            names,
            until_ms,
            since_ms: i64::MIN,
            doubtful_ms: i64::MIN,
        }
    }

    /// Whether what was done at this time under this name was done to the file.
    pub fn counts(&self, ms: Option<i64>) -> bool {
        let is_before = ms.is_some_and(|ms| ms <= self.until_ms);
        is_before || self.until_ms == i64::MAX
    }

    /// Whether it was done to another file, as far as is known.
    pub fn is_of_another(&self, ms: Option<i64>) -> bool {
        is_before(ms, self.since_ms)
    }

    /// Whether it may have been done to another file.
    pub fn may_be_of_another(&self, ms: Option<i64>) -> bool {
        is_before(ms, self.since_ms.max(self.doubtful_ms))
    }

    /// A name that it had before this one, until then. What is done to a file that may be another
    /// one is nobody's, as `since_ms` of its name says: `i64::MAX`.
    fn former(&self, path: &Path, until_ms: i64, is_certain: bool) -> Self {
        let is_certain = is_certain && self.since_ms < i64::MAX;
        Self {
            since_ms: if is_certain { i64::MIN } else { i64::MAX },
            ..Self::new(FileNames::of(path), until_ms)
        }
    }

    /// Takes note of the moves that gave the file this name. Gives the names that it had before.
    fn came_from(&mut self, moved: Vec<MovedFrom>) -> Vec<Self> {
        let mut before = Vec::new();
        for of in moved {
            before.push(self.former(&of.path, of.ms, of.is_certain));
            let raised = match of.is_certain {
                true => &mut self.since_ms,
                false => &mut self.doubtful_ms,
            };
            *raised = of.ms.max(*raised);
        }
        before
    }
}

/// Whether this may be before a time, which `i64::MIN` is not.
fn is_before(ms: Option<i64>, time_ms: i64) -> bool {
    ms.is_none_or(|ms| ms < time_ms) && time_ms > i64::MIN
}

impl Calls<'_> {
    /// The names of a file, that of now first, and the calls that changed it under each of them. Of
    /// a file that is asked for in any working tree only patches are followed: a commit that moves
    /// lines did not write them.
    pub(super) fn under_all_names(
        &mut self,
        names: FileNames,
        text: &str,
    ) -> Result<(Vec<FileName>, Vec<FileCall>), Error> {
        let mut moves = match names.file() {
            Some(file) if !file.is_dir() => Moves::of(self)?,
            _ => Moves::default(),
        };
        let of_commits = names.file().map(|file| by_commits(file, text));
        let of_commits = of_commits.unwrap_or_default();
        let paths = of_commits.paths.into_iter();
        let mut next: Vec<FileName> = paths
            .map(|(path, ms)| FileName::new(FileNames::of(&path), ms))
            .collect();
        next.push(FileName::new(names, i64::MAX));
        let (mut all, mut found): (Vec<FileName>, Vec<FileCall>) = (Vec::new(), Vec::new());
        while let Some(mut name) = next.pop() {
            let file = name.names.file().map(Path::to_path_buf);
            let is_it = |path: &Path| file.as_deref() == Some(path);
            let is_known = |known: &FileName| {
                known.until_ms == name.until_ms && known.names.file().is_some_and(is_it)
            };
            if all.len() == MOST_NAMES || all.iter().any(is_known) {
                continue;
            }
            let mut found_here = self.under_name(&name.names)?;
            if let Some(file) = &file {
                let moved = moves.before(file, name.until_ms, self.snapshot)?;
                next.extend(name.came_from(moved));
            }
            let until_ms = name.until_ms;
            let moved = found_here.moved.into_iter();
            for (path, ms) in moved.filter(|(path, ms)| *ms <= until_ms && !is_it(path)) {
                next.push(name.former(&path, ms, true));
                name.since_ms = name.since_ms.max(ms);
            }
            let others = of_commits.others.iter();
            for (_, ms) in others.filter(|(path, ms)| *ms <= until_ms && is_it(path)) {
                name.since_ms = name.since_ms.max(*ms);
            }
            found_here
                .calls
                .retain(|call| name.counts(call.entry.searched_ms));
            for call in &mut found_here.calls {
                call.made.is_uncertain |= name.may_be_of_another(call.entry.searched_ms);
            }
            found.extend(found_here.calls);
            all.push(name);
        }
        Ok((all, found))
    }
}

/// What commits say of a file's names.
#[derive(Default)]
struct ByCommits {
    /// From where they moved it, and when; the last one last.
    paths: Vec<(PathBuf, i64)>,
    /// Paths of the file under which there was another one before, and until when.
    others: Vec<(PathBuf, i64)>,
}

/// Where git's objects cannot be read nothing is known.
fn by_commits(file: &Path, text: &str) -> ByCommits {
    let found = || {
        let repository = Repository::around(file.parent()?)?;
        let head = repository.head()?;
        let path = file.strip_prefix(&repository.top).ok()?;
        let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
        let now = FileNow {
            top: &repository.top,
            head: &head,
            path: &parts?.join("/"),
            text,
        };
        let found = former_paths(&repository.common, now, &is_same).ok()?;
        let moved = found.paths.into_iter().rev();
        let moved = moved.map(|of| {
            let until_ms = of.until_ms.unwrap_or(i64::MAX - 1);
            (repository.top.join(of.path), until_ms)
        });
        let others = found.others.into_iter();
        let others = others.map(|(path, ms)| (repository.top.join(path), ms));
        Some(ByCommits {
            paths: moved.collect(),
            others: others.collect(),
        })
    };
    found().unwrap_or_default()
}

/// Whether a text that went is the one that came: three quarters of what each says stand in the
/// other.
fn is_same(before: &str, after: &str) -> bool {
    let telling = |text: &str| -> Vec<String> {
        let lines = lines(text).into_iter();
        lines
            .filter(|line| is_telling(line))
            .map(str::to_owned)
            .collect()
    };
    let (before, after) = (telling(before), telling(after));
    let held = |of: &[String], by: &[String]| {
        let by: std::collections::HashSet<&String> = by.iter().collect();
        of.iter().filter(|line| by.contains(line)).count()
    };
    let is_most = |held: usize, all: usize| all > 0 && held * 4 >= all * 3;
    is_most(held(&before, &after), before.len()) && is_most(held(&after, &before), after.len())
}
