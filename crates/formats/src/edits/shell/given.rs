//! What does a command give to programs that may write it into a file?

use super::{End, SimpleCommand, simple_commands};

/// Programs that look for what they are given, compare it, or ask another agent.
const READERS: [&str; 20] = [
    "[",
    "[[",
    "ack",
    "ag",
    "agentuse",
    "claude",
    "cmp",
    "codex",
    "copilot",
    "cursor-agent",
    "diff",
    "egrep",
    "fgrep",
    "gemini",
    "grep",
    "opencode",
    "pi",
    "qwen",
    "rg",
    "test",
];

/// What git does without changing files in its working tree.
const HARMLESS: [&str; 19] = [
    "add",
    "blame",
    "branch",
    "cat-file",
    "commit",
    "config",
    "describe",
    "diff",
    "fetch",
    "grep",
    "log",
    "ls-files",
    "push",
    "remote",
    "rev-list",
    "rev-parse",
    "show",
    "status",
    "tag",
];

/// Other programs that bring versions of files.
const VERSIONS: [&str; 7] = ["gh", "glab", "gt", "hg", "jj", "sl", "svn"];

/// Programs that start another one, which they are given.
pub(super) const STARTERS: [&str; 9] = [
    "command", "doas", "env", "exec", "nice", "nohup", "sudo", "timeout", "xargs",
];

const SHELLS: [&str; 5] = ["bash", "dash", "eval", "sh", "zsh"];

/// So deep a command is looked for within another one.
const MOST_DEPTH: usize = 3;

/// Programs that print what they are given.
const PRINTERS: [&str; 3] = ["cat", "echo", "printf"];

/// The command of these words, of which the first is the program. Of what a shell is given with
/// `-c` only that.
pub(crate) fn command_line(words: Vec<String>) -> Option<String> {
    match &*words {
        [] => None,
        [_, flag, line] if matches!(&**flag, "-c" | "-lc" | "-Command") => Some(line.clone()),
        words => Some(words.join(" ")),
    }
}

/// The words and documents that a command gives to programs which may write them. `None`: it may
/// bring files to another version, whose lines are nobody's who ran it.
pub(crate) fn given(command: &str) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    add_given(&simple_commands(command), MOST_DEPTH, false, &mut texts)?;
    Some(texts)
}

/// `is_taken`: what they print is given to another program, or goes into a file.
fn add_given(
    commands: &[SimpleCommand],
    depth: usize,
    is_taken: bool,
    texts: &mut Vec<String>,
) -> Option<()> {
    for command in commands {
        let is_git = command.given_to(&["git"]).is_some();
        let is_file = |file: &String| !file.starts_with("/dev/");
        let is_taken = is_taken || command.end == End::Pipe || command.writes.iter().any(is_file);
        let is_shown = !is_taken && command.given_to(&PRINTERS).is_some();
        let is_left_out = is_git || is_shown || command.given_to(&READERS).is_some();
        add_given(&command.substituted, depth, !is_left_out, texts)?;
        if command.given_to(&VERSIONS).is_some() {
            return None;
        }
        if is_git {
            let fills = command.writes.iter().any(|file| file != "/dev/null");
            let is_harmless = |of: &&str| !fills && HARMLESS.contains(of);
            command.of_git().filter(is_harmless)?;
            continue;
        }
        if let Some(script) = command.script().filter(|_| depth > 0) {
            add_given(&simple_commands(script), depth - 1, is_taken, texts)?;
            continue;
        }
        if !is_left_out {
            texts.extend(command.program().iter().skip(1).cloned());
            texts.extend(command.document.iter().map(|of| of.text.clone()));
        }
    }
    Some(())
}

impl SimpleCommand {
    /// What git is told to do.
    pub fn of_git(&self) -> Option<&str> {
        let mut words = self.given_to(&["git"])?.iter().map(String::as_str);
        loop {
            match words.next()? {
                "-C" | "-c" | "--git-dir" | "--work-tree" => drop(words.next()),
                word if word.starts_with('-') => {}
                word => return Some(word),
            }
        }
    }

    /// Whether it is given what other programs print.
    pub fn substitutes(&self) -> bool {
        !self.substituted.is_empty() || self.words.iter().any(|word| word.contains('`'))
    }

    /// The programs that run before it, because it is given what they print: `$( … )`, `<( … )`.
    pub fn substituted(&self) -> &[SimpleCommand] {
        &self.substituted
    }

    /// The commands that a shell is given as a word.
    pub fn script(&self) -> Option<&str> {
        let given = self.given_to(&SHELLS)?;
        let script = given.iter().find(|word| !word.starts_with('-'));
        script.map(String::as_str)
    }
}
