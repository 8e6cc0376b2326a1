//! How does a list of thousands become JSON without being taken apart and put together again?

use std::io::Write;

use super::page::ListPage;
use crate::error::Error;
use crate::model::{Listing, SCHEMA_VERSION};
use crate::query::{ListScope, Snapshot};

/// What was written, or shown, of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenList {
    /// How many sessions.
    pub sessions: usize,
    /// See [`crate::model::Listing::total`].
    pub total: u64,
    /// See [`crate::model::Listing::elsewhere`].
    pub elsewhere: u64,
    /// See [`crate::model::Listing::complete`].
    pub complete: bool,
    /// See [`crate::model::Listing::pending_files`].
    pub pending_files: u64,
}

impl WrittenList {
    /// All of the list but its sessions.
    pub fn head(&self, scope: &ListScope) -> Listing {
        Listing {
            schema_version: SCHEMA_VERSION,
            sessions: Vec::new(),
            total: self.total,
            elsewhere: self.elsewhere,
            cwd: scope.at.cwd.clone(),
            within: scope.at.within.clone(),
            remotes: scope.at.remotes.clone(),
            complete: self.complete,
            pending_files: self.pending_files,
        }
    }
}

impl Snapshot<'_> {
    /// Write what [`Snapshot::list_page`] gives as the JSON that it serialises to.
    ///
    /// Every call of `write` gets whole characters.
    ///
    /// # Errors
    /// When the catalogue cannot be read; [`Error::Output`] of `out`.
    pub fn write_page(&self, page: &ListPage, out: &mut dyn Write) -> Result<WrittenList, Error> {
        let open = "\"sessions\":[";
        let around = self.around(page)?;
        let (before, _) = around.split_once(open).unwrap_or((&around, ""));
        let mut separator = format!("{before}{open}");
        let written = self.write_rows(page, &mut |row| {
            out.write_all(separator.as_bytes())?;
            ",".clone_into(&mut separator);
            row.iter()
                .try_for_each(|piece| out.write_all(piece.as_bytes()))
        })?;
        if separator != "," {
            out.write_all(separator.as_bytes()).map_err(Error::output)?;
        }
        // Whether the list is complete is known only now, after its rows.
        let around = self.around(page)?;
        let (_, after) = around.split_once(open).unwrap_or((&around, ""));
        out.write_all(after.as_bytes()).map_err(Error::output)?;
        Ok(written)
    }

    /// A list without its rows.
    fn around(&self, page: &ListPage) -> Result<String, Error> {
        serde_json::to_string(&self.listing(page)).map_err(|e| Error::output(e.into()))
    }

    /// Write the rows of [`Snapshot::list_page`] as JSON Lines: each is written as soon as it is
    /// made.
    ///
    /// # Errors
    /// When the catalogue cannot be read; [`Error::Output`] of `out`.
    pub fn write_page_lines(
        &self,
        page: &ListPage,
        out: &mut dyn Write,
    ) -> Result<WrittenList, Error> {
        self.write_rows(page, &mut |row| {
            row.iter()
                .try_for_each(|piece| out.write_all(piece.as_bytes()))?;
            out.write_all(b"\n")
        })
    }

    /// The page's rows, each in pieces.
    fn write_rows(
        &self,
        page: &ListPage,
        write: &mut dyn FnMut(&[&str]) -> std::io::Result<()>,
    ) -> Result<WrittenList, Error> {
        let (mut sessions, mut text) = (0, String::new());
        page.each(self.catalogue, |row| {
            sessions += 1;
            let mask = page.scope.mask.as_ref();
            let mut is_masked = || mask.is_some_and(|mask| row.is_masked(mask, &mut text));
            let written = if page.scope.with_text || is_masked() {
                let row = self.session_row(&page.scope, &row)?;
                let json = serde_json::to_string(&row);
                json.map_err(Into::into).and_then(|json| write(&[&json]))
            } else {
                write(&[&row.head, row.json])
            };
            written.map_err(Error::output)
        })?;
        Ok(self.written(page, sessions))
    }
}
