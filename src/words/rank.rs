//! What makes one passage count more than another that holds the same words?
//!
//! `score = bm25 × standing × recency`: one formula for what is on disk and for the overlay.

use crate::model::{Class, Standing};

/// The role of what a person typed.
pub(super) const TYPED: &str = "user";

/// The share of a score that age cannot take.
pub(super) const LASTING: f32 = 0.7;
/// Milliseconds after which half of the rest is gone: 90 days.
const HALF_LIFE_MS: f32 = 90.0 * 86_400_000.0;

impl Standing {
    /// What a passage of this class is, in an entry of this role, whose prose may be a name.
    pub fn of(class: Class, is_name: bool, role: Option<&str>) -> Self {
        match class {
            Class::Output => Self::Output,
            Class::Prose if is_name => Self::Name,
            Class::Prose if role == Some(TYPED) => Self::Typed,
            Class::Prose => Self::Prose,
        }
    }

    /// By how much it raises a score.
    pub fn weight(self) -> f32 {
        match self {
            Self::Name => 2.5,
            Self::Typed => 1.5,
            Self::Prose => 1.0,
            Self::Output => 0.5,
        }
    }
}

/// No passage of this class with this BM25 has a greater score.
pub fn most(bm25: f32, class: Class) -> f32 {
    bm25 * match class {
        Class::Prose => Standing::Name.weight(),
        Class::Output => Standing::Output.weight(),
    }
}

/// By how much a passage's age lowers its score: not at all when new, to 0.7 in the end. What has
/// no time is old.
pub fn recency(time_ms: Option<i64>, now_ms: i64) -> f32 {
    let Some(time) = time_ms else {
        return LASTING;
    };
    let age = now_ms.saturating_sub(time).max(0) as f32;
    LASTING + (1.0 - LASTING) * (-age / HALF_LIFE_MS).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_is_a_gentle_factor() {
        let day = 86_400_000;
        assert_eq!(recency(Some(5), 5), 1.0);
        assert_eq!(recency(Some(9), 5), 1.0, "clocks differ");
        assert!((recency(Some(0), 90 * day) - 0.85).abs() < 1e-4);
        assert!((recency(Some(0), 9000 * day) - 0.7).abs() < 1e-4);
        assert_eq!(recency(None, 0), 0.7);
    }
}
