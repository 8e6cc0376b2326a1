//! Which files do the sessions of a repository consist of, and what of each may leave the machine?

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Snapshot;
use crate::catalogue::shared::{SessionSource, SourceAt};
use crate::error::Error;
use crate::format::{Format, Shape, remote_of};
use crate::ingest::LONGEST_CWD;
use crate::model::Mask;
use crate::regular;
use crate::repository::Repository;
use crate::share::SharedBytes;
use crate::source::content::{self, Location};
use crate::source::exclude::ExcludedFiles;
use crate::source::root::name_of;
use crate::stored_path;

/// So long after its last change a text is taken to be whole.
const REST: Duration = Duration::from_secs(60);

/// Why a session is not shared whose repository is known by its directory alone.
const IS_A_GUESS: &str = "its directory is gone, so that of which repository it was is a guess";
/// Why one is not whose directory may have been another repository's.
const CAME_LATER: &str =
    "the repository came to its directory after it began, so that it was this one is a guess";

/// Why one is not that holds what was said elsewhere.
const HAS_MOVED: &str =
    "it was in another directory before, and what was said there may be of another repository";

/// Why a file is not shared that has the path of another one.
const SAME_NAME: &str = "another folder of its agent has a file of that name";

/// One file of a session that may be shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFile {
    /// The agent that wrote it, as roots of it are named.
    pub agent: String,
    /// The session, by its id; of several in one file the one that begins in it.
    pub session: String,
    /// The repository of that session, as its remote is named.
    pub repository: String,
    /// The session's working directory.
    pub cwd: Option<String>,
    /// Where it is below a root of its agent, with `/` between the parts. Of a compressed file the
    /// name without `.zst`: it is shared as what it decodes to.
    pub path: String,
    /// How many bytes it had when it was last read; of rows of a database, those that they take.
    pub bytes: u64,
    /// When it was last changed.
    pub modified_ms: i64,
    place: SharedPlace,
}

/// Where its bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SharedPlace {
    /// A source, by its number, and where it was: in a catalogue that was made anew meanwhile the
    /// number may be that of another one.
    Source(i64, Location),
    /// A file that belongs to one.
    Beside(PathBuf),
}

/// A file that belongs to a session of a shared repository and is not shared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsharedFile {
    /// The agent that wrote it.
    pub agent: String,
    /// The session, by its id.
    pub session: String,
    /// Where it is below a root of its agent.
    pub path: String,
    /// Why it is not shared.
    pub why: String,
    /// Whether it may be of the repository all the same, and only nothing says so any more.
    pub is_a_guess: bool,
}

/// The files of the sessions of some repositories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedFiles {
    /// In the order of agents and paths; of an agent no two have one path.
    pub files: Vec<SharedFile>,
    /// Those that are not shared.
    pub unshared: Vec<UnsharedFile>,
}

