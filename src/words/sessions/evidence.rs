//! What do the passages say of each session?

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use tantivy::DocId;

use super::SessionQuery;
use super::matches::{Group, Matches};
use super::passage::{Details, FoundPassage, Passage, Place};
use super::weigher::Weigher;
use crate::model::{ARRIVAL_BITS, Class, Standing};
use crate::words::scope::Scope;
use crate::words::search::{Answer, SessionScore, TieBreak};

/// What a person typed among so many first entries says what the session is about: it counts as
/// the session's name does.
const FIRST_ENTRIES: u64 = 8;

/// So many passages of a session are asked how near each other the words stand.
const CANDIDATES: usize = 3;

/// Where passages of a session stand, among which may be some of others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    /// As in [`Place`].
    pub part: Option<u16>,
    /// The number of the first of them.
    pub first: u32,
    /// The number of the last.
    pub last: u32,
}

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
    /// The time of the newest one, where that is asked.
    newest_ms: Option<i64>,
    /// Where they stand.
    pub stretches: Vec<Stretch>,
    /// The best of those that hold all of the words, not more than [`CANDIDATES`].
    close: Vec<FoundPassage>,
}

impl SessionEvidence {
    fn new(number: u64, words: usize) -> SessionEvidence {
        SessionEvidence {
            number,
            words: vec![WordEvidence::default(); words],
            passages: 0,
            best: 0.0,
            is_adjacent: false,
            newest_ms: None,
            stretches: Vec::new(),
            close: Vec::new(),
        }
    }

    /// How many of the words it holds.
    fn held(&self) -> usize {
        self.words.iter().filter(|word| word.is_held()).count()
    }

    /// Whether it has every word that is demanded.
    fn has(&self, demanded: &[bool]) -> bool {
        let mut words = self.words.iter().zip(demanded);
        words.all(|(word, demanded)| !demanded || word.is_held())
    }

    fn absorb(&mut self, other: SessionEvidence) {
        let words = self.words.len();
        for (word, more) in self.words.iter_mut().zip(other.words) {
            word.said += more.said;
            word.is_printed |= more.is_printed;
        }
        self.passages += other.passages;
        self.newest_ms = self.newest_ms.max(other.newest_ms);
        self.note_score(other.best, other.is_adjacent);
        self.stretches.extend(other.stretches);
        for passage in other.close {
            self.note_close(passage, words);
        }
    }

    #[inline]
    fn note_place(&mut self, Place { part, number }: Place) {
        match self.stretches.last_mut().filter(|last| last.part == part) {
            Some(stretch) => stretch.last = number,
            None => self.stretches.push(Stretch {
                part,
                first: number,
                last: number,
            }),
        }
    }

    /// One of its passages holds all of the words.
    #[inline]
    fn note_close(&mut self, passage: FoundPassage, words: usize) {
        // Most are none of the best.
        if self.close.len() == CANDIDATES
            && let Some(last) = self.close.last()
            && last.precedes(&passage, words)
        {
            return;
        }
        let better = self.close.iter();
        let better = better.take_while(|known| known.precedes(&passage, words));
        let place = better.count();
        if place < CANDIDATES {
            self.close.truncate(CANDIDATES - 1);
            self.close.insert(place, passage);
        }
    }

    /// One of its passages; most are none of the best.
    #[inline]
    fn note_found(
        &mut self,
        found: &FoundPassage,
        words: usize,
        now_ms: i64,
        time_ms: &dyn Fn() -> Option<i64>,
    ) {
        if found.base(words) >= self.best {
            let details = Details {
                time_ms: time_ms(),
                closeness: 0.0,
            };
            self.note_score(found.score(words, details, now_ms), false);
        }
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
    newest_first: bool,
    /// Where something is filtered: which of the first words each session holds, whatever the
    /// filters leave of it. How rare a word is does not depend on them.
    unfiltered: Option<HashMap<u64, u64, FxBuildHasher>>,
    sessions: Vec<SessionEvidence>,
    /// Where a session stands among them.
    places: HashMap<u64, usize, FxBuildHasher>,
    /// The session of the last passage: the next one is mostly of the same.
    last: Option<(u64, usize)>,
    /// The parts of the index that were asked.
    pub parts: Vec<(u16, Matches)>,
    /// Passages that are not indexed, by their number.
    pub overlay: Vec<(FoundPassage, Details)>,
}

impl Evidence {
    pub fn new(query: &SessionQuery<'_>, scope: &Scope<'_>) -> Evidence {
        Evidence {
            words: query.words.len(),
            now_ms: scope.now_ms,
            newest_first: query.newest_first,
            unfiltered: scope.filters().then(HashMap::default),
            sessions: Vec::new(),
            places: HashMap::default(),
            last: None,
            parts: Vec::new(),
            overlay: Vec::new(),
        }
    }

