//! What of the disk is a session, and how does it go to the system's trash and come back?

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::Context;
use sessionary::index::{ListScope, SessionFile};
use sessionary::model::{Report, SessionRow};
use sessionary::session::agentuse;
use sessionary::{Config, Error, Index, Indexer, RootOrigin, RootSpec, with_causes};

use self::restoring::reason;
use super::foreign;
use super::writing::{only_archived, uncatalogued};
use crate::demo;
use crate::failure::Failure;
use crate::output::text::plain_line;
use crate::output::{Screen, quote};
use crate::places;

// Not every system lets a program look into the trash.
#[cfg_attr(
    any(
        windows,
        all(
            unix,
            not(any(target_os = "macos", target_os = "ios", target_os = "android"))
        )
    ),
    path = "trashing/restoring.rs"
)]
#[cfg_attr(
    not(any(
        windows,
        all(
            unix,
            not(any(target_os = "macos", target_os = "ios", target_os = "android"))
        )
    )),
    path = "trashing/no_restoring.rs"
)]
mod restoring;

pub use restoring::{CAN_RESTORE, restore, trashed};

/// Signs of an id by which a session is brought back, at least.
pub const SHORTEST: usize = 8;

/// A session that changed no longer ago than this may be in use.
const IN_USE_MS: i64 = 60_000;

/// A session, and what of the disk it is.
pub struct DeletionTarget {
    pub row: SessionRow,
    /// Its file, or its folder.
    pub path: PathBuf,
    /// Its other files, where it has several.
    pub other_paths: Vec<PathBuf>,
    /// All files at these places.
    pub files: Vec<PathBuf>,
    pub bytes: u64,
    /// When one of them was changed last.
    newest_ms: i64,
    /// Its subagents whose files are in a folder of it.
    pub subagents: Vec<SessionRow>,
    /// Its other subagents, which stay.
    pub staying_subagents: Vec<SessionRow>,
    /// Those that were forked from it, and stay as they are.
    pub forks: Vec<SessionRow>,
    /// Those that were, stay, and hold only what is their own: they lose their beginning.
    pub leaning: Vec<SessionRow>,
}

impl DeletionTarget {
    /// What these sessions are. One that goes with another's folder, or is there twice, is not
    /// moved for itself.
    pub fn all(rows: Vec<SessionRow>, index: &Index) -> Result<Vec<Self>, Failure> {
        let rows = rows.into_iter().map(|row| whole(row, index));
        let doomed = rows.map(|row| Self::of(row?, index));
        let mut doomed = doomed.collect::<Result<Vec<_>, _>>()?;
        doomed.sort_by(|a, b| a.path.cmp(&b.path));
        let places: Vec<PathBuf> = doomed.iter().flat_map(Self::paths).cloned().collect();
        doomed.retain(|one| {
            let mut above = one.path.ancestors().skip(1);
            !above.any(|above| places.iter().any(|place| place == above))
        });
        doomed.dedup_by(|again, one| again.path == one.path);
        let going = doomed.iter();
        let going = going.flat_map(|one| one.subagents.iter().chain([&one.row]));
        let going: HashSet<PathBuf> = going.map(|row| row.path.clone()).collect();
        for one in &mut doomed {
            for staying in [&mut one.staying_subagents, &mut one.forks, &mut one.leaning] {
                staying.retain(|row| !going.contains(&row.path));
            }
        }
        Ok(doomed)
    }

