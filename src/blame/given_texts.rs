//! What of a file had a session read when it wrote all of it? What it had not read it cannot have
//! copied.

use std::sync::Arc;

/// The texts that a session was given before a change and in which lines of the file may stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenTexts {
    texts: Vec<Arc<str>>,
    /// It had read more than is known.
    is_more: bool,
}

impl GivenTexts {
    /// These texts.
    pub fn new(texts: Vec<Arc<str>>) -> Self {
        Self {
            texts,
            is_more: false,
        }
    }

    /// Nobody knows what it had read.
    pub fn anything() -> Self {
        Self {
            texts: Vec::new(),
            is_more: true,
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
        self.is_more || self.texts.iter().any(|text| text.contains(line))
    }
}
