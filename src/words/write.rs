//! How do passages get into the index on disk, and out of it again?

use std::ops::Bound;
use std::path::{Path, PathBuf};

use tantivy::index::SegmentMeta;
use tantivy::indexer::IndexWriterOptions;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::query::RangeQuery;
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Term};

use super::WordsError;
use super::damage::{columns_are_whole, reading};
use super::directory::IndexDirectory;
use super::merging::{MERGES_AT_ONCE, SEGMENTS_MERGED, WholeSegments};
use super::schema::{Doc, Fields, builder, schema, tokenizers};
use super::segment::Draft;
use crate::failpoint::reach;

/// tantivy's own indexing threads are never given a document; this is the least it takes for one.
const LEAST_MEMORY: usize = 15_000_000;

/// The one writer of a word index.
///
/// Open it only while holding the index lock: an index opened earlier may have read a state that
/// another writer has since replaced. Nothing is visible to readers, and nothing survives a crash,
/// before [`commit`](Self::commit). Dropping the writer discards what is not committed and waits
/// for running merges, as [`close`](Self::close) does but without telling how that went; do
/// either before releasing the lock.
pub struct WordsWriter {
    /// `None` only while being dropped, or when a rollback has failed.
    writer: Option<IndexWriter>,
    whole: WholeSegments,
    merges_at_the_end: bool,
    /// Memory of an adder.
    memory: usize,
    folder: PathBuf,
    fields: Fields,
    payload: Option<String>,
    uncommitted: bool,
}

impl WordsWriter {
    /// Open the index in `dir`, or make one. `memory` bytes are divided among so many `adders`.
    ///
    /// # Errors
    /// [`WordsError::Foreign`] and [`WordsError::Unreadable`] ask for a new index in a new folder.
    pub fn open(dir: &Path, memory: usize, adders: usize) -> Result<Self, WordsError> {
        reading(|| Self::open_undamaged(dir, memory, adders))
    }

    fn open_undamaged(dir: &Path, memory: usize, adders: usize) -> Result<Self, WordsError> {
        std::fs::create_dir_all(dir)?;
        let directory = IndexDirectory::open(dir, false)?;
        let (index, fields) =
            if Index::exists(&directory).map_err(|error| WordsError::of_reading(error.into()))? {
                open_index(directory)?
            } else {
                let index = builder()
                    .open_or_create(directory)
                    .map_err(WordsError::of_reading)?;
                (index, schema().1)
            };
        // Opening every segment now tells damage while the caller still expects it.
        open_reader(&index)?;
        let payload = index.load_metas().map_err(WordsError::of_reading)?.payload;
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(LEAST_MEMORY)
            .num_merge_threads(MERGES_AT_ONCE)
            .build();
        let writer = index
            .writer_with_options(options)
            .map_err(WordsError::of_reading)?;
        let whole = WholeSegments::new(index);
        writer.set_merge_policy(Box::new(whole.clone()));
        Ok(Self {
            writer: Some(writer),
            whole,
            merges_at_the_end: false,
            memory: memory / adders.max(1),
            folder: dir.to_owned(),
            fields,
            payload,
            uncommitted: false,
        })
    }

    /// Time is short: leave large segments to a writer that has more of it. Whoever closes this one waits for merges.
    pub fn merge_small_segments_only(&mut self) {
        self.whole = self.whole.small_ones();
        if let Some(writer) = &self.writer {
            writer.set_merge_policy(Box::new(self.whole.clone()));
        }
    }

    /// There is time: merge when all is added and its memory is free again, on [`close`](Self::close).
    pub fn merge_at_the_end(&mut self) {
        self.merges_at_the_end = true;
        if let Some(writer) = &self.writer {
            writer.set_merge_policy(Box::new(NoMergePolicy));
        }
    }

    fn writer(&mut self) -> Result<&mut IndexWriter, WordsError> {
        self.writer.as_mut().ok_or_else(|| {
            WordsError::Io(std::io::Error::other(
                "the writer failed earlier and is closed",
            ))
        })
    }

