//! Does the index equal the files?

use clap::Args;
use sessionary::model::{Difference, Verdict, Verification};
use sessionary::{Config, Freshness, Index};

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::progress::Progress;
use crate::output::style::Tone;
use crate::output::text::plain_line;
use crate::output::time::{bytes, count};

/// Read all session files again and compare both stores with them
#[derive(Debug, Args)]
#[command(
    after_help = "Prints one line per file that is not equal, with the verdict and the reason. Agents may write meanwhile.\n\
    differs: the index differs from the bytes it was made from. Exit code 1; `sessionary rebuild` rebuilds it.\n\
    behind: written since it was indexed, or just now. The next `sessionary sync` reads it.\n\
    unread: the file cannot be read, so there is nothing to compare.\n\n\
    Examples:\n  \
    sessionary verify\n  \
    sessionary verify --json"
)]
pub struct Verify {}

pub fn run(config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let mut progress = Progress::new();
    // What agents have written since the last sync is no difference: it is taken in first, as every
    // command does. Files that are as they were are not read for that, so nothing else is mended
    // before it is printed.
    let index = Index::open_with(config, Freshness::Check, &mut |event| progress.event(event))?;
    let index = super::answerable(index)?;
    let verification = index.verify_with(&mut |event| progress.event(event))?;
    drop(progress);
    if screen.json {
        screen.json(&verification)?;
    } else {
        screen.print(&printed(&verification, screen))?;
    }
    // What was mended before it is printed as well; what could not be read stands in the answer.
    let notes = index.report().map_or(&[][..], |report| &report.notes);
    let is_printed = |note: &String| {
        verification
            .unread
            .iter()
            .any(|u| note.ends_with(&u.reason))
    };
    for note in notes.iter().filter(|note| !is_printed(note)) {
        screen.say(&plain_line(note));
    }
    // What could not be taken in first is no fault of the stores.
    let is_current = index.obstacle().is_none() || index.is_complete();
    super::say_pending(screen, &index, is_current, None);
    if !verification.behind.is_empty() {
        screen.say(
            "What is behind was written in the meantime; the next `sessionary sync` reads it.",
        );
    }
    if verification.differences.is_empty() {
        return Ok(Outcome::Yes);
    }
    screen.say(
        "`sessionary rebuild` rebuilds the index; where only words differ, `sessionary sync` repairs them.",
    );
    Ok(Outcome::No)
}

fn printed(verification: &Verification, screen: &Screen) -> String {
    let mut out = String::new();
    let mut line = |word: &str, tone: Tone, rest: &str| {
        let word = screen.style.paint(tone, word);
        out.push_str(&format!("{word}: {rest}\n"));
    };
    // What is of no file.
    let whole = |all: &[Difference]| {
        let all = all.iter().filter(|one| one.source.is_none());
        all.map(|one| (one.store.to_string(), plain_line(&one.what)))
            .collect::<Vec<_>>()
    };
    for (store, what) in whole(&verification.differences) {
        line(&store, Tone::Bad, &what);
    }
    for (store, what) in whole(&verification.behind) {
        line("behind", Tone::Warn, &format!("{store}: {what}"));
    }
    for file in &verification.files {
        let (word, tone) = match file.verdict {
            Verdict::Differs => ("differs", Tone::Bad),
            Verdict::Behind => ("behind", Tone::Warn),
            Verdict::Equal | Verdict::Unread => continue,
        };
        let what = plain_line(file.what.as_deref().unwrap_or_default());
        let path = screen.path(&file.path);
        line(word, tone, &format!("{path}: {what}"));
    }
    for unread in &verification.unread {
        let (path, reason) = (screen.path(&unread.path), plain_line(&unread.reason));
        line("unread", Tone::Warn, &format!("{path}: {reason}"));
    }
    out.push_str(&format!(
        "{}, {}, {}, {} read: {}.\n",
        count(verification.sources, "file"),
        count(verification.entries, "entry"),
        count(verification.passages, "passage"),
        bytes(verification.bytes_read),
        verdict(verification)
    ));
    out
}

/// All of it in one phrase.
fn verdict(verification: &Verification) -> String {
    let differences = verification.differences.len() as u64;
    let (behind, unread) = (verification.behind.len(), verification.unread.len());
    let mut verdict = match (differences, unread) {
        (0, 0) => "both stores equal the files".to_owned(),
        (0, _) => format!("both stores equal the files that could be read, {unread} could not"),
        (_, 0) => count(differences, "difference"),
        _ => format!(
            "{}, and {unread} could not be read",
            count(differences, "difference")
        ),
    };
    if behind > 0 {
        verdict.push_str(&format!("; {behind} behind"));
    }
    verdict
}
