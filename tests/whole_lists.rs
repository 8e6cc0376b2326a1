//! Filters, orders and pages of random questions: are the pages together the whole answer, and is
//! that what the rows of all sessions say?

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use sessionary::format::FORMATS;
use sessionary::index::{ListEvent, ListScope, SearchScope, WhereScope};
use sessionary::model::{Listing, SessionRow, Sort};
use sessionary::{Config, Freshness, Index, Indexer};

use crate::databases::Store;
use crate::histories::dump::root;

/// The fixtures of every agent, and so many sessions of OpenCode that they are listed before they
/// are read.
fn config(store: &mut Store) -> Config {
    let mut config = store.config();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for format in FORMATS {
        let Ok(cases) = fs::read_dir(fixtures.join(format.about().name)) else {
            continue;
        };
        let mut cases: Vec<PathBuf> = cases.map(|case| case.expect("a case").path()).collect();
        cases.sort();
        for (number, case) in cases.iter().filter(|case| case.is_dir()).enumerate() {
            let mut root = root(format.about().name, format.about().name, case);
            // Some came from another machine.
            root.host = number.is_multiple_of(4).then(|| "desk".to_owned());
            config.roots.push(root);
        }
    }
    store.run("BEGIN");
    for at in 0..90 {
        let (id, words) = (format!("ses_{at:03}"), ["walrus", "heron tusks"][at % 2]);
        store.talk(&id, words, "They grow in the session.");
        let folder = ["/code/parser", "/code/parser/deep", "/code", ""][at % 4];
        let title = [
            "About tusks",
            "About tusks",
            " ",
            "New session - 2026-01-05T09:00:00.000Z",
        ];
        let parent = (at % 5 == 4).then(|| format!("'ses_{:03}'", at / 2));
        store.run(&format!(
            "UPDATE session SET directory = '{folder}', title = '{}', parent_id = {},
                 time_updated = time_created - time_created % 100 WHERE id = '{id}'",
            title[at / 3 % 4],
            parent.as_deref().unwrap_or("NULL")
        ));
    }
    store.run("COMMIT");
    config
}

/// What is asked of a list but its page.
fn scope(all: &[SessionRow], random: &mut ChaCha8Rng) -> ListScope {
    let row = all.choose(random).expect("a session").clone();
    let is_asked = |random: &mut ChaCha8Rng| random.random_bool(0.15);
    let mut scope = ListScope {
        agent: random.random_bool(0.3).then_some(row.agent),
        named: is_asked(random),
        only_live: is_asked(random),
        only_own: is_asked(random),
        errors: is_asked(random),
        fold_subagents: random.random(),
        sort: *[
            Sort::Agents,
            Sort::Agents,
            Sort::Modified,
            Sort::Created,
            Sort::Messages,
            Sort::Tokens,
            Sort::Cost,
            Sort::Size,
            Sort::Errors,
        ]
        .choose(random)
        .expect("an order"),
        reverse: random.random_bool(0.3),
        ..ListScope::default()
    };
    let moment = |random: &mut ChaCha8Rng| all.choose(random).expect("a session").modified_ms;
    if is_asked(random) {
        scope.since_ms = moment(random);
    }
    if is_asked(random) {
        scope.until_ms = moment(random);
    }
    if is_asked(random) {
        scope.model = random.random_bool(0.8).then(|| row.model.clone()).flatten();
    }
    if is_asked(random) {
        scope.cost = all.choose(random).expect("a session").cost;
    }
    if is_asked(random) {
        scope.project = Some(row.cwd).filter(|cwd| cwd.len() > 1);
    }
    if is_asked(random) {
        let some = all.iter().filter(|_| random.random_bool(0.3));
        scope.ids = Some(some.map(|row| row.id.clone()).collect());
    }
    scope
}

/// When each session's entries were written, by its number, and by which models.
#[derive(Default)]
struct Written {
    times: HashMap<i64, Vec<i64>>,
    models: HashMap<i64, Vec<String>>,
}

