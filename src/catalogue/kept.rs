//! Which sources does the archive hold, and which of them are nowhere else any more?

use std::path::{Path, PathBuf};

use rusqlite::params;

use super::beside::BESIDE_ROOT;
use super::error::Error;
use super::open::Catalogue;
use super::read::{KNOWN, StoredSource, known};
use crate::archive::{SessionName, SourcePath};

/// What of a root goes into the archive, and what came out of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RootArchive {
    /// The id of the archive whose sources below this root are catalogued.
    pub archive: Option<String>,
    /// Whether what is read below it is kept.
    pub is_kept: bool,
    /// How often that archive had forgotten something when it was asked for what is gone; `None`:
    /// not all that was gone before is catalogued yet.
    pub forgets: Option<i64>,
}

/// A source that has to be read for the archive.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct UnkeptSource {
    pub root: i64,
    pub relative: String,
}

impl Catalogue {
    /// Note in which folder the archive is. Within a transaction.
    pub fn note_archive_folder(&self, folder: &Path) -> Result<(), Error> {
        let set = "UPDATE _store SET archive = ?1 WHERE archive IS NOT ?1";
        self.execute(set, [folder.to_string_lossy()]).map(drop)
    }

    /// The folder that was noted last.
    pub fn archive_folder(&self) -> Result<Option<PathBuf>, Error> {
        let folder: Option<String> = self.one("SELECT archive FROM _store", [], |r| r.get(0))?;
        Ok(folder.map(PathBuf::from))
    }

    /// Whether an archive is the one of which this catalogue notes anything.
    pub fn knows_archive(&self, id: &str) -> Result<bool, Error> {
        let known = "SELECT EXISTS (SELECT 1 FROM _roots WHERE archive = ?1)";
        self.one(known, [id], |r| r.get(0))
    }

    /// How often the archive had been changed when this catalogue wrote to it last.
    pub fn archive_changes(&self) -> Result<i64, Error> {
        self.one("SELECT archive_changes FROM _store", [], |r| r.get(0))
    }

    /// Note how often the archive has been changed. Within a transaction.
    pub fn note_archive_changes(&self, changes: i64) -> Result<(), Error> {
        let set = "UPDATE _store SET archive_changes = ?1 WHERE archive_changes <> ?1";
        self.execute(set, [changes]).map(drop)
    }

    /// What is noted of a root.
    pub fn root_archive(&self, root: i64) -> Result<RootArchive, Error> {
        let sql = "SELECT archive, is_kept, archive_forgets FROM _roots WHERE root = ?1";
        self.one(sql, [root], |r| {
            Ok(RootArchive {
                archive: r.get(0)?,
                is_kept: r.get(1)?,
                forgets: r.get(2)?,
            })
        })
    }

    /// Note of a root what holds from now on. Where it is another archive, or what is read is kept
    /// from now on, or no longer, all of it has to be read for the archive. Within a transaction.
    pub fn note_root_archive(
        &self,
        root: i64,
        before: &RootArchive,
        now: &RootArchive,
    ) -> Result<(), Error> {
        if (&before.archive, before.is_kept) != (&now.archive, now.is_kept) {
            let unkept = now.is_kept.then_some(0);
            let set = "UPDATE _sources SET is_kept = ?2
                WHERE root = ?1 AND gone_ms IS NULL AND NOT (relative >= ?3 AND relative < ?4)";
            let (from, to) = BESIDE_ROOT;
            self.execute(set, params![root, unkept, from, to])?;
        }
        let set =
            "UPDATE _roots SET archive = ?2, is_kept = ?3, archive_forgets = ?4 WHERE root = ?1";
        let bound = params![root, now.archive, now.is_kept, now.forgets];
        self.execute(set, bound).map(drop)
    }

    /// Note that all is catalogued that was gone below a root when its archive had forgotten
    /// something so often. Within a transaction.
    pub fn note_asked(&self, root: i64, forgets: i64) -> Result<(), Error> {
        let set = "UPDATE _roots SET archive_forgets = ?2
            WHERE root = ?1 AND archive IS NOT NULL AND archive_forgets IS NULL";
        self.execute(set, [root, forgets]).map(drop)
    }

    /// Sources of a root that the archive is said to hold: those whose files are gone, and those of
    /// which all that was read is kept. Sorted by path.
    pub fn kept_sources(&self, root: i64) -> Result<Vec<StoredSource>, Error> {
        let sql = format!(
            "SELECT {KNOWN} FROM _sources
            WHERE root = ?1 AND (gone_ms IS NOT NULL OR is_kept = 1) ORDER BY relative"
        );
        self.all(&sql, [root], known)
    }

    /// Note of a source that all that was read of it is kept, or has yet to be. Within a
    /// transaction.
    pub fn note_kept(&self, root: i64, relative: &str, is_kept: bool) -> Result<(), Error> {
        let set = "UPDATE _sources SET is_kept = ?3 WHERE root = ?1 AND relative = ?2 AND is_kept IS NOT ?3";
        self.execute(set, params![root, relative, is_kept])
            .map(drop)
    }

    /// Note of a source below a root that is kept that it was read, and not for the archive. Within
    /// a transaction.
    pub fn note_unkept(&self, root: i64, relative: &str) -> Result<(), Error> {
        let set = "UPDATE _sources SET is_kept = 0
            WHERE root = ?1 AND relative = ?2 AND is_kept IS NOT 0
              AND (SELECT r.is_kept FROM _roots r WHERE r.root = ?1)";
        self.execute(set, params![root, relative]).map(drop)
    }

