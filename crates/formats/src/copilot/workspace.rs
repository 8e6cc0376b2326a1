//! What `workspace.yaml` says of its session: the keys that are needed of a flat YAML file.
//!
//! Copilot writes one `key: value` a line, a value in quotes where it would be read as something
//! else, or as a block below its key where it has several lines (`|-`, `>-`).

use serde_json::{Map, Value};

use crate::json;
use crate::model::{Class, Facts, Header, Passage};

/// The file is the session's own entry.
pub(super) fn facts(file: &[u8]) -> Facts {
    let text = String::from_utf8_lossy(file);
    let value = |key| value(&text, key).filter(|value| !value.is_empty());
    let created_raw = value("created_at");
    let created_ms = created_raw.as_deref().and_then(json::date_ms);
    let mut own = Map::new();
    if let Some(client) = value("client_name") {
        own.insert("client_name".to_owned(), client.into());
    }
    own.insert("user_named".to_owned(), is_named(&text).into());
    Facts {
        kind: "session".to_owned(),
        agent_sees: true,
        name: value("name").or_else(|| value("summary")),
        git_branch: value("branch"),
        header: Some(Header {
            id: value("id"),
            id_is_string: true,
            cwd: value("cwd"),
            created_raw,
            created_ms,
            own: Some(Value::from(own).to_string()),
            ..Header::default()
        }),
        ..Facts::default()
    }
}

/// With what Copilot ends a prompt that it cuts.
pub(super) const CUT: &str = "...";

/// The longest summary that is taken for a model's, in characters.
const SUMMARY: usize = 100;

/// A name that a person gave; any other is the first prompt, which is found where it was typed. Or
/// what versions that wrote no name called the session, where it is no such prompt: a model's name
/// is short, and not cut.
pub(super) fn passages(file: &[u8]) -> Vec<Passage> {
    let text = String::from_utf8_lossy(file);
    let value = |key| value(&text, key).filter(|value| !value.is_empty());
    let name = match value("name") {
        Some(name) => is_named(&text).then_some(name),
        None => value("summary")
            .filter(|summary| !summary.ends_with(CUT) && summary.chars().nth(SUMMARY).is_none()),
    };
    let passage = |name| Passage {
        class: Class::Prose,
        pieces: vec![name],
    };
    name.map(passage).into_iter().collect()
}

fn is_named(text: &str) -> bool {
    value(text, "user_named").as_deref() == Some("true")
}

/// The value of a key at the left margin; `null` and `~` are none.
fn value(text: &str, key: &str) -> Option<String> {
    let mut lines = text.lines();
    let written = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let written = written.trim();
    match written.as_bytes() {
        [] | b"null" | b"~" => None,
        [b'|' | b'>', ..] => {
            let block = lines.take_while(|line| line.is_empty() || line.starts_with(' '));
            let block: Vec<&str> = block.map(str::trim).collect();
            let glue = if written.starts_with('|') { "\n" } else { " " };
            Some(block.join(glue).trim_end().to_owned())
        }
        // In double quotes, YAML's escapes are those of JSON and a few rare ones.
        [b'"', .., b'"'] => match json::whole(written.as_bytes()) {
            Some(_) => Some(json::decode(written.as_bytes()).into_owned()),
            None => Some(written[1..written.len() - 1].to_owned()),
        },
        [b'\'', .., b'\''] => Some(written[1..written.len() - 1].replace("''", "'")),
        // A comment follows a space.
        _ => written
            .split(" #")
            .next()
            .map(|plain| plain.trim_end().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn values_are_read_as_yaml_reads_them() {
        for (written, read) in [
            ("plain words", Some("plain words")),
            ("a: b, c", Some("a: b, c")),
            ("words # a comment", Some("words")),
            ("a#b", Some("a#b")),
            (
                "\"with \\\"quotes\\\" and \\u00e9\\n\"",
                Some("with \"quotes\" and é\n"),
            ),
            ("\"a \\x41\"", Some("a \\x41")),
            ("'it''s'", Some("it's")),
            ("\"", Some("\"")),
            ("''", Some("")),
            ("null", None),
            ("~", None),
            ("", None),
            ("|-\n  one\n\n  two\nnext: 1", Some("one\n\ntwo")),
            (">-\n  one\n  two", Some("one two")),
        ] {
            let text = format!("filename: no\nname: {written}\nlast: yes\n");
            assert_eq!(value(&text, "name").as_deref(), read, "{written}");
        }
        assert_eq!(
            value("fork_name: x\r\nname: y\r\n", "name").as_deref(),
            Some("y")
        );
        assert_eq!(value("  name: nested\n", "name"), None);
    }
}
