//! Which files does a patch name, and which lines does it put between which? Patches as Codex takes
//! them, as `diff -u` writes them, and as pi shows them.

use std::borrow::Cow;

use super::shell;
use super::tool::Change;
use crate::model::FileTouch;

/// How a patch that Codex takes begins.
pub(crate) const BEGIN: &str = "*** Begin Patch";

/// Lines that stand one after the other.
pub type Hunk = Vec<HunkLine>;

/// A line of a patch, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HunkLine {
    /// It stands before and after.
    Same(String),
    /// It stands before.
    Old(String),
    /// It stands after.
    New(String),
}

impl HunkLine {
    /// The line as it stands before, if it does.
    pub fn before(&self) -> Option<&str> {
        match self {
            HunkLine::Same(text) | HunkLine::Old(text) => Some(text),
            HunkLine::New(_) => None,
        }
    }

    /// The line as it stands after, if it does.
    pub fn after(&self) -> Option<&str> {
        match self {
            HunkLine::Same(text) | HunkLine::New(text) => Some(text),
            HunkLine::Old(_) => None,
        }
    }

    /// The line with a sign before it, as patches have it. An empty one is an empty line that
    /// stays.
    fn signed(line: &str) -> Option<HunkLine> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut letters = line.chars();
        let sign = letters.next().unwrap_or(' ');
        let text = letters.as_str().to_owned();
        Some(match sign {
            ' ' => HunkLine::Same(text),
            '-' => HunkLine::Old(text),
            '+' => HunkLine::New(text),
            _ => return None,
        })
    }
}

/// The files that a patch of Codex's names, applied in this folder; of one that is cut, those that
/// it names before that.
pub(crate) fn touched(patch: &str, folder: Option<&str>) -> Vec<FileTouch> {
    if !patch.contains(BEGIN) {
        return Vec::new();
    }
    let named = patch.lines().filter_map(|line| {
        let marks = [
            "*** Add File: ",
            "*** Update File: ",
            "*** Delete File: ",
            "*** Move to: ",
        ];
        marks.iter().find_map(|mark| line.strip_prefix(mark))
    });
    let touch = |path: &str| FileTouch {
        path: match folder {
            Some(folder) => shell::joined(folder, path.trim()),
            None => path.trim().to_owned(),
        },
        modified: true,
    };
    named.map(touch).collect()
}

/// What is certain of a patch in which a shell puts something in the place of `$`, `` ` `` and `\`:
/// without lines in which one of these stands. Empty where it may be any other patch.
pub(super) fn certain(patch: &str) -> Cow<'_, str> {
    let is_open = |line: &str| line.contains(['$', '`', '\\']);
    if !is_open(patch) {
        return Cow::Borrowed(patch);
    }
    let mut certain = String::new();
    let (mut is_new, mut goes_on) = (false, false);
    for line in patch.lines() {
        let is_mark = line.starts_with("*** ");
        if is_mark && (is_open(line) || goes_on) || is_begun_command(line) {
            return Cow::default();
        }
        if is_mark {
            is_new = line.starts_with("*** Add File: ");
        }
        if !goes_on && (line.starts_with("@@") || !is_open(line)) {
            certain.extend([line, "\n"]);
        } else if !is_new {
            // What stands above it and below it is not known to follow each other.
            certain.push_str("@@\n");
        }
        goes_on = line.ends_with('\\');
    }
    Cow::Owned(certain)
}

/// Whether what a shell puts in the place of something may begin in this line and end in another.
fn is_begun_command(line: &str) -> bool {
    let count = |sign: char| line.matches(sign).count();
    count('`') % 2 == 1
        || line.contains("$(") && count('(') > count(')')
        || line.contains("${") && count('{') > count('}')
}

