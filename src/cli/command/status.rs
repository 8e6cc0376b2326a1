//! What is the state of the index, and where were sessions looked for?

use clap::Args;
use sessionary::model::{RootStatus, Status};
use sessionary::{Config, Freshness, Index};

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::style::Tone;
use crate::output::table::{Column, Table};
use crate::output::text::plain_line;
use crate::output::time::{bytes, count};

/// Show the roots, the stores, and how fresh they are
#[derive(Debug, Args)]
#[command(
    after_help = "Shows what was last written to the index, without looking for new sessions first.\n\n\
    Examples:\n  \
    sessionary status\n  \
    sessionary status --json"
)]
pub struct StatusArgs {}

pub fn run(config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let status = Index::open(config, Freshness::AsCommitted)?.status()?;
    if screen.json {
        screen.json(&status)?;
    } else {
        screen.print(&printed(&status, screen))?;
    }
    Ok(Outcome::Found)
}

fn printed(status: &Status, screen: &Screen) -> String {
    let words = if let Some(damage) = &status.words_damage {
        format!("{}; `sessionary sync` builds them anew", plain_line(damage))
    } else if status.outstanding == 0 {
        "all words indexed".to_owned()
    } else {
        format!(
            "{} still to be indexed (found all the same)",
            count(status.outstanding, "entry")
        )
    };
    let unread = match status.unread {
        0 => String::new(),
        unread => format!(
            "\nunread    {} could not be read: {}",
            count(unread, "file"),
            super::UNREAD
        ),
    };
    let writer = if status.writer {
        ", being written by another process"
    } else {
        ""
    };
    format!(
        "index     {} (generation {}){writer}\nsize      catalogue {}, words {}, for {} of sessions\n\
         contents  {}, {}, {}{unread}\nfreshness last full scan {}; {words}\n\n{}",
        screen.path(&status.index_dir),
        status.generation,
        bytes(status.catalogue_bytes),
        bytes(status.words_bytes),
        bytes(status.source_bytes),
        count(status.sessions, "session"),
        count(status.entries, "entry"),
        count(status.problems, "problem"),
        scanned(status, screen),
        roots(&status.roots, screen),
    )
}

/// When the last full scan was.
pub fn scanned(status: &Status, screen: &Screen) -> String {
    match screen.age(status.last_scan.as_deref()).as_str() {
        "" => "never".to_owned(),
        "now" => "just now".to_owned(),
        age if age.contains('-') => age.to_owned(),
        age => format!("{age} ago"),
    }
}

/// The roots as a table.
pub fn roots(roots: &[RootStatus], screen: &Screen) -> String {
    let mut table = Table::new(&[
        Column::text("AGENT"),
        Column::path("ROOT"),
        Column::number("SESSIONS"),
        Column::number("FILES"),
        Column::text("NEWEST"),
        Column::long("WHY"),
    ]);
    for root in roots {
        let agent = match &root.label {
            Some(label) => format!("{}={label}", root.agent),
            None => root.agent.clone(),
        };
        let (tone, why) = match (&root.error, root.exists) {
            (Some(error), _) => (Tone::Bad, format!("{}: {error}", root.why)),
            (None, false) => (Tone::Quiet, format!("{}, not there", root.why)),
            (None, true) => (Tone::Plain, root.why.clone()),
        };
        table.row(vec![
            (Tone::Plain, plain_line(&agent)),
            (
                if root.exists {
                    Tone::Plain
                } else {
                    Tone::Quiet
                },
                screen.path(&root.path),
            ),
            (Tone::Plain, root.sessions.to_string()),
            (Tone::Quiet, root.files.to_string()),
            (Tone::Quiet, screen.age(root.newest.as_deref())),
            (tone, plain_line(&why)),
        ]);
    }
    table.render(screen.style, screen.width)
}
