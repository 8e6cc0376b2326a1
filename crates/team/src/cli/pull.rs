//! What do other machines share?

use clap::Args;
use sessionary_team::{Error, pull};

use crate::context::Context;
use crate::output::{Outcome, bytes, count, print, print_json, say_problems};

/// Bring what other machines share, and remove what they have taken back
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary team pull   then list, search and show have the sessions of other machines too\n\n\
    Their files are written below team/HOST of the data folder, where nothing else is kept.")]
pub struct Pull {}

pub fn run(_: &Pull, context: &Context) -> Result<Outcome, Error> {
    let _lock = context.lock()?;
    let settings = context.settings()?;
    let store = context.store(&settings.store)?;
    let pulled = pull::pull(store, &context.data, &settings.this_host())?;
    if context.json {
        print_json(&pulled)?;
    } else {
        if pulled.hosts.is_empty() {
            print("No other machine shares anything here.")?;
        }
        for host in &pulled.hosts {
            let mut text = format!(
                "{}: {}, {} new or changed ({})",
                host.host,
                count(host.files, "file"),
                host.written + host.appended,
                bytes(host.bytes)
            );
            if host.removed > 0 {
                text += &format!(", {} removed", host.removed);
            }
            if host.waiting > 0 {
                text += &format!(", {} not complete in the store yet", host.waiting);
            }
            print(&text)?;
        }
    }
    Ok(say_problems(&pulled.problems))
}
