//! Which commands did sessions run that move a file, fill it or make a commit?

use std::path::{Path, PathBuf};

use super::calls::{Calls, FileCall};
use super::committing::{commits, names_commit, shows, shows_commit};
use super::renames::FileName;
use crate::blame::SessionEdit;
use crate::catalogue::entries::StoredEntry;
use crate::error::Error;
use crate::format::edits::{Command, command_changes, commands, simple_commands};
use crate::model::{ARRIVAL_BITS, Class, SessionRow};
use crate::query::show::Text;

/// A command that was run.
pub(super) struct RunCommand {
    pub command: Command,
    pub entry: StoredEntry,
    pub tool: Option<String>,
    /// Of which nobody may know.
    pub has_failed: bool,
    /// The entry that answers it; it may be its own.
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
                    answer: end.and_then(|end| {
                        // An entry that says how its call ended without another one.
                        end.answer.or(end.is_error.map(|_| entry.key))
                    }),
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
            // Of one that failed nobody knows whether that was shown, or what others print.
            let shows_it = !run.has_failed && shows_commit(text);
            let names: &dyn Fn(&str) -> bool = match (commits(text), shows_it) {
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
        // Without an answer nobody was told anything.
        let Some(answer) = run.answer else {
            return Ok(false);
        };
        let itself = (answer == run.entry.key).then_some(run.command.text.as_str());
        let Some(answer) = self.snapshot.catalogue.entry(answer)? else {
            return Ok(false);
        };
        let text = self.reader.text(&answer)?.unwrap_or_default();
        Ok(is_said(&text, itself, names))
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

/// Whether an answer names a commit. What stands in the command itself (`itself`), where that is in
/// the same entry, was not told, nor what its model said.
fn is_said(text: &Text, itself: Option<&str>, names: &dyn Fn(&str) -> bool) -> bool {
    let said = text
        .iter()
        .filter(|(class, _)| itself.is_none() || *class == Class::Output);
    let mut pieces = said.flat_map(|(_, pieces)| pieces);
    pieces.any(|piece| match itself.filter(|itself| !itself.is_empty()) {
        Some(itself) => names(&piece.replace(itself, "")),
        None => names(piece),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_says_by_itself_is_not_told() {
        let command = "git commit -q -F - <<'E'\n0123456 What changed\nE";
        let names = |said: &str| shows(said, "0123456789", "What changed");
        let of = |class, said: &str| vec![(class, vec![said.to_owned()])];
        let told = of(Class::Output, "0123456 What changed");
        for (text, itself, is) in [
            (of(Class::Output, command), Some(command), false),
            (of(Class::Prose, "0123456"), Some(command), false),
            (told.clone(), Some(command), true),
            (told, None, true),
            (of(Class::Prose, "0123456"), None, true),
        ] {
            assert_eq!(is_said(&text, itself, &names), is, "{text:?}");
        }
    }
}