impl Snapshot<'_> {
    /// The files of the sessions of these repositories, which are named as [`remote_of`] names
    /// them. A file is among them when all sessions in it are of one of the repositories; what the
    /// user excludes is not in the index, and so not here either.
    ///
    /// Left out are sessions of other machines, sessions that were in another repository before,
    /// and sessions whose repository is only a guess: it is known by their directory, and that is
    /// gone or became a repository after they began.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn shared_files(&self, repositories: &[String]) -> Result<SharedFiles, Error> {
        let named = repositories.iter();
        let named: Vec<String> = named
            .map(|one| remote_of(one).unwrap_or_else(|| one.clone()))
            .collect();
        let is_shared = |one: &SessionSource| {
            let repository = one.repository.as_ref();
            repository.is_some_and(|repository| named.contains(repository))
        };
        let (mut found, mut paths) = (SharedFiles::default(), HashSet::new());
        let mut directories = Directories::default();
        let sources = self.catalogue.session_sources(&named)?;
        for sessions in sources.chunk_by(|a, b| a.source == b.source) {
            let Some(first) = sessions.iter().find(|one| is_shared(one)) else {
                continue;
            };
            let at = self.catalogue.source_at(first.source)?;
            let path = at.as_ref().and_then(|at| self.path_of(first, at));
            let doubt = sessions.iter().find_map(|one| directories.doubt(one));
            let files = if !sessions.iter().all(is_shared) {
                Err("another session in it is of a repository that is not shared")
            } else if let Some(why) = doubt {
                Err(why)
            } else {
                self.files_of(first, at)
            };
            let name = |file: &SharedFile| (file.agent.clone(), file.path.clone());
            let is_new = |file: &SharedFile| !paths.contains(&name(file));
            let files = files.and_then(|files| match files.first().is_some_and(is_new) {
                true => Ok(files),
                false => Err(SAME_NAME),
            });
            match files {
                // A file beside several sessions is one file.
                Ok(files) => {
                    for file in files {
                        if paths.insert(name(&file)) {
                            found.files.push(file);
                        }
                    }
                }
                Err(why) => found.unshared.push(UnsharedFile {
                    agent: first.agent.clone(),
                    session: first.session.clone(),
                    path: path.unwrap_or_else(|| first.relative.clone()),
                    is_a_guess: [IS_A_GUESS, CAME_LATER].contains(&why),
                    why: why.to_owned(),
                }),
            }
        }
        Ok(found)
    }

    /// The path of a source below a root of its agent, as others see it.
    fn path_of(&self, one: &SessionSource, at: &SourceAt) -> Option<String> {
        let format = self.config().format(&at.format)?;
        Some(within(at.flat, &path_of(format, &one.relative).ok()?))
    }

    /// A source as a file that may be shared, and what belongs to it; or why it is not.
    fn files_of(
        &self,
        one: &SessionSource,
        at: Option<SourceAt>,
    ) -> Result<Vec<SharedFile>, &'static str> {
        let at = at.ok_or("it is gone")?;
        let format = self.config().format(&at.format);
        let format = format.ok_or("its format is not known")?;
        let agent = name_of(&one.agent, &at.format);
        let agent = agent
            .ok_or("its agent is not one that others know")?
            .to_owned();
        let repository = one.repository.clone().ok_or("it is of no repository")?;
        let file = SharedFile {
            agent,
            session: one.session.clone(),
            repository,
            cwd: (!one.cwd.is_empty()).then(|| one.cwd.clone()),
            path: within(at.flat, &path_of(format, &one.relative)?),
            bytes: one.bytes,
            modified_ms: one.modified_ms,
            place: SharedPlace::Source(one.source, at.location.clone()),
        };
        let beside = self.beside(&file, &at, format);
        Ok(std::iter::once(file).chain(beside).collect())
    }

    /// The file that says what the working directory of a source is.
    fn beside(&self, of: &SharedFile, at: &SourceAt, format: &dyn Format) -> Option<SharedFile> {
        let relative = format.cwd_beside(Path::new(&at.relative))?;
        let root = at
            .location
            .ancestors()
            .nth(Path::new(&at.relative).iter().count())?;
        let path = stored_path::below(root, &relative);
        let metadata = path.symlink_metadata().ok().filter(|is| is.is_file())?;
        // What is longer holds no path.
        if metadata.len() > LONGEST_CWD {
            return None;
        }
        if ExcludedFiles::by(self.config().rules.exclude()).holds_at(&path) {
            return None;
        }
        let modified = metadata
            .modified()
            .ok()?
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok()?;
        Some(SharedFile {
            path: within(at.flat, &with_slashes(relative.to_str()?)),
            bytes: metadata.len(),
            modified_ms: i64::try_from(modified.as_millis()).ok()?,
            place: SharedPlace::Beside(path),
            ..of.clone()
        })
    }

    /// The bytes of a file that is shared, with what `mask` knows left out of its strings (see
    /// [`redact::redacted`](crate::redact::redacted)); without a mask, as they are. `None`: it is
    /// there no more, or its agent exports no document of these rows.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn shared_bytes(
        &self,
        file: &SharedFile,
        mask: Option<&Mask>,
    ) -> Result<Option<SharedBytes>, Error> {
        let (source, location) = match &file.place {
            SharedPlace::Beside(path) => {
                let bytes = regular::read_unlinked(path, LONGEST_CWD);
                let bytes = bytes.map_err(|error| Error::io(path, error))?;
                return Ok(Some(masked(&bytes, Shape::Text, true, mask)));
            }
            SharedPlace::Source(source, location) => (*source, location),
        };
        let at = self.catalogue.source_at(source)?;
        let Some(at) = at.filter(|at| at.location == *location) else {
            return Ok(None);
        };
        let Some(format) = self.config().format(&at.format) else {
            return Ok(None);
        };
        let failed = |error| Error::io(&at.location, error);
        let mut bytes = Vec::new();
        let mut content = match at.location.open(format) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let modified_ms = content.identity().map_err(failed)?.mtime_ns / 1_000_000;
        content.read_to_end(&mut bytes).map_err(failed)?;
        if !content::is_in_database(format, &at.relative) {
            let shape = format.shape_of(Path::new(&at.relative));
            return Ok(Some(masked(&bytes, shape, is_at_rest(modified_ms), mask)));
        }
        let rows = String::from_utf8_lossy(&bytes);
        let document = format.about().exported.and_then(|exported| exported(&rows));
        let shape = Shape::Document;
        Ok(document.map(|document| masked(document.as_bytes(), shape, true, mask)))
    }
}

