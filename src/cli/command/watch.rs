//! Can the index follow the files while they are written? One process watches, until something ends
//! it.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use sessionary::index::{WatchEnd, WatchEvent, WatchOptions};
use sessionary::model::{ChangeKind, SCHEMA_VERSION, SessionChange};
use sessionary::{Config, Error, Indexer, with_causes};

use crate::again;
use crate::args::Global;
use crate::autostart::{self, Autostart};
use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::progress::Progress;
use crate::output::queue::OutputQueue;
use crate::output::spool::Spool;
use crate::output::text::{plain_line, terminal_safe_json};
use crate::output::time::count;
use crate::places;
use crate::pusher::Pusher;

/// Keep the index up to date while sessions are written, until Ctrl-C
#[derive(Debug, Args)]
#[command(
    after_help = "The system reports changes; each leads to a sync of the file it names, and nothing is read while nothing changes.\n\
    Where it cannot report them (network file systems, its limits) all files are scanned again and again, and a message says so.\n\
    Changed sessions are printed, with --json as lines of JSON: the rows of the view `changes`. A \
    reader that stops reading holds nothing up: {\"missed\":true} stands for the changes it missed.\n\n\
    Examples:\n  \
    sessionary watch\n  \
    sessionary watch --json | jq -r .path\n  \
    sessionary watch --install    from now on, and after every login\n  \
    sessionary watch --uninstall"
)]
pub struct WatchArgs {
    /// Scan all files again and again instead of waiting for notifications
    #[arg(long)]
    poll: bool,
    /// Fail at once if another process is writing the index, instead of waiting
    #[arg(long, conflicts_with_all = ["install", "uninstall"])]
    no_wait: bool,
    /// Have systemd (macOS: launchd) start it now and at every login; shows the file first and asks
    #[arg(long, conflicts_with = "poll")]
    install: bool,
    /// Undo --install
    #[arg(long, conflicts_with_all = ["poll", "install"])]
    uninstall: bool,
    /// With --install: only show the file
    #[arg(long, requires = "install")]
    print: bool,
    /// With --install: do not ask
    #[arg(short, long, requires = "install")]
    yes: bool,
}

/// What `watch --json` prints where changes are not known any more, or were not read.
const MISSED: &str = r#"{"missed":true}"#;
/// What `watch` prints in its place for people.
const MISSED_LINE: &str = "missed   other changes: `sessionary list` has all sessions";
/// What is said in the place of messages that had no room.
const DROPPED: &str = "Some messages were dropped: nobody read them.";

/// What `watch --install --json` and `watch --uninstall --json` print.
#[derive(Serialize)]
struct InstallAnswer {
    schema_version: u32,
    /// `null`: there was nothing to remove.
    path: Option<PathBuf>,
    /// Whether the watcher runs now.
    started: bool,
}

/// What `watch --install --print --json` prints: the file, which is not written.
#[derive(Serialize)]
struct Shown<'a> {
    schema_version: u32,
    path: &'a Path,
    content: &'a str,
}

pub fn run(
    args: &WatchArgs,
    global: &Global,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    demo::refuse(
        "no agent writes made-up sessions, so there is nothing to watch",
        "without --demo it watches yours",
    )?;
    if args.install {
        return install(args, global, config, screen);
    }
    if args.uninstall {
        return uninstall(screen);
    }
    watch(args, global, config, screen)
}

/// Watches until something ends it.
fn watch(
    args: &WatchArgs,
    global: &Global,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let cancel = config.cancel.clone();
    ctrlc::set_handler(move || cancel.cancel()).map_err(anyhow::Error::new)?;
    let options = WatchOptions {
        poll: args.poll,
        executable: again::program().ok(),
        ..WatchOptions::default()
    };
    let Some(indexer) = open(config, !args.no_wait)? else {
        return Ok(Outcome::Yes);
    };
    let missed_line = if screen.json { MISSED } else { MISSED_LINE };
    let closed = config.cancel.clone();
    // Whoever reads our output may stop to read, or go; what is indexed waits for neither.
    let changed = OutputQueue::start(to_stdout, move || closed.cancel())?;
    let messages = OutputQueue::start(to_stderr, || ())?;
    let talk = |line: &str| messages.news(line, DROPPED);
    let pusher = pusher(global, &messages)?;
    let (mut failed, mut known) = (None, BTreeSet::new());
    let ended = indexer.watch(&options, &mut |watched| match watched {
        WatchEvent::Changed { changes, missed } => {
            pusher.iter().for_each(Pusher::push);
            if missed {
                changed.news(missed_line, missed_line);
            }
            for change in changes {
                match line(change, screen) {
                    Ok(line) => changed.news(&line, missed_line),
                    Err(failure) => {
                        failed.get_or_insert(failure);
                        config.cancel.cancel();
                    }
                }
            }
        }
        other => {
            // What could not be sent then is sent now.
            if matches!(other, WatchEvent::Checked { .. }) {
                pusher.iter().for_each(Pusher::push);
            }
            say(&other, &mut known, screen, &talk);
        }
    });
    if let Some(why) = ended.as_ref().ok().and_then(why) {
        talk(why);
    }
    let printed = changed.end();
    messages.end()?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    ended?;
    printed?;
    Ok(Outcome::Yes)
}

