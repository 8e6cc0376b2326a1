//! Which segments are merged into one?
//!
//! Those of about one size, when there are many of them: so every byte is merged a few times,
//! however many there are. And whatever there is of the smallest, before there are too many in all.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::IgnoredAny;
use tantivy::Index;
use tantivy::index::{SegmentId, SegmentMeta};

use super::damage::{FILES, condemn, damaged_part, reading};
use super::directory::IndexDirectory;
use super::lock::{PATIENCE, WordsLock};
use super::write::{LITTLE, WordsWriter, open_index};
use super::{WordsError, files};

/// Segments at any time, at most. A search for a rare word takes a fifth of a millisecond more with
/// each of them.
pub(super) const MOST_SEGMENTS: usize = 40;

/// Segments with which a stage may begin: what it adds is a few more.
pub(super) const ENOUGH: usize = 32;

/// What one commit adds, at most.
pub(super) const MOST_ADDED: usize = MOST_SEGMENTS - ENOUGH;

/// Segments of about one size that are merged, at least. What is added at once is a few of them,
/// however much it is. Merging costs as much as half of the indexing did.
const SEGMENTS_MERGED: usize = 16;

/// Segments of up to this many bytes are of one size class, those of up to 16 times as many of the
/// next one, and so on.
const SMALLEST: u64 = 64 << 10;
const OF_ONE_SIZE: u64 = 16;

/// Bytes of a segment that is merged even when time is short, at most: many of them are done in
/// some tenths of a second.
const SMALL: u64 = 1 << 20;

/// Bytes that are merged into one segment, at most: this, or a part of all bytes. A segment of more
/// than half of that is left as it is; there are twice as many of them as parts, at most.
const MOST_BYTES: u64 = 96 << 20;
const PART_OF_ALL: u64 = 8;

/// A segment in which at least one in so many passages is deleted is rewritten without them,
/// whatever its size.
const PART_DELETED: u32 = 8;

/// How long to wait for the lock before checking whether to keep waiting.
const ASKED_AGAIN: Duration = Duration::from_millis(50);

/// Which segments may be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// Small ones, as time is short. Too many are too many all the same.
    Small,
    /// All.
    All,
    /// Segments with deleted passages: each is rewritten without them.
    Deleted,
}

/// A segment, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub id: SegmentId,
    bytes: u64,
    passages: u32,
    deleted: u32,
}

impl Size {
    /// Of a segment whose files lie in `dir`.
    pub fn of(segment: &SegmentMeta, dir: &Path) -> Self {
        let length = |part| {
            let path = dir.join(segment.relative_path(part));
            std::fs::metadata(path).map_or(0, |file| file.len())
        };
        Self {
            id: segment.id(),
            bytes: FILES.iter().cloned().map(length).sum(),
            passages: segment.max_doc(),
            deleted: segment.num_deleted_docs(),
        }
    }

    fn has_deletions(&self) -> bool {
        self.deleted > 0
    }

    /// Which size it is of.
    fn level(&self) -> u32 {
        match self.bytes.div_ceil(SMALLEST) {
            0 | 1 => 0,
            times => 1 + (times - 1).ilog(OF_ONE_SIZE),
        }
    }
}

/// The next segments to be merged into one; empty when no merge is due.
pub(super) fn next(segments: &[Size], which: Merge) -> Vec<SegmentId> {
    if which == Merge::Deleted {
        let holds = segments.iter().find(|segment| segment.has_deletions());
        return holds.map(|segment| segment.id).into_iter().collect();
    }
    let most = most_bytes(segments);
    let many_deleted = segments.iter().find(|segment| {
        segment.bytes > SMALL && segment.deleted >= segment.passages.div_ceil(PART_DELETED).max(1)
    });
    if let (Merge::All, Some(segment)) = (which, many_deleted) {
        return vec![segment.id];
    }
    let mut sizes: Vec<&Size> = segments.iter().filter(|s| s.bytes <= most / 2).collect();
    // Within a size class, segments with deleted passages come first.
    sizes.sort_unstable_by_key(|size| (size.level(), size.deleted == 0, size.bytes));
    let of_one_size = |a: &&Size, b: &&Size| a.level() == b.level();
    let levels: Vec<&[&Size]> = sizes.chunk_by(of_one_size).collect();
    let is_asked = |level: &[&Size]| which == Merge::All || level.iter().all(|s| s.bytes <= SMALL);
    let is_full = |level: &&[&Size]| level.len() >= SEGMENTS_MERGED && is_asked(level);
    // Of several that are as long `max_by_key` gives the last one.
    let longest = || levels.iter().copied().rev().max_by_key(|level| level.len());
    let is_crowded = segments.len() > ENOUGH;
    let level = levels.iter().copied().find(is_full);
    let level = level.or_else(|| longest().filter(|_| is_crowded));
    up_to(most, level.unwrap_or_default())
}

