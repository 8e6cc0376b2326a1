//! What do the verbs that change a session have in common? They find it, do their work through
//! `SessionManager`, and say what came of it; with `--dry-run` they do it on a copy and say what
//! would. What is done ([`changed`]) stands apart from what is said of it ([`said`]): the picker
//! does the same, and has its own place to say so.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;

use sessionary::format::agent_called;
use sessionary::format::claude::OWN_FILE_GONE;
use sessionary::model::{SCHEMA_VERSION, SessionRow};
use sessionary::session::clido::SessionLine;
use sessionary::session::{Clock, Error, Profile, SessionManager, Setup};
use sessionary::{Config, RootSpec};

use super::{clido, foreign};

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::quote;
use crate::output::text::{plain_line, plain_lines};
use crate::places;

/// What helps where an entry is not found.
const NAMES_ENTRIES: &str = "`sessionary tree SESSION --filter all --json` lists every entry";

/// The option of every verb that writes.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct DryRun {
    /// Show what would be written and where, without writing it
    #[arg(long)]
    pub dry_run: bool,
}

/// The moment the command was started.
#[derive(Debug)]
pub struct StartTime(pub i64);

impl Clock for StartTime {
    fn now_ms(&self) -> i64 {
        self.0
    }
}

/// What a verb that writes answers with.
#[derive(Serialize)]
struct Answer<'a> {
    schema_version: u32,
    dry_run: bool,
    /// The session's id.
    session: &'a str,
    /// Its file.
    path: &'a Path,
    /// The new entry, where there is one.
    entry: Option<&'a str>,
    /// Whether the whole file is (or would be) rewritten, because its version is old.
    rewritten: bool,
    /// The lines that are (or would be) added.
    lines: Vec<Box<RawValue>>,
}

/// How sessions below that folder are written, which a format of that name reads.
pub fn setup(format: &str, sessions: &Path, screen: &Screen) -> Result<Setup, Failure> {
    let profile = Profile::of(format).ok_or_else(|| unwritable(format))?;
    let mut setup = Setup::new(profile, sessions);
    setup.clock = Arc::new(StartTime(screen.now_ms));
    setup.backups = backups();
    Ok(setup)
}

/// Whether its agent's sessions are written, and the session is none that is only read here. It is
/// asked before anything is: some that fit are refused for another reason later.
pub fn may_be_labelled(row: &SessionRow) -> bool {
    row.host.is_none() && is_of_pi(row)
}

/// The same of a name, which clido's sessions have too.
pub fn may_be_named(row: &SessionRow) -> bool {
    row.host.is_none() && (row.agent == "clido" || is_of_pi(row))
}

/// Whether sessions of its agent are forked, those of other machines too.
pub fn may_be_forked(row: &SessionRow) -> bool {
    row.agent == "clido" || is_of_pi(row)
}

/// Whether its agent is pi or one of its forks, in whichever dialect it writes.
fn is_of_pi(row: &SessionRow) -> bool {
    let format = agent_called(&row.agent).map_or(&*row.agent, |agent| agent.format);
    Profile::of(format).is_some()
}

/// Why the sessions of an agent that is neither of pi's kind nor clido are left alone.
fn unwritable(agent: &str) -> Failure {
    match agent {
        "agentuse" => Failure::usage(
            "a session of agentuse is one run of an agent: it has no name, labels or branches, and nothing is added to it afterwards",
        )
        .hint("programs write such sessions with the library: sessionary::session::agentuse"),
        "claude" => Failure::usage("sessions of claude cannot be written").hint(
            "those of pi, indusagi and clido can be; in Claude Code `/rename NAME` names a session",
        ),
        _ => Failure::usage(format!("sessions of {agent} cannot be written"))
            .hint("those of pi, indusagi and clido can be"),
    }
}

/// What is said of a session that only the archive has.
pub fn only_archived(row: &SessionRow) -> Failure {
    let id = plain_line(&row.id);
    Failure::usage(format!("{id} is gone already, and only the archive has it"))
}

/// What brings it back; nothing does where its own file is not kept.
pub fn comes_back(row: &SessionRow) -> Option<String> {
    if row.reason.as_deref() == Some(OWN_FILE_GONE) {
        return None;
    }
    let id = plain_line(&row.id);
    let restore = format!("sessionary archive restore {}", quote::posix(&id));
    Some(format!("`{restore}` writes it back"))
}

/// A session that only the archive has is no file, which could be written or opened.
pub fn refuse_archived(row: &SessionRow) -> Result<(), Failure> {
    match row.archived {
        true => Err(comes_back(row)
            .into_iter()
            .fold(only_archived(row), Failure::hint)),
        false => Ok(()),
    }
}

/// Where a file of an old version is kept before it is rewritten.
fn backups() -> Option<PathBuf> {
    places::surroundings()
        .data_dir()
        .map(|dir| dir.join("sessionary/backups"))
}

/// How a session is written where it lies; new ones go into its folder.
pub fn setup_of(row: &SessionRow, config: &Config, screen: &Screen) -> Result<Setup, Failure> {
    let folder = row.path.parent().unwrap_or(Path::new("."));
    let mut setup = setup(format_of(row, config), folder, screen)?;
    setup.flat = Some(folder.to_path_buf());
    Ok(setup)
}

