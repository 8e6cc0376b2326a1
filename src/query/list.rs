//! Which sessions are there? The agents' own lists, row by row, then what they would not list.

use std::cmp::{Ordering, Reverse};
use std::path::{Path, PathBuf};

use super::here::Here;
use super::list_json::WrittenList;
use super::page::{ListPage, Row};
use crate::catalogue::read::{StoredSession, Totals};
use crate::catalogue::roots::RootCounts;
use crate::error::Error;
use crate::format::ListOrder;
use crate::format::json::Collation;
use crate::model::{
    Listing, Mask, RootStatus, SCHEMA_VERSION, SessionRow, Sort, Status, UnindexedText, iso,
};
use crate::query::Snapshot;
use crate::source::identity::now_ns;
use crate::source::links::NOT_FOLLOWED;
use crate::source::root::RootSpec;

/// Which sessions a list shows, in which order. The default is all of them.
#[derive(Debug, Clone, Default)]
pub struct ListScope {
    /// Only sessions of this working directory (by the session's header, links resolved on both
    /// sides).
    pub cwd: Option<PathBuf>,
    /// Only sessions whose working directory is one of these or lies below one of them (links
    /// resolved on both sides); none = wherever they are.
    pub within: Vec<PathBuf>,
    /// The common folders of the git repositories whose working trees `within` are (see
    /// [`Repository`](crate::repository::Repository)): what lies below them in another repository,
    /// as far as it is there, is left out. None: nothing is.
    pub repositories: Vec<PathBuf>,
    /// The remotes of these repositories (see [`Repository::remote`]): sessions of one of them, by
    /// [`SessionRow::repository`], count wherever their directory is.
    ///
    /// [`Repository::remote`]: crate::repository::Repository::remote
    /// [`SessionRow::repository`]: crate::model::SessionRow::repository
    pub remotes: Vec<String>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions of this project: part of its folder's name, or with a separator the folder or
    /// one above it.
    pub project: Option<String>,
    /// Only sessions with one of these ids; `None`: with any.
    pub ids: Option<Vec<String>>,
    /// Only sessions with a name.
    pub named: bool,
    /// Only sessions whose files are there, and none that are archived.
    pub only_live: bool,
    /// Only sessions of this machine.
    pub only_own: bool,
    /// Only sessions with entries that report an error.
    pub errors: bool,
    /// Only sessions that cost at least so many US dollars.
    pub cost: Option<f64>,
    /// Only sessions last modified at this moment or later, in ms.
    pub since_ms: Option<i64>,
    /// Only sessions last modified before this moment, in ms.
    pub until_ms: Option<i64>,
    /// Leave out sessions of subagents whose parent is there: it counts them.
    pub fold_subagents: bool,
    /// In which order.
    pub sort: Sort,
    /// Reverse the order. Sessions that do not record the value come last all the same.
    pub reverse: bool,
    /// Fill [`crate::model::SessionRow::all_messages_text`], read from the files.
    pub with_text: bool,
    /// How many are left out at the beginning.
    pub offset: usize,
    /// At most so many; `None` and 0: all.
    pub limit: Option<usize>,
    /// Makes parts of the rows unreadable.
    pub mask: Option<Mask>,
}

impl ListScope {
    /// The working directories whose sessions it shows.
    pub(super) fn here(&self) -> Here {
        Here::of(
            self.cwd.as_deref(),
            &self.within,
            &self.repositories,
            &self.remotes,
        )
    }

    pub(super) fn most(&self) -> usize {
        self.limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX)
    }

    /// So many rows of its order are on the page or before it.
    pub(super) fn end(&self) -> usize {
        self.offset.saturating_add(self.most())
    }
}

