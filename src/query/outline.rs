//! Which entry stands below which? A session's shape in a few bytes per entry, whatever the entries
//! hold.

use std::cell::OnceCell;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::lineage::Lineage;
use super::lost::put_lost_in_line;
use super::turns::{NONE, TurnPart, put_answers_in_line};
use crate::catalogue::entries::EntryPosition;
use crate::catalogue::read::StoredSession;
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::format::Structure;
use crate::model::{Leaf, LeafRule, SessionRow, sort_siblings};
use crate::query::Snapshot;

/// Kind of the entry that a file of pi's begins with.
pub(super) const HEADER: &str = "session";

/// Which entries are left out, and which are looked for.
#[derive(Clone, Copy)]
pub(super) struct OutlineQuery<'a> {
    pub without: Without,
    /// Ids or `L<line>`. They name entries of the session itself; an id that none of them has names
    /// one that is inherited.
    pub find: &'a [&'a str],
    /// Whether what it [inherits](super::lineage) stands before its own entries.
    pub inherited: bool,
}

impl OutlineQuery<'_> {
    /// What is on branches, of the session alone.
    pub const BRANCHES: OutlineQuery<'static> = OutlineQuery {
        without: Without::Beside,
        find: &[],
        inherited: false,
    };
}

/// What is left out of an outline.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Without {
    Nothing,
    /// Entries of pi's kind of header.
    Headers,
    /// All that is on no branch.
    Beside,
}

/// Parents and children by place in the order in which the entries are shown.
pub(super) struct Outline {
    /// Key of each entry.
    pub keys: Vec<i64>,
    /// Where the entries are that were looked for. Of several with one id it is the last, as in pi.
    pub found: Vec<Option<usize>>,
    parent: Vec<u32>,
    times: Vec<Option<i64>>,
    /// Earlier versions of entries, by their keys, with the places that they had.
    replaced: Vec<(i64, u32)>,
    /// Made where they are first asked for.
    children: OnceCell<Children>,
    /// Whether the session could stand at an entry.
    may_lead: Vec<bool>,
    leaf: Option<u32>,
    /// Each entry goes on from the one before it, whatever ids there are.
    pub in_line: bool,
    /// Whether an entry has nothing to read.
    pub silent: Vec<bool>,
    /// From where the entries are that stand before its own.
    pub lineage: Lineage,
}

struct Children {
    /// All of them, those of one parent together, in the order in which pi shows them.
    all: Vec<u32>,
    /// Where the children of each entry begin in `all`, and the end of the last ones.
    begin: Vec<u32>,
}

impl Snapshot<'_> {
    /// Where in an outline the one entry is that was looked for.
    pub(super) fn found_in(
        &self,
        outline: &Outline,
        session: &SessionRow,
        name: &str,
    ) -> Result<usize, Error> {
        let found = outline.found.first().copied().flatten();
        found.ok_or_else(|| self.no_entry(session, name))
    }

    /// The outline of a session.
    ///
    /// Ids resolve to the last entry with that id. Entries form one line where none that the agent
    /// sees has an id, and where [ids do not count](Structure::Line). In a line too nothing goes on
    /// from what the agent does not see.
    pub(super) fn outline(
        &self,
        stored: &StoredSession,
        ask: OutlineQuery<'_>,
    ) -> Result<Outline, Error> {
        let session = stored.session;
        let format = self.config().format(&stored.format);
        let structure = self.structure(stored).unwrap_or_default();
        let mut read = Reading::new(ask, structure);
        // A line that is spread over many files is shown in another order than these are read in.
        let is_spread = format.is_some_and(|format| format.about().has_many_sources());
        let by_time = match structure == Structure::Line && is_spread {
            true => Some(super::order::by_time(self.catalogue.entries(session)?)),
            false => None,
        };
        match &by_time {
            Some(entries) => entries
                .iter()
                .for_each(|entry| read.note(EntryPosition::of(entry), false)),
            None => {
                if ask.inherited {
                    read.lineage = self.lineage(stored)?;
                }
                for (session, base) in read.lineage.parts.clone() {
                    // What a session is called is its own.
                    let mut note = |entry: EntryPosition<'_>| match entry.is_beside() {
                        true => {}
                        false => read.note(entry, true),
                    };
                    self.catalogue
                        .each_placed(session, Some(base.end), &mut note)?;
                }
                let mut note = |entry: EntryPosition<'_>| read.note(entry, false);
                self.catalogue.each_placed(session, None, &mut note)?;
            }
        }
        match self.leaf_rule(stored) {
            LeafRule::OfEntries => {}
            LeafRule::Named => read.stand_at(self.catalogue.named_leaf(session)?.as_deref()),
            LeafRule::Before(id) => read.stand_before(&id),
        }
        Ok(read.outline())
    }
}

