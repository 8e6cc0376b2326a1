//! How does a session branch? Its entries as a tree, as pi's `getTree` orders it, without
//! recursion.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::masked::{mask_labels, masked_name};
use super::outline::{Outline, OutlineQuery, Without};
use super::show::{Reader, address};
use crate::catalogue::Catalogue;
use crate::catalogue::answered::CallPlace;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::read::StoredSession;
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::model::{
    Cancel, ChildSession, Class, Mask, SCHEMA_VERSION, SessionRow, Tree, TreeRow, iso,
};
use crate::query::Snapshot;

/// Which kinds of entries a tree shows: the filters of pi's own tree view, by its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TreeFilter {
    /// Without labels, names, settings and custom entries.
    #[default]
    Default,
    /// Like `Default`, without what tools were told and gave back.
    NoTools,
    /// User messages only.
    UserOnly,
    /// Labelled entries only.
    LabeledOnly,
    /// Every entry.
    All,
}

impl TreeFilter {
    /// Whether it leaves out entries of this kind.
    pub fn hides(self, kind: &str) -> bool {
        matches!(self, Self::Default | Self::NoTools) && SETTINGS.contains(&kind)
    }
}

/// Kinds of entries that set or note something: nobody said, ran or printed them.
const SETTINGS: [&str; 15] = [
    "label",
    "custom",
    "model_change",
    "thinking_level_change",
    "session_info",
    "context_edit",
    "usage",
    "context",
    "tools",
    "step-start",
    "step-finish",
    "progress",
    "turn_duration",
    "stop_hook_summary",
    "microcompact_boundary",
];

/// Which entries a tree shows, and how.
#[derive(Clone, Default)]
pub struct TreeScope<'a> {
    /// Which entries.
    pub filter: TreeFilter,
    /// Makes parts of what is shown unreadable, each before it is cut from a longer text.
    pub mask: Option<Mask>,
    /// Asked of each row, by its [`TreeRow::ordinal`], before it is read: whether it is left out.
    pub without: Option<&'a dyn Fn(u32) -> bool>,
    /// Ends it from another thread, with [`Error::Cancelled`]: keep a clone of it.
    pub cancel: Cancel,
}

impl fmt::Debug for TreeScope<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("TreeScope")
            .field("filter", &self.filter)
            .field("mask", &self.mask)
            .field("without", &self.without.is_some())
            .field("cancelled", &self.cancel.is_cancelled())
            .finish()
    }
}

impl TreeScope<'_> {
    /// Whether somebody still wants the tree.
    fn go_on(&self) -> Result<(), Error> {
        match self.cancel.is_cancelled() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// Whether this row is left out, where somebody still wants the others.
    fn leaves_out(&self, row: u32) -> Result<bool, Error> {
        self.go_on()?;
        Ok(self.without.is_some_and(|without| without(row)))
    }
}

impl From<TreeFilter> for TreeScope<'_> {
    fn from(filter: TreeFilter) -> Self {
        TreeScope {
            filter,
            ..TreeScope::default()
        }
    }
}

/// Characters of text shown a row.
const TEXT: usize = 200;

