//! Which rows are in the scope of a list, in which order, and which of them are on its page?

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::thread::Builder;

use super::list::{ListScope, Places, Rank, Ranks, canonical};
use crate::catalogue::Catalogue;
use crate::catalogue::rows::{Wanted, head};
use crate::index::{Error, Index};
use crate::model::Sort;

/// What a list consists of: which sessions, in which order, and as much of what is told of each as is worth keeping until
/// it is written.
pub struct ListPage {
    pub(super) scope: ListScope,
    roots: Vec<Root>,
    rows: Vec<Placed>,
    /// The rows' JSON, where that is not too much.
    text: Option<String>,
    /// The index it was made of: another one has other numbers.
    index_id: String,
    /// Subagents of each session that has some.
    subagents: HashMap<i64, u64>,
    /// Rows in the scope, on every page.
    pub(super) total: u64,
    /// Rows of other directories that pass the same filters.
    pub(super) elsewhere: u64,
}

/// So many bytes of rows are kept from the look at all of them: each row is some thousand bytes. Of longer lists each row is
/// read again when it is its turn, so that memory does not grow with them.
const KEPT: usize = 4 << 20;

/// A row of a list.
pub(super) struct Row<'a> {
    pub session: i64,
    pub format: &'a str,
    /// Its JSON begins so.
    pub head: Cow<'a, str>,
    /// And goes on so.
    pub json: Cow<'a, str>,
    /// Whether something in it must be made unreadable.
    pub is_masked: bool,
}

struct Root {
    number: i64,
    agent: String,
    label: Option<String>,
    /// The beginning of its rows that have no subagents.
    head: String,
    format: String,
    by_creation: bool,
    asked: bool,
}

/// A row on its way into its place.
struct Placed {
    rank: Rank,
    key: Option<f64>,
    session: i64,
    /// Number of its root in the configuration.
    root: usize,
    /// Where its JSON is in the text that was kept.
    json: Range<usize>,
    is_masked: Option<bool>,
}

/// Bytes of rows of which half are looked at by another thread.
const WORTH_A_THREAD: usize = 256 << 10;

impl ListPage {
    /// Without an index there is nothing on it.
    pub(super) fn empty(scope: &ListScope) -> ListPage {
        ListPage {
            scope: scope.clone(),
            roots: Vec::new(),
            rows: Vec::new(),
            text: Some(String::new()),
            index_id: String::new(),
            subagents: HashMap::new(),
            total: 0,
            elsewhere: 0,
        }
    }

    /// How many rows are on it.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The page that `scope` asks for.
    pub(super) fn of(
        index: &Index,
        catalogue: &Catalogue,
        scope: &ListScope,
    ) -> Result<ListPage, Error> {
        let ranks = Ranks::new(index, scope.cwd.is_none());
        let roots = roots(index, catalogue, scope, &ranks)?;
        let mut folded = HashSet::new();
        let mut subagents = HashMap::new();
        for (child, parent) in catalogue.subagents()? {
            folded.insert(child);
            *subagents.entry(parent).or_default() += 1;
        }
        if !scope.fold_subagents {
            folded.clear();
        }
        let mut page = ListPage {
            roots,
            subagents,
            index_id: catalogue.changes_kept()?.index_id,
            ..ListPage::empty(scope)
        };
        let wanted = wanted(catalogue, scope)?;
        catalogue.ready_rows(&wanted, |row| {
            let Some(root) = page.roots.iter().position(|root| root.number == row.root) else {
                return;
            };
            if !page.roots[root].asked || folded.contains(&row.session) {
                return;
            }
            if !row.is_here {
                page.elsewhere += 1;
                return;
            }
            let json = page.keep(row.json);
            let by_creation = page.roots[root].by_creation;
            let (modified, file) = (row.modified_ms, row.file_ms);
            page.rows.push(Placed {
                rank: ranks.rank(by_creation, row.listed, modified, file, row.created_ms),
                key: row.key,
                session: row.session,
                root,
                json,
                is_masked: None,
            });
        })?;
        page.total = page.rows.len() as u64;
        page.sort(catalogue)?;
        page.rows.drain(..scope.offset.min(page.rows.len()));
        page.rows.truncate(scope.most());
        page.look_for_secrets()?;
        Ok(page)
    }

