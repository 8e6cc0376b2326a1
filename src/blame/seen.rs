//! What had a session read when it wrote a whole file? What it had not read it cannot have copied.

use std::sync::Arc;

/// The text that a session was given before a change, by tools and by its person.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    texts: Vec<Arc<str>>,
    names_file: bool,
    /// It had read more than is known.
    is_more: bool,
}

impl Seen {
    /// Of these texts, before a file of that name is written.
    pub fn new(texts: Vec<Arc<str>>, file_name: &str) -> Self {
        Self {
            names_file: texts.iter().any(|text| text.contains(file_name)),
            texts,
            is_more: false,
        }
    }

    /// Nobody knows what it had read.
    pub fn anything() -> Self {
        Self {
            is_more: true,
            ..Self::default()
        }
    }

    /// Whether it had read the line with all its white space, as far as is known.
    pub fn holds_whole(&self, line: &str) -> bool {
        self.texts.iter().any(|text| text.contains(line))
    }

    /// Whether the line may be one that stood in the file before. A line of a file that the session
    /// knew nothing of is its own.
    pub fn holds(&self, line: &str) -> bool {
        let line = line.trim();
        self.is_more || self.names_file && self.texts.iter().any(|text| text.contains(line))
    }
}
