//! What a part of a message says about itself.

use super::facts::usage;
use super::record::{Input, Part, State};
use super::text::secrets;
use crate::json::{Loose, Text};
use crate::model::{Call, Compaction, Facts, FileTouch};
use crate::tools::used;

/// `None` where a part of the record needs the second tier.
pub(super) fn facts(part: &Part<'_>, facts: &mut Facts) -> Option<()> {
    facts.kind = part.kind.owned().unwrap_or_default();
    facts.id = part.id.shown();
    facts.parent = part.message_id.shown();
    if let Some(times) = part.time.object() {
        facts.time_ms = times.start.0;
        facts.message_ms = times.end.0;
    }
    match facts.kind.as_str() {
        "text" => {
            let assistant = || "assistant".to_owned();
            facts.role = Some(part.role.owned().unwrap_or_else(assistant));
        }
        "reasoning" => facts.role = Some("assistant".to_owned()),
        "tool" => {
            if let Loose::Object(state) = &part.state {
                tool(part, state, facts)?;
            }
        }
        "step-finish" => facts.step = usage(&part.tokens, part.cost).map(Box::new),
        "patch" => {
            for path in part.files.items()? {
                facts.files.extend(path.text().map(|path| FileTouch {
                    path: path.into_owned(),
                    modified: true,
                }));
            }
        }
        "compaction" => {
            facts.compaction = Some(Compaction {
                first_kept: None,
                tokens_before: part.tokens_before.0,
                first_kept_index: None,
            });
        }
        "error" => facts.is_error = true,
        _ => {}
    }
    Some(())
}

/// One part holds both the call and what came of it.
fn tool(part: &Part<'_>, state: &State<'_>, facts: &mut Facts) -> Option<()> {
    let times = state.time.object();
    let start = times.and_then(|times| times.start.0);
    let end = times.and_then(|times| times.end.0);
    facts.time_ms = facts.time_ms.or(start).or(state.suspended.0);
    facts.message_ms = facts.message_ms.or(end);
    let input: Input<'_> = state.input.object()?.unwrap_or_default();
    let path = [&input.file_path, &input.file_path_camel, &input.path]
        .into_iter()
        .find_map(Text::owned);
    let name = part.tool.shown();
    let others = [&input.pattern, &input.query, &input.url];
    let secrets = secrets(state.waits_for.0.unwrap_or_default());
    let subject = used(facts, name.as_deref(), path, &input.command, &others).filter(|subject| {
        !secrets
            .iter()
            .any(|secret| subject.contains(secret.as_str()))
    });
    let call = Call {
        call_id: part.call_id.shown(),
        tool: name,
        subject,
        ..Call::default()
    };
    let status = state.status.as_str();
    facts.is_error = status == Some("error");
    facts.stop_reason = state.status.owned();
    let is_answered = matches!(status, Some("completed" | "error"));
    let result = is_answered.then(|| call.result(facts.is_error, start, end));
    facts.calls.push(call);
    facts.calls.extend(result);
    Some(())
}