    fn of(row: SessionRow, index: &Index) -> Result<Self, Failure> {
        foreign::refuse(&row)?;
        refuse_archived(&row)?;
        refuse_rows(&row)?;
        let (path, other_paths) = paths(&row, index)?;
        let children = index.ask(|snapshot| snapshot.children(&row))?.into_iter();
        let children: HashMap<PathBuf, bool> = children
            .map(|child| (child.path, child.is_subagent))
            .collect();
        let leaning = index.ask(|snapshot| snapshot.leaning_on(&row))?;
        let (mut subagents, mut staying_subagents, mut forks) =
            (Vec::new(), Vec::new(), Vec::new());
        let page = index.ask(|snapshot| snapshot.page(&ListScope::default()))?;
        let _ = index.stream(|snapshot| {
            snapshot.each_row(&page, |other| {
                if other.path == row.path {
                    return Ok(());
                }
                let mut places = [&path].into_iter().chain(&other_paths);
                if places.any(|place| other.path.starts_with(place)) {
                    subagents.push(other);
                    return Ok(());
                }
                match children.get(&other.path) {
                    Some(true) => staying_subagents.push(other),
                    Some(false) if !leaning.iter().any(|leaning| leaning.path == other.path) => {
                        forks.push(other);
                    }
                    _ => {}
                }
                Ok(())
            })
        })?;
        // The innermost first.
        subagents.sort_by_key(|row| std::cmp::Reverse(row.path.components().count()));
        let mut target = Self {
            row,
            path,
            other_paths,
            files: Vec::new(),
            bytes: 0,
            newest_ms: i64::MIN,
            subagents,
            staying_subagents,
            forks,
            leaning,
        };
        target.look()?;
        Ok(target)
    }

    /// All that is moved.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.path].into_iter().chain(&self.other_paths)
    }

    /// Looks which files it has.
    fn look(&mut self) -> Result<(), Failure> {
        let walk = |path: PathBuf| walkdir::WalkDir::new(path).sort_by_file_name();
        let paths: Vec<PathBuf> = self.paths().cloned().collect();
        for entry in paths.into_iter().flat_map(walk) {
            let looked = entry.and_then(|entry| Ok((entry.metadata()?, entry.into_path())));
            let (metadata, file) = looked.with_context(|| self.path.display().to_string())?;
            if metadata.is_dir() {
                continue;
            }
            let modified = metadata.modified()?.duration_since(UNIX_EPOCH);
            let modified = modified.map_or(0, |since| since.as_millis() as i64);
            self.newest_ms = self.newest_ms.max(modified);
            self.bytes += metadata.len();
            self.files.push(file);
        }
        Ok(())
    }
}

/// The session of which a file is a part that was named by its path, and so read by itself.
fn whole(row: SessionRow, index: &Index) -> Result<SessionRow, Failure> {
    let is_read_by_itself = match index.ask(|snapshot| snapshot.session_files(&row)) {
        Err(Error::NotFound { .. }) => true,
        files => files.map(|_| false)?,
    };
    let Some(part) = row.path.canonicalize().ok().filter(|_| is_read_by_itself) else {
        return Ok(row);
    };
    let scope = ListScope {
        ids: Some(vec![row.id.clone()]),
        ..ListScope::default()
    };
    for session in index.list(&scope)?.sessions {
        let files = index.ask(|snapshot| snapshot.session_files(&session))?;
        let mut files = files.into_iter();
        if files.any(|file| file.path.canonicalize().is_ok_and(|file| file == part)) {
            return Ok(session);
        }
    }
    Ok(row)
}

/// Where a session is, its file or folder first: all its files that are there, and the folder in
/// which its agent keeps more of it. One of them that is not its alone is not moved, and so nothing
/// of it is.
fn paths(row: &SessionRow, index: &Index) -> Result<(PathBuf, Vec<PathBuf>), Failure> {
    let folder = folder(row)?;
    let (files, beside) = match index.ask(|snapshot| snapshot.session_files(row)) {
        // It lies below no root, and was read by itself.
        Err(Error::NotFound { .. }) => {
            refuse_part(row)?;
            (Vec::new(), None)
        }
        files => (files?, index.ask(|snapshot| snapshot.session_folder(row))?),
    };
    let mut paths = vec![folder.unwrap_or_else(|| row.path.clone())];
    for SessionFile {
        path, shared_with, ..
    } in files
    {
        let mut known = paths.iter().chain(&beside);
        if known.any(|known| path.starts_with(known)) {
            continue;
        }
        let why = match (path.parent().filter(|above| above.is_file()), shared_with) {
            (Some(database), _) => format!("in rows of {}", database.display()),
            (None, Some(other)) => {
                let other = plain_line(&other);
                format!("in {}, where the session {other} is", path.display())
            }
            (None, None) => {
                // What is gone is in the archive alone.
                paths.extend(path.symlink_metadata().is_ok().then_some(path));
                continue;
            }
        };
        let what = format!("{} is {} and also {why}", row.id, paths[0].display());
        let hint = format!("delete it with {}", row.agent);
        return Err(Failure::usage(what).hint(hint));
    }
    paths.extend(beside);
    if paths.len() > 1 && paths[0].symlink_metadata().is_err() {
        paths.remove(0);
    }
    let others = paths.split_off(1);
    Ok((paths.remove(0), others))
}

