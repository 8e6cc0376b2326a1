//! What does a candidate say? It is read again from its file, and checked against the query.

use super::Search;
use super::compiled::CompiledSearch;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::model::Class;
use crate::query::show::Reader;
use crate::words::{self, SearchSource, WordsError};

/// What came of reading a candidate.
pub(super) enum CandidateCheck {
    /// It says what is asked for.
    Match(Passage),
    /// The index could not tell, and the text does not match.
    Other,
    /// Its line has changed since it was catalogued, or cannot be read. What it says now is found
    /// by the next check of the files.
    Stale,
}

/// A passage as its file has it.
pub(super) struct Passage {
    /// The bytes of the line.
    pub record: Vec<u8>,
    pub pieces: Vec<String>,
}

impl Search<'_> {
    /// The entry of a candidate.
    ///
    /// # Errors
    /// [`Error::Store`] when there is none: the catalogue's snapshot holds every entry that the
    /// words may tell of.
    pub(super) fn entry(&self, hit: &words::Hit) -> Result<Option<StoredEntry>, Error> {
        match self.catalogue.entry(hit.key as i64)? {
            None if self.words().is_some() => Err(damage("an entry that does not exist")),
            entry => Ok(entry),
        }
    }

    /// Read a candidate, and check whether it matches what `sides` ask for.
    ///
    /// # Errors
    /// [`Error::Store`] when the index was certain, and its line, which is as it was, says
    /// something else.
    pub(super) fn read(
        &self,
        asked: &CompiledSearch<'_>,
        sides: &[SearchSource<'_>],
        reader: &mut Reader<'_>,
        hit: &words::Hit,
        entry: &StoredEntry,
    ) -> Result<CandidateCheck, Error> {
        self.check_wanted()?;
        let Some(record) = reader.bytes(entry)? else {
            return Ok(CandidateCheck::Stale);
        };
        // Prompts are not among the words, so what the words hold does not matter for them.
        let has_prompts = entry.flags & flag::PROMPT != 0 && self.query.asks_for_prompts();
        let is_output = hit.class == Class::Output && !has_prompts && reader.is_json(entry);
        if hit.needs_check && is_output && !asked.may_print(&record) {
            return Ok(CandidateCheck::Other);
        }
        let Some(text) = reader.passages_of(entry, &record) else {
            return Ok(CandidateCheck::Stale);
        };
        let mut pieces = Vec::new();
        if has_prompts {
            pieces = reader.prompts(entry)?;
        }
        let of_class = text.into_iter().filter(|(class, _)| *class == hit.class);
        pieces.extend(of_class.flat_map(|(_, pieces)| pieces));
        let holds_prompt = has_prompts || entry.role.as_deref() == Some("system");
        if holds_prompt && !hit.needs_check
            || asked.confirms(self, sides, hit, entry, has_prompts, &pieces)?
        {
            return Ok(CandidateCheck::Match(Passage { record, pieces }));
        }
        match hit.needs_check || self.words().is_none() {
            true => Ok(CandidateCheck::Other),
            false => Err(damage("an entry that does not contain what was asked for")),
        }
    }
}

fn damage(what: &str) -> Error {
    WordsError::Unreadable(format!("they name {what}")).into()
}
