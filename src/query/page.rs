//! Which rows are in the scope of a list, in which order, and which of them are on its page?

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::filter::composed;
use super::here::{Here, ResolvedDirs};
use super::list::ListScope;
use crate::catalogue::Catalogue;
use crate::catalogue::rank::{Rank, RankedTimes};
use crate::catalogue::rows::{head, said};
use crate::catalogue::selection::RowSelection;
use crate::error::Error;
use crate::format::ListOrder;
use crate::model::{Mask, Sort};
use crate::query::Snapshot;

/// What a list consists of: which sessions, in which order.
pub struct ListPage {
    pub(super) scope: ListScope,
    roots: Vec<Root>,
    rows: Vec<PositionedRow>,
    /// The index that the page was made from: another index numbers its sessions differently.
    index_id: String,
    /// Subagents of each session that has some.
    subagents: HashMap<i64, u64>,
    /// Rows in the scope, on every page.
    pub(super) total: u64,
    /// Rows of other directories that pass the same filters.
    pub(super) elsewhere: u64,
}

impl std::fmt::Debug for ListPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ListPage")
            .field("scope", &self.scope)
            .field("rows", &self.rows.len())
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

struct Root {
    number: i64,
    agent: String,
    label: Option<String>,
    host: Option<String>,
    /// The beginning of its rows that have no subagents.
    head: String,
    format: String,
    by_creation: bool,
    has_projects: bool,
    asked: bool,
}

/// A row that is being sorted.
struct PositionedRow {
    rank: Rank,
    key: Option<f64>,
    session: i64,
    /// Which of the roots that are known.
    root: u32,
}

/// A row of a list.
pub(super) struct Row<'a> {
    pub session: i64,
    pub format: &'a str,
    /// The beginning of its JSON.
    pub head: Cow<'a, str>,
    /// The rest of its JSON.
    pub json: &'a str,
}

impl Row<'_> {
    /// Whether `mask` finds something in it. All that it looks through goes into `text`, at once.
    pub fn is_masked(&self, mask: &Mask, text: &mut String) -> bool {
        text.clear();
        for part in said(self.json) {
            text.push_str(&part);
            text.push('\n');
        }
        mask.of(text).is_some()
    }
}

impl ListPage {
    /// How many rows are on it.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The page that `scope` asks for.
    pub(super) fn of(snapshot: &Snapshot<'_>, scope: &ListScope) -> Result<ListPage, Error> {
        let catalogue = snapshot.catalogue;
        let roots = roots(snapshot, scope)?;
        let mut above: HashMap<i64, Vec<i64>> = HashMap::new();
        let mut subagents = HashMap::new();
        let mut started = catalogue.subagents()?;
        let is_asked = |number| roots.iter().any(|root| root.number == number && root.asked);
        started.retain(|one| is_asked(one.root) && is_asked(one.root_above));
        let circular = started.iter().filter(|one| one.session == one.above);
        let circular: HashSet<i64> = circular.map(|one| one.session).collect();
        for one in started.iter().filter(|one| one.session != one.above) {
            // One that is above itself is a row.
            if !circular.contains(&one.session) {
                above.entry(one.session).or_default().push(one.above);
            }
            *subagents.entry(one.above).or_default() += 1;
        }
        if !scope.fold_subagents {
            above.clear();
        }
        let mut page = ListPage {
            scope: scope.clone(),
            roots,
            rows: Vec::new(),
            index_id: catalogue.changes_kept()?.index_id,
            subagents,
            total: 0,
            elsewhere: 0,
        };
        let mut wanted = wanted(catalogue, scope)?;
        // What is not on the page need not be read where it can be counted.
        let all = match wanted.is_all() {
            true => page.total_of_all(catalogue, &above)?,
            false => None,
        };
        ask_for_here(&mut wanted, scope, catalogue, all.is_some())?;
        let is_in_order = all.is_some() && wanted.is_all() && !scope.reverse;
        let end = if is_in_order { scope.end() } else { usize::MAX };
        page.add_rows(catalogue, &wanted, &above, end)?;
        page.total = page.rows.len() as u64;
        match all {
            Some(all) if wanted.only_here => {
                // Below a session of another place they are not among `all`.
                let surfaced = page
                    .rows
                    .iter()
                    .filter(|row| above.contains_key(&row.session));
                let not_below = page.total - surfaced.count() as u64;
                page.elsewhere = all.saturating_sub(not_below);
            }
            Some(all) => page.total = all,
            None => {}
        }
        page.sort(catalogue)?;
        page.rows.drain(..scope.offset.min(page.rows.len()));
        page.rows.truncate(scope.most());
        Ok(page)
    }