    /// Sources that have to be read for the archive.
    pub fn unkept(&self) -> Result<Vec<UnkeptSource>, Error> {
        let sql = "SELECT root, relative FROM _sources WHERE is_kept = 0 AND gone_ms IS NULL
            ORDER BY mtime_ns DESC";
        self.all(sql, [], |r| {
            Ok(UnkeptSource {
                root: r.get(0)?,
                relative: r.get(1)?,
            })
        })
    }

    /// What the sources of the session at this path are called in the archive.
    pub fn source_paths_of(&self, agent: &str, path: &Path) -> Result<Vec<SourcePath>, Error> {
        let sql = "SELECT r.agent, r.path, s.relative
            FROM _sessions m JOIN _session_sources USING (session) JOIN _sources s USING (source)
                JOIN _roots r ON r.root = s.root
            WHERE r.agent = ?1 AND m.path = ?2 ORDER BY s.relative";
        self.all(sql, params![agent, path.to_string_lossy()], |r| {
            Ok(SourcePath {
                agent: r.get(0)?,
                root: PathBuf::from(r.get::<_, String>(1)?),
                relative: r.get(2)?,
            })
        })
    }

    /// The same of the sessions below its root that it has started to work for it, and of those
    /// that they have; its own sources are among them. One that is there at another place is left
    /// out, as a thread that Codex has moved.
    pub fn source_paths_with_subagents(
        &self,
        agent: &str,
        path: &Path,
    ) -> Result<Vec<SourcePath>, Error> {
        let sql = "WITH RECURSIVE below(session, root) AS (
               SELECT m.session, m.root FROM _sessions m JOIN _roots r USING (root)
                   WHERE r.agent = ?1 AND m.path = ?2
               UNION SELECT c.session, c.root FROM below
                   JOIN _sessions c ON c.parent = below.session AND c.root = below.root
                   WHERE c.subagent AND NOT EXISTS (
                       SELECT 1 FROM _sessions o JOIN _session_sources f ON f.session = o.session
                           JOIN _sources s ON s.source = f.source
                       WHERE o.id = c.id AND o.session <> c.session AND s.gone_ms IS NULL))
            SELECT DISTINCT r.agent, r.path, s.relative
            FROM below b JOIN _session_sources f ON f.session = b.session
                JOIN _sources s ON s.source = f.source JOIN _roots r ON r.root = s.root
            ORDER BY r.path, s.relative";
        self.all(sql, params![agent, path.to_string_lossy()], |r| {
            Ok(SourcePath {
                agent: r.get(0)?,
                root: PathBuf::from(r.get::<_, String>(1)?),
                relative: r.get(2)?,
            })
        })
    }

    /// By what the session at this path is known in the archive.
    pub fn session_names(&self, agent: &str, path: &Path) -> Result<Vec<SessionName>, Error> {
        let sql =
            "SELECT r.agent, r.path, m.place, m.id FROM _sessions m JOIN _roots r USING (root)
            WHERE r.agent = ?1 AND m.path = ?2";
        self.all(sql, params![agent, path.to_string_lossy()], session_name)
    }

    /// By what the session of a source is known there, as far as it is catalogued.
    pub fn session_of(&self, root: i64, relative: &str) -> Result<Option<SessionName>, Error> {
        let sql = "SELECT r.agent, r.path, m.place, m.id
            FROM _sources s JOIN _session_sources USING (source) JOIN _sessions m USING (session)
                JOIN _roots r ON r.root = s.root
            WHERE s.root = ?1 AND s.relative = ?2";
        self.first(sql, params![root, relative], session_name)
    }

    /// By what the session of a source is known in the archive, as far as it is catalogued.
    pub fn session_at(&self, place: &SourcePath) -> Result<Option<SessionName>, Error> {
        match self.root_of(&place.agent, &place.root)? {
            Some(root) => self.session_of(root, &place.relative),
            None => Ok(None),
        }
    }

    /// The number of the source that is called so in the archive, if its file is gone, and its
    /// root's format.
    pub fn gone_source(&self, place: &SourcePath) -> Result<Option<(i64, String)>, Error> {
        let sql = "SELECT s.source, r.format FROM _sources s JOIN _roots r USING (root)
            WHERE r.agent = ?1 AND r.path = ?2 AND s.relative = ?3 AND s.gone_ms IS NOT NULL";
        let root = place.root.to_string_lossy();
        self.first(sql, params![place.agent, root, place.relative], |r| {
            Ok((r.get(0)?, r.get(1)?))
        })
    }

    /// Note since when the file of a source is gone; `None`: it is there. Whether that is new.
    /// Within a transaction.
    pub fn note_gone_since(&self, source: i64, gone_ms: Option<i64>) -> Result<bool, Error> {
        let set = "UPDATE _sources SET gone_ms = ?2 WHERE source = ?1 AND gone_ms IS NOT ?2";
        Ok(self.execute(set, params![source, gone_ms])? > 0)
    }
}

fn session_name(r: &rusqlite::Row<'_>) -> rusqlite::Result<SessionName> {
    Ok(SessionName {
        agent: r.get(0)?,
        root: PathBuf::from(r.get::<_, String>(1)?),
        session_key: r.get(2)?,
        id: r.get(3)?,
    })
}
