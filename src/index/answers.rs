//! The questions of every day, each asked of the newest [`Snapshot`]; [`Index::ask`] asks all
//! others.

use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;

#[cfg(doc)]
use super::Snapshot;
use super::{Error, Event, Index, StreamOutcome};
use crate::model::{Class, Listing, SearchAnswer, SessionRow, Status, Transcript, Tree};
use crate::query::{ListScope, NameScope, SearchScope, ShowScope, ShownPart, TreePart, TreeScope};

/// So many bytes of a file are copied at once.
const PIECE: usize = 64 << 10;

impl Index {
    /// [`Snapshot::list`](Snapshot::list) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn list(&self, scope: &ListScope) -> Result<Listing, Error> {
        self.ask(|snapshot| snapshot.list(scope))
    }

    /// [`Snapshot::resolve`](Snapshot::resolve) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::NoName`]; [`Error::NotFound`]; [`Error::Ambiguous`] with the candidates.
    pub fn resolve(&self, name: &str, scope: &NameScope) -> Result<SessionRow, Error> {
        self.ask(|snapshot| snapshot.resolve(name, scope))
    }

    /// What there is, where, how current, and who writes or watches.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn status(&self) -> Result<Status, Error> {
        Ok(Status {
            watcher: self.watcher(),
            ..self.ask(|snapshot| snapshot.status())?
        })
    }

    /// [`Snapshot::search`](Snapshot::search) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::Query`] when the query cannot be read, [`Error::Cursor`] when the cursor cannot,
    /// [`Error::OtherCursor`] when it is of another question, [`Error::TooFewBytes`] when no answer
    /// is so short.
    pub fn search(&self, query: &str, scope: &SearchScope) -> Result<SearchAnswer, Error> {
        self.search_with(query, scope, &mut |_| {})
    }

    /// [`Index::search`] with progress, for queries that have to scan all text.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn search_with(
        &self,
        query: &str,
        scope: &SearchScope,
        progress: &mut dyn FnMut(Event),
    ) -> Result<SearchAnswer, Error> {
        self.ask(|snapshot| snapshot.search_with(query, scope, progress))
    }

    /// [`Snapshot::show`](Snapshot::show) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::NoEntry`] when the entry or branch asked for is not in the session.
    pub fn show(&self, session: &SessionRow, scope: &ShowScope) -> Result<Transcript, Error> {
        self.ask(|snapshot| snapshot.show(session, scope))
    }

    /// Give `each` a session's transcript piece by piece. An error of `each` ends it. The snapshot
    /// is held until `each` has returned from the last piece, so `each` should not block.
    ///
    /// # Errors
    /// As [`Index::show`], before the first piece.
    pub fn show_each<E: From<Error>>(
        &self,
        session: &SessionRow,
        scope: &ShowScope,
        each: &mut dyn FnMut(ShownPart<'_>) -> Result<(), E>,
    ) -> Result<StreamOutcome, E> {
        let shown = self.stream(|snapshot| snapshot.show_each(session, scope, each));
        Ok(shown?.1)
    }

    /// Write what [`Snapshot::raw`](Snapshot::raw) gives to `out`. A whole file is copied without a
    /// snapshot.
    ///
    /// # Errors
    /// As [`Snapshot::raw`](Snapshot::raw); [`Error::Output`] of `out`.
    pub fn copy_raw(
        &self,
        session: &SessionRow,
        entry: Option<&str>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        if entry.is_some() {
            let bytes = self.ask(|snapshot| snapshot.raw(session, entry))?;
            return out.write_all(&bytes).map_err(Error::output);
        }
        let mut content = self.ask(|snapshot| snapshot.content(session))?;
        let mut buffer = vec![0; PIECE];
        loop {
            let length = match content.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read.map_err(|error| Error::io(&session.path, error))?,
            };
            out.write_all(&buffer[..length]).map_err(Error::output)?;
        }
    }

    /// [`Snapshot::tree`](Snapshot::tree) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the session is not in the index.
    pub fn tree<'s>(
        &self,
        session: &SessionRow,
        scope: impl Into<TreeScope<'s>>,
    ) -> Result<Tree, Error> {
        let scope = scope.into();
        self.ask(|snapshot| snapshot.tree(session, scope.clone()))
    }

    /// Give `each` a session's tree piece by piece. An error of `each` ends it. The snapshot is
    /// held until `each` has returned from the last piece, so `each` should not block.
    ///
    /// # Errors
    /// As [`Index::tree`], before the first piece.
    pub fn tree_each<'s, E: From<Error>>(
        &self,
        session: &SessionRow,
        scope: impl Into<TreeScope<'s>>,
        each: &mut dyn FnMut(TreePart<'_>) -> Result<(), E>,
    ) -> Result<StreamOutcome, E> {
        let shown = self.stream(|snapshot| snapshot.tree_each(session, scope, each));
        Ok(shown?.1)
    }

    /// [`Snapshot::dump_words`](Snapshot::dump_words) of the newest snapshot.
    #[doc(hidden)]
    pub fn dump_words(&self) -> Result<Vec<(PathBuf, u64, Class, String)>, Error> {
        self.ask(|snapshot| snapshot.dump_words())
    }
}
