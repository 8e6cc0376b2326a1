//! How is a question answered while the files are looked at?
//!
//! By what was committed last. Mostly nothing has changed since, and then that is the answer: whoever looks holds the lock,
//! so nobody has written in between, and has then written nothing itself. Else it is thrown away, and the question asked again.

use std::cell::RefCell;
use std::thread::Builder;

use super::{Config, Error, Event, Freshness, Index, Indexer};
use crate::ingest::{self, Kept, Seen};
use crate::model::{Expr, Report, SearchAnswer};
use crate::query::{ListPage, ListScope, SearchScope, looked_for};

impl Index {
    /// Open the index brought up to the files, with its [`Index::page`], which is made while they are looked at.
    pub fn open_and_page(
        config: &Config,
        scope: &ListScope,
        progress: &mut dyn FnMut(Event),
    ) -> Result<(Index, ListPage), Error> {
        let page = |index: &Index| index.page(scope);
        let (index, early) = Index::ask(config, progress, None, Kept::default, page)?;
        let page = early.map_or_else(|| index.page(scope), Ok)?;
        Ok((index, page))
    }

    /// Open the index brought up to the files, with what [`Index::search_with`] finds in it: searched while they are looked
    /// at, unless text must be read through for it. Where all files are read for the first time, it is noted where they may
    /// hold what is asked for, and nothing else is read again.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn open_and_search(
        config: &Config,
        query: &str,
        scope: &SearchScope,
        progress: &mut dyn FnMut(Event),
    ) -> Result<(Index, SearchAnswer), Error> {
        let sought = looked_for(query, scope)?;
        let directory = config.words_dir();
        let search = |index: &Index| index.search(query, scope);
        let (index, early) = std::thread::scope(|threads| {
            let opening = Builder::new().spawn_scoped(threads, || Kept::ahead(&directory));
            // Without a thread for it they are opened when they are asked for.
            let words = || match opening {
                Ok(opening) => opening.join().unwrap_or_default(),
                Err(_) => Kept::default(),
            };
            Index::ask(config, progress, sought.as_ref(), words, search)
        })?;
        let answer = early.map_or_else(|| index.search_with(query, scope, progress), Ok)?;
        Ok((index, answer))
    }

    /// Open the index brought up to the files, and the answer that was found meanwhile, if it stands.
    fn ask<T>(
        config: &Config,
        progress: &mut dyn FnMut(Event),
        sought: Option<&Expr>,
        words: impl FnOnce() -> Kept,
        question: impl FnOnce(&Index) -> Result<T, Error>,
    ) -> Result<(Index, Option<T>), Error> {
        let (mut words, mut question) = (Some(words), Some(question));
        let (mut opened, mut early) = (None, None);
        let mut index = Index::open_by(config, Freshness::Check, &mut |mut indexer| {
            indexer.look_for(sought)?;
            // What is excluded is wiped first, and nobody may read meanwhile.
            let (Some(question), true) = (question.take(), config.exclude.is_empty()) else {
                return looked(indexer, Vec::new(), progress);
            };
            let (indexer, told) = indexer.look_beside(|index| {
                index
                    .words
                    .replace(words.take().map(|words| words()).unwrap_or_default());
                let answer = question(index);
                opened = Some(index.words.take());
                answer
            });
            let Ok((seen, answer)) = told else {
                // What is wrong is mended, or told, by looking.
                return looked(indexer, Vec::new(), progress);
            };
            let before = mark(&indexer);
            let (indexer, report) = looked(indexer, seen, progress)?;
            let stands = report.files_unreadable == 0 && mark(&indexer) == before;
            early = answer.ok().filter(|_| stands);
            Ok((indexer, report))
        })?;
        index.words = opened
            .or_else(|| words.map(|words| words()))
            .unwrap_or_default()
            .into();
        Ok((index, early))
    }
}

impl Indexer {
    /// Look at all files while `ask` has the index as it is.
    fn look_beside<T>(
        mut self,
        ask: impl FnOnce(&Index) -> T,
    ) -> (Indexer, Result<(Vec<Option<Seen>>, T), Error>) {
        if let Err(error) = self.prepare(&mut Report::default()) {
            return (self, Err(error));
        }
        let Indexer {
            config, catalogue, ..
        } = self;
        let lent = |catalogue| {
            let index = Index {
                config: config.clone(),
                catalogue: Some(catalogue),
                complete: true,
                pending_files: 0,
                report: None,
                obstacle: None,
                words: RefCell::default(),
                sighted: None,
                is_early: true,
            };
            let told = ask(&index);
            match index.catalogue {
                Some(catalogue) => (catalogue, told),
                None => unreachable!("it was only shown"),
            }
        };
        let (catalogue, told) = ingest::look_beside(catalogue, &config, lent);
        let indexer = Indexer {
            config,
            catalogue,
            ..self
        };
        (indexer, told.map_err(Error::from))
    }
}

/// Look at the files that were not seen yet, and catalogue what is new.
fn looked(
    mut indexer: Indexer,
    seen: Vec<Option<Seen>>,
    progress: &mut dyn FnMut(Event),
) -> Result<(Indexer, Report), Error> {
    let report = indexer.sync_catalogue_seen(seen, progress)?;
    Ok((indexer, report))
}

/// What is another one after whatever is written.
fn mark(indexer: &Indexer) -> (Option<(i64, i64)>, u64) {
    (indexer.opened, indexer.catalogue.rows_written())
}
