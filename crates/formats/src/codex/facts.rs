//! What one line of a rollout says about itself.

use super::call;
use super::line::{Info, Payload, Record, STATE, Tokens};
use super::message::{Message, asked_by_program, request, task, texts};
use super::names::{self, NamedIn};
use crate::json::{self, Text};
use crate::model::{Compaction, Facts, Header, Usage};
use crate::remote_of;

/// The facts of one record; of what is no object only that it is there.
pub(super) fn facts(record: &[u8]) -> Facts {
    json::tiers(record, of_text).unwrap_or_default()
}

/// The facts of a text that is one strict JSON value.
pub(super) fn of_text(text: &str) -> Option<Facts> {
    if let Some(named_in) = NamedIn::of(text) {
        return names::facts(text, named_in);
    }
    match Record::read(text)? {
        Some(record) => of_record(&record),
        None => Some(Facts {
            agent_sees: true,
            ..Facts::default()
        }),
    }
}

/// `None` where a part of the record needs the second tier.
fn of_record(record: &Record<'_>) -> Option<Facts> {
    let mut facts = Facts {
        kind: record.kind().to_owned(),
        time_raw: record.timestamp.owned(),
        time_ms: record.timestamp.as_str().and_then(json::date_ms),
        agent_sees: true,
        ..Facts::default()
    };
    facts.silent = SILENT.contains(&facts.kind.as_str());
    let payload = &record.payload;
    match record.envelope.as_str() {
        _ if facts.kind == "session_meta" => header(payload, &mut facts),
        _ if record.is_of("response_item") => {
            facts.id = payload.id.owned().filter(|id| !id.is_empty());
            item(payload, &mut facts)?;
            // Its text is that of the line `compacted`, which follows.
            facts.silent |= record.is_of_compaction;
        }
        "event_msg" => event(payload, &mut facts)?,
        "turn_context" => {
            facts.cwd = payload.cwd.owned();
            facts.model = payload.model.owned();
            let mode = payload.collaboration_mode.object();
            let settings = mode.and_then(|mode| mode.settings.object());
            let effort = settings.and_then(|settings| settings.reasoning_effort.owned());
            facts.thinking_level = payload.effort.owned().or(effort);
        }
        "token_usage_record" => {
            facts.usage = payload.usage.object().map(|tokens| Usage {
                response_id: payload.response_id.owned(),
                ..usage(tokens)
            });
        }
        "compacted" => facts.compaction = Some(Compaction::default()),
        // Of one agent to another one.
        "inter_agent_communication" => facts.role = Some("injected".to_owned()),
        _ => {}
    }
    Some(facts)
}

/// What Codex notes for itself, and what holds nothing that could be read.
const SILENT: [&str; 14] = [
    "session_meta",
    "turn_context",
    "world_state",
    "token_usage_record",
    "additional_tools",
    "compaction",
    "compaction_summary",
    "context_compaction",
    "ghost_snapshot",
    "inter_agent_communication_metadata",
    "security_risk_score",
    "realtime_item",
    "retained_context",
    STATE,
];

fn header(payload: &Payload<'_>, facts: &mut Facts) {
    let base = payload.base_instructions.object();
    facts.has_prompt =
        base.is_some_and(|base| base.text.is_value()) || payload.instructions.is_value();
    facts.provider = payload.model_provider.owned();
    let git = payload.git.object();
    facts.git_branch = git.and_then(|git| git.branch.owned());
    facts.repository = git.and_then(|git| remote_of(git.repository_url.as_str()?));
    let parent = [&payload.parent_thread_id, &payload.forked_from_id];
    facts.header = Some(Header {
        id: payload.id.owned(),
        id_is_string: payload.id.0.is_some(),
        version: None,
        cwd: payload.cwd.owned(),
        created_raw: payload.timestamp.owned(),
        created_ms: payload.timestamp.as_str().and_then(json::date_ms),
        parent_session: started_by(payload).or_else(|| parent.into_iter().find_map(Text::owned)),
        own: own(payload),
    });
}

/// The thread that started this one, as the first subagents' rollouts say it.
fn started_by(payload: &Payload<'_>) -> Option<String> {
    let subagent = json::member(payload.source.0?, "subagent")?;
    let parent = json::member(json::member(subagent, "thread_spawn")?, "parent_thread_id")?;
    json::Raw(Some(parent)).text().map(Into::into)
}

/// What only Codex records of a session, as far as a list may be asked for it.
fn own(payload: &Payload<'_>) -> Option<String> {
    let mut own = serde_json::Map::new();
    for (name, value) in [
        ("originator", &payload.originator),
        ("cli_version", &payload.cli_version),
        ("thread_source", &payload.thread_source),
        ("agent_nickname", &payload.agent_nickname),
        ("history_mode", &payload.history_mode),
    ] {
        own.extend(value.owned().map(|value| (name.to_owned(), value.into())));
    }
    for (name, value) in [
        ("source", &payload.source),
        ("history_base", &payload.history_base),
    ] {
        // What is null says as little as what is not there.
        let value = value.0.filter(|_| value.is_value()).and_then(json::kept);
        own.extend(value.map(|value| (name.to_owned(), value)));
    }
    (!own.is_empty()).then(|| serde_json::Value::Object(own).to_string())
}

