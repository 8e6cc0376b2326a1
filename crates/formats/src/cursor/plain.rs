//! What does a plain transcript say, as Cursor wrote them until about February 2026? `user:` or
//! `assistant:` on a line of its own begins a message; in an answer `[Thinking]`, `[Tool call]
//! NAME` and `[Tool result]` begin what they say, and what a call and a result have is indented.

use super::line::{note_call, note_directory};
use super::said;
use crate::json::Text;
use crate::model::{Facts, Passage};
use crate::pieces::Pieces;

/// One part of a transcript, in its order.
enum Part<'t> {
    /// A message of a person's, with all that stands around what was typed.
    User(&'t str),
    /// What was answered or thought.
    Answer(&'t str),
    /// A tool and what it was given.
    Call(&'t str),
    /// What a tool gave back.
    Result(&'t str),
}

/// The facts of a transcript: it is one entry.
pub(super) fn facts(file: &[u8], project: Option<&str>) -> Facts {
    let text = String::from_utf8_lossy(file);
    let mut facts = Facts {
        kind: "transcript".to_owned(),
        agent_sees: true,
        ..Facts::default()
    };
    for part in parts(&text) {
        match part {
            Part::User(message) if facts.user_text.is_none() => {
                let typed = said::said(message).typed;
                facts.user_text = (!typed.is_empty()).then(|| typed.join("\n\n"));
            }
            Part::Call(call) => {
                let named = of_call(call, &mut facts);
                note_directory(project, &named, &mut facts);
            }
            _ => {}
        }
    }
    facts.is_message = facts.user_text.is_some();
    facts
}

/// All searchable text of a transcript.
pub(super) fn passages(file: &[u8]) -> Vec<Passage> {
    let text = String::from_utf8_lossy(file);
    let mut pieces = Pieces::default();
    for part in parts(&text) {
        match part {
            Part::User(message) => {
                let said = said::said(message);
                said.typed.iter().for_each(|text| pieces.prose_text(text));
                let injected = said.injected.iter();
                injected.for_each(|text| pieces.output_text(text));
            }
            Part::Answer(text) => pieces.prose_text(text),
            Part::Call(text) | Part::Result(text) => pieces.output_text(text),
        }
    }
    pieces.into_passages()
}

/// The parts of a transcript. What stands before the first message is an answer's: nobody typed it.
fn parts<'t>(text: &'t str) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    let mut part: fn(&'t str) -> Part<'t> = Part::Answer;
    let (mut start, mut at, mut is_in_query) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        let is_user = matches!(part(""), Part::User(_));
        if is_user {
            // A person may have typed what looks like another message.
            is_in_query = match line.rfind("</user_query>") {
                Some(end) => line[end..].contains("<user_query>"),
                None => is_in_query || line.contains("<user_query>"),
            };
        }
        let is_body = matches!(part(""), Part::Call(_) | Part::Result(_));
        let (next, skipped): (fn(&'t str) -> Part<'t>, usize) = match line.trim_end() {
            _ if is_in_query => continue,
            "user:" => (Part::User, line.len()),
            "assistant:" => (Part::Answer, line.len()),
            _ if is_user => continue,
            said if said.starts_with("[Thinking]") => (Part::Answer, "[Thinking]".len()),
            said if said.starts_with("[Tool call] ") => (Part::Call, "[Tool call] ".len()),
            said if said.starts_with("[Tool result]") => (Part::Result, "[Tool result]".len()),
            said if is_body && !said.is_empty() && !line.starts_with([' ', '\t']) => {
                (Part::Answer, 0)
            }
            _ => continue,
        };
        add(&mut parts, part(&text[start..begin]));
        (part, start) = (next, begin + skipped);
    }
    add(&mut parts, part(&text[start..]));
    parts
}

fn add<'t>(parts: &mut Vec<Part<'t>>, part: Part<'t>) {
    let (Part::User(text) | Part::Answer(text) | Part::Call(text) | Part::Result(text)) = &part;
    if !text.trim().is_empty() {
        parts.push(part);
    }
}

/// Notes a call: the tool's name, and below it a line for each argument, `path: src/a.rs` or
/// `path=src/a.rs`. Gives the paths that it names.
fn of_call(call: &str, facts: &mut Facts) -> Vec<String> {
    let mut lines = call.lines();
    let tool = lines.next().unwrap_or_default().trim();
    let arguments: Vec<(&str, &str)> = lines
        .filter_map(|line| {
            let (name, value) = line.split_once([':', '='])?;
            Some((name.trim(), value.trim()))
        })
        .collect();
    let given = |names: &[&str]| {
        let mut arguments = arguments.iter().filter(|(_, value)| !value.is_empty());
        let given = arguments.find(|(name, _)| names.contains(name));
        Text(given.map(|(_, value)| (*value).into()))
    };
    let path = given(&["path", "file_path", "target_file", "target_notebook"]);
    let mut named: Vec<_> = path.owned().into_iter().collect();
    let about = [given(&["pattern"]), given(&["query"]), given(&["url"])];
    let others = about.each_ref();
    note_call(
        facts,
        Some(tool.to_owned()),
        &named,
        &given(&["command"]),
        &others,
    );
    let folders = [given(&["target_directory"]), given(&["working_directory"])];
    named.extend(folders.iter().filter_map(Text::owned));
    named
}
