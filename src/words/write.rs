//! How do passages get into the index on disk, and out of it again?

use std::ops::Bound;
use std::path::PathBuf;

use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::IndexWriterOptions;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::query::RangeQuery;
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Term};

use super::damage::{columns_are_whole, reading};
use super::directory::IndexDirectory;
use super::merging::{ENOUGH, MOST_ADDED, MOST_SEGMENTS, Merge, Size, check_whole, next, smallest};
use super::schema::{Doc, Fields, builder, schema, tokenizers};
use super::segment::SegmentBuilder;
use super::{WordsError, WordsLock};
use crate::failpoint::reach;

/// tantivy's own indexing threads are never given a document; this is the least it takes for one.
const LEAST_MEMORY: usize = 15_000_000;

/// Memory for a writer that adds nothing.
pub(super) const LITTLE: usize = LEAST_MEMORY;

/// The one writer of a word index. It holds the lock of the words as long as it lives.
///
/// Nothing is visible to readers, and nothing survives a crash, before [`commit`](Self::commit).
/// Dropping the writer discards what is not committed, as [`close`](Self::close) does but without
/// telling how that went. No merge goes on after either.
pub struct WordsWriter {
    /// `None` only while being dropped, or when a rollback has failed.
    writer: Option<IndexWriter>,
    /// Segments that are not committed yet.
    added: Vec<Size>,
    /// Memory of an adder.
    memory: usize,
    fields: Fields,
    payload: Option<String>,
    uncommitted: bool,
    /// Given up after all else is over.
    lock: WordsLock,
}

impl WordsWriter {
    /// Open the index in the folder of the lock, or make one. `memory` bytes are divided among so
    /// many `adders`.
    ///
    /// # Errors
    /// [`WordsError::Foreign`] and [`WordsError::Unreadable`] ask for a new index.
    pub fn open(lock: WordsLock, memory: usize, adders: usize) -> Result<Self, WordsError> {
        reading(|| Self::open_undamaged(lock, memory, adders))
    }

