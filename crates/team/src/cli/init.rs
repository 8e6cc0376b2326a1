//! Where are sessions shared, and what is this machine called there?

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sessionary_team::manifest::Manifests;
use sessionary_team::{Error, Settings, names, store};

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

/// Settings that are there already, with another store.
fn again(
    before: Settings,
    args: &Init,
    address: &str,
    context: &Context,
) -> Result<Settings, Error> {
    let mut settings = before;
    let is_other = !is_same(&settings.store, address);
    if is_other && !args.keep && settings.has_pushed && !is_emptied(&settings, context) {
        return Err(Error::refused(
            format!(
                "what this machine has sent to {} would stay there, out of reach of `revoke` and \
                 `purge`",
                settings.store
            ),
            "`sessionary team purge --all` takes it back first (`share` then names what is shared \
             anew); `init STORE --keep` leaves it there, or goes on with it where that is the same \
             store by another address",
        ));
    }
    settings.has_pushed &= !is_other && !args.keep;
    if let Some(host) = args.host.as_ref().filter(|host| **host != settings.host) {
        if settings.has_pushed {
            return Err(Error::refused(
                format!(
                    "this machine is called {} already, not {host}",
                    settings.host
                ),
                format!(
                    "`sessionary team purge --all` takes back what it shares by that name; then remove {}",
                    context.data.settings().display()
                ),
            ));
        }
        settings = settings.called(host)?;
    }
    settings.store = address.to_owned();
    settings.allow_raw = args.allow_raw;
    Ok(settings)
}

/// Whether the store in which this machine shares until now has nothing of it any more. Of one that
/// does not answer nobody knows.
fn is_emptied(settings: &Settings, context: &Context) -> bool {
    let store = context.store(&settings.store);
    let there = store.and_then(|mut store| store.manifests(&settings.host));
    let is_nothing = |of: &Manifests| of.files.is_empty() && of.problems.is_empty();
    matches!(&there, Ok(Some(of)) if is_nothing(of))
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