/// Since when directories hold their repositories.
#[derive(Default)]
struct Directories(HashMap<String, Option<i64>>);

impl Directories {
    /// Why it is a guess that a session is of its repository.
    fn doubt(&mut self, one: &SessionSource) -> Option<&'static str> {
        let cwd = Path::new(&one.cwd);
        if one.has_moved {
            return Some(HAS_MOVED);
        }
        if one.is_recorded {
            return None;
        }
        if !cwd.is_dir() {
            return Some(IS_A_GUESS);
        }
        let since = || Repository::around(cwd).and_then(|found| found.here_since_ms());
        let since = self.0.entry(one.cwd.clone()).or_insert_with(since);
        since
            .is_some_and(|ms| one.began_ms < ms)
            .then_some(CAME_LATER)
    }
}

fn masked(bytes: &[u8], shape: Shape, is_at_rest: bool, mask: Option<&Mask>) -> SharedBytes {
    match mask {
        Some(mask) => SharedBytes::masked(bytes, shape, is_at_rest, mask),
        None => SharedBytes::raw(bytes.to_vec()),
    }
}

fn is_at_rest(modified_ms: i64) -> bool {
    let modified = u64::try_from(modified_ms).unwrap_or_default();
    let modified = SystemTime::UNIX_EPOCH + Duration::from_millis(modified);
    modified.elapsed().is_ok_and(|since| since >= REST)
}

fn with_slashes(path: &str) -> String {
    path.replace(std::path::MAIN_SEPARATOR, "/")
}

/// A path below a root in which each project has a folder, also of what has none.
fn within(flat: bool, path: &str) -> String {
    match flat {
        true => format!("flat/{path}"),
        false => path.to_owned(),
    }
}

/// The path of a source as a file of its own below a root, or why it cannot be one.
fn path_of(format: &dyn Format, relative: &str) -> Result<String, &'static str> {
    let path = with_slashes(relative);
    if content::is_in_database(format, relative) {
        let key = path
            .rsplit('/')
            .next()
            .filter(|_| format.about().exported.is_some());
        let key = key.ok_or("it is rows of a database of which its agent exports no document")?;
        return Ok(format!("{key}.json"));
    }
    Ok(path.strip_suffix(".zst").unwrap_or(&path).to_owned())
}
