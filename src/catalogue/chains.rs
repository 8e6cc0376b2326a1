//! Which entries go on from the one before them, in long runs?
//!
//! Nearly every entry's parent is the entry before it. Such a run is one row with a few bytes for each entry's id, so that
//! neither the way up a long session nor the look for an id need ask for its rows one by one.

use std::ops::Range;

use rusqlite::{Connection, Row, params};

use super::open::{Catalogue, Error};
use super::write::{EntryRow, flag, key_range};
use crate::source::checkpoint::hash;

/// Kinds of entries that are on no branch.
pub const BESIDE: [&str; 2] = ["session", "meta"];

/// Entries of a run that is kept: a shorter one is asked for as fast.
const FEWEST: usize = 32;

/// See [`catch_up`].
const CAUGHT_UP: i64 = 256;

/// Bytes kept of each id, two of them of its beginning: what is asked for by the beginning of an id is looked for by these alone,
/// and `verify` holds them against the rows. Two ids that are alike by chance cost a look at all entries of the
/// session and not an answer: it happens among a million entries in one of five hundred sessions, or, where all ids begin alike,
/// among ten thousand in one of eighty.
pub(super) const ID_BYTES: usize = 6;

/// Bytes of an id that are its beginning.
pub(super) const BEGINNING: usize = 4;

/// As much of an id as runs keep: equal for equal ids, and never zero.
pub fn id_hash(id: &[u8]) -> u64 {
    (u64::from(beginning(id)) << 32 | hash(id) & 0xffff_ffff).max(1)
}

