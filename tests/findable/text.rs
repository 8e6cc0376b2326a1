//! Which text of a line is to be found? The written rules, read a second time on plain JSON values.

use serde_json::Value;

use sessionary::model::Class;

/// The pieces of a line's two classes.
#[derive(Default)]
pub struct Pieces {
    prose: Vec<String>,
    output: Vec<String>,
}

impl Pieces {
    /// A field that should be text; where it is not, what a reader would call text in it.
    fn add(&mut self, class: Class, value: &Value) {
        let text = match value {
            Value::String(text) if is_base64(&as_seen(text)) => return,
            Value::String(text) => as_seen(text),
            Value::Number(number) => number.to_string(),
            _ => return self.leaves_of(class, "", value, is_id_or_type),
        };
        let list = if class == Class::Prose {
            &mut self.prose
        } else {
            &mut self.output
        };
        list.extend(without_data_urls(&text));
    }

    /// Every text and number below `value`.
    fn leaves(&mut self, key: &str, value: &Value, skip: fn(&str) -> bool) {
        self.leaves_of(Class::Output, key, value, skip);
    }

    fn leaves_of(&mut self, class: Class, key: &str, value: &Value, skip: fn(&str) -> bool) {
        match value {
            Value::Array(members) => members
                .iter()
                .for_each(|member| self.leaves_of(class, key, member, skip)),
            Value::Object(members) => {
                members
                    .iter()
                    .for_each(|(key, member)| self.leaves_of(class, key, member, skip));
            }
            Value::String(text) if is_base64(&as_seen(text)) => {}
            Value::String(_) | Value::Number(_) if !skip(key) => self.add(class, value),
            _ => {}
        }
    }

    /// Its passages.
    pub fn passages(self) -> Vec<(Class, Vec<String>)> {
        [(Class::Prose, self.prose), (Class::Output, self.output)]
            .into_iter()
            .filter(|(_, pieces)| !pieces.is_empty())
            .collect()
    }
}

/// What a terminal shows of a text.
fn as_seen(text: &str) -> String {
    let unseen = regex::Regex::new(
        r"\x1b\[[0-?]*[ -/]*m(\x1b\[0?K)?|\x1b\][^\x00-\x1f]*(\x07|\x1b\\)|\x1b[()*+][0-9A-Za-z]|\x1b\[[0-?]*[ -/]*[@-~]",
    );
    let cut = unseen
        .unwrap()
        .replace_all(text, |found: &regex::Captures<'_>| {
            let whole = &found[0];
            let moves =
                whole.starts_with("\x1b[") && !whole.ends_with('m') && found.get(1).is_none();
            if moves { " " } else { "" }
        });
    cut.into_owned()
}

fn is_signature(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('_', "");
    key.ends_with("signature")
        || ["encryptedcontent", "resumetoken", "approvalurl"].contains(&key.as_str())
}

fn is_id(key: &str) -> bool {
    is_signature(key) || key == "id" || ["Id", "_id", "ID"].iter().any(|end| key.ends_with(end))
}

fn is_id_or_type(key: &str) -> bool {
    is_id(key) || key == "type" || key == "timestamp"
}

/// Base64 is one line of letters, or lines of one length; words below each other are not.
fn is_base64(text: &str) -> bool {
    let letters = |line: &str| {
        line.chars()
            .all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c))
    };
    let lines: Vec<&str> = text.lines().collect();
    let width = lines.first().map_or(0, |line| line.len());
    text.len() >= 256
        && width >= 40
        && lines
            .iter()
            .all(|line| letters(line) && line.len() <= width)
        && lines.iter().rev().skip(1).all(|line| line.len() == width)
}

fn without_data_urls(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(mark) = rest.find(";base64,") {
        let from = rest[..mark].rfind("data:").unwrap_or(mark);
        pieces.push(rest[..from].to_owned());
        rest = rest[mark + ";base64,".len()..]
            .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "+/=-_%".contains(c));
    }
    pieces.push(rest.to_owned());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The searchable text of one pi line.
pub fn pi(line: &Value) -> Pieces {
    let mut pieces = Pieces::default();
    let Value::Object(_) = line else {
        pieces.leaves("", line, is_id_or_type);
        return pieces;
    };
    match line["type"].as_str().unwrap_or_default() {
        "session" => {}
        "message" => pi_message(&line["message"], &mut pieces),
        "model_change" => {
            pieces.add(Class::Prose, &line["provider"]);
            pieces.add(Class::Prose, &line["modelId"]);
        }
        "thinking_level_change" => pieces.add(Class::Prose, &line["thinkingLevel"]),
        "session_info" => pieces.add(Class::Prose, &line["name"]),
        "label" => pieces.add(Class::Prose, &line["label"]),
        "compaction" | "branch_summary" => {
            pieces.add(Class::Prose, &line["summary"]);
            pieces.leaves("", &line["details"], is_id);
        }
        "custom_message" => {
            content(&line["content"], Class::Prose, &mut pieces);
            pieces.leaves("", &line["details"], is_id);
        }
        "custom" => pieces.leaves("", &line["data"], is_id),
        "usage" => pieces.add(Class::Prose, &line["note"]),
        "context_edit" => content(&line["replacement"]["content"], Class::Prose, &mut pieces),
        _ => pieces.leaves("", line, is_id_or_type),
    }
    pieces
}