impl Snapshot<'_> {
    /// The sessions in the scope: first the agents' rows in the agents' order, then the rest.
    ///
    /// Order (pi 0.87.1): `modified` descending, then the file's mtime descending (all projects
    /// only), then its name descending. A session of agentuse stands where its creation puts it;
    /// ties by its path, as agentuse walks.
    pub fn list(&self, scope: &ListScope) -> Result<Listing, Error> {
        self.list_page(&self.page(scope)?)
    }

    /// The sessions of a page that [`Snapshot::page`] has made.
    pub fn list_page(&self, page: &ListPage) -> Result<Listing, Error> {
        let mut sessions = Vec::with_capacity(page.len());
        self.each_row(page, |row| {
            sessions.push(row);
            Ok(())
        })?;
        // While their text was read, a file may have turned out to be changed.
        Ok(Listing {
            sessions,
            ..self.listing(page)
        })
    }

    /// Show the rows of a page one after the other; memory does not grow with their number. A page
    /// can be gone through more than once: on the snapshot that it is of, its rows are the same
    /// each time; on another one, a row that is gone is left out.
    ///
    /// ```no_run
    /// use sessionary::{Config, Freshness, Index, index::ListScope};
    /// # fn main() -> Result<(), sessionary::Error> {
    /// # let config = Config::new("/tmp/index", vec![]);
    /// let index = Index::open(&config, Freshness::Check)?;
    /// let snapshot = index.snapshot()?;
    /// let page = snapshot.page(&ListScope::default())?;
    /// let mut widest = 0;
    /// snapshot.each_row(&page, |row| {
    ///     widest = widest.max(row.id.len());
    ///     Ok(())
    /// })?;
    /// snapshot.each_row(&page, |row| {
    ///     println!("{:widest$} {}", row.id, row.cwd);
    ///     Ok(())
    /// })?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of `each`, which end it.
    pub fn each_row(
        &self,
        page: &ListPage,
        mut each: impl FnMut(SessionRow) -> Result<(), Error>,
    ) -> Result<WrittenList, Error> {
        let mut sessions = 0;
        page.each(self.catalogue, |row| {
            sessions += 1;
            each(self.session_row(&page.scope, &row)?)
        })?;
        Ok(self.written(page, sessions))
    }

    /// One row of a list, taken apart.
    pub(super) fn session_row(
        &self,
        scope: &ListScope,
        row: &Row<'_>,
    ) -> Result<SessionRow, Error> {
        let mut read = self
            .catalogue
            .row_of(&format!("{}{}", row.head, row.json))?;
        if scope.with_text {
            read.all_messages_text = Some(self.text_of(row.session, row.format)?);
        }
        if let Some(mask) = scope.mask {
            read.mask(mask);
        }
        Ok(read)
    }

    /// The rows that a list consists of, for [`Snapshot::list_page`], [`Snapshot::each_row`],
    /// [`Snapshot::write_page`] or [`Snapshot::write_page_lines`].
    pub fn page(&self, scope: &ListScope) -> Result<ListPage, Error> {
        ListPage::of(self, scope)
    }

    /// What is said around the rows of a page.
    pub(super) fn listing(&self, page: &ListPage) -> Listing {
        Listing {
            schema_version: SCHEMA_VERSION,
            sessions: Vec::new(),
            total: page.total,
            elsewhere: page.elsewhere,
            cwd: page.scope.cwd.clone(),
            within: page.scope.within.clone(),
            remotes: page.scope.remotes.clone(),
            complete: self.is_complete(),
            pending_files: self.stores.pending_files,
        }
    }

    /// What is said around the rows of a page after so many of them were shown.
    pub(super) fn written(&self, page: &ListPage, sessions: usize) -> WrittenList {
        WrittenList {
            sessions,
            total: page.total,
            elsewhere: page.elsewhere,
            complete: self.is_complete(),
            pending_files: self.stores.pending_files,
        }
    }

    /// When all files were looked at last: just now, where opening did.
    fn last_scan_ms(&self, totals: &Totals) -> Option<i64> {
        let here = self.stores.was_checked.then(|| now_ns() / 1_000_000);
        here.max(totals.last_scan_ms)
    }

    /// All sessions of the roots this index is configured for.
    pub(crate) fn stored_sessions(&self) -> Result<Vec<StoredSession>, Error> {
        Ok(self.catalogue.sessions(&self.root_numbers()?)?)
    }

    pub(crate) fn root_numbers(&self) -> Result<Vec<i64>, Error> {
        let mut roots = Vec::new();
        for spec in &self.config().roots {
            roots.extend(self.catalogue.root_of(&spec.agent, &spec.path)?);
        }
        Ok(roots)
    }

    /// How many links below the roots lead out of them and are not followed.
    pub fn links_not_followed(&self) -> Result<u64, Error> {
        let mut links = 0;
        for root in self.root_numbers()? {
            links += self.catalogue.links_not_followed(root, NOT_FOLLOWED)?;
        }
        Ok(links)
    }

    /// Whether there is any session.
    pub fn has_sessions(&self) -> Result<bool, Error> {
        Ok(self.catalogue.has_sessions()?)
    }

    /// What there is, where, and how current. Whether somebody writes or watches is for others to
    /// say.
    pub(crate) fn status(&self) -> Result<Status, Error> {
        let (config, catalogue) = (self.config(), self.catalogue);
        let stored = catalogue.roots()?;
        let mut roots = Vec::new();
        for spec in &config.roots {
            let root = catalogue.root_of(&spec.agent, &spec.path)?;
            let known = stored.iter().find(|known| Some(known.root) == root);
            let mut status = root_status(spec, known);
            if let (Some(root), Some(format)) = (root, config.format(&spec.format)) {
                status.unknown_types = self.unknown_types(root, format)?;
            }
            roots.push(status);
        }
        let totals = catalogue.totals()?;
        let found = self.words()?;
        let lack = match found.words {
            Some(_) => catalogue.outstanding(found.done)?,
            None => catalogue.outstanding_without_words()?,
        };
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
        let catalogue_path = config.catalogue_path();
        let [wal, shm] = ["sqlite-wal", "sqlite-shm"].map(|end| catalogue_path.with_extension(end));
        Ok(Status {
            schema_version: SCHEMA_VERSION,
            index_dir: config.index_dir.clone(),
            generation: crate::catalogue::GENERATION,
            roots,
            sessions: totals.sessions,
            entries: totals.entries,
            problems: totals.problems,
            unread: totals.unread,
            outstanding: lack.entries,
            outstanding_bytes: lack.bytes,
            owed: UnindexedText::of(lack.entries, lack.bytes),
            words_damage: found.damage.clone(),
            catalogue_bytes: size(&catalogue_path) + size(&wal) + size(&shm),
            words_bytes: walkdir::WalkDir::new(config.words_dir())
                .into_iter()
                .flatten()
                .filter_map(|entry| entry.metadata().ok())
                .filter(|m| m.is_file())
                .map(|m| m.len())
                .sum(),
            source_bytes: totals.source_bytes,
            last_scan: self.last_scan_ms(&totals).and_then(iso),
            last_scan_ms: self.last_scan_ms(&totals),
            writer: config.has_writer(),
            watcher: None,
        })
    }
}