/// How new sessions below this folder are written.
pub fn setup_below(root: &RootSpec, screen: &Screen) -> Result<Setup, Failure> {
    let mut setup = setup(&root.format, &root.path, screen)?;
    setup.flat = root.flat.then(|| root.path.clone());
    Ok(setup)
}

/// The format of a session's files. Programs of one name may read theirs otherwise: the root says
/// which of them it is.
pub fn format_of<'a>(row: &'a SessionRow, config: &'a Config) -> &'a str {
    let is_above = |root: &&RootSpec| root.agent == row.agent && row.path.starts_with(&root.path);
    let root = config.roots.iter().find(is_above);
    root.map_or(&row.agent, |root| &root.format)
}

/// Changes the session that `name` means, standing at the entry it names, and says what was added.
/// A session of clido's gets the line that `of_clido` has for it.
pub fn change(
    name: &str,
    dry_run: DryRun,
    config: &Config,
    screen: &Screen,
    work: impl FnOnce(&mut SessionManager, Option<&str>) -> Result<Option<String>, Failure>,
    of_clido: impl FnOnce() -> Result<SessionLine, Failure>,
) -> Result<Outcome, Failure> {
    let mut index = super::open(config, screen)?;
    let (row, entry) = super::naming::named(name, &mut index, config, screen)?;
    drop(index);
    let result = changed(&row, entry, dry_run, config, screen, work, of_clido)?;
    said(&result, screen)?;
    Ok(Outcome::Yes)
}

/// Changes a session, standing at this entry, and says nothing.
pub fn changed(
    row: &SessionRow,
    entry: Option<String>,
    DryRun { dry_run }: DryRun,
    config: &Config,
    screen: &Screen,
    work: impl FnOnce(&mut SessionManager, Option<&str>) -> Result<Option<String>, Failure>,
    of_clido: impl FnOnce() -> Result<SessionLine, Failure>,
) -> Result<WriteResult, Failure> {
    foreign::refuse(row)?;
    if row.agent == "clido" {
        let (line, dry_run) = (of_clido()?, DryRun { dry_run });
        return clido::append(row, entry.as_deref(), &line, dry_run, config);
    }
    let mut setup = setup_of(row, config, screen)?;
    refuse_archived(row)?;
    let copy = match dry_run {
        true => Some(Copy::of(&row.path)?.with(&mut setup)),
        false => None,
    };
    let path = copy.as_ref().map_or(&row.path, |copy| &copy.path);
    let before = fs::read(path).with_context(|| path.display().to_string())?;
    let mut session = SessionManager::open(&setup, path)?;
    let entry = entry.map(|entry| entry_id(&session, entry)).transpose()?;
    let added = work(&mut session, entry.as_deref())?;
    let unindexed = match dry_run {
        true => None,
        false => catalogued(std::slice::from_ref(&row.path), config),
    };
    let after = fs::read(path).with_context(|| path.display().to_string())?;
    let rewritten = !after.starts_with(&before);
    let new = if rewritten {
        &after[..]
    } else {
        &after[before.len()..]
    };
    Ok(WriteResult {
        dry_run,
        session: session.session_id().to_owned(),
        path: row.path.clone(),
        entry: added,
        rewritten,
        new: String::from_utf8_lossy(new).into_owned(),
        remarks: unindexed.into_iter().collect(),
    })
}

/// The id of the entry that is named by it, or by its line (`L17`).
pub fn entry_id(session: &SessionManager, entry: String) -> Result<String, Failure> {
    if session.entry(&entry).is_some() {
        return Ok(entry);
    }
    let line = entry.strip_prefix('L').and_then(|line| line.parse().ok());
    let id = match line {
        Some(line) => session.id_at_line(line)?.map(str::to_owned),
        None => None,
    };
    id.ok_or_else(|| no_entry(&entry))
}

/// An entry that is named and not there.
pub fn no_entry(id: &str) -> Failure {
    Failure::not_found(format!("entry {id} not found")).hint(NAMES_ENTRIES)
}

/// What is to be said; nothing is not.
pub fn something(text: &str) -> Result<&str, Failure> {
    match text.trim().is_empty() {
        true => Err(Failure::usage("the message is empty")),
        false => Ok(text),
    }
}

/// The directory that a session is to be for: the one that is named, links resolved, or this one.
pub fn directory(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let Some(named) = named else {
        return super::current_directory();
    };
    match named.canonicalize() {
        // Windows gives a form that its own programs do not write.
        Ok(found) if found.is_dir() && !cfg!(windows) => Ok(found),
        Ok(found) if found.is_dir() => Ok(std::path::absolute(named)?),
        Ok(_) => Err(Failure::usage(format!(
            "--in {}: not a directory",
            named.display()
        ))),
        Err(error) => Err(Failure::usage(format!("--in {}: {error}", named.display()))),
    }
}

