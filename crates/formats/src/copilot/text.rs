//! All text of one event of Copilot's that can be searched.

use super::facts::legacy_messages;
use super::line::{Attachment, Data, Event, ToolRequest, ToolResult};
use crate::json::{self, Loose};
use crate::model::Passage;
use crate::pieces::Pieces;

pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        if let Loose::Object(event) = json::parse::<Loose<Event<'_>>>(text)? {
            of_event(&event, &mut pieces)?;
        }
        Some(pieces.into_passages())
    })
    .unwrap_or_default()
}

/// System prompts: of the session, and of each subagent.
pub(super) fn prompts(record: &[u8]) -> Vec<String> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        if let Loose::Object(event) = json::parse::<Loose<Event<'_>>>(text)?
            && event.kind.as_str() == Some("system.message")
            && let Some(data) = event.data.object()
        {
            pieces.prose(&data.content);
        }
        Some(pieces.into_pieces())
    })
    .unwrap_or_default()
}

/// `None` where a part of the event needs the second tier. What is left out repeats what another
/// event says (`tool.execution_start` its request, `assistant.reasoning` the answer, `hook.*` the
/// tool calls, `transformedContent` what was typed), or is nothing that anybody said.
fn of_event(event: &Event<'_>, pieces: &mut Pieces) -> Option<()> {
    let Some(data) = event.data.object() else {
        return Some(());
    };
    match event.kind.as_str().unwrap_or_default() {
        // What a subagent was told stands in the arguments of the call that started it.
        "user.message" if !event.is_main() => {}
        "user.message" => {
            pieces.prose(&data.content);
            for attachment in data.attachments.objects()? {
                attached(&attachment, pieces);
            }
        }
        "system.notification" => pieces.prose(&data.content),
        "session.import_legacy" => {
            for message in legacy_messages(data)? {
                match message.role.as_str() {
                    Some("system") => {}
                    Some("tool") => pieces.output(&message.content),
                    _ => pieces.prose(&message.content),
                }
            }
        }
        "assistant.message" => {
            pieces.prose(&data.reasoning_text);
            pieces.prose(&data.content);
            for request in data.tool_requests.objects::<ToolRequest<'_>>()? {
                pieces.output(&request.name);
                pieces.leaves_of_arguments(&request.arguments);
            }
        }
        "tool.user_requested" => {
            pieces.output(&data.tool_name);
            pieces.leaves_of_arguments(&data.arguments);
        }
        "tool.execution_complete" => completed(data, pieces)?,
        "session.error" | "session.info" | "session.warning" => pieces.output(&data.message),
        "subagent.failed" | "custom_agent.failed" => pieces.output(&data.error),
        "session.compaction_complete" => {
            pieces.prose(&data.summary_content);
            pieces.output(&data.error);
        }
        _ => {}
    }
    Some(())
}

/// What an attachment is called and, of a selection, what it says. Most are called by the end of
/// their path.
fn attached(attachment: &Attachment<'_>, pieces: &mut Pieces) {
    let paths = [&attachment.path, &attachment.file_path];
    let called = attachment.display_name.text().unwrap_or_default();
    let is_said = paths
        .iter()
        .any(|path| path.text().is_some_and(|path| path.ends_with(&*called)));
    for path in paths {
        pieces.output(path);
    }
    if !is_said {
        pieces.output(&attachment.display_name);
    }
    pieces.output(&attachment.title);
    pieces.output(&attachment.text);
}

/// The text that the model was given; `detailedContent` is the same at length.
fn completed(data: &Data<'_>, pieces: &mut Pieces) -> Option<()> {
    for part in [&data.result, &data.error] {
        match part.object::<ToolResult<'_>>()? {
            Some(result) => {
                let content = match result.content.is_value() {
                    true => &result.content,
                    false => &result.detailed_content,
                };
                pieces.output(content);
                pieces.output(&result.message);
            }
            None if part.is_value() => pieces.output(part),
            None => {}
        }
    }
    Some(())
}
