//! What is read for the catalogue is kept in the archive as well, and what is gone is read from
//! there.
//!
//! The archive commits first: what the catalogue says is kept is on the disk. Where the archive
//! cannot be written, the catalogue goes on without it, and says which sources are still to be
//! kept.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use self::rows::changed_rows;
use super::plan::SourcePlan;
use super::targets::SyncedRoot;
use crate::archive::{self, Archive, PackedBytes, SourcePath};
use crate::catalogue::kept::RootArchive;
use crate::catalogue::{Catalogue, Error};
use crate::causes::with_causes;
use crate::config::Config;
use crate::format::names::is_beside_root;
use crate::format::{Format, agent_called};
use crate::model::Report;
use crate::source::content::is_in_database;
use crate::source::identity::now_ns;
use crate::source::root::RootSpec;

mod catch_up;
mod forget;
mod gone;
mod rows;

pub use forget::{parts_in, with_twins};
pub use gone::{ArchivedSource, placement};

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

    /// Open the archive again if it was made, moved or replaced, or had failed. A copy older than
    /// what the catalogue knows gets a new id. Returns whether the archive is another one, or gone,
    /// since it was opened.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn renew(&mut self, config: &Config, catalogue: &Catalogue) -> Result<bool, Error> {
        let had_one = self.archive.is_some();
        let is_another = match &self.archive {
            Some(archive) => archive.is_replaced(),
            None => config.archive_dir.as_deref().is_some_and(Archive::exists),
        };
        if is_another || self.has_failed() {
            *self = Keeper::open(config);
        }
        if let Some(archive) = &self.archive
            && catalogue.knows_archive(archive.id())?
        {
            let known = catalogue.archive_changes()?;
            let changes = self.or_fail(self.archive.as_ref().map(Archive::changes));
            if changes.is_some_and(|changes| changes < known) {
                let renewed = self.archive.as_mut().map(|archive| archive.renew_id(known));
                self.or_fail(renewed);
            }
        }
        // One that cannot be opened is none, each time that it is tried.
        Ok(is_another && (had_one || self.archive.is_some()))
    }

    /// The archive; `None`: there is none.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn archive(&self) -> Result<Option<&Archive>, Error> {
        match (&self.archive, &*self.failure.borrow(), &self.folder) {
            (None, Some(why), Some(folder)) => Err(Error::Io {
                path: folder.clone(),
                source: io::Error::other(why.clone()),
            }),
            (archive, ..) => Ok(archive.as_ref()),
        }
    }

    fn failed(&self, error: archive::Error) -> Error {
        Error::Io {
            path: self.folder.clone().unwrap_or_default(),
            source: error.into(),
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
                self.failure.borrow_mut().get_or_insert(with_causes(&error));
                None
            }
        }
    }

    /// Whether the archive could not be opened, read or written, so that nothing more is kept.
    pub fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
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

    /// Bring what the catalogue says of a root's archive up to date. Gives back the sources that
    /// are nowhere any more. Within a transaction.
    pub fn prepare(
        &self,
        catalogue: &Catalogue,
        root: SyncedRoot<'_>,
        report: &mut Report,
    ) -> Result<Vec<i64>, Error> {
        let before = catalogue.root_archive(root.number)?;
        let archive = self.archive.as_ref();
        let forgets = self.or_fail(archive.map(Archive::forgets));
        let is_kept = self.keeps(root);
        if self.has_failed() {
            return Ok(Vec::new());
        }
        let id = archive.map(|archive| archive.id().to_owned());
        // Until all that was gone before is read, the archive has yet to be asked for it.
        let was_asked = before.archive == id && before.forgets.is_some();
        let now = RootArchive {
            archive: id,
            is_kept,
            forgets: forgets.filter(|_| was_asked),
        };
        if let Some(folder) = &self.folder {
            catalogue.note_archive_folder(folder)?;
        }
        if before == now && before.forgets == forgets {
            return Ok(Vec::new());
        }
        // What was read from the archive before, or was forgotten by way of another index, is
        // nowhere any more, unless this one has it; what has a file is to be kept again.
        let is_another = before.archive.is_some() && before.archive != now.archive;
        let mut nowhere = Vec::new();
        if is_another || before.forgets != forgets {
            let spec = root.spec;
            let places = archive.map(|archive| archive.places_below(&spec.agent, &spec.path));
            let places = self.or_fail(places).unwrap_or_default().into_iter();
            let held: HashSet<String> = places.map(|place| place.relative).collect();
            for source in catalogue.kept_sources(root.number)? {
                match held.contains(&source.relative) {
                    true => {}
                    false if source.gone_ms.is_some() => nowhere.push(source.source),
                    false if is_kept => {
                        catalogue.note_kept(root.number, &source.relative, false)?;
                    }
                    false => {}
                }
            }
        }
        if self.has_failed() {
            return Ok(Vec::new());
        }
        if is_another {
            self.tell_another(catalogue, report)?;
        } else if !nowhere.is_empty() {
            catalogue.request_wipe()?;
        }
        catalogue.note_root_archive(root.number, &before, &now)?;
        self.note_changes(catalogue)?;
        Ok(nowhere)
    }

    /// Tell that the archive is not the one that the catalogue knows, once for all roots.
    fn tell_another(&self, catalogue: &Catalogue, report: &mut Report) -> Result<(), Error> {
        let why = match (&self.folder, catalogue.archive_folder()?) {
            (Some(folder), _) => format!(
                "{}: this is another archive than before, or an older copy of it: what only that one held is listed no longer, and the files that are there are kept again",
                folder.display()
            ),
            (None, Some(folder)) => format!(
                "{}: the archive is gone: what only it held is listed no longer, and nothing is kept",
                folder.display()
            ),
            (None, None) => return Ok(()),
        };
        if !report.notes.contains(&why) {
            report.notes.push(why);
        }
        Ok(())
    }

    /// What a source is called in the archive, where it is kept.
    pub fn kept_as(&self, root: SyncedRoot<'_>, relative: &str) -> Option<SourcePath> {
        // Nor is a name that lies beside the root.
        let is_below = !is_beside_root(relative);
        let may_be = is_below && !self.has_failed();
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
        let is_kept = match self.may_be_kept(catalogue, plan.root, place)? {
            Some(true) => self.keep_at(place, plan.format, packed),
            Some(false) => true,
            // Of a long file that is known once all of it is read. Then it is caught up with.
            None => false,
        };
        if packed.end_ns.is_none() {
            return Ok(());
        }
        self.note(catalogue, plan.root, plan.relative, is_kept)
    }

    /// Note that a source was read while nothing could be kept of it: it is still to be read for
    /// the archive. Within a transaction of the catalogue.
    pub fn note_unkept(&self, catalogue: &Catalogue, plan: &SourcePlan<'_>) -> Result<(), Error> {
        // It may be back before it is noted that it is not there.
        let cannot_keep = self.archive.is_none() || self.has_failed();
        // A name that lies beside the root is no session.
        match cannot_keep && !is_beside_root(plan.relative) {
            true => catalogue.note_unkept(plan.root, plan.relative),
            false => Ok(()),
        }
    }

    fn keep_at(&self, place: &SourcePath, format: &dyn Format, packed: &PackedBytes) -> bool {
        if self.has_failed() {
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

    /// Note how often the archive has been changed. If others have changed it meanwhile, they may
    /// have kept what is left out here. Within a transaction of the catalogue.
    fn note_changes(&self, catalogue: &Catalogue) -> Result<(), Error> {
        let own = self.archive.as_ref().map_or(0, Archive::take_own_changes);
        let changes = self.or_fail(self.archive.as_ref().map(Archive::changes));
        let Some(changes) = changes else {
            return Ok(());
        };
        if changes != catalogue.archive_changes()? + own {
            catalogue.doubt_excluded()?;
        }
        catalogue.note_archive_changes(changes)
    }

    /// Make what was kept last. Where that fails the catalogue learns it. To be done before the
    /// catalogue commits.
    pub fn commit(&self, catalogue: &Catalogue) -> Result<(), Error> {
        let archive = self.archive.as_ref();
        let committed = archive.map(Archive::commit);
        let has_failed = self.or_fail(committed).is_none() || self.has_failed();
        if !has_failed && !self.pending.borrow().is_empty() {
            self.note_changes(catalogue)?;
        }
        for (root, relative) in self.pending.take() {
            if has_failed {
                catalogue.note_kept(root, &relative, false)?;
            }
        }
        Ok(())
    }
}

fn place_of(spec: &RootSpec, relative: &str) -> SourcePath {
    SourcePath {
        agent: spec.agent.clone(),
        root: spec.path.clone(),
        relative: relative.to_owned(),
    }
}

/// Whether sessions can be kept at all. Rows that hold lines cannot yet: what is kept of a session
/// are its lines, which would not say which rows they are.
pub fn can_be_kept(format: &dyn Format) -> bool {
    format
        .about()
        .database
        .is_none_or(|database| !database.holds_lines())
}

/// Whether `archive on` without a name means this agent too. One that has its sessions in a
/// database, of which some hold many gigabytes, has to be named where it deletes none by itself.
pub fn is_meant_unnamed(agent: &str, format: &dyn Format) -> bool {
    format.about().database.is_none()
        || agent_called(agent).is_some_and(|agent| agent.deletes.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who is told of another one looks at all files again.
    #[test]
    fn an_archive_that_cannot_be_opened_is_no_other_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("archive.sqlite"), "no database").unwrap();
        let config = Config {
            archive_dir: Some(folder.path().to_path_buf()),
            ..Config::new(folder.path().join("index"), Vec::new())
        };
        let catalogue = Catalogue::in_memory().unwrap();
        let mut keeper = Keeper::open(&config);
        assert!(keeper.failure.borrow().is_some());
        assert!(!keeper.renew(&config, &catalogue).unwrap());
        std::fs::remove_file(folder.path().join("archive.sqlite")).unwrap();
        Archive::open_writable(folder.path()).unwrap();
        assert!(keeper.renew(&config, &catalogue).unwrap());
    }
}