    /// Keep a row's JSON, unless all of them are too much.
    fn keep(&mut self, json: &str) -> Range<usize> {
        let Some(text) = &mut self.text else {
            return 0..0;
        };
        if text.len() + json.len() > KEPT {
            self.text = None;
            return 0..0;
        }
        let from = text.len();
        text.push_str(json);
        from..text.len()
    }

    /// Of rows that are kept it is known before they are written whether they must be masked.
    fn look_for_secrets(&mut self) -> Result<(), Error> {
        let (Some(mask), Some(text)) = (self.scope.mask, &self.text) else {
            return Ok(());
        };
        let (roots, subagents) = (&self.roots, &self.subagents);
        let look = |rows: &mut [Placed]| {
            for row in rows {
                let head = row.head(roots, subagents)?;
                let masked = mask(&text[row.json.clone()]).is_some() || mask(&head).is_some();
                row.is_masked = Some(masked);
            }
            Ok(())
        };
        if text.len() < WORTH_A_THREAD {
            return look(&mut self.rows);
        }
        let half = self.rows.len() / 2;
        let (here, there) = self.rows.split_at_mut(half);
        std::thread::scope(|threads| {
            // Without a thread for it, or after one that failed, each is looked at when it is written.
            let looking = Builder::new().spawn_scoped(threads, || look(there));
            look(here)?;
            looking.map_or(Ok(()), |looking| looking.join().unwrap_or(Ok(())))
        })
    }

    fn sort(&mut self, catalogue: &Catalogue) -> Result<(), Error> {
        let scope = &self.scope;
        // Where paths decide they do so again and again.
        let paths: RefCell<HashMap<i64, PathBuf>> = RefCell::default();
        let failed = RefCell::new(None);
        let path = |row: &Placed| {
            let mut paths = paths.borrow_mut();
            let path = paths.entry(row.session).or_insert_with(|| {
                catalogue.row_path(row.session).unwrap_or_else(|error| {
                    failed.borrow_mut().get_or_insert(error);
                    PathBuf::new()
                })
            });
            path.clone()
        };
        let rank = |a: &Placed, b: &Placed| a.rank.compare(&b.rank, || path(a), || path(b));
        let way = |ordering: Ordering| match scope.reverse {
            true => ordering.reverse(),
            false => ordering,
        };
        match scope.sort {
            Sort::Agents => self.rows.sort_by(|a, b| way(rank(a, b))),
            // What is not recorded comes last, whichever way.
            _ => self.rows.sort_by(|a, b| match (a.key, b.key) {
                (Some(own), Some(other)) => {
                    way(other.total_cmp(&own)).then_with(|| way(rank(a, b)))
                }
                (None, None) => way(rank(a, b)),
                (own, other) => own.is_none().cmp(&other.is_none()),
            }),
        }
        failed
            .into_inner()
            .map_or(Ok(()), |error| Err(error.into()))
    }

    /// Its rows in order. One that is gone since is left out.
    pub(super) fn each(
        &self,
        catalogue: &Catalogue,
        mut tell: impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for placed in &self.rows {
            let Some(json) = placed.json(self, catalogue)? else {
                continue;
            };
            let head = placed.head(&self.roots, &self.subagents)?;
            let is_masked = placed.is_masked.unwrap_or_else(|| {
                let masked =
                    |piece: &str| self.scope.mask.is_some_and(|mask| mask(piece).is_some());
                masked(&head) || masked(&json)
            });
            tell(Row {
                session: placed.session,
                format: &self.roots[placed.root].format,
                head,
                json,
                is_masked,
            })?;
        }
        Ok(())
    }
}

