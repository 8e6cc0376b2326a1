//! Who wrote each line of a file? The changes that sessions made are made again, in the order of
//! their times, on lines that know who wrote them; then these lines are found again in the file.
//! No file is read here.
//!
//! What sessions did is known, and what others did in between is not. So a line is somebody's only
//! where nothing else is possible but that somebody typed the same once more: see [`carry`]. What
//! remains open has no writer.

mod carry;
mod given_texts;
mod owners;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use carry::{Between, Origin, carry};
pub(crate) use given_texts::{GivenTexts, Place, ReadLines};
pub(crate) use owners::bare;
pub(crate) use state::State;

use crate::format::edits::{Change, Hunk};

/// The number of a change among those that are made again.
pub(crate) type ChangeNumber = usize;

/// Who wrote a line: a change, or nobody who is known.
pub(crate) type Writer = Option<ChangeNumber>;

/// A change of a file that a session made, with what is known of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionEdit {
    /// Which session.
    pub session: i64,
    /// What the session asked for, in this order.
    pub changes: Vec<Change>,
    /// All of the file as it was before.
    pub before: Option<String>,
    /// Whether the file was there before; `None`: not known.
    pub is_new: Option<bool>,
    /// The lines that changed, as its agent recorded them.
    pub hunks: Option<Vec<Hunk>>,
    /// Nobody knows whether or how it was done: what it says is nobody's.
    pub is_uncertain: bool,
    /// What the session had read before.
    pub seen: GivenTexts,
    /// What a command put into the file, which nobody knows otherwise.
    pub filled: String,
}

/// The lines of a text, without their ends.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    let line = |line| str::strip_suffix(line, '\r').unwrap_or(line);
    let mut lines: Vec<&str> = text.split('\n').map(line).collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    lines
}

/// Whether a line says so much that it is hardly typed twice by chance.
pub(crate) fn is_telling(line: &str) -> bool {
    let signs = line.chars().filter(|sign| !sign.is_whitespace());
    let (mut letters, mut all) = (0, 0);
    for sign in signs {
        all += 1;
        letters += usize::from(sign.is_alphanumeric());
    }
    all >= 8 && letters >= 4
}
