//! How is a list told whose rows are too many to be kept? A window of them after the other, each read in one go.

use std::borrow::Cow;
use std::ops::Range;
use std::thread::Builder;

use super::ListPage;
use crate::catalogue::Catalogue;
use crate::catalogue::rows::said;
use crate::index::Error;
use crate::model::Mask;

/// Bytes of rows that are read in one go, about: enough of them that what a transaction and a thread cost does not count.
const WINDOW: usize = 1 << 20;

/// Bytes of rows of which some are looked at by another thread.
const WORTH_A_THREAD: usize = 256 << 10;

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
pub(super) struct Window {
    /// Which of the page's.
    rows: Range<usize>,
    text: String,
    /// Where in the text each row's JSON is; `None`: it is gone since.
    places: Vec<Option<Range<usize>>>,
    /// Which of them must be masked, once that is known.
    masked: Vec<bool>,
}

impl ListPage {
    /// Its rows in order. One that is gone since is left out.
    pub(in crate::query) fn each(
        &self,
        catalogue: &Catalogue,
        mut tell: impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some(kept) = &self.kept {
            return self.tell(kept, &mut tell);
        }
        let mut looked_at = Window::default();
        let mut window = self.read(catalogue, 0)?;
        while !looked_at.rows.is_empty() || !window.rows.is_empty() {
            // Secrets are looked for while the rows before are told and those behind are read.
            let (masked, next) = std::thread::scope(|threads| {
                let is_worth = self.scope.mask.is_some() && window.text.len() >= WORTH_A_THREAD;
                let look = || self.masked(&window, 0..window.places.len());
                let looking = is_worth.then(|| Builder::new().spawn_scoped(threads, look));
                self.tell(&std::mem::take(&mut looked_at), &mut tell)?;
                let next = self.read(catalogue, window.rows.end)?;
                // Without a thread for it, or after one that failed, it is done here.
                let masked = looking.and_then(Result::ok).and_then(|l| l.join().ok());
                Ok::<_, Error>((masked.unwrap_or_else(look), next))
            })?;
            window.masked = masked;
            looked_at = std::mem::replace(&mut window, next);
        }
        Ok(())
    }

    /// The rows from `from` on, as they are now: read in the order they are stored in.
    fn read(&self, catalogue: &Catalogue, from: usize) -> Result<Window, Error> {
        let mut bytes = 0;
        let before = |row: &&super::Placed| {
            let is_before = bytes < WINDOW;
            bytes += row.length as usize;
            is_before
        };
        let many = self.rows[from..].iter().take_while(before).count();
        let rows = from..from + many;
        let mut stored: Vec<usize> = rows.clone().collect();
        stored.sort_unstable_by_key(|at| self.rows[*at].session);
        let sessions = stored.iter().map(|at| self.rows[*at].session);
        let mut text = String::with_capacity(bytes);
        let mut places = vec![None; rows.len()];
        catalogue.ready_json(&self.index_id, sessions, |nth, json| {
            places[stored[nth] - from] = Some(text.len()..text.len() + json.len());
            text.push_str(json);
        })?;
        Ok(Window {
            rows,
            text,
            places,
            masked: Vec::new(),
        })
    }

    /// A window of all rows, whose JSON was kept.
    pub(super) fn keep(&self, text: String) -> Window {
        let place = |row: &super::Placed| {
            let from = row.from as usize;
            Some(from..from + row.length as usize)
        };
        let mut window = Window {
            rows: 0..self.rows.len(),
            text,
            places: self.rows.iter().map(place).collect(),
            masked: Vec::new(),
        };
        let all = window.places.len();
        if self.scope.mask.is_none() || window.text.len() < WORTH_A_THREAD {
            window.masked = self.masked(&window, 0..all);
            return window;
        }
        let (here, there) = std::thread::scope(|threads| {
            let look = || self.masked(&window, all / 2..all);
            let looking = Builder::new().spawn_scoped(threads, look);
            let here = self.masked(&window, 0..all / 2);
            let there = looking.ok().and_then(|looking| looking.join().ok());
            (here, there.unwrap_or_else(look))
        });
        window.masked = [here, there].concat();
        window
    }

    /// Which of some rows of a window must be masked.
    fn masked(&self, window: &Window, which: Range<usize>) -> Vec<bool> {
        let is_masked = |mask: Mask, at: usize| {
            let place = window.places[at].clone();
            let parts = place.map(|place| said(&window.text[place]));
            parts.is_some_and(|parts| parts.into_iter().any(|part| mask(part).is_some()))
        };
        which
            .map(|at| self.scope.mask.is_some_and(|mask| is_masked(mask, at)))
            .collect()
    }

    fn tell(
        &self,
        window: &Window,
        tell: &mut impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let rows = &self.rows[window.rows.clone()];
        for ((placed, place), is_masked) in rows.iter().zip(&window.places).zip(&window.masked) {
            let Some(place) = place.clone() else {
                continue;
            };
            tell(Row {
                session: placed.session,
                format: &self.roots[placed.root].format,
                head: self.head(placed)?,
                json: &window.text[place],
                is_masked: *is_masked,
            })?;
        }
        Ok(())
    }
}