    fn open_undamaged(lock: WordsLock, memory: usize, adders: usize) -> Result<Self, WordsError> {
        WordsError::unless_random()?;
        let directory = IndexDirectory::open(lock.dir(), false)?;
        let (index, fields) =
            if Index::exists(&directory).map_err(|error| WordsError::of_reading(error.into()))? {
                open_index(directory)?
            } else {
                let index = builder()
                    .open_or_create(directory)
                    .map_err(WordsError::of_reading)?;
                (index, schema().1)
            };
        // Open every segment now, so that damage is found while the caller still expects it.
        open_reader(&index)?;
        let payload = index.load_metas().map_err(WordsError::of_reading)?.payload;
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(LEAST_MEMORY)
            .num_merge_threads(1)
            .build();
        let writer = index
            .writer_with_options(options)
            .map_err(WordsError::of_reading)?;
        // Merges are decided here and not by tantivy.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self {
            writer: Some(writer),
            added: Vec::new(),
            memory: memory / adders.max(1),
            fields,
            payload,
            uncommitted: false,
            lock,
        })
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
            draft: SegmentBuilder::new(self.fields),
            memory: self.memory,
            folder: self.lock.dir().to_owned(),
            written: Vec::new(),
        })
    }

    /// Take in what was added elsewhere.
    pub fn take(&mut self, added: AdderReport) -> Result<(), WordsError> {
        for segment in added.segments {
            self.uncommitted = true;
            self.added.push(Size::of(&segment, self.lock.dir()));
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
            // tantivy names a file of deletions by the number of the commit: one that a process
            // left behind which died before that commit stands in the way of ours.
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

    /// Rewrite every segment that has deleted passages without them, and remove the files of the
    /// old ones. Everything must be committed.
    ///
    /// # Errors
    /// [`WordsError::Unreadable`] when one of them is damaged.
    pub fn wipe(&mut self) -> Result<(), WordsError> {
        self.merge(Merge::Deleted, &|| true)?;
        reach("words.wipe")?;
        self.writer()?.garbage_collect_files().wait()?;
        Ok(())
    }

    /// Merge what there is to merge, one merge after the other, while `goes_on` says so. All must
    /// be committed, and stays so at every moment.
    ///
    /// # Errors
    /// [`WordsError::Unreadable`] when a segment that was to be merged is damaged.
    pub fn merge(&mut self, which: Merge, goes_on: &dyn Fn() -> bool) -> Result<(), WordsError> {
        while goes_on() {
            let segments = next(&self.committed()?, which);
            if segments.is_empty() {
                break;
            }
            self.merge_these(&segments)?;
        }
        Ok(())
    }

    /// Whether there are so many segments that some should be merged before more are added.
    pub fn is_crowded(&mut self) -> Result<bool, WordsError> {
        Ok(self.committed()?.len() > ENOUGH)
    }

    fn committed(&mut self) -> Result<Vec<Size>, WordsError> {
        let metas = self.writer()?.index().searchable_segment_metas()?;
        let size = |segment| Size::of(segment, self.lock.dir());
        Ok(metas.iter().map(size).collect())
    }

    /// Merge these segments, all of them committed or none.
    fn merge_these(&mut self, segments: &[SegmentId]) -> Result<Option<Size>, WordsError> {
        reach("words.merge")?;
        let index = self.writer()?.index();
        let mut metas = index.searchable_segment_metas()?;
        metas.retain(|segment| segments.contains(&segment.id()));
        check_whole(index, &metas)?;
        // Files of a segment stay as long as anyone has its description.
        drop(metas);
        let merged = self.writer()?.merge(segments).wait()?;
        Ok(merged.map(|segment| Size::of(&segment, self.lock.dir())))
    }

    /// See that there are not too many segments with those that were added.
    fn make_room(&mut self) -> Result<(), WordsError> {
        while self.added.len() > MOST_ADDED {
            let segments = smallest(&self.added);
            self.added.retain(|added| !segments.contains(&added.id));
            let merged = self.merge_these(&segments)?;
            self.added.extend(merged);
        }
        loop {
            let committed = self.committed()?;
            if committed.len() + self.added.len() <= MOST_SEGMENTS {
                return Ok(());
            }
            let segments = next(&committed, Merge::Small);
            if segments.is_empty() {
                return Ok(());
            }
            self.merge_these(&segments)?;
        }
    }

    /// Make all additions so far durable and visible, together with `payload`.
    ///
    /// # Errors
    /// [`WordsError::Unreadable`] when a segment that had to be merged to make room is damaged.
    pub fn commit(&mut self, payload: &str) -> Result<(), WordsError> {
        self.make_room()?;
        reach("words.commit")?;
        let mut prepared = self.writer()?.prepare_commit()?;
        reach("words.prepared")?;
        prepared.set_payload(payload);
        prepared.commit()?;
        reach("words.committed")?;
        self.payload = Some(payload.to_owned());
        self.uncommitted = false;
        self.added.clear();
        Ok(())
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
        self.added.clear();
        Ok(())
    }

    /// Discard what is not committed.
    pub fn close(mut self) -> Result<(), WordsError> {
        self.finish()
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
        // No thread of it may be left when the lock is given up.
        writer.wait_merging_threads()?;
        reach("words.close")?;
        Ok(rolled_back?)
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
    draft: SegmentBuilder,
    memory: usize,
    /// For files of its own.
    folder: PathBuf,
    written: Vec<SegmentMeta>,
}

/// What an [`Adder`] wrote.
pub struct AdderReport {
    segments: Vec<SegmentMeta>,
}

#[cfg(test)]
impl AdderReport {
    pub fn len(&self) -> usize {
        self.segments.len()
    }
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
    pub fn finish(mut self) -> Result<AdderReport, WordsError> {
        self.write()?;
        Ok(AdderReport {
            segments: self.written,
        })
    }

    fn write(&mut self) -> Result<(), WordsError> {
        let draft = std::mem::replace(&mut self.draft, SegmentBuilder::new(self.fields));
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
