//! What is read for the catalogue is kept in the archive as well, and what is gone is read from
//! there.
//!
//! The archive commits first: what the catalogue says is kept is on the disk. Where the archive
//! cannot be written, the catalogue goes on without it, and says which sources are still to be
//! kept.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use self::rows::changed_rows;
use super::plan::SourcePlan;
use super::reading::pack_all;
use crate::archive::{self, Archive, ArchivedFile, Packed, Place};
use crate::catalogue::kept::RootArchive;
use crate::catalogue::read::StoredSource;
use crate::catalogue::{Catalogue, Error};
use crate::config::Config;
use crate::databases::ABOVE;
use crate::format::{Format, agent_called};
use crate::model::{Placement, Report, SourcePart};
use crate::source::checkpoint::read_full;
use crate::source::content::{self, Content, Location, is_in_database};
use crate::source::discover::{Discovery, FoundSource};
use crate::source::identity::{Identity, now_ns};
use crate::source::root::RootSpec;

mod rows;

/// Bytes that are compared at once.
const COMPARED: usize = 256 << 10;

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

/// A root that is synced: its number, what it is, and the format that reads it.
pub type SyncedRoot<'a> = (i64, &'a RootSpec, &'a dyn Format);

/// A source whose file is gone and that is to be read from the archive.
#[derive(Debug)]
pub struct ArchivedSource {
    /// Where it was; of its identity the size and the modification time.
    pub found: FoundSource,
    /// Since when its file is gone.
    pub gone_ms: i64,
    /// Where it is now.
    pub location: Location,
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