fn written(index: &Index) -> Written {
    let mut written = Written::default();
    let number = |value: &Value| value.as_i64().expect("a number");
    let asked = "SELECT session, time_ms FROM entries WHERE time_ms IS NOT NULL";
    for row in index.sql(asked, &[]).expect("times").rows {
        let times = written.times.entry(number(&row[0])).or_default();
        times.push(number(&row[1]));
    }
    let asked = "SELECT DISTINCT key >> 24, lower(model) FROM _usage WHERE model IS NOT NULL";
    for row in index.sql(asked, &[]).expect("models").rows {
        let models = written.models.entry(number(&row[0])).or_default();
        models.push(row[1].as_str().expect("a model").to_owned());
    }
    written
}

/// Whether a session's row and the times of its entries say that it is asked for.
fn is_asked(row: &SessionRow, scope: &ListScope, written: &Written) -> bool {
    let is_between = |since, until| {
        let is_it = |ms: &i64| (since..until).contains(ms);
        let mut times = written.times.get(&row.number).into_iter().flatten();
        row.created_ms.as_ref().is_some_and(is_it) || times.any(is_it)
    };
    let project = |folder: &String| Path::new(&row.cwd).starts_with(folder);
    let used = |model: &String| {
        let models = written.models.get(&row.number).into_iter().flatten();
        let mut models = models.chain(&row.model).map(|known| known.to_lowercase());
        models.any(|known| known.contains(&model.to_lowercase()))
    };
    scope.agent.as_ref().is_none_or(|agent| *agent == row.agent)
        && scope.model.as_ref().is_none_or(used)
        && (!scope.named
            || row
                .name
                .as_ref()
                .is_some_and(|name| !name.trim().is_empty()))
        && (!scope.only_live || !row.archived)
        && (!scope.only_own || row.host.is_none())
        && (!scope.errors || row.errors > 0)
        && scope
            .cost
            .is_none_or(|cost| row.cost.is_some_and(|own| own >= cost))
        && scope
            .since_ms
            .is_none_or(|since| row.modified_ms >= Some(since))
        && scope.until_ms.is_none_or(|until| {
            let of_period = scope.since_ms.is_some_and(|since| is_between(since, until));
            row.modified_ms < Some(until) || of_period
        })
        && scope.project.as_ref().is_none_or(project)
        && scope.ids.as_ref().is_none_or(|ids| ids.contains(&row.id))
}

/// What a list is sorted by.
fn key(row: &SessionRow, sort: Sort) -> Option<f64> {
    match sort {
        Sort::Agents => None,
        Sort::Modified => row.modified_ms.map(|ms| ms as f64),
        Sort::Created => row.created_ms.map(|ms| ms as f64),
        Sort::Messages => Some(row.message_count as f64),
        Sort::Tokens => row.tokens.map(|tokens| tokens as f64),
        Sort::Cost => row.cost,
        Sort::Size => Some(row.bytes as f64),
        Sort::Errors => Some(row.errors as f64),
        _ => panic!("an order that no list here has"),
    }
}

