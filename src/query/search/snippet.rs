//! Which part of a passage is shown? Around the first match, or where that shows more of the words
//! that are asked for, two parts.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::model::Class;
use crate::words::{Mark, Matcher, disjoint};

/// Characters of a snippet of one part before and after the start of its first match.
const ONE: (usize, usize) = (60, 140);
/// The same of each of two parts.
const EACH_OF_TWO: (usize, usize) = (30, 70);
/// A word that is longer than this may be cut.
const LONGEST_WORD: usize = 24;
/// So many places of each word are looked at, of those in one piece.
const PLACES: usize = 64;

/// A part of a passage.
struct Part<'a> {
    piece: usize,
    text: &'a str,
    range: Range<usize>,
    marks: &'a [Mark],
    /// The word that it is made to show, of which a long one may go on behind it.
    shows: Option<usize>,
}

impl<'a> Part<'a> {
    /// The part that shows one of the marks of a piece, and as much before and behind its start: of
    /// a mark that is longer its beginning.
    fn around(
        (piece, text): (usize, &'a str),
        marks: &'a [Mark],
        at: usize,
        (before, after): (usize, usize),
    ) -> Part<'a> {
        let mark = &marks[at].range;
        let start = text[..mark.start].char_indices().rev().take(before).last();
        let end = text[mark.start..].char_indices().nth(after);
        let start = start.map_or(mark.start, |(at, _)| at);
        let start = after_cut_word(text, start, mark.start);
        let end = end.map_or(text.len(), |(at, _)| mark.start + at);
        let least = match mark.end <= end {
            true => mark.end,
            false => mark.start,
        };
        Part {
            piece,
            text,
            range: start..before_cut_word(text, least, end),
            marks,
            shows: Some(marks[at].number),
        }
    }

    /// The words that can be seen in it.
    fn numbers(&self) -> BTreeSet<usize> {
        let Range { start, end } = self.range;
        let first = self.marks.partition_point(|mark| mark.range.start < start);
        let marks = self.marks[first..].iter();
        let marks = marks.take_while(|mark| mark.range.start < end);
        let seen = marks.filter(|mark| mark.range.end <= end);
        seen.map(|mark| mark.number).chain(self.shows).collect()
    }
}

/// Where the first word ends that `start` cuts, at `most` at the latest: behind white space, or
/// where that is far, before a sign. A long word stays cut.
fn after_cut_word(text: &str, start: usize, most: usize) -> usize {
    if start == 0 || !is_within_word(text, start) {
        return start;
    }
    let near = || text[start..most].char_indices().take(LONGEST_WORD);
    let blank = near().find(|(_, character)| character.is_whitespace());
    let sign = || near().find(|(_, character)| !character.is_alphanumeric());
    match (blank, is_within_letters(text, start)) {
        (Some((at, blank)), _) => start + at + blank.len_utf8(),
        (None, true) => sign().map_or(start, |(at, _)| start + at),
        (None, false) => start,
    }
}

/// Where the last word begins that `end` cuts, at `least` at the earliest: as [`after_cut_word`].
fn before_cut_word(text: &str, least: usize, end: usize) -> usize {
    if end <= least || end == text.len() || !is_within_word(text, end) {
        return end;
    }
    let near = || text[least..end].char_indices().rev().take(LONGEST_WORD);
    let blank = near().find(|(_, character)| character.is_whitespace());
    let sign = || near().find(|(_, character)| !character.is_alphanumeric());
    match (blank, is_within_letters(text, end)) {
        (Some((at, blank)), _) => least + at + blank.len_utf8(),
        (None, true) => sign().map_or(end, |(at, sign)| least + at + sign.len_utf8()),
        (None, false) => end,
    }
}

/// Whether both characters around are of this kind.
fn is_within(text: &str, at: usize, kind: impl Fn(char) -> bool) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at..].chars().next();
    before.is_some_and(&kind) && after.is_some_and(&kind)
}

/// A word as it is written: `snake_case`, `path/to/file`, `1.2.3-rc4`.
fn is_within_word(text: &str, at: usize) -> bool {
    is_within(text, at, |character| !character.is_whitespace())
}

fn is_within_letters(text: &str, at: usize) -> bool {
    is_within(text, at, char::is_alphanumeric)
}

