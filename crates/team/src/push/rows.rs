//! When are the rows of a bundle made, and from what?

use std::collections::{BTreeMap, BTreeSet};

use super::Push;
use super::batches::BATCH_PIECES;
use super::files::problem_with;
use crate::error::Error;
use crate::manifest::{Manifest, Place};
use crate::rows::{Bundle, BundleKey, RowMaker, beside, seal};

/// The seal of a bundle that has no rows, since not all of it can be read.
const WITHOUT_ROWS: &str = "";
/// Why a session is not asked in SQL.
const CANNOT_BE_READ: &str =
    "not all of its blocks are in the store, so its session has no rows for `sql --at team`";

impl Push<'_> {
    /// All files of a bundle are read: its manifests may be sent, with their rows.
    pub(super) fn close(&mut self, key: &BundleKey) -> Result<(), Error> {
        self.make_rows(key)?;
        let is_full = |(_, maker): &(_, RowMaker)| maker.is_full();
        let is_full = self.rows.as_ref().is_some_and(is_full);
        match is_full || self.batch.manifests.len() >= BATCH_PIECES {
            true => self.send(),
            false => Ok(()),
        }
    }

    /// Make the rows of a bundle, where those that are there are of something else.
    fn make_rows(&mut self, key: &BundleKey) -> Result<(), Error> {
        let Some((mut seals, mut maker)) = self.rows.take() else {
            return Ok(());
        };
        let made = self.make_rows_by(key, &mut seals, &mut maker);
        self.rows = Some((seals, maker));
        made
    }

    fn make_rows_by(
        &mut self,
        key: &BundleKey,
        seals: &mut BTreeMap<BundleKey, String>,
        maker: &mut RowMaker,
    ) -> Result<(), Error> {
        let places = self.bundles.places(key);
        let beside: BTreeSet<Place> = places.iter().filter_map(beside).collect();
        // Rows of a part of it would take the place of those of all.
        let is_unread = self.unread.values().any(|of| of == key)
            || beside.iter().any(|of| self.unread.contains_key(of));
        if is_unread {
            return Ok(());
        }
        let all = places
            .iter()
            .chain(beside.iter().filter(|of| !places.contains(of)));
        let all: Vec<&Manifest> = all.filter_map(|of| self.there.get(of)).collect();
        let seal = seal(all.iter().copied());
        if all.is_empty() || seals.get(key) == Some(&seal) {
            return Ok(());
        }
        let all: Vec<Manifest> = all.into_iter().cloned().collect();
        for manifest in &all {
            if maker.has(manifest) {
                continue;
            }
            self.send_blocks()?;
            let Some(said) = self.said(manifest)? else {
                self.has_no_rows(key, manifest, seals, maker);
                return Ok(());
            };
            maker.write(manifest, said.iter().map(Vec::as_slice))?;
        }
        complete(key, seal, places, seals, maker);
        Ok(())
    }

    /// What nobody can read has no rows: older ones may say what is left out by now.
    fn has_no_rows(
        &mut self,
        key: &BundleKey,
        manifest: &Manifest,
        seals: &mut BTreeMap<BundleKey, String>,
        maker: &mut RowMaker,
    ) {
        let problem = problem_with(&manifest.place, &manifest.session, CANNOT_BE_READ);
        // It is met once more where bundles are looked at again.
        if !self.pushed.problems.contains(&problem) {
            self.pushed.problems.push(problem);
        }
        if seals.get(key).is_some_and(|seal| seal != WITHOUT_ROWS) {
            complete(key, WITHOUT_ROWS.to_owned(), Vec::new(), seals, maker);
        }
    }

    /// What the blocks of a file in the store say; `None`: they are not all there.
    fn said(&mut self, manifest: &Manifest) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let mut said = Vec::new();
        for part in &manifest.parts {
            let (host, id) = (self.host, part.id.clone());
            let packed = self.store.ask(move |store| store.packed(host, &[&id]))?;
            match packed.get(&part.id).map(|packed| part.unpack(packed)) {
                Some(Ok(bytes)) => said.push(bytes),
                _ => return Ok(None),
            }
        }
        Ok(Some(said))
    }

    /// Make the rows that an older version did not, or that were taken back with another file of
    /// their bundle.
    ///
    /// Bundles that were `closed` by this push, and are in the store as they were left, are done,
    /// unless a file beside them may have been taken back since.
    pub(super) fn mend_rows(&mut self, closed: &BTreeSet<BundleKey>) -> Result<(), Error> {
        let host = self.host;
        let Some((seals, _)) = &mut self.rows else {
            return Ok(());
        };
        let there = self.store.ask(move |store| store.seals(host))?;
        let left = std::mem::replace(seals, there.unwrap_or_default());
        let is_as_closed = self.pushed.taken_back == 0;
        let is_done = |key: &BundleKey| {
            is_as_closed && closed.contains(key) && left.get(key) == seals.get(key)
        };
        let keys = self.bundles.keys().filter(|key| !is_done(key));
        let keys: Vec<BundleKey> = keys.cloned().collect();
        keys.iter().try_for_each(|key| self.close(key))?;
        self.send()
    }
}

/// The rows of a bundle are made, of these files.
fn complete(
    key: &BundleKey,
    seal: String,
    places: Vec<Place>,
    seals: &mut BTreeMap<BundleKey, String>,
    maker: &mut RowMaker,
) {
    seals.insert(key.clone(), seal.clone());
    maker.complete(Bundle {
        key: key.clone(),
        seal,
        places,
    });
}
