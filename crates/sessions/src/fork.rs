//! New files made of old ones: a branch or a whole session copied, an old version brought up to
//! date.

use std::path::Path;

use bytes::Bytes;

use super::disk::{Disk, FileChange};
use super::entry::Entry;
use super::error::Error;
use super::header::SessionHeader;
use super::line::EntryHead;
use super::load;
use super::manager::{NewSession, SessionManager, Setup};
use super::migrate::Migration;
use super::splice;
use super::value::{Json, Value, put, quoted};
use sessionary_formats::pi::Dialect;

impl SessionManager {
    /// Copies a session to another working directory (pi: `SessionManager.forkFrom`): every line,
    /// all branches, under a new header that names the old file. An old version is brought up to
    /// date in the copy. (pi copies its entries as they are under a header of version 3, and can no
    /// longer read them.)
    ///
    /// # Errors
    /// [`Error::NotASession`] where the source has no header first; [`Error::Io`].
    pub fn fork_from(setup: &Setup, source: &Path, cwd: &str) -> Result<Self, Error> {
        Self::fork_from_with(setup, source, cwd, &NewSession::default())
    }

    /// Copies a session as [`SessionManager::fork_from`] does, with the id that `new` gives. The
    /// parent is the source, whatever `new` says.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an id that cannot be one; otherwise as [`SessionManager::fork_from`].
    pub fn fork_from_with(
        setup: &Setup,
        source: &Path,
        cwd: &str,
        new: &NewSession,
    ) -> Result<Self, Error> {
        let named = match setup.profile.plain_paths {
            true => {
                let source = std::path::absolute(source).map_err(Error::io(source))?;
                super::profile::plain(&source)
            }
            false => source.to_path_buf(),
        };
        let bytes = std::fs::read(source).map_err(Error::io(source))?;
        let not_a_session = || Error::NotASession {
            path: source.to_path_buf(),
        };
        let bytes = Bytes::from(bytes);
        let dialect = setup.profile.dialect;
        let entries = load::entries(dialect, bytes.clone());
        let old = entries.first();
        let old = old.and_then(|first| SessionHeader::of(dialect, first));
        let old = old.ok_or_else(not_a_session)?;
        let new = NewSession {
            id: new.id.clone(),
            parent_session: Some(named.to_string_lossy().into_owned()),
        };
        let session = Self::begin(setup, cwd, setup.session_dir(cwd), true, &new)?;
        let migration = Migration::of(old.version(), &entries, |taken| setup.entry_id(taken));
        let mut lines = (session.header.json().to_owned() + "\n").into_bytes();
        lines.extend(rewritten(dialect, &bytes, migration.as_ref(), false));
        let mut disk = Disk::new(dialect, session.usual_path());
        disk.create(&lines, setup.sync)?;
        Self::open_in(setup, &disk.path, cwd)
    }

    /// Copies the way to one entry into a session of its own, and goes on there (pi:
    /// `createBranchedSession`). Labels of entries on the way come along as new entries at its end.
    /// Gives the new file; `None` in memory.
    ///
    /// The file is written at once where it has a message for which the profile lets files appear.
    ///
    /// # Errors
    /// [`Error::NoEntry`]; [`Error::Io`] where the new file cannot be written.
    pub fn create_branched_session(&mut self, leaf: &str) -> Result<Option<&Path>, Error> {
        self.known(leaf)?;
        let entries = self.without_labels(leaf);
        let labels = self.labels_again(&entries);
        let persisted = self.is_persisted();
        let parent = self
            .session_file()
            .map(|path| path.to_string_lossy().into_owned());
        let new = NewSession {
            id: None,
            parent_session: parent,
        };
        let dir = self.session_dir.clone();
        let mut session = Self::begin(&self.setup, &self.cwd, dir, persisted, &new)?;
        for entry in entries.into_iter().chain(labels) {
            session.begun |= self.setup.profile.begins_with(entry.role());
            session.log.push(entry);
        }
        session.leaf = session.log.leaf_id().map(Into::into);
        if session.begun && persisted {
            let lines = session.lines();
            if let Some(disk) = &mut session.disk {
                disk.create(lines.as_bytes(), self.setup.sync)?;
                session.written = true;
            }
        }
        *self = session;
        Ok(self.session_file())
    }