/// What is in the archive alone cannot be moved to the trash.
fn refuse_archived(row: &SessionRow) -> Result<(), Failure> {
    if !row.archived {
        return Ok(());
    }
    let id = plain_line(&row.id);
    let hint = format!("`sessionary archive forget {id}` removes it from there");
    Err(only_archived(row).hint(hint))
}

/// Whether it is rows of its agent's database, whose path the session's begins with.
fn is_rows(row: &SessionRow) -> bool {
    row.path.parent().is_some_and(Path::is_file)
}

/// Rows of an agent's database are no files.
fn refuse_rows(row: &SessionRow) -> Result<(), Failure> {
    let Some(database) = row.path.parent().filter(|_| is_rows(row)) else {
        return Ok(());
    };
    let what = format!("{} is rows of {}", row.id, database.display());
    Err(
        Failure::usage(format!("{what}, which only its agent writes"))
            .hint(format!("delete it with {}", row.agent)),
    )
}

/// A file of a session below no root with a folder of its name beside it, of which nobody says
/// whose it is, is not moved: Claude Code puts subagents and long output of tools there.
fn refuse_part(row: &SessionRow) -> Result<(), Failure> {
    let beside = row.path.with_extension("");
    if beside == row.path || !beside.is_dir() {
        return Ok(());
    }
    let (file, folder) = (row.path.display(), beside.display());
    Err(Failure::usage(format!(
        "{} is {file}, and maybe the folder {folder}",
        row.id
    ))
    .hint("move both to the trash by hand"))
}

/// What a session that goes with another one is of it: its file, or its folder.
pub fn own_place(row: &SessionRow) -> PathBuf {
    let folder = folder(row).ok().flatten();
    folder.unwrap_or_else(|| row.path.clone())
}

/// The folder that a session is, where it is one of its own.
fn folder(row: &SessionRow) -> Result<Option<PathBuf>, Failure> {
    let folder = match row.agent.as_str() {
        "agentuse" => agentuse::folder_of(&row.path),
        // Before it had folders it wrote a file for a session.
        "copilot" if row.path.ends_with("events.jsonl") => {
            let folder = row.path.parent();
            folder.filter(|folder| folder.file_name().is_some_and(|name| *name == *row.id))
        }
        _ => return Ok(None),
    };
    match folder {
        Some(folder) => Ok(Some(folder.to_path_buf())),
        None => Err(Failure::usage(format!(
            "{} is not named like a session's folder, so it may hold other things",
            row.path.parent().unwrap_or(&row.path).display()
        ))
        .hint("move it to the trash by hand")),
    }
}

/// Whether it is files of this machine: rows, and what is read only, are never moved.
pub fn may_be_trashed(row: &SessionRow) -> bool {
    row.host.is_none() && !row.archived && !is_rows(row)
}

