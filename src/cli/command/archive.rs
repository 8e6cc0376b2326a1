//! What is kept of sessions that agents delete, and who decides that?

mod restoring;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;
use sessionary::index::{KeptFiles, Version};
use sessionary::model::{Report, SCHEMA_VERSION, SessionRow};
use sessionary::settings::known_names;
use sessionary::{Config, Index};

use super::naming::{named_in_full, session};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::progress::Progress;
use crate::output::style::Tone;
use crate::output::table::{Column, Table};
use crate::output::text::plain_line;
use crate::output::time::{bytes, count};

/// Keep sessions that their agents delete
#[derive(Debug, Args)]
#[command(
    after_help = "Off until you turn it on: the archive is a second copy of your sessions, compressed, in your data folder.\n\
    Sessions whose files are gone stay in list, search, tree and show, marked as archived.\n\
    `exclude`, `delete` and `archive forget` remove a session from it, every version of it.\n\
    Sessions in an agent's database are kept where the agent deletes by itself, or is named here.\n\n\
    Examples:\n  \
    sessionary archive on                 from now on, every agent's\n  \
    sessionary archive on opencode        also those in the database of OpenCode\n  \
    sessionary archive off clido          but not those of clido\n  \
    sessionary archive                    as `archive status`\n  \
    sessionary archive restore 019b3f2a   write its file back\n  \
    sessionary archive restore 019b3f2a --number 1 --to old.jsonl"
)]
pub struct ArchiveArgs {
    #[command(subcommand)]
    command: Option<ArchiveCommand>,
}

#[derive(Debug, Subcommand)]
enum ArchiveCommand {
    /// Keep the sessions of these agents from now on, or of all
    On(Agents),
    /// Keep them no longer; what is kept already stays
    Off(Agents),
    /// Show how much is kept of whose sessions
    Status,
    /// Prove every byte that is kept
    Verify,
    /// List what a session's files held at what time
    Versions(One),
    /// Write the files of a session back that are gone
    Restore(Restore),
    /// Forget all that is kept of a session, and never keep it again
    Forget(Forget),
}

#[derive(Debug, Args)]
struct Agents {
    /// Names of agents
    #[arg(value_name = "AGENT", value_parser = known_names())]
    agents: Vec<String>,
}

#[derive(Debug, Args)]
struct One {
    /// Session id, the start of one, a path, a name or title, or `last`
    #[arg(add = values::session())]
    session: String,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Files go back to where they were, and replace nothing. An older version, by its number\n\
    in `sessionary archive versions`, goes to the new file PATH, or to the folder PATH.\n\n\
    Of a session that was rows of a database the document is written that its agent exports\n\
    (`opencode export`; `opencode import` reads it): to the new file PATH, or as SESSION.json\n\
    to the folder PATH, else to the working directory. Nothing is written into a database."
)]
struct Restore {
    /// Session id, the start of one, a path, a name or title, or `last`
    #[arg(add = values::session())]
    session: String,
    /// Where a version goes, or the document of a session that was in a database: a new file, or a
    /// folder
    #[arg(long, value_name = "PATH", add = values::file())]
    to: Option<PathBuf>,
    /// Number of the version, as `archive versions` lists them
    #[arg(long, value_name = "NUMBER", requires = "to")]
    number: Option<usize>,
}

