//! How is a statement run, and what becomes of its rows?

use std::vec::IntoIter;

use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::error::Error;
use super::open::Catalogue;

/// Rows of a [`Paged`] answer that are read at once.
pub(super) const PAGE: usize = 1_000;

/// The next rows of an answer; `None`: there are no others.
type Page<T> = Result<Option<Vec<T>>, Error>;

/// The rows of an answer, some of them at a time: no statement is open between them.
pub struct Paged<'c, T> {
    next_page: Box<dyn FnMut() -> Page<T> + 'c>,
    page: IntoIter<T>,
}

impl<'c, T> Paged<'c, T> {
    pub(super) fn new(next_page: impl FnMut() -> Page<T> + 'c) -> Self {
        Paged {
            next_page: Box::new(next_page),
            page: Vec::new().into_iter(),
        }
    }
}

impl<T> Iterator for Paged<'_, T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.page.next() {
                return Some(Ok(row));
            }
            match (self.next_page)() {
                Ok(page) => self.page = page?.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Catalogue {
    /// All rows of an answer, each as `make` makes it.
    pub(super) fn all<T, All: FromIterator<T>>(
        &self,
        sql: &str,
        bound: impl Params,
        make: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<All, Error> {
        self.with(|c| c.prepare_cached(sql)?.query_map(bound, make)?.collect())
    }

    /// The first row of an answer that may have none.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        bound: impl Params,
        make: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        self.with(|c| c.prepare_cached(sql)?.query_row(bound, make).optional())
    }

    /// The first row of an answer that always has one.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        bound: impl Params,
        make: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.with(|c| c.prepare_cached(sql)?.query_row(bound, make))
    }

    /// Show each row of an answer without keeping it.
    pub(super) fn each(
        &self,
        sql: &str,
        bound: impl Params,
        mut show: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), Error> {
        self.with(|c| {
            let mut statement = c.prepare_cached(sql)?;
            let mut rows = statement.query(bound)?;
            while let Some(row) = rows.next()? {
                show(row)?;
            }
            Ok(())
        })
    }

    /// Run a statement that gives no rows; how many rows it changed.
    pub(super) fn execute(&self, sql: &str, bound: impl Params) -> Result<usize, Error> {
        self.with(|c| c.prepare_cached(sql)?.execute(bound))
    }

    /// Several statements that fail as one.
    pub(super) fn with<T>(
        &self,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.with_path(run(&self.connection))
    }
}