/// The smallest of these segments, which are merged into one before there are too many of them.
pub(super) fn smallest(segments: &[Size]) -> Vec<SegmentId> {
    let mut sizes: Vec<&Size> = segments.iter().collect();
    sizes.sort_unstable_by_key(|size| size.bytes);
    up_to(most_bytes(segments), &sizes)
}

fn most_bytes(segments: &[Size]) -> u64 {
    let all: u64 = segments.iter().map(|segment| segment.bytes).sum();
    MOST_BYTES.max(all / PART_OF_ALL)
}

/// The longest prefix of `segments` of at most `most` bytes in total, but never fewer than two.
fn up_to(most: u64, segments: &[&Size]) -> Vec<SegmentId> {
    let mut bytes = 0;
    let few = segments.iter().enumerate().take_while(|(at, segment)| {
        bytes += segment.bytes;
        *at < 2 || bytes <= most
    });
    let ids: Vec<SegmentId> = few.map(|(_, segment)| segment.id).collect();
    match ids.len() {
        1 => Vec::new(),
        _ => ids,
    }
}

/// Check that the files of segments are as they were written. Damage in them would get a valid
/// checksum in the merged segment, and could never be found.
pub(super) fn check_whole(index: &Index, segments: &[SegmentMeta]) -> Result<(), WordsError> {
    let damaged = |segment| damaged_part(index, segment, &FILES);
    match segments.iter().find_map(damaged) {
        Some(path) => Err(WordsError::damaged(&path)),
        None => Ok(()),
    }
}

/// Whether there is something to merge in the words in `dir`. If they cannot be read, the next
/// search reports that.
pub fn is_merge_due(dir: &Path, which: Merge) -> bool {
    let due = || {
        // Mostly the commit alone says that there is nothing.
        if !Commit::read(dir)?.may_ask_for_merge() {
            return Ok(false);
        }
        let (index, _) = open_index(IndexDirectory::open(dir, true)?)?;
        let segments = index.searchable_segment_metas()?;
        let sizes: Vec<Size> = segments.iter().map(|s| Size::of(s, dir)).collect();
        Ok(!next(&sizes, which).is_empty())
    };
    files::exist(dir) && reading(due).unwrap_or_default()
}

/// What a commit says of its segments, as far as it matters here.
#[derive(Deserialize)]
struct Commit {
    segments: Vec<CommittedSegment>,
}

#[derive(Deserialize)]
struct CommittedSegment {
    deletes: Option<IgnoredAny>,
}

impl Commit {
    fn read(dir: &Path) -> Result<Commit, WordsError> {
        let json = std::fs::read(dir.join("meta.json"))?;
        serde_json::from_slice(&json).map_err(|e| WordsError::Unreadable(e.to_string()))
    }

    /// See [`next`].
    fn may_ask_for_merge(&self) -> bool {
        let is_deleted_from = |segment: &CommittedSegment| segment.deletes.is_some();
        self.segments.len() >= SEGMENTS_MERGED || self.segments.iter().any(is_deleted_from)
    }
}

