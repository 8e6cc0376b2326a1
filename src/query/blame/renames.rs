//! Which names had a file before? A patch moved it, a command, or somebody whose commit says so.
//!
//! A command counts where it did not fail and where nothing has the old name now: then it did what
//! it says. Of a commit see [`former_paths`].

use std::path::{Path, PathBuf};

use super::calls::{Calls, FileCall};
use super::names::{FileNames, absolute};
use super::shell_moves::shell_moves;
use crate::blame::{is_telling, lines};
use crate::commits::{FileNow, former_paths};
use crate::error::Error;
use crate::repository::Repository;

/// Names of a file, with that of now.
const MOST_NAMES: usize = 9;

/// A name of a file.
pub(super) struct FileName {
    pub names: FileNames,
    /// Until when it had it, in milliseconds since 1970; `i64::MAX`: it has it now.
    pub until_ms: i64,
    /// Since when: before, another file had it, over which this one was moved.
    pub since_ms: i64,
}

impl FileName {
    /// Whether what was done at this time under this name was done to the file.
    pub fn counts(&self, ms: Option<i64>) -> bool {
        let is_before = ms.is_some_and(|ms| ms <= self.until_ms);
        is_before || self.until_ms == i64::MAX
    }

    /// Whether it was done to another file, as far as is known.
    pub fn is_of_another(&self, ms: Option<i64>) -> bool {
        ms.is_none_or(|ms| ms < self.since_ms) && self.since_ms > i64::MIN
    }
}

/// What was moved where by a command.
struct CommandMove {
    from: PathBuf,
    to: PathBuf,
    ms: i64,
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
        let moves = match names.file() {
            Some(_) => self.command_moves()?,
            None => Vec::new(),
        };
        let mut next: Vec<(FileNames, i64)> = Vec::new();
        let of_commits = names.file().map(|file| by_commits(file, text));
        let of_commits = of_commits.unwrap_or_default();
        for (path, ms) in of_commits.paths {
            next.push((FileNames::of(&path), ms));
        }
        next.push((names, i64::MAX));
        let (mut all, mut found): (Vec<FileName>, Vec<FileCall>) = (Vec::new(), Vec::new());
        while let Some((names, until_ms)) = next.pop() {
            let is_known =
                |known: &FileName| known.until_ms == until_ms && known.names.file() == names.file();
            if all.len() == MOST_NAMES || names.file().is_some() && all.iter().any(is_known) {
                continue;
            }
            let mut found_here = self.under_name(&names)?;
            let others = of_commits.others.iter().filter(|(path, ms)| {
                *ms <= until_ms && names.file().is_some_and(|file| file == path)
            });
            let since_ms = others.map(|(_, ms)| *ms).max();
            let mut since_ms = since_ms.unwrap_or(i64::MIN);
            for moved_by_command in moves.iter().filter(|moved| moved.ms < until_ms) {
                let from = names.file().map(|file| moved_by_command.before(file));
                let from = from.into_iter().flatten();
                for path in from.filter(|path| path.symlink_metadata().is_err()) {
                    since_ms = since_ms.max(moved_by_command.ms);
                    next.push((FileNames::of(&path), moved_by_command.ms));
                }
            }
            let is_itself = |path: &Path| names.file().is_some_and(|file| path == file);
            let moved = found_here.moved.into_iter();
            for (path, ms) in moved.filter(|(path, ms)| *ms <= until_ms && !is_itself(path)) {
                since_ms = since_ms.max(ms);
                next.push((FileNames::of(&path), ms));
            }
            let name = FileName {
                names,
                until_ms,
                since_ms,
            };
            found_here
                .calls
                .retain(|call| name.counts(call.entry.searched_ms));
            for call in &mut found_here.calls {
                call.made.is_uncertain |= name.is_of_another(call.entry.searched_ms);
            }
            found.extend(found_here.calls);
            all.push(name);
        }
        Ok((all, found))
    }

    /// What the commands of sessions moved.
    fn command_moves(&mut self) -> Result<Vec<CommandMove>, Error> {
        let mut moves = Vec::new();
        for done in self.done_commands("mv ")? {
            let Some(ms) = done.entry.searched_ms else {
                continue;
            };
            for moved in shell_moves(&done.command.text) {
                let folder = done.command.folder.as_deref().unwrap_or_default();
                let folder = Path::new(folder).join(&moved.folder);
                let path = |path: &str| absolute(path, folder.to_str(), &done.session.cwd);
                for from in &moved.from {
                    moves.push(CommandMove {
                        from: path(from),
                        to: path(&moved.to),
                        ms,
                    });
                }
            }
        }
        Ok(moves)
    }
}

impl CommandMove {
    /// Where a file may have been that is here since: it was moved, or a folder around it, to this
    /// name or into this folder.
    fn before(&self, file: &Path) -> Vec<PathBuf> {
        let Ok(below) = file.strip_prefix(&self.to) else {
            return Vec::new();
        };
        if below.as_os_str().is_empty() {
            return vec![self.from.clone()];
        }
        let mut before = vec![self.from.join(below)];
        let inside = self.from.file_name().map(|name| below.strip_prefix(name));
        if let Some(Ok(inside)) = inside {
            before.push(match inside.as_os_str().is_empty() {
                true => self.from.clone(),
                false => self.from.join(inside),
            });
        }
        before
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
