//! How long are sessions? By it a search tells a word that is said often from a long session.

use std::collections::HashMap;

/// How many messages sessions have.
#[derive(Debug, Default)]
pub struct SessionLengths {
    messages: HashMap<u64, u32>,
    all: u64,
}

impl SessionLengths {
    pub fn new(messages: HashMap<u64, u32>) -> Self {
        Self {
            all: messages.values().map(|count| u64::from(*count)).sum(),
            messages,
        }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> u64 {
        self.messages.len() as u64
    }

    /// Messages of a session.
    pub fn of(&self, session: u64) -> u32 {
        self.messages.get(&session).copied().unwrap_or(0)
    }

    /// Messages of a session on average.
    pub fn mean(&self) -> f32 {
        self.all as f32 / self.messages.len().max(1) as f32
    }
}
