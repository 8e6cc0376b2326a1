//! Where was a file before a command of a session moved it? `mv a b` alone does not say it: it
//! gives `a` the name `b`, or puts it into the folder `b`. What sessions touched by then, and what
//! is there now, tells which.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::calls::Calls;
use super::names::absolute;
use super::shell_moves::shell_moves;
use crate::error::Error;
use crate::query::Snapshot;

/// What the commands of sessions moved, the first one first.
#[derive(Default)]
pub(super) struct Moves {
    all: Vec<CommandMove>,
    /// Of each folder that they name: when something below it was touched. Read where one of them
    /// may have moved the file.
    touched: Option<HashMap<PathBuf, Vec<i64>>>,
}

/// What was moved where by a command.
struct CommandMove {
    from: PathBuf,
    to: PathBuf,
    ms: i64,
    /// `to` was a folder, as the command itself shows: it was moved into it.
    is_into: bool,
    /// `to` is written as that of a folder.
    names_folder: bool,
}

/// From where a command moved a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MovedFrom {
    pub path: PathBuf,
    pub ms: i64,
    /// Else another file may have had that name, and what had the new one may have kept it.
    pub is_certain: bool,
}

impl Moves {
    /// Those of sessions of this machine that did not fail.
    pub fn of(calls: &mut Calls<'_>) -> Result<Self, Error> {
        let mut all = Vec::new();
        for done in calls.done_commands("mv ")? {
            let Some(ms) = done.entry.searched_ms else {
                continue;
            };
            for moved in shell_moves(&done.command.text) {
                let folder = done.command.folder.as_deref().unwrap_or_default();
                let folder = Path::new(folder).join(&moved.folder);
                let path = |path: &str| absolute(path, folder.to_str(), &done.session.cwd);
                let to = path(&moved.to);
                let is_into = moved.from.len() > 1
                    || path(".").starts_with(&to)
                    || moved.to.ends_with("/.")
                    || moved.to.ends_with("/..");
                for from in &moved.from {
                    all.push(CommandMove {
                        from: path(from),
                        to: to.clone(),
                        ms,
                        is_into,
                        names_folder: is_into || moved.to.ends_with('/'),
                    });
                }
            }
        }
        all.sort_by_key(|moved| moved.ms);
        Ok(Self { all, touched: None })
    }

    /// Where a file was that had this name until then, if a command moved it there.
    pub fn before(
        &mut self,
        file: &Path,
        until_ms: i64,
        snapshot: &Snapshot<'_>,
    ) -> Result<Vec<MovedFrom>, Error> {
        let leads = |moved: &CommandMove| moved.ms < until_ms && file.starts_with(&moved.to);
        if !self.all.iter().any(leads) {
            return Ok(Vec::new());
        }
        if self.touched.is_none() {
            self.touched = Some(self.read_touched(snapshot)?);
        }
        let places = 0..self.all.len();
        let led = places.filter(|at| leads(&self.all[*at]));
        Ok(led.flat_map(|at| self.moved_from(file, at)).collect())
    }

    /// When something was touched below the folders that moves name.
    fn read_touched(&self, snapshot: &Snapshot<'_>) -> Result<HashMap<PathBuf, Vec<i64>>, Error> {
        let mut touched: HashMap<PathBuf, Vec<i64>> = HashMap::new();
        for CommandMove { from, to, .. } in &self.all {
            let name = from.file_name().unwrap_or_default();
            let inside = to.join(name);
            for folder in [from.clone(), from.join(name), inside.join(name), inside] {
                touched.entry(folder).or_default();
            }
            touched.entry(to.clone()).or_default();
        }
        let mut note = |folder: &Path, times: [Option<i64>; 2]| {
            for folder in folder.ancestors() {
                if let Some(known) = touched.get_mut(folder) {
                    known.extend(times.into_iter().flatten());
                }
            }
        };
        let home = snapshot.config().home.as_deref();
        snapshot.catalogue.each_touched_path(|cwd, path, times| {
            let named = match home.zip(path.strip_prefix("~/")) {
                Some((home, below)) => home.join(below),
                None => absolute(path, None, cwd),
            };
            if let Some(folder) = named.parent() {
                note(folder, times);
            }
        })?;
        snapshot
            .catalogue
            .each_own_directory(|cwd, ms| note(Path::new(cwd), [ms, None]))?;
        Ok(touched)
    }

