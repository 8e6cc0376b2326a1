//! All text of one pi line that can be searched.

use serde::Deserialize;

use crate::json::{self, Loose, Raw, Text};
use crate::model::Passage;
use crate::pieces::Pieces;

/// Bytes of a `custom` entry's data that are indexed.
const CUSTOM_DATA: usize = 16 * 1024;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    message: Loose<Message<'a>>,
    #[serde(borrow)]
    summary: Raw<'a>,
    #[serde(borrow)]
    details: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    data: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    label: Raw<'a>,
    #[serde(borrow)]
    note: Raw<'a>,
    #[serde(borrow)]
    provider: Raw<'a>,
    #[serde(borrow)]
    model_id: Raw<'a>,
    /// Both of them, in 0.7.6.
    #[serde(borrow)]
    model: Raw<'a>,
    #[serde(borrow)]
    thinking_level: Raw<'a>,
    #[serde(borrow)]
    replacement: Loose<Replacement<'a>>,
    /// The system prompt that a compaction keeps: a message, or its text.
    #[serde(borrow)]
    system_message: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Replacement<'a> {
    #[serde(borrow)]
    content: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    summary: Raw<'a>,
    #[serde(borrow)]
    details: Raw<'a>,
    #[serde(borrow)]
    sections: Raw<'a>,
    #[serde(borrow)]
    tools_added: Raw<'a>,
    #[serde(borrow)]
    tool_name: Raw<'a>,
    #[serde(borrow)]
    nested_calls: Raw<'a>,
    #[serde(borrow)]
    command: Raw<'a>,
    #[serde(borrow)]
    output: Raw<'a>,
    #[serde(borrow)]
    full_output_path: Raw<'a>,
    #[serde(borrow)]
    error_message: Raw<'a>,
    /// What was left out of an answer, and why.
    #[serde(borrow)]
    diagnostics: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    thinking: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
}

/// Whether more than what is indexed stands in the data of a `custom` entry.
pub(super) fn is_cut(data: &Raw<'_>) -> bool {
    data.0.is_some_and(|json| json.len() > CUSTOM_DATA)
        && !Pieces::default().leaves_up_to(data, CUSTOM_DATA)
}

pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        match json::parse::<Loose<Line<'_>>>(text)? {
            Loose::Object(line) => of_line(&line, text, &mut pieces)?,
            _ => pieces.unknown(text),
        }
        Some(pieces.into_passages())
    })
    .unwrap_or_default()
}

/// System prompts and tools' descriptions: of a message of the system's, or of a compaction.
pub(super) fn prompts(record: &[u8]) -> Vec<String> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        if let Loose::Object(line) = json::parse::<Loose<Line<'_>>>(text)? {
            match &line.message {
                Loose::Object(message) if message.role.as_str() == Some("system") => {
                    of_system(message, &mut pieces)?;
                }
                _ => {}
            }
            match line.system_message.parse::<Loose<Message<'_>>>() {
                Some(Loose::Object(message)) => of_system(&message, &mut pieces)?,
                _ => pieces.prose(&line.system_message),
            }
        }
        Some(pieces.into_pieces())
    })
    .unwrap_or_default()
}

fn of_system(message: &Message<'_>, pieces: &mut Pieces) -> Option<()> {
    content(&message.content, pieces, Pieces::prose)?;
    pieces.leaves(&message.sections);
    pieces.leaves(&message.tools_added);
    Some(())
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>, whole: &str, pieces: &mut Pieces) -> Option<()> {
    match line.kind.as_str().unwrap_or_default() {
        // The header's fields are searched as fields of the session.
        "session" => {}
        "message" => {
            if let Loose::Object(message) = &line.message {
                of_message(message, pieces)?;
            }
        }
        "model_change" => {
            pieces.prose(&line.provider);
            pieces.prose(&line.model_id);
            pieces.prose(&line.model);
        }
        "thinking_level_change" => pieces.prose(&line.thinking_level),
        "session_info" => pieces.prose(&line.name),
        "label" => pieces.prose(&line.label),
        "compaction" | "branch_summary" => {
            pieces.prose(&line.summary);
            pieces.leaves(&line.details);
        }
        "custom_message" => {
            content(&line.content, pieces, Pieces::prose)?;
            pieces.leaves(&line.details);
        }
        "custom" => {
            pieces.leaves_up_to(&line.data, CUSTOM_DATA);
        }
        "usage" => pieces.prose(&line.note),
        "context_edit" => {
            if let Loose::Object(replacement) = &line.replacement {
                content(&replacement.content, pieces, Pieces::prose)?;
            }
        }
        _ => pieces.unknown(whole),
    }
    Some(())
}

