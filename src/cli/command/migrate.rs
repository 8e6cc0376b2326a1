//! How does a session file of an old version become one of today's?

use clap::Args;
use sessionary::Config;

use super::clido::has_no;
use super::writing::{DryRun, change};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Upgrade a session file of an old version
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary migrate 019b3f2a --dry-run\n  \
    sessionary migrate ./old.jsonl\n\n\
    The first append does the same. A copy of the old file is kept in sessionary/backups in your data \
    folder; every byte that need not change stays the same.")]
pub struct Migrate {
    /// Session id, the start of one, a path, a name or title, `last`, or `last~N`
    #[arg(add = values::session())]
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
