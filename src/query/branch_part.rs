//! What does a part of a branch say, to somebody who does not read all of it?

use super::masked::mask_labels;
use super::outline::{OutlineQuery, Without};
use super::show::Reader;
use super::tree::current_labels;
use crate::error::Error;
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

    /// Where on it an entry stands, by its [place](ShownEntry::place) in the session.
    pub fn position(&self, place: u32) -> Option<usize> {
        self.entries.iter().position(|(other, _)| *other == place)
    }
}

impl Snapshot<'_> {
    /// The branch on which an entry stands (its id, or `L<line>`), with what follows it: the active
    /// branch, or where it is not on that, the newest one of those that go through it. Without an
    /// entry the active branch.
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
            Some(name) => {
                let found = outline.found.first().copied().flatten();
                Some(found.ok_or_else(|| self.no_entry(session, name))?)
            }
            None => None,
        };
        let mut branch = match focus {
            Some(at) => outline.branch_through(at),
            None => outline.active_branch(),
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
        mask: Option<Mask>,
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
            let Some((place, key)) = branch.entries.get(position) else {
                continue;
            };
            let Some(entry) = self.catalogue.entry(*key).map_err(Error::from)? else {
                continue;
            };
            let shown = ShownEntry {
                place: Some(*place),
                ..reader.shown(entry, &labels)?
            };
            each(position, shown)?;
        }
        Ok(())
    }
}