    /// Adds the rows that are wanted, but for those below another one that is; where they come in
    /// the order of the page, no more than it takes to know the first ones up to `end`. `above` has
    /// the sessions above each.
    fn add_rows(
        &mut self,
        catalogue: &Catalogue,
        wanted: &RowSelection,
        above: &HashMap<i64, Vec<i64>>,
        end: usize,
    ) -> Result<(), Error> {
        let are_all_wanted = wanted.is_all();
        let (mut last, mut elsewhere, mut wanted_above) = (None, Vec::new(), HashMap::new());
        catalogue.placed_rows(wanted, |row| {
            let times = (row.listed, row.modified_ms, row.file_ms);
            // What has the same times may still belong before it.
            if last.is_some_and(|last| last != times) {
                return ControlFlow::Break(());
            }
            let mut roots = self.roots.iter();
            let root = roots.position(|root| root.number == row.root && root.asked);
            let is_below = above.contains_key(&row.session);
            let Some(root) = root.filter(|_| !(is_below && are_all_wanted)) else {
                return ControlFlow::Continue(());
            };
            if self.subagents.contains_key(&row.session) {
                wanted_above.insert(row.session, row.is_here);
            }
            if !row.is_here {
                elsewhere.push(row.session);
                return ControlFlow::Continue(());
            }
            let ranked = RankedTimes {
                by_creation: self.roots[root].by_creation,
                is_listed: row.listed,
                modified_ms: row.modified_ms,
                file_ms: row.file_ms,
                created_ms: row.created_ms,
            };
            self.rows.push(PositionedRow {
                rank: ranked.rank(self.scope.at.cwd.is_none()),
                key: row.key,
                session: row.session,
                root: root as u32,
            });
            last = last.or_else(|| (self.rows.len() >= end).then_some(times));
            ControlFlow::Continue(())
        })?;
        // What is not wanted itself counts nothing: then the session below it is a row.
        let is_folded = |session: i64, is_here: bool| {
            let above = above.get(&session).into_iter().flatten();
            let mut wanted = above.filter_map(|one| wanted_above.get(one));
            wanted.any(|is_there| *is_there || !is_here)
        };
        self.rows.retain(|row| !is_folded(row.session, true));
        elsewhere.retain(|session| !is_folded(*session, false));
        self.elsewhere = elsewhere.len() as u64;
        Ok(())
    }

    /// How many rows there are without those below another session; `None`: that is not known
    /// without reading them, or they do not come in the order of the page.
    fn total_of_all(
        &self,
        catalogue: &Catalogue,
        above: &HashMap<i64, Vec<i64>>,
    ) -> Result<Option<u64>, Error> {
        let (rows, roots) = catalogue.row_count()?;
        let is_in_order = |number: &i64| {
            let mut known = self.roots.iter();
            let root = known.find(|root| root.number == *number);
            root.is_some_and(|root| root.asked && !root.by_creation && !root.has_projects)
        };
        if !roots.iter().all(is_in_order) {
            return Ok(None);
        }
        let without = catalogue.sessions_without_row()?;
        let uncounted = without.iter().filter(|one| above.contains_key(one)).count();
        let left_out = (above.len() - uncounted) as u64;
        Ok(Some(rows.saturating_sub(left_out)))
    }

    /// Its rows in order, one after the other, as they are in the catalogue's snapshot. A row that
    /// is gone since the page was made is left out. If its whole index is gone, all rows are.
    pub(super) fn each(
        &self,
        catalogue: &Catalogue,
        mut each: impl FnMut(Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.rows.is_empty() || catalogue.changes_kept()?.index_id != self.index_id {
            return Ok(());
        }
        let sessions = self.rows.iter().map(|row| row.session);
        catalogue.each_ready_row(sessions, |at, json| {
            let placed = &self.rows[at];
            each(Row {
                session: placed.session,
                format: &self.root(placed).format,
                head: self.head(placed)?,
                json,
            })
        })
    }

    fn root(&self, row: &PositionedRow) -> &Root {
        &self.roots[row.root as usize]
    }

    /// The beginning of a row's JSON.
    fn head(&self, row: &PositionedRow) -> Result<Cow<'_, str>, Error> {
        let root = self.root(row);
        let Some(subagents) = self.subagents.get(&row.session) else {
            return Ok(Cow::Borrowed(root.head.as_str()));
        };
        let head = head(
            &root.agent,
            root.label.as_deref(),
            root.host.as_deref(),
            *subagents,
        );
        head.map(Cow::Owned)
            .map_err(|e| Error::io("a row".as_ref(), e.into()))
    }

    fn sort(&mut self, catalogue: &Catalogue) -> Result<(), Error> {
        let scope = &self.scope;
        // Where paths decide, each is compared many times, so it is looked up once.
        let paths: RefCell<HashMap<i64, PathBuf>> = RefCell::default();
        let failed = RefCell::new(None);
        let path = |row: &PositionedRow| {
            let mut paths = paths.borrow_mut();
            let path = paths.entry(row.session).or_insert_with(|| {
                catalogue.row_path(row.session).unwrap_or_else(|error| {
                    failed.borrow_mut().get_or_insert(error);
                    PathBuf::new()
                })
            });
            path.clone()
        };
        let rank =
            |a: &PositionedRow, b: &PositionedRow| a.rank.compare(&b.rank, || path(a), || path(b));
        let way = |ordering: Ordering| match scope.reverse {
            true => ordering.reverse(),
            false => ordering,
        };
        let by_key = |a: &PositionedRow, b: &PositionedRow| match (scope.sort, a.key, b.key) {
            (Sort::Agents, ..) | (_, None, None) => way(rank(a, b)),
            (_, Some(own), Some(other)) => way(other.total_cmp(&own)).then_with(|| way(rank(a, b))),
            // Rows without the value come last in either direction.
            (_, own, other) => own.is_none().cmp(&other.is_none()),
        };
        // No two rows are equal: two agents may have one file, each below a root of its own.
        let order =
            |a: &PositionedRow, b: &PositionedRow| by_key(a, b).then_with(|| a.root.cmp(&b.root));
        // Only what is on the page, or before it, needs its order.
        let last = scope.end();
        if last < self.rows.len() {
            self.rows.select_nth_unstable_by(last, order);
            self.rows.truncate(last);
        }
        self.rows.sort_unstable_by(order);
        failed
            .into_inner()
            .map_or(Ok(()), |error| Err(error.into()))
    }
}

