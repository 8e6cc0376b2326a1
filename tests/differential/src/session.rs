//! What is compared of a session?

use std::collections::BTreeMap;

/// Tokens as sessionary counts them: `input` without what came from a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Tokens) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
    }
}

impl std::fmt::Display for Tokens {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tokens {
            input,
            output,
            cache_read,
            cache_write,
        } = self;
        write!(
            out,
            "{input} in, {output} out, {cache_read} cached, {cache_write} written"
        )
    }
}

/// One session as one program reads it; what the program does not say is `None`.
#[derive(Debug, Clone, Default)]
pub struct Session {
    pub title: Option<String>,
    /// What a person typed, in order.
    pub prompts: Option<Vec<String>>,
    /// The tools that were called, in order.
    pub calls: Option<Vec<String>>,
    pub tokens: Option<Tokens>,
}

/// Sessions by agent and by what both programs know them by.
pub type Sessions = BTreeMap<(String, String), Session>;
