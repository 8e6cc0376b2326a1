//! What was read of files that many ask for, one after the other.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::format::identity::{Identity, now_ns};

/// Of so many files what was read is kept.
const MOST: usize = 4;

/// What was read of the files that were asked for last, as long as they are as they were.
pub struct Recent<T> {
    /// The one that was asked for last stands at the end.
    kept: Mutex<Vec<Reading<T>>>,
}

struct Reading<T> {
    path: PathBuf,
    identity: Identity,
    said: Arc<T>,
}

impl<T> Recent<T> {
    /// Nothing yet.
    pub const fn new() -> Recent<T> {
        Recent {
            kept: Mutex::new(Vec::new()),
        }
    }

    /// The file at `path`, opened, and what `read` makes of it. It is read once as long as nobody
    /// changes it: who asks meanwhile waits.
    ///
    /// # Errors
    /// Those of [`open`](super::open) and of `read`.
    pub fn of(
        &self,
        path: &Path,
        read: impl FnOnce(&mut File) -> io::Result<T>,
    ) -> io::Result<(File, Arc<T>)> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = super::open(path)?;
        let identity = Identity::of(&file.metadata()?);
        let at = kept.iter().position(|one| one.path == path);
        let known = at.map(|at| kept.remove(at));
        if let Some(known) = known.filter(|known| known.identity == identity) {
            let said = Arc::clone(&known.said);
            kept.push(known);
            return Ok((file, said));
        }
        let began_ns = now_ns();
        let said = Arc::new(read(&mut file)?);
        let is_as_it_was = identity == Identity::of(&file.metadata()?);
        if is_as_it_was && !identity.is_racy(began_ns) {
            if kept.len() == MOST {
                kept.remove(0);
            }
            kept.push(Reading {
                path: path.to_path_buf(),
                identity,
                said: Arc::clone(&said),
            });
        }
        Ok((file, said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::fs;
    use std::io::Read;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn a_file_is_read_again_once_it_was_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names");
        let (recent, reads) = (Recent::new(), Cell::new(0));
        let said = || {
            let (_, said) = recent
                .of(&path, |file| {
                    reads.set(reads.get() + 1);
                    let mut text = String::new();
                    file.read_to_string(&mut text)?;
                    Ok(text)
                })
                .unwrap();
            said.to_string()
        };
        for (text, reads_so_far) in [("one", 1), ("two", 2)] {
            fs::write(&path, text).unwrap();
            // Until a later change cannot go unnoticed.
            let settled = || !Identity::of(&path.metadata().unwrap()).is_racy(now_ns());
            while !settled() {
                sleep(Duration::from_millis(5));
            }
            for _ in 0..3 {
                assert_eq!(said(), text);
            }
            assert_eq!(reads.get(), reads_so_far);
        }
    }
}
