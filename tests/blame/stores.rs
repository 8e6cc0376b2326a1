//! Sessions of several agents that do the same, each written as its agent writes it.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What happens in a session.
#[derive(Clone)]
pub enum Step<'s> {
    /// A person types.
    Prompt(&'s str),
    /// The agent writes a file, of which nothing was known before.
    Write(&'s str, &'s str),
    /// The agent puts a text in place of another.
    Edit(&'s str, &'s str, &'s str),
    /// It tries to, and fails.
    Refused(&'s str, &'s str, &'s str),
    /// It is not known what came of it: the session ends.
    Unanswered(&'s str, &'s str, &'s str),
    /// The agent reads a file.
    Read(&'s str, &'s str),
    /// The agent runs a command, which prints something.
    Run(&'s str, &'s str),
    /// It does, and the command fails.
    Fails(&'s str, &'s str),
}

pub const AGENTS: [&str; 6] = ["pi", "claude", "codex", "copilot", "gemini", "qwen"];

/// A session that begins at this minute of the day, one step a second.
pub struct Session<'s> {
    pub agent: &'s str,
    pub id: &'s str,
    /// Below the home folder.
    pub cwd: &'s str,
    pub minute: u32,
    pub steps: &'s [Step<'s>],
}

impl Session<'_> {
    /// Writes it where its agent would.
    pub fn write(&self, home: &Sandbox) {
        let lines: Vec<Value> = match self.agent {
            "pi" => self.pi(),
            "claude" => self.claude(),
            "codex" => self.codex(),
            "copilot" => self.copilot(),
            "gemini" => self.gemini(),
            "qwen" => self.qwen(),
            agent => panic!("{agent}"),
        };
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        home.write(&self.place(), &text);
        if self.agent == "gemini" {
            home.write(
                &format!(".gemini/tmp/{}/.project_root", self.id),
                &self.folder(),
            );
        }
    }

    fn place(&self) -> String {
        let id = self.id;
        match self.agent {
            "pi" => format!(".pi/agent/sessions/--x--/{id}.jsonl"),
            "claude" => format!(".claude/projects/-x/{id}.jsonl"),
            "codex" => format!(".codex/sessions/2026/01/02/rollout-2026-01-02T09-00-00-{id}.jsonl"),
            "copilot" => format!(".copilot/session-state/{id}/events.jsonl"),
            "gemini" => format!(
                ".gemini/tmp/{id}/chats/session-2026-01-02T09-00-{}.jsonl",
                &id[..8]
            ),
            _ => format!(".qwen/projects/-x/chats/{id}.jsonl"),
        }
    }

    fn folder(&self) -> String {
        format!("~/{}", self.cwd)
    }

    fn at(&self, step: usize) -> String {
        let (hour, minute) = (9 + self.minute / 60, self.minute % 60);
        format!("2026-01-02T{hour:02}:{minute:02}:{step:02}.000Z")
    }

    fn pi(&self) -> Vec<Value> {
        let header = json!({"type": "session", "version": 3, "id": self.id,
            "timestamp": self.at(0), "cwd": self.folder()});
        let mut lines = vec![header];
        let mut say = |at: usize, part: &str, message: Value| {
            let parent = lines
                .last()
                .map_or(Value::Null, |line: &Value| line["id"].clone());
            let parent = if lines.len() == 1 {
                Value::Null
            } else {
                parent
            };
            lines.push(
                json!({"type": "message", "id": format!("{part}{at}"), "parentId": parent,
                "timestamp": self.at(at), "message": message}),
            );
        };
        for (at, step) in self.steps.iter().enumerate() {
            let Some(call) = called(step) else {
                let text = prompt(step);
                let content = json!([{"type": "text", "text": text}]);
                say(at, "u", json!({"role": "user", "content": content}));
                continue;
            };
            let arguments = match step {
                Step::Write(path, text) => json!({"path": path, "content": text}),
                Step::Read(path, _) => json!({"path": path}),
                Step::Run(command, _) | Step::Fails(command, _) => json!({"command": command}),
                _ => json!({"path": call.path, "oldText": call.old, "newText": call.new}),
            };
            let id = format!("{}-{at}", self.id);
            let block = json!({"type": "toolCall", "id": id, "name": call.tool,
                "arguments": arguments});
            say(at, "a", json!({"role": "assistant", "content": [block]}));
            if let Some((said, is_error)) = call.answer {
                let content = json!([{"type": "text", "text": said}]);
                say(
                    at,
                    "r",
                    json!({"role": "toolResult", "toolCallId": id, "toolName": call.tool,
                    "content": content, "isError": is_error}),
                );
            }
        }
        lines
    }

    fn claude(&self) -> Vec<Value> {
        let mut lines: Vec<Value> = Vec::new();
        let mut say = |at: usize, part: &str, kind: &str, message: Value| {
            let parent = lines
                .last()
                .map_or(Value::Null, |line: &Value| line["uuid"].clone());
            lines.push(
                json!({"type": kind, "uuid": format!("{}-{part}{at}", self.id),
                "parentUuid": parent, "isSidechain": false, "sessionId": self.id,
                "cwd": self.folder(), "version": "2.1.330", "timestamp": self.at(at),
                "message": message}),
            );
        };
        for (at, step) in self.steps.iter().enumerate() {
            let Some(call) = called(step) else {
                say(
                    at,
                    "u",
                    "user",
                    json!({"role": "user", "content": prompt(step)}),
                );
                continue;
            };
            let (tool, input) = match step {
                Step::Write(path, text) => ("Write", json!({"file_path": path, "content": text})),
                Step::Read(path, _) => ("Read", json!({"file_path": path})),
                Step::Run(command, _) | Step::Fails(command, _) => {
                    ("Bash", json!({"command": command}))
                }
                _ => (
                    "Edit",
                    json!({"file_path": call.path, "old_string": call.old,
                    "new_string": call.new}),
                ),
            };
            let id = format!("toolu_{}{at}", self.id);
            let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
            say(
                at,
                "a",
                "assistant",
                json!({"role": "assistant", "id": format!("msg_{at}"),
                "content": [block]}),
            );
            if let Some((said, is_error)) = call.answer {
                let block = json!({"type": "tool_result", "tool_use_id": id, "content": said,
                    "is_error": is_error});
                say(at, "r", "user", json!({"role": "user", "content": [block]}));
            }
        }
        lines
    }

    fn codex(&self) -> Vec<Value> {
        let meta = json!({"id": self.id, "timestamp": self.at(0), "cwd": self.folder(),
            "originator": "codex_cli", "source": "cli", "thread_source": "user"});
        let mut lines = vec![json!({"timestamp": self.at(0), "type": "session_meta",
            "payload": meta})];
        for (at, step) in self.steps.iter().enumerate() {
            let mut say = |payload: Value| {
                lines.push(json!({"timestamp": self.at(at), "type": "response_item",
                    "payload": payload}));
            };
            let Some(call) = called(step) else {
                let content = json!([{"type": "input_text", "text": prompt(step)}]);
                say(
                    json!({"type": "message", "role": "user", "content": content,
                    "internal_chat_message_metadata_passthrough":
                        {"content_item_kinds": ["user.text"]}}),
                );
                continue;
            };
            let id = format!("call_{at}");
            let patch = match step {
                Step::Write(path, text) => Some(format!("Add File: {path}\n{}", signed("+", text))),
                Step::Read(..) | Step::Run(..) | Step::Fails(..) => None,
                _ => Some(format!(
                    "Update File: {}\n@@\n{}{}",
                    call.path,
                    signed("-", call.old),
                    signed("+", call.new)
                )),
            };
            let (kind, is_patch) = match &patch {
                Some(patch) => {
                    let patch = format!("*** Begin Patch\n*** {patch}*** End Patch\n");
                    say(
                        json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": id,
                        "input": patch}),
                    );
                    ("custom_tool_call_output", true)
                }
                None => {
                    let command = match step {
                        Step::Run(command, _) | Step::Fails(command, _) => (*command).to_owned(),
                        _ => format!("cat {}", call.path),
                    };
                    let arguments = json!({"cmd": command}).to_string();
                    say(
                        json!({"type": "function_call", "name": "exec_command", "call_id": id,
                        "arguments": arguments}),
                    );
                    ("function_call_output", false)
                }
            };
            if let Some((said, is_error)) = call.answer {
                let said = match (is_patch, is_error) {
                    (true, false) => "Success. Updated the following files:\nM it\n".to_owned(),
                    (_, true) => format!("Exit code: 1\nOutput:\n{said}"),
                    _ => format!("Process exited with code 0\nOutput:\n{said}"),
                };
                say(json!({"type": kind, "call_id": id, "output": said}));
            }
        }
        lines
    }

    fn copilot(&self) -> Vec<Value> {
        let start = json!({"sessionId": self.id, "version": 1, "producer": "copilot-agent",
            "startTime": self.at(0), "context": {"cwd": self.folder()}});
        let mut lines: Vec<Value> = Vec::new();
        let mut say = |at: usize, kind: &str, data: Value| {
            let parent = lines
                .last()
                .map_or(Value::Null, |line: &Value| line["id"].clone());
            let id = format!("{}-{}", self.id, lines.len());
            lines.push(
                json!({"type": kind, "data": data, "id": id, "timestamp": self.at(at),
                "parentId": parent}),
            );
        };
        say(0, "session.start", start);
        for (at, step) in self.steps.iter().enumerate() {
            let Some(call) = called(step) else {
                say(
                    at,
                    "user.message",
                    json!({"content": prompt(step), "messageId": "m"}),
                );
                continue;
            };
            let (tool, arguments) = match step {
                Step::Write(path, text) => ("create", json!({"path": path, "file_text": text})),
                Step::Read(path, _) => ("view", json!({"path": path})),
                Step::Run(command, _) | Step::Fails(command, _) => {
                    ("bash", json!({"command": command}))
                }
                _ => (
                    "str_replace_editor",
                    json!({"command": "str_replace", "path": call.path,
                    "old_str": call.old, "new_str": call.new}),
                ),
            };
            let id = format!("call_{at}");
            let request = json!({"toolCallId": id, "name": tool, "arguments": arguments});
            say(
                at,
                "assistant.message",
                json!({"messageId": "m", "content": "",
                "toolRequests": [request]}),
            );
            if let Some((said, is_error)) = call.answer {
                say(
                    at,
                    "tool.execution_complete",
                    json!({"toolCallId": id,
                    "success": !is_error, "result": {"content": said}}),
                );
            }
        }
        lines
    }

    fn gemini(&self) -> Vec<Value> {
        let mut lines = vec![json!({"sessionId": self.id, "projectHash": "x",
            "startTime": self.at(0), "lastUpdated": self.at(0), "kind": "main"})];
        for (at, step) in self.steps.iter().enumerate() {
            let Some(call) = called(step) else {
                lines.push(json!({"id": format!("u{at}"), "timestamp": self.at(at),
                    "type": "user", "content": [{"text": prompt(step)}]}));
                continue;
            };
            let (tool, args) = google(step, &call);
            let mut told = json!({"id": format!("c{at}"), "name": tool, "args": args});
            if let Some((said, is_error)) = call.answer {
                told["status"] = json!(if is_error { "error" } else { "success" });
                let key = if is_error { "error" } else { "output" };
                told["result"] = json!([{"functionResponse": {"id": format!("c{at}"),
                    "name": tool, "response": {key: said}}}]);
            }
            lines.push(json!({"id": format!("g{at}"), "timestamp": self.at(at),
                "type": "gemini", "content": "", "toolCalls": [told]}));
        }
        lines
    }

    fn qwen(&self) -> Vec<Value> {
        let mut lines: Vec<Value> = Vec::new();
        let mut say = |at: usize, kind: &str, parts: Value, more: Option<Value>| {
            let parent = lines
                .last()
                .map_or(Value::Null, |line: &Value| line["uuid"].clone());
            let role = if kind == "assistant" { "model" } else { "user" };
            let mut line = json!({"uuid": format!("{}-{}", self.id, lines.len()),
                "parentUuid": parent, "sessionId": self.id, "timestamp": self.at(at),
                "type": kind, "cwd": self.folder(), "version": "0.24.4",
                "message": {"role": role, "parts": parts}});
            if kind == "user" {
                line["provenance"] = json!("real_user");
            }
            if let Some(more) = more {
                line["toolCallResult"] = more;
            }
            lines.push(line);
        };
        for (at, step) in self.steps.iter().enumerate() {
            let Some(call) = called(step) else {
                say(at, "user", json!([{"text": prompt(step)}]), None);
                continue;
            };
            let (tool, args) = google(step, &call);
            let id = format!("c{at}");
            let asked = json!([{"functionCall": {"id": id, "name": tool, "args": args}}]);
            say(at, "assistant", asked, None);
            if let Some((said, is_error)) = call.answer {
                let key = if is_error { "error" } else { "output" };
                let status = if is_error { "error" } else { "success" };
                let parts = json!([{"functionResponse": {"id": id, "name": tool,
                    "response": {key: said}}}]);
                say(
                    at,
                    "tool_result",
                    parts,
                    Some(json!({"callId": id, "status": status})),
                );
            }
        }
        lines
    }
}

