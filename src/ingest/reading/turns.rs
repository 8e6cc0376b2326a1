//! From which turn on is a session in a database read on?
//!
//! With each message the session's own row changes, which is its first line. Of a long session it
//! is saved what was known where its last turn began. As long as the rows before that are as they
//! were, only the own row and those from the turn on are read.

use std::iter::Peekable;

use serde::{Deserialize, Serialize};

use crate::catalogue::write::MovedEntries;
use crate::databases::Turn;
use crate::ingest::plan::SourcePlan;
use crate::model::Fold;
use crate::source::checkpoint::hash;
use crate::source::content::{Content, ROWS_REST_NS, first_line};

/// Bytes of a session of which nothing is saved: it is soon read.
const SHORT: u64 = 64 << 10;
const NS_A_MS: i64 = 1_000_000;

/// What was known where a turn began.
#[derive(Serialize, Deserialize)]
struct SavedTurn {
    turn: Turn,
    /// Bytes between the line of the session's own row and that of the turn.
    behind: u64,
    /// Over all rows before the turn.
    fold: Box<Fold>,
}

impl SavedTurn {
    /// As it is stored: what was damaged there is not to be believed.
    fn to_text(&self) -> Option<String> {
        let json = serde_json::to_string(self).ok()?;
        Some(format!("{:016x} {json}", hash(json.as_bytes())))
    }

    /// From its stored form; `None`: it is not what was stored.
    fn of_text(text: &str) -> Option<SavedTurn> {
        let (seal, json) = text.split_once(' ')?;
        let is_whole = u64::from_str_radix(seal, 16) == Ok(hash(json.as_bytes()));
        is_whole.then(|| serde_json::from_str(json).ok())?
    }
}

/// A session that was opened at a turn.
pub struct AtTurn {
    /// Where the line of the turn begins.
    pub from: u64,
    /// How many of the stored entries are before it.
    pub entries: usize,
    /// What the first of them is now.
    pub first: MovedEntries,
    /// Over these entries.
    pub fold: Box<Fold>,
}

/// Open the source of `plan`, at the turn that was saved if it is a session of which all before
/// that is as it was; `is_again`: all of it is to be read.
///
/// # Errors
/// Those of [`Location::open`](crate::source::content::Location::open).
pub fn open(plan: &SourcePlan<'_>, is_again: bool) -> std::io::Result<(Content, Option<AtTurn>)> {
    let at_turn = match is_again {
        true => None,
        false => open_at_turn(plan)?,
    };
    Ok(match at_turn {
        Some((content, at_turn)) => (content, Some(at_turn)),
        None => (plan.path.open(plan.format)?, None),
    })
}

/// `None`: all of it is to be read.
fn open_at_turn(plan: &SourcePlan<'_>) -> std::io::Result<Option<(Content, AtTurn)>> {
    let Some((saved, own, entries)) = saved_turn(plan) else {
        return Ok(None);
    };
    let location = &plan.path;
    let Some(content) = location.open_from(plan.format, saved.behind, &saved.turn)? else {
        return Ok(None);
    };
    let first = first_line(content.rows().unwrap_or_default());
    let line = first.trim_ascii();
    let mut fold = saved.fold;
    let facts = plan.format.facts_of_line_at(location, line);
    if !facts.is_some_and(|facts| plan.format.renews(&mut fold, &facts)) {
        return Ok(None);
    }
    let length = line.len() as u64;
    let at_turn = AtTurn {
        from: first.len() as u64 + saved.behind,
        entries,
        first: MovedEntries {
            length,
            hash: hash(line),
            by: length.cast_signed() - own.cast_signed(),
        },
        fold,
    };
    Ok(Some((content, at_turn)))
}

/// The turn that was saved, the length of the own row at that time, and how many of the stored
/// entries are before it.
fn saved_turn(plan: &SourcePlan<'_>) -> Option<(SavedTurn, u64, usize)> {
    // What is kept is all of it.
    let checkpoint = plan.checkpoint.as_ref().filter(|_| plan.kept_as.is_none());
    let saved = SavedTurn::of_text(checkpoint?.turn.as_deref()?)?;
    let own = plan.stored.first().filter(|own| own.start == 0)?.length;
    let start = (own + 1).checked_add(saved.behind)?;
    let entries = (plan.stored).binary_search_by_key(&start, |place| place.start);
    Some((saved, own, entries.ok().filter(|entries| *entries > 0)?))
}

/// The last turn that is to be saved, as lines are read.
#[derive(Default)]
pub struct LastTurn {
    begun: Option<Peekable<std::vec::IntoIter<(u64, Turn)>>>,
    /// Bytes of the line of the session's own row.
    own: u64,
    /// Rows that were changed before may not be changed again without another time.
    rested_ms: i64,
    saved: Option<SavedTurn>,
}

impl LastTurn {
    /// Of what was opened at that time, which is so many bytes long.
    pub fn of(content: &mut Content, length: u64, now_ns: i64) -> LastTurn {
        if length < SHORT {
            return LastTurn::default();
        }
        LastTurn {
            own: content
                .rows()
                .map_or(0, |lines| first_line(lines).len() as u64),
            begun: Some(content.take_turns().into_iter().peekable()),
            rested_ms: now_ns.saturating_sub(ROWS_REST_NS) / NS_A_MS,
            saved: None,
        }
    }

    /// A line begins there, and before it this is known.
    pub fn pass(&mut self, start: u64, fold: &Fold) {
        let Some(begun) = &mut self.begun else {
            return;
        };
        if let Some((_, turn)) = begun.next_if(|(turn, _)| *turn == start)
            && turn.before.newest < self.rested_ms
        {
            self.saved = Some(SavedTurn {
                turn,
                behind: start - self.own,
                fold: Box::new(fold.clone()),
            });
        }
    }

    /// What is to be stored of it.
    pub fn to_text(&self) -> Option<String> {
        self.saved.as_ref().and_then(SavedTurn::to_text)
    }
}
