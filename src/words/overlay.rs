//! How is what the disk index still lacks searched? An index in memory, of the same schema and tokenizer.

use tantivy::Searcher;
use tantivy::directory::RamDirectory;

use super::WordsError;
use super::schema::{Doc, Queued, builder, schema};
use super::write::open_reader;
use crate::model::Class;

/// Passages indexed in memory. Each stands in for the passage of its key and class on disk.
pub struct Overlay {
    /// `None` when there is no passage: tantivy has no empty segments.
    searcher: Option<Searcher>,
    passages: Vec<(u64, Class)>,
}

impl Overlay {
    /// Index `docs` in memory. This takes no lock and starts no thread.
    pub fn build(docs: impl IntoIterator<Item = Doc>) -> Result<Self, WordsError> {
        let fields = schema().1;
        let mut passages = Vec::new();
        let mut docs = docs.into_iter().peekable();
        if docs.peek().is_none() {
            return Ok(Self {
                searcher: None,
                passages,
            });
        }
        // The budget only sizes the first tables; nothing is flushed before the end.
        let mut writer =
            builder().single_segment_index_writer::<Queued>(RamDirectory::create(), 15_000_000)?;
        for doc in docs {
            passages.push((doc.key, doc.class));
            writer.add_document(Queued::new(doc, fields))?;
        }
        passages.sort_unstable();
        passages.dedup();
        let searcher = open_reader(&writer.finalize()?)?.searcher();
        Ok(Self {
            searcher: Some(searcher),
            passages,
        })
    }

    /// The keys and classes of its passages, ascending.
    pub fn passages(&self) -> &[(u64, Class)] {
        &self.passages
    }

    pub(super) fn searcher(&self) -> Option<&Searcher> {
        self.searcher.as_ref()
    }
}