/// A tree piece by piece, in this order: a session may have more entries than fit into memory with
/// their text.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and never kept")]
pub enum TreePart<'a> {
    /// All but the rows.
    Head(&'a Tree),
    /// Above each row the row it hangs below, by number from 0; a row comes after the one it hangs
    /// below.
    Parents(&'a [Option<u32>]),
    /// The next row.
    Row(TreeRow),
}

/// A row of the tree before anything of it is read.
struct TreePosition {
    at: u32,
    parent: Option<u32>,
    depth: u32,
}

impl Snapshot<'_> {
    /// The session's tree: roots in file order, children by time (ties in file order), parents
    /// before children. Entries in a cycle hang below their first one in the file, so nothing is
    /// hidden.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the session is not in the index; [`Error::Cancelled`].
    pub fn tree<'s>(
        &self,
        session: &SessionRow,
        scope: impl Into<TreeScope<'s>>,
    ) -> Result<Tree, Error> {
        let (mut tree, mut rows) = (None, Vec::new());
        self.tree_each(session, scope, &mut |part| {
            match part {
                TreePart::Head(head) => tree = Some(head.clone()),
                TreePart::Parents(_) => {}
                TreePart::Row(row) => rows.push(row),
            }
            Ok::<(), Error>(())
        })?;
        let no_session = || self.not_found(&session.id);
        Ok(Tree {
            entries: rows,
            complete: self.is_complete(),
            changed_files: self.changed_files(),
            ..tree.ok_or_else(no_session)?
        })
    }

    /// Hands the tree to `each` piece by piece: the head, the parents, then the rows. An error of
    /// `each` ends it.
    ///
    /// # Errors
    /// As [`Snapshot::tree`]; that the session is not there before the first piece.
    pub fn tree_each<'s, E: From<Error>>(
        &self,
        session: &SessionRow,
        scope: impl Into<TreeScope<'s>>,
        each: &mut dyn FnMut(TreePart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let scope = scope.into();
        let (filter, mask) = (scope.filter, scope.mask.as_ref());
        let (catalogue, mut stored) = (self.catalogue, self.stored(session)?);
        let ask = OutlineQuery {
            without: Without::Beside,
            find: &[],
            inherited: true,
        };
        let outline = self.outline(&stored, ask)?;
        let mut labels = current_labels(catalogue.labels(stored.session).map_err(Error::from)?);
        if let Some(mask) = mask {
            stored.row.mask(mask);
            mask_labels(&mut labels, mask);
        }
        let active = outline.active_branch();
        let leaf = active.first().copied();
        let mut on_branch = vec![false; outline.keys.len()];
        active.iter().for_each(|at| on_branch[*at] = true);
        drop(active);
        let mut reader = Reader::new(self);
        let places = self.places(&outline, &scope, leaf, &labels, &mut reader)?;
        let mut reader = reader.masking(mask);
        let mut answered = AnsweredCalls::new(self.catalogue, filter, mask);

        each(TreePart::Head(&self.tree_head(stored, &outline)?))?;
        let parents = places.iter().map(|place| place.parent);
        each(TreePart::Parents(&parents.collect::<Vec<_>>()))?;
        let mut last = (None, String::new());
        for (number, place) in (0..).zip(&places) {
            let at = place.at as usize;
            if scope.leaves_out(place.at)? {
                continue;
            }
            let Some(entry) = catalogue.entry(outline.keys[at]).map_err(Error::from)? else {
                continue;
            };
            let parent = match place.parent {
                // In a chain, the row before.
                Some(above) if last.0 == Some(above) => Some(last.1),
                Some(above) => catalogue
                    .entry(outline.keys[places[above as usize].at as usize])
                    .map_err(Error::from)?
                    .map(|entry| address(&entry)),
                None => None,
            };
            let id = address(&entry);
            last = (Some(number), id.clone());
            let text = reader.text(&entry)?.unwrap_or_default();
            each(TreePart::Row(TreeRow {
                parent,
                depth: place.depth,
                label: label_of(&entry, &labels),
                on_active_branch: on_branch[at],
                is_leaf: Some(at) == leaf,
                text: answered
                    .before(entry.key, one_line(&text, entry.role.as_deref(), filter).0)?,
                ordinal: place.at,
                inherited_from: outline.lineage.origin(entry.key),
                ..row_of(entry, id, mask)
            }))?;
        }
        Ok(())
    }

    /// The rows that are shown, and which hangs below which.
    fn places(
        &self,
        outline: &Outline,
        scope: &TreeScope<'_>,
        leaf: Option<usize>,
        labels: &HashMap<String, String>,
        reader: &mut Reader<'_>,
    ) -> Result<Vec<TreePosition>, Error> {
        let filter = scope.filter;
        let mut places: Vec<TreePosition> = Vec::new();
        // The nearest row at or above each entry: what is not shown passes on the one above it.
        let mut row_of: Vec<Option<u32>> = vec![None; outline.keys.len()];
        for (at, above) in outline.in_order() {
            scope.go_on()?;
            let above = above.and_then(|above| row_of[above as usize]);
            row_of[at as usize] = above;
            let at_leaf = Some(at as usize) == leaf;
            let Some(entry) = self.catalogue.entry(outline.keys[at as usize])? else {
                continue;
            };
            let labelled = label_of(&entry, labels).is_some();
            if !(at_leaf && filter == TreeFilter::Default || shows(filter, &entry, labelled)) {
                continue;
            }
            // Like pi: an assistant's entry of tool calls alone is no row of its own.
            if filter != TreeFilter::All
                && entry.role.as_deref() == Some("assistant")
                && entry.flags & flag::ERROR == 0
                && !at_leaf
                && !one_line(&reader.text(&entry)?.unwrap_or_default(), None, filter).1
            {
                continue;
            }
            row_of[at as usize] = Some(places.len() as u32);
            places.push(TreePosition {
                at,
                parent: above,
                depth: above.map_or(0, |above| places[above as usize].depth + 1),
            });
        }
        Ok(places)
    }

    /// The sessions that come from this one: its forks and subagents, the oldest first. None of a
    /// session that is not in the index.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn children(&self, session: &SessionRow) -> Result<Vec<ChildSession>, Error> {
        match self.stored(session) {
            Err(Error::NotFound { .. }) => Ok(Vec::new()),
            stored => Ok(self.catalogue.child_sessions(stored?.session)?),
        }
    }

    /// The ids of the sessions that one with this id has started to work for it, and of those that
    /// they have.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn subagents_of(&self, id: &str) -> Result<Vec<String>, Error> {
        Ok(self.catalogue.subagents_of(id)?)
    }

    /// All of a tree but its rows.
    fn tree_head(&self, stored: StoredSession, outline: &Outline) -> Result<Tree, Error> {
        let catalogue = self.catalogue;
        let is_subagent = catalogue.is_subagent(stored.session)?;
        let above = self.above(&stored, is_subagent)?;
        let (started_by, ancestors) = match is_subagent {
            true => (above, Vec::new()),
            false => (Vec::new(), above),
        };
        let children = catalogue.child_sessions(stored.session)?.into_iter();
        let (subagents, forks): (Vec<_>, Vec<_>) = children.partition(|child| child.is_subagent);
        let path = |child: ChildSession| child.path.to_string_lossy().into_owned();
        let paths = |children: Vec<ChildSession>| children.into_iter().map(path).collect();
        Ok(Tree {
            schema_version: SCHEMA_VERSION,
            session: stored.row,
            started_by,
            ancestors,
            forks: paths(forks),
            subagents: paths(subagents),
            entries: Vec::new(),
            lost: outline.lineage.lost.clone(),
            complete: self.is_complete(),
            changed_files: self.changed_files(),
        })
    }

    /// Paths of the sessions that this one comes from, nearest first: of a subagent those that
    /// started it, of another those that it was forked from.
    fn above(&self, stored: &StoredSession, is_subagent: bool) -> Result<Vec<String>, Error> {
        let catalogue = self.catalogue;
        let (mut all, mut seen) = (Vec::new(), vec![stored.session]);
        let mut parent = catalogue.parent_of(stored.session)?;
        while let Some(named) = parent {
            let Some((session, path)) = named.found else {
                // It is not there: what it is called is all that is known of it.
                all.push(named.written);
                break;
            };
            if seen.contains(&session) {
                break;
            }
            all.push(path);
            seen.push(session);
            let is_of_the_kind = catalogue.is_subagent(session)? == is_subagent;
            parent = catalogue.parent_of(session)?.filter(|_| is_of_the_kind);
        }
        Ok(all)
    }
}

