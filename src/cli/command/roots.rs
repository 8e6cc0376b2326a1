//! Which folders does the index hold sessions of, and how are those forgotten that nobody names any
//! more?

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;
use sessionary::Config;
use sessionary::model::{SCHEMA_VERSION, StoredRoot};

use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::progress::Progress;
use crate::output::style::Tone;
use crate::output::table::{Column, Table};
use crate::output::text::plain_line;
use crate::output::time::count;

/// List the folders in the index, or forget those that are no longer named
#[derive(Debug, Args)]
#[command(
    after_help = "A folder that was read once stays in the index until it is forgotten, so a script that syncs without it removes nothing.\n\
    While it is not named no list shows its sessions; in SQL they have current = 0.\n\n\
    Examples:\n  \
    sessionary roots\n  \
    sessionary roots forget               all that are no longer named\n  \
    sessionary roots forget /mnt/old      only this one"
)]
pub struct RootsArgs {
    #[command(subcommand)]
    command: Option<RootsCommand>,
}

#[derive(Debug, Subcommand)]
enum RootsCommand {
    Forget(Forget),
}

/// Forget folders that are no longer named and what was read from them; never a session file
#[derive(Debug, Args)]
#[command(
    after_help = "A folder that is named again is read again. `sessionary sync --purge` wipes what was stored from the index's files."
)]
struct Forget {
    /// Only these folders, as `sessionary roots` lists them
    #[arg(add = values::folder())]
    paths: Vec<PathBuf>,
    /// Fail at once if another process is writing the index, instead of waiting
    #[arg(long)]
    no_wait: bool,
}

/// What `roots --json` prints, and `roots forget --json` of what was forgotten.
#[derive(Serialize)]
struct Roots<'a> {
    schema_version: u32,
    roots: &'a [StoredRoot],
}

pub fn run(args: &RootsArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let roots = match &args.command {
        None => super::answerable(super::open(config, screen)?)?.stored_roots()?,
        Some(RootsCommand::Forget(args)) => forget(args, config, screen)?,
    };
    if screen.json {
        screen.json(&Roots {
            schema_version: SCHEMA_VERSION,
            roots: &roots,
        })?;
    } else if args.command.is_none() {
        screen.print(&table(&roots, screen))?;
    } else if roots.is_empty() {
        screen.say("Nothing to forget: every folder in the index is still named.");
    } else {
        for root in &roots {
            let sessions = count(root.sessions, "session");
            screen.print(&format!(
                "forgotten: {}, {sessions}\n",
                screen.path(&root.path)
            ))?;
        }
    }
    Ok(Outcome::of(!roots.is_empty()))
}

fn forget(args: &Forget, config: &Config, screen: &Screen) -> Result<Vec<StoredRoot>, Failure> {
    let mut progress = Progress::new();
    let mut indexer = super::writer(config, !args.no_wait, &mut progress)?;
    let mut report = |event: sessionary::Event| progress.event(event);
    indexer.sync_with(&mut report)?;
    let known = indexer.stored_roots()?;
    let paths: Vec<PathBuf> = args
        .paths
        .iter()
        .map(std::path::absolute)
        .collect::<Result<_, _>>()?;
    for path in &paths {
        let shown = screen.path(path);
        // One folder may be that of several agents.
        let mut of_path = known.iter().filter(|root| root.path == *path);
        match of_path.next() {
            None => {
                return Err(
                    Failure::usage(format!("{shown}: no such folder in the index"))
                        .hint("`sessionary roots` lists them"),
                );
            }
            Some(root) if root.current && of_path.all(|root| root.current) => {
                return Err(Failure::usage(format!("{shown} is still named"))
                    .hint("`sessionary status` says where; remove it there first"));
            }
            Some(_) => {}
        }
    }
    let paths = Some(paths.as_slice()).filter(|paths| !paths.is_empty());
    Ok(indexer.forget_roots(paths)?)
}

fn table(roots: &[StoredRoot], screen: &Screen) -> String {
    let mut table = Table::new(&[
        Column::text("AGENT"),
        Column::path("ROOT"),
        Column::number("SESSIONS"),
        Column::text("NAMED"),
    ]);
    for root in roots {
        let agent = super::labelled(&root.agent, root.label.as_deref());
        let (tone, named) = match root.current {
            true => (Tone::Plain, "yes"),
            false => (Tone::Quiet, "no"),
        };
        table.row(vec![
            (tone, plain_line(&agent)),
            (tone, screen.path(&root.path)),
            (tone, root.sessions.to_string()),
            (tone, named.to_owned()),
        ]);
    }
    table.render(screen.style, screen.width)
}
