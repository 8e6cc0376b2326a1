//! What did a compaction keep, and write again below itself?

use serde::{Deserialize, Serialize};

use crate::model::{Class, Facts};

/// What the last compaction kept, as far as its lines were read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Kept {
    /// The compaction, where none but lines that come again stand between it and the next one, and
    /// the first line that it kept.
    from: Option<(String, String)>,
    /// The last line that was written again below it.
    last: Option<String>,
    /// Nobody said anything since.
    is_silent: bool,
}

impl Kept {
    pub fn is_none(&self) -> bool {
        *self == Kept::default()
    }

    /// Notes a line that comes again. Whether it is the first one that the compaction kept, right
    /// below this: that and those behind it stand above the compaction already.
    pub fn is_written_again(&mut self, facts: &Facts) -> bool {
        let is_first = self.from.as_ref().is_some_and(|(compaction, head)| {
            facts.parent.as_ref() == Some(compaction) && facts.id.as_ref() == Some(head)
        });
        if is_first || self.last.is_some() {
            self.last.clone_from(&facts.id);
        }
        is_first
    }

    /// Notes a line that is new. What follows on what was written again goes on from the
    /// compaction, and files that Claude Code shows the model again behind one were found before.
    pub fn pass(&mut self, facts: &mut Facts) {
        let last = self.last.take();
        if let Some((compaction, _)) = self.from.take()
            && last.is_some()
            && facts.parent == last
        {
            facts.parent = Some(compaction);
        }
        if let Some(compaction) = &facts.compaction {
            let head = compaction.first_kept.clone();
            self.from = facts.id.clone().zip(head);
            self.is_silent = true;
        }
        self.is_silent &= !matches!(facts.role.as_deref(), Some("user" | "assistant"));
        if self.is_silent && facts.kind == "attachment" && facts.role.is_none() {
            facts.silent = true;
            if !facts.files.is_empty() {
                facts.files.clear();
                facts.repeats = vec![Class::Output];
            }
        }
    }
}
