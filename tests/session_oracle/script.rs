//! Random session operations, written for a real agent and done with ours.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use sessionary::session::{
    BranchSummaryEntry, Clock, CompactionEntry, CustomMessageEntry, Error, Ids, Json, Message,
    NewSession, Profile, SessionEntry, SessionManager, Setup, UsageEntry, parse_session_entries,
};

use super::state::{quoted, state};

/// The clock and the ids of oracle/session-run.mjs.
#[derive(Default)]
pub struct World {
    pub now: AtomicI64,
    pub calls: AtomicU32,
    /// Whether every id is free.
    pub unique: bool,
}

impl Clock for World {
    fn now_ms(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }
}

impl Ids for World {
    fn random(&self) -> String {
        let n = self.calls.fetch_add(1, Ordering::Relaxed);
        // Every seventh id is not free.
        let key = if n % 7 == 6 && !self.unique { n - 1 } else { n };
        let first = (key + 1).wrapping_mul(0x9e37_79b1);
        format!("{first:08x}-0000-4000-8000-{n:012}")
    }

    fn timed(&self, ms: i64) -> String {
        // Agents count on within a millisecond; sessions are compared by their order anyhow.
        format!("{ms:012x}-7000-8000")
    }
}

/// One operation. `json` members are JSON texts; `Option<i64>` names an entry by the order of appends, -1 none there is.
#[derive(Debug, Clone)]
pub enum Operation {
    Create { cwd: String, dir: Option<String> },
    InMemory { cwd: String },
    NewSession { parent: Option<String> },
    Message { json: String },
    Thinking { level: String },
    Model { provider: String, model: String },
    Compaction { summary: String, first: Option<i64>, tokens: i64, details: Option<String>, hook: Option<bool> },
    Custom { kind: String, data: Option<String> },
    CustomMessage { kind: String, content: String, display: bool, details: Option<String> },
    Name { name: String },
    Label { target: i64, label: Option<String> },
    Usage { note: Option<String> },
    ContextEdit { target: i64, content: Option<String> },
    Branch { target: i64 },
    ResetLeaf,
    BranchWithSummary { target: Option<i64>, summary: String, details: Option<String> },
    Branched { target: i64 },
    Fork { cwd: String },
    Reopen,
}

/// Operations, each so many ms after the one before.
pub struct Script {
    pub start: i64,
    pub operations: Vec<(i64, Operation)>,
}

const TEXTS: [&str; 12] = [
    "hello",
    "",
    "two\nlines\r\n\tand a tab",
    "日本語 and é, e\u{301}, 🦀",
    "quotes \" and \\ and / and \u{8}\u{c}\u{1}\u{1f}\u{7f}",
    "\u{2028}\u{2029}\u{feff}\u{85}",
    "  spaces around  ",
    "a\r\n\n\rb",
    "</summary>",
    "`code` ```fence```",
    "0",
    "{\"type\":\"session\"}",
];

/// JSON texts that JavaScript writes in its own way.
const VALUES: [&str; 14] = [
    "null",
    "true",
    "0",
    "-0",
    "1.50",
    "1e21",
    "1E-7",
    "12345678901234567890",
    r#""\ud83d lone \uDE00""#,
    r#""\u00e9\/\u0041""#,
    r#"{ "b" : [1, 2 , {}], "10": 1, "9": {"x":null}, "a": "" }"#,
    r#"{"a":1,"a":2,"__proto__":{"y":1}}"#,
    "[]",
    r#"[[],[[{"deep":[1e400]}]]]"#,
];

impl Operation {
    /// Whether agents before 0.87 know it, and do the same with it.
    fn is_old(&self) -> bool {
        match self {
            Self::Usage { .. } | Self::ContextEdit { .. } => false,
            Self::Message { json } => !json.contains("\"system\"") && !json.contains("null,\"text\""),
            _ => true,
        }
    }
}

/// A script of operations that every agent knows.
pub fn old_script(rng: &mut ChaCha8Rng) -> Script {
    let mut script = script(rng);
    script.operations.retain(|(_, operation)| operation.is_old());
    script
}

