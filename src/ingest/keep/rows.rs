//! How is a session kept that is rows of a database? Behind what is kept of it goes what changed in
//! it: rows that are new or other ones, each once. So every version of every row stays, and one
//! message costs its own bytes, though the session's own row, which comes first, changes with it.

use std::io::{self, ErrorKind};

use crate::archive::{self, Archive, ArchivedFile, PackedBytes, Packer, SourcePath};
use crate::databases::next_rows;

/// What is to be kept of a session whose rows are `all`, behind what is kept of it. `None`: nothing
/// is, or it is damaged, so all of them are.
///
/// # Errors
/// When there is no telling the rows from what this archive writes between them.
pub fn changed_rows(
    archive: &Archive,
    place: &SourcePath,
    all: &PackedBytes,
    now_ms: i64,
) -> Result<Option<PackedBytes>, archive::Error> {
    let newest = archive.generations(place)?.pop();
    let Some(newest) = newest.filter(|newest| newest.length > 0) else {
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
    match behind() {
        Ok(more) => Ok(Some(more)),
        Err(source) if source.kind() == ErrorKind::Unsupported => Err(archive::Error::Io {
            path: place.path().unwrap_or_else(|| place.root.clone()),
            source,
        }),
        Err(_) => Ok(None),
    }
}
