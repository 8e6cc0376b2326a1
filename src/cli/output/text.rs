//! How does text from a session reach a terminal without doing anything there?
//!
//! Sessions hold what tools printed: escape sequences, carriage returns, right-to-left overrides.
//! None of it may move a cursor, set a title or reorder a line.

pub use sessionary::model::{acts, is_safe_json, json_escape, terminal_safe_json};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A character that is shown in place of one that acts.
fn shown(character: char) -> char {
    match u32::from(character) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ if acts(character) => '\u{fffd}',
        _ => character,
    }
}

/// Text on one line: white space becomes one space, nothing acts.
pub fn plain_line(text: &str) -> String {
    plain_beginning(text, usize::MAX)
}

/// As [`plain_line`], but so many characters at most: of a longer line the beginning and `…`.
pub fn plain_beginning(text: &str, most: usize) -> String {
    let mut line = String::with_capacity(text.len().min(most));
    let mut length = 0;
    // Where the line is cut if it turns out to be longer.
    let mut cut = 0;
    let mut after_space = true;
    for character in text.chars() {
        let is_space = character.is_whitespace();
        if is_space && after_space {
            continue;
        }
        // White space at the end does not make it longer.
        if length >= most && !is_space {
            line.truncate(cut);
            line.push('…');
            return line;
        }
        if length + 1 == most {
            cut = line.len();
        }
        line.push(if is_space { ' ' } else { shown(character) });
        length += 1;
        after_space = is_space;
    }
    line.truncate(line.trim_end().len());
    line
}

/// As [`plain_line`], and where byte ranges of `text` went.
pub fn plain_line_marked(text: &str, marks: &[(usize, usize)]) -> (String, Vec<(usize, usize)>) {
    let mut line = String::with_capacity(text.len());
    let mut at = vec![None::<(usize, usize)>; marks.len()];
    for (offset, character) in text.char_indices() {
        let before = line.len();
        if character.is_whitespace() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else {
            line.push(shown(character));
        }
        for (mark, place) in marks.iter().zip(&mut at) {
            if (mark.0..mark.1).contains(&offset) && line.len() > before {
                *place = Some((place.map_or(before, |place| place.0), line.len()));
            }
        }
    }
    let end = line.trim_end().len();
    line.truncate(end);
    let places = at
        .into_iter()
        .flatten()
        .map(|(from, to)| (from.min(end), to.min(end)));
    (line, places.filter(|(from, to)| from < to).collect())
}

/// Text on several lines: line ends and tabs stay, nothing else acts.
pub fn plain_lines(text: &str) -> String {
    lines(text, "    ")
}

/// As [`plain_lines`] for what is no terminal: tabs stay tabs.
pub fn inert_lines(text: &str) -> String {
    lines(text, "\t")
}

fn lines(text: &str, tab: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' => lines.push('\n'),
            '\t' => lines.push_str(tab),
            character => lines.push(shown(character)),
        }
    }
    lines
}

/// Columns that a text takes on a terminal which draws what several characters make as one.
pub fn columns(text: &str) -> usize {
    graphemes(text)
        .map(|(_, part)| grapheme_columns(part))
        .sum()
}

/// What is seen as one character each, and where it begins.
pub fn graphemes(text: &str) -> impl DoubleEndedIterator<Item = (usize, &str)> {
    // Most text is ASCII, of which each character is one.
    let is_ascii = text.is_ascii();
    let letters = is_ascii.then(|| (0..text.len()).map(move |at| (at, &text[at..=at])));
    let others = (!is_ascii).then(|| text.grapheme_indices(true));
    letters
        .into_iter()
        .flatten()
        .chain(others.into_iter().flatten())
}

/// Columns of one of these.
pub fn grapheme_columns(part: &str) -> usize {
    let mut characters = part.chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) => char_columns(one),
        _ if part.contains(char::is_control) => part.chars().map(char_columns).sum(),
        _ => part.width(),
    }
}

