//! What one row says about itself.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::line::{Data, Input, Row, State, WholeLine};
use super::put_in::{Said, without_marks};
use super::second;
use crate::edits::patch;
use crate::json::{self, Flag, Loose};
use crate::model::{Call, Compaction, Facts, FileTouch, Header, Usage};
use crate::tools::used;

/// The tool that stands for one that there is not, or whose arguments could not be read.
const INVALID: &str = "invalid";

pub(super) fn facts(record: &[u8]) -> Facts {
    let read = json::tiers(record, |text| {
        Some(match json::parse::<Loose<WholeLine<'_>>>(text)? {
            Loose::Object(line) => of_line(&line)?,
            _ => Facts::default(),
        })
    });
    read.unwrap_or_default()
}

/// The facts of a line that is one JSON value by the first tier; `None`: it has to be looked at
/// closely.
pub(super) fn of_text(line: &[u8]) -> Option<Facts> {
    match json::parse::<Loose<WholeLine<'_>>>(json::utf8(line)?)? {
        Loose::Object(line) => of_line(&line),
        _ => None,
    }
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &WholeLine<'_>) -> Option<Facts> {
    let table = line.table.as_str().unwrap_or_default();
    let mut facts = Facts {
        kind: table.to_owned(),
        id: line.key.shown(),
        agent_sees: true,
        ..Facts::default()
    };
    if matches!(table, "session" | "session_v2") {
        facts.kind = "session".to_owned();
        if let Some(row) = line.row()? {
            session(row, &mut facts);
        }
        return Some(facts);
    }
    let Some(row) = line.row()? else {
        return Some(facts);
    };
    facts.time_ms = row.time_created.0;
    if table == "session_message" {
        second::facts(row, &mut facts)?;
    } else if table == "message" {
        if let Loose::Object(data) = &row.data {
            message(data, &mut facts);
        }
        // What it says stands in its parts.
        facts.silent = !facts.is_error;
    } else if let Loose::Object(data) = &row.data {
        let role = line
            .message
            .object()
            .and_then(|message| message.role.as_str());
        facts.parent = row.message_id.shown();
        part(data, role, &mut facts)?;
    }
    Some(facts)
}

fn session<D>(row: &Row<'_, D>, facts: &mut Facts) {
    facts.time_ms = row.time_created.0;
    facts.message_ms = row.time_updated.0;
    let title = row.title.owned().map(|title| title.trim().to_owned());
    facts.name = title.filter(|title| !title.is_empty() && !is_made(title));
    let reverted = row
        .revert
        .object()
        .and_then(|revert| revert.message.shown());
    let mut own = Map::new();
    for (name, value) in [
        ("version", row.version.shown()),
        ("agent", row.agent.shown()),
        ("parent_id", row.parent_id.shown()),
        ("project_id", row.project_id.shown()),
        ("share_url", row.share_url.shown()),
        ("revert", reverted),
    ] {
        own.extend(value.map(|value| (name.to_owned(), Value::from(value))));
    }
    if let Some(archived) = row.time_archived.0 {
        own.insert("time_archived".to_owned(), archived.into());
    }
    facts.header = Some(Header {
        id: row.id.shown(),
        id_is_string: row.id.text().is_some(),
        version: None,
        cwd: row.directory.owned(),
        created_raw: row.time_created.0.map(|ms| ms.to_string()),
        created_ms: row.time_created.0,
        parent_session: row
            .parent_id
            .shown()
            .or_else(|| row.fork_session_id.shown()),
        own: Some(Value::Object(own).to_string()),
    });
}

/// Whether it is the title that a session has until the agent knows a better one.
pub(super) fn is_made(title: &str) -> bool {
    let made = ["New session - ", "Child session - "];
    let time = made.iter().find_map(|made| title.strip_prefix(made));
    time.is_some_and(|time| json::date_ms(time).is_some())
}

fn message(data: &Data<'_>, facts: &mut Facts) {
    facts.role = data.role.owned();
    facts.is_message = matches!(facts.role.as_deref(), Some("user" | "assistant"));
    let times = data.time.object();
    let completed = times.and_then(|times| times.completed.0);
    facts.time_ms = times.and_then(|times| times.created.0).or(facts.time_ms);
    facts.message_ms = completed;
    facts.provider = data.provider_id.owned();
    facts.model = data.model_id.owned();
    facts.cwd = data.path.object().and_then(|place| place.cwd.owned());
    facts.stop_reason = data.finish.owned();
    if let Some(error) = data.error.object() {
        facts.is_error = true;
        facts.stop_reason = error.called().or(facts.stop_reason.take());
    }
    // Of what nothing was spent on, a command behind `!` say, only a step is an answer.
    let is_spent = |usage: &Usage| {
        let cost = usage.cost_total.is_some_and(|cost| cost != 0.0);
        cost || usage_figures(usage).into_iter().any(|tokens| tokens != 0)
    };
    facts.usage = figures(data).filter(is_spent).map(|mut usage| {
        add_thoughts(
            &mut usage,
            facts.provider.as_deref(),
            facts.model.as_deref(),
        );
        named(usage, completed, facts)
    });
}