    /// Whether something below this folder was touched after one time and by another.
    fn is_known(&self, folder: &Path, after_ms: i64, by_ms: i64) -> bool {
        let times = self.touched.as_ref().and_then(|known| known.get(folder));
        let is_between = |ms: &i64| (after_ms..=by_ms).contains(ms) && *ms != after_ms;
        times.is_some_and(|times| times.iter().any(is_between))
    }

    /// Whether what this move moved from there was a folder: something below it is known, or below
    /// the name from which it was moved there.
    fn is_folder(&self, from: &Path, at: usize) -> bool {
        let (mut from, mut at) = (from, at);
        loop {
            if self.is_known(from, i64::MIN, self.all[at].ms) {
                return true;
            }
            let led = self.all[..at].iter().rposition(|moved| {
                let below = from.strip_prefix(&moved.to).ok();
                below.is_some_and(|below| {
                    below.as_os_str().is_empty()
                        || moved.from.file_name() == Some(below.as_os_str())
                })
            });
            let Some(led) = led else {
                return false;
            };
            (from, at) = (&self.all[led].from, led);
        }
    }

    /// Whether there was a folder already to which this move moved something, as far as is known.
    fn was_there(&self, at: usize) -> bool {
        let moved = &self.all[at];
        let mut before = self.all[..at].iter().rev();
        let away = before.find(|before| moved.to.starts_with(&before.from));
        let away_ms = away.map_or(i64::MIN, |away| away.ms);
        self.is_known(&moved.to, away_ms, moved.ms.saturating_sub(1))
    }

    /// Where a file may have been that is at or below the name to which this move moved something.
    fn moved_from(&self, file: &Path, at: usize) -> Vec<MovedFrom> {
        let moved = &self.all[at];
        let from = |path: PathBuf, is_certain: bool| MovedFrom {
            path,
            ms: moved.ms,
            is_certain,
        };
        let names = file.strip_prefix(&moved.to).ok();
        let Some((below, name)) = names.zip(moved.from.file_name()) else {
            return Vec::new();
        };
        if below.as_os_str().is_empty() {
            let is_folder = moved.names_folder || !file.is_file() && self.was_there(at);
            return match is_folder {
                true => Vec::new(),
                false => vec![from(moved.from.clone(), true)],
            };
        }
        let is_it = below == Path::new(name);
        let into = below.strip_prefix(name).ok().map(|inside| match is_it {
            true => moved.from.clone(),
            false => moved.from.join(inside),
        });
        if !self.is_folder(&moved.from, at) {
            // A file takes nothing along.
            let into = into.filter(|_| is_it);
            return into.into_iter().map(|path| from(path, true)).collect();
        }
        if moved.is_into {
            return into.into_iter().map(|path| from(path, true)).collect();
        }
        let renamed = moved.from.join(below);
        match self.is_inside(at, file) {
            Some(true) => into.into_iter().map(|path| from(path, true)).collect(),
            Some(false) => vec![from(renamed, true)],
            None => {
                let both = into.into_iter().chain([renamed]);
                both.map(|path| from(path, false)).collect()
            }
        }
    }

