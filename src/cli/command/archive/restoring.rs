//! How does a session come back that the archive has: its files, one of their versions, or the
//! document that its agent exports?

use std::path::{Path, PathBuf};

use serde::Serialize;
use sessionary::index::NotRestored;
use sessionary::model::{SCHEMA_VERSION, SessionRow};
use sessionary::{Config, Error, Index, with_causes};

use super::{Restore, chosen, nothing_kept};
use crate::command::export::may_lie_at;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::text::plain_line;

/// What is said of a session of which only what belongs to it is kept.
const OWN_FILE_LOST: &str = "The session's own file is gone, and nothing of it is kept.";

/// What `archive restore --json` prints.
#[derive(Serialize)]
struct RestoreAnswer<'a> {
    schema_version: u32,
    /// The files that were written.
    files: &'a [PathBuf],
    /// Those that could not be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<FailedFile<'a>>,
    /// Whether the session's own file is gone and not kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lost: bool,
}

/// A file that could not be written, and why.
#[derive(Serialize)]
struct FailedFile<'a> {
    path: &'a Path,
    message: String,
}

impl<'a> FailedFile<'a> {
    fn of(failed: &'a NotRestored) -> Self {
        let NotRestored { path, error, .. } = failed;
        let message = match error {
            // The path is said already.
            Error::Io { path: of, source } if of == path => source.to_string(),
            error => with_causes(error),
        };
        Self { path, message }
    }
}

pub(super) fn restore(
    args: &Restore,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let (index, row) = chosen(&args.session, config, screen)?;
    let is_in_database = index.is_in_database(&row)?;
    let files = match (is_in_database, &args.to, args.number) {
        (true, _, Some(_)) => {
            let what = format!(
                "of {}, which was in a database, no older version is written",
                row.id
            );
            return Err(Failure::usage(what).hint("leave out --number"));
        }
        (true, to, None) => document(&row, to.as_deref(), &index, config, screen)?,
        (false, Some(to), Some(number)) => version(&row, number, to, &index, config, screen)?,
        (false, None, _) => return back(&row, &index, config, screen),
        (false, Some(_), None) => {
            let what = format!("the files of {} go back to where they were", row.id);
            return Err(Failure::usage(what).hint("leave out --to, or name a version by --number"));
        }
    };
    if screen.json {
        screen.json(&RestoreAnswer {
            schema_version: SCHEMA_VERSION,
            files: &files,
            failed: Vec::new(),
            lost: false,
        })?;
    } else if files.is_empty() {
        screen.say("It is in its agent's database: nothing was written.");
    } else {
        print_restored(&files, screen)?;
    }
    Ok(Outcome::of(!files.is_empty()))
}

/// Writes the files of a session back to where they were. Also after a failure it is printed which
/// ones are back.
fn back(
    row: &SessionRow,
    index: &Index,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let restored = index.restore(row)?;
    let is_lost = index.has_lost_its_file(row)?;
    let is_none_back = restored.files.is_empty();
    let failed: Vec<FailedFile<'_>> = restored.failed.iter().map(FailedFile::of).collect();
    let failure = restored.failed.first();
    let failure = failure.map(|first| not_restored(&failed, &first.error));
    if screen.json {
        screen.json(&RestoreAnswer {
            schema_version: SCHEMA_VERSION,
            files: &restored.files,
            failed,
            lost: is_lost,
        })?;
    } else {
        print_restored(&restored.files, screen)?;
        say_longer(row, &restored.files, index, screen)?;
        if is_lost {
            let is_any_kept = !is_none_back || !index.versions(row)?.is_empty();
            screen.say(match is_any_kept {
                true => OWN_FILE_LOST,
                false => nothing_kept(row, config)?,
            });
        } else if is_none_back && failure.is_none() {
            screen.say("Its files are all there: nothing was written.");
        }
    }
    match failure {
        Some(failure) => Err(failure),
        None => Ok(Outcome::of(!is_none_back && !is_lost)),
    }
}

fn print_restored(files: &[PathBuf], screen: &Screen) -> Result<(), Failure> {
    for file in files {
        screen.print(&format!("restored: {}\n", screen.path(file)))?;
    }
    Ok(())
}

/// The failure that names every file that could not be written, with what helps against the first
/// error.
fn not_restored(failed: &[FailedFile<'_>], first: &Error) -> Failure {
    let lines = failed.iter();
    let lines = lines.map(|one| format!("{}: {}", one.path.display(), one.message));
    let failure = Failure::refused(lines.collect::<Vec<_>>().join("\n"));
    let hints = Failure::from_kept(first);
    let hints = hints.hints().iter().cloned();
    hints.fold(failure, Failure::hint)
}

/// Says which of these files were longer once: they may have been emptied before they went.
fn say_longer(
    row: &SessionRow,
    files: &[PathBuf],
    index: &Index,
    screen: &Screen,
) -> Result<(), Failure> {
    let versions = index.versions(row)?;
    for file in files {
        let of_file = (1..).zip(&versions).filter(|(_, one)| one.path == *file);
        let lengths: Vec<(u64, usize)> = of_file.map(|(n, one)| (one.content.length, n)).collect();
        // Of two that are as long the newer one.
        if let (Some(newest), Some(longest)) = (lengths.last(), lengths.iter().max())
            && longest != newest
        {
            let number = longest.1;
            screen.say(&format!(
                "An older version of {} is longer: `sessionary archive restore {} --number \
                 {number} --to PATH` writes it.",
                screen.path(file),
                plain_line(&row.id)
            ));
        }
    }
    Ok(())
}

/// Writes one version of a session's files to a new file.
fn version(
    row: &SessionRow,
    number: usize,
    to: &Path,
    index: &Index,
    config: &Config,
    screen: &Screen,
) -> Result<Vec<PathBuf>, Failure> {
    let versions = index.versions(row)?;
    let chosen = number.checked_sub(1).and_then(|at| versions.get(at));
    let Some(chosen) = chosen else {
        let what = format!("there is no version {number} of {}", plain_line(&row.id));
        return Err(Failure::usage(what).hint("`sessionary archive versions` lists them"));
    };
    let target = std::env::current_dir()
        .map_err(anyhow::Error::new)?
        .join(to);
    let target = match (target.is_dir(), chosen.path.file_name()) {
        (true, Some(name)) => target.join(name),
        _ => target,
    };
    // Without the dots that somebody typed.
    let target: PathBuf = target.components().collect();
    may_lie_at(&target, config, screen)?;
    index.restore_version(chosen, &target)?;
    Ok(vec![target])
}

/// Writes the document of a session that is gone from its agent's database.
fn document(
    row: &SessionRow,
    to: Option<&Path>,
    index: &Index,
    config: &Config,
    screen: &Screen,
) -> Result<Vec<PathBuf>, Failure> {
    if !row.archived {
        return Ok(Vec::new());
    }
    let here = std::env::current_dir().map_err(anyhow::Error::new)?;
    let target = here.join(to.unwrap_or(Path::new("")));
    let target = match target.is_dir() {
        true => target.join(document_name(&row.id)),
        false => target,
    };
    may_lie_at(&target, config, screen)?;
    if index.export_document(row, &target)? {
        return Ok(vec![target]);
    }
    let (agent, id) = (&row.agent, plain_line(&row.id));
    let what = format!("it is not known what {agent} exports of {id}");
    Err(Failure::usage(what).hint(format!("`sessionary show {id} --raw` prints its rows")))
}

/// A file's name that an id cannot make into a path.
fn document_name(id: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let plain = id
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '-' });
    format!("{}.json", plain.collect::<String>())
}