/// What is shown of a passage, on one line, and where the matches are in it.
pub(super) fn snippet(
    matcher: Option<&Matcher>,
    class: Class,
    pieces: &[String],
) -> (String, Vec<(usize, usize)>) {
    let marks = |piece: &String| matcher.map(|matcher| matcher.marks(class, piece));
    let marks: Vec<Vec<Mark>> = pieces
        .iter()
        .map(|p| marks(p).unwrap_or_default())
        .collect();
    let parts = parts(pieces, &marks);
    let mut line = Line::default();
    parts.iter().for_each(|part| line.add(part));
    (line.text, line.marks)
}

/// What is told of a passage: where no words are looked for, not its tool's name, which stands
/// beside the hit, nor the shell that is given a command.
pub(super) fn told<'p>(
    matcher: Option<&Matcher>,
    pieces: &'p [String],
    tool: Option<&str>,
) -> &'p [String] {
    let of_tool = match (matcher, pieces) {
        (None, [first, rest @ ..]) if !rest.is_empty() && Some(first.as_str()) == tool => rest,
        (_, all) => return all,
    };
    match of_tool {
        [_, flag, command @ ..]
            if !command.is_empty() && matches!(&**flag, "-c" | "-lc" | "-Command") =>
        {
            command
        }
        all => all,
    }
}

/// The tool whose calls hold all the words that are looked for: each call begins with its tool.
/// Where that cannot be told, the first one.
pub(super) fn tool_of<'t>(
    matcher: Option<&Matcher>,
    class: Class,
    pieces: &[String],
    tools: &'t [String],
) -> Option<&'t String> {
    let first = tools.first()?;
    let named = |piece: &String| tools.iter().find(|tool| *tool == piece);
    let (Some(matcher), [_, _, ..]) = (matcher, tools) else {
        return Some(first);
    };
    let (mut tool, mut found) = (None, None);
    for piece in pieces {
        tool = named(piece).or(tool);
        if matcher.marks(class, piece).is_empty() {
            continue;
        }
        if tool.is_none() || found.is_some_and(|other| Some(other) != tool) {
            return Some(first);
        }
        found = tool;
    }
    found.or(Some(first))
}

/// The parts that show as many of the words as possible.
fn parts<'a>(pieces: &'a [String], marks: &'a [Vec<Mark>]) -> Vec<Part<'a>> {
    let all: BTreeSet<usize> = marks.iter().flatten().map(|mark| mark.number).collect();
    let best = |room, seen: &BTreeSet<usize>| -> Option<Part<'a>> {
        let mut best: Option<(usize, Part<'a>)> = None;
        for (number, (piece, marks)) in pieces.iter().zip(marks).enumerate() {
            for at in places(marks) {
                let part = Part::around((number, piece), marks, at, room);
                let more = part.numbers().difference(seen).count();
                if more > best.as_ref().map_or(0, |(most, _)| *most) {
                    best = Some((more, part));
                }
                // No part shows more than all.
                if more + seen.len() == all.len() {
                    return best.map(|(_, part)| part);
                }
            }
        }
        best.map(|(_, part)| part)
    };
    let none = BTreeSet::new();
    let Some(one) = best(ONE, &none) else {
        return pieces
            .first()
            .map(|piece| beginning(piece))
            .into_iter()
            .collect();
    };
    if one.numbers().len() == all.len() {
        return vec![one];
    }
    let Some(first) = best(EACH_OF_TWO, &none) else {
        return vec![one];
    };
    let seen = first.numbers();
    match best(EACH_OF_TWO, &seen) {
        Some(second) if seen.union(&second.numbers()).count() > one.numbers().len() => {
            in_order(first, second)
        }
        _ => vec![one],
    }
}

/// The first marks of each word.
fn places(marks: &[Mark]) -> Vec<usize> {
    let mut seen: HashMap<usize, usize> = HashMap::new();
    let mut places = Vec::new();
    for (at, mark) in marks.iter().enumerate() {
        let seen = seen.entry(mark.number).or_default();
        *seen += 1;
        if *seen <= PLACES {
            places.push(at);
        }
    }
    places
}

/// Two parts as they stand in the passage; as one where they touch.
fn in_order<'a>(first: Part<'a>, second: Part<'a>) -> Vec<Part<'a>> {
    let place = |part: &Part<'_>| (part.piece, part.range.start);
    let (first, second) = match place(&first) <= place(&second) {
        true => (first, second),
        false => (second, first),
    };
    if first.piece == second.piece && first.range.end >= second.range.start {
        let end = first.range.end.max(second.range.end);
        return vec![Part {
            range: first.range.start..end,
            ..first
        }];
    }
    vec![first, second]
}