fn roots(snapshot: &Snapshot<'_>, scope: &ListScope) -> Result<Vec<Root>, Error> {
    let catalogue = snapshot.catalogue;
    let mut roots = Vec::new();
    for spec in &snapshot.config().roots {
        if let Some(number) = catalogue.root_of(&spec.agent, &spec.path)? {
            let (format, label) = catalogue.root_is(number)?;
            let known = snapshot.config().format(&format);
            let known = known.map(|format| format.about());
            roots.push(Root {
                number,
                agent: spec.agent.clone(),
                host: spec.host.clone(),
                head: head(&spec.agent, label.as_deref(), spec.host.as_deref(), 0)
                    .map_err(|e| Error::io(&spec.path, e.into()))?,
                label,
                by_creation: known.is_some_and(|known| known.list_order == ListOrder::Created),
                has_projects: known.is_some_and(|known| known.has_projects),
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

/// Asks for the sessions of the directories that the scope names: folders are compared here,
/// everything else there. With `only_here` no others are asked for; there are no projects then.
fn ask_for_here(
    wanted: &mut RowSelection,
    scope: &ListScope,
    catalogue: &Catalogue,
    only_here: bool,
) -> Result<(), Error> {
    let place = Here::of(&scope.at);
    if place.is_everywhere() {
        return Ok(());
    }
    let mut places = ResolvedDirs::new(&place);
    let here = match only_here {
        true => {
            let mut folders = catalogue.working_directories()?;
            folders.retain(|folder| places.is_folder_here(folder, false));
            folders
        }
        false => {
            let mut folders = catalogue.folders_of_sessions()?;
            folders.retain(|(folder, is_project)| places.is_folder_here(folder, *is_project));
            folders.into_iter().map(|(folder, _)| folder).collect()
        }
    };
    wanted.here = Some(here);
    wanted.remotes = place.remotes().cloned().collect();
    wanted.only_here = only_here;
    Ok(())
}

/// What the catalogue is asked for but the place.
fn wanted(catalogue: &Catalogue, scope: &ListScope) -> Result<RowSelection, Error> {
    let folders = match &scope.project {
        Some(project) => {
            let mut folders = catalogue.working_directories()?;
            folders.retain(|folder| is_of_project(folder, project));
            Some(folders)
        }
        None => None,
    };
    Ok(RowSelection {
        sort: scope.sort,
        ids: scope.ids.clone(),
        numbers: scope.numbers.clone(),
        named: scope.named,
        live: scope.only_live,
        own: scope.only_own,
        errors: scope.errors,
        cost: scope.cost,
        model: scope.model.clone(),
        since_ms: scope.since_ms,
        until_ms: scope.until_ms,
        folders,
        ..RowSelection::default()
    })
}

/// Whether a working directory is of the project asked for: a path holds it, one that does not
/// start at the root wherever its folders stand; a name is part of its last name, in which `*`
/// stands for any part.
pub(super) fn is_of_project(folder: &str, project: &str) -> bool {
    let (folder, project) = (&*composed(folder), &*composed(project));
    let separators = ['/', '\\'];
    if project.contains(separators) {
        let project = project.trim_end_matches(separators);
        let is_whole = |rest: &str| rest.is_empty() || rest.starts_with(separators);
        let is_below = |at: usize| folder[..at].ends_with(separators) && !project.is_empty();
        let mut places = folder.match_indices(project);
        return places
            .any(|(at, _)| (at == 0 || is_below(at)) && is_whole(&folder[at + project.len()..]));
    }
    let name = folder.trim_end_matches(separators);
    let name = name.rsplit(separators).next().unwrap_or_default();
    let (name, project) = (name.to_lowercase(), project.to_lowercase());
    let mut parts = project.split('*');
    let behind = |rest: &'_ str, part: &str| rest.find(part).map(|at| at + part.len());
    let all = parts.try_fold(0, |from, part| {
        let rest = name.get(from..)?;
        Some(from + behind(rest, part)?)
    });
    all.is_some()
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
            ("*app*", true),
            ("my*PP", true),
            ("app*my", false),
            ("code/my-app", true),
            ("ada/code/", true),
            ("ode/my-app", false),
            ("code/my", false),
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
