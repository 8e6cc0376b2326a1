//! How does a session go? To the system's trash, from where it can come back.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use sessionary::index::ListScope;
use sessionary::model::{SCHEMA_VERSION, SessionRow};
use sessionary::session::agentuse;
use sessionary::{Config, Index};

use super::writing::catalogued;
use crate::completing::values;
use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::text::plain_line;
use crate::output::time::{bytes, count};
use crate::places;

/// Move sessions to the system's trash
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary delete 019b3f2a --dry-run       what would be moved, and where\n  \
    sessionary delete 019b3f2a 01KE6P4Y --yes  two sessions, without asking\n\n\
    A session of agentuse is a folder: its subagents go with it and are listed first. Forks stay.\n\
    What changed in the last minute may still be in use, and is moved only with --force.")]
pub struct Delete {
    /// Session ids, starts of ids, paths, or whole names
    #[arg(value_name = "SESSION", required = true, add = values::session())]
    sessions: Vec<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Also move what changed in the last minute
    #[arg(short, long)]
    force: bool,
    /// Show what would be moved and where, without moving it
    #[arg(long)]
    dry_run: bool,
}

/// A session that changed no longer ago than this may be in use.
const IN_USE_MS: i64 = 60_000;

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
    bytes: u64,
    files: u64,
    /// The id of the session with whose folder this one goes.
    with: Option<String>,
    /// Ids of sessions that were forked from it: they stay.
    forks: Vec<String>,
    /// Where it is moved: a folder, or what the system calls it.
    trash: String,
}

/// A session, and what of the disk it is.
struct DeletionTarget {
    row: SessionRow,
    path: PathBuf,
    files: Vec<PathBuf>,
    bytes: u64,
    newest_ms: i64,
    /// Those whose folders are in this one.
    subagents: Vec<SessionRow>,
    forks: Vec<SessionRow>,
}

pub fn run(args: &Delete, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let index = super::open(config, screen)?;
    let mut doomed: Vec<DeletionTarget> = Vec::new();
    for name in &args.sessions {
        let row = super::naming::named_in_full(name, &index, config, screen)?;
        doomed.push(DeletionTarget::of(row, &index)?);
    }
    drop(index);
    // One that goes with another's folder, or is named twice, is not moved for itself.
    doomed.sort_by(|a, b| a.path.cmp(&b.path));
    doomed.dedup_by(|inner, outer| inner.path.starts_with(&outer.path));
    let dry_run = args.dry_run;
    if !(screen.json && dry_run) {
        announce(&doomed, dry_run, screen)?;
    }
    if !dry_run {
        demo::refuse(
            "the trash belongs to the system",
            "--dry-run shows what would be moved",
        )?;
    }
    if !args.force && !dry_run {
        refuse_in_use(&doomed, screen)?;
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
    }
    let failed = match dry_run {
        true => None,
        false => move_to_trash(&doomed, config, screen),
    };
    // Also after a failure: what is gone already is printed.
    doomed.truncate(failed.as_ref().map_or(usize::MAX, |(at, _)| *at));
    if screen.json {
        screen.json(&Answer {
            schema_version: SCHEMA_VERSION,
            dry_run,
            sessions: doomed.iter().flat_map(DeletionTarget::moved).collect(),
        })?;
    } else if !dry_run {
        if !doomed.is_empty() {
            screen.say("Moved to the trash:");
        }
        for doomed in &doomed {
            screen.print(&format!("{}\n", plain_line(&doomed.row.id)))?;
        }
    }
    match failed {
        Some((_, error)) => Err(error.into()),
        None => Ok(Outcome::Found),
    }
}

fn refuse_in_use(doomed: &[DeletionTarget], screen: &Screen) -> Result<(), Failure> {
    let used = doomed
        .iter()
        .find(|doomed| screen.now_ms - doomed.newest_ms < IN_USE_MS);
    let Some(used) = used else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "{} changed in the last minute, so its agent may still be using it; nothing was moved",
        screen.path(&used.path)
    ))
    .hint("--force moves it anyway"))
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

/// Moves them one after the other. Stops at the first that cannot be moved, and says which that is
/// and why.
fn move_to_trash(
    doomed: &[DeletionTarget],
    config: &Config,
    screen: &Screen,
) -> Option<(usize, anyhow::Error)> {
    for (at, one) in doomed.iter().enumerate() {
        let moved = trash::delete(&one.path);
        // After a failure too: part of a folder may be gone.
        catalogued(&one.files, config, screen);
        if let Err(error) = moved {
            let what = format!("{} was not moved", one.path.display());
            return Some((at, anyhow::Error::new(error).context(what)));
        }
    }
    None
}

