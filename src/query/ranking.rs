//! How do sessions of several agents stand in one list?

use std::cmp::{Ordering, Reverse};
use std::path::{Path, PathBuf};

use crate::format::ListOrder;
use crate::format::json::Collation;
use crate::query::Snapshot;

/// How sessions of several agents stand in one list.
pub(super) struct ListRanking<'a> {
    by_creation: Vec<&'a str>,
    by_mtime: bool,
}

/// The place of one session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rank {
    // Packed into three machine words, because there is one per row, however long the list is.
    is_hidden: bool,
    by_creation: bool,
    time: Reverse<i64>,
    file: Reverse<i64>,
}

impl<'a> ListRanking<'a> {
    pub(super) fn new(snapshot: &'a Snapshot<'_>, by_mtime: bool) -> Self {
        let formats = snapshot.config().formats.iter();
        Self {
            by_creation: formats
                .filter(|format| format.list_order() == ListOrder::Created)
                .map(|format| format.name())
                .collect(),
            by_mtime,
        }
    }

    /// Whether sessions of the format stand where their creation puts them.
    pub(super) fn are_by_creation(&self, format: &str) -> bool {
        self.by_creation.contains(&format)
    }

    pub(super) fn rank(
        &self,
        by_creation: bool,
        listed: bool,
        modified_ms: i64,
        file_ms: i64,
        created_ms: Option<i64>,
    ) -> Rank {
        let (time, file) = if by_creation {
            (created_ms.unwrap_or(0), 0)
        } else {
            (modified_ms, file_ms)
        };
        Rank {
            is_hidden: !listed,
            by_creation,
            time: Reverse(time),
            file: Reverse(if self.by_mtime { file } else { 0 }),
        }
    }
}

impl Rank {
    /// Which comes first? Paths are costly to compare and hardly ever decide, so they are asked for
    /// last.
    pub(super) fn compare(
        &self,
        other: &Rank,
        own_path: impl FnOnce() -> PathBuf,
        other_path: impl FnOnce() -> PathBuf,
    ) -> Ordering {
        let times = |rank: &Self| (rank.is_hidden, rank.time, rank.file);
        times(self).cmp(&times(other)).then_with(|| {
            if self.by_creation != other.by_creation {
                return self.by_creation.cmp(&other.by_creation);
            }
            let (own, other) = (own_path(), other_path());
            let name = |path: &Path| {
                let name = path.file_name();
                name.map(|name| Collation::of(&name.to_string_lossy()))
            };
            let names = match self.by_creation {
                true => Ordering::Equal,
                false => name(&other).cmp(&name(&own)),
            };
            names.then_with(|| own.cmp(&other))
        })
    }
}
