//! What is there at all? The answer to `sessionary` without a command.

use serde::Serialize;
use sessionary::Config;
use sessionary::index::ListScope;
use sessionary::locations::NotRead;
use sessionary::model::{Listing, RootStatus, SCHEMA_VERSION, SessionRow, ShortIds, Status};

use crate::background::afterwards;
use crate::command::list::OptionalColumns;
use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::not_read;
use crate::output::Screen;
use crate::output::style::Tone;
use crate::output::time::{bytes, count};

/// How many of the newest sessions are shown.
const NEWEST: usize = 5;

/// What `sessionary --json` prints.
#[derive(Serialize)]
struct Overview<'a> {
    schema_version: u32,
    complete: bool,
    status: &'a Status,
    newest: &'a [SessionRow],
}

pub fn run(config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let mut index = super::answerable(super::open(config, screen)?)?;
    let status = index.status()?;
    let listing = index.list(&ListScope {
        fold_subagents: true,
        limit: Some(NEWEST),
        mask: screen.mask(),
        ..ListScope::default()
    })?;
    if screen.json {
        screen.json(&Overview {
            schema_version: SCHEMA_VERSION,
            complete: listing.complete,
            status: &status,
            newest: &listing.sessions,
        })?;
    } else {
        let others = match status.sessions {
            0 => not_read::others(config),
            _ => Vec::new(),
        };
        let ids = index.ask(|snapshot| snapshot.short_ids())?;
        screen.print(&printed(&status, &others, &listing, ids, screen))?;
    }
    screen.say_redacted();
    super::say_pending(
        screen,
        &index,
        listing.complete,
        Some(listing.pending_files),
    );
    afterwards(&mut index, screen);
    Ok(Outcome::Yes)
}

fn printed(
    status: &Status,
    others: &[NotRead],
    listing: &Listing,
    ids: ShortIds,
    screen: &Screen,
) -> String {
    let newest = &listing.sessions;
    let there: Vec<RootStatus> = status
        .roots
        .iter()
        .filter(|root| root.exists)
        .cloned()
        .collect();
    let strong = |text: &str| screen.style.paint(Tone::Strong, text);
    let mut out = format!(
        "{}{}, {} of session files; last full scan {}.\n",
        strong(&count(status.sessions, "session")),
        of_subagents(status.sessions, listing.total),
        bytes(status.source_bytes),
        super::status::scanned(status, screen)
    );
    if status.outstanding > 0 {
        out.push_str(&format!(
            "{} ({}) not indexed yet; searches find them anyway.\n",
            count(status.outstanding, "entry"),
            bytes(status.outstanding_bytes)
        ));
    }
    let missing = status.roots.len() - there.len();
    let number = count(status.roots.len() as u64, "root");
    out.push_str(&format!("\n{}", strong(&format!("{number} scanned"))));
    if status.sessions == 0 {
        out.push('\n');
        out.push_str(&super::status::roots(&status.roots, screen));
        for line in not_read::lines(others, &status.roots, screen) {
            out.push_str(&format!("{line}\n"));
        }
        if listing.complete {
            out.push_str(&format!("\n{}\n", super::status::WHAT_TO_DO));
        }
        return out;
    }
    if missing > 0 {
        out.push_str(&format!(
            ", {missing} not there (`{} status --roots` names them)",
            demo::program()
        ));
    }
    out.push('\n');
    out.push_str(&super::status::roots(&there, screen));
    if !newest.is_empty() {
        out.push_str(&format!("\n{}\n", strong("Newest")));
        out.push_str(&super::list::table(
            newest,
            ids,
            &[OptionalColumns::Project],
            screen,
        ));
    }
    out.push_str(&format!("\n{}\n", strong("Try")));
    out.push_str(&to_try(screen));
    out
}

/// How many of `all` a list leaves out: those of subagents, which it counts on the `listed`.
fn of_subagents(all: u64, listed: u64) -> String {
    match all.saturating_sub(listed) {
        0 => String::new(),
        1 => " (1 of a subagent)".to_owned(),
        some => format!(" ({some} of subagents)"),
    }
}

/// What may be typed next.
fn to_try(screen: &Screen) -> String {
    let mut out = String::new();
    for (verb, what) in [
        (
            "list --all",
            "every session, newest first, unlisted ones last",
        ),
        ("search WORDS", "everything that was said, run and printed"),
        (
            "show last",
            "read back the newest session of this repository",
        ),
    ] {
        let padded = format!("{} {verb:<14}", demo::program());
        out.push_str(&format!(
            "  {}{what}\n",
            screen.style.paint(Tone::Name, &padded)
        ));
    }
    out
}
