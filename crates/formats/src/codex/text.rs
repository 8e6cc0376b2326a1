//! All text of one line of a rollout that can be searched, and the instructions in it.

use super::call::arguments;
use super::line::{Output, Payload, Record};
use super::message::{Message, Origin, texts};
use super::names::{self, NamedIn};
use super::typed_command::ToldCommand;
use crate::json::{self, Loose, Raw};
use crate::model::{Class, Passage};
use crate::pieces::Pieces;

pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    json::tiers(record, |text| {
        if NamedIn::of(text).is_some() {
            return names::passages(text);
        }
        let mut pieces = Pieces::default();
        if let Some(record) = Record::read(text)? {
            of_record(&record, &mut pieces)?;
        }
        Some(pieces.into_passages())
    })
    .unwrap_or_default()
}

/// The instructions in a header or a message.
pub(super) fn prompts(record: &[u8]) -> Vec<String> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        if let Some(record) = Record::read(text)? {
            let payload = &record.payload;
            match record.kind() {
                "session_meta" => {
                    pieces.prose(&payload.instructions);
                    if let Loose::Object(base) = &payload.base_instructions {
                        pieces.prose(&base.text);
                    }
                }
                "message" => {
                    for (origin, text) in Message::read(payload)?.parts {
                        if origin == Origin::Prompt {
                            pieces.text(Class::Prose, &text);
                        }
                    }
                }
                _ => {}
            }
        }
        Some(pieces.into_pieces())
    })
    .unwrap_or_default()
}

/// `None` where a part of the record needs the second tier. Machines talk to machines in all other
/// lines: settings, the state of the world, copies of the context.
fn of_record(record: &Record<'_>, pieces: &mut Pieces) -> Option<()> {
    let payload = &record.payload;
    match record.envelope.as_str() {
        _ if record.is_of("response_item") => item(record.kind(), payload, pieces)?,
        "event_msg" => event(payload, pieces)?,
        "compacted" => pieces.prose(&payload.message),
        "inter_agent_communication" => all(&payload.content, Class::Prose, pieces)?,
        _ => {}
    }
    Some(())
}

fn item(kind: &str, payload: &Payload<'_>, pieces: &mut Pieces) -> Option<()> {
    match kind {
        "message" => message(payload, pieces)?,
        "reasoning" => {
            all(&payload.summary, Class::Prose, pieces)?;
            all(&payload.content, Class::Prose, pieces)?;
        }
        "agent_message" => all(&payload.content, Class::Prose, pieces)?,
        kind if kind.ends_with("_output") => output(&payload.output, pieces)?,
        kind if kind.ends_with("_call") => {
            if let Some(name) = payload.name.as_str() {
                pieces.text(Class::Output, name);
            }
            if let Some(arguments) = arguments(payload) {
                match json::parse::<Raw<'_>>(&arguments) {
                    Some(arguments) => pieces.leaves_of_arguments(&arguments),
                    None => pieces.text(Class::Output, &arguments),
                }
            }
            pieces.output(&payload.input);
        }
        _ => {}
    }
    Some(())
}

fn message(payload: &Payload<'_>, pieces: &mut Pieces) -> Option<()> {
    let message = Message::read(payload)?;
    let is_typed = message.role("user") == "user";
    for (origin, text) in &message.parts {
        if let (Origin::Injected, Some(told)) = (origin, ToldCommand::read(text)) {
            pieces.text(Class::Prose, told.command);
            pieces.text(Class::Output, told.result);
            continue;
        }
        match origin {
            Origin::Prompt => {}
            // What was put beside what a person typed is not theirs.
            Origin::Injected if is_typed => pieces.text(Class::Output, text),
            _ => pieces.text(Class::Prose, text),
        }
    }
    Some(())
}

/// How often what a tool gave is taken out of an object that says how the call ended. Codex wraps
/// it once; what a tool printed may nest such objects without end.
const MOST_WRAPPED: u32 = 4;

/// What a tool gave: text, parts, or an object that says how the call ended beside it.
fn output(value: &Raw<'_>, pieces: &mut Pieces) -> Option<()> {
    output_within(value, MOST_WRAPPED, pieces)
}

/// What such an object holds may be one again, but not more than `wrapped` times.
fn output_within(value: &Raw<'_>, wrapped: u32, pieces: &mut Pieces) -> Option<()> {
    let text = value.text();
    let stated = match (&text, value.0) {
        (Some(text), _) if text.starts_with('{') => {
            json::parse::<Loose<Output<'_>>>(text).unwrap_or_default()
        }
        (None, Some(raw)) if raw.starts_with('{') => json::parse(raw)?,
        _ => Loose::Missing,
    };
    match &stated {
        Loose::Object(stated) if stated.output.is_value() && wrapped > 0 => {
            output_within(&stated.output, wrapped - 1, pieces)?;
        }
        Loose::Object(stated) if stated.content.is_value() && stated.success.0.is_some() => {
            all(&stated.content, Class::Output, pieces)?;
        }
        _ => all(value, Class::Output, pieces)?,
    }
    Some(())
}

fn event(payload: &Payload<'_>, pieces: &mut Pieces) -> Option<()> {
    let item = payload.item()?;
    let item = item.as_ref().unwrap_or(payload);
    match item.kind.as_str().unwrap_or_default() {
        "user_message" | "agent_message" => pieces.prose(&payload.message),
        "agent_reasoning" | "agent_reasoning_raw_content" | "Plan" => pieces.prose(&item.text),
        "UserMessage" | "AgentMessage" => all(&item.content, Class::Prose, pieces)?,
        "Reasoning" => all(&item.summary_text, Class::Prose, pieces)?,
        "exec_command_end" | "CommandExecution" => pieces.output(&item.aggregated_output),
        "error" | "warning" | "stream_error" => pieces.output(&payload.message),
        "task_complete" | "turn_complete" => {
            if let Loose::Object(error) = &payload.error {
                pieces.output(&error.message);
            }
        }
        "thread_name_updated" => {
            if let Some(name) = payload.thread_name.as_str() {
                pieces.text(Class::Prose, name);
            }
        }
        "entered_review_mode" | "EnteredReviewMode" => {
            if let Some(asked) = item.reviews() {
                pieces.text(Class::Prose, &asked);
            }
        }
        "thread_goal_updated" => {
            if let Loose::Object(goal) = &payload.goal {
                pieces.prose(&goal.objective);
            }
        }
        _ => {}
    }
    Some(())
}

/// All text of a list of parts, or of a text.
fn all(value: &Raw<'_>, class: Class, pieces: &mut Pieces) -> Option<()> {
    for text in texts(value)? {
        pieces.text(class, &text);
    }
    Some(())
}
