//! What is taken back of what was sent before?

use std::collections::BTreeSet;

use sessionary::index::SharedFile;

use super::Push;
use crate::block::BlockId;
use crate::error::{Error, Problem};
use crate::manifest::{Manifest, Place, RAW};
use crate::settings::Settings;
use crate::store::{self, Store};

impl Push<'_> {
    /// Whether a manifest has nothing more to do in the store, whatever there is of its file:
    /// somebody took it back, and was cut off; or it says secrets that are not to be sent any more.
    fn is_over(&self, manifest: &Manifest) -> bool {
        let (path, session) = (&*manifest.place.path, &*manifest.session);
        !self.settings.repositories.contains(&manifest.repository)
            || self.settings.withholds(session, path)
            // By the same rules it might be said when it was sent.
            || manifest.source.form != self.form && !self.may_say(path, session)
            || manifest.source.form == RAW && !self.options.raw
    }

    /// Take back what is not shared any more. A session that was moved leaves its old place; one
    /// that is gone stays, until it is asked for. What was sent stays where only nothing says any
    /// more of which repository it is, as when a directory is gone: that is no reason to take it
    /// from others.
    pub(super) fn take_back(
        &mut self,
        files: &[SharedFile],
        guesses: &BTreeSet<Place>,
    ) -> Result<(), Error> {
        let places: BTreeSet<(&str, &str)> = files
            .iter()
            .map(|file| (&*file.agent, &*file.path))
            .collect();
        let sessions: BTreeSet<(&str, &str)> = files
            .iter()
            .map(|file| (&*file.agent, &*file.session))
            .collect();
        let mut back = Vec::new();
        for (place, manifest) in &self.there {
            if self.is_over(manifest) {
                back.push(place.clone());
                continue;
            }
            if places.contains(&(&*place.agent, &*place.path)) || guesses.contains(place) {
                continue;
            }
            let is_moved = sessions.contains(&(&*place.agent, &*manifest.session));
            match is_moved || self.options.prune {
                true => back.push(place.clone()),
                false => self.pushed.gone += 1,
            }
        }
        self.pushed.taken_back = back.len() as u64;
        for place in &back {
            if let Some(manifest) = self.there.remove(place) {
                self.bundles.remove(&manifest);
                self.may_go.extend(ids(&manifest).cloned());
            }
        }
        match self.options.dry_run {
            true => Ok(()),
            false => {
                let host = self.host;
                self.store.later(move |store| store.take_back(host, &back))
            }
        }
    }

    /// Remove what no manifest needs, and wait until the store holds what is new.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        if self.options.dry_run {
            return Ok(());
        }
        let (host, has_put) = (self.host, self.has_put);
        let may_go = match self.knows_all {
            true => &self.blocks,
            false => &self.may_go,
        };
        let unnamed = unnamed(self.there.values(), may_go);
        self.store.later(move |store| {
            store.sweep(host, &unnamed)?;
            match has_put {
                true => store.settle(),
                false => Ok(()),
            }
        })
    }
}

/// The blocks that no manifest names.
fn unnamed<'m>(
    manifests: impl Iterator<Item = &'m Manifest>,
    blocks: &BTreeSet<BlockId>,
) -> BTreeSet<BlockId> {
    let named: BTreeSet<&BlockId> = manifests.flat_map(ids).collect();
    let unnamed = blocks.iter().filter(|id| !named.contains(id));
    unnamed.cloned().collect()
}

/// The blocks that a manifest names.
pub(super) fn ids(manifest: &Manifest) -> impl Iterator<Item = &BlockId> {
    manifest.parts.iter().map(|part| &part.id)
}

/// What was taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// The manifests.
    pub manifests: Vec<Manifest>,
    /// Manifests that could not be read, and so are in the store still.
    pub problems: Vec<Problem>,
}

/// Take files of this host back from the store, with the blocks that no other of its files needs:
/// those for which `which` is true.
///
/// # Errors
/// When the store does not answer, or does not know this machine any more, though it has pushed.
pub fn take_back(
    store: &mut dyn Store,
    settings: &Settings,
    dry_run: bool,
    which: impl Fn(&Manifest) -> bool,
) -> Result<TakenBack, Error> {
    let host = settings.host.as_str();
    let there = match store.manifests(host)? {
        Some(there) => there,
        None if settings.has_pushed => return Err(store::is_not_known()),
        None => return Ok(TakenBack::default()),
    };
    let (back, stays): (Vec<_>, Vec<_>) = there.files.into_iter().partition(|(_, of)| which(of));
    if !dry_run {
        store.claim(&settings.this_host())?;
        let places: Vec<Place> = back.iter().map(|(place, _)| place.clone()).collect();
        store.take_back(host, &places)?;
        let mut may_go = store.blocks(host)?;
        if !there.problems.is_empty() {
            // Which blocks those manifests name that could not be read is not known.
            let named: BTreeSet<&BlockId> = back.iter().flat_map(|(_, of)| ids(of)).collect();
            may_go.retain(|id| named.contains(id));
        }
        let unnamed = unnamed(stays.iter().map(|(_, manifest)| manifest), &may_go);
        store.sweep(host, &unnamed)?;
    }
    Ok(TakenBack {
        manifests: back.into_iter().map(|(_, manifest)| manifest).collect(),
        problems: there.problems,
    })
}