/// Whether its file is gone already, by other hands: there is nothing left to move.
pub fn is_gone(row: &SessionRow) -> bool {
    let there = row.path.symlink_metadata();
    may_be_trashed(row) && there.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// A demo's sessions stay out of the system's trash.
pub fn refuse_in_demo() -> Result<(), Failure> {
    demo::refuse(
        "the trash belongs to the system",
        "--dry-run shows what would be moved",
    )
}

/// The first of them that changed a moment ago.
pub fn in_use<'a>(doomed: &'a [DeletionTarget], screen: &Screen) -> Option<&'a DeletionTarget> {
    let is_used = |one: &&DeletionTarget| screen.now_ms.saturating_sub(one.newest_ms) < IN_USE_MS;
    doomed.iter().find(is_used)
}

/// What changed a moment ago stays where it is.
pub fn refuse_in_use(doomed: &[DeletionTarget], screen: &Screen) -> Result<(), Failure> {
    let Some(used) = in_use(doomed, screen) else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "{} changed in the last minute, so its agent may still be using it; nothing was moved",
        screen.path(&used.path)
    ))
    .hint("--force moves it anyway"))
}

/// What the beginning of another session is stays where it is.
pub fn refuse_leaned_on(doomed: &[DeletionTarget]) -> Result<(), Failure> {
    let mut leaned_on = doomed.iter();
    let leaned_on = leaned_on.find_map(|one| Some((one, one.leaning.first()?)));
    let Some((one, fork)) = leaned_on else {
        return Ok(());
    };
    let (id, fork) = (plain_line(&one.row.id), plain_line(&fork.id));
    let what = format!("its fork {fork} holds only what is its own, and begins in {id}");
    Err(Failure::usage(format!("{what}; nothing was moved"))
        .hint("name the fork too, and both are moved; --force moves it anyway"))
}

/// What changed since it was shown stays where it is: whoever was asked may have answered long
/// after.
pub fn refuse_changed(
    shown: &[DeletionTarget],
    now: &[DeletionTarget],
    screen: &Screen,
) -> Result<(), Failure> {
    let mut both = shown.iter().zip(now);
    let changed = both.find(|(shown, now)| {
        let state = |one: &DeletionTarget| (one.files.clone(), one.bytes, one.newest_ms);
        state(shown) != state(now)
    });
    let Some((one, _)) = changed else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "{} changed since this was asked, so its agent may be using it; nothing was moved",
        screen.path(&one.path)
    ))
    .hint("--force moves it anyway"))
}

/// What came of moving sessions to the trash.
#[derive(Default)]
pub struct TrashResult {
    /// How many of them are there, the first ones.
    pub count: usize,
    /// From where all that was moved there is gone: of each of them, and of the next one what was
    /// moved of it.
    pub places: Vec<Vec<PathBuf>>,
    /// Why the next one is not.
    pub failed: Option<anyhow::Error>,
    /// Those of them that the archive could not be made to forget, by where they were.
    pub still_archived: Vec<PathBuf>,
    /// What is to be said beside that.
    pub remarks: Vec<String>,
}

impl TrashResult {
    /// Forgets this one in the archive: who deletes a session means all of it.
    fn forget(&mut self, one: &DeletionTarget, config: &Config) {
        if !config.has_archive() {
            return;
        }
        let forgotten = Indexer::open(config)
            .and_then(|mut indexer| indexer.forget_deleted(&one.row, one.paths()));
        let why = match forgotten {
            Ok(true) => None,
            Ok(false) => Some(String::new()),
            Err(error) => Some(format!(": {}", with_causes(&error))),
        };
        if let Some(why) = why {
            let id = plain_line(&one.row.id);
            self.still_archived.push(one.path.clone());
            self.remarks.push(format!(
                "The archive still holds {id}{why}; `sessionary archive forget {id}` removes it"
            ));
        }
    }

    /// Leaves nothing in the archive's file of those that were forgotten.
    fn wipe(&mut self, config: &Config) {
        if self.count == 0 || !config.has_archive() {
            return;
        }
        let mut report = Report::default();
        let wiped = Indexer::open(config).and_then(|mut indexer| indexer.wipe(&mut report));
        let why = wiped.err().map(|error| {
            let why = with_causes(&error);
            format!("What was removed stays on the disk until a later sync wipes it: {why}")
        });
        self.remarks.extend(report.notes.into_iter().chain(why));
    }
}

