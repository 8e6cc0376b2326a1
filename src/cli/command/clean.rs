//! How does everything that was ever written go away again?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use sessionary::index_files::{IndexFiles, traces};
use sessionary::model::SCHEMA_VERSION;
use sessionary::settings;

use super::Reply;
use crate::args::Global;
use crate::autostart;
use crate::deletions;
use crate::failure::{Failure, Outcome};
use crate::kept;
use crate::known_trees;
use crate::output::Screen;
use crate::output::time::bytes;
use crate::picker::pins;
use crate::places;

/// Remove everything that sessionary ever wrote; never a session
#[derive(Debug, Args)]
#[command(
    after_help = "Removes the indexes of all versions in the index directory and what `watch --install` wrote, after asking. Files that \
    sessionary did not write stay and are listed; so do the copies of session files that `migrate` kept. What was learned of the \
    work trees of repositories, what you pinned in the picker, and what is in the archive cannot be read again from anywhere: \
    for each it asks apart.\n\n\
    Examples:\n  \
    sessionary clean\n  \
    sessionary clean --yes --config --data   without asking, the configuration and that too"
)]
pub struct Clean {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Remove the configuration file too
    #[arg(long)]
    config: bool,
    /// Remove what was learned of work trees, and your pins, too
    #[arg(long)]
    data: bool,
    /// Remove the archive too, with the sessions that are nowhere else
    #[arg(long)]
    archive: bool,
    /// Fail at once if another process is writing the index, instead of waiting
    #[arg(long)]
    no_wait: bool,
}

/// What `clean --json` prints.
#[derive(Serialize)]
struct CleanAnswer<'a> {
    schema_version: u32,
    removed: &'a [PathBuf],
    bytes: u64,
    kept: &'a [PathBuf],
}

impl<'a> CleanAnswer<'a> {
    fn of(found: &'a IndexFiles) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            removed: &found.ours,
            bytes: found.bytes,
            kept: &found.foreign,
        }
    }
}

pub fn run(args: &Clean, global: &Global, screen: &Screen) -> Result<Outcome, Failure> {
    // A configuration file that cannot be read says nothing of where the index is: that is said.
    let index_dir = places::settings(global)?.index.value;
    let mut found = traces(&index_dir)?;
    let kept_by_request = add_what_is_asked_for(&mut found, args)?;
    // It would start a watcher again, and that one make an index.
    let unit = autostart::path().filter(|file| file.is_file());
    if let Some(file) = &unit {
        found.bytes += file.metadata()?.len();
        found.ours.insert(0, file.clone());
    }
    // What was said once is said again.
    let told = deletions::file().filter(|file| file.is_file());
    if let Some(file) = &told {
        found.bytes += file.metadata()?.len();
        found.ours.insert(0, file.clone());
    }
    if found.ours.is_empty() {
        if screen.json {
            screen.json(&CleanAnswer::of(&found))?;
        }
        let kept = match found.foreign.len() {
            0 => "",
            _ => ": sessionary did not write what is in it",
        };
        screen.say(&format!(
            "Nothing to remove in {}{kept}.",
            screen.path(&index_dir)
        ));
        return Ok(match remove_kept(args, screen)? {
            true => Outcome::Yes,
            false => Outcome::No,
        });
    }
    if !args.yes {
        for (place, size) in sizes(&found.ours, &index_dir) {
            screen.say(&format!("{}  {}", screen.path(place), bytes(size)));
        }
        screen.say("No session is touched.");
        let question = format!("Remove these, {} in all? [y/N] ", bytes(found.bytes));
        let hint = "--yes removes without asking";
        if let Some(ended) = super::declined(&question, "nothing was removed", hint, screen)? {
            return Ok(ended);
        }
    }
    if unit.is_some() {
        autostart::remove()?;
    }
    match args.no_wait {
        true => found.try_remove()?,
        false => found.remove()?,
    }
    tell(&found, &index_dir, screen)?;
    // With --data they are gone already; what was locked with them goes now.
    forget(&kept_by_request)?;
    forget(told.as_slice())?;
    remove_kept(args, screen)?;
    Ok(Outcome::Yes)
}

/// Adds what goes only where it is asked for. The files among it that cannot be made again.
fn add_what_is_asked_for(found: &mut IndexFiles, args: &Clean) -> Result<Vec<PathBuf>, Failure> {
    if args.config
        && let Some(file) = settings::path(&places::surroundings()).filter(|file| file.is_file())
    {
        found.bytes += file.metadata()?.len();
        found.ours.extend(file.parent().map(PathBuf::from));
        let at = found.ours.len().saturating_sub(1);
        found.ours.insert(at, file);
    }
    let mut kept = Vec::new();
    let asked = kept_files().into_iter().filter(|kept| match kept.option {
        "--archive" => args.archive,
        _ => args.data,
    });
    kept.extend(asked.flat_map(|kept| kept.files));
    for file in &kept {
        found.bytes += file.metadata()?.len();
        found.ours.insert(0, file.clone());
    }
    Ok(kept)
}

