//! How is an answer printed that is too large to be held? Piece by piece.

use std::io::{self, Write};

use serde::Serialize;

use super::answer::Answer;
use super::text::terminal_safe_json;
use crate::failure::Failure;

/// Standard output, written in large blocks.
pub struct Stream {
    out: Answer,
}

impl Stream {
    /// Nothing yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            out: Answer::new()?,
        })
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Adds what a terminal would act on only in escapes.
    pub fn json(&mut self, json: &str) -> io::Result<()> {
        self.text(&terminal_safe_json(json))
    }

    /// Where bytes go as they are.
    pub fn bytes(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Hands over what is left.
    pub fn end(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A JSON object whose last list is printed piece by piece: what stands before and after its members.
pub struct Around {
    /// Up to and with the opening bracket.
    pub before: String,
    /// From the closing bracket on.
    pub after: String,
}

impl Around {
    /// Of an object with an empty list `entries`, behind which no object or list stands.
    pub fn entries<T: Serialize>(empty: &T) -> Result<Self, Failure> {
        let json = serde_json::to_string(empty)?;
        let list = "\"entries\":[";
        // Quotes in a text are escaped, so this is the key itself.
        let at = json.rfind(list).map_or(json.len(), |at| at + list.len());
        let (before, after) = json.split_at(at);
        Ok(Self {
            before: before.to_owned(),
            after: format!("{after}\n"),
        })
    }
}
