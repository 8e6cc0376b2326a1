//! Which patches does a command give to `apply_patch`?

use std::borrow::Cow;

use super::{End, STARTERS, SimpleCommand, simple_commands};
use crate::edits::patch;
use crate::model::FileTouch;

/// A patch that a command applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellPatch {
    /// As far as it is known: empty where nothing is.
    pub text: String,
    /// The folder that `cd` named before; relative to that in which the whole command runs. `None`:
    /// nobody knows.
    pub folder: Option<String>,
}

impl ShellPatch {
    /// Whether it is known which file a path of it means.
    pub fn names(&self, path: &str) -> bool {
        self.folder.is_some() || super::is_absolute(path)
    }
}

/// The patches that a command applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellPatches {
    /// In its order, also those of which nothing is known.
    pub patches: Vec<ShellPatch>,
    /// Where the command has not failed, none of them has.
    pub fails_with_them: bool,
}

/// The patches that a command gives to `apply_patch`.
pub(crate) fn patches(command: &str) -> ShellPatches {
    let mut found = ShellPatches {
        patches: Vec::new(),
        fails_with_them: true,
    };
    // The words of a call, put together: the second one is the patch.
    let joined = command.strip_prefix("apply_patch ").map(str::trim_start);
    if let Some(text) = joined.filter(|text| text.starts_with(patch::BEGIN)) {
        let text = text.to_owned();
        let folder = Some(String::new());
        found.patches.push(ShellPatch { text, folder });
        return found;
    }
    found.add(&simple_commands(command));
    found
}

/// The files that such patches touch, of a command that runs in `workdir`.
pub(crate) fn touched(command: &str, workdir: Option<&str>) -> Vec<FileTouch> {
    if !command.contains(patch::BEGIN) {
        return Vec::new();
    }
    let patches = patches(command).patches.into_iter();
    let files = patches.flat_map(|found| {
        let folder = found.folder.as_deref();
        let folder = folder.and_then(|folder| super::below(workdir, folder));
        let mut files = patch::touched(&found.text, folder.as_deref());
        files.retain(|file| found.names(&file.path));
        files
    });
    files.collect()
}

impl ShellPatches {
    fn add(&mut self, commands: &[SimpleCommand]) {
        let mut before = End::Next;
        // What stands before the first program of a pipe.
        let mut begun = End::Next;
        for command in commands {
            let (known, fails) = (self.patches.len(), self.fails_with_them);
            self.add(&command.substituted);
            // Whoever runs them does not say how they ended.
            self.fails_with_them = fails && self.patches.len() == known;
            if before != End::Pipe {
                begun = before;
            }
            let is_first = self.patches.is_empty();
            self.patches.extend(command.patch(before));
            let is_first = is_first && !self.patches.is_empty();
            let goes_on = self.patches.is_empty() || matches!(command.end, End::And | End::Last);
            let is_other = begun == End::Or && (is_first || command.opens > 0);
            let is_turned = command.leading().iter().any(|word| word == "!");
            // `then (apply_patch <<E) fi`
            let closes = |word: &String| matches!(&**word, "fi" | "done" | "esac" | "}");
            let is_within = !command.is_plain && command.words.iter().skip(1).any(closes);
            let is_hidden = command.hides || is_within || command.may_end(before);
            self.fails_with_them &= goes_on && !is_other && !is_turned && !is_hidden;
            before = command.end;
        }
    }
}

impl SimpleCommand {
    /// Whether what stands behind it may not run, and the whole not fail.
    fn may_end(&self, before: End) -> bool {
        let ends = |words: &[String]| match words {
            [exit] if exit == "exit" || exit == "return" => before != End::Or,
            [exit, code] if exit == "exit" || exit == "return" => {
                !code.parse::<u8>().is_ok_and(|code| code != 0)
            }
            [set, given @ ..] if set == "set" => {
                let stops = |word: &String| word.starts_with('-') && word.contains('n');
                !self.is_plain || given.iter().any(|word| stops(word) || word == "noexec")
            }
            [exec] if exec == "exec" => false,
            [name, ..] => matches!(
                &**name,
                "exec" | "exit" | "return" | "trap" | "kill" | "eval" | "source"
            ),
            [] => false,
        };
        let is_read = self.program().first().is_some_and(|word| word == ".");
        self.end != End::Last && (is_read || self.may_run().any(ends))
    }

    /// Whether what starts the program that is given this starts it here: `timeout 20`, but not
    /// `sudo ssh HOST`.
    fn starts_here(&self, given: &[String]) -> bool {
        let before = self.program().iter().rev().skip(given.len() + 1).rev();
        let mut last = "";
        before.enumerate().all(|(at, word)| {
            let name = word.rsplit('/').next().unwrap_or_default();
            let is_given = at > 0
                && (last == "-u"
                    || word.starts_with('-')
                    || word.starts_with(|sign: char| sign.is_ascii_digit())
                    || word.contains('='));
            last = word;
            // Of `xargs` nobody knows what else it gives the program.
            is_given || STARTERS.contains(&name) && name != "xargs"
        })
    }

    /// The patch that it applies, if any.
    fn patch(&self, before: End) -> Option<ShellPatch> {
        const MOVING: [&str; 7] = ["-C", "-D", "-R", "-i", "--chdir", "--chroot", "--login"];
        let given = self.given_to(&["apply_patch", "applypatch"])?;
        let document = self.document.as_deref();
        let text = match (given, document) {
            // `command -v apply_patch`
            ([], None) if self.reads.is_none() && before != End::Pipe => return None,
            // It may be applied elsewhere, and say so.
            _ if !self.starts_here(given) => Cow::Borrowed(""),
            ([text], _) if text.contains(patch::BEGIN) => match self.is_plain {
                true => Cow::Borrowed(text.as_str()),
                false => patch::certain(text),
            },
            (_, Some(document)) if document.is_literal => Cow::Borrowed(document.text.as_str()),
            (_, Some(document)) => patch::certain(&document.text),
            _ => Cow::Borrowed(""),
        };
        // `env -C FOLDER apply_patch`
        let moves = |word: &String| MOVING.iter().any(|option| word.starts_with(option));
        let folder = self.folder.as_deref();
        let folder = folder.filter(|_| !self.program().iter().any(moves));
        Some(ShellPatch {
            text: text.into_owned(),
            folder: folder.map(str::to_owned),
        })
    }
}
