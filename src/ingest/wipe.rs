//! How is what was removed wiped from the disk, from both stores?

use std::path::Path;

use super::words::{WordsStage, done_batch, payload};
use crate::catalogue::Catalogue;
use crate::words::{Words, WordsError, WordsWriter};

/// Memory for a writer that adds nothing.
const LITTLE: usize = 15_000_000;

/// Wipe what the catalogue has removed. `false`: a reader holds on to it, and it is to be done again.
pub fn wipe(catalogue: &Catalogue, words: &Path) -> Result<bool, WordsStage> {
    wipe_words(catalogue, words)?;
    Ok(catalogue.wipe()?)
}

/// Segments with removed passages are written anew without them. Words that cannot be trusted go as a whole: they
/// would be made anew in any case.
fn wipe_words(catalogue: &Catalogue, directory: &Path) -> Result<(), WordsStage> {
    let (epoch, last_batch) = catalogue.epoch()?;
    let state = match Words::open(directory) {
        Ok(words) => done_batch(words.payload(), &epoch, last_batch).ok(),
        Err(WordsError::Missing(_)) => return Ok(()),
        Err(error) if error.asks_for_rebuild() => None,
        Err(error) => return Err(error.into()),
    };
    let Some(done) = state else {
        return Ok(std::fs::remove_dir_all(directory).map_err(WordsError::from)?);
    };
    catalogue.settle_batches(done)?;
    let dead = catalogue.dead(done)?;
    let batch = catalogue.stamp(&[], &dead)?;
    let mut writer = WordsWriter::open(directory, LITTLE, 1)?;
    let ranges = dead.iter().map(|d| (d.first as u64, d.last as u64));
    let wiped = writer
        .delete(ranges, &payload(&epoch, batch))
        .and_then(|()| writer.wipe());
    // Merges must end before the lock is given up; see DESIGN.
    let closed = writer.close();
    wiped?;
    closed?;
    Ok(catalogue.settle_batches(batch)?)
}
