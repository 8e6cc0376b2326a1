//! Does a search find what somebody has in mind? A corpus of sessions with judged queries among
//! noise.
//!
//! The noise holds the same words: logs that tools printed and that people pasted, injected
//! reminders, searches for the very queries, forks of the sessions themselves. A hit on the target
//! counts 3, on the session's name 2, on any other entry of the session 1.

// The benchmark and a test each use a part of this file.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::index::SearchScope;
use sessionary::model::SearchAnswer;
use sessionary::{Index, Indexer};

#[path = "scenes.rs"]
mod scenes;
use scenes::{SCENES, Scene, Target};

/// 2026-03-01T00:00:00Z, when the queries are asked.
pub const NOW: i64 = 1_772_323_200_000;
const DAY: i64 = 86_400_000;
/// Sessions that only get in the way.
const NOISE: usize = 20;
/// Hits judged of each query.
const JUDGED: usize = 20;
/// Hits compared between the two states.
const AGREE: usize = 20;

/// How well the queries are answered.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    pub queries: usize,
    /// Mean of the discounted gains of the first ten hits, 1 = the best order there is.
    pub ndcg: f64,
    /// Mean of 1 / rank of the first hit that counts 2 or 3.
    pub mrr: f64,
}

/// All queries with what they are after.
pub fn queries() -> impl Iterator<Item = (usize, &'static str, Target)> {
    let all = SCENES.iter().enumerate();
    all.flat_map(|(number, scene)| {
        scene
            .queries
            .iter()
            .map(move |(text, target)| (number, *text, *target))
    })
}

/// Write the corpus below `root`.
pub fn write(root: &Path) -> std::io::Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for (number, scene) in SCENES.iter().enumerate() {
        let days = random.random_range(1..300);
        let lines = lines(number, scene, days);
        session(
            root,
            scene.project,
            &format!("scene{number:02}"),
            days,
            &lines,
        )?;
        // Every fifth was forked: its entries lie in two files.
        if number % 5 == 0 {
            session(
                root,
                scene.project,
                &format!("fork{number:02}"),
                days - 1,
                &lines,
            )?;
        }
    }
    for number in 0..NOISE {
        let days = random.random_range(0..300);
        let lines = noise(number, days, &mut random);
        session(
            root,
            "elsewhere",
            &format!("noise{number:02}"),
            days,
            &lines,
        )?;
    }
    Ok(())
}

fn session(
    root: &Path,
    project: &str,
    name: &str,
    days: i64,
    lines: &[Value],
) -> std::io::Result<()> {
    let folder = root.join(format!("--home-ada-{project}--"));
    fs::create_dir_all(&folder)?;
    let header = json!({"type": "session", "version": 3, "id": name, "timestamp": time(days), "cwd": format!("/home/ada/{project}")});
    let text: String = std::iter::once(&header)
        .chain(lines)
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(folder.join(format!("{name}.jsonl")), text)
}

fn time(days: i64) -> String {
    jiff::Timestamp::from_millisecond(NOW - days * DAY)
        .map_or(String::new(), |time| time.to_string())
}

fn entry(id: &str, days: i64, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": null, "timestamp": time(days), "message": message})
}

fn id(scene: usize, target: Target) -> String {
    format!("scene{scene:02}{target:?}")
}

