//! Where does a session stand among the sessions of all agents?
//!
//! What agents list comes first, then what was changed last; some agents go by when a session
//! began. Of equal ones the names of their files decide, then their paths.

use std::cmp::{Ordering, Reverse};
use std::path::{Path, PathBuf};

use crate::format::json::Collation;

/// The place of one session in a list.
#[derive(Debug, Clone, Copy)]
pub struct Rank {
    // Packed into three machine words, because there is one per row, however long the list is.
    is_hidden: bool,
    by_creation: bool,
    time: Reverse<i64>,
    file: Reverse<i64>,
}

/// What decides it, of a session's row.
pub struct RankedTimes {
    /// Its agent's list goes by when sessions began.
    pub by_creation: bool,
    /// Its agent lists it.
    pub is_listed: bool,
    /// When it was changed, as its agent says.
    pub modified_ms: i64,
    /// When its files were.
    pub file_ms: i64,
    /// When it began.
    pub created_ms: Option<i64>,
}

impl RankedTimes {
    /// The place that they give. Lists of one directory do not go by files.
    pub fn rank(&self, by_file: bool) -> Rank {
        let (time, file) = match self.by_creation {
            true => (self.created_ms.unwrap_or(0), 0),
            false => (self.modified_ms, self.file_ms),
        };
        Rank {
            is_hidden: !self.is_listed,
            by_creation: self.by_creation,
            time: Reverse(time),
            file: Reverse(if by_file { file } else { 0 }),
        }
    }
}

impl Rank {
    /// Which comes first? Paths are costly to compare and hardly ever decide, so they are asked for
    /// last.
    pub fn compare(
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

    /// A text that sorts so, but for equal names of files.
    pub(super) fn text(&self, path: &Path) -> String {
        // The latest first.
        let latest = |Reverse(time): Reverse<i64>| !(time.cast_unsigned() ^ 1 << 63);
        let name = match self.by_creation {
            true => String::new(),
            false => {
                Collation::of(&path.file_name().unwrap_or_default().to_string_lossy()).descending()
            }
        };
        format!(
            "{}{:016x}{:016x}{}{name}",
            u8::from(self.is_hidden),
            latest(self.time),
            latest(self.file),
            u8::from(self.by_creation)
        )
    }
}