impl DeletionTarget {
    fn of(row: SessionRow, index: &Index) -> Result<Self, Failure> {
        let is_folder = row.agent == "agentuse";
        let path = match is_folder {
            false => row.path.clone(),
            true => agentuse::folder_of(&row.path)
                .map(Path::to_path_buf)
                .ok_or_else(|| {
                    Failure::usage(format!(
                        "{} is not named like a session's folder, so it may hold other things",
                        row.path.parent().unwrap_or(&row.path).display()
                    ))
                    .hint("move it to the trash by hand")
                })?,
        };
        let (mut files, mut bytes, mut newest_ms) = (Vec::new(), 0, i64::MIN);
        for entry in walkdir::WalkDir::new(&path) {
            let looked = entry.and_then(|entry| Ok((entry.metadata()?, entry.into_path())));
            let (metadata, file) = looked.with_context(|| path.display().to_string())?;
            if metadata.is_dir() {
                continue;
            }
            let modified = metadata.modified()?.duration_since(UNIX_EPOCH);
            let modified = modified.map_or(0, |since| since.as_millis() as i64);
            newest_ms = newest_ms.max(modified);
            bytes += metadata.len();
            files.push(file);
        }
        let (mut subagents, mut forks) = (Vec::new(), Vec::new());
        index.each_row(&index.page(&ListScope::default())?, |other| {
            if other.path == row.path {
                return Ok(());
            }
            if is_folder && other.path.starts_with(&path) {
                subagents.push(other);
            } else if other.agent == row.agent
                && other
                    .parent_session_path
                    .as_ref()
                    .is_some_and(|parent| *parent == row.id || Path::new(parent) == row.path)
            {
                forks.push(other);
            }
            Ok(())
        })?;
        // The innermost first.
        subagents.sort_by_key(|row| std::cmp::Reverse(row.path.components().count()));
        Ok(Self {
            row,
            path,
            files,
            bytes,
            newest_ms,
            subagents,
            forks,
        })
    }

    /// What goes, subagents first, and what stays.
    fn shown(&self, screen: &Screen) -> String {
        let mut out = String::new();
        let mut add = |path: &Path, row: &SessionRow, more: &str| {
            let (path, title) = (screen.path(path), screen.masked(super::title(row).1));
            out.push_str(&format!(
                "{path}\n  {} · {title} · {more}\n",
                plain_line(&row.agent)
            ));
        };
        for row in &self.subagents {
            let folder = row.path.parent().unwrap_or(&row.path);
            add(folder, row, "subagent");
        }
        let mut what = match self.files.len() {
            1 => bytes(self.bytes),
            many => format!("{}, {}", count(many as u64, "file"), bytes(self.bytes)),
        };
        match self.forks.len() {
            0 => {}
            1 => what.push_str(" · its fork stays"),
            forks => what.push_str(&format!(" · its {forks} forks stay")),
        }
        add(&self.path, &self.row, &what);
        out
    }

    fn moved(&self) -> impl Iterator<Item = TrashedSession> {
        let trash = trash_of(&self.path);
        let subagents = self.subagents.iter().map({
            let trash = trash.clone();
            move |row| {
                let folder = row.path.parent().unwrap_or(&row.path);
                let inside = self.files.iter().filter(|file| file.starts_with(folder));
                TrashedSession {
                    agent: row.agent.clone(),
                    id: row.id.clone(),
                    path: folder.to_path_buf(),
                    bytes: row.bytes,
                    files: inside.count() as u64,
                    with: Some(self.row.id.clone()),
                    forks: Vec::new(),
                    trash: trash.clone(),
                }
            }
        });
        subagents.chain([TrashedSession {
            agent: self.row.agent.clone(),
            id: self.row.id.clone(),
            path: self.path.clone(),
            bytes: self.bytes,
            files: self.files.len() as u64,
            with: None,
            forks: self.forks.iter().map(|fork| fork.id.clone()).collect(),
            trash,
        }])
    }
}

/// Where the trash is.
fn trash_of(path: &Path) -> String {
    if cfg!(windows) {
        return "the Recycle Bin".to_owned();
    }
    if cfg!(target_os = "macos") {
        return "the Trash".to_owned();
    }
    let home = places::surroundings()
        .data_dir()
        .filter(|data| disk(data).is_some() && disk(data) == disk(path));
    match home {
        Some(data) => data.join("Trash").to_string_lossy().into_owned(),
        None => "the trash of its disk".to_owned(),
    }
}

/// The disk that a path is on, or what is there of it.
#[cfg(unix)]
fn disk(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut above = path.ancestors();
    above
        .find_map(|path| std::fs::metadata(path).ok())
        .map(|there| there.dev())
}

#[cfg(not(unix))]
fn disk(_: &Path) -> Option<u64> {
    None
}
