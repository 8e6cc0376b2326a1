//! Which repositories are shared?

use clap::Args;
use serde::Serialize;
use sessionary_team::Error;

use crate::context::Context;
use crate::output::{Outcome, print, print_json};

/// Share the sessions of repositories from the next push on, or list those that are shared
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary team share .                     the repository around the current directory\n  \
    sessionary team share github.com/ada/boat   by its remote\n  \
    sessionary team share                       which are shared?\n\n\
    Sessions of all checkouts of a repository are shared, as its remote says which it is.")]
pub struct Share {
    /// Repositories: a folder within, or the address of the remote
    #[arg(value_name = "REPO")]
    repositories: Vec<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    repositories: Vec<&'a String>,
}

pub fn run(args: &Share, context: &Context) -> Result<Outcome, Error> {
    let _lock = context.lock()?;
    let mut settings = context.settings()?;
    for named in &args.repositories {
        settings.repositories.insert(context.repository(named)?);
    }
    if !args.repositories.is_empty() {
        context.data.write(&settings)?;
    }
    let repositories: Vec<&String> = settings.repositories.iter().collect();
    if context.json {
        print_json(&Answer { repositories })?;
    } else if repositories.is_empty() {
        print("No repository is shared.")?;
    } else {
        for repository in repositories {
            print(repository)?;
        }
    }
    Ok(Outcome::Done)
}
