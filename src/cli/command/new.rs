//! How does a session begin?

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use sessionary::Config;
use sessionary::session::SessionManager;

use super::append::user;
use super::writing::{DryRun, Said, catalogued, said, setup};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Begin a session with a message of the user
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary new \"Fix the flaky test in tests/clock.rs\"\n  \
    sessionary new \"Look around\" --in ~/work/parser --dry-run\n\n\
    `sessionary resume` then has the agent answer it.")]
pub struct New {
    /// What the user says
    #[arg(value_name = "TEXT")]
    text: String,
    /// The directory that the session is for [default: this one]
    #[arg(long = "in", value_name = "DIR")]
    directory: Option<PathBuf>,
    #[command(flatten)]
    dry_run: DryRun,
}

/// The only agent whose sessions may begin with an unanswered message.
const AGENT: &str = "pi";

pub fn run(args: &New, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let directory = match &args.directory {
        Some(named) => std::path::absolute(named)?,
        None => super::here()?,
    };
    let root = config
        .roots
        .iter()
        .find(|root| root.agent == AGENT && !root.flat)
        .ok_or_else(|| Failure::usage("no folder for sessions of pi is known"))?;
    let tried = match args.dry_run.dry_run {
        true => Some(tempfile::tempdir()?),
        false => None,
    };
    let folder = tried.as_ref().map_or(&*root.path, |tried| tried.path());
    let setup = setup(AGENT, folder, screen)?;
    let mut session = SessionManager::create(&setup, &directory.to_string_lossy())?;
    let entry = session.append_message(user(&args.text, screen.now_ms))?;
    let path = session.session_file().unwrap_or(folder);
    let new = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let below = path.strip_prefix(folder).unwrap_or(path);
    let target = root.path.join(below);
    if !args.dry_run.dry_run {
        catalogued(std::slice::from_ref(&target), config, screen);
    }
    said(
        &Said {
            dry_run: args.dry_run.dry_run,
            session: session.session_id(),
            path: &target,
            entry: Some(&entry),
            rewritten: false,
            new: &new,
        },
        screen,
    )?;
    Ok(Outcome::Found)
}
