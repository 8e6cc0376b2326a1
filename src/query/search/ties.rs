//! Which of several hits comes first whose scores and times are equal? The original before its
//! copies: what files say decides, never the order in which they were read.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

use crate::catalogue::Catalogue;
use crate::catalogue::ties::{EntryTie, SessionTie};
use crate::catalogue::write::ARRIVAL_BITS;
use crate::error::Error;
use crate::words::{Hit, TieBreak};

/// So many sessions above one are looked at, at most: two may name each other as parents.
const MOST_ABOVE: u32 = 64;
/// Where more sessions than this are asked for, all are read at once.
const FEW: usize = 256;

/// What the catalogue knows of sessions and entries that tie; each is looked up once.
pub(super) struct Ties<'a> {
    catalogue: &'a Catalogue,
    sessions: RefCell<HashMap<i64, Option<SessionTie>>>,
    descents: RefCell<HashMap<i64, Descent>>,
    all_are_read: Cell<bool>,
    has_one_source: RefCell<HashMap<u64, bool>>,
    entries: RefCell<HashMap<u64, Option<EntryTie>>>,
    /// Why something could not be looked up.
    failed: RefCell<Option<Error>>,
}

/// What a session comes from; the lesser one comes first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Descent {
    /// It is the session of a subagent, or below one.
    is_of_subagent: bool,
    /// How many of it and those above it name a parent.
    named_parents: u32,
}

impl<'a> Ties<'a> {
    pub fn new(catalogue: &'a Catalogue) -> Self {
        Self {
            catalogue,
            sessions: RefCell::default(),
            descents: RefCell::default(),
            all_are_read: Cell::default(),
            has_one_source: RefCell::default(),
            entries: RefCell::default(),
            failed: RefCell::default(),
        }
    }

    /// Do this with something that tells which of several comes first.
    ///
    /// # Errors
    /// Its own, and when the catalogue cannot be asked.
    pub fn with<R, E: Into<Error>>(
        &self,
        work: impl FnOnce(&TieBreak<'_>) -> Result<R, E>,
    ) -> Result<R, Error> {
        let done = work(&TieBreak {
            sessions: &|a, b| self.compare_sessions(a, b),
            hits: &|a, b| self.compare(a, b),
        });
        match self.failed.take() {
            Some(error) => Err(error),
            None => done.map_err(Into::into),
        }
    }

    fn compare_sessions(&self, a: u64, b: u64) -> Ordering {
        let both = [a.cast_signed(), b.cast_signed()];
        let [of_a, of_b] = both.map(|session| self.descent(session));
        let known = self.sessions.borrow();
        let [at_a, at_b] = both.map(|session| {
            let tie = known.get(&session).and_then(Option::as_ref);
            tie.map(|tie| &tie.order)
        });
        of_a.cmp(&of_b).then(at_a.cmp(&at_b)).then(b.cmp(&a))
    }

    fn descent(&self, session: i64) -> Descent {
        if let Some(known) = self.descents.borrow().get(&session) {
            return *known;
        }
        let (mut descent, mut at) = (Descent::default(), Some(session));
        for _ in 0..=MOST_ABOVE {
            let Some(session) = at else { break };
            self.read_session(session);
            let known = self.sessions.borrow();
            let Some(tie) = known.get(&session).and_then(Option::as_ref) else {
                break;
            };
            descent.is_of_subagent |= tie.is_subagent;
            descent.named_parents += u32::from(tie.names_parent);
            at = tie.parent;
        }
        self.descents.borrow_mut().insert(session, descent);
        descent
    }

    fn read_session(&self, session: i64) {
        let is_many = self.sessions.borrow().len() >= FEW;
        if is_many && !self.all_are_read.replace(true) && self.failed.borrow().is_none() {
            match self.catalogue.session_ties() {
                Ok(all) => {
                    let all = all.into_iter().map(|(session, tie)| (session, Some(tie)));
                    self.sessions.borrow_mut().extend(all);
                }
                Err(error) => *self.failed.borrow_mut() = Some(error.into()),
            }
        }
        let look_up = |session| Ok(self.catalogue.session_tie(session)?);
        self.look_up(&self.sessions, [session], look_up);
    }

    /// Passages of one source that tie: the last one of it comes first.
    fn compare(&self, a: &Hit, b: &Hit) -> Ordering {
        let [of_a, of_b] = [a, b].map(|hit| hit.key >> ARRIVAL_BITS);
        if of_a != of_b {
            return self.compare_sessions(of_a, of_b);
        }
        let one_source = |session: u64| {
            let session = session.cast_signed();
            Ok(self.catalogue.has_one_source(session)?)
        };
        self.look_up(&self.has_one_source, [of_a], one_source);
        let by_key = b.key.cmp(&a.key).then(a.class.cmp(&b.class));
        if a.key == b.key || self.has_one_source.borrow().get(&of_a) == Some(&true) {
            return by_key;
        }
        let look_up = |key: u64| Ok(self.catalogue.entry_tie(key.cast_signed())?);
        self.look_up(&self.entries, [a.key, b.key], look_up);
        let known = self.entries.borrow();
        known.get(&a.key).cmp(&known.get(&b.key)).then(by_key)
    }

    /// Have these looked up, unless something could not be before.
    fn look_up<K: Copy + Eq + Hash, T, const N: usize>(
        &self,
        known: &RefCell<HashMap<K, T>>,
        all: [K; N],
        look_up: impl Fn(K) -> Result<T, Error>,
    ) {
        for one in all {
            if self.failed.borrow().is_some() || known.borrow().contains_key(&one) {
                continue;
            }
            match look_up(one) {
                Ok(found) => drop(known.borrow_mut().insert(one, found)),
                Err(error) => *self.failed.borrow_mut() = Some(error),
            }
        }
    }
}
