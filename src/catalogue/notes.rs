//! What is stored of roots and sources besides their entries: where they are, and how the last scan
//! of them went.

use rusqlite::{Connection, params};

use super::error::Error;
use super::open::Catalogue;
use crate::model::StoredRoot;
use crate::source::discover::ForeignFile;
use crate::source::identity::{FileId, Identity};

/// How old the time of the last scan becomes before a scan that changed nothing moves it, in ms.
const SCAN_NOTED_MS: i64 = 3_600_000;

/// Ids are looked for as they are typed, often by their beginnings.
const INDEX_IDS: &str =
    "CREATE INDEX IF NOT EXISTS _entries_id ON _entries (id) WHERE id IS NOT NULL";
/// A list of a repository's sessions reads no others: see `ONLY_HERE` of the selection.
const INDEX_REMOTES: &str =
    "CREATE INDEX IF NOT EXISTS _sessions_remote ON _sessions (coalesce(repository, remote))";

impl Catalogue {
    /// The row of a root, made or brought up to date.
    pub fn ensure_root(&self, root: &crate::source::root::RootSpec) -> Result<i64, Error> {
        let known = self.root_of(&root.agent, &root.path)?;
        let host = root.host.as_deref().unwrap_or_default();
        self.with(|c| {
            let Some(known) = known else {
                return c
                    .prepare_cached(
                        "INSERT INTO _roots (host, agent, format, label, path, flat) VALUES (?6, ?1, ?2, ?3, ?4, ?5)
                         RETURNING root",
                    )?
                    .query_row(
                        params![root.agent, root.format, root.label, root.path.to_string_lossy(), root.flat, host],
                        |r| r.get(0),
                    );
            };
            // Its files may be other sessions now: the next scan compares all of them.
            let changed = c
                .prepare_cached(
                    "UPDATE _roots SET format = ?2, label = ?3, flat = ?4, host = ?5, full_scan_ms = NULL
                     WHERE root = ?1 AND (format IS NOT ?2 OR label IS NOT ?3 OR flat IS NOT ?4 OR host <> ?5)",
                )?
                .execute(params![known, root.format, root.label, root.flat, host])?;
            if changed > 0 {
                // Its sessions show the label and the host.
                self.note_changed(known)?;
                let sessions: Vec<i64> = c
                    .prepare("SELECT session FROM _sessions WHERE root = ?1 AND path <> ''")?
                    .query_map([known], |r| r.get(0))?
                    .collect::<Result<_, _>>()?;
                for session in sessions {
                    self.make_ready(session)?;
                    self.note_names(session)?;
                }
            }
            Ok(known)
        })
    }