    /// A way to add passages from another thread. They are part of the index after
    /// [`take`](Self::take) and the next commit.
    pub fn adder(&mut self) -> Result<Adder, WordsError> {
        Ok(Adder {
            index: self.writer()?.index().clone(),
            fields: self.fields,
            draft: Draft::new(self.fields),
            memory: self.memory,
            folder: self.folder.clone(),
            written: Vec::new(),
        })
    }

    /// Take in what was added elsewhere.
    pub fn take(&mut self, added: Added) -> Result<(), WordsError> {
        for segment in added.segments {
            self.uncommitted = true;
            self.writer()?.add_segment(segment)?;
        }
        Ok(())
    }

    /// Add passages here and now.
    #[cfg(test)]
    pub fn add(&mut self, docs: impl IntoIterator<Item = Doc>) -> Result<(), WordsError> {
        let mut adder = self.adder()?;
        docs.into_iter().try_for_each(|doc| adder.add(&doc))?;
        self.take(adder.finish()?)
    }

    /// Delete all passages with a key in one of the ranges, both ends included, and commit.
    ///
    /// In one step, because a deletion takes from every segment that is there at the next commit,
    /// also from those that were taken in after it.
    pub fn delete(
        &mut self,
        ranges: impl IntoIterator<Item = (u64, u64)>,
        payload: &str,
    ) -> Result<(), WordsError> {
        let key = self.fields.key;
        // Where there is no segment, tantivy would keep the deletion for the next one.
        let metas = self.writer()?.index().load_metas()?;
        if !metas.segments.is_empty() || self.uncommitted {
            // To delete reads them on tantivy's own threads, where a panic ends the process.
            columns_are_whole(self.writer()?.index(), &metas.segments)?;
            // tantivy names a file of deletions by the number of the commit: one that a process left behind which died before
            // that commit stands in the way of ours.
            self.writer()?.garbage_collect_files().wait()?;
            for (first, last) in ranges {
                let range = RangeQuery::new(
                    Bound::Included(Term::from_field_u64(key, first)),
                    Bound::Included(Term::from_field_u64(key, last)),
                );
                self.uncommitted = true;
                self.writer()?.delete_query(Box::new(range))?;
            }
        }
        self.commit(payload)
    }

