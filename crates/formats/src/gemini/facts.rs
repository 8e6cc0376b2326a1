//! What one Gemini CLI record says about itself.

use std::path::Path;

use super::line::{self, Kind, Line, MessageTokens};
use super::place;
use super::said::{self, Said};
use crate::json;
use crate::model::{Call, Compaction, Facts, Header, Usage};
use crate::parts::{Tokens, has_failed, note_call, parts};

/// The facts of one record of the file at `path`.
pub(super) fn facts(path: &Path, record: &[u8]) -> Facts {
    let is_subagent = place::parent_session(path).is_some();
    let read = line::read(record, |line| of_line(line, is_subagent));
    // What stands between two messages that a `$set` alone says.
    read.unwrap_or_else(|| beside("$set"))
}

/// Of a record that is none of the conversation.
fn beside(kind: &str) -> Facts {
    Facts {
        kind: kind.to_owned(),
        agent_sees: true,
        is_beside: true,
        ..Facts::default()
    }
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>, is_subagent: bool) -> Option<Facts> {
    let kind = line.what();
    Some(match kind {
        Kind::Message => message(line, is_subagent)?,
        Kind::Rewind => beside("$rewindTo"),
        Kind::Patch => beside("$patch"),
        Kind::Set => {
            let set = line.set.object()?;
            Facts {
                name: set.summary.shown(),
                time_raw: set.last_updated.shown(),
                time_ms: set
                    .last_updated
                    .text()
                    .and_then(|time| json::date_ms(&time)),
                ..beside("$set")
            }
        }
        Kind::Header => header(line, beside("session")),
        // The tail of a document.
        Kind::Unknown if is_tail(line) => Facts {
            name: line.summary.shown(),
            time_raw: line.last_updated.shown(),
            time_ms: line
                .last_updated
                .text()
                .and_then(|time| json::date_ms(&time)),
            ..beside("session")
        },
        Kind::Unknown => beside(line.kind.as_str().unwrap_or_default()),
    })
}

fn is_tail(line: &Line<'_>) -> bool {
    line.last_updated.is_value() || line.summary.is_value() || line.session_kind.as_str().is_some()
}

fn header(line: &Line<'_>, facts: Facts) -> Facts {
    let started = line.start_time.shown();
    let started_ms = started.as_deref().and_then(json::date_ms);
    Facts {
        name: line.summary.shown(),
        time_ms: started_ms,
        header: Some(Header {
            id: line.session_id.owned(),
            id_is_string: true,
            created_raw: started.clone(),
            created_ms: started_ms,
            ..Header::default()
        }),
        time_raw: started,
        ..facts
    }
}

fn message(line: &Line<'_>, is_subagent: bool) -> Option<Facts> {
    let time_raw = line.timestamp.shown();
    let mut facts = Facts {
        kind: line.kind.owned().unwrap_or_default(),
        id: line.id.owned(),
        time_ms: time_raw.as_deref().and_then(json::date_ms),
        time_raw,
        agent_sees: true,
        ..Facts::default()
    };
    let content = parts(&line.content)?;
    for part in &content {
        part.note(&mut facts)?;
        // Its answer is the last of its calls.
        if let Some(answer) = part.function_response.object()
            && has_failed(&answer.name, &answer.response)?
            && let Some(call) = facts.calls.last_mut()
        {
            call.is_error = Some(true);
        }
    }
    match line.kind.as_str() {
        Some("user") => user(Said::of(line, &content)?, is_subagent, &mut facts),
        // Qwen Code until it had a format of its own (0.1.4).
        Some("gemini" | "qwen") => answer(line, &mut facts)?,
        Some("error") => facts.is_error = true,
        _ => {}
    }
    facts.is_error |= facts.calls.iter().any(|call| call.is_error == Some(true));
    Some(facts)
}

fn user(said: Said, is_subagent: bool, facts: &mut Facts) {
    facts.has_prompt = said == Said::Context;
    facts.silent = facts.has_prompt;
    facts.compaction = (said == Said::Summary).then(Compaction::default);
    // A subagent's session is called by what it was told.
    let (role, text) = match said {
        Said::Answer => ("toolResult", None),
        Said::Context | Said::Summary | Said::Ended => ("injected", None),
        Said::PutIn(text) => ("injected", Some(text).filter(|_| is_subagent)),
        Said::Asked(text) => ("injected", Some(text)),
        Said::Command { command: text, .. }
        | Said::Hint(text)
        | Said::Typed(text)
        | Said::Merged(text) => {
            let role = if is_subagent { "injected" } else { "user" };
            (role, Some(text))
        }
    };
    facts.role = Some(role.to_owned());
    facts.is_message = role == "user";
    facts.user_text = text;
}

fn answer(line: &Line<'_>, facts: &mut Facts) -> Option<()> {
    let is_own = said::is_own(line)?;
    facts.role = Some(if is_own { "injected" } else { "assistant" }.to_owned());
    facts.is_message = !is_own;
    facts.model = line.model.owned();
    facts.usage = line.tokens.object().and_then(|tokens| usage(tokens, line));
    for call in line.calls()? {
        note_call(&call.id, &call.name, &call.args, facts)?;
        // A call is written down once it is done.
        let mut failed = matches!(call.status.as_str(), Some("error" | "cancelled"));
        for part in &parts(&call.result)? {
            if let Some(answer) = part.function_response.object() {
                failed |= has_failed(&call.name, &answer.response)?;
            }
        }
        if call.status.as_str().is_some() || call.result.is_value() {
            facts.calls.push(Call {
                call_id: call.id.shown(),
                tool: call.name.shown(),
                is_result: true,
                is_error: Some(failed),
                ..Call::default()
            });
        }
    }
    Some(())
}

fn usage(tokens: &MessageTokens, line: &Line<'_>) -> Option<Usage> {
    let tokens = Tokens {
        prompt: tokens.input.0,
        cached: tokens.cached.0,
        tool: tokens.tool.0,
        candidates: tokens.output.0,
        thoughts: tokens.thoughts.0,
        total: tokens.total.0,
    };
    Some(Usage {
        model: line.model.owned(),
        ..tokens.usage()?
    })
}
