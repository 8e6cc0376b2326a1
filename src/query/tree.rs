//! How does a session branch? Its entries as a tree, as pi's `getTree` orders it, without recursion.

use std::collections::{HashMap, HashSet};

use super::show::{Reader, address};
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::write::flag;
use crate::index::{Error, Index};
use crate::model::{Class, SCHEMA_VERSION, SessionRow, Tree, TreeRow, iso};

/// pi's filters of the tree view (formats: section 13 of the pi sheet).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeFilter {
    /// Without labels, names, settings and custom entries.
    #[default]
    Default,
    /// Like `Default`, without tool results.
    NoTools,
    /// User messages only.
    UserOnly,
    /// Labelled entries only.
    LabeledOnly,
    /// Every entry.
    All,
}

/// Characters of text shown a row.
const TEXT: usize = 200;

impl Index {
    /// The session's tree: roots in file order, children by time (ties in file order), parents before children.
    /// Entries in a cycle hang below their first one in the file, so nothing is hidden.
    pub fn tree(&self, session: &SessionRow, filter: TreeFilter) -> Result<Tree, Error> {
        let stored = self.stored(session)?;
        let Some(catalogue) = &self.catalogue else {
            return Err(Error::NotFound {
                name: session.id.clone(),
            });
        };
        let all = self.entries_in_order(catalogue, &stored)?;
        let entries: Vec<&StoredEntry> = all
            .iter()
            .filter(|e| e.kind != "session" && e.kind != "meta")
            .collect();
        let labels = current_labels(catalogue.labels(stored.session)?);
        let shape = Shape::of(&entries, self.is_linear(&stored));
        let active = shape.active_branch(&entries);
        let leaf = active.first().copied();
        let on_branch: HashSet<usize> = active.iter().copied().collect();
        let mut reader = Reader::new(self, catalogue);
        let mut rows = Vec::new();
        // Depth of a shown row counts shown ancestors only.
        let mut depth_of: HashMap<usize, (u32, Option<String>)> = HashMap::new();
        for (at, parent) in shape.in_order() {
            let entry = entries[at];
            let label = entry.id.as_ref().and_then(|id| labels.get(id)).cloned();
            let above = parent.and_then(|p| depth_of.get(&p)).cloned();
            let shown = Some(at) == leaf && filter == TreeFilter::Default
                || shows(filter, entry, label.is_some());
            if !shown {
                depth_of.insert(at, above.unwrap_or((0, None)));
                continue;
            }
            let (depth, shown_parent) = above.unwrap_or((0, None));
            let text = reader.text(entry)?;
            let (class_text, has_prose) = one_line(&text);
            let is_error = entry.flags & flag::ERROR != 0;
            // Like pi: an assistant's entry of tool calls alone is no row of its own.
            if filter != TreeFilter::All
                && entry.role.as_deref() == Some("assistant")
                && !has_prose
                && !is_error
                && Some(at) != leaf
            {
                depth_of.insert(at, (depth, shown_parent));
                continue;
            }
            let id = address(entry);
            depth_of.insert(at, (depth + 1, Some(id.clone())));
            rows.push(TreeRow {
                id,
                parent: shown_parent,
                depth,
                kind: entry.kind.clone(),
                role: entry.role.clone(),
                label,
                time: entry.time_ms.and_then(iso),
                on_active_branch: on_branch.contains(&at),
                is_leaf: Some(at) == leaf,
                text: class_text,
                is_error,
            });
        }
        let path = stored.row.path.to_string_lossy().into_owned();
        let mut ancestors: Vec<String> = Vec::new();
        let mut parent = stored.row.parent_session_path.clone();
        while let Some(named) = parent {
            // Some agents name a parent by its path, some by its id.
            let above = catalogue
                .path_of_id(&named, stored.session)?
                .unwrap_or(named);
            if ancestors.contains(&above) || above == path {
                break;
            }
            parent = catalogue.parent_of(&above)?;
            ancestors.push(above);
        }
        let mut forks = catalogue.forks_of(&path)?;
        forks.extend(catalogue.children_of_id(&stored.row.id, stored.session)?);
        Ok(Tree {
            schema_version: SCHEMA_VERSION,
            complete: self.complete,
            forks,
            session: stored.row,
            ancestors,
            entries: rows,
        })
    }
}

