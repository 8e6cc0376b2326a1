//! Which files did a call change, and how? What the arguments of an edit, a write or a patch say,
//! and what its answer says of it beside that.
//!
//! Agents call their tools differently and put their calls at different places of a record, but
//! there are few ways to say what a file becomes: its whole text, one text in place of another, or
//! lines between lines. [`edits`] reads all of them, [`outcomes`] what the agents record of the
//! file beside the answer: its text before, whether it is new, and which lines changed.

mod call;
mod outcome;
pub(crate) mod patch;
mod recorded;
pub(crate) mod script;
pub(crate) mod shell;
mod tool;

use crate::json;
use serde_json::Value;

pub use outcome::{Outcome, outcomes};
pub use patch::{Hunk, HunkLine};
pub use recorded::{CommandChange, command_changes};
pub use shell::{Document, End, SimpleCommand, simple_commands};
pub use tool::Change;
pub(crate) use tool::touches;

/// A change of one file that a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The id by which call and answer find each other.
    pub call_id: Option<String>,
    /// The file, as the call names it.
    pub path: String,
    /// The folder in which the call was to run, where it names one.
    pub folder: Option<String>,
    /// What becomes of the file.
    pub change: Change,
    /// It is a patch within a command or a script, which may fail after it has changed the file.
    pub by_command: Option<ByCommand>,
}

/// What is known of a patch that a command applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByCommand {
    /// How many patches the command applies.
    pub patches: usize,
    /// Where the command has not failed, none of them has.
    pub fails_with_them: bool,
    /// It is a script, whose answer may come before its end and says only what the script prints.
    pub is_script: bool,
}

/// A command that a call gives to a shell, or that a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The id by which call and answer find each other.
    pub call_id: Option<String>,
    /// What was typed.
    pub text: String,
    /// The folder in which the call was to run, where it names one.
    pub folder: Option<String>,
}

/// The changes that the calls in a record ask for, in its order.
pub fn edits(record: &[u8]) -> Vec<Edit> {
    let Some(record) = parsed(record) else {
        return Vec::new();
    };
    call::calls(&record)
        .into_iter()
        .flat_map(tool::edits)
        .collect()
}

/// The commands in a record, in its order.
pub fn commands(record: &[u8]) -> Vec<Command> {
    let Some(record) = parsed(record) else {
        return Vec::new();
    };
    let called = call::calls(&record).into_iter().filter_map(|call| {
        Some(Command {
            text: tool::command(&call)?,
            folder: call::text(&call.arguments, &["workdir"]).map(str::to_owned),
            call_id: call.id,
        })
    });
    let mut commands: Vec<Command> = called.collect();
    // What a person typed behind `!`: pi.
    let message = &record["message"];
    if message["role"] == "bashExecution"
        && let Some(typed) = message["command"].as_str()
    {
        commands.push(Command {
            call_id: None,
            text: typed.to_owned(),
            folder: None,
        });
    }
    commands
}

/// The folder in which the calls of a record run, where it says that by itself: Claude Code, Qwen
/// Code; and the `turn_context` of Codex, which says it of those behind it.
pub fn folder(record: &[u8]) -> Option<String> {
    let record = parsed(record)?;
    let of = match &record["payload"] {
        payload @ Value::Object(_) => payload,
        _ => &record,
    };
    of["cwd"].as_str().map(str::to_owned)
}

/// The record; `None` where it is nested deeper than any that holds a call.
fn parsed(record: &[u8]) -> Option<Value> {
    json::tiers(record, |text| serde_json::from_str(text).ok())
}

#[cfg(test)]
mod tests;
