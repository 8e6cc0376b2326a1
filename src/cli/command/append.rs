//! How is something added to a session?

use std::io::{self, Read};

use clap::Args;
use sessionary::Config;
use sessionary::session::clido::SessionLine;
use sessionary::session::{
    AssistantMessage, ContentBlock, Json, SessionManager, THINKING_LEVELS, UserMessage,
};

use super::clido;
use super::writing::{DryRun, change, something};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Add an entry to a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary append last --user \"And now the tests\"\n  \
    sessionary append 019b3f2a:c1d2e3f4 --user \"Another way\"   below that entry: a new branch\n  \
    sessionary append last --model anthropic/claude-opus-4-5\n  \
    echo '{\"type\":\"custom\",\"customType\":\"todo\",\"data\":[]}' | sessionary append last\n\n\
    Without an option, an entry is read as JSON from standard input. It keeps its type and members \
    and gets a new id, parent and time. What its agent could not read is refused.\n\
    For a session of clido it is a line as clido writes it:\n\n  \
    echo '{\"type\":\"title\",\"title\":\"Parser\"}' | sessionary append f47ac10b")]
pub struct Append {
    /// A session; with :ENTRY, append below that entry instead of at the leaf
    #[arg(value_name = "SESSION[:ENTRY]", add = values::address())]
    session: String,
    #[command(flatten)]
    what: NewEntry,
    #[command(flatten)]
    dry_run: DryRun,
}

/// What is added: one of these, or what standard input holds.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct NewEntry {
    /// A user message
    #[arg(long, value_name = "TEXT")]
    user: Option<String>,
    /// An answer of the current model
    #[arg(long, value_name = "TEXT")]
    assistant: Option<String>,
    /// Change the model
    #[arg(long, value_name = "PROVIDER/MODEL")]
    model: Option<String>,
    /// Change the thinking level
    #[arg(long, value_name = "LEVEL")]
    thinking: Option<String>,
}

pub fn run(args: &Append, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    change(
        &args.session,
        args.dry_run,
        config,
        screen,
        |session, entry| {
            if let Some(entry) = entry {
                session.set_leaf(entry)?;
            }
            add(&args.what, session, screen.now_ms).map(Some)
        },
        || line(&args.what),
    )
}

fn add(what: &NewEntry, session: &mut SessionManager, now_ms: i64) -> Result<String, Failure> {
    if let Some(text) = &what.user {
        return Ok(session.append_message(user(something(text)?, now_ms))?);
    }
    if let Some(text) = &what.assistant {
        let model = session.build_session_context().model;
        let (provider, model) = match model.map(|model| (model.provider, model.model_id)) {
            Some((Some(provider), model)) => (provider, model),
            named => {
                let lacking = match named {
                    Some((_, model)) => format!("the current model, {model}, has no provider"),
                    None => "the session has no current model".to_owned(),
                };
                let why = format!("{lacking}, so the answer cannot be attributed");
                return Err(Failure::usage(why).hint("set one first: --model PROVIDER/MODEL"));
            }
        };
        return Ok(session.append_message(AssistantMessage {
            content: vec![ContentBlock::text(something(text)?)],
            provider,
            model,
            timestamp: now_ms,
            ..Default::default()
        })?);
    }
    if let Some(level) = &what.thinking {
        if !THINKING_LEVELS.contains(&&**level) {
            let known = THINKING_LEVELS.join(", ");
            let wrong = Failure::usage(format!("--thinking {level}: not a thinking level"));
            return Err(wrong.hint(format!("thinking levels: {known}")));
        }
        return Ok(session.append_thinking_level_change(level)?);
    }
    if let Some(named) = &what.model {
        let (provider, model) = named
            .split_once('/')
            .filter(|(provider, model)| ![provider, model].iter().any(|it| it.trim().is_empty()))
            .ok_or_else(|| Failure::usage(format!("--model {named}: not PROVIDER/MODEL")))?;
        return Ok(session.append_model_change(provider, model)?);
    }
    let entry = Json::parse(&input()?).ok_or_else(|| {
        Failure::usage("standard input is not a JSON value, so it is not an entry")
    })?;
    Ok(session.append_entry(&entry)?)
}

/// What is added to a session of clido: one line.
fn line(what: &NewEntry) -> Result<SessionLine, Failure> {
    if let Some(text) = &what.user {
        return Ok(SessionLine::user(something(text)?));
    }
    if let Some(text) = &what.assistant {
        return Ok(SessionLine::assistant(something(text)?));
    }
    if what.model.is_some() {
        return Err(clido::has_no(
            "models: clido does not record which one answers",
        ));
    }
    if what.thinking.is_some() {
        return Err(clido::has_no("thinking levels"));
    }
    clido::line_of(&input()?)
}

fn input() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// What the user says now.
pub fn user(text: &str, now_ms: i64) -> UserMessage {
    UserMessage {
        content: vec![ContentBlock::text(text)].into(),
        timestamp: now_ms,
        ..Default::default()
    }
}
