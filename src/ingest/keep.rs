//! What is read for the catalogue is kept in the archive as well, and what is gone is read from
//! there.
//!
//! The archive commits first: what the catalogue says is kept is on the disk. Where the archive
//! cannot be written, the catalogue goes on without it, and says which sources are still to be
//! kept.

use std::cell::{Cell, RefCell};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::rows::changed_rows;
use super::plan::SourcePlan;
use super::reading::pack_all;
use super::targets::SyncedRoot;
use crate::archive::{self, Archive, PackedBytes, Place};
use crate::catalogue::kept::RootArchive;
use crate::catalogue::{Catalogue, Error};
use crate::config::Config;
use crate::format::names::is_beside_root;
use crate::format::{Format, agent_called};
use crate::model::Report;
use crate::source::content::{Content, is_in_database};
use crate::source::identity::now_ns;
use crate::source::root::RootSpec;

mod gone;
mod rows;

pub use gone::ArchivedSource;

/// The archive, as far as a sync is concerned with it.
pub struct Keeper {
    archive: Option<Archive>,
    /// Where it is, or could not be opened.
    folder: Option<PathBuf>,
    /// Why nothing more is kept.
    failure: RefCell<Option<String>>,
    /// The failure was told.
    is_told: Cell<bool>,
    /// What was kept since the last commit: the root's number and the path below it.
    pending: RefCell<Vec<(i64, String)>>,
}

impl Keeper {
    /// With the archive, if there is one.
    pub fn open(config: &Config) -> Keeper {
        let folder = config.archive_dir.as_deref().filter(|f| Archive::exists(f));
        let opened = folder.map(Archive::open_writable).transpose();
        let failure = opened.as_ref().err().map(archive::Error::to_string);
        Keeper {
            archive: opened.ok().flatten(),
            folder: folder.map(Path::to_path_buf),
            failure: RefCell::new(failure),
            is_told: Cell::new(false),
            pending: RefCell::default(),
        }
    }

    /// Open the archive if it was made meanwhile, and try again where it failed.
    pub fn renew(&mut self, config: &Config) {
        let is_new =
            self.archive.is_none() && config.archive_dir.as_deref().is_some_and(Archive::exists);
        if is_new || self.failure.borrow().is_some() {
            *self = Keeper::open(config);
        }
    }

