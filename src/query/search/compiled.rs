//! What is searched, and where? Each alternative of a query is asked of the words on disk and of
//! all the text that they lack.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::Search;
use super::counted::MatchCounts;
use super::ties::Ties;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::ingest::{scan_backlog, scan_prompts};
use crate::model::{Expr, SETTINGS};
use crate::query::filter::FilteredEntries;
use crate::query::here::Here;
use crate::query::session_lengths::SessionLengths;
use crate::syntax::{Filters, Names};
use crate::words::{
    self, Facts, HITS_PER_SESSION, Matcher, Order, Overlay, RankedSessions, Scan, Scope,
    SearchSource, SessionQuery, TieBreak, TimeRange, ValueFilter, WordsError, rank_sessions,
    search_any, words_nowhere,
};

/// The entries that filters leave.
pub(super) struct EntryFilter<'a> {
    pub filters: &'a Filters,
    pub left: FilteredEntries<'a>,
    /// In all directories, where only one was asked for.
    pub wide: Option<FilteredEntries<'a>>,
}

impl EntryFilter<'_> {
    fn holds_widely(&self, key: u64) -> bool {
        self.wide.as_ref().unwrap_or(&self.left).holds(key)
    }

    fn may_hold(&self, session: i64) -> bool {
        let wide = self.wide.as_ref();
        self.left.may_hold(session) || wide.is_some_and(|wide| wide.may_hold(session))
    }
}

/// What passages of the entries that an entry filter leaves must say.
#[derive(Clone, Copy)]
pub(super) struct PassageQuery<'q> {
    pub expr: Option<&'q Expr>,
    /// What the bytes of text that is not indexed must hold for it to be read at all, where that is
    /// not left to `expr`: more is not found there.
    pub read_for: Option<&'q Expr>,
    pub entry_filter: &'q EntryFilter<'q>,
}

/// A search, ready to be run over everything.
pub(super) struct CompiledSearch<'a> {
    /// Of the directory that is asked for, or of all.
    pub here: Vec<SearchSource<'a>>,
    /// Of all directories.
    pub everywhere: Vec<SearchSource<'a>>,
    matchers: Vec<Option<Matcher>>,
    /// The words by which sessions are ranked as wholes, where they are.
    remembered: Option<RememberedWords<'a>>,
    /// The sessions of `here` that were ranked by them, once they were.
    ranked: OnceCell<RankedSessions<'a>>,
    /// Finds what any of them looks for; `None` where one takes all text.
    marks: Option<Matcher>,
    /// Sources that could not be read, or hold other bytes by now.
    pub failed: BTreeSet<i64>,
}

