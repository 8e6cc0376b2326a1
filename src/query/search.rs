//! What was said about it? Words and overlay ranked as one, then hydrated, cut to snippets and grouped.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;

use super::filter::Left;
use super::syntax::{self, Filters, Now};
use crate::catalogue::Catalogue;
use crate::index::{Error, Index};
use crate::ingest::{Event, Found, scan_owed, scan_prompts};
use crate::model::{Expr, SCHEMA_VERSION, SearchAnswer};
use crate::words::{self, Matcher, Order, Overlay, Pick, Scan, Scope, Words};

mod ascent;
mod cursor;
mod facets;
mod injected;
mod named;
mod page;
mod place;
mod relax;
mod snippet;

use cursor::Shown;
use page::Page;

/// How a search is asked.
#[derive(Debug, Clone)]
pub struct SearchScope {
    /// Only sessions of this working directory.
    pub cwd: Option<PathBuf>,
    /// Newest first, instead of best first.
    pub newest_first: bool,
    /// Hits at most; 0: all, each of which is read from its file.
    pub limit: usize,
    /// The moment that `since:2w` and ages count from, in ms.
    pub now_ms: i64,
    /// Passages with some of the words will do.
    pub any: bool,
    /// Words that are found too seldom are not looked for with a typo.
    pub exact: bool,
    /// Text that several entries repeat is shown as often.
    pub every_copy: bool,
    /// Each hit by itself, instead of all hits of a session together.
    pub flat: bool,
    /// Entries shown before and after each hit, along its branch.
    pub context: usize,
    /// Count what was found by agent, project, role and day.
    pub facets: bool,
    /// Tell of each hit why it stands where it does.
    pub explain: bool,
    /// Bytes of the answer's JSON at most; there is at least one hit. 0 = any number.
    pub max_bytes: usize,
    /// Go on behind the page that gave this [`SearchAnswer::cursor`].
    pub cursor: Option<String>,
}

impl Default for SearchScope {
    /// Twenty hits of all sessions, best first.
    fn default() -> SearchScope {
        SearchScope {
            cwd: None,
            newest_first: false,
            limit: 20,
            now_ms: 0,
            any: false,
            exact: false,
            every_copy: false,
            flat: false,
            context: 0,
            facets: false,
            explain: false,
            max_bytes: 0,
            cursor: None,
        }
    }
}

/// Fewer hits than this are too few: words with a typo are looked for as well.
const FEW: u64 = 3;

impl Index {
    /// All passages that `query` matches in the scope, best first, grouped by session.
    ///
    /// # Errors
    /// [`Error::Query`] when the query cannot be read, [`Error::Cursor`] when the cursor cannot.
    pub fn search(&self, query: &str, scope: &SearchScope) -> Result<SearchAnswer, Error> {
        self.search_with(query, scope, &mut |_| {})
    }

    /// The same with progress, for queries that read all text through.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn search_with(
        &self,
        query: &str,
        scope: &SearchScope,
        progress: &mut dyn FnMut(Event),
    ) -> Result<SearchAnswer, Error> {
        let query = syntax::parse(query, Now::utc(scope.now_ms))?;
        let shown = Shown::read(scope.cursor.as_deref())?;
        let mut answer = SearchAnswer {
            schema_version: SCHEMA_VERSION,
            complete: self.complete,
            pending_files: self.pending_files,
            total_exact: true,
            notes: query.notes.clone(),
            ..SearchAnswer::default()
        };
        let Some(catalogue) = &self.catalogue else {
            return Ok(answer);
        };
        catalogue.snapshot()?;
        let mut ask = |found| -> Result<Option<String>, Error> {
            let search = Search::new(self, catalogue, &query, scope, &shown, progress, found)?;
            search.answer_or_damage(&mut answer)
        };
        let result = match ask(None) {
            // The words are damaged: all text is read instead.
            Ok(Some(why)) => ask(Some(Found {
                damage: Some(why),
                ..Found::default()
            })),
            done => done,
        };
        catalogue.end_snapshot();
        progress(Event::Done);
        result.map(|_| answer)
    }
}

/// One search on one snapshot of the catalogue.
struct Search<'a> {
    index: &'a Index,
    catalogue: &'a Catalogue,
    query: &'a syntax::Query,
    filters: &'a Filters,
    scope: &'a SearchScope,
    shown: &'a Shown,
    left: Left<'a>,
    /// What is left in all directories, where only one was asked for.
    wide: Option<Left<'a>>,
    /// The words, once they were asked for.
    found: OnceCell<Found>,
    progress: RefCell<&'a mut dyn FnMut(Event)>,
}

