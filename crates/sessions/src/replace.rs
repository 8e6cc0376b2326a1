//! How does a file of an old version give way to its new form? By rename, after a copy of it is put
//! away.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::disk::{LockedFile, append_lines, folders_to_sync, sync_folders};
use super::error::Error;

impl LockedFile<'_> {
    /// Puts other bytes in the file's place: `change` makes them of what is there. The old file is
    /// kept below `backups` under that name first, or one like it.
    ///
    /// Agents lock nothing. What one appends before the rename is [`Error::Replaced`], and the file
    /// stays; what one appends to the old file in the moment of the rename is appended to the new
    /// one and to the copy.
    pub(super) fn replace(
        mut self,
        backups: &Path,
        name: &str,
        change: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<(), Error> {
        let path = self.path().to_path_buf();
        let mut old = Vec::new();
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.read_to_end(&mut old))
            .map_err(Error::io(&path))?;
        let bytes = change(&old);
        let (mut copy, backup) = back_up(backups, name, &old)?;
        let (mut new, real) = match self.exchange(&bytes) {
            Ok(exchanged) => exchanged,
            Err(error) => {
                // The file is as it was: nobody would ever look for the copy.
                let _ = fs::remove_file(&backup);
                return Err(error);
            }
        };
        // What is carried over counts as appended by others: the next lock finds it.
        let carried = self
            .disk
            .see(&mut new, bytes.len() as u64)
            .and_then(|()| carry(&mut self.file, old.len() as u64, &mut copy, &mut new));
        carried.map_err(|error| {
            self.disk.distrust();
            Error::Unfinished {
                path: real,
                backup,
                error,
            }
        })
    }

    /// Puts a new file into the place of the locked one, unless that was changed meanwhile; the new
    /// one, and where it is.
    fn exchange(&mut self, bytes: &[u8]) -> Result<(File, PathBuf), Error> {
        let path = self.path().to_path_buf();
        // A symbolic link stays one: what it names is replaced.
        let real = path.canonicalize().map_err(Error::io(&path))?;
        let new = self.beside(&real, bytes)?;
        if !self.disk.is_as_seen(&self.file).map_err(Error::io(&path))? {
            self.disk.distrust();
            return Err(Error::Replaced { path });
        }
        let new = new
            .persist(&real)
            .map_err(|refusal| Error::io(&real)(refusal.error))?;
        sync_folders(&[real.parent().unwrap_or(&real)]);
        Ok((new, real))
    }

    /// A locked file with these bytes in the same folder, of the same owner, under a name that ends
    /// in no way that an agent looks for.
    fn beside(&self, path: &Path, bytes: &[u8]) -> Result<tempfile::NamedTempFile, Error> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut new = tempfile::Builder::new()
            .prefix(".session-")
            .suffix(".tmp")
            .append(true)
            .tempfile_in(folder)
            .map_err(|error| Error::io(path)(not_made(&error)))?;
        new.as_file().lock().map_err(Error::no_lock(path))?;
        let mut fill = || {
            new.write_all(bytes)?;
            let (old, file) = (self.file.metadata()?, new.as_file());
            // A change of the owner may take permissions away.
            keep_owner(&old, file)?;
            file.set_permissions(old.permissions())?;
            file.sync_all()
        };
        fill().map_err(Error::io(path))?;
        Ok(new)
    }
}

/// Why no file could be made beside a session file, in words that say what it was for.
fn not_made(error: &io::Error) -> io::Error {
    // What tempfile says names a file that nobody knows.
    let error = io::Error::from(error.kind());
    let what =
        format!("it is rewritten by a new file in its folder, which cannot be made: {error}");
    io::Error::new(error.kind(), what)
}

/// Has a new file belong to whom the old one does: its owner could no longer read it else.
#[cfg(unix)]
fn keep_owner(old: &fs::Metadata, new: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let made = new.metadata()?;
    let owner = Some(old.uid()).filter(|uid| *uid != made.uid());
    let group = Some(old.gid()).filter(|gid| *gid != made.gid());
    if owner.is_none() && group.is_none() {
        return Ok(());
    }
    fchown(new, owner, group).map_err(|error| {
        let what = format!("rewritten here, it would belong to another user or group: {error}");
        io::Error::new(error.kind(), what)
    })
}

#[cfg(not(unix))]
fn keep_owner(_old: &fs::Metadata, _new: &File) -> io::Result<()> {
    Ok(())
}