    /// Leave nothing in the archive's files of what was forgotten. `false`: a reader still uses it,
    /// so it has to be done again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn wipe(&self) -> Result<bool, Error> {
        match self.archive()? {
            Some(archive) => archive.wipe().map_err(|error| self.failed(error)),
            None => Ok(true),
        }
    }

    fn failed(&self, error: archive::Error) -> Error {
        Error::Io {
            path: self.folder.clone().unwrap_or_default(),
            error: error.into(),
        }
    }

    /// Whether the sessions of this agent are kept.
    fn keeps(&self, agent: &str, format: &dyn Format) -> bool {
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

    /// What of the sources below a root is to be read from the archive: those whose files are gone,
    /// and, where the catalogue does not know this archive yet, those that were gone before.
    pub fn archived(
        &self,
        catalogue: &Catalogue,
        root: i64,
        (spec, format): (&RootSpec, &dyn Format),
        (discovery, known): (&Discovery, &[StoredSource]),
    ) -> Result<Vec<ArchivedSource>, Error> {
        let mut all = Vec::new();
        let Some(archive) = &self.archive else {
            return Ok(all);
        };
        let now_ms = now_ns() / 1_000_000;
        // What is unmounted may come back; a folder that is not there any more is gone.
        let root_is_gone = discovery.error.is_some() && matches!(spec.path.try_exists(), Ok(false));
        for lost in lost(discovery, known) {
            let is_gone = root_is_gone || !discovery.hides(&lost.relative);
            let is_read = lost.stored.revision == format.revision() && !lost.unread;
            let gone_ms = match lost.gone_ms {
                Some(_) if is_read => continue,
                since => since.unwrap_or(now_ms),
            };
            let has_moved = || self.has_moved((spec, format), lost, discovery);
            if is_gone && !has_moved() {
                all.extend(self.archived_source(spec, format, &lost.relative, gone_ms));
            }
        }
        let id = Some(archive.id());
        if catalogue.root_archive(root)?.archive.as_deref() != id {
            let places = archive.places_below(&spec.agent, &spec.path);
            for place in self.or_fail(Some(places)).unwrap_or_default() {
                let is_there = is_there(spec, format, &place.relative, discovery);
                let state = catalogue.source_state(root, &place.relative)?;
                if !is_there && state.is_none() {
                    all.extend(self.archived_source(spec, format, &place.relative, now_ms));
                }
            }
        }
        Ok(all)
    }

    /// How a source is read from the archive; `None` when it is not in it, or of no session.
    fn archived_source(
        &self,
        spec: &RootSpec,
        format: &dyn Format,
        relative: &str,
        gone_ms: i64,
    ) -> Option<ArchivedSource> {
        let archive = self.archive.as_ref()?;
        let place = place_of(spec, relative);
        let newest = *self.or_fail(Some(archive.generations(&place)))?.last()?;
        let (session, part, unlisted) = match format.place(Path::new(relative), spec.flat) {
            Placement::Source {
                session,
                part,
                unlisted,
            } => (session, part, unlisted),
            _ if is_in_database(format, relative) => (relative.to_owned(), SourcePart::Main, None),
            _ => return None,
        };
        Some(ArchivedSource {
            found: FoundSource {
                relative: relative.to_owned(),
                identity: Identity {
                    size: newest.length,
                    mtime_ns: newest.mtime_ns,
                    ..Identity::default()
                },
                is_link: false,
                place: session,
                part,
                unlisted,
            },
            // Where that is not known, when it was last read.
            gone_ms: gone_ms.min(now_ns() / 1_000_000),
            location: Location::archived(self.folder.as_ref()?, place)?,
        })
    }

    /// Whether the file of a source is at another path now, with all that was kept of it: then that
    /// is the source, in the archive as well.
    fn has_moved(
        &self,
        (spec, format): (&RootSpec, &dyn Format),
        lost: &StoredSource,
        discovery: &Discovery,
    ) -> bool {
        // Rows have their database's place.
        if is_in_database(format, &lost.relative) {
            return false;
        }
        let (Some(archive), Some(folder)) = (&self.archive, &self.folder) else {
            return false;
        };
        let file = lost.stored.identity.file();
        let is_it =
            |found: &&FoundSource| found.identity.file() == file && found.relative != lost.relative;
        let Some(found) = discovery.found.iter().find(is_it) else {
            return false;
        };
        let (old, new) = (
            place_of(spec, &lost.relative),
            place_of(spec, &found.relative),
        );
        let begins = || -> io::Result<bool> {
            let reader = Archive::open_readable(folder)?.ok_or(ErrorKind::NotFound)?;
            let Some(kept) = ArchivedFile::newest(reader, &old)? else {
                return Ok(false);
            };
            begins_with(File::open(spec.path.join(&found.relative))?, kept)
        };
        if !begins().unwrap_or(false) {
            return false;
        }
        let moved = archive.transaction(|| archive.rename(&old, &new));
        self.or_fail(Some(moved)).unwrap_or(false)
    }

    /// Whether anything of this root is in the archive.
    pub fn has_any(&self, spec: &RootSpec) -> bool {
        let places = self.archive.as_ref();
        let places = places.map(|archive| archive.places_below(&spec.agent, &spec.path));
        self.or_fail(places)
            .is_some_and(|places| !places.is_empty())
    }

    /// Which of these are gone for good: not those that the archive may hold.
    pub fn is_forgotten(&self, lost: &StoredSource, archived: &[ArchivedSource]) -> bool {
        let is_archived = archived.iter().any(|a| a.found.relative == lost.relative);
        // It could not be looked at.
        let may_be =
            lost.is_kept == Some(true) && self.folder.is_some() && self.failure.borrow().is_some();
        !is_archived && !may_be
    }

    /// Bring what the catalogue says of a root's archive up to date. Within a transaction.
    pub fn prepare(
        &self,
        catalogue: &Catalogue,
        root: i64,
        (spec, format): (&RootSpec, &dyn Format),
    ) -> Result<Vec<i64>, Error> {
        let before = catalogue.root_archive(root)?;
        if self.failure.borrow().is_some() {
            return Ok(Vec::new());
        }
        let now = RootArchive {
            archive: self.archive.as_ref().map(|archive| archive.id().to_owned()),
            is_kept: self.keeps(&spec.agent, format),
        };
        if let Some(folder) = &self.folder {
            catalogue.note_archive_folder(folder)?;
        }
        if before == now {
            return Ok(Vec::new());
        }
        catalogue.note_root_archive(root, &now)?;
        // Another archive, or none: what was read from the one before is nowhere any more, unless
        // this one has it.
        let mut nowhere = Vec::new();
        if before.archive.is_some() && before.archive != now.archive {
            for gone in catalogue.gone_sources(root)? {
                let place = place_of(spec, &gone.relative);
                let asked = self.archive.as_ref().map(|a| a.generations(&place));
                if self.or_fail(asked).is_none_or(|kept| kept.is_empty()) {
                    nowhere.push(gone.source);
                }
            }
        }
        Ok(nowhere)
    }

    /// What a source is called in the archive, where it is kept.
    pub fn kept_as(
        &self,
        (spec, format): (&RootSpec, &dyn Format),
        relative: &str,
    ) -> Option<Place> {
        // Nor is a name that lies beside the root.
        let is_below = !relative.starts_with(ABOVE);
        let may_be = is_below && self.failure.borrow().is_none();
        let is_kept = may_be && self.keeps(&spec.agent, format);
        is_kept.then(|| place_of(spec, relative))
    }

    /// Keep what was read of a source, and say whether all of it is kept now. Within a transaction
    /// of the catalogue.
    pub fn keep(
        &self,
        catalogue: &Catalogue,
        plan: &SourcePlan<'_>,
        packed: &Packed,
    ) -> Result<(), Error> {
        let Some(place) = &plan.kept_as else {
            return Ok(());
        };
        let is_kept = self.keep_at((place, plan.format), packed);
        if packed.end_ns.is_none() {
            return Ok(());
        }
        self.note(catalogue, plan.root, plan.relative, is_kept)
    }

    fn keep_at(&self, (place, format): (&Place, &dyn Format), packed: &Packed) -> bool {
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
            let Some((_, spec, format)) = roots.iter().find(|(root, ..)| *root == unkept.root)
            else {
                continue;
            };
            let read = pack_source(*format, &spec.path.join(&unkept.relative));
            // One that cannot be read is tried again.
            let Ok(packed) = read else {
                continue;
            };
            open += packed.memory();
            let place = place_of(spec, &unkept.relative);
            let is_kept = self.keep_at((&place, *format), &packed);
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

/// The known sources that were not found. Both are sorted by path.
fn lost<'k>(
    discovery: &Discovery,
    known: &'k [StoredSource],
) -> impl Iterator<Item = &'k StoredSource> {
    known.iter().filter(|known| {
        let at = |found: &FoundSource| found.relative.as_str().cmp(&known.relative);
        discovery.found.binary_search_by(at).is_err()
    })
}

