//! All text of one Gemini CLI record that can be searched.

use super::line::{self, Kind, Line};
use super::said::{Said, has_ended, hint, is_context, is_put_in, without_put_in};
use crate::json::Raw;
use crate::model::Passage;
use crate::parts::{Part, add_typed, parts, typed};
use crate::pieces::Pieces;

pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    let found = line::read(record, |line| {
        let mut pieces = Pieces::default();
        of_line(line, &mut pieces)?;
        Some(pieces.into_passages())
    });
    found.unwrap_or_default()
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>, pieces: &mut Pieces) -> Option<()> {
    match line.what() {
        Kind::Message => message(line, pieces)?,
        Kind::Set => {
            if let Some(set) = line.set.object() {
                pieces.prose(&set.summary);
            }
        }
        // `summary` in the head or the tail of a document.
        Kind::Header | Kind::Unknown => pieces.prose(&line.summary),
        Kind::Rewind | Kind::Patch => {}
    }
    Some(())
}

fn message(line: &Line<'_>, pieces: &mut Pieces) -> Option<()> {
    let content = parts(&line.content)?;
    match line.kind.as_str() {
        Some("user") => user(line, &content, pieces)?,
        Some("gemini" | "qwen") => {
            for thought in line.thought()? {
                pieces.prose(&thought.subject);
                pieces.prose(&thought.description);
            }
            content.iter().for_each(|part| part.add_to(pieces));
            calls(line, pieces)?;
        }
        // What the agent shows to its person, and what is not known.
        _ => content.iter().for_each(|part| pieces.output(&part.text)),
    }
    Some(())
}

fn user(line: &Line<'_>, content: &[Part<'_>], pieces: &mut Pieces) -> Option<()> {
    match Said::of(line, content)? {
        Said::Context => {}
        Said::Typed(_) => add_typed(&line.display_content, content, pieces)?,
        Said::Merged(_) => {
            for text in content.iter().filter_map(|part| part.text.text()) {
                if is_put_in(&text) && !is_context(&text) {
                    pieces.output_text(&text);
                }
            }
            add_typed(&Raw(None), &without_put_in(content), pieces)?;
        }
        // What is shown with it was typed before.
        Said::PutIn(_) | Said::Asked(_) => add_typed(&Raw(None), content, pieces)?,
        Said::Summary => add_typed(&Raw(None), &without_put_in(content), pieces)?,
        Said::Command { command, output } => {
            pieces.prose_text(&command);
            pieces.output_text(&output);
            let texts = content.iter().filter(|part| part.text.text().is_some());
            texts.skip(1).for_each(|part| pieces.prose(&part.text));
        }
        Said::Hint(_) | Said::Ended | Said::Answer => given_back(content, pieces),
    }
    Some(())
}

/// What tools gave back, and what else stands beside it: what was typed while they ran, what ended
/// in the background, and, where nothing was given back, what a subagent is told.
fn given_back(content: &[Part<'_>], pieces: &mut Pieces) {
    let is_answer = |part: &Part<'_>| part.function_response.object().is_some();
    let has_answer = content.iter().any(is_answer);
    for part in content {
        if let Some(text) = part.text.text() {
            match hint(&text) {
                Some(words) => pieces.prose_text(words),
                None if !has_answer || has_ended(&text) => pieces.prose_text(&text),
                None => pieces.output_text(&text),
            }
        }
        if let Some(answer) = part.function_response.object() {
            pieces.leaves(&answer.response);
        }
    }
}

/// What tools were asked and gave back. What was shown of it says it again.
fn calls(line: &Line<'_>, pieces: &mut Pieces) -> Option<()> {
    for call in line.calls()? {
        pieces.output(&call.name);
        pieces.leaves_of_arguments(&call.args);
        let result = parts(&call.result)?;
        for part in &result {
            pieces.output(&part.text);
            if let Some(answer) = part.function_response.object() {
                pieces.leaves(&answer.response);
            }
        }
        if result.is_empty() && call.result_display.text().is_some() {
            pieces.output(&call.result_display);
        }
    }
    Some(())
}

/// What the agent tells the model of the place where it runs.
pub(super) fn prompts(record: &[u8]) -> Vec<String> {
    let found = line::read(record, |line| {
        let mut pieces = Pieces::default();
        let content = parts(&line.content)?;
        let is_merged = matches!(Said::of(line, &content)?, Said::Merged(_) | Said::Summary);
        if !is_merged && is_context(&typed(&line.display_content, &content)?) {
            content.iter().for_each(|part| part.add_to(&mut pieces));
        }
        Some(pieces.into_pieces())
    });
    found.unwrap_or_default()
}
