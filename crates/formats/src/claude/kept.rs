//! What did a compaction keep, and write again below itself?

use serde::{Deserialize, Serialize};

use crate::json;
use crate::model::{Class, Facts};

/// Where the last line that a compaction kept is in no line nearby, it goes on from the one before
/// it, if that is one.
pub(super) fn go_on(record: &[u8], facts: &mut Facts, is_near: impl Fn(&str) -> bool) {
    if facts.compaction.is_none() || facts.parent.as_deref().is_some_and(&is_near) {
        return;
    }
    let member = |name| json::Raw(json::member(json::utf8(record)?, name)).text();
    let before = member("logicalParentUuid").filter(|_| member("parentUuid").is_none());
    if let Some(before) = before.filter(|before| is_near(before)) {
        facts.parent = Some(before.into_owned());
    }
}

/// What the last compaction kept, as far as its lines were read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct KeptLines {
    /// Until the first new line behind a compaction and its summary: the id of the last of these,
    /// and of the first line that it kept.
    from: Option<(String, String)>,
    /// The last line that was written again below it.
    last: Option<String>,
    /// The last one of all of them, and the compaction or its summary in its place.
    joined: Option<(String, String)>,
    /// Nobody said anything since.
    is_silent: bool,
}

impl KeptLines {
    /// Notes a line that comes again. Whether it is the first one that the compaction kept, right
    /// below this or its summary: that and those behind it stand above the compaction already.
    pub fn note_repeated(&mut self, facts: &Facts) -> bool {
        let is_first = self.from.as_ref().is_some_and(|(compaction, head)| {
            facts.parent.as_ref() == Some(compaction) && facts.id.as_ref() == Some(head)
        });
        if is_first || self.last.is_some() {
            self.last.clone_from(&facts.id);
        }
        is_first
    }

    /// Notes a line that is new. What follows on what was written again goes on from the
    /// compaction or its summary, and files that Claude Code shows the model again behind one were
    /// found before.
    pub fn pass(&mut self, facts: &mut Facts) {
        let last = self.last.take();
        let is_injected = facts.role.as_deref() == Some("injected");
        if let (Some((above, _)), Some(id)) = (&mut self.from, &facts.id)
            && is_injected
            && facts.asked.is_none()
            && facts.parent.as_ref() == Some(above)
        {
            above.clone_from(id);
            return;
        }
        if let (Some((above, _)), Some(last)) = (self.from.take(), last) {
            self.joined = Some((last, above));
        }
        if let Some((last, above)) = &self.joined
            && facts.parent.as_ref() == Some(last)
        {
            facts.parent = Some(above.clone());
        }
        if let Some(compaction) = &facts.compaction {
            let head = compaction.first_kept.clone();
            self.from = facts.id.clone().zip(head);
            self.is_silent = true;
        }
        let speaks = matches!(facts.role.as_deref(), Some("user" | "assistant"));
        self.is_silent &= !speaks && facts.asked.is_none();
        if self.is_silent && facts.kind == "attachment" && facts.role.is_none() {
            if !facts.silent {
                facts.files.clear();
                facts.repeats = vec![Class::Output];
            }
            facts.silent = true;
        }
    }
}
