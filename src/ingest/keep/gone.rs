//! Which sources are gone, so that they are read from the archive?

use std::collections::HashSet;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::{Keeper, SyncedRoot, place_of};
use crate::archive::{Archive, ArchivedFile, SourcePath, twin};
use crate::catalogue::read::StoredSource;
use crate::catalogue::{Catalogue, Error};
use crate::format::Format;
use crate::model::{Placement, SourcePart};
use crate::regular;
use crate::source::checkpoint::read_full;
use crate::source::content::{self, Content, Location, is_in_database};
use crate::source::discover::{Discovery, FoundSource};
use crate::source::identity::{Identity, now_ns};
use crate::source::root::RootSpec;

/// Bytes that are compared at once.
const COMPARED: usize = 256 << 10;

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
    /// What of the known sources below a root is to be read from the archive: those whose files
    /// are gone.
    pub fn archived(
        &self,
        root: SyncedRoot<'_>,
        discovery: &Discovery,
        known: &[StoredSource],
    ) -> Vec<ArchivedSource> {
        let SyncedRoot { spec, format, .. } = root;
        let mut all = Vec::new();
        if self.archive.is_none() {
            return all;
        }
        let now_ms = now_ns() / 1_000_000;
        let root_is_gone = discovery.root_is_gone(&spec.path);
        for lost in lost(discovery, known) {
            let is_gone = root_is_gone || !discovery.hides(&lost.relative);
            let is_read = lost.stored.revision == format.about().revision && !lost.unread;
            let gone_ms = match lost.gone_ms {
                Some(_) if is_read => continue,
                since => since.unwrap_or(now_ms),
            };
            if !is_gone || is_left_alone(spec, format, &lost.relative) {
                continue;
            }
            let is_elsewhere = is_twin_there(root, &lost.relative, discovery)
                || self.is_of_another_root(root, &lost.relative, discovery)
                || self.has_moved(root, lost, discovery);
            if !is_elsewhere {
                all.extend(self.archived_source(root, &lost.relative, gone_ms));
            }
        }
        keep_distinct(&mut all);
        all
    }

    /// Where not all is catalogued yet that was gone before the catalogue knew this archive: add
    /// what of it is to be read from there. All that lies below the root was looked at. Gives back
    /// how often the archive had forgotten something when it was asked for all of it; `None`: it
    /// was not, or something cannot be looked at now, so that it has to be asked again.
    pub fn add_gone_before(
        &self,
        catalogue: &Catalogue,
        root: SyncedRoot<'_>,
        discovery: &Discovery,
        archived: &mut Vec<ArchivedSource>,
    ) -> Result<Option<i64>, Error> {
        let SyncedRoot { spec, format, .. } = root;
        let Some(archive) = &self.archive else {
            return Ok(None);
        };
        if was_asked(catalogue, archive, root.number)? {
            return Ok(None);
        }
        let now_ms = now_ns() / 1_000_000;
        let mut asked = self.or_fail(Some(archive.forgets()));
        let root_is_gone = discovery.root_is_gone(&spec.path);
        let places = self.or_fail(Some(archive.places_below(&spec.agent, &spec.path)));
        for place in places.unwrap_or_default() {
            if !root_is_gone && discovery.hides(&place.relative) {
                asked = None;
                continue;
            }
            let is_there = is_there(spec, format, &place.relative, discovery)
                || is_twin_there(root, &place.relative, discovery);
            let state = catalogue.source_state(root.number, &place.relative)?;
            let is_elsewhere = || {
                is_taken_over(format, &place.relative, discovery)
                    || self.is_of_another_root(root, &place.relative, discovery)
            };
            if !is_there && state.is_none() && !is_elsewhere() {
                archived.extend(self.archived_source(root, &place.relative, now_ms));
            }
        }
        keep_distinct(archived);
        Ok(asked.filter(|_| !self.has_failed()))
    }

    /// The sessions below a root of which the archive has something, where not all is catalogued
    /// yet that was gone before. The root may have no number yet.
    pub fn sessions_to_ask_for(
        &self,
        catalogue: &Catalogue,
        root: Option<i64>,
        spec: &RootSpec,
        format: &dyn Format,
    ) -> Result<HashSet<String>, Error> {
        let Some(archive) = &self.archive else {
            return Ok(HashSet::new());
        };
        if let Some(root) = root
            && was_asked(catalogue, archive, root)?
        {
            return Ok(HashSet::new());
        }
        let places = self.or_fail(Some(archive.places_below(&spec.agent, &spec.path)));
        let sessions = places.unwrap_or_default().into_iter();
        let sessions = sessions.filter_map(|place| placement(spec, format, &place.relative));
        Ok(sessions.map(|(session, ..)| session).collect())
    }

    /// How a source is read from the archive, or its twin, where that was kept later; `None` when
    /// it is not in it, or of no session.
    fn archived_source(
        &self,
        SyncedRoot { spec, format, .. }: SyncedRoot<'_>,
        relative: &str,
        gone_ms: i64,
    ) -> Option<ArchivedSource> {
        let archive = self.archive.as_ref()?;
        let place = place_of(spec, relative);
        let newest = |place: &SourcePath| {
            let kept = self.or_fail(Some(archive.generations(place)))?;
            kept.last().copied()
        };
        let both = [place.twin(), place].map(|place| Some((newest(&place)?, place)));
        let last = both.into_iter().flatten();
        let (newest, place) = last.max_by_key(|(newest, _)| newest.kept_ms)?;
        let (session, part, unlisted) = placement(spec, format, &place.relative)?;
        Some(ArchivedSource {
            found: FoundSource {
                relative: place.relative.clone(),
                identity: Identity {
                    size: newest.length,
                    mtime_ns: newest.mtime_ns,
                    ..Identity::default()
                },
                is_link: false,
                session_key: session,
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
        SyncedRoot { spec, format, .. }: SyncedRoot<'_>,
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
            begins_with(regular::open(&spec.at(&found.relative))?, kept)
        };
        if !begins().unwrap_or(false) {
            return false;
        }
        let moved = archive.transaction(|| archive.rename(&old, &new));
        self.or_fail(Some(moved)).unwrap_or(false)
    }

    /// Whether a source is in a root within this one: its file is there, or that is what the
    /// archive has it from, too.
    fn is_of_another_root(
        &self,
        SyncedRoot { spec, .. }: SyncedRoot<'_>,
        relative: &str,
        discovery: &Discovery,
    ) -> bool {
        let Some(folder) = discovery.other_root_of(relative) else {
            return false;
        };
        let within = SourcePath {
            agent: spec.agent.clone(),
            root: spec.at(folder),
            relative: relative[folder.len()..].trim_start_matches('/').to_owned(),
        };
        let kept = self.archive.as_ref();
        let kept = self.or_fail(kept.map(|archive| archive.generations(&within)));
        spec.at(relative).exists() || kept.is_some_and(|kept| !kept.is_empty())
    }

    /// Whether anything of this root is in the archive.
    pub fn has_any(&self, spec: &RootSpec) -> bool {
        let places = self.archive.as_ref();
        let places = places.map(|archive| archive.places_below(&spec.agent, &spec.path));
        self.or_fail(places)
            .is_some_and(|places| !places.is_empty())
    }

    /// Whether a source is gone for good: the archive neither has it nor may have it.
    pub fn is_forgotten(&self, lost: &StoredSource, archived: &[ArchivedSource]) -> bool {
        let is_archived = archived.iter().any(|a| a.found.relative == lost.relative);
        // It could not be looked at.
        let may_be = lost.is_kept.is_some() && self.folder.is_some() && self.has_failed();
        !is_archived && !may_be
    }
}

/// Whether all is catalogued that was gone below a root before its catalogue knew this archive.
fn was_asked(catalogue: &Catalogue, archive: &Archive, root: i64) -> Result<bool, Error> {
    let noted = catalogue.root_archive(root)?;
    Ok(noted.forgets.is_some() && noted.archive.as_deref() == Some(archive.id()))
}

/// Each source once.
fn keep_distinct(archived: &mut Vec<ArchivedSource>) {
    let mut listed = HashSet::new();
    archived.retain(|gone| listed.insert(gone.found.relative.clone()));
}

/// The known sources that were not found.
fn lost<'k>(
    discovery: &Discovery,
    known: &'k [StoredSource],
) -> impl Iterator<Item = &'k StoredSource> {
    let is_lost = |known: &&StoredSource| discovery.source(&known.relative).is_none();
    known.iter().filter(is_lost)
}

