//! How does a session go? To the system's trash, from where it can come back.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use sessionary::Config;
use sessionary::model::{SCHEMA_VERSION, SessionRow};

use super::trashing::{
    DeletionTarget, SHORTEST, TrashResult, folders, move_to_trash, own_place, refuse_changed,
    refuse_in_demo, refuse_in_use, refuse_leaned_on, restore, trash_of, trashed, way_back,
};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::text::plain_line;
use crate::output::time::{bytes, count};

/// Move sessions to the system's trash
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary delete 019b3f2a --dry-run       what would be moved, and where\n  \
    sessionary delete 019b3f2a 01KE6P4Y --yes  two sessions, without asking\n  \
    sessionary delete --restore 019b3f2a       move it back from the trash\n\n\
    All files of a session are moved. Subagents in its folder, as those of agentuse and Claude Code,\n\
    go with it and are listed first. Forks stay, and so do other subagents.\n\
    What changed in the last minute may still be in use, and a fork of Codex may begin in what is to\n\
    be moved: that is moved only with --force.\n\n\
    --restore moves back what has these letters of an id in the names of its files, on Linux and\n\
    Windows. By hand: move the files from the trash to where they were, and the next command finds\n\
    them.")]
pub struct Delete {
    /// Session ids (8 letters of one are enough), paths, or whole names
    #[arg(value_name = "SESSION", required = true, add = values::session_in_full())]
    sessions: Vec<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Also move what changed in the last minute, and what a fork begins in
    #[arg(short, long)]
    force: bool,
    /// Show what would be moved and where, without moving it
    #[arg(long)]
    dry_run: bool,
    /// Move sessions back from the trash
    #[arg(long, conflicts_with_all = ["yes", "force", "dry_run"])]
    restore: bool,
}

/// What `delete --restore --json` prints.
#[derive(Serialize)]
struct Restored<'a> {
    schema_version: u32,
    /// What is there again: files and folders.
    restored: &'a [PathBuf],
}

/// What `delete --json` prints.
#[derive(Serialize)]
struct Answer {
    schema_version: u32,
    dry_run: bool,
    /// Each session that was (or would be) moved, subagents before the session whose folder holds
    /// theirs.
    sessions: Vec<TrashedSession>,
}

#[derive(Serialize)]
struct TrashedSession {
    agent: String,
    id: String,
    /// Its file, or of agentuse its folder.
    path: PathBuf,
    /// Its other files, where it has several, and the folder that belongs to it.
    other_paths: Vec<PathBuf>,
    bytes: u64,
    files: u64,
    /// The id of the session with whose folder this one goes.
    with: Option<String>,
    /// Ids of sessions that were forked from it: they stay.
    forks: Vec<String>,
    /// Ids of those that were and hold only what is their own: they stay, and lose their beginning.
    leaning_forks: Vec<String>,
    /// Ids of its subagents that have files elsewhere: they stay.
    staying_subagents: Vec<String>,
    /// Where it is moved: a folder, or what the system calls it.
    trash: String,
    /// Whether the archive could not be made to forget it.
    still_archived: bool,
}

pub fn run(args: &Delete, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    if args.restore {
        return bring_back(args, config, screen);
    }
    let index = super::open(config, screen)?;
    let named = |name| super::naming::named_in_full(name, &index, config, screen);
    let rows = args.sessions.iter().map(|name| named(name));
    let mut doomed = DeletionTarget::all(rows.collect::<Result<_, _>>()?, &index)?;
    drop(index);
    let dry_run = args.dry_run;
    if !(screen.json && dry_run) {
        announce(&doomed, dry_run, screen)?;
    }
    if !dry_run {
        refuse_in_demo()?;
    }
    if !args.force && !dry_run {
        refuse_in_use(&doomed, screen)?;
        refuse_leaned_on(&doomed)?;
    }
    if !dry_run && !args.yes {
        let sessions: usize = doomed.iter().map(|one| 1 + one.subagents.len()).sum();
        let all = doomed.iter().map(|one| one.bytes).sum();
        let sessions = count(sessions as u64, "session");
        let question = format!("Move {sessions}, {}, to the trash? [y/N] ", bytes(all));
        let hint = "--yes moves without asking";
        if let Some(ended) = super::declined(&question, "nothing was moved", hint, screen)? {
            return Ok(ended);
        }
        let rows = doomed.iter().map(|one| one.row.clone()).collect();
        let now = DeletionTarget::all(rows, &super::open(config, screen)?)?;
        if !args.force {
            refuse_changed(&doomed, &now, screen)?;
        }
        doomed = now;
    }
    let moved = match dry_run {
        true => TrashResult {
            count: doomed.len(),
            ..TrashResult::default()
        },
        false => move_to_trash(&doomed, config),
    };
    moved.remarks.iter().for_each(|what| screen.say(what));
    // Also after a failure: what is gone already is printed.
    doomed.truncate(moved.count);
    if screen.json {
        screen.json(&Answer {
            schema_version: SCHEMA_VERSION,
            dry_run,
            sessions: doomed.iter().flat_map(|one| one.moved(&moved)).collect(),
        })?;
    } else if !dry_run && !doomed.is_empty() {
        print_moved(&doomed, config, screen)?;
    }
    match moved.failed {
        Some(error) => Err(error.into()),
        None => Ok(Outcome::of(moved.still_archived.is_empty())),
    }
}

