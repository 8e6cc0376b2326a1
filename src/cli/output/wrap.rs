//! Where does a line end that is longer than the terminal? At a blank, and what it goes on with
//! stands below its beginning. What is copied as it is, code and diffs, is not broken at words.

use std::ops::Range;

use super::text::{char_columns, columns};

/// What makes one emoji of those around it.
const JOINER: char = '\u{200d}';
/// What makes an emoji of the character before it.
const AS_EMOJI: char = '\u{fe0f}';
/// Stands for a blank at which a line does not end: a character that no text has.
const JOINED: &str = "\u{10fffd}";
/// Wide characters that stand at no beginning of a line.
const CLOSING: &str = "、。，．！？：；）」』】〉》ー";

/// The lines of a text, taken one after the other.
#[derive(Debug, Default)]
pub struct Wrap {
    /// Columns to fit; `None`: lines stay as long as they are.
    width: Option<usize>,
    /// The fence of the block of code that is open.
    fence: Option<String>,
    in_diff: bool,
}

/// Columns that a printed line is indented, and the bytes of the text's line that stand in it.
pub type Piece = (usize, Range<usize>);

impl Wrap {
    /// For a terminal that wide.
    pub fn new(width: Option<usize>) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    /// The lines in which the next line of the text is printed, at least one.
    pub fn pieces(&mut self, line: &str) -> Vec<Piece> {
        let is_code = self.is_code(line);
        match self.width.filter(|_| !is_code) {
            Some(width) => pieces(line, width),
            None => vec![(0, 0..line.len())],
        }
    }

    /// As [`Wrap::pieces`] where nothing may be wider: code is broken where the line is full.
    pub fn fitting(&mut self, line: &str) -> Vec<Piece> {
        let is_code = self.is_code(line);
        match self.width {
            Some(width) if is_code => filled(line, width),
            Some(width) => pieces(line, width),
            None => vec![(0, 0..line.len())],
        }
    }

    /// Whether the next line of the text is of a block of code, a table or a diff.
    fn is_code(&mut self, line: &str) -> bool {
        let indented = line.len() - line.trim_start_matches(' ').len();
        let begun = line.trim_start_matches(' ');
        let mark = begun.chars().next().filter(|mark| "`~".contains(*mark));
        let fence = mark.map_or(0, |mark| begun.chars().take_while(|c| *c == mark).count());
        if let Some(open) = &self.fence {
            if fence >= open.len() && begun.starts_with(open) && begun[fence..].trim().is_empty() {
                self.fence = None;
            }
            return true;
        }
        if fence >= 3 {
            self.fence = Some(begun[..fence].to_owned());
            return true;
        }
        self.in_diff = line.starts_with("diff --git ")
            || line.starts_with("@@ -")
            || self.in_diff && line.starts_with(['+', '-', ' ', '@', '\\']);
        self.in_diff || begun.starts_with('|') || indented >= 4 && list_mark(begun) == 0
    }
}

/// Bytes of the mark and the blanks with which an item of a list, or a quotation, begins.
fn list_mark(text: &str) -> usize {
    let number = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mark = match text.as_bytes().get(number) {
        Some(b'.' | b')') if (1..4).contains(&number) => number + 1,
        Some(b'-' | b'*' | b'+' | b'>') if number == 0 => 1,
        _ if text.starts_with('•') => '•'.len_utf8(),
        _ => return 0,
    };
    let rest = &text[mark..];
    match rest.len() - rest.trim_start_matches(' ').len() {
        0 => 0,
        blanks => mark + blanks,
    }
}

/// Columns of the character that the text begins with. Many an emoji is a narrow character and what
/// makes an emoji of it.
fn first_columns(text: &str, character: char) -> usize {
    match char_columns(character) {
        1 if text[character.len_utf8()..].starts_with(AS_EMOJI) => 2,
        wide => wide,
    }
}

/// Whether a character is a part of the one before it.
fn is_part(before: Option<char>, character: char) -> bool {
    before == Some(JOINER) || character == AS_EMOJI || is_skin(character)
}