impl Placed {
    /// Its JSON: as it was kept, else as it is now.
    fn json<'a>(
        &self,
        page: &'a ListPage,
        catalogue: &Catalogue,
    ) -> Result<Option<Cow<'a, str>>, Error> {
        Ok(match &page.text {
            Some(text) => Some(Cow::Borrowed(&text[self.json.clone()])),
            None => {
                let row = catalogue.ready_row(self.session, &page.index_id)?;
                row.map(Cow::Owned)
            }
        })
    }

    /// The beginning of its JSON.
    fn head<'a>(
        &self,
        roots: &'a [Root],
        subagents: &HashMap<i64, u64>,
    ) -> Result<Cow<'a, str>, Error> {
        let root = &roots[self.root];
        let Some(subagents) = subagents.get(&self.session) else {
            return Ok(Cow::Borrowed(root.head.as_str()));
        };
        let head = head(&root.agent, root.label.as_deref(), *subagents);
        head.map(Cow::Owned)
            .map_err(|e| Error::io("a row".as_ref(), e.into()))
    }
}

fn roots(
    index: &Index,
    catalogue: &Catalogue,
    scope: &ListScope,
    ranks: &Ranks<'_>,
) -> Result<Vec<Root>, Error> {
    let mut roots = Vec::new();
    for spec in &index.config.roots {
        if let Some(number) = catalogue.root_of(&spec.agent, &spec.path)? {
            let (format, label, _) = catalogue.root_is(number)?;
            roots.push(Root {
                number,
                agent: spec.agent.clone(),
                head: head(&spec.agent, label.as_deref(), 0)
                    .map_err(|e| Error::io(&spec.path, e.into()))?,
                label,
                by_creation: ranks.are_by_creation(&format),
                format,
                asked: scope
                    .agent
                    .as_ref()
                    .is_none_or(|agent| *agent == spec.agent),
            });
        }
    }
    Ok(roots)
}

/// What the catalogue is asked for: folders are compared here, everything else there.
fn wanted(catalogue: &Catalogue, scope: &ListScope) -> Result<Wanted, Error> {
    let mut places = Places::default();
    let here = match &scope.cwd {
        Some(cwd) => {
            let cwd = canonical(cwd);
            let mut folders = catalogue.folders_of_sessions()?;
            folders.retain(|(folder, is_project)| places.is_folder_here(folder, *is_project, &cwd));
            Some(folders.into_iter().map(|(folder, _)| folder).collect())
        }
        None => None,
    };
    let folders = match &scope.project {
        Some(project) => {
            let mut folders = catalogue.working_directories()?;
            folders.retain(|folder| is_of_project(folder, project));
            Some(folders)
        }
        None => None,
    };
    Ok(Wanted {
        sort: scope.sort,
        named: scope.named,
        errors: scope.errors,
        cost: scope.cost,
        since_ms: scope.since_ms,
        until_ms: scope.until_ms,
        folders,
        here,
    })
}

/// Whether a working directory is of the project asked for: a path holds it, a name is part of its last name.
fn is_of_project(folder: &str, project: &str) -> bool {
    let separators = ['/', '\\'];
    if project.contains(separators) {
        let project = project.trim_end_matches(separators);
        let rest = folder.strip_prefix(project);
        return rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(separators));
    }
    let name = folder.trim_end_matches(separators);
    let name = name.rsplit(separators).next().unwrap_or_default();
    name.to_lowercase().contains(&project.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_by_name_and_by_path() {
        for (project, is_of) in [
            ("App", true),
            ("code", false),
            ("/home/ada/code", true),
            ("/home/ada/code/", true),
            ("/home/ada/co", false),
            ("/home/ada/code/my-app/", true),
            ("/", true),
        ] {
            assert_eq!(
                is_of_project("/home/ada/code/my-app", project),
                is_of,
                "{project}"
            );
        }
        assert!(is_of_project(r"C:\Users\ada\app", "APP"));
        assert!(is_of_project(r"C:\Users\ada\app", r"C:\Users"));
    }
}
