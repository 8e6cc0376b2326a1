//! How does something leave the archive, and who keeps it from coming back?

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::gone::placement;
use super::{Keeper, SyncedRoot};
use crate::archive::{self, Archive, SessionName, SourcePath};
use crate::catalogue::{Catalogue, Error};
use crate::format::{Format, format_named};
use crate::ingest::exclude::is_in;

impl Keeper {
    /// Forget these sources in the archive, and in the catalogue where they are nowhere else; they
    /// are all of these sessions, of which nothing is kept again, if any are named. How many there
    /// were. Within a transaction of the catalogue; [`Keeper::wipe`] has to follow.
    ///
    /// # Errors
    /// When the archive or the catalogue cannot be written.
    pub fn forget(
        &self,
        catalogue: &Catalogue,
        places: &[SourcePath],
        for_good: &[SessionName],
        formats: &[&'static dyn Format],
    ) -> Result<u64, Error> {
        let Some(archive) = self.archive()? else {
            return Ok(0);
        };
        if places.is_empty() && for_good.is_empty() {
            return Ok(0);
        }
        let forgotten = forget_in(archive, places, for_good).map_err(|error| self.failed(error))?;
        self.forget_catalogued(catalogue, places, formats)?;
        Ok(forgotten)
    }

    /// What was forgotten in the archive is nowhere any more where its file is gone.
    fn forget_catalogued(
        &self,
        catalogue: &Catalogue,
        places: &[SourcePath],
        formats: &[&'static dyn Format],
    ) -> Result<(), Error> {
        self.note_changes(catalogue)?;
        for place in places {
            let Some((source, format)) = catalogue.gone_source(place)? else {
                continue;
            };
            let (_, left) = catalogue.remove_source(source)?;
            // Another index may have forgotten it in the archive before.
            catalogue.request_wipe()?;
            if let Some(format) = format_named(formats, &format) {
                for session in left {
                    catalogue.refold_session(session, format)?;
                }
            }
        }
        Ok(())
    }

    /// Note how often the archive has been changed. Whether it was since that was noted last.
    /// Within a transaction of the catalogue.
    pub fn note_changes_since(&self, catalogue: &Catalogue) -> Result<bool, Error> {
        let changes = self.or_fail(self.archive.as_ref().map(Archive::changes));
        let has_changed = changes != Some(catalogue.archive_changes()?);
        self.note_changes(catalogue)?;
        Ok(has_changed)
    }

    /// Forget what is kept of the sessions below a root that are left out. Where the archive cannot
    /// be written the next sync does it. Within a transaction of the catalogue.
    pub fn forget_left_out(
        &self,
        catalogue: &Catalogue,
        SyncedRoot { spec, format, .. }: SyncedRoot<'_>,
        is_out: impl Fn(&str) -> bool,
        formats: &[&'static dyn Format],
    ) -> Result<(), Error> {
        let archive = self.archive.as_ref();
        let places = archive.map(|archive| archive.places_below(&spec.agent, &spec.path));
        let mut places = self.or_fail(places).unwrap_or_default();
        places.retain(|place| {
            let placed = placement(spec, format, &place.relative);
            placed.is_some_and(|(session, ..)| is_out(&session))
        });
        let forget = |archive| forget_in(archive, &places, &[]);
        match places.is_empty() || self.or_fail(archive.map(forget)).is_none() {
            true => Ok(()),
            false => self.forget_catalogued(catalogue, &places, formats),
        }
    }

    /// The sources in the archive whose path is one of these.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn places_at(&self, is_it: impl Fn(&Path) -> bool) -> Result<Vec<SourcePath>, Error> {
        match self.archive()? {
            Some(archive) => places_in(archive, is_it).map_err(|error| self.failed(error)),
            None => Ok(Vec::new()),
        }
    }

    /// The sources in the archive that lie in the folders of the sessions of these sources.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn parts_of(
        &self,
        places: &[SourcePath],
        formats: &[&'static dyn Format],
    ) -> Result<Vec<SourcePath>, Error> {
        match self.archive()? {
            Some(archive) => parts_in(archive, places, formats).map_err(|error| self.failed(error)),
            None => Ok(Vec::new()),
        }
    }

    /// Whether the archive holds something of one of these sources.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn still_holds(&self, places: &[SourcePath]) -> Result<bool, Error> {
        let Some(archive) = self.archive()? else {
            return Ok(false);
        };
        for place in places {
            let kept = archive.generations(place);
            if !kept.map_err(|error| self.failed(error))?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether what the archive forgot is still to be wiped from its files, as far as that can be
    /// read.
    pub fn is_wipe_requested(&self) -> bool {
        let asked = self.archive.as_ref().map(Archive::is_wipe_requested);
        self.or_fail(asked).unwrap_or(false)
    }

    /// Leave nothing in the archive's files of what was forgotten. `false`: another process still
    /// uses it after this time, so it has to be done again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn wipe(&self, patience: Duration) -> Result<bool, Error> {
        match self.archive()? {
            Some(archive) => archive.wipe(patience).map_err(|error| self.failed(error)),
            None => Ok(true),
        }
    }

    /// Whether a source may be kept: not where its session was forgotten, though it may be a file
    /// that was not there before, or was elsewhere. What is kept of another copy goes on to be.
    /// `None`: it is not known yet of which session it is.
    pub(super) fn may_be_kept(
        &self,
        catalogue: &Catalogue,
        root: i64,
        place: &SourcePath,
    ) -> Result<Option<bool>, Error> {
        let archive = self.archive.as_ref();
        let forgets = archive.map(Archive::forgets_any);
        if !self.or_fail(forgets).unwrap_or(false) {
            return Ok(Some(true));
        }
        let kept = archive.map(|archive| archive.generations(place));
        if self.or_fail(kept).is_some_and(|kept| !kept.is_empty()) {
            return Ok(Some(true));
        }
        let Some(session) = catalogue.session_of(root, &place.relative)? else {
            return Ok(None);
        };
        let asked = archive.map(|archive| archive.is_forgotten_session(&session));
        let is_forgotten = self.or_fail(asked).unwrap_or(false);
        // While a file is being read its session has no id yet.
        Ok((is_forgotten || !session.id.is_empty()).then_some(!is_forgotten))
    }
}

/// Forget these sources in the archive; see [`Keeper::forget`]. How many there were.
fn forget_in(
    archive: &Archive,
    places: &[SourcePath],
    for_good: &[SessionName],
) -> Result<u64, archive::Error> {
    archive.transaction(|| {
        for session in for_good {
            archive.forget_session(session)?;
        }
        let mut forgotten = 0;
        for place in places {
            forgotten += u64::from(archive.forget(place, !for_good.is_empty())?);
        }
        Ok(forgotten)
    })
}

fn places_in(
    archive: &Archive,
    is_it: impl Fn(&Path) -> bool,
) -> Result<Vec<SourcePath>, archive::Error> {
    let mut places = archive.places()?;
    places.retain(|place| place.path().is_some_and(|path| is_it(&path)));
    Ok(places)
}

/// The sources in the archive that lie in the folders of the sessions of these sources.
///
/// # Errors
/// When the archive cannot be read.
pub fn parts_in(
    archive: &Archive,
    places: &[SourcePath],
    formats: &[&'static dyn Format],
) -> Result<Vec<SourcePath>, archive::Error> {
    let folder_of =
        |place: &SourcePath| format_named(formats, &place.agent)?.folder_of(&place.path()?);
    let folders: HashSet<PathBuf> = places.iter().filter_map(folder_of).collect();
    match folders.is_empty() {
        true => Ok(Vec::new()),
        false => places_in(archive, |path| is_in(path, &folders)),
    }
}

/// Places, and where their files would be if they were compressed, or were not.
pub fn with_twins(places: &[SourcePath]) -> Vec<SourcePath> {
    let twins = places.iter().map(SourcePath::twin);
    places.iter().cloned().chain(twins).collect()
}
