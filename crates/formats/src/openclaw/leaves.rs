//! Where does a session stand after a `leaf` line? It selects another entry, and what names the
//! line as its parent goes on from there. OpenClaw writes one where something is taken back, and
//! behind what it [writes anew](super::anew). Such a line is no entry of the tree itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::line;
use crate::model::Facts;

/// The kind of such a line.
pub(super) const KIND: &str = "leaf";

/// The entries that such lines select, by the ids of the lines. `None`: the session stands nowhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Leaves(BTreeMap<String, Option<String>>);

/// Makes the facts of such a line of those of an entry: its parent is what it selects. One that
/// does not say what is none, for OpenClaw too.
pub(super) fn facts(record: &[u8], facts: &mut Facts) {
    let target = line::read(record, |line| {
        line.target_id.0?;
        Some(line.target_id.shown())
    });
    facts.silent = true;
    if let Some(target) = target {
        facts.parent = target;
        facts.is_beside = true;
    }
}

/// Whether these are facts of such a line.
pub(super) fn is_leaf(facts: &Facts) -> bool {
    facts.kind == KIND && facts.is_beside && facts.silent
}

impl Leaves {
    /// Notes such a line, and leads an entry to the one from which it goes on.
    pub fn relate(&mut self, facts: &mut Facts) {
        if let Some(target) = facts.parent.as_ref().and_then(|parent| self.0.get(parent)) {
            facts.parent.clone_from(target);
        }
        if let Some(id) = facts.id.as_ref().filter(|_| is_leaf(facts)) {
            self.0.insert(id.clone(), facts.parent.clone());
        }
    }
}
