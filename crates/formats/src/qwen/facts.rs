//! What one Qwen Code line says about itself.

use serde_json::{Map, Value};

use super::line::{Line, Meta, Payload, Said, UiEvent, UsageMetadata};
use crate::json::{self, Loose, Raw};
use crate::model::{Call, Compaction, Facts, FileTouch, Header, Usage};
use crate::parts::{Tokens, has_failed, note_call, typed};

/// What the agent notes for itself between the lines of the conversation. What is not among these
/// is shown in it.
const BESIDE: [&str; 21] = [
    "agent_bootstrap",
    "agent_session_ready",
    "at_command",
    "attribution_snapshot",
    "background_task_completed",
    "branch_checkpoint",
    "custom_title",
    "file_history_snapshot",
    "goal_state",
    "goal_turn_end",
    "parent_session",
    "session_approval_mode",
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_execution_engine",
    "session_model",
    "session_source",
    "session_sources_snapshot",
    "turn_result",
    "ui_telemetry",
    "user_text_elements",
];

/// The facts of one line.
pub(super) fn facts(record: &[u8]) -> Facts {
    let read = json::tiers(record, |text| {
        Some(match json::parse::<Loose<Line<'_>>>(text)? {
            Loose::Object(line) => of_line(&line)?,
            _ => Facts::default(),
        })
    });
    read.unwrap_or_default()
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>) -> Option<Facts> {
    let time_raw = line.timestamp.shown();
    let mut facts = Facts {
        kind: line.name().into_owned(),
        id: line.uuid.shown(),
        parent: line.parent_uuid.shown(),
        time_ms: time_raw.as_deref().and_then(json::date_ms),
        time_raw,
        agent_sees: true,
        git_branch: line.git_branch.owned(),
        ..Facts::default()
    };
    facts.header = header(line, &facts);
    let message = line.parts()?;
    let said = line.said(&message);
    let is_message = matches!(line.kind.as_str(), Some("user" | "assistant"));
    facts.is_message = is_message && said != Said::Result;
    match said {
        Said::Typed => {
            facts.role = Some("user".to_owned());
            facts.user_text = Some(typed(&line.shown(), &message)?);
        }
        Said::Injected => facts.role = Some("injected".to_owned()),
        Said::Answer => {
            facts.role = Some("assistant".to_owned());
            facts.model = line.model.owned();
            // What a subagent spends stands in the telemetry of the session that started it.
            if line.is_sidechain.0 != Some(true) {
                facts.usage = line.usage_metadata.object().and_then(|said| {
                    Usage {
                        model: facts.model.clone(),
                        ..said.tokens().usage()?
                    }
                    .into()
                });
            }
        }
        Said::Result => facts.role = Some("toolResult".to_owned()),
        Said::Noted => noted(line, &mut facts)?,
    }
    for part in &message {
        part.note(&mut facts)?;
        // Until 0.15 a command that failed is a success.
        if let Some(answer) = part.function_response.object()
            && has_failed(&answer.name, &answer.response)?
            && let Some(call) = facts.calls.last_mut()
        {
            call.is_error = Some(true);
        }
    }
    if let Some(result) = line.tool_call_result.object() {
        let failed = matches!(result.status.as_str(), Some("error" | "cancelled"));
        for call in facts.calls.iter_mut().filter(|call| call.is_result) {
            call.duration_ms = result.duration_ms.0;
            call.is_error = Some(failed || call.is_error == Some(true));
        }
    }
    facts.is_error |= facts.calls.iter().any(|call| call.is_error == Some(true));
    Some(facts)
}

/// Every line says to which session it belongs.
fn header(line: &Line<'_>, facts: &Facts) -> Option<Header> {
    let is_sidechain = line.is_sidechain.0 == Some(true);
    let session = line.session_id.shown();
    let forked_from = line.forked_from.object();
    // Claude Code's lines are alike, but for what a message holds.
    let is_ours = line.provenance.as_str().is_some()
        || line.system_payload.object().is_some()
        || line
            .message
            .object()
            .is_some_and(|message| message.parts.is_value());
    (is_ours && session.is_some()).then(|| Header {
        id: match is_sidechain {
            true => line.agent_id.shown(),
            false => session,
        },
        id_is_string: true,
        version: None,
        cwd: line.cwd.owned(),
        created_raw: facts.time_raw.clone(),
        created_ms: facts.time_ms,
        parent_session: forked_from.and_then(|origin| origin.session_id.owned()),
        own: None,
    })
}