/// The rows that are asked for, in the order asked for, out of all in the agents' order.
fn expected(all: &[SessionRow], scope: &ListScope, written: &Written) -> Vec<SessionRow> {
    let asked = all.iter().filter(|row| is_asked(row, scope, written));
    let mut rows: Vec<SessionRow> = asked.cloned().collect();
    if scope.reverse {
        rows.reverse();
    }
    rows.sort_by(|a, b| match (key(a, scope.sort), key(b, scope.sort)) {
        (Some(a), Some(b)) if scope.reverse => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        (None, None) => Ordering::Equal,
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    rows
}

/// Paths of each subagent's session and of the one that started it.
fn parents(index: &Index) -> Vec<(PathBuf, PathBuf)> {
    let asked = "SELECT c.path, p.path FROM forks f JOIN sessions c USING (session)
        JOIN sessions p ON p.session = f.parent WHERE f.relation = 'subagent'";
    let rows = index.sql(asked, &[]).expect("subagents").rows;
    let path = |value: &Value| value.as_str().expect("a path").into();
    let pairs = rows.iter().map(|row| (path(&row[0]), path(&row[1])));
    pairs.collect()
}

/// Whether a session above this one is among these, which counts it.
fn is_below(row: &SessionRow, rows: &[SessionRow], parents: &[(PathBuf, PathBuf)]) -> bool {
    let mut above = vec![&row.path];
    let mut at = 0;
    while let Some(below) = above.get(at).copied() {
        let more = parents.iter().filter(|(child, _)| child == below);
        for (_, parent) in more {
            if !above.contains(&parent) {
                above.push(parent);
            }
        }
        at += 1;
    }
    rows.iter().any(|row| above[1..].contains(&&row.path))
}

/// All pages of a list, so many rows each.
fn pages(index: &Index, scope: &ListScope, limit: usize) -> Listing {
    let mut all: Option<Listing> = None;
    loop {
        let offset = all.as_ref().map_or(0, |all| all.sessions.len());
        let asked = ListScope {
            offset,
            limit: Some(limit),
            ..scope.clone()
        };
        let page = index.list(&asked).expect("a page");
        let is_last = page.sessions.len() < limit;
        match &mut all {
            None => all = Some(page),
            Some(all) => {
                let counted = (page.total, page.elsewhere);
                assert_eq!((all.total, all.elsewhere), counted, "{asked:?}");
                all.sessions.extend(page.sessions);
            }
        }
        if is_last {
            return all.expect("a page");
        }
    }
}

/// Random questions to an index as it is now.
fn lists_are_whole(index: &Index, random: &mut ChaCha8Rng, questions: usize, seen: &mut Tally) {
    let all = index.list(&ListScope::default()).expect("all").sessions;
    let (parents, written) = (parents(index), written(index));
    let rows = index
        .sql("SELECT count(*) FROM sessions", &[])
        .expect("a number");
    assert_eq!(rows.rows, [[all.len() as i64]]);
    for _ in 0..questions {
        let scope = scope(&all, random);
        let asked = expected(&all, &scope, &written);
        let is_row = |row: &SessionRow, among: &[SessionRow]| {
            !scope.fold_subagents || !is_below(row, among, &parents)
        };
        let mut expected = asked.clone();
        expected.retain(|row| is_row(row, &asked));
        let whole = index.list(&scope).expect("a list");
        assert_eq!(named(&whole.sessions), named(&expected), "{scope:?}");
        assert!(whole.sessions == expected, "{scope:?}");
        assert_eq!(whole.total, expected.len() as u64, "{scope:?}");
        let limit = random.random_range(5..90);
        assert_eq!(pages(index, &scope, limit), whole, "{limit} {scope:?}");

        // Of one place: what is not there is elsewhere.
        let place = place(&all, random, &scope);
        let mut asked_here = asked.clone();
        asked_here.retain(|row| is_here(row, &place));
        let mut here = asked_here.clone();
        here.retain(|row| is_row(row, &asked_here));
        let whole = index.list(&place).expect("a list");
        let elsewhere = expected.iter().filter(|row| !is_here(row, &place));
        assert_eq!(whole.elsewhere, elsewhere.count() as u64, "{place:?}");
        assert_eq!(named(&whole.sessions), named(&here), "{place:?}");
        assert_eq!(pages(index, &place, limit), whole, "{limit} {place:?}");
        seen.here += here.len();
        seen.asked += expected.len();
    }
    seen.not_read += all.iter().filter(|row| row.not_read_yet).count();
}

/// How much the questions were about.
#[derive(Debug, Default)]
struct Tally {
    asked: usize,
    here: usize,
    not_read: usize,
}

/// The same of one place: a folder with all below it, or a repository, or both.
fn place(all: &[SessionRow], random: &mut ChaCha8Rng, scope: &ListScope) -> ListScope {
    let folders = all.iter().filter(|row| row.cwd.starts_with('/'));
    let folder = folders.choose(random).map(|row| row.cwd.as_str().into());
    let remotes = all.iter().filter_map(|row| row.repository.clone());
    let remote = remotes.choose(random).filter(|_| random.random_bool(0.3));
    ListScope {
        at: WhereScope {
            within: folder
                .into_iter()
                .filter(|_| random.random_bool(0.8))
                .collect(),
            remotes: remote.into_iter().collect(),
            ..WhereScope::default()
        },
        ..scope.clone()
    }
}

/// Whether a session's row says that it is of the place asked for; a folder of another machine is
/// none of these.
fn is_here(row: &SessionRow, ListScope { at, .. }: &ListScope) -> bool {
    let project = row.own.as_ref().and_then(|own| own["projectRoot"].as_str());
    let folder = Path::new(project.unwrap_or(&row.cwd));
    let is_below = |above: &PathBuf| row.host.is_none() && folder.starts_with(above);
    let is_everywhere = at.within.is_empty() && at.remotes.is_empty();
    let is_of = |remote: &String| at.remotes.contains(remote);
    is_everywhere || at.within.iter().any(is_below) || row.repository.as_ref().is_some_and(is_of)
}

fn named(rows: &[SessionRow]) -> Vec<(&str, &str)> {
    rows.iter().map(|row| (&*row.agent, &*row.id)).collect()
}

/// What is asked of a search but its page.
fn query(all: &[SessionRow], random: &mut ChaCha8Rng) -> (String, SearchScope) {
    let row = all.choose(random).expect("a session");
    let words = [
        "walrus",
        "heron",
        "session",
        "the",
        "tusks session",
        "\"the session\"",
        "fix test",
    ];
    let mut query = (*words.choose(random).expect("words")).to_owned();
    let filters = [
        format!("agent:{}", row.agent),
        format!("-agent:{}", row.agent),
        "role:user".to_owned(),
        "is:named".to_owned(),
        format!("model:{}", row.model.as_deref().unwrap_or("m1")),
        "since:2026-01-05".to_owned(),
        "until:2026-01-05".to_owned(),
        "OR heron".to_owned(),
    ];
    for filter in filters {
        if random.random_bool(0.12) {
            query = format!("{query} {filter}");
        }
    }
    let scope = SearchScope {
        now_ms: Some(1_767_700_000_000),
        newest_first: random.random_bool(0.3),
        passages: random.random_bool(0.3),
        every_copy: random.random_bool(0.3),
        exact: random.random_bool(0.3),
        per_session: Some(1_000),
        limit: Some(1_000),
        ..SearchScope::default()
    };
    (query, scope)
}

/// The addresses of all that is found, on pages of so many, and the sessions in which it is.
fn found(
    index: &Index,
    query: &str,
    scope: &SearchScope,
    limit: usize,
) -> (Vec<String>, Vec<PathBuf>) {
    let mut asked = SearchScope {
        limit: Some(limit),
        ..scope.clone()
    };
    let (mut hits, mut sessions) = (Vec::new(), Vec::new());
    loop {
        let page = index.search(query, &asked).expect("a page");
        for group in &page.sessions {
            hits.extend(group.hits.iter().map(|hit| hit.address.clone()));
            if !sessions.contains(&group.session.path) {
                sessions.push(group.session.path.clone());
            }
        }
        match page.cursor {
            Some(cursor) => asked.cursor = Some(cursor),
            None => break,
        }
    }
    // Those of one session stand together on a page.
    hits.sort();
    (hits, sessions)
}

fn searches_are_whole(index: &Index, random: &mut ChaCha8Rng, questions: usize) {
    let all = index.list(&ListScope::default()).expect("all").sessions;
    for _ in 0..questions {
        let (query, scope) = query(&all, random);
        let limit = random.random_range(10..90);
        let whole = found(index, &query, &scope, 1_000);
        let pages = found(index, &query, &scope, limit);
        assert_eq!(whole, pages, "{limit} {query} {scope:?}");
    }
}

/// While files are read for the first time, before words are indexed, and behind that.
#[test]
fn pages_of_random_questions_are_the_whole_answer() {
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let mut store = Store::new(true, "WAL");
    let config = config(&mut store);
    let (mut seen, mut states) = (Tally::default(), 0);
    let index = Index::open_listing(&config, &ListScope::default(), &mut |listed| {
        if let ListEvent::Page(page) = listed {
            let now = Index::open(&config, Freshness::AsCommitted).expect("an index");
            let total = now.list(&ListScope::default()).expect("all").total;
            assert!(total >= page.total);
            lists_are_whole(&now, &mut random, 5, &mut seen);
            states += 1;
        }
        ControlFlow::Continue(())
    });
    let index = index.expect("an index");
    assert!(states > 0 && seen.not_read > 0, "{states} {seen:?}");
    seen.not_read = 0;
    lists_are_whole(&index, &mut random, 60, &mut seen);
    assert!(
        seen.not_read == 0 && seen.asked > 1_000 && seen.here > 100,
        "{seen:?}"
    );
    searches_are_whole(&index, &mut random, 15);
    drop(index);
    let mut indexer = Indexer::open(&config).expect("an index");
    indexer.sync().expect("synced");
    drop(indexer);
    let index = Index::open(&config, Freshness::AsCommitted).expect("an index");
    searches_are_whole(&index, &mut random, 40);
}