/// The folder of the index and the files elsewhere, with their lengths in bytes.
fn sizes<'a>(removed: &'a [PathBuf], index_dir: &'a Path) -> BTreeMap<&'a Path, u64> {
    let mut sizes = BTreeMap::new();
    let length = |path: &Path| path.symlink_metadata().ok().filter(|file| !file.is_dir());
    for (path, file) in removed
        .iter()
        .filter_map(|path| Some((path, length(path)?)))
    {
        let place = match path.starts_with(index_dir) {
            true => index_dir,
            false => path,
        };
        *sizes.entry(place).or_default() += file.len();
    }
    sizes
}

/// Tells what was removed, and what stays.
fn tell(found: &IndexFiles, index_dir: &Path, screen: &Screen) -> Result<(), Failure> {
    if screen.json {
        screen.json(&CleanAnswer::of(found))?;
    } else {
        let folders = folders(&found.ours, index_dir);
        let folders: Vec<String> = folders.into_iter().map(|one| screen.path(one)).collect();
        screen.print(&format!(
            "Removed {} in {}.\n",
            bytes(found.bytes),
            folders.join(", ")
        ))?;
    }
    for path in &found.foreign {
        screen.say(&format!(
            "{} was not written by sessionary and stays.",
            screen.path(path)
        ));
    }
    say_backups(screen);
    say_shared(screen);
    Ok(())
}

/// The index directory, and the folders of what was removed elsewhere.
fn folders<'a>(removed: &'a [PathBuf], index_dir: &'a Path) -> Vec<&'a Path> {
    let mut folders = Vec::new();
    for path in removed {
        let folder = match path.starts_with(index_dir) {
            true => index_dir,
            false => path.parent().unwrap_or(path),
        };
        // A folder goes after what was in it.
        if !folders.contains(&path.as_path()) && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// What cannot be made again from anything else: it is asked for apart.
struct KeptFiles {
    files: Vec<PathBuf>,
    /// What would be lost.
    question: &'static str,
    /// What is in them.
    holds: &'static str,
    /// What removes them without asking.
    option: &'static str,
}

/// What there is of it.
fn kept_files() -> Vec<KeptFiles> {
    let surroundings = places::surroundings();
    let trees = known_trees::file(&surroundings).filter(|file| file.is_file());
    let pins = pins::file(&surroundings).map(|file| pins::all_files(&file));
    let mut kept = vec![
        KeptFiles {
            files: trees.into_iter().collect(),
            question: "from which the sessions of work trees that are gone are still known",
            holds: "what was learned of work trees",
            option: "--data",
        },
        KeptFiles {
            files: pins.unwrap_or_default(),
            question: "by which pinned sessions stand first in the picker",
            holds: "what you pinned",
            option: "--data",
        },
        KeptFiles {
            files: archive_files(),
            question: "in which sessions are kept that their agents deleted",
            holds: "sessions that may be nowhere else",
            option: "--archive",
        },
    ];
    kept.retain(|kept| !kept.files.is_empty());
    kept
}

/// What the archive consists of.
fn archive_files() -> Vec<PathBuf> {
    let data = places::surroundings().data_dir();
    let folder = data.map(|data| data.join("sessionary").join("archive"));
    let files = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    let files = files.into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("archive.sqlite")
    });
    files.sort();
    files
}

/// Asks apart for each file that cannot be made again. Whether one was removed now.
fn remove_kept(args: &Clean, screen: &Screen) -> Result<bool, Failure> {
    let mut removed = false;
    for kept in kept_files() {
        let names: Vec<String> = kept.files.iter().map(|file| screen.path(file)).collect();
        let names = names.join(", ");
        let question = format!("Remove {names} too, {}? [y/N] ", kept.question);
        let reply = match args.yes || screen.json {
            true => Reply::Nobody,
            false => super::ask(&question)?,
        };
        let Reply::Yes = reply else {
            let (stay, hold, remove) = match kept.files.len() {
                1 => ("stays", "it holds", "it"),
                _ => ("stay", "they hold", "them"),
            };
            screen.say(&format!(
                "{names} {stay}: {hold} {}; {} removes {remove}.",
                kept.holds, kept.option
            ));
            continue;
        };
        forget(&kept.files)?;
        removed = true;
    }
    Ok(removed)
}

fn forget(files: &[PathBuf]) -> Result<(), Failure> {
    Ok(files.iter().try_for_each(|file| kept::forget(file))?)
}

/// Who forgets what it has shared can take nothing back: that is asked of the program that shares.
fn say_shared(screen: &Screen) {
    let data = places::surroundings().data_dir();
    let folder = data.map(|data| data.join("sessionary"));
    let shared = folder.map(|folder| ["team.json", "team"].map(|name| folder.join(name)));
    for file in shared.into_iter().flatten().filter(|file| file.exists()) {
        screen.say(&format!(
            "{} stays: `sessionary team leave` takes back what is shared, and removes it.",
            screen.path(&file)
        ));
    }
}

/// Copies of sessions are sessions: they are for their owner to remove.
fn say_backups(screen: &Screen) {
    let backups = places::surroundings()
        .data_dir()
        .map(|data| data.join("sessionary/backups"));
    if let Some(backups) = backups.filter(|backups| backups.is_dir()) {
        screen.say(&format!(
            "{} stays: it holds the session files that `migrate` kept.",
            screen.path(&backups)
        ));
    }
}