/// A line with matches in it.
#[derive(Default)]
struct Line {
    text: String,
    marks: Vec<(usize, usize)>,
    /// Whether its last character is a blank that stands for white space.
    ends_blank: bool,
}

impl Line {
    /// Add a part, `…` where something is left out before or behind it.
    fn add(&mut self, part: &Part<'_>) {
        let Range { start, end } = part.range;
        if !self.text.is_empty() {
            let length = self.text.trim_end_matches(['…', ' ']).len();
            self.text.truncate(length);
            self.marks.retain_mut(|(start, end)| {
                *end = length.min(*end);
                start < end
            });
            self.text.push_str(" … ");
            self.ends_blank = true;
        } else if start > 0 {
            self.text.push('…');
        }
        let disjoint = disjoint(part.marks.iter().map(|mark| mark.range.clone()));
        let within = |range: &Range<usize>| range.start.max(start)..range.end.min(end);
        let found = disjoint.iter().map(within);
        let mut found = found.filter(|range| !range.is_empty()).peekable();
        let mut open: Option<usize> = None;
        for (offset, character) in part.text[start..end].char_indices() {
            let at = start + offset;
            if found.peek().is_some_and(|range| range.end <= at)
                && let Some(from) = open.take()
            {
                self.marks.push((from, self.text.len()));
                found.next();
            }
            let is_blank = character.is_whitespace() || character.is_control();
            if open.is_none() && found.peek().is_some_and(|range| range.start == at) {
                open = Some(self.text.len());
            }
            self.push(character, is_blank);
        }
        if let Some(from) = open {
            self.marks.push((from, self.text.len()));
        }
        if end < part.text.len() {
            self.text.push('…');
        }
    }

    fn push(&mut self, character: char, is_blank: bool) {
        match (is_blank, self.ends_blank) {
            (true, true) => {}
            (true, false) => self.text.push(' '),
            (false, _) => self.text.push(character),
        }
        self.ends_blank = is_blank;
    }
}

