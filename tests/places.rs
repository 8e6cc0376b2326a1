//! Is the place of a hit in its session's tree the same, by its rows as by the file?

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::index::SearchScope;
use sessionary::model::BranchPlace;
use sessionary::{Freshness, Index, Indexer};

use crate::findable;
use crate::histories::dump::clean;

/// A session that is written as agents write it: mostly one entry after the other.
struct Writer {
    rng: ChaCha8Rng,
    /// Of each line after the first.
    ids: Vec<Option<String>>,
    made: u32,
}

impl Writer {
    fn new(rng: ChaCha8Rng) -> Writer {
        Writer {
            rng,
            ids: Vec::new(),
            made: 0,
        }
    }

    fn header() -> String {
        let header = json!({"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-05T09:00:00.000Z", "cwd": "/w"});
        format!("{header}\n")
    }

    /// The next lines of the file.
    fn lines(&mut self, count: usize) -> String {
        (0..count).map(|_| format!("{}\n", self.line())).collect()
    }

    /// What ids may begin with, or may not.
    fn beginnings(&mut self) -> [String; 6] {
        let some = [8, 6, 5, 4].map(|most| {
            let id = self.any().unwrap_or_default();
            // What has no digit is no id.
            let has_digit = id.chars().take(most).any(|c| c.is_ascii_digit());
            let beginning = id.chars().take(most).collect();
            if has_digit {
                beginning
            } else {
                "0000".to_owned()
            }
        });
        let [a, b, c, d] = some;
        [a, b, c, d, "sha256".to_owned(), "e0502".to_owned()]
    }

    fn any(&mut self) -> Option<String> {
        let at = self.rng.random_range(0..self.ids.len().max(1));
        self.ids.get(at).cloned().flatten()
    }

    fn line(&mut self) -> Value {
        if self.rng.random_range(0..200) == 0 {
            // It is on no branch, whatever its id.
            let mut header: Value = serde_json::from_str(&Writer::header()).unwrap();
            header["id"] = json!(self.any());
            self.ids.push(None);
            return header;
        }
        self.made += 1;
        let id = match self.rng.random_range(0..400) {
            // Two machines' copies of a session, put together.
            0 => self.any(),
            1 => None,
            _ => Some(format!("{:08x}", self.made.wrapping_mul(2_654_435_761))),
        };
        let parent = match self.rng.random_range(0..150) {
            0 => self.any(),
            1 => Some("nowhere".to_owned()),
            2 => None,
            _ => self.ids.iter().rev().flatten().next().cloned(),
        };
        let time = "2026-01-05T09:00:01.000Z";
        let line = match self.rng.random_range(0..120) {
            0 => {
                let kept = self.any();
                json!({"type": "compaction", "id": id, "parentId": parent, "timestamp": time, "summary": format!("piston {}", self.made), "firstKeptEntryId": kept, "tokensBefore": 9})
            }
            _ => {
                let message = json!({"role": "user", "content": format!("piston {}", self.made), "timestamp": 1});
                json!({"type": "message", "id": id, "parentId": parent, "timestamp": time, "message": message})
            }
        };
        self.ids.push(id);
        line
    }
}

