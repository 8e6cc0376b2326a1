//! What was said about it? Words and overlay ranked as one, then hydrated, cut to snippets and
//! grouped.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::catalogue::Catalogue;
use crate::catalogue::outbox::Backlog;
use crate::error::Error;
use crate::ingest::WordsState;
use crate::model::Event;
use crate::model::{Expr, Ranking, SCHEMA_VERSION, SearchAnswer, UnindexedText, Zone};
use crate::query::Snapshot;
use crate::query::here::Here;
use crate::syntax;
use crate::words::{self, Order, Words};

mod ascent;
mod asking;
mod authorship;
mod compiled;
mod counted;
mod cursor;
mod endings;
mod facets;
mod max_bytes;
mod named;
mod page;
mod passage;
mod place;
mod relax;
mod scope;
mod snippet;
mod ties;
mod unknown;

use compiled::{EntryFilter, PassageQuery};
use cursor::SeenHits;
pub(super) use endings::forms;
use max_bytes::PageHit;
pub use max_bytes::PrintedLengths;
use page::Page;
use relax::Relaxation;
pub use scope::SearchScope;
use ties::Ties;

/// So many bytes of text that is not indexed are taken apart for words with a typo, at most: where
/// there is more, these are looked for in what is indexed.
const MOST_READ_FOR_TYPOS: u64 = 16 << 20;

/// Where no more than this part of all text is not indexed, hits are ordered as if it were.
const NEARLY_ALL: u64 = 20;

/// Fewer hits than this are too few: words with a typo or another ending are looked for as well.
const FEW: u64 = 3;

/// An answer in which nothing was found yet.
fn empty_answer(query: &syntax::Query, scope: &SearchScope) -> SearchAnswer {
    SearchAnswer {
        schema_version: SCHEMA_VERSION,
        total_exact: true,
        counts_exact: true,
        order_exact: true,
        notes: query.notes.clone(),
        cwd: scope.at.cwd.clone(),
        within: scope.at.within.clone(),
        remotes: scope.at.remotes.clone(),
        ranking: match (scope.newest_first, ranks_sessions(query, scope)) {
            (true, _) => Ranking::Newest,
            (false, true) => Ranking::Sessions,
            (false, false) => Ranking::Passages,
        },
        ..SearchAnswer::default()
    }
}

/// Why there is no answer.
struct FailedSearch {
    error: Error,
    /// What is wrong with the words, where it is that.
    words_damage: Option<String>,
}

impl From<Error> for FailedSearch {
    fn from(error: Error) -> Self {
        FailedSearch {
            error,
            words_damage: None,
        }
    }
}

/// What is asked where too little was found.
struct NearQuery {
    exprs: Vec<Option<Expr>>,
    /// Of a few remembered words, those that stand nowhere in what the filters leave.
    nowhere: Vec<usize>,
    /// What of it text is read for that is not indexed, where it is not all of it.
    read_for: Option<Vec<Option<Expr>>>,
}

impl NearQuery {
    fn questions<'q>(&'q self, entry_filters: &'q [EntryFilter<'q>]) -> Vec<PassageQuery<'q>> {
        let mut questions = questions(&self.exprs, entry_filters);
        for (question, read_for) in questions.iter_mut().zip(self.read_for.iter().flatten()) {
            question.read_for = read_for.as_ref();
        }
        questions
    }
}

/// What came of a question.
enum Filling {
    Page(FilledPage),
    /// Some of the words certainly stand nowhere: this is asked instead.
    Instead(NearQuery),
}

/// A page that was filled.
#[derive(Default)]
struct FilledPage {
    hits_on_page: Vec<PageHit>,
    /// Where sessions are ranked as wholes: words that none of them holds.
    absent: Vec<usize>,
    /// Passages also of sessions that lack a word that is demanded.
    any: u64,
    /// Where sessions are ranked as wholes: how many of the words one session holds, at most.
    most_held: usize,
}

/// One search on one snapshot of the catalogue.
struct Search<'a> {
    snapshot: &'a Snapshot<'a>,
    catalogue: &'a Catalogue,
    query: &'a syntax::Query,
    scope: &'a SearchScope,
    zone: &'a Zone,
    shown: &'a SeenHits,
    /// Whether sessions are ranked as wholes, by any of the words.
    ranks_sessions: bool,
    found: Rc<WordsState>,
    /// What the words lack.
    lack: Backlog,
    ties: Ties<'a>,
    progress: RefCell<&'a mut dyn FnMut(Event)>,
}

