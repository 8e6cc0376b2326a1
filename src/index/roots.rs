//! Which roots does the index hold, and how are roots forgotten that are no longer configured?

use std::path::PathBuf;

use super::{Error, Index, Indexer};
use crate::model::{Report, StoredRoot};

impl Index {
    /// Every root of the index, those too that no sync names any more: views tell their sessions
    /// still, with `current = 0`.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn stored_roots(&self) -> Result<Vec<StoredRoot>, Error> {
        let roots = self.made()?.stored_roots()?;
        Ok(roots.into_iter().map(|(_, root)| root).collect())
    }
}

impl Indexer {
    /// As [`Index::stored_roots`].
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn stored_roots(&self) -> Result<Vec<StoredRoot>, Error> {
        let roots = self.catalogue.stored_roots()?;
        Ok(roots.into_iter().map(|(_, root)| root).collect())
    }

    /// Those of this configuration are the roots that are named now.
    pub(super) fn name_roots(&self) -> Result<(), Error> {
        let mut named = Vec::new();
        for spec in &self.config.roots {
            named.extend(self.catalogue.root_of(&spec.agent, &spec.path)?);
        }
        Ok(self.catalogue.name_roots(&named)?)
    }

    /// Forget roots and all that was read below them. Only roots that were not configured in the
    /// last [`Indexer::sync`] are forgotten: the ones with these paths, or all. Session files are
    /// not touched. A forgotten root that is configured again is read again.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process writes now, and when the catalogue cannot be written.
    pub fn forget_roots(&mut self, paths: Option<&[PathBuf]>) -> Result<Vec<StoredRoot>, Error> {
        self.hold()?;
        self.catalogue.transaction(|| {
            let mut forgotten = Vec::new();
            for (number, root) in self.catalogue.stored_roots()? {
                let is_meant = paths.is_none_or(|paths| paths.contains(&root.path));
                if !root.current && is_meant {
                    self.catalogue.forget_root(number)?;
                    forgotten.push(root);
                }
            }
            Ok(forgotten)
        })
    }

    /// Forget all that was read below the folders of other machines, and wipe it from the index's
    /// files: for a program that has removed these copies. The sessions of copies that are still
    /// there are read again by the next sync.
    ///
    /// # Errors
    /// [`Error::Busy`] when another process writes now, and when the catalogue cannot be written.
    pub fn forget_other_machines(&mut self) -> Result<Report, Error> {
        self.hold()?;
        let roots = self.catalogue.roots_of_other_machines()?;
        let mut report = Report::default();
        if roots.is_empty() {
            return Ok(report);
        }
        let (catalogue, config) = (&self.catalogue, &mut self.config);
        catalogue.transaction(|| {
            roots
                .iter()
                .try_for_each(|root| catalogue.forget_root(*root))?;
            catalogue.request_wipe()
        })?;
        config.roots.retain(|root| root.host.is_none());
        self.wipe(&mut report)?;
        Ok(report)
    }
}
