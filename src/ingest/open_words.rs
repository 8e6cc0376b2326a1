//! Are the words on disk those of this catalogue, and up to which batch?

use std::path::Path;
use std::sync::Arc;

use super::words::WordsStage;
use crate::catalogue::{self, Catalogue};
use crate::causes::with_causes;
use crate::source::identity::{Identity, now_ns};
use crate::words::{SCHEMA_REVISION, Words, WordsError, condemned};

/// The commit payload: the epoch of the catalogue, the last batch, and the revision of the schema.
pub(super) fn payload(epoch: &str, batch: i64) -> String {
    format!("{epoch}:{batch}:{SCHEMA_REVISION}")
}

/// Why words are not those of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordsMismatch {
    /// They are of a batch that the catalogue has not stamped: it is older than they are, or was
    /// put back.
    Newer,
    /// Anything else, for people.
    Other(&'static str),
}

impl std::fmt::Display for WordsMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Newer => "they are of a batch the catalogue never stamped",
            Self::Other(why) => why,
        })
    }
}

/// Up to which batch the words are done, if they belong to this catalogue.
fn done_batch(payload: Option<&str>, epoch: &str, last_batch: i64) -> Result<i64, WordsMismatch> {
    let Some(payload) = payload else {
        return Err(WordsMismatch::Other("they were never committed"));
    };
    let mut parts = payload.split(':');
    let (of, batch, revision) = (parts.next(), parts.next(), parts.next());
    if of != Some(epoch) {
        return Err(WordsMismatch::Other("they belong to another catalogue"));
    }
    if revision != Some(SCHEMA_REVISION.to_string().as_str()) {
        return Err(WordsMismatch::Other("they were built by other rules"));
    }
    match batch.and_then(|b| b.parse().ok()) {
        Some(batch) if batch <= last_batch => Ok(batch),
        Some(_) => Err(WordsMismatch::Newer),
        None => Err(WordsMismatch::Other("their batch number cannot be read")),
    }
}

/// Whether the words were committed for another catalogue, or by other rules. Told without opening
/// them.
pub fn are_refused(catalogue: &Catalogue, directory: &Path) -> Result<bool, catalogue::Error> {
    #[derive(serde::Deserialize)]
    struct Commit {
        payload: Option<String>,
    }
    let commit = std::fs::read(directory.join("meta.json")).ok();
    let commit = commit.and_then(|json| serde_json::from_slice::<Commit>(&json).ok());
    // Damage is found when the words are opened; what was never committed is still in the outbox.
    let Some(payload) = commit.and_then(|commit| commit.payload) else {
        return Ok(false);
    };
    let (epoch, last_batch) = catalogue.epoch()?;
    Ok(done_batch(Some(&payload), &epoch, last_batch).is_err())
}

/// Up to which batch these words are done, or why they are not this catalogue's.
pub fn done_in(
    words: &Words,
    catalogue: &Catalogue,
) -> Result<Result<i64, WordsMismatch>, WordsStage> {
    let (epoch, last_batch) = catalogue.epoch()?;
    Ok(match done_batch(words.payload(), &epoch, last_batch) {
        Ok(done) if catalogue.has_settled_after(done)? => {
            Err(WordsMismatch::Other("they are older than the catalogue"))
        }
        done => done,
    })
}

/// The words as a reader finds them.
#[derive(Default)]
pub struct WordsState {
    /// `None` when there are none to trust.
    pub words: Option<Arc<Words>>,
    /// Up to which batch they are done.
    pub done: i64,
    /// Why those that are there cannot be read.
    pub damage: Option<String>,
}

/// Whether the words are of the state that a catalogue is read in.
pub enum Agreement {
    /// They are, or there are none to trust.
    Agree(WordsState),
    /// The words have newer commits by now.
    Newer,
    /// They are another catalogue's, older, or made by other rules.
    Other,
}

/// Words that were opened before: to open them again takes as long as a search.
#[derive(Default)]
pub struct WordsCache(Option<(Identity, Arc<Words>)>);

impl WordsCache {
    /// Open the words for reading. Words that are open already are used again if they were neither
    /// committed nor condemned since.
    pub fn open(
        &mut self,
        catalogue: &Catalogue,
        directory: &Path,
    ) -> Result<Agreement, WordsStage> {
        let stamp = stamp(directory);
        let known = self.0.take().filter(|(known, _)| {
            stamp.as_ref().is_ok_and(|stamp| stamp == known) && condemned(directory).is_none()
        });
        if let Some((stamp, words)) = known {
            self.0 = Some((stamp, Arc::clone(&words)));
            return of_catalogue(words, catalogue);
        }
        let found = open_words(catalogue, directory)?;
        if let (
            Agreement::Agree(WordsState {
                words: Some(words), ..
            }),
            Ok(stamp),
        ) = (&found, stamp)
            && !stamp.is_racy(now_ns())
        {
            self.0 = Some((stamp, Arc::clone(words)));
        }
        Ok(found)
    }
}

/// Identity of the last commit. Taken before opening, so that after a concurrent commit the words
/// are opened once too often, never too rarely.
fn stamp(directory: &Path) -> std::io::Result<Identity> {
    let commit = std::fs::metadata(directory.join("meta.json"))?;
    Ok(Identity::of(&commit))
}

/// Open the words for reading.
fn open_words(catalogue: &Catalogue, directory: &Path) -> Result<Agreement, WordsStage> {
    let none = match Words::open(directory) {
        Ok(words) => return of_catalogue(Arc::new(words), catalogue),
        Err(error @ (WordsError::Unreadable(_) | WordsError::Condemned(_))) => WordsState {
            damage: Some(with_causes(&error)),
            ..WordsState::default()
        },
        // To open them tantivy makes a lock file: without room for it all text is read instead.
        Err(error) if error.asks_for_rebuild() || error.is_full() => WordsState::default(),
        Err(error) => return Err(error.into()),
    };
    Ok(Agreement::Agree(none))
}

fn of_catalogue(words: Arc<Words>, catalogue: &Catalogue) -> Result<Agreement, WordsStage> {
    Ok(match done_in(&words, catalogue)? {
        Ok(done) => Agreement::Agree(WordsState {
            words: Some(words),
            done,
            damage: None,
        }),
        Err(WordsMismatch::Newer) => Agreement::Newer,
        Err(WordsMismatch::Other(_)) => Agreement::Other,
    })
}
