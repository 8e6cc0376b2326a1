//! How are single sessions taken back, or everything?

use std::collections::BTreeSet;

use clap::Args;
use sessionary_team::{Error, Settings, Store, push};

use crate::context::Context;
use crate::output::{Outcome, say};
use crate::revoke::say_taken_back;

/// Take sessions of this machine back from the store and never send them again, or all of them
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary team purge 019b3f2a-1111-7222-8333-444455556666   this session, for ever\n  \
    sessionary team purge --all                                  everything, and share nothing more\n\n\
    With a session go those of its subagents.\n\
    Other machines remove their copies when they pull. Whatever else was made of what they had stays.")]
pub struct Purge {
    /// Ids of sessions, or beginnings that no other id has
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
    let _lock = context.lock()?;
    let mut settings = context.settings()?;
    let opened = context.store(&settings.store);
    let opened = opened.and_then(|store| in_store(store, &settings));
    let mut named = BTreeSet::new();
    if args.all {
        settings.repositories.clear();
    } else {
        let of_store = opened.as_ref().map(|(_, sessions)| sessions);
        named = meant(&args.sessions, of_store.ok(), &settings, context)?;
        settings.withheld.extend(named.iter().cloned());
    }
    if !args.dry_run {
        // Whatever happens now, the next push sends nothing of them, and takes back what is left.
        context.data.write(&settings)?;
    }
    let (mut store, of_store) = opened?;
    let back = push::take_back(&mut *store, &settings, args.dry_run, |of| {
        args.all || settings.withholds(&of.session, &of.place.path)
    })?;
    for session in named.difference(&of_store) {
        say(&format!(
            "{session}: nothing of it is in the store; it will not be sent"
        ));
    }
    say_taken_back(&back, args.dry_run, context)
}

type InStore = (Box<dyn Store + Send>, BTreeSet<String>);

/// The sessions that the store has of this machine.
fn in_store(mut store: Box<dyn Store + Send>, settings: &Settings) -> Result<InStore, Error> {
    let manifests = store.manifests(&settings.host)?.unwrap_or_default();
    let sessions = manifests.files.into_values().map(|of| of.session);
    let sessions = sessions.collect();
    Ok((store, sessions))
}

/// The ids of the sessions that are meant, and of their subagents.
fn meant(
    names: &[String],
    in_store: Option<&BTreeSet<String>>,
    settings: &Settings,
    context: &Context,
) -> Result<BTreeSet<String>, Error> {
    let indexed = context.known_sessions()?;
    let mut known: BTreeSet<&String> = indexed.iter().map(|(id, _)| id).collect();
    known.extend(&settings.withheld);
    known.extend(in_store.into_iter().flatten());
    let mut ids = BTreeSet::new();
    for name in names {
        ids.insert(one(name, &known)?);
    }
    let below = |ids: &BTreeSet<String>| {
        let is_below = |parent: &Option<String>| parent.as_ref().is_some_and(|of| ids.contains(of));
        let below = indexed.iter().filter(|(_, parent)| is_below(parent));
        below.map(|(id, _)| id.clone()).collect::<Vec<String>>()
    };
    // Subagents have subagents.
    loop {
        let before = ids.len();
        ids.extend(below(&ids));
        if ids.len() == before {
            return Ok(ids);
        }
    }
}

/// The session of this id, or the one whose id begins so.
fn one(name: &String, known: &BTreeSet<&String>) -> Result<String, Error> {
    if known.contains(name) {
        return Ok(name.clone());
    }
    let mut begun = known.iter().filter(|id| id.starts_with(name.as_str()));
    match (begun.next(), begun.count()) {
        (Some(one), 0) if !name.is_empty() => Ok((*one).clone()),
        (None, _) => Err(Error::refused(
            format!("{name}: no session of this machine has this id, here or in the store"),
            "`sessionary list` shows ids",
        )),
        (Some(_), more) => Err(Error::refused(
            format!("{name}: the ids of {} sessions begin so", more + 1),
            "give more of it; `sessionary list` shows ids",
        )),
    }
}
