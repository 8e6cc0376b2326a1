//! What is shared, and by whom?

use clap::Args;
use serde::Serialize;
use sessionary::with_causes;
use sessionary_team::{Error, Problem};

use crate::context::Context;
use crate::output::{Outcome, bytes, count, print, print_json, say_problems};

/// Say what this machine shares, and what there is in the store
#[derive(Debug, Args)]
pub struct Status {}

#[derive(Serialize)]
struct Answer<'a> {
    host: &'a str,
    store: &'a str,
    allow_raw: bool,
    repositories: Vec<&'a String>,
    withheld: Vec<&'a String>,
    hosts: Vec<HostAnswer>,
    problems: Vec<Problem>,
}

#[derive(Serialize)]
struct HostAnswer {
    host: String,
    files: u64,
    bytes: u64,
}

pub fn run(_: &Status, context: &Context) -> Result<Outcome, Error> {
    let settings = context.settings()?;
    let mut store = context.store(&settings.store)?;
    let mut answer = Answer {
        host: &settings.host,
        store: &settings.store,
        allow_raw: settings.allow_raw,
        repositories: settings.repositories.iter().collect(),
        withheld: settings.withheld.iter().collect(),
        hosts: Vec::new(),
        problems: Vec::new(),
    };
    let is_taken = store.is_taken(&settings.this_host())?;
    for host in store.hosts()? {
        match store.manifests(&host) {
            Ok(found) => {
                let found = found.unwrap_or_default();
                answer.problems.extend(found.problems);
                answer.hosts.push(HostAnswer {
                    host,
                    files: found.files.len() as u64,
                    bytes: found.files.values().map(|of| of.bytes()).sum(),
                });
            }
            Err(error) => answer
                .problems
                .push(Problem::new(host, with_causes(&error))),
        }
    }
    match context.json {
        true => print_json(&answer)?,
        false => print(&text(&answer, is_taken))?,
    }
    Ok(say_problems(&answer.problems))
}

/// Another machine may have taken the name of one that never pushed.
fn text(answer: &Answer<'_>, is_taken: bool) -> String {
    let mut text = format!(
        "host    {}\nstore   {}\nshared  ",
        answer.host, answer.store
    );
    let shared: Vec<&str> = answer.repositories.iter().map(|of| of.as_str()).collect();
    text += &match shared.as_slice() {
        [] => "nothing".to_owned(),
        shared => shared.join("\n        "),
    };
    if answer.allow_raw {
        text += "\nraw     allowed: `push --raw` sends keys and tokens";
    }
    if !answer.withheld.is_empty() {
        let sessions = count(answer.withheld.len() as u64, "session");
        text += &format!("\nkept    {sessions} will not be sent again");
    }
    for host in &answer.hosts {
        let is_this = if host.host == answer.host && !is_taken {
            ", this machine"
        } else {
            ""
        };
        let (files, bytes) = (count(host.files, "file"), bytes(host.bytes));
        text += &format!("\n\n{}{is_this}: {files}, {bytes}", host.host);
    }
    text
}
