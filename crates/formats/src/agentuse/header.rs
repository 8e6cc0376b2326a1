//! What `session.json` says of its session, read as agentuse's list reads it.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::record::{Judgement, provider_and_model};
use crate::json::{self, Flag, Int, Loose, Raw};
use crate::model::{Facts, Header};

/// `session.json`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Session<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(rename = "parentSessionID", borrow)]
    parent: Raw<'a>,
    #[serde(borrow)]
    status: Raw<'a>,
    #[serde(borrow)]
    trigger: Raw<'a>,
    #[serde(borrow)]
    pub agent: Loose<Agent<'a>>,
    #[serde(borrow)]
    model: Raw<'a>,
    #[serde(borrow)]
    version: Raw<'a>,
    #[serde(borrow)]
    project: Loose<Project<'a>>,
    #[serde(borrow)]
    time: Loose<Times<'a>>,
    #[serde(borrow)]
    pub error: Loose<Failure<'a>>,
    /// Earlier errors of the run, and what a judge said of its result (autumn of 2026).
    #[serde(rename = "errorHistory", borrow)]
    pub earlier_errors: Raw<'a>,
    #[serde(borrow)]
    pub verification: Loose<Judgement<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Agent<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(rename = "filePath", borrow)]
    file_path: Raw<'a>,
    #[serde(borrow)]
    pub description: Raw<'a>,
    #[serde(rename = "isSubAgent")]
    is_sub_agent: Flag,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Project<'a> {
    #[serde(borrow)]
    root: Raw<'a>,
    #[serde(borrow)]
    cwd: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Times<'a> {
    #[serde(borrow)]
    created: Raw<'a>,
    updated: Int,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Failure<'a> {
    #[serde(borrow)]
    pub message: Raw<'a>,
    #[serde(borrow)]
    code: Raw<'a>,
    #[serde(borrow)]
    pub detail: Raw<'a>,
    #[serde(borrow)]
    pub cause: Raw<'a>,
}

/// The facts of the record. A header is there only where agentuse's list reads one.
pub(super) fn facts(session: &Session<'_>, facts: &mut Facts) {
    facts.id = session.id.shown();
    facts.is_error =
        session.error.object().is_some() || session.status.text().as_deref() == Some("error");
    if let Some(model) = session.model.text() {
        let (provider, model) = provider_and_model(&model);
        (facts.provider, facts.model) = (provider, Some(model));
    }
    if let Some(times) = session.time.object() {
        facts.time_raw = times.created.shown();
        facts.time_ms = times.created.0.and_then(json::time_ms);
        facts.message_ms = times.updated.0;
    }
    let Some(own) = own(session) else {
        return;
    };
    facts.name = own
        .get("agentId")
        .and_then(Value::as_str)
        .map(str::to_owned);
    facts.header = Some(Header {
        id: session.id.shown(),
        id_is_string: session.id.text().is_some(),
        version: None,
        cwd: session.project.object().and_then(|p| p.cwd.shown()),
        created_raw: facts.time_raw.clone(),
        created_ms: facts.time_ms,
        parent_session: session.parent.shown(),
        own: Some(Value::Object(own).to_string()),
    });
}

/// What agentuse's list says of a session that it cannot read: what its folders are called.
pub(super) fn own_of_unread(agent: &str, project: &str) -> String {
    let own = [
        ("agentId", agent),
        ("agentName", agent),
        ("model", "unknown"),
        ("projectRoot", project),
    ];
    let own = own.map(|(key, value)| (key.to_owned(), Value::from(value)));
    let flag = ("isSubAgent".to_owned(), Value::from(false));
    Value::Object(own.into_iter().chain([flag]).collect()).to_string()
}

/// What agentuse's list says of the session; `None` where reading it fails there, and it goes by
/// the folder's name.
fn own(session: &Session<'_>) -> Option<Map<String, Value>> {
    // Where JavaScript would ask nothing for a field.
    if is_nothing(&session.agent) || is_nothing(&session.project) || is_nothing(&session.time) {
        return None;
    }
    let no_agent = Agent::default();
    let agent = session.agent.object().unwrap_or(&no_agent);
    let root = session.project.object().map(|project| project.root);
    let root = root.as_ref().and_then(Raw::text);
    let agent_id = match (agent.id.is_value(), agent.file_path.text()) {
        (true, _) => agent.id.shown(),
        (false, Some(file)) if !file.is_empty() => Some(agent_id(root.as_deref()?, &file)),
        (false, _) => agent.name.shown(),
    };
    let failure = session.error.object();
    let mut own = Map::new();
    for (key, value) in [
        ("agentId", agent_id),
        ("agentName", agent.name.shown()),
        ("model", session.model.shown()),
        ("parentSessionID", session.parent.shown()),
        ("projectRoot", root.map(|root| root.into_owned())),
        ("status", session.status.shown()),
        ("trigger", session.trigger.shown()),
        ("version", session.version.shown()),
        ("errorCode", failure.and_then(|f| f.code.shown())),
        ("errorMessage", failure.and_then(|f| f.message.shown())),
    ] {
        if let Some(value) = value {
            own.insert(key.to_owned(), value.into());
        }
    }
    if let Some(flag) = agent.is_sub_agent.0 {
        own.insert("isSubAgent".to_owned(), flag.into());
    }
    Some(own)
}

fn is_nothing<T>(value: &Loose<T>) -> bool {
    matches!(value, Loose::Missing | Loose::Null)
}

/// The agent's file below the project, without `.agentuse`: what older files do not name.
fn agent_id(root: &str, file: &str) -> String {
    let (root, file) = (steps(root), steps(file));
    let shared = root
        .iter()
        .zip(&file)
        .take_while(|(root, file)| root == file)
        .count();
    let up = root[shared..].iter().map(|_| "..");
    let relative: Vec<&str> = up.chain(file[shared..].iter().copied()).collect();
    let relative = relative.join("/");
    match relative.strip_suffix(".agentuse") {
        Some(id) => id.to_owned(),
        None => relative,
    }
}

/// The names along an absolute path.
fn steps(path: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_without_id_is_called_by_its_file() {
        for (root, file, id) in [
            ("/w", "/w/agents/triage.agentuse", "agents/triage"),
            ("/w/", "/w/a.b", "a.b"),
            ("/w/x", "/w/y/z.agentuse", "../y/z"),
            ("/w/./x/..", "/w/z.agentuse.agentuse", "z.agentuse"),
        ] {
            assert_eq!(agent_id(root, file), id);
        }
    }
}
