//! A copy of an agent's store, as a fixture has it, and an index of it: what the tests of the
//! agents' readers ask.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sessionary::index::{ListScope, SearchScope, ShowScope, TreeFilter};
use sessionary::model::{Class, SessionRow};
use sessionary::{Config, Freshness, Index, Indexer};

use crate::histories::dump;

/// The store and its index.
pub struct Store {
    place: tempfile::TempDir,
    agent: &'static str,
}

/// What is asked of an entry: id, kind, role, prose, output.
pub type Said = (String, String, Option<String>, Vec<String>, Vec<String>);

impl Store {
    /// A copy of the case of that name.
    pub fn of(agent: &'static str, case: &str) -> Store {
        let place = tempfile::tempdir().unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        copy(&fixtures.join(agent).join(case), &place.path().join("home"));
        Store { place, agent }
    }

    /// All cases of an agent.
    pub fn cases(agent: &str) -> Vec<String> {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        names(&fixtures.join(agent))
    }

    /// A folder or file of the store.
    pub fn path(&self, below: &str) -> PathBuf {
        self.place.path().join("home").join(below)
    }

    /// All files of the store, in order.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        files(&self.path(""), &mut found);
        found
    }

    /// The file of its catalogue.
    pub fn catalogue(&self) -> PathBuf {
        let name = format!("index/v{}/catalogue.sqlite", sessionary::GENERATION);
        self.place.path().join(name)
    }

    pub fn config(&self) -> Config {
        let root = dump::root(self.agent, self.agent, &self.path(""));
        Config {
            archive_dir: Some(self.place.path().join("archive")),
            ..Config::new(self.place.path().join("index"), vec![root])
        }
    }

    /// From now on the archive keeps what the agent deletes.
    pub fn keep(&self) {
        let mut indexer = Indexer::open(&self.config()).unwrap();
        indexer.keep(&[self.agent.to_owned()]).unwrap();
    }

    /// Brings the index up to date, and opens it.
    pub fn index(&self) -> Index {
        let config = self.config();
        Indexer::open(&config).unwrap().sync().unwrap();
        Index::open(&config, Freshness::AsCommitted).unwrap()
    }

    /// Panics unless the index says what one made from scratch says, and verify finds nothing.
    pub fn check(&self, when: &str) {
        let index = self.index();
        dump::clean(&index, when);
        let scratch = tempfile::tempdir().unwrap();
        let fresh = dump::fresh(&self.config(), scratch.path());
        dump::same(&dump::dump(&index), &dump::dump(&fresh), when);
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in names(from) {
        match from.join(&name).is_dir() {
            true => copy(&from.join(&name), &to.join(&name)),
            false => drop(fs::copy(from.join(&name), to.join(&name)).unwrap()),
        }
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for name in names(folder) {
        match folder.join(&name).is_dir() {
            true => files(&folder.join(&name), found),
            false => found.push(folder.join(&name)),
        }
    }
}

/// All sessions, the oldest first.
pub fn rows(index: &Index) -> Vec<SessionRow> {
    let mut rows = index.list(&ListScope::default()).unwrap().sessions;
    rows.sort_by_key(|row| (row.created_ms, row.id.clone()));
    rows
}

/// The only session that its agent lists.
pub fn only(index: &Index) -> SessionRow {
    let mut listed = rows(index);
    listed.retain(|row| row.listed_by_agent);
    assert_eq!(listed.len(), 1, "{listed:?}");
    listed.remove(0)
}

/// In which class the words have this word, once for each entry.
pub fn classes_of(index: &Index, word: &str) -> Vec<Class> {
    let is_word = |term: &str| {
        let term = term.split(' ').next().unwrap_or_default();
        [format!("prose:{word}"), format!("output:{word}")].contains(&term.to_owned())
    };
    let all = index.dump_words().unwrap();
    let with = all.into_iter().filter(|(.., term)| is_word(term));
    let mut classes: Vec<Class> = with.map(|(_, _, class, _)| class).collect();
    classes.sort();
    classes
}

/// How many hits a query has, copies among them.
pub fn hits(index: &Index, query: &str) -> usize {
    count_hits(index, query, true)
}

/// How many hits a query has, each that is a copy left out.
pub fn hits_once(index: &Index, query: &str) -> usize {
    count_hits(index, query, false)
}

fn count_hits(index: &Index, query: &str, every_copy: bool) -> usize {
    let scope = SearchScope {
        every_copy,
        exact: true,
        ..SearchScope::default()
    };
    let found = index.search(query, &scope).unwrap();
    found
        .sessions
        .iter()
        .map(|session| session.hits.len())
        .sum()
}

/// What the active branch says, or, with `all`, the files.
pub fn transcript(index: &Index, row: &SessionRow, all: bool) -> Vec<Said> {
    let scope = ShowScope {
        all,
        ..ShowScope::default()
    };
    let entries = index.show(row, &scope).unwrap().entries.into_iter();
    let said = entries
        .filter(|entry| entry.problem.is_none())
        .map(|entry| {
            let of = |class: Class| {
                let texts = entry.text.iter().filter(move |(of, _)| *of == class);
                texts.flat_map(|(_, pieces)| pieces.clone()).collect()
            };
            let (prose, output) = (of(Class::Prose), of(Class::Output));
            (entry.id, entry.kind, entry.role, prose, output)
        });
    said.collect()
}

/// The ids on the active branch, and those beside it.
pub fn branches(index: &Index, row: &SessionRow) -> (Vec<String>, Vec<String>) {
    let tree = index.tree(row, TreeFilter::All).unwrap();
    let (active, beside): (Vec<_>, Vec<_>) = tree
        .entries
        .into_iter()
        .partition(|entry| entry.on_active_branch);
    let ids = |entries: Vec<sessionary::model::TreeRow>| {
        let ids = entries.into_iter().map(|entry| entry.id);
        ids.filter(|id| !id.starts_with('L')).collect()
    };
    (ids(active), ids(beside))
}

/// The rows of a query, as JSON.
pub fn sql(index: &Index, query: &str) -> Vec<Vec<Value>> {
    index.sql(query, &[]).unwrap().rows
}
