//! Can the index follow the files while they are written? One process watches, until something ends it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use sessionary::index::{Ended, WatchOptions, Watched};
use sessionary::model::{Change, ChangeKind, SCHEMA_VERSION};
use sessionary::{Config, Error, Indexer};

use crate::args::Global;
use crate::autostart::{self, Autostart};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::progress::Progress;
use crate::output::text::plain_line;
use crate::output::time::count;

/// Keep the index up to date while sessions are written, until Ctrl-C
#[derive(Debug, Args)]
#[command(
    after_help = "The system tells of changes; each leads to a sync of the file it names, and nothing is read while nothing changes.\n\
    Where it does not tell (network file systems, its limits) all files are looked at again and again, which is said.\n\
    Changed sessions are printed, with --json as lines of JSON: the rows of the view `changes`.\n\n\
    Examples:\n  \
    sessionary watch\n  \
    sessionary watch --json | jq -r .path\n  \
    sessionary watch --install    from now on, and after every login\n  \
    sessionary watch --uninstall"
)]
pub struct WatchArgs {
    /// Look at all files again and again instead of being told of changes
    #[arg(long)]
    poll: bool,
    /// Refuse at once where another process writes the index, instead of waiting for it
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
    #[arg(long, requires = "install")]
    yes: bool,
}

/// What `watch --json` prints where changes are not known any more.
#[derive(Serialize)]
struct Missed {
    missed: bool,
}

/// What `watch --install --json` and `watch --uninstall --json` print.
#[derive(Serialize)]
struct Installed {
    schema_version: u32,
    /// `null`: there was nothing to remove.
    path: Option<PathBuf>,
    /// Whether the watcher runs now.
    started: bool,
}

pub fn run(
    args: &WatchArgs,
    global: &Global,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    if args.install {
        return install(args, global, config, screen);
    }
    if args.uninstall {
        return uninstall(screen);
    }
    let cancel = config.cancel.clone();
    ctrlc::set_handler(move || cancel.cancel()).map_err(anyhow::Error::new)?;
    let options = WatchOptions {
        poll: args.poll,
        executable: autostart::program().ok(),
        ..WatchOptions::default()
    };
    let (mut closed, mut known) = (None, BTreeSet::new());
    let mut progress = Progress::new();
    let opened = Indexer::open_to_watch(config, !args.no_wait, &mut |event| progress.event(event));
    drop(progress);
    let indexer = match opened {
        // By Ctrl-C, while another process was waited for.
        Err(Error::Cancelled) => return Ok(Outcome::Found),
        opened => opened?,
    };
    let ended = indexer.watch(&options, &mut |watched| {
        let said = match watched {
            Watched::Changed(changes, missed) => print(changes, missed, screen),
            other => {
                say(&other, &mut known, screen);
                Ok(())
            }
        };
        if let Err(failure) = said {
            // Whoever read our output has gone.
            closed.get_or_insert(failure);
            config.cancel.cancel();
        }
    })?;
    if let Some(failure) = closed {
        return Err(failure);
    }
    match ended {
        Ended::Cancelled => {}
        Ended::Replaced => {
            screen.say("Another program stands in this one's place: the watching ends.")
        }
        Ended::Removed => screen.say("The index was removed: the watching ends."),
        Ended::Reconfigured => screen.say(
            "`exclude` or `follow_links` is another one now than when the watching began: it ends.",
        ),
        _ => screen.say("Another version of sessionary writes the index now: the watching ends."),
    }
    Ok(Outcome::Found)
}

fn install(
    args: &WatchArgs,
    global: &Global,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let Some(file) = Autostart::new(global, config)? else {
        return Err(
            Failure::usage("this system is not known to start programs at login")
                .hint("have it run `sessionary watch`"),
        );
    };
    if args.print {
        screen.print(&file.content)?;
        return Ok(Outcome::Found);
    }
    if !args.yes {
        let other = match file.replaces_another() {
            true => " (there is one that says something else)",
            false => "",
        };
        screen.say(&format!("{}{other}:\n", screen.path(&file.path)));
        file.content
            .lines()
            .for_each(|line| screen.say(&plain_line(line)));
        if !super::consents("\nWrite this file, and start the watcher? [y/N] ")? {
            return Err(Failure::usage("nothing was installed")
                .hint("--yes installs without asking, --print only shows the file"));
        }
    }
    if args.yes && file.replaces_another() {
        screen.say("It takes the place of a file that said something else.");
    }
    let started = file.install()?;
    if screen.json {
        screen.json(&Installed {
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
            "The watcher was not started; this starts it: {command}"
        ));
    }
    Ok(Outcome::Found)
}

fn uninstall(screen: &Screen) -> Result<Outcome, Failure> {
    let path = autostart::path();
    let removed = autostart::remove()?;
    if screen.json {
        screen.json(&Installed {
            schema_version: SCHEMA_VERSION,
            path: path.filter(|_| removed),
            started: false,
        })?;
    } else if let Some(path) = path.filter(|_| removed) {
        screen.print(&format!("Removed {}.\n", screen.path(&path)))?;
    } else {
        screen.say("Nothing was installed.");
    }
    Ok(Outcome::found(removed))
}

/// Changes are data.
fn print(changes: &[Change], missed: bool, screen: &Screen) -> Result<(), Failure> {
    if missed && screen.json {
        screen.json(&Missed { missed })?;
    }
    for change in changes {
        if screen.json {
            screen.json(change)?;
            continue;
        }
        let what = match change.what {
            ChangeKind::Changed => "changed",
            ChangeKind::Gone => "gone   ",
        };
        let line = format!("{what}  {}  {}", change.id, screen.path(&change.path));
        screen.print(&(plain_line(&line) + "\n"))?;
    }
    Ok(())
}

/// Everything else is talk; `known` are the notes that were made since the last look at everything, or at it.
fn say(watched: &Watched<'_>, known: &mut BTreeSet<String>, screen: &Screen) {
    match watched {
        Watched::Watching(directories) => {
            let directories = count(*directories, "directory");
            screen.say(&format!("Watching {directories}; Ctrl-C ends it."));
        }
        Watched::Polling(why) => screen.say(&format!(
            "Polling, because {}; Ctrl-C ends it.",
            screen.with_paths(why)
        )),
        Watched::Delayed(error) => screen.say(&format!(
            "Nothing can be written now, it is tried again: {}",
            screen.with_paths(&error.to_string())
        )),
        Watched::Checked(_, report) | Watched::Synced(report) | Watched::Indexed(report) => {
            for note in report.notes.iter().filter(|note| !known.contains(*note)) {
                screen.say(&plain_line(note));
            }
            if matches!(watched, Watched::Checked(..)) {
                known.clear();
            }
            known.extend(report.notes.iter().cloned());
        }
        _ => {}
    }
}
