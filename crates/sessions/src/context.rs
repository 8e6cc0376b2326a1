//! What would the model see? The messages on the way to the leaf, compactions and edits taken into
//! account.

use std::borrow::Cow;
use std::collections::HashMap;

use super::entry::Entry;
use super::message::{Message, begin};
use super::value::{Value, put};
use sessionary_formats::json;

/// What goes to the model (pi: `SessionContext`).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionContext<'a> {
    /// The messages, oldest first. Those of the file are as it has them.
    pub messages: Vec<Message<'a>>,
    /// The thinking level; "off" where nothing on the branch says.
    pub thinking_level: String,
    /// The model that was chosen or answered last.
    pub model: Option<ModelChoice>,
}

/// A model and who runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// Who runs it, where that is written.
    pub provider: Option<String>,
    /// The model.
    pub model_id: String,
}

/// The context of a branch, root first.
pub(super) fn of<'a>(branch: &[&'a Entry]) -> SessionContext<'a> {
    // Both are said over and over: the last word counts, and it is near the end.
    let level = branch
        .iter()
        .rev()
        .filter(|entry| entry.kind() == "thinking_level_change")
        .find_map(|entry| text(entry.member("thinkingLevel")));
    let model = branch.iter().rev().find_map(|entry| match entry.kind() {
        "model_change" => choice(entry.json(), "modelId"),
        "message" if entry.role() == "assistant" => choice(entry.member("message")?, "model"),
        _ => None,
    });
    SessionContext {
        messages: messages(branch),
        thinking_level: level.unwrap_or_else(|| "off".to_owned()),
        model,
    }
}

fn text(value: Option<&str>) -> Option<String> {
    value.and_then(String::read)
}

fn choice(object: &str, model: &str) -> Option<ModelChoice> {
    Some(ModelChoice {
        provider: text(json::member(object, "provider")),
        model_id: text(json::member(object, model))?,
    })
}

fn messages<'a>(branch: &[&'a Entry]) -> Vec<Message<'a>> {
    let kept = kept(branch);
    let mut edits: HashMap<String, &str> = HashMap::new();
    for entry in kept.iter().filter(|entry| entry.kind() == "context_edit") {
        if let (Some(target), Some(replacement)) =
            (text(entry.member("targetId")), entry.member("replacement"))
        {
            edits.insert(target, replacement);
        }
    }
    let mut all = Vec::new();
    for (at, entry) in kept.into_iter().enumerate() {
        // Only the newest compaction says anything, and it comes first.
        if entry.kind() == "compaction" && at > 0 {
            continue;
        }
        let edit = entry.id().and_then(|id| edits.get(id));
        for message in said(entry) {
            match edit {
                None => all.push(message),
                Some(&"null") => {}
                Some(replacement) => all.push(edited(message, replacement)),
            }
        }
    }
    all
}

/// The entries that the model gets. Where the branch has a compaction, these are the newest one,
/// the entries that it keeps, and those that follow it.
fn kept<'a>(branch: &[&'a Entry]) -> Vec<&'a Entry> {
    let Some(place) = branch
        .iter()
        .rposition(|entry| entry.kind() == "compaction")
    else {
        return branch.to_vec();
    };
    let compaction = branch[place];
    let first = text(compaction.member("firstKeptEntryId"));
    let mut kept = vec![compaction];
    kept.extend(
        branch[..place]
            .iter()
            .skip_while(|entry| first.is_none() || entry.id() != first.as_deref())
            .filter(|entry| entry.role() != "system"),
    );
    kept.extend(&branch[place + 1..]);
    kept
}

/// What one entry tells the model.
fn said(entry: &Entry) -> Vec<Message<'_>> {
    match entry.kind() {
        "message" => message(entry).into_iter().collect(),
        "custom_message" => vec![custom(entry)],
        "branch_summary" if entry.member("summary").is_some_and(json::is_truthy) => {
            vec![summary(entry, "branchSummary", ["summary", "fromId"])]
        }
        "compaction" => {
            let system = entry
                .member("systemMessage")
                .filter(|message| message.starts_with('{'))
                .map(|message| Message::trusted("system", message));
            let summary = summary(entry, "compactionSummary", ["summary", "tokensBefore"]);
            system.into_iter().chain([summary]).collect()
        }
        _ => Vec::new(),
    }
}

