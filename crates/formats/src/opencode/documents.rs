//! The JSON documents in which OpenCode kept a session before it had a database, and the one that
//! `opencode export` prints of it, as the lines of the rows that they became.

use crate::database::{Document, Documents, Whole};
use crate::json::{self, elements, member, members};

use super::export::Object;

pub(super) static DOCUMENTS: Documents = Documents {
    folder: "storage",
    sessions: "session",
    outer: "message",
    inner: "part",
    line,
    repeats: role,
    within,
};

/// Names of what a session says, and the columns that they became.
const NAMES: [(&str, &str); 15] = [
    ("projectID", "project_id"),
    ("workspaceID", "workspace_id"),
    ("parentID", "parent_id"),
    ("slug", "slug"),
    ("directory", "directory"),
    ("path", "path"),
    ("title", "title"),
    ("version", "version"),
    ("metadata", "metadata"),
    ("cost", "cost"),
    ("revert", "revert"),
    ("permission", "permission"),
    ("agent", "agent"),
    ("model", "model"),
    ("forkSessionID", "fork_session_id"),
];

/// The same of what stands one level deeper.
const DEEPER: [(&str, &str, &str); 13] = [
    // As 2.x exports it.
    ("location", "directory", "directory"),
    ("share", "url", "share_url"),
    ("summary", "additions", "summary_additions"),
    ("summary", "deletions", "summary_deletions"),
    ("summary", "files", "summary_files"),
    ("summary", "diffs", "summary_diffs"),
    ("tokens", "input", "tokens_input"),
    ("tokens", "output", "tokens_output"),
    ("tokens", "reasoning", "tokens_reasoning"),
    ("time", "created", "time_created"),
    ("time", "updated", "time_updated"),
    ("time", "compacting", "time_compacting"),
    ("time", "archived", "time_archived"),
];

fn line(document: &Document<'_>) -> Option<String> {
    let text = json::stringify(document.text.as_bytes()).filter(|text| text.starts_with('{'))?;
    let own = member(&text, "id").filter(|id| id.starts_with('"'));
    let own = own.map_or_else(|| quoted(document.name), str::to_owned);
    let (table, row) = match document.of {
        "session" if member(&text, "location").is_some() => ("session_v2", session(&own, &text)),
        "session" => ("session", session(&own, &text)),
        "message" if is_second(&text) => ("session_message", held(&own, document, &text)),
        table => (table, held(&own, document, &text)),
    };
    let repeated = document.outer.map(|(_, repeated)| repeated);
    let repeated = repeated.unwrap_or_default();
    Some(format!(
        "{{\"table\":\"{table}\",\"key\":{own},{repeated}\"row\":{row}}}"
    ))
}

fn session(id: &str, text: &str) -> String {
    let mut row = Object::default();
    row.add("id", Some(id));
    for (name, column) in NAMES {
        row.add(column, member(text, name));
    }
    for (above, name, column) in DEEPER {
        let above = member(text, above).filter(|above| above.starts_with('{'));
        row.add(column, above.and_then(|above| member(above, name)));
    }
    let cache = member(text, "tokens").and_then(|tokens| member(tokens, "cache"));
    for (name, column) in [
        ("read", "tokens_cache_read"),
        ("write", "tokens_cache_write"),
    ] {
        row.add(column, cache.and_then(|cache| member(cache, name)));
    }
    row.done()
}

/// Whether a message is one of 2.x: all that is in it has one type, and nobody's role.
fn is_second(message: &str) -> bool {
    member(message, "type").is_some() && member(message, "role").is_none()
}

/// A row of a message or of a part: what it says stands in one column, without what other columns
/// say.
fn held(id: &str, document: &Document<'_>, text: &str) -> String {
    let mut data = Object::default();
    let (mut session, mut message) = (quoted(document.session), None);
    let (is_second, mut kind) = (document.outer.is_none() && is_second(text), None);
    for said in members(text) {
        match &*said.key {
            "id" => {}
            "sessionID" => session = said.value.to_owned(),
            "type" if is_second => kind = Some(said.value.to_owned()),
            "messageID" if document.outer.is_some() => message = Some(said.value.to_owned()),
            _ => data.add_as_written(&text[said.range.clone()]),
        }
    }
    let data = data.done();
    let mut row = Object::default();
    row.add("id", Some(id));
    if let Some((outer, _)) = document.outer {
        row.add(
            "message_id",
            Some(&message.unwrap_or_else(|| quoted(outer))),
        );
    }
    row.add("session_id", Some(&session));
    row.add("type", kind.as_deref());
    let time = member(&data, "time").filter(|time| time.starts_with('{'));
    row.add(
        "time_created",
        time.and_then(|time| member(time, "created")),
    );
    row.add("data", Some(&data));
    row.done()
}

/// No role is longer, as it is written; each part of a message repeats it.
const LONGEST_ROLE: usize = 64;

/// What the line of a part repeats of its message.
fn role(message: &str) -> String {
    let role = json::whole(message.as_bytes()).and_then(|_| member(message, "role"));
    // Anything else is no role, and may hold ends of lines.
    let role = role.filter(|role| role.starts_with('"') && role.len() <= LONGEST_ROLE);
    role.map_or_else(String::new, |role| {
        format!("\"message\":{{\"role\":{role}}},")
    })
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn within(document: &str) -> Option<Whole<'_>> {
    let info = member(document, "info")?;
    let messages = member(document, "messages").filter(|messages| messages.starts_with('['))?;
    let serde_json::Value::String(id) = serde_json::from_str(member(info, "id")?).ok()? else {
        return None;
    };
    let message = |message| match member(message, "info") {
        Some(info) => {
            let parts = member(message, "parts").map(elements).unwrap_or_default();
            Some((info, parts))
        }
        // As 2.x exports it, with all that is in it.
        None => is_second(message).then(|| (message, Vec::new())),
    };
    Some(Whole {
        id,
        session: info,
        outer: elements(messages).into_iter().filter_map(message).collect(),
    })
}
