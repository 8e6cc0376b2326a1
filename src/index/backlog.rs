//! How large is the backlog after an answer, and is it work for a moment or for a sync?

use super::{Error, Index};
use crate::ingest;
use crate::model::UnindexedText;
use crate::words::{condemned, exist};

/// So much is indexed in some 200 ms, on two slow cores.
const MOMENT: u64 = 4 << 20;

/// The backlog of the words, by how much work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BacklogSize {
    /// Nothing, or too little to open a writer for.
    Little,
    /// No more than [`Index::index_backlog`] does in a moment.
    Moment,
    /// So many bytes of entries: work for many calls of [`Index::index_backlog`], or for
    /// [`Indexer::sync`](super::Indexer::sync), best in a process of its own.
    Sync(u64),
}

impl BacklogSize {
    /// The size of a backlog of so many bytes. `is_rebuilt`: the words are missing or damaged, so
    /// all text is in it.
    fn of(bytes: u64, is_rebuilt: bool) -> Self {
        match bytes {
            MOMENT.. => Self::Sync(bytes),
            _ if is_rebuilt || bytes > UnindexedText::LITTLE => Self::Moment,
            _ => Self::Little,
        }
    }
}

impl Index {
    /// How much text the words lack. They lack all of it if they were removed or found damaged, or
    /// if they belong to another catalogue or were built by other rules.
    ///
    /// # Errors
    /// When the catalogue or the words cannot be read.
    pub fn backlog_size(&self) -> Result<BacklogSize, Error> {
        // What is in memory has no words, and those in the index directory are not its own.
        if self.stores.catalogue.file().is_none() {
            return Ok(BacklogSize::Little);
        }
        let (catalogue, words) = (&self.stores.catalogue, self.stores.config.words_dir());
        let is_rebuilt = !exist(&words)
            || condemned(&words).is_some()
            || ingest::are_refused(catalogue, &words)?;
        let bytes = match is_rebuilt {
            true => catalogue.source_bytes()?,
            false => catalogue.backlog_bytes()?,
        };
        Ok(BacklogSize::of(bytes, is_rebuilt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITTLE: u64 = UnindexedText::LITTLE;

    #[test]
    fn a_writer_is_opened_only_where_it_pays() {
        for (bytes, is_rebuilt, expected) in [
            (0, false, BacklogSize::Little),
            (LITTLE, false, BacklogSize::Little),
            (LITTLE + 1, false, BacklogSize::Moment),
            (0, true, BacklogSize::Moment),
            (MOMENT - 1, true, BacklogSize::Moment),
            (MOMENT, true, BacklogSize::Sync(MOMENT)),
            (MOMENT, false, BacklogSize::Sync(MOMENT)),
        ] {
            assert_eq!(
                BacklogSize::of(bytes, is_rebuilt),
                expected,
                "{bytes} {is_rebuilt}"
            );
        }
    }
}
