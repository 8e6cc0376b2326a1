//! Which hits does the page show? Candidates come best first. Here their text is read, which may
//! show that they do not match after all, repeat another hit, or belong further down.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap, HashSet};

use self::copies::{Copies, Progress};
use super::Search;
use super::authorship::{Author, author};
use super::compiled::CompiledSearch;
use super::counted::MatchCounts;
use super::cursor::{Fingerprint, fingerprint};
use super::max_bytes::{self, PageHit, PrintedLengths};
use super::passage::{CandidateCheck, Passage};
use super::place::{Branches, places};
use super::snippet::{snippet, told, tool_of};
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::read::StoredSession;
use crate::catalogue::write::ARRIVAL_BITS;
use crate::error::Error;
use crate::model::{
    BranchPlace, Class, EntryPlace, Explanation, Hit, HitGroup, SearchAnswer, SessionExplanation,
    Standing, iso,
};
use crate::query::masked::{mask_pieces, masked_name};
use crate::query::show::{Reader, address};
use crate::source::checkpoint::hash;
use crate::words::{self, Matcher, Order, recency};

mod copies;

pub(super) use copies::AHEAD;

/// What is left of the score of text that a program put into a person's message.
const INJECTED: f32 = 0.2;
/// What is left of the score of what a person pasted: less than of prose, more than of the output
/// that it mostly is.
const PASTED: f32 = 0.5;
/// What is left of the score of this program's own calls and answers.
const OWN: f32 = 0.2;
/// Prose of fewer bytes may be repeated without being a copy.
const COPIED: usize = 80;
/// At most so many passages of a session are looked through for what earlier pages have shown.
const MOST_SHOWN: usize = 64;
/// At most so many bytes of lines are read in vain for a page. These are lines of candidates that
/// only their text can decide on, and that turn out not to match.
const VAIN_BYTES: u64 = 16 << 20;

/// Hits on their way to the page.
pub(super) struct Page<'a, 's, 'c> {
    search: &'a Search<'s>,
    asked: &'a CompiledSearch<'c>,
    counted: &'a MatchCounts,
    matcher: Option<&'a Matcher>,
    order: Order,
    limit: usize,
    at: Progress,
    /// Bytes of lines that were read of candidates which do not match.
    vain: u64,
    /// Those whose text lowered their score, until it is their turn.
    late: BinaryHeap<ReadHit>,
    ready: Vec<ReadHit>,
    copies: Copies,
    own: HashMap<i64, HashSet<i64>>,
    reader: Reader<'a>,
    /// Hits of each session on this page, and on earlier ones where these stand among the first.
    of_session: HashMap<u64, usize>,
    /// Some candidate matches.
    matched: bool,
    /// Candidates that may match, but were not read, because too many were read in vain before.
    pub unverified: u64,
    /// Some bytes were no longer what was catalogued.
    pub stale: bool,
    /// There is more behind the page.
    more: bool,
}

/// A hit, read.
struct ReadHit {
    score: f32,
    time_ms: Option<i64>,
    /// Which candidate it was.
    candidate: usize,
    entry: StoredEntry,
    /// Of its line, and of its text where that may be a copy.
    prints: (Fingerprint, Option<Fingerprint>),
    /// How many passages of its session match, where that is known.
    matches: Option<u64>,
    hit: Hit,
}

/// A candidate that matches and says something new.
struct Candidate {
    entry: StoredEntry,
    /// The bytes of the line.
    record: Vec<u8>,
    pieces: Vec<String>,
    prints: (Fingerprint, Option<Fingerprint>),
}

impl ReadHit {
    fn rank(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.time_ms.cmp(&other.time_ms))
            .then(other.candidate.cmp(&self.candidate))
    }
}

impl PartialEq for ReadHit {
    fn eq(&self, other: &Self) -> bool {
        self.rank(other) == Ordering::Equal
    }
}

impl Eq for ReadHit {}

impl PartialOrd for ReadHit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ReadHit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank(other)
    }
}

