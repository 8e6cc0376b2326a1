//! Where does a session stand with an answer that was written before what it answers? 2.1.30 and
//! 2.1.100 do that where a hook is slow.

use serde::{Deserialize, Serialize};

use crate::model::Facts;

/// The line that is still to come, and the last one of those that go on from there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Ahead(Option<(String, String)>);

impl Ahead {
    /// Notes a line, and gives where the session stands with it where that is not the line itself.
    /// `is_known`: the line that it hangs on came before.
    pub fn take_tip(&mut self, facts: &Facts, is_known: bool) -> Option<String> {
        let id = facts.id.as_ref().filter(|_| facts.repeats.is_empty())?;
        let parent = facts.parent.as_ref();
        if let Some((_, tip)) = self.0.take_if(|(above, _)| above == id) {
            return Some(tip);
        }
        match (&mut self.0, parent) {
            _ if facts.silent => {}
            (Some((_, tip)), Some(parent)) if parent == tip => tip.clone_from(id),
            (ahead, Some(parent)) if !is_known => *ahead = Some((parent.clone(), id.clone())),
            _ => {}
        }
        None
    }
}
