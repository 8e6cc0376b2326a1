//! How far has a sync come, or a search that reads all text through?

/// How far a sync has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum Event {
    /// Another process writes the index, and this one waits for it. Sent repeatedly.
    Waiting,
    /// So many files must be looked into.
    Discovered { files: u64, bytes: u64 },
    /// So many of them are in the catalogue.
    Catalogued { files: u64, bytes: u64 },
    /// What was catalogued so far is committed: others can read it.
    Readable,
    /// So many bytes of `of` are in the words.
    Indexed { bytes: u64, of: u64 },
    /// So many of them were compared with what is stored of them.
    Compared { files: u64, bytes: u64 },
    /// So many bytes of `of` were read through for a search.
    Scanned { bytes: u64, of: u64 },
    /// The end.
    Done,
}