fn pi_message(message: &Value, pieces: &mut Pieces) {
    match message["role"].as_str().unwrap_or_default() {
        "system" => {}
        "toolResult" => {
            pieces.add(Class::Output, &message["toolName"]);
            content(&message["content"], Class::Output, pieces);
            pieces.leaves("", &message["details"], is_id);
        }
        "bashExecution" => {
            pieces.add(Class::Output, &message["command"]);
            pieces.add(Class::Output, &message["output"]);
        }
        _ => {
            content(&message["content"], Class::Prose, pieces);
            pieces.add(Class::Prose, &message["summary"]);
            pieces.add(Class::Prose, &message["errorMessage"]);
            pieces.leaves("", &message["details"], is_id);
        }
    }
}

fn content(content: &Value, class: Class, pieces: &mut Pieces) {
    if content.is_string() {
        pieces.add(class, content);
    }
    for block in content
        .as_array()
        .into_iter()
        .flatten()
        .filter(|block| block.is_object())
    {
        match block["type"].as_str().unwrap_or_default() {
            "text" => pieces.add(class, &block["text"]),
            "thinking" => pieces.add(class, &block["thinking"]),
            "toolCall" => {
                pieces.add(Class::Output, &block["name"]);
                pieces.leaves("", &block["arguments"], is_signature);
            }
            "image" => {}
            _ => pieces.leaves("", block, is_id_or_type),
        }
    }
}

/// The searchable text of one clido line.
pub fn clido(line: &Value) -> Pieces {
    let mut pieces = Pieces::default();
    let Value::Object(_) = line else {
        pieces.leaves("", line, is_id_or_type);
        return pieces;
    };
    match line["type"].as_str().unwrap_or_default() {
        "user_message" | "assistant_message" => {
            if line["content"].is_string() {
                pieces.add(Class::Prose, &line["content"]);
            }
            for block in line["content"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|block| block.is_object())
            {
                match block["type"].as_str().unwrap_or_default() {
                    "text" => pieces.add(Class::Prose, &block["text"]),
                    "thinking" => pieces.add(Class::Prose, &block["thinking"]),
                    "tool_use" => {
                        pieces.add(Class::Output, &block["name"]);
                        pieces.leaves("", &block["input"], is_signature);
                    }
                    "tool_result" => pieces.add(Class::Output, &block["content"]),
                    "image" => {}
                    _ => pieces.leaves("", block, is_id_or_type),
                }
            }
        }
        "tool_result" => {
            pieces.add(Class::Output, &line["content"]);
            pieces.add(Class::Output, &line["path"]);
        }
        "system" => pieces.add(Class::Prose, &line["message"]),
        "title" => pieces.add(Class::Prose, &line["title"]),
        "meta" | "result" | "tool_call" => {}
        _ => pieces.leaves("", line, is_id_or_type),
    }
    pieces
}

/// The class of what filters alone find of an entry without text, if they can: an image, an error,
/// why it ended.
pub fn told_without_text(line: &Value) -> Option<Class> {
    let has_image = |content: &Value| {
        let blocks = content.as_array().into_iter().flatten();
        blocks.into_iter().any(|block| block["type"] == "image")
    };
    let message = &line["message"];
    let told = match line["type"].as_str().unwrap_or_default() {
        "message" => {
            has_image(&message["content"])
                || match message["role"].as_str().unwrap_or_default() {
                    "assistant" => message["stopReason"].is_string(),
                    "toolResult" => message["isError"] == true,
                    "bashExecution" => {
                        message["cancelled"] == true
                            || message["exitCode"].as_f64().is_some_and(|code| code != 0.0)
                    }
                    _ => false,
                }
        }
        "custom_message" | "user_message" | "assistant_message" => has_image(&line["content"]),
        "tool_result" => line["is_error"] == true,
        "result" => line["exit_status"].is_string(),
        _ => false,
    };
    let answers = line["type"] == "tool_result" || message["role"] == "toolResult";
    told.then_some(if answers { Class::Output } else { Class::Prose })
}
