//! Where is the index, and what does it cover?

use std::fs::{File, TryLockError};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::catalogue::{Catalogue, GENERATION, WAL_BYTES};
use crate::error::Error;
use crate::format::{FORMATS, Format, format_named};
use crate::model::{Cancel, Zone};
use crate::source::links::Links;
use crate::source::root::RootSpec;

mod rules;

pub(crate) use self::rules::is_file_of_rules;
pub use self::rules::{FollowLinks, Rules};

/// The path by which a folder is stored: absolute, without `.` and without a trailing separator.
/// `..` is resolved by the system, which knows where links lead.
pub(crate) fn lasting(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let whole: PathBuf = whole.components().collect();
    let goes_up = whole.components().any(|part| part == Component::ParentDir);
    let real = goes_up.then(|| whole.canonicalize().ok()).flatten();
    real.unwrap_or(whole)
}

/// Which further roots follow from sessions of the working directory it is given: agents keep
/// settings there.
pub type ProjectRoots = Arc<dyn Fn(&Path) -> Vec<RootSpec> + Send + Sync>;

/// Where the index lies, what it covers, and which formats are known.
#[derive(Clone)]
pub struct Config {
    /// The index directory.
    pub index_dir: PathBuf,
    /// The folder of the archive, in which sessions are kept that their agents may delete; `None`:
    /// nothing is kept, and what is kept is not read.
    pub archive_dir: Option<PathBuf>,
    /// The places to scan. Of several names of one folder the first counts.
    pub roots: Vec<RootSpec>,
    /// Asked once for every working directory that is met, e.g. with
    /// [`project_roots`](crate::locations::project_roots).
    pub project_roots: Option<ProjectRoots>,
    /// The formats; [`FORMATS`] and any of your own.
    pub formats: Vec<&'static dyn Format>,
    /// What is left out. By default the rules that are stored in the index hold, and only
    /// [`Rules::set`] changes them.
    pub rules: Rules,
    /// Whether the user lets programs index words after an answer. The library does nothing by
    /// itself; callers of [`Index::index_backlog`](crate::Index::index_backlog) should check this
    /// first.
    pub background: bool,
    /// The reader's time zone: of the days in searches, unless
    /// [`SearchScope`](crate::index::SearchScope) names one, and of `local_day` in reports.
    pub zone: Zone,
    /// The home folder, which calls and the filters of a search may name as `~`; `None`: a `~` is
    /// taken as it is. A repository at its top or above it is of no
    /// session: who keeps that in git does not work on one thing.
    pub home: Option<PathBuf>,
    /// Ends the reading of files, and searches, from elsewhere. A cancelled one stays so, in clones
    /// of this configuration too: give a new one for what comes next.
    /// [`WatchOptions::cancel`](crate::index::WatchOptions::cancel) ends a watcher alone.
    pub cancel: Cancel,
    /// How long `catalogue.sqlite-wal` may become while another process is in a read transaction
    /// ([`WAL_BYTES`]; always twice the catalogue's own size): beyond that nothing is written, and
    /// answers say that they are not complete.
    pub wal_bytes: u64,
}

impl Config {
    /// An index in `index_dir` of these roots, read with the formats of this build; nothing is kept
    /// in an archive, and days are in UTC.
    pub fn new(index_dir: impl Into<PathBuf>, roots: Vec<RootSpec>) -> Config {
        Config {
            index_dir: index_dir.into(),
            archive_dir: None,
            roots,
            project_roots: None,
            formats: FORMATS.to_vec(),
            rules: Rules::stored(),
            background: true,
            zone: Zone::UTC,
            home: None,
            cancel: Cancel::default(),
            wal_bytes: WAL_BYTES,
        }
    }

    /// Another format, found by its name before those of this build.
    pub fn with_format(mut self, format: &'static dyn Format) -> Config {
        self.formats.insert(0, format);
        self
    }

