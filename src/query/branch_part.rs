//! What does a part of a branch say, to somebody who does not read all of it?

use std::ops::ControlFlow;

use super::masked::mask_labels;
use super::outline::{OutlineQuery, Without};
use super::show::Reader;
use super::tree::current_labels;
use crate::catalogue::entries::EntryPosition;
use crate::error::Error;
use crate::format::Structure;
use crate::model::{Mask, SessionRow, ShownEntry};
use crate::query::Snapshot;

/// The entries of a branch, from its root to its end: some bytes for each, none of their text.
///
/// It is of its session as that stood. It serves for as long as nothing is catalogued of the
/// session: then make another one.
#[derive(Debug, Clone, Default)]
pub struct Branch {
    /// Its session in the catalogue.
    session: i64,
    /// The place of each among the entries of its session, and its key in the catalogue.
    entries: Vec<(u32, i64)>,
    focus: Option<usize>,
}

impl Branch {
    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Where on it the entry stands through which it goes, from 0.
    pub fn focus(&self) -> Option<usize> {
        self.focus
    }

    /// Where on it an entry stands, by its [ordinal](ShownEntry::ordinal) in the session.
    pub fn position(&self, place: u32) -> Option<usize> {
        self.entries.iter().position(|(other, _)| *other == place)
    }
}

/// Rows that are looked at for the entries near one.
const LOOKED_AT: usize = 1_000;

/// Entries of a branch, gathered from one of them on.
struct Nearby {
    keys: Vec<i64>,
    focus: i64,
    /// Whether what stands beside each other in the file hangs together, whatever its parents: see
    /// [`Structure::LooseTree`].
    hangs: bool,
    /// The id by which the next entry is known.
    next: Option<String>,
    count: usize,
    looked_at: usize,
}

impl Nearby {
    fn new(focus: i64, hangs: bool, count: usize) -> Self {
        Self {
            keys: Vec::new(),
            focus,
            hangs,
            next: None,
            count,
            looked_at: 0,
        }
    }

    /// The entry before the one that was met last in the file.
    fn meet_upwards(&mut self, entry: &EntryPosition<'_>) -> ControlFlow<()> {
        let is_next = entry.id.is_some() && entry.id == self.next.as_deref();
        if self.takes(entry, is_next) {
            self.next = entry.parent.map(str::to_owned);
        }
        self.goes_on(self.hangs || self.next.is_some())
    }

    /// The entry behind it.
    fn meet(&mut self, entry: &EntryPosition<'_>) -> ControlFlow<()> {
        let is_next = entry.parent.is_some() && entry.parent == self.next.as_deref();
        if self.takes(entry, is_next) {
            self.next = entry.id.map(str::to_owned);
        }
        self.goes_on(self.hangs || self.next.is_some())
    }

    /// Takes an entry if it is of the branch; where there is nothing to read in it, it is a link.
    fn takes(&mut self, entry: &EntryPosition<'_>, is_next: bool) -> bool {
        let is_focus = entry.key == self.focus;
        let is_link = entry.agent_sees && !entry.is_beside();
        if !is_focus && !(is_link && (self.hangs || is_next)) {
            return false;
        }
        if is_focus || !entry.is_silent {
            self.keys.push(entry.key);
        }
        true
    }