/// Adds the text of a message alone; see [`super::add_message_facts`].
pub(crate) fn add_message(message: &Raw<'_>, pieces: &mut Pieces) -> Option<()> {
    match message.is_value() {
        true => match message.parse::<Loose<Message<'_>>>()? {
            Loose::Object(message) => of_message(&message, pieces),
            _ => Some(()),
        },
        false => Some(()),
    }
}

fn of_message(message: &Message<'_>, pieces: &mut Pieces) -> Option<()> {
    match message.role.as_str().unwrap_or_default() {
        // System prompts are no part of the talk: see `prompts`.
        "system" => {}
        "toolResult" => {
            pieces.output(&message.tool_name);
            content(&message.content, pieces, Pieces::output)?;
            pieces.leaves(&message.details);
            pieces.leaves(&message.nested_calls);
        }
        "bashExecution" => {
            pieces.output(&message.command);
            pieces.output(&message.output);
            // Where all of it is, if this is its end (0.87.1, `BashExecutionMessage`).
            pieces.output(&message.full_output_path);
        }
        role => {
            let class = if role == "user" { typed } else { Pieces::prose };
            content(&message.content, pieces, class)?;
            pieces.prose(&message.summary);
            pieces.prose(&message.error_message);
            pieces.leaves(&message.details);
            pieces.leaves(&message.diagnostics);
        }
    }
    Some(())
}

/// What pi puts before what was typed: the whole text of a skill (`/skill:NAME words`, 0.73.1 to
/// 0.87.1) or of a file (`pi @file words`, 0.13.2 to 0.87.1), each between tags of this name. Other
/// tags are a person's own, and so are these anywhere else.
const PUT_BEFORE: [&str; 2] = ["skill", "file"];

/// What a person typed is prose, what pi put before it output.
fn typed(pieces: &mut Pieces, raw: &Raw<'_>) {
    let text = raw.text();
    let Some((mut put, mut rest)) = text.as_deref().and_then(put_before) else {
        return pieces.prose(raw);
    };
    loop {
        pieces.output_text(put.trim());
        match put_before(rest) {
            Some(next) => (put, rest) = next,
            None => return pieces.prose_text(rest.trim()),
        }
    }
}

/// What pi put at the beginning of a text, and what follows it. What is put may hold such tags
/// itself: it ends with the last closing one on a line of its own, and where there is none (of a
/// picture), with the first.
fn put_before(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let tag = text.strip_prefix('<')?;
    let is_begun = |name: &&str| {
        tag.strip_prefix(*name)
            .is_some_and(|tag| tag.starts_with(" name="))
    };
    let close = format!("</{}>", PUT_BEFORE.into_iter().find(is_begun)?);
    let is_line = |end: &usize| {
        text[..end - close.len()].ends_with('\n')
            && (text[*end..].is_empty() || text[*end..].starts_with(['\n', '\r']))
    };
    let mut ends = text.match_indices(&close).map(|(at, _)| at + close.len());
    let first = ends.next()?;
    let of_lines = std::iter::once(first).chain(ends).filter(is_line);
    Some(text.split_at(of_lines.last().unwrap_or(first)))
}

/// Plain text, or blocks; the text of blocks goes where `class` puts it, tool calls to the output.
fn content(content: &Raw<'_>, pieces: &mut Pieces, class: fn(&mut Pieces, &Raw<'_>)) -> Option<()> {
    if content.text().is_some() {
        class(pieces, content);
    }
    // Text in a block is scanned once less than by taking every block for raw JSON first.
    let blocks: Vec<Loose<Block<'_>>> = match content.0 {
        Some(raw) if raw.starts_with('[') => json::parse(raw)?,
        _ => Vec::new(),
    };
    let mut raws = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let Loose::Object(block) = block else {
            continue;
        };
        match block.kind.as_str().unwrap_or_default() {
            "text" => class(pieces, &block.text),
            "thinking" => class(pieces, &block.thinking),
            "toolCall" => {
                pieces.output(&block.name);
                pieces.leaves_of_arguments(&block.arguments);
            }
            "image" => {}
            _ => {
                if raws.is_empty() {
                    raws = content.items()?;
                }
                let raw = raws.get(index).and_then(|raw| raw.0);
                pieces.unknown(raw.unwrap_or_default());
            }
        }
    }
    Some(())
}
