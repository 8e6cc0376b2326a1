//! What one Gemini CLI record says about itself.

use std::path::Path;

use super::line::{self, Kind, Line, MessageTokens};
use super::place;
use crate::json;
use crate::model::{Call, Facts, Header, Usage};
use crate::parts::{Part, Tokens, note_call, parts, typed};

/// How the agent begins what it tells the model of the place where it runs. Versions before 2026
/// wrote it without a tag.
const CONTEXT: [&str; 2] = [
    "<session_context>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
];

/// How what a hook adds begins.
const HOOK: &str = "<hook_context>";

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
    }
    match line.kind.as_str() {
        Some("user") if is_answer(&content) => facts.role = Some("toolResult".to_owned()),
        Some("user") => {
            let said = typed(&line.display_content, &content)?;
            facts.has_prompt = is_context(&said);
            let is_typed = !is_subagent && !facts.has_prompt && !said.starts_with(HOOK);
            let role = if is_typed { "user" } else { "injected" };
            facts.role = Some(role.to_owned());
            facts.is_message = is_typed;
            // A subagent's session is called by what it was told.
            let is_told = is_typed || is_subagent && !facts.has_prompt;
            facts.user_text = Some(said).filter(|_| is_told);
            facts.silent = facts.has_prompt;
        }
        Some("gemini") => answer(line, &mut facts)?,
        Some("error") => facts.is_error = true,
        _ => {}
    }
    facts.is_error |= facts.calls.iter().any(|call| call.is_error == Some(true));
    Some(facts)
}

/// Whether a message holds what tools gave back, and nothing that anybody said.
pub(super) fn is_answer(content: &[Part<'_>]) -> bool {
    content
        .iter()
        .any(|part| part.function_response.object().is_some())
}

/// Whether the agent says it in its own name.
pub(super) fn is_context(said: &str) -> bool {
    CONTEXT.iter().any(|begin| said.starts_with(begin))
}

fn answer(line: &Line<'_>, facts: &mut Facts) -> Option<()> {
    facts.role = Some("assistant".to_owned());
    facts.is_message = true;
    facts.model = line.model.owned();
    facts.usage = line.tokens.object().and_then(|tokens| usage(tokens, line));
    for call in line.calls()? {
        note_call(&call.id, &call.name, &call.args, facts)?;
        // A call is written down once it is done.
        let failed = matches!(call.status.as_str(), Some("error" | "cancelled"));
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
