//! How is a tree drawn so that a chain of a million entries stays one column wide?
//!
//! Only branches indent: an only child stands right below its parent. Deep branching stops
//! indenting at [`DEEPEST`], so a line's prefix is bounded as well.

use std::rc::Rc;

use sessionary::model::TreeRow;

use super::style::Tone;
use super::text::{columns, fit, plain_line};

/// Branch points that indent; those below stay at the same column.
const DEEPEST: usize = 16;

/// The characters a tree is drawn with.
pub struct Signs {
    middle: &'static str,
    last: &'static str,
    through: &'static str,
    blank: &'static str,
    /// An entry on the active branch.
    pub active: &'static str,
    /// An entry beside it.
    pub idle: &'static str,
    /// The active leaf.
    pub leaf: &'static str,
}

/// Box drawing characters.
pub const UNICODE: Signs = Signs {
    middle: "├─ ",
    last: "└─ ",
    through: "│  ",
    blank: "   ",
    active: "●",
    idle: "○",
    leaf: "◆",
};
/// For terminals without them.
pub const ASCII: Signs = Signs {
    middle: "|- ",
    last: "`- ",
    through: "|  ",
    blank: "   ",
    active: "*",
    idle: "o",
    leaf: "@",
};

/// What stands before each row. `parents` says which row each hangs below; rows come in the order
/// of a walk from parents to children, and a row without a parent begins at the margin.
pub fn prefixes(parents: &[Option<u32>], signs: &Signs) -> Vec<Rc<str>> {
    let mut children = vec![0_u32; parents.len()];
    for above in parents.iter().flatten() {
        children[*above as usize] += 1;
    }
    let empty: Rc<str> = "".into();
    let mut own: Vec<Rc<str>> = Vec::with_capacity(parents.len());
    // Before the rows below each row, how deep those are, and how many of them are still to come.
    let mut below: Vec<(Rc<str>, usize, u32)> = Vec::with_capacity(parents.len());
    for (at, above) in parents.iter().enumerate() {
        let to_come = children[at];
        // An only child stands right below its parent, as a root does below a root.
        let Some((above, among)) = above.map(|above| (above as usize, children[above as usize]))
        else {
            own.push(empty.clone());
            below.push((empty.clone(), 0, to_come));
            continue;
        };
        let (prefix, depth) = (below[above].0.clone(), below[above].1);
        below[above].2 -= 1;
        let (sign, pass) = match (among, below[above].2) {
            (1, _) => {
                own.push(prefix.clone());
                below.push((prefix, depth, to_come));
                continue;
            }
            _ if depth >= DEEPEST => ("", ""),
            (_, 0) => (signs.last, signs.blank),
            _ => (signs.middle, signs.through),
        };
        own.push(format!("{prefix}{sign}").into());
        below.push((format!("{prefix}{pass}").into(), depth + 1, to_come));
    }
    own
}

/// The line of a row, part by part: what stands before it, its sign, the name by which its entry is
/// known, who says it, and as much of that as there is room for.
pub fn row_parts(
    row: &TreeRow,
    id: &str,
    prefix: &str,
    signs: &Signs,
    width: Option<usize>,
) -> Vec<(Tone, String)> {
    let sign = match (row.is_leaf, row.on_active_branch) {
        (true, _) => signs.leaf,
        (false, true) => signs.active,
        (false, false) => signs.idle,
    };
    let who = plain_line(row.role.as_deref().unwrap_or(&row.kind));
    let label = row.label.as_deref();
    let label = label.map(|label| format!(" [{}]", plain_line(label)));
    let label = label.unwrap_or_default();
    let note = match (row.is_leaf, row.agent_sees, &row.inherited_from) {
        (true, ..) => " (leaf)",
        (false, false, _) => " (the agent does not see it)",
        (false, true, Some(_)) => " (inherited)",
        (false, true, None) => "",
    };
    let named = [prefix, sign, id, &who, &label].map(columns);
    let fixed = named.iter().sum::<usize>() + note.len() + 4;
    let room = width.map_or(200, |width| width.saturating_sub(fixed).max(10));
    let tone = match (row.is_error, row.on_active_branch) {
        (true, _) => Tone::Bad,
        (false, true) => Tone::Plain,
        (false, false) => Tone::Quiet,
    };
    let sign_tone = match row.on_active_branch {
        true => Tone::Strong,
        false => Tone::Quiet,
    };
    let who_tone = match row.is_error {
        true => Tone::Bad,
        false => Tone::Strong,
    };
    let plain = |text: &str| (Tone::Plain, text.to_owned());
    let text = match row.text.is_empty() && row.has_image {
        true => "(image)".to_owned(),
        false => fit(&plain_line(&row.text), room),
    };
    let mut parts = vec![
        (Tone::Quiet, prefix.to_owned()),
        (sign_tone, sign.to_owned()),
        plain(" "),
        (Tone::Name, id.to_owned()),
        plain(" "),
        (who_tone, who),
        (Tone::Warn, label),
        (Tone::Strong, note.to_owned()),
        plain("  "),
        (tone, text),
    ];
    parts.retain(|(_, text)| !text.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_branches_indent() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let parents = [
            None,
            Some(0),
            Some(1),
            Some(2),
            Some(1),
            Some(4),
            Some(4),
            None,
        ];
        let prefixes = prefixes(&parents, &UNICODE);
        let lines: Vec<String> = prefixes
            .iter()
            .zip(names)
            .map(|(prefix, name)| format!("{prefix}{name}"))
            .collect();
        assert_eq!(
            lines,
            ["a", "b", "├─ c", "│  d", "└─ e", "   ├─ f", "   └─ g", "h"]
        );
    }

    #[test]
    fn long_chains_and_deep_branches_stay_narrow() {
        let mut parents = vec![None];
        let mut above = 0;
        for at in 1..100_000 {
            if at % 3 == 0 {
                parents.push(Some(above));
            }
            parents.push(Some(above));
            above = parents.len() as u32 - 1;
        }
        let prefixes = prefixes(&parents, &ASCII);
        assert_eq!(prefixes.len(), parents.len());
        assert!(
            prefixes
                .iter()
                .all(|prefix| prefix.len() <= 3 * DEEPEST + 3)
        );
    }
}
