//! What do the entries of a session make together: which is meant by an id, the way to the root,
//! the tree, labels, the name?

use std::cmp::Ordering;
use std::collections::HashMap;

use bytestring::ByteString;

use super::entry::Entry;
use super::value::Value;
use sessionary_formats::model::{Leaf, sort_siblings};
use sessionary_formats::pi::Dialect;

/// Entries in file order, found by id. An id that several entries have means the last of them.
#[derive(Debug)]
pub(super) struct Log {
    dialect: Dialect,
    entries: Vec<Entry>,
    /// Ids and places of entries, up to four billion of them.
    by_id: HashMap<ByteString, u32>,
    labels: HashMap<Box<str>, LabelOf>,
    /// Labels set so far, those taken away too: their order.
    labelled: u64,
}

/// The label that an entry has now.
#[derive(Debug)]
pub(super) struct LabelOf {
    pub text: String,
    /// The text in JSON, as it is written.
    pub json: Box<str>,
    /// When it was set, as the label entry says.
    pub timestamp: Option<Box<str>>,
    /// That in JSON, as it is written.
    pub timestamp_json: Option<Box<str>>,
    /// When it was set first since it was last taken away, among all labels.
    order: u64,
}

/// A session's entries as a tree. Nodes stand in file order and name each other by position;
/// nothing in it recurses.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Tree<'a> {
    /// One node an entry, in file order.
    pub nodes: Vec<TreeNode<'a>>,
    /// The roots, in file order: entries without a parent, those whose parent is not there, and of
    /// every cycle the first.
    pub roots: Vec<usize>,
}

/// One entry of a [`Tree`] (pi: `SessionTreeNode`).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TreeNode<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// Its label.
    pub label: Option<&'a str>,
    /// When the label was set, as the label entry says.
    pub label_timestamp: Option<&'a str>,
    /// The entries below it, by time; ties in file order.
    pub children: Vec<usize>,
}

impl<'a> Tree<'a> {
    /// Every node once with its depth, parents before children: `(depth, node)`.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &TreeNode<'a>)> {
        let mut open: Vec<(usize, usize)> = self.roots.iter().rev().map(|at| (0, *at)).collect();
        std::iter::from_fn(move || {
            let (depth, at) = open.pop()?;
            let node = &self.nodes[at];
            open.extend(node.children.iter().rev().map(|child| (depth + 1, *child)));
            Some((depth, node))
        })
    }
}

impl Log {
    /// Of entries in file order.
    pub(super) fn of(dialect: Dialect, entries: Vec<Entry>) -> Self {
        let mut log = Self {
            dialect,
            entries: Vec::new(),
            by_id: HashMap::with_capacity(entries.len()),
            labels: HashMap::new(),
            labelled: 0,
        };
        for (at, entry) in entries.iter().enumerate() {
            log.set_label(entry);
            log.note_id(entry, at);
        }
        Self { entries, ..log }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.set_label(&entry);
        self.note_id(&entry, self.entries.len());
        self.entries.push(entry);
    }

    /// Notes where the entry stands: what had its id before has it no more.
    fn note_id(&mut self, entry: &Entry, at: usize) {
        if let (Some(id), Ok(at)) = (entry.shared_id(), u32::try_from(at)) {
            self.by_id.insert(id, at);
        }
    }

    /// Notes the label that a label entry sets or takes away.
    fn set_label(&mut self, entry: &Entry) {
        if entry.kind() != "label" {
            return;
        }
        let Some(target) = entry.member("targetId").and_then(String::read) else {
            return;
        };
        let json = entry.member("label").unwrap_or_default();
        let Some(text) = String::read(json).filter(|label| !label.is_empty()) else {
            self.labels.remove(&*target);
            return;
        };
        let order = match self.labels.get(&*target) {
            Some(label) => label.order,
            None => {
                self.labelled += 1;
                self.labelled
            }
        };
        let label = LabelOf {
            text,
            json: json.into(),
            timestamp: entry.timestamp().map(Into::into),
            timestamp_json: entry.member("timestamp").map(Into::into),
            order,
        };
        self.labels.insert(target.into(), label);
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn entry(&self, id: &str) -> Option<&Entry> {
        self.place_of(id).map(|at| &self.entries[at])
    }

    /// The id of the [leaf](Leaf).
    pub(super) fn leaf_id(&self) -> Option<&str> {
        let mut leaf = Leaf::default();
        for entry in &self.entries {
            leaf.note(entry, entry.id().is_some());
        }
        leaf.entry().and_then(Entry::id)
    }

    /// From an entry up to its root, root first. A cycle ends before its first repeat.
    pub(super) fn branch(&self, id: &str) -> Vec<&Entry> {
        let mut seen = vec![false; self.entries.len()];
        let mut path = Vec::new();
        let mut next = self.place_of(id);
        while let Some(at) = next {
            if std::mem::replace(&mut seen[at], true) {
                break;
            }
            path.push(&self.entries[at]);
            next = self.parent_of(at);
        }
        path.reverse();
        path
    }

    fn place_of(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).map(|at| *at as usize)
    }