fn label_of(entry: &StoredEntry, labels: &HashMap<String, String>) -> Option<String> {
    entry.id.as_ref().and_then(|id| labels.get(id)).cloned()
}

fn shows(filter: TreeFilter, entry: &StoredEntry, labelled: bool) -> bool {
    let role = entry.role.as_deref();
    // Of what Claude Code attaches to a prompt only that has a role which somebody typed.
    let is_setting =
        SETTINGS.contains(&entry.kind.as_str()) || role.is_none() && entry.kind == "attachment";
    match filter {
        TreeFilter::All => true,
        _ if entry.flags & flag::SILENT != 0 => false,
        TreeFilter::LabeledOnly => labelled,
        TreeFilter::UserOnly => role == Some("user"),
        TreeFilter::Default => !is_setting,
        TreeFilter::NoTools => {
            !is_setting
                && role != Some("toolResult")
                && !matches!(entry.kind.as_str(), "tool_result" | "tool" | "artifact")
        }
    }
}

/// Last label of each target; an empty one clears.
pub(super) fn current_labels(all: Vec<(String, Option<String>)>) -> HashMap<String, String> {
    let mut labels = HashMap::new();
    for (target, text) in all {
        match text.filter(|t| !t.is_empty()) {
            Some(text) => labels.insert(target, text),
            None => labels.remove(&target),
        };
    }
    labels
}

