//! What of a file had a session read when it wrote all of it? What it had not read it cannot have
//! copied.
//!
//! The lines that it wrote are looked for in all that it was given, all at once; of each is kept
//! only since when the session knew it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use aho_corasick::AhoCorasick;

use super::{is_telling, lines};

/// Where in a session something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file of the session.
    pub source: i64,
    /// Where in it: this grows.
    pub key: i64,
    pub ms: Option<i64>,
}

/// The lines that a session wrote, and since when it had read them.
pub(crate) struct ReadLines {
    finder: AhoCorasick,
    /// The lines, and their numbers.
    lines: HashMap<String, usize>,
    /// By their numbers: whether they say so much that they are hardly anything else.
    is_telling: Vec<bool>,
    /// By their numbers: the first place in each file of the session.
    first: Vec<Vec<Place>>,
    /// Where anything was read first.
    any: Vec<Place>,
}

impl ReadLines {
    /// These lines, of which nothing was read. `None`: there are more than can be looked for.
    pub fn new(lines: HashSet<String>) -> Option<Self> {
        let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        Some(Self {
            finder: AhoCorasick::new(&lines).ok()?,
            first: vec![Vec::new(); lines.len()],
            is_telling: lines.iter().map(|line| is_telling(line)).collect(),
            lines: lines.into_iter().zip(0..).collect(),
            any: Vec::new(),
        })
    }

    /// What has to be looked for of a text that a session wrote: its lines with their white space,
    /// and without.
    pub fn of(text: &str) -> impl Iterator<Item = &str> {
        lines(text)
            .into_iter()
            .flat_map(|line| [line, line.trim()])
            .filter(|line| !line.is_empty())
    }

    /// The session was given this there. Empty lines and brackets are in any text: they count where
    /// it names the file, or holds a line that says something.
    pub fn read(&mut self, text: &str, place: Place, names_it: bool) {
        let found = self.finder.find_overlapping_iter(text);
        let found: HashSet<usize> = found.map(|found| found.pattern().as_usize()).collect();
        let mut telling = found
            .iter()
            .filter_map(|number| self.is_telling.get(*number));
        if !names_it && !telling.any(|is_telling| *is_telling) {
            return;
        }
        note(&mut self.any, place);
        for number in found {
            if let Some(first) = self.first.get_mut(number) {
                note(first, place);
            }
        }
    }

    fn places(&self, line: &str) -> &[Place] {
        match self.lines.get(line) {
            Some(number) => self.first.get(*number).map_or(&[], Vec::as_slice),
            // An empty line is in any text.
            None if line.is_empty() => &self.any,
            None => &[],
        }
    }
}

/// Keeps the first place in each file of the session.
fn note(first: &mut Vec<Place>, place: Place) {
    match first.iter_mut().find(|it| it.source == place.source) {
        Some(known) => {
            known.key = known.key.min(place.key);
            known.ms = known.ms.min(place.ms);
        }
        None => first.push(place),
    }
}

/// What a session had read before a change.
#[derive(Clone, Default)]
pub(crate) struct GivenTexts {
    read: Option<(Arc<ReadLines>, Place)>,
    /// It had read more than is known.
    is_more: bool,
}

impl std::fmt::Debug for GivenTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.read.as_ref().map(|(_, at)| at);
        f.debug_struct("GivenTexts").field("at", &at).finish()
    }
}

impl GivenTexts {
    /// What it had read before this place.
    pub fn before(place: Place, read: Arc<ReadLines>) -> Self {
        Self {
            read: Some((read, place)),
            is_more: false,
        }
    }

    /// Nobody knows what it had read.
    pub fn anything() -> Self {
        Self {
            read: None,
            is_more: true,
        }
    }

    /// Whether it had read the line with all its white space, as far as is known.
    pub fn holds_whole(&self, line: &str) -> bool {
        let Some((read, at)) = &self.read else {
            return false;
        };
        read.places(line)
            .iter()
            .any(|first| match first.source == at.source {
                true => first.key < at.key,
                false => first.ms <= at.ms,
            })
    }

    /// Whether the line may be one that stood in the file before. A line of a file that the session
    /// knew nothing of is its own.
    pub fn holds(&self, line: &str) -> bool {
        self.is_more || self.holds_whole(line.trim())
    }
}
