//! What do the passages say of each session?

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::SessionQuery;
use super::passage::{Details, FoundPassage, FoundPassages, Passage, Place};
use super::weigher::Weigher;
use crate::model::{ARRIVAL_BITS, Class, Standing};
use crate::words::scope::Scope;
use crate::words::search::{Answer, SessionScore};

/// What a person typed among so many first entries says what the session is about: it counts as
/// the session's name does.
const FIRST_ENTRIES: u64 = 8;

/// So many passages of a session are asked how near each other the words stand.
const CANDIDATES: usize = 3;

/// How a session holds a word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WordEvidence {
    /// How much of its conversation does: passages, by what they are.
    pub said: f32,
    /// Whether tools printed it.
    pub is_printed: bool,
}

impl WordEvidence {
    pub fn is_held(self) -> bool {
        self.said > 0.0 || self.is_printed
    }
}

/// What was found of one session.
pub(super) struct SessionEvidence {
    pub number: u64,
    /// Of each word.
    pub words: Vec<WordEvidence>,
    /// How many passages hold any of them.
    pub passages: usize,
    /// The score of the best one.
    pub best: f32,
    /// Whether that holds all of them next to each other.
    pub is_adjacent: bool,
}

impl SessionEvidence {
    fn new(number: u64, words: usize) -> SessionEvidence {
        SessionEvidence {
            number,
            words: vec![WordEvidence::default(); words],
            passages: 0,
            best: 0.0,
            is_adjacent: false,
        }
    }

    /// Whether it has every word that is demanded.
    fn has(&self, demanded: &[bool]) -> bool {
        let mut words = self.words.iter().zip(demanded);
        words.all(|(word, demanded)| !demanded || word.is_held())
    }

    fn absorb(&mut self, other: SessionEvidence) {
        for (word, more) in self.words.iter_mut().zip(other.words) {
            word.said += more.said;
            word.is_printed |= more.is_printed;
        }
        self.passages += other.passages;
        self.note_score(other.best, other.is_adjacent);
    }

    /// One of its passages has this score.
    pub fn note_score(&mut self, score: f32, is_adjacent: bool) {
        if score > self.best {
            (self.best, self.is_adjacent) = (score, is_adjacent);
        } else if score == self.best {
            self.is_adjacent |= is_adjacent;
        }
    }
}

/// What was found of all sessions.
pub(super) struct Evidence {
    words: usize,
    now_ms: i64,
    /// Where something is filtered: which of the first words each session holds, whatever the
    /// filters leave of it. How rare a word is does not depend on them.
    unfiltered: Option<HashMap<u64, u64, FxBuildHasher>>,
    sessions: Vec<SessionEvidence>,
    /// Where a session stands among them.
    places: HashMap<u64, usize, FxBuildHasher>,
    /// The session of the last passage: the next one is mostly of the same.
    last: Option<(u64, usize)>,
    found: FoundPassages,
    /// Of passages that are not indexed, by their number.
    pub owed: Vec<Details>,
}

impl Evidence {
    pub fn new(words: usize, scope: &Scope<'_>) -> Evidence {
        Evidence {
            words,
            now_ms: scope.now_ms,
            unfiltered: scope.filters().then(HashMap::default),
            sessions: Vec::new(),
            places: HashMap::default(),
            last: None,
            found: FoundPassages::default(),
            owed: Vec::new(),
        }
    }

    /// An empty one like this, for another thread.
    pub fn apart(&self) -> Evidence {
        Evidence {
            words: self.words,
            now_ms: self.now_ms,
            unfiltered: self.unfiltered.as_ref().map(|_| HashMap::default()),
            sessions: Vec::new(),
            places: HashMap::default(),
            last: None,
            found: FoundPassages::default(),
            owed: Vec::new(),
        }
    }

    /// With what another thread has found on disk.
    pub fn with(mut self, mut other: Evidence) -> Evidence {
        if self.sessions.len() < other.sessions.len() {
            std::mem::swap(&mut self, &mut other);
        }
        self.found.absorb(other.found);
        for session in other.sessions {
            self.session(session.number).absorb(session);
        }
        if let (Some(all), Some(more)) = (&mut self.unfiltered, other.unfiltered) {
            for (session, held) in more {
                *all.entry(session).or_default() |= held;
            }
        }
        self
    }

    fn session(&mut self, number: u64) -> &mut SessionEvidence {
        let place = match self.last {
            Some((last, place)) if last == number => place,
            _ => {
                let new = self.sessions.len();
                let place = *self.places.entry(number).or_insert(new);
                if place == new {
                    self.sessions.push(SessionEvidence::new(number, self.words));
                }
                self.last = Some((number, place));
                place
            }
        };
        &mut self.sessions[place]
    }

    /// The passages that are asked how near each other the words stand, by where they are: the
    /// best of each session that hold all of them.
    pub fn candidates(&self) -> Vec<FoundPassage> {
        let mut best: HashMap<u64, [Option<&FoundPassage>; CANDIDATES], FxBuildHasher> =
            HashMap::default();
        let found = self.found.iter();
        for passage in found.filter(|found| found.may_be_close(self.words)) {
            let of_session = best.entry(passage.session()).or_default();
            let mut next = passage;
            for known in of_session {
                match known {
                    Some(better) if better.precedes(next, self.words) => {}
                    Some(worse) => std::mem::swap(worse, &mut next),
                    None => {
                        *known = Some(next);
                        break;
                    }
                }
            }
        }
        let all = best.into_values().flatten().flatten().copied();
        let mut all: Vec<FoundPassage> = all.collect();
        all.sort_unstable_by_key(|passage| passage.place);
        all
    }

