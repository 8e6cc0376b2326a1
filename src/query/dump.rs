//! What do the words hold, by file and byte instead of by key? For tests that compare two indexes.

use std::path::PathBuf;

use super::Snapshot;
use crate::error::Error;
use crate::model::Class;

impl Snapshot<'_> {
    /// Every term of every passage on disk with file, byte and class of its entry, sorted. Passages
    /// whose entry is gone have an empty path and their key.
    #[doc(hidden)]
    pub fn dump_words(&self) -> Result<Vec<(PathBuf, u64, Class, String)>, Error> {
        let (catalogue, found) = (self.catalogue, self.words()?);
        let Some(words) = &found.words else {
            return Ok(Vec::new());
        };
        let mut places = std::collections::HashMap::new();
        let mut terms = Vec::new();
        for (key, class, term) in words.terms()? {
            let place = match places.get(&key) {
                Some(place) => place,
                None => {
                    let mut place = (PathBuf::new(), key);
                    if let Some(entry) = catalogue.entry(key as i64)?
                        && let Some((path, _)) = catalogue.source_place(entry.source)?
                    {
                        place = (path.to_path_buf(), entry.start);
                    }
                    places.entry(key).or_insert(place)
                }
            };
            terms.push((place.0.clone(), place.1, class, term));
        }
        terms.sort();
        Ok(terms)
    }
}
