//! How does a list of thousands become JSON without being taken apart and put together again?

use std::io::Write;

use super::list::ListScope;
use super::page::ListPage;
use crate::index::{Error, Index};

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

impl Index {
    /// Write what [`Index::list`] gives as the JSON that it serialises to.
    ///
    /// Every call of `write` gets whole characters.
    pub fn write_list(&self, scope: &ListScope, out: &mut dyn Write) -> Result<WrittenList, Error> {
        self.write_page(&self.page(scope)?, out)
    }

    /// The same of a page that was made before.
    pub fn write_page(&self, page: &ListPage, out: &mut dyn Write) -> Result<WrittenList, Error> {
        let around = serde_json::to_string(&self.listing(page));
        let around = around.map_err(|e| cannot_write(e.into()))?;
        let open = "\"sessions\":[";
        let (before, after) = around.split_once(open).unwrap_or((&around, ""));
        let mut separator = format!("{before}{open}");
        let written = self.write_rows(page, &mut |row| {
            out.write_all(separator.as_bytes())?;
            ",".clone_into(&mut separator);
            row.iter()
                .try_for_each(|piece| out.write_all(piece.as_bytes()))
        })?;
        if separator != "," {
            out.write_all(separator.as_bytes()).map_err(cannot_write)?;
        }
        out.write_all(after.as_bytes()).map_err(cannot_write)?;
        Ok(written)
    }

    /// Write the rows of [`Index::list`] as JSON Lines: each is written as soon as it is made.
    pub fn write_list_lines(
        &self,
        scope: &ListScope,
        out: &mut dyn Write,
    ) -> Result<WrittenList, Error> {
        self.write_page_lines(&self.page(scope)?, out)
    }

    /// The same of a page that was made before.
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
        let mut sessions = 0;
        if let Some(catalogue) = &self.catalogue {
            page.each(catalogue, |row| {
                sessions += 1;
                let written = if page.scope.with_text || row.is_masked {
                    let row = self.session_row(catalogue, &page.scope, &row)?;
                    let json = serde_json::to_string(&row);
                    json.map_err(Into::into).and_then(|json| write(&[&json]))
                } else {
                    write(&[&row.head, row.json])
                };
                written.map_err(cannot_write)
            })?;
        }
        Ok(self.written(page, sessions))
    }
}

fn cannot_write(error: std::io::Error) -> Error {
    Error::io("the output".as_ref(), error)
}