#[derive(Debug, Args)]
struct Forget {
    /// Session id (8 letters of it are enough), a path, or a whole name
    #[arg(add = values::session_in_full())]
    session: String,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub fn run(args: &ArchiveArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    if config.archive_dir.is_none() {
        return Err(Failure::usage(
            "there is no home folder to keep an archive in",
        ));
    }
    match &args.command {
        Some(ArchiveCommand::On(agents)) => turn(&agents.agents, true, config, screen),
        Some(ArchiveCommand::Off(agents)) => turn(&agents.agents, false, config, screen),
        None | Some(ArchiveCommand::Status) => status(config, screen),
        Some(ArchiveCommand::Verify) => verify(config, screen),
        Some(ArchiveCommand::Versions(one)) => versions(&one.session, config, screen),
        Some(ArchiveCommand::Restore(args)) => restoring::restore(args, config, screen),
        Some(ArchiveCommand::Forget(forget)) => self::forget(forget, config, screen),
    }
}

/// Turns it on or off; what is there is kept at once.
fn turn(
    agents: &[String],
    is_kept: bool,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let refused = agents.iter().find(|agent| !config.can_keep(agent));
    if let (Some(agent), true) = (refused, is_kept) {
        let what = format!("{agent}'s database holds lines of files, which are not kept so far");
        return Err(Failure::usage(what).hint("leave its name out"));
    }
    let mut progress = Progress::new();
    let mut indexer = super::writer(config, true, &mut progress)?;
    match is_kept {
        true => indexer.keep(agents)?,
        false => indexer.keep_no_more(agents)?,
    }
    let report = indexer.sync_catalogue(&mut |event| progress.event(event))?;
    drop(progress);
    for note in &report.notes {
        screen.say(&plain_line(note));
    }
    drop(indexer);
    if is_kept {
        say_unnamed(config, screen)?;
        status(config, screen)
    } else {
        screen.say("What is kept already stays; `sessionary archive status` shows it.");
        Ok(Outcome::Yes)
    }
}

/// Says of which agents nothing is kept because they have to be named.
fn say_unnamed(config: &Config, screen: &Screen) -> Result<(), Failure> {
    let mut told = Vec::new();
    for root in &config.roots {
        let agent = root.agent.as_str();
        let is_new =
            !config.keeps_unnamed(agent) && config.can_keep(agent) && !told.contains(&agent);
        let is_settled = || Ok::<_, Failure>(config.keeps(agent)? || config.is_turned_off(agent)?);
        if is_new && root.path.exists() && !is_settled()? {
            told.push(agent);
            screen.say(&format!(
                "{agent} has its sessions in a database and deletes none by itself: \
                 `sessionary archive on {agent}` keeps them too."
            ));
        }
    }
    Ok(())
}

/// What `archive status --json` prints.
#[derive(Serialize)]
struct Status {
    schema_version: u32,
    /// Its folder; `null`: there is no archive.
    folder: Option<PathBuf>,
    agents: Vec<AgentStatus>,
    /// Bytes that the archive takes.
    stored_bytes: u64,
    /// These over the bytes of all contents.
    ratio: Option<f64>,
}

#[derive(Serialize)]
struct AgentStatus {
    agent: String,
    /// Whether what is read of its sessions is kept.
    is_kept: bool,
    files: u64,
    /// Contents of these files: one of each, and those that they had before.
    versions: u64,
    /// Bytes of the newest content of each file.
    bytes: u64,
    /// Bytes of all contents.
    all_bytes: u64,
}

fn status(config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let held = config.archive_status()?;
    let mut agents = Vec::new();
    let kept = held.as_ref().map_or(&[][..], |held| &held.agents);
    for name in known_names() {
        let totals = kept.iter().find(|totals| totals.agent == name);
        let is_kept = config.keeps(name)?;
        if totals.is_some() || is_kept {
            agents.push(AgentStatus {
                agent: name.to_owned(),
                is_kept,
                files: totals.map_or(0, |t| t.sources),
                versions: totals.map_or(0, |t| t.generations),
                bytes: totals.map_or(0, |t| t.bytes),
                all_bytes: totals.map_or(0, |t| t.all_bytes),
            });
        }
    }
    let stored_bytes = held.as_ref().map_or(0, |held| held.stored_bytes);
    let all: u64 = agents.iter().map(|agent| agent.all_bytes).sum();
    #[allow(clippy::cast_precision_loss)]
    let ratio = (all > 0).then(|| stored_bytes as f64 / all as f64);
    let status = Status {
        schema_version: SCHEMA_VERSION,
        folder: held.map(|held| held.folder),
        agents,
        stored_bytes,
        ratio,
    };
    match (screen.json, &status.folder) {
        (true, _) => screen.json(&status)?,
        (false, None) => {
            screen.say("There is no archive: `sessionary archive on` makes one.");
        }
        (false, Some(folder)) => screen.print(&printed(&status, folder, screen))?,
    }
    Ok(Outcome::Yes)
}

fn printed(status: &Status, folder: &std::path::Path, screen: &Screen) -> String {
    let mut table = Table::new(&[
        Column::text("AGENT"),
        Column::text("KEPT"),
        Column::number("FILES"),
        Column::number("VERSIONS"),
        Column::number("SIZE"),
        Column::number("ALL VERSIONS"),
    ]);
    for agent in &status.agents {
        let kept = if agent.is_kept { "yes" } else { "no" };
        table.row(vec![
            (Tone::Plain, agent.agent.clone()),
            (Tone::Plain, kept.to_owned()),
            (Tone::Plain, agent.files.to_string()),
            (Tone::Plain, agent.versions.to_string()),
            (Tone::Plain, bytes(agent.bytes)),
            (Tone::Plain, bytes(agent.all_bytes)),
        ]);
    }
    let mut out = table.render(screen.style, screen.width);
    let share = status
        .ratio
        .map(|ratio| format!(", {:.0} % of all versions", ratio * 100.0));
    out.push_str(&format!(
        "{} in {}{}\n",
        bytes(status.stored_bytes),
        screen.path(folder),
        share.unwrap_or_default()
    ));
    out
}

/// What `archive verify --json` prints.
#[derive(Serialize)]
struct VerifyAnswer {
    schema_version: u32,
    versions: u64,
    blocks: u64,
    bytes: u64,
    damage: Vec<String>,
}

/// What is said of an archive that is damaged.
const MENDS: &str =
    "`sessionary rebuild` reads all files and keeps anew what the agents' files still hold.";

fn verify(config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let verified = config.verify_archive()?.unwrap_or_default();
    if screen.json {
        screen.json(&VerifyAnswer {
            schema_version: SCHEMA_VERSION,
            versions: verified.generations,
            blocks: verified.blocks,
            bytes: verified.bytes,
            damage: verified.damage.clone(),
        })?;
    } else {
        for damage in &verified.damage {
            screen.print(&format!("damaged: {}\n", screen.with_paths(damage)))?;
        }
        let is = if verified.damage.is_empty() {
            "all bytes are those that were kept"
        } else {
            "DAMAGED"
        };
        screen.print(&format!(
            "{}, {}: {is}\n",
            count(verified.generations, "version"),
            bytes(verified.bytes)
        ))?;
    }
    if !verified.damage.is_empty() {
        screen.say(MENDS);
    }
    Ok(Outcome::of(verified.damage.is_empty()))
}

fn chosen(name: &str, config: &Config, screen: &Screen) -> Result<(Index, SessionRow), Failure> {
    let mut index = super::open(config, screen)?;
    let row = session(name, &mut index, config, screen)?;
    Ok((index, row))
}

/// What is said of a session that is not in the archive.
fn nothing_kept(row: &SessionRow, config: &Config) -> Result<&'static str, Failure> {
    Ok(match row.host.is_none() && config.keeps(&row.agent)? {
        true => "Nothing is kept of this session: it was forgotten, or could not be kept so far.",
        false => "Nothing is kept of this session; `sessionary archive on` keeps sessions.",
    })
}

