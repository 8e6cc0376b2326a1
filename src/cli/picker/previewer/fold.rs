//! Which lines of a long text are shown? The first ones, and those with a match in them.

use std::ops::Range;

/// How much of a text is shown without being looked for.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Lines.
    pub lines: usize,
    /// Bytes of a line.
    pub bytes: usize,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A line that is shown, or a part of one.
    Shown(Range<usize>),
    /// Lines that are not.
    Lines(Range<usize>),
    /// What is not shown of a line.
    Bytes(Range<usize>),
}

/// Lines and pieces shown before and after one with a match.
const BESIDE: usize = 1;
/// So few are rather shown than counted.
const FEW: usize = 2;

/// The parts of a text in their order. The marks ascend; what they mark is shown.
pub fn parts(text: &str, marks: &[Range<usize>], room: Room) -> Vec<Part> {
    let lines = lines(text);
    let mut parts = Vec::new();
    for (range, is_shown) in runs(&lines, marks, room.lines) {
        let Some((first, last)) = ends(&lines[range.clone()]) else {
            continue;
        };
        if !is_shown {
            parts.push(Part::Lines(first..last));
            continue;
        }
        for line in &lines[range] {
            match line.len() > 2 * room.bytes {
                true => cut(text, line.clone(), marks, room.bytes, &mut parts),
                false => parts.push(Part::Shown(line.clone())),
            }
        }
    }
    parts
}

/// Adds the parts of a long line.
fn cut(
    text: &str,
    line: Range<usize>,
    marks: &[Range<usize>],
    bytes: usize,
    parts: &mut Vec<Part>,
) {
    let mut pieces = Vec::new();
    let mut from = line.start;
    while from < line.end {
        let mut to = (from + bytes.max(1)).min(line.end);
        while !text.is_char_boundary(to) {
            to += 1;
        }
        pieces.push(from..to);
        from = to;
    }
    for (range, is_shown) in runs(&pieces, marks, 1) {
        if let Some((first, last)) = ends(&pieces[range]) {
            parts.push(match is_shown {
                true => Part::Shown(first..last),
                false => Part::Bytes(first..last),
            });
        }
    }
}

/// Where the first begins and the last ends.
fn ends(pieces: &[Range<usize>]) -> Option<(usize, usize)> {
    Some((pieces.first()?.start, pieces.last()?.end))
}

/// The lines of a text without their ends.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let lines = text.split('\n').map(|line| {
        let from = at;
        at += line.len() + 1;
        from..from + line.len()
    });
    lines.collect()
}

/// Runs of pieces that are shown, or are not, in turn.
fn runs(
    pieces: &[Range<usize>],
    marks: &[Range<usize>],
    first: usize,
) -> Vec<(Range<usize>, bool)> {
    let mut shown = vec![false; pieces.len()];
    let all = pieces.len() <= first + FEW;
    shown[..if all { pieces.len() } else { first }].fill(true);
    let mut at = 0;
    for mark in marks {
        at += pieces[at..].partition_point(|piece| piece.end <= mark.start);
        let marked = pieces[at..].partition_point(|piece| piece.start < mark.end);
        let to = (at + marked + BESIDE).min(pieces.len());
        shown[at.saturating_sub(BESIDE).min(to)..to].fill(true);
    }
    let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
    let mut at = 0;
    for run in shown.chunk_by(|a, b| a == b) {
        let range = at..at + run.len();
        at = range.end;
        let is_shown = run[0] || run.len() <= FEW;
        match runs.last_mut() {
            Some((last, shown)) if *shown == is_shown => last.end = range.end,
            _ => runs.push((range, is_shown)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room {
        lines: 3,
        bytes: 10,
    };

    /// What is shown, a line each; `…` for what is not.
    fn shown(text: &str, looked_for: &str) -> String {
        let marks = text.match_indices(looked_for);
        let marks: Vec<Range<usize>> = match looked_for {
            "" => Vec::new(),
            _ => marks.map(|(at, word)| at..at + word.len()).collect(),
        };
        let parts = parts(text, &marks, ROOM).into_iter();
        let lines = parts.map(|part| match part {
            Part::Shown(range) => text[range].to_owned(),
            Part::Lines(range) => format!("… {}", text[range].split('\n').count()),
            Part::Bytes(range) => format!("… {} bytes", range.len()),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn numbered(lines: usize) -> String {
        let lines = (1..=lines).map(|line| line.to_string());
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_long_text_is_folded_behind_its_beginning() {
        assert_eq!(shown("", ""), "");
        assert_eq!(shown(&numbered(5), ""), numbered(5));
        assert_eq!(shown(&numbered(6), ""), "1\n2\n3\n… 3");
        assert_eq!(shown(&numbered(41), ""), "1\n2\n3\n… 38");
    }

    #[test]
    fn a_match_is_never_folded_away() {
        assert_eq!(shown(&numbered(20), "12"), "1\n2\n3\n… 7\n11\n12\n13\n… 7");
        assert_eq!(shown(&numbered(20), "20"), "1\n2\n3\n… 15\n19\n20");
        // What is left out between two is not counted where it is as short as that.
        assert_eq!(shown(&numbered(9), "7"), numbered(9));
        // A match may go on over the end of a line.
        assert_eq!(
            shown(&numbered(20), "12\n13"),
            "1\n2\n3\n… 7\n11\n12\n13\n14\n… 6"
        );
    }

    #[test]
    fn a_long_line_is_cut_and_its_match_is_not() {
        let line = format!("{}needle{}", "a".repeat(100), "é".repeat(100));
        assert_eq!(shown(&line, ""), format!("{}\n… 296 bytes", "a".repeat(10)));
        let found = shown(&line, "needle");
        assert!(
            found.contains("aaaneedle") || found.contains("aaaaaneedle"),
            "{found}"
        );
        assert_eq!(found.matches('…').count(), 2, "{found}");
        assert!(found.len() < 100, "{found}");
    }
}