/// Whether `archive on` without a name means this agent too. One that has its sessions in a
/// database, of which some hold many gigabytes, has to be named where it deletes none by itself.
pub fn is_meant_unnamed(agent: &str, format: &dyn Format) -> bool {
    format.database().is_none() || agent_called(agent).is_some_and(|agent| agent.deletes.is_some())
}

/// Whether a source is where the archive has it from, by what was found there or by a look.
fn is_there(spec: &RootSpec, format: &dyn Format, relative: &str, discovery: &Discovery) -> bool {
    let at = |found: &FoundSource| found.relative.as_str().cmp(relative);
    if discovery.found.binary_search_by(at).is_ok() {
        return true;
    }
    let path = spec.path.join(relative);
    match is_in_database(format, relative) {
        false => matches!(path.try_exists(), Ok(true)),
        // One that cannot be looked at now may be there.
        true => match content::identity(format, &path) {
            Err(error) => error.kind() != ErrorKind::NotFound,
            Ok(_) => true,
        },
    }
}

/// All of a source that is kept, packed.
fn pack_source(format: &dyn Format, path: &Path) -> io::Result<Packed> {
    let mut content = Content::open(format, path)?;
    let identity = content.identity()?;
    pack_all(content.kept()?)?.finish(identity.mtime_ns)
}

/// Whether a file begins with these bytes.
fn begins_with(mut file: impl Read, mut beginning: impl Read) -> io::Result<bool> {
    let (mut a, mut b) = (vec![0; COMPARED], vec![0; COMPARED]);
    loop {
        let length = read_full(&mut beginning, &mut b)?;
        if length == 0 {
            return Ok(true);
        }
        if read_full(&mut file, &mut a[..length])? < length || a[..length] != b[..length] {
            return Ok(false);
        }
    }
}
