//! What is the state of the index, and where were sessions looked for?

use std::path::Path;

use clap::Args;
use serde::Serialize;
use sessionary::locations::NotRead;
use sessionary::model::{RootStatus, SCHEMA_VERSION, Status, WatchMode, WatcherStatus};
use sessionary::{Config, Freshness, Index};

use crate::background::afterwards;
use crate::deletions;
use crate::failure::{Failure, Outcome};
use crate::not_read;
use crate::output::Screen;
use crate::output::style::Tone;
use crate::output::table::{Column, Table};
use crate::output::text::plain_line;
use crate::output::time::{bytes, count};

/// Show the roots, the stores, and how fresh they are
#[derive(Debug, Args)]
#[command(
    after_help = "Shows the index as it was last written, without looking for new sessions first; --roots looks.\n\n\
    Examples:\n  \
    sessionary status\n  \
    sessionary status --roots     every place where sessions could be, why, and what is there\n  \
    sessionary status --json"
)]
pub struct StatusArgs {
    /// Only the places where sessions are looked for, after a scan
    #[arg(long = "roots")]
    places: bool,
}

/// What `status --roots --json` prints.
#[derive(Serialize)]
struct Roots<'a> {
    schema_version: u32,
    complete: bool,
    roots: &'a [RootStatus],
    /// Sessions of agents that are there and are not read.
    not_read: &'a [NotRead],
}

pub fn run(args: &StatusArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    if args.places {
        return run_roots(config, screen);
    }
    let index = Index::open(config, Freshness::AsCommitted)?;
    let status = index.status()?;
    if screen.json {
        screen.json(&status)?;
    } else {
        screen.print(&printed(&status, screen))?;
        for (_, notice) in deletions::notices(&index, config) {
            screen.say(&notice);
        }
    }
    say_absent(config, screen);
    say_links(&status.roots, config, screen);
    Ok(Outcome::Yes)
}

fn run_roots(config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let mut index = super::open(config, screen)?;
    let status = index.status()?;
    let others = not_read::others(config);
    if screen.json {
        screen.json(&Roots {
            schema_version: SCHEMA_VERSION,
            complete: index.is_complete(),
            roots: &status.roots,
            not_read: &others,
        })?;
    } else {
        let lines = not_read::lines(&others, &status.roots, screen);
        let mut text = roots(&status.roots, screen);
        if !lines.is_empty() {
            text += &format!("\n{}\n", lines.join("\n"));
        }
        super::page(text.into(), &mut index, screen)?;
    }
    say_links(&status.roots, config, screen);
    super::say_pending(screen, &index, index.is_complete(), None);
    if status.sessions == 0 && index.is_complete() {
        screen.say(WHAT_TO_DO);
    }
    afterwards(&mut index, screen);
    Ok(Outcome::of(status.sessions > 0))
}

/// Which paths are to be left out that are not there: a slip of the pen leaves nothing out.
fn say_absent(config: &Config, screen: &Screen) {
    let globs = config.rules.exclude().globs().iter();
    let is_path = |glob: &&String| !glob.contains(['*', '?', '[', '{']);
    let paths = globs.filter(is_path).map(Path::new);
    for absent in paths.filter(|path| path.is_absolute() && !path.exists()) {
        let path = screen.path(absent);
        screen.say(&format!("`exclude` names {path}, which is not there."));
    }
}

/// How links are followed, where some are not.
fn say_links(roots: &[RootStatus], config: &Config, screen: &Screen) {
    if roots.iter().any(|root| root.links_not_followed > 0) {
        screen.say(if config.rules.follow_links() {
            "Links to folders that contain one of these places are not followed."
        } else {
            "Links that lead out of these places are not followed; --follow-links, or follow_links = true in the configuration file, follows them."
        });
    }
}

/// What helps when no session was found.
pub const WHAT_TO_DO: &str = "No sessions were found in any of these places. If yours are elsewhere, name the folder:\n\
    once with --root pi:DIR, or for good in the file that `sessionary config path` names: roots = [\"pi:DIR\"]\n\
    To try it on made-up sessions: sessionary --demo list --all";

/// Where sessions were looked for in vain, on stderr; nothing where nobody could look.
pub fn say_nothing(index: &Index, screen: &Screen) -> Result<(), Failure> {
    if !index.is_complete() {
        return Ok(());
    }
    let status = index.status()?;
    for line in roots(&status.roots, screen).lines() {
        screen.say(line);
    }
    not_read::say(index.config(), &status.roots, screen);
    screen.say(WHAT_TO_DO);
    Ok(())
}

fn printed(status: &Status, screen: &Screen) -> String {
    let words = if let Some(damage) = &status.words_damage {
        format!("{}; `sessionary sync` rebuilds them", plain_line(damage))
    } else if status.outstanding == 0 {
        "all words indexed".to_owned()
    } else {
        format!(
            "{} ({}) not indexed yet; searches find them anyway",
            count(status.outstanding, "entry"),
            bytes(status.outstanding_bytes)
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
    let passed_over = match status.passed_over {
        0 => String::new(),
        files => format!(", {} passed over", count(files, "file")),
    };
    let writer = if status.writer {
        ", being written by another process"
    } else {
        ""
    };
    let watcher = status
        .watcher
        .as_ref()
        .map_or(String::new(), |watcher| watched(watcher, screen));
    format!(
        "index     {} (generation {}){writer}\nsize      catalogue {}, words {}, for {} of sessions\n\
         contents  {}, {}, {}{passed_over}{unread}\nfreshness last full scan {}; {words}{watcher}\n\n{}",
        screen.path(&status.index_dir),
        status.generation,
        bytes(status.catalogue_bytes),
        bytes(status.words_bytes),
        bytes(status.source_bytes),
        count(status.sessions, "session"),
        count(status.entries, "entry"),
        count(
            status.problems.saturating_sub(status.passed_over),
            "problem"
        ),
        scanned(status, screen),
        roots(&status.roots, screen),
    )
}

/// The line about the live watcher.
fn watched(watcher: &WatcherStatus, screen: &Screen) -> String {
    let since = match screen.age(watcher.since.as_deref()).as_str() {
        "" | "now" => String::new(),
        age => format!(" for {age}"),
    };
    let does = match (watcher.mode, watcher.lag_ms) {
        (WatchMode::Watch, Some(lag)) => format!(
            "watches {}{since}, {lag:.1} ms behind",
            count(watcher.directories, "directory")
        ),
        (WatchMode::Watch, None) => format!("watches{since}, but does not answer"),
        _ => format!("polls{since}"),
    };
    let why = match &watcher.why {
        Some(why) => format!(" ({})", screen.with_paths(why)),
        None => String::new(),
    };
    format!("\nwatcher   process {} {does}{why}", watcher.pid)
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
        let agent = super::labelled(&root.agent, root.label.as_deref());
        let (tone, why) = match (&root.error, root.exists) {
            (Some(error), _) => (Tone::Bad, format!("{}: {error}", root.why)),
            (None, false) => (Tone::Quiet, format!("{}, not there", root.why)),
            (None, true) => {
                let mut why = root.why.clone();
                let mut left_out = |number, name, what| {
                    if number > 0 {
                        why += &format!(", {} {what}", count(number, name));
                    }
                };
                left_out(root.excluded, "file", "excluded");
                left_out(root.links_not_followed, "link", "not followed");
                (Tone::Plain, why)
            }
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
            (tone, screen.with_paths(&why)),
        ]);
    }
    table.render(screen.style, screen.width)
}
