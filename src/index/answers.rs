//! Every question of a [`Snapshot`], asked of the newest one.

use std::io::Write;
use std::path::PathBuf;

use super::{CopiedBranch, Error, Event, Index, ListPage, Snapshot, StreamOutcome};
use crate::model::{
    Blame, ChildSession, Class, CommitWriter, FileLog, Listing, Mask, SearchAnswer, SessionRow,
    ShortIds, Spending, Status, ToolReport, Transcript, Tree,
};
use crate::query::{
    BlameScope, CommitScope, ListScope, NameScope, SearchScope, SessionFile, SharedFile,
    SharedFiles, ShowScope, ShownPart, SpendingScope, TreePart, TreeScope, WrittenList,
};
use crate::session::{Progress, SessionInfo, Setup};
use crate::share::SharedBytes;

impl Index {
    /// [`Snapshot::list`](Snapshot::list) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn list(&self, scope: &ListScope) -> Result<Listing, Error> {
        self.ask(|snapshot| snapshot.list(scope))
    }

    /// [`Snapshot::page`](Snapshot::page) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn page(&self, scope: &ListScope) -> Result<ListPage, Error> {
        self.ask(|snapshot| snapshot.page(scope))
    }

    /// [`Snapshot::list_page`](Snapshot::list_page) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn list_page(&self, page: &ListPage) -> Result<Listing, Error> {
        self.ask(|snapshot| snapshot.list_page(page))
    }

    /// [`Snapshot::each_row`](Snapshot::each_row) of the newest snapshot.
    ///
    /// # Errors
    /// Those of `each`, which end it.
    pub fn each_row(
        &self,
        page: &ListPage,
        each: impl FnMut(SessionRow) -> Result<(), Error>,
    ) -> Result<WrittenList, Error> {
        Ok(self.stream(|snapshot| snapshot.each_row(page, each))?.0)
    }

    /// [`Snapshot::write_page`](Snapshot::write_page) of everything in the scope.
    ///
    /// # Errors
    /// When the catalogue cannot be read, or `out` not be written.
    pub fn write_list(&self, scope: &ListScope, out: &mut dyn Write) -> Result<WrittenList, Error> {
        let write = |snapshot: &Snapshot<'_>| snapshot.write_page(&snapshot.page(scope)?, out);
        Ok(self.stream(write)?.0)
    }

    /// [`Snapshot::write_page`](Snapshot::write_page) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read, or `out` not be written.
    pub fn write_page(&self, page: &ListPage, out: &mut dyn Write) -> Result<WrittenList, Error> {
        Ok(self.stream(|snapshot| snapshot.write_page(page, out))?.0)
    }

    /// [`Snapshot::write_page_lines`](Snapshot::write_page_lines) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read, or `out` not be written.
    pub fn write_page_lines(
        &self,
        page: &ListPage,
        out: &mut dyn Write,
    ) -> Result<WrittenList, Error> {
        Ok(self
            .stream(|snapshot| snapshot.write_page_lines(page, out))?
            .0)
    }

    /// [`Snapshot::resolve`](Snapshot::resolve) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::NoName`]; [`Error::NotFound`]; [`Error::Ambiguous`] with the candidates.
    pub fn resolve(&self, name: &str, scope: &NameScope) -> Result<SessionRow, Error> {
        self.ask(|snapshot| snapshot.resolve(name, scope))
    }

    /// [`Snapshot::short_ids`](Snapshot::short_ids) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn short_ids(&self) -> Result<ShortIds, Error> {
        self.ask(|snapshot| snapshot.short_ids())
    }

    /// [`Snapshot::short_entry_ids`](Snapshot::short_entry_ids) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn short_entry_ids(&self, session: &SessionRow) -> Result<ShortIds, Error> {
        self.ask(|snapshot| snapshot.short_entry_ids(session))
    }

    /// [`Snapshot::entry_named`](Snapshot::entry_named) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::AmbiguousEntry`]; when the catalogue cannot be read.
    pub fn entry_named(&self, session: &SessionRow, name: &str) -> Result<String, Error> {
        self.ask(|snapshot| snapshot.entry_named(session, name))
    }

    /// [`Snapshot::shared_files`](Snapshot::shared_files) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn shared_files(&self, repositories: &[String]) -> Result<SharedFiles, Error> {
        self.ask(|snapshot| snapshot.shared_files(repositories))
    }

    /// [`Snapshot::shared_bytes`](Snapshot::shared_bytes) of the newest snapshot.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn shared_bytes(
        &self,
        file: &SharedFile,
        mask: Option<Mask>,
    ) -> Result<Option<SharedBytes>, Error> {
        self.ask(|snapshot| snapshot.shared_bytes(file, mask))
    }

    /// The only session of an index of one file.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there are several, or none.
    pub fn only(&self) -> Result<SessionRow, Error> {
        self.ask(|snapshot| snapshot.only())
    }

    /// How many links below the roots lead out of them and are not followed.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn links_not_followed(&self) -> Result<u64, Error> {
        self.ask(|snapshot| snapshot.links_not_followed())
    }

    /// Whether there is any session.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn has_sessions(&self) -> Result<bool, Error> {
        self.ask(|snapshot| snapshot.has_sessions())
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

    /// [`Snapshot::spending`](Snapshot::spending) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn spending(&self, scope: &SpendingScope) -> Result<Spending, Error> {
        self.ask(|snapshot| snapshot.spending(scope))
    }

    /// [`Snapshot::tool_use`](Snapshot::tool_use) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn tool_use(&self, scope: &SpendingScope) -> Result<ToolReport, Error> {
        self.ask(|snapshot| snapshot.tool_use(scope))
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

    /// [`Snapshot::has_entry`](Snapshot::has_entry) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn has_entry(&self, session: &SessionRow, entry: &str) -> Result<bool, Error> {
        self.ask(|snapshot| snapshot.has_entry(session, entry))
    }

    /// [`Snapshot::shows_entry`](Snapshot::shows_entry) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn shows_entry(&self, session: &SessionRow, entry: &str) -> Result<bool, Error> {
        self.ask(|snapshot| snapshot.shows_entry(session, entry))
    }

    /// [`Snapshot::is_on_branch`](Snapshot::is_on_branch) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::NoEntry`] when the entry is not in the session.
    pub fn is_on_branch(&self, session: &SessionRow, entry: &str) -> Result<bool, Error> {
        self.ask(|snapshot| snapshot.is_on_branch(session, entry))
    }

    /// [`Snapshot::children`](Snapshot::children) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn children(&self, session: &SessionRow) -> Result<Vec<ChildSession>, Error> {
        self.ask(|snapshot| snapshot.children(session))
    }

    /// [`Snapshot::session_files`](Snapshot::session_files) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the session is not in the index.
    pub fn session_files(&self, session: &SessionRow) -> Result<Vec<SessionFile>, Error> {
        self.ask(|snapshot| snapshot.session_files(session))
    }

    /// [`Snapshot::session_folder`](Snapshot::session_folder) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the session is not in the index.
    pub fn session_folder(&self, session: &SessionRow) -> Result<Option<PathBuf>, Error> {
        self.ask(|snapshot| snapshot.session_folder(session))
    }

    /// [`Snapshot::leaning_on`](Snapshot::leaning_on) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn leaning_on(&self, session: &SessionRow) -> Result<Vec<SessionRow>, Error> {
        self.ask(|snapshot| snapshot.leaning_on(session))
    }

    /// [`Snapshot::subagents_of`](Snapshot::subagents_of) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn subagents_of(&self, id: &str) -> Result<Vec<String>, Error> {
        self.ask(|snapshot| snapshot.subagents_of(id))
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

    /// [`Snapshot::raw`](Snapshot::raw) of the newest snapshot.
    ///
    /// # Errors
    /// As [`Snapshot::raw`](Snapshot::raw).
    pub fn raw(&self, session: &SessionRow, entry: Option<&str>) -> Result<Vec<u8>, Error> {
        self.ask(|snapshot| snapshot.raw(session, entry))
    }

    /// Write what [`Index::raw`] gives to `out`. A whole file is copied without a snapshot.
    ///
    /// # Errors
    /// As [`Index::raw`]; [`Error::Io`] of `out`.
    pub fn copy_raw(
        &self,
        session: &SessionRow,
        entry: Option<&str>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let failed = |e| Error::io(&session.path, e);
        match entry {
            Some(_) => out.write_all(&self.raw(session, entry)?).map_err(failed),
            None => {
                let mut content = self.ask(|snapshot| snapshot.content(session))?;
                std::io::copy(&mut content, out).map(drop).map_err(failed)
            }
        }
    }

    /// [`Snapshot::copy_branch`](Snapshot::copy_branch) of the newest snapshot.
    ///
    /// # Errors
    /// As [`Snapshot::copy_branch`](Snapshot::copy_branch). After [`Error::Changed`] the file
    /// was read again where that could be done: begin `out` again, and ask once more.
    pub fn copy_branch(
        &self,
        session: &SessionRow,
        leaf: Option<&str>,
        out: &mut dyn Write,
    ) -> Result<(CopiedBranch, StreamOutcome), Error> {
        self.stream(|snapshot| snapshot.copy_branch(session, leaf, out))
    }

    /// [`Snapshot::tree`](Snapshot::tree) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn tree<'s>(
        &self,
        session: &SessionRow,
        scope: impl Into<TreeScope<'s>>,
    ) -> Result<Tree, Error> {
        let scope = scope.into();
        self.ask(|snapshot| snapshot.tree(session, scope))
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

    /// [`Snapshot::agent_list`](Snapshot::agent_list) of the newest snapshot.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` broke.
    pub fn agent_list(
        &self,
        setup: &Setup,
        cwd: Option<&str>,
        with_text: bool,
        progress: Progress<'_>,
    ) -> Result<Vec<SessionInfo>, Error> {
        self.ask(|snapshot| snapshot.agent_list(setup, cwd, with_text, progress))
    }

    /// [`Snapshot::agent_list_each`](Snapshot::agent_list_each) of the newest snapshot, which is
    /// held until `each` has returned from the last row, so `each` should not block.
    ///
    /// # Errors
    /// As [`Index::agent_list`].
    pub fn agent_list_each(
        &self,
        setup: &Setup,
        cwd: Option<&str>,
        with_text: bool,
        progress: Progress<'_>,
        each: &mut dyn FnMut(SessionInfo),
    ) -> Result<(), Error> {
        let listed =
            self.stream(|snapshot| snapshot.agent_list_each(setup, cwd, with_text, progress, each));
        listed.map(|((), _)| ())
    }

    /// [`Snapshot::blame`](Snapshot::blame) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn blame(&self, scope: &BlameScope) -> Result<Blame, Error> {
        self.ask(|snapshot| snapshot.blame(scope))
    }

    /// [`Snapshot::commit`](Snapshot::commit) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue or git's objects cannot be read.
    pub fn commit(&self, scope: &CommitScope) -> Result<Option<CommitWriter>, Error> {
        self.ask(|snapshot| snapshot.commit(scope))
    }

    /// [`Snapshot::file_log`](Snapshot::file_log) of the newest snapshot.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn file_log(&self, scope: &BlameScope) -> Result<FileLog, Error> {
        self.ask(|snapshot| snapshot.file_log(scope))
    }

    /// [`Snapshot::dump_words`](Snapshot::dump_words) of the newest snapshot.
    #[doc(hidden)]
    pub fn dump_words(&self) -> Result<Vec<(PathBuf, u64, Class, String)>, Error> {
        self.ask(|snapshot| snapshot.dump_words())
    }
}
