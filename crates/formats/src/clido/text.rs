//! All text of one clido line that can be searched.

use super::line::Line;
use crate::json::{self, Loose};
use crate::model::Passage;
use crate::pieces::Pieces;

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

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>, whole: &str, pieces: &mut Pieces) -> Option<()> {
    match line.kind.as_str().unwrap_or_default() {
        "user_message" | "assistant_message" => blocks(line, pieces)?,
        "tool_result" => {
            pieces.output(&line.content);
            pieces.output(&line.path);
        }
        "system" => pieces.prose(&line.message),
        "title" => pieces.prose(&line.title),
        // meta and result are fields of the session; a tool_call repeats its assistant line.
        "meta" | "result" | "tool_call" => {}
        _ => pieces.unknown(whole),
    }
    Some(())
}

fn blocks(line: &Line<'_>, pieces: &mut Pieces) -> Option<()> {
    if line.content.text().is_some() {
        pieces.prose(&line.content);
    }
    for (block, raw) in line.blocks()? {
        let Loose::Object(block) = block else {
            continue;
        };
        match block.kind.as_str().unwrap_or_default() {
            "text" => pieces.prose(&block.text),
            "thinking" => pieces.prose(&block.thinking),
            "tool_use" => {
                pieces.output(&block.name);
                pieces.leaves_of_arguments(&block.input);
            }
            "tool_result" => pieces.output(&block.content),
            "image" => {}
            _ => pieces.unknown(raw),
        }
    }
    Some(())
}