/// Moves them one after the other. Stops at the first that cannot be moved.
pub fn move_to_trash(doomed: &[DeletionTarget], config: &Config) -> TrashResult {
    let mut done = TrashResult::default();
    for one in doomed {
        let (places, moved) = to_trash(one);
        done.places
            .extend(Some(places).filter(|places| !places.is_empty()));
        if moved.is_ok() {
            done.forget(one, config);
        }
        // After a failure too: part of it may be gone.
        if let Some(error) = uncatalogued(&one.files, config) {
            let id = plain_line(&one.row.id);
            let why = with_causes(&error);
            done.remarks
                .push(format!("The index still has {id}: {why}"));
        }
        if let Err(error) = moved {
            done.failed = Some(error);
            break;
        }
        done.count += 1;
    }
    done.wipe(config);
    done
}

/// Moves all that a session is, or nothing of it: from where what was moved is gone, and could not
/// be brought back where the rest could not be moved.
fn to_trash(one: &DeletionTarget) -> (Vec<PathBuf>, anyhow::Result<()>) {
    let mut places = Vec::new();
    for path in one.paths() {
        let place = named_in_trash(path);
        if let Err(error) = trash::delete(path) {
            if !places.is_empty() && restore(&places).is_ok() {
                places.clear();
            }
            let what = match places.len() {
                0 => format!("{} was not moved", path.display()),
                moved => format!(
                    "{} was not moved, and {moved} of {} places of its session were",
                    path.display(),
                    one.paths().count()
                ),
            };
            return (places, Err(reason(error).context(what)));
        }
        places.push(place);
    }
    (places, Ok(()))
}

/// How the trash names the place from which something is moved there: by the folder itself, and no
/// link to it.
fn named_in_trash(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}

/// Where the trash is.
pub fn trash_of(path: &Path) -> String {
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

/// The folders of these roots, as they are named and as the trash knows them: with links resolved.
pub fn folders<'a>(roots: impl Iterator<Item = &'a RootSpec>) -> Vec<PathBuf> {
    let paths = roots.map(|root| &root.path);
    let both = paths.flat_map(|path| path.canonicalize().into_iter().chain([path.clone()]));
    both.collect()
}

/// How these sessions come back, which were moved to the trash: by a command where all their files
/// have names that hold their ids, and were where that command looks.
pub fn way_back(moved: &[DeletionTarget], config: &Config, screen: &Screen) -> String {
    let roots = config.roots.iter();
    let known = folders(roots.filter(|root| root.why != RootOrigin::Flag));
    let is_named = |one: &DeletionTarget| {
        let is_found = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.contains(&one.row.id) && known.iter().any(|root| path.starts_with(root))
        };
        one.row.id.len() >= SHORTEST && one.paths().all(is_found)
    };
    if CAN_RESTORE && moved.iter().all(is_named) {
        let ids = moved
            .iter()
            .map(|one| quote::posix(&plain_line(&one.row.id)));
        let ids: Vec<String> = ids.collect();
        let back = format!("sessionary delete --restore {}", ids.join(" "));
        return format!("`{back}` moves back what was moved.");
    }
    if cfg!(windows) {
        return "To bring a session back, restore its files in the Recycle Bin.".to_owned();
    }
    if cfg!(target_os = "macos") {
        return "To bring a session back, move its files from the Trash to where they were."
            .to_owned();
    }
    let mut trashes: Vec<String> = (moved.iter())
        .map(|one| screen.with_paths(&trash_of(&one.path)))
        .collect();
    trashes.dedup();
    format!(
        "To bring a session back, move its files from `files` in {} to where they were; `info` \
         there says where.",
        trashes.join(" or ")
    )
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

/// All files at a place, which is one or a folder of them.
pub fn files_below(place: &PathBuf) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(place).into_iter().flatten();
    let files = all.filter(|entry| !entry.file_type().is_dir());
    files.map(walkdir::DirEntry::into_path).collect()
}
