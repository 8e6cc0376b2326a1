//! What does a script of code mode do, and how did it end? There the model has one tool for all,
//! which takes JavaScript.

use std::collections::HashSet;

use crate::edits::{patch, script};
use crate::model::FileTouch;

/// The tool that takes a script.
pub(super) const TOOL: &str = "exec";

/// With what begins what a script gave: `Script completed`, a line with the time, `Output:`.
pub(super) fn is_of(output: &str) -> bool {
    let second = output
        .strip_prefix("Script ")
        .and_then(|_| output.lines().nth(1));
    second.is_some_and(|line| line.starts_with("Wall time "))
}

/// Whether a script gave that, and threw.
pub(super) fn has_failed(output: &str) -> bool {
    is_of(output) && output.starts_with("Script failed\n")
}

/// The files of the patches in a script: of those that are known, and those that stand in lines of
/// it, whatever it does with these. Each once.
pub(super) fn touched(code: &str) -> Vec<FileTouch> {
    let patches = script::patches(code).patches.into_iter();
    let known = patches.flat_map(|of| patch::touched(&of.text, None));
    let named = patch::touched(code, None).into_iter();
    let files = known.chain(named.filter(|file| !file.path.contains("${")));
    let mut seen = HashSet::new();
    files
        .filter(|file| seen.insert(file.path.clone()))
        .collect()
}

/// The first command that stands in a script, but for comments, else its first line that is none.
pub(super) fn subject(code: &str) -> Option<String> {
    let commands = code.match_indices("cmd");
    let mut commands = commands.filter_map(|(at, key)| {
        let line = code[..at].rsplit('\n').next()?.trim_start();
        let is_whole = !line.starts_with("//")
            && !line.ends_with(|c: char| c.is_alphanumeric() || "_$.".contains(c));
        let value = code[at + key.len()..].trim_start_matches(['"', '\'']);
        let value = value.trim_start().strip_prefix(':')?.trim_start();
        literal(value).filter(|command| is_whole && !command.is_empty())
    });
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with("//");
    let line = || code.lines().map(str::trim).find(is_said);
    commands.next().or_else(|| line().map(str::to_owned))
}

/// The text that begins with a quotation mark.
fn literal(code: &str) -> Option<String> {
    let mark = code.chars().next().filter(|c| "\"'`".contains(*c))?;
    let mut text = String::new();
    let mut chars = code.chars().skip(1);
    loop {
        match chars.next()? {
            end if end == mark => return Some(text),
            '\\' => text.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            other => text.push(other),
        }
    }
}