    /// An empty one like this, for another thread.
    pub fn apart(&self) -> Evidence {
        Evidence {
            words: self.words,
            now_ms: self.now_ms,
            newest_first: self.newest_first,
            unfiltered: self.unfiltered.as_ref().map(|_| HashMap::default()),
            sessions: Vec::new(),
            places: HashMap::default(),
            last: None,
            parts: Vec::new(),
            overlay: Vec::new(),
        }
    }

    /// With what another thread has found on disk.
    pub fn with(mut self, mut other: Evidence) -> Evidence {
        if self.sessions.len() < other.sessions.len() {
            std::mem::swap(&mut self, &mut other);
        }
        self.parts.append(&mut other.parts);
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

    #[inline]
    fn session(&mut self, number: u64) -> &mut SessionEvidence {
        let place = match self.last {
            Some((last, place)) if last == number => place,
            _ => self.place(number),
        };
        &mut self.sessions[place]
    }

    /// Where another session than the last one stands.
    fn place(&mut self, number: u64) -> usize {
        let new = self.sessions.len();
        let place = *self.places.entry(number).or_insert(new);
        if place == new {
            self.sessions.push(SessionEvidence::new(number, self.words));
        }
        self.last = Some((number, place));
        place
    }

    /// The passages that are asked how near each other the words stand, by where they are: the
    /// best of each session that hold all of them.
    pub fn candidates(&self) -> Vec<FoundPassage> {
        let close = self.sessions.iter().flat_map(|session| &session.close);
        let mut all: Vec<FoundPassage> = close.copied().collect();
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

    /// The sessions, the best or newest first. Those that tie get their order when they are shown.
    pub fn ranked(mut self, query: &SessionQuery<'_>) -> RankedEvidence {
        let holders: Vec<u32> = (0..self.words).map(|word| self.holders(word)).collect();
        let absent = (0..self.words).filter(|word| holders[*word] == 0);
        let absent: Vec<usize> = absent.collect();
        let rarity = holders.iter().enumerate();
        let rarity = rarity.map(|(word, holders)| self.rarity(word, *holders, query.sessions));
        let weigher = Weigher::new(query, rarity.collect(), &self.sessions);
        let any = self.sessions.iter().map(|session| session.passages).sum();
        self.sessions.retain(|session| session.has(query.demanded));
        let held = self.sessions.iter().map(SessionEvidence::held);
        let most_held = held.max().unwrap_or(0);
        if query.newest_first {
            self.sessions.retain(|session| session.held() == most_held);
        }
        let answer = Answer {
            total: self.sessions.iter().map(|session| session.passages).sum(),
            any,
            sessions: self.sessions.len(),
            absent,
            most_held,
            ..Answer::default()
        };
        let sessions = self.sessions.into_iter();
        let score = |session: &SessionEvidence| match query.newest_first {
            true => SessionScore {
                score: 0.0,
                ..weigher.score(session)
            },
            false => weigher.score(session),
        };
        let scored = sessions.map(|session| (score(&session), session));
        let mut sessions: Vec<RankedSession> = scored.collect();
        sessions.sort_unstable_by(|(a, of_a), (b, of_b)| {
            let order = match query.newest_first {
                true => of_b.newest_ms.cmp(&of_a.newest_ms),
                false => b.score.total_cmp(&a.score),
            };
            order.then(of_b.number.cmp(&of_a.number))
        });
        self.parts.sort_unstable_by_key(|(part, _)| *part);
        RankedEvidence {
            answer,
            sessions,
            parts: self.parts,
            overlay: self.overlay,
        }
    }

    /// A session holds these words, whether or not the filters leave the passage.
    pub fn note(&mut self, key: u64, held: &[usize]) {
        let Some(unfiltered) = &mut self.unfiltered else {
            return;
        };
        let known = unfiltered.entry(key >> ARRIVAL_BITS).or_default();
        for word in held.iter().filter(|word| **word < 64) {
            *known |= 1 << word;
        }
    }

    /// The number of the next passage that is not indexed.
    pub fn next_in_overlay(&self) -> u32 {
        u32::try_from(self.overlay.len()).unwrap_or(u32::MAX)
    }

    /// A passage that the filters leave.
    #[inline]
    pub fn take(&mut self, passage: &Passage<'_>) -> FoundPassage {
        let (now_ms, words, newest_first) = (self.now_ms, self.words, self.newest_first);
        let found = FoundPassage::new(passage);
        let session = self.session(found.session());
        let weight = weight_in_session(passage);
        for word in passage.held {
            let word = &mut session.words[*word];
            match passage.class {
                Class::Prose => word.said += weight,
                Class::Output => word.is_printed = true,
            }
        }
        session.passages += 1;
        session.note_place(found.place);
        if newest_first {
            session.newest_ms = session.newest_ms.max((passage.time_ms)());
        }
        session.note_found(&found, words, now_ms, passage.time_ms);
        if found.may_be_close(words) {
            session.note_close(found, words);
        }
        found
    }

    /// Whether [`Evidence::take_printed`] may be asked: no passage has to be looked at by itself.
    pub fn takes_groups(&self) -> bool {
        self.unfiltered.is_none() && !self.newest_first
    }

    /// All passages of a group of what tools print, as [`Evidence::take`] takes each of them, with
    /// their keys and scores: those of a session at once.
    pub fn take_printed(
        &mut self,
        part: u16,
        (group, keys): (&Group, &[u64]),
        bm25: impl Fn(DocId) -> f32,
        time_ms: &dyn Fn(DocId) -> Option<i64>,
    ) {
        let (now_ms, words) = (self.now_ms, self.words);
        let (mut docs, mut held) = (group.docs.as_slice(), Vec::new());
        for keys in keys.chunk_by(|a, b| a >> ARRIVAL_BITS == b >> ARRIVAL_BITS) {
            let own;
            (own, docs) = docs.split_at(keys.len());
            let session = self.session(keys[0] >> ARRIVAL_BITS);
            for (word, is_held) in session.words.iter_mut().zip(group.holds(own)) {
                word.is_printed |= is_held;
            }
            session.passages += own.len();
            let place = |number: &u32| Place {
                part: Some(part),
                number: *number,
            };
            let ends = own.first().into_iter().chain(own.last());
            ends.for_each(|doc| session.note_place(place(doc)));
            for (doc, key) in own.iter().zip(keys) {
                let bm25 = bm25(*doc);
                // Most passages are none of the best, however many of the words they hold.
                if bm25 * Standing::Output.weight() < session.best {
                    continue;
                }
                group.held(*doc, &mut held);
                let passage = Passage {
                    key: *key,
                    class: Class::Output,
                    standing: Standing::Output,
                    bm25,
                    held: &held,
                    place: place(doc),
                    time_ms: &|| time_ms(*doc),
                };
                let found = FoundPassage::new(&passage);
                session.note_found(&found, words, now_ms, passage.time_ms);
            }
        }
    }
}

/// How much a passage counts of what all of the session says.
#[inline]
fn weight_in_session(passage: &Passage<'_>) -> f32 {
    let entry = passage.key & ((1 << ARRIVAL_BITS) - 1);
    match passage.standing {
        Standing::Typed if entry < FIRST_ENTRIES => Standing::Name.weight(),
        standing => standing.weight(),
    }
}

/// A session, and why it stands where it does.
type RankedSession = (SessionScore, SessionEvidence);

/// What was found, ranked.
pub(super) struct RankedEvidence {
    /// All but hits.
    pub answer: Answer,
    /// The best first.
    pub sessions: Vec<RankedSession>,
    /// The parts of the index, by their numbers.
    pub parts: Vec<(u16, Matches)>,
    /// Passages that are not indexed, by their number.
    pub overlay: Vec<(FoundPassage, Details)>,
}

impl RankedEvidence {
    /// All sessions in order; those that tie are put into theirs once they are asked for.
    pub fn in_order<'a>(
        &'a self,
        newest_first: bool,
        ties: &'a TieBreak<'_>,
    ) -> impl Iterator<Item = &'a RankedSession> {
        let tie = move |a: &RankedSession, b: &RankedSession| match newest_first {
            true => a.1.newest_ms == b.1.newest_ms,
            false => a.0.score == b.0.score,
        };
        self.sessions.chunk_by(tie).flat_map(|tied| {
            let mut tied: Vec<&RankedSession> = tied.iter().collect();
            tied.sort_by(|(_, a), (_, b)| (ties.sessions)(a.number, b.number));
            tied
        })
    }

    /// What a part of the index holds.
    pub fn part(&self, part: u16) -> Option<&Matches> {
        let at = self.parts.binary_search_by_key(&part, |(part, _)| *part);
        at.ok().map(|at| &self.parts[at].1)
    }
}
