//! All text of one line of Claude Code's that can be searched.
//!
//! Most of a file is no text of anybody's: the log of requests repeats prompts and answers word for
//! word, attachments hold what is told to the model each time, and `toolUseResult` what the answer
//! beside it says. Only what is named here is searched.

use super::facts::{MAIL, is_surely_typed, said_by_system, typed, typed_of};
use super::line::{Attachment, Block, Line, Message, blocks, blocks_as_written};
use super::own_words::is_answer;
use crate::json::{self, Loose, Raw};
use crate::model::{Class, Passage};
use crate::pieces::Pieces;
use crate::terminal::seen;

/// Where a text goes.
type Add = fn(&mut Pieces, &Raw<'_>);

pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        if let Loose::Object(line) = json::parse::<Loose<Line<'_>>>(text)? {
            of_line(&line, text, &mut pieces)?;
        }
        Some(pieces.into_passages())
    })
    .unwrap_or_default()
}

/// What a tool printed, in a file of its own. What holds NULs is no text.
pub(super) fn spill(record: &[u8]) -> Vec<Passage> {
    let text = String::from_utf8_lossy(record);
    if text.trim().is_empty() || record.contains(&0) {
        return Vec::new();
    }
    vec![Passage {
        class: Class::Output,
        pieces: vec![seen(text).into_owned()],
    }]
}

/// System prompts and the descriptions of tools. Both an attachment and the log of requests have
/// both: the prompts are taken from the one and the tools from the other.
pub(super) fn prompts(record: &[u8]) -> Vec<String> {
    json::tiers(record, |text| {
        let mut pieces = Pieces::default();
        if let Loose::Object(line) = json::parse::<Loose<Line<'_>>>(text)? {
            if let Some(shape) = line.shape.0 {
                pieces.leaves(&Raw(json::member(shape, "tools")));
            }
            if let Loose::Object(attachment) = &line.attachment {
                pieces.leaves(&attachment.system_prompt);
            }
        }
        Some(pieces.into_pieces())
    })
    .unwrap_or_default()
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>, whole: &str, pieces: &mut Pieces) -> Option<()> {
    match (line.kind.as_str().unwrap_or_default(), &line.message) {
        // Mostly another line says it too: see `queue.rs`.
        ("queue-operation", _) => pieces.prose(&Raw(json::member(whole, "content"))),
        ("user", Loose::Object(message)) => {
            let user = Some(is_surely_typed(line));
            content(message, user, Pieces::prose, pieces)?;
        }
        ("assistant", Loose::Object(message)) => {
            let text = || {
                let blocks = blocks(&message.content)?;
                blocks.iter().find_map(|block| block.object()?.text.text())
            };
            let said: Add = match is_answer(line, message, text) {
                true => Pieces::prose,
                false => Pieces::output,
            };
            content(message, None, said, pieces)?;
        }
        ("system", _) => {
            if let Some((class, text)) = said_by_system(line).zip(line.content.text()) {
                pieces.text(class, &text);
            }
        }
        ("attachment", _) => {
            if let Loose::Object(attachment) = &line.attachment {
                of_attachment(attachment, pieces)?;
            }
        }
        ("custom-title" | "ai-title" | "summary", _) => title(whole, pieces),
        _ => {}
    }
    Some(())
}

fn title(whole: &str, pieces: &mut Pieces) {
    for name in ["customTitle", "aiTitle", "summary"] {
        pieces.prose(&Raw(json::member(whole, name)));
    }
}

fn of_attachment(attachment: &Attachment<'_>, pieces: &mut Pieces) -> Option<()> {
    match attachment.kind.as_str() {
        Some("queued_command") => {}
        Some("file") => {
            let text = attachment.text_of_file();
            pieces.output_text(&text.unwrap_or_default());
            return Some(());
        }
        Some("directory") => {
            pieces.output_text(&attachment.listing().unwrap_or_default());
            return Some(());
        }
        Some("hook_blocking_error") => {
            pieces.output_text(&attachment.told_of_tool().unwrap_or_default());
            return Some(());
        }
        Some(MAIL) => {
            let mail = attachment.mail()?;
            mail.iter().for_each(|text| pieces.prose_text(text));
            return Some(());
        }
        _ => return Some(()),
    }
    if attachment.prompt.text().is_some() {
        pieces.prose(&attachment.prompt);
    }
    for block in blocks(&attachment.prompt)? {
        if let Some(block) = block.object().filter(|block| block.is("text")) {
            pieces.prose(&block.text);
        }
    }
    Some(())
}

/// `user`: it stands where prompts are, and whether the line says that a person typed it.
fn content(
    message: &Message<'_>,
    user: Option<bool>,
    said: Add,
    pieces: &mut Pieces,
) -> Option<()> {
    let text = message.content.text();
    if text.is_some() {
        said(pieces, &message.content);
    }
    let blocks = blocks_as_written(&message.content)?;
    let is_sure = user == Some(true);
    let is_typed = |block: &Block<'_>| {
        let text = block.text.text();
        text.is_some_and(|text| typed_of(&text, is_sure).is_some())
    };
    let objects = || blocks.iter().filter_map(|(block, _)| block.object());
    // What was put beside what a person typed is not theirs.
    let may_be_mixed = user.is_some() && blocks.len() > 1;
    let is_mixed = may_be_mixed && typed(text.as_deref(), objects(), is_sure).is_some();
    for (block, raw) in &blocks {
        if let Loose::Object(block) = block {
            let said = match is_mixed && !is_typed(block) {
                true => Pieces::output,
                false => said,
            };
            of_block(block, raw, said, pieces)?;
        }
    }
    Some(())
}

fn of_block(block: &Block<'_>, raw: &str, said: Add, pieces: &mut Pieces) -> Option<()> {
    match block.kind.as_str().unwrap_or_default() {
        "text" => said(pieces, &block.text),
        "thinking" => said(pieces, &block.thinking),
        "tool_result" => answer(&block.content, pieces)?,
        // Encrypted, or encoded.
        "redacted_thinking" | "image" | "document" => {}
        _ if block.is_call() => {
            pieces.output(&block.name);
            pieces.leaves_of_arguments(&block.input);
        }
        _ => pieces.unknown(raw),
    }
    Some(())
}

/// A text, or blocks.
fn answer(content: &Raw<'_>, pieces: &mut Pieces) -> Option<()> {
    if content.text().is_some() {
        pieces.output(content);
    }
    for (block, raw) in blocks_as_written(content)? {
        match block.object() {
            Some(block) if block.is("text") => pieces.output(&block.text),
            Some(block) if block.is("image") || block.is("document") => {}
            Some(_) => pieces.unknown(raw),
            None => {}
        }
    }
    Some(())
}
