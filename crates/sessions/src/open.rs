//! Taking up a session that is there: by its path, or the one used last.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::disk::Disk;
use super::entry::Entry;
use super::error::Error;
use super::header::SessionHeader;
use super::load;
use super::log::Log;
use super::manager::{NewSession, SessionManager, Setup};
use super::migrate::Migration;
use super::profile::plain;
use sessionary_formats::pi::Dialect;

/// How far a header is looked for.
const HEADER: u64 = 1024 * 1024;

impl SessionManager {
    /// Opens a session file (pi: `SessionManager.open`), whatever version it has. Nothing is
    /// written: neither is a missing last line end added nor an old version rewritten before the
    /// first append. New sessions of this manager go to the file's own folder.
    ///
    /// A file that is not there, or is empty, is a new session at that path. Where no header names
    /// a working directory it is the process's own.
    ///
    /// # Errors
    /// [`Error::NotASession`] where the file has something in it, but no header first. (Old
    /// versions of pi overwrite it.)
    pub fn open(setup: &Setup, path: &Path) -> Result<Self, Error> {
        Self::open_with(setup, path, None, false)
    }

    /// Opens a session file with another working directory than its header's (pi: `cwdOverride`).
    /// The header stays as it is. Otherwise as [`SessionManager::open`].
    ///
    /// # Errors
    /// As [`SessionManager::open`].
    pub fn open_in(setup: &Setup, path: &Path, cwd: &str) -> Result<Self, Error> {
        Self::open_with(setup, path, Some(cwd), false)
    }

    /// Opens a session file to look at: whatever would change it is [`Error::ReadOnly`].
    ///
    /// # Errors
    /// [`Error::Gone`] where there is no such file; otherwise as [`SessionManager::open`].
    pub fn open_read_only(setup: &Setup, path: &Path) -> Result<Self, Error> {
        Self::open_with(setup, path, None, true)
    }

    /// The session of that directory whose file was changed last, or a new one (pi:
    /// `SessionManager.continueRecent`). In a flat folder only sessions whose header names that
    /// directory count.
    ///
    /// # Errors
    /// As [`SessionManager::open`] and [`SessionManager::create`].
    pub fn continue_recent(setup: &Setup, cwd: &str) -> Result<Self, Error> {
        match most_recent(setup, cwd) {
            Some(path) => {
                let mut session = Self::open_in(setup, &path, cwd)?;
                session.session_dir = setup.session_dir(cwd);
                Ok(session)
            }
            None => Self::create(setup, cwd),
        }
    }

    /// Takes up another file in this one's place (pi: `setSessionFile`). Working directory and
    /// folder stay, and a session in memory stays in memory: it takes the file's entries, and
    /// writes nothing.
    ///
    /// # Errors
    /// As [`SessionManager::open`].
    pub fn set_session_file(&mut self, path: &Path) -> Result<(), Error> {
        let mut other = Self::open_with(&self.setup, path, Some(&self.cwd), self.read_only)?;
        other.session_dir.clone_from(&self.session_dir);
        if !self.is_persisted() {
            (other.disk, other.migration) = (None, None);
        }
        *self = other;
        Ok(())
    }

    /// The id of the entry on a line of the file, counted from 1 as elsewhere in this library
    /// (`L17`). In a file of an old version it is the id that the entry will have. `None` where
    /// there is no such line, or it holds no entry, or one without an id.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be read.
    pub fn id_at_line(&self, line: u64) -> Result<Option<&str>, Error> {
        let Some(path) = self.session_file().filter(|_| self.written) else {
            return Ok(None);
        };
        let bytes = fs::read(path).map_err(Error::io(path))?;
        let dialect = self.setup.profile.dialect;
        let lines = bytes[dialect.passed_over(&bytes)..].split(|byte| *byte == b'\n');
        let mut at = None;
        let mut before = 0;
        for (number, text) in (1..).zip(lines) {
            let entry = load::entry(dialect, text);
            if number == line {
                at = entry
                    .filter(|entry| entry.kind() != "session")
                    .map(|_| before);
                break;
            }
            before += usize::from(entry.is_some_and(|entry| entry.kind() != "session"));
        }
        Ok(at.and_then(|at: usize| self.entries().get(at)?.id()))
    }

