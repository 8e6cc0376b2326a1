//! How is a tree drawn so that a chain of a million entries stays one column wide?
//!
//! Only branches indent: an only child stands right below its parent. Deep branching stops indenting
//! at [`DEEPEST`], so a line's prefix is bounded as well.

use std::collections::HashMap;
use std::rc::Rc;

use sessionary::model::TreeRow;

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

/// A waiting entry: where it is in `rows`, what stands before it, what stands before those below it, how deep.
struct Waiting {
    at: usize,
    own: Rc<str>,
    below: Rc<str>,
    depth: usize,
}

/// The rows in drawing order: each one's prefix and its place in `rows`.
///
/// Parents come before children in `rows`; an entry whose parent is not there is a root. With
/// several entries of one id the nearest one before counts, so every row is drawn exactly once.
pub fn drawn(rows: &[TreeRow], signs: &Signs) -> Vec<(Rc<str>, usize)> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    let mut roots = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        match row.parent.as_deref().and_then(|parent| seen.get(parent)) {
            Some(&parent) => children[parent].push(at),
            None => roots.push(at),
        }
        seen.insert(&row.id, at);
    }
    let empty: Rc<str> = "".into();
    let mut order = Vec::with_capacity(rows.len());
    let mut stack: Vec<Waiting> = Vec::new();
    // Several roots stand one below the other, as a chain would: each begins at the margin.
    for &at in roots.iter().rev() {
        stack.push(Waiting {
            at,
            own: empty.clone(),
            below: empty.clone(),
            depth: 0,
        });
    }
    while let Some(Waiting {
        at,
        own,
        below,
        depth,
    }) = stack.pop()
    {
        order.push((own, at));
        let below_here = &children[at];
        if let [only] = below_here.as_slice() {
            stack.push(Waiting {
                at: *only,
                own: below.clone(),
                below,
                depth,
            });
            continue;
        }
        for (place, &child) in below_here.iter().enumerate().rev() {
            let last = place + 1 == below_here.len();
            let (own, next) = if depth < DEEPEST {
                let (sign, pass) = if last {
                    (signs.last, signs.blank)
                } else {
                    (signs.middle, signs.through)
                };
                (
                    format!("{below}{sign}").into(),
                    format!("{below}{pass}").into(),
                )
            } else {
                (below.clone(), below.clone())
            };
            stack.push(Waiting {
                at: child,
                own,
                below: next,
                depth: depth + 1,
            });
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, parent: Option<&str>) -> TreeRow {
        TreeRow {
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            depth: 0,
            kind: "message".to_owned(),
            role: None,
            label: None,
            time: None,
            on_active_branch: true,
            is_leaf: false,
            text: String::new(),
            is_error: false,
        }
    }

    #[test]
    fn only_branches_indent() {
        let rows = [
            row("a", None),
            row("b", Some("a")),
            row("c", Some("b")),
            row("d", Some("c")),
            row("e", Some("b")),
            row("f", Some("e")),
            row("g", Some("e")),
            row("h", Some("missing")),
        ];
        let lines: Vec<String> = drawn(&rows, &UNICODE)
            .into_iter()
            .map(|(prefix, at)| format!("{prefix}{}", rows[at].id))
            .collect();
        assert_eq!(
            lines,
            ["a", "b", "├─ c", "│  d", "└─ e", "   ├─ f", "   └─ g", "h"]
        );
    }

    #[test]
    fn long_chains_and_deep_branches_stay_narrow() {
        let mut rows = vec![row("0", None)];
        for at in 1..100_000 {
            rows.push(row(&at.to_string(), Some(&(at - 1).to_string())));
            if at % 3 == 0 {
                rows.push(row(&format!("x{at}"), Some(&(at - 1).to_string())));
            }
        }
        let lines = drawn(&rows, &ASCII);
        assert_eq!(lines.len(), rows.len());
        assert!(
            lines
                .iter()
                .all(|(prefix, _)| prefix.len() <= 3 * DEEPEST + 3)
        );
    }

    #[test]
    fn cycles_and_doubled_ids_are_drawn_once() {
        let rows = [
            row("a", Some("a")),
            row("b", Some("c")),
            row("c", Some("b")),
            row("a", None),
            row("d", Some("a")),
        ];
        let mut drawn: Vec<usize> = drawn(&rows, &ASCII).into_iter().map(|(_, at)| at).collect();
        drawn.sort_unstable();
        assert_eq!(drawn, [0, 1, 2, 3, 4]);
    }
}
