//! How is what was removed wiped from the disk, from both stores?

use std::path::Path;
use std::time::Duration;

use super::open_words::{done_in, payload};
use super::words::WordsStage;
use crate::catalogue::Catalogue;
use crate::words::{Words, WordsError, WordsLock, WordsWriter};

/// Memory for a writer that adds nothing.
const LITTLE: usize = 15_000_000;

/// Delete from the words what was removed from the catalogue, so that no search finds it any more.
/// Its text stays in their files until the segments are rewritten, by
/// [`merge`](crate::words::merge) without the index's lock, or by [`wipe`].
///
/// # Errors
/// [`WordsError::Busy`] when somebody else writes the words.
pub fn delete_removed(catalogue: &Catalogue, words: &Path) -> Result<(), WordsStage> {
    with_writer(catalogue, words, |_| Ok(()))
}

/// Wipe what was removed from the catalogue. Little is left to do when the segments that held it
/// were rewritten before. `false`: a reader still uses it, so it has to be done again.
///
/// # Errors
/// [`WordsError::Busy`] when somebody else writes the words.
pub fn wipe(catalogue: &Catalogue, words: &Path) -> Result<bool, WordsStage> {
    wipe_words(catalogue, words)?;
    Ok(catalogue.wipe()?)
}

/// Rewrite segments without their removed passages. Words that cannot be trusted or cannot be
/// rewritten are removed as a whole, and the words stage builds them again.
fn wipe_words(catalogue: &Catalogue, directory: &Path) -> Result<(), WordsStage> {
    match with_writer(catalogue, directory, WordsWriter::wipe) {
        Err(WordsStage::Words(error)) if error.is_failure() => {
            if directory.exists() {
                WordsLock::take(directory, Duration::ZERO)?.remove_words()?;
            }
            Ok(())
        }
        done => done,
    }
}

/// Delete what was removed from the words, and then do this with them.
fn with_writer(
    catalogue: &Catalogue,
    directory: &Path,
    then: impl FnOnce(&mut WordsWriter) -> Result<(), WordsError>,
) -> Result<(), WordsStage> {
    let words = Words::open(directory)?;
    let done = done_in(&words, catalogue)?;
    let done = done.map_err(|mismatch| WordsError::Foreign(mismatch.to_string()))?;
    let (epoch, _) = catalogue.epoch()?;
    // Files stay as long as they are open.
    drop(words);
    catalogue.settle_batches(done)?;
    let dead = catalogue.dead(done)?;
    let lock = WordsLock::take(directory, Duration::ZERO)?;
    let mut writer = WordsWriter::open(lock, LITTLE, 1)?;
    let (mut batch, mut deleted) = (done, Ok(()));
    if !dead.is_empty() {
        batch = catalogue.stamp(&[], &dead)?;
        let ranges = dead.iter().map(|d| (d.first as u64, d.last as u64));
        deleted = writer.delete(ranges, &payload(&epoch, batch));
    }
    let done = deleted.and_then(|()| then(&mut writer));
    let closed = writer.close();
    done?;
    closed?;
    Ok(catalogue.settle_batches(batch)?)
}