/// Who pushes what has changed; `None`: nobody, as long as that is not set.
fn pusher(global: &Global, messages: &OutputQueue) -> Result<Option<Pusher>, Failure> {
    match places::settings(global)?.team_auto.value {
        true => {
            let (program, messages) = (super::team::command(global), messages.clone());
            let talk = move |line: &str| messages.news(line, DROPPED);
            Ok(Some(Pusher::start(program, talk)?))
        }
        false => Ok(None),
    }
}

/// `None`: Ctrl-C, while another process was waited for.
fn open(config: &Config, wait: bool) -> Result<Option<Indexer>, Error> {
    let mut progress = Progress::new();
    let opened = match wait {
        true => Indexer::open_to_watch(config, &mut |event| progress.event(event)),
        false => Indexer::try_open_to_watch(config),
    };
    match opened {
        Err(Error::Cancelled) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Why the watching ended, where nobody asked for that.
fn why(ended: &WatchEnd) -> Option<&'static str> {
    Some(match ended {
        WatchEnd::Cancelled => return None,
        WatchEnd::Replaced => "The program was replaced; the watcher ends.",
        WatchEnd::Removed => "The index was removed; the watcher ends.",
        WatchEnd::Reconfigured => {
            "`exclude` or `follow_links` changed after the watcher started; it ends."
        }
        _ => "Another version of sessionary writes the index now; the watcher ends.",
    })
}

fn to_stdout(text: &[u8]) -> io::Result<()> {
    let mut out = Spool::default();
    out.write_all(text)?;
    out.print()
}

fn to_stderr(text: &[u8]) -> io::Result<()> {
    // When nobody listens there, there is nobody to tell.
    let _ = io::stderr().write_all(text);
    Ok(())
}

fn install(
    args: &WatchArgs,
    global: &Global,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let Some(file) = Autostart::new(global, config)? else {
        return Err(Failure::usage(
            "sessionary does not know how this system starts programs at login",
        )
        .hint("have it run `sessionary watch` at login"));
    };
    if args.print {
        match screen.json {
            true => screen.json(&Shown {
                schema_version: SCHEMA_VERSION,
                path: &file.path,
                content: &file.content,
            })?,
            false => screen.print(&file.content)?,
        }
        return Ok(Outcome::Yes);
    }
    if !args.yes {
        let other = match file.replaces_another() {
            true => " (replaces a different one)",
            false => "",
        };
        screen.say(&format!("{}{other}:\n", screen.path(&file.path)));
        file.content
            .lines()
            .for_each(|line| screen.say(&plain_line(line)));
        let question = "\nWrite this file, and start the watcher? [y/N] ";
        let hint = "--yes installs without asking, --print only shows the file";
        if let Some(ended) = super::declined(question, "nothing was installed", hint, screen)? {
            return Ok(ended);
        }
    }
    if args.yes && file.replaces_another() {
        screen.say("It replaces a different file.");
    }
    let started = file.install()?;
    if screen.json {
        screen.json(&InstallAnswer {
            schema_version: SCHEMA_VERSION,
            path: Some(file.path.clone()),
            started,
        })?;
    } else {
        screen.print(&format!("Wrote {}.\n", screen.path(&file.path)))?;
    }
    if !started {
        let command = autostart::by_hand(&file.path);
        screen.say(&format!(
            "The watcher was not started; start it with: {command}"
        ));
    }
    Ok(Outcome::Yes)
}

fn uninstall(screen: &Screen) -> Result<Outcome, Failure> {
    let path = autostart::path();
    let removed = autostart::remove()?;
    if screen.json {
        screen.json(&InstallAnswer {
            schema_version: SCHEMA_VERSION,
            path: path.filter(|_| removed),
            started: false,
        })?;
    } else if let Some(path) = path.filter(|_| removed) {
        screen.print(&format!("Removed {}.\n", screen.path(&path)))?;
    } else {
        screen.say("Nothing was installed.");
    }
    Ok(Outcome::of(removed))
}

/// Changes are data.
fn line(change: &SessionChange, screen: &Screen) -> Result<String, Failure> {
    if screen.json {
        return Ok(terminal_safe_json(&serde_json::to_string(change)?).into_owned());
    }
    let what = match change.what {
        ChangeKind::Changed => "changed",
        ChangeKind::Archived => "archived",
        ChangeKind::Gone => "gone   ",
        _ => "other  ",
    };
    let line = format!("{what}  {}  {}", change.id, screen.path(&change.path));
    Ok(plain_line(&line))
}

/// Everything else is talk; `known` are the notes that were made since the last full scan,
/// or at it.
fn say(
    watched: &WatchEvent<'_>,
    known: &mut BTreeSet<String>,
    screen: &Screen,
    talk: &impl Fn(&str),
) {
    match watched {
        WatchEvent::Watching(directories) => {
            let directories = count(*directories, "directory");
            talk(&format!("Watching {directories}; Ctrl-C ends it."));
        }
        WatchEvent::Polling(why) => talk(&format!(
            "Polling, because {}; Ctrl-C ends it.",
            screen.with_paths(why)
        )),
        WatchEvent::Delayed(error) => talk(&format!(
            "Nothing can be written now; trying again: {}",
            screen.with_paths(&with_causes(error))
        )),
        WatchEvent::Checked { report, .. }
        | WatchEvent::Synced(report)
        | WatchEvent::Indexed(report)
        | WatchEvent::Proven(report) => {
            for note in report.notes.iter().filter(|note| !known.contains(*note)) {
                talk(&plain_line(note));
            }
            if matches!(watched, WatchEvent::Checked { .. }) {
                known.clear();
            }
            known.extend(report.notes.iter().cloned());
        }
        _ => {}
    }
}
