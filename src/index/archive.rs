//! The door to the archive: whose sessions are kept, what is in it, and how something leaves it.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{Config, Error, Index, Indexer};
use crate::archive::{Archive, ArchivedFile, SessionName, SourcePath};
pub use crate::archive::{ArchiveCheck, ArchiveTotals, Generation};
use crate::databases::row_states;
use crate::format::{Format, agent_called};
use crate::ingest::{can_be_kept, is_meant_unnamed, parts_in, with_twins};
use crate::model::{Report, SessionRow};
use crate::private;
use crate::stored_path;

/// What the archive holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveStatus {
    /// Its folder.
    pub folder: PathBuf,
    /// Each agent of which something is kept.
    pub agents: Vec<ArchiveTotals>,
    /// Bytes that its files take.
    pub stored_bytes: u64,
}

/// The content of one file of a session at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Version {
    /// The file.
    pub path: PathBuf,
    /// What it held.
    pub content: Generation,
}

/// What [`Index::restore`] wrote of a session, and what it could not write.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Restored {
    /// The files that are back, the session's own first.
    pub files: Vec<PathBuf>,
    /// Those that could not be written, which keeps none of the others away.
    pub failed: Vec<NotRestored>,
}

/// A file that [`Index::restore`] could not write.
#[derive(Debug)]
#[non_exhaustive]
pub struct NotRestored {
    /// Where it was.
    pub path: PathBuf,
    /// Why it is not there: something else is, it may not be written, or what is kept of it is
    /// damaged.
    pub error: Error,
}

/// What [`Indexer::forget`] takes of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct KeptFiles {
    /// Files of which something is kept.
    pub files: u64,
    /// Those of them that the agent has no more.
    pub only_kept: u64,
}

impl Config {
    /// Whether there is an archive.
    pub fn has_archive(&self) -> bool {
        self.archive_dir.as_deref().is_some_and(Archive::exists)
    }

    /// What the archive holds; `None`: there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn archive_status(&self) -> Result<Option<ArchiveStatus>, Error> {
        let Some((folder, archive)) = self.archive()? else {
            return Ok(None);
        };
        Ok(Some(ArchiveStatus {
            folder: folder.to_path_buf(),
            agents: archive.totals()?,
            stored_bytes: archive.stored_bytes(),
        }))
    }

    /// Whether what is read of this agent's sessions is kept.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn keeps(&self, agent: &str) -> Result<bool, Error> {
        match self.archive()?.filter(|_| self.can_keep(agent)) {
            Some((_, archive)) => Ok(archive.keeps(agent, self.keeps_unnamed(agent))?),
            None => Ok(false),
        }
    }

    /// Whether somebody [said](Indexer::keep_no_more) that this agent's sessions are not to be
    /// kept: then there is nothing to advise.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn is_turned_off(&self, agent: &str) -> Result<bool, Error> {
        match self.archive()? {
            Some((_, archive)) => {
                Ok(archive.asked_of(agent, self.keeps_unnamed(agent))? == Some(false))
            }
            None => Ok(false),
        }
    }

    /// Whether this agent's sessions can be kept.
    pub fn can_keep(&self, agent: &str) -> bool {
        self.format_of(agent).is_none_or(can_be_kept)
    }

    fn format_of(&self, agent: &str) -> Option<&'static dyn Format> {
        agent_called(agent).and_then(|agent| self.format(agent.format))
    }

    /// Whether this agent's sessions are kept where those of all agents are. Where they are rows of
    /// a database, and the agent deletes none by itself, it has to be named.
    pub fn keeps_unnamed(&self, agent: &str) -> bool {
        let format = self.format_of(agent);
        format.is_none_or(|format| is_meant_unnamed(agent, format))
    }

    /// Prove every byte in the archive; `None`: there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn verify_archive(&self) -> Result<Option<ArchiveCheck>, Error> {
        match self.archive()? {
            Some((_, archive)) => Ok(Some(archive.verify()?)),
            None => Ok(None),
        }
    }

    fn archive(&self) -> Result<Option<(&Path, Archive)>, Error> {
        let Some(folder) = &self.archive_dir else {
            return Ok(None);
        };
        let archive = Archive::open_readable(folder)?;
        Ok(archive.map(|archive| (folder.as_path(), archive)))
    }
}

