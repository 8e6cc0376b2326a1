//! What if the index is doubted? Rebuild it.

use clap::Args;
use sessionary::Config;

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::progress::Progress;

/// Delete the index and rebuild it from the session files
#[derive(Debug, Args)]
#[command(
    after_help = "Session files are not touched. `sessionary verify` says whether this is needed.\n\n\
    Examples:\n  \
    sessionary rebuild\n  \
    sessionary rebuild --json"
)]
pub struct Rebuild {
    /// Fail at once if another process is writing the index, instead of waiting
    #[arg(long)]
    no_wait: bool,
}

pub fn run(args: &Rebuild, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let mut progress = Progress::new();
    let mut indexer = super::writer(config, !args.no_wait, &mut progress)?;
    let report = indexer.rebuild_with(&mut |event| progress.event(event))?;
    drop(progress);
    super::sync::print(&report, screen)
}
