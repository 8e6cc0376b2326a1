//! Rows of 2.x: one for each message, with all that is in it.

use serde::Deserialize;

use super::facts::{answer, tool, typed};
use super::line::{Message, Part, Row};
use super::text::{failure, part};
use crate::json::{Loose, Raw, Text};
use crate::model::{Compaction, Facts};
use crate::pieces::Pieces;

/// What a message says, beside what one of 1.x says.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Second<'a> {
    // user, system, synthetic, compaction.
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    summary: Raw<'a>,
    // assistant.
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    model: Loose<Model<'a>>,
    // shell.
    #[serde(borrow)]
    command: Raw<'a>,
    #[serde(borrow)]
    output: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Model<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(rename = "providerID", borrow)]
    provider: Text<'a>,
    #[serde(borrow)]
    variant: Text<'a>,
}

/// The facts of a row. `None` where a part of it needs the second tier.
pub(super) fn facts(row: &Row<'_>, facts: &mut Facts) -> Option<()> {
    facts.kind = row.kind.owned().unwrap_or_default();
    let (Loose::Object(data), Loose::Object(second)) = (
        row.data.parse::<Loose<Message<'_>>>()?,
        row.data.parse::<Loose<Second<'_>>>()?,
    ) else {
        return Some(());
    };
    let times = data.time.object();
    facts.time_ms = times.and_then(|times| times.created.0).or(facts.time_ms);
    facts.message_ms = times.and_then(|times| times.completed.0);
    if let Some(model) = second.model.object() {
        facts.provider = model.provider.owned();
        facts.model = model.id.owned();
        facts.thinking_level = model.variant.owned();
    }
    match facts.kind.as_str() {
        "user" => {
            facts.role = Some("user".to_owned());
            facts.is_message = true;
            facts.user_text = second.text.text().map(|text| typed(&text).to_owned());
        }
        "assistant" => {
            facts.role = Some("assistant".to_owned());
            facts.is_message = true;
            facts.stop_reason = data.finish.owned();
            if let Some(error) = data.error.object() {
                facts.is_error = true;
                facts.stop_reason = error.name.owned().or(facts.stop_reason.take());
            }
            for item in second.content.items()? {
                if let Loose::Object(item) = item.parse::<Loose<Part<'_>>>()?
                    && item.kind.as_str() == Some("tool")
                    && let Loose::Object(state) = &item.state
                {
                    tool(&item, state, facts)?;
                }
            }
            facts.usage = answer(&data, facts.message_ms, facts);
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
    let (Loose::Object(data), Loose::Object(second)) = (
        row.data.parse::<Loose<Message<'_>>>()?,
        row.data.parse::<Loose<Second<'_>>>()?,
    ) else {
        return Some(());
    };
    match row.kind.as_str().unwrap_or_default() {
        "user" | "synthetic" => pieces.prose(&second.text),
        "compaction" => {
            pieces.prose(&second.text);
            pieces.prose(&second.summary);
        }
        "assistant" => {
            for item in second.content.items()? {
                if let Loose::Object(part_of) = item.parse::<Loose<Part<'_>>>()? {
                    part(&part_of, item.0.unwrap_or_default(), pieces);
                }
            }
            failure(&data.error, pieces);
        }
        "shell" => {
            pieces.output(&second.command);
            pieces.output(&second.output);
        }
        _ => {}
    }
    Some(())
}

/// A system prompt. `None` where the row needs the second tier.
pub(super) fn prompt(row: &Row<'_>, pieces: &mut Pieces) -> Option<()> {
    if row.kind.as_str() == Some("system")
        && let Loose::Object(second) = row.data.parse::<Loose<Second<'_>>>()?
    {
        pieces.prose(&second.text);
    }
    Some(())
}