/// Whether a source is where the archive has it from. A file is there if it was found: what is
/// behind a link that is not followed is not, nor is a folder in its place.
fn is_there(spec: &RootSpec, format: &dyn Format, relative: &str, discovery: &Discovery) -> bool {
    if discovery.source(relative).is_some() {
        return true;
    }
    // Rows that cannot be looked at now may be there, and those of a database that is as it was
    // were not looked at.
    is_in_database(format, relative)
        && match content::identity(format, &spec.at(relative)) {
            Err(error) => error.kind() != ErrorKind::NotFound,
            Ok(_) => true,
        }
}

/// Whether the session goes on in the file's twin: the compressed file, or the one that it was
/// before. A twin that cannot be decoded does not count; the archive is read instead.
fn is_twin_there(
    SyncedRoot { spec, format, .. }: SyncedRoot<'_>,
    relative: &str,
    discovery: &Discovery,
) -> bool {
    let twin = twin(relative);
    placement(spec, format, &twin).is_some()
        && is_there(spec, format, &twin, discovery)
        && Content::open(format, &spec.at(twin)).is_ok()
}

/// The session of a source, which part of it the source is, and why its agent would not list it;
/// `None`: at that path there is no source.
pub fn placement(
    spec: &RootSpec,
    format: &dyn Format,
    relative: &str,
) -> Option<(String, SourcePart, Option<String>)> {
    match format.place(Path::new(relative), spec.flat) {
        Placement::Source {
            session,
            part,
            unlisted,
        } => Some((session, part, unlisted)),
        _ if is_in_database(format, relative) => {
            let within = content::place_within(format, relative);
            let session = within.unwrap_or_else(|| relative.to_owned());
            Some((session, SourcePart::Main, None))
        }
        _ => None,
    }
}

/// Whether a session is still in a folder of documents, which a database has taken over.
fn is_left_alone(spec: &RootSpec, format: &dyn Format, relative: &str) -> bool {
    let path = spec.at(relative);
    is_in_database(format, relative)
        && path.parent().is_some_and(Path::is_dir)
        && content::identity(format, &path).is_ok()
}

/// Whether a session of documents that are gone is in a database, which has taken it over.
fn is_taken_over(format: &dyn Format, relative: &str, discovery: &Discovery) -> bool {
    let documents = format
        .about()
        .database
        .and_then(|database| database.documents);
    let (Some(documents), Some((folder, name))) = (documents, relative.rsplit_once('/')) else {
        return false;
    };
    let has_name = |found: &FoundSource| {
        let there = found.relative.rsplit_once('/');
        there.is_some_and(|(_, there)| there == name) && is_in_database(format, &found.relative)
    };
    folder == documents.folder && discovery.found.iter().any(has_name)
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
