//! How much does what was found of a session count?

use super::SessionQuery;
use super::evidence::{SessionEvidence, WordEvidence};
use crate::words::search::SessionScore;

/// Scores of sessions are rounded to this step, as those of passages are.
const STEP: f32 = 1.0 / 65_536.0;
/// How often a word must stand in a session of average length to count half of what it could.
const K1: f32 = 1.2;
/// How much a session's length counts.
const B: f32 = 0.5;
/// What a word counts that only tools printed, where one passage of prose counts 1.
const PRINTED: f32 = 0.3;
/// What all of the conversation counts, where the best passage counts 1.
const WHOLE: f32 = 2.0;
/// What a passage counts that holds the words next to each other: as much as all else together.
const ADJACENT: f32 = WHOLE + 1.0;

impl WordEvidence {
    /// How often it is held; what tools print counts for less, and once.
    fn times(self) -> f32 {
        self.said + PRINTED * f32::from(u8::from(self.is_printed))
    }

    /// How well it is held.
    fn held(self) -> f32 {
        match (self.said > 0.0, self.is_printed) {
            (true, _) => 1.0,
            (false, true) => 0.5,
            (false, false) => 0.0,
        }
    }
}

/// Turns what was found of a session into its score.
pub(super) struct Weigher<'a> {
    query: &'a SessionQuery<'a>,
    /// Of each word; 0 where no session holds it, which says nothing about any session.
    rarity: Vec<f32>,
    /// All of them.
    rarities: f32,
    /// The score of the best passage of all sessions.
    best: f32,
}

impl<'a> Weigher<'a> {
    pub fn new(
        query: &'a SessionQuery<'a>,
        rarity: Vec<f32>,
        sessions: &[SessionEvidence],
    ) -> Weigher<'a> {
        let best = sessions.iter().map(|session| session.best);
        Weigher {
            query,
            rarities: rarity.iter().sum::<f32>().max(f32::MIN_POSITIVE),
            rarity,
            best: best.fold(f32::MIN_POSITIVE, f32::max),
        }
    }

    pub fn score(&self, session: &SessionEvidence) -> SessionScore {
        let messages = (self.query.messages)(session.number) as f32;
        let messages = messages / self.query.mean_messages.max(1.0);
        let length = 1.0 - B + B * messages;
        let (mut whole, mut held) = (0.0, 0.0);
        for (word, rarity) in session.words.iter().zip(&self.rarity) {
            let times = word.times();
            whole += rarity * times / (times + K1 * length);
            held += rarity * word.held();
        }
        let whole = WHOLE * whole / self.rarities;
        let passage = session.best / self.best;
        let adjacent = match session.is_adjacent {
            true => ADJACENT,
            false => 0.0,
        };
        let held = held / self.rarities;
        SessionScore {
            score: ((whole + passage + adjacent) * held / STEP).round() * STEP,
            whole,
            passage,
            adjacent,
            held,
            share: 0.0,
            closeness: 0.0,
            matches: session.passages as u64,
        }
    }
}