/// What is noted on the way through a session's entries.
struct Reading<'a> {
    ask: OutlineQuery<'a>,
    keys: Vec<i64>,
    times: Vec<Option<i64>>,
    /// A number for each id, of an entry or of a parent.
    numbers: HashMap<Box<str>, u32, FxBuildHasher>,
    /// The last entry with the id of that number.
    last_with: Vec<u32>,
    /// The number of each entry's parent.
    above: Vec<u32>,
    sees: Vec<bool>,
    ids: Vec<Option<usize>>,
    /// Of each the entry that was found by its line, and its [rank](rank_on_line).
    lines: Vec<Option<(usize, (bool, bool))>>,
    /// The lines that are looked for, by the names of their entries.
    asked_lines: Vec<Option<u64>>,
    /// An entry that the agent sees has an id.
    has_ids: bool,
    structure: Structure,
    may_lead: Vec<bool>,
    leaf: Leaf<u32>,
    /// Where the tree is loose.
    parts: Vec<TurnPart>,
    /// Whether an entry is a subagent's, where the tree is loose.
    sidechain: Vec<bool>,
    /// Of each there the last entry before it that has its parent's id: what was written again
    /// under one id goes on from what was written again.
    above_before: Vec<u32>,
    replaced: Vec<(i64, u32)>,
    silent: Vec<bool>,
    lineage: Lineage,
}

