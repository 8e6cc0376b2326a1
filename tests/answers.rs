//! What does an answer say of its hits, in which order, and how does it go on? Here are the
//! sessions that are asked about.

use serde_json::{Value, json};
use sessionary::index::SearchScope;
use sessionary::model::{Hit, SearchAnswer};
use sessionary::{Config, Freshness, Index, Indexer};

use crate::findable;

mod copies;
mod filters;
mod meant;
mod order;
mod pages;
mod places;

const DAY: i64 = 86_400_000;
/// 2026-03-01T00:00:00Z
const NOW: i64 = 1_772_323_200_000;

fn time(days_ago: i64) -> String {
    let ms = NOW - days_ago * DAY;
    jiff::Timestamp::from_millisecond(ms).unwrap().to_string()
}

fn message(id: &str, parent: Option<&str>, days_ago: i64, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": time(days_ago), "message": message})
}

fn text_message(id: &str, parent: Option<&str>, role: &str, text: &str) -> Value {
    message(
        id,
        parent,
        1,
        json!({"role": role, "content": [{"type": "text", "text": text}]}),
    )
}

fn tool_call(id: &str, parent: &str, call: &str, command: &str) -> Value {
    let call =
        json!({"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": command}});
    message(
        id,
        Some(parent),
        1,
        json!({"role": "assistant", "content": [call]}),
    )
}

fn tool_result(id: &str, parent: &str, call: &str, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    message(
        id,
        Some(parent),
        1,
        json!({"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": content, "isError": false}),
    )
}

fn session(id: &str, cwd: &str, entries: &[Value]) -> String {
    let header =
        json!({"type": "session", "version": 3, "id": id, "timestamp": time(2), "cwd": cwd});
    std::iter::once(&header)
        .chain(entries)
        .map(|entry| format!("{entry}\n"))
        .collect()
}

struct World {
    place: findable::Place,
}

impl World {
    fn new(sessions: &[(&str, String)]) -> World {
        let place = findable::Place::new();
        for (name, content) in sessions {
            place.write(&format!("w/{name}.jsonl"), content);
        }
        World { place }
    }

    fn config(&self) -> Config {
        let mut config = self.place.config();
        config.home = Some("/home/ada".into());
        config
    }

    fn index(&self) -> Index {
        Index::open(&self.config(), Freshness::Check).unwrap()
    }

    /// The same question with nothing indexed, and with everything.
    fn both(&self, check: impl Fn(&Index)) {
        check(&self.index());
        Indexer::open(&self.config()).unwrap().sync().unwrap();
        check(&self.index());
    }
}

fn scope() -> SearchScope {
    SearchScope {
        now_ms: Some(NOW),
        ..SearchScope::default()
    }
}

fn ask(index: &Index, query: &str, scope: &SearchScope) -> SearchAnswer {
    index
        .search(query, scope)
        .unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn hits(answer: &SearchAnswer) -> Vec<&Hit> {
    answer
        .sessions
        .iter()
        .flat_map(|group| &group.hits)
        .collect()
}

fn entries(answer: &SearchAnswer) -> Vec<&str> {
    hits(answer).iter().map(|hit| hit.entry.as_str()).collect()
}

/// r - a - b (abandoned)
///   \ c - [compaction, keeps d] ...: d is kept, r and c are not.
fn tree() -> World {
    World::new(&[(
        "a",
        session(
            "s1",
            "/w",
            &[
                text_message("r", None, "user", "piston one"),
                text_message("a", Some("r"), "assistant", "piston two"),
                text_message("b", Some("a"), "user", "piston three"),
                text_message("c", Some("r"), "assistant", "piston four"),
                text_message("d", Some("c"), "user", "piston five"),
                json!({"type": "compaction", "id": "k", "parentId": "d", "timestamp": time(1), "summary": "the engine", "firstKeptEntryId": "d", "tokensBefore": 9}),
                text_message("e", Some("k"), "assistant", "piston six"),
            ],
        ),
    )])
}

/// A session of things that a person said.
fn said(id: &str, texts: &[String]) -> String {
    let mut entries = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let parent = number.checked_sub(1).map(|last| format!("{id}{last:03}"));
        let own = format!("{id}{number:03}");
        entries.push(text_message(&own, parent.as_deref(), "user", text));
    }
    session(id, "/w/app", &entries)
}
