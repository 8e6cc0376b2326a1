//! What do the threads of the picker tell each other?

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use ratatui::crossterm::event::Event as TerminalEvent;
use ratatui::layout::Size;
use sessionary::index::TreeFilter;
use sessionary::model::{Hit, SessionRow};

use super::actions::JobResult;
use super::pane::{Block, Direction};
use super::tree::TreeLine;
use crate::news::News;

/// What the thread that owns the terminal is told.
#[derive(Debug)]
pub enum Message {
    /// The first one of all.
    Begin,
    /// A key, the mouse, another size.
    Terminal(TerminalEvent),
    /// The answer to a question.
    Answered(Box<Answer>),
    /// What a session says.
    Previewed(Box<Preview>),
    /// What a word can become.
    Completed(Candidates),
    /// What came of something that was done.
    Done(Box<JobResult>),
    /// What is new in the index.
    News(News),
    /// What the system asks of the picker.
    System(System),
}

/// What the system asks of the picker, or what has become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "Windows sends no signals"))]
pub enum System {
    /// To end, by this signal.
    End(i32),
    /// To stop for a while.
    Stop,
    /// To go on: others have used the terminal meanwhile.
    Continue,
    /// The terminal is gone.
    HungUp,
    /// A thread of it has panicked, and said so.
    Panicked,
}

/// A word that may be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionRequest {
    pub number: u64,
    /// The filter whose value is typed; `None`: the name of a filter is.
    pub filter: Option<String>,
    /// What of it is typed.
    pub typed: String,
}

/// What a word can become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    pub number: u64,
    pub words: Vec<String>,
}

/// Whose sessions are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// All; without a query those of this repository first.
    #[default]
    Everywhere,
    /// Those of this repository.
    Here,
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The best first; without a query the newest.
    #[default]
    Best,
    /// The newest first.
    Newest,
}

/// What is asked of the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// Tells the answer that is waited for from those of questions that were overtaken.
    pub number: u64,
    pub query: String,
    pub place: Place,
    pub order: Order,
    /// So many rows at most.
    pub rows: usize,
    /// The session on which the selection stands: there are more rows, where it takes more to
    /// have it among them.
    pub keep: Option<Key>,
    pub reason: Reason,
}

/// Why something is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reason {
    /// What is listed is no answer to what is typed.
    #[default]
    Typed,
    /// More rows are wanted.
    More,
    /// The index has changed, and the answer with it.
    Changed,
}

/// A session in the list.
#[derive(Debug, Clone)]
pub struct Row {
    pub session: SessionRow,
    /// What was found in it, the best first.
    pub hits: Vec<Hit>,
    /// Whether it is of this repository.
    pub is_here: bool,
    pub is_pinned: bool,
}

impl Row {
    /// What tells it from all other sessions.
    pub fn key(&self) -> Key {
        (self.session.path.clone(), self.session.id.clone())
    }
}

/// What tells a session from all others: a file may hold several.
pub type Key = (PathBuf, String);

/// What was found.
#[derive(Debug, Default)]
pub struct Answer {
    pub question: Question,
    pub rows: Vec<Row>,
    /// Sessions in all.
    pub total: u64,
    /// `false`: at most so many.
    pub total_exact: bool,
    /// Whether there are more rows than were asked for.
    pub has_more: bool,
    /// Whether all that is on disk is in it.
    pub complete: bool,
    /// Sessions of the index, whatever was asked.
    pub all: u64,
    /// Bytes that are not indexed yet.
    pub unindexed: u64,
    pub notes: Vec<String>,
    /// Where there is no session at all: what lies on this machine that is not read, what helps,
    /// and where was looked.
    pub not_found: Vec<String>,
    /// The filters of the query, as they were typed.
    pub filters: Vec<String>,
    pub took: Duration,
    /// Found by titles alone: the whole answer follows.
    pub is_provisional: bool,
}

/// What is to be read of a session.
#[derive(Debug, Clone)]
pub struct PreviewRequest {
    pub number: u64,
    pub session: SessionRow,
    /// The branch on which this entry stands; `None`: the active one.
    pub through: Option<String>,
    pub part: PreviewPart,
    /// What stands out.
    pub query: String,
    /// What was found in the session, the best first.
    pub hits: Vec<Hit>,
    /// The room for it.
    pub size: Size,
}

/// Which part of a session is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewPart {
    /// What is around the entry through which the branch goes; the end where there is none.
    Through,
    /// The beginning of the branch.
    Start,
    /// Its end.
    End,
    /// What is around an entry, by its number in the session.
    Place(u32),
    /// These entries of the branch.
    Entries(Range<usize>),
    /// What is around the next entry with a match.
    Match { from: usize, direction: Direction },
    /// The tree.
    Tree(TreeFilter),
}

/// What a session says, ready to be drawn.
#[derive(Debug)]
pub struct Preview {
    pub number: u64,
    pub content: PreviewContent,
}

/// What was read of a session.
#[derive(Debug)]
pub enum PreviewContent {
    /// A part of a branch with so many entries, and what is looked at in it: a line of the entry at
    /// this position.
    Opened {
        length: usize,
        blocks: Vec<Block>,
        position: usize,
        line: usize,
        /// Whether it is a first look, from what is near in the file: the whole answer follows.
        is_provisional: bool,
    },
    /// What comes before that, or behind it.
    More(Vec<Block>),
    /// There is no further match.
    NoMatch,
    Tree(Vec<TreeLine>),
    /// Nothing, for this reason.
    Failed(String),
}

impl PreviewContent {
    /// Whether the whole answer follows.
    pub fn is_first_look(&self) -> bool {
        let Self::Opened { is_provisional, .. } = self else {
            return false;
        };
        *is_provisional
    }
}
