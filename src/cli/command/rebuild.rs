//! What if the index is doubted? Make it anew.

use clap::Args;
use sessionary::{Config, Indexer};

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
pub struct Rebuild {}

pub fn run(config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let mut progress = Progress::new();
    let mut indexer = Indexer::open_with(config, &mut |event| progress.event(event))?;
    let report = indexer.rebuild(&mut |event| progress.event(event))?;
    drop(progress);
    super::sync::print(&report, screen)
}
