//! Does a search find the session that somebody remembers a few words of? A corpus of sessions that
//! share their vocabulary, and queries that were made from it before the ranking was.
//!
//! Sessions have 50 to 300 entries. Most words are everybody's; sessions of one project share its
//! words; a session's own subject is a dozen words of its project, scattered over its entries, few
//! of which hold two of them; three quarters end with one entry that holds them all. Other sessions
//! of the project mention those words as well, and tools print any of them by the hundred. What is
//! asked:
//!
//! - *whole*: as a commit's subject would put it, five to seven words that stand in different
//!   entries, two of them everybody's;
//! - *three*: the three rarest of such words;
//! - *word*: one word that only one session's conversation holds;
//! - *artefact*: a path, a hash or an error message, quoted.
//!
//! Of the first two a third hold one word that stands nowhere: people remember wrongly.

// The benchmark and a test each use a part of this file.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::index::SearchScope;
use sessionary::model::SearchAnswer;
use sessionary::{Error, Index};

/// 2026-03-01T00:00:00Z, when the queries are asked.
const NOW: i64 = 1_772_323_200_000;
const MINUTE: i64 = 60_000;
const DAY: i64 = 1_440 * MINUTE;

const PROJECTS: usize = 24;
const SESSIONS_A_PROJECT: usize = 8;
/// Words that everybody uses, words of each project, and words of a session's subject among them.
const COMMON_WORDS: usize = 1_500;
const PROJECT_WORDS: usize = 110;
const SUBJECT_WORDS: usize = 12;
/// Percent of the sessions with one entry that holds all of the subject.
const SUMMARIES: u32 = 75;
/// Queries of each kind.
const QUERIES: usize = 90;
const SINGLE: usize = 30;
/// Sessions of an answer that are looked at.
const JUDGED: usize = 20;

/// What somebody remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Whole,
    Three,
    Word,
    Artefact,
}

/// A query, and the session that it is about.
#[derive(Debug, Clone)]
pub struct Remembered {
    pub kind: Kind,
    pub text: String,
    pub session: String,
    /// One of its words stands nowhere.
    pub is_misremembered: bool,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Whole, Kind::Three, Kind::Word, Kind::Artefact];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Whole => "whole subject",
            Kind::Three => "three rarest words",
            Kind::Word => "one word",
            Kind::Artefact => "quoted artefact",
        }
    }
}

/// How well the queries of a kind are answered.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    pub queries: usize,
    /// Mean of 1 / rank of the session.
    pub mrr: f64,
    /// Share of the queries whose session is among the first ten.
    pub top_ten: f64,
}

/// A session before it is written.
struct Draft {
    id: String,
    project: usize,
    subject: Vec<String>,
    /// Common words that a person remembers with it.
    beside: Vec<String>,
    /// Role and words of each entry.
    entries: Vec<(Role, Vec<String>)>,
    artefacts: Vec<String>,
    days: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
    Tool,
}

/// Write the corpus below `root`. Gives back what is asked of it.
pub fn write(root: &Path) -> std::io::Result<Vec<Remembered>> {
    let mut random = ChaCha8Rng::seed_from_u64(19);
    let words = Words::new(&mut random);
    let mut drafts = Vec::new();
    for project in 0..PROJECTS {
        for number in 0..SESSIONS_A_PROJECT {
            drafts.push(draft(project, number, &words, &mut random));
        }
    }
    for draft in &drafts {
        let folder = root.join(format!("--p{}--", draft.project));
        fs::create_dir_all(&folder)?;
        let name = format!("2026-01-01T00-00-00-000Z_{}.jsonl", draft.id);
        let mut text = String::new();
        for line in lines(draft) {
            text.push_str(&line.to_string());
            text.push('\n');
        }
        fs::write(folder.join(name), text)?;
    }
    Ok(queries(&drafts, &words, &mut random))
}

/// The vocabulary.
struct Words {
    /// The most frequent first.
    common: Vec<String>,
    of_project: Vec<Vec<String>>,
    /// Words that stand nowhere.
    nowhere: Vec<String>,
}

impl Words {
    fn new(random: &mut ChaCha8Rng) -> Words {
        let mut taken = HashSet::new();
        let mut fresh = |random: &mut ChaCha8Rng| {
            loop {
                let word = word(random);
                if taken.insert(word.clone()) {
                    return word;
                }
            }
        };
        let common: Vec<String> = (0..COMMON_WORDS).map(|_| fresh(random)).collect();
        // A fifth of a project's words belong to other projects, too.
        let shared: Vec<String> = (0..400).map(|_| fresh(random)).collect();
        let of_project = (0..PROJECTS).map(|_| {
            let own = PROJECT_WORDS * 4 / 5;
            let mut words: Vec<String> = (0..own).map(|_| fresh(random)).collect();
            words.extend(shared.choose_multiple(random, PROJECT_WORDS - own).cloned());
            words.shuffle(random);
            words
        });
        let of_project = of_project.collect();
        Words {
            common,
            of_project,
            nowhere: (0..QUERIES).map(|_| fresh(random)).collect(),
        }
    }

