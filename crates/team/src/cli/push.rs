//! What is sent?

use clap::Args;
use sessionary_team::Error;
use sessionary_team::push::{self, Options, Pushed};

use crate::context::Context;
use crate::output::{Outcome, bytes, count, print, print_json, say, say_problems};

/// Send what is new of the sessions of shared repositories
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary team push --dry-run   sessions, bytes and secrets, without sending anything\n  \
    sessionary team push             send what is new\n  \
    sessionary team push --prune     and take back sessions that are here no more\n\n\
    A push that was interrupted is made up for by the next one.")]
pub struct Push {
    /// Say what would be sent, and send nothing
    #[arg(long)]
    dry_run: bool,
    /// Send keys and tokens too; `init --allow-raw` allows it
    #[arg(long)]
    raw: bool,
    /// Take back sessions that this machine has no more, or excludes
    #[arg(long)]
    prune: bool,
}

pub fn run(args: &Push, context: &Context) -> Result<Outcome, Error> {
    let _lock = context.lock()?;
    let settings = context.settings()?;
    if settings.repositories.is_empty() {
        say("No repository is shared: `sessionary team share REPO` names one.");
    }
    let options = Options {
        dry_run: args.dry_run,
        raw: args.raw,
        prune: args.prune,
    };
    let mut store = context.store(&settings.store)?;
    let place = (&context.data, &settings);
    let pushed = push::push(&context.sessions()?, &mut *store, place, options)?;
    match context.json {
        true => print_json(&pushed)?,
        false => print(&text(&pushed, args.dry_run))?,
    }
    Ok(say_problems(&pushed.problems))
}

fn text(pushed: &Pushed, dry_run: bool) -> String {
    let mut text = String::new();
    let of_sessions = |of: fn(&push::PushedSession) -> u64| pushed.sessions.iter().map(of).sum();
    let (files, secrets): (u64, u64) =
        (of_sessions(|of| of.files), of_sessions(|of| of.redactions));
    if dry_run {
        for of in &pushed.sessions {
            text += &format!(
                "{} {}  {}  {}, {}, {} left out\n",
                of.agent,
                of.session,
                of.repository,
                count(of.files, "file"),
                bytes(of.bytes),
                count(of.redactions, "secret")
            );
        }
    }
    let (sent, taken) = match dry_run {
        true => ("Would send", "Would take back"),
        false => ("Sent", "Took back"),
    };
    text += &match pushed.sessions.len() as u64 {
        0 => format!(
            "Nothing is new: all {} are in the store.",
            count(pushed.files, "shared file")
        ),
        sessions => format!(
            "{sent} {} of {}: {}, {} compressed; {} left out.",
            count(files, "file"),
            count(sessions, "session"),
            count(pushed.sent_blocks, "block"),
            bytes(pushed.sent_bytes),
            count(secrets, "secret")
        ),
    };
    if pushed.taken_back > 0 {
        text += &format!("\n{taken} {}.", count(pushed.taken_back, "file"));
    }
    if pushed.gone > 0 {
        let files = count(pushed.gone, "file");
        text += &format!("\n{files} in the store are here no more; --prune takes them back.");
    }
    text
}
