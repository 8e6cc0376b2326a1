//! What was spent, and on what? `--json` of `report` prints exactly this.

use serde::{Deserialize, Serialize};

/// By what answers are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpendingBy {
    /// The day on which they came, in the reader's zone: `2026-11-24`.
    #[default]
    Day,
    /// The Monday of that day's week.
    Week,
    /// The month: `2026-11`.
    Month,
    /// The working directory of their session.
    Project,
    /// The model that gave them.
    Model,
    /// The agent of their session.
    Agent,
    /// The machine of their session; `None` is this one.
    Host,
}

impl SpendingBy {
    /// Whether it is a time.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month)
    }
}

/// Answers with something in common, each counted once although forks repeat it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Spent {
    /// What they have in common, see [`SpendingBy`]; `None`: it is not recorded, or they are all.
    pub key: Option<String>,
    pub answers: u64,
    /// Sessions in which they are counted.
    pub sessions: u64,
    #[serde(flatten)]
    pub tokens: Tokens,
    /// US dollars, as the agents recorded them; `None`: none did.
    pub cost: Option<f64>,
    /// Answers of which no cost is recorded, with their tokens, by model.
    pub without_cost: Vec<WithoutCost>,
}

/// Tokens of answers; `None`: not recorded, which is not 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Tokens {
    pub input: Option<u64>,
    pub output: Option<u64>,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
    /// Its parts where there are any, else as it was written.
    pub total: Option<u64>,
}

/// Answers of a model of which no cost is recorded. Those of which there are no parts of the total
/// stand apart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct WithoutCost {
    pub provider: Option<String>,
    pub model: Option<String>,
    pub answers: u64,
    #[serde(flatten)]
    pub tokens: Tokens,
}

/// The answer of `report`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Spending {
    pub schema_version: u32,
    pub by: SpendingBy,
    /// Days, weeks and months in their order, what has none first; else those with the most tokens
    /// first.
    pub rows: Vec<Spent>,
    /// All rows as one.
    pub total: Spent,
    /// Whether all that is on disk is in this answer.
    pub complete: bool,
}

impl Tokens {
    /// Whether any part of the total is recorded.
    pub fn has_parts(&self) -> bool {
        let parts = [self.input, self.output, self.cache_read, self.cache_write];
        parts.iter().any(Option::is_some)
    }

    /// Add those of other answers.
    pub fn add(&mut self, more: &Self) {
        for (sum, more) in [
            (&mut self.input, more.input),
            (&mut self.output, more.output),
            (&mut self.cache_read, more.cache_read),
            (&mut self.cache_write, more.cache_write),
            (&mut self.total, more.total),
        ] {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        }
    }
}