    fn goes_on(&mut self, has_next: bool) -> ControlFlow<()> {
        self.looked_at += 1;
        match has_next && self.keys.len() <= self.count && self.looked_at < LOOKED_AT {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

impl Snapshot<'_> {
    /// The branch on which an entry stands (its id, or `L<line>`), with what follows it: the active
    /// branch, or where it is not on that, the newest one of those that go through it. What is on
    /// no branch, as a session's title is, stands before the active one. Without an entry the
    /// active branch.
    ///
    /// # Errors
    /// [`Error::NoEntry`] when the entry is not in the session.
    pub fn branch(&self, session: &SessionRow, through: Option<&str>) -> Result<Branch, Error> {
        let ask = OutlineQuery {
            without: Without::Headers,
            find: through.as_slice(),
            inherited: true,
        };
        let stored = self.stored(session)?;
        let outline = self.outline(&stored, ask)?;
        let focus = match through {
            Some(name) => Some(self.found_in(&outline, session, name)?),
            None => None,
        };
        let mut branch = match focus {
            Some(at) if !self.is_beside(outline.keys[at])? => outline.branch_through(at),
            beside => {
                let mut branch = outline.active_branch();
                // Where entries go on from each other in a line, it is the first of them.
                let beside = beside.filter(|at| !branch.contains(at));
                branch.extend(beside);
                branch
            }
        };
        branch.reverse();
        branch.retain(|at| outline.is_read(*at) || Some(*at) == focus);
        Ok(Branch {
            session: stored.session,
            focus: focus.and_then(|at| branch.iter().position(|other| *other == at)),
            entries: branch
                .into_iter()
                .map(|at| (at as u32, outline.keys[at]))
                .collect(),
        })
    }

    /// The part of [`Snapshot::branch`] that is near its focus, or near its end: so many entries at
    /// most on either side. Only these are read, where a branch takes all rows of its session.
    ///
    /// It is what the file says around there. Where the session branches near by, another branch
    /// may go on below the focus than that of the whole. `None`: only the whole can tell.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn branch_nearby(
        &self,
        session: &SessionRow,
        through: Option<&str>,
        count: usize,
    ) -> Result<Option<Branch>, Error> {
        let stored = self.stored(session)?;
        let hangs = match self.structure(&stored) {
            Some(Structure::Tree) if stored.base.is_none() => false,
            Some(Structure::LooseTree) if stored.base.is_none() => true,
            _ => return Ok(None),
        };
        let focus = match through {
            Some(id) => self.catalogue.key_of_id(stored.session, id)?,
            None => self.leaf(&stored)?,
        };
        let Some(focus) = focus else {
            return Ok(None);
        };
        if self.is_beside(focus)? {
            return Ok(None);
        }
        let mut above = Nearby::new(focus, hangs, count);
        let mut below = Nearby::new(focus, hangs, count);
        let catalogue = self.catalogue;
        let is_there = catalogue
            .each_placed_from(focus, true, &mut |entry| above.meet_upwards(&entry))?
            && catalogue.each_placed_from(focus, false, &mut |entry| below.meet(&entry))?;
        let mut keys = above.keys;
        keys.reverse();
        let at = keys.len().checked_sub(1);
        keys.extend(below.keys.into_iter().skip(1));
        Ok(at.filter(|_| is_there).map(|at| Branch {
            session: stored.session,
            entries: keys.into_iter().map(|key| (0, key)).collect(),
            focus: through.map(|_| at),
        }))
    }

    /// Whether an entry (its id, or `L<line>`) is on a branch of its session: none is what says
    /// something of the session itself, as its header or its title does.
    ///
    /// # Errors
    /// [`Error::NoEntry`] when the entry is not in the session.
    pub fn is_on_branch(&self, session: &SessionRow, entry: &str) -> Result<bool, Error> {
        let ask = OutlineQuery {
            without: Without::Nothing,
            find: &[entry],
            inherited: true,
        };
        let outline = self.outline(&self.stored(session)?, ask)?;
        let at = self.found_in(&outline, session, entry)?;
        Ok(!self.is_beside(outline.keys[at])?)
    }

    /// Whether the entry of this key is on no branch.
    fn is_beside(&self, key: i64) -> Result<bool, Error> {
        let entry = self.catalogue.entry(key)?;
        Ok(entry.is_some_and(|entry| entry.is_beside()))
    }

    /// Hands the entries at these positions of a branch to `each`, in the order in which they are
    /// named, with their positions. Only what is asked for is read; an error of `each` ends it.
    ///
    /// # Errors
    /// [`Error::Outdated`] when the session was catalogued anew since the branch was made; when the
    /// catalogue cannot be read.
    pub fn read_branch<E: From<Error>>(
        &self,
        session: &SessionRow,
        branch: &Branch,
        positions: impl IntoIterator<Item = usize>,
        mask: Option<&Mask>,
        each: &mut dyn FnMut(usize, ShownEntry) -> Result<(), E>,
    ) -> Result<(), E> {
        let stored = self.stored(session)?;
        if stored.session != branch.session {
            return Err(Error::Outdated.into());
        }
        let labels = self.catalogue.labels(stored.session).map_err(Error::from)?;
        let mut labels = current_labels(labels);
        if let Some(mask) = mask {
            mask_labels(&mut labels, mask);
        }
        let mut reader = Reader::new(self).masking(mask);
        for position in positions {
            let Some((ordinal, key)) = branch.entries.get(position) else {
                continue;
            };
            let Some(entry) = self.catalogue.entry(*key).map_err(Error::from)? else {
                continue;
            };
            let shown = ShownEntry {
                ordinal: Some(*ordinal),
                ..reader.shown(entry, &labels)?
            };
            each(position, shown)?;
        }
        Ok(())
    }
}
