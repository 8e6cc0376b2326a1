//! How is a snapshot asked? By a text, which is read first, or by a query that was read before.

use std::rc::Rc;

use super::cursor::{self, SeenHits};
use super::{Search, SearchScope, empty_answer};
use crate::error::Error;
use crate::ingest::WordsState;
use crate::model::{Event, SearchAnswer, Zone};
use crate::query::Snapshot;
use crate::syntax::{self, Now};

impl Snapshot<'_> {
    /// All passages that `query` matches in the scope, best first, grouped by session.
    ///
    /// # Errors
    /// [`Error::Query`] when the query cannot be read, [`Error::Cursor`] when the cursor cannot,
    /// [`Error::OtherCursor`] when it is of another question, [`Error::TooFewBytes`] when no answer
    /// is so short, [`Error::Cancelled`].
    pub fn search(&self, query: &str, scope: &SearchScope) -> Result<SearchAnswer, Error> {
        self.search_with(query, scope, &mut |_| {})
    }

    /// As [`Snapshot::search`], with progress reported for queries that read all text through.
    ///
    /// # Errors
    /// As [`Snapshot::search`].
    pub fn search_with(
        &self,
        query: &str,
        scope: &SearchScope,
        progress: &mut dyn FnMut(Event),
    ) -> Result<SearchAnswer, Error> {
        let zone = scope.zone.as_ref().unwrap_or(&self.config().zone);
        let question = cursor::question(query, scope, zone);
        let shown = SeenHits::read(scope.cursor.as_deref(), question, scope.now_ms())?;
        let now = Now {
            ms: shown.now_ms(),
            zone,
        };
        let query = match scope.as_typed {
            true => syntax::parse_as_typed(query, now),
            false => syntax::parse(query, now)?,
        };
        self.answer_query(query, scope, zone, &shown, progress)
    }

    /// As [`Snapshot::search_with`], for a query that was read or put together before: its filters
    /// are values, and none of them has to be written as text: [`syntax::Query::new`] puts one
    /// together. Without any alternative it leaves everything in. Its times are moments already, so
    /// that the query of a page is that of the next one; [`SearchScope::as_typed`] is of no
    /// account.
    ///
    /// ```no_run
    /// use sessionary::index::SearchScope;
    /// use sessionary::syntax::{Now, parse};
    /// # fn main() -> Result<(), sessionary::Error> {
    /// # let index = sessionary::Index::open(
    /// #     &sessionary::Config::new("/tmp/index", vec![]), sessionary::Freshness::Check)?;
    /// let mut query = parse("linker error", Now::utc(1_767_600_000_000))?;
    /// for alternative in &mut query.alternatives {
    ///     // In the place of agents that the text names; added to these, it would be one of them.
    ///     alternative.filters.agent.any = vec!["pi".to_owned()];
    /// }
    /// let scope = SearchScope::default();
    /// let answer = index.ask(|snapshot| snapshot.search_query(&query, &scope, &mut |_| {}))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Snapshot::search`], but for [`Error::Query`].
    pub fn search_query(
        &self,
        query: &syntax::Query,
        scope: &SearchScope,
        progress: &mut dyn FnMut(Event),
    ) -> Result<SearchAnswer, Error> {
        let scope = &SearchScope {
            as_typed: false,
            ..scope.clone()
        };
        let zone = scope.zone.as_ref().unwrap_or(&self.config().zone);
        let asked = format!("{:?} {:?}", query.alternatives, query.words);
        let question = cursor::question(&asked, scope, zone);
        let shown = SeenHits::read(scope.cursor.as_deref(), question, scope.now_ms())?;
        let mut query = query.clone();
        if query.alternatives.is_empty() {
            query.alternatives.push(syntax::Alternative::default());
        }
        self.answer_query(query, scope, zone, &shown, progress)
    }

    /// What is found of a query, behind what was `shown`.
    fn answer_query(
        &self,
        mut query: syntax::Query,
        scope: &SearchScope,
        zone: &Zone,
        shown: &SeenHits,
        progress: &mut dyn FnMut(Event),
    ) -> Result<SearchAnswer, Error> {
        let home = self.config().home.as_deref();
        if let Some(home) = home.and_then(std::path::Path::to_str) {
            query.write_out_home(home);
        }
        for one in &mut query.alternatives {
            one.filters.session.none.extend_from_slice(&scope.without);
        }
        if !self.stores.is_made {
            return Ok(SearchAnswer {
                complete: self.is_complete(),
                pending_files: self.stores.pending_files,
                ..empty_answer(&query, scope)
            });
        }
        let mut ask = |found| {
            let search = Search::new(self, &query, scope, zone, shown, progress, found)?;
            search.answer_from_stores()
        };
        let answered = ask(self.words()?).or_else(|failed| match failed.words_damage {
            // All text is read instead.
            Some(_) => ask(Rc::new(WordsState {
                damage: failed.words_damage,
                ..WordsState::default()
            })),
            None => Err(failed),
        });
        progress(Event::Done);
        let mut answer = answered.map_err(|failed| failed.error)?;
        answer.complete &= self.is_complete();
        answer.changed_files = self.changed_files();
        Ok(answer)
    }
}
