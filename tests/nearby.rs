//! What is near an entry of a long session is known without reading all of it: is it what the whole
//! branch says there?

use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use sessionary::index::{Branch, ListScope, Snapshot};
use sessionary::model::SessionRow;
use sessionary::{Config, Error, Freshness, Index, Indexer};

use crate::histories::dump::root;
use crate::sandbox::Sandbox;

const SESSIONS: usize = 60;
const ENTRIES: usize = 80;

/// A session of pi; every third one never branches.
fn session(number: usize, random: &mut ChaCha8Rng) -> String {
    let time = "2026-01-03T09:00:00.000Z";
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": format!("s{number}"),
        "timestamp": time, "cwd": "/w"}),
    ];
    let mut last = None;
    for at in 0..ENTRIES {
        let goes_back = at > 0 && !number.is_multiple_of(3) && random.random_bool(0.1);
        let parent = match goes_back {
            true => Some(format!("e{}", random.random_range(0..at))),
            false => last.take(),
        };
        let (id, kind) = (format!("e{at}"), random.random_range(0..8));
        lines.push(match kind {
            // What has nothing to read is a link of the chain.
            0 => json!({"type": "custom", "customType": "note", "id": id, "parentId": parent,
                "timestamp": time, "data": {}}),
            1 => json!({"type": "model_change", "id": id, "parentId": parent, "timestamp": time,
                "provider": "p", "modelId": "m"}),
            _ => json!({"type": "message", "id": id, "parentId": parent, "timestamp": time,
                "message": {"role": "user", "content": format!("walrus {at}")}}),
        });
        if random.random_bool(0.1) {
            lines.push(
                json!({"type": "label", "id": format!("l{at}"), "parentId": id,
                "timestamp": time, "targetId": id, "label": "here"}),
            );
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The ids of a branch's entries.
fn ids(snapshot: &Snapshot<'_>, session: &SessionRow, branch: &Branch) -> Vec<String> {
    let mut ids = Vec::new();
    let all = 0..branch.len();
    let read = snapshot.read_branch(session, branch, all, None, &mut |_, entry| {
        ids.push(entry.id);
        Ok::<(), Error>(())
    });
    read.expect("they are read");
    ids
}

#[test]
fn what_is_near_is_what_the_branch_says_there() {
    let home = Sandbox::new();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for number in 0..SESSIONS {
        let text = session(number, &mut random);
        home.write(&format!(".pi/agent/sessions/--w--/{number}.jsonl"), &text);
    }
    let root = root("pi", "pi", &home.home.join(".pi/agent/sessions"));
    let config = Config::new(home.home.join("index"), vec![root]);
    let mut indexer = Indexer::open(&config).expect("an index");
    indexer.sync().expect("synced");
    drop(indexer);
    let index = Index::open(&config, Freshness::AsCommitted).expect("an index");
    let snapshot = index.snapshot().expect("a snapshot");
    let listing = snapshot.list(&ListScope::default()).expect("a list");
    let (mut same, mut others) = (0, 0);
    for row in &listing.sessions {
        let number: usize = row.id[1..].parse().expect("a number");
        for _ in 0..20 {
            let count = random.random_range(0..20);
            let id = format!("e{}", random.random_range(0..ENTRIES));
            let through = random.random_bool(0.9).then_some(id.as_str());
            let near = snapshot.branch_nearby(row, through, count).expect("read");
            let near = near.expect("pi's sessions are plain trees");
            let whole = snapshot.branch(row, through).expect("a branch");
            assert_eq!(near.focus().is_some(), whole.focus().is_some());
            let at = whole.focus().unwrap_or(whole.len() - 1);
            let near_at = near.focus().unwrap_or(near.len() - 1);
            let (near, whole) = (ids(&snapshot, row, &near), ids(&snapshot, row, &whole));
            let from = at.saturating_sub(count);
            assert_eq!(near[..=near_at], whole[from..=at], "s{number} {through:?}");
            let to = (at + count + 1).min(whole.len());
            match near[near_at..] == whole[at..to] {
                true => same += 1,
                false => others += 1,
            }
            // Below it another branch may go on, where there is one.
            assert!(
                !number.is_multiple_of(3) || near[near_at..] == whole[at..to],
                "s{number}"
            );
        }
    }
    assert!(same > 3 * others && others > 10, "{same} {others}");
}
