//! What a session of ours says of itself, in the very text that oracle/session-state.mjs makes of an agent's.

use sessionary::format::json;
use sessionary::session::{Entry, Message, SessionManager, convert_to_llm};

/// A text as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text")
}

fn nullable(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), quoted)
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

fn canonical(json: &str) -> String {
    json::stringify(json.as_bytes()).unwrap_or_else(|| panic!("no JSON: {json}"))
}

fn messages(messages: &[Message<'_>]) -> String {
    list(messages.iter().map(|message| canonical(message.as_str())))
}

fn ids<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> String {
    list(entries.into_iter().map(|entry| nullable(entry.id())))
}

/// See above.
pub fn state(session: &SessionManager) -> String {
    let context = session.build_session_context();
    let tree = session.tree();
    let nodes = tree.walk().map(|(depth, node)| {
        format!(
            "[{},{depth},{},{}]",
            nullable(node.entry.id()),
            nullable(node.label),
            nullable(node.label_timestamp)
        )
    });
    let model = context.model.as_ref().map_or_else(
        || "null".to_owned(),
        |model| {
            format!(
                "{{\"provider\":{},\"modelId\":{}}}",
                quoted(&model.provider),
                quoted(&model.model_id)
            )
        },
    );
    let labels = session
        .entries()
        .iter()
        .map(|entry| nullable(entry.id().and_then(|id| session.label(id))));
    let fields = [
        ("header", canonical(session.header().json())),
        (
            "entries",
            list(session.entries().iter().map(|entry| canonical(entry.json()))),
        ),
        ("leaf", nullable(session.leaf_id())),
        ("branch", ids(session.branch())),
        ("tree", list(nodes)),
        ("labels", list(labels)),
        ("children", ids(session.children(None))),
        ("name", nullable(session.session_name().as_deref())),
        ("context", messages(&context.messages)),
        ("thinking", quoted(&context.thinking_level)),
        ("model", model),
        ("llm", messages(&convert_to_llm(&context.messages))),
        ("id", quoted(session.session_id())),
        ("cwd", quoted(session.cwd())),
    ];
    let fields = fields.map(|(key, value)| format!("\"{key}\":{value}"));
    format!("{{{}}}", fields.join(","))
}