fn lines(number: usize, scene: &Scene, days: i64) -> Vec<Value> {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let call = format!("call{number}");
    vec![
        entry(
            &id(number, Target::Ask),
            days,
            json!({"role": "user", "content": text(scene.ask)}),
        ),
        entry(
            &id(number, Target::Call),
            days,
            json!({"role": "assistant", "content": [
            {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": scene.command}}]}),
        ),
        entry(
            &id(number, Target::Output),
            days,
            json!({"role": "toolResult", "toolCallId": call, "toolName": "bash",
            "content": text(scene.output), "isError": false}),
        ),
        entry(
            &id(number, Target::Answer),
            days,
            json!({"role": "assistant", "content": text(scene.answer)}),
        ),
        json!({"type": "session_info", "id": id(number, Target::Name), "parentId": null, "timestamp": time(days), "name": scene.name}),
    ]
}

/// Words of all scenes in no order, as logs, reminders and earlier searches have them; what is said
/// there is about other things, in words that all use.
fn noise(number: usize, days: i64, random: &mut ChaCha8Rng) -> Vec<Value> {
    let all: Vec<&str> = SCENES
        .iter()
        .flat_map(|scene| [scene.name, scene.ask, scene.answer, scene.output])
        .flat_map(str::split_whitespace)
        .collect();
    let has = |scene: &Scene, word: &str| scene.ask.contains(word) || scene.answer.contains(word);
    let common = |word: &&str| SCENES.iter().filter(|scene| has(scene, word)).count() > 1;
    let usual: Vec<&str> = all.iter().copied().filter(common).collect();
    let mut lines = Vec::new();
    let mut pastes = ChaCha8Rng::seed_from_u64(number as u64);
    for at in 0..10 {
        let id = |what: &str| format!("noise{number:02}{at}{what}");
        let block = |text: String| json!([{"type": "text", "text": text}]);
        let call = format!("c{number}x{at}");
        let said = babble(&usual, 12, random);
        let reminder = babble(&all, 40, random);
        let reminder = format!("<system-reminder>{reminder}</system-reminder>\n{said}");
        lines.push(entry(
            &id("u"),
            days,
            json!({"role": "user", "content": block(reminder)}),
        ));
        if at % 4 == 0 {
            let log: String = (0..12)
                .map(|second| {
                    let words = babble(&all, 8, &mut pastes).replace('\n', " ");
                    format!("2026-02-03T04:05:{second:02}Z {words}\n")
                })
                .collect();
            lines.push(entry(
                &id("p"),
                days,
                json!({"role": "user", "content": block(format!("What is this?\n{log}"))}),
            ));
        }
        let scene = SCENES.choose(random);
        let query = scene
            .and_then(|scene| scene.queries.choose(random))
            .map_or("", |query| query.0);
        let command = match at % 3 {
            0 => format!("sessionary search '{query}'"),
            _ => format!("make {}", babble(&usual, 2, random)),
        };
        lines.push(entry(
            &id("a"),
            days,
            json!({"role": "assistant", "content": [
            {"type": "text", "text": babble(&usual, 12, random)},
            {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": command}}]}),
        ));
        let length = random.random_range(40..400);
        let output = format!("{}{query}", babble(&all, length, random));
        lines.push(entry(
            &id("r"),
            days,
            json!({"role": "toolResult", "toolCallId": call, "toolName": "bash",
            "content": block(output), "isError": false}),
        ));
    }
    lines
}

fn babble(words: &[&str], count: usize, random: &mut ChaCha8Rng) -> String {
    let mut text = String::new();
    for _ in 0..count {
        text.push_str(words.choose(random).copied().unwrap_or_default());
        text.push_str(
            [" ", " ", " ", "\n", ": "]
                .choose(random)
                .copied()
                .unwrap_or(" "),
        );
    }
    text
}

fn ask(index: &Index, query: &str, limit: usize) -> Result<SearchAnswer, sessionary::Error> {
    let scope = SearchScope {
        limit: Some(limit),
        now_ms: Some(NOW),
        ..SearchScope::default()
    };
    index.search(query, &scope)
}

fn ids(answer: &SearchAnswer) -> Vec<String> {
    let hits = answer.sessions.iter().flat_map(|group| &group.hits);
    hits.map(|hit| hit.entry.clone()).collect()
}

fn grade(entry: &str, scene: usize, target: Target) -> u32 {
    if entry == id(scene, target) {
        3
    } else if entry == id(scene, Target::Name) {
        2
    } else {
        u32::from(entry.starts_with(&format!("scene{scene:02}")))
    }
}

fn gain(grades: &[u32]) -> f64 {
    let gains = grades.iter().take(10).enumerate();
    gains
        .map(|(at, grade)| (2f64.powi(*grade as i32) - 1.0) / ((at + 2) as f64).log2())
        .sum()
}

/// Ask all queries; `worst` is shown each that does not find its target first.
pub fn measure(
    index: &Index,
    mut worst: impl FnMut(&str, &[String]),
) -> Result<Figures, sessionary::Error> {
    let (mut ndcg, mut mrr, mut count) = (0.0, 0.0, 0);
    for (scene, query, target) in queries() {
        let found = ids(&ask(index, query, JUDGED)?);
        let mut grades: HashMap<&String, u32> = HashMap::new();
        let list: Vec<u32> = found
            .iter()
            .map(|entry| {
                // A copy of what was shown is no second find.
                let seen = grades.insert(entry, 0).is_some();
                if seen { 0 } else { grade(entry, scene, target) }
            })
            .collect();
        let mut best = list.clone();
        if !best.contains(&3) {
            best.push(3);
        }
        best.sort_unstable_by(|a, b| b.cmp(a));
        ndcg += gain(&list) / gain(&best);
        let first = list.iter().position(|grade| *grade >= 2);
        mrr += first.map_or(0.0, |at| 1.0 / (at + 1) as f64);
        count += 1;
        if first != Some(0) {
            worst(query, &found[..found.len().min(4)]);
        }
    }
    Ok(Figures {
        queries: count,
        ndcg: ndcg / count as f64,
        mrr: mrr / count as f64,
    })
}

/// The share of the first twenty hits that two states of the index have in common, over all
/// queries.
pub fn agreement(one: &Index, other: &Index) -> Result<f64, sessionary::Error> {
    let (mut common, mut all) = (0, 0);
    for (_, query, _) in queries() {
        let (a, b) = (
            ids(&ask(one, query, AGREE)?),
            ids(&ask(other, query, AGREE)?),
        );
        common += a.iter().filter(|entry| b.contains(entry)).count();
        all += a.len().max(b.len());
    }
    Ok(common as f64 / all.max(1) as f64)
}

/// The corpus in three states of the index.
pub struct States {
    /// Nothing of its words is indexed.
    pub nothing: Index,
    /// The sessions that change last are not, a twentieth of the bytes at most.
    pub nearly_all: Index,
    /// All of them are.
    pub all: Index,
}

impl States {
    /// Of the sessions below `root`; `config` names an index of theirs in a folder of its own.
    pub fn make(
        root: &Path,
        config: impl Fn(&str) -> sessionary::Config,
    ) -> Result<States, Box<dyn std::error::Error>> {
        use sessionary::Freshness::AsCommitted;
        let open = |name| Index::open(&config(name), AsCommitted);
        Indexer::open(&config("nothing"))?.sync_catalogue(&mut |_| {})?;
        Indexer::open(&config("all"))?.sync()?;
        // Files that are elsewhere while the words are made come later.
        let (late, elsewhere) = (late(root)?, root.with_extension("late"));
        std::fs::create_dir(&elsewhere)?;
        let away = |number: usize| elsewhere.join(number.to_string());
        for (number, path) in late.iter().enumerate() {
            std::fs::rename(path, away(number))?;
        }
        Indexer::open(&config("nearly"))?.sync()?;
        for (number, path) in late.iter().enumerate() {
            std::fs::rename(away(number), path)?;
        }
        Indexer::open(&config("nearly"))?.sync_catalogue(&mut |_| {})?;
        Ok(States {
            nothing: open("nothing")?,
            nearly_all: open("nearly")?,
            all: open("all")?,
        })
    }
}

/// Session files evenly taken from all, a twentieth of the bytes at most.
fn late(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for file in walkdir::WalkDir::new(root).sort_by_file_name() {
        let file = file?;
        if file.file_type().is_file() {
            files.push((file.metadata()?.len(), file.into_path()));
        }
    }
    let all: u64 = files.iter().map(|(bytes, _)| bytes).sum();
    let mut room = all / 20;
    let mut late = Vec::new();
    for (bytes, path) in files.into_iter().step_by(19) {
        if bytes <= room {
            room -= bytes;
            late.push(path);
        }
    }
    Ok(late)
}
