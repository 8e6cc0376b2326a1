//! How do passages get into the index on disk, and out of it again?

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use tantivy::indexer::IndexWriterOptions;
use tantivy::query::RangeQuery;
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Term};

use super::WordsError;
use super::directory::IndexDirectory;
use super::schema::{Doc, Fields, Gate, Queued, builder, schema, tokenizers};

/// tantivy refuses less memory a thread.
const LEAST_MEMORY: usize = 15_000_000;
/// Text that may wait for the indexing threads.
const WAITING_BYTES: usize = 32 << 20;

/// The one writer of a word index.
///
/// Open it only while holding the index lock: an index opened earlier may have read a state that
/// another writer has since replaced. Nothing is visible to readers, and nothing survives a crash,
/// before [`commit`](Self::commit). Dropping the writer discards what is not committed and waits
/// for running merges, as [`close`](Self::close) does but without telling how that went; do
/// either before releasing the lock.
pub struct WordsWriter {
    /// `None` only while being dropped, or when a rollback has failed.
    writer: Option<IndexWriter<Queued>>,
    fields: Fields,
    gate: Arc<Gate>,
    payload: Option<String>,
    uncommitted: bool,
}

impl WordsWriter {
    /// Open the index in `dir`, or make one. `memory` bytes are divided among `threads`.
    ///
    /// # Errors
    /// [`WordsError::Foreign`] and [`WordsError::Unreadable`] ask for a new index in a new folder.
    pub fn open(dir: &Path, memory: usize, threads: usize) -> Result<Self, WordsError> {
        std::fs::create_dir_all(dir)?;
        let directory = IndexDirectory::open(dir, false)?;
        let (index, fields) =
            if Index::exists(&directory).map_err(|error| WordsError::on_open(error.into()))? {
                open_index(directory)?
            } else {
                let index = builder()
                    .open_or_create(directory)
                    .map_err(WordsError::on_open)?;
                (index, schema().1)
            };
        // Opening every segment now tells damage while the caller still expects it.
        open_reader(&index)?;
        let payload = index.load_metas().map_err(WordsError::on_open)?.payload;
        let threads = threads.clamp(1, 8);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads)
            .memory_budget_per_thread((memory / threads).clamp(LEAST_MEMORY, 4_000_000_000))
            .num_merge_threads(2)
            .build();
        let writer = index
            .writer_with_options(options)
            .map_err(WordsError::on_open)?;
        Ok(Self {
            writer: Some(writer),
            fields,
            gate: Gate::new(WAITING_BYTES),
            payload,
            uncommitted: false,
        })
    }

    fn writer(&mut self) -> Result<&mut IndexWriter<Queued>, WordsError> {
        self.writer.as_mut().ok_or_else(|| {
            WordsError::Io(std::io::Error::other(
                "the writer failed earlier and is closed",
            ))
        })
    }

    /// Add a passage. Waits while too much text is on its way to the indexing threads.
    pub fn add(&mut self, doc: Doc) -> Result<(), WordsError> {
        let queued = Queued::new(doc, self.fields, Some(&self.gate));
        self.uncommitted = true;
        self.writer()?.add_document(queued)?;
        Ok(())
    }

    /// Delete all passages with a key from `first` to `last`, both included, that were added
    /// before this call. Passages added later stay, also with the same keys.
    pub fn delete_entries(&mut self, first: u64, last: u64) -> Result<(), WordsError> {
        let key = self.fields.key;
        let range = RangeQuery::new(
            Bound::Included(Term::from_field_u64(key, first)),
            Bound::Included(Term::from_field_u64(key, last)),
        );
        self.uncommitted = true;
        self.writer()?.delete_query(Box::new(range))?;
        Ok(())
    }

    /// Make all additions and deletions so far durable and visible, together with `payload`.
    pub fn commit(&mut self, payload: &str) -> Result<(), WordsError> {
        let mut prepared = self.writer()?.prepare_commit()?;
        prepared.set_payload(payload);
        prepared.commit()?;
        self.payload = Some(payload.to_owned());
        self.uncommitted = false;
        Ok(())
    }

    /// The payload of the last commit.
    #[cfg(test)]
    pub fn payload(&self) -> Option<&str> {
        self.payload.as_deref()
    }

    /// Forget additions and deletions since the last commit.
    #[cfg(test)]
    pub fn rollback(&mut self) -> Result<(), WordsError> {
        self.writer()?.rollback()?;
        self.uncommitted = false;
        Ok(())
    }

    /// Discard what is not committed and wait for running merges.
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
        writer.wait_merging_threads()?;
        Ok(rolled_back?)
    }
}

impl Drop for WordsWriter {
    fn drop(&mut self) {
        // The next writer finds out by itself; what matters here is that no thread of ours is left.
        let _ = self.finish();
    }
}

/// Open an index and see that it is one of ours.
pub(super) fn open_index(
    directory: impl Into<Box<dyn tantivy::Directory>>,
) -> Result<(Index, Fields), WordsError> {
    let mut index = Index::open(directory).map_err(WordsError::on_open)?;
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
        .map_err(WordsError::on_open)
}
