//! Which rows are in the scope of a list, in which order, and which of them are on its page?

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

use super::list::{ListScope, Places, Rank, Ranks, canonical};
use crate::catalogue::Catalogue;
use crate::catalogue::rows::{Wanted, head};
use crate::index::{Error, Index};
use crate::model::Sort;

/// One page of a list: rows as JSON, to be copied or read.
pub(super) struct Page {
    roots: Vec<Root>,
    rows: Vec<Placed>,
    text: String,
    /// Subagents of each session that has some.
    subagents: HashMap<i64, u64>,
    /// Rows in the scope, on every page.
    pub total: u64,
    /// Rows of other directories that pass the same filters.
    pub elsewhere: u64,
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
    json: Range<usize>,
}

/// What a tie needs of a row.
#[derive(serde::Deserialize)]
struct Named {
    path: PathBuf,
}

impl Page {
    /// The page that `scope` asks for.
    pub(super) fn of(
        index: &Index,
        catalogue: &Catalogue,
        scope: &ListScope,
    ) -> Result<Page, Error> {
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
        let mut page = Page {
            roots,
            rows: Vec::new(),
            text: String::new(),
            subagents,
            total: 0,
            elsewhere: 0,
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
            let from = page.text.len();
            page.text.push_str(row.json);
            let by_creation = page.roots[root].by_creation;
            let (modified, file) = (row.modified_ms, row.file_ms);
            page.rows.push(Placed {
                rank: ranks.rank(by_creation, row.listed, modified, file, row.created_ms),
                key: row.key,
                session: row.session,
                root,
                json: from..page.text.len(),
            });
        })?;
        page.total = page.rows.len() as u64;
        page.sort(scope);
        page.rows.drain(..scope.offset.min(page.rows.len()));
        page.rows.truncate(scope.most());
        Ok(page)
    }

    fn sort(&mut self, scope: &ListScope) {
        let text = &self.text;
        let path = |row: &Placed| {
            let named = serde_json::from_str::<Named>(&format!("{{{}", &text[row.json.clone()]));
            named.map_or_else(|_| PathBuf::new(), |named| named.path)
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
    }

    /// How many rows are on it.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Its rows in order: the number and the format of the session, and its JSON in two pieces.
    pub(super) fn rows(
        &self,
    ) -> impl Iterator<Item = Result<(i64, &str, Cow<'_, str>, &str), serde_json::Error>> {
        self.rows.iter().map(|row| {
            let root = &self.roots[row.root];
            let head = match self.subagents.get(&row.session) {
                Some(subagents) => head(&root.agent, root.label.as_deref(), *subagents)?.into(),
                None => Cow::Borrowed(root.head.as_str()),
            };
            Ok((
                row.session,
                root.format.as_str(),
                head,
                &self.text[row.json.clone()],
            ))
        })
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