/// Equal for ids with the same beginning.
fn beginning(id: &[u8]) -> u16 {
    let first = id.iter().take(BEGINNING);
    let word = first.fold(0, |word, byte| word << 8 | u32::from(*byte));
    // What tells beginnings apart is spread over the upper half.
    (word.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

/// Of each id in a run's bytes, whether it may begin as this one does.
pub(super) fn begins_alike(bytes: &[u8], id: &str) -> impl Iterator<Item = bool> {
    let (ids, _) = bytes.as_chunks::<ID_BYTES>();
    let wanted = beginning(id.as_bytes()).to_le_bytes();
    ids.iter().map(move |id| id[4..] == wanted)
}

/// The ids in a run's bytes; `None`: an entry that has none.
pub(super) fn ids(
    bytes: &[u8],
) -> impl DoubleEndedIterator<Item = Option<u64>> + ExactSizeIterator {
    let (ids, _) = bytes.as_chunks::<ID_BYTES>();
    ids.iter().map(|id| {
        let mut word = [0; 8];
        word[..ID_BYTES].copy_from_slice(id);
        Some(u64::from_le_bytes(word)).filter(|id| *id != 0)
    })
}

/// An entry, as far as it makes a run longer or ends it.
#[derive(Clone, Copy)]
pub(super) struct Link<'a> {
    pub kind: &'a str,
    pub id: Option<&'a str>,
    pub parent: Option<&'a str>,
    /// The last line without its end is forgotten again when more is read.
    pub is_provisional: bool,
    /// Nothing goes on from an entry that its agent does not see.
    pub agent_sees: bool,
}

impl<'a> Link<'a> {
    pub fn of(entry: &'a EntryRow) -> Link<'a> {
        Link {
            kind: entry.facts.kind.as_str(),
            id: entry.facts.id.as_deref(),
            parent: entry.facts.parent.as_deref(),
            is_provisional: entry.flags & flag::PROVISIONAL != 0,
            agent_sees: entry.facts.agent_sees,
        }
    }
}

/// The runs among entries of one source, told one after the other.
#[derive(Default)]
pub(super) struct Chains {
    /// The number of the first entry, and the bytes of all ids.
    done: Vec<(i64, Vec<u8>)>,
    open: Option<(i64, Vec<u8>)>,
    /// Id of the entry before; `None`: nothing goes on from it.
    before: Option<String>,
}

impl Chains {
    /// The next entry. Its number is its place in the chunk, or its key: one that is passed over ends a run.
    pub fn add(&mut self, number: i64, link: Link<'_>) {
        if link.is_provisional || !link.agent_sees || BESIDE.contains(&link.kind) {
            self.close();
            return;
        }
        let follows = |(first, ids): &(i64, Vec<u8>)| {
            first + (ids.len() / ID_BYTES) as i64 == number
                && link.parent.is_some()
                && link.parent == self.before.as_deref()
        };
        if !self.open.as_ref().is_some_and(follows) {
            self.close();
        }
        let id = link.id.map_or(0, |id| id_hash(id.as_bytes()));
        let (_, ids) = self.open.get_or_insert_with(|| (number, Vec::new()));
        ids.extend_from_slice(&id.to_le_bytes()[..ID_BYTES]);
        match (link.id, &mut self.before) {
            (Some(id), Some(before)) => id.clone_into(before),
            (id, before) => *before = id.map(str::to_owned),
        }
    }

    fn close(&mut self) {
        self.before = None;
        let open = self.open.take();
        self.done.extend(open.filter(is_worth));
    }

    /// Bytes of memory they take, about.
    pub fn bytes(&self) -> usize {
        let all = self.done.iter().chain(&self.open);
        all.map(|(_, ids)| ids.len()).sum()
    }

    /// Insert them: `first` is the key of the entry with the number 0.
    pub fn run(&self, to: &Connection, first: i64) -> rusqlite::Result<()> {
        let open = self.open.iter().filter(|open| is_worth(open));
        for (number, ids) in self.done.iter().chain(open) {
            to.prepare_cached("INSERT OR REPLACE INTO _chains VALUES (?1, ?2)")?
                .execute(params![first + number, ids])?;
        }
        Ok(())
    }
}

/// Whether a run is long enough to be kept.
fn is_worth((_, ids): &(i64, Vec<u8>)) -> bool {
    ids.len() >= FEWEST * ID_BYTES
}

/// Entries that came to a session a few at a time make no runs. Each time so many have come, those of them that are in no
/// run are looked at together, once. `arrivals`: of the session, before the last ones of this source came and after.
pub(super) fn catch_up(
    of: &Connection,
    (session, source): (i64, i64),
    arrivals: Range<i64>,
) -> rusqlite::Result<()> {
    if arrivals.end - arrivals.start >= CAUGHT_UP
        || arrivals.start / CAUGHT_UP == arrivals.end / CAUGHT_UP
    {
        return Ok(());
    }
    let (low, high) = key_range(session);
    let since = low + arrivals.start / CAUGHT_UP * CAUGHT_UP;
    let known = known(of, since, high)?;
    let mut behind = of.prepare_cached(
        "SELECT key, kind, id, parent, flags, agent_sees FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY key",
    )?;
    let mut rows = behind.query([since, high, source])?;
    let mut chains = Chains::default();
    while let Some(row) = rows.next()? {
        let key: i64 = row.get(0)?;
        if known.iter().any(|run| run.contains(&key)) {
            continue;
        }
        chains.add(key, link_of(row)?);
    }
    chains.run(of, 0)
}

/// Of a row with key, kind, id, parent, flags, and whether its agent sees it.
fn link_of<'r>(row: &'r Row<'_>) -> rusqlite::Result<Link<'r>> {
    Ok(Link {
        kind: row.get_ref(1)?.as_str()?,
        id: row.get_ref(2)?.as_str_or_null()?,
        parent: row.get_ref(3)?.as_str_or_null()?,
        is_provisional: row.get::<_, i64>(4)? & flag::PROVISIONAL != 0,
        agent_sees: row.get(5)?,
    })
}

/// The runs in which one of these entries of a session stands.
fn known(of: &Connection, first: i64, last: i64) -> rusqlite::Result<Vec<Range<i64>>> {
    // Runs do not overlap: of those that begin before the first entry only the last can reach it.
    of.prepare_cached(&format!(
        "SELECT key, key + length(ids) / {ID_BYTES} AS \"end\" FROM _chains
         WHERE key BETWEEN coalesce((SELECT max(key) FROM _chains WHERE key <= ?1), ?1) AND ?2 AND \"end\" > ?1"
    ))?
    .query_map([first, last], |r| Ok(r.get(0)?..r.get(1)?))?
    .collect()
}

/// Forget the runs in which one of these entries of a session stands.
pub(super) fn forget(from: &Connection, first: i64, last: i64) -> rusqlite::Result<()> {
    for run in known(from, first, last)? {
        from.prepare_cached("DELETE FROM _chains WHERE key = ?1")?
            .execute([run.start])?;
    }
    Ok(())
}

impl Catalogue {
    /// Runs that say something else than their entries.
    pub fn chains_that_differ(&self) -> Result<u64, Error> {
        self.with(|c| {
            let mut all = c.prepare("SELECT key, ids FROM _chains ORDER BY key")?;
            let mut rows = all.query([])?;
            let mut differ = 0;
            while let Some(row) = rows.next()? {
                let bytes = row.get_ref(1)?.as_blob()?;
                differ += u64::from(!self.is_chain(row.get(0)?, bytes)?);
            }
            Ok(differ)
        })
    }

    fn is_chain(&self, first: i64, bytes: &[u8]) -> rusqlite::Result<bool> {
        let mut statement = self.connection.prepare_cached(
            "SELECT key, id, parent, flags & 1 OR NOT agent_sees, kind, source FROM _entries WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
        )?;
        let kept = ids(bytes);
        if !bytes.len().is_multiple_of(ID_BYTES) || kept.len() == 0 {
            return Ok(false);
        }
        let Some(last) = first.checked_add(kept.len() as i64 - 1) else {
            return Ok(false);
        };
        let mut rows = statement.query([first, last])?;
        let mut before: Option<(Option<String>, i64)> = None;
        for (key, kept) in (first..=last).zip(kept) {
            let Some(row) = rows.next()? else {
                return Ok(false);
            };
            let id: Option<String> = row.get(1)?;
            let parent: Option<String> = row.get(2)?;
            let source: i64 = row.get(5)?;
            let goes_on =
                before.is_none_or(|(id, of)| of == source && parent.is_some() && id == parent);
            let is_as_kept = row.get::<_, i64>(0)? == key
                && goes_on
                && kept == id.as_deref().map(|id| id_hash(id.as_bytes()))
                && !row.get::<_, bool>(3)?
                && !BESIDE.contains(&row.get_ref(4)?.as_str()?);
            if !is_as_kept {
                return Ok(false);
            }
            before = Some((id, source));
        }
        Ok(true)
    }
}