impl<'a, 's, 'c> Page<'a, 's, 'c> {
    pub fn new(
        search: &'a Search<'s>,
        asked: &'a CompiledSearch<'c>,
        counted: &'a MatchCounts,
        order: Order,
        limit: usize,
    ) -> Self {
        Self {
            search,
            asked,
            counted,
            matcher: asked.marks(),
            order,
            limit,
            at: Progress::default(),
            vain: 0,
            late: BinaryHeap::new(),
            ready: Vec::new(),
            copies: Copies::default(),
            own: HashMap::new(),
            reader: Reader::new(search.snapshot).masking(search.scope.mask.as_ref()),
            of_session: HashMap::new(),
            matched: false,
            unverified: 0,
            stale: false,
            more: false,
        }
    }

    /// Whether no candidate matches, once there are no more. Any match would be a hit, or would
    /// have been shown before.
    pub fn has_no_match(&self) -> bool {
        !self.matched && self.unverified == 0
    }

    /// Look at the candidates that were not looked at yet; `all`: there are no more behind them.
    /// Returns whether the page is full.
    pub fn take(&mut self, hits: &[words::Hit], all: bool) -> Result<bool, Error> {
        loop {
            let next = hits.get(self.at.candidates);
            let waits = self.late.peek().map(|late| late.score);
            let late_first = match (waits, next) {
                (Some(late), Some(next)) => late > next.score,
                (Some(_), None) => all,
                (None, _) => false,
            };
            if self.ready.len() == self.limit {
                return self.look_ahead(hits, all);
            }
            if late_first {
                self.ready.extend(self.late.pop());
            } else if let Some(hit) = next {
                let is_full = self.has_enough_of(&hits[self.at.candidates..])?;
                self.at.candidates += 1;
                if !is_full {
                    self.look_at(hit)?;
                }
            } else {
                return Ok(false);
            }
        }
    }

    /// Whether the session of the first of these candidates has shown its hits.
    fn has_enough_of(&mut self, hits: &[words::Hit]) -> Result<bool, Error> {
        let Some(first) = hits.first() else {
            return Ok(false);
        };
        let usual = first.session.is_some() && self.limit < usize::MAX;
        let usual = usual.then_some(words::HITS_PER_SESSION);
        let Some(most) = self.search.scope.per_session.or(usual) else {
            return Ok(false);
        };
        let session = first.key >> ARRIVAL_BITS;
        if let Some(shown) = self.of_session.get(&session) {
            return Ok(*shown >= most);
        }
        // What earlier pages have shown of it stands among the first. A copy in another session was
        // not shown of this one.
        let is_shown = |hit: &&words::Hit| self.search.shown.holds(entry_print(hit.key, hit.class));
        let of_session = hits
            .iter()
            .take_while(|hit| hit.key >> ARRIVAL_BITS == session);
        let shown = of_session.take(MOST_SHOWN).filter(is_shown).count();
        self.of_session.insert(session, shown);
        Ok(shown >= most)
    }

    /// What a hit is known by: its line, or the entry where copies are shown.
    fn print(&self, hit: &words::Hit, entry: &StoredEntry) -> Fingerprint {
        match self.search.scope.every_copy {
            true => entry_print(hit.key, hit.class),
            false => fingerprint(entry.hash ^ hit.class as u64),
        }
    }

    /// The page is full: count the copies that stand near behind its hits, and see whether anything
    /// else is left. Returns whether that is known.
    fn look_ahead(&mut self, hits: &[words::Hit], all: bool) -> Result<bool, Error> {
        self.more |= !self.late.is_empty();
        loop {
            let Some(hit) = hits.get(self.at.candidates) else {
                let is_known = all || !self.is_near(0);
                self.more |= is_known && !all;
                return Ok(is_known);
            };
            if self.has_enough_of(&hits[self.at.candidates..])? {
                self.at.candidates += 1;
                continue;
            }
            let entry = self.search.entry(hit)?;
            if !self.is_near(entry.map_or(0, |entry| entry.length)) {
                self.more = true;
                return Ok(true);
            }
            self.at.candidates += 1;
            self.more |= self.candidate(hit)?.is_some();
        }
    }

