//! Which sessions are there? The agents' own lists, row by row, then what they would not list.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::collation::Collation;
use crate::catalogue::Catalogue;
use crate::catalogue::read::StoredSession;
use crate::index::{Error, Index};
use crate::ingest::entry_bytes;
use crate::model::{Listing, RootStatus, SCHEMA_VERSION, Status, iso};

/// Which sessions a list shows.
#[derive(Debug, Clone, Default)]
pub struct ListScope {
    /// Only sessions of this working directory (by the session's header, links resolved on both sides).
    pub cwd: Option<PathBuf>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Fill [`crate::model::SessionRow::all_messages_text`], read from the files.
    pub with_text: bool,
    /// At most so many.
    pub limit: Option<usize>,
}

impl Index {
    /// The sessions in the scope: first the agents' rows in the agents' order, then the rest.
    ///
    /// Order (pi 0.87.1): `modified` descending, then the file's mtime descending (all projects only), then its name descending.
    pub fn list(&self, scope: &ListScope) -> Result<Listing, Error> {
        let all = self.stored_sessions()?;
        let total = all.len();
        let mut places = Places::default();
        let cwd = scope.cwd.as_deref().map(canonical);
        let mut chosen: Vec<StoredSession> = all
            .into_iter()
            .filter(|s| {
                scope
                    .agent
                    .as_ref()
                    .is_none_or(|agent| *agent == s.row.agent)
            })
            .filter(|s| cwd.as_ref().is_none_or(|cwd| places.is_at(&s.row.cwd, cwd)))
            .collect();
        let elsewhere = (total - chosen.len()) as u64;
        sort_as_agents_do(&mut chosen, cwd.is_none());
        chosen.truncate(scope.limit.unwrap_or(usize::MAX));
        let mut rows = Vec::with_capacity(chosen.len());
        for mut stored in chosen {
            if scope.with_text
                && let Some(catalogue) = &self.catalogue
            {
                stored.row.all_messages_text = Some(self.text_of(catalogue, &stored)?);
            }
            rows.push(stored.row);
        }
        Ok(Listing {
            schema_version: SCHEMA_VERSION,
            complete: self.complete,
            pending_files: self.pending_files,
            sessions: rows,
            elsewhere,
        })
    }

    /// All sessions of the roots this index is configured for.
    pub(crate) fn stored_sessions(&self) -> Result<Vec<StoredSession>, Error> {
        let Some(catalogue) = &self.catalogue else {
            return Ok(Vec::new());
        };
        Ok(catalogue.sessions(&self.root_numbers(catalogue)?)?)
    }

    pub(crate) fn root_numbers(&self, catalogue: &Catalogue) -> Result<Vec<i64>, Error> {
        let mut roots = Vec::new();
        for spec in &self.config.roots {
            roots.extend(catalogue.root_of(&spec.agent, &spec.path)?);
        }
        Ok(roots)
    }

    /// User and assistant text of all branches in file order, joined as the agent joins it.
    fn text_of(&self, catalogue: &Catalogue, stored: &StoredSession) -> Result<String, Error> {
        let Some(format) = self.config.format(&stored.format) else {
            return Ok(String::new());
        };
        let mut texts = Vec::new();
        let mut open: HashMap<i64, (PathBuf, Option<File>)> = HashMap::new();
        for entry in catalogue.entries(stored.session)? {
            if !entry.agent_sees || !matches!(entry.role.as_deref(), Some("user" | "assistant")) {
                continue;
            }
            let (path, file) = match open.entry(entry.source) {
                std::collections::hash_map::Entry::Occupied(open) => open.into_mut(),
                std::collections::hash_map::Entry::Vacant(new) => {
                    let Some((path, _)) = catalogue.source_place(entry.source)? else {
                        continue;
                    };
                    new.insert((path, None))
                }
            };
            let bytes = entry_bytes(path, file, entry.start, entry.length, entry.hash);
            if let Some(record) = bytes.map_err(|e| Error::io(path, e))?
                && let Some(text) = format.listed_text(&record)
            {
                texts.push(text);
            }
        }
        Ok(texts.join(" "))
    }

    /// What there is, where, and how current.
    pub fn status(&self) -> Result<Status, Error> {
        let stored = match &self.catalogue {
            Some(catalogue) => catalogue.roots()?,
            None => Vec::new(),
        };
        let mut roots = Vec::new();
        for spec in &self.config.roots {
            let known = stored
                .iter()
                .find(|r| r.agent == spec.agent && r.path == spec.path);
            roots.push(RootStatus {
                agent: spec.agent.clone(),
                label: spec.label.clone(),
                path: spec.path.clone(),
                why: spec.why.clone(),
                exists: spec.path.is_dir(),
                files: known.map_or(0, |r| r.files),
                sessions: known.map_or(0, |r| r.sessions),
                newest: known.and_then(|r| r.newest_ms).and_then(iso),
                error: known.and_then(|r| r.error.clone()),
            });
        }
        let (sessions, entries, problems, source_bytes, last_scan) = match &self.catalogue {
            Some(catalogue) => catalogue.totals()?,
            None => (0, 0, 0, 0, None),
        };
        let outstanding = match &self.catalogue {
            Some(catalogue) => {
                let (_, done) = crate::ingest::open_words(catalogue, &self.config.words_dir())?;
                catalogue.outstanding(done)?.1
            }
            None => 0,
        };
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
        let catalogue_path = self.config.catalogue_path();
        let wal = catalogue_path.with_extension("sqlite-wal");
        Ok(Status {
            schema_version: SCHEMA_VERSION,
            index_dir: self.config.index_dir.clone(),
            generation: crate::catalogue::GENERATION,
            roots,
            sessions,
            entries,
            problems,
            outstanding,
            catalogue_bytes: size(&catalogue_path) + size(&wal),
            words_bytes: walkdir::WalkDir::new(self.config.words_dir())
                .into_iter()
                .flatten()
                .filter_map(|entry| entry.metadata().ok())
                .filter(|m| m.is_file())
                .map(|m| m.len())
                .sum(),
            source_bytes,
            last_scan: last_scan.and_then(iso),
            writer: self.has_writer(),
        })
    }
}

/// `modified` descending, ties as pi breaks them; sessions the agents would not list at the end.
pub(super) fn sort_as_agents_do(sessions: &mut [StoredSession], by_mtime: bool) {
    let times = |s: &StoredSession| {
        (
            !s.row.listed_by_agent,
            Reverse(s.modified_ms),
            Reverse(if by_mtime { s.file_ms } else { 0 }),
        )
    };
    let name = |s: &StoredSession| {
        let name = s.row.path.file_name();
        name.map(|name| Collation::of(&name.to_string_lossy()))
    };
    // Names are costly to compare and hardly ever decide.
    sessions.sort_by(|a, b| times(a).cmp(&times(b)).then_with(|| name(b).cmp(&name(a))));
}

/// Working directories with links resolved, each looked up once.
#[derive(Default)]
pub(super) struct Places(HashMap<String, PathBuf>);

impl Places {
    pub(super) fn is_at(&mut self, cwd: &str, at: &Path) -> bool {
        if cwd.is_empty() {
            return false;
        }
        if !self.0.contains_key(cwd) {
            self.0.insert(cwd.to_string(), canonical(Path::new(cwd)));
        }
        self.0.get(cwd).is_some_and(|place| place == at)
    }
}

/// Links resolved; a directory that is gone stays as written.
pub(super) fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.components().collect())
}
