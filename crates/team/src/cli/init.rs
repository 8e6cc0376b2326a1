//! Where are sessions shared, and what is this machine called there?

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sessionary_team::manifest::Host;
use sessionary_team::{Error, Settings, Store, names, store};

use crate::context::Context;
use crate::output::{Outcome, print, print_json};

/// Name the store, and this machine in it
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary team init dir:/home/ada/Sync/sessions\n  \
    sessionary team init dir:/home/ada/Sync/sessions --host laptop\n  \
    sessionary team init postgres://ada@db.example.org/team\n\n\
    Nothing is sent yet. Again with another store, the name and what is shared stay.\n\
    What was sent to the store before has to be taken back first, or left there with --keep.\n\
    The password of a database comes from PGPASSWORD, ~/.pgpass or a service file.")]
pub struct Init {
    /// The store: dir:PATH, a folder that something else synchronises, or
    /// postgres://USER@HOST/DATABASE
    #[arg(value_name = "STORE")]
    store: String,
    /// What this machine is called in the store; else what the system calls it
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Allow `push --raw`, which sends keys and tokens too
    #[arg(long)]
    allow_raw: bool,
    /// Leave what this machine has sent until now where it is, and begin anew
    #[arg(long)]
    keep: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    host: &'a str,
    store: &'a str,
    allow_raw: bool,
}

pub fn run(args: &Init, context: &Context) -> Result<Outcome, Error> {
    let _lock = context.lock()?;
    let address = whole(&args.store, context);
    let before = context.data.read()?;
    let mut settings = match before {
        Some(before) => again(before, args, &address, context)?,
        None => {
            let host = args
                .host
                .clone()
                .unwrap_or_else(|| names::host_of(&system_name()));
            Settings::new(&host, &address, args.allow_raw)?
        }
    };
    if !settings.has_pushed {
        store::make(&address)?;
    }
    let mut store = context.store(&address)?;
    // A name that is taken is refused before it is kept. It is this machine's from the first push
    // on: who only pulls needs none.
    if store.is_taken(&settings.this_host())? {
        return Err(store::name_is_taken(&settings.host));
    }
    refuse_a_second_name(&settings.this_host(), &mut *store)?;
    // It may have pushed to this one long ago.
    settings.has_pushed |= store.has(&settings.host)?;
    context.data.write(&settings)?;
    if context.json {
        print_json(&Answer {
            host: &settings.host,
            store: &settings.store,
            allow_raw: settings.allow_raw,
        })?;
    } else {
        print(&format!(
            "This machine is {} in {}.\nNothing is shared yet: `sessionary team share REPO` names a repository.",
            settings.host, settings.store
        ))?;
    }
    Ok(Outcome::Done)
}

/// Settings that are there already, with another store or another name.
fn again(
    before: Settings,
    args: &Init,
    address: &str,
    context: &Context,
) -> Result<Settings, Error> {
    let mut settings = before;
    let is_other = !is_same(&settings.store, address);
    let name = args.host.as_ref().filter(|host| **host != settings.host);
    let is_left = is_other || name.is_some();
    if is_left && !args.keep && settings.has_pushed && !is_emptied(&settings, context) {
        let ways = match is_other {
            true => {
                "; `init STORE --keep` leaves it there, or goes on with it where that is the same \
                 store by another address"
            }
            false => ", and then this machine may have another name",
        };
        return Err(Error::refused(
            format!(
                "what this machine has sent to {} as {} would stay there, out of reach of \
                 `revoke` and `purge`",
                settings.store, settings.host
            ),
            format!(
                "`sessionary team purge --all` takes it back first (`share` then names what is \
                 shared anew){ways}"
            ),
        ));
    }
    settings.has_pushed &= !is_left && !args.keep;
    if let Some(host) = name {
        settings = settings.called(host)?;
    }
    settings.store = address.to_owned();
    settings.allow_raw = args.allow_raw;
    Ok(settings)
}

/// A machine that has sent sessions by one name to a store would send them all again by another,
/// and pull its own as those of a stranger.
fn refuse_a_second_name(this: &Host, store: &mut dyn Store) -> Result<(), Error> {
    for host in store.hosts()? {
        let other = Host {
            host: host.clone(),
            ..this.clone()
        };
        // What another machine says of itself may be damaged.
        let is_own = host != this.host
            && store.has(&host).unwrap_or(false)
            && !store.is_taken(&other).unwrap_or(true);
        if is_own && !has_nothing(&host, store)? {
            return Err(Error::refused(
                format!("this machine is called {host} in this store, and has sessions there"),
                format!(
                    "`sessionary team init STORE --host {host}` goes on with these; `purge --all` \
                     takes them back then"
                ),
            ));
        }
    }
    Ok(())
}

/// Whether the store in which this machine shares until now has nothing of it any more. Of one that
/// does not answer nobody knows.
fn is_emptied(settings: &Settings, context: &Context) -> bool {
    let host = &settings.host;
    let asked = context.store(&settings.store);
    let emptied =
        asked.and_then(|mut store| Ok(store.has(host)? && has_nothing(host, &mut *store)?));
    emptied.unwrap_or(false)
}

/// Whether a store has no file and no block of a host. A `purge` that was killed leaves blocks.
fn has_nothing(host: &str, store: &mut dyn Store) -> Result<bool, Error> {
    let there = store.manifests(host)?.unwrap_or_default();
    let is_nothing = there.files.is_empty() && there.problems.is_empty();
    Ok(is_nothing && store.blocks(host)?.is_empty())
}

/// Whether two addresses are written for one store: a folder may be reached by links.
fn is_same(one: &str, other: &str) -> bool {
    let folder = |address: &str| {
        let path = PathBuf::from(address.strip_prefix("dir:")?);
        Some(path.canonicalize().unwrap_or(path))
    };
    match (folder(one), folder(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// The address with the whole path of its folder.
fn whole(address: &str, context: &Context) -> String {
    let Some(path) = address.strip_prefix("dir:") else {
        return address.to_owned();
    };
    let path = match (path.strip_prefix("~/"), &context.surroundings.home) {
        (Some(below), Some(home)) => home.join(below),
        _ => context.surroundings.cwd.join(path),
    };
    format!("dir:{}", path.display())
}

/// What the system calls this machine.
fn system_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    name
}