fn shows(filter: TreeFilter, entry: &StoredEntry, labelled: bool) -> bool {
    const SETTINGS: [&str; 11] = [
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
    ];
    let role = entry.role.as_deref();
    match filter {
        TreeFilter::All => true,
        TreeFilter::LabeledOnly => labelled,
        TreeFilter::UserOnly => role == Some("user"),
        TreeFilter::Default => !SETTINGS.contains(&entry.kind.as_str()),
        TreeFilter::NoTools => {
            !SETTINGS.contains(&entry.kind.as_str())
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

fn one_line(text: &[(Class, Vec<String>)]) -> (String, bool) {
    let has_prose = text.iter().any(|(class, pieces)| {
        *class == Class::Prose && pieces.iter().any(|p| !p.trim().is_empty())
    });
    let mut line = String::new();
    'all: for (_, pieces) in text {
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

/// Parents and children by position.
pub(super) struct Shape {
    parent: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    roots: Vec<usize>,
}

impl Shape {
    /// Of entries in file order. Ids resolve to the last entry with that id; entries without any id (v1, clido)
    /// form one line, and all do where the format is `linear`.
    pub(super) fn of(entries: &[&StoredEntry], linear: bool) -> Shape {
        let linear = linear || entries.iter().all(|e| e.id.is_none());
        let by_id: HashMap<&str, usize> = entries
            .iter()
            .enumerate()
            .filter_map(|(at, e)| Some((e.id.as_deref()?, at)))
            .collect();
        let parent: Vec<Option<usize>> = entries
            .iter()
            .enumerate()
            .map(|(at, e)| {
                if linear {
                    return at.checked_sub(1);
                }
                let above = by_id.get(e.parent.as_deref()?).copied()?;
                (above != at).then_some(above)
            })
            .collect();
        let mut children = vec![Vec::new(); entries.len()];
        let mut roots = Vec::new();
        for (at, above) in parent.iter().enumerate() {
            match above {
                Some(above) => children[*above].push(at),
                None => roots.push(at),
            }
        }
        for list in &mut children {
            // Stable: ties, and times that cannot be read, keep file order.
            list.sort_by(|a, b| match (entries[*a].time_ms, entries[*b].time_ms) {
                (Some(a), Some(b)) => a.cmp(&b),
                (None, None) => std::cmp::Ordering::Equal,
                (None, Some(_)) => std::cmp::Ordering::Less,
                (Some(_), None) => std::cmp::Ordering::Greater,
            });
        }
        Shape {
            parent,
            children,
            roots,
        }
    }

    /// Every entry once, parents before children, with its parent in this walk.
    fn in_order(&self) -> Vec<(usize, Option<usize>)> {
        let mut seen = vec![false; self.parent.len()];
        let mut order = Vec::with_capacity(self.parent.len());
        let walk = |from: usize, seen: &mut Vec<bool>, order: &mut Vec<(usize, Option<usize>)>| {
            let mut stack = vec![(from, None)];
            while let Some((at, above)) = stack.pop() {
                if std::mem::replace(&mut seen[at], true) {
                    continue;
                }
                order.push((at, above));
                stack.extend(
                    self.children[at]
                        .iter()
                        .rev()
                        .map(|child| (*child, Some(at))),
                );
            }
        };
        for root in &self.roots {
            walk(*root, &mut seen, &mut order);
        }
        // What no root leads to is a cycle: it hangs below its first entry in the file.
        for at in 0..self.parent.len() {
            if !seen[at] {
                walk(at, &mut seen, &mut order);
            }
        }
        order
    }

    /// The entries that go on from one, oldest first.
    pub(super) fn children(&self, at: usize) -> &[usize] {
        &self.children[at]
    }

    /// From an entry up to its root; a cycle ends at the first repeat.
    pub(super) fn branch(&self, leaf: usize) -> Vec<usize> {
        let mut seen = HashSet::new();
        let mut path = Vec::new();
        let mut at = Some(leaf);
        while let Some(here) = at {
            if !seen.insert(here) {
                break;
            }
            path.push(here);
            at = self.parent[here];
        }
        path
    }

    /// From the leaf (last entry that the agent sees) up to the root.
    pub(super) fn active_branch(&self, entries: &[&StoredEntry]) -> Vec<usize> {
        match (0..entries.len())
            .rev()
            .find(|at| entries[*at].agent_sees && entries[*at].flags & flag::PROVISIONAL == 0)
            .max((0..entries.len()).rev().find(|at| entries[*at].agent_sees))
        {
            Some(leaf) => self.branch(leaf),
            None => Vec::new(),
        }
    }
}
