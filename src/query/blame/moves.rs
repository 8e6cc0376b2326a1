//! Where was a file before a command of a session moved it? `mv a b` alone does not say it: it
//! gives `a` the name `b`, or puts it into the folder `b`. What sessions touched by then, and what
//! is there now, tells which.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::calls::Calls;
use super::names::absolute;
use super::renames::MOST_NAMES;
use super::shell_moves::shell_moves;
use crate::error::Error;
use crate::format::edits::{End, SimpleCommand, simple_commands};
use crate::query::Snapshot;

/// Bytes of the longest path: no system knows longer ones.
const LONGEST_PATH: usize = 4096;

/// What the commands of sessions moved, the first one first.
#[derive(Default)]
pub(super) struct Moves {
    all: Vec<CommandMove>,
    /// The folders that they name. Read where one of them may have moved the file.
    folders: Option<HashMap<PathBuf, Folder>>,
}

/// What is known of a folder.
#[derive(Default)]
struct Folder {
    /// When something below it was touched, in order.
    touched: Vec<i64>,
    /// When calls failed that name something below it: it may have been there, or not.
    tried: Vec<i64>,
    /// When it was moved the last time, or something below it: it was there.
    left_ms: Option<i64>,
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
    /// What it moved was a folder: something below it is known, or below the name from which it was
    /// moved there. Told once it is known what was touched, as are the next two.
    is_folder: bool,
    /// There was a folder already to which it moved something, as far as is known.
    was_there: bool,
    /// There may have been: calls that failed name something below it.
    was_tried: bool,
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
            let made = made_first(&done.command.text).into_iter();
            let workdir = done.command.folder.as_deref();
            let made = made.map(|made| absolute(&made, workdir, &done.session.cwd));
            let mut made: HashSet<PathBuf> = made.collect();
            for moved in shell_moves(&done.command.text) {
                let folder = Path::new(workdir.unwrap_or_default()).join(&moved.folder);
                let path = |path: &str| absolute(path, folder.to_str(), &done.session.cwd);
                let to = path(&moved.to);
                if to.as_os_str().len() > LONGEST_PATH {
                    continue;
                }
                let is_into = moved.from.len() > 1
                    || made.contains(&to)
                    || path(".").starts_with(&to)
                    || moved.to.ends_with("/.")
                    || moved.to.ends_with("/..");
                let from = moved.from.iter().map(|from| path(from));
                for from in from.filter(|from| from.as_os_str().len() <= LONGEST_PATH) {
                    made.remove(&from);
                    all.push(CommandMove {
                        from,
                        to: to.clone(),
                        ms,
                        is_into,
                        names_folder: is_into || moved.to.ends_with('/'),
                        is_folder: false,
                        was_there: false,
                        was_tried: false,
                    });
                }
            }
        }
        all.sort_by_key(|moved| moved.ms);
        Ok(Self { all, folders: None })
    }

    /// Where a file was that had this name until then, if a command moved it there and nothing is
    /// there now.
    pub fn before(
        &mut self,
        file: &Path,
        until_ms: i64,
        snapshot: &Snapshot<'_>,
    ) -> Result<Vec<MovedFrom>, Error> {
        let mut all = self.all.iter();
        if self.folders.is_none() && all.any(|moved| moved.leads_to(file, until_ms)) {
            let folders = self.read_touched(snapshot)?;
            self.learn(folders);
        }
        Ok(self.led(file, until_ms))
    }

    /// The last ones of these places, as many as a file may have had names.
    fn led(&self, file: &Path, until_ms: i64) -> Vec<MovedFrom> {
        let led = self.all.iter().rev();
        let led = led.filter(|moved| moved.leads_to(file, until_ms));
        let from = led.flat_map(|moved| self.moved_from(file, moved).into_iter().rev());
        let mut found = Vec::new();
        for from in from {
            if found.len() == MOST_NAMES {
                break;
            }
            if !found.contains(&from) && from.path.symlink_metadata().is_err() {
                found.push(from);
            }
        }
        found.reverse();
        found
    }

    /// The folders that moves name, or that they make.
    fn named_folders(&self) -> HashMap<PathBuf, Folder> {
        let mut folders: HashMap<PathBuf, Folder> = HashMap::new();
        for CommandMove { from, to, .. } in &self.all {
            let name = from.file_name().unwrap_or_default();
            let inside = to.join(name);
            for folder in [from.clone(), from.join(name), inside.join(name), inside] {
                folders.entry(folder).or_default();
            }
            folders.entry(to.clone()).or_default();
        }
        folders
    }

    /// When something was touched below these folders.
    fn read_touched(&self, snapshot: &Snapshot<'_>) -> Result<HashMap<PathBuf, Folder>, Error> {
        let mut folders = self.named_folders();
        let mut note = |folder: &Path, ms: Option<i64>, has_failed: bool| {
            if folder.as_os_str().len() > LONGEST_PATH {
                return;
            }
            for folder in folder.ancestors() {
                if let Some(known) = folders.get_mut(folder) {
                    let times = match has_failed {
                        true => &mut known.tried,
                        false => &mut known.touched,
                    };
                    times.extend(ms);
                }
            }
        };
        let home = snapshot.config().home.as_deref();
        snapshot
            .catalogue
            .each_touched_path(|cwd, path, ms, has_failed| {
                let named = match home.zip(path.strip_prefix("~/")) {
                    Some((home, below)) => home.join(below),
                    None => absolute(path, None, cwd),
                };
                if let Some(folder) = named.parent() {
                    note(folder, ms, has_failed);
                }
            })?;
        snapshot
            .catalogue
            .each_own_directory(|cwd, ms| note(Path::new(cwd), ms, false))?;
        Ok(folders)
    }

    /// Tells of each move what it moved and where to, by what was touched.
    fn learn(&mut self, mut folders: HashMap<PathBuf, Folder>) {
        for folder in folders.values_mut() {
            folder.touched.sort_unstable();
            folder.tried.sort_unstable();
        }
        for moved in &self.all {
            for folder in moved.from.ancestors() {
                if let Some(known) = folders.get_mut(folder) {
                    known.left_ms = Some(moved.ms);
                }
            }
        }
        self.folders = Some(folders);
        // Whether a folder came to a place, and when what was there was moved away.
        let mut came: HashMap<PathBuf, bool> = HashMap::new();
        let mut away: HashMap<PathBuf, i64> = HashMap::new();
        for at in 0..self.all.len() {
            let CommandMove { from, to, ms, .. } = &self.all[at];
            let came_as_folder = came.get(from).is_some_and(|is_folder| *is_folder);
            let is_folder = came_as_folder || self.is_known(from, i64::MIN, *ms);
            let away_ms = to.ancestors().filter_map(|of| away.get(of)).max();
            let away_ms = away_ms.copied().unwrap_or(i64::MIN);
            let was_there = self.is_known(to, away_ms, ms.saturating_sub(1));
            let tried = self.folder(to).map(|to| next_after(&to.tried, away_ms));
            let was_tried = tried.flatten().is_some_and(|tried| tried < *ms);
            came.insert(to.join(from.file_name().unwrap_or_default()), is_folder);
            came.insert(to.clone(), is_folder);
            away.insert(from.clone(), *ms);
            self.all[at].is_folder = is_folder;
            self.all[at].was_there = was_there;
            self.all[at].was_tried = was_tried;
        }
    }

    /// Whether something below this folder was touched after one time and by another.
    fn is_known(&self, folder: &Path, after_ms: i64, by_ms: i64) -> bool {
        let next = self.next_touch(folder, after_ms);
        next.is_some_and(|ms| ms <= by_ms)
    }

    /// When something below this folder was first touched after that time.
    fn next_touch(&self, folder: &Path, after_ms: i64) -> Option<i64> {
        next_after(&self.folder(folder)?.touched, after_ms)
    }

    fn folder(&self, folder: &Path) -> Option<&Folder> {
        self.folders.as_ref()?.get(folder)
    }

    /// Where a file may have been that is at or below the name to which this move moved something.
    fn moved_from(&self, file: &Path, moved: &CommandMove) -> Vec<MovedFrom> {
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
            let is_folder =
                moved.names_folder || !file.is_file() && (moved.was_there || moved.was_tried);
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
        if !moved.is_folder {
            // A file takes nothing along.
            let into = into.filter(|_| is_it);
            return into.into_iter().map(|path| from(path, true)).collect();
        }
        if moved.is_into {
            return into.into_iter().map(|path| from(path, true)).collect();
        }
        let renamed = moved.from.join(below);
        match self.is_inside(moved, file) {
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
    fn is_inside(&self, moved: &CommandMove, file: &Path) -> Option<bool> {
        let name = moved.from.file_name()?;
        let mut inside = moved.to.join(name);
        // Where the file would be if it were the other way.
        let other = match file.strip_prefix(&inside) {
            Ok(below) => moved.to.join(below),
            Err(_) => inside.join(file.strip_prefix(&moved.to).ok()?),
        };
        let is_below = file.starts_with(&inside);
        if self.is_known(&moved.from.join(name), i64::MIN, moved.ms) {
            // A folder of that name was in it.
            inside.push(name);
        }
        let left_ms = self.folder(&inside).and_then(|inside| inside.left_ms);
        let is_there = inside.is_dir()
            || self.is_known(&inside, moved.ms, i64::MAX)
            || left_ms.is_some_and(|ms| ms > moved.ms);
        match (is_there, moved.was_there) {
            (true, true) => Some(true),
            // A folder of that name may have been made in it since, unless it was used at once.
            (true, false) => {
                let next = self.next_touch(&moved.to, moved.ms);
                let is_first = next == self.next_touch(&inside, moved.ms);
                (is_first && other.exists() != is_below).then_some(true)
            }
            (false, was_there) => (!was_there && !moved.was_tried).then_some(false),
        }
    }
}

/// The folders that a command makes before it moves anything, unless it removes something before
/// its last move; a `mkdir` that may have been passed over does not count.
fn made_first(command: &str) -> Vec<String> {
    let all = simple_commands(command);
    let has = |of: &SimpleCommand, names: &[&str]| {
        let mut words = of.words.iter();
        words.any(|word| names.contains(&word.as_str()))
    };
    let first = all.iter().position(|of| has(of, &["mv"]));
    let last = all.iter().rposition(|of| has(of, &["mv"]));
    let (mut made, mut course) = (Vec::new(), Course::default());
    for (at, of) in all.iter().enumerate().take(last.unwrap_or_default()) {
        if has(of, &["rm", "rmdir"]) {
            made.clear();
        }
        let is_done = course.runs(of) && Some(at) < first;
        if let (true, Some(folder), Some("mkdir")) = (
            is_done && of.is_plain,
            &of.folder,
            of.words.first().map(String::as_str),
        ) {
            let names = of.words[1..].iter().filter(|name| !name.starts_with('-'));
            let paths = names.map(|name| Path::new(&**folder).join(name));
            made.extend(paths.map(|path| path.to_string_lossy().into_owned()));
        }
    }
    made
}

/// Which programs of a command are run for certain, asked of each in its order.
#[derive(Default)]
struct Course {
    /// What follows the program before.
    before: Option<End>,
    /// Nothing but a failure of what `&&` joins to it keeps the program from being run.
    is_reached: bool,
    /// Of each bracket, loop and condition that is open: whether it is reached, and whether what
    /// begins in it behind a `;` is.
    around: Vec<(bool, bool)>,
}

impl Course {
    /// Whether this one is run before what follows it, or that is not run either.
    fn runs(&mut self, of: &SimpleCommand) -> bool {
        let is_first = matches!(self.before, None | Some(End::Next | End::Background));
        self.is_reached = match self.before {
            _ if is_first => self.around.last().is_none_or(|around| around.1),
            Some(End::And | End::Pipe) => self.is_reached,
            _ => false,
        };
        let plain = (self.is_reached, self.is_reached && is_first);
        self.around.extend((0..of.opens).map(|_| plain));
        for (at, word) in of.words.iter().enumerate() {
            match word.as_str() {
                "{" => self.around.push(plain),
                "if" | "case" | "while" | "until" | "for" | "select" => {
                    self.around.push((self.is_reached, false));
                }
                "fi" | "esac" | "done" | "}" => self.close(),
                "then" | "else" | "elif" | "do" | "!" | "time" => {}
                word => {
                    // A function runs when it is called: `name() {`, `function name {`.
                    let mut near = of.words[at + 1..].iter().take(2);
                    let may_be = !of.is_plain || word == "function";
                    if may_be && near.any(|word| word == "{") {
                        self.around.push((false, false));
                    }
                    break;
                }
            }
        }
        let runs = self.is_reached
            && match of.end {
                End::And => true,
                End::Pipe | End::Background => false,
                End::Or | End::Next | End::Last => is_first,
            };
        (0..of.closes).for_each(|_| self.close());
        self.before = Some(of.end);
        runs
    }

    /// What follows a bracket follows what stood before it.
    fn close(&mut self) {
        if let Some((is_reached, _)) = self.around.pop() {
            self.is_reached = is_reached;
        }
    }
}

/// The first of these times, which are in order, after that one.
fn next_after(times: &[i64], after_ms: i64) -> Option<i64> {
    let next = times.partition_point(|ms| *ms <= after_ms);
    times.get(next).copied()
}

impl CommandMove {
    /// Whether it was done by then, to the file or to a folder around it.
    fn leads_to(&self, file: &Path, until_ms: i64) -> bool {
        self.ms < until_ms && file.starts_with(&self.to)
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
            is_folder: false,
            was_there: false,
            was_tried: false,
        }
    }

    /// What is known of where a file was, behind `?` where it is not certain.
    fn before(all: Vec<CommandMove>, touched: &[(&str, i64)], file: &str) -> Vec<String> {
        let mut moves = Moves { all, folders: None };
        let mut folders = moves.named_folders();
        for (path, ms) in touched {
            for folder in Path::new(path).ancestors().skip(1) {
                folders.entry(folder.into()).or_default().touched.push(*ms);
            }
        }
        moves.learn(folders);
        let found = moves.led(Path::new(file), i64::MAX).into_iter();
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
        // It was moved on from there.
        let mut all = at("/-/old", "/-/new");
        all.push(moved("/-/new/old", "/-/last", 6));
        assert_eq!(before(all, &[old], "/-/new/old/a.rs"), ["/-/old/a.rs"]);
        // A folder of that name was made in it later.
        let known = [old, ("/-/new/b.rs", 6), ("/-/new/old/c.rs", 7)];
        let doubtful = before(at("/-/old", "/-/new"), &known, "/-/new/a.rs");
        assert_eq!(doubtful, ["?/-/old/a.rs"]);
        let doubtful = before(at("/-/old", "/-/new"), &known, "/-/new/old/a.rs");
        assert_eq!(doubtful, ["?/-/old/a.rs", "?/-/old/old/a.rs"]);
        // Or at once: then it is as if that were the one that was moved.
        let known = [old, ("/-/new/old/c.rs", 7)];
        let doubtful = before(at("/-/old", "/-/new"), &known, "/-/new/a.rs");
        assert_eq!(doubtful, ["?/-/old/a.rs"]);
        let inside = before(at("/-/old", "/-/new"), &known, "/-/new/old/a.rs");
        assert_eq!(inside, ["/-/old/a.rs"]);
        // Twice.
        let mut all = at("/-/old", "/-/new");
        all.push(moved("/-/new", "/-/last", 6));
        assert_eq!(before(all, &[old], "/-/last/a.rs"), ["/-/new/a.rs"]);
    }

    #[test]
    fn a_folder_that_the_command_makes_first_was_there() {
        for (command, made) in [
            ("mkdir -p a b && mv x a", &["a", "b"][..]),
            ("mkdir a\nmv x a", &["a"]),
            ("cd s && mkdir -p a && git mv x a", &["s/a"]),
            ("mv b c && mkdir b && mv x b", &[]),
            ("test -d x && mkdir a; mv x a", &[]),
            ("mkdir \"$A\" && mv x a", &[]),
            ("mkdir a && rmdir a && mkdir b && mv x b", &["b"]),
            // Whatever stands in the lines before it.
            ("cd s; mkdir a && mv x a", &["s/a"]),
            ("cd s\nmkdir a\nmv x a", &["s/a"]),
            ("set -e\nls | head\nmkdir -p a && mv x a", &["a"]),
            ("ls & mkdir a && mv x a", &["a"]),
            ("(cd s; mkdir a && mv x a)", &["s/a"]),
            ("if ls x; then ls; fi; mkdir a && mv y a", &["a"]),
            // It may have been passed over, or not be done yet.
            ("test -d x || mkdir a && mv y a", &[]),
            ("test -d x || (ls; mkdir a); mv y a", &[]),
            ("test -d x && (ls; mkdir a); mv y a", &[]),
            ("test -d x || { ls; mkdir a; }; mv y a", &[]),
            ("if ls x\nthen\nls\nmkdir a\nfi\nmv y a", &[]),
            ("for x in *; do ls; mkdir a; done; mv y a", &[]),
            ("f() {\nls\nmkdir a\n}\nmv y a", &[]),
            ("mkdir a | cat && mv x a", &[]),
            ("ls; mkdir a & mv x a", &[]),
        ] {
            let found = made_first(command).into_iter();
            let found: Vec<String> = found.map(|path| path.replace('\\', "/")).collect();
            assert_eq!(found, made, "{command}");
        }
    }

    #[test]
    fn a_long_command_is_read_once() {
        let command = "true && ".repeat(100_000) + "mkdir a && mv x a";
        assert_eq!(made_first(&command), ["a"]);
    }

    #[test]
    fn many_moves_are_read_once_and_the_last_ones_count() {
        let number: i64 = 40_000;
        let same = |_| CommandMove {
            is_into: true,
            ..moved("/-/lib/a", "/-", 5)
        };
        let found = before(
            (0..number).map(same).collect(),
            &[("/-/lib/a/b", 1)],
            "/-/a/b",
        );
        assert_eq!(found, ["/-/lib/a/b"]);
        let named = |at| moved(&format!("/-/a{at}/x.rs"), "/-/", 5 + at);
        let found = before((0..number).map(named).collect(), &[], "/-/x.rs");
        assert_eq!(found.len(), MOST_NAMES);
        assert_eq!(found.last().map(String::as_str), Some("/-/a39999/x.rs"));
        // One name after another.
        let next = |at| moved(&format!("/-/{at}"), &format!("/-/{}", at + 1), 5 + at);
        let known = [("/-/0/x.rs", 1)];
        let found = before((0..number).map(next).collect(), &known, "/-/40000/x.rs");
        assert_eq!(found, ["/-/39999/x.rs"]);
    }
}
