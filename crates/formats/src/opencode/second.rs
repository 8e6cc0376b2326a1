//! Rows of 2.x: one for each message, with all that is in it.

use super::facts::{answer, tool, typed};
use super::line::{Data, Row};
use super::text::{failure, part};
use crate::json::Loose;
use crate::model::{Compaction, Facts};
use crate::pieces::Pieces;

/// The facts of a row. `None` where a part of it needs the second tier.
pub(super) fn facts(row: &Row<'_, Loose<Box<Data<'_>>>>, facts: &mut Facts) -> Option<()> {
    facts.kind = row.kind.owned().unwrap_or_default();
    let Loose::Object(data) = &row.data else {
        return Some(());
    };
    let times = data.time.object();
    facts.time_ms = times.and_then(|times| times.created.0).or(facts.time_ms);
    facts.message_ms = times.and_then(|times| times.completed.0);
    if let Some(model) = data.model.object() {
        facts.provider = model.provider.owned();
        facts.model = model.id.owned();
        facts.thinking_level = model.variant.owned();
    }
    match facts.kind.as_str() {
        "user" => {
            facts.role = Some("user".to_owned());
            facts.is_message = true;
            facts.user_text = data.text.text().map(|text| typed(&text).into_owned());
        }
        "assistant" => {
            facts.role = Some("assistant".to_owned());
            facts.is_message = true;
            // See `answer`: a fork keeps this time.
            let created = times.and_then(|times| times.created.0);
            facts.copied_with = created.map(|created| created.to_string());
            facts.stop_reason = data.finish.owned();
            if let Some(error) = data.error.object() {
                facts.is_error = true;
                facts.stop_reason = error.name.owned().or(facts.stop_reason.take());
            }
            for item in data.content.items()? {
                if let Loose::Object(item) = item.parse::<Loose<Data<'_>>>()?
                    && item.kind.as_str() == Some("tool")
                    && let Loose::Object(state) = &item.state
                {
                    tool(&item, state, facts)?;
                }
            }
            facts.usage = answer(data, facts.message_ms, facts);
        }
        "system" => {
            facts.role = Some("system".to_owned());
            facts.has_prompt = true;
        }
        "synthetic" => facts.role = Some("injected".to_owned()),
        "compaction" => facts.compaction = Some(Compaction::default()),
        _ => {}
    }
    Some(())
}

/// The text of a row that can be searched. `None` where a part of it needs the second tier.
pub(super) fn text(row: &Row<'_>, pieces: &mut Pieces) -> Option<()> {
    let Loose::Object(data) = row.data.parse::<Loose<Data<'_>>>()? else {
        return Some(());
    };
    match row.kind.as_str().unwrap_or_default() {
        "user" | "synthetic" => {
            pieces.prose(&data.text);
            for file in data.files.items()? {
                if let Loose::Object(file) = file.parse::<Loose<Data<'_>>>()? {
                    pieces.output(&file.name);
                }
            }
        }
        "compaction" => {
            pieces.prose(&data.text);
            pieces.prose(&data.summary);
        }
        "assistant" => {
            for item in data.content.items()? {
                if let Loose::Object(part_of) = item.parse::<Loose<Data<'_>>>()? {
                    part(&part_of, item.0.unwrap_or_default(), pieces);
                }
            }
            failure(&data.error, pieces);
        }
        "shell" => {
            pieces.output(&data.command);
            pieces.output(&data.output);
        }
        _ => {}
    }
    Some(())
}

/// A system prompt. `None` where the row needs the second tier.
pub(super) fn prompt(row: &Row<'_>, pieces: &mut Pieces) -> Option<()> {
    if row.kind.as_str() == Some("system")
        && let Loose::Object(data) = row.data.parse::<Loose<Data<'_>>>()?
    {
        pieces.prose(&data.text);
    }
    Some(())
}
