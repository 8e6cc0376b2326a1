//! What is told about a query that is read all the same?

use super::SyntaxError;

/// More notes than these tell nobody anything.
const MOST: usize = 10;
/// Characters of a query that one note repeats.
const LONGEST: usize = 60;

/// A habit that is told once, however often it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    Filter,
    Distance,
    Proximity,
    Weight,
    Demand,
    Or,
    Time,
    Wildcard,
    Quote,
}

/// What is told about a query.
#[derive(Debug)]
pub(super) struct Notes {
    /// It is still being typed, so nothing in it is refused.
    pub is_typing: bool,
    said: Vec<String>,
    /// Why the first part that was left out could not be read.
    left_out: Option<SyntaxError>,
    habits: Vec<Habit>,
}

impl Notes {
    pub fn new(is_typing: bool) -> Self {
        Self {
            is_typing,
            said: Vec::new(),
            left_out: None,
            habits: Vec::new(),
        }
    }

    pub fn say(&mut self, column: usize, what: &str) {
        if self.said.len() < MOST {
            self.said.push(format!("column {column}: {what}"));
        }
    }

    pub fn say_once(&mut self, habit: Habit, column: usize, what: &str) {
        if !self.habits.contains(&habit) {
            self.habits.push(habit);
            self.say(column, what);
        }
    }

    pub fn has_said(&self, habit: Habit) -> bool {
        self.habits.contains(&habit)
    }

    /// A part of the query, `typed`, that has no meaning where it stands. The rest has.
    pub fn leave_out(&mut self, typed: &str, error: SyntaxError) {
        let mut what = format!("{} is left out: expected {}", short(typed), error.expected);
        if let Some(hint) = &error.suggestion {
            what.push_str(&format!("; {hint}"));
        }
        self.say(error.column, &what);
        self.left_out.get_or_insert(error);
    }

    /// A part that is refused, or left out while the query is still being typed.
    pub fn refuse(&mut self, typed: &str, error: SyntaxError) -> Result<(), SyntaxError> {
        match self.is_typing {
            true => self.leave_out(typed, error),
            false => return Err(error),
        }
        Ok(())
    }

    /// Why the first part that was left out could not be read.
    pub fn first_left_out(&mut self) -> Option<SyntaxError> {
        self.left_out.take()
    }

    pub fn into_said(self) -> Vec<String> {
        self.said
    }
}

/// The beginning of a text that may be of any length.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What finds a text as it is written, whatever signs it consists of.
pub(super) fn as_written(text: &str) -> String {
    let text = text.trim();
    match text.contains(['*', '"', '\\']) || text.contains(char::is_whitespace) {
        true => format!("/{}/", regex::escape(text).replace('/', "\\/")),
        false => format!("*{text}*"),
    }
}