    /// How near each other the words stand in these passages.
    pub fn take_details(&mut self, passages: &[FoundPassage], details: &[Details]) {
        let (now_ms, words) = (self.now_ms, self.words);
        for (passage, details) in passages.iter().zip(details) {
            let score = passage.score(words, *details, now_ms);
            let session = self.session(passage.session());
            session.note_score(score, details.closeness >= 1.0);
        }
    }

    /// How many sessions hold a word that the filters leave.
    fn holders(&self, word: usize) -> u32 {
        let sessions = self.sessions.iter();
        let holders = sessions.filter(|session| session.words[word].is_held());
        holders.count() as u32
    }

    /// How many sessions hold a word, whatever the filters leave of them; `left` where they leave
    /// all, or it is not known.
    fn holders_at_all(&self, word: usize, left: u32) -> u32 {
        let Some(all) = self.unfiltered.as_ref().filter(|_| word < 64) else {
            return left;
        };
        let holds = |held: &&u64| **held & 1 << word != 0;
        all.values().filter(holds).count() as u32
    }

    /// How rare a word is: 0 where no session holds it that the filters leave, which says nothing
    /// about any of them.
    fn rarity(&self, word: usize, holders: u32, sessions: u64) -> f32 {
        let holding = self.holders_at_all(word, holders) as f32;
        let all = (sessions as f32).max(holding);
        match holders {
            0 => 0.0,
            _ => (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln(),
        }
    }

    /// The sessions, the best first; among equals the newest.
    pub fn ranked(mut self, query: &SessionQuery<'_>) -> RankedEvidence {
        let holders: Vec<u32> = (0..self.words).map(|word| self.holders(word)).collect();
        let absent = (0..self.words).filter(|word| holders[*word] == 0);
        let absent: Vec<usize> = absent.collect();
        let nowhere = absent.iter().copied();
        let nowhere = nowhere.filter(|word| self.holders_at_all(*word, 0) == 0);
        let nowhere = nowhere.collect();
        let rarity = holders.iter().enumerate();
        let rarity = rarity.map(|(word, holders)| self.rarity(word, *holders, query.sessions));
        let weigher = Weigher::new(query, rarity.collect(), &self.sessions);
        self.sessions.retain(|session| session.has(query.demanded));
        let answer = Answer {
            total: self.sessions.iter().map(|session| session.passages).sum(),
            any: self.found.len(),
            sessions: self.sessions.len(),
            absent,
            nowhere,
            ..Answer::default()
        };
        let sessions = self.sessions.into_iter();
        let scored = sessions.map(|session| (weigher.score(&session), session));
        let mut sessions: Vec<(SessionScore, SessionEvidence)> = scored.collect();
        sessions.sort_unstable_by(|(a, of_a), (b, of_b)| {
            let by_score = b.score.total_cmp(&a.score);
            by_score.then(of_b.number.cmp(&of_a.number))
        });
        RankedEvidence {
            answer,
            sessions,
            found: self.found,
            owed: self.owed,
        }
    }

    /// A session holds these words, whether or not the filters leave the passage.
    pub fn note(&mut self, key: u64, scores: &[Option<f32>]) {
        let Some(unfiltered) = &mut self.unfiltered else {
            return;
        };
        let held = unfiltered.entry(key >> ARRIVAL_BITS).or_default();
        for (word, score) in scores.iter().take(64).enumerate() {
            *held |= u64::from(score.is_some()) << word;
        }
    }

    /// A passage that is not indexed, and that the filters leave.
    pub fn take_owed(
        &mut self,
        key: u64,
        (class, standing): (Class, Standing),
        scores: &[Option<f32>],
        details: Details,
    ) {
        let number = u32::try_from(self.owed.len()).unwrap_or(u32::MAX);
        self.owed.push(details);
        self.take(Passage {
            key,
            class,
            standing,
            scores,
            place: Place { part: None, number },
            time_ms: &|| details.time_ms,
        });
    }

    /// A passage that the filters leave.
    pub fn take(&mut self, passage: Passage<'_>) {
        let (now_ms, words) = (self.now_ms, self.words);
        let found = FoundPassage::new(&passage);
        let session = self.session(found.session());
        for (word, score) in session.words.iter_mut().zip(passage.scores) {
            match (score, passage.class) {
                (None, _) => {}
                (Some(_), Class::Prose) => word.said += weight_in_session(&passage),
                (Some(_), Class::Output) => word.is_printed = true,
            }
        }
        session.passages += 1;
        // Most passages are none of the best.
        if found.base(words) >= session.best {
            let details = Details {
                time_ms: (passage.time_ms)(),
                closeness: 0.0,
            };
            session.note_score(found.score(words, details, now_ms), false);
        }
        self.found.push(found);
    }
}

/// How much a passage counts of what all of the session says.
fn weight_in_session(passage: &Passage<'_>) -> f32 {
    let entry = passage.key & ((1 << ARRIVAL_BITS) - 1);
    match passage.standing {
        Standing::Typed if entry < FIRST_ENTRIES => Standing::Name.weight(),
        standing => standing.weight(),
    }
}

/// What was found, ranked.
pub(super) struct RankedEvidence {
    /// All but hits.
    pub answer: Answer,
    /// The best first.
    pub sessions: Vec<(SessionScore, SessionEvidence)>,
    /// All passages, also of sessions that lack a word that is demanded.
    pub found: FoundPassages,
    /// Of passages that are not indexed, by their number.
    pub owed: Vec<Details>,
}
