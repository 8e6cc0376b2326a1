//! Which commands did sessions run that move a file, fill it or make a commit?

use std::path::{Path, PathBuf};

use super::calls::{Calls, FileCall};
use super::renames::FileName;
use crate::blame::SessionEdit;
use crate::catalogue::entries::StoredEntry;
use crate::error::Error;
use crate::format::edits::{
    Command, End, SimpleCommand, command_changes, commands, simple_commands,
};
use crate::model::{ARRIVAL_BITS, SessionRow};

/// A command that was run.
pub(super) struct RunCommand {
    pub command: Command,
    pub entry: StoredEntry,
    pub tool: Option<String>,
    /// Of which nobody may know.
    pub has_failed: bool,
    /// The entry that answers it.
    answer: Option<i64>,
    /// Its session, with the folder in which the call ran.
    pub session: SessionRow,
}

impl Calls<'_> {
    /// The commands in these entries.
    fn run_commands(&mut self, keys: &[i64]) -> Result<Vec<RunCommand>, Error> {
        let mut run = Vec::new();
        for key in keys {
            let session = self.session(key >> ARRIVAL_BITS)?;
            let Some(mut session) = session.map(|session| session.row.clone()) else {
                continue;
            };
            let Some((entry, record)) = self.record(*key)? else {
                continue;
            };
            session.cwd = self.folder_of(&entry, &record)?;
            let known = self.snapshot.catalogue.ended_calls(*key)?;
            for command in commands(&record) {
                let mut ends = known.iter();
                let end = ends.find(|call| call.call_id == command.call_id);
                run.push(RunCommand {
                    command,
                    entry: entry.clone(),
                    tool: end.and_then(|end| end.tool.clone()),
                    has_failed: end.is_some_and(|end| end.is_error == Some(true)),
                    answer: end.and_then(|end| end.answer),
                    session: session.clone(),
                });
            }
        }
        Ok(run)
    }

    /// The commands of sessions of this machine that hold this text and did not fail.
    pub(super) fn done_commands(&mut self, text: &str) -> Result<Vec<RunCommand>, Error> {
        let keys = self.snapshot.catalogue.entries_calling_with(text)?;
        let mut run = self.run_commands(&keys)?;
        run.retain(|run| !run.has_failed && run.session.host.is_none());
        Ok(run)
    }

    /// The commands that put a text into a file of this name which stands in them. Of one that
    /// failed nobody knows whether it did.
    pub(super) fn filling(&mut self, name: &FileName) -> Result<Vec<FileCall>, Error> {
        let names = &name.names;
        let keys = self
            .snapshot
            .catalogue
            .entries_calling_with(names.file_name())?;
        let mut filling = Vec::new();
        for run in self.run_commands(&keys)? {
            let ms = run.entry.searched_ms;
            if !run.command.text.contains(names.file_name()) || !name.counts(ms) {
                continue;
            }
            let filled = run.filled(|path, folder| {
                let path = self.below_home(path, &run.session);
                names.mean(&path, folder, &run.session)
            });
            if !filled.is_empty() {
                let mut call = run.call();
                call.made.filled = filled;
                call.made.is_uncertain = run.has_failed || name.may_be_of_another(ms);
                filling.push(call);
            }
        }
        filling.extend(self.recorded(name)?);
        Ok(filling)
    }

    /// The commands of which their agent records that they changed a file of this name, with what
    /// of that stands in them.
    fn recorded(&mut self, name: &FileName) -> Result<Vec<FileCall>, Error> {
        let names = &name.names;
        let told = self.snapshot.catalogue.calls_changing(names.file_name())?;
        let mut found = Vec::new();
        for (key, answer) in told {
            let Some((_, record)) = self.record(answer)? else {
                continue;
            };
            let changes = command_changes(&record);
            for run in self.run_commands(&[key])? {
                let ms = run.entry.searched_ms;
                let is_meant = |path: &str| names.mean(path, None, &run.session);
                let is_its = |id: &str| run.command.call_id.as_deref() == Some(id);
                let changes = changes.iter().filter(|it| is_its(&it.call_id));
                let changes = changes.filter(|it| is_meant(&it.path));
                let lines = changes.flat_map(|it| it.lines_in(&run.command.text));
                let filled: String = lines.flat_map(|line| [line, "\n"]).collect();
                if name.counts(ms) && !filled.is_empty() {
                    let mut call = run.call();
                    call.made.filled = filled;
                    call.made.is_uncertain = name.may_be_of_another(ms);
                    found.push(call);
                }
            }
        }
        Ok(found)
    }

    /// The calls among these entries that made a commit of this name and subject, and were told so.
    /// They are calls from now on; what forks and copies repeat of them is left out.
    pub fn committing(
        &mut self,
        keys: &[i64],
        commit: &str,
        subject: &str,
    ) -> Result<Vec<usize>, Error> {
        let mut found = Vec::new();
        for run in self.run_commands(keys)? {
            let text = &run.command.text;
            let names: &dyn Fn(&str) -> bool = match (commits(text), shows_commit(text)) {
                (true, true) => {
                    &|said| names_commit(said, commit, subject) || shows(said, commit, subject)
                }
                (true, false) => &|said| names_commit(said, commit, subject),
                (false, _) => continue,
            };
            if self.is_told(&run, names)? {
                found.push(run.call());
            }
        }
        self.leave_out_copies(&mut found)?;
        self.calls = found;
        Ok((0..self.calls.len()).collect())
    }

    /// Whether the answer of a command names a commit.
    fn is_told(&mut self, run: &RunCommand, names: &dyn Fn(&str) -> bool) -> Result<bool, Error> {
        let answer = match run.answer {
            Some(answer) => self.snapshot.catalogue.entry(answer)?,
            None => Some(run.entry.clone()),
        };
        let Some(answer) = answer else {
            return Ok(false);
        };
        let text = self.reader.text(&answer)?.unwrap_or_default();
        let mut pieces = text.iter().flat_map(|(_, pieces)| pieces);
        Ok(pieces.any(|piece| names(piece)))
    }
}