/// Merge what there is to merge in the words in `dir`, one merge after the other, while `goes_on`
/// says so. Takes the lock of the words, and needs no other. The commit's payload and passages stay
/// as they are.
///
/// # Errors
/// [`WordsError::Busy`] when another process writes them for a long time.
/// [`WordsError::Unreadable`] when a segment is damaged: then the words are marked for a rebuild.
pub fn merge(dir: &Path, which: Merge, goes_on: &dyn Fn() -> bool) -> Result<(), WordsError> {
    let began = Instant::now();
    let lock = loop {
        match WordsLock::take_existing(dir, ASKED_AGAIN) {
            Err(WordsError::Busy) if goes_on() && began.elapsed() < PATIENCE => {}
            // Removed with the index.
            Err(WordsError::Missing(_)) => return Ok(()),
            taken => break taken?,
        }
    };
    // Somebody may have removed them meanwhile.
    if !files::exist(dir) {
        return Ok(());
    }
    let mut writer = WordsWriter::open(lock, LITTLE, 1)?;
    let merged = writer.merge(which, goes_on);
    let merged = writer.close().and(merged);
    if let Err(error @ WordsError::Unreadable(_)) = &merged {
        condemn(dir, &error.to_string());
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: u64, deleted: u32) -> Size {
        Size {
            id: SegmentId::generate_random(),
            bytes,
            passages: 100,
            deleted,
        }
    }

    /// Merges until nothing is left to merge: how many bytes were written.
    fn settle(segments: &mut Vec<Size>, which: Merge) -> u64 {
        let mut written = 0;
        loop {
            let ids = next(segments, which);
            if ids.is_empty() {
                return written;
            }
            let (merged, left): (Vec<Size>, Vec<Size>) = segments
                .iter()
                .partition(|segment| ids.contains(&segment.id));
            assert_eq!(merged.len(), ids.len());
            let bytes = merged.iter().map(|segment| segment.bytes).sum();
            assert!(merged.len() > 1 || merged[0].deleted > 0);
            assert!(merged.len() < 3 || bytes <= most_bytes(segments));
            *segments = left;
            segments.push(size(bytes, 0));
            written += bytes;
        }
    }

    #[test]
    fn however_much_is_added_there_are_few_and_every_byte_is_merged_a_few_times() {
        for (bytes, times) in [
            (3 << 10, 40_000),
            (400 << 10, 20_000),
            (2 << 20, 5_000),
            (30 << 20, 2_000),
            (70 << 20, 500),
        ] {
            let (mut segments, mut written, mut most) = (Vec::new(), 0, 0);
            for number in 0..times {
                // Of all sizes about this one.
                segments.push(size(bytes / 2 + bytes * (number * 7 % 11) / 10, 0));
                most = most.max(segments.len());
                written += settle(&mut segments, Merge::All);
                assert!(segments.len() <= ENOUGH, "{} of {bytes}", segments.len());
            }
            let all: u64 = segments.iter().map(|segment| segment.bytes).sum();
            assert!(most <= MOST_SEGMENTS, "{most}");
            assert!(written < 8 * all, "{bytes}: {written} of {all}");
        }
    }

    #[test]
    fn when_time_is_short_large_ones_are_left_unless_there_are_too_many() {
        let mut segments: Vec<Size> = (0..ENOUGH).map(|_| size(4 << 20, 50)).collect();
        assert_eq!(settle(&mut segments, Merge::Small), 0);
        segments.push(size(9, 0));
        assert!(settle(&mut segments, Merge::Small) > 0);
        assert!(segments.len() <= ENOUGH);
        let mut segments: Vec<Size> = (0..SEGMENTS_MERGED).map(|_| size(9, 0)).collect();
        settle(&mut segments, Merge::Small);
        assert_eq!(segments.len(), 1);
    }

    #[test]
    fn what_is_deleted_goes_first() {
        let few = 100 / PART_DELETED;
        assert!(next(&[size(SMALL + 1, few)], Merge::All).is_empty());
        for bytes in [SMALL + 1, 1 << 40] {
            let much = size(bytes, few + 1);
            assert_eq!(next(&[size(9, 0), much], Merge::All), [much.id]);
        }
        // Not all of one size can be merged at once.
        let mut segments: Vec<Size> = (0..SEGMENTS_MERGED).map(|_| size(20 << 20, 0)).collect();
        let holds = size(40 << 20, 1);
        segments.push(holds);
        assert!(next(&segments, Merge::All).contains(&holds.id));
    }

    #[test]
    fn the_smallest_are_merged_and_two_of_any_size() {
        let (small, large) = (size(9, 0), size(1 << 40, 0));
        let middle = size(8, 0);
        assert_eq!(smallest(&[large, small, middle]).len(), 2);
        assert!(!smallest(&[large, small, middle]).contains(&large.id));
        assert_eq!(smallest(&[large, large]).len(), 2);
        assert!(smallest(&[large]).is_empty());
    }
}
