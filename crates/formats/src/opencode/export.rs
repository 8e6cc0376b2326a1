//! The document that `opencode export` prints of a session, made from the lines of its rows, byte
//! for byte as 1.18 prints it, but for the white space of what is nested very deep. What 2.x
//! exports was not at hand.

use std::fmt::Write;

use crate::json::{self, Member, member, members};

/// `None`: these lines have no session of 1.x.
pub(super) fn document(lines: &str) -> Option<String> {
    let (mut info, mut messages, mut open) = (None, String::new(), None);
    for line in lines.lines() {
        let row = member(line, "row")?;
        match member(line, "table")? {
            "\"session\"" => info = Some(session(row)),
            "\"message\"" => {
                messages.push_str(if open.is_some() { "]}," } else { "" });
                let info = with_names(row, &[("id", "id"), ("sessionID", "session_id")]);
                let _ = write!(messages, "{{\"info\":{info},\"parts\":[");
                open = member(row, "id");
            }
            // A part that belongs to no message is in no document either.
            "\"part\"" if open.is_some() && member(row, "message_id") == open => {
                messages.push_str(if messages.ends_with('[') { "" } else { "," });
                let names = [
                    ("id", "id"),
                    ("sessionID", "session_id"),
                    ("messageID", "message_id"),
                ];
                messages.push_str(&with_names(row, &names));
            }
            _ => {}
        }
    }
    messages.push_str(if open.is_some() { "]}" } else { "" });
    let document = format!("{{\"info\":{},\"messages\":[{messages}]}}", info?);
    let mut document = json::indented(&json::stringify(document.as_bytes())?);
    document.push('\n');
    Some(document)
}

/// What a row says of a message or part, with columns of the row under the agent's names for them.
fn with_names(row: &str, names: &[(&str, &str)]) -> String {
    let said = member(row, "data").unwrap_or_default().trim();
    let said = said
        .strip_prefix('{')
        .and_then(|said| said.strip_suffix('}'));
    let mut object = Object::default();
    object.text.push_str(said.unwrap_or_default().trim());
    for (name, column) in names {
        object.add(name, member(row, column));
    }
    object.done()
}

/// What the agent says of a session with this row.
fn session(row: &str) -> String {
    let columns = Columns(members(row));
    let names = [
        ("id", "id"),
        ("slug", "slug"),
        ("projectID", "project_id"),
        ("workspaceID", "workspace_id"),
        ("directory", "directory"),
        ("path", "path"),
        ("parentID", "parent_id"),
        ("title", "title"),
        ("agent", "agent"),
    ];
    let times = [
        ("created", "time_created"),
        ("updated", "time_updated"),
        ("compacting", "time_compacting"),
        ("archived", "time_archived"),
    ];
    let model = columns.within("model", &["id", "providerID", "variant"]);
    let revert = columns.within("revert", &["messageID", "partID", "snapshot", "diff"]);
    let share = columns.of("share_url").filter(|url| *url != "\"\"");
    let share = share.map(|url| format!("{{\"url\":{url}}}"));
    let mut info = columns.copied(&names);
    info.add("model", model.as_deref());
    info.add("version", columns.of("version"));
    info.add("summary", columns.summary().as_deref());
    info.add("cost", columns.of("cost"));
    info.add("tokens", columns.tokens().as_deref());
    info.add("share", share.as_deref());
    info.add("metadata", columns.of("metadata"));
    info.add("revert", revert.as_deref());
    info.add("permission", columns.of("permission"));
    info.add("time", Some(&columns.copied(&times).done()));
    info.done()
}

/// The columns of a session's row.
struct Columns<'a>(Vec<Member<'a>>);

impl<'a> Columns<'a> {
    /// What a column holds; `None` too where that is `null`.
    fn of(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|column| column.key == name)?;
        Some(found.value).filter(|value| *value != "null")
    }

    /// Columns under other names.
    fn copied(&self, names: &[(&str, &str)]) -> Object {
        let mut object = Object::default();
        for (name, column) in names {
            object.add(name, self.of(column));
        }
        object
    }

    /// Some members of the object in a column.
    fn within(&self, column: &str, names: &[&str]) -> Option<String> {
        let value = self.of(column).filter(|value| value.starts_with('{'))?;
        let mut object = Object::default();
        for name in names {
            object.add(name, member(value, name));
        }
        Some(object.done())
    }

    /// What was changed in files; `None` where none of it was counted.
    fn summary(&self) -> Option<String> {
        let names = ["additions", "deletions", "files"];
        let counts = names.map(|name| self.of(&format!("summary_{name}")));
        counts.iter().flatten().next()?;
        let mut object = Object::default();
        for (name, count) in names.into_iter().zip(counts) {
            object.add(name, count.or(Some("0")));
        }
        object.add("diffs", self.of("summary_diffs"));
        Some(object.done())
    }

    /// The session's own sums; `None` where its version kept none.
    fn tokens(&self) -> Option<String> {
        let mut object = self.copied(&[
            ("input", "tokens_input"),
            ("output", "tokens_output"),
            ("reasoning", "tokens_reasoning"),
        ]);
        let cache = [
            ("read", "tokens_cache_read"),
            ("write", "tokens_cache_write"),
        ];
        let has_any = !object.text.is_empty();
        object.add("cache", Some(&self.copied(&cache).done()));
        Some(object.done()).filter(|_| has_any)
    }
}

/// An object that is being written.
#[derive(Default)]
pub(super) struct Object {
    text: String,
}

impl Object {
    /// Add a member; one without a value is left out.
    pub fn add(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            let comma = if self.text.is_empty() { "" } else { "," };
            let _ = write!(self.text, "{comma}\"{name}\":{value}");
        }
    }

    /// Add a member as it is written elsewhere.
    pub fn add_as_written(&mut self, member: &str) {
        let comma = if self.text.is_empty() { "" } else { "," };
        let _ = write!(self.text, "{comma}{member}");
    }

    pub fn done(self) -> String {
        format!("{{{}}}", self.text)
    }
}