/// What an answer of 2.x spent.
pub(super) fn answer(data: &Data<'_>, completed: Option<i64>, facts: &Facts) -> Option<Usage> {
    let mut usage = figures(data)?;
    // A message begins with zeros: they are figures once it is completed.
    let is_spent = usage_figures(&usage).into_iter().any(|tokens| tokens != 0);
    if !is_spent && completed.is_none() {
        return None;
    }
    if !adds_up(&usage) {
        add_reasoning(&mut usage);
    }
    Some(named(usage, completed, facts))
}

/// The same, with whose it is.
fn named(usage: Usage, completed: Option<i64>, facts: &Facts) -> Usage {
    Usage {
        provider: facts.provider.clone(),
        model: facts.model.clone(),
        // A fork copies its messages under new ids; these two times it keeps.
        response_id: facts
            .time_ms
            .zip(completed)
            .map(|(created, completed)| format!("{created}-{completed}")),
        ..usage
    }
}

/// Tokens and cost as they stand there.
fn figures(data: &Data<'_>) -> Option<Usage> {
    let tokens = data.tokens.object()?;
    let cache = tokens.cache.object();
    Some(Usage {
        input: tokens.input.0,
        output: tokens.output.0,
        cache_read: cache.and_then(|cache| cache.read.0),
        cache_write: cache.and_then(|cache| cache.write.0),
        reasoning: tokens.reasoning.0,
        total: tokens.total.0,
        cost_total: data.cost.0,
        ..Usage::default()
    })
}

/// By what a message's figures are told from those of its steps.
pub(super) fn usage_figures(usage: &Usage) -> [i64; 5] {
    let cache = [usage.cache_read, usage.cache_write];
    let [read, write] = cache.map(Option::unwrap_or_default);
    let of = [usage.input, usage.output, usage.reasoning].map(Option::unwrap_or_default);
    let [input, output, reasoning] = of;
    [input, output, reasoning, read, write]
}

/// Makes what was thought a part of the output, where 1.x counted it beside that. A version that
/// wrote no total wrote what the provider's library gave it, and there only Google's and xAI's
/// count it beside the output; OpenCode's own provider has Google's models by Google's library.
pub(super) fn add_thoughts(usage: &mut Usage, provider: Option<&str>, model: Option<&str>) {
    let provider = provider.unwrap_or_default();
    let is_gemini = model.is_some_and(|model| model.starts_with("gemini-"));
    let is_beside = match usage.total {
        None | Some(0) => {
            provider.starts_with("google")
                || provider == "xai"
                || provider == "opencode" && is_gemini
                || usage.reasoning.unwrap_or(0) > usage.output.unwrap_or(0)
        }
        Some(_) => !adds_up(usage),
    };
    if is_beside {
        add_reasoning(usage);
    }
}

fn add_reasoning(usage: &mut Usage) {
    let reasoning = usage.reasoning.unwrap_or(0);
    usage.output = usage.output.map(|output| output.saturating_add(reasoning));
}

/// Whether the agent's total is all of these: then what was thought is in the output already, as
/// 1.1 and 1.2 wrote it.
fn adds_up(usage: &Usage) -> bool {
    let parts = [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    ];
    let sum = parts.into_iter().flatten().fold(0, i64::saturating_add);
    usage.total == Some(sum)
}

/// `None` where a part of the row needs the second tier.
fn part(data: &Data<'_>, role: Option<&str>, facts: &mut Facts) -> Option<()> {
    facts.kind = data.kind.owned().unwrap_or_else(|| "part".to_owned());
    if let Some(times) = data.time.object() {
        facts.time_ms = times.start.0.or(facts.time_ms);
        facts.message_ms = times.end.0;
    }
    let is_typed = role == Some("user");
    match facts.kind.as_str() {
        "text" if is_typed && (is_true(data.synthetic) || is_true(data.ignored)) => {
            facts.role = Some("injected".to_owned());
        }
        "text" if is_typed => said(data, facts),
        "text" => facts.role = role.map(str::to_owned),
        "reasoning" => facts.role = Some("assistant".to_owned()),
        "tool" => {
            if let Loose::Object(state) = &data.state {
                let times = state.time.object();
                let start = times.and_then(|times| times.start.0);
                facts.time_ms = start.or(facts.time_ms);
                facts.message_ms = times.and_then(|times| times.end.0);
                // A fork copies its parts under new ids; this time it keeps.
                facts.copied_with = start.map(|start| start.to_string());
                tool(data, state, facts)?;
            }
        }
        "file" => {
            facts.has_image = data
                .mime
                .as_str()
                .is_some_and(|mime| mime.starts_with("image/"));
        }
        "patch" => {
            for path in data.files.items()? {
                facts.files.extend(path.text().map(|path| FileTouch {
                    path: path.into_owned(),
                    modified: true,
                }));
            }
            facts.silent = true;
        }
        // What a command asks a subagent. OpenCode makes the session's title of it too.
        "subtask" if is_typed => facts.asked = asked_of_subagent(data),
        "compaction" => facts.compaction = Some(Compaction::default()),
        "retry" => facts.is_error = true,
        "step-finish" => {
            facts.silent = true;
            // `relate` knows whether its message has said it.
            facts.usage = figures(data);
        }
        "step-start" | "snapshot" | "agent" => facts.silent = true,
        _ => {}
    }
    Some(())
}

