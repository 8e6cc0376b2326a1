//! What does the crate agent-sessions read?

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use agent_sessions::{
    Agent, CodexUsageMode, DiscoverFilter, Event, ReadOptions, Role, Roots, SessionImport,
    TokenCounts, TokenSemantics, Usage, discover_directory, import_database, import_session,
    list_database_sessions, load_session_titles,
};

use crate::session::{Session, Sessions, Tokens};

/// Agents that both programs read: our name of each, and where its sessions lie below a home.
const AGENTS: &[(&str, Agent, &[&str])] = &[
    ("pi", Agent::Pi, &[".pi/agent/sessions"]),
    ("claude", Agent::ClaudeCode, &[".claude/projects"]),
    (
        "codex",
        Agent::Codex,
        &[".codex/sessions", ".codex/archived_sessions"],
    ),
    ("copilot", Agent::CopilotCli, &[".copilot/session-state"]),
    ("gemini", Agent::GeminiCli, &[".gemini/tmp"]),
    ("qwen", Agent::QwenCode, &[".qwen/projects"]),
    ("opencode", Agent::OpenCode, &[".local/share/opencode"]),
];

/// All sessions by their paths below the home, and what could not be read.
pub fn sessions(home: &Path) -> (Sessions, Vec<String>) {
    let (mut sessions, mut problems) = (Sessions::new(), Vec::new());
    let filter = DiscoverFilter {
        include_subagents: true,
        ..DiscoverFilter::default()
    };
    for (name, agent, roots) in AGENTS {
        for root in roots
            .iter()
            .map(|root| home.join(root))
            .filter(|root| root.is_dir())
        {
            let found = discover_directory(*agent, &root, &filter);
            problems.extend(
                found
                    .errors
                    .iter()
                    .map(|error| format!("{name}: {error:?}")),
            );
            for file in found.files {
                let place = crate::below(home, &file.path);
                match read(home, *agent, &file.path) {
                    Ok(read) => {
                        let keyed = read.into_iter().map(|(id, session)| {
                            let key = id.map_or(place.clone(), |id| format!("{place}/{id}"));
                            ((name.to_string(), key), session)
                        });
                        sessions.extend(keyed);
                    }
                    Err(error) => problems.push(format!("{name}: {place}: {error}")),
                }
            }
        }
    }
    (sessions, problems)
}

/// A session, with its id where its file holds several.
type Read = (Option<String>, Session);

/// The sessions of one file; those of a database by their ids.
fn read(home: &Path, agent: Agent, path: &Path) -> Result<Vec<Read>, Box<dyn Error>> {
    let options = ReadOptions::default();
    if agent == Agent::OpenCode {
        let mut sessions = Vec::new();
        for row in list_database_sessions(agent, path, &options)? {
            let read = session(&import_database(agent, path, &row.id, &options)?);
            sessions.push((
                Some(row.id),
                Session {
                    title: row.title,
                    ..read
                },
            ));
        }
        return Ok(sessions);
    }
    let import = import_session(agent, path, &options)?;
    let mut read = session(&import);
    if agent == Agent::Codex {
        let options = ReadOptions {
            codex_usage: CodexUsageMode::Response,
            ..options
        };
        let tokens = tokens(&import_session(agent, path, &options)?);
        read.tokens = tokens.or(read.tokens);
    }
    if matches!(agent, Agent::Codex | Agent::ClaudeCode) {
        read.title = import
            .events
            .iter()
            .find_map(|event| event.session_id.clone())
            .and_then(|id| load_session_titles(agent, &Roots::from_home(home), &[id]).ok())
            .and_then(|titles| titles.into_values().next())
            .map(|title| title.text);
    }
    Ok(vec![(None, read)])
}

fn session(import: &SessionImport) -> Session {
    let (mut prompts, mut calls, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for event in &import.events {
        match &event.value {
            Event::Message(message)
                if message.role == Role::User && !message.is_meta && !message.is_sidechain =>
            {
                let text = message.text.trim();
                if !text.is_empty() {
                    prompts.push(text.to_owned());
                }
            }
            Event::ToolCall(call) if call.id.is_none() || !seen.contains(&call.id) => {
                calls.push(call.name.clone());
                seen.push(call.id.clone());
            }
            _ => {}
        }
    }
    Session {
        title: None,
        prompts: Some(prompts),
        calls: Some(calls),
        tokens: tokens(import),
    }
}

/// The sum of what is not said twice: of several of one key the one with the most output.
fn tokens(import: &SessionImport) -> Option<Tokens> {
    let mut by_key: HashMap<String, &Usage> = HashMap::new();
    for (number, event) in import.events.iter().enumerate() {
        if let Event::Usage(usage) = &event.value {
            let key = usage
                .dedup_key
                .clone()
                .unwrap_or_else(|| format!("event {number}"));
            let known = by_key.entry(key).or_insert(usage);
            if usage.counts.output > known.counts.output {
                *known = usage;
            }
        }
    }
    let mut sum = Tokens::default();
    by_key
        .values()
        .for_each(|usage| sum += disjoint(usage.counts, usage.semantics));
    (!by_key.is_empty()).then_some(sum)
}

/// Counts whose parts do not overlap, thinking as a part of the output.
fn disjoint(counts: TokenCounts, semantics: TokenSemantics) -> Tokens {
    let [input, output, cache_read, cache_write, reasoning] = [
        counts.input,
        counts.output,
        counts.cache_read,
        counts.cache_write,
        counts.reasoning,
    ]
    .map(Option::unwrap_or_default);
    let whole = counts.reported_total == Some(input + output);
    let parts = input + output + cache_read + cache_write + reasoning;
    let (input, output) = match semantics {
        TokenSemantics::CodexInclusive => (input.saturating_sub(cache_read + cache_write), output),
        TokenSemantics::Gemini if whole => (input.saturating_sub(cache_read), output),
        TokenSemantics::Gemini => (input.saturating_sub(cache_read), output + reasoning),
        // It does not say what overlaps, but the total does.
        TokenSemantics::Unknown if counts.reported_total == Some(parts) => {
            (input, output + reasoning)
        }
        _ => (input, output),
    };
    Tokens {
        input,
        output,
        cache_read,
        cache_write,
    }
}
