//! One session, and what it says of itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chance::{Clock, Ids, RandomIds, SystemClock};
use super::context::{self, SessionContext};
use super::disk::Disk;
use super::entry::Entry;
use super::error::Error;
use super::header::SessionHeader;
use super::log::{Log, Tree};
use super::migrate::Migration;
use super::profile::{Profile, SessionIds, file_name};
use sessionary_formats::model::iso;

/// How sessions are begun and written.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The agent's rules.
    pub profile: Profile,
    /// The agent's sessions folder, with one folder for each working directory.
    pub sessions: PathBuf,
    /// One folder for the sessions of all working directories, in place of `sessions` (pi:
    /// `--session-dir`).
    pub flat: Option<PathBuf>,
    /// Where a file of an old version is kept before it is rewritten: a private folder, not the
    /// agent's. Without one such a file is not appended to.
    pub backups: Option<PathBuf>,
    /// Whether every append waits until the bytes are on the disk. Agents do not.
    pub sync: bool,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Arc<dyn Ids>,
}

impl Setup {
    /// The usual: system clock, random ids, no backups, no waiting.
    pub fn new(profile: Profile, sessions: impl Into<PathBuf>) -> Self {
        Self {
            profile,
            sessions: sessions.into(),
            flat: None,
            backups: None,
            sync: false,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        }
    }

    /// The folder for sessions of that working directory.
    pub fn session_dir(&self, cwd: &str) -> PathBuf {
        match &self.flat {
            Some(flat) => flat.clone(),
            None => self.sessions.join(self.profile.folder(cwd)),
        }
    }

    /// The time as it is written.
    pub(super) fn now(&self) -> String {
        iso(self.clock.now_ms()).unwrap_or_default()
    }

    /// A free entry id: eight digits, or a whole UUID where chance is against it.
    pub(super) fn entry_id(&self, taken: impl Fn(&str) -> bool) -> String {
        for _ in 0..100 {
            let mut id = self.ids.random();
            if id.is_char_boundary(8) {
                id.truncate(8);
            }
            if !taken(&id) {
                return id;
            }
        }
        self.ids.random()
    }

    pub(super) fn session_id(&self) -> String {
        match self.profile.session_ids {
            SessionIds::Random => self.ids.random(),
            SessionIds::Timed => self.ids.timed(self.clock.now_ms()),
        }
    }
}

/// What a new session begins with.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// Its id, in place of a new one: letters, digits, `-`, `_` and `.`, a letter or digit at both
    /// ends.
    pub id: Option<String>,
    /// The file that it continues.
    pub parent_session: Option<String>,
}

/// One session: its entries, its leaf, and the file it is kept in (pi: `SessionManager`).
pub struct SessionManager {
    pub(super) setup: Setup,
    pub(super) cwd: String,
    pub(super) session_dir: PathBuf,
    pub(super) header: SessionHeader,
    pub(super) log: Log,
    pub(super) leaf: Option<Box<str>>,
    /// `None`: in memory.
    pub(super) disk: Option<Disk>,
    /// Whether the file has the header and all entries.
    pub(super) written: bool,
    /// Whether an entry has asked for the file to appear.
    pub(super) begun: bool,
    pub(super) read_only: bool,
    /// What the file still has to become.
    pub(super) migration: Option<Migration>,
}

impl std::fmt::Debug for SessionManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionManager")
            .field("header", &self.header)
            .field("cwd", &self.cwd)
            .field("leaf", &self.leaf)
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

impl SessionManager {
    /// A session that begins now in that working directory, an absolute path (pi:
    /// `SessionManager.create`). Its file appears when the profile says.
    ///
    /// # Errors
    /// None as yet: nothing is written before the first append, which says what is wrong with the
    /// folder.
    pub fn create(setup: &Setup, cwd: &str) -> Result<Self, Error> {
        Self::create_with(setup, cwd, &NewSession::default())
    }

    /// A session that begins now, as [`SessionManager::create`] makes it, with the id or the parent
    /// that `new` gives.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an id that cannot be one; otherwise as [`SessionManager::create`].
    pub fn create_with(setup: &Setup, cwd: &str, new: &NewSession) -> Result<Self, Error> {
        let session_dir = setup.session_dir(cwd);
        Self::begin(setup, cwd, session_dir, true, new)
    }

    /// A session without a file (pi: `SessionManager.inMemory`).
    pub fn in_memory(setup: &Setup, cwd: &str) -> Self {
        Self::blank(setup, cwd, PathBuf::new(), setup.session_id(), None)
    }

    pub(super) fn begin(
        setup: &Setup,
        cwd: &str,
        session_dir: PathBuf,
        persisted: bool,
        new: &NewSession,
    ) -> Result<Self, Error> {
        let id = match &new.id {
            Some(id) if !is_session_id(id) => {
                return Err(Error::Invalid(format!(
                    "{id:?} is not a session id: use letters, digits, '-', '_' and '.', with a letter or digit at both ends"
                )));
            }
            Some(id) => id.clone(),
            None => setup.session_id(),
        };
        let mut session = Self::blank(setup, cwd, session_dir, id, new.parent_session.as_deref());
        if persisted {
            session.disk = Some(Disk::new(setup.profile.dialect, session.usual_path()));
        }
        Ok(session)
    }

