//! How does a session begin?

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use sessionary::session::clido::{self, SessionLine, SessionWriter};
use sessionary::session::{Ids, RandomIds, SessionManager};
use sessionary::{Config, RootSpec};

use super::append::user;
use super::clido::of_keys;
use super::place;
use super::writing::{
    DryRun, StartTime, WriteResult, catalogued, directory, said, setup, something,
};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Start a session with a user message
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary new \"Fix the flaky test in tests/clock.rs\"\n  \
    sessionary new \"Look around\" --in ~/code/parser --dry-run\n  \
    sessionary new \"Write the release notes\" --agent clido\n\n\
    Then `sessionary resume` has the agent answer it.")]
pub struct New {
    /// The user's message
    #[arg(value_name = "TEXT")]
    text: String,
    /// The agent whose session it is: pi or clido (indusagi's sessions start with an answer)
    #[arg(short = 'A', long, value_name = "NAME", default_value = "pi", add = values::agent())]
    agent: String,
    /// The session's directory [default: this one]
    #[arg(long = "in", value_name = "DIR", add = values::folder())]
    directory: Option<PathBuf>,
    #[command(flatten)]
    dry_run: DryRun,
}

/// A session that was begun.
struct CreatedSession {
    id: String,
    entry: Option<String>,
    path: PathBuf,
}

pub fn run(args: &New, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let text = something(&args.text)?;
    let begin = match &*args.agent {
        "pi" => of_pi,
        "clido" => of_clido,
        "indusagi" => {
            return Err(Failure::usage(
                "a session of indusagi starts with the first answer: indusagi loses a question that has none",
            ));
        }
        other => {
            return Err(
                Failure::usage(format!("a session of {other} cannot be started"))
                    .hint("those of pi and clido can be"),
            );
        }
    };
    let directory = directory(args.directory.as_deref())?;
    let root = &place::of_new(&args.agent, &directory, config)?;
    let tried = match args.dry_run.dry_run {
        true => Some(tempfile::tempdir()?),
        false => None,
    };
    let folder = tried.as_ref().map_or(&*root.path, |tried| tried.path());
    let begun = begin(text, folder, root, &directory.to_string_lossy(), screen)?;
    let new = fs::read_to_string(&begun.path).with_context(|| begun.path.display().to_string())?;
    let below = begun.path.strip_prefix(folder).unwrap_or(&begun.path);
    let target = root.path.join(below);
    let unindexed = match args.dry_run.dry_run {
        true => None,
        false => catalogued(std::slice::from_ref(&target), &place::known(root, config)),
    };
    let result = WriteResult {
        dry_run: args.dry_run.dry_run,
        session: begun.id,
        path: target,
        entry: begun.entry,
        rewritten: false,
        remarks: unindexed.into_iter().chain(of_keys(&new)).collect(),
        new,
    };
    said(&result, screen)?;
    Ok(Outcome::Yes)
}

fn of_pi(
    text: &str,
    folder: &Path,
    root: &RootSpec,
    cwd: &str,
    screen: &Screen,
) -> Result<CreatedSession, Failure> {
    let mut setup = setup(&root.format, folder, screen)?;
    setup.flat = root.flat.then(|| folder.to_path_buf());
    let mut session = SessionManager::create(&setup, cwd)?;
    let entry = session.append_message(user(text, screen.now_ms))?;
    Ok(CreatedSession {
        id: session.session_id().to_owned(),
        entry: Some(entry),
        path: session.session_file().unwrap_or(folder).to_path_buf(),
    })
}

/// A line of clido's has no id; it is the second one.
fn of_clido(
    text: &str,
    folder: &Path,
    root: &RootSpec,
    cwd: &str,
    screen: &Screen,
) -> Result<CreatedSession, Failure> {
    let id = RandomIds.random();
    let folder = match root.flat {
        true => folder.to_path_buf(),
        false => folder.join(clido::folder(cwd)),
    };
    let path = folder.join(format!("{id}.jsonl"));
    let mut writer = SessionWriter::create(&path, &id, cwd, &StartTime(screen.now_ms))?;
    writer.write_line(&SessionLine::user(text))?;
    Ok(CreatedSession {
        id,
        entry: Some("L2".to_owned()),
        path,
    })
}