    /// Whether the next candidate, of so many bytes, could still be counted as a copy of a hit on
    /// the page.
    fn is_near(&self, length: u64) -> bool {
        let hits = self.ready.iter().map(|ready| ready.prints.0);
        self.copies.is_near(hits, self.at, length)
    }

    /// The tool whose call an entry's words are of.
    fn tool(&self, class: Class, key: i64, pieces: &[String]) -> Result<Option<String>, Error> {
        let tools = self.search.catalogue.tools(key)?;
        Ok(tool_of(self.matcher, class, pieces, &tools).cloned())
    }

    /// Read a candidate's line again.
    fn look_at(&mut self, hit: &words::Hit) -> Result<(), Error> {
        let search = self.search;
        let Some(Candidate {
            entry,
            record,
            mut pieces,
            prints,
        }) = self.candidate(hit)?
        else {
            return Ok(());
        };
        let factor = match self.order {
            Order::Ranked => self.factor(hit, &entry, &pieces)?,
            Order::Newest => 1.0,
        };
        if let Some(mask) = &search.scope.mask {
            mask_pieces(&record, pieces.iter_mut(), mask);
        }
        let tool = self.tool(hit.class, entry.key, &pieces)?;
        let pieces = told(self.matcher, &pieces, tool.as_deref());
        let (snippet, highlights) = snippet(self.matcher, hit.class, pieces);
        let name = |name| masked_name(name, search.scope.mask.as_ref());
        let shown = Hit {
            address: String::new(),
            entry: address(&entry),
            class: hit.class,
            kind: name(entry.kind.clone()),
            role: entry.role.clone().map(name),
            tool: tool.map(name),
            time: entry.searched_ms.and_then(iso),
            time_ms: entry.searched_ms,
            score: hit.score * factor,
            standing: hit.standing,
            at: EntryPlace::default(),
            place: None,
            copies: 0,
            snippet,
            highlights,
            context: Vec::new(),
            explanation: (search.scope)
                .explain
                .then(|| explanation(hit, factor, search.ages_from_ms())),
        };
        if !search.scope.every_copy {
            self.copies.remember(prints, self.at);
        }
        let ready = ReadHit {
            score: shown.score,
            time_ms: hit.time_ms,
            candidate: self.at.candidates,
            entry,
            prints,
            matches: hit.session.map(|session| session.matches),
            hit: shown,
        };
        *self.of_session.entry(hit.key >> ARRIVAL_BITS).or_default() += 1;
        match factor < 1.0 {
            true => self.late.push(ready),
            false => self.ready.push(ready),
        }
        Ok(())
    }

    /// What a candidate says; `None` where it does not match, or was said before.
    fn candidate(&mut self, hit: &words::Hit) -> Result<Option<Candidate>, Error> {
        let search = self.search;
        if self.counted.refutes(hit) {
            return Ok(None);
        }
        // Whoever asks for all hits accepts the wait.
        if hit.needs_check && self.vain > VAIN_BYTES && self.limit < usize::MAX {
            self.unverified += 1;
            return Ok(None);
        }
        let Some(entry) = search.entry(hit)? else {
            return Ok(None);
        };
        self.at.bytes = self.at.bytes.saturating_add(entry.length);
        let folds = !search.scope.every_copy;
        let own_print = self.print(hit, &entry);
        if search.shown.holds(own_print) || folds && self.copies.count_copy(own_print, self.at) {
            self.matched = true;
            return Ok(None);
        }
        let (asked, here) = (self.asked, &self.asked.here);
        let read = search.read(asked, here, &mut self.reader, hit, &entry)?;
        let Passage { record, pieces } = match read {
            CandidateCheck::Match(passage) => passage,
            CandidateCheck::Other => {
                self.vain = self.vain.saturating_add(entry.length);
                return Ok(None);
            }
            CandidateCheck::Stale => {
                self.stale = true;
                return Ok(None);
            }
        };
        self.matched = true;
        let length: usize = pieces.iter().map(String::len).sum();
        let repeats = folds && length > 0 && (hit.class == Class::Output || length >= COPIED);
        let text_print = repeats.then(|| fingerprint(!hash(pieces.join("\0").as_bytes())));
        if let Some(print) = text_print
            && (search.shown.holds(print) || self.copies.count_copy(print, self.at))
        {
            return Ok(None);
        }
        Ok(Some(Candidate {
            entry,
            record,
            pieces,
            prints: (own_print, text_print),
        }))
    }

