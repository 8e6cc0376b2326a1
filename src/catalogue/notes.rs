//! What is noted of roots and sources besides their entries: where they are, and how the last look at them went.

use rusqlite::params;

use super::open::{Catalogue, Error};
use crate::source::discover::Stray;
use crate::source::identity::Identity;

/// How old the time of the last scan becomes before a scan that changed nothing moves it, in ms.
const SCAN_NOTED_MS: i64 = 3_600_000;

impl Catalogue {
    /// The row of a root, made or brought up to date.
    pub fn ensure_root(&self, root: &crate::index::RootSpec) -> Result<i64, Error> {
        let changed = self.told(
            self.connection
                .prepare_cached(
                    "INSERT INTO _roots (host, agent, format, label, path, flat) VALUES ('', ?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (host, agent, path) DO UPDATE SET format = ?2, label = ?3, flat = ?5
                     WHERE format IS NOT ?2 OR label IS NOT ?3 OR flat IS NOT ?5",
                )
                .and_then(|mut s| {
                    s.execute(params![root.agent, root.format, root.label, root.path.to_string_lossy(), root.flat])
                }),
        )?;
        let root = self.root_of(&root.agent, &root.path)?;
        let root = self.told(root.ok_or(rusqlite::Error::QueryReturnedNoRows))?;
        if changed > 0 {
            // Its files may be other sessions now: the next look compares all of them.
            self.told(self.connection.execute(
                "UPDATE _roots SET full_scan_ms = NULL WHERE root = ?1",
                [root],
            ))?;
            // Its sessions show the label.
            self.told(self.connection.execute(
                "INSERT INTO _changes (session, what, id, path)
                 SELECT session, 'changed', id, path FROM _sessions WHERE root = ?1 AND path <> ''",
                [root],
            ))?;
        }
        Ok(root)
    }

    /// A session is about to go: those who poll are told.
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
        device: i64,
        error: Option<&str>,
        strays: &[Stray],
    ) -> Result<(), Error> {
        self.told(self.connection.execute(
            "UPDATE _roots SET error = ?2, device = CASE WHEN ?2 IS NULL THEN ?3 ELSE device END
             WHERE root = ?1 AND (error IS NOT ?2 OR (?2 IS NULL AND device IS NOT ?3))",
            params![root, error, device],
        ))?;
        if error.is_none() && self.strays(root)? != strays {
            self.told(
                self.connection
                    .execute("DELETE FROM _strays WHERE root = ?1", [root]),
            )?;
            for stray in strays {
                self.note_stray(root, stray)?;
            }
        }
        Ok(())
    }

    /// A file below a root that is no source, or could not be read.
    pub fn note_stray(&self, root: i64, stray: &Stray) -> Result<(), Error> {
        self.told(
            self.connection
                .prepare_cached("INSERT OR REPLACE INTO _strays VALUES (?1, ?2, ?3, ?4)")
                .and_then(|mut s| {
                    s.execute(params![root, stray.relative, stray.reason, stray.unread])
                }),
        )
        .map(|_| ())
    }

    /// Whether a full scan ever ended.
    pub fn was_scanned(&self) -> Result<bool, Error> {
        let scanned = "SELECT last_scan_ms IS NOT NULL FROM _store";
        let cached = self.connection.prepare_cached(scanned);
        self.told(cached.and_then(|mut s| s.query_row([], |r| r.get(0))))
    }

    /// Whether any session is known.
    pub fn has_sessions(&self) -> Result<bool, Error> {
        let any = "SELECT EXISTS (SELECT 1 FROM _sessions)";
        let cached = self.connection.prepare_cached(any);
        self.told(cached.and_then(|mut s| s.query_row([], |r| r.get(0))))
    }

    /// Note that a full scan ended.
    ///
    /// A scan that changed nothing moves the time by whole hours only: a look must not cost a write, for which a disk is waited.
    pub fn note_scan(&self, now_ms: i64, changed: bool) -> Result<(), Error> {
        let run = || -> rusqlite::Result<()> {
            self.connection.execute(
                "UPDATE _store SET last_scan_ms = ?1 WHERE ?2 OR last_scan_ms IS NULL OR last_scan_ms < ?1 - ?3",
                params![now_ms, changed, SCAN_NOTED_MS],
            )?;
            match changed {
                true => self.trim_changes(),
                false => Ok(()),
            }
        };
        self.told(run())
    }

    /// Only the identity of an unchanged source moved (touched, or racy before).
    pub fn note_identity(&self, source: i64, identity: &Identity, racy: bool) -> Result<(), Error> {
        self.told(
            self.connection
                .prepare_cached(
                    "UPDATE _sources SET device = ?2, inode = ?3, size = ?4, mtime_ns = ?5, ctime_ns = ?6, racy = ?7,
                     unread = NULL WHERE source = ?1",
                )
                .and_then(|mut s| {
                    s.execute(params![
                        source,
                        identity.device,
                        identity.inode,
                        identity.size as i64,
                        identity.mtime_ns,
                        identity.ctime_ns,
                        racy
                    ])
                }),
        )
        .map(|_| ())
    }

    /// A known source that could not be read: its rows stay.
    pub fn note_unread(&self, source: i64, reason: &str) -> Result<(), Error> {
        self.told(self.connection.execute(
            "UPDATE _sources SET unread = ?2 WHERE source = ?1",
            params![source, reason],
        ))
        .map(|_| ())
    }
}