impl Index {
    /// Every content of a session's files that is kept, the oldest first; of a session in a
    /// database every state of its rows.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn versions(&self, session: &SessionRow) -> Result<Vec<Version>, Error> {
        let Some((_, archive)) = self.config().archive()? else {
            return Ok(Vec::new());
        };
        let is_rows = self.is_in_database(session)?;
        let mut versions = Vec::new();
        // What a file held before it was compressed, too.
        let mut places = with_twins(&self.source_paths_of(session)?);
        places.sort();
        places.dedup();
        for place in places {
            let path = stored_path::below(&place.root, &place.relative);
            let mut contents = archive.generations(&place)?;
            if is_rows {
                let kept = contents.into_iter();
                let states = kept.map(|kept| states(&archive, kept, &path));
                contents = states.collect::<Result<Vec<_>, _>>()?.concat();
            }
            let contents = contents.into_iter();
            versions.extend(contents.map(|content| Version {
                path: path.clone(),
                content,
            }));
        }
        Ok(versions)
    }

    /// How many files the archive holds of a session, those in its folder among them, and how many
    /// of these are nowhere else.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn kept_files(&self, session: &SessionRow) -> Result<KeptFiles, Error> {
        let mut kept = KeptFiles::default();
        let Some((_, archive)) = self.config().archive()? else {
            return Ok(kept);
        };
        let mut places = self.source_paths_of(session)?;
        if places.is_empty() {
            return Ok(kept);
        }
        let is_rows = self.is_in_database(session)?;
        places.extend(parts_in(&archive, &places, &self.config().formats)?);
        let mut places = with_twins(&places);
        places.sort();
        places.dedup();
        for place in places {
            if archive.generations(&place)?.is_empty() {
                continue;
            }
            let is_only_kept = match is_rows {
                true => session.archived,
                false => is_gone(&place) && is_gone(&place.twin()),
            };
            kept.files += 1;
            kept.only_kept += u64::from(is_only_kept);
        }
        Ok(kept)
    }

    /// Write the files of a session back that are gone, and those of its subagents and in its
    /// folder, byte for byte, and give back their paths: none where all of them are there. Each is
    /// written though another one cannot be, which is then named with its error. Of a session in a
    /// database there are none.
    ///
    /// # Errors
    /// When none is there and nothing is kept, or the catalogue or the archive cannot be read.
    pub fn restore(&self, session: &SessionRow) -> Result<Restored, Error> {
        let mut restored = Restored::default();
        if self.is_in_database(session)? {
            return Ok(restored);
        }
        let archive = self.config().archive()?;
        let mut is_any_there = false;
        let mut places = self.source_paths_of(session)?;
        let own = places.len();
        if let Some((_, archive)) = &archive {
            let mut others = parts_in(archive, &places, &self.config().formats)?;
            others.extend(self.ask(|snapshot| snapshot.source_paths_with_subagents(session))?);
            others.sort();
            others.dedup();
            others.retain(|other| !places.contains(other));
            places.extend(others);
        }
        for (at, place) in places.into_iter().enumerate() {
            if place.path().is_some_and(|path| path.is_file()) {
                is_any_there |= at < own;
            } else if let Some((_, archive)) = &archive {
                // Of a name that lies beside the root nothing is kept.
                match archive.restore(&place) {
                    Ok(path) => restored.files.extend(path),
                    Err(error) => restored.failed.push(NotRestored {
                        path: stored_path::below(&place.root, &place.relative),
                        error: error.into(),
                    }),
                }
            }
        }
        if !is_any_there && restored.files.is_empty() && restored.failed.is_empty() {
            let why = io::Error::new(ErrorKind::NotFound, "the archive has nothing of it");
            return Err(Error::io(&session.path, why));
        }
        Ok(restored)
    }

    /// Write one of the [versions](Index::versions) of a session to the new file `target`, for its
    /// owner alone.
    ///
    /// # Errors
    /// When it cannot be read, something is at `target`, or it cannot be written.
    pub fn restore_version(&self, version: &Version, target: &Path) -> Result<(), Error> {
        let failed = |error| Error::io(target, error);
        let (_, archive) = self
            .config()
            .archive()?
            .ok_or_else(|| failed(ErrorKind::NotFound.into()))?;
        let mut kept = ArchivedFile::of(&archive, version.content);
        let write = |file: &mut File| io::copy(&mut kept, file).map(drop);
        private::write_new(target, write).map_err(failed)
    }

    /// Whether the session is, or was, rows of its agent's database.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn is_in_database(&self, session: &SessionRow) -> Result<bool, Error> {
        self.ask(|snapshot| snapshot.is_in_database(session))
    }

    /// Whether the file of the session itself is gone and not kept, and only something that belongs
    /// to it is there or kept: whatever [`Index::restore`] writes back, the session is lost.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn has_lost_its_file(&self, session: &SessionRow) -> Result<bool, Error> {
        self.ask(|snapshot| snapshot.has_lost_its_file(session))
    }

    /// Write the document that the agent exports of a session in its database to `target`, for its
    /// owner alone. `false`: it is not known what the agent exports of it.
    ///
    /// # Errors
    /// When the rows cannot be read, something is at `target`, or it cannot be written.
    pub fn export_document(&self, session: &SessionRow, target: &Path) -> Result<bool, Error> {
        let document = self.ask(|snapshot| snapshot.exported(session))?;
        let Some(document) = document else {
            return Ok(false);
        };
        let write = |file: &mut File| file.write_all(document.as_bytes());
        private::write_new(target, write).map_err(|error| Error::io(target, error))?;
        Ok(true)
    }

    fn source_paths_of(&self, session: &SessionRow) -> Result<Vec<SourcePath>, Error> {
        self.ask(|snapshot| snapshot.source_paths_of(session))
    }
}