/// An item of the model's context.
fn item(payload: &Payload<'_>, facts: &mut Facts) -> Option<()> {
    match facts.kind.as_str() {
        "message" => {
            let message = Message::read(payload)?;
            let role = message.role(payload.role.as_str().unwrap_or_default());
            facts.is_message = matches!(role.as_str(), "user" | "assistant");
            facts.has_image = message.has_image;
            facts.has_prompt = message.has_prompt();
            if role == "injected" {
                facts.cwd = message.environment_cwd();
                facts.asked = message.asked();
            }
            if role == "user" {
                facts.user_text = Some(message.typed().unwrap_or_else(|| IMAGE.to_owned()));
            }
            facts.role = Some(role);
        }
        "reasoning" => {
            facts.role = Some("assistant".to_owned());
            // Mostly it is encrypted.
            let says = |value| Some(!texts(value)?.is_empty());
            facts.silent = !says(&payload.summary)? && !says(&payload.content)?;
        }
        // Of one agent to another one.
        "agent_message" => {
            facts.role = Some("injected".to_owned());
            facts.asked = task(&texts(&payload.content)?.concat());
        }
        kind if kind.ends_with("_output") => {
            facts.role = Some("toolResult".to_owned());
            let result = call::result(payload)?;
            facts.is_error = result.is_error == Some(true);
            facts.has_image = payload
                .output
                .0
                .is_some_and(|raw| raw.contains("\"input_image\""));
            facts.calls.push(result);
        }
        kind if kind.ends_with("_call") => {
            facts.role = Some("assistant".to_owned());
            let (call, files) = call::call(kind, payload)?;
            facts.files = files;
            facts.calls.push(call);
        }
        _ => {}
    }
    Some(())
}

/// What stands for a message that holds nothing but an image, in Codex's list too.
pub(super) const IMAGE: &str = "[Image]";

/// What happened. Most of it stands in an item of the context too, or concerns Codex alone.
fn event(payload: &Payload<'_>, facts: &mut Facts) -> Option<()> {
    let item = payload.item()?;
    let item = item.as_ref().unwrap_or(payload);
    let what = item.kind.as_str().unwrap_or_default();
    facts.silent = true;
    match what {
        "user_message"
            if payload
                .sent_kind
                .as_str()
                .is_some_and(|kind| kind != "plain") => {}
        "user_message" | "UserMessage" => {
            let said = match what {
                "user_message" => &payload.message,
                _ => &item.content,
            };
            sent(&texts(said)?.join("\n"), facts);
        }
        "agent_message" | "AgentMessage" => {
            facts.role = Some("assistant".to_owned());
            facts.is_message = true;
        }
        "agent_reasoning" | "agent_reasoning_raw_content" | "Reasoning" | "Plan" => {
            facts.role = Some("assistant".to_owned());
        }
        "exec_command_end" | "CommandExecution" | "mcp_tool_call_end" | "McpToolCall"
        | "patch_apply_end" | "FileChange" => {
            facts.role = Some("toolResult".to_owned());
            let (result, files) = call::end(item, payload)?;
            facts.is_error = result.is_error == Some(true);
            facts.files = files;
            facts.calls.push(result);
        }
        "token_count" => facts.usage = payload.info.object().and_then(step),
        "turn_aborted" => {
            facts.stop_reason = payload.reason.owned();
            facts.silent = false;
        }
        "error" => (facts.silent, facts.is_error) = (false, true),
        "warning" | "stream_error" => facts.silent = false,
        "task_complete" | "turn_complete" => {
            facts.is_error = payload.error.object().is_some();
        }
        "thread_name_updated" => {
            facts.name = Some(payload.thread_name.owned().unwrap_or_default());
            facts.silent = false;
        }
        "entered_review_mode" | "EnteredReviewMode" => review(item, facts),
        // Told again with each change of it.
        "thread_goal_updated" => {
            let goal = payload.goal.object().and_then(|goal| goal.objective.text());
            facts.user_text = goal.map(|goal| goal.trim().to_owned());
        }
        _ => {}
    }
    Some(())
}

/// A review begins: what was typed behind `/review`, if something was.
fn review(item: &Payload<'_>, facts: &mut Facts) {
    if let Some(asked) = item.reviews() {
        facts.silent = false;
        facts.role = Some("user".to_owned());
        facts.is_message = true;
        facts.user_text = Some(asked.trim().to_owned());
    }
}

/// What was sent: by a person, unless it is what a program starts a turn with.
fn sent(text: &str, facts: &mut Facts) {
    facts.asked = asked_by_program(text);
    if facts.asked.is_some() {
        facts.role = Some("injected".to_owned());
        return;
    }
    let typed = request(text).trim();
    let typed = if typed.is_empty() { IMAGE } else { typed };
    facts.role = Some("user".to_owned());
    facts.user_text = Some(typed.to_owned());
    facts.is_message = true;
}

/// What a legacy rollout counts: what was spent since the last count, named by the sum so far.
fn step(info: &Info) -> Option<Usage> {
    let total = info.total_token_usage.object()?.total_tokens.0?;
    Some(Usage {
        response_id: Some(total.to_string()),
        ..usage(info.last_token_usage.object()?)
    })
}

/// OpenAI's input holds what was read from its cache, and what was written to it.
fn usage(tokens: &Tokens) -> Usage {
    let cached = [
        tokens.cached_input_tokens.0,
        tokens.cache_write_input_tokens.0,
    ];
    let cached = cached.into_iter().flatten();
    let cached = cached.fold(0, i64::saturating_add);
    Usage {
        input: tokens
            .input_tokens
            .0
            .map(|all| all.saturating_sub(cached).max(0)),
        output: tokens.output_tokens.0,
        cache_read: tokens.cached_input_tokens.0,
        cache_write: tokens.cache_write_input_tokens.0,
        reasoning: tokens.reasoning_output_tokens.0,
        total: tokens.total_tokens.0,
        ..Usage::default()
    }
}
