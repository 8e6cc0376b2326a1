//! How does a list of thousands become JSON without being taken apart and put together again?

use std::io::Write;

use super::list::ListScope;
use super::page::Page;
use crate::index::{Error, Index};
use crate::model::Listing;

/// What was written of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenList {
    /// How many sessions.
    pub sessions: usize,
    /// See [`Listing::total`].
    pub total: u64,
    /// See [`Listing::elsewhere`].
    pub elsewhere: u64,
    /// See [`Listing::complete`].
    pub complete: bool,
    /// See [`Listing::pending_files`].
    pub pending_files: u64,
}

impl Index {
    /// Write what [`Index::list`] gives as the JSON that it serialises to.
    ///
    /// Every call of `write` gets whole characters.
    pub fn write_list(&self, scope: &ListScope, out: &mut dyn Write) -> Result<WrittenList, Error> {
        let page = self.page(scope)?;
        let empty = Listing {
            sessions: Vec::new(),
            ..self.listing(page.as_ref())
        };
        let around = serde_json::to_string(&empty).map_err(|e| cannot_write(e.into()))?;
        let open = "\"sessions\":[";
        let (before, after) = around.split_once(open).unwrap_or((&around, ""));
        let mut separator = format!("{before}{open}");
        self.write_rows(page.as_ref(), scope, &mut |row| {
            out.write_all(separator.as_bytes())?;
            ",".clone_into(&mut separator);
            row.iter()
                .try_for_each(|piece| out.write_all(piece.as_bytes()))
        })?;
        if separator != "," {
            out.write_all(separator.as_bytes()).map_err(cannot_write)?;
        }
        out.write_all(after.as_bytes()).map_err(cannot_write)?;
        Ok(self.written(page.as_ref()))
    }

    /// Write the rows of [`Index::list`] as JSON Lines: each is written as soon as it is made.
    pub fn write_list_lines(
        &self,
        scope: &ListScope,
        out: &mut dyn Write,
    ) -> Result<WrittenList, Error> {
        let page = self.page(scope)?;
        self.write_rows(page.as_ref(), scope, &mut |row| {
            row.iter()
                .try_for_each(|piece| out.write_all(piece.as_bytes()))?;
            out.write_all(b"\n")
        })?;
        Ok(self.written(page.as_ref()))
    }

    fn written(&self, page: Option<&Page>) -> WrittenList {
        let listing = self.listing(page);
        WrittenList {
            sessions: page.map_or(0, Page::len),
            total: listing.total,
            elsewhere: listing.elsewhere,
            complete: listing.complete,
            pending_files: listing.pending_files,
        }
    }

    /// The page's rows, each in pieces.
    fn write_rows(
        &self,
        page: Option<&Page>,
        scope: &ListScope,
        write: &mut dyn FnMut(&[&str]) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        let (Some(page), Some(catalogue)) = (page, &self.catalogue) else {
            return Ok(());
        };
        for row in page.rows() {
            let (session, format, head, json) = row.map_err(|e| cannot_write(e.into()))?;
            let masked = |piece: &str| scope.mask.is_some_and(|mask| mask(piece).is_some());
            let written = if scope.with_text || masked(&head) || masked(json) {
                let mut row = catalogue.row_of(&format!("{head}{json}"))?;
                if scope.with_text {
                    row.all_messages_text = Some(self.text_of(catalogue, session, format)?);
                }
                if let Some(mask) = scope.mask {
                    row.mask(mask);
                }
                serde_json::to_string(&row)
                    .map_err(Into::into)
                    .and_then(|json| write(&[&json]))
            } else {
                write(&[&head, json])
            };
            written.map_err(cannot_write)?;
        }
        Ok(())
    }
}

fn cannot_write(error: std::io::Error) -> Error {
    Error::io("the output".as_ref(), error)
}