    fn parent_of(&self, at: usize) -> Option<usize> {
        self.place_of(self.entries[at].parent_id()?)
    }

    /// The entries that name this one as their parent, in file order; without an id those that name
    /// none.
    pub(super) fn children<'a>(&'a self, of: Option<&'a str>) -> impl Iterator<Item = &'a Entry> {
        self.entries
            .iter()
            .filter(move |entry| entry.parent_id() == of && (of.is_some() || entry.id().is_some()))
    }

    pub(super) fn label(&self, id: &str) -> Option<&LabelOf> {
        self.labels.get(id)
    }

    /// Labels in the order in which they were set.
    pub(super) fn labels(&self) -> Vec<(&str, &LabelOf)> {
        let mut all: Vec<_> = self
            .labels
            .iter()
            .map(|(target, label)| (&**target, label))
            .collect();
        all.sort_by_key(|(_, label)| label.order);
        all
    }

    /// The name that the last entry gives that says something of it, whatever branch it is on.
    pub(super) fn name(&self) -> Option<String> {
        let names = self.entries.iter().rev();
        let mut names = names.filter(|entry| entry.kind() == "session_info");
        let name = names.find_map(|entry| match self.dialect.name(entry.member("name")) {
            Ok(name) => name,
            Err(_) => Some(String::new()),
        });
        name.filter(|name| !name.is_empty())
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        let mut nodes: Vec<TreeNode<'_>> = self
            .entries
            .iter()
            .map(|entry| {
                let label = entry.id().and_then(|id| self.label(id));
                TreeNode {
                    entry,
                    label: label.map(|label| &*label.text),
                    label_timestamp: label.and_then(|label| label.timestamp.as_deref()),
                    children: Vec::new(),
                }
            })
            .collect();
        let mut roots = self.roots();
        roots.sort_unstable();
        let mut next_root = roots.iter().peekable();
        for at in 0..self.entries.len() {
            if next_root.next_if_eq(&&at).is_some() {
                continue;
            }
            if let Some(parent) = self.parent_of(at) {
                nodes[parent].children.push(at);
            }
        }
        let times: Vec<Option<i64>> = self.entries.iter().map(Entry::time_ms).collect();
        for node in &mut nodes {
            sort_siblings(&mut node.children, |at| times[at]);
        }
        Tree { nodes, roots }
    }

    /// Entries that hang below none: without a parent that is there, and the first of every cycle.
    fn roots(&self) -> Vec<usize> {
        // 0: not looked at; else the number of the walk that came by.
        let mut walk_of = vec![0u32; self.entries.len()];
        let mut roots = Vec::new();
        for start in 0..self.entries.len() {
            let walk = u32::try_from(start).map_or(u32::MAX, |start| start.saturating_add(1));
            let mut at = start;
            while walk_of[at] == 0 {
                walk_of[at] = walk;
                match self.parent_of(at) {
                    Some(parent) => at = parent,
                    None => {
                        roots.push(at);
                        break;
                    }
                }
            }
            if walk_of[at] == walk && self.parent_of(at).is_some() {
                roots.push(self.first_of_cycle(at));
            }
        }
        roots
    }

    fn first_of_cycle(&self, on_it: usize) -> usize {
        let (mut first, mut at) = (on_it, on_it);
        while let Some(parent) = self.parent_of(at) {
            at = parent;
            match at.cmp(&first) {
                Ordering::Less => first = at,
                Ordering::Equal | Ordering::Greater => {}
            }
            if at == on_it {
                break;
            }
        }
        first
    }
}