    /// A word that everybody uses, by Zipf's law.
    fn common(&self, random: &mut ChaCha8Rng) -> String {
        let at = (COMMON_WORDS as f64).powf(random.random::<f64>()) as usize - 1;
        self.common[at.min(COMMON_WORDS - 1)].clone()
    }
}

/// A word that is made up, of two to four syllables.
fn word(random: &mut ChaCha8Rng) -> String {
    const STARTS: [&str; 20] = [
        "b", "br", "c", "d", "dr", "f", "g", "gl", "h", "k", "l", "m", "n", "p", "pr", "r", "s",
        "st", "t", "v",
    ];
    const ENDS: [&str; 14] = [
        "a", "e", "i", "o", "u", "an", "el", "in", "or", "us", "ent", "ast", "ick", "oam",
    ];
    let syllables = random.random_range(2..=4);
    let mut word = String::new();
    for _ in 0..syllables {
        word += STARTS.choose(random).copied().unwrap_or_default();
        word += ENDS.choose(random).copied().unwrap_or_default();
    }
    word
}

fn draft(project: usize, number: usize, words: &Words, random: &mut ChaCha8Rng) -> Draft {
    let of_project = &words.of_project[project];
    let subject: Vec<String> = of_project
        .choose_multiple(random, SUBJECT_WORDS)
        .cloned()
        .collect();
    let count = random.random_range(50..=300);
    let mut entries = Vec::with_capacity(count);
    for at in 0..count {
        let (role, length) = match at % 4 {
            0 => (Role::User, random.random_range(4..=30)),
            1 => (Role::Assistant, random.random_range(8..=60)),
            2 => (Role::Tool, random.random_range(20..=300)),
            _ => (Role::Assistant, random.random_range(8..=120)),
        };
        let any = |random: &mut ChaCha8Rng| match (role, random.random_range(0..100)) {
            // Tools print what there is.
            (Role::Tool, 0..=24) => of_project.choose(random).cloned().unwrap_or_default(),
            // Most of a conversation is about the project, not about its subject.
            (_, 0..=5) => of_project.choose(random).cloned().unwrap_or_default(),
            _ => words.common(random),
        };
        let said = (0..length).map(|_| any(random)).collect();
        entries.push((role, said));
    }
    // Each word of the subject is said in a few entries of the conversation.
    for word in &subject {
        for _ in 0..random.random_range(2..=7) {
            say(&mut entries, word, random);
        }
    }
    // Most sessions end with a summary, a commit's message or the like, which holds their subject.
    let summary = random.random_range(0..100) < SUMMARIES;
    let beside: Vec<String> = (0..2).map(|_| words.common(random)).collect();
    if summary {
        let (_, said) = &mut entries[count - 1];
        said.extend(subject.iter().chain(&beside).cloned());
        said.shuffle(random);
    }
    let artefacts: Vec<String> = (0..2)
        .map(|n| match n {
            0 => format!(
                "src/{}/{}.rs:{}",
                of_project[0],
                word(random),
                random.random_range(10..900)
            ),
            _ => format!("error {:08x}", random.random::<u32>()),
        })
        .collect();
    for artefact in &artefacts {
        let at = random.random_range(0..entries.len());
        entries[at].1.push(artefact.clone());
    }
    Draft {
        id: format!("{project:04x}{number:04x}-0000-7000-8000-000000000000"),
        project,
        subject,
        beside,
        entries,
        artefacts,
        days: random.random_range(1..400),
    }
}

/// Put a word into an entry of the conversation.
fn say(entries: &mut [(Role, Vec<String>)], word: &str, random: &mut ChaCha8Rng) {
    loop {
        let at = random.random_range(0..entries.len());
        let (role, said) = &mut entries[at];
        if *role != Role::Tool {
            let place = random.random_range(0..=said.len());
            said.insert(place, word.to_owned());
            return;
        }
    }
}

fn lines(draft: &Draft) -> Vec<Value> {
    let start = NOW - draft.days * DAY;
    let time = |ms: i64| {
        jiff::Timestamp::from_millisecond(ms).map_or(String::new(), |time| time.to_string())
    };
    let mut lines = vec![json!({
        "type": "session", "version": 3, "id": draft.id, "timestamp": time(start),
        "cwd": format!("/home/ada/p{}", draft.project),
    })];
    let mut parent = Value::Null;
    for (at, (role, said)) in (0..).zip(&draft.entries) {
        let (id, text) = (format!("{at:08x}"), said.join(" "));
        let content = json!([{"type": "text", "text": text}]);
        let message = match role {
            Role::User => json!({"role": "user", "content": content}),
            Role::Assistant => json!({"role": "assistant", "content": content}),
            Role::Tool => json!({
                "role": "toolResult", "toolCallId": format!("call-{at}"), "toolName": "bash",
                "content": content, "isError": false,
            }),
        };
        lines.push(json!({
            "type": "message", "id": id, "parentId": parent,
            "timestamp": time(start + at * MINUTE), "message": message,
        }));
        parent = json!(id);
    }
    lines
}

