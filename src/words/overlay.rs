//! How is what the disk index still lacks searched? An index in memory, of the same schema and tokenizer.

use tantivy::Searcher;
use tantivy::directory::RamDirectory;

use super::WordsError;
use super::schema::{Doc, Queued, builder, schema};
use super::write::open_reader;

/// Passages indexed in memory. They stand in for passages of the same key on disk.
pub struct Overlay {
    /// `None` when there is no passage: tantivy has no empty segments.
    searcher: Option<Searcher>,
    keys: Vec<u64>,
}

impl Overlay {
    /// Index `docs` in memory. This takes no lock and starts no thread.
    pub fn build(docs: impl IntoIterator<Item = Doc>) -> Result<Self, WordsError> {
        let fields = schema().1;
        let mut keys = Vec::new();
        let mut docs = docs.into_iter().peekable();
        if docs.peek().is_none() {
            return Ok(Self {
                searcher: None,
                keys,
            });
        }
        // The budget only sizes the first tables; nothing is flushed before the end.
        let mut writer =
            builder().single_segment_index_writer::<Queued>(RamDirectory::create(), 15_000_000)?;
        for doc in docs {
            keys.push(doc.key);
            writer.add_document(Queued::new(doc, fields, None))?;
        }
        keys.sort_unstable();
        keys.dedup();
        let searcher = open_reader(&writer.finalize()?)?.searcher();
        Ok(Self {
            searcher: Some(searcher),
            keys,
        })
    }

    /// The keys of its passages, ascending.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    pub(super) fn searcher(&self) -> Option<&Searcher> {
        self.searcher.as_ref()
    }
}
