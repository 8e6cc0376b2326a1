//! How rare is a word, and how long is a passage, on disk and in the overlay together?

use std::cell::RefCell;
use std::collections::HashMap;

use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use super::Overlay;
use super::schema::schema;
use crate::model::Class;

/// Statistics of both sides together.
pub(super) struct CombinedStatistics<'a> {
    pub(super) disk: Option<&'a Searcher>,
    overlay: Option<&'a Overlay<'a>>,
    /// What was looked up in every segment already: each word of a query asks several times.
    known: RefCell<HashMap<Term, u64>>,
}

impl<'a> CombinedStatistics<'a> {
    pub fn new(disk: Option<&'a Searcher>, overlay: Option<&'a Overlay<'a>>) -> Self {
        Self {
            disk,
            overlay,
            known: RefCell::default(),
        }
    }

    fn doc_freq_of(&self, term: &Term) -> tantivy::Result<u64> {
        if let Some(known) = self.known.borrow().get(term) {
            return Ok(*known);
        }
        let disk = self.disk.map(|disk| disk.doc_freq(term));
        let in_overlay = self.overlay.map(|overlay| overlay.doc_freq(term));
        let sum = disk.transpose()?.unwrap_or(0) + in_overlay.unwrap_or(0);
        self.known.borrow_mut().insert(term.clone(), sum);
        Ok(sum)
    }
}

impl Bm25StatisticsProvider for CombinedStatistics<'_> {
    /// As many as there would be if every passage were of the field's class: divided by all
    /// passages that is the mean length of those of the class. How long they are on disk is known;
    /// in the overlay it is a guess.
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let fields = schema().1;
        let class = match field == fields.output {
            true => Class::Output,
            false => Class::Prose,
        };
        let of_class = Term::from_field_u64(fields.class, class as u64);
        let (mut tokens, mut passages) = match self.disk {
            Some(disk) => (disk.total_num_tokens(field)?, disk.doc_freq(&of_class)?),
            None => (0, 0),
        };
        if passages == 0
            && let Some(overlay) = self.overlay
        {
            (tokens, passages) = (overlay.total_num_tokens(field), overlay.doc_freq(&of_class));
        }
        let whole = u128::from(tokens) * u128::from(self.total_num_docs()?);
        let whole = whole.checked_div(u128::from(passages)).unwrap_or(0);
        Ok(u64::try_from(whole).unwrap_or(u64::MAX))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        let disk = self.disk.map(|disk| disk.total_num_docs());
        let in_overlay = self.overlay.map(Overlay::total_num_docs);
        Ok(disk.transpose()?.unwrap_or(0) + in_overlay.unwrap_or(0))
    }

    /// Passages that hold the word, of either class: a word is as rare in output as it is in prose.
    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let fields = schema().1;
        let value = term.value();
        let Some(text) = value.as_str() else {
            return self.doc_freq_of(term);
        };
        [Class::Prose, Class::Output]
            .into_iter()
            .map(|class| self.doc_freq_of(&Term::from_field_text(fields.text(class), text)))
            .sum()
    }
}