    /// Write every segment with deleted passages anew without them, and remove the files of the old ones. All must be
    /// committed.
    ///
    /// # Errors
    /// [`WordsError::Unreadable`] when one of them is damaged.
    pub fn wipe(&mut self) -> Result<(), WordsError> {
        let metas = self.writer()?.index().searchable_segment_metas()?;
        // By their ids alone: files of a segment stay as long as anyone has its description.
        let segments: Vec<_> = metas
            .into_iter()
            .filter(|segment| segment.has_deletes() && self.whole.is_whole(segment))
            .map(|segment| segment.id())
            .collect();
        self.whole.check()?;
        let writer = self.writer()?;
        for segment in segments {
            // The policy may be at it already: then what comes of its merge holds them no longer.
            match writer.merge(&[segment]).wait() {
                Ok(_) | Err(tantivy::TantivyError::InvalidArgument(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        reach("words.wipe")?;
        writer.garbage_collect_files().wait()?;
        Ok(())
    }

    /// Make all additions so far durable and visible, together with `payload`.
    ///
    /// # Errors
    /// [`WordsError::Unreadable`] when a segment that was to be merged is damaged, after the commit.
    pub fn commit(&mut self, payload: &str) -> Result<(), WordsError> {
        reach("words.commit")?;
        let mut prepared = self.writer()?.prepare_commit()?;
        reach("words.prepared")?;
        prepared.set_payload(payload);
        prepared.commit()?;
        reach("words.committed")?;
        self.payload = Some(payload.to_owned());
        self.uncommitted = false;
        self.whole.check()
    }

    /// The payload of the last commit.
    #[cfg(test)]
    pub fn payload(&self) -> Option<&str> {
        self.payload.as_deref()
    }

    /// Forget additions since the last commit.
    #[cfg(test)]
    pub fn rollback(&mut self) -> Result<(), WordsError> {
        self.writer()?.rollback()?;
        self.uncommitted = false;
        Ok(())
    }

    /// Discard what is not committed, merge what is to be merged now, and wait for that.
    ///
    /// # Errors
    /// [`WordsError::Unreadable`] when a segment that was to be merged is damaged.
    pub fn close(mut self) -> Result<(), WordsError> {
        let merged = self.merge_now();
        self.finish().and(merged)
    }

    /// Merge no more bytes at once.
    #[cfg(test)]
    pub fn merge_at_most(&mut self, bytes: u64) {
        self.whole = self.whole.at_most(bytes);
    }

    /// What was left to the end: a commit has the policy asked.
    fn merge_now(&mut self) -> Result<(), WordsError> {
        if !self.merges_at_the_end || self.uncommitted {
            return Ok(());
        }
        let whole = self.whole.clone();
        let writer = self.writer()?;
        if writer.index().searchable_segment_metas()?.len() < SEGMENTS_MERGED {
            return Ok(());
        }
        writer.set_merge_policy(Box::new(whole));
        match self.payload.clone() {
            Some(payload) => self.commit(&payload),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), WordsError> {
        let Some(mut writer) = self.writer.take() else {
            return Ok(());
        };
        let rolled_back = if self.uncommitted {
            writer.rollback().map(|_| ())
        } else {
            Ok(())
        };
        writer.wait_merging_threads()?;
        reach("words.close")?;
        rolled_back?;
        self.whole.check()
    }
}

impl Drop for WordsWriter {
    fn drop(&mut self) {
        // The next writer finds out by itself; what matters here is that no thread of ours is left.
        let _ = self.finish();
    }
}

/// Adds passages on a thread of its own.
pub struct Adder {
    index: Index,
    fields: Fields,
    draft: Draft,
    memory: usize,
    /// For files of its own.
    folder: PathBuf,
    written: Vec<SegmentMeta>,
}

/// What an [`Adder`] wrote.
pub struct Added {
    segments: Vec<SegmentMeta>,
}

impl Adder {
    /// Add a passage.
    pub fn add(&mut self, doc: &Doc) -> Result<(), WordsError> {
        self.draft.add(doc);
        if self.draft.bytes() < self.memory {
            return Ok(());
        }
        // Half of it at least is for texts: runs should be long.
        if self.draft.bytes_that_stay() >= self.memory / 2 {
            return self.write();
        }
        reach("words.spill")?;
        Ok(self.draft.spill(&self.folder)?)
    }

    /// Runs of the segment that is being made.
    #[cfg(test)]
    pub fn runs(&self) -> usize {
        self.draft.runs()
    }

    /// Write what is left, for [`WordsWriter::take`].
    pub fn finish(mut self) -> Result<Added, WordsError> {
        self.write()?;
        Ok(Added {
            segments: self.written,
        })
    }

    fn write(&mut self) -> Result<(), WordsError> {
        let draft = std::mem::replace(&mut self.draft, Draft::new(self.fields));
        if !draft.is_empty() {
            reach("words.segment")?;
            self.written.push(draft.write(&self.index, &self.folder)?);
        }
        Ok(())
    }
}

/// Open an index and see that it is one of ours.
pub(super) fn open_index(
    directory: impl Into<Box<dyn tantivy::Directory>>,
) -> Result<(Index, Fields), WordsError> {
    let mut index = Index::open(directory).map_err(WordsError::of_reading)?;
    let (schema, fields) = schema();
    if index.schema() != schema {
        return Err(WordsError::Foreign(
            "its fields are others than ours".into(),
        ));
    }
    index.set_tokenizers(tokenizers());
    Ok((index, fields))
}

pub(super) fn open_reader(index: &Index) -> Result<IndexReader, WordsError> {
    index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()
        .map_err(WordsError::of_reading)
}