impl<'a> Reading<'a> {
    fn new(ask: OutlineQuery<'a>, structure: Structure) -> Reading<'a> {
        let line = |name: &&str| name.strip_prefix('L')?.parse().ok();
        Reading {
            asked_lines: ask.find.iter().map(line).collect(),
            ask,
            keys: Vec::new(),
            times: Vec::new(),
            numbers: HashMap::default(),
            last_with: Vec::new(),
            above: Vec::new(),
            sees: Vec::new(),
            ids: vec![None; ask.find.len()],
            lines: vec![None; ask.find.len()],
            has_ids: false,
            structure,
            may_lead: Vec::new(),
            leaf: Leaf::default(),
            parts: Vec::new(),
            sidechain: Vec::new(),
            above_before: Vec::new(),
            replaced: Vec::new(),
            silent: Vec::new(),
            lineage: Lineage::default(),
        }
    }

    fn note(&mut self, entry: EntryPosition<'_>, is_inherited: bool) {
        let is_left_out = match self.ask.without {
            Without::Nothing => false,
            Without::Headers => entry.kind == HEADER && !self.is_asked_for(&entry),
            Without::Beside => entry.is_beside(),
        };
        if let Some(stands) = entry.stands_at().and_then(|id| self.place_of(id)) {
            self.leaf.stand(stands);
        }
        if is_left_out {
            return;
        }
        if let Some(at) = self.replaced_by(&entry) {
            let replaced = std::mem::replace(&mut self.keys[at as usize], entry.key);
            self.replaced.push((replaced, at));
            self.find(&entry, at as usize, is_inherited);
            return;
        }
        let at = self.keys.len();
        self.keys.push(entry.key);
        self.times.push(entry.time_ms);
        self.sees.push(entry.agent_sees);
        self.silent.push(entry.is_silent);
        let is_loose = self.structure == Structure::LooseTree;
        if is_loose {
            self.parts.push(TurnPart::of(&entry));
            self.sidechain.push(entry.flags & flag::SIDECHAIN != 0);
        }
        let parent = entry.parent.filter(|_| !entry.is_beside());
        let above = parent.map(|id| self.number(id));
        self.above.push(above.unwrap_or(NONE));
        if is_loose {
            let before = above.map_or(NONE, |above| self.last_with[above as usize]);
            self.above_before.push(before);
        }
        // Nothing goes on from an entry that its agent does not see, nor from the header, which is
        // none of the conversation though it has an id.
        let may_lead = entry.agent_sees && !entry.is_silent && !entry.is_beside();
        self.may_lead.push(may_lead);
        if may_lead {
            let has_id = entry.id.is_some();
            let may_be_leaf = has_id || self.structure == Structure::Line;
            self.leaf.note(at as u32, may_be_leaf);
            self.has_ids |= has_id;
        }
        // What has nothing to read may still be a link of the chain (Claude Code: attachments).
        let is_link = entry.agent_sees && !entry.is_beside();
        if let Some(id) = entry.id.filter(|_| is_link) {
            let number = self.number(id);
            self.last_with[number as usize] = at as u32;
        }
        self.find(&entry, at, is_inherited);
    }

    /// The place of the entry that this one replaces.
    fn replaced_by(&self, entry: &EntryPosition<'_>) -> Option<u32> {
        let is_version = self.structure == Structure::RewrittenTree
            && self.ask.without != Without::Nothing
            && entry.agent_sees
            && !entry.is_beside();
        self.place_of(entry.id.filter(|_| is_version)?)
    }

    /// The place of the last entry with that id.
    fn place_of(&self, id: &str) -> Option<u32> {
        let at = self.last_with[*self.numbers.get(id)? as usize];
        (at != NONE).then_some(at)
    }

    /// The session stands there, or nowhere: see [`LeafRule::Named`].
    fn stand_at(&mut self, id: Option<&str>) {
        match id.map(|id| self.place_of(id)) {
            Some(Some(stands)) => self.leaf.stand(stands),
            // Without ids no entry can be named.
            None if self.has_ids => self.leaf = Leaf::default(),
            _ => {}
        }
    }

    /// The session stands before this entry: see [`LeafRule::Before`].
    fn stand_before(&mut self, id: &str) {
        if let Some(end) = self.place_of(id) {
            self.leaf = Leaf::default();
            let before = (0..end).rev().find(|at| self.may_lead[*at as usize]);
            before.into_iter().for_each(|at| self.leaf.stand(at));
        }
    }

    /// Whether the entry at that place is one that is looked for.
    fn find(&mut self, entry: &EntryPosition<'_>, at: usize, is_inherited: bool) {
        for (place, name) in self.ask.find.iter().enumerate() {
            // The session's own come last.
            if entry.id == Some(name) {
                self.ids[place] = Some(at);
            }
            if is_inherited {
                continue;
            }
            if self.asked_lines[place] == Some(entry.line) {
                let rank = rank_on_line(entry);
                let found = &mut self.lines[place];
                if found.is_none_or(|(_, other)| rank < other) {
                    *found = Some((at, rank));
                }
            }
        }
    }

    /// Whether the entry has one of the names that are looked for.
    fn is_asked_for(&self, entry: &EntryPosition<'_>) -> bool {
        let mut names = self.ask.find.iter().zip(&self.asked_lines);
        names.any(|(name, line)| entry.id == Some(name) || *line == Some(entry.line))
    }

    fn number(&mut self, id: &str) -> u32 {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        let number = self.last_with.len() as u32;
        self.numbers.insert(id.into(), number);
        self.last_with.push(NONE);
        number
    }

    /// Whether each goes on from the one before.
    fn is_line(&self) -> bool {
        self.structure == Structure::Line || !self.has_ids
    }

    /// The entry from which each goes on.
    fn parents(&self) -> Vec<u32> {
        if self.is_line() {
            let mut before = NONE;
            let parents = (0..).zip(&self.sees).map(|(at, sees)| match sees {
                true => std::mem::replace(&mut before, at),
                false => NONE,
            });
            return parents.collect();
        }
        let parents = (0..).zip(&self.above).map(|(at, above)| {
            let before = self.above_before.get(at as usize);
            let before = before.filter(|before| **before != NONE);
            let above = before.or_else(|| self.last_with.get(*above as usize));
            above.copied().filter(|above| *above != at).unwrap_or(NONE)
        });
        let mut parents: Vec<u32> = parents.collect();
        if self.structure == Structure::LooseTree {
            let lost = |at: usize| {
                let above = self.above[at];
                let last = self.last_with.get(above as usize)?;
                (*last == NONE).then_some(above)
            };
            put_lost_in_line(&mut parents, lost, &self.may_lead, &self.sidechain);
            put_answers_in_line(&mut parents, &self.parts);
        }
        parents
    }

    fn outline(self) -> Outline {
        Outline {
            parent: self.parents(),
            in_line: self.is_line(),
            keys: self.keys,
            replaced: self.replaced,
            found: self
                .ids
                .into_iter()
                .zip(self.lines)
                .map(|(id, line)| id.or(line.map(|(at, _)| at)))
                .collect(),
            times: self.times,
            children: OnceCell::new(),
            may_lead: self.may_lead,
            leaf: self.leaf.entry(),
            silent: self.silent,
            lineage: self.lineage,
        }
    }
}

/// Of several entries on lines of one number the least is meant: what its line says before what has
/// no bytes; of a line of each of several files the one that has no other name.
fn rank_on_line(entry: &EntryPosition<'_>) -> (bool, bool) {
    (!entry.has_bytes, entry.id.is_some())
}

impl Outline {
    /// The key of every entry and of its earlier versions, with its place.
    pub fn places(&self) -> impl Iterator<Item = (i64, usize)> {
        let keys = self.keys.iter().enumerate().map(|(at, key)| (*key, at));
        let replaced = self.replaced.iter().map(|(key, at)| (*key, *at as usize));
        keys.chain(replaced)
    }

