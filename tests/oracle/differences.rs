//! In what may ours differ from an agent's answer, and which bytes of a file are the reason?
//!
//! Ours follows the newest agent. Each rule here is a statement of formats/pi.md that can be seen
//! in the file itself; a difference that no rule explains is an error.

use std::path::Path;

use serde_json::Value;

/// What a rule explains.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// The agent lists the file, ours does not.
    OnlyAgent,
    /// Ours lists the file, the agent does not.
    OnlyOurs,
    /// A field of the row has another value.
    Field(&'static str),
}

/// One documented difference.
pub struct Rule {
    pub name: &'static str,
    pub effects: &'static [Effect],
    /// Does the reason stand in this file?
    pub found_in: fn(&File) -> bool,
}

/// A session file and where it lies.
pub struct File {
    bytes: Vec<u8>,
    linked_folder: bool,
}

impl File {
    pub fn read(root: &Path, relative: &str) -> Self {
        let path = root.join(relative);
        Self {
            bytes: std::fs::read(&path).unwrap_or_default(),
            linked_folder: path.parent().is_some_and(Path::is_symlink),
        }
    }

    /// What parses as JSON, line by line.
    fn values(&self) -> impl Iterator<Item = Value> {
        self.bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
    }
}

/// What a message that appears or disappears changes in a row.
const A_MESSAGE: &[Effect] = &[
    Effect::Field("messageCount"),
    Effect::Field("firstMessage"),
    Effect::Field("allMessagesText"),
    Effect::Field("modified"),
];

/// Between ours and 0.73.1 or 0.74.2, by section of formats/pi.md. The order among equals is
/// another (11: the order of the folder), which is not compared.
pub const OLD: &[Rule] = &[
    // 5: "Old drops it (trim); New does not, so the header line fails to parse and the whole file
    // is no session".
    Rule {
        name: "byte order mark",
        effects: &[Effect::OnlyAgent],
        found_in: |file| file.bytes.starts_with("\u{feff}".as_bytes()),
    },
    // 5: "`null` -> Old: open throws TypeError and list hides the file; New drops falsy values".
    Rule {
        name: "null line",
        effects: &[Effect::OnlyOurs],
        found_in: |file| file.values().any(|value| value.is_null()),
    },
    Rule {
        name: "falsy line before the header",
        effects: &[Effect::OnlyOurs],
        found_in: |file| file.values().next().is_some_and(|value| is_falsy(&value)),
    },
    // 5: "Old: whole text trimmed": spaces that JSON does not know vanish from the end of the file.
    Rule {
        name: "foreign space at the end",
        effects: A_MESSAGE,
        found_in: ends_with_foreign_space,
    },
    // 11: "Old skips symlinked folders; New follows them".
    Rule {
        name: "linked folder",
        effects: &[Effect::OnlyOurs],
        found_in: |file| file.linked_folder,
    },
    // 11: "or else the entry's ISO timestamp": Old wants a string, New takes what `new Date` takes.
    Rule {
        name: "entry time that is no text",
        effects: &[Effect::Field("modified")],
        found_in: has_untyped_time,
    },
];

/// Between ours and any agent, on purpose.
pub const OURS: &[Rule] = &[
    // Since 0.78.1 list ends lines at a lone carriage return too, although opening the same file
    // does not. No agent writes one; ours reads lines as opening does, and shows what lies between.
    Rule {
        name: "lone carriage return",
        effects: &[
            Effect::OnlyAgent,
            Effect::OnlyOurs,
            Effect::Field("messageCount"),
            Effect::Field("firstMessage"),
            Effect::Field("allMessagesText"),
            Effect::Field("modified"),
        ],
        found_in: has_lone_carriage_return,
    },
    // From 0.12.7 to 0.30.2 pi wrote a fork's parent as `branchedFrom`, which its own list does not
    // read: `list --as pi` leaves it out, ours names the parent.
    Rule {
        name: "branchedFrom",
        effects: &[Effect::Field("parentSessionPath")],
        found_in: |file| {
            let mut values = file.values();
            values.any(|value| value["type"] == "session" && value["branchedFrom"].is_string())
        },
    },
];

fn is_falsy(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_f64() == Some(0.0) || value == ""
}

fn ends_with_foreign_space(file: &File) -> bool {
    let text = String::from_utf8_lossy(&file.bytes);
    let end = text.trim_end_matches(['\n', '\r', ' ', '\t']);
    end.ends_with(|last: char| last == '\u{feff}' || last.is_whitespace())
}

fn has_untyped_time(file: &File) -> bool {
    file.values().any(|value| {
        value["type"] == "message"
            && !value["timestamp"].is_string()
            && !value["message"]["timestamp"].is_number()
    })
}

fn has_lone_carriage_return(file: &File) -> bool {
    file.bytes
        .iter()
        .enumerate()
        .any(|(at, byte)| *byte == b'\r' && file.bytes.get(at + 1) != Some(&b'\n'))
}

/// Shapes whose trees ours shows otherwise than the agent on purpose: it shows entries that the
/// agent drops.
const OTHER_TREES: &[&str] = &[
    "fused",
    "bom-inside",
    "cr-inside",
    "cr-only",
    "scalars",
    "falsy-line",
    "null-line",
    "header-after-false",
    "header-after-null",
    "id-odd",
    "id-twice",
    "cycle",
    "header-twice",
    "key-twice",
    "entry-type-odd",
    "almost-json",
    "nul-run",
    "space-tail",
    // Entries of a version 1 file get fresh ids in the agent; ours keeps what ids the file has.
    "v1-numbered",
    "version-null",
];

/// The two of the four real files that hold fused lines (formats/pi.md, 16), for the same reason.
const FUSED: &[&str] = &["--real--/compact.jsonl", "--real--/session.jsonl"];

/// Is the agent's tree of this file one that ours must equal?
pub fn tree_is_comparable(path: &str) -> bool {
    !FUSED.contains(&path)
        && !OTHER_TREES
            .iter()
            .any(|shape| path.contains(&format!("_{shape}")))
}
