//! Which segments are merged into one?

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::merge_policy::{LogMergePolicy, MergeCandidate, MergePolicy};
use tantivy::{Directory, Index};

use super::WordsError;
use super::damage::{FILES, damaged_part};

/// Segments of about one size that are merged, at least. What is added at once is a few of them, however much it is. Merging costs as much as half of the indexing did; a search for a
/// rare word takes a fifth of a millisecond more with each segment.
pub(super) const SEGMENTS_MERGED: usize = 16;

/// Passages of a segment that is merged even when time is short, at most: so many of them are done in a tenth of a second.
const SMALL_SEGMENT: usize = 1_000;

/// Merges that run at a time.
pub(super) const MERGES_AT_ONCE: usize = 2;

/// Bytes that are merged into one segment, at most: all of them are mapped meanwhile. A
/// segment of more than half of that is left as it is, so every byte is merged a few times, however many there are.
const MOST_BYTES: u64 = (192 << 20) / MERGES_AT_ONCE as u64;

/// By size, as [`LogMergePolicy`] groups them.
fn by_size() -> LogMergePolicy {
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(SEGMENTS_MERGED);
    policy
}

/// Merges only segments whose files are as they were written: what is wrong in them would be right by its checksum in
/// the merged one, and nobody could tell any more.
#[derive(Debug, Clone)]
pub(super) struct WholeSegments {
    policy: Arc<LogMergePolicy>,
    index: Index,
    found: Arc<Mutex<Option<PathBuf>>>,
    most_bytes: u64,
}

impl WholeSegments {
    pub fn new(index: Index) -> Self {
        Self {
            policy: Arc::new(by_size()),
            index,
            found: Arc::default(),
            most_bytes: MOST_BYTES,
        }
    }

    /// The same for fewer bytes at once.
    #[cfg(test)]
    pub fn at_most(&self, most_bytes: u64) -> Self {
        Self {
            most_bytes,
            ..self.clone()
        }
    }

    /// The same for small segments alone.
    pub fn small_ones(&self) -> Self {
        let mut policy = by_size();
        policy.set_max_docs_before_merge(SMALL_SEGMENT);
        Self {
            policy: Arc::new(policy),
            ..self.clone()
        }
    }

    /// Whether a segment was not merged because it is damaged.
    pub fn check(&self) -> Result<(), WordsError> {
        match &*self.found.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(path) => Err(WordsError::damaged(path)),
            None => Ok(()),
        }
    }

    /// Whether the files of a segment are as they were written; if not, [`check`](Self::check) tells.
    pub fn is_whole(&self, segment: &SegmentMeta) -> bool {
        let damaged = damaged_part(&self.index, segment, &FILES);
        let is_whole = damaged.is_none();
        if !is_whole {
            *self.found.lock().unwrap_or_else(PoisonError::into_inner) = damaged;
        }
        is_whole
    }

    /// Bytes of a segment's files.
    fn bytes(&self, segment: &SegmentMeta) -> u64 {
        let directory = self.index.directory();
        let length = |part| {
            let file = directory.get_file_handle(&segment.relative_path(part));
            file.map_or(0, |file| file.len() as u64)
        };
        FILES.iter().cloned().map(length).sum()
    }

    /// A candidate in parts, each of no more bytes than are merged at once.
    fn parts(&self, candidate: &MergeCandidate, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let is_asked = |segment: &&SegmentMeta| candidate.0.contains(&segment.id());
        let asked = segments.iter().filter(is_asked);
        let asked = asked.map(|segment| (self.bytes(segment), segment.id()));
        let mut asked: Vec<(u64, SegmentId)> = asked.collect();
        asked.sort_unstable_by_key(|(bytes, _)| *bytes);
        let mut parts: Vec<(u64, Vec<SegmentId>)> = Vec::new();
        for (bytes, id) in asked {
            if bytes > self.most_bytes / 2 {
                continue;
            }
            match parts.last_mut() {
                Some((all, part)) if *all + bytes <= self.most_bytes => {
                    *all += bytes;
                    part.push(id);
                }
                _ => parts.push((bytes, vec![id])),
            }
        }
        // What is left over is merged when it has become more.
        let is_worth = |(bytes, part): &(u64, Vec<SegmentId>)| {
            part.len() >= SEGMENTS_MERGED || part.len() > 1 && *bytes > self.most_bytes / 2
        };
        parts.retain(is_worth);
        parts
            .into_iter()
            .map(|(_, part)| MergeCandidate(part))
            .collect()
    }
}

impl MergePolicy for WholeSegments {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let candidates = self.policy.compute_merge_candidates(segments);
        let parts = candidates
            .iter()
            .flat_map(|candidate| self.parts(candidate, segments));
        parts
            .filter(|part| {
                segments
                    .iter()
                    .filter(|segment| part.0.contains(&segment.id()))
                    .all(|segment| self.is_whole(segment))
            })
            .collect()
    }
}
