//! Which commands did sessions run that move a file, fill it or make a commit?

use std::path::{Path, PathBuf};

use super::calls::{Calls, FileCall};
use super::renames::FileName;
use crate::blame::SessionEdit;
use crate::catalogue::entries::StoredEntry;
use crate::error::Error;
use crate::format::edits::{Command, command_changes, commands, simple_commands};
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
            if commits(&run.command.text) && self.is_told(&run, commit, subject)? {
                found.push(run.call());
            }
        }
        self.leave_out_copies(&mut found)?;
        self.calls = found;
        Ok((0..self.calls.len()).collect())
    }

    /// Whether the answer of a command names a commit as `git commit` does.
    fn is_told(&mut self, run: &RunCommand, commit: &str, subject: &str) -> Result<bool, Error> {
        let answer = match run.answer {
            Some(answer) => self.snapshot.catalogue.entry(answer)?,
            None => Some(run.entry.clone()),
        };
        let Some(answer) = answer else {
            return Ok(false);
        };
        let text = self.reader.text(&answer)?.unwrap_or_default();
        let mut pieces = text.iter().flat_map(|(_, pieces)| pieces);
        Ok(pieces.any(|piece| names_commit(piece, commit, subject)))
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

/// Whether a command runs `git commit`.
fn commits(command: &str) -> bool {
    commits_within(command, MOST_DEPTH)
}

/// A shell or `$(…)` may run it.
fn commits_within(command: &str, depth: usize) -> bool {
    simple_commands(command).iter().any(|command| {
        let given = command.given_to(&["git"]);
        let script = command.given_to(&["sh", "bash", "zsh", "dash"]);
        let script = script.and_then(|given| given.iter().find(|word| !word.starts_with('-')));
        let substitutions = command
            .words
            .iter()
            .filter_map(|word| word.split_once("$("));
        let inner = substitutions.map(|(_, inner)| inner);
        let mut inner = inner.chain(script.map(String::as_str));
        given.is_some_and(is_commit)
            || depth > 0 && inner.any(|inner| commits_within(inner, depth - 1))
    })
}

/// Whether git is told to commit.
fn is_commit(given: &[String]) -> bool {
    let mut words = given.iter().map(String::as_str);
    loop {
        match words.next() {
            Some("-C" | "-c" | "--git-dir" | "--work-tree") => drop(words.next()),
            Some(word) if word.starts_with('-') => {}
            word => return word == Some("commit"),
        }
    }
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
            ("sessionary search git commit", false),
            ("echo git commit", false),
            ("git log -1 --format='[%h] %s' # last commit", false),
            ("sessionary search 'git commit'", false),
            ("git commit-tree x; git log commit", false),
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
}
