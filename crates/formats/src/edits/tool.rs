//! What do the arguments of a tool say of a file? One table of tools for all agents: what is alike
//! is named alike.

use serde_json::Value;

use super::call::{Call, items, text};
use super::patch::{self, Hunk};
use super::shell::ShellPatches;
use super::{ByCommand, Edit, script, shell};

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// This is all of it.
    Write(String),
    /// One text in place of another: everywhere, or where it stands alone.
    Replace {
        /// What has to stand in the file.
        old: String,
        /// What stands there afterwards.
        new: String,
        /// Wherever it stands.
        all: bool,
    },
    /// Whole lines between whole lines.
    Hunks(Vec<Hunk>),
    /// It is removed.
    Delete,
    /// It has this path from then on.
    Move(String),
    /// It changes in a way that the arguments do not say.
    Unknown,
}

/// What a tool does with the file that it is given.
enum Tool {
    Write,
    Replace,
    /// Its argument `command` says which.
    Editor,
    Patch,
    Unknown,
}

/// The tool of Codex's code mode, which is given nothing but a script.
const SCRIPT: &str = "exec";

const PATHS: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
];
const TEXTS: &[&str] = &["content", "contents", "file_text"];
const OLD: &[&str] = &["oldText", "old_string", "oldString", "old_str"];
const NEW: &[&str] = &["newText", "new_string", "newString", "new_str"];

/// How a tool is called wherever there is one like it: `mcp__filesystem__read_file` is `readfile`.
fn common_name(name: &str) -> String {
    // Agents put the server before the name, agentuse that of its own tools too.
    let name = name.rsplit("__").next().unwrap_or(name);
    let letters = name.chars().filter(|letter| letter.is_ascii_alphanumeric());
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    match name.strip_prefix("filesystem") {
        Some(behind) => behind.to_owned(),
        None => name,
    }
}

/// The tool of this [`common_name`], where it is known how it changes files.
fn tool(name: &str) -> Option<Tool> {
    Some(match name {
        "write" | "writefile" | "create" | "createfile" => Tool::Write,
        "edit" | "editfile" | "multiedit" | "replace" | "strreplace" | "searchreplace" => {
            Tool::Replace
        }
        "strreplaceeditor" | "strreplacebasededittool" => Tool::Editor,
        "applypatch" | "patch" => Tool::Patch,
        "notebookedit" | "hashlineedit" => Tool::Unknown,
        _ => return None,
    })
}

/// Whether a tool of this name modifies (`true`) or only reads (`false`) the file that it is given,
/// with this `command` if any.
pub(crate) fn touches(name: &str, command: Option<&str>) -> Option<bool> {
    const READS: [&str; 5] = ["notebookread", "read", "readfile", "view", "viewimage"];
    // Cursor's, of which no line is known.
    const MODIFIES: [&str; 3] = ["delete", "deletefile", "editnotebook"];
    let name = common_name(name);
    match tool(&name) {
        Some(Tool::Editor) => Some(command != Some("view")),
        Some(_) => Some(true),
        None if READS.contains(&&*name) => Some(false),
        None => MODIFIES.contains(&&*name).then_some(true),
    }
}

/// What a call asks for.
pub(super) fn edits(call: Call) -> Vec<Edit> {
    let given = &call.arguments;
    let folder = text(given, &["workdir"]);
    let edit = |path: String, change| Edit {
        call_id: call.id.clone(),
        path,
        folder: folder.map(str::to_owned),
        change,
        by_command: None,
    };
    let patched = |patch: &str| -> Vec<Edit> {
        let files = patch::of_files(patch).into_iter();
        files.map(|(path, change)| edit(path, change)).collect()
    };
    let named = |changes: Vec<Change>| {
        let path = text(given, PATHS);
        let changes = changes.into_iter();
        path.map_or_else(Vec::new, |path| {
            changes
                .map(|change| edit(path.to_owned(), change))
                .collect()
        })
    };
    match tool(&common_name(&call.tool)) {
        Some(Tool::Write) => named(vec![written(given)]),
        Some(Tool::Replace) => named(replaced(given)),
        Some(Tool::Editor) => named(match given["command"].as_str() {
            Some("create") => vec![written(given)],
            Some("str_replace") => replaced(given),
            Some("view") => Vec::new(),
            _ => vec![Change::Unknown],
        }),
        Some(Tool::Patch) => {
            let patch = text(given, &["input", "patch", "patchText"]).or(given.as_str());
            patched(patch.unwrap_or_default())
        }
        Some(Tool::Unknown) => named(vec![Change::Unknown]),
        None => {
            let found = applied(&call);
            let by_command = ByCommand {
                patches: found.patches.len(),
                fails_with_them: found.fails_with_them,
                is_script: script(&call).is_some(),
            };
            let edits = found.patches.iter().flat_map(|of| {
                let named = patched(&of.text).into_iter();
                let named = named.filter(|edit| of.names(&edit.path));
                let within = shell::below(folder, of.folder.as_deref().unwrap_or_default());
                named.map(move |edit| Edit {
                    folder: within.clone(),
                    by_command: Some(by_command),
                    change: match edit.change {
                        Change::Move(to) if !of.names(&to) => Change::Unknown,
                        change => change,
                    },
                    ..edit
                })
            });
            edits.collect()
        }
    }
}

/// The patches that a call applies by its script or its command.
fn applied(call: &Call) -> ShellPatches {
    match script(call) {
        Some(code) => script::patches(code),
        None => shell::patches(&command(call).unwrap_or_default()),
    }
}

/// The script that a call is given.
fn script(call: &Call) -> Option<&str> {
    call.arguments.as_str().filter(|_| call.tool == SCRIPT)
}

/// The command that a call gives to a shell.
pub(super) fn command(call: &Call) -> Option<String> {
    if tool(&common_name(&call.tool)).is_some() {
        return None;
    }
    let given = ["command", "cmd"].map(|key| &call.arguments[key]);
    let command = given.into_iter().find(|command| !command.is_null())?;
    if let Some(line) = command.as_str() {
        return Some(line.to_owned());
    }
    let words = items(command).filter_map(Value::as_str);
    shell::command_line(words.map(str::to_owned).collect())
}

fn written(given: &Value) -> Change {
    text(given, TEXTS).map_or(Change::Unknown, |text| Change::Write(text.to_owned()))
}

fn replaced(given: &Value) -> Vec<Change> {
    let one = |of: &Value| match (text(of, OLD), text(of, NEW)) {
        (Some(old), Some(new)) => Change::Replace {
            old: old.to_owned(),
            new: new.to_owned(),
            all: is_everywhere(of),
        },
        _ => Change::Unknown,
    };
    // Some models give the list as JSON in a string.
    let unpacked = given["edits"]
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    match unpacked.as_ref().unwrap_or(&given["edits"]) {
        Value::Array(edits) => edits.iter().map(one).collect(),
        _ => vec![one(given)],
    }
}

fn is_everywhere(given: &Value) -> bool {
    ["replace_all", "replaceAll", "allow_multiple"]
        .iter()
        .any(|key| given[*key] == true)
        || given["expected_replacements"].as_i64() > Some(1)
}
