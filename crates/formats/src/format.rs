//! How are the session files of an agent read? By pure functions from bytes to facts; no I/O here.
//!
//! A [`Format`] is a way to read session files; an [`Agent`](crate::Agent) is a program that writes
//! such files at places of its own. pi and indusagi write files of one family, and each reads them
//! in its own [dialect](crate::pi::Dialect).

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use crate::about::{About, Shape, Structure};
use crate::model::{Facts, Fold, LeafRule, Passage, Placement, SessionFacts};
use crate::names::Names;

/// What the file system knows of a source when its session is folded.
#[derive(Debug, Clone)]
pub struct SourceFacts<'a> {
    /// Path below the root.
    pub relative: &'a Path,
    /// Modification time in ms.
    pub mtime_ms: i64,
    /// The fold over the source's entries.
    pub fold: &'a Fold,
    /// Which part of the session it is.
    pub part: crate::model::SourcePart,
    /// From [`Placement::Source`].
    pub unlisted: Option<&'a str>,
    /// Bytes of this source that are no entry (torn lines, garbage): `(count, first reason)`.
    pub problems: (u64, Option<&'a str>),
}

/// How the session files of an agent are read.
pub trait Format: Debug + Send + Sync {
    /// What is so of all its files.
    fn about(&self) -> About;
    /// Whether an entry of this [kind](Facts::kind) is of a type that some version of the agent is
    /// known to write, whatever is read of it. A format that cannot tell says yes.
    fn knows(&self, kind: &str) -> bool {
        let _ = kind;
        true
    }
    /// How the source at `path` is cut, where a session's files are not all alike.
    fn shape_of(&self, path: &Path) -> Shape {
        let _ = path;
        self.about().shape
    }
    /// The file whose text is the working directory of the session at `path`, for agents that
    /// write it nowhere else.
    fn cwd_beside(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }
    /// The files that list working directories, one of which may be that of the session at `path`
    /// where the file of [`cwd_beside`](Format::cwd_beside) says nothing, and by what it is known
    /// among them. They may lie above every root.
    fn cwd_lists(&self, path: &Path) -> Option<(Vec<PathBuf>, String)> {
        let _ = path;
        None
    }
    /// The working directories that such a file lists, by that. `None`: it is not whole.
    fn cwds_in_list(&self, list: &[u8]) -> Option<BTreeMap<String, String>> {
        let _ = list;
        None
    }
    /// The folder of the sources to which the file at `path` is that of
    /// [`cwd_beside`](Format::cwd_beside).
    fn folder_beside(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }
    /// The file that names the sessions beside the source at `path`, and what it calls that
    /// session, for agents that write their names nowhere else.
    fn names_beside(&self, path: &Path) -> Option<(PathBuf, String)> {
        let _ = path;
        None
    }
    /// What that file says of each session, by what it calls it: an object as JSON, which is kept
    /// in [`Fold::named_beside`]; of a session that it does not name, an empty one. `None`: it
    /// cannot be read.
    fn names_in(&self, names: &[u8]) -> Option<BTreeMap<String, String>> {
        let _ = names;
        None
    }
    /// The file of another session, whose first line says more of what was said of the source at
    /// `path`.
    fn names_depend_on(&self, path: &Path, said: &str) -> Option<PathBuf> {
        let _ = (path, said);
        None
    }
    /// What is said of a session, with what that line says.
    fn names_with(&self, said: &str, line: &[u8]) -> String {
        let _ = line;
        said.to_owned()
    }
    /// The folder in which the agent keeps what belongs to the session of this file alone (Claude
    /// Code: the one beside it that is called like it).
    fn folder_of(&self, main: &Path) -> Option<PathBuf> {
        let _ = main;
        None
    }
    /// How the entries of a session of this version hang together.
    fn structure_of(&self, version: Option<i64>) -> Structure {
        let _ = version;
        self.about().structure
    }
    /// How it is known where a session stands of which [`SessionFacts::own`] says this.
    fn leaf_rule(&self, own: Option<&serde_json::Value>) -> LeafRule {
        let _ = own;
        LeafRule::OfEntries
    }
    /// What the file at `relative` (below a root; `flat` when the root is one folder for all
    /// projects) is.
    fn place(&self, relative: &Path, flat: bool) -> Placement;
    /// The key of the session to which the rows under `key` in the database at `database` (below a
    /// root) belong, where files belong to it too; `None`: it is in that database alone.
    fn place_within(&self, database: &Path, key: &str) -> Option<String> {
        let _ = (database, key);
        None
    }
    /// The files beside the root at `root` that say what its sessions are called, where its agent
    /// has such files. What one of them says of a session is a source of the session at the place
    /// that is the session's id; of others it says nothing.
    fn names(&self, root: &Path) -> Option<&'static Names> {
        let _ = root;
        None
    }
    /// Why nothing below the folder at `folder` (below a root) belongs to a session; `None` if
    /// something may. Such a folder is not listed.
    fn leaves_out(&self, folder: &Path) -> Option<&'static str> {
        let _ = folder;
        None
    }
    /// Where the records of the source at `path` are whose shape is [`Shape::Elements`], in order
    /// and without overlap; what lies between them holds nothing. A record need not be JSON by
    /// itself: what stands around the elements of an array is given to [`Format::facts_at`] as it
    /// stands. What closes list and document (`]` and `}`) may be left out behind the last one.
    /// `None`: the document is not of a known shape, and is one problem.
    fn elements(&self, path: &Path, document: &[u8]) -> Option<Vec<Range<usize>>> {
        let _ = path;
        Some(std::iter::once(0..document.len()).collect())
    }
    /// How many bytes of a file that begins so are passed over before its first line begins.
    fn passed_over(&self, beginning: &[u8]) -> usize {
        let _ = beginning;
        0
    }
    /// The facts of one record. `record` is one JSON value that `JSON.parse` accepts.
    fn facts(&self, record: &[u8]) -> Facts;
    /// The facts of one record in the source at `path`, for formats whose file names say what a
    /// record is.
    fn facts_at(&self, path: &Path, record: &[u8]) -> Facts {
        let _ = path;
        self.facts(record)
    }
    /// The facts of the only record of a line, where reading them also proves that the line holds
    /// nothing but that record and white space. `None`: not known, and the line is looked at
    /// closely. Never an answer that [`Format::facts`] would not give; a format may leave this out.
    fn facts_of_line(&self, line: &[u8]) -> Option<Facts> {
        let _ = line;
        None
    }
    /// The same of a line in the source at `path`: never an answer that [`Format::facts_at`] would
    /// not give.
    fn facts_of_line_at(&self, path: &Path, line: &[u8]) -> Option<Facts> {
        let _ = path;
        self.facts_of_line(line)
    }
    /// Notes what such a line that is looked at closely does to its session, whatever is in it: the
    /// agent may not get beyond it. Called before its records are folded.
    fn fold_line(&self, fold: &mut Fold, line: &[u8]) {
        let _ = (fold, line);
    }
    /// Whether the first line of a session in a database, which is about the session itself, says
    /// of it what it said when `fold` was saved, as far as the lines behind it depend on that. Then
    /// entries of equal lines are equal.
    fn says_the_same(&self, fold: &Fold, facts: &Facts) -> bool {
        let _ = (fold, facts);
        false
    }
    /// Make a fold over the first lines of a session in a database what it would be with this first
    /// line. `false`: it says more than when the fold was saved, or other things.
    fn renews(&self, fold: &mut Fold, facts: &Facts) -> bool {
        let _ = (fold, facts);
        false
    }
    /// Where the entries are in a record of a line, where one record holds several of which only
    /// some are new: in order and without overlap, each given to [`Format::facts_at`] as it stands.
    /// None of them: the record is one entry. Called after [`Format::fold_line`], before any of
    /// them is folded.
    fn entries_within(&self, fold: &Fold, record: &[u8]) -> Vec<Range<usize>> {
        let _ = (fold, record);
        Vec::new()
    }
    /// The working directory that a record of the source at `path` proves, for agents that write it
    /// nowhere; asked of each record in file order. It breaks with `None` where it looks at no more
    /// of them. What it looked at is noted in the fold, so that reading in ten pieces still gives
    /// what reading in one gives.
    fn prove_cwd(
        &self,
        path: &Path,
        fold: &mut Fold,
        record: &[u8],
    ) -> ControlFlow<Option<String>> {
        let _ = (path, fold, record);
        ControlFlow::Break(None)
    }
    /// Adds to the facts of an entry what follows from the entries before it in its source, for
    /// agents whose files are a log of changes: from which entry it goes on, and what of it was
    /// said before. Called before [`Format::fold`], with the fold of all that stands before, in
    /// which it may note what it has to know of this one later. So reading in ten pieces still
    /// gives what reading in one gives.
    fn relate(&self, fold: &mut Fold, record: &[u8], facts: &mut Facts) {
        let _ = (fold, record, facts);
    }
    /// All searchable text of one record, at most one passage per class. Where something is left
    /// out of a text of [`Class::Output`](crate::model::Class::Output), the piece ends and another
    /// one begins: whether two words stand side by side there is asked of the record's bytes.
    fn passages(&self, record: &[u8]) -> Vec<Passage>;
    /// All searchable text of one record in the source at `path`, at most one passage per class.
    fn passages_at(&self, path: &Path, record: &[u8]) -> Vec<Passage> {
        let _ = path;
        self.passages(record)
    }
    /// What the agent tells the model in its own name, system prompts and tool schemas, of a record
    /// whose facts say [`Facts::has_prompt`]. No part of its passages: most sessions repeat it word
    /// for word.
    fn prompts_at(&self, path: &Path, record: &[u8]) -> Vec<String> {
        let _ = (path, record);
        Vec::new()
    }
    /// The record's share of what the agent's own list offers as all text of a session (pi:
    /// `allMessagesText`); `None` when it has none.
    fn listed_text(&self, record: &[u8]) -> Option<String> {
        let _ = record;
        None
    }
    /// Add one entry to the fold of its source. Called in file order.
    fn fold(&self, fold: &mut Fold, facts: &Facts);
    /// What the session is, from all its sources in path order.
    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts;
}