impl RunCommand {
    /// What it puts into the files that are asked for.
    fn filled(&self, is_asked: impl Fn(&str, Option<&str>) -> bool) -> String {
        let mut filled = String::new();
        for command in simple_commands(&self.command.text) {
            let Some((files, document)) = command.fills() else {
                continue;
            };
            let workdir = Path::new(self.command.folder.as_deref().unwrap_or_default());
            let folder = command.folder.as_deref().map(|folder| workdir.join(folder));
            let is_meant = |file: &&str| match &folder {
                Some(folder) => is_asked(file, folder.to_str()),
                None => Path::new(file).is_absolute() && is_asked(file, None),
            };
            if files.iter().any(is_meant) {
                // Of these lines the shell may have made others.
                let is_known =
                    |line: &&str| document.is_literal || !line.contains(['$', '`', '\\']);
                let lines = document.text.lines().filter(is_known);
                filled.extend(lines.flat_map(|line| [line, "\n"]));
            }
        }
        filled
    }

    /// It as a call of which nothing is known.
    fn call(&self) -> FileCall {
        FileCall {
            key: self.entry.key,
            tool: self.tool.clone(),
            done_ms: self.entry.searched_ms,
            call_id: self.command.call_id.clone(),
            tree: PathBuf::new(),
            before_in: None,
            entry: self.entry.clone(),
            made: SessionEdit {
                session: self.entry.key >> ARRIVAL_BITS,
                ..SessionEdit::default()
            },
        }
    }
}

/// So deep a command is looked for within another one.
const MOST_DEPTH: usize = 3;

/// What git prints the name of a commit for that it makes.
pub(super) const COMMITTING: [&str; 4] = ["commit", "cherry-pick", "revert", "rebase"];

/// Whether a command runs `git commit`, or what else makes a commit and says so.
fn commits(command: &str) -> bool {
    commits_within(command, MOST_DEPTH)
}

/// A shell or `$(…)` may run it.
fn commits_within(command: &str, depth: usize) -> bool {
    simple_commands(command).iter().any(|command| {
        let substitutions = command
            .words
            .iter()
            .filter_map(|word| word.split_once("$("));
        let inner = substitutions.map(|(_, inner)| inner);
        let mut inner = inner.chain(command.script());
        command.of_git().is_some_and(|of| COMMITTING.contains(&of))
            || depth > 0 && inner.any(|inner| commits_within(inner, depth - 1))
    })
}

/// What git does without showing names of commits at the beginning of lines.
const NAMELESS: [&str; 7] = ["add", "commit", "config", "diff", "push", "rm", "status"];

/// Whether a command shows the commit right after it has made one, in the same folder, and no
/// other: `git commit -q -m x && git log -1 --oneline`. Behind `;` it may be an earlier one.
fn shows_commit(command: &str) -> bool {
    // In which folder it was made.
    let (mut made, mut is_shown) = (None, false);
    for command in simple_commands(command) {
        let folder = command.folder.clone();
        let is_made = made.is_some() && made == folder;
        let is_head = shows_head(&command);
        let shows_others = |of: &str| !is_head && !NAMELESS.contains(&of);
        if is_head && !is_made || command.of_git().is_some_and(shows_others) {
            return false;
        }
        is_shown |= is_head;
        let is_turned = command.words.iter().any(|word| word == "!");
        let of_git = command.given_to(&["git"]).and_then(<[String]>::first);
        if of_git.is_some_and(|of| of == "commit") && !is_turned {
            made = folder;
        }
        made = made.filter(|_| command.end == End::And);
    }
    is_shown
}