fn queries(drafts: &[Draft], words: &Words, random: &mut ChaCha8Rng) -> Vec<Remembered> {
    let mut sessions_of: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        for (role, said) in &draft.entries {
            for word in said.iter().filter(|_| *role != Role::Tool) {
                sessions_of.entry(word).or_default().insert(at);
            }
        }
    }
    let rarity = |word: &String| sessions_of.get(word.as_str()).map_or(0, BTreeSet::len);
    let mut queries = Vec::new();
    let mut asked: Vec<&Draft> = drafts.iter().collect();
    asked.shuffle(random);
    for (at, draft) in asked.iter().take(QUERIES).enumerate() {
        let is_misremembered = at % 3 == 0;
        let mut scattered = scattered(draft, random);
        let mut three = scattered.clone();
        three.sort_by_key(rarity);
        three.truncate(3);
        scattered.truncate(random.random_range(3..=5));
        scattered.extend(draft.beside.iter().cloned());
        if is_misremembered {
            scattered[0].clone_from(&words.nowhere[at]);
            three[2].clone_from(&words.nowhere[at]);
        }
        for (kind, mut text) in [(Kind::Whole, scattered), (Kind::Three, three)] {
            text.shuffle(random);
            queries.push(Remembered {
                kind,
                text: text.join(" "),
                session: draft.id.clone(),
                is_misremembered,
            });
        }
    }
    let only_here = |at: usize| {
        let mut said = drafts[at].entries.iter().flat_map(|(_, said)| said);
        said.find(|word| {
            !word.contains(' ')
                && rarity(word) == 1
                && sessions_of.contains_key(word.as_str())
                && sessions_of[word.as_str()].contains(&at)
        })
    };
    let single = (0..drafts.len()).filter_map(|at| Some((only_here(at)?.clone(), &drafts[at])));
    let single = single
        .take(SINGLE)
        .map(|(text, draft)| (Kind::Word, text, draft));
    let artefacts = drafts.iter().take(SINGLE).map(|draft| {
        let artefact = draft.artefacts.choose(random).cloned().unwrap_or_default();
        (Kind::Artefact, format!("\"{artefact}\""), draft)
    });
    let rest = single.chain(artefacts.collect::<Vec<_>>());
    queries.extend(rest.map(|(kind, text, draft)| Remembered {
        kind,
        text,
        session: draft.id.clone(),
        is_misremembered: false,
    }));
    queries
}

/// The subject of a session in an order in which each word stands in an entry of its own.
fn scattered(draft: &Draft, random: &mut ChaCha8Rng) -> Vec<String> {
    let mut subject = draft.subject.clone();
    subject.shuffle(random);
    let mut taken = HashSet::new();
    let mut apart = Vec::new();
    for word in &subject {
        let holds =
            |at: &usize| draft.entries[*at].0 != Role::Tool && draft.entries[*at].1.contains(word);
        let free = (0..draft.entries.len())
            .filter(|at| !taken.contains(at))
            .find(holds);
        if let Some(at) = free {
            taken.insert(at);
            apart.push(word.clone());
        }
    }
    apart
}

/// Ask all of them.
///
/// # Errors
/// Those of the search.
pub fn measure(index: &Index, queries: &[Remembered]) -> Result<BTreeMap<Kind, Figures>, Error> {
    measure_by(queries, |query| {
        let answer = ask(index, query)?;
        let sessions = answer.sessions.into_iter();
        Ok(sessions.map(|group| group.session.id).collect())
    })
}

/// How well they are answered by what gives the ids of sessions, best first.
pub fn measure_by<E>(
    queries: &[Remembered],
    mut ask: impl FnMut(&str) -> Result<Vec<String>, E>,
) -> Result<BTreeMap<Kind, Figures>, E> {
    let mut figures: BTreeMap<Kind, Figures> = BTreeMap::new();
    for query in queries {
        let answer = ask(&query.text)?;
        let found = answer.iter().position(|id| *id == query.session);
        let of_kind = figures.entry(query.kind).or_default();
        of_kind.queries += 1;
        of_kind.mrr += found.map_or(0.0, |at| 1.0 / (at + 1) as f64);
        of_kind.top_ten += f64::from(u8::from(found.is_some_and(|at| at < 10)));
    }
    for of_kind in figures.values_mut() {
        of_kind.mrr /= of_kind.queries as f64;
        of_kind.top_ten /= of_kind.queries as f64;
    }
    Ok(figures)
}

fn ask(index: &Index, query: &str) -> Result<SearchAnswer, Error> {
    let scope = SearchScope {
        limit: Some(JUDGED),
        now_ms: Some(NOW),
        ..SearchScope::default()
    };
    index.search(query, &scope)
}