    fn open_with(
        setup: &Setup,
        path: &Path,
        cwd: Option<&str>,
        read_only: bool,
    ) -> Result<Self, Error> {
        let path = std::path::absolute(path).map_err(Error::io(path))?;
        let path = plain(&path);
        let dir = path.parent().map(Path::to_path_buf).unwrap_or_default();
        // What pi falls back to: of the process only this is asked, and only where nobody said (see
        // `session`).
        let here = || match std::env::current_dir() {
            Ok(here) => here.to_string_lossy().into_owned(),
            Err(_) => String::new(),
        };
        let (disk, loaded) = match Disk::open(setup.profile.dialect, path.clone())? {
            Some((disk, loaded)) if !disk.is_empty() => (disk, loaded),
            nothing => {
                let missing = nothing.is_none();
                if read_only && missing {
                    return Err(Error::Gone { path });
                }
                let new = NewSession::default();
                let cwd = cwd.map_or_else(here, str::to_owned);
                let mut session = Self::begin(setup, &cwd, dir, true, &new)?;
                session.disk = Some(match nothing {
                    // An empty file is there already: the first append fills it.
                    Some((disk, _)) => disk,
                    None => Disk::new(setup.profile.dialect, path),
                });
                session.begun = !missing;
                session.read_only = read_only;
                return Ok(session);
            }
        };
        let Some(header) = header(setup.profile.dialect, &loaded.entries) else {
            return Err(Error::NotASession { path });
        };
        let cwd = cwd.map(str::to_owned).or_else(|| header.cwd());
        let cwd = cwd.unwrap_or_else(here);
        let mut session = Self::blank(setup, &cwd, dir, String::new(), None);
        session.header = header;
        session.disk = Some(disk);
        (session.written, session.begun) = (true, true);
        session.read_only = read_only;
        session.take(loaded.entries);
        session.leaf = session.log.leaf_id().map(Into::into);
        Ok(session)
    }

    /// Takes the entries of a file, header first, as those of the current version.
    fn take(&mut self, mut entries: Vec<Entry>) {
        let new_id = |taken: &dyn Fn(&str) -> bool| self.setup.entry_id(taken);
        let dialect = self.setup.profile.dialect;
        self.migration = Migration::of(self.header.version(), &entries, new_id);
        if let Some(migration) = &self.migration {
            let texts = entries.iter().enumerate();
            let texts = texts.map(|(at, entry)| migration.text(at, entry));
            entries = texts
                .filter_map(|text| load::entry(dialect, text.as_bytes()))
                .collect();
            if let Some(header) = header(dialect, &entries) {
                self.header = header;
            }
        }
        self.log = log(dialect, entries);
    }

    /// Reads the file again after another program put a new one in its place, and stays at the same
    /// leaf.
    pub(super) fn reload(&mut self, path: PathBuf) -> Result<(), Error> {
        let replaced = || Error::Replaced { path: path.clone() };
        let dialect = self.setup.profile.dialect;
        let Some((disk, loaded)) = Disk::open(dialect, path.clone())? else {
            return Err(Error::Gone { path });
        };
        let header = header(dialect, &loaded.entries).ok_or_else(replaced)?;
        if self.migration.is_some() || header.version() < super::CURRENT_SESSION_VERSION {
            // The ids of this session are in no file.
            return Err(replaced());
        }
        let log = log(dialect, loaded.entries);
        if self.leaf_id().is_some_and(|leaf| log.entry(leaf).is_none()) {
            return Err(replaced());
        }
        (self.header, self.log, self.disk) = (header, log, Some(disk));
        Ok(())
    }
}

/// The log of a file's entries. The header is not an entry, and further headers are ignored.
fn log(dialect: Dialect, mut entries: Vec<Entry>) -> Log {
    entries.retain(|entry| entry.kind() != "session");
    Log::of(dialect, entries)
}

/// The header of a file with these entries.
fn header(dialect: Dialect, entries: &[Entry]) -> Option<SessionHeader> {
    SessionHeader::of(dialect, entries.first()?)
}

/// The session file of that directory that was changed last. Files that cannot be read are passed
/// over.
fn most_recent(setup: &Setup, cwd: &str) -> Option<PathBuf> {
    let dir = setup.session_dir(cwd);
    let wanted = setup.profile.cwd(cwd);
    let mut found: Vec<(SystemTime, PathBuf)> = fs::read_dir(&dir)
        .ok()?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_session = path.to_string_lossy().ends_with(".jsonl");
            let modified = fs::metadata(&path).ok()?.modified().ok()?;
            is_session.then_some((modified, path))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).find(|path| {
        let flat = setup.flat.is_some() && dir != setup.sessions.join(setup.profile.folder(cwd));
        header_of(setup.profile.dialect, path).is_some_and(|header| {
            !flat
                || header
                    .cwd()
                    .is_some_and(|cwd| !cwd.is_empty() && setup.profile.cwd(&cwd) == wanted)
        })
    })
}

/// The header of a file, looked for at its beginning only.
fn header_of(dialect: Dialect, path: &Path) -> Option<SessionHeader> {
    use std::io::Read;
    let mut start = Vec::new();
    fs::File::open(path)
        .ok()?
        .take(HEADER)
        .read_to_end(&mut start)
        .ok()?;
    let whole = (start.len() as u64) < HEADER;
    let lines: Vec<&[u8]> = start[dialect.passed_over(&start)..]
        .split(|byte| *byte == b'\n')
        .collect();
    let lines = if whole {
        &lines[..]
    } else {
        &lines[..lines.len() - 1]
    };
    let first = lines.iter().find_map(|line| load::entry(dialect, line))?;
    SessionHeader::of(dialect, &first)
}