impl<'a> Search<'a> {
    fn new(
        snapshot: &'a Snapshot<'a>,
        query: &'a syntax::Query,
        scope: &'a SearchScope,
        zone: &'a Zone,
        shown: &'a SeenHits,
        progress: &'a mut dyn FnMut(Event),
        found: Rc<WordsState>,
    ) -> Result<Self, Error> {
        Ok(Self {
            snapshot,
            catalogue: snapshot.catalogue,
            query,
            scope,
            zone,
            shown,
            ranks_sessions: ranks_sessions(query, scope),
            lack: snapshot.lack(&found)?,
            found,
            ties: Ties::new(snapshot.catalogue),
            progress: RefCell::new(progress),
        })
    }

    /// The answer, which says what is wrong with the words where they were not asked.
    fn answer_from_stores(&self) -> Result<SearchAnswer, FailedSearch> {
        let mut answer = empty_answer(self.query, self.scope);
        self.answer(&mut answer).map_err(|error| {
            let damage = error.of_words().filter(|error| error.asks_for_rebuild());
            let words_damage = match (self.words(), damage) {
                (Some(words), Some(damage)) => Some(words.diagnosis(damage)),
                _ => None,
            };
            FailedSearch {
                error,
                words_damage,
            }
        })?;
        if let Some(why) = &self.found.damage {
            words::condemn(&self.snapshot.config().words_dir(), why);
            answer.words_damage = Some(why.clone());
        }
        Ok(answer)
    }

    /// Whether somebody still wants the answer.
    fn is_wanted(&self) -> bool {
        !self.scope.cancel.is_cancelled() && !self.snapshot.config().cancel.is_cancelled()
    }

    /// The moment from which ages count, in ms; before all of them where none counts.
    fn ages_from_ms(&self) -> i64 {
        match self.scope.ignore_age {
            true => i64::MIN,
            false => self.shown.now_ms(),
        }
    }

    /// # Errors
    /// [`Error::Cancelled`] when nobody wants the answer any more.
    fn check_wanted(&self) -> Result<(), Error> {
        match self.is_wanted() {
            true => Ok(()),
            false => Err(Error::Cancelled),
        }
    }

    fn answer(&self, answer: &mut SearchAnswer) -> Result<(), Error> {
        self.check_wanted()?;
        let lack = self.lack;
        (answer.outstanding, answer.outstanding_bytes) = (lack.entries, lack.bytes);
        answer.owed = UnindexedText::of(lack.entries, lack.bytes);
        let alternatives = &self.query.alternatives;
        let entry_filters = alternatives
            .iter()
            .map(|one| self.entry_filter(&one.filters));
        let entry_filters: Vec<EntryFilter<'_>> = entry_filters.collect::<Result<_, _>>()?;
        let exprs = exprs(self.query, self.scope);
        answer.order_exact = self.scope.newest_first
            || exprs.iter().all(Option::is_none)
            || lack.bytes == 0
            || lack.bytes <= self.catalogue.source_bytes()? / NEARLY_ALL;
        let filled = self.filled(&exprs, &entry_filters, lack.bytes, answer)?;
        if answer.total == 0 && exprs.iter().any(Option::is_some) {
            self.explain_nothing(&questions(&exprs, &entry_filters), answer)?;
        }
        if self.ranks_sessions {
            let held = filled.most_held;
            let known = self.query.words.len().saturating_sub(filled.absent.len());
            if self.scope.newest_first && (1..known).contains(&held) {
                let all = self.query.words.len();
                let no_session = match (self.query.has_filters(), Here::of(&self.scope.at)) {
                    (true, _) => "Within the filters no session",
                    (false, here) if !here.is_everywhere() => "No session here",
                    _ => "No session",
                };
                let note = format!(
                    "{no_session} contains all of the words. These contain {held} of {all}, the most that any does."
                );
                answer.notes.push(note);
            }
            let absent = filled
                .absent
                .iter()
                .filter_map(|at| self.query.words.get(*at));
            answer.missing = absent.map(|word| relax::as_typed(&word.expr)).collect();
            answer.with_any = (answer.total == 0).then_some(filled.any);
        }
        // Nobody knows yet what half of a value becomes, and to look up all values takes long.
        if answer.total == 0 && !self.scope.as_typed {
            answer.unknown = self.unknown()?;
        }
        if self.scope.cursor.is_none() {
            self.name(answer)?;
            if let Some(mask) = &self.scope.mask {
                answer.named.iter_mut().for_each(|named| named.mask(mask));
            }
        }
        match self.scope.max_bytes {
            None => Ok(()),
            Some(most) => {
                let lengths = self.scope.lengths.as_ref();
                max_bytes::fit(answer, filled.hits_on_page, self.shown, most, lengths)
            }
        }
    }

