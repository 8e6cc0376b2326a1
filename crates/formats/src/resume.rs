//! With which command does an agent take a session up again?

use crate::agents::agent_called;
use crate::model::Resume;
use crate::{claude, codex, pi};

/// How the agent called `agent` takes the session up again that lies at `path` and is read in
/// `format`, with what its agent records of it ([`SessionFacts::own`]); `None` = not known.
///
/// [`SessionFacts::own`]: crate::model::SessionFacts::own
pub fn resume(
    agent: &str,
    format: &str,
    path: &str,
    (id, own): (&str, Option<&str>),
    cwd: &str,
) -> Option<Resume> {
    let agent = agent_called(agent)?;
    // Another program of that name, the Python package indusagi (0.1.5), cannot be told which
    // session to resume.
    if agent.dir_also.is_some_and(|(_, other)| other == format) {
        return None;
    }
    // An id comes from a file, and one that begins with a hyphen would be taken for an option.
    if id.starts_with('-') && agent.resume.contains(&"{id}") {
        return None;
    }
    let word = |word: &&str| match word.strip_suffix("{id}") {
        Some(before) => Some(format!("{before}{id}")),
        None if *word == "{path}" => Some(path.to_owned()),
        None if *word == "{key}" => session_key(own?),
        None => Some((*word).to_owned()),
    };
    Some(Resume {
        cwd: Some(cwd.into()).filter(|_| !cwd.is_empty()),
        argv: agent.resume.iter().map(word).collect::<Option<_>>()?,
    })
    .filter(|resume| !resume.argv.is_empty())
}

/// Whether the agent called `agent` takes up a session that its own list leaves out for this
/// reason: it may find by an id what it does not list, but for subagents and what it cannot read,
/// and by a path whatever is there.
pub fn resumes_unlisted(agent: &str, reason: &str, is_subagent: bool) -> bool {
    agent_called(agent).is_some_and(|agent| {
        let by_path = agent.resume.contains(&"{path}") && pi::opens(reason);
        let is_read = reason != codex::A_DOCUMENT;
        let goes_on = reason == claude::GOES_ON_ELSEWHERE;
        by_path || goes_on || agent.resumes_unlisted && is_read && !is_subagent
    })
}

/// The name under which the agent finds what it calls a session, where that is not the session's
/// id; none that would be taken for an option.
fn session_key(own: &str) -> Option<String> {
    let own: serde_json::Value = serde_json::from_str(own).ok()?;
    let key = own.get("session_key")?.as_str()?;
    Some(key.to_owned()).filter(|key| !key.starts_with('-'))
}