    /// Add the roots that follow from the catalogued sessions; those that are new are returned.
    pub(crate) fn add_project_roots(
        &mut self,
        catalogue: &Catalogue,
    ) -> Result<Vec<RootSpec>, Error> {
        let mut added = Vec::new();
        if let Some(project_roots) = self.project_roots.clone() {
            for cwd in catalogue.own_working_directories()? {
                for root in project_roots(Path::new(&cwd)) {
                    self.check(&root)?;
                    if add(&mut self.roots, &root, &self.formats) {
                        added.extend(self.roots.last().cloned());
                    }
                }
            }
        }
        Ok(added)
    }

    /// Where links below this root may lead, and which folders are other roots, where the same
    /// sessions would be found.
    pub(crate) fn links(&self, root: &RootSpec) -> Links {
        let roots = self.roots.iter().filter(|other| other.agent == root.agent);
        let roots = roots.map(|other| other.path.clone()).collect();
        let others = self.roots.iter();
        let others = others.filter(|other| root.is_of_family(other, &self.formats));
        let others = others.map(|other| (other.path.clone(), other.flat));
        let links = match self.rules.follow_links() {
            true => Links::anywhere(roots),
            false => Links::within(roots),
        };
        links.beside(others.collect())
    }

    /// A fingerprint of the rules of what is left out; `None` when they are the default ones.
    pub(crate) fn left_out_by(&self) -> Option<i64> {
        self.rules.fingerprint()
    }

    /// As it holds for the index that stands there now.
    ///
    /// # Errors
    /// [`Error::Rules`] when the rules stored there cannot be read; [`Error::UnknownFormat`] of a
    /// root.
    pub(crate) fn held(&self) -> Result<Config, Error> {
        self.check_roots()?;
        let rules = self.rules.held(&self.index_dir)?;
        Ok(Config {
            rules,
            roots: each_once(&self.roots, &self.formats),
            ..self.clone()
        })
    }

    /// Whether there is a format to read each root with.
    pub(crate) fn check_roots(&self) -> Result<(), Error> {
        self.roots.iter().try_for_each(|root| self.check(root))
    }

    fn check(&self, root: &RootSpec) -> Result<(), Error> {
        match self.format(&root.format) {
            Some(_) => Ok(()),
            None => Err(Error::UnknownFormat {
                root: root.path.clone(),
                format: root.format.clone(),
                known: self
                    .formats
                    .iter()
                    .map(|format| format.about().name)
                    .collect(),
            }),
        }
    }

    pub(crate) fn generation_dir(&self) -> PathBuf {
        self.index_dir.join(format!("v{GENERATION}"))
    }

    /// The SQLite file that reporting tools read; `docs/sql.md` says what is in it.
    pub fn catalogue_path(&self) -> PathBuf {
        self.generation_dir().join("catalogue.sqlite")
    }

    pub(crate) fn words_dir(&self) -> PathBuf {
        self.generation_dir().join("words")
    }

    /// Whether another process holds the writer lock.
    pub(crate) fn has_writer(&self) -> bool {
        let path = self.generation_dir().join("lock");
        File::open(path)
            .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    pub(crate) fn format(&self, name: &str) -> Option<&'static dyn Format> {
        format_named(&self.formats, name)
    }
}

/// The roots by the paths that last. Of several names of a folder the first counts.
pub(crate) fn each_once(roots: &[RootSpec], formats: &[&'static dyn Format]) -> Vec<RootSpec> {
    let mut once = Vec::with_capacity(roots.len());
    for root in roots {
        add(&mut once, root, formats);
    }
    once
}

/// Add a root by the path that lasts. One folder is one root, or all of it would be stored twice:
/// `false` where it is there.
fn add(roots: &mut Vec<RootSpec>, root: &RootSpec, formats: &[&'static dyn Format]) -> bool {
    let root = RootSpec {
        path: lasting(&root.path),
        ..root.clone()
    };
    let is_new = !roots.iter().any(|other| other.is_same(&root, formats));
    if is_new {
        roots.push(root);
    }
    is_new
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let formats: Vec<&str> = self.formats.iter().map(|x| x.about().name).collect();
        f.debug_struct("Config")
            .field("index_dir", &self.index_dir)
            .field("roots", &self.roots)
            .field("formats", &formats)
            .finish()
    }
}