/// Whether a command shows the commit that is checked out, and no other.
fn shows_head(command: &SimpleCommand) -> bool {
    const HOW: [&str; 8] = [
        "-1",
        "-n1",
        "--abbrev-commit",
        "--max-count=1",
        "--no-decorate",
        "--oneline",
        "--short",
        "--stat",
    ];
    let given = command.given_to(&["git"]).unwrap_or_default();
    let words: Vec<&str> = given.iter().map(String::as_str).collect();
    let words = words.strip_prefix(&["--no-pager"]).unwrap_or(&words);
    let is_how = |word: &&str| {
        let is_format = word.starts_with("--format=") || word.starts_with("--pretty=");
        is_format || HOW.contains(word)
    };
    let is_one = |word: &&str| matches!(*word, "-1" | "-n1" | "--max-count=1");
    match words {
        ["log", given @ ..] => given.iter().all(is_how) && given.iter().any(is_one),
        ["rev-parse", given @ .., "HEAD"] => given.iter().all(is_how),
        _ => false,
    }
}

/// Whether a text names this commit as `git log` and `git rev-parse` do, on a line.
fn shows(text: &str, commit: &str, subject: &str) -> bool {
    text.lines().any(|line| {
        let line = line.strip_prefix("commit ").unwrap_or(line).trim_end();
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let is_it = name.len() >= 7 && commit.starts_with(name);
        is_it && (rest.is_empty() || rest.starts_with(subject.trim()))
    })
}

/// Whether a line says that this commit was made: `[main 1a2b3c4] What changed`.
fn names_commit(text: &str, commit: &str, subject: &str) -> bool {
    text.lines().any(|line| {
        let said = line
            .strip_prefix('[')
            .and_then(|said| said.split_once("] "));
        let Some((said, rest)) = said else {
            return false;
        };
        let name = said.rsplit_once(' ').map_or("", |(_, name)| name);
        name.len() >= 7 && commit.starts_with(name) && rest.starts_with(subject.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_commands_commit_and_what_they_are_told() {
        for (command, is) in [
            ("git add -A && git commit -m 'a b'", true),
            (
                "cd x; GIT_AUTHOR_NAME=y git -C z -c a=b --no-pager commit --amend",
                true,
            ),
            (
                "git commit -m \"$(cat <<'EOF'\nIt's \"done\"\nEOF\n)\"",
                true,
            ),
            ("timeout 60 /usr/bin/git commit -m x", true),
            ("bash -c \"git add -A && git commit -m x\"", true),
            ("sudo -u ada git commit -m x", true),
            ("git cherry-pick 0123456 && git push", true),
            ("git revert --no-edit HEAD", true),
            ("GIT_EDITOR=true git rebase --continue", true),
            ("sessionary search git commit", false),
            ("echo git commit", false),
            ("git log -1 --format='[%h] %s' # last commit", false),
            ("sessionary search 'git commit'", false),
            ("git commit-tree x; git log commit", false),
            ("git log --grep revert", false),
        ] {
            assert_eq!(commits(command), is, "{command}");
        }
        for (text, is) in [
            ("hook\n[main 0123456] What changed\n 1 file", true),
            ("[main (root-commit) 0123456] What changed", true),
            ("[detached HEAD 0123456] What changed", true),
            ("[0123456] What changed", false),
            ("… [main 0123456] What changed", false),
            ("[main 0123456] Something else", false),
            ("[main 0123457] What changed", false),
        ] {
            assert_eq!(
                names_commit(text, "0123456789", "What changed"),
                is,
                "{text}"
            );
        }
    }

    /// Real: KuzniAI/opencode-entire-plugin, 0/full.jsonl (Claude Code 2.1.284).
    #[test]
    fn which_commands_show_what_they_committed() {
        for (command, is) in [
            (
                "git add -A && git commit -q -m x && git log --oneline -1 && git status --short",
                true,
            ),
            (
                "git commit -qm x >/dev/null && git push && git log -1 --format='%h %s'",
                true,
            ),
            (
                "cd x; git commit -q -m x && git rev-parse --short HEAD",
                true,
            ),
            // An earlier one, if nothing was committed; others; another one.
            ("git commit -q -m x; git log --oneline -1", false),
            ("git commit -q -m x || true && git log --oneline -1", false),
            ("git commit -q -m x && git log --oneline -5", false),
            ("git commit -q -m x && git log --oneline", false),
            ("git commit -q -m x && git log --oneline -1 --all", false),
            ("git -C y commit -q -m x && git log --oneline -1", false),
            ("git commit -q -m x && git -C y log --oneline -1", false),
            ("git commit -q -m x && cd y && git log --oneline -1", false),
            ("git commit -q -m x && git log --oneline -1 main", false),
            ("git commit -q -m x && git rev-parse HEAD main", false),
            ("git log --oneline -1 && git commit -q -m x", false),
            (
                "git commit -q -m x && git log -1 && git log --oneline -9",
                false,
            ),
            ("! git commit -q -m x && git log --oneline -1", false),
        ] {
            assert_eq!(shows_commit(command), is, "{command}");
        }
        for (text, is) in [
            ("hook\n0123456 What changed\n M a.rs", true),
            ("0123456\n", true),
            ("commit 0123456789\nAuthor: Ada", true),
            ("012345 What changed", false),
            ("0123457 What changed", false),
            ("0123456 Something else", false),
            ("see 0123456 What changed", false),
        ] {
            assert_eq!(shows(text, "0123456789", "What changed"), is, "{text}");
        }
    }
}
