//! Which sessions are there? What the agent's own list shows, read from the files alone.

use std::cmp::Reverse;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::error::Error;
use super::manager::{SessionManager, Setup};
use crate::threads;
use sessionary_formats::identity::Identity;
use sessionary_formats::json::{Collation, PieceKind, split};
use sessionary_formats::lines::Lines;
use sessionary_formats::model::{Facts, Fold, SourcePart};
use sessionary_formats::{Format, SourceFacts, pi::Dialect};

/// One row of the agent's list (pi: `SessionInfo`). Where there is an index,
/// `sessionary::index::Snapshot::agent_list` has the same ones.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionInfo {
    /// The session's file.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// Its working directory; "" where the header names none.
    pub cwd: String,
    /// Its name.
    pub name: Option<String>,
    /// The file it was forked from, as the header says.
    pub parent_session_path: Option<String>,
    /// When it began, in ms since the epoch.
    pub created_ms: Option<i64>,
    /// When something was said last, in ms since the epoch.
    pub modified_ms: i64,
    /// Messages of every role on every branch.
    pub message_count: u64,
    /// What the user said first; `None` where that is nothing.
    pub first_message: Option<String>,
    /// What user and model said on every branch, joined by spaces.
    pub all_messages_text: String,
}

/// Called after each file with how many are read and how many there are; to break is to give up.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) -> ControlFlow<()> + Sync);

impl SessionManager {
    /// The sessions of a working directory, newest first (pi: `SessionManager.list`): those in its
    /// folder; in a flat folder those whose header names the directory. What the agent hides, and
    /// what cannot be read, is left out.
    ///
    /// # Errors
    /// None as yet: what cannot be read is left out.
    pub fn list(setup: &Setup, cwd: &str) -> Result<Vec<SessionInfo>, Error> {
        Self::list_with(setup, cwd, &|_, _| ControlFlow::Continue(()))
    }

    /// [`SessionManager::list`] with progress.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` broke.
    pub fn list_with(
        setup: &Setup,
        cwd: &str,
        progress: Progress<'_>,
    ) -> Result<Vec<SessionInfo>, Error> {
        let mut files = files_in(&setup.session_dir(cwd));
        in_order(&mut files, |file| (file, None));
        let mut found = read_all(setup.profile.dialect, files, progress)?;
        found.retain(|info| setup.lists(cwd, info));
        Ok(found)
    }

    /// All sessions, newest first (pi: `SessionManager.listAll`): those in every folder of the
    /// sessions folder, or those in the flat one.
    ///
    /// # Errors
    /// As [`SessionManager::list`].
    pub fn list_all(setup: &Setup) -> Result<Vec<SessionInfo>, Error> {
        Self::list_all_with(setup, &|_, _| ControlFlow::Continue(()))
    }

    /// [`SessionManager::list_all`] with progress.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` broke.
    pub fn list_all_with(setup: &Setup, progress: Progress<'_>) -> Result<Vec<SessionInfo>, Error> {
        let mut files: Vec<PathBuf> = match &setup.flat {
            Some(flat) => files_in(flat),
            None => folders_in(&setup.sessions)
                .iter()
                .flat_map(|folder| files_in(folder))
                .collect(),
        };
        match setup.flat {
            Some(_) => in_order(&mut files, |file| (file, None)),
            None => in_order(&mut files, |file| {
                let there = fs::metadata(file).ok();
                (file, there.map(|there| Identity::of(&there).mtime_ns))
            }),
        }
        read_all(setup.profile.dialect, files, progress)
    }
}

impl Setup {
    /// Whether a session in the folder of that working directory is in its list: in a flat folder
    /// where its header names the directory.
    pub fn lists(&self, cwd: &str, info: &SessionInfo) -> bool {
        match &self.flat {
            Some(flat) if *flat != self.sessions.join(self.profile.folder(cwd)) => {
                !info.cwd.is_empty() && self.profile.cwd(&info.cwd) == self.profile.cwd(cwd)
            }
            _ => true,
        }
    }
}

/// What the agent's own list shows of these files and of those in these folders, each with when it
/// was changed: nothing of what it does not look at, or cannot read.
pub fn read_again(setup: &Setup, paths: &[PathBuf]) -> Vec<(i64, SessionInfo)> {
    let is_looked_at = |path: &PathBuf| {
        let folder = path.parent();
        let of_sessions = match &setup.flat {
            Some(flat) => folder == Some(flat),
            None => folder.and_then(Path::parent) == Some(&setup.sessions),
        };
        of_sessions && name(path).ends_with(".jsonl")
    };
    let files = paths.iter().flat_map(|path| match path.is_dir() {
        true => files_in(path),
        false => vec![path.clone()],
    });
    let read = |path: PathBuf| {
        let changed_ns = Identity::of(&fs::metadata(&path).ok()?).mtime_ns;
        let dialect = setup.profile.dialect;
        Some((changed_ns, info(dialect, path).ok().flatten()?))
    };
    files.filter(is_looked_at).filter_map(read).collect()
}

