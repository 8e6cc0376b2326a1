//! Which fields of its hits does a search print? Those of a hit by their names, those of its
//! session behind `session.`.

use serde::Serialize;
use serde_json::json;
use sessionary::index::PrintedLengths;
use sessionary::model::{Hit, HitGroup, SearchAnswer, SessionRow};

use crate::failure::Failure;
use crate::output::fields::{FieldArgs, Fields, names_of};
use crate::output::stream::JsonFrame;
use crate::output::text::terminal_safe_json;

/// What stands before the fields of a hit's session.
const SESSION: &str = "session";

/// The fields that are asked for.
///
/// # Errors
/// As of [`FieldArgs::of`].
pub fn of(args: &FieldArgs, json: bool) -> Result<Fields, Failure> {
    let known = || {
        let session = names_of::<SessionRow>().into_iter();
        let session = session.map(|field| format!("{SESSION}.{field}"));
        names_of::<Hit>().into_iter().chain(session).collect()
    };
    args.of(known, &["address", "role", "time", "snippet"], json)
}

/// How long hits and sessions are with these fields only.
pub fn lengths(fields: &Fields) -> PrintedLengths {
    let (of_session, of_hit) = fields.within(SESSION);
    PrintedLengths::new(
        move |session| length(&of_session, session),
        move |hit| length(&of_hit, hit),
    )
}

fn length(fields: &Fields, of: &impl Serialize) -> usize {
    let json = serde_json::to_string(of).unwrap_or_default();
    let json = fields.some_of_json(json);
    json.map_or(0, |json| terminal_safe_json(&json).len())
}

/// The answer with these fields of its hits and sessions only, or a line for each hit, as values or
/// as JSON.
pub fn printed(answer: &SearchAnswer, fields: &Fields, jsonl: bool) -> Result<String, Failure> {
    if fields.tsv || jsonl {
        return lines(&answer.sessions, fields);
    }
    let (of_session, of_hit) = fields.within(SESSION);
    let mut head = answer.clone();
    let groups = std::mem::take(&mut head.sessions).into_iter().map(|group| {
        let session = of_session.some_of_json(serde_json::to_string(&group.session)?)?;
        let hits = group
            .hits
            .iter()
            .map(|hit| of_hit.some_of_json(serde_json::to_string(hit)?));
        let hits = hits.collect::<Result<Vec<_>, _>>()?.join(",");
        let matches = match group.matches {
            Some(matches) => format!(r#","matches":{matches}"#),
            None => String::new(),
        };
        Ok(format!(
            r#"{{"session":{session},"hits":[{hits}]{matches}}}"#
        ))
    });
    let groups = groups.collect::<Result<Vec<_>, Failure>>()?.join(",");
    let frame = JsonFrame::of(&head, "sessions")?;
    let json = format!("{}{groups}{}", frame.before, frame.after);
    Ok(terminal_safe_json(&json).into_owned())
}

fn lines(groups: &[HitGroup], fields: &Fields) -> Result<String, Failure> {
    let mut lines = fields.header();
    for group in groups {
        let session = json!(group.session);
        for hit in &group.hits {
            let mut row = serde_json::to_value(hit)?;
            if let Some(row) = row.as_object_mut() {
                row.insert(SESSION.to_owned(), session.clone());
            }
            if fields.tsv {
                lines.push_str(&fields.tsv(&row));
                continue;
            }
            let line = fields.of_json(row.to_string())?;
            lines.push_str(&terminal_safe_json(&line));
            lines.push('\n');
        }
    }
    Ok(lines)
}