/// How sessions of several agents stand in one list.
pub(super) struct ListRanking<'a> {
    by_creation: Vec<&'a str>,
    by_mtime: bool,
}

/// The place of one session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rank {
    // Packed into three machine words, because there is one per row, however long the list is.
    is_hidden: bool,
    by_creation: bool,
    time: Reverse<i64>,
    file: Reverse<i64>,
}

impl<'a> ListRanking<'a> {
    pub(super) fn new(snapshot: &'a Snapshot<'_>, by_mtime: bool) -> Self {
        let formats = snapshot.config().formats.iter();
        Self {
            by_creation: formats
                .filter(|format| format.list_order() == ListOrder::Created)
                .map(|format| format.name())
                .collect(),
            by_mtime,
        }
    }

    /// Whether sessions of the format stand where their creation puts them.
    pub(super) fn are_by_creation(&self, format: &str) -> bool {
        self.by_creation.contains(&format)
    }

    pub(super) fn rank(
        &self,
        by_creation: bool,
        listed: bool,
        modified_ms: i64,
        file_ms: i64,
        created_ms: Option<i64>,
    ) -> Rank {
        let (time, file) = if by_creation {
            (created_ms.unwrap_or(0), 0)
        } else {
            (modified_ms, file_ms)
        };
        Rank {
            is_hidden: !listed,
            by_creation,
            time: Reverse(time),
            file: Reverse(if self.by_mtime { file } else { 0 }),
        }
    }
}

impl Rank {
    /// Which comes first? Paths are costly to compare and hardly ever decide, so they are asked for
    /// last.
    pub(super) fn compare(
        &self,
        other: &Rank,
        own_path: impl FnOnce() -> PathBuf,
        other_path: impl FnOnce() -> PathBuf,
    ) -> Ordering {
        let times = |rank: &Self| (rank.is_hidden, rank.time, rank.file);
        times(self).cmp(&times(other)).then_with(|| {
            if self.by_creation != other.by_creation {
                return self.by_creation.cmp(&other.by_creation);
            }
            let (own, other) = (own_path(), other_path());
            let name = |path: &Path| {
                let name = path.file_name();
                name.map(|name| Collation::of(&name.to_string_lossy()))
            };
            let names = match self.by_creation {
                true => Ordering::Equal,
                false => name(&other).cmp(&name(&own)),
            };
            names.then_with(|| own.cmp(&other))
        })
    }
}

/// What is known of a root.
fn root_status(spec: &RootSpec, known: Option<&RootCounts>) -> RootStatus {
    let first_unknown = known.and_then(|root| root.first_unknown.as_ref());
    RootStatus {
        agent: spec.agent.clone(),
        label: spec.label.clone(),
        path: spec.path.clone(),
        why: spec.why.clone(),
        exists: spec.path.is_dir(),
        files: known.map_or(0, |root| root.files),
        sessions: known.map_or(0, |root| root.sessions),
        excluded: known.map_or(0, |root| root.excluded),
        links_not_followed: known.map_or(0, |root| root.links_not_followed),
        newest: known.and_then(|root| root.newest_ms).and_then(iso),
        newest_ms: known.and_then(|root| root.newest_ms),
        unknown: known.map_or(0, |root| root.unknown),
        first_unknown: first_unknown.map(PathBuf::from),
        entries: known.map_or(0, |root| root.entries),
        unparsed: known.map_or(0, |root| root.unparsed),
        unknown_types: Vec::new(),
        error: known.and_then(|root| root.error.clone()),
    }
}