/// The beginning of a piece in which nothing is asked for.
fn beginning(piece: &str) -> Part<'_> {
    let end = piece.char_indices().nth(ONE.1);
    let end = end.map_or(piece.len(), |(at, _)| before_cut_word(piece, 0, at));
    Part {
        piece: 0,
        text: piece,
        range: 0..end,
        marks: &[],
        shows: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Expr;

    fn shown(words: &[&str], pieces: &[&str]) -> String {
        let words = words.iter().map(|word| Expr::Word((*word).to_owned()));
        let matcher = Matcher::new(&Expr::Or(words.collect()));
        let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        let (line, marks) = snippet(Some(&matcher), Class::Prose, &pieces);
        let mut out = String::new();
        let mut at = 0;
        for (from, to) in marks {
            out += &format!("{}[{}]", &line[at..from], &line[from..to]);
            at = to;
        }
        out + &line[at..]
    }

    #[test]
    fn as_many_of_the_words_as_possible_are_shown_in_two_parts() {
        let gap = "lorem ipsum dolor sit amet ".repeat(20);
        let text = format!("alpha {gap}beta {gap}alpha gamma beta {gap}");
        let line = shown(&["alpha", "beta", "gamma"], &[&text]);
        assert!(line.contains("[alpha] [gamma] [beta]"), "{line}");
        let text = format!("{gap}alpha {gap}beta {gap}");
        let line = shown(&["alpha", "beta"], &[&text]);
        assert!(
            line.contains("[alpha]") && line.contains("[beta]"),
            "{line}"
        );
        assert_eq!(line.matches('…').count(), 3, "{line}");
        assert!(line.chars().count() < 220, "{line}");
        assert_eq!(
            shown(&["alpha", "beta"], &["an alpha", "a beta"]),
            "an [alpha] … a [beta]"
        );
    }

    #[test]
    fn of_a_command_that_a_shell_is_given_the_command_is_told() {
        let pieces = |words: &str| -> Vec<String> { words.split('|').map(str::to_owned).collect() };
        for (given, expected) in [
            (
                "shell|bash|-lc|helm rollback web 41",
                "helm rollback web 41",
            ),
            ("shell|helm|rollback|web", "helm|rollback|web"),
            ("shell|bash|-lc", "bash|-lc"),
            ("bash|-c|ls", "bash|-c|ls"),
        ] {
            let told = told(None, &pieces(given), Some("shell")).join("|");
            assert_eq!(told, expected, "{given}");
        }
    }

    #[test]
    fn a_match_that_is_cut_off_with_what_stands_around_it_is_not_marked() {
        let text = format!(
            "{} {} needle {}",
            "…".repeat(60),
            "x".repeat(300),
            "y".repeat(40)
        );
        let dots = Expr::Regex("…+".to_owned());
        let matcher = Matcher::new(&Expr::Or(vec![dots, Expr::Word("needle".to_owned())]));
        let (line, marks) = snippet(Some(&matcher), Class::Prose, &[text]);
        let seen: Vec<&str> = marks.iter().map(|(from, to)| &line[*from..*to]).collect();
        assert_eq!(seen, ["needle"], "{line}");
    }

    #[test]
    fn of_a_match_longer_than_the_snippet_the_beginning_is_shown() {
        let long = "the quick brown fox jumps over a lazy dog ".repeat(5);
        let filler = "nothing to see here ".repeat(20);
        let text = format!("{filler}{long}{filler}");
        let pieces = ["bash".to_owned(), text];
        let phrase = Expr::Phrase(long.trim().to_owned());
        let part = Expr::Substring(long.trim().to_owned());
        let regex = Expr::Regex("quick.*lazy dog".to_owned());
        for (expr, begins) in [(phrase, "the quick"), (part, "the quick"), (regex, "quick")] {
            let matcher = Matcher::new(&expr);
            let (line, marks) = snippet(Some(&matcher), Class::Output, &pieces);
            assert!(line.chars().count() < 220, "{line}");
            let [(from, to)] = marks[..] else {
                panic!("{expr:?}: {marks:?} in {line}");
            };
            let marked = &line[from..to];
            assert!(marked.starts_with(begins) && marked.len() > 100, "{line}");
            assert_eq!(&line[to..], "…", "{line}");
            let last = marked.trim_end().rsplit(' ').next();
            assert!(
                last.is_some_and(|word| long.contains(&format!("{word} "))),
                "{line}"
            );
        }
        // Beside it, and in two parts, too.
        let short = Expr::Word("needle".to_owned());
        let phrase = Expr::Phrase(long.trim().to_owned());
        let matcher = Matcher::new(&Expr::Or(vec![short, phrase]));
        let pieces = [format!("{filler}{long}{filler}needle {filler}")];
        let (line, marks) = snippet(Some(&matcher), Class::Prose, &pieces);
        let seen: Vec<&str> = marks.iter().map(|(from, to)| &line[*from..*to]).collect();
        assert!(seen[0].starts_with("the quick"), "{line}");
        assert_eq!(seen.last(), Some(&"needle"), "{line}");
    }

    #[test]
    fn words_are_whole_at_both_ends() {
        let text = format!(
            "{}needle {}",
            "straw hay ".repeat(30),
            "hay straw ".repeat(30)
        );
        let line = shown(&["needle"], &[&text]);
        let inner = line.trim_matches('…');
        for word in inner.split_whitespace() {
            assert!(
                ["straw", "hay", "[needle]"].contains(&word),
                "{word}: {line}"
            );
        }
        for word in [
            "snake_case_word",
            "path/to/some.file",
            "1.2.3-rc4",
            "--long-flag",
        ] {
            let around = format!("{word} ").repeat(30);
            for pad in 0..word.len() {
                let pad = "x".repeat(pad);
                let line = shown(
                    &["needle"],
                    &[&format!("{around}{pad} needle {pad} {around}")],
                );
                let mut shown = line.trim_matches(['…', ' ']).split(' ');
                for end in shown.clone().take(1).chain(shown.next_back()) {
                    assert_eq!(end, word, "{line}");
                }
            }
        }
        let long = format!("{}needle{}", "é".repeat(300), "日".repeat(300));
        assert!(shown(&["needle"], &[&long]).chars().count() < 220);
    }

    #[test]
    fn where_nothing_is_asked_for_the_beginning_is_shown() {
        let text = "one two ".repeat(40);
        let line = shown(&["none"], &[&text]);
        assert!(line.starts_with("one two") && line.ends_with('…'), "{line}");
        assert_eq!(shown(&["none"], &[]), "");
    }
}