/// The message; where its role needs content and it has none, with empty content.
fn message(entry: &Entry) -> Option<Message<'_>> {
    let message = entry.message()?;
    Some(match entry.role() {
        _ if entry.has_content() => message,
        "system" => message.with("content", "\"\""),
        "user" | "assistant" | "toolResult" => message.with("content", "[]"),
        _ => message,
    })
}

fn custom(entry: &Entry) -> Message<'static> {
    let mut out = begin("custom");
    raw(&mut out, "customType", entry.member("customType"));
    let content = entry.member("content").filter(|content| *content != "null");
    raw(&mut out, "content", content.or(Some("[]")));
    raw(&mut out, "display", entry.member("display"));
    raw(&mut out, "details", entry.member("details"));
    end("custom", out, entry)
}

fn summary(entry: &Entry, role: &str, members: [&str; 2]) -> Message<'static> {
    let mut out = begin(role);
    for key in members {
        raw(&mut out, key, entry.member(key));
    }
    end(role, out, entry)
}

fn raw(out: &mut String, key: &str, value: Option<&str>) {
    put(out, key, &value.map(super::value::Json::trusted));
}

/// Ends a message that an entry makes: with the entry's time, null where that is none.
fn end(role: &str, mut out: String, entry: &Entry) -> Message<'static> {
    out.push_str(",\"timestamp\":");
    entry.time_ms().write(&mut out);
    out.push('}');
    Message::trusted(role, out)
}

/// The message with the content that a context edit gives it.
fn edited<'a>(message: Message<'a>, replacement: &str) -> Message<'a> {
    let Some(content) = json::member(replacement, "content") else {
        return message;
    };
    match message.role() {
        "assistant" | "toolResult" if content.starts_with('"') => message.with(
            "content",
            &format!("[{{\"type\":\"text\",\"text\":{content}}}]"),
        ),
        "user" | "assistant" | "toolResult" | "custom" => message.with("content", content),
        _ => message,
    }
}

/// The prompt and tools in force after all system messages (pi: `getCurrentSystemMessage`), as one
/// system message of that time; `None` where there are none.
pub(super) fn system_message(messages: &[Message<'_>], time_ms: i64) -> Option<String> {
    let mut content: Vec<String> = Vec::new();
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut tools: Vec<(String, String)> = Vec::new();
    let mut time: Option<&str> = None;
    for message in messages.iter().filter(|message| message.role() == "system") {
        // JavaScript's `??=`: a null is written over, even by nothing.
        if time.is_none_or(|time| time == "null") {
            time = message.member("timestamp");
        }
        let said = prompt(message.member("content").unwrap_or_default());
        if !said.is_empty() {
            content.push(said);
        }
        for section in json::members(message.member("sections").unwrap_or_default()) {
            match section.value {
                "null" => sections.retain(|(name, _)| *name != section.key),
                value => upsert(&mut sections, section.key.into_owned(), value),
            }
        }
        for removed in json::elements(message.member("toolsRemoved").unwrap_or_default()) {
            let gone = text(json::member(removed, "name")).unwrap_or_default();
            tools.retain(|(name, _)| *name != gone);
        }
        for added in json::elements(message.member("toolsAdded").unwrap_or_default()) {
            let name = text(json::member(added, "name")).unwrap_or_default();
            upsert(&mut tools, name, added);
        }
    }
    if time.is_none() && tools.is_empty() {
        return None;
    }
    let mut out = begin("system");
    put(&mut out, "content", &content.join("\n\n"));
    if !sections.is_empty() {
        let mut object = "{".to_owned();
        for (name, value) in &sections {
            raw(&mut object, name, Some(value));
        }
        object.push('}');
        raw(&mut out, "sections", Some(&object));
    }
    if !tools.is_empty() {
        let list: Vec<&str> = tools.iter().map(|(_, tool)| &**tool).collect();
        raw(
            &mut out,
            "toolsAdded",
            Some(&format!("[{}]", list.join(","))),
        );
    }
    put(&mut out, "timestamp", &time_ms);
    out.push('}');
    Some(out)
}

/// The text of a prompt: plain, or its text blocks one a line.
fn prompt(content: &str) -> String {
    if let Some(plain) = String::read(content) {
        return plain;
    }
    let blocks = json::elements(content).into_iter();
    let texts: Vec<String> = blocks
        .filter(|block| text(json::member(block, "type")).as_deref() == Some("text"))
        .map(|block| text(json::member(block, "text")).unwrap_or_default())
        .collect();
    texts.join("\n")
}

/// Sets a value at its key's place, or at the end.
fn upsert(list: &mut Vec<(String, String)>, key: String, value: &str) {
    match list.iter_mut().find(|(known, _)| *known == key) {
        Some((_, old)) => *old = value.to_owned(),
        None => list.push((key, value.to_owned())),
    }
}

/// What each message is to a language model (pi: `convertToLlm`): system, user, assistant and tool
/// results as they are, the rest as user messages. A command that is excluded from the context, and
/// roles that pi does not know, are left out.
pub fn convert_to_llm<'a>(messages: &[Message<'a>]) -> Vec<Message<'a>> {
    messages.iter().filter_map(for_model).collect()
}

