//! How is the query line edited? With the keys of fzf.

use unicode_segmentation::UnicodeSegmentation;

use super::keys::Action;

/// A line of text that is being typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryLine {
    text: String,
    /// The byte before which the next letter goes.
    cursor: usize,
    /// What was cut last.
    cut: String,
}

impl QueryLine {
    /// This text, to go on behind it.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cursor: text.len(),
            cut: String::new(),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte before which the cursor stands.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn is_at_end(&self) -> bool {
        self.cursor == self.text.len()
    }

    /// Types this text. What would act on a terminal becomes a blank.
    pub fn insert(&mut self, text: &str) {
        let text: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Does what a key asks for, if that is an edit.
    pub fn edit(&mut self, action: &Action) {
        match action {
            Action::Type(letter) => self.insert(letter.encode_utf8(&mut [0; 4])),
            Action::Left => self.left(),
            Action::Right => self.right(),
            Action::WordLeft => self.word_left(),
            Action::WordRight => self.word_right(),
            Action::LineStart => self.home(),
            Action::LineEnd => self.end(),
            Action::Backspace => self.backspace(),
            Action::Delete | Action::DeleteOrLeave => self.delete(),
            Action::CutWord => self.cut_word(),
            Action::CutNextWord => self.cut_next_word(),
            Action::CutToStart => self.cut_to_start(),
            Action::PasteCut => self.paste_cut(),
            _ => {}
        }
    }

    /// Types this in place of what stands from that byte on before the cursor.
    pub fn put_from(&mut self, start: usize, text: &str) {
        if self.text.is_char_boundary(start) && start <= self.cursor {
            self.text.drain(start..self.cursor);
            self.cursor = start;
        }
        self.insert(text);
    }

    pub fn left(&mut self) {
        self.cursor = self.before();
    }

    pub fn right(&mut self) {
        self.cursor = self.after();
    }

    pub fn home(&mut self) {
        self.cursor = 0;
    }

    pub fn end(&mut self) {
        self.cursor = self.text.len();
    }

    pub fn word_left(&mut self) {
        self.cursor = self.word_before();
    }

    pub fn word_right(&mut self) {
        self.cursor = self.word_after();
    }

    /// Deletes the letter before the cursor.
    pub fn backspace(&mut self) {
        let from = self.before();
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }

    /// Deletes the letter behind the cursor.
    pub fn delete(&mut self) {
        let to = self.after();
        self.text.drain(self.cursor..to);
    }

    /// Cuts the word before the cursor.
    pub fn cut_word(&mut self) {
        self.cut(self.word_before(), self.cursor);
    }

    /// Cuts the word behind the cursor.
    pub fn cut_next_word(&mut self) {
        self.cut(self.cursor, self.word_after());
    }

    /// Cuts all before the cursor.
    pub fn cut_to_start(&mut self) {
        self.cut(0, self.cursor);
    }

    /// Cuts all between these bytes; where that is nothing, what was cut before is still there.
    fn cut(&mut self, from: usize, to: usize) {
        if from < to {
            self.cut = self.text.drain(from..to).collect();
            self.cursor = from;
        }
    }

    /// Types what was cut last.
    pub fn paste_cut(&mut self) {
        let cut = self.cut.clone();
        self.insert(&cut);
    }

    fn before(&self) -> usize {
        let last = self.text[..self.cursor].grapheme_indices(true).next_back();
        last.map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        let next = self.text[self.cursor..].graphemes(true).next();
        self.cursor + next.map_or(0, str::len)
    }

    fn word_after(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let blanks = rest.len() - rest.trim_start().len();
        let word = rest[blanks..].find(char::is_whitespace);
        self.cursor + word.map_or(rest.len(), |word| blanks + word)
    }

    fn word_before(&self) -> usize {
        let head = self.text[..self.cursor].trim_end();
        head.rfind(char::is_whitespace).map_or(0, |blank| {
            blank + head[blank..].chars().next().map_or(0, char::len_utf8)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_behind_the_cursor_is_cut_and_comes_back() {
        let mut line = QueryLine::new("one  two three");
        line.home();
        line.word_right();
        line.edit(&Action::CutNextWord);
        assert_eq!((line.text(), line.cursor()), ("one three", 3));
        line.edit(&Action::PasteCut);
        assert_eq!((line.text(), line.cursor()), ("one  two three", 8));
        line.end();
        line.edit(&Action::CutNextWord);
        assert_eq!(line.text(), "one  two three");
    }

    #[test]
    fn where_there_is_nothing_to_cut_what_was_cut_stays() {
        let mut line = QueryLine::new("one two");
        line.edit(&Action::CutToStart);
        for action in [Action::CutNextWord, Action::CutWord, Action::CutToStart] {
            line.edit(&action);
        }
        line.edit(&Action::PasteCut);
        assert_eq!(line.text(), "one two");
    }
}
