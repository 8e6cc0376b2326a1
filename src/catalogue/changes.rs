//! Which sessions changed since a given number? The feed for programs that keep a copy.

use rusqlite::params;

use super::error::Error;
use super::open::Catalogue;
use crate::model::{ChangeKind, FeedPosition, SessionChange};

/// Changes kept for those who poll.
const CHANGES_KEPT: i64 = 100_000;

/// Which numbers the feed has now, and the id of the catalogue that they belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRange {
    /// Another one after a rebuild: its numbers are others.
    pub index_id: String,
    /// The first number that is kept; 1 before there is any.
    pub first: i64,
    /// The last number given.
    pub last: i64,
}

impl FeedRange {
    /// Behind the last number.
    pub fn end(self) -> FeedPosition {
        FeedPosition {
            index_id: self.index_id,
            seq: self.last,
        }
    }
}

impl Catalogue {
    /// Which numbers are kept.
    pub fn changes_kept(&self) -> Result<FeedRange, Error> {
        let kept = "SELECT index_id, coalesce((SELECT min(seq) FROM _changes), 1), coalesce((SELECT max(seq) FROM _changes), 0) FROM _store";
        self.one(kept, [], |r| {
            Ok(FeedRange {
                index_id: r.get(0)?,
                first: r.get(1)?,
                last: r.get(2)?,
            })
        })
    }

    /// At most `most` changes after number `seq`, in their order.
    pub fn changes_after(&self, seq: i64, most: usize) -> Result<Vec<SessionChange>, Error> {
        let sql = "SELECT seq, session, what, id, path FROM _changes WHERE seq > ?1 ORDER BY seq LIMIT ?2";
        self.all(sql, params![seq, most as i64], |r| {
            Ok(SessionChange {
                seq: r.get(0)?,
                session: r.get(1)?,
                what: match r.get_ref(2)?.as_str()? {
                    "archived" => ChangeKind::Archived,
                    "gone" => ChangeKind::Gone,
                    _ => ChangeKind::Changed,
                },
                id: r.get(3)?,
                path: r.get::<_, String>(4)?.into(),
            })
        })
    }

    /// A number that is another one when another connection has committed.
    pub fn data_version(&self) -> Result<i64, Error> {
        self.one("PRAGMA data_version", [], |r| r.get(0))
    }

    /// Forget changes that are too many to keep.
    pub(super) fn trim_changes(&self) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "DELETE FROM _changes WHERE seq <= (SELECT max(seq) FROM _changes) - ?1",
            )?
            .execute([CHANGES_KEPT])
            .map(drop)
    }

    /// Do after a sync of some paths what [`Catalogue::note_scan`] does, without noting the time of
    /// a full scan.
    pub fn note_some(&self) -> Result<(), Error> {
        self.with_path(self.trim_changes())
    }
}