    /// The factor by which its text lowers the score of a hit.
    fn factor(
        &mut self,
        hit: &words::Hit,
        entry: &StoredEntry,
        pieces: &[String],
    ) -> Result<f32, Error> {
        match hit.standing {
            Standing::Output => {
                let session = entry.key >> ARRIVAL_BITS;
                if !self.own.contains_key(&session) {
                    let own = self.search.catalogue.own_calls(session)?;
                    self.own.insert(session, own.into_iter().collect());
                }
                let is_own = self
                    .own
                    .get(&session)
                    .is_some_and(|own| own.contains(&entry.key));
                Ok(if is_own { OWN } else { 1.0 })
            }
            Standing::Typed => {
                let Some(matcher) = self.matcher else {
                    return Ok(1.0);
                };
                let found = pieces
                    .iter()
                    .map(|piece| (piece, matcher.highlights(Class::Prose, piece)))
                    .filter(|(_, found)| !found.is_empty());
                let authors = found.map(|(piece, found)| author(piece, &found));
                Ok(match authors.max() {
                    Some(Author::Program) => INJECTED,
                    Some(Author::Paste) => PASTED,
                    Some(Author::Person) | None => 1.0,
                })
            }
            Standing::Name | Standing::Prose => Ok(1.0),
        }
    }

    /// Put the page into the answer: hits by session, or each by itself. Returns where each is.
    pub fn finish(mut self, answer: &mut SearchAnswer) -> Result<Vec<PageHit>, Error> {
        let search = self.search;
        let ready = std::mem::take(&mut self.ready);
        let sessions = sessions_of(search, &ready)?;
        let standing = places_of(search, &sessions, &ready)?;
        let mut branches: HashMap<i64, Branches> = HashMap::new();
        // Hits that certainly do not fit are not built.
        let room = search.scope.max_bytes.unwrap_or(usize::MAX);
        let mut taken = 0;
        let mut hits_on_page: Vec<PageHit> = Vec::new();
        let mut groups: Vec<(i64, HitGroup)> = Vec::new();
        for ReadHit {
            entry,
            mut hit,
            prints,
            matches,
            ..
        } in ready
        {
            let number = entry.key >> ARRIVAL_BITS;
            let Some(session) = sessions.get(&number) else {
                continue;
            };
            hit.place = standing.get(&entry.key).copied();
            hit.copies = self.copies.count(prints.0);
            self.set_address(&mut hit, &entry, session);
            if search.scope.context > 0 {
                let of = match branches.entry(number) {
                    Entry::Occupied(of) => of.into_mut(),
                    Entry::Vacant(of) => of.insert(Branches::read(search, session)?),
                };
                let count = search.scope.context;
                hit.context =
                    of.neighbours(entry.key, count, search.catalogue, &mut self.reader)?;
            }
            if taken > room {
                self.more = true;
                break;
            }
            if room < usize::MAX {
                taken += PrintedLengths::of_hit(search.scope.lengths.as_ref(), &hit);
            }
            let mut known = groups.iter().map(|(known, _)| *known);
            let known = known.position(|known| known == number && !search.scope.passages);
            let group = known.unwrap_or(groups.len());
            hits_on_page.push(self.page_hit(group, prints, &entry, hit.class, matches));
            match groups.get_mut(group) {
                Some((_, group)) => group.hits.push(hit),
                None => groups.push((number, group_of(search, session, hit, matches))),
            }
        }
        answer.sessions = groups.into_iter().map(|(_, group)| group).collect();
        answer.cursor = self
            .more
            .then(|| max_bytes::cursor(search.shown, &hits_on_page));
        Ok(hits_on_page)
    }