/// What the agent notes for itself. `None` where the second tier is needed.
fn noted(line: &Line<'_>, facts: &mut Facts) -> Option<()> {
    facts.is_beside = line
        .subtype
        .as_str()
        .is_some_and(|name| BESIDE.contains(&name));
    let Some(payload) = line.payload() else {
        return Some(());
    };
    match line.subtype.as_str() {
        Some("ui_telemetry") => {
            if let Some(event) = line.event() {
                counted(event, facts);
            }
            if let Some(event) = line.subagents_call() {
                called(line, event, facts)?;
            }
        }
        Some("custom_title") => facts.name = payload.custom_title.owned(),
        Some("session_model") => facts.model = payload.model_id.owned(),
        Some("slash_command") => facts.role = Some("user".to_owned()).filter(|_| is_asked(payload)),
        Some("at_command") => {
            facts.is_error = payload.status.as_str() == Some("error");
            for file in payload.files_read.items()?.iter().filter_map(Raw::shown) {
                facts.files.push(FileTouch {
                    path: file,
                    modified: false,
                });
            }
        }
        Some("chat_compression") => {
            let info = payload.info.object();
            facts.compaction = Some(Compaction {
                tokens_before: info.and_then(|info| info.original_token_count.0),
                ..Compaction::default()
            });
        }
        Some("parent_session") => match &mut facts.header {
            // A copied one says who started the session that it was copied from.
            Some(header) if header.parent_session.is_some() => facts.header = None,
            Some(header) => header.parent_session = payload.parent_session_id.owned(),
            None => {}
        },
        Some("agent_bootstrap") => {
            facts.has_prompt = payload.system_instruction.is_value() || payload.tools.is_value();
        }
        _ => {}
    }
    Some(())
}

/// Whether a command becomes a prompt; `None`: it does not say so.
pub(super) fn is_sent(record: &[u8]) -> Option<bool> {
    json::tiers(record, |text| {
        let line = json::parse::<Loose<Line<'_>>>(text)?;
        line.object()?.payload()?.sent_to_model.0
    })
}

/// Whether a command of the agent was typed, and not answered.
pub(super) fn is_asked(payload: &Payload<'_>) -> bool {
    payload.phase.as_str() != Some("result")
}

/// The tokens of one answer, that of a subagent or of a title too; or why there is none.
fn counted(event: &UiEvent<'_>, facts: &mut Facts) {
    match event.name.as_str() {
        Some("qwen-code.api_response") => {
            let tokens = Tokens {
                prompt: event.input_token_count.0,
                cached: event.cached_content_token_count.0,
                candidates: event.output_token_count.0,
                thoughts: event.thoughts_token_count.0,
                total: event.total_token_count.0,
                tool: None,
            };
            facts.usage = tokens.usage().map(|usage| Usage {
                provider: event.auth_type.owned(),
                model: event.model.owned(),
                response_id: event.response_id.owned().filter(|id| !id.is_empty()),
                ..usage
            });
        }
        // It stands in place of the answer.
        Some("qwen-code.api_error") => {
            facts.is_error = !event.is_broken_off();
            facts.is_beside = false;
        }
        _ => {}
    }
}

/// A subagent's call and what came of it, by the id of the line: it says no other. `None` where
/// the second tier is needed.
fn called(line: &Line<'_>, event: &UiEvent<'_>, facts: &mut Facts) -> Option<()> {
    note_call(
        &line.uuid,
        &event.function_name,
        &event.function_args,
        facts,
    )?;
    let failed = event.success.0 == Some(false);
    let answer = facts.calls.last().map(|call| Call {
        duration_ms: event.duration_ms.0,
        ..call.result(failed, None, None)
    });
    facts.calls.extend(answer);
    Some(())
}

impl UsageMetadata {
    fn tokens(&self) -> Tokens {
        Tokens {
            prompt: self.prompt_token_count.0,
            cached: self.cached_content_token_count.0,
            candidates: self.candidates_token_count.0,
            thoughts: self.thoughts_token_count.0,
            total: self.total_token_count.0,
            tool: None,
        }
    }
}

/// The facts of what stands beside a subagent's lines.
pub(super) fn of_meta(record: &[u8]) -> Facts {
    let read = json::tiers(record, |text| {
        let meta = json::parse::<Loose<Meta<'_>>>(text)?;
        let none = Meta::default();
        let meta = meta.object().unwrap_or(&none);
        let mut own = Map::new();
        for (key, value) in [
            ("agentType", &meta.agent_type),
            ("description", &meta.description),
            ("status", &meta.status),
            ("toolUseId", &meta.tool_use_id),
        ] {
            if let Some(value) = value.owned() {
                own.insert(key.to_owned(), value.into());
            }
        }
        let created = meta.created_at.owned();
        Some(Facts {
            kind: "meta".to_owned(),
            agent_sees: true,
            time_ms: created.as_deref().and_then(json::date_ms),
            model: meta.model.owned(),
            name: meta.description.owned(),
            header: Some(Header {
                id: meta.agent_id.shown(),
                id_is_string: true,
                created_ms: created.as_deref().and_then(json::date_ms),
                created_raw: created.clone(),
                // An agent that another agent started belongs to that one.
                parent_session: meta
                    .parent_agent_id
                    .owned()
                    .or(meta.parent_session_id.owned()),
                own: Some(Value::Object(own).to_string()),
                ..Header::default()
            }),
            time_raw: created,
            ..Facts::default()
        })
    });
    read.unwrap_or_else(|| Facts {
        kind: "meta".to_owned(),
        ..Facts::default()
    })
}
