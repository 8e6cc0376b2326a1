//! How is a JSON object printed whose last list is too large to be held? Piece by piece.

use serde::Serialize;

use crate::failure::Failure;

/// A JSON object whose last list is printed piece by piece: what stands before and after its
/// members.
pub struct JsonFrame {
    /// Up to and with the opening bracket.
    pub before: String,
    /// From the closing bracket on.
    pub after: String,
}

impl JsonFrame {
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
