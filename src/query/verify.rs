//! Do the stores equal the files? Every file is read again and compared with both stores.

use std::collections::{BTreeSet, HashMap};

use crate::catalogue::write::{ARRIVAL_BITS, flag};
use crate::index::{Error, Event, Index};
use crate::ingest::{compare_source, open_words};
use crate::model::{Class, Difference, SCHEMA_VERSION, Verification};
use crate::words::Words;

impl Index {
    /// Read every file again and compare: bytes tiled by entries and problems, rows, session values, passages.
    pub fn verify(&self, progress: &mut dyn FnMut(Event)) -> Result<Verification, Error> {
        let mut found = Verification { schema_version: SCHEMA_VERSION, ..Verification::default() };
        let Some(catalogue) = &self.catalogue else {
            found.differences.push(difference("catalogue", None, "there is no catalogue".into()));
            return Ok(found);
        };
        if let Some(said) = catalogue.integrity()? {
            found.differences.push(difference("catalogue", None, said));
        }
        let _ = progress;
        let (words, done) = open_words(catalogue, &self.config.words_dir())?;
        let mut expected: BTreeSet<(u64, Class)> = BTreeSet::new();
        for spec in &self.config.roots {
            let Some(root) = catalogue.root_of(&spec.agent, &spec.path)? else { continue };
            let Some(format) = self.config.format(&spec.format) else { continue };
            for known in catalogue.known_sources(root)? {
                let path = spec.path.join(&known.relative);
                found.sources += 1;
                let outcome = compare_source(catalogue, root, &path, &known, format)?;
                found.bytes_read += outcome.bytes_read;
                found.entries += outcome.entries;
                expected.extend(outcome.passages);
                found
                    .differences
                    .extend(outcome.differences.into_iter().map(|what| difference("catalogue", Some(path.clone()), what)));
            }
        }
        found.passages = expected.len() as u64;
        for what in catalogue.orphans()? {
            found.differences.push(difference("catalogue", None, what));
        }
        self.verify_words(words.as_ref(), done, expected, &mut found)?;
        Ok(found)
    }

    fn verify_words(
        &self,
        words: Option<&Words>,
        done: i64,
        expected: BTreeSet<(u64, Class)>,
        found: &mut Verification,
    ) -> Result<(), Error> {
        let Some(catalogue) = &self.catalogue else { return Ok(()) };
        let mut owed: HashMap<Class, Vec<(u64, u64)>> = HashMap::new();
        for item in catalogue.owed(done)? {
            owed.entry(item.class).or_default().push((item.first as u64, item.last as u64));
        }
        let dead = catalogue.dead(done)?;
        let is_owed = |key: u64, class: Class| {
            owed.get(&class).is_some_and(|ranges| ranges.iter().any(|(first, last)| (*first..=*last).contains(&key)))
        };
        let mut have = BTreeSet::new();
        if let Some(words) = words {
            let damaged = words.damaged_files()?;
            for name in &damaged {
                found.differences.push(difference("words", None, format!("{name} is damaged")));
            }
            // Reading on in files that lie about their own shape makes tantivy panic.
            if !damaged.is_empty() {
                return Ok(());
            }
            for (key, class) in words.keys()? {
                if dead.iter().any(|d| (d.first as u64..=d.last as u64).contains(&key)) {
                    continue;
                }
                if !have.insert((key, class)) {
                    found.differences.push(difference("words", None, format!("entry {key} is there twice")));
                }
            }
        }
        for (key, class) in &expected {
            let provisional = catalogue.entry(*key as i64)?.is_some_and(|e| e.flags & flag::PROVISIONAL != 0);
            if !have.contains(&(*key, *class)) && !provisional && !is_owed(*key, *class) {
                found.differences.push(difference("words", None, format!("entry {key} ({class:?}) is missing")));
            }
        }
        for (key, class) in &have {
            if !expected.contains(&(*key, *class)) {
                let session = key >> ARRIVAL_BITS;
                found.differences.push(difference(
                    "words",
                    None,
                    format!("entry {key} ({class:?}, session {session}) is in no file"),
                ));
            }
        }
        Ok(())
    }
}

fn difference(store: &str, source: Option<std::path::PathBuf>, what: String) -> Difference {
    Difference { store: store.to_string(), source, what }
}