/// Brings the index, where there is one, up to the files that were just written. `Some`: it does
/// not have them, and why.
pub fn catalogued(files: &[PathBuf], config: &Config) -> Option<String> {
    // The session is written: what is wrong with the index is said, but is no failure of this
    // command.
    let error = uncatalogued(files, config)?;
    let why = sessionary::with_causes(&error);
    Some(format!("The index does not have it yet: {why}"))
}

/// Brings the index, where there is one, up to these files. Where another process is at it, that
/// one or the next scan sees them. `Some`: why it could not be done.
pub fn uncatalogued(files: &[PathBuf], config: &Config) -> Option<sessionary::Error> {
    let brought = sessionary::Indexer::open_existing(config).and_then(|indexer| match indexer {
        Some(mut indexer) => indexer.sync_files(files).map(|_| ()),
        None => Ok(()),
    });
    match brought {
        Ok(()) | Err(sessionary::Error::Busy { .. }) => None,
        Err(error) => Some(error),
    }
}

/// What came of it.
#[derive(Debug)]
pub struct WriteResult {
    pub dry_run: bool,
    /// The session's id.
    pub session: String,
    /// Its file.
    pub path: PathBuf,
    /// The new entry, where there is one.
    pub entry: Option<String>,
    /// Whether the whole file is another one, because its version was old.
    pub rewritten: bool,
    /// The lines that were added, or all of them.
    pub new: String,
    /// What is to be said of it beside that.
    pub remarks: Vec<String>,
}

/// Says what was written, or would be: on stdout the address of the new entry (or the new session's
/// id), or the lines.
pub fn said(said: &WriteResult, screen: &Screen) -> Result<(), Failure> {
    tell(said, screen)?;
    said.remarks.iter().for_each(|remark| screen.say(remark));
    Ok(())
}

fn tell(said: &WriteResult, screen: &Screen) -> Result<(), Failure> {
    if screen.json {
        let lines = said.new.lines();
        let lines = lines.filter_map(|line| screen.masked_json(line));
        screen.json(&Answer {
            schema_version: SCHEMA_VERSION,
            dry_run: said.dry_run,
            session: &said.session,
            path: &said.path,
            entry: said.entry.as_deref(),
            rewritten: said.rewritten,
            lines: lines.collect(),
        })?;
        screen.say_redacted();
        return Ok(());
    }
    let path = screen.path(&said.path);
    if said.dry_run {
        let what = match (said.new.is_empty(), said.rewritten) {
            (true, _) => "Nothing would be written to",
            (false, true) => "Would rewrite",
            (false, false) => "Would write to",
        };
        screen.say(&format!("{what} {path}"));
        say_backup("would be kept in", said, screen);
        let lines = said.new.lines().map(|line| match screen.masked_json(line) {
            Some(json) => format!("{json}\n"),
            None => format!("{}\n", screen.masked(line.to_owned())),
        });
        screen.print(&plain_lines(&lines.collect::<String>()))?;
        screen.say_redacted();
        return Ok(());
    }
    match said.new.is_empty() {
        true => screen.say(&format!("Nothing to do: {path} is unchanged")),
        false => screen.say(&format!("Written to {path}")),
    }
    say_backup("is kept in", said, screen);
    let address = match &said.entry {
        Some(entry) => format!("{}:{entry}\n", said.session),
        None => format!("{}\n", said.session),
    };
    Ok(screen.print(&plain_lines(&address))?)
}

/// Where the old file is, if the whole of it was written anew.
pub fn kept_copy(written: &WriteResult, screen: &Screen) -> Option<String> {
    let backups = backups().filter(|_| written.rewritten)?;
    Some(format!(
        "A copy of the old file is kept in {}.",
        screen.path(&backups)
    ))
}

fn say_backup(does: &str, said: &WriteResult, screen: &Screen) {
    if let Some(backups) = backups().filter(|_| said.rewritten) {
        let backups = screen.path(&backups);
        screen.say(&format!("A copy of the old file {does} {backups}"));
    }
}

/// A copy of a session file to try things on.
pub struct Copy {
    folder: tempfile::TempDir,
    pub path: PathBuf,
}

impl Copy {
    /// Copies the file.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join(path.file_name().unwrap_or_default());
        fs::copy(path, &copy).with_context(|| path.display().to_string())?;
        Ok(Self { folder, path: copy })
    }

    /// Has the setup write beside the copy.
    pub fn with(self, setup: &mut Setup) -> Self {
        let folder = self.folder.path();
        setup.sessions = folder.join("sessions");
        setup.flat = setup.flat.as_ref().map(|_| folder.join("flat"));
        setup.backups = Some(folder.join("backups"));
        self
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match &error {
            Error::Invalid(_) | Error::Unknown { .. } | Error::ReadOnly => {
                Self::usage(error.to_string())
            }
            Error::NoEntry { .. } => Self::from(anyhow::Error::new(error)).hint(NAMES_ENTRIES),
            Error::NoLock { .. } => Self::from(anyhow::Error::new(error))
                .hint("some network file systems have no locks, or only when mounted with them"),
            Error::Replaced { .. } | Error::Gone { .. } => {
                Self::from(anyhow::Error::new(error)).hint("nothing was written; try again")
            }
            _ => Self::from(anyhow::Error::new(error)),
        }
    }
}
