//! How is a session kept that is rows of a database? Behind what is kept of it goes what changed in
//! it: rows that are new or other ones, each once. So every version of every row stays, and one
//! message costs its own bytes, though the session's own row, which comes first, changes with it.

use std::io;

use crate::archive::{self, Archive, ArchivedFile, PackedBytes, Packer, Place};
use crate::databases::next_rows;

/// What is to be kept of a session whose rows are `all`, behind what is kept of it.
///
/// # Errors
/// When what is kept cannot be read.
pub fn changed_rows(
    archive: &Archive,
    place: &Place,
    all: &PackedBytes,
    now_ms: i64,
) -> Result<Option<PackedBytes>, archive::Error> {
    let Some(newest) = archive.generations(place)?.pop() else {
        return Ok(None);
    };
    let end_ns = all.end_ns.unwrap_or(newest.mtime_ns);
    let behind = || -> io::Result<PackedBytes> {
        let kept = ArchivedFile::of(archive, newest);
        let more = next_rows(kept, &all.bytes()?, now_ms)?;
        let mut packer = Packer::at(newest.length)?;
        packer.push(&more)?;
        packer.finish(end_ns)
    };
    behind().map(Some).map_err(|error| archive::Error::Io {
        path: place.path().unwrap_or_else(|| place.root.clone()),
        error,
    })
}
