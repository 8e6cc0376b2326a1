//! What a session of ours says of itself, in the very text that oracle/session-state.mjs makes of
//! an agent's.

use std::collections::HashSet;

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

/// See above. Of an entry whose parents go in a circle an agent says nothing: it never comes back.
pub fn state(session: &SessionManager) -> String {
    let all = all(session);
    match all.split_once(",\"branch\":") {
        Some((before, _)) if is_circular(session) => format!("{before},\"circular\":true}}"),
        _ => all,
    }
}

fn is_circular(session: &SessionManager) -> bool {
    let tree = session.tree();
    tree.roots.iter().any(|root| {
        let parent = tree.nodes[*root].entry.parent_id();
        parent.is_some_and(|parent| session.entry(parent).is_some())
    })
}

fn all(session: &SessionManager) -> String {
    let context = session.build_session_context();
    let tree = session.tree();
    let known: HashSet<_> = session.entries().iter().map(Entry::id).collect();
    let twins = known.len() != session.entries().len();
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
                nullable(model.provider.as_deref()),
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
            list(
                session
                    .entries()
                    .iter()
                    .map(|entry| canonical(entry.json())),
            ),
        ),
        ("leaf", nullable(session.leaf_id())),
        ("branch", ids(session.branch())),
        // Of entries that share an id pi's tree has the last one again and again, and no other is a
        // child; ours has each.
        (
            "tree",
            if twins {
                "null".to_owned()
            } else {
                list(nodes)
            },
        ),
        ("labels", list(labels)),
        (
            "children",
            if twins {
                "null".to_owned()
            } else {
                ids(session.children(None))
            },
        ),
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
