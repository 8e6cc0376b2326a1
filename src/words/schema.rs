//! What one passage is to tantivy: the fields of its document.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{Index, IndexSettings};

use super::tokenizer::WordTokenizer;
use crate::model::Class;

/// Raised when the same passages lead to a different index (fields, tokenizer rules, options), or
/// when the meaning of the outbox changes. It is stored in the commit payload, so that an older
/// index is rebuilt.
pub const SCHEMA_REVISION: u32 = 8;

/// The time of a passage that has none.
pub(super) const NO_TIME: i64 = i64::MIN;

const TOKENIZER: &str = "words";
pub(super) const ERROR_MARK: &str = "error";
pub(super) const NAME_MARK: &str = "name";

/// A passage with the facts of its entry that searches filter by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doc {
    /// `session << 24 | arrival` of its entry.
    pub key: u64,
    /// Prose or output.
    pub class: Class,
    /// The entry's time in ms.
    pub time_ms: Option<i64>,
    /// The entry's raw kind.
    pub kind: String,
    /// The entry's raw role.
    pub role: Option<String>,
    /// Tools called by the entry or answering in it.
    pub tools: Vec<String>,
    /// Whether the entry reports an error.
    pub is_error: bool,
    /// Whether the entry's prose is what the session is called, or a label.
    pub is_name: bool,
    /// The text, piece by piece. No phrase spans two pieces.
    pub pieces: Vec<String>,
}

/// The fields. All but the texts are raw: one term a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub key: Field,
    pub class: Field,
    pub kind: Field,
    pub role: Field,
    pub tool: Field,
    pub mark: Field,
    pub prose: Field,
    pub output: Field,
}

impl Fields {
    pub fn text(&self, class: Class) -> Field {
        match class {
            Class::Prose => self.prose,
            Class::Output => self.output,
        }
    }
}

/// The schema. Fields are numbered in the order of their making, so `Fields` fits any index whose
/// schema equals this one.
pub(super) fn schema() -> (Schema, Fields) {
    let raw = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic),
    );
    let text = |option| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER)
                .set_index_option(option),
        )
    };
    let mut builder = Schema::builder();
    let key = builder.add_u64_field("key", FAST);
    let class = builder.add_u64_field("class", FAST | INDEXED);
    // Asked for by its name alone.
    builder.add_i64_field("time", FAST);
    let fields = Fields {
        key,
        class,
        kind: builder.add_text_field("kind", raw.clone()),
        role: builder.add_text_field("role", raw.clone()),
        tool: builder.add_text_field("tool", raw.clone()),
        mark: builder.add_text_field("mark", raw),
        prose: builder.add_text_field("prose", text(IndexRecordOption::WithFreqsAndPositions)),
        // In a log it says little how often a word stands there, and to know it takes a byte a
        // word.
        output: builder.add_text_field("output", text(IndexRecordOption::Basic)),
    };
    (builder.build(), fields)
}

pub(super) fn tokenizers() -> TokenizerManager {
    // Its defaults hold "raw", and "default", which tantivy asks for even where nothing is cut.
    let manager = TokenizerManager::default();
    manager.register(TOKENIZER, TextAnalyzer::from(WordTokenizer::default()));
    manager
}

pub(super) fn builder() -> tantivy::IndexBuilder {
    Index::builder()
        .schema(schema().0)
        .settings(IndexSettings {
            // Nothing is stored: neither compression nor a thread for it is needed.
            docstore_compression: tantivy::store::Compressor::None,
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        })
        .tokenizers(tokenizers())
}