    /// A hit as a cursor names it: by its entry too, where only so many of a session are shown.
    fn page_hit(
        &self,
        group: usize,
        prints: (Fingerprint, Option<Fingerprint>),
        entry: &StoredEntry,
        class: Class,
        matches: Option<u64>,
    ) -> PageHit {
        let has_most = matches.is_some() || self.search.scope.per_session.is_some();
        PageHit {
            group,
            prints,
            entry: has_most.then(|| entry_print(entry.key.cast_unsigned(), class)),
        }
    }

    /// Say where the hit is, for people and for programs.
    fn set_address(&mut self, hit: &mut Hit, entry: &StoredEntry, session: &StoredSession) {
        hit.address = format!("{}:{}", session.row.id, hit.entry);
        let file = self.reader.file(entry.source);
        let row = entry.row.as_deref().and_then(|row| row.split_once(':'));
        hit.at = match (row, file.parent()) {
            (Some((table, key)), Some(database)) => EntryPlace::Row {
                file: database.to_path_buf(),
                table: table.to_owned(),
                key: key.to_owned(),
            },
            _ => EntryPlace::Bytes {
                file,
                line: entry.line,
                start: entry.start,
                length: entry.length,
            },
        };
    }
}

/// What a hit of just this entry is known by.
fn entry_print(key: u64, class: Class) -> Fingerprint {
    fingerprint(hash(&key.to_le_bytes()) ^ class as u64)
}

/// The session as it is shown, with its first hit.
fn group_of(
    search: &Search<'_>,
    session: &StoredSession,
    first: Hit,
    matches: Option<u64>,
) -> HitGroup {
    let mut row = session.row.clone();
    if let Some(mask) = &search.scope.mask {
        row.mask(mask);
    }
    HitGroup {
        session: row,
        hits: vec![first],
        matches,
    }
}

/// Why a hit stands where it does.
fn explanation(hit: &words::Hit, text: f32, now_ms: i64) -> Explanation {
    Explanation {
        bm25: hit.bm25,
        standing: hit.standing.weight(),
        recency: recency(hit.time_ms, now_ms),
        text,
        session: hit.session.map(|session| SessionExplanation {
            whole: session.whole,
            passage: session.passage,
            adjacent: session.adjacent,
            held: session.held,
            share: session.share,
            closeness: session.closeness,
        }),
    }
}

/// The sessions of these hits, by number.
fn sessions_of(
    search: &Search<'_>,
    hits: &[ReadHit],
) -> Result<HashMap<i64, StoredSession>, Error> {
    let numbers = hits.iter().map(|hit| hit.entry.key >> ARRIVAL_BITS);
    let numbers: HashSet<i64> = numbers.collect();
    let numbers: Vec<i64> = numbers.into_iter().collect();
    let sessions = search.catalogue.sessions_by_number(&numbers)?;
    Ok(sessions.into_iter().map(|s| (s.session, s)).collect())
}

/// Where these hits stand in the trees of their sessions, by key.
fn places_of(
    search: &Search<'_>,
    sessions: &HashMap<i64, StoredSession>,
    hits: &[ReadHit],
) -> Result<HashMap<i64, BranchPlace>, Error> {
    let mut known = search.snapshot.known_places()?;
    let mut entries: HashMap<i64, Vec<&StoredEntry>> = HashMap::new();
    for ReadHit { entry, .. } in hits {
        if !known.contains_key(&entry.key) {
            let of_session = entries.entry(entry.key >> ARRIVAL_BITS).or_default();
            of_session.push(entry);
        }
    }
    for (number, entries) in &entries {
        if let Some(session) = sessions.get(number) {
            let places = places(search, session, entries)?;
            let keys = entries.iter().map(|entry| entry.key);
            known.extend(keys.map(|key| (key, places.get(&key).copied())));
        }
    }
    let hits = hits.iter().map(|hit| hit.entry.key);
    let places = hits.map(|key| (key, known.get(&key).copied().flatten()));
    Ok(places
        .filter_map(|(key, place)| Some((key, place?)))
        .collect())
}