pub fn script(rng: &mut ChaCha8Rng) -> Script {
    let mut operations = vec![(1, first(rng))];
    for _ in 0..rng.random_range(0..40) {
        let after = *pick(rng, &[1, 1, 7, 1000, 86_400_000]);
        operations.push((after, operation(rng)));
    }
    Script {
        start: 1_767_603_600_250 + rng.random_range(0..1_000_000_000),
        operations,
    }
}

fn pick<'a, T>(rng: &mut ChaCha8Rng, list: &'a [T]) -> &'a T {
    &list[rng.random_range(0..list.len())]
}

fn text(rng: &mut ChaCha8Rng) -> String {
    (*pick(rng, &TEXTS)).to_owned()
}

fn value(rng: &mut ChaCha8Rng) -> String {
    (*pick(rng, &VALUES)).to_owned()
}

fn maybe<T>(rng: &mut ChaCha8Rng, make: impl FnOnce(&mut ChaCha8Rng) -> T) -> Option<T> {
    rng.random_bool(0.5).then(|| make(rng))
}

fn target(rng: &mut ChaCha8Rng) -> i64 {
    if rng.random_bool(0.04) { -1 } else { rng.random_range(0..1000) }
}

fn cwd(rng: &mut ChaCha8Rng) -> String {
    (*pick(rng, &["/home/ada/work", "/", "/a:b/c", "/日本 語/é", "/x/./y/../z/", "//double"])).to_owned()
}

fn first(rng: &mut ChaCha8Rng) -> Operation {
    let cwd = cwd(rng);
    match rng.random_range(0..10) {
        0 => Operation::InMemory { cwd },
        1 => Operation::Create { cwd, dir: Some("flat".to_owned()) },
        _ => Operation::Create { cwd, dir: None },
    }
}

fn operation(rng: &mut ChaCha8Rng) -> Operation {
    match rng.random_range(0..100) {
        0..38 => Operation::Message { json: message(rng) },
        38..42 => Operation::Thinking { level: text(rng) },
        42..46 => Operation::Model { provider: text(rng), model: text(rng) },
        46..51 => Operation::Compaction {
            summary: text(rng),
            first: maybe(rng, target),
            tokens: rng.random_range(0..1_000_000),
            details: maybe(rng, value),
            hook: maybe(rng, |rng| rng.random_bool(0.5)),
        },
        51..55 => Operation::Custom { kind: text(rng), data: maybe(rng, value) },
        55..59 => Operation::CustomMessage {
            kind: text(rng),
            content: content(rng),
            display: rng.random_bool(0.5),
            details: maybe(rng, value),
        },
        59..63 => Operation::Name { name: text(rng) },
        63..73 => Operation::Label { target: target(rng), label: maybe(rng, text) },
        73..75 => Operation::Usage { note: maybe(rng, text) },
        75..79 => Operation::ContextEdit { target: target(rng), content: maybe(rng, content) },
        79..85 => Operation::Branch { target: target(rng) },
        85..86 => Operation::ResetLeaf,
        86..90 => Operation::BranchWithSummary {
            target: rng.random_bool(0.8).then(|| target(rng)),
            summary: text(rng),
            details: maybe(rng, value),
        },
        90..94 => Operation::Branched { target: target(rng) },
        94..96 => Operation::Fork { cwd: cwd(rng) },
        96..97 => Operation::NewSession { parent: maybe(rng, |_| "/old.jsonl".to_owned()) },
        _ => Operation::Reopen,
    }
}

