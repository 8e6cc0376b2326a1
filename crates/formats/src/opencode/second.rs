//! Rows of 2.x: one for each message, with all that is in it.

use super::facts::{answer, said, tool};
use super::line::{Data, Printed, Row};
use super::text::{failure, part};
use crate::json::{Loose, Raw};
use crate::model::{Compaction, Facts, FileTouch};
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
            said(data, facts);
            facts.is_message = true;
            facts.has_image = has_image(data)?;
        }
        "assistant" => {
            facts.role = Some("assistant".to_owned());
            facts.is_message = true;
            answered(data, facts)?;
        }
        "system" => {
            facts.role = Some("system".to_owned());
            facts.has_prompt = true;
        }
        "synthetic" | "skill" => facts.role = Some("injected".to_owned()),
        "compaction" => {
            let has_failed = data.status.as_str() == Some("failed");
            facts.compaction = (!has_failed).then(Compaction::default);
            failed(data, facts);
            // It has one time alone, which a fork keeps.
            facts.usage = answer(data, facts.time_ms, facts);
        }
        "shell" => facts.is_error = data.exit.0.is_some_and(|exit| exit != 0),
        "agent-switched" | "model-switched" | "location-switched" | "idle" => facts.silent = true,
        _ => {}
    }
    Some(())
}

/// What an answer says beside its text. `None` where a part of it needs the second tier.
fn answered(data: &Data<'_>, facts: &mut Facts) -> Option<()> {
    // See `answer`: a fork keeps this time.
    let created = data.time.object().and_then(|times| times.created.0);
    facts.copied_with = created.map(|created| created.to_string());
    facts.stop_reason = data.finish.owned();
    failed(data, facts);
    for item in data.content.objects::<Data<'_>>()? {
        if item.kind.as_str() == Some("tool")
            && let Loose::Object(state) = &item.state
        {
            tool(&item, state, facts)?;
        }
    }
    // Those too that no call names.
    if let Some(changed) = data.snapshot.object() {
        for path in changed.files.items()?.iter().filter_map(Raw::text) {
            let is_it = |file: &FileTouch| file.modified && file.path == path;
            if !facts.files.iter().any(is_it) {
                facts.files.push(FileTouch {
                    path: path.into_owned(),
                    modified: true,
                });
            }
        }
    }
    facts.usage = answer(data, facts.message_ms, facts);
    Some(())
}

fn failed(data: &Data<'_>, facts: &mut Facts) {
    if let Some(error) = data.error.object() {
        facts.is_error = true;
        facts.stop_reason = error.called().or(facts.stop_reason.take());
    }
}

/// Whether an image was attached to a prompt.
fn has_image(data: &Data<'_>) -> Option<bool> {
    let files: Vec<Data<'_>> = data.files.objects()?;
    let mut types = files.iter().filter_map(|file| file.mime.as_str());
    Some(types.any(|mime| mime.starts_with("image/")))
}

/// The text of a row that can be searched. `None` where a part of it needs the second tier.
pub(super) fn text(row: &Row<'_>, pieces: &mut Pieces) -> Option<()> {
    let Loose::Object(data) = row.data.parse::<Loose<Data<'_>>>()? else {
        return Some(());
    };
    match row.kind.as_str().unwrap_or_default() {
        "user" => {
            super::text::said(&data, pieces);
            for list in [&data.files, &data.skills] {
                for file in list.objects::<Data<'_>>()? {
                    pieces.output(&file.name);
                    pieces.output(&file.description);
                    pieces.output(&file.text);
                }
            }
        }
        "synthetic" => {
            pieces.prose(&data.text);
            pieces.output(&data.description);
        }
        "skill" => {
            pieces.output(&data.name);
            pieces.output(&data.text);
        }
        "compaction" => {
            pieces.prose(&data.text);
            pieces.prose(&data.summary);
            failure(&data.error, pieces);
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
            match data.output.parse::<Loose<Printed<'_>>>() {
                Some(Loose::Object(printed)) => pieces.output(&printed.output),
                _ => pieces.output(&data.output),
            }
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