    /// Whether a folder was moved into another one, of which the file is part by now, and did not
    /// take its name; `None`: nobody knows.
    fn is_inside(&self, at: usize, file: &Path) -> Option<bool> {
        let moved = &self.all[at];
        let name = moved.from.file_name()?;
        let mut inside = moved.to.join(name);
        let renamed = file.strip_prefix(&inside).map(|below| moved.to.join(below));
        if self.is_known(&moved.from.join(name), i64::MIN, moved.ms) {
            // A folder of that name was in it.
            inside.push(name);
        }
        let is_there = inside.is_dir() || self.is_known(&inside, i64::MIN, i64::MAX);
        match (is_there, self.was_there(at)) {
            (true, true) => Some(true),
            (true, false) => renamed.map_or(true, |path| !path.exists()).then_some(true),
            (false, false) => Some(false),
            (false, true) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(from: &str, to: &str, ms: i64) -> CommandMove {
        CommandMove {
            from: from.into(),
            to: to.trim_end_matches('/').into(),
            ms,
            is_into: false,
            names_folder: to.ends_with('/'),
        }
    }

    /// What is known of where a file was, behind `?` where it is not certain.
    fn before(all: Vec<CommandMove>, touched: &[(&str, i64)], file: &str) -> Vec<String> {
        let mut known: HashMap<PathBuf, Vec<i64>> = HashMap::new();
        for (path, ms) in touched {
            for folder in Path::new(path).ancestors().skip(1) {
                known.entry(folder.into()).or_default().push(*ms);
            }
        }
        let moves = Moves {
            all,
            touched: Some(known),
        };
        let places = 0..moves.all.len();
        let found = places.flat_map(|at| moves.moved_from(Path::new(file), at));
        let sign = |is_certain: bool| if is_certain { "" } else { "?" };
        found
            .map(|of| format!("{}{}", sign(of.is_certain), of.path.display()).replace('\\', "/"))
            .collect()
    }

    #[test]
    fn a_file_moves_alone_and_a_folder_with_what_is_in_it() {
        let at = |from, to| vec![moved(from, to, 5)];
        let none = [""; 0];
        // A file, or something of which nothing is known.
        assert_eq!(before(at("/-/a.rs", "/-/src/"), &[], "/-/src/b.rs"), none);
        assert_eq!(before(at("/-/a.rs", "/-/src"), &[], "/-/src/b.rs"), none);
        assert_eq!(
            before(at("/-/a.rs", "/-/src/"), &[], "/-/src/a.rs"),
            ["/-/a.rs"]
        );
        assert_eq!(
            before(at("/-/a.rs", "/-/b.rs"), &[], "/-/b.rs"),
            ["/-/a.rs"]
        );
        // A folder that takes another name.
        let old = ("/-/old/a.rs", 1);
        let named = before(at("/-/old", "/-/new"), &[old], "/-/new/b/a.rs");
        assert_eq!(named, ["/-/old/b/a.rs"]);
        // It comes into another one, in which files were known, and is there.
        let known = [old, ("/-/new/a.rs", 2), ("/-/new/old/a.rs", 6)];
        assert_eq!(before(at("/-/old", "/-/new"), &known, "/-/new/a.rs"), none);
        let inside = before(at("/-/old", "/-/new"), &known, "/-/new/old/a.rs");
        assert_eq!(inside, ["/-/old/a.rs"]);
        // It is not there: perhaps the other one was gone.
        let doubtful = before(at("/-/old", "/-/new"), &known[..2], "/-/new/a.rs");
        assert_eq!(doubtful, ["?/-/old/a.rs"]);
        // It was, by a command.
        let mut all = at("/-/new", "/-/other");
        all.extend(at("/-/old", "/-/new"));
        assert_eq!(before(all, &known[..2], "/-/new/a.rs"), ["/-/old/a.rs"]);
        // It has a folder of its own name.
        let known = [("/-/old/old/a.rs", 1)];
        let named = before(at("/-/old", "/-/new"), &known, "/-/new/old/a.rs");
        assert_eq!(named, ["/-/old/old/a.rs"]);
        // Twice.
        let mut all = at("/-/old", "/-/new");
        all.push(moved("/-/new", "/-/last", 6));
        assert_eq!(before(all, &[old], "/-/last/a.rs"), ["/-/new/a.rs"]);
    }
}