fn for_model<'a>(message: &Message<'a>) -> Option<Message<'a>> {
    let content = match message.role() {
        "system" | "user" | "assistant" | "toolResult" => return Some(message.clone()),
        "bashExecution" => {
            if message
                .member("excludeFromContext")
                .is_some_and(json::is_truthy)
            {
                return None;
            }
            text_block(&command(message))
        }
        "custom" => match message.member("content") {
            Some(plain) if plain.starts_with('"') => text_block(inner(plain)),
            blocks => blocks.unwrap_or_default().to_owned(),
        },
        "branchSummary" => text_block(&format!(
            "The following is a summary of a branch that this conversation came back from:\\n\\n<summary>\\n{}</summary>",
            shown(message.member("summary")),
        )),
        "compactionSummary" => text_block(&format!(
            "The conversation history before this point was compacted into the following summary:\\n\\n<summary>\\n{}\\n</summary>",
            shown(message.member("summary")),
        )),
        _ => return None,
    };
    let mut out = begin("user");
    raw(
        &mut out,
        "content",
        (!content.is_empty()).then_some(&content),
    );
    raw(&mut out, "timestamp", message.member("timestamp"));
    out.push('}');
    Some(Message::trusted("user", out))
}

/// The inside of a JSON string that names a command and what it printed.
fn command(message: &Message<'_>) -> String {
    let mut out = format!("Ran `{}`\\n", shown(message.member("command")));
    match message
        .member("output")
        .filter(|output| json::is_truthy(output))
    {
        Some(output) => out.push_str(&format!("```\\n{}\\n```", shown(Some(output)))),
        None => out.push_str("(no output)"),
    }
    let truthy = |key| message.member(key).is_some_and(json::is_truthy);
    let code = message
        .member("exitCode")
        .filter(|code| *code != "null" && f64::read(code) != Some(0.0));
    if truthy("cancelled") {
        out.push_str("\\n\\n(command cancelled)");
    } else if let Some(code) = code {
        out.push_str(&format!(
            "\\n\\nCommand exited with code {}",
            shown(Some(code))
        ));
    }
    if truthy("truncated") && truthy("fullOutputPath") {
        let path = shown(message.member("fullOutputPath"));
        out.push_str(&format!("\\n\\n[Output truncated. Full output: {path}]"));
    }
    out
}

/// The inside of a JSON string with the value in it: literally, so that even a lone surrogate stays
/// what it is.
fn shown(value: Option<&str>) -> Cow<'_, str> {
    match value {
        Some(text) if text.starts_with('"') => Cow::Borrowed(inner(text)),
        Some("null") => Cow::Borrowed("null"),
        Some(other) => {
            let mut quoted = String::new();
            super::value::quote(&mut quoted, &json::string(other));
            Cow::Owned(inner(&quoted).to_owned())
        }
        None => Cow::Borrowed("undefined"),
    }
}

fn inner(literal: &str) -> &str {
    &literal[1..literal.len() - 1]
}

fn text_block(inside: &str) -> String {
    format!("[{{\"type\":\"text\",\"text\":\"{inside}\"}}]")
}