    /// The entries that go on from one, oldest first.
    pub fn children(&self, at: u32) -> &[u32] {
        let Children { all, begin } = self.children.get_or_init(|| self.all_children());
        &all[begin[at as usize] as usize..begin[at as usize + 1] as usize]
    }

    fn all_children(&self) -> Children {
        let parent = &self.parent;
        let mut all: Vec<u32> = (0..parent.len() as u32)
            .filter(|at| parent[*at as usize] != NONE)
            .collect();
        let parent_of = |at: &u32| parent[*at as usize];
        all.sort_unstable_by_key(|at| (parent_of(at), *at));
        for siblings in all.chunk_by_mut(|a, b| parent_of(a) == parent_of(b)) {
            sort_siblings(siblings, |at| self.times[at as usize]);
        }
        let mut begin = vec![0; parent.len() + 1];
        for above in parent.iter().filter(|above| **above != NONE) {
            begin[*above as usize + 1] += 1;
        }
        for at in 1..begin.len() {
            begin[at] += begin[at - 1];
        }
        Children { all, begin }
    }

    /// Every entry once, parents before children, with its parent in this walk.
    pub fn in_order(&self) -> Vec<(u32, Option<u32>)> {
        let mut seen = vec![false; self.parent.len()];
        let mut order = Vec::with_capacity(self.parent.len());
        let mut stack = Vec::new();
        let mut walk = |from: u32, seen: &mut Vec<bool>| {
            stack.push((from, None));
            while let Some((at, above)) = stack.pop() {
                if std::mem::replace(&mut seen[at as usize], true) {
                    continue;
                }
                order.push((at, above));
                let below = self.children(at).iter().rev();
                stack.extend(below.map(|child| (*child, Some(at))));
            }
        };
        let all = 0..self.parent.len() as u32;
        for root in all.clone().filter(|at| self.parent[*at as usize] == NONE) {
            walk(root, &mut seen);
        }
        // What no root leads to is a cycle: it hangs below its first entry in the file.
        for at in all {
            if !seen[at as usize] {
                walk(at, &mut seen);
            }
        }
        order
    }

    /// From an entry up to its root; a cycle ends at the first repeat.
    pub fn branch(&self, leaf: usize) -> Vec<usize> {
        let mut seen = vec![false; self.parent.len()];
        let mut path = Vec::new();
        let mut at = leaf as u32;
        while at != NONE && !std::mem::replace(&mut seen[at as usize], true) {
            path.push(at as usize);
            at = self.parent[at as usize];
        }
        path
    }

    /// The branch on which an entry stands, from its end up to the root: the active one; where the
    /// entry is not on that, the one that ends at the last entry in the file of all below it.
    pub fn branch_through(&self, at: usize) -> Vec<usize> {
        let active = self.active_branch();
        if active.contains(&at) {
            return active;
        }
        let mut seen = vec![false; self.parent.len()];
        let (mut below, mut last) = (vec![at as u32], at as u32);
        while let Some(next) = below.pop() {
            if !std::mem::replace(&mut seen[next as usize], true) {
                if self.may_lead[next as usize] {
                    last = last.max(next);
                }
                below.extend(self.children(next));
            }
        }
        let branch = self.branch(last as usize);
        // In a cycle the way up from the last entry need not come by this one.
        match branch.contains(&at) {
            true => branch,
            false => self.branch(at),
        }
    }

    /// Whether there is something to read in an entry.
    pub fn is_read(&self, at: usize) -> bool {
        !self.silent[at]
    }

    /// From the [leaf](Leaf) up to the root.
    pub fn active_branch(&self) -> Vec<usize> {
        self.leaf
            .map_or_else(Vec::new, |leaf| self.branch(leaf as usize))
    }
}
