//! All text of one Qwen Code line that can be searched. Telemetry and snapshots repeat what other
//! lines say.

use super::facts::is_asked;
use super::line::{Line, Message, Payload, Said};
use crate::json::{self, Loose, Raw};
use crate::model::Passage;
use crate::parts::{add_typed, is_of_hooks, parts};
use crate::pieces::Pieces;

pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        match json::parse::<Loose<Line<'_>>>(text)? {
            Loose::Object(line) => of_line(&line, &mut pieces)?,
            _ => pieces.unknown(text),
        }
        Some(pieces.into_passages())
    })
    .unwrap_or_default()
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>, pieces: &mut Pieces) -> Option<()> {
    let parts = line.parts()?;
    match line.said(&parts) {
        Said::Typed => add_typed(&line.shown(), &parts, pieces)?,
        Said::Result => {
            // What is said beside an answer is a tool's too.
            for part in &parts {
                pieces.output(&part.text);
                if let Some(answer) = part.function_response.object() {
                    pieces.leaves(&answer.response);
                }
            }
        }
        Said::Noted => {
            if let Some(payload) = line.payload() {
                noted(line, payload, pieces)?;
            }
        }
        Said::Injected if is_of_hooks(&parts) => {
            parts.iter().for_each(|part| pieces.output(&part.text));
        }
        Said::Injected | Said::Answer => parts.iter().for_each(|part| part.add_to(pieces)),
    }
    Some(())
}

/// What is said in a line that the agent notes for itself, where no other line says it.
fn noted(line: &Line<'_>, payload: &Payload<'_>, pieces: &mut Pieces) -> Option<()> {
    match line.subtype.as_str() {
        Some("ui_telemetry") => {
            let failure = line.event().map_or(Raw(None), |event| event.why());
            if line.event().and_then(|event| event.name.as_str()) == Some("qwen-code.api_error") {
                pieces.output(&failure);
            }
            if let Some(event) = line.subagents_call() {
                pieces.output(&event.function_name);
                pieces.leaves_of_arguments(&event.function_args);
                pieces.output(&event.error);
            }
        }
        Some("custom_title") => {
            if let Some(title) = payload.custom_title.as_str() {
                pieces.prose_text(title);
            }
        }
        Some("slash_command") => {
            if is_asked(payload) {
                pieces.prose(&payload.raw_command);
            }
            pieces.unknown(payload.output_history_items.0.unwrap_or_default());
        }
        // The rest of the new history stands in the lines before.
        Some("chat_compression") => {
            if let Some(first) = payload.compressed_history.items()?.first() {
                let summary = first.parse::<Loose<Message<'_>>>()?;
                if let Some(summary) = summary.object() {
                    for part in parts(&summary.parts)? {
                        pieces.prose(&part.text);
                    }
                }
            }
        }
        // State of the agent's, and copies of what was said.
        _ => {}
    }
    Some(())
}

/// What the agent tells a subagent's model in its own name.
pub(super) fn prompts(record: &[u8]) -> Vec<String> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        if let Loose::Object(line) = json::parse::<Loose<Line<'_>>>(text)?
            && let Some(payload) = line.payload()
        {
            for said in [&payload.system_instruction, &payload.tools] {
                pieces.unknown(said.0.unwrap_or_default());
            }
        }
        Some(pieces.into_pieces())
    })
    .unwrap_or_default()
}