fn block(rng: &mut ChaCha8Rng) -> String {
    let said = quoted(&text(rng));
    match rng.random_range(0..5) {
        0 | 1 => format!(r#"{{"type":"text","text":{said}}}"#),
        2 => r#"{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}"#.to_owned(),
        3 => format!(r#"{{"type":"thinking","thinking":{said},"thinkingSignature":"x"}}"#),
        _ => format!(
            r#"{{"type":"toolCall","id":"c1","name":"bash","arguments":{{"command":{said},"more":{}}}}}"#,
            value(rng)
        ),
    }
}

fn blocks(rng: &mut ChaCha8Rng) -> String {
    let blocks: Vec<String> = (0..rng.random_range(0..4)).map(|_| block(rng)).collect();
    format!("[{}]", blocks.join(", "))
}

fn content(rng: &mut ChaCha8Rng) -> String {
    if rng.random_bool(0.4) { quoted(&text(rng)) } else { blocks(rng) }
}

fn message(rng: &mut ChaCha8Rng) -> String {
    let said = quoted(&text(rng));
    let more = value(rng);
    match rng.random_range(0..16) {
        0..4 => format!(r#"{{"role":"user","content":{},"timestamp":{}}}"#, content(rng), rng.random_range(0..2_000_000_000_000i64)),
        4..9 => format!(
            r#"{{"role":"assistant","content":{},"api":"a","provider":{said},"model":"m","usage":{{"input":1,"output":2,"cost":{{"total":0.10}}}},"stopReason":"stop","timestamp":5,"extra":{more}}}"#,
            blocks(rng)
        ),
        9 | 10 => format!(
            r#"{{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":{},"details":{more},"isError":false,"timestamp":6}}"#,
            blocks(rng)
        ),
        11 => format!(
            r#"{{"role":"bashExecution","command":{said},"output":{},"exitCode":{},"cancelled":{},"truncated":true,"fullOutputPath":"/tmp/é","timestamp":7{}}}"#,
            quoted(&text(rng)),
            pick(rng, &["0", "1", "-1", "null"]),
            rng.random_bool(0.3),
            pick(rng, &["", ",\"excludeFromContext\":true"]),
        ),
        12 => format!(r#"{{"role":"custom","customType":"t","content":{},"display":true,"timestamp":8}}"#, content(rng)),
        13 => format!(
            r#"{{"role":"system","content":{},"sections":{{{said}:"s","gone":{}}},"toolsAdded":[{{"name":{},"description":{said}}}],"timestamp":9}}"#,
            if rng.random_bool(0.5) { said.clone() } else { format!("[{{\"type\":\"text\",\"text\":{said}}}]") },
            pick(rng, &["\"here\"", "null"]),
            pick(rng, &["\"read\"", "\"7\""]),
        ),
        14 => format!(r#"{{"role":"system","content":"","toolsRemoved":[{{"name":"read"}}],"timestamp":{}}}"#, pick(rng, &["10", "null"])),
        _ => format!(
            r#"{{"role":{},"content":null,"text":{more}}}"#,
            pick(rng, &["\"user\"", "\"toolResult\"", "\"system\"", "\"stranger\""])
        ),
    }
}

impl Script {
    /// As a line for oracle/session-run.mjs.
    pub fn line(&self) -> String {
        let mut out = format!("{{\"start\":{},\"operations\":[", self.start);
        for (at, (after, operation)) in self.operations.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write!(out, "{{\"after\":{after},{}}}", operation.members()).expect("a string");
        }
        out + "]}"
    }

    /// Does it with ours, in a folder of its own; the answers in the text that session-run.mjs makes.
    pub fn run(&self, profile: Profile, home: &Path, session_ids: &mut Vec<String>) -> String {
        let root = home.join("sessions");
        let world = Arc::new(World::default());
        world.now.store(self.start, Ordering::Relaxed);
        let mut setup = Setup::new(profile, &root);
        (setup.clock, setup.ids) = (world.clone(), world.clone());
        let mut session = None;
        let mut ids = Vec::new();
        let mut results = Vec::new();
        for (after, operation) in &self.operations {
            world.now.fetch_add(*after, Ordering::Relaxed);
            let done = operation.run(&mut setup, &mut session, &ids);
            let current = session.as_ref().expect("the first operation makes a session");
            let result = match done {
                Ok(Some(id)) => {
                    ids.push(id.clone());
                    quoted(&id)
                }
                Ok(None) => "null".to_owned(),
                Err(_) => "\"error\"".to_owned(),
            };
            if !session_ids.iter().any(|id| id == current.session_id()) {
                session_ids.push(current.session_id().to_owned());
            }
            let leaf = current.leaf_id().map_or_else(|| "null".to_owned(), quoted);
            results.push(format!("[{result},{leaf}]"));
        }
        let session = session.expect("a session");
        let files: Vec<String> = files(&root)
            .into_iter()
            .map(|(name, content)| format!("{}:{}", quoted(&name), quoted(&content)))
            .collect();
        format!(
            "{{\"results\":[{}],\"state\":{},\"files\":{{{}}}",
            results.join(","),
            state(&session),
            files.join(",")
        )
    }
}

/// Session files below a folder, by name.
pub fn files(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root).into_iter().flatten() {
        let name = entry.path().strip_prefix(root).expect("below").to_string_lossy().into_owned();
        if name.ends_with(".jsonl")
            && let Ok(content) = fs::read(entry.path())
        {
            found.push((name, String::from_utf8_lossy(&content).into_owned()));
        }
    }
    found.sort();
    found
}

fn named(ids: &[String], target: i64) -> String {
    match usize::try_from(target) {
        Ok(at) if !ids.is_empty() => ids[at % ids.len()].clone(),
        _ => "nothing!".to_owned(),
    }
}

fn json(text: &str) -> Json {
    Json::parse(text).expect("JSON")
}

impl Operation {
    fn members(&self) -> String {
        let mut out = String::new();
        let mut put = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                let comma = if out.is_empty() { "" } else { "," };
                write!(out, "{comma}\"{key}\":{value}").expect("a string");
            }
        };
        let number = |target: &Option<i64>| Some(target.map_or_else(|| "null".to_owned(), |target| target.to_string()));
        match self {
            Self::Create { cwd, dir } => {
                put("op", Some(quoted("create")));
                put("cwd", Some(quoted(cwd)));
                put("dir", dir.as_deref().map(quoted));
            }
            Self::InMemory { cwd } => {
                put("op", Some(quoted("inMemory")));
                put("cwd", Some(quoted(cwd)));
            }
            Self::NewSession { parent } => {
                put("op", Some(quoted("newSession")));
                put("parent", parent.as_deref().map(quoted));
            }
            Self::Message { json } => {
                put("op", Some(quoted("message")));
                put("message", Some(json.clone()));
            }
            Self::Thinking { level } => {
                put("op", Some(quoted("thinking")));
                put("level", Some(quoted(level)));
            }
            Self::Model { provider, model } => {
                put("op", Some(quoted("model")));
                put("provider", Some(quoted(provider)));
                put("model", Some(quoted(model)));
            }
            Self::Compaction { summary, first, tokens, details, hook } => {
                put("op", Some(quoted("compaction")));
                put("summary", Some(quoted(summary)));
                put("first", number(first));
                put("tokens", Some(tokens.to_string()));
                put("details", details.clone());
                put("fromHook", hook.map(|hook| hook.to_string()));
            }
            Self::Custom { kind, data } => {
                put("op", Some(quoted("custom")));
                put("customType", Some(quoted(kind)));
                put("data", data.clone());
            }
            Self::CustomMessage { kind, content, display, details } => {
                put("op", Some(quoted("customMessage")));
                put("customType", Some(quoted(kind)));
                put("content", Some(content.clone()));
                put("display", Some(display.to_string()));
                put("details", details.clone());
            }
            Self::Name { name } => {
                put("op", Some(quoted("name")));
                put("name", Some(quoted(name)));
            }
            Self::Label { target, label } => {
                put("op", Some(quoted("label")));
                put("target", Some(target.to_string()));
                put("label", label.as_deref().map(quoted));
            }
            Self::Usage { note } => {
                put("op", Some(quoted("usage")));
                put("kind", Some(quoted("search")));
                put("provider", Some(quoted("p")));
                put("model", Some(quoted("m")));
                put("usage", Some(USAGE.to_owned()));
                put("note", note.as_deref().map(quoted));
            }
            Self::ContextEdit { target, content } => {
                put("op", Some(quoted("contextEdit")));
                put("target", Some(target.to_string()));
                put("content", content.clone());
            }
            Self::Branch { target } => {
                put("op", Some(quoted("branch")));
                put("target", Some(target.to_string()));
            }
            Self::ResetLeaf => put("op", Some(quoted("resetLeaf"))),
            Self::BranchWithSummary { target, summary, details } => {
                put("op", Some(quoted("branchWithSummary")));
                put("target", number(target));
                put("summary", Some(quoted(summary)));
                put("details", details.clone());
            }
            Self::Branched { target } => {
                put("op", Some(quoted("branched")));
                put("target", Some(target.to_string()));
            }
            Self::Fork { cwd } => {
                put("op", Some(quoted("fork")));
                put("cwd", Some(quoted(cwd)));
            }
            Self::Reopen => put("op", Some(quoted("reopen"))),
        }
        out
    }

    fn run(
        &self,
        setup: &mut Setup,
        session: &mut Option<SessionManager>,
        ids: &[String],
    ) -> Result<Option<String>, Error> {
        match self {
            Self::Create { cwd, dir } => {
                setup.flat = dir.as_ref().map(|dir| setup.sessions.join(dir));
                *session = Some(SessionManager::create(setup, cwd)?);
                return Ok(None);
            }
            Self::InMemory { cwd } => {
                *session = Some(SessionManager::in_memory(setup, cwd));
                return Ok(None);
            }
            _ => {}
        }
        let current = session.as_mut().expect("the first operation makes a session");
        match self {
            Self::Create { .. } | Self::InMemory { .. } => Ok(None),
            Self::NewSession { parent } => {
                let new = NewSession { id: None, parent_session: parent.clone() };
                current.new_session(&new).map(|_| None)
            }
            Self::Message { json } => current.append_message(Message::parse(json).expect("JSON")).map(Some),
            Self::Thinking { level } => current.append_thinking_level_change(level).map(Some),
            Self::Model { provider, model } => current.append_model_change(provider, model).map(Some),
            Self::Compaction { summary, first, tokens, details, hook } => current
                .append_compaction(CompactionEntry {
                    summary: summary.clone(),
                    first_kept_entry_id: first.map(|first| named(ids, first)),
                    tokens_before: *tokens,
                    details: details.as_deref().map(json),
                    from_hook: *hook,
                    ..Default::default()
                })
                .map(Some),
            Self::Custom { kind, data } => current.append_custom_entry(kind, data.as_deref().map(json)).map(Some),
            Self::CustomMessage { kind, content, display, details } => {
                // Typed content as a file of a stranger gives it.
                let line = format!(r#"{{"type":"custom_message","content":{content}}}"#);
                let typed = parse_session_entries(&line);
                let Some(sessionary::session::FileEntry::Entry(entry)) = typed.first() else {
                    panic!("{line}");
                };
                let SessionEntry::CustomMessage(typed) = entry.typed() else {
                    panic!("{line}");
                };
                current
                    .append_custom_message_entry(&CustomMessageEntry {
                        custom_type: kind.clone(),
                        display: *display,
                        details: details.as_deref().map(json),
                        ..typed
                    })
                    .map(Some)
            }
            Self::Name { name } => current.append_session_info(name).map(Some),
            Self::Label { target, label } => current.append_label_change(&named(ids, *target), label.as_deref()).map(Some),
            Self::Usage { note } => {
                let mut usage = UsageEntry {
                    kind: "search".to_owned(),
                    provider: "p".to_owned(),
                    model: "m".to_owned(),
                    // pi leaves an empty note out.
                    note: note.clone().filter(|note| !note.is_empty()),
                    ..Default::default()
                };
                usage.usage.input = 1;
                usage.usage.cost.total = 0.5;
                current.append_usage(&usage).map(Some)
            }
            Self::ContextEdit { target, content } => current
                .append_context_edit(&named(ids, *target), content.as_deref().map(json).as_ref())
                .map(Some),
            Self::Branch { target } => current.set_leaf(&named(ids, *target)).map(|()| None),
            Self::ResetLeaf => {
                current.reset_leaf();
                Ok(None)
            }
            Self::BranchWithSummary { target, summary, details } => current
                .branch_with_summary(
                    target.map(|target| named(ids, target)).as_deref(),
                    BranchSummaryEntry {
                        summary: summary.clone(),
                        details: details.as_deref().map(json),
                        ..Default::default()
                    },
                )
                .map(Some),
            Self::Branched { target } => current.create_branched_session(&named(ids, *target)).map(|_| None),
            Self::Fork { cwd } => {
                let path = current.session_file().map(Path::to_path_buf);
                let path = path.ok_or_else(|| Error::Invalid("in memory".to_owned()))?;
                setup.flat = None;
                *session = Some(SessionManager::fork_from(setup, &path, cwd)?);
                Ok(None)
            }
            Self::Reopen => {
                let path = current.session_file().map(Path::to_path_buf);
                if let Some(path) = path.filter(|path| path.exists()) {
                    current.set_session_file(&path)?;
                }
                Ok(None)
            }
        }
    }
}

const USAGE: &str = r#"{"input":1,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}}"#;