/// An expression, asked of everything.
struct Asked<'a> {
    expr: Option<&'a Expr>,
    matcher: Option<Matcher>,
    disk: Option<&'a Words>,
    overlay: &'a Overlay<'a>,
    scope: Scope<'a>,
    /// Items that could not be read.
    failed: u64,
}

impl Asked<'_> {
    fn hits(&self, scope: &Scope<'_>, order: Order, most: usize) -> Result<words::Answer, Error> {
        let overlay = Some(self.overlay);
        Ok(words::search(
            self.disk, overlay, self.expr, scope, order, most,
        )?)
    }
}

impl<'a> Search<'a> {
    fn new(
        index: &'a Index,
        catalogue: &'a Catalogue,
        query: &'a syntax::Query,
        scope: &'a SearchScope,
        shown: &'a Shown,
        progress: &'a mut dyn FnMut(Event),
        found: Option<Found>,
    ) -> Result<Self, Error> {
        let filters = &query.filters;
        let left = |cwd| Left::new(index, catalogue, filters, cwd);
        Ok(Self {
            index,
            catalogue,
            query,
            filters,
            scope,
            shown,
            left: left(scope.cwd.as_deref())?,
            wide: scope.cwd.as_ref().map(|_| left(None)).transpose()?,
            found: found.map_or_else(OnceCell::new, OnceCell::from),
            progress: RefCell::new(progress),
        })
    }

    /// The answer, or what is wrong with the words. What an earlier search has filled in is replaced.
    fn answer_or_damage(&self, answer: &mut SearchAnswer) -> Result<Option<String>, Error> {
        let mut fresh = SearchAnswer {
            schema_version: SCHEMA_VERSION,
            total_exact: true,
            notes: self.query.notes.clone(),
            ..SearchAnswer::default()
        };
        match self.answer(&mut fresh) {
            Ok(()) => {}
            Err(Error::Words(error)) if error.asks_for_rebuild() => {
                return match self.found.get().and_then(|found| found.words.as_ref()) {
                    Some(words) => Ok(Some(words.diagnosis(&error))),
                    None => Err(error.into()),
                };
            }
            Err(error) => return Err(error),
        }
        if let Some(why) = self.found.get().and_then(|found| found.damage.as_ref()) {
            words::condemn(&self.index.config.words_dir(), why);
            fresh.words_damage = Some(why.clone());
        }
        *answer = fresh;
        Ok(None)
    }

    fn answer(&self, answer: &mut SearchAnswer) -> Result<(), Error> {
        let expr = match &self.query.expr {
            Some(expr) if self.scope.any => Some(relax::any(expr)),
            expr => expr.clone(),
        };
        self.fill(expr.as_ref(), answer)?;
        let near = expr
            .as_ref()
            .filter(|_| !self.scope.exact && answer.total < FEW);
        if let Some(near) = near.and_then(relax::near) {
            let mut wider = answer.clone();
            self.fill(Some(&near), &mut wider)?;
            if wider.total > answer.total {
                *answer = wider;
                answer.also = relax::also(&near, &answer.sessions);
            }
        }
        if answer.total == 0
            && let Some(expr) = &expr
        {
            self.explain_nothing(expr, answer)?;
        }
        if self.scope.cursor.is_none() {
            answer.named = self.named(self.query)?;
        }
        Ok(())
    }

