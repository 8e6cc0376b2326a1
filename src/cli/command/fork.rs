//! How does one session become two: all of it, or one branch?

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use sessionary::Config;
use sessionary::model::SessionRow;
use sessionary::session::{SessionManager, Setup};

use super::writing::{
    Copy, DryRun, WriteResult, catalogued, directory, entry_id, refuse_archived, said, setup_below,
    setup_of,
};
use super::{clido, foreign, place};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Copy a session with all its branches into a new one
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary fork last                     a copy for this directory\n  \
    sessionary fork 019b3f2a --in ~/other    for another one\n\n\
    The new session names the old one as its parent. `sessionary branch` copies a single branch;\n\
    sessions of clido have no branches.")]
pub struct Fork {
    /// Session id, the start of one, a path, a name or title, `last`, or `last~N`
    #[arg(add = values::session())]
    session: String,
    /// The copy's directory [default: this one]
    #[arg(long = "in", value_name = "DIR", add = values::folder())]
    directory: Option<PathBuf>,
    #[command(flatten)]
    dry_run: DryRun,
}

/// Copy one branch of a session into a new one
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary branch 019b3f2a:c1d2e3f4    from the start to that entry\n  \
    sessionary branch last                 the active branch\n\n\
    Labels on the branch are copied too. The new session names the old one as its parent.")]
pub struct Branch {
    /// A session and the last entry to copy; without :ENTRY, the session's leaf
    #[arg(value_name = "SESSION[:ENTRY]", add = values::address())]
    session: String,
    #[command(flatten)]
    dry_run: DryRun,
}

pub fn run(args: &Fork, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let directory = directory(args.directory.as_deref())?;
    let (row, entry) = found(&args.session, config, screen)?;
    if entry.is_some() {
        let whole = Failure::usage("a fork copies the whole session");
        return Err(match row.agent == "clido" {
            true => whole,
            false => whole.hint("`sessionary branch` copies one branch"),
        });
    }
    said(
        &fork(&row, &directory, args.dry_run, config, screen)?,
        screen,
    )?;
    Ok(Outcome::Yes)
}

/// Copies all of a session into a new one for a directory.
pub fn fork(
    row: &SessionRow,
    directory: &Path,
    dry_run: DryRun,
    config: &Config,
    screen: &Screen,
) -> Result<WriteResult, Failure> {
    let cwd = directory.to_string_lossy();
    if row.agent == "clido" {
        return clido::fork(row, directory, dry_run, config, screen);
    }
    let root = place::of_fork(row, directory, config)?;
    let setup = setup_below(&root, screen)?;
    let config = place::known(&root, config);
    copied(row, setup, dry_run, &config, |setup, source| {
        Ok(SessionManager::fork_from(setup, source, &cwd)?)
    })
}

pub fn run_branch(args: &Branch, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let (row, entry) = found(&args.session, config, screen)?;
    said(&branch(&row, entry, args.dry_run, config, screen)?, screen)?;
    Ok(Outcome::Yes)
}

/// Copies the way to an entry, or to where the session stands, into a new session beside it.
pub fn branch(
    row: &SessionRow,
    entry: Option<String>,
    dry_run: DryRun,
    config: &Config,
    screen: &Screen,
) -> Result<WriteResult, Failure> {
    foreign::refuse(row)?;
    if row.agent == "clido" {
        return Err(clido::has_no("branches").hint("`sessionary fork` copies the whole session"));
    }
    let setup = setup_of(row, config, screen)?;
    copied(row, setup, dry_run, config, |setup, source| {
        let mut session = SessionManager::open(setup, source)?;
        let leaf = match (entry, session.leaf_id()) {
            (Some(entry), _) => entry_id(&session, entry)?,
            (None, Some(leaf)) => leaf.to_owned(),
            (None, None) => return Err(Failure::usage("the session has no entries")),
        };
        // Beside the session, or where a try goes.
        session.set_session_dir(setup.session_dir(session.cwd()));
        session.create_branched_session(&leaf)?;
        if session.session_file().is_none_or(|path| !path.exists()) {
            return Err(Failure::usage("nothing has been said on that branch yet"));
        }
        Ok(session)
    })
}

/// The session that is named, and the entry of it.
fn found(
    name: &str,
    config: &Config,
    screen: &Screen,
) -> Result<(SessionRow, Option<String>), Failure> {
    let mut index = super::open(config, screen)?;
    super::naming::named(name, &mut index, config, screen)
}

fn copied(
    row: &SessionRow,
    real: Setup,
    DryRun { dry_run }: DryRun,
    config: &Config,
    copy: impl FnOnce(&Setup, &Path) -> Result<SessionManager, Failure>,
) -> Result<WriteResult, Failure> {
    refuse_archived(row)?;
    let mut setup = real.clone();
    let tried = match dry_run {
        true => Some(Copy::of(&row.path)?.with(&mut setup)),
        false => None,
    };
    let source = tried.as_ref().map_or(&row.path, |tried| &tried.path);
    let session = copy(&setup, source)?;
    let path = session.session_file().unwrap_or(source);
    let new = fs::read(path).with_context(|| path.display().to_string())?;
    let new = String::from_utf8_lossy(&new);
    let new = new.replace(&*source.to_string_lossy(), &row.path.to_string_lossy());
    // Where a try went and where it would go differ in the folder only.
    let target = real
        .session_dir(session.cwd())
        .join(path.file_name().unwrap_or_default());
    let unindexed = match dry_run {
        true => None,
        false => catalogued(std::slice::from_ref(&target), config),
    };
    Ok(WriteResult {
        dry_run,
        session: session.session_id().to_owned(),
        path: target,
        entry: None,
        rewritten: false,
        new,
        remarks: unindexed.into_iter().collect(),
    })
}