/// What an entry says, on one line, and whether that is more than what tools were told and printed.
fn one_line(
    text: &[(Class, Vec<String>)],
    role: Option<&str>,
    filter: TreeFilter,
) -> (String, bool) {
    let has_prose = text.iter().any(|(class, pieces)| {
        *class == Class::Prose && pieces.iter().any(|p| !p.trim().is_empty())
    });
    let mut line = String::new();
    // Some agents write what a tool gave back into the entry that called it. What a person ran is
    // no tool's.
    let hides_tools = filter == TreeFilter::NoTools && role != Some("bashExecution");
    let is_shown = |class: Class| !hides_tools || class == Class::Prose;
    'all: for (_, pieces) in text.iter().filter(|(class, _)| is_shown(*class)) {
        for word in pieces.iter().flat_map(|p| p.split_whitespace()) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            if line.len() >= TEXT {
                let cut = line
                    .char_indices()
                    .nth(TEXT)
                    .map_or(line.len(), |(at, _)| at);
                line.truncate(cut);
                break 'all;
            }
        }
    }
    (line, has_prose)
}

/// Keys of entries whose calls are looked up together.
const BLOCK: i64 = 1024;
/// Characters of what a call is about that are shown.
const SUBJECT: usize = 80;

/// The calls that entries answer, those of neighbouring entries at once.
struct AnsweredCalls<'a> {
    catalogue: &'a Catalogue,
    mask: Option<&'a Mask>,
    /// Whether what tools gave back is shown.
    are_shown: bool,
    block: Option<i64>,
    calls: HashMap<i64, Vec<CallPlace>>,
}

impl<'a> AnsweredCalls<'a> {
    fn new(catalogue: &'a Catalogue, filter: TreeFilter, mask: Option<&'a Mask>) -> Self {
        Self {
            catalogue,
            mask,
            are_shown: !matches!(filter, TreeFilter::NoTools | TreeFilter::UserOnly),
            block: None,
            calls: HashMap::new(),
        }
    }

    /// Like pi: what a row says, behind the calls that its entry answers.
    fn before(&mut self, key: i64, text: String) -> Result<String, Error> {
        if !self.are_shown {
            return Ok(text);
        }
        let block = key.div_euclid(BLOCK);
        if self.block.replace(block) != Some(block) {
            self.calls.clear();
            let (first, last) = (block * BLOCK, block * BLOCK + BLOCK - 1);
            for (answer, call) in self.catalogue.calls_answered(first, last)? {
                self.calls.entry(answer).or_default().push(call);
            }
        }
        let (mut line, mut rest) = (String::new(), text.as_str());
        for at in self.calls.get(&key).into_iter().flatten() {
            let (tool, subject) = self.catalogue.call_at(*at)?;
            let masked = |text: String| self.mask.and_then(|mask| mask.of(&text)).unwrap_or(text);
            // Some agents write the name of the tool before what it gave back.
            if let Some(after) = tool.as_deref().and_then(|tool| rest.strip_prefix(tool))
                && (after.is_empty() || after.starts_with(' '))
            {
                rest = after.trim_start();
            }
            let subject = subject.map(|subject| beginning(&masked(subject)));
            line.push_str(&match (tool.map(masked), subject) {
                (Some(tool), Some(subject)) => format!("[{tool}: {subject}] "),
                (Some(one), None) | (None, Some(one)) => format!("[{one}] "),
                (None, None) => continue,
            });
            if line.len() >= TEXT {
                break;
            }
        }
        line.push_str(rest);
        if let Some((end, _)) = line.char_indices().nth(TEXT) {
            line.truncate(end);
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

/// The beginning of what a call is about, on one line.
fn beginning(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(SUBJECT) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

/// What an entry says of itself, apart from the others of its session.
fn row_of(entry: StoredEntry, id: String, mask: Option<&Mask>) -> TreeRow {
    TreeRow {
        id,
        parent: None,
        depth: 0,
        label: None,
        time: entry.time_ms.and_then(iso),
        time_ms: entry.time_ms,
        on_active_branch: false,
        is_leaf: false,
        text: String::new(),
        is_error: entry.flags & flag::ERROR != 0,
        has_image: entry.flags & flag::IMAGE != 0,
        agent_sees: entry.agent_sees,
        ordinal: 0,
        inherited_from: None,
        kind: masked_name(entry.kind, mask),
        role: entry.role.map(|role| masked_name(role, mask)),
    }
}
