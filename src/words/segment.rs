//! How do passages become a segment of the index?
//!
//! Its files are written by tantivy's own serializers, and tantivy reads and merges them as its
//! own.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use tantivy::columnar::{ColumnType, ColumnarWriter};
use tantivy::directory::TerminatingWrite;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer, FieldNormsWriter};
use tantivy::index::{SegmentComponent, SegmentMeta};
use tantivy::postings::{FieldSerializer, InvertedIndexSerializer};
use tantivy::store::{Compressor, StoreWriter};
use tantivy::tokenizer::MAX_TOKEN_LEN;
use tantivy::{Index, TantivyDocument};

use super::postings::Postings;
use super::schema::{Doc, ERROR_MARK, Fields, NAME_MARK, NO_TIME};
use super::sorted_runs::{SortedRuns, Terms};
use super::tokenizer::Segmenter;
use crate::model::Class;

/// What a term of a field other than the texts takes besides its bytes, about.
const FACT: usize = 96;

/// A segment in the making.
pub(super) struct SegmentBuilder {
    fields: Fields,
    segmenter: Segmenter,
    /// Bytes of the terms of other fields.
    facts: usize,
    /// By class. The output comes after the prose: postings of one class have smaller distances so.
    sides: [ClassBuilder; 2],
}

/// The passages of one class.
struct ClassBuilder {
    class: Class,
    text: Postings,
    /// What was in `text` before.
    runs: Option<SortedRuns>,
    rows: Vec<Row>,
    /// The terms of the other fields, in the order of [`SegmentBuilder::write_facts`], and where
    /// they stand.
    facts: [BTreeMap<String, Vec<u32>>; 4],
}

struct Row {
    key: u64,
    time: i64,
    tokens: u32,
}

impl ClassBuilder {
    fn has_positions(&self) -> bool {
        self.class == Class::Prose
    }

