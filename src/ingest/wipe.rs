//! How is what was removed wiped from the disk, from both stores?

use std::path::Path;

use super::found::{done_in, payload};
use super::words::WordsStage;
use crate::catalogue::Catalogue;
use crate::words::{self, Words, WordsError, WordsLock, WordsWriter};

/// Memory for a writer that adds nothing.
const LITTLE: usize = 15_000_000;

/// Wipe what the catalogue has removed. `false`: a reader holds on to it, and it is to be done again.
pub fn wipe(catalogue: &Catalogue, words: &Path) -> Result<bool, WordsStage> {
    wipe_words(catalogue, words)?;
    Ok(catalogue.wipe()?)
}

/// Segments with removed passages are written anew without them. Words that cannot be trusted, or not be written anew, go
/// as a whole: the words stage makes them again.
fn wipe_words(catalogue: &Catalogue, directory: &Path) -> Result<(), WordsStage> {
    match rewrite(catalogue, directory) {
        Err(WordsStage::Words(error)) if error.is_failure() => {
            if directory.exists() {
                WordsLock::take(directory, words::PATIENCE)?.remove_words()?;
            }
            Ok(())
        }
        done => done,
    }
}

fn rewrite(catalogue: &Catalogue, directory: &Path) -> Result<(), WordsStage> {
    let words = Words::open(directory)?;
    let done = done_in(&words, catalogue)?;
    let done = done.map_err(|mismatch| WordsError::Foreign(mismatch.to_string()))?;
    let (epoch, _) = catalogue.epoch()?;
    // Files stay as long as they are open.
    drop(words);
    catalogue.settle_batches(done)?;
    let dead = catalogue.dead(done)?;
    let lock = WordsLock::take(directory, words::PATIENCE)?;
    let mut writer = WordsWriter::open(lock, LITTLE, 1)?;
    let (mut batch, mut wiped) = (done, Ok(()));
    if !dead.is_empty() {
        batch = catalogue.stamp(&[], &dead)?;
        let ranges = dead.iter().map(|d| (d.first as u64, d.last as u64));
        wiped = writer.delete(ranges, &payload(&epoch, batch));
    }
    wiped = wiped.and_then(|()| writer.wipe());
    let closed = writer.close();
    wiped?;
    closed?;
    Ok(catalogue.settle_batches(batch)?)
}
