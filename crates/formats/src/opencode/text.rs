//! All text of one row that can be searched. What a tool's `metadata` and `title` say stands in its
//! input or output, and a file's `url` is the file itself.

use super::facts::is_made;
use super::line::{Data, Failure, Line};
use super::put_in::Said;
use super::second;
use crate::json::{self, Loose};
use crate::model::Passage;
use crate::pieces::Pieces;

pub(super) fn passages(record: &[u8]) -> Vec<Passage> {
    let read = |text: &str| {
        let mut pieces = Pieces::default();
        match json::parse::<Loose<Line<'_>>>(text)? {
            Loose::Object(line) => of_line(&line, &mut pieces)?,
            _ => pieces.unknown(text),
        }
        Some(pieces.into_passages())
    };
    json::tiers(record, read).unwrap_or_default()
}

/// `None` where a part of the line needs the second tier.
fn of_line(line: &Line<'_>, pieces: &mut Pieces) -> Option<()> {
    let table = line.table.as_str().unwrap_or_default();
    let Some(row) = line.row()? else {
        return Some(());
    };
    if matches!(table, "session" | "session_v2") {
        if let Some(title) = row.title.as_str().filter(|title| !is_made(title)) {
            pieces.prose_text(title);
        }
    } else if table == "session_message" {
        second::text(row, pieces)?;
    } else if table == "message" {
        if let Loose::Object(data) = row.data.parse::<Loose<Data<'_>>>()? {
            failure(&data.error, pieces);
        }
    } else if let Loose::Object(data) = row.data.parse::<Loose<Data<'_>>>()? {
        let message = line.message.object();
        let role = message.and_then(|message| message.role.as_str());
        match data.kind.as_str() {
            Some("text") if role == Some("user") => said(&data, pieces),
            _ => part(&data, row.data.0.unwrap_or_default(), pieces),
        }
    }
    Some(())
}

/// A text in a person's place. What was put in beside what was typed is output.
pub(super) fn said(data: &Data<'_>, pieces: &mut Pieces) {
    let text = data.text.text();
    match text.as_deref().map(Said::of) {
        Some(Said {
            typed: Some(typed),
            put_in,
        }) if !put_in.is_empty() => {
            pieces.prose_text(typed.as_str());
            put_in.into_iter().for_each(|text| pieces.output_text(text));
        }
        _ => pieces.prose(&data.text),
    }
}

/// System prompts, which stand in rows of their own in 2.x.
pub(super) fn prompts(record: &[u8]) -> Vec<String> {
    let read = |text: &str| {
        let mut pieces = Pieces::default();
        if let Loose::Object(line) = json::parse::<Loose<Line<'_>>>(text)?
            && let Some(row) = line.row()?
        {
            second::prompt(row, &mut pieces)?;
        }
        Some(pieces.into_pieces())
    };
    json::tiers(record, read).unwrap_or_default()
}

pub(super) fn failure(error: &Loose<Failure<'_>>, pieces: &mut Pieces) {
    if let Some(error) = error.object() {
        pieces.prose(&error.message);
        if let Some(reason) = error.data.object() {
            pieces.prose(&reason.message);
        }
    }
}

pub(super) fn part(data: &Data<'_>, whole: &str, pieces: &mut Pieces) {
    match data.kind.as_str().unwrap_or_default() {
        "text" | "reasoning" => pieces.prose(&data.text),
        "tool" => {
            pieces.output(&data.tool);
            pieces.output(&data.name);
            if let Loose::Object(state) = &data.state {
                pieces.leaves_of_arguments(&state.input);
                pieces.output(&state.output);
                pieces.output(&state.content);
                pieces.output(&state.error);
            }
        }
        "file" => pieces.output(&data.filename),
        // Of a command only its name was typed; the rest is the program's.
        "subtask" if data.command.is_value() => {
            if let Some(command) = data.command.text() {
                pieces.prose_text(&format!("/{command}"));
            }
            pieces.output(&data.description);
            pieces.output(&data.prompt);
        }
        "subtask" => {
            pieces.prose(&data.description);
            pieces.prose(&data.prompt);
        }
        "retry" => failure(&data.error, pieces),
        // Hashes, and names of files that are facts.
        "step-start" | "step-finish" | "snapshot" | "patch" | "compaction" | "agent" => {}
        _ => pieces.unknown(whole),
    }
}