    /// The page: of what was typed or, where too little is found, also of typos and other endings.
    fn filled(
        &self,
        exprs: &[Option<Expr>],
        entry_filters: &[EntryFilter<'_>],
        unindexed_bytes: u64,
        answer: &mut SearchAnswer,
    ) -> Result<FilledPage, Error> {
        let near_of = |found, nowhere: &[usize]| match self.scope.exact {
            true => None,
            false => self.nearly(exprs, found, nowhere, unindexed_bytes),
        };
        // Words that are in no dictionary need not be asked for first.
        let instead = |nowhere: &[usize]| near_of(u64::MAX, nowhere);
        let (typed, near) = match self.fill(&questions(exprs, entry_filters), answer, &instead)? {
            Filling::Page(filled) => {
                let near = near_of(answer.total, &filled.absent);
                (Some(filled), near)
            }
            Filling::Instead(near) => (None, Some(near)),
        };
        let Some(mut near) = near else {
            return Ok(typed.unwrap_or_default());
        };
        let (mut filled, mut wider) = self.fill_nearly(&near, entry_filters, answer)?;
        // Dictionaries know nothing of filters: which words these leave nowhere is known only now.
        if typed.is_none()
            && let Some(more) = near_of(u64::MAX, &filled.absent)
            && more.exprs != near.exprs
        {
            (filled, wider) = self.fill_nearly(&more, entry_filters, answer)?;
            near = more;
        }
        match typed {
            Some(typed) if wider.total <= answer.total => {
                // Where nothing typed is anywhere, a search without --here looks wider as well.
                if answer.total == 0 && answer.elsewhere == Some(0) {
                    answer.elsewhere = wider.elsewhere;
                    answer.counts_exact = wider.counts_exact;
                }
                filled = typed;
            }
            typed => {
                filled.absent = typed.map_or(filled.absent, |typed| typed.absent);
                *answer = wider;
                answer.also = relax::words_found_instead(exprs, &answer.sessions);
            }
        }
        if near.read_for.is_some() {
            let mebibytes = unindexed_bytes >> 20;
            answer.notes.push(format!("Words one letter off were looked for only in text that is indexed: {mebibytes} MiB are not. `sessionary sync` indexes them."));
        }
        Ok(filled)
    }

    /// The page of what is asked where too little was found, and the answer with it.
    fn fill_nearly(
        &self,
        near: &NearQuery,
        entry_filters: &[EntryFilter<'_>],
        answer: &SearchAnswer,
    ) -> Result<(FilledPage, SearchAnswer), Error> {
        let mut wider = answer.clone();
        let questions = near.questions(entry_filters);
        let mut filled = match self.fill(&questions, &mut wider, &|_| None)? {
            Filling::Page(filled) => filled,
            Filling::Instead(_) => FilledPage::default(),
        };
        filled.absent.extend(&near.nowhere);
        filled.absent.sort_unstable();
        filled.absent.dedup();
        Ok((filled, wider))
    }

    /// How many files are not in the answer, the failed ones among them. Where the files could not
    /// be checked, a failed one may be among the pending ones already: then this is a lower bound.
    fn pending_files(&self, failed: &BTreeSet<i64>) -> Result<u64, Error> {
        let stores = self.snapshot.stores;
        if !stores.was_checked {
            return Ok(stores.pending_files.max(failed.len() as u64));
        }
        let mut pending = stores.pending_files;
        for source in failed {
            pending += u64::from(!self.catalogue.is_noted_unread(*source)?);
        }
        Ok(pending)
    }

    /// What to ask with typos and other endings, where too little was found: of a few remembered
    /// words those that stand nowhere in what the filters leave.
    fn nearly(
        &self,
        exprs: &[Option<Expr>],
        found: u64,
        nowhere: &[usize],
        unindexed_bytes: u64,
    ) -> Option<NearQuery> {
        let with = |relaxation| match exprs {
            [Some(Expr::Or(words))] if self.ranks_sessions => {
                relax::relax_words(words, nowhere, relaxation)
                    .map(|words| vec![Some(Expr::Or(words))])
            }
            _ if found < FEW => relax::relax_each(exprs, |expr| relax::near(expr, relaxation)),
            _ => None,
        };
        let exprs_with_typos = with(Relaxation::EndingsAndTypos)?;
        let is_much = unindexed_bytes > MOST_READ_FOR_TYPOS;
        let read_for = is_much.then(|| with(Relaxation::Endings).unwrap_or_else(|| exprs.to_vec()));
        Some(NearQuery {
            read_for: read_for.filter(|read_for| *read_for != exprs_with_typos),
            exprs: exprs_with_typos,
            nowhere: nowhere.to_vec(),
        })
    }

    /// The page, the total and whatever else was asked for. `instead`: what to ask rather than this
    /// where these words certainly stand nowhere.
    fn fill(
        &self,
        questions: &[PassageQuery<'_>],
        answer: &mut SearchAnswer,
        instead: &dyn Fn(&[usize]) -> Option<NearQuery>,
    ) -> Result<Filling, Error> {
        self.ask(questions, |asked| {
            if let Some(near) = instead(&asked.nowhere()?) {
                return Ok(Filling::Instead(near));
            }
            let stores = self.snapshot.stores;
            answer.complete = stores.complete && asked.failed.is_empty();
            answer.pending_files = self.pending_files(&asked.failed)?;
            for source in &asked.failed {
                if let Some((path, _)) = self.catalogue.source_place(*source)? {
                    self.snapshot.note_changed(*source, &path);
                }
            }
            let order = match self.scope.newest_first {
                true => Order::Newest,
                false => Order::Ranked,
            };
            let limit = self.scope.most_hits();
            let mut want = limit.saturating_add(self.shown.len() + page::AHEAD);
            let mut found = asked.hits(order, want, &self.ties)?;
            let mut counted = self.counted(asked, &asked.here, &found)?;
            let mut page = Page::new(self, asked, &counted, order, limit);
            loop {
                let all = found.is_all;
                let full = page.take(&found.hits, all)?;
                if full || all {
                    break;
                }
                want = want.saturating_mul(4);
                found = asked.hits(order, want, &self.ties)?;
            }
            let (is_nothing, is_stale) = (page.has_no_match(), page.stale);
            answer.complete &= !page.stale && page.unverified == 0;
            answer.unverified = page.unverified;
            let hits_on_page = page.finish(answer)?;
            if is_nothing {
                counted = counted.emptied();
            }
            answer.total = counted.total;
            answer.total_sessions = counted.sessions;
            // Lines that have changed may match no longer.
            answer.total_exact = counted.is_exact && !is_stale && asked.failed.is_empty();
            if self.scope.facets {
                answer.facets = Some(self.facets(asked, &counted)?);
            }
            if !Here::of(&self.scope.at).is_everywhere() {
                let (elsewhere, is_exact) = self.elsewhere(asked, &counted)?;
                answer.elsewhere = Some(elsewhere);
                answer.counts_exact &= is_exact;
            }
            Ok(Filling::Page(FilledPage {
                hits_on_page,
                absent: found.absent,
                any: found.any as u64,
                most_held: found.most_held,
            }))
        })
    }

    /// The words, if there are any to trust.
    fn words(&self) -> Option<&Words> {
        self.found.words.as_deref()
    }
}

/// Whether sessions are ranked as wholes: the query is a few plain words.
fn ranks_sessions(query: &syntax::Query, scope: &SearchScope) -> bool {
    !query.words.is_empty() && !scope.passages
}

/// What passages must say for each alternative of a query.
fn exprs(query: &syntax::Query, scope: &SearchScope) -> Vec<Option<Expr>> {
    let alternatives = query.alternatives.iter();
    alternatives
        .map(|one| match &one.expr {
            Some(_) if ranks_sessions(query, scope) => {
                let words = query.words.iter().map(|word| words::loose(&word.expr));
                Some(Expr::Or(words.collect()))
            }
            expr => expr.clone(),
        })
        .collect()
}

fn questions<'q>(
    exprs: &'q [Option<Expr>],
    entry_filters: &'q [EntryFilter<'q>],
) -> Vec<PassageQuery<'q>> {
    let pairs = exprs.iter().zip(entry_filters);
    pairs
        .map(|(expr, entry_filter)| PassageQuery {
            expr: expr.as_ref(),
            read_for: None,
            entry_filter,
        })
        .collect()
}
