//! How are single sessions taken back, or everything?

use std::collections::BTreeSet;

use clap::Args;
use sessionary_team::{Error, push, store};

use crate::context::Context;
use crate::output::{Outcome, say};
use crate::revoke::say_taken_back;

/// Take sessions of this machine back from the store and never send them again, or all of them
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary team purge 019b3f2a-1111-7222-8333-444455556666   this session, for ever\n  \
    sessionary team purge --all                                  everything, and share nothing more\n\n\
    Other machines remove their copies when they pull. Whatever else was made of what they had stays.")]
pub struct Purge {
    /// Ids of sessions, whole
    #[arg(value_name = "SESSION", required_unless_present = "all")]
    sessions: Vec<String>,
    /// Take back everything of this machine
    #[arg(long, conflicts_with = "sessions")]
    all: bool,
    /// Say what would be taken back, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Purge, context: &Context) -> Result<Outcome, Error> {
    let _lock = context.data.lock()?;
    let mut settings = context.settings()?;
    if args.all {
        settings.repositories.clear();
    }
    settings.withheld.extend(args.sessions.iter().cloned());
    if !args.dry_run {
        // Whatever happens now, the next push sends nothing of them.
        context.data.write(&settings)?;
    }
    let named: BTreeSet<&String> = args.sessions.iter().collect();
    let mut store = store::open(&settings.store, &context.surroundings)?;
    let back = push::take_back(&mut *store, &settings, args.dry_run, |of| {
        args.all || named.contains(&of.session)
    })?;
    let found: BTreeSet<&String> = back.manifests.iter().map(|of| &of.session).collect();
    for session in named.difference(&found) {
        say(&format!(
            "{session}: nothing of it is in the store; it will not be sent"
        ));
    }
    say_taken_back(&back, args.dry_run, context)
}
