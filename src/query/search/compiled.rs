//! What is asked, and of which sides? Each alternative of a query is asked of the words on disk and
//! of all that they lack.

use std::collections::BTreeSet;

use super::Search;
use super::counted::MatchCounts;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::ingest::{scan_owed, scan_prompts};
use crate::model::Expr;
use crate::query::filter::FilteredEntries;
use crate::syntax::{Filters, Names};
use crate::words::{
    self, Facts, Matcher, Order, Overlay, Scan, Scope, SearchSource, TimeRange, ValueFilter,
    search_any,
};

/// What filters leave.
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

/// What passages of the entries that a sieve leaves must say.
#[derive(Clone, Copy)]
pub(super) struct PassageQuery<'q> {
    pub expr: Option<&'q Expr>,
    pub sieve: &'q EntryFilter<'q>,
}

/// Questions, asked of everything.
pub(super) struct CompiledSearch<'a> {
    /// Of the directory that is asked for, or of all.
    pub here: Vec<SearchSource<'a>>,
    /// Of all directories.
    pub everywhere: Vec<SearchSource<'a>>,
    matchers: Vec<Option<Matcher>>,
    /// Finds what any of them looks for; `None` where one takes all text.
    marks: Option<Matcher>,
    /// Sources that could not be read, or hold other bytes by now.
    pub failed: BTreeSet<i64>,
}

impl CompiledSearch<'_> {
    /// What matches, or may.
    pub fn hits(&self, order: Order, most: usize) -> Result<words::Answer, Error> {
        Ok(search_any(&self.here, order, most)?)
    }

    /// What to highlight.
    pub fn marks(&self) -> Option<&Matcher> {
        match self.matchers.as_slice() {
            [only] => only.as_ref(),
            _ => self.marks.as_ref(),
        }
    }

    /// Whether a passage of an entry, as its file and the catalogue have them, is what one of the
    /// `sides` asks for. Where the entry's prompts are among the pieces, its kind does not matter.
    pub fn confirms(
        &self,
        search: &Search<'_>,
        sides: &[SearchSource<'_>],
        (hit, entry, has_prompts): (&words::Hit, &StoredEntry, bool),
        pieces: &[String],
    ) -> Result<bool, Error> {
        // What has no time of its own has one that the index may know by another name for a while.
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
    pub(super) fn sieve(&self, filters: &'a Filters) -> Result<EntryFilter<'a>, Error> {
        let left = |cwd| FilteredEntries::new(self.snapshot, filters, cwd);
        let cwd = self.scope.cwd.as_deref();
        Ok(EntryFilter {
            filters,
            left: left(cwd)?,
            wide: cwd.map(|_| left(None)).transpose()?,
        })
    }

    /// How many passages match.
    pub(super) fn count(&self, questions: &[PassageQuery<'_>]) -> Result<MatchCounts, Error> {
        self.ask(questions, |asked| {
            let found = asked.hits(Order::Newest, 1)?;
            self.counted(asked, &asked.here, &found)
        })
    }

    /// Ask the words and all that they lack.
    pub(super) fn ask<R>(
        &self,
        questions: &[PassageQuery<'_>],
        then: impl FnOnce(&CompiledSearch<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        // Only the text itself tells.
        let reads = |question: &PassageQuery<'_>| question.expr.is_some_and(Expr::reads_text);
        let (words, done) = match questions.iter().all(reads) {
            true => (None, 0),
            false => self.words()?,
        };
        let mut dead = Vec::new();
        if words.is_some() {
            let gone = self.catalogue.dead(done)?;
            dead.extend(gone.iter().map(|d| (d.first as u64, d.last as u64)));
            dead.sort_unstable();
        }
        let here = each(questions, |sieve, key| sieve.left.holds(key));
        let wide = each(questions, |sieve, key| sieve.holds_widely(key));
        let either = each(questions, |sieve, key| {
            sieve.left.holds(key) || sieve.holds_widely(key)
        });
        let sessions: Vec<_> = questions
            .iter()
            .map(|question| |session: i64| question.sieve.may_hold(session))
            .collect();
        let scans: Vec<Scan> = questions.iter().map(|q| Scan::new(q.expr)).collect();
        let (mut overlays, mut scopes, mut failed) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (here_only, everywhere) = (&self.scope.cancel, &self.snapshot.config().cancel);
        let wanted = || !here_only.is_cancelled() && !everywhere.is_cancelled();
        for (at, question) in questions.iter().enumerate() {
            let f = question.sieve.filters;
            let is_all = question.sieve.left.is_all();
            let scope = Scope {
                allow: (!is_all).then_some(&*here[at]),
                sessions: None,
                dead: &dead,
                class: None,
                kinds: pick(&f.kind),
                roles: pick(&f.role),
                tools: pick(&f.tool),
                error: f.error,
                times: TimeRange {
                    since_ms: f.since_ms,
                    until_ms: f.until_ms,
                    outside_ms: &f.outside_ms,
                },
                now_ms: self.scope.now_ms,
                wanted: Some(&wanted),
            };
            // What is elsewhere is counted as well.
            let read = Scope {
                allow: (!is_all).then_some(match question.sieve.wide {
                    Some(_) => &*either[at],
                    None => &*here[at],
                }),
                sessions: Some(&sessions[at]),
                ..scope
            };
            let formats = &self.snapshot.config().formats;
            let done = (words.is_some() && !reads(question)).then_some(done);
            let mut progress = self.progress.borrow_mut();
            let (mut parts, unread) =
                scan_owed(self.catalogue, formats, done, &scans[at], &read, *progress)?;
            drop(progress);
            failed.extend(unread);
            if f.asks_for_prompts() {
                let prompts = Scope {
                    kinds: ValueFilter::default(),
                    ..read
                };
                let (part, changed) = scan_prompts(self.catalogue, formats, &scans[at], &prompts)?;
                parts.push(part);
                failed.extend(changed);
            }
            // What was read until then is not all.
            self.check_wanted()?;
            overlays.push(Overlay::new(&scans[at], parts));
            scopes.push(scope);
        }
        let sides: Vec<SearchSource<'_>> = questions
            .iter()
            .enumerate()
            .map(|(at, question)| SearchSource {
                disk: words.filter(|_| !reads(question)),
                overlay: Some(&overlays[at]),
                expr: question.expr,
                scope: scopes[at],
            })
            .collect();
        let wider = sides.iter().enumerate().map(|(at, side)| SearchSource {
            scope: Scope {
                allow: Some(&*wide[at]),
                ..side.scope
            },
            ..*side
        });
        let exprs = questions.iter().filter_map(|q| q.expr.cloned());
        let exprs: Vec<Expr> = exprs.collect();
        then(&CompiledSearch {
            everywhere: wider.collect(),
            matchers: questions.iter().map(|q| q.expr.map(Matcher::new)).collect(),
            marks: (questions.len() > 1 && !exprs.is_empty())
                .then(|| Matcher::new(&Expr::Or(exprs))),
            here: sides,
            failed,
        })
    }
}

/// What is asked of a key, for each question.
fn each<'q>(
    questions: &'q [PassageQuery<'q>],
    allow: fn(&EntryFilter<'_>, u64) -> bool,
) -> Vec<Box<dyn Fn(u64) -> bool + 'q>> {
    let mut each: Vec<Box<dyn Fn(u64) -> bool + 'q>> = Vec::new();
    for question in questions {
        each.push(Box::new(move |key| allow(question.sieve, key)));
    }
    each
}

fn pick(names: &Names) -> ValueFilter<'_> {
    ValueFilter {
        any: &names.any,
        none: &names.none,
    }
}
