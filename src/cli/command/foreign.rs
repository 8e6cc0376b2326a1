//! What may be done with a session that was copied from another machine? It is read. Only a fork of
//! it is one's own, and goes on.

use std::path::Path;

use sessionary::format::resume;
use sessionary::model::{Resume, SessionRow};
use sessionary::session::Profile;
use sessionary::{Config, Index};

use super::Reply;
use super::fork;
use super::writing::{DryRun, format_of};
use crate::failure::Failure;
use crate::output::Screen;
use crate::output::quote;
use crate::output::text::plain_line;

/// A session of another machine is not changed here: the next pull would bring it back as it was.
pub fn refuse(row: &SessionRow) -> Result<(), Failure> {
    let Some(host) = row.host.as_deref().map(plain_line) else {
        return Ok(());
    };
    let id = plain_line(&row.id);
    let what = format!("{id} is a session of {host}, of which there is a copy here to be read");
    let fork = format!(
        "`sessionary fork {}` makes a session of your own of it",
        quote::posix(&id)
    );
    Err(Failure::usage(what)
        .hint(fork)
        .hint("`sessionary team status` says what is shared and by whom"))
}

/// How a session of another machine goes on: after a question as a fork for `directory`, without
/// the options with which it ran there. `None`: no was the answer.
pub fn resumed(
    row: &SessionRow,
    host: &str,
    directory: &Path,
    config: &Config,
    screen: &Screen,
) -> Result<Option<Resume>, Failure> {
    let (id, host) = (plain_line(&row.id), plain_line(host));
    let session = quote::posix(&id);
    let format = format_of(row, config);
    let is_forked = row.agent == "clido" || Profile::of(format).is_some();
    // What its agent is told of a session, whichever it is.
    let is_resumed = resume(&row.agent, format, "", ("", None), "").is_some();
    if !is_forked || !is_resumed {
        let agent = plain_line(&row.agent);
        let why = match is_forked {
            true => format!("sessionary does not know how {agent} resumes a session"),
            false => format!("sessions of {agent} cannot be forked"),
        };
        let what =
            format!("{id} is a session of {host}: only a fork of it could go on here, and {why}");
        let hint = format!("`sessionary show {session}` reads it back");
        return Err(Failure::usage(what).hint(hint));
    }
    let question = format!(
        "{id} is a session of {host}. Fork it for {} and continue the fork? [y/N] ",
        screen.path(directory)
    );
    match super::ask(&question)? {
        Reply::Yes => {}
        Reply::No => {
            screen.say("No: nothing was written or started.");
            return Ok(None);
        }
        Reply::Nobody => {
            let what = format!("{id} is a session of {host}, and goes on here only as a fork");
            return Err(Failure::usage(what).hint(format!(
                "`sessionary fork {session}` makes one, and prints its id for `sessionary resume`"
            )));
        }
    }
    let new = fork::fork(row, directory, DryRun::default(), config, screen)?;
    new.remarks.iter().for_each(|remark| screen.say(remark));
    // The index need not have it yet: it is read by itself, and its agent knows it as its own.
    let path = new.path.to_string_lossy();
    let own = Index::of_file(config, &new.path)?.ask(|snapshot| snapshot.only())?;
    let resume = resume(&row.agent, format, &path, (&own.id, None), &own.cwd);
    resume.map(Some).ok_or_else(|| {
        let agent = plain_line(&row.agent);
        Failure::usage(format!(
            "sessionary does not know how {agent} resumes a session"
        ))
        .hint(format!("the fork is {}", screen.path(&new.path)))
    })
}
