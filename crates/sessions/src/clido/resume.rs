//! May a session be resumed, and what does the model see then?

use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::line::SessionLine;

/// Said for a call whose result was never written.
const INTERRUPTED: &str = "[interrupted — tool execution did not complete]";

/// A message as the model gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumedMessage {
    /// "user" or "assistant".
    pub role: &'static str,
    /// Its blocks.
    pub content: Vec<Value>,
}

/// A block that clido does not know: it refuses to resume the session.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("clido does not know the block {0}")]
pub struct RefusedBlock(pub Value);

/// A file that is no longer as the session left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The file.
    pub path: String,
    /// What is different, or why that is not known.
    pub why: String,
}

/// The conversation as clido takes it up: what people and models said; results of tools that follow
/// each other as one message of the user; for calls without a result one that says so.
pub fn resume(lines: &[SessionLine]) -> Result<Vec<ResumedMessage>, RefusedBlock> {
    let mut messages: Vec<ResumedMessage> = Vec::new();
    // Calls of the last answer that have no result yet, and the results so far.
    let (mut open, mut results): (Vec<String>, Vec<Value>) = (Vec::new(), Vec::new());
    for line in lines {
        match line {
            SessionLine::ToolResult {
                tool_use_id,
                content,
                is_error,
                ..
            } => {
                open.retain(|id| id != tool_use_id);
                results.push(result(tool_use_id, content, *is_error));
            }
            SessionLine::UserMessage { content, .. } => {
                answer(&mut messages, &mut open, &mut results);
                messages.push(message("user", content)?);
            }
            SessionLine::AssistantMessage { content } => {
                answer(&mut messages, &mut open, &mut results);
                messages.push(message("assistant", content)?);
                let calls = content.iter().filter(|block| block["type"] == "tool_use");
                open = calls
                    .filter_map(|call| call["id"].as_str().map(str::to_owned))
                    .collect();
            }
            _ => {}
        }
    }
    answer(&mut messages, &mut open, &mut results);
    Ok(messages)
}

/// Closes what the last answer asked for.
fn answer(messages: &mut Vec<ResumedMessage>, open: &mut Vec<String>, results: &mut Vec<Value>) {
    results.extend(open.drain(..).map(|id| result(&id, INTERRUPTED, true)));
    if !results.is_empty() {
        messages.push(ResumedMessage {
            role: "user",
            content: std::mem::take(results),
        });
    }
}

fn result(id: &str, content: &str, is_error: bool) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
}

fn message(role: &'static str, content: &[Value]) -> Result<ResumedMessage, RefusedBlock> {
    match content.iter().find(|block| !is_block(block)) {
        Some(strange) => Err(RefusedBlock(strange.clone())),
        None => Ok(ResumedMessage {
            role,
            content: content.to_vec(),
        }),
    }
}

fn is_block(block: &Value) -> bool {
    let text = |key: &str| block[key].is_string();
    match block["type"].as_str() {
        Some("text") => text("text"),
        Some("thinking") => text("thinking"),
        Some("tool_use") => text("id") && text("name") && block.get("input").is_some(),
        Some("tool_result") => {
            text("tool_use_id") && text("content") && block["is_error"].is_boolean()
        }
        Some("image") => text("media_type") && text("base64_data"),
        _ => false,
    }
}

/// Files that are not as the session's tools left them, in the order of the results that name them.
/// As in clido both time and hash must be the same; a hash may stand bare or behind `sha256:`. A
/// file that was written again later in the session is reported once, for the older result.
pub fn stale_files(lines: &[SessionLine]) -> Vec<ChangedFile> {
    lines
        .iter()
        .filter_map(|line| match line {
            SessionLine::ToolResult {
                path: Some(path),
                content_hash: Some(hash),
                mtime_nanos: Some(mtime),
                ..
            } => Some((path, hash, *mtime)),
            _ => None,
        })
        .filter_map(|(path, hash, mtime)| {
            let why = match changed(Path::new(path), hash, mtime) {
                Ok(why) => why?.to_owned(),
                Err(error) => error.to_string(),
            };
            Some(ChangedFile {
                path: path.clone(),
                why,
            })
        })
        .collect()
}

fn changed(path: &Path, hash: &str, mtime: u64) -> io::Result<Option<&'static str>> {
    let modified = fs::metadata(path)?.modified()?;
    let now = modified
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    let digest = Sha256::digest(fs::read(path)?);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let same = hash.strip_prefix("sha256:").unwrap_or(hash) == digest;
    Ok(match (same, now == u128::from(mtime)) {
        (true, true) => None,
        (true, false) => Some("written again with the same content"),
        (false, _) => Some("its content differs"),
    })
}