    fn spill(&mut self, folder: &Path) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let runs = match &mut self.runs {
            Some(runs) => runs,
            None => self.runs.insert(SortedRuns::new(folder)?),
        };
        runs.add(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// Where there are runs, all goes there, and its memory is free.
    fn spill_the_rest(&mut self, folder: &Path) -> io::Result<()> {
        if self.runs.is_some() {
            self.spill(folder)?;
            self.text = Postings::new(self.has_positions());
        }
        Ok(())
    }

    /// Write all terms of the texts.
    fn write(&self, terms: &mut Terms<'_, '_>) -> io::Result<()> {
        match &self.runs {
            Some(runs) => runs.write(terms),
            None => self.text.each(|term, list| {
                terms.begin(term)?;
                terms.list(list);
                terms.end()
            }),
        }
    }
}

impl SegmentBuilder {
    pub fn new(fields: Fields) -> Self {
        Self {
            fields,
            segmenter: Segmenter::default(),
            facts: 0,
            sides: [Class::Prose, Class::Output].map(|class| ClassBuilder {
                class,
                text: Postings::new(class == Class::Prose),
                runs: None,
                rows: Vec::new(),
                facts: Default::default(),
            }),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.sides.iter().all(|side| side.rows.is_empty())
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        let texts = self.sides.iter().map(|side| side.text.bytes());
        texts.sum::<usize>() + self.bytes_that_stay()
    }

    /// Bytes of memory that stay in use until the segment is written.
    pub fn bytes_that_stay(&self) -> usize {
        let rows = self.sides.iter().map(|side| side.rows.len());
        rows.sum::<usize>() * (size_of::<Row>() + 16) + self.facts
    }

    #[cfg(test)]
    pub fn runs(&self) -> usize {
        let runs = self.sides.iter().filter_map(|side| side.runs.as_ref());
        runs.map(SortedRuns::count).max().unwrap_or(0)
    }

    /// Make room in memory: what texts hold goes to a file in `folder`.
    pub fn spill(&mut self, folder: &Path) -> io::Result<()> {
        self.sides
            .iter_mut()
            .try_for_each(|side| side.spill(folder))
    }

    pub fn add(&mut self, doc: &Doc) {
        let side = &mut self.sides[doc.class as usize];
        let number = side.rows.len() as u32;
        let mut note = |at: usize, value: &str| {
            // tantivy takes no longer term.
            if value.len() > MAX_TOKEN_LEN {
                return;
            }
            match side.facts[at].get_mut(value) {
                Some(documents) if documents.last() == Some(&number) => {}
                Some(documents) => documents.push(number),
                None => {
                    self.facts += value.len() + FACT;
                    side.facts[at].insert(value.to_owned(), vec![number]);
                }
            }
        };
        note(0, &doc.kind);
        doc.role.iter().for_each(|role| note(1, role));
        doc.tools.iter().for_each(|tool| note(2, tool));
        if doc.is_error {
            note(3, ERROR_MARK);
        }
        if doc.is_name {
            note(3, NAME_MARK);
        }
        side.rows.push(Row {
            key: doc.key,
            time: doc.time_ms.unwrap_or(NO_TIME),
            tokens: side.text.add(&mut self.segmenter, number, &doc.pieces),
        });
    }

    /// Write the segment. It belongs to the index once it is added to it. Files of no use
    /// afterwards lie in `folder`.
    pub fn write(mut self, index: &Index, folder: &Path) -> tantivy::Result<SegmentMeta> {
        for side in &mut self.sides {
            side.spill_the_rest(folder)?;
        }
        let segment = index.new_segment();
        let schema = index.schema();
        let bases = [0, self.sides[0].rows.len() as u32];
        let count = bases[1] + self.sides[1].rows.len() as u32;

        let mut norms = FieldNormsWriter::for_schema(&schema);
        let mut columns = ColumnarWriter::default();
        columns.record_column_type("key", ColumnType::U64, false);
        columns.record_column_type("class", ColumnType::U64, false);
        columns.record_column_type("time", ColumnType::I64, false);
        let mut store = StoreWriter::new(
            segment.open_write(SegmentComponent::Store)?,
            Compressor::None,
            index.settings().docstore_blocksize,
            false,
        )?;
        let nothing = TantivyDocument::default();
        for (side, base) in self.sides.iter().zip(bases) {
            let text = self.fields.text(side.class);
            for (document, row) in (base..).zip(&side.rows) {
                norms.record(document, text, row.tokens);
                norms.record(document, self.fields.class, 1);
                columns.record_numerical(document, "key", row.key);
                columns.record_numerical(document, "class", side.class as u64);
                columns.record_numerical(document, "time", row.time);
                store.store(&nothing, &schema)?;
            }
        }
        store.close()?;
        let mut file = segment.open_write(SegmentComponent::FastFields)?;
        columns.serialize(count, None, &mut file)?;
        file.terminate()?;
        norms.fill_up_to_max_doc(count);
        let file = segment.open_write(SegmentComponent::FieldNorms)?;
        norms.serialize(FieldNormsSerializer::from_write(file)?, None)?;

        let norms = FieldNormReaders::open(segment.open_read(SegmentComponent::FieldNorms)?)?;
        let mut postings = InvertedIndexSerializer::open(&segment)?;
        self.write_facts(bases, &mut postings)?;
        for (side, base) in self.sides.iter().zip(bases) {
            // Also when there are none: for a field that is missing tantivy makes a dictionary in
            // every process that asks, and that takes longer than a search.
            let field = self.fields.text(side.class);
            let norms = norms.get_field(field)?;
            let tokens = side.rows.iter().map(|row| u64::from(row.tokens)).sum();
            let mut field = postings.new_field(field, tokens, norms)?;
            side.write(&mut Terms::new(&mut field, base, side.has_positions()))?;
            field.close()?;
        }
        postings.close()?;
        let segment = segment.with_max_doc(count);
        segment.meta().untrack_temp_docstore();
        Ok(segment.meta().clone())
    }

    /// The postings of all fields but the texts.
    fn write_facts(
        &self,
        bases: [u32; 2],
        postings: &mut InvertedIndexSerializer,
    ) -> tantivy::Result<()> {
        let count = self.sides.iter().map(|side| side.rows.len() as u64).sum();
        let mut field = postings.new_field(self.fields.class, count, None)?;
        for (side, base) in self.sides.iter().zip(bases) {
            if !side.rows.is_empty() {
                let documents = base..base + side.rows.len() as u32;
                write_term(&mut field, &(side.class as u64).to_be_bytes(), documents)?;
            }
        }
        field.close()?;
        let f = self.fields;
        for (at, field) in [f.kind, f.role, f.tool, f.mark].into_iter().enumerate() {
            let mut terms: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
            let mut count = 0;
            for (side, base) in self.sides.iter().zip(bases) {
                for (term, documents) in &side.facts[at] {
                    count += documents.len() as u64;
                    let all = terms.entry(term).or_default();
                    all.extend(documents.iter().map(|document| base + document));
                }
            }
            let mut field = postings.new_field(field, count, None)?;
            for (term, documents) in terms {
                write_term(&mut field, term.as_bytes(), documents.into_iter())?;
            }
            field.close()?;
        }
        Ok(())
    }
}

fn write_term(
    field: &mut FieldSerializer<'_>,
    term: &[u8],
    documents: impl Iterator<Item = u32>,
) -> std::io::Result<()> {
    field.new_term_without_freq(term)?;
    for document in documents {
        field.write_doc(document, 0, &[]);
    }
    field.close_term()
}
