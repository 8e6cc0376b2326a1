//! What does the index hold, term by term? For tests that compare two indexes.

use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED};

use super::collect::Columns;
use super::schema::schema;
use super::{Words, WordsError};
use crate::model::Class;

impl Words {
    /// Every passage with every term of every field and where it stands; the time is such a term
    /// too.
    pub fn terms(&self) -> Result<Vec<(u64, Class, String)>, WordsError> {
        let (_, fields) = schema();
        let mut found = Vec::new();
        let mut positions = Vec::new();
        for reader in self.searcher.segment_readers() {
            let columns = Columns::open(reader)?;
            for doc in reader.doc_ids_alive() {
                found.push((
                    columns.key(doc),
                    columns.class(doc),
                    format!("time:{}", columns.time.get_val(doc)),
                ));
            }
            for (name, field) in [
                ("kind", fields.kind),
                ("role", fields.role),
                ("tool", fields.tool),
                ("mark", fields.mark),
                ("prose", fields.prose),
                ("output", fields.output),
            ] {
                let inverted = reader.inverted_index(field)?;
                let mut terms = inverted.terms().stream()?;
                while let Some((term, info)) = terms.next() {
                    let term = String::from_utf8_lossy(term).into_owned();
                    let mut postings = inverted.read_postings_from_terminfo(
                        info,
                        IndexRecordOption::WithFreqsAndPositions,
                    )?;
                    let mut doc = postings.doc();
                    while doc != TERMINATED {
                        if reader
                            .alive_bitset()
                            .is_none_or(|alive| alive.is_alive(doc))
                        {
                            postings.positions(&mut positions);
                            let said =
                                format!("{name}:{term} {} {positions:?}", postings.term_freq());
                            found.push((columns.key(doc), columns.class(doc), said));
                        }
                        doc = postings.advance();
                    }
                }
            }
        }
        Ok(found)
    }
}