/// Puts sessions of equal times in their order: the file changed last first, where that is given,
/// then the last name. (Of equal names in several folders the agent has them as the disk gives
/// them; here the first path comes first.)
pub fn in_order<T>(all: &mut [T], file: impl Fn(&T) -> (&Path, Option<i64>)) {
    all.sort_by_cached_key(|one| {
        let (path, changed_ns) = file(one);
        let name = Collation::of(&name(path));
        (Reverse((changed_ns, name)), path.to_path_buf())
    });
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// What a folder holds; nothing where it cannot be read.
fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries.flatten().map(|entry| entry.path()).collect()
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let mut folders = in_folder(folder);
    folders.retain(|path| path.is_dir());
    folders
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = in_folder(folder);
    files.retain(|path| name(path).ends_with(".jsonl"));
    files
}

fn read_all(
    dialect: Dialect,
    files: Vec<PathBuf>,
    progress: Progress<'_>,
) -> Result<Vec<SessionInfo>, Error> {
    let (done, given_up) = (AtomicUsize::new(0), AtomicBool::new(false));
    let all = files.len();
    let read = |path| {
        if given_up.load(Ordering::Relaxed) {
            return None;
        }
        // A file that cannot be read is left out, as the agent leaves it out.
        let info = info(dialect, path).ok().flatten();
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if progress(done, all).is_break() {
            given_up.store(true, Ordering::Relaxed);
        }
        info
    };
    let read: Vec<Option<SessionInfo>> = match threads::pool() {
        Some(pool) => pool.install(|| files.into_par_iter().map(read).collect()),
        None => files.into_iter().map(read).collect(),
    };
    if given_up.into_inner() {
        return Err(Error::Cancelled);
    }
    let mut found: Vec<SessionInfo> = read.into_iter().flatten().collect();
    // Stable: equal times keep their order.
    found.sort_by_key(|info| Reverse(info.modified_ms));
    Ok(found)
}

/// The row of a file; `None` where the agent hides it.
fn info(dialect: Dialect, path: PathBuf) -> std::io::Result<Option<SessionInfo>> {
    let file = fs::File::open(&path)?;
    let identity = Identity::of(&file.metadata()?);
    let mut fold = Fold::default();
    let mut texts: Vec<String> = Vec::new();
    let mut add = |fold: &mut Fold, line: &[u8], facts: Facts| {
        if facts.agent_sees && matches!(facts.role.as_deref(), Some("user" | "assistant")) {
            texts.extend(dialect.listed_text(line).filter(|text| !text.is_empty()));
        }
        dialect.fold(fold, &facts);
    };
    let mut lines = Lines::new(file, Vec::new(), u64::MAX);
    let mut at_start = true;
    while let Some((block, _)) = lines.next_block()? {
        let begins = if at_start {
            dialect.passed_over(block)
        } else {
            0
        };
        at_start = false;
        let block = &block[begins..];
        for line in block.split(|byte| *byte == b'\n') {
            if let Some(facts) = dialect.facts_of_line(line) {
                add(&mut fold, line, facts);
                continue;
            }
            dialect.fold_line(&mut fold, line);
            for piece in split(line) {
                // The agent ignores a line that holds more than one value.
                if let PieceKind::Value { fused: false } = piece.kind {
                    let value = &line[piece.range];
                    add(&mut fold, value, dialect.facts(value));
                }
            }
        }
    }
    let facts = dialect.session(&[SourceFacts {
        relative: &path,
        mtime_ms: identity.mtime_ms(),
        fold: &fold,
        part: SourcePart::Main,
        unlisted: None,
        problems: (0, None),
    }]);
    Ok(facts.hidden.is_none().then(|| SessionInfo {
        path,
        id: facts.id,
        cwd: facts.cwd,
        name: facts.name,
        // As the header has it, wherever the file lies.
        parent_session_path: fold.header.and_then(|header| header.parent_session),
        created_ms: facts.created_ms,
        modified_ms: facts.modified_ms,
        message_count: facts.message_count,
        first_message: facts.first_message,
        all_messages_text: texts.join(" "),
    }))
}
