//! How is a search asked?

use super::max_bytes::PrintedLengths;
use crate::model::{Cancel, Mask, Zone};
use crate::query::here::WhereScope;
use crate::source::identity::now_ns;

/// How a search is asked.
#[derive(Debug, Clone)]
pub struct SearchScope {
    /// Only sessions of these directories or repositories.
    pub at: WhereScope,
    /// The query is what somebody is typing just now: it is never refused, and its last word may go
    /// on, see [`syntax::parse_as_typed`](crate::syntax::parse_as_typed).
    pub as_typed: bool,
    /// Newest first, instead of best first. Of several plain words: the sessions that hold all of
    /// them (the most of them, where none holds all), by their newest passage with any.
    pub newest_first: bool,
    /// Hits at most; `None`: all, each of which is read from its file.
    pub limit: Option<usize>,
    /// Hits of one session on a page, at most. `None`: three where several words rank sessions and
    /// not all hits are asked for, else any number.
    pub per_session: Option<usize>,
    /// The moment that `since:2w` and ages count from, in ms; `None`: the moment when it is asked,
    /// by the system's clock. Behind a cursor it is the moment of the first page.
    pub now_ms: Option<i64>,
    /// No age lowers a score: the order of what does not change stays the same on any day.
    pub ignore_age: bool,
    /// Do not look for words that are rarely found with a typo or another ending.
    pub exact: bool,
    /// Show text that several entries repeat once for each of them.
    pub every_copy: bool,
    /// Each passage by itself, instead of sessions: several plain words must stand in one passage
    /// then.
    pub passages: bool,
    /// Entries shown before and after each hit, along its branch.
    pub context: usize,
    /// Only sessions whose files are there, and none that are archived.
    pub only_live: bool,
    /// Sessions with one of these ids are left out, as by `-session:`; they may be others on the
    /// next page.
    pub without: Vec<String>,
    /// Count what was found by agent, project, role and day.
    pub facets: bool,
    /// Say for each hit why it is ranked where it is.
    pub explain: bool,
    /// Bytes of the answer's JSON at most, the end of its line and escapes for what acts on a
    /// terminal among them: what is more is on the next page, or named in
    /// [`SearchAnswer::cut`](crate::model::SearchAnswer::cut). `None`: any number.
    pub max_bytes: Option<usize>,
    /// How long what is printed of the answer is, for `max_bytes`; `None`: all of it is printed.
    pub lengths: Option<PrintedLengths>,
    /// Continue after the page that gave this
    /// [`SearchAnswer::cursor`](crate::model::SearchAnswer::cursor).
    pub cursor: Option<String>,
    /// The time zone of days: in filters such as `on:` and `since:2026-10`, and in
    /// [`Facets::days`](crate::model::Facets::days). `None`: that of
    /// [`Config::zone`](crate::Config::zone).
    pub zone: Option<Zone>,
    /// Ends this search from another thread, with [`Error::Cancelled`](crate::Error::Cancelled):
    /// keep a clone of it. A cancelled one stays so, in clones of this scope too: give a new one
    /// for the next search. [`Config::cancel`](crate::Config::cancel) ends every one.
    pub cancel: Cancel,
    /// Makes parts of what is shown unreadable, each before it is cut from a longer text. What is
    /// found does not depend on it.
    pub mask: Option<Mask>,
}

impl Default for SearchScope {
    /// Twenty hits of all sessions, best first, as the command shows them.
    fn default() -> SearchScope {
        SearchScope {
            at: WhereScope::default(),
            as_typed: false,
            newest_first: false,
            limit: Some(20),
            per_session: None,
            now_ms: None,
            ignore_age: false,
            exact: false,
            every_copy: false,
            passages: false,
            context: 0,
            only_live: false,
            without: Vec::new(),
            facets: false,
            explain: false,
            max_bytes: None,
            lengths: None,
            cursor: None,
            zone: None,
            cancel: Cancel::default(),
            mask: None,
        }
    }
}

impl SearchScope {
    /// Hits at most.
    pub(super) fn most_hits(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }

    /// What times in a query and ages count from, in ms.
    pub(super) fn now_ms(&self) -> i64 {
        self.now_ms.unwrap_or_else(|| now_ns() / 1_000_000)
    }
}
