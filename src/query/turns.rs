//! Where do the answers of tools stand that an agent hangs on their calls?
//!
//! Claude Code writes an answer of the model that calls several tools as a chain of lines, one a
//! call, and hangs each tool's answer on the line of its call. So an earlier call has two children,
//! its answer and the next call, though nothing branches there; and what follows hangs on the
//! answer that was written last.

use crate::catalogue::entries::EntryPosition;
use crate::catalogue::write::flag;

/// No entry.
pub(super) const NONE: u32 = u32::MAX;

/// What an entry is to the calls of tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnPart {
    /// The model says something, or calls.
    Model,
    /// The result of a tool.
    ToolResult,
    /// What the agent notes: it has no role, or is attached by a program.
    Note,
    /// Anything else, above all what a person typed.
    Other,
}

impl TurnPart {
    pub fn of(entry: &EntryPosition<'_>) -> TurnPart {
        match entry {
            _ if entry.flags & flag::TOOL_RESULT != 0 => TurnPart::ToolResult,
            _ if entry.is_assistant => TurnPart::Model,
            _ if !entry.has_role => TurnPart::Note,
            _ if entry.is_injected && entry.kind == "attachment" => TurnPart::Note,
            _ => TurnPart::Other,
        }
    }
}

/// Puts calls that the model makes at once, their answers and what is noted between them into one
/// line, in file order, and what goes on from any of the answers behind the last of them. What
/// branches at a call otherwise, as a prompt that was typed there later, stays there.
///
/// Nothing is moved where a parent stands behind its child in the file.
pub(super) fn put_answers_in_line(parents: &mut [u32], parts: &[TurnPart]) {
    let mut is_answered = vec![false; parents.len()];
    for (at, above) in parents.iter().enumerate() {
        if parts[at] == TurnPart::ToolResult && (*above as usize) < at {
            is_answered[*above as usize] = true;
        }
    }
    // For each entry of such a group the call at which it begins, and of that the last of them.
    let mut group = vec![NONE; parents.len()];
    let mut last = vec![NONE; parents.len()];
    let mut moved = vec![false; parents.len()];
    for at in 0..parents.len() {
        let above = parents[at] as usize;
        if above >= at {
            continue;
        }
        if is_answered[above] && group[above] == NONE {
            (group[above], last[above]) = (above as u32, above as u32);
        }
        let is_of_group = match parts[at] {
            TurnPart::ToolResult => true,
            TurnPart::Model => is_answered[above] && parts[above] == TurnPart::Model,
            TurnPart::Note => group[above] != NONE,
            TurnPart::Other => false,
        };
        if is_of_group {
            let begins = group[above] as usize;
            group[at] = group[above];
            moved[at] = true;
            parents[at] = std::mem::replace(&mut last[begins], at as u32);
        }
    }
    for at in 0..parents.len() {
        let above = parents[at] as usize;
        if above < at && !moved[at] && group[above] != NONE && parts[above] != TurnPart::Model {
            parents[at] = last[group[above] as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TurnPart::{Model, Note, Other, ToolResult};
    use super::*;

    fn in_line(entries: &[(u32, TurnPart)]) -> Vec<u32> {
        let (mut parents, parts): (Vec<u32>, Vec<TurnPart>) = entries.iter().copied().unzip();
        put_answers_in_line(&mut parents, &parts);
        parents
    }

    #[test]
    fn answers_stand_where_their_calls_stand() {
        // Three calls, answered in another order, with a note in between; the next answer of the
        // model hangs on the tool's answer that was written last.
        let entries = [
            (NONE, Other),
            (0, Model),
            (1, Model),
            (2, Model),
            (3, ToolResult),
            (4, Note),
            (1, ToolResult),
            (2, ToolResult),
            (7, Model),
            (8, Other),
        ];
        assert_eq!(in_line(&entries), [NONE, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_tool_that_answers_late_is_no_branch() {
        let entries = [
            (NONE, Model),
            (0, Model),
            (1, ToolResult),
            (2, Model),
            (0, ToolResult),
        ];
        assert_eq!(in_line(&entries), [NONE, 0, 1, 4, 2]);
    }

    #[test]
    fn what_was_typed_twice_below_one_entry_is_a_branch() {
        let entries = [
            (NONE, Model),
            (0, ToolResult),
            (1, Model),
            (2, Other),
            (2, Other),
            (0, Other),
        ];
        assert_eq!(in_line(&entries), [NONE, 0, 1, 2, 2, 0]);
    }

    #[test]
    fn nothing_is_moved_where_a_parent_stands_behind_its_child() {
        let entries = [
            (1, ToolResult),
            (0, ToolResult),
            (NONE, Note),
            (3, ToolResult),
        ];
        let moved = in_line(&entries);
        assert_eq!(moved[0], 1);
        assert_eq!(moved[3], 3);
    }
}
