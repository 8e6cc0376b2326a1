//! How does a session file of an old version become one of today's?

use clap::Args;
use sessionary::Config;

use super::clido::has_no;
use super::writing::{DryRun, change};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Bring a session file of an old version up to date
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary migrate 019b3f2a --dry-run\n  \
    sessionary migrate ./old.jsonl\n\n\
    The first append does the same. A copy of the old file is kept in the user's folder for program \
    data, below sessionary/backups; every byte that need not change stays.")]
pub struct Migrate {
    /// Session id, the beginning of one, a path, or `last`
    session: String,
    #[command(flatten)]
    dry_run: DryRun,
}

pub fn run(args: &Migrate, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    change(
        &args.session,
        args.dry_run,
        config,
        screen,
        |session, _| {
            session.migrate()?;
            Ok(None)
        },
        || Err(has_no("old versions: there is nothing to migrate")),
    )
}