/// A line in lines of at most `width` columns, each as full as can be.
pub fn filled(line: &str, width: usize) -> Vec<Piece> {
    let (mut pieces, mut start, mut taken, mut before) = (Vec::new(), 0, 0, None);
    if columns(line) <= width {
        return vec![(0, 0..line.len())];
    }
    for (at, character) in line.char_indices() {
        let wide = first_columns(&line[at..], character);
        if taken + wide > width && at > start && !is_part(before, character) {
            pieces.push((0, start..at));
            (start, taken) = (at, 0);
        }
        taken += wide;
        before = Some(character);
    }
    pieces.push((0, start..line.len()));
    pieces
}

/// What is said to people, in lines of at most `width` columns. A command, in backticks, stays on
/// one line if it fits there: who copies it runs all of it.
pub fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let parts = text.split('`').enumerate();
    let joined = parts.map(|(number, part)| match number % 2 {
        1 => part.replace(' ', JOINED),
        _ => part.to_owned(),
    });
    let joined = joined.collect::<Vec<_>>().join("`");
    let mut out = Vec::new();
    for line in joined.split('\n') {
        for (indent, piece) in pieces(line, width) {
            let piece = line[piece].replace(JOINED, " ");
            out.push(format!("{}{piece}", " ".repeat(indent)));
        }
    }
    out.join("\n")
}

/// A line in lines of at most `width` columns.
pub fn pieces(line: &str, width: usize) -> Vec<Piece> {
    if columns(line) <= width {
        return vec![(0, 0..line.len())];
    }
    let blanks = line.len() - line.trim_start_matches(' ').len();
    let content = blanks + list_mark(&line[blanks..]);
    let indent = columns(&line[..content]).min(width / 2);
    let mut pieces = Vec::new();
    let (mut start, mut taken, mut indented) = (0, 0, 0);
    let trimmed = |from: usize, to: usize| from..from + line[from..to].trim_end_matches(' ').len();
    // Where it may be broken: the end of what stands before, and the beginning of what follows.
    let mut gap: Option<(usize, usize)> = None;
    let mut before = None;
    for (at, character) in line.char_indices() {
        let wide = first_columns(&line[at..], character);
        if at > content && at > start {
            gap = match (character, before) {
                (' ', Some(' ')) | (_, Some(JOINER)) => gap,
                (' ', _) => Some((at, at)),
                (_, Some(' ')) => gap.map(|(end, _)| (end, at)),
                (next, Some(last)) if may_part(last, next) => Some((at, at)),
                _ => gap,
            };
        }
        let is_one = is_part(before, character);
        while character != ' ' && !is_one && indented + taken + wide > width && at > start {
            let (end, next) = gap.take().unwrap_or((at, at));
            pieces.push((indented, trimmed(start, end)));
            (start, taken, indented) = (next, columns(&line[next..at]), indent);
        }
        taken += wide;
        before = Some(character);
    }
    pieces.push((indented, trimmed(start, line.len())));
    pieces
}

/// Whether a line may end between two characters without a blank: in Chinese and Japanese, which
/// have none.
fn may_part(last: char, next: char) -> bool {
    let is_wide = |character| char_columns(character) > 1;
    let is_whole = char_columns(next) > 0 && !is_skin(next);
    is_whole && (is_wide(last) || is_wide(next)) && !CLOSING.contains(next)
}

