//! How is an answer printed that is too large to be held? Piece by piece.

use std::io::{self, Write};

use serde::Serialize;

use super::spool::Spool;
use super::text::terminal_safe_json;
use crate::failure::Failure;

/// An answer that comes piece by piece.
#[derive(Default)]
pub struct Stream {
    out: Spool,
}

impl Stream {
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

    /// All of it, to be printed.
    pub fn end(self) -> Spool {
        self.out
    }
}

/// A JSON object whose last list is printed piece by piece: what stands before and after its
/// members.
pub struct JsonFrame {
    /// Up to and with the opening bracket.
    pub before: String,
    /// From the closing bracket on.
    pub after: String,
}

impl JsonFrame {
    /// Of an object with an empty list `entries`, behind which no list with members of that name
    /// stands.
    pub fn entries<T: Serialize>(empty: &T) -> Result<Self, Failure> {
        Self::of(empty, "entries")
    }

    /// Of an object with an empty list of this name, behind which no other one has it.
    pub fn of<T: Serialize>(empty: &T, list: &str) -> Result<Self, Failure> {
        let json = serde_json::to_string(empty)?;
        let list = format!("\"{list}\":[");
        // Quotes in a text are escaped, so this is the key itself.
        let at = json.rfind(&list).map_or(json.len(), |at| at + list.len());
        let (before, after) = json.split_at(at);
        Ok(Self {
            before: before.to_owned(),
            after: format!("{after}\n"),
        })
    }
}
