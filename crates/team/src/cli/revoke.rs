//! How is a repository taken back?

use std::collections::BTreeSet;

use clap::Args;
use serde::Serialize;
use sessionary_team::{Error, push};

use crate::context::Context;
use crate::output::{Outcome, count, print, print_json, say, say_problems};

/// Share repositories no more, and take their sessions of this machine back from the store
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary team revoke .                     the repository around the current directory\n  \
    sessionary team revoke github.com/ada/boat --dry-run\n\n\
    Other machines remove their copies when they pull. Whatever else was made of what they had stays.")]
pub struct Revoke {
    /// Repositories: a folder within, or the address of the remote
    #[arg(value_name = "REPO", required = true)]
    repositories: Vec<String>,
    /// Say what would be taken back, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// What was taken back, or would be.
#[derive(Serialize)]
struct Answer {
    files: u64,
    sessions: u64,
}

pub fn run(args: &Revoke, context: &Context) -> Result<Outcome, Error> {
    let _lock = context.lock()?;
    let mut settings = context.settings()?;
    let named = args
        .repositories
        .iter()
        .map(|named| context.repository(named));
    let named = named.collect::<Result<BTreeSet<String>, Error>>()?;
    let shared = settings.repositories.clone();
    settings.repositories.retain(|of| !named.contains(of));
    if !args.dry_run {
        // Whatever happens now, the next push sends nothing of them.
        context.data.write(&settings)?;
    }
    let mut store = context.store(&settings.store)?;
    let is_meant = |of: &sessionary_team::manifest::Manifest| named.contains(&of.repository);
    let back = push::take_back(&mut *store, &settings, args.dry_run, is_meant)?;
    let of_store: BTreeSet<&String> = back.manifests.iter().map(|of| &of.repository).collect();
    let is_known = |name: &&String| shared.contains(*name) || of_store.contains(*name);
    let unknown: Vec<&String> = named.iter().filter(|name| !is_known(name)).collect();
    for name in &unknown {
        say(&format!(
            "{name}: it is not shared, and nothing of it is in the store"
        ));
    }
    match say_taken_back(&back, args.dry_run, context)? {
        Outcome::Done if !unknown.is_empty() => Ok(Outcome::LeftOut),
        outcome => Ok(outcome),
    }
}

/// Says what was taken back.
pub fn say_taken_back(
    back: &push::TakenBack,
    dry_run: bool,
    context: &Context,
) -> Result<Outcome, Error> {
    let manifests = &back.manifests;
    let sessions: BTreeSet<_> = manifests
        .iter()
        .map(|of| (&of.place.agent, &of.session))
        .collect();
    let (files, sessions) = (manifests.len() as u64, sessions.len() as u64);
    if context.json {
        print_json(&Answer { files, sessions })?;
    } else {
        let taken = if dry_run {
            "Would take back"
        } else {
            "Took back"
        };
        let (files, sessions) = (count(files, "file"), count(sessions, "session"));
        print(&format!(
            "{taken} {files} of {sessions}. Other machines remove their copies when they pull."
        ))?;
    }
    Ok(say_problems(&back.problems))
}