/// The command that was typed, where a subtask tells it; else what it asks.
fn asked_of_subagent(data: &Data<'_>) -> Option<String> {
    match data.command.text().filter(|command| !command.is_empty()) {
        Some(command) => Some(format!("/{command}")),
        None => data.prompt.text().map(Cow::into_owned),
    }
}

fn is_true(flag: Flag) -> bool {
    flag.0 == Some(true)
}

/// A text in a person's place: what of it was typed.
pub(super) fn said(data: &Data<'_>, facts: &mut Facts) {
    let text = data.text.text();
    let said = text.as_deref().map(Said::of);
    let typed_text = said.as_ref().and_then(|said| said.typed.as_ref());
    let is_typed = said.is_none() || typed_text.is_some();
    let role = if is_typed { "user" } else { "injected" };
    facts.role = Some(role.to_owned());
    facts.user_text = typed_text.map(|text| typed(text.as_str()).into_owned());
    // Counts in a subagent's session alone.
    let asked = text.as_deref().filter(|_| !is_typed);
    facts.asked = asked.map(|text| without_marks(text).to_owned());
}

/// `opencode run` puts what it was given between quotes, and a backslash before each quote in it.
fn typed(text: &str) -> Cow<'_, str> {
    let inside = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let Some(inside) = inside else {
        return text.into();
    };
    let quotes = inside.matches('"').count();
    match quotes == inside.matches("\\\"").count() {
        true if quotes == 0 => inside.into(),
        true => inside.replace("\\\"", "\"").into(),
        false => text.into(),
    }
}

/// One row holds both the call and what came of it.
pub(super) fn tool(data: &Data<'_>, state: &State<'_>, facts: &mut Facts) -> Option<()> {
    let (times, beside) = (state.time.object(), data.time.object());
    let ran = beside.and_then(|times| times.ran.0);
    let completed = beside.and_then(|times| times.completed.0);
    let start = times.and_then(|times| times.start.0).or(ran);
    let end = times.and_then(|times| times.end.0).or(completed);
    let input: Input<'_> = state.input.object()?.unwrap_or_default();
    let name = data.tool.shown().or_else(|| data.name.shown());
    // A call that could not be made: it stands there as an answer, with the tool it was meant for.
    let meant = input.tool.owned().filter(|_| input.error.is_value());
    let meant = meant.filter(|_| name.as_deref() == Some(INVALID));
    let is_invalid = meant.is_some();
    let name = meant.or(name);
    let path = input.file_path.owned().or_else(|| input.path.owned());
    let others = [&input.pattern, &input.query, &input.url, &input.description];
    let subject = used(facts, name.as_deref(), path, &input.command, &others);
    let patch = input.patch_text.as_str().unwrap_or_default();
    facts.files.extend(patch::touched(patch, None));
    let call = Call {
        call_id: data.call_id.shown().or_else(|| data.id.shown()),
        tool: name,
        subject,
        ..Call::default()
    };
    let status = state.status.as_str();
    let is_answered = matches!(status, Some("completed" | "error"));
    // A command that failed is an answer as any other to the agent.
    let mut exits = [&state.metadata, &state.structured].into_iter();
    let exit = exits.find_map(|said| said.object()?.exit.0);
    let failed = status == Some("error")
        || is_answered && (is_invalid || exit.is_some_and(|exit| exit != 0));
    facts.is_error |= failed;
    facts.stop_reason = facts.stop_reason.take().or_else(|| state.status.owned());
    let role = if is_answered {
        "toolResult"
    } else {
        "assistant"
    };
    facts.role.get_or_insert_with(|| role.to_owned());
    let result = is_answered.then(|| call.result(failed, start, end));
    facts.calls.push(call);
    facts.calls.extend(result);
    Some(())
}