/// The changes in a patch of Codex's, file by file; none where it is no such patch, or not whole.
pub(super) fn of_files(patch: &str) -> Vec<(String, Change)> {
    let mut lines = patch
        .lines()
        .skip_while(|line| !line.ends_with(BEGIN))
        .skip(1);
    let mut files: Vec<(String, Change)> = Vec::new();
    let mut moved: Option<(String, String)> = None;
    let is_ended = lines.by_ref().any(|line| {
        let mark = |mark: &str| line.strip_prefix(mark).map(|path| path.trim().to_owned());
        if line.trim_end() == "*** End Patch" {
            return true;
        }
        if let Some(to) = mark("*** Move to: ") {
            moved = files.last().map(|(path, _)| (path.clone(), to));
            return false;
        }
        let begun = mark("*** Add File: ").map(|path| (path, Change::Write(String::new())));
        let begun = begun.or_else(|| Some((mark("*** Delete File: ")?, Change::Delete)));
        let begun =
            begun.or_else(|| Some((mark("*** Update File: ")?, Change::Hunks(vec![Hunk::new()]))));
        if let Some(begun) = begun {
            files.extend(moved.take().map(|(path, to)| (path, Change::Move(to))));
            files.push(begun);
            return false;
        }
        match files.last_mut().map(|(_, change)| change) {
            Some(Change::Write(text)) => {
                let line = line.strip_prefix('+').unwrap_or_default();
                text.extend([line, "\n"]);
            }
            Some(Change::Hunks(hunks)) if line.starts_with("@@") => hunks.push(Hunk::new()),
            Some(Change::Hunks(hunks)) => {
                if let (Some(hunk), Some(line)) = (hunks.last_mut(), HunkLine::signed(line)) {
                    hunk.push(line);
                }
            }
            _ => {}
        }
        false
    });
    if !is_ended {
        return Vec::new();
    }
    files.extend(moved.map(|(path, to)| (path, Change::Move(to))));
    for (_, change) in &mut files {
        if let Change::Hunks(hunks) = change {
            hunks.retain(|hunk| !hunk.is_empty());
        }
    }
    files
}

/// The hunks of a diff of one file as `diff -u` writes it; `None` where it is none, or one of
/// several files.
pub(super) fn unified(diff: &str) -> Option<Vec<Hunk>> {
    let mut hunks = Vec::new();
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((mut old, mut new)) = lengths(line) else {
            // Another file's begins.
            if !hunks.is_empty() && line.starts_with("--- ") {
                return None;
            }
            continue;
        };
        let mut hunk = Hunk::new();
        while old > 0 || new > 0 {
            let line = lines.next()?;
            if line.starts_with('\\') {
                continue;
            }
            let line = HunkLine::signed(line)?;
            let (before, after) = match line {
                HunkLine::Same(_) => (1, 1),
                HunkLine::Old(_) => (1, 0),
                HunkLine::New(_) => (0, 1),
            };
            old = usize::checked_sub(old, before)?;
            new = usize::checked_sub(new, after)?;
            hunk.push(line);
        }
        hunks.push(hunk);
    }
    (!hunks.is_empty()).then_some(hunks)
}

/// How many lines a hunk has before and after: `@@ -1,4 +1,5 @@`.
fn lengths(line: &str) -> Option<(usize, usize)> {
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    let mut length = |sign: char| {
        let range = words.next()?.strip_prefix(sign)?;
        match range.split_once(',') {
            Some((_, length)) => length.parse().ok(),
            None => range.parse::<usize>().ok().map(|_| 1),
        }
    };
    Some((length('-')?, length('+')?))
}

/// The hunks of a diff as pi shows it: a sign, the number of the line, the line. Between hunks
/// stand dots without a number.
pub(super) fn numbered(diff: &str) -> Option<Vec<Hunk>> {
    let mut hunks = vec![Hunk::new()];
    for line in diff.lines() {
        let digits = line.get(1..)?.trim_start_matches(' ');
        let (number, text) = digits.split_once(' ').unwrap_or((digits, ""));
        let sign = line.get(..1)?;
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            match digits.trim() {
                "..." => hunks.push(Hunk::new()),
                _ => return None,
            }
        } else {
            hunks
                .last_mut()?
                .push(HunkLine::signed(&format!("{sign}{text}"))?);
        }
    }
    hunks.retain(|hunk| !hunk.is_empty());
    (!hunks.is_empty()).then_some(hunks)
}