    /// Put all sessions of a root into the feed, so that programs that keep a copy of the rows read
    /// them again.
    fn note_changed(&self, root: i64) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO _changes (session, what, id, path)
                 SELECT session, 'changed', id, path FROM _sessions WHERE root = ?1 AND path <> ''",
            )?
            .execute([root])?;
        Ok(())
    }

    /// These are the roots that are named now, no others. In a transaction of its own.
    pub fn name_roots(&self, named: &[i64]) -> Result<(), Error> {
        let named = serde_json::json!(named).to_string();
        let changed = "SELECT root FROM _roots
                       WHERE current <> (root IN (SELECT value FROM json_each(?1)))";
        let changed: Vec<i64> = self.all(changed, [&named], |r| r.get(0))?;
        if changed.is_empty() {
            return Ok(());
        }
        let name = |c: &Connection| {
            for root in &changed {
                let name = "UPDATE _roots SET current = 1 - current WHERE root = ?1";
                c.execute(name, [root])?;
                self.note_changed(*root)?;
                self.note_children_below_other_roots(*root)?;
            }
            Ok(())
        };
        self.transaction(|| self.with(name))
    }

    /// Every root of the index, with the number of its sessions.
    pub fn stored_roots(&self) -> Result<Vec<(i64, StoredRoot)>, Error> {
        let sql = "SELECT root, agent, label, path, current,
                   (SELECT count(*) FROM _sessions s WHERE s.root = r.root AND s.path <> '')
            FROM _roots r ORDER BY agent, path";
        self.all(sql, [], |r| {
            let path: String = r.get(3)?;
            let root = StoredRoot {
                agent: r.get(1)?,
                label: r.get(2)?,
                path: path.into(),
                current: r.get(4)?,
                sessions: r.get::<_, i64>(5)?.cast_unsigned(),
            };
            Ok((r.get(0)?, root))
        })
    }

    /// The roots in which copies of other machines' sessions lie.
    pub fn roots_of_other_machines(&self) -> Result<Vec<i64>, Error> {
        let sql = "SELECT root FROM _roots WHERE host <> ''";
        self.all(sql, [], |r| r.get(0))
    }

    /// Forget a root and all that was read below it. Within the transaction. A running watcher that
    /// has this root configured has to scan all of it again.
    pub fn forget_root(&self, root: i64) -> Result<(), Error> {
        let of_root = "SELECT source FROM _sources WHERE root = ?1";
        let sources: Vec<i64> = self.all(of_root, [root], |r| r.get(0))?;
        for source in sources {
            self.remove_source(source)?;
        }
        for table in ["_strays", "_folders", "_excluded", "_roots"] {
            let forget = format!("DELETE FROM {table} WHERE root = ?1");
            self.execute(&forget, [root])?;
        }
        let other = "UPDATE _store SET index_id = lower(hex(randomblob(8)))";
        self.execute(other, []).map(drop)
    }

    /// A session is about to be removed: put that into the feed.
    pub(super) fn note_gone(&self, session: i64) -> rusqlite::Result<()> {
        self.connection.execute(
            "INSERT INTO _changes (session, what, id, path) SELECT session, 'gone', id, path FROM _sessions WHERE session = ?1",
            [session],
        )?;
        Ok(())
    }

    /// What the last scan found of a root as a whole.
    pub fn note_root(
        &self,
        root: i64,
        folder: FileId,
        error: Option<&str>,
        foreign_files: &[ForeignFile],
    ) -> Result<(), Error> {
        let sql = "UPDATE _roots SET error = ?2, device = CASE WHEN ?2 IS NULL THEN ?3 ELSE device END,
                inode = CASE WHEN ?2 IS NULL THEN ?4 ELSE inode END
            WHERE root = ?1 AND (error IS NOT ?2 OR (?2 IS NULL AND (device IS NOT ?3 OR inode IS NOT ?4)))";
        self.execute(sql, params![root, error, folder.0, folder.1])?;
        if error.is_none() && self.foreign_files(root)? != foreign_files {
            self.execute("DELETE FROM _strays WHERE root = ?1", [root])?;
            for foreign_file in foreign_files {
                self.note_foreign_file(root, foreign_file)?;
            }
        }
        Ok(())
    }

    /// A file below a root that is no source, or could not be read.
    pub fn note_foreign_file(&self, root: i64, foreign_file: &ForeignFile) -> Result<(), Error> {
        self.execute(
            "INSERT OR REPLACE INTO _strays VALUES (?1, ?2, ?3, ?4)",
            params![
                root,
                foreign_file.relative,
                foreign_file.reason,
                foreign_file.unread
            ],
        )
        .map(drop)
    }

    /// Whether a full scan ever ended.
    pub fn was_scanned(&self) -> Result<bool, Error> {
        let scanned = "SELECT last_scan_ms IS NOT NULL FROM _store";
        self.one(scanned, [], |r| r.get(0))
    }

    /// Whether any session is known.
    pub fn has_sessions(&self) -> Result<bool, Error> {
        let any = "SELECT EXISTS (SELECT 1 FROM _sessions)";
        self.one(any, [], |r| r.get(0))
    }

    /// Note that a full scan ended.
    ///
    /// A scan that changed nothing moves the time by whole hours only: a scan must not cost a
    /// write, for which a disk is waited.
    pub fn note_scan(&self, now_ms: i64, changed: bool) -> Result<(), Error> {
        self.with(|c| {
            c.execute(
                "UPDATE _store SET last_scan_ms = ?1 WHERE ?2 OR last_scan_ms IS NULL OR last_scan_ms < ?1 - ?3",
                params![now_ms, changed, SCAN_NOTED_MS],
            )?;
            match changed {
                true => self.trim_changes(),
                false => Ok(()),
            }
        })
    }

    /// Make the index by which entries are found by their ids, unless it is there. Until then they
    /// are looked for among all entries, which takes some 20 ms at 300,000. Nobody who waits for a
    /// first list waits for this; kept up while an empty catalogue is filled, it would cost six
    /// times as much.
    pub fn index_ids(&self) -> Result<(), Error> {
        self.execute(INDEX_IDS, []).map(drop)
    }

    /// Make the index by which sessions are found by their repositories, unless it is there.
    pub fn index_remotes(&self) -> Result<(), Error> {
        self.execute(INDEX_REMOTES, []).map(drop)
    }

    /// Only the identity of an unchanged source moved (touched, or racy before).
    pub fn note_identity(&self, source: i64, identity: &Identity, racy: bool) -> Result<(), Error> {
        let sql = "UPDATE _sources SET device = ?2, inode = ?3, size = ?4, mtime_ns = ?5, ctime_ns = ?6, racy = ?7,
            unread = NULL WHERE source = ?1";
        self.execute(
            sql,
            params![
                source,
                identity.device,
                identity.inode,
                identity.size as i64,
                identity.mtime_ns,
                identity.ctime_ns,
                racy
            ],
        )
        .map(drop)
    }

    /// A known source that could not be read: its rows stay.
    pub fn note_unread(&self, source: i64, reason: &str) -> Result<(), Error> {
        self.execute(
            "UPDATE _sources SET unread = ?2 WHERE source = ?1",
            params![source, reason],
        )
        .map(drop)
    }
}
