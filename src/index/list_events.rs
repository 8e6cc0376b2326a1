//! What can be listed while files are still being read?

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::ListScope;
use crate::config::Config;
use crate::error::Error;
use crate::index::{Freshness, Index};
use crate::model::Event;
use crate::model::Listing;

/// The pause between two pages, because each page has to read the catalogue.
const PAUSE: Duration = Duration::from_millis(100);

/// What is reported while a list is made.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListEvent {
    /// So many of the files that must be read have been.
    Loaded {
        /// Files read.
        loaded: u64,
        /// All files that must be read.
        total: u64,
    },
    /// What a list would give now, of the files read so far, newest first: its `complete` is
    /// `false`.
    Page(Box<Listing>),
}

impl Index {
    /// [`Index::open`] with a check, which reports on the way how far it is and what could be
    /// listed in the scope. When `on_progress` breaks, reading ends; what was read is kept.
    ///
    /// ```no_run
    /// use std::ops::ControlFlow;
    /// use sessionary::index::{ListEvent, ListScope};
    /// use sessionary::{Config, Index};
    /// # fn main() -> Result<(), sessionary::Error> {
    /// # let config = Config::new("/tmp/index", vec![]);
    /// let scope = ListScope::default();
    /// let index = Index::open_listing(&config, &scope, &mut |listed| {
    ///     if let ListEvent::Loaded { loaded, total } = listed {
    ///         eprintln!("{loaded} of {total}");
    ///     }
    ///     ControlFlow::Continue(())
    /// })?;
    /// let all = index.list(&scope)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::Cancelled`] when `on_progress` breaks.
    pub fn open_listing(
        config: &Config,
        scope: &ListScope,
        on_progress: &mut dyn FnMut(ListEvent) -> ControlFlow<()>,
    ) -> Result<Index, Error> {
        let cancel = &config.cancel;
        let (mut loaded, mut total) = (0, 0);
        let mut last_page: Option<Instant> = None;
        Index::open_with(config, Freshness::Check, &mut |event| {
            let told = match event {
                Event::Discovered { files, .. } => {
                    (loaded, total) = (0, files);
                    ListEvent::Loaded { loaded, total }
                }
                Event::Catalogued { files, .. } => {
                    loaded = files;
                    ListEvent::Loaded { loaded, total }
                }
                Event::Readable if last_page.is_none_or(|last| last.elapsed() >= PAUSE) => {
                    let read = Index::open(config, Freshness::AsCommitted);
                    // A page that cannot be made is skipped: the next one, or the list itself, has
                    // its sessions or its error.
                    let Ok(mut page) = read.and_then(|index| index.list(scope)) else {
                        return;
                    };
                    last_page = Some(Instant::now());
                    page.complete = false;
                    page.pending_files = total.saturating_sub(loaded);
                    ListEvent::Page(Box::new(page))
                }
                Event::Waiting
                | Event::Readable
                | Event::Indexed { .. }
                | Event::Compared { .. }
                | Event::Scanned { .. }
                | Event::Done => return,
            };
            if on_progress(told).is_break() {
                cancel.cancel();
            }
        })
    }
}