/// Columns of one character.
pub fn char_columns(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// The text, cut with `…` when it takes more than `width` columns.
pub fn fit(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut cut = prefix(text, width.saturating_sub(1)).trim_end().to_owned();
    if width > 0 {
        cut.push('…');
    }
    cut
}

/// The text, its beginning cut with `…` when it takes more than `width` columns.
pub fn fit_end(text: &str, width: usize) -> String {
    let total = columns(text);
    if total <= width || width == 0 {
        return if width == 0 {
            String::new()
        } else {
            text.to_owned()
        };
    }
    let mut left = total;
    for (offset, part) in graphemes(text) {
        if left < width {
            return format!("…{}", &text[offset..]);
        }
        left -= grapheme_columns(part);
    }
    "…".to_owned()
}

/// The longest beginning of `text` that takes at most `width` columns.
pub fn prefix(text: &str, width: usize) -> &str {
    let mut taken = 0;
    for (offset, part) in graphemes(text) {
        taken += grapheme_columns(part);
        if taken > width {
            return &text[..offset];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_the_terminal() {
        assert_eq!(
            plain_line("a\u{1b}[31mb\u{7}\n\n c\u{202e}d\u{9b}e\r"),
            "a␛[31mb␇ c\u{fffd}d\u{fffd}e"
        );
        assert_eq!(plain_lines("a\r\nb\tc\rd\u{1b}"), "a\nb    c␍d␛");
        for code in 0..=0x10_ffff {
            if let Some(character) = char::from_u32(code) {
                assert!(!acts(shown(character)), "{code:x}");
            }
        }
    }

    #[test]
    fn the_beginning_of_a_line_is_that_of_the_whole() {
        for text in [
            "",
            " \n",
            "ab",
            "  a \n b\u{1b}  日本 c  ",
            "a    ",
            "a    b",
            "abc\n",
        ] {
            let whole = plain_line_marked(text, &[]).0;
            assert_eq!(plain_line(text), whole);
            for most in 1..12 {
                let cut: String = match whole.chars().count() > most {
                    true => whole.chars().take(most - 1).chain(['…']).collect(),
                    false => whole.clone(),
                };
                assert_eq!(plain_beginning(text, most), cut, "{most} of {text:?}");
            }
        }
    }

    #[test]
    fn marks_move_with_the_text() {
        let text = "  \n one \u{1b} two\n\nthree";
        let marks: Vec<_> = ["one", "two", "two\n\nthree", "\n"]
            .iter()
            .filter_map(|word| text.find(word).map(|from| (from, from + word.len())))
            .collect();
        let (line, moved) = plain_line_marked(text, &marks);
        assert_eq!(line, "one ␛ two three");
        let words: Vec<_> = moved.iter().map(|&(from, to)| &line[from..to]).collect();
        assert_eq!(words, ["one", "two", "two three"]);
    }

    #[test]
    fn cut_by_columns() {
        assert_eq!(fit("日本語テキスト", 14), "日本語テキスト");
        assert_eq!(fit("日本語テキスト", 13), "日本語テキス…");
        assert_eq!(fit("日本語テキスト", 12), "日本語テキ…");
        assert_eq!(fit("abc def", 5), "abc…");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(fit_end("~/desk/日本", 11), "~/desk/日本");
        assert_eq!(fit_end("~/desk/日本", 7), "…k/日本");
        assert_eq!(fit_end("~/desk/日本", 4), "…本");
        // What several characters make is one, and stays whole.
        let family = "👩‍👩‍👧‍👦👨🏽‍🚀🏳️‍🌈ab";
        assert_eq!(columns(family), 8);
        assert_eq!(fit(family, 8), family);
        assert_eq!(fit(family, 6), "👩‍👩‍👧‍👦👨🏽‍🚀…");
        assert_eq!(fit(family, 5), "👩‍👩‍👧‍👦👨🏽‍🚀…");
        assert_eq!(fit_end(family, 5), "…🏳️‍🌈ab");
        assert_eq!(prefix("e\u{301}e\u{301}", 1), "e\u{301}");
        assert_eq!(columns("🇨🇭"), 2);
        for width in 0..12 {
            assert!(columns(&fit("a日b語c", width)) <= width);
            assert!(columns(&fit_end("a日b語c", width)) <= width);
        }
    }
}