impl CompiledSearch<'_> {
    /// The passages that match, or may match, in an order that only what is in the files decides.
    pub fn hits(&self, order: Order, most: usize, ties: &Ties<'_>) -> Result<words::Answer, Error> {
        ties.with(|ties| {
            let mut answer = self.found(order, most, ties)?;
            if self.ranked.get().is_none() {
                answer.settle(ties);
            }
            Ok::<_, Error>(answer)
        })
    }

    /// The same for whom the order of those that tie does not matter.
    pub fn in_any_order(&self, order: Order, most: usize) -> Result<words::Answer, Error> {
        self.found(order, most, &TieBreak::BY_NUMBER)
    }

    /// Where sessions are ranked as wholes that is done once, however many hits are asked for.
    fn found(
        &self,
        order: Order,
        most: usize,
        ties: &TieBreak<'_>,
    ) -> Result<words::Answer, Error> {
        let (Some(remembered), [side]) = (&self.remembered, self.here.as_slice()) else {
            return Ok(search_any(&self.here, order, most)?);
        };
        if self.ranked.get().is_none() {
            let ranked = remembered.ask(|query| rank_sessions(side, query))?;
            self.ranked.get_or_init(|| ranked);
        }
        let answer = self.ranked.get().map(|ranked| ranked.answer(most, ties));
        Ok(answer.transpose()?.unwrap_or_default())
    }

    /// Where sessions are ranked as wholes: words that certainly stand nowhere, known before any
    /// session is ranked.
    pub fn nowhere(&self) -> Result<Vec<usize>, Error> {
        match (&self.remembered, self.here.as_slice()) {
            (Some(remembered), [side]) => Ok(words_nowhere(side, remembered.words)?),
            _ => Ok(Vec::new()),
        }
    }

    /// How many passages of these sides match, or may match. Where sessions are ranked as wholes,
    /// those of all sessions: which ones hold the most of the words depends on the sides.
    pub fn count_of(&self, sides: &[SearchSource<'_>]) -> Result<words::Answer, Error> {
        let (Some(remembered), [side]) = (&self.remembered, sides) else {
            return Ok(search_any(sides, Order::Newest, 1)?);
        };
        remembered.ask(|query| {
            let all = SessionQuery {
                newest_first: false,
                ..*query
            };
            rank_sessions(side, &all)?.answer(1, &TieBreak::BY_NUMBER)
        })
    }

    /// What to highlight.
    pub fn marks(&self) -> Option<&Matcher> {
        match self.matchers.as_slice() {
            [only] => only.as_ref(),
            _ => self.marks.as_ref(),
        }
    }

    /// Whether what tools printed in this record, JSON as it is on disk, may be what is asked for.
    /// `false` is certain, and costs a fraction of taking the record apart.
    pub fn may_print(&self, record: &[u8]) -> bool {
        let may = |matcher: &Matcher| matcher.may_print(record);
        self.matchers.iter().any(|one| one.as_ref().is_none_or(may))
    }

    /// Whether a passage of an entry, as its file and the catalogue have them, is what one of the
    /// `sides` asks for. Where the entry's prompts are among the pieces, its kind does not matter.
    pub fn confirms(
        &self,
        search: &Search<'_>,
        sides: &[SearchSource<'_>],
        hit: &words::Hit,
        entry: &StoredEntry,
        has_prompts: bool,
        pieces: &[String],
    ) -> Result<bool, Error> {
        // An entry without a time of its own takes one from elsewhere, and the index may still have
        // an older value of that.
        if entry.time_ms.is_some() && entry.time_ms != hit.time_ms {
            return Ok(false);
        }
        let says = |matcher: &Matcher| -> bool { matcher.matches(hit.class, pieces) };
        let tools = search.catalogue.tools(entry.key)?;
        let facts = Facts {
            time_ms: hit.time_ms,
            kind: &entry.kind,
            role: entry.role.as_deref(),
            tools: &tools,
            is_error: entry.flags & flag::ERROR != 0,
        };
        let key = entry.key as u64;
        Ok(sides.iter().zip(&self.matchers).any(|(side, matcher)| {
            (has_prompts || side.scope.admits(&facts))
                && side.scope.allow.is_none_or(|allow| allow(key))
                && matcher.as_ref().is_none_or(says)
        }))
    }
}

impl<'a> Search<'a> {
    /// What these filters leave, in the scope's directory and in all.
    pub(super) fn entry_filter(&self, filters: &'a Filters) -> Result<EntryFilter<'a>, Error> {
        let left =
            |here: &Here| FilteredEntries::new(self.snapshot, filters, here, self.scope.only_live);
        let here = Here::of(&self.scope.at);
        let wide = (!here.is_everywhere()).then(|| left(&Here::default()));
        Ok(EntryFilter {
            filters,
            left: left(&here)?,
            wide: wide.transpose()?,
        })
    }

    /// How many passages match.
    pub(super) fn count(&self, questions: &[PassageQuery<'_>]) -> Result<MatchCounts, Error> {
        self.ask(questions, |asked| {
            let found = asked.in_any_order(Order::Newest, 1)?;
            self.counted(asked, &asked.here, &found)
        })
    }

    /// Ask the words and all that they lack.
    pub(super) fn ask<R>(
        &self,
        questions: &[PassageQuery<'_>],
        then: impl FnOnce(&CompiledSearch<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let ranks_sessions = self.ranks_sessions && questions.len() == 1;
        let compiled = |question| CompiledAlternative::new(question, ranks_sessions);
        let alternatives: Vec<_> = questions.iter().map(compiled).collect();
        let (words, done) = match alternatives.iter().all(|one| one.reads_text()) {
            true => (None, 0),
            false => (self.words(), self.found.done),
        };
        let dead = match words {
            Some(_) => self.dead_ranges(done)?,
            None => Vec::new(),
        };
        let (here_only, everywhere) = (&self.scope.cancel, &self.snapshot.config().cancel);
        let wanted = || !here_only.is_cancelled() && !everywhere.is_cancelled();
        let common = Scope {
            dead: &dead,
            now_ms: self.ages_from_ms(),
            wanted: Some(&wanted),
            // Where no words are asked for, it is entries that are found.
            once_per_entry: questions.iter().all(|question| question.expr.is_none()),
            ..Scope::default()
        };
        let (mut overlays, mut failed) = (Vec::new(), BTreeSet::new());
        for alternative in &alternatives {
            let done = (words.is_some() && !alternative.reads_text()).then_some(done);
            let (overlay, unread) = self.overlay(alternative, common, done)?;
            overlays.push(overlay);
            failed.extend(unread);
        }
        let pairs = alternatives.iter().zip(&overlays);
        let here = pairs.map(|(alternative, overlay)| SearchSource {
            disk: words.filter(|_| !alternative.reads_text()),
            overlay: Some(overlay),
            expr: alternative.question.expr,
            scope: alternative.scope(common),
        });
        let here: Vec<SearchSource<'_>> = here.collect();
        let pairs = alternatives.iter().zip(&here);
        let everywhere = pairs.map(|(alternative, source)| SearchSource {
            scope: Scope {
                allow: Some(&*alternative.everywhere),
                ..source.scope
            },
            ..*source
        });
        let remembered = match questions {
            [only] if ranks_sessions => self.remembered(only.expr)?,
            _ => None,
        };
        then(&CompiledSearch {
            remembered,
            ranked: OnceCell::new(),
            everywhere: everywhere.collect(),
            matchers: questions.iter().map(|q| q.expr.map(Matcher::new)).collect(),
            marks: marks_of_several(questions),
            here,
            failed,
        })
    }

    /// The keys that are outdated in words at batch `done`: ranges, ascending, both ends included.
    /// An entry that was added to the outbox again may be forgotten later with those around it, so
    /// ranges that overlap become one.
    fn dead_ranges(&self, done: i64) -> Result<Vec<(u64, u64)>, Error> {
        let dead = self.catalogue.dead(done)?;
        let ranges = dead.iter().map(|d| (d.first as u64, d.last as u64));
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_unstable();
        ranges.dedup_by(|next, before| {
            let overlaps = next.0 <= before.1;
            if overlaps {
                before.1 = before.1.max(next.1);
            }
            overlaps
        });
        Ok(ranges)
    }

    /// All that words at batch `done` lack (`None`: there are no words to ask), and the sources
    /// that could not be read.
    fn overlay<'q>(
        &self,
        alternative: &'q CompiledAlternative<'q>,
        common: Scope<'q>,
        done: Option<i64>,
    ) -> Result<(Overlay<'q>, BTreeSet<i64>), Error> {
        let formats = &self.snapshot.config().formats;
        let (scan, scope) = (&alternative.scan, alternative.overlay_scope(common));
        let mut progress = self.progress.borrow_mut();
        let read = scan_backlog(self.catalogue, formats, done, scan, &scope, *progress);
        drop(progress);
        let (mut parts, mut failed) = read?;
        if alternative.question.entry_filter.filters.asks_for_prompts() {
            let prompts = Scope {
                kinds: ValueFilter::default(),
                ..scope
            };
            let (part, changed) = scan_prompts(self.catalogue, formats, scan, &prompts)?;
            parts.push(part);
            failed.extend(changed);
        }
        // A cancelled scan ends early, so its parts are incomplete.
        self.check_wanted()?;
        Ok((Overlay::new(scan, parts, self.lack.entries), failed))
    }
}

/// Whether an entry is wanted, by its key.
type KeyTest<'q> = Box<dyn Fn(u64) -> bool + 'q>;

/// One alternative of a query, made ready to be asked.
struct CompiledAlternative<'q> {
    question: PassageQuery<'q>,
    /// Kinds of entries that are not wanted.
    without_kinds: Vec<String>,
    scan: Scan,
    /// What the filters leave in the directory that is asked for, or in all.
    here: KeyTest<'q>,
    /// What they leave in all directories.
    everywhere: KeyTest<'q>,
    /// What they leave here or everywhere.
    either: KeyTest<'q>,
    /// Whether the filters may leave anything of a session.
    sessions: Box<dyn Fn(i64) -> bool + 'q>,
}

impl<'q> CompiledAlternative<'q> {
    fn new(question: &PassageQuery<'q>, ranks_sessions: bool) -> CompiledAlternative<'q> {
        let entry_filter = question.entry_filter;
        let scan = match question.read_for {
            Some(read_for) => Scan::reading_for(question.expr, read_for),
            None => Scan::new(question.expr),
        };
        // Filters alone find no settings, unless one of them is on the kind.
        let kinds = &entry_filter.filters.kind;
        let mut without_kinds = kinds.none.clone();
        if question.expr.is_none() && kinds.any.is_empty() && kinds.none.is_empty() {
            without_kinds.extend(SETTINGS.iter().map(|kind| (*kind).to_owned()));
        }
        CompiledAlternative {
            question: *question,
            without_kinds,
            scan: match ranks_sessions {
                true => scan.remembering(question.expr),
                false => scan,
            },
            here: Box::new(|key| entry_filter.left.holds(key)),
            everywhere: Box::new(|key| entry_filter.holds_widely(key)),
            either: Box::new(|key| entry_filter.left.holds(key) || entry_filter.holds_widely(key)),
            sessions: Box::new(|session| entry_filter.may_hold(session)),
        }
    }

    /// Whether only the text itself can answer: the words on disk are not asked then.
    fn reads_text(&self) -> bool {
        self.question.expr.is_some_and(Expr::reads_text)
    }

    /// `common` with this alternative's filters, for the directory that is asked for.
    fn scope<'s>(&'s self, common: Scope<'s>) -> Scope<'s> {
        let EntryFilter { filters, left, .. } = self.question.entry_filter;
        Scope {
            allow: (!left.is_all()).then_some(&*self.here),
            kinds: ValueFilter {
                none: &self.without_kinds,
                ..pick(&filters.kind)
            },
            roles: pick(&filters.role),
            tools: pick(&filters.tool),
            error: filters.error,
            times: TimeRange {
                since_ms: filters.since_ms,
                until_ms: filters.until_ms,
                outside_ms: &filters.outside_ms,
            },
            ..common
        }
    }

    /// What is scanned for an overlay. Where other directories are counted as well, their entries
    /// are part of it.
    fn overlay_scope<'s>(&'s self, common: Scope<'s>) -> Scope<'s> {
        let entry_filter = self.question.entry_filter;
        let allow = match entry_filter.wide {
            Some(_) => &*self.either,
            None => &*self.here,
        };
        Scope {
            allow: (!entry_filter.left.is_all()).then_some(allow),
            sessions: Some(&*self.sessions),
            ..self.scope(common)
        }
    }
}

/// Finds what any of several questions looks for; `None` where there is one, or none has words.
fn marks_of_several(questions: &[PassageQuery<'_>]) -> Option<Matcher> {
    let exprs = questions.iter().filter_map(|q| q.expr.cloned());
    let exprs: Vec<Expr> = exprs.collect();
    (questions.len() > 1 && !exprs.is_empty()).then(|| Matcher::new(&Expr::Or(exprs)))
}

fn pick(names: &Names) -> ValueFilter<'_> {
    ValueFilter {
        any: &names.any,
        none: &names.none,
        half_typed: names.half_typed.as_deref(),
    }
}

/// The words by which somebody remembers a session, and how long sessions are.
struct RememberedWords<'a> {
    words: &'a [Expr],
    per_session: usize,
    newest_first: bool,
    demanded: Vec<bool>,
    lengths: Arc<SessionLengths>,
}

impl RememberedWords<'_> {
    fn ask<T>(
        &self,
        ask: impl FnOnce(&SessionQuery<'_>) -> Result<T, WordsError>,
    ) -> Result<T, Error> {
        Ok(ask(&SessionQuery {
            words: self.words,
            per_session: self.per_session,
            sessions: self.lengths.sessions(),
            demanded: &self.demanded,
            newest_first: self.newest_first,
            messages: &|session| self.lengths.of(session),
            mean_messages: self.lengths.mean(),
        })?)
    }
}

impl Search<'_> {
    /// What is remembered, where `expr` asks for any of some words.
    fn remembered<'q>(&self, expr: Option<&'q Expr>) -> Result<Option<RememberedWords<'q>>, Error> {
        let Some(Expr::Or(words)) = expr else {
            return Ok(None);
        };
        let demanded = self.query.words.iter().map(|word| word.is_demanded);
        let per_session = self.scope.per_session;
        Ok(Some(RememberedWords {
            words,
            per_session: per_session.unwrap_or(HITS_PER_SESSION),
            newest_first: self.scope.newest_first,
            demanded: demanded.collect(),
            lengths: self.snapshot.session_lengths()?,
        }))
    }
}
