//! What one line says about itself: a line of pi's, or a row beside the transcript.

use super::typed::Message;
use super::{PI, anew, failed, leaves, line, rows};
use crate::Format;
use crate::model::{Compaction, Facts};

/// What stands in the place of a model where none said anything.
const NO_MODELS: [&str; 2] = ["delivery-mirror", "gateway-injected"];

/// Why such an answer ended where it has no model (2026.1.24, `appendAssistantTranscriptMessage`).
pub(super) const INJECTED: &str = "injected";

pub(super) fn facts(record: &[u8]) -> Facts {
    if let Some(row) = rows::facts(record) {
        return row;
    }
    let mut facts = PI.facts(record);
    if let Some(said) = facts.user_text.take() {
        say(&said, is_persons(record), &mut facts);
    }
    match facts.kind.as_str() {
        "custom_message" => facts.role = Some("injected".to_owned()),
        "compact" => facts.compaction = Some(Compaction::default()),
        leaves::KIND => leaves::facts(record, &mut facts),
        _ => {}
    }
    if let Some(usage) = &mut facts.usage {
        usage.reasoning = usage.reasoning.or_else(|| reasoning(record));
    }
    failed::note(record, &mut facts);
    let is_no_model = match facts.model.as_deref() {
        Some(model) => NO_MODELS.contains(&model),
        None => facts.stop_reason.as_deref() == Some(INJECTED),
    };
    if is_no_model {
        facts.model = None;
        facts.provider = None;
        facts.usage = None;
    }
    anew::name(&mut facts);
    facts
}

/// The tokens of what was thought, which pi's own lines name otherwise.
fn reasoning(record: &[u8]) -> Option<i64> {
    line::read(record, |line| {
        line.message.object()?.usage.object()?.reasoning_tokens.0
    })
}

/// Whether a person sent a message, where its line says who did.
fn is_persons(record: &[u8]) -> Option<bool> {
    memchr::memmem::find(record, b"provenance")?;
    line::read(record, |line| {
        line.message.object()?.provenance.object()?.is_persons()
    })
}

/// Notes a message in the place of a user's.
fn say(said: &str, is_persons: Option<bool>, facts: &mut Facts) {
    let message = Message::of(said);
    let is_own = match is_persons {
        Some(is_persons) => !is_persons || message.is_empty(),
        None => message.is_own(),
    };
    match is_own {
        true => facts.role = Some("injected".to_owned()),
        false => facts.user_text = Some(message.typed),
    }
}