/// Moves sessions from the trash to where they were. None of them is known by then: they are found
/// by the names of their files.
fn bring_back(args: &Delete, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    refuse_in_demo()?;
    let roots = folders(config.roots.iter());
    let mut places = Vec::new();
    for name in &args.sessions {
        if name.chars().count() < SHORTEST {
            let short = format!("{name} is too short to tell a session in the trash");
            return Err(Failure::usage(short).hint("8 letters of its id are enough"));
        }
        let found = trashed(name, &roots)?;
        if found.is_empty() {
            let none = format!("no file of a session in the trash has {name} in its name");
            return Err(Failure::not_found(none)
                .hint("`sessionary delete --help` says how files are moved back by hand"));
        }
        places.extend(found);
    }
    places.sort_unstable();
    places.dedup();
    restore(&places)?;
    match screen.json {
        true => screen.json(&Restored {
            schema_version: SCHEMA_VERSION,
            restored: &places,
        })?,
        false => {
            screen.say("Moved back from the trash:");
            let lines = places.iter().map(|place| screen.path(place) + "\n");
            screen.print(&lines.collect::<String>())?;
        }
    }
    Ok(Outcome::Yes)
}

/// Prints what was moved, and says how it comes back.
fn print_moved(moved: &[DeletionTarget], config: &Config, screen: &Screen) -> Result<(), Failure> {
    screen.say("Moved to the trash:");
    for moved in moved {
        screen.print(&format!("{}\n", plain_line(&moved.row.id)))?;
    }
    screen.say(&way_back(moved, config, screen));
    Ok(())
}

/// Says what is to be moved, and where; a dry run prints it.
fn announce(doomed: &[DeletionTarget], dry_run: bool, screen: &Screen) -> Result<(), Failure> {
    let mut last = String::new();
    for doomed in doomed {
        let trash = screen.with_paths(&trash_of(&doomed.path));
        if trash != last {
            let what = if dry_run { "Would be" } else { "To be" };
            screen.say(&format!("{what} moved to {trash}:"));
            last = trash;
        }
        let shown = doomed.shown(screen);
        match dry_run {
            true => screen.print(&shown)?,
            false => screen.say(shown.trim_end()),
        }
    }
    screen.say_redacted();
    Ok(())
}

impl DeletionTarget {
    /// What goes, subagents first, and what stays.
    fn shown(&self, screen: &Screen) -> String {
        let mut out = String::new();
        let add = |out: &mut String, path: &Path, row: &SessionRow, more: &str| {
            let (path, title) = (screen.path(path), screen.masked(super::title(row).1));
            out.push_str(&format!(
                "{path}\n  {} · {title} · {more}\n",
                plain_line(&row.agent)
            ));
        };
        for row in &self.subagents {
            add(&mut out, &own_place(row), row, "subagent");
        }
        let mut what = match self.files.len() {
            1 => bytes(self.bytes),
            many => format!("{}, {}", count(many as u64, "file"), bytes(self.bytes)),
        };
        for (number, of, stays, stay) in [
            (self.forks.len(), "fork", "stays", "stay"),
            (self.staying_subagents.len(), "subagent", "stays", "stay"),
            (
                self.leaning.len(),
                "fork",
                "loses its beginning",
                "lose their beginning",
            ),
        ] {
            match number {
                0 => {}
                1 => what.push_str(&format!(" · its {of} {stays}")),
                _ => what.push_str(&format!(" · its {number} {of}s {stay}")),
            }
        }
        for path in &self.other_paths {
            out.push_str(&format!("{}\n", screen.path(path)));
        }
        add(&mut out, &self.path, &self.row, &what);
        out
    }

    fn moved(&self, moved: &TrashResult) -> impl Iterator<Item = TrashedSession> {
        let trash = trash_of(&self.path);
        let ids = |rows: &[SessionRow]| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
        let still_archived = moved.still_archived.contains(&self.path);
        let subagents = self.subagents.iter().map({
            let trash = trash.clone();
            move |row| {
                let path = own_place(row);
                let inside = self.files.iter().filter(|file| file.starts_with(&path));
                TrashedSession {
                    agent: row.agent.clone(),
                    id: row.id.clone(),
                    other_paths: Vec::new(),
                    bytes: row.bytes,
                    files: inside.count() as u64,
                    path,
                    with: Some(self.row.id.clone()),
                    forks: Vec::new(),
                    leaning_forks: Vec::new(),
                    staying_subagents: Vec::new(),
                    trash: trash.clone(),
                    still_archived,
                }
            }
        });
        subagents.chain([TrashedSession {
            agent: self.row.agent.clone(),
            id: self.row.id.clone(),
            path: self.path.clone(),
            other_paths: self.other_paths.clone(),
            bytes: self.bytes,
            files: self.files.len() as u64,
            with: None,
            forks: ids(&self.forks),
            leaning_forks: ids(&self.leaning),
            staying_subagents: ids(&self.staying_subagents),
            trash,
            still_archived,
        }])
    }
}