/// The colour of an emoji's skin, which is part of the emoji before it.
fn is_skin(character: char) -> bool {
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&character)
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn lines_of(line: &str, width: usize) -> String {
        let texts = pieces(line, width).into_iter();
        let texts = texts.map(|(indent, piece)| format!("{:indent$}{}", "", &line[piece]));
        texts.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_command_that_is_named_stays_on_its_line() {
        let text = "claude deletes its sessions. `sessionary archive on claude` keeps them:\n  all";
        let lines =
            "claude deletes its sessions.\n`sessionary archive on claude`\nkeeps them:\n  all";
        assert_eq!(wrapped(text, Some(32)), lines);
        assert_eq!(wrapped(text, None), text);
        let apart = "a\u{a0}b `c";
        assert_eq!(
            wrapped(apart, Some(4)),
            "a\u{a0}b\n`c",
            "an open one, and a blank of its own"
        );
    }

    #[test]
    fn words_stay_whole() {
        for (line, width, expected) in [
            ("", 5, ""),
            ("one two", 7, "one two"),
            ("one two three", 7, "one two\nthree"),
            ("one  two   ", 7, "one\ntwo"),
            ("       ", 3, ""),
            ("  - one two three", 9, "  - one\n    two\n    three"),
            ("12. one two", 8, "12. one\n    two"),
            ("> one two", 7, "> one\n  two"),
            ("-one two", 5, "-one\ntwo"),
            // What is longer than the line begins on one of its own.
            ("see https://a.b/c", 8, "see\nhttps://\na.b/c"),
            ("- https://a.b/c d", 10, "- https://\n  a.b/c d"),
            ("日本語 テスト。あ", 6, "日本語\nテス\nト。あ"),
            (
                "e\u{301}e\u{301}e\u{301}e\u{301}",
                3,
                "e\u{301}e\u{301}e\u{301}\ne\u{301}",
            ),
            ("👍🏽👍🏽", 3, "👍🏽\n👍🏽"),
        ] {
            assert_eq!(lines_of(line, width), expected, "{line:?} in {width}");
        }
    }

    #[test]
    fn nothing_is_lost_and_all_fits() {
        let parts = [
            "a",
            "bcd",
            " ",
            "  ",
            "日",
            "。",
            "e\u{301}",
            "- ",
            "longer-word",
            "1. ",
            "❤️",
        ];
        let mut state = 1_u64;
        for round in 0..4_000_usize {
            let mut line = String::new();
            for _ in 0..round % 40 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                line.push_str(parts[(state >> 33) as usize % parts.len()]);
            }
            let width = 4 + round % 30;
            let shown = lines_of(&line, width);
            let solid = |text: &str| text.replace([' ', '\n'], "");
            assert_eq!(solid(&shown), solid(&line), "{line:?} in {width}");
            let fits = shown.lines().all(|line| line.width() <= width);
            assert!(fits, "{line:?} in {width}: {shown}");
        }
    }

    #[test]
    fn code_is_broken_where_the_line_is_full() {
        let fitted = |text: &str, width| {
            let mut wrap = Wrap::new(Some(width));
            let lines = text.lines().flat_map(|line| {
                let pieces = wrap.fitting(line).into_iter();
                pieces.map(|(indent, piece)| format!("{:indent$}{}", "", &line[piece]))
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        let text = "one two three\n```\nlet one = two;\n```";
        assert_eq!(
            fitted(text, 8),
            "one two\nthree\n```\nlet one \n= two;\n```"
        );
        // No wide character is cut, and no emoji of several.
        assert_eq!(
            fitted(
                "```\n日本語\n❤️❤️❤️\n👍🏽👍🏽\ne\u{301}e\u{301}e\u{301}e\u{301}",
                3
            ),
            "```\n日\n本\n語\n❤️\n❤️\n❤️\n👍🏽\n👍🏽\ne\u{301}e\u{301}e\u{301}\ne\u{301}"
        );
        assert_eq!(lines_of("❤️❤️❤️", 4), "❤️❤️\n❤️");
        assert_eq!(lines_of("a ❤️ b", 4), "a ❤️\nb");
    }

    #[test]
    fn what_is_copied_as_it_is() {
        let code = |text: &str| {
            let mut code = Wrap::default();
            let has = text
                .lines()
                .map(|line| if code.is_code(line) { 'x' } else { '.' });
            has.collect::<String>()
        };
        assert_eq!(code("a\n```rust\nb\n~~~\n```\nc"), ".xxxx.");
        assert_eq!(code("````\n```\n`````  \nc"), "xxx.");
        assert_eq!(
            code("- a\n\n    - b\n    c\n| d | e |\n  ```\n```\n>  f"),
            "...xxxx."
        );
        assert_eq!(
            code("diff --git a b\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\nz\n- a"),
            "xxxxxx.."
        );
    }
}
