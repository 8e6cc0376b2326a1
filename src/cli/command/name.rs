//! How does a session get a name?

use clap::Args;
use sessionary::Config;

use super::writing::{DryRun, change};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Name a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary name last \"Refactor the parser\"\n  \
    sessionary name 019b3f2a \"\"                take the name away\n  \
    sessionary name last Parser --dry-run\n\n\
    The name is one entry at the end of the session's file; the agent shows it too.")]
pub struct Name {
    /// Session id, the beginning of one, a path, or `last`
    session: String,
    /// The name; an empty one takes it away
    name: String,
    #[command(flatten)]
    dry_run: DryRun,
}

pub fn run(args: &Name, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    change(&args.session, args.dry_run, config, screen, |session, _| {
        Ok(Some(session.append_session_info(&args.name)?))
    })
}