/// A call as most agents have it.
struct Called<'s> {
    tool: &'static str,
    path: &'s str,
    old: &'s str,
    new: &'s str,
    /// What it gives, and whether it failed.
    answer: Option<(String, bool)>,
}

fn called<'s>(step: &Step<'s>) -> Option<Called<'s>> {
    let done = |said: &str| Some((said.to_owned(), false));
    let (tool, path, old, new, answer) = match step {
        Step::Prompt(_) => return None,
        Step::Write(path, _) => ("write", *path, "", "", done("Written.")),
        Step::Edit(path, old, new) => ("edit", *path, *old, *new, done("Replaced.")),
        Step::Refused(path, old, new) => {
            let refused = Some(("It is not there.".to_owned(), true));
            ("edit", *path, *old, *new, refused)
        }
        Step::Unanswered(path, old, new) => ("edit", *path, *old, *new, None),
        Step::Read(path, text) => ("read", *path, "", "", done(&format!("{path}\n{text}"))),
        Step::Run(_, said) => ("bash", "", "", "", done(said)),
        Step::Fails(_, said) => ("bash", "", "", "", Some(((*said).to_owned(), true))),
    };
    Some(Called {
        tool,
        path,
        old,
        new,
        answer,
    })
}

fn prompt<'s>(step: &Step<'s>) -> &'s str {
    match step {
        Step::Prompt(text) => text,
        _ => "",
    }
}

/// Tool and arguments as Gemini CLI has them, and Qwen Code from it.
fn google(step: &Step<'_>, call: &Called<'_>) -> (&'static str, Value) {
    match step {
        Step::Write(path, text) => ("write_file", json!({"file_path": path, "content": text})),
        Step::Read(path, _) => ("read_file", json!({"file_path": path})),
        Step::Run(command, _) | Step::Fails(command, _) => {
            ("run_shell_command", json!({"command": command}))
        }
        _ => (
            "replace",
            json!({"file_path": call.path, "old_string": call.old,
            "new_string": call.new}),
        ),
    }
}

fn signed(sign: &str, text: &str) -> String {
    text.lines().map(|line| format!("{sign}{line}\n")).collect()
}
