//! Where do the answers of tools stand that an agent hangs on their calls?
//!
//! Claude Code writes an answer of the model that calls several tools as a chain of lines, one a
//! call, and hangs each tool's answer on the line of its call. So an earlier call has two children,
//! its answer and the next call, though nothing branches there; and what follows hangs on the
//! answer that was written last. What the model says or thinks between two calls is a line of that
//! chain, and so is that the answer was lost midway.

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
    /// What the agent notes: it has no role, is attached by a program, or stands in the model's
    /// place.
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
            // That an answer failed or was lost.
            _ if entry.kind == "assistant" => TurnPart::Note,
            _ => TurnPart::Other,
        }
    }
}

/// Puts calls that the model makes at once, what it says between and behind them, their answers and
/// what is noted between them into one line, in file order, and what goes on from any of the
/// answers behind the last of them. What branches at a call otherwise, as a prompt that was typed
/// there later, stays there.
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
            // The same answer, or the same begun again: a person branches with a prompt.
            TurnPart::Model => group[above] != NONE && parts[above] == TurnPart::Model,
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
    fn what_the_model_says_between_its_calls_is_no_branch() {
        // A call, text, a call, a thought and a call, each answered, then the next answer.
        let entries = [
            (NONE, Other),
            (0, Model),
            (1, Model),
            (2, Model),
            (3, Model),
            (4, Model),
            (1, ToolResult),
            (3, ToolResult),
            (5, ToolResult),
            (8, Model),
        ];
        let in_order = [NONE, 0, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(in_line(&entries), in_order);
        // The first ones are answered while the others come, and it goes on from the first.
        let entries = [
            (NONE, Other),
            (0, Model),
            (1, ToolResult),
            (1, Model),
            (3, Model),
            (4, ToolResult),
            (2, Note),
            (6, Model),
        ];
        assert_eq!(in_line(&entries), in_order[..8]);
    }

    #[test]
    fn an_answer_that_was_lost_midway_is_no_branch() {
        // The call is answered behind the note that the rest was lost, or the answer begins again.
        let lost = [(NONE, Other), (0, Model), (1, Model), (2, Note)];
        let answered = [(1, ToolResult), (4, Note), (5, Model), (6, Other)];
        let entries = [&lost[..], &answered].concat();
        assert_eq!(in_line(&entries), [NONE, 0, 1, 2, 3, 4, 5, 6]);
        let again = [(1, ToolResult), (1, Model), (5, Model), (6, Other)];
        let entries = [&lost[..], &again].concat();
        assert_eq!(in_line(&entries), [NONE, 0, 1, 2, 3, 4, 5, 6]);
        // What was typed behind the note goes on from all of it; typed there again, it branches.
        let typed = [(1, ToolResult), (3, Other), (5, Model), (3, Other)];
        let entries = [&lost[..], &typed].concat();
        assert_eq!(in_line(&entries), [NONE, 0, 1, 2, 3, 4, 5, 4]);
    }

    #[test]
    fn what_a_person_went_back_to_stays_a_branch() {
        // Two answers of a prompt that was typed again, each with text between its calls.
        let turn = |at: u32, above: u32| {
            let calls = [
                (above, Other),
                (at, Model),
                (at + 1, Model),
                (at + 2, Model),
            ];
            let answers = [(at + 1, ToolResult), (at + 3, ToolResult), (at + 5, Model)];
            [&calls[..], &answers].concat()
        };
        let entries = [&[(NONE, Model)][..], &turn(1, 0), &turn(8, 0)].concat();
        let second = [0, 8, 9, 10, 11, 12, 13];
        let first = [0, 1, 2, 3, 4, 5, 6];
        assert_eq!(in_line(&entries), [&[NONE][..], &first, &second].concat());
        // A prompt at a text between two calls stays there, and so does one at the last text.
        let mut entries = [&[(NONE, Model)][..], &turn(1, 0)].concat();
        entries.extend([(3, Other), (7, Other), (7, Other)]);
        let typed = [3, 7, 7];
        assert_eq!(in_line(&entries), [&[NONE][..], &first, &typed].concat());
        // Without a call that was answered there is nothing to put in line.
        let plain = [
            (NONE, Other),
            (0, Model),
            (1, Model),
            (1, Model),
            (0, Model),
        ];
        assert_eq!(in_line(&plain), [NONE, 0, 1, 1, 0]);
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
