//! What was read for the catalogue alone is read for the archive as well: sessions that are kept
//! only since then, or could not be kept when they were read.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::{Keeper, SyncedRoot, place_of};
use crate::archive::{PackedBytes, Packer, SourcePath};
use crate::catalogue::{Catalogue, Error};
use crate::format::Format;
use crate::ingest::reading::{CHUNK_BYTES, PACKED_AT_ONCE};
use crate::source::content::Content;

impl Keeper {
    /// Read the sources for the archive that were only read for the catalogue: before they were to
    /// be kept, or when the archive could not be written. `commit` is called after so many bytes.
    pub fn catch_up(
        &self,
        catalogue: &Catalogue,
        roots: &[SyncedRoot<'_>],
        most: u64,
        mut commit: impl FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        if self.archive.is_none() || self.has_failed() {
            return Ok(());
        }
        let mut open = 0;
        for unkept in catalogue.unkept()? {
            let Some(root) = roots.iter().find(|root| root.number == unkept.root) else {
                continue;
            };
            let place = place_of(root.spec, &unkept.relative);
            let is_kept = self.may_be_kept(catalogue, unkept.root, &place)? == Some(false)
                || self.keep_source(root.format, &place, &mut open);
            // One that cannot be read now is tried again.
            if is_kept {
                self.note(catalogue, unkept.root, &unkept.relative, true)?;
            }
            if self.has_failed() {
                break;
            }
            if open >= most {
                open = 0;
                if !commit()? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Keep all of a source, and add to `bytes` what that took. Whether all of it is kept.
    fn keep_source(&self, format: &dyn Format, place: &SourcePath, bytes: &mut u64) -> bool {
        let mut keep = || {
            let path = place.path().ok_or(ErrorKind::InvalidInput)?;
            pack_source(format, &path, |packed| {
                *bytes += packed.memory();
                self.keep_at(place, format, &packed)
            })
        };
        match keep() {
            // What is kept of it is damaged: it is kept anew now.
            Ok(false) if !self.has_failed() => keep().unwrap_or(false),
            kept => kept.unwrap_or(false),
        }
    }
}

/// Hand all of a source that is kept to `keep`, piece by piece; rows all at once, as they are
/// compared with one another. Whether all of it was kept.
fn pack_source(
    format: &dyn Format,
    path: &Path,
    mut keep: impl FnMut(PackedBytes) -> bool,
) -> io::Result<bool> {
    let mut content = Content::open(format, path)?;
    let identity = content.identity()?;
    let is_rows = content.rows().is_some();
    let file = content.kept()?;
    let mut packer = Packer::at(0)?;
    let mut buffer = vec![0; PACKED_AT_ONCE];
    let mut pushed = 0;
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        packer.push(&buffer[..length])?;
        pushed += length as u64;
        if pushed >= CHUNK_BYTES && !is_rows {
            pushed = 0;
            if !keep(packer.packed()) {
                return Ok(false);
            }
        }
    }
    let is_kept = keep(packer.finish(identity.mtime_ns)?);
    match content.identity()? == identity {
        true => Ok(is_kept),
        // What was read may be of two states of it.
        false => Err(ErrorKind::ResourceBusy.into()),
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngCore, SeedableRng};

    use super::*;
    use crate::format::pi::Dialect;

    /// However long a session is.
    #[test]
    fn a_file_is_packed_in_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        let mut bytes = vec![0; 20 << 20];
        rand_chacha::ChaCha8Rng::seed_from_u64(1).fill_bytes(&mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        let mut kept = Vec::new();
        let whole = pack_source(&Dialect::PI, &path, |packed| {
            assert!(packed.memory() < 6 << 20, "{}", packed.memory());
            assert_eq!(packed.from, kept.len() as u64);
            kept.extend(packed.bytes().unwrap());
            true
        });
        assert!(whole.unwrap() && kept == bytes);
    }

    /// Where a piece is not kept the rest need not be read.
    #[test]
    fn what_is_changed_while_it_is_packed_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        std::fs::write(&path, "one\ntwo\n").unwrap();
        let changed = pack_source(&Dialect::PI, &path, |_| {
            std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
            true
        });
        assert_eq!(changed.unwrap_err().kind(), ErrorKind::ResourceBusy);
        assert!(!pack_source(&Dialect::PI, &path, |_| false).unwrap());
    }
}
