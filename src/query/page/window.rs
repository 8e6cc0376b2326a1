//! How is a list told whose rows are too many to be kept? A window of them after the other, each read in one go.

use std::borrow::Cow;
use std::ops::Range;

use super::ListPage;
use crate::catalogue::Catalogue;
use crate::catalogue::rows::said;
use crate::error::Error;

/// Bytes of rows that are read in one go, about: memory does not grow with the list, and rows are
/// read in the order in which they are stored. That is nearly the order of most lists, so that few
/// pages are read twice.
const WINDOW: u64 = 1 << 19;

/// A row of a list.
pub(in crate::query) struct Row<'a> {
    pub session: i64,
    pub format: &'a str,
    /// Its JSON begins so.
    pub head: Cow<'a, str>,
    /// And goes on so.
    pub json: &'a str,
    /// Whether something in it must be made unreadable.
    pub is_masked: bool,
}

/// Rows that follow one another on a page, with their JSON.
#[derive(Default)]
struct Window {
    /// Which of the page's.
    rows: Range<usize>,
    text: String,
    /// Where in the text each row's JSON is, and whether it must be masked; `None`: it is gone since.
    places: Vec<Option<(Range<usize>, bool)>>,
}

impl ListPage {
    /// Its rows in order, as they are in the catalogue's snapshot. One that is gone since the page
    /// was made is left out.
    pub(in crate::query) fn each(
        &self,
        catalogue: &Catalogue,
        mut tell: impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut window = Window::default();
        while window.rows.end < self.rows.len() {
            self.read(catalogue, &mut window)?;
            self.tell(&window, &mut tell)?;
        }
        Ok(())
    }

    /// Read the rows that follow those of the window, in the order they are stored in.
    fn read(&self, catalogue: &Catalogue, window: &mut Window) -> Result<(), Error> {
        let from = window.rows.end;
        let mut bytes: u64 = 0;
        let before = |row: &&super::Placed| {
            let is_before = bytes < WINDOW;
            bytes = bytes.saturating_add(row.length.into());
            is_before
        };
        let many = self.rows[from..].iter().take_while(before).count();
        let rows = from..from + many;
        let mut stored: Vec<usize> = rows.clone().collect();
        stored.sort_unstable_by_key(|at| self.rows[*at].session);
        let sessions: Vec<i64> = stored.iter().map(|at| self.rows[*at].session).collect();
        let Window { text, places, .. } = window;
        text.clear();
        places.clear();
        places.resize(rows.len(), None);
        catalogue.ready_json(&self.index_id, &sessions, |nth, json| {
            let mask = self.scope.mask;
            let is_masked = mask.is_some_and(|mask| {
                let mut said = said(json).into_iter().filter(|said| !said.is_empty());
                said.any(|said| mask(&said).is_some())
            });
            places[stored[nth] - from] = Some((text.len()..text.len() + json.len(), is_masked));
            text.push_str(json);
        })?;
        window.rows = rows;
        Ok(())
    }

    fn tell(
        &self,
        window: &Window,
        tell: &mut impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let rows = &self.rows[window.rows.clone()];
        for (placed, place) in rows.iter().zip(&window.places) {
            let Some((place, is_masked)) = place.clone() else {
                continue;
            };
            tell(Row {
                session: placed.session,
                format: &self.root(placed).format,
                head: self.head(placed)?,
                json: &window.text[place],
                is_masked,
            })?;
        }
        Ok(())
    }
}
