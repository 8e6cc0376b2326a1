//! A page of a list reads no more than it shows: is it the page of the list that reads all?

use std::path::{Path, PathBuf};

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use sessionary::index::{ListScope, WhereScope};
use sessionary::model::SessionRow;
use sessionary::{Config, Freshness, Index, Indexer};

use crate::histories::dump::root;
use crate::sandbox::Sandbox;

const SESSIONS: u32 = 60;

fn codex_id(number: u32) -> String {
    format!("019b8d5e-7c80-7000-8000-{number:012}")
}

/// A session of Codex, which may be one that another one has started.
fn codex(home: &Sandbox, number: u32, cwd: &str, second: u32, parent: Option<u32>) -> PathBuf {
    let (id, time) = (
        codex_id(number),
        format!("2026-01-03T09:00:{second:02}.000Z"),
    );
    let source = match parent {
        Some(parent) => json!({"subagent": {"thread_spawn":
            {"parent_thread_id": codex_id(parent), "depth": 1}}}),
        None => json!("cli"),
    };
    let git = number
        .is_multiple_of(4)
        .then(|| json!({"repository_url": "git@github.com:ada/boat.git"}));
    let lines = [
        json!({"timestamp": time, "type": "session_meta", "payload": {"id": id, "timestamp": time,
               "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.169.0",
               "source": source, "git": git}}),
        json!({"timestamp": time, "type": "response_item", "payload": {"type": "message",
               "role": "user", "content": [{"type": "input_text", "text": "Paint the mast"}]}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = format!(".codex/sessions/2026/01/03/rollout-2026-01-03T09-00-00-{id}.jsonl");
    home.write(&file, &text)
}

/// A session of pi.
fn pi(home: &Sandbox, number: u32, cwd: &str, second: u32) -> PathBuf {
    let time = format!("2026-01-03T09:00:{second:02}.000Z");
    let lines = [
        json!({"type": "session", "version": 3, "id": format!("s{number}"), "timestamp": time,
               "cwd": cwd}),
        json!({"type": "message", "id": "m1", "parentId": null, "timestamp": time,
               "message": {"role": "user", "content": "Paint the hull"}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write(&format!(".pi/agent/sessions/--x--/{number}.jsonl"), &text)
}

/// Sessions of two agents in five folders, many of the same times, some below others.
fn home(random: &mut ChaCha8Rng) -> Sandbox {
    let home = Sandbox::new();
    home.write("boat/.git/HEAD", "ref: refs/heads/main\n");
    let config = "[remote \"origin\"]\n\turl = https://github.com/ada/boat\n";
    home.write("boat/.git/config", config);
    for number in 0..SESSIONS {
        let folders = ["boat", "boat/deck", "code", "gone", ""];
        let folder = home.home.join(folders.choose(random).expect("some"));
        let folder = folder.to_str().expect("text");
        let second = random.random_range(0..6);
        let file = match number % 2 {
            0 => pi(&home, number, folder, second),
            _ => {
                let is_below = number > 1 && random.random_bool(0.4);
                let parent = is_below.then(|| random.random_range(0..number / 2) * 2 + 1);
                codex(&home, number, folder, second, parent)
            }
        };
        home.touch(&file, 1_767_430_800 + random.random_range(0..3));
    }
    home
}

/// What is asked for: places, pages, orders.
fn scopes(home: &Path, random: &mut ChaCha8Rng) -> Vec<ListScope> {
    let at = |folder: &str| home.join(folder);
    let places = [
        ListScope::default(),
        ListScope {
            at: WhereScope::directory(at("boat")),
            ..ListScope::default()
        },
        ListScope {
            at: WhereScope {
                within: vec![at("boat"), at("gone")],
                repositories: vec![at("boat/.git")],
                remotes: vec!["github.com/ada/boat".to_owned()],
                ..WhereScope::default()
            },
            ..ListScope::default()
        },
        ListScope {
            at: WhereScope {
                within: vec![at("nowhere")],
                ..WhereScope::default()
            },
            ..ListScope::default()
        },
    ];
    let mut scopes = Vec::new();
    for place in places {
        for _ in 0..40 {
            let limit = random.random_range(0..SESSIONS as usize);
            scopes.push(ListScope {
                fold_subagents: random.random(),
                reverse: random.random_bool(0.2),
                offset: random.random_range(0..20),
                limit: random.random_bool(0.8).then_some(limit),
                ..place.clone()
            });
        }
    }
    scopes
}

#[test]
fn a_page_is_that_of_the_list_that_reads_all() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let home = home(&mut random);
    let root_at = |agent: &str, path: &str| root(agent, agent, &home.home.join(path));
    let roots = [
        root_at("pi", ".pi/agent/sessions"),
        root_at("codex", ".codex/sessions"),
    ];
    let config = Config::new(home.home.join("index"), roots.to_vec());
    let mut indexer = Indexer::open(&config).expect("an index");
    indexer.sync().expect("synced");
    drop(indexer);
    let (mut folded, mut here) = (0, 0);
    // With a root left out, whose rows no page may have, all are read as well.
    for roots in [&roots[..], &roots[..1]] {
        let config = Config::new(home.home.join("index"), roots.to_vec());
        let index = Index::open(&config, Freshness::AsCommitted).expect("an index");
        for scope in scopes(&home.home, &mut random) {
            let whole = ListScope {
                until_ms: Some(i64::MAX),
                offset: 0,
                limit: None,
                ..scope.clone()
            };
            let (page, whole) = (index.list(&scope), index.list(&whole));
            let (page, whole) = (page.expect("a page"), whole.expect("all"));
            assert_eq!(
                (page.total, page.elsewhere),
                (whole.total, whole.elsewhere),
                "{scope:?}"
            );
            let most = scope.limit.unwrap_or(usize::MAX);
            let rows = whole.sessions.into_iter().skip(scope.offset);
            let rows: Vec<SessionRow> = rows.take(most).collect();
            assert_eq!(page.sessions, rows, "{scope:?}");
            folded += page.sessions.iter().filter(|row| row.subagents > 0).count();
            here += usize::from(page.elsewhere > 0 && page.total > 0);
        }
    }
    assert!(folded > 100 && here > 40, "{folded} {here}");
}
