//! Is the index up to date? Bring it there.

use std::time::Duration;

use clap::{Args, value_parser};
use serde::Serialize;
use sessionary::model::{Report, SCHEMA_VERSION};
use sessionary::{Config, Freshness, Index};

use crate::background::{MOST_SECONDS, end_in_time, step_back};
use crate::failure::{Failure, Outcome};
use crate::not_read;
use crate::output::Screen;
use crate::output::progress::Progress;
use crate::output::text::plain_line;
use crate::output::time::{bytes, count, duration};

/// Bring the index up to date, words included
#[derive(Debug, Args)]
#[command(
    after_help = "Commands that read the index bring it up to date as far as they need.\n\n\
    Examples:\n  \
    sessionary sync\n  \
    sessionary sync --json\n  \
    sessionary sync --purge   after a secret was removed from a session\n  \
    sessionary sync --root pi:~/backup/sessions=laptop\n\n\
    Exit code 1 of --purge: some of what is gone could not be wiped and is in the index's files still."
)]
pub struct Sync {
    /// Also wipe from the index's files what is gone from the sessions
    #[arg(long)]
    purge: bool,
    /// Fail at once if another process is writing the index, instead of waiting
    #[arg(long)]
    no_wait: bool,
    /// Nobody waits for it: give way to everybody, and end within so many seconds
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = value_parser!(u64).range(..=MOST_SECONDS))]
    background: Option<u64>,
}

/// What `sync --json` and `rebuild --json` print.
#[derive(Serialize)]
struct SyncOutput<'a> {
    schema_version: u32,
    complete: bool,
    report: &'a Report,
}

pub fn run(args: &Sync, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let most = args.background.map(Duration::from_secs);
    if let Some(most) = most {
        step_back();
        end_in_time(most, &config.cancel);
        // Whoever wants to remove or unmount the caller's directory can. All places are absolute by
        // now; where it cannot be left, it is kept.
        if let Some(root) = config.index_dir.ancestors().last() {
            let _ = std::env::set_current_dir(root);
        }
    }
    let mut progress = Progress::new();
    let wait = !args.no_wait && most.is_none();
    let mut indexer = super::writer(config, wait, &mut progress)?;
    let mut report = |event| progress.event(event);
    let report = match (args.purge, most) {
        (true, _) => indexer.purge(&mut report)?,
        (false, Some(most)) => indexer.sync_for(most, &mut report)?,
        (false, None) => indexer.sync_with(&mut report)?,
    };
    drop(progress);
    let outcome = print(&report, screen)?;
    if !screen.json && args.background.is_none() {
        let status = Index::open(config, Freshness::AsCommitted)?.status()?;
        not_read::say(config, &status.roots, screen);
    }
    // The notes of the report say why.
    match args.purge && indexer.is_wipe_requested()? {
        true => Ok(Outcome::No),
        false => Ok(outcome),
    }
}

/// Prints the report of a sync or a rebuild.
pub fn print(report: &Report, screen: &Screen) -> Result<Outcome, Failure> {
    let complete = report.outstanding == 0 && report.files_unreadable == 0;
    if screen.json {
        screen.json(&SyncOutput {
            schema_version: SCHEMA_VERSION,
            complete,
            report,
        })?;
    } else {
        screen.print(&in_words(report))?;
    }
    Ok(Outcome::Yes)
}

fn in_words(report: &Report) -> String {
    let mut lines = vec![if report.files_changed == 0 && report.vanished == 0 {
        format!("{}, nothing changed.", count(report.files_seen, "file"))
    } else {
        format!(
            "{}, {} changed: {} in {} read.",
            count(report.files_seen, "file"),
            report.files_changed,
            count(report.entries, "entry"),
            bytes(report.bytes_read)
        )
    }];
    if report.proof_bytes > 0 {
        lines.push(format!(
            "{} read again to prove that nothing else changed.",
            bytes(report.proof_bytes)
        ));
    }
    if report.vanished > 0 {
        lines.push(format!("{} gone.", count(report.vanished, "session")));
    }
    if report.passages > 0 {
        lines.push(format!("{} indexed.", count(report.passages, "passage")));
    }
    if report.problems > 0 {
        lines.push(format!(
            "{}: bytes that are not entries (`sessionary sql 'SELECT * FROM problems'`).",
            count(report.problems, "problem")
        ));
    }
    if report.files_unreadable > 0 {
        lines.push(format!(
            "{} could not be read.",
            count(report.files_unreadable, "file")
        ));
    }
    if report.outstanding > 0 {
        lines.push(format!(
            "{} ({}) not indexed yet; searches find them anyway.",
            count(report.outstanding, "entry"),
            bytes(report.outstanding_bytes)
        ));
    }
    lines.extend(report.notes.iter().map(|note| plain_line(note)));
    lines.push(format!(
        "Found files in {}, read them in {}, indexed words in {}.",
        duration(report.ms.discover),
        duration(report.ms.catalogue),
        duration(report.ms.words)
    ));
    lines.join("\n") + "\n"
}
