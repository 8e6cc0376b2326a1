//! How is a statement run, and what becomes of its rows?

use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::error::Error;
use super::open::Catalogue;

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