    /// The archive; `None`: there is none.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn archive(&self) -> Result<Option<&Archive>, Error> {
        match (&self.archive, &*self.failure.borrow(), &self.folder) {
            (None, Some(why), Some(folder)) => Err(Error::Io {
                path: folder.clone(),
                error: io::Error::other(why.clone()),
            }),
            (archive, ..) => Ok(archive.as_ref()),
        }
    }

    /// Forget these sources in the archive, and in the catalogue where they are nowhere else. How
    /// many there were. Within a transaction of the catalogue; [`Keeper::wipe`] has to follow.
    ///
    /// # Errors
    /// When the archive or the catalogue cannot be written.
    pub fn forget(
        &self,
        catalogue: &Catalogue,
        places: &[Place],
        for_good: bool,
        formats: &[&'static dyn Format],
    ) -> Result<u64, Error> {
        let Some(archive) = self.archive()? else {
            return Ok(0);
        };
        let forget = || {
            let forgotten = places.iter().map(|place| archive.forget(place, for_good));
            forgotten.collect::<Result<Vec<_>, _>>()
        };
        let forgotten = archive
            .transaction(forget)
            .map_err(|error| self.failed(error))?;
        for place in places {
            let Some((source, format)) = catalogue.gone_source(place)? else {
                continue;
            };
            let (_, left) = catalogue.remove_source(source)?;
            let format = formats.iter().find(|known| known.name() == format);
            for session in left {
                if let Some(format) = format {
                    catalogue.refold_session(session, *format)?;
                }
            }
        }
        Ok(forgotten.into_iter().filter(|was_there| *was_there).count() as u64)
    }

    /// The sources in the archive whose path is one of these.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn places_at(&self, is_it: impl Fn(&Path) -> bool) -> Result<Vec<Place>, Error> {
        let Some(archive) = self.archive()? else {
            return Ok(Vec::new());
        };
        let mut places = archive.places().map_err(|error| self.failed(error))?;
        places.retain(|place| place.path().is_some_and(|path| is_it(&path)));
        Ok(places)
    }

    /// Whether the archive holds something of one of these sources.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn still_holds(&self, places: &[Place]) -> Result<bool, Error> {
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
    pub fn owes_wipe(&self) -> bool {
        let asked = self.archive.as_ref().map(Archive::owes_wipe);
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

    fn failed(&self, error: archive::Error) -> Error {
        Error::Io {
            path: self.folder.clone().unwrap_or_default(),
            error: error.into(),
        }
    }

    /// Whether the sessions below a root are kept. Those of other machines are kept there, and here
    /// only for as long as they are shared.
    fn keeps(&self, SyncedRoot { spec, format, .. }: SyncedRoot<'_>) -> bool {
        if !can_be_kept(format) || spec.host.is_some() {
            return false;
        }
        let agent = &spec.agent;
        let archive = self.archive.as_ref();
        let asked = archive.map(|archive| archive.keeps(agent, is_meant_unnamed(agent, format)));
        self.or_fail(asked).unwrap_or(false)
    }

    /// A result of the archive; an error is noted, and nothing more is kept.
    fn or_fail<T>(&self, result: Option<Result<T, archive::Error>>) -> Option<T> {
        match result? {
            Ok(done) => Some(done),
            Err(error) => {
                if let Some(archive) = &self.archive {
                    archive.rollback();
                }
                self.failure.borrow_mut().get_or_insert(error.to_string());
                None
            }
        }
    }

    /// Tell why nothing is kept, once.
    pub fn tell(&self, report: &mut Report) {
        if let Some(why) = &*self.failure.borrow()
            && !self.is_told.replace(true)
        {
            let note = "what is read now is kept in the archive as soon as it can be written";
            report.notes.push(format!("{why}; {note}"));
        }
    }

    /// Bring what the catalogue says of a root's archive up to date. Within a transaction.
    pub fn prepare(&self, catalogue: &Catalogue, root: SyncedRoot<'_>) -> Result<Vec<i64>, Error> {
        let before = catalogue.root_archive(root.number)?;
        if self.failure.borrow().is_some() {
            return Ok(Vec::new());
        }
        let now = RootArchive {
            archive: self.archive.as_ref().map(|archive| archive.id().to_owned()),
            is_kept: self.keeps(root),
        };
        if let Some(folder) = &self.folder {
            catalogue.note_archive_folder(folder)?;
        }
        if before == now {
            return Ok(Vec::new());
        }
        catalogue.note_root_archive(root.number, &now)?;
        // Another archive, or none: what was read from the one before is nowhere any more, unless
        // this one has it.
        let mut nowhere = Vec::new();
        if before.archive.is_some() && before.archive != now.archive {
            for gone in catalogue.gone_sources(root.number)? {
                let place = place_of(root.spec, &gone.relative);
                let asked = self.archive.as_ref().map(|a| a.generations(&place));
                if self.or_fail(asked).is_none_or(|kept| kept.is_empty()) {
                    nowhere.push(gone.source);
                }
            }
        }
        Ok(nowhere)
    }

    /// What a source is called in the archive, where it is kept.
    pub fn kept_as(&self, root: SyncedRoot<'_>, relative: &str) -> Option<Place> {
        // Nor is a name that lies beside the root.
        let is_below = !is_beside_root(relative);
        let may_be = is_below && self.failure.borrow().is_none();
        let is_kept = may_be && self.keeps(root);
        is_kept.then(|| place_of(root.spec, relative))
    }

    /// Keep what was read of a source, and say whether all of it is kept now. Within a transaction
    /// of the catalogue.
    pub fn keep(
        &self,
        catalogue: &Catalogue,
        plan: &SourcePlan<'_>,
        packed: &PackedBytes,
    ) -> Result<(), Error> {
        let Some(place) = &plan.kept_as else {
            return Ok(());
        };
        let is_kept = self.keep_at(place, plan.format, packed);
        if packed.end_ns.is_none() {
            return Ok(());
        }
        self.note(catalogue, plan.root, plan.relative, is_kept)
    }

    /// Note that a source was read while nothing could be kept of it: it is still to be read for
    /// the archive. Within a transaction of the catalogue.
    pub fn owe(&self, catalogue: &Catalogue, plan: &SourcePlan<'_>) -> Result<(), Error> {
        // A name that lies beside the root is no session.
        match self.failure.borrow().is_some() && !is_beside_root(plan.relative) {
            true => catalogue.note_owed(plan.root, plan.relative),
            false => Ok(()),
        }
    }

    fn keep_at(&self, place: &Place, format: &dyn Format, packed: &PackedBytes) -> bool {
        if self.failure.borrow().is_some() {
            return false;
        }
        let kept = self.archive.as_ref().map(|archive| {
            archive.begin()?;
            let now_ms = now_ns() / 1_000_000;
            let changed = match is_in_database(format, &place.relative) {
                true => changed_rows(archive, place, packed, now_ms)?,
                false => None,
            };
            archive.keep(place, changed.as_ref().unwrap_or(packed), now_ms)
        });
        self.or_fail(kept).unwrap_or(false)
    }

    fn note(
        &self,
        catalogue: &Catalogue,
        root: i64,
        relative: &str,
        is_kept: bool,
    ) -> Result<(), Error> {
        if is_kept {
            let pending = (root, relative.to_owned());
            self.pending.borrow_mut().push(pending);
        }
        catalogue.note_kept(root, relative, is_kept)
    }

    /// Read the sources for the archive that were only read for the catalogue: before they were to
    /// be kept, or when the archive could not be written. `commit` is called after so many bytes.
    pub fn catch_up(
        &self,
        catalogue: &Catalogue,
        roots: &[SyncedRoot<'_>],
        most: u64,
        mut commit: impl FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        if self.archive.is_none() || self.failure.borrow().is_some() {
            return Ok(());
        }
        let mut open = 0;
        for unkept in catalogue.unkept()? {
            let Some(root) = roots.iter().find(|root| root.number == unkept.root) else {
                continue;
            };
            let read = pack_source(root.format, &root.spec.path.join(&unkept.relative));
            // One that cannot be read is tried again.
            let Ok(packed) = read else {
                continue;
            };
            open += packed.memory();
            let place = place_of(root.spec, &unkept.relative);
            let is_kept = self.keep_at(&place, root.format, &packed);
            self.note(catalogue, unkept.root, &unkept.relative, is_kept)?;
            if self.failure.borrow().is_some() {
                break;
            }
            if open >= most {
                open = 0;
                if !commit()? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Make what was kept last. Where that fails the catalogue learns it. To be done before the
    /// catalogue commits.
    pub fn commit(&self, catalogue: &Catalogue) -> Result<(), Error> {
        let committed = self.archive.as_ref().map(Archive::commit);
        let has_failed = self.or_fail(committed).is_none() || self.failure.borrow().is_some();
        for (root, relative) in self.pending.take() {
            if has_failed {
                catalogue.note_kept(root, &relative, false)?;
            }
        }
        Ok(())
    }
}

fn place_of(spec: &RootSpec, relative: &str) -> Place {
    Place {
        agent: spec.agent.clone(),
        root: spec.path.clone(),
        relative: relative.to_owned(),
    }
}

/// Whether sessions can be kept at all. Rows that hold lines cannot yet: what is kept of a session
/// are its lines, which would not say which rows they are.
pub fn can_be_kept(format: &dyn Format) -> bool {
    format
        .database()
        .is_none_or(|database| !database.holds_lines())
}

/// Whether `archive on` without a name means this agent too. One that has its sessions in a
/// database, of which some hold many gigabytes, has to be named where it deletes none by itself.
pub fn is_meant_unnamed(agent: &str, format: &dyn Format) -> bool {
    format.database().is_none() || agent_called(agent).is_some_and(|agent| agent.deletes.is_some())
}

/// All of a source that is kept, packed.
fn pack_source(format: &dyn Format, path: &Path) -> io::Result<PackedBytes> {
    let mut content = Content::open(format, path)?;
    let identity = content.identity()?;
    pack_all(content.kept()?)?.finish(identity.mtime_ns)
}