/// Where every entry of the file stands, by its text: ids mean the last line that has them.
fn expected_places(path: &Path) -> HashMap<String, BranchPlace> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    lines.retain(|line| line["type"] != "session");
    let last: HashMap<&str, usize> = (0..lines.len())
        .filter_map(|at| Some((lines[at]["id"].as_str()?, at)))
        .collect();
    let mut branch = Vec::new();
    let mut on_branch = HashMap::new();
    let mut at = lines.len().checked_sub(1);
    while let Some(here) = at.filter(|at| !on_branch.contains_key(at)) {
        on_branch.insert(here, branch.len());
        branch.push(here);
        at = lines[here]["parentId"]
            .as_str()
            .and_then(|id| last.get(id).copied());
    }
    let compaction = branch
        .iter()
        .position(|at| lines[*at]["type"] == "compaction");
    let compacted: HashSet<usize> = match compaction {
        Some(at) => {
            let kept = lines[branch[at]]["firstKeptEntryId"].as_str();
            let kept = kept.and_then(|id| on_branch.get(last.get(id)?).copied());
            let first = kept.filter(|kept| *kept > at).unwrap_or(at);
            branch[first + 1..].iter().copied().collect()
        }
        None => HashSet::new(),
    };
    let place = |at: usize| match on_branch.contains_key(&at) {
        false => BranchPlace::Abandoned,
        true if compacted.contains(&at) => BranchPlace::Compacted,
        true => BranchPlace::Active,
    };
    let text = |line: &Value| match &line["summary"] {
        Value::String(summary) => summary.clone(),
        _ => line["message"]["content"].as_str().unwrap().to_owned(),
    };
    (0..lines.len())
        .filter(|at| lines[*at]["id"].is_string())
        .map(|at| (text(&lines[at]), place(at)))
        .collect()
}

/// Where every entry stands by a search.
fn listed_places(index: &Index) -> HashMap<String, BranchPlace> {
    let scope = SearchScope {
        limit: None,
        passages: true,
        every_copy: true,
        ..SearchScope::default()
    };
    let answer = index.search("piston", &scope).unwrap();
    let hits = answer.sessions.iter().flat_map(|group| &group.hits);
    hits.filter_map(|hit| Some((hit.snippet.clone(), hit.place?)))
        .collect()
}

/// The entries that are named by an id or the beginning of one, in no order.
fn ids_named(index: &Index, id: &str) -> Vec<String> {
    let answer = index.search(id, &SearchScope::default()).unwrap();
    let mut named: Vec<String> = answer.named.into_iter().map(|n| n.address).collect();
    named.sort();
    named
}

/// How many lines have such an id, the session's own among them when it is not the first.
fn with_id(path: &Path, beginning: &str) -> usize {
    let text = fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ids = lines.filter_map(|line| Some(line["id"].as_str()?.to_owned()));
    ids.filter(|id| id.starts_with(beginning)).count()
}

#[test]
fn places_and_ids_are_told_as_by_the_file() {
    for seed in 0..6 {
        let place = findable::Place::new();
        let config = place.config();
        let mut writer = Writer::new(ChaCha8Rng::seed_from_u64(seed));
        let count = writer.rng.random_range(1..500);
        let text = Writer::header() + &writer.lines(count);
        let path = place.write("--w--/s1.jsonl", text);
        for step in 0..6 {
            let when = format!("seed {seed}, step {step}");
            Indexer::open(&config).unwrap().sync().unwrap();
            let index = Index::open(&config, Freshness::AsCommitted).unwrap();
            clean(&index, &when);
            let expected = expected_places(&path);
            assert_eq!(listed_places(&index), expected, "{when}");
            for id in &writer.beginnings() {
                let told = ids_named(&index, id);
                let there = with_id(&path, id).min(10);
                assert_eq!(told.len(), there, "{when}, {id}: {told:?}");
            }
            change(&mut writer, &path);
        }
    }
}

/// What may happen to a session between two looks.
fn change(writer: &mut Writer, path: &Path) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    if !fs::read(path).unwrap().ends_with(b"\n") {
        file.write_all(b"\n").unwrap();
    }
    match writer.rng.random_range(0..5) {
        0 => file.write_all(writer.lines(1).as_bytes()).unwrap(),
        1 | 2 => {
            let count = writer.rng.random_range(2..300);
            file.write_all(writer.lines(count).as_bytes()).unwrap();
        }
        3 => {
            // The last line without its end.
            let text = writer.lines(40);
            file.write_all(text.trim_end().as_bytes()).unwrap();
        }
        _ => {
            let text = fs::read_to_string(path).unwrap();
            let lines = text.lines().count();
            let kept = writer.rng.random_range(1..=lines);
            let text: String = text.lines().take(kept).map(|l| format!("{l}\n")).collect();
            writer.ids.truncate(kept - 1);
            fs::write(path, text).unwrap();
        }
    }
}
