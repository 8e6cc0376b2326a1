//! What if the index is doubted? Make it anew.

use clap::Args;
use sessionary::Config;

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::progress::Progress;

/// Forget the index and make it anew from the session files
#[derive(Debug, Args)]
#[command(
    after_help = "Session files are not touched. `sessionary verify` tells whether this is needed.\n\n\
    Examples:\n  \
    sessionary rebuild\n  \
    sessionary rebuild --json"
)]
pub struct Rebuild {
    /// Refuse at once where another process writes the index, instead of waiting for it
    #[arg(long)]
    no_wait: bool,
}

pub fn run(args: &Rebuild, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let mut progress = Progress::new();
    let mut indexer = super::writer(config, !args.no_wait, &mut progress)?;
    let report = indexer.rebuild(&mut |event| progress.event(event))?;
    drop(progress);
    super::sync::print(&report, screen)
}