/// Appends what the replaced file has from that place on to its copy and to the new file.
fn carry(old: &mut File, from: u64, copy: &mut File, new: &mut File) -> io::Result<()> {
    let mut late = Vec::new();
    old.seek(SeekFrom::Start(from))?;
    old.read_to_end(&mut late)?;
    if late.is_empty() {
        return Ok(());
    }
    copy.write_all(&late)?;
    copy.sync_data()?;
    append_lines(new, &late, true).map(drop)
}

/// A private copy of a file's bytes that outlasts a crash, and where it is.
fn back_up(folder: &Path, name: &str, bytes: &[u8]) -> Result<(File, PathBuf), Error> {
    let make = || {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let to_sync = folders_to_sync(folder);
        builder.create(folder)?;
        // Made by `tempfile`, it is the owner's alone.
        let mut copy = tempfile::NamedTempFile::new_in(folder)?;
        copy.write_all(bytes)?;
        copy.as_file().sync_all()?;
        let copied = place(copy, folder, name)?;
        sync_folders(&to_sync);
        Ok(copied)
    };
    make().map_err(Error::io(folder))
}

/// Puts a copy into a folder under that name, or with a number behind it where another copy has it.
fn place(
    mut copy: tempfile::NamedTempFile,
    folder: &Path,
    name: &str,
) -> io::Result<(File, PathBuf)> {
    let (mut path, mut number) = (folder.join(name), 1);
    loop {
        match copy.persist_noclobber(&path) {
            Ok(copy) => return Ok((copy, path)),
            Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => {
                copy = taken.file;
                number += 1;
                path = folder.join(format!("{name}.{number}"));
            }
            Err(failed) => return Err(failed.error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::disk::Disk;
    use super::*;

    #[test]
    fn what_comes_late_to_a_replaced_file_is_carried_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        let (mut copy, _) = back_up(folder.path(), "copy", b"old\n").expect("a copy");
        fs::write(place("old"), b"old\n\xfflate\n").expect("written");
        fs::write(place("new"), "new\n").expect("written");
        let mut old = File::open(place("old")).expect("the old one");
        let open = fs::OpenOptions::new()
            .read(true)
            .append(true)
            .open(place("new"));
        let mut new = open.expect("the new one");
        // An agent was faster.
        fs::write(place("new"), "new\nnext\n").expect("written");
        carry(&mut old, 4, &mut copy, &mut new).expect("carried");
        let read = |name| fs::read(place(name)).expect("read");
        assert_eq!(read("new"), b"new\nnext\n\xfflate\n");
        assert_eq!(read("copy"), read("old"));
    }

    /// Two sessions of one name may be put away in one millisecond.
    #[test]
    fn no_copy_takes_the_place_of_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let copies: Vec<PathBuf> = [b"one", b"two", b"six"]
            .map(|bytes| back_up(folder.path(), "copy", bytes).expect("a copy").1)
            .into();
        let read = |path: &PathBuf| fs::read(path).expect("a copy");
        let read: Vec<Vec<u8>> = copies.iter().map(read).collect();
        assert_eq!(read, [b"one", b"two", b"six"]);
        assert_eq!(copies[0], folder.path().join("copy"));
    }

    #[test]
    fn of_a_file_that_stays_as_it_is_no_copy_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("session");
        let backups = folder.path().join("backups");
        fs::write(&path, "{}\n").expect("written");
        let replace = |agent: &dyn Fn()| {
            let (mut disk, _) = Disk::open(sessionary_formats::pi::Dialect::PI, path.clone())
                .expect("read")
                .expect("there");
            let (locked, _) = disk.lock().expect("locked");
            locked.replace(&backups, "copy", |old| {
                agent();
                [old, b"new\n"].concat()
            })
        };
        let copies = || fs::read_dir(&backups).expect("the folder").count();
        // An agent appends meanwhile.
        let error = replace(&|| fs::write(&path, "{}\n{}\n").expect("written"));
        assert!(matches!(error, Err(Error::Replaced { .. })), "{error:?}");
        assert_eq!(fs::read(&path).expect("read"), b"{}\n{}\n");
        assert_eq!(copies(), 0);
        // The file is gone meanwhile.
        let error = replace(&|| fs::remove_file(&path).expect("removed"));
        assert!(matches!(error, Err(Error::Io { .. })), "{error:?}");
        assert_eq!(copies(), 0);
        fs::write(&path, "{}\n").expect("written");
        replace(&|| ()).expect("replaced");
        assert_eq!(copies(), 1);
    }
}
