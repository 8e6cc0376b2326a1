//! Which sessions are there? The agents' own lists, row by row, then what they would not list.

use super::here::WhereScope;
use super::list_json::WrittenList;
use super::page::{ListPage, Row};
use crate::error::Error;
use crate::model::{Listing, Mask, SessionRow, Sort};
use crate::query::Snapshot;

/// Which sessions a list shows, in which order. The default is all of them.
#[derive(Debug, Clone, Default)]
pub struct ListScope {
    /// Only sessions of these directories or repositories.
    pub at: WhereScope,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions of this project: part of its folder's name, or with a separator the folder or
    /// one above it.
    pub project: Option<String>,
    /// Only sessions with one of these ids; `None`: with any.
    pub ids: Option<Vec<String>>,
    /// Only these sessions, by their [`SessionRow::number`](crate::model::SessionRow::number), as
    /// a feed names those that changed; `None`: any. Those that are gone are left out.
    pub numbers: Option<Vec<i64>>,
    /// Only sessions with a name.
    pub named: bool,
    /// Only sessions whose files are there, and none that are archived.
    pub only_live: bool,
    /// Only sessions of this machine.
    pub only_own: bool,
    /// Only sessions with entries that report an error.
    pub errors: bool,
    /// Only sessions that cost at least so many US dollars.
    pub cost: Option<f64>,
    /// Only sessions that used a model whose name contains this text.
    pub model: Option<String>,
    /// Only sessions last modified at this moment or later, in ms.
    pub since_ms: Option<i64>,
    /// Only sessions last modified before this moment, in ms; with `since_ms`, those in which
    /// something happened between the two, also where they went on later.
    pub until_ms: Option<i64>,
    /// Leave out sessions of subagents whose parent is there: it counts them.
    pub fold_subagents: bool,
    /// In which order.
    pub sort: Sort,
    /// Reverse the order. Sessions that do not record the value come last all the same.
    pub reverse: bool,
    /// Fill [`crate::model::SessionRow::all_messages_text`], read from the files.
    pub with_text: bool,
    /// How many are left out at the beginning.
    pub offset: usize,
    /// At most so many; `None`: all.
    pub limit: Option<usize>,
    /// Makes parts of the rows unreadable.
    pub mask: Option<Mask>,
}

impl ListScope {
    pub(super) fn most(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }

    /// So many rows of its order are on the page or before it.
    pub(super) fn end(&self) -> usize {
        self.offset.saturating_add(self.most())
    }
}

impl Snapshot<'_> {
    /// The sessions in the scope: first the agents' rows in the agents' order, then the rest.
    ///
    /// Order (pi 0.87.1): `modified` descending, then the file's mtime descending (all projects
    /// only), then its name descending. A session of agentuse stands where its creation puts it;
    /// ties by its path, as agentuse walks.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn list(&self, scope: &ListScope) -> Result<Listing, Error> {
        self.list_page(&self.page(scope)?)
    }

    /// The sessions of a page that [`Snapshot::page`] has made.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn list_page(&self, page: &ListPage) -> Result<Listing, Error> {
        let mut sessions = Vec::with_capacity(page.len());
        self.each_row(page, |row| {
            sessions.push(row);
            Ok(())
        })?;
        // While their text was read, a file may have turned out to be changed.
        Ok(Listing {
            sessions,
            ..self.listing(page)
        })
    }

    /// Show the rows of a page one after the other; memory does not grow with their number. A page
    /// can be gone through more than once: on the snapshot that it is of, its rows are the same
    /// each time; on another one, a row that is gone is left out.
    ///
    /// ```no_run
    /// use sessionary::{Config, Freshness, Index, index::ListScope};
    /// # fn main() -> Result<(), sessionary::Error> {
    /// # let config = Config::new("/tmp/index", vec![]);
    /// let index = Index::open(&config, Freshness::Check)?;
    /// let snapshot = index.snapshot()?;
    /// let page = snapshot.page(&ListScope::default())?;
    /// let mut widest = 0;
    /// snapshot.each_row(&page, |row| {
    ///     widest = widest.max(row.id.len());
    ///     Ok(())
    /// })?;
    /// snapshot.each_row(&page, |row| {
    ///     println!("{:widest$} {}", row.id, row.cwd);
    ///     Ok(())
    /// })?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of `each`, which end it; when the catalogue cannot be read.
    pub fn each_row(
        &self,
        page: &ListPage,
        mut each: impl FnMut(SessionRow) -> Result<(), Error>,
    ) -> Result<WrittenList, Error> {
        let mut sessions = 0;
        page.each(self.catalogue, |row| {
            sessions += 1;
            each(self.session_row(&page.scope, &row)?)
        })?;
        Ok(self.written(page, sessions))
    }

    /// One row of a list, taken apart.
    pub(super) fn session_row(
        &self,
        scope: &ListScope,
        row: &Row<'_>,
    ) -> Result<SessionRow, Error> {
        let mut read = self
            .catalogue
            .row_of(&format!("{}{}", row.head, row.json))?;
        read.number = row.session;
        if scope.with_text {
            read.all_messages_text = Some(self.text_of(row.session, row.format)?);
        }
        if let Some(mask) = &scope.mask {
            read.mask(mask);
        }
        Ok(read)
    }

    /// The rows that a list consists of, for [`Snapshot::list_page`], [`Snapshot::each_row`],
    /// [`Snapshot::write_page`] or [`Snapshot::write_page_lines`].
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn page(&self, scope: &ListScope) -> Result<ListPage, Error> {
        ListPage::of(self, scope)
    }

    /// What is said around the rows of a page.
    pub(super) fn listing(&self, page: &ListPage) -> Listing {
        self.written(page, 0).head(&page.scope)
    }

    /// What is said around the rows of a page after so many of them were shown.
    pub(super) fn written(&self, page: &ListPage, sessions: usize) -> WrittenList {
        WrittenList {
            sessions,
            total: page.total,
            elsewhere: page.elsewhere,
            complete: self.is_complete(),
            pending_files: self.stores.pending_files,
        }
    }
}
