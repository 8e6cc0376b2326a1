//! Does the index equal the files?

use clap::Args;
use sessionary::model::Verification;
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
    after_help = "Exit code 1 and one line a difference when they are not equal; `sessionary rebuild` makes them so.\n\
    What is on disk but cannot be read is named; it is no difference, for there is nothing to compare.\n\n\
    Examples:\n  \
    sessionary verify\n  \
    sessionary verify --json"
)]
pub struct Verify {}

pub fn run(config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let mut progress = Progress::new();
    // What agents have written since the last sync is no difference: it is taken in first, as every command does. Files
    // that are as they were are not read for that, so nothing else is mended before it is told.
    let index = Index::open_with(config, Freshness::Check, &mut |event| progress.event(event))?;
    let index = super::answerable(index)?;
    let verification = index.verify(&mut |event| progress.event(event))?;
    drop(progress);
    if screen.json {
        screen.json(&verification)?;
    } else {
        screen.print(&printed(&verification, screen))?;
    }
    // What was mended before it is told as well; what could not be read stands in the answer.
    let notes = index.report().map_or(&[][..], |report| &report.notes);
    let is_told = |note: &String| {
        verification
            .unread
            .iter()
            .any(|u| note.ends_with(&u.reason))
    };
    for note in notes.iter().filter(|note| !is_told(note)) {
        screen.say(&plain_line(note));
    }
    // What could not be taken in first is no fault of the stores.
    super::say_pending(screen, &index, index.obstacle().is_none(), None);
    if verification.differences.is_empty() {
        return Ok(Outcome::Found);
    }
    screen.say(
        "`sessionary rebuild` makes the index anew; words alone are mended by `sessionary sync`.",
    );
    Ok(Outcome::Nothing)
}

fn printed(verification: &Verification, screen: &Screen) -> String {
    let mut out = String::new();
    for difference in &verification.differences {
        let place = difference
            .source
            .as_deref()
            .map(|path| format!(" {}:", screen.path(path)))
            .unwrap_or_default();
        let store = screen
            .style
            .paint(Tone::Bad, &plain_line(&difference.store));
        out.push_str(&format!(
            "{store}:{place} {}\n",
            plain_line(&difference.what)
        ));
    }
    for unread in &verification.unread {
        let word = screen.style.paint(Tone::Warn, "unread");
        out.push_str(&format!(
            "{word}: {}: {}\n",
            screen.path(&unread.path),
            plain_line(&unread.reason)
        ));
    }
    let unread = verification.unread.len();
    let verdict = match (verification.differences.len(), unread) {
        (0, 0) => "both stores equal the files".to_owned(),
        (0, _) => format!("both stores equal the files that could be read, {unread} could not"),
        (differences, 0) => count(differences as u64, "difference"),
        (differences, _) => format!(
            "{}, and {unread} could not be read",
            count(differences as u64, "difference")
        ),
    };
    out.push_str(&format!(
        "{}, {}, {}, {} read: {verdict}.\n",
        count(verification.sources, "file"),
        count(verification.entries, "entry"),
        count(verification.passages, "passage"),
        bytes(verification.bytes_read)
    ));
    out
}