/// Whether nothing is where a file of a session was.
fn is_gone(place: &SourcePath) -> bool {
    let there = place.path().map(|path| path.symlink_metadata());
    there.is_some_and(|there| there.is_err_and(|error| error.kind() == ErrorKind::NotFound))
}

/// Every state of the rows that are kept.
fn states(archive: &Archive, kept: Generation, path: &Path) -> Result<Vec<Generation>, Error> {
    let states = row_states(ArchivedFile::of(archive, kept));
    let states = states.map_err(|error| Error::io(path, error))?.into_iter();
    let states = states.map(|state| Generation {
        length: state.length,
        begun_ms: state.kept_ms.unwrap_or(kept.begun_ms),
        kept_ms: state.kept_ms.unwrap_or(kept.begun_ms),
        ..kept
    });
    Ok(states.collect())
}

impl Indexer {
    /// Keep what is read of these agents' sessions from now on; without names that of all agents.
    /// The archive is made when missing. The next sync keeps what was read before.
    ///
    /// # Errors
    /// When there is no folder for it, or it cannot be written.
    pub fn keep(&mut self, agents: &[String]) -> Result<(), Error> {
        self.set_kept(agents, true)
    }

    /// Keep no more of these agents' sessions; without names of none. What is kept stays.
    ///
    /// # Errors
    /// As [`Indexer::keep`].
    pub fn keep_no_more(&mut self, agents: &[String]) -> Result<(), Error> {
        self.set_kept(agents, false)
    }

    fn set_kept(&mut self, agents: &[String], is_kept: bool) -> Result<(), Error> {
        self.hold()?;
        if let Some(folder) = &self.config.archive_dir {
            Archive::open_writable(folder)?.set_kept(agents, is_kept)?;
        }
        self.keeper.renew(&self.config, &self.catalogue)?;
        Ok(())
    }

    /// Forget all that is kept of a session, for good: nothing of it is kept again. One whose file
    /// is gone is forgotten altogether. What is kept of the session's folder goes with it. How many
    /// files were kept. What cannot be wiped now is named in the notes of the report.
    ///
    /// # Errors
    /// When the archive or the catalogue cannot be written.
    pub fn forget(&mut self, session: &SessionRow, report: &mut Report) -> Result<u64, Error> {
        self.hold()?;
        self.keeper.renew(&self.config, &self.catalogue)?;
        let (catalogue, formats) = (&self.catalogue, &self.config.formats);
        let mut places = catalogue.source_paths_of(&session.agent, &session.path)?;
        let mut names = catalogue.session_names(&session.agent, &session.path)?;
        let parts = self.keeper.parts_of(&places, formats)?;
        for part in &parts {
            names.extend(catalogue.session_at(part)?);
        }
        places.extend(parts);
        let places = with_twins(&places);
        let forgotten = self.forget_places(&places, &names)?;
        self.wipe(report)?;
        Ok(forgotten)
    }

    /// Forget all that is kept of a session that was deleted on purpose: whatever was ever at these
    /// paths, its files and folders, and those of its files elsewhere that are gone. Whether
    /// nothing of it is kept any more. [`Indexer::wipe`] has to follow, once for all that were
    /// deleted: it writes the archive anew.
    ///
    /// # Errors
    /// When the archive or the catalogue cannot be written.
    pub fn forget_deleted<'p>(
        &mut self,
        session: &SessionRow,
        paths: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Result<bool, Error> {
        self.hold()?;
        self.keeper.renew(&self.config, &self.catalogue)?;
        let paths: Vec<&PathBuf> = paths.into_iter().collect();
        let is_there = |kept: &Path| paths.iter().any(|path| kept.starts_with(path));
        let mut places = self.keeper.places_at(is_there)?;
        let others = self
            .catalogue
            .source_paths_of(&session.agent, &session.path)?;
        // A file that stays, as a copy in another folder does, is still kept.
        places.extend(others.into_iter().filter(is_gone));
        let places = with_twins(&places);
        self.forget_places(&places, &[])?;
        Ok(!self.keeper.still_holds(&places)?)
    }

    /// With the lock, under which the places were looked up.
    fn forget_places(
        &mut self,
        places: &[SourcePath],
        for_good: &[SessionName],
    ) -> Result<u64, Error> {
        let (catalogue, keeper) = (&self.catalogue, &self.keeper);
        let formats = &self.config.formats;
        let forgotten = catalogue.transaction(|| {
            let forgotten = keeper.forget(catalogue, places, for_good, formats)?;
            if forgotten > 0 {
                catalogue.request_wipe()?;
            }
            Ok::<_, crate::catalogue::Error>(forgotten)
        });
        Ok(forgotten?)
    }
}
