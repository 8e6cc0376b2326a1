//! What is met on the way up from a session's end?

use rusqlite::params;

use super::chains::{BESIDE, id_hash, ids};
use super::open::{Catalogue, Error};
use super::write::key_range;

/// What is met.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub enum Met<'a> {
    /// The entry before the one met last.
    Entry {
        key: i64,
        /// [`id_hash`] of its id.
        id: Option<u64>,
        /// It names the entry that is met next as its parent; nobody need ask for that name.
        goes_on: bool,
    },
    /// The id of the entry just met, when it was wished for.
    Id(Option<&'a [u8]>),
    /// Its parent, likewise.
    Parent(Option<&'a [u8]>),
}

/// What is wished for next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Wish {
    /// The entry before.
    Next,
    /// This entry's id.
    Id,
    /// This entry's parent.
    Parent,
    Enough,
}

impl Catalogue {
    /// The entries of a session with one source from the last to the first, but for those that are on no branch, until
    /// `take` has enough. `false`: the session has several sources, or its runs are damaged; what was met is not all.
    pub fn each_upwards(
        &self,
        session: i64,
        take: &mut dyn FnMut(Met<'_>) -> Wish,
    ) -> Result<bool, Error> {
        self.with(|c| {
            let sources: i64 = c
                .prepare_cached("SELECT count(*) FROM _session_sources WHERE session = ?1")?
                .query_row([session], |r| r.get(0))?;
            if sources != 1 {
                return Ok(false);
            }
            self.go_up(session, take)
        })
    }

    fn go_up(&self, session: i64, take: &mut dyn FnMut(Met<'_>) -> Wish) -> rusqlite::Result<bool> {
        let (low, high) = key_range(session);
        let mut chains = self.connection.prepare_cached(
            "SELECT key, ids FROM _chains WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC",
        )?;
        let mut chains = chains.query([low, high])?;
        // All after this entry were met.
        let mut below = high + 1;
        while let Some(chain) = chains.next()? {
            let (first, ids) = (chain.get::<_, i64>(0)?, ids(chain.get_ref(1)?.as_blob()?));
            let end = first + ids.len() as i64;
            if end > below {
                return Ok(false);
            }
            if end < below && self.each_row(end, below - 1, take)? == Wish::Enough {
                return Ok(true);
            }
            for (at, id) in ids.enumerate().rev() {
                let (key, goes_on) = (first + at as i64, at > 0);
                let mut wish = take(Met::Entry { key, id, goes_on });
                if matches!(wish, Wish::Id | Wish::Parent) {
                    match self.one_row(key, wish, take)? {
                        Some(next) => wish = next,
                        None => return Ok(false),
                    }
                }
                if wish == Wish::Enough {
                    return Ok(true);
                }
            }
            below = first;
        }
        self.each_row(low, below - 1, take)?;
        Ok(true)
    }

    /// The entries between two keys, the last one first. Nothing goes on from one that its agent
    /// does not see: it is met without an id.
    fn each_row(
        &self,
        first: i64,
        last: i64,
        take: &mut dyn FnMut(Met<'_>) -> Wish,
    ) -> rusqlite::Result<Wish> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, CASE WHEN agent_sees THEN id END, parent FROM _entries
             WHERE key BETWEEN ?1 AND ?2 AND kind <> ?3 AND kind <> ?4 ORDER BY key DESC",
        )?;
        let mut rows = statement.query(params![first, last, BESIDE[0], BESIDE[1]])?;
        while let Some(row) = rows.next()? {
            let id = row.get_ref(1)?.as_bytes_or_null()?;
            let mut wish = take(Met::Entry {
                key: row.get(0)?,
                id: id.map(id_hash),
                goes_on: false,
            });
            if wish == Wish::Id {
                wish = take(Met::Id(id));
            }
            if wish == Wish::Parent {
                wish = take(Met::Parent(row.get_ref(2)?.as_bytes_or_null()?));
            }
            if wish == Wish::Enough {
                return Ok(wish);
            }
        }
        Ok(Wish::Next)
    }

    /// What is wished for of one entry of a run; `None` when there is no such entry.
    fn one_row(
        &self,
        key: i64,
        mut wish: Wish,
        take: &mut dyn FnMut(Met<'_>) -> Wish,
    ) -> rusqlite::Result<Option<Wish>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, parent FROM _entries WHERE key = ?1")?;
        let mut rows = statement.query([key])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        if wish == Wish::Id {
            wish = take(Met::Id(row.get_ref(0)?.as_bytes_or_null()?));
        }
        if wish == Wish::Parent {
            wish = take(Met::Parent(row.get_ref(1)?.as_bytes_or_null()?));
        }
        Ok(Some(wish))
    }
}
