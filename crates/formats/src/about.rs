//! What is so of all files of a format? Plain data, which each format names once.

use crate::database::Database;

/// How a source is cut into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One JSON value per line.
    Lines,
    /// One JSON value per file.
    Document,
    /// Text that is no record: the whole file is one entry, whatever its bytes.
    Text,
    /// One JSON value per file that holds many records:
    /// [`Format::elements`](crate::Format::elements) says where they are.
    Elements,
}

/// How the entries of a session hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Structure {
    /// One line in file order, each going on from the one before, whatever ids and parents they
    /// name. Those of [many sources](About::has_many_sources) are shown by time, each followed by
    /// those that name it as their parent.
    Line,
    /// A tree of branches: each goes on from the one that it names. Where none has an id, a line.
    #[default]
    Tree,
    /// A tree whose links are not all meant. Each answer of a tool hangs on the line of its own
    /// call, beside the next call of the same answer of the model, and stands where its call
    /// stands: only something else than such answers makes a branch. The agent also loses entries,
    /// and names others as their own descendants, though nobody branched there: what names a
    /// parent that is in no entry goes on from the entry before it, and so does the first of a
    /// cycle.
    LooseTree,
    /// A tree whose entries are written again: one with the id of an earlier one is that one as it
    /// is now, and is shown in the earlier one's place.
    RewrittenTree,
}

/// The time by which an agent's own list is sorted, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListOrder {
    /// When the session was last modified, as the agent says.
    Modified,
    /// When it was created; a session without that time comes last.
    Created,
}

/// How the agent changes a file it has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteMode {
    /// Grows at the end: growth is proven by the tail before it.
    Append,
    /// May change anywhere at any time: every change is proven by all blocks.
    Overwrite,
    /// Replaced as a whole by rename.
    Rename,
}

/// Kinds of entries whose text is a name in the formats that are known.
const NAMES: [&str; 10] = [
    "session_info",
    "label",
    "title",
    "custom-title",
    "custom_title",
    "ai-title",
    "summary",
    "session",
    "session_nodes",
    "session_windows",
];

/// What is so of all files of a [`Format`](crate::Format), whatever is in them. A format names what
/// it has: `About { revision: 1, ..About::of("notebook") }`.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its name, as stored and as typed in `--root NAME:DIR`.
    pub name: &'static str,
    /// The name of the format whose files these are too: in a folder both find the same sessions.
    pub family: &'static str,
    /// Raised when the same bytes yield other facts or passages: sources of this format are read
    /// again.
    pub revision: u32,
    /// How sources are cut into records, where [`Format::shape_of`](crate::Format::shape_of) does
    /// not say otherwise.
    pub shape: Shape,
    /// How the agent writes.
    pub write_mode: WriteMode,
    /// The [kinds](crate::model::Facts::kind) of entries whose prose is what the session is called,
    /// or a label: searches rank that before everything else.
    pub names: &'static [&'static str],
    /// The [kinds](crate::model::Facts::kind) of entries of which a file may hold nothing else, as
    /// what an agent notes of sessions: it has a known shape, though it says neither when nor where
    /// it was written.
    pub kinds_that_stand_alone: &'static [&'static str],
    /// How the entries of a session hang together, where
    /// [`Format::structure_of`](crate::Format::structure_of) does not say otherwise.
    pub structure: Structure,
    /// Whether a session may be in several files of which some grow line by line: then a last line
    /// that is not whole yet does not count in the session's row.
    pub has_several_files: bool,
    /// Whether the agent passes over NUL bytes before a line, so that it sees what stands behind
    /// them: a file system that went down leaves them.
    pub passes_over_nuls: bool,
    /// Whether sessions are of projects, which the agent records as `projectRoot` beside their
    /// working directories.
    pub has_projects: bool,
    /// How the agent's own list is sorted.
    pub list_order: ListOrder,
    /// The database of the agent's that holds many sessions, at the paths that
    /// [`Format::place`](crate::Format::place) calls one. A session in it is a source whose path is
    /// the database's with the session's key below it, of one line for each row.
    pub database: Option<&'static Database>,
    /// The document that the agent itself exports of a session in the database with these lines of
    /// rows, where it exports any; of a session of which it is not known how, `None`.
    pub exported: Option<fn(rows: &str) -> Option<String>>,
}

impl About {
    /// What is so of a format of that name of which nothing else is said: a tree of lines, in files
    /// that may change anywhere.
    pub const fn of(name: &'static str) -> Self {
        Self {
            name,
            family: name,
            revision: 0,
            shape: Shape::Lines,
            write_mode: WriteMode::Overwrite,
            names: &NAMES,
            kinds_that_stand_alone: &[],
            structure: Structure::Tree,
            has_several_files: false,
            passes_over_nuls: false,
            has_projects: false,
            list_order: ListOrder::Modified,
            database: None,
            exported: None,
        }
    }

    /// Whether the text of an entry of this kind is a name: see [`names`](About::names).
    pub fn is_name(&self, kind: &str) -> bool {
        self.names.contains(&kind)
    }

    /// Whether a session is so many small files that its row is made once all of them are in.
    pub const fn has_many_sources(&self) -> bool {
        matches!(self.shape, Shape::Document)
    }
}