    /// The page, the total and whatever else was asked for.
    fn fill(&self, expr: Option<&Expr>, answer: &mut SearchAnswer) -> Result<(), Error> {
        self.ask(expr, &self.left, |asked| {
            answer.complete = self.index.complete && asked.failed == 0;
            answer.pending_files = self.index.pending_files + asked.failed;
            let order = match self.scope.newest_first {
                true => Order::Newest,
                false => Order::Ranked,
            };
            let limit = match self.scope.limit {
                0 => usize::MAX,
                limit => limit,
            };
            let mut page = Page::new(self, asked.matcher.as_ref(), order, limit);
            let mut want = limit.saturating_add(self.shown.len());
            loop {
                let found = asked.hits(&asked.scope, order, want)?;
                let all = found.hits.len() >= found.total;
                let full = page.take(&found.hits, all)?;
                if full || all {
                    answer.total = (found.total - page.dropped) as u64;
                    answer.total_sessions = match all && page.has_seen(&found.hits) {
                        true => page.matched.len(),
                        false => found.sessions,
                    } as u64;
                    answer.total_exact =
                        !found.total_is_bound || (all && page.has_seen(&found.hits));
                    break;
                }
                want = want.saturating_mul(4);
            }
            answer.complete &= !page.stale;
            page.finish(answer)?;
            if self.scope.facets {
                answer.facets = Some(self.facets(asked)?);
            }
            if self.wide.is_some() {
                let wide = |key: u64| self.holds_widely(key);
                let wider = Scope {
                    allow: Some(&wide),
                    ..asked.scope
                };
                let all = asked.hits(&wider, order, 1)?.total as u64;
                answer.elsewhere = Some(all.saturating_sub(answer.total));
            }
            Ok(())
        })
    }

    fn holds_widely(&self, key: u64) -> bool {
        self.wide.as_ref().unwrap_or(&self.left).holds(key)
    }

    /// How many passages match, of those that `left` leaves.
    fn count(&self, expr: &Expr, left: &Left<'_>, filters: &Filters) -> Result<u64, Error> {
        self.ask_of(Some(expr), left, filters, |asked| {
            Ok(asked.hits(&asked.scope, Order::Newest, 1)?.total as u64)
        })
    }

    fn ask<R>(
        &self,
        expr: Option<&Expr>,
        left: &Left<'_>,
        then: impl FnOnce(&Asked<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.ask_of(expr, left, self.filters, then)
    }

    /// Ask `expr` of the words and of all that they lack.
    fn ask_of<R>(
        &self,
        expr: Option<&Expr>,
        left: &Left<'_>,
        f: &Filters,
        then: impl FnOnce(&Asked<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        // The catalogue's snapshot is taken first: whatever the words hold beyond it is in the overlay as well.
        let (disk, done) = match expr {
            // Only the text itself tells.
            Some(expr) if expr.reads_text() => (None, 0),
            _ => {
                if self.found.get().is_none() {
                    let mut kept = self.index.words.borrow_mut();
                    let found = kept.open(self.catalogue, &self.index.config.words_dir())?;
                    self.found.get_or_init(|| found);
                }
                let found = self.found.get();
                let words = found.and_then(|found| found.words.as_deref());
                (words, found.map_or(0, |found| found.done))
            }
        };
        let mut dead = Vec::new();
        if disk.is_some() {
            let gone = self.catalogue.dead(done)?;
            dead.extend(gone.iter().map(|d| (d.first as u64, d.last as u64)));
            dead.sort_unstable();
        }
        let allow = |key: u64| left.holds(key);
        let scope = Scope {
            allow: (!left.is_all()).then_some(&allow as &dyn Fn(u64) -> bool),
            dead: &dead,
            class: None,
            kinds: pick(&f.kind),
            roles: pick(&f.role),
            tools: pick(&f.tool),
            error: f.error,
            since_ms: f.since_ms,
            until_ms: f.until_ms,
            outside_ms: &f.outside_ms,
            now_ms: self.scope.now_ms,
        };
        let wide = |key: u64| left.holds(key) || self.holds_widely(key);
        // What is elsewhere is counted as well.
        let read = Scope {
            allow: scope.allow.map(|allow| match self.wide {
                Some(_) => &wide as &dyn Fn(u64) -> bool,
                None => allow,
            }),
            ..scope
        };
        let scan = Scan::new(expr);
        let mut progress = self.progress.borrow_mut();
        let (mut parts, mut failed) = scan_owed(
            self.catalogue,
            &self.index.config.formats,
            disk.map(|_| done),
            &scan,
            &read,
            *progress,
        )?;
        drop(progress);
        if f.asks_for_prompts() {
            let prompts = Scope {
                kinds: Pick::default(),
                ..read
            };
            let formats = &self.index.config.formats;
            let (part, changed) = scan_prompts(self.catalogue, formats, &scan, &prompts)?;
            parts.push(part);
            failed += changed;
        }
        then(&Asked {
            expr,
            matcher: expr.map(Matcher::new),
            disk,
            overlay: &Overlay::new(&scan, parts),
            scope,
            failed,
        })
    }
}

fn pick(names: &syntax::Names) -> Pick<'_> {
    Pick {
        any: &names.any,
        none: &names.none,
    }
}
