//! All that an index says, without the numbers that depend on the order in which it learned it.

use std::path::Path;

use serde_json::Value;
use sessionary::index::SearchScope;
use sessionary::model::Class;
use sessionary::{Config, Freshness, Index, Indexer, RootSpec};

/// Rows that depend on arrival: numbers of sessions, sources and entries. `racy` depends on the
/// clock.
const NUMBERS: [&str; 5] = ["session", "source", "entry", "key", "answer"];

/// What is dumped: name and query. Rows of entries are named by file and byte instead of by key.
const QUERIES: [(&str, &str); 13] = [
    ("sessions", "SELECT * FROM sessions"),
    (
        "entries",
        "SELECT r.path AS in_root, s.relative AS in_file, e.* FROM entries e LEFT JOIN _sources s USING (source) LEFT JOIN _roots r USING (root)",
    ),
    ("calls", "calls"),
    ("call_records", "call_records"),
    ("usage_records", "usage_records"),
    ("usage", "usage"),
    ("runs", "runs"),
    ("labels", "labels"),
    ("problems", "SELECT * FROM problems"),
    (
        "sources",
        "SELECT v.*, n.path AS of_session, s.device, s.inode, s.mtime_ns, s.ctime_ns, s.revision, k.proof, k.fold, s.unlisted, s.unread
         FROM sources v JOIN _sources s USING (source) JOIN _checkpoints k USING (source) LEFT JOIN _sessions n ON n.session = v.session",
    ),
    (
        "forks",
        "SELECT c.path, r.agent, r.path AS root, f.relation, f.parent_written, p.path AS parent_path, q.agent AS parent_agent, q.path AS parent_root
         FROM forks f JOIN _sessions c USING (session) JOIN _roots r USING (root)
           LEFT JOIN _sessions p ON p.session = f.parent LEFT JOIN _roots q ON q.root = p.root",
    ),
    ("files", "SELECT key AS entry, * FROM _files"),
    ("compactions", "SELECT key AS entry, * FROM _compactions"),
];

/// Every row of the catalogue's views, then every term of the words; sorted.
pub fn dump(index: &Index) -> Vec<String> {
    let mut lines = catalogue(index);
    lines.extend(
        index
            .dump_words()
            .unwrap()
            .into_iter()
            .map(|(path, start, class, term)| {
                format!("words {} {start} {class:?} {term}", path.display())
            }),
    );
    lines
}

/// Every row of the catalogue's views.
pub fn catalogue(index: &Index) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, from) in QUERIES {
        let query = match from {
            view @ ("calls" | "call_records" | "usage_records" | "usage" | "runs" | "labels") => {
                located(view)
            }
            query if query.starts_with("SELECT key AS entry") => located(&format!("({query})")),
            query => query.to_string(),
        };
        let rows = index
            .sql(&query, &[])
            .unwrap_or_else(|error| panic!("{query}: {error}"));
        for row in rows.rows {
            let mut line = name.to_string();
            for (column, value) in rows.columns.iter().zip(row) {
                if !NUMBERS.contains(&column.as_str()) && value != Value::Null {
                    line.push_str(&format!(" {column}={value}"));
                }
            }
            lines.push(line);
        }
    }
    lines.sort();
    lines
}

fn located(view: &str) -> String {
    format!(
        "SELECT r.path AS in_root, s.relative AS in_file, e.start AS at_byte, c.* FROM {view} c LEFT JOIN _entries e ON e.key = c.entry
         LEFT JOIN _sources s ON s.source = e.source LEFT JOIN _roots r USING (root)"
    )
}

/// A fresh index of the same roots, in a folder of its own.
pub fn fresh(config: &Config, index_dir: &Path) -> Index {
    let config = Config {
        index_dir: index_dir.to_path_buf(),
        ..config.clone()
    };
    Indexer::open(&config).unwrap().sync().unwrap();
    Index::open(&config, Freshness::AsCommitted).unwrap()
}

/// Panics with the first lines that differ.
pub fn same(got: &[String], expected: &[String], when: &str) {
    if got == expected {
        return;
    }
    let (have, want): (std::collections::BTreeSet<_>, std::collections::BTreeSet<_>) =
        (got.iter().collect(), expected.iter().collect());
    let show = |lines: Vec<&&String>| -> String {
        lines
            .iter()
            .take(6)
            .map(|l| format!("  {}\n", l.chars().take(1500).collect::<String>()))
            .collect()
    };
    panic!(
        "{when}: {} lines, {} expected\nonly in this index:\n{}only in a fresh one:\n{}",
        got.len(),
        expected.len(),
        show(have.difference(&want).collect()),
        show(want.difference(&have).collect()),
    );
}

/// Which entry is shown: its file, its address in it, and its class.
type Shown = (String, String, Class);

/// The hits of a search in order, with their scores.
fn hits(index: &Index, query: &str, scope: &SearchScope) -> Vec<(Shown, f32)> {
    let answer = index.search(query, scope).unwrap();
    let groups = answer.sessions.iter();
    let hits = groups.flat_map(|group| group.hits.iter().map(move |hit| (&group.session, hit)));
    let shown = hits.map(|(session, hit)| {
        let path = format!("{} {}", session.agent, session.path.display());
        ((path, hit.address.clone(), hit.class), hit.score)
    });
    shown.collect()
}

/// Panics when a search gives hits in another order than that of a fresh index does, or shows
/// another copy. What was deleted may still count for how rare a word is: where scores differ, so
/// may their order.
pub fn same_order(index: &Index, expected: &Index, query: &str, when: &str) {
    for kind in 0..4 {
        let all = SearchScope {
            passages: kind & 1 != 0,
            newest_first: kind & 2 != 0,
            exact: true,
            every_copy: true,
            limit: None,
            now_ms: Some(1_800_000_000_000),
            ..SearchScope::default()
        };
        let by_place = |index| {
            let mut hits = hits(index, query, &all);
            hits.sort_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap());
            hits
        };
        if by_place(index) != by_place(expected) {
            assert!(kind & 2 == 0, "{when}: {query} finds other hits");
            continue;
        }
        for (limit, every_copy) in [(None, true), (Some(2), false)] {
            let scope = SearchScope {
                limit,
                every_copy,
                ..all.clone()
            };
            assert_eq!(
                hits(index, query, &scope),
                hits(expected, query, &scope),
                "{when}: {query}, {scope:?}"
            );
        }
    }
}

/// Panics when `verify` finds anything.
pub fn clean(index: &Index, when: &str) {
    let found = index.verify().unwrap().differences;
    assert!(
        found.is_empty(),
        "{when}: verify: {:#?}",
        &found[..found.len().min(6)]
    );
}

/// A root for one agent.
pub fn root(agent: &str, format: &str, path: &Path) -> RootSpec {
    RootSpec {
        format: format.into(),
        ..RootSpec::new(agent, path.to_path_buf())
    }
}