/// What `archive versions --json` prints.
#[derive(Serialize)]
struct VersionsAnswer {
    schema_version: u32,
    id: String,
    versions: Vec<VersionAnswer>,
}

#[derive(Serialize)]
struct VersionAnswer {
    number: usize,
    path: PathBuf,
    bytes: u64,
    /// When its first and its last bytes were read, in ms since the epoch.
    begun_ms: i64,
    kept_ms: i64,
}

fn versions(name: &str, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let (index, row) = chosen(name, config, screen)?;
    let versions = index.versions(&row)?;
    let is_kept = !versions.is_empty();
    let answer = |(at, version): (usize, &Version)| VersionAnswer {
        number: at + 1,
        path: version.path.clone(),
        bytes: version.content.length,
        begun_ms: version.content.begun_ms,
        kept_ms: version.content.kept_ms,
    };
    if screen.json {
        screen.json(&VersionsAnswer {
            schema_version: SCHEMA_VERSION,
            id: row.id,
            versions: versions.iter().enumerate().map(answer).collect(),
        })?;
        return Ok(Outcome::of(is_kept));
    }
    for (at, version) in versions.iter().enumerate() {
        let moment = |ms| sessionary::model::iso(ms).unwrap_or_default();
        screen.print(&format!(
            "{:>3}  {} to {}  {:>8}  {}\n",
            at + 1,
            moment(version.content.begun_ms),
            moment(version.content.kept_ms),
            bytes(version.content.length),
            screen.path(&version.path)
        ))?;
    }
    if !is_kept {
        screen.say(nothing_kept(&row, config)?);
    }
    Ok(Outcome::of(is_kept))
}

/// What `archive forget --json` prints.
#[derive(Serialize)]
struct ForgetAnswer {
    schema_version: u32,
    id: String,
    /// How many files of it were kept.
    files: u64,
    /// How many of these were nowhere else.
    nowhere_else: u64,
}

fn forget(args: &Forget, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let index = super::open(config, screen)?;
    let row = named_in_full(&args.session, &index, config, screen)?;
    super::foreign::refuse(&row)?;
    let kept = index.kept_files(&row)?;
    drop(index);
    if !args.yes {
        let what = what_is_lost(kept, row.archived);
        let question = format!(
            "Forget every version of {}? {what} [y/N] ",
            plain_line(&row.id)
        );
        let hint = "--yes forgets without asking";
        if let Some(ended) = super::declined(&question, "nothing was forgotten", hint, screen)? {
            return Ok(ended);
        }
    }
    let mut progress = Progress::new();
    let mut indexer = super::writer(config, true, &mut progress)?;
    let mut report = Report::default();
    let files = indexer.forget(&row, &mut report)?;
    drop(progress);
    for note in &report.notes {
        screen.say(&plain_line(note));
    }
    if screen.json {
        screen.json(&ForgetAnswer {
            schema_version: SCHEMA_VERSION,
            id: row.id,
            files,
            nowhere_else: kept.only_kept,
        })?;
    } else {
        let were = match kept.only_kept {
            0 => String::new(),
            lost if lost == files => ", nowhere else".to_owned(),
            lost => format!(", {lost} of them nowhere else"),
        };
        let (id, files) = (plain_line(&row.id), count(files, "file"));
        screen.print(&format!("forgotten: {id}, {files}{were}\n"))?;
    }
    Ok(Outcome::of(files > 0))
}

/// What is nowhere once the archive has forgotten it.
fn what_is_lost(kept: KeptFiles, is_archived: bool) -> String {
    match (kept.files, kept.only_kept) {
        (_, 0) if !is_archived => "it stays where its agent has it".to_owned(),
        (0 | 1, _) => "it is nowhere else".to_owned(),
        (files, lost) if files == lost => format!("its {files} files are nowhere else"),
        (files, lost) => format!("{lost} of its {files} files are nowhere else"),
    }
}