    /// The way to an entry without label entries: each of the rest hangs below the one before, and
    /// what a compaction kept from a label on it keeps from the entry after that.
    fn without_labels(&self, leaf: &str) -> Vec<Entry> {
        let mut kept: Vec<Entry> = Vec::new();
        let mut labels: Vec<&str> = Vec::new();
        let mut instead: std::collections::HashMap<&str, &str> = Default::default();
        for entry in self.branch_of(leaf) {
            let id = entry.id().unwrap_or_default();
            if entry.kind() == "label" {
                labels.push(id);
                continue;
            }
            instead.extend(labels.drain(..).map(|label| (label, id)));
            let parent = kept.last().and_then(|last| last.member("id"));
            let mut text = splice::set(entry.json(), "parentId", parent.unwrap_or("null"));
            if entry.kind() == "compaction"
                && let Some(first) = entry.member("firstKeptEntryId").and_then(String::read)
                && first != id
                && let Some(moved) = instead.get(&*first)
            {
                text = splice::set(&text, "firstKeptEntryId", &quoted(moved));
            }
            kept.extend(load::entry(self.setup.profile.dialect, text.as_bytes()));
        }
        kept
    }

    /// Label entries that set the labels of these entries again.
    fn labels_again(&self, entries: &[Entry]) -> Vec<Entry> {
        let mut taken: std::collections::HashSet<String> = entries
            .iter()
            .filter_map(Entry::id)
            .map(str::to_owned)
            .collect();
        let targets = taken.clone();
        let last = entries.last().and_then(|last| last.member("id"));
        let mut parent = last.map(str::to_owned);
        let mut made = Vec::new();
        for (target, label) in self.log.labels() {
            if !targets.contains(target) {
                continue;
            }
            let id = self.setup.entry_id(|id| taken.contains(id));
            let place = EntryHead {
                id: &id,
                parent: parent.as_deref(),
                timestamp: label.timestamp_json.as_deref(),
            };
            let line = place.line("label", |out| {
                put(out, "targetId", &target.to_owned());
                put(out, "label", &Json::trusted(&label.json));
            });
            made.extend(load::entry(self.setup.profile.dialect, line.as_bytes()));
            taken.insert(id.clone());
            parent = Some(quoted(&id));
        }
        made
    }

    /// Rewrites a file of an old version as one of the current version, by rename, after its copy
    /// is put away. Lines that are no entries stay as they are. Done on the first append; nothing
    /// happens to a file that is new enough.
    ///
    /// # Errors
    /// [`Error::NoBackups`] where [`Setup::backups`] names no folder. [`Error::Replaced`] where
    /// another program changed the file since it was opened, up to the rename: it stays as that
    /// program left it. What an agent appends in the moment of the rename is carried over; should
    /// the disk fail just then, it is lacking in the new file: [`Error::Unfinished`]. Where the
    /// file stays as it was, so does the folder of backups.
    pub fn migrate(&mut self) -> Result<(), Error> {
        if self.read_only {
            return Err(Error::ReadOnly);
        }
        let (Some(migration), Some(disk)) = (&self.migration, &mut self.disk) else {
            return Ok(());
        };
        let path = disk.path.clone();
        let Some(backups) = self.setup.backups.clone() else {
            let version = migration.from;
            return Err(Error::NoBackups { path, version });
        };
        let (locked, news) = disk.lock()?;
        if !matches!(news, FileChange::Nothing) {
            // Nor can the next attempt: this session has no ids for what is new.
            locked.disk.distrust();
            return Err(Error::Replaced { path });
        }
        let dialect = self.setup.profile.dialect;
        let name = backup_name(&path, migration.from, &self.setup.now());
        locked.replace(&backups, &name, |old| {
            rewritten(dialect, old, Some(migration), true)
        })?;
        self.migration = None;
        Ok(())
    }
}

/// The file's name, its version and when it was put away.
fn backup_name(path: &Path, version: i64, now: &str) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{}.v{version}.{name}", now.replace([':', '.'], "-"))
}

/// The bytes of a file, every entry migrated, with or without headers. Each line ends.
fn rewritten(
    dialect: Dialect,
    bytes: &[u8],
    migration: Option<&Migration>,
    with_headers: bool,
) -> Vec<u8> {
    let bytes = &bytes[dialect.passed_over(bytes)..];
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(entry) = load::entry(dialect, line) else {
            out.extend_from_slice(line);
            end_line(&mut out);
            continue;
        };
        let place = at;
        at += 1;
        if entry.kind() == "session" && !with_headers {
            continue;
        }
        match migration {
            Some(migration) => {
                let text = migration.text(place, &entry);
                if text == entry.json() {
                    out.extend_from_slice(line);
                } else {
                    out.extend_from_slice(text.as_bytes());
                    out.extend_from_slice(if line.ends_with(b"\r\n") {
                        b"\r\n"
                    } else {
                        b"\n"
                    });
                }
            }
            None => out.extend_from_slice(line),
        }
        end_line(&mut out);
    }
    out
}

fn end_line(out: &mut Vec<u8>) {
    if out.last().is_some_and(|byte| *byte != b'\n') {
        out.push(b'\n');
    }
}