    pub(super) fn blank(
        setup: &Setup,
        cwd: &str,
        session_dir: PathBuf,
        id: String,
        parent: Option<&str>,
    ) -> Self {
        let cwd = setup.profile.cwd(cwd);
        Self {
            header: SessionHeader::new(&id, &setup.now(), &cwd, parent),
            setup: setup.clone(),
            cwd,
            session_dir,
            log: Log::of(setup.profile.dialect, Vec::new()),
            leaf: None,
            disk: None,
            written: false,
            begun: false,
            read_only: false,
            migration: None,
        }
    }

    /// Where the session's file is when nobody says otherwise.
    pub(super) fn usual_path(&self) -> PathBuf {
        let began = self.header.timestamp().unwrap_or_default();
        self.session_dir.join(file_name(&began, self.header.id()))
    }

    /// Begins another session in this one's place (pi: `newSession`). Gives its file.
    ///
    /// # Errors
    /// As [`SessionManager::create_with`].
    pub fn new_session(&mut self, new: &NewSession) -> Result<Option<&Path>, Error> {
        let (dir, persisted) = (self.session_dir.clone(), self.is_persisted());
        *self = Self::begin(&self.setup, &self.cwd, dir, persisted, new)?;
        Ok(self.session_file())
    }

    /// The working directory (pi: `getCwd`).
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// The folder that new sessions go to (pi: `getSessionDir`); empty in memory.
    pub fn session_dir(&self) -> &Path {
        &self.session_dir
    }

    /// Has new sessions go to another folder.
    pub fn set_session_dir(&mut self, dir: PathBuf) {
        self.session_dir = dir;
    }

    /// The session's id (pi: `getSessionId`).
    pub fn session_id(&self) -> &str {
        self.header.id()
    }

    /// The session's file, there or not yet (pi: `getSessionFile`).
    pub fn session_file(&self) -> Option<&Path> {
        self.disk.as_ref().map(|disk| &*disk.path)
    }

    /// Whether the session has a file, or will have one (pi: `isPersisted`).
    pub fn is_persisted(&self) -> bool {
        self.disk.is_some()
    }

    /// The header (pi: `getHeader`); of a file of an old version as it will be.
    pub fn header(&self) -> &SessionHeader {
        &self.header
    }

    /// All entries in file order, without headers (pi: `getEntries`).
    pub fn entries(&self) -> &[Entry] {
        self.log.entries()
    }

    /// The entry of that id, of several the last (pi: `getEntry`).
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.log.entry(id)
    }

    /// Where the session stands: the next entry goes below it (pi: `getLeafId`). After opening it
    /// is the last entry of the file that has an id. (pi takes the last line as it is, and where
    /// that has no id it loses its place.)
    pub fn leaf_id(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// The entry where the session stands (pi: `getLeafEntry`).
    pub fn leaf_entry(&self) -> Option<&Entry> {
        self.entry(self.leaf_id()?)
    }

    /// The way from the root to an entry, root first (pi: `getBranch`); nothing where there is no
    /// such entry. A cycle ends before its first repeat. (pi never comes back from one.)
    pub fn branch_of(&self, id: &str) -> Vec<&Entry> {
        self.log.branch(id)
    }

    /// The way from the root to the leaf.
    pub fn branch(&self) -> Vec<&Entry> {
        self.leaf_id()
            .map_or_else(Vec::new, |leaf| self.log.branch(leaf))
    }

    /// All entries as a tree (pi: `getTree`). Every entry is in it once; the first entry of a cycle
    /// is a root. (pi's tree lacks the entries of a cycle, and shows the last of several entries
    /// with one id in place of each of them.)
    pub fn tree(&self) -> Tree<'_> {
        self.log.tree()
    }

    /// The entries directly below one, or the roots that name no parent, in file order (pi:
    /// `getChildren`).
    pub fn children<'a>(&'a self, of: Option<&'a str>) -> impl Iterator<Item = &'a Entry> {
        self.log.children(of)
    }

    /// The label of an entry (pi: `getLabel`).
    pub fn label(&self, id: &str) -> Option<&str> {
        self.log.label(id).map(|label| &*label.text)
    }

    /// The session's name (pi: `getSessionName`).
    pub fn session_name(&self) -> Option<String> {
        self.log.name()
    }

    /// What the model would see at the leaf (pi: `buildSessionContext`).
    pub fn build_session_context(&self) -> SessionContext<'_> {
        context::of(&self.branch())
    }

    /// What it would see at another entry.
    ///
    /// # Errors
    /// [`Error::NoEntry`].
    pub fn build_session_context_at(&self, id: &str) -> Result<SessionContext<'_>, Error> {
        self.known(id)?;
        Ok(context::of(&self.branch_of(id)))
    }

    /// Stands at that entry: the next one becomes its child (pi: `branch`). Nothing is written:
    /// what is not followed by an append is forgotten.
    ///
    /// # Errors
    /// [`Error::NoEntry`].
    pub fn set_leaf(&mut self, id: &str) -> Result<(), Error> {
        self.known(id)?;
        self.leaf = Some(id.into());
        Ok(())
    }

    /// Stands before all entries: the next one becomes a root (pi: `resetLeaf`).
    pub fn reset_leaf(&mut self) {
        self.leaf = None;
    }

    pub(super) fn known(&self, id: &str) -> Result<&Entry, Error> {
        self.entry(id)
            .ok_or_else(|| Error::NoEntry { id: id.to_owned() })
    }
}

fn is_session_id(id: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    edge(id.chars().next())
        && edge(id.chars().last())
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
