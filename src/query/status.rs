//! What is in the index, where does it come from, and how current is it?

use std::path::{Path, PathBuf};

use crate::catalogue::read::{StoredSession, Totals};
use crate::catalogue::roots::RootCounts;
use crate::error::Error;
use crate::model::{RootStatus, SCHEMA_VERSION, Status, UnindexedText, iso};
use crate::query::Snapshot;
use crate::source::identity::now_ns;
use crate::source::links::NOT_FOLLOWED;
use crate::source::root::RootSpec;

impl Snapshot<'_> {
    /// When all files were looked at last: just now, where opening did.
    fn last_scan_ms(&self, totals: &Totals) -> Option<i64> {
        let here = self.stores.was_checked.then(|| now_ns() / 1_000_000);
        here.max(totals.last_scan_ms)
    }

    /// All sessions of the roots this index is configured for.
    pub(crate) fn stored_sessions(&self) -> Result<Vec<StoredSession>, Error> {
        Ok(self.catalogue.sessions(&self.root_numbers()?)?)
    }

    pub(crate) fn root_numbers(&self) -> Result<Vec<i64>, Error> {
        let mut roots = Vec::new();
        for spec in &self.config().roots {
            roots.extend(self.catalogue.root_of(&spec.agent, &spec.path)?);
        }
        Ok(roots)
    }

    /// How many links below the roots lead out of them and are not followed.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn links_not_followed(&self) -> Result<u64, Error> {
        let mut links = 0;
        for root in self.root_numbers()? {
            links += self.catalogue.links_not_followed(root, NOT_FOLLOWED)?;
        }
        Ok(links)
    }

    /// Whether there is any session.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn has_sessions(&self) -> Result<bool, Error> {
        Ok(self.catalogue.has_sessions()?)
    }

    /// What there is, where, and how current. Whether somebody writes or watches is for others to
    /// say.
    pub(crate) fn status(&self) -> Result<Status, Error> {
        let (config, catalogue) = (self.config(), self.catalogue);
        let stored = catalogue.roots(&config.formats)?;
        let mut roots = Vec::new();
        for spec in &config.roots {
            let root = catalogue.root_of(&spec.agent, &spec.path)?;
            let known = stored.iter().find(|known| Some(known.root) == root);
            let mut status = root_status(spec, known);
            if let (Some(root), Some(format)) = (root, config.format(&spec.format)) {
                status.unknown_types = self.unknown_types(root, format)?;
            }
            roots.push(status);
        }
        let totals = catalogue.totals()?;
        let found = self.words()?;
        let lack = self.lack(&found)?;
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
        let catalogue_path = config.catalogue_path();
        let [wal, shm] = ["sqlite-wal", "sqlite-shm"].map(|end| catalogue_path.with_extension(end));
        Ok(Status {
            schema_version: SCHEMA_VERSION,
            index_dir: config.index_dir.clone(),
            generation: crate::catalogue::GENERATION,
            roots,
            sessions: totals.sessions,
            entries: totals.entries,
            problems: totals.problems,
            unread: totals.unread,
            passed_over: totals.passed_over,
            outstanding: lack.entries,
            outstanding_bytes: lack.bytes,
            owed: UnindexedText::of(lack.entries, lack.bytes),
            words_damage: found.damage.clone(),
            catalogue_bytes: size(&catalogue_path) + size(&wal) + size(&shm),
            words_bytes: walkdir::WalkDir::new(config.words_dir())
                .into_iter()
                .flatten()
                .filter_map(|entry| entry.metadata().ok())
                .filter(|m| m.is_file())
                .map(|m| m.len())
                .sum(),
            source_bytes: totals.source_bytes,
            last_scan: self.last_scan_ms(&totals).and_then(iso),
            last_scan_ms: self.last_scan_ms(&totals),
            writer: config.has_writer(),
            watcher: None,
        })
    }
}

/// What is known of a root.
fn root_status(spec: &RootSpec, known: Option<&RootCounts>) -> RootStatus {
    let first_unknown = known.and_then(|root| root.first_unknown.as_ref());
    RootStatus {
        agent: spec.agent.clone(),
        label: spec.label.clone(),
        path: spec.path.clone(),
        why: spec.why.to_string(),
        exists: spec.path.is_dir(),
        files: known.map_or(0, |root| root.files),
        sessions: known.map_or(0, |root| root.sessions),
        excluded: known.map_or(0, |root| root.excluded),
        links_not_followed: known.map_or(0, |root| root.links_not_followed),
        newest: known.and_then(|root| root.newest_ms).and_then(iso),
        newest_ms: known.and_then(|root| root.newest_ms),
        unknown: known.map_or(0, |root| root.unknown),
        first_unknown: first_unknown.map(PathBuf::from),
        entries: known.map_or(0, |root| root.entries),
        unparsed: known.map_or(0, |root| root.unparsed),
        unknown_types: Vec::new(),
        error: known.and_then(|root| root.error.clone()),
    }
}
