//! Is a damaged catalogue rebuilt, wherever the damage is and whoever meets it?

use std::fs;
use std::path::{Path, PathBuf};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;
use sessionary::index::{ListScope, SearchScope, ShowScope};
use sessionary::{Config, Freshness, Index, Indexer};

use crate::histories::damage::copy_all;
use crate::histories::dump::{dump, fresh, root, same};
use crate::histories::lines;
use crate::sandbox::Sandbox;

const CATALOGUE: &str = "v5/catalogue.sqlite";
const MARK: &str = "v5/catalogue.sqlite-damaged";
const REBUILT: &str = "the catalogue is rebuilt";

/// Questions that between them read all a catalogue holds of its sessions, each with a tree that it
/// reads.
const QUESTIONS: [(&str, &[&str]); 7] = [
    (
        "_calls",
        &[
            "sql",
            "--csv",
            "SELECT s.id, e.start, c.tool, c.subject, u.output, l.text, f.path_written, p.reason
             FROM entries e JOIN sessions s USING (session) LEFT JOIN call_records c ON c.entry = e.entry
             LEFT JOIN usage_records u ON u.entry = e.entry LEFT JOIN labels l ON l.entry = e.entry
             LEFT JOIN touches f ON f.entry = e.entry LEFT JOIN problems p ON p.session = s.session
             ORDER BY 1, 2, 3, 4, 5, 6, 7, 8",
        ],
    ),
    ("_rows", &["list", "--all", "--json"]),
    (
        "_entries",
        &["search", "--json", "is:error OR file:src OR label:todo OR model:m OR user"],
    ),
    ("_entries", &["tree", "s4", "--filter", "all", "--json"]),
    ("_problems", &["show", "s4", "--all", "--json"]),
    ("_rows", &["list", "--all", "--jsonl", "--sort", "tokens"]),
    (
        "_entries",
        &[
            "sql",
            "--csv",
            "SELECT s.id, e.start, e.id, e.role, e.time_ms, raw(e.entry)
             FROM entries e JOIN sessions s USING (session) ORDER BY 1, 2",
        ],
    ),
];

/// A home with sessions, and an index of them that is copied for each damage.
struct Place {
    home: Sandbox,
    whole: PathBuf,
    answers: Vec<Vec<u8>>,
    expected: Vec<String>,
}

/// An answer without the number of entries that the words lack, and what rests on it: they are owed
/// all of a catalogue that is rebuilt.
fn without_backlog_counts(answer: Vec<u8>) -> Vec<u8> {
    let Ok(text) = String::from_utf8(answer) else {
        panic!("an answer that is no text");
    };
    let owed = regex::Regex::new(
        r#","(outstanding(_bytes)?":\d+|owed":\{[^}]*\}|order_exact":false|score":[0-9.]+)"#,
    )
    .unwrap();
    owed.replace_all(&text, "").into_owned().into_bytes()
}

impl Place {
    fn new() -> Place {
        let home = Sandbox::new();
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for number in 1..=4 {
            let mut text = format!(
                "{{\"type\":\"session\",\"version\":3,\"id\":\"s{number}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w/{number}\"}}\n"
            );
            // One is so short that its transcript is printed as a whole.
            for at in 0..if number == 4 { 30 } else { 150 } {
                text.push_str(&String::from_utf8_lossy(&lines::pi(
                    &mut rng,
                    number * 1000 + at,
                )));
                text.push('\n');
            }
            home.write(&format!(".pi/agent/sessions/--w--/{number}.jsonl"), &text);
        }
        home.settle();
        let whole = home.home.join("whole");
        let mut place = Place {
            answers: Vec::new(),
            expected: Vec::new(),
            home,
            whole,
        };
        let whole = place.whole.clone();
        assert_eq!(place.ask(&whole, &["sync"]).0, Some(0));
        let answers = QUESTIONS
            .iter()
            .map(|(_, question)| place.ask(&whole, question));
        place.answers = answers
            .map(|(code, out, said)| {
                assert_eq!((code, said.contains("rebuilt")), (Some(0), false), "{said}");
                out
            })
            .collect();
        place.expected = dump(&fresh(
            &place.config(&whole),
            &place.home.home.join("fresh"),
        ));
        place
    }

    fn config(&self, index: &Path) -> Config {
        let pi = self.home.home.join(".pi/agent/sessions");
        Config::new(index, vec![root("pi", "pi", &pi)])
    }

    /// Exit code, stdout and stderr.
    fn ask(&self, index: &Path, arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
        let mut command = self.home.command(&["--index"]);
        let output = command.arg(index).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (
            output.status.code(),
            without_backlog_counts(output.stdout),
            said,
        )
    }

    /// A copy of the index with noise in a page.
    fn damaged(&self, name: &str, page: usize) -> PathBuf {
        let copy = self.home.home.join(name);
        copy_all(&self.whole, &copy);
        let mut bytes = fs::read(copy.join(CATALOGUE)).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(page as u64);
        let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
        rng.fill(&mut bytes[(page - 1) * size..][..size]);
        fs::write(copy.join(CATALOGUE), bytes).unwrap();
        copy
    }

    /// Asks a question, to which the answer must be as ever. Whether the damage was met, and
    /// mended.
    fn answers_rightly(&self, index: &Path, at: usize, when: &str) -> bool {
        let (_, question) = QUESTIONS[at];
        let when = format!("{when}: {}", question.join(" "));
        let (code, out, said) = self.ask(index, question);
        assert_eq!(code, Some(0), "{when}: {said}");
        let text = String::from_utf8_lossy(&out);
        assert!(out == self.answers[at], "{when}: {text}");
        said.contains(REBUILT)
    }

    /// The index is as good as one from scratch.
    fn is_whole(&self, index: &Path, when: &str) {
        let config = self.config(index);
        Indexer::open(&config).unwrap().sync().unwrap();
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        same(&dump(&index), &self.expected, when);
    }

    /// Of each tree a leaf, and where that is another page its root.
    fn pages(&self) -> Vec<(String, usize)> {
        let connection = Connection::open(self.whole.join(CATALOGUE)).unwrap();
        let mut pages = connection
            .prepare(
                "SELECT name, max(pageno) FROM dbstat WHERE pagetype = 'leaf' GROUP BY name
                 UNION SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0
                 UNION SELECT 'sqlite_schema', 1",
            )
            .unwrap();
        let pages = pages.query_map([], |r| Ok((r.get(0)?, r.get::<_, u32>(1)? as usize)));
        pages.unwrap().map(Result::unwrap).collect()
    }
}

#[test]
fn noise_in_any_page_is_mended_by_whoever_meets_it() {
    let place = Place::new();
    let pages = place.pages();
    assert!(pages.len() > 30, "{pages:?}");
    let mends = |(tree, page): &(String, usize)| {
        let index = place.damaged(&format!("{tree}-{page}"), *page);
        let when = format!("page {page} of {tree}");
        let is_met = (0..QUESTIONS.len()).any(|at| place.answers_rightly(&index, at, &when));
        // What no question reads the check of all pages tells, and the next look mends.
        if !is_met {
            let (code, out, said) = place.ask(&index, &["verify"]);
            assert_eq!(code, Some(1), "{when}: {said}");
            let out = String::from_utf8_lossy(&out);
            assert!(out.contains("catalogue: "), "{when}: {out}");
            let (code, out, said) = place.ask(&index, &["sync"]);
            assert_eq!(code, Some(0), "{when}: {said}");
            let out = String::from_utf8_lossy(&out);
            assert!(out.contains(REBUILT), "{when}: {out}");
        }
        place.is_whole(&index, &when);
    };
    // They wait for the disk more than they work.
    std::thread::scope(|scope| {
        for some in pages.chunks(pages.len().div_ceil(4)) {
            scope.spawn(|| some.iter().for_each(mends));
        }
    });
}

#[test]
fn every_question_mends_what_it_meets() {
    let place = Place::new();
    let pages = place.pages();
    for (at, (tree, question)) in QUESTIONS.iter().enumerate() {
        let page = pages.iter().find(|(name, _)| name == tree).unwrap().1;
        let index = place.damaged(&at.to_string(), page);
        let is_met = place.answers_rightly(&index, at, tree);
        assert!(is_met, "{tree}: {question:?}");
    }
}

/// Nothing of an answer is printed before all of it is there.
#[test]
fn what_is_met_at_the_end_of_an_answer_is_mended_too() {
    let place = Place::new();
    let pages = place.pages();
    let problems = pages
        .iter()
        .find(|(name, _)| name == "_problems")
        .unwrap()
        .1;
    let index = place.damaged("late", problems);
    // It tells of problems when all else is printed.
    let show = ["show", "s1", "--all", "--json"];
    let (code, out, said) = place.ask(&index, &show);
    assert_eq!(code, Some(0), "{said}");
    assert!(out.len() >= 64 << 10, "{}", out.len());
    assert!(said.contains("malformed"), "{said}");
    let answer: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(answer["complete"], true);
    assert!(said.contains(REBUILT), "{said}");
    let (code, again, said) = place.ask(&index, &show);
    assert_eq!((code, again == out), (Some(0), true), "{said}");
}

/// Its rows go out one by one, so where damage is met behind some of them nothing is asked again:
/// the agent's own program stands in.
#[test]
fn no_row_of_an_agents_own_list_goes_out_twice() {
    let home = Sandbox::new();
    for at in 0..300 {
        let time = format!("2026-01-05T09:{:02}:{:02}.000Z", at / 60, at % 60);
        let session = format!(
            r#"{{"type":"session","version":3,"id":"s{at:03}","timestamp":"{time}","cwd":"/w"}}"#
        );
        let message = format!(
            r#"{{"type":"message","id":"e{at:03}","parentId":null,"timestamp":"{time}","message":{{"role":"user","content":[{{"type":"text","text":"one"}}],"timestamp":1}}}}"#
        );
        let file = format!(".pi/agent/sessions/--w--/{at:03}.jsonl");
        home.write(&file, &format!("{session}\n{message}\n"));
    }
    home.settle();
    let place = Place {
        whole: home.home.join("whole"),
        answers: Vec::new(),
        expected: Vec::new(),
        home,
    };
    assert_eq!(place.ask(&place.whole, &["sync"]).0, Some(0));
    let list = ["list", "--as", "pi", "--jsonl", "--with-text"];
    let (_, expected, said) = place.ask(&place.whole, &list);
    let rows = String::from_utf8_lossy(&expected).lines().count();
    assert_eq!(rows, 300, "{said}");
    let connection = Connection::open(place.whole.join(CATALOGUE)).unwrap();
    let leaves = "SELECT pageno FROM dbstat WHERE name = '_entries' AND pagetype = 'leaf'";
    let mut leaves = connection.prepare(leaves).unwrap();
    let leaves = leaves.query_map([], |r| Ok(r.get::<_, u32>(0)? as usize));
    let mut late = 0;
    for page in leaves.unwrap().map(Result::unwrap) {
        let index = place.damaged(&page.to_string(), page);
        let (code, out, said) = place.ask(&index, &list);
        match code {
            Some(2) => {
                let is_begun = !out.is_empty() && expected.starts_with(&out);
                assert!(is_begun, "{page}: {said}");
                late += 1;
            }
            code => assert!(code == Some(0) && out == expected, "{page}: {said}"),
        }
    }
    assert!(late > 0, "it is met before the first row");
}

#[test]
fn what_only_the_words_read_is_mended_by_a_sync() {
    let place = Place::new();
    let entries = place
        .pages()
        .into_iter()
        .find(|(name, _)| name == "_entries");
    let index = place.damaged("owed", entries.unwrap().1);
    // All is owed to words that are not there.
    fs::remove_dir_all(index.join("v5/words")).unwrap();
    let (code, out, said) = place.ask(&index, &["sync"]);
    let out = String::from_utf8_lossy(&out);
    assert_eq!(code, Some(0), "{said}");
    assert!(out.contains(REBUILT), "{out}");
    place.is_whole(&index, "words");
}

#[test]
fn a_wrong_query_is_no_damage() {
    let place = Place::new();
    for query in [
        "SELECT nothing FROM sessions",
        "SELECT * FROM nowhere",
        "SELECT * FROM entries JOIN sessions USING (entry)",
        "SELECT raw('x'), json('{')",
        "SELECT json_extract('{}', 'no such table: entries')",
        "SELECT value FROM entries, json_each('{bad')",
    ] {
        let (code, _, said) = place.ask(&place.whole, &["sql", query]);
        assert_eq!(code, Some(2), "{query}: {said}");
        assert!(!said.contains(REBUILT), "{query}: {said}");
    }
    assert!(!place.whole.join(MARK).exists());
}

#[test]
fn what_a_newer_version_wrote_is_left_alone() {
    let place = Place::new();
    let newer = place.home.home.join("newer");
    copy_all(&place.whole, &newer);
    let connection = Connection::open(newer.join(CATALOGUE)).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    fs::write(newer.join(MARK), "damaged, it says").unwrap();
    copy_all(&newer.join("v5"), &newer.join("v6"));
    let contents = |folder: &str| {
        let files = fs::read_dir(newer.join(folder)).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let files = files.filter(|path| path.is_file());
        let mut all: Vec<_> = files.map(|path| (path.clone(), fs::read(path))).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all.into_iter()
            .map(|(_, bytes)| bytes.unwrap())
            .collect::<Vec<_>>()
    };
    let (first, second) = (contents("v5"), contents("v6"));
    for question in [&["list"][..], &["sync"], &["verify"], &["rebuild"]] {
        let (code, _, said) = place.ask(&newer, question);
        assert_eq!(code, Some(2), "{question:?}: {said}");
        assert!(said.contains("newer sessionary"), "{question:?}: {said}");
    }
    assert!(contents("v5") == first && contents("v6") == second);
}

#[test]
fn what_verify_finds_mended_it_tells() {
    let place = Place::new();
    let sources = place
        .pages()
        .into_iter()
        .find(|(name, _)| name == "_sources");
    let index = place.damaged("met", sources.unwrap().1);
    let file = place.home.write(
        ".pi/agent/sessions/--w--/5.jsonl",
        "{\"type\":\"session\",\"id\":\"s5\"}\n",
    );
    let (code, _, said) = place.ask(&index, &["verify"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(REBUILT), "{said}");
    fs::remove_file(file).unwrap();
    place.is_whole(&index, "verify");
}

#[test]
fn a_root_that_is_stored_as_another_machines_is_a_difference() {
    let place = Place::new();
    let config = place.config(&place.whole);
    let differences = || {
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        index.verify().unwrap().differences
    };
    assert_eq!(differences(), []);
    let catalogue = Connection::open(place.whole.join(CATALOGUE)).unwrap();
    let stored = "UPDATE _roots SET host = 'tower' WHERE agent = 'pi'";
    assert_eq!(catalogue.execute(stored, []).unwrap(), 1);
    drop(catalogue);
    let found = differences();
    let told = "its format, label, shape or machine differs from what is asked for";
    assert!(found.iter().any(|found| found.what == told), "{found:?}");
}

/// What a damaged row says of an entry's bytes is nothing to make room for; the words stage meets
/// it, and the file is read again.
#[test]
fn whoever_asks_goes_on_though_places_of_entries_are_damaged() {
    for damage in [
        "length = 1 << 45",
        "length = -1",
        "start = 9223372036854775807",
        "start = -9223372036854775808",
        "start = start + 1, length = 1 << 36",
        "length = 0",
    ] {
        let home = tempfile::tempdir().unwrap();
        let sessions = home.path().join("sessions/--w--");
        fs::create_dir_all(&sessions).unwrap();
        let mut text = String::from(
            "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}\n",
        );
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        for id in 1..40 {
            text.push_str(&String::from_utf8_lossy(&lines::pi(&mut rng, id)));
            text.push('\n');
        }
        fs::write(sessions.join("1.jsonl"), text).unwrap();
        let root = root("pi", "pi", &home.path().join("sessions"));
        let config = Config::new(home.path().join("index"), vec![root]);
        Indexer::open(&config).unwrap().sync().unwrap();
        let connection = Connection::open(config.index_dir.join("v5/catalogue.sqlite")).unwrap();
        let planted = format!("UPDATE _entries SET {damage} WHERE key % 3 = 0");
        assert!(connection.execute(&planted, []).unwrap() > 5, "{damage}");
        drop(connection);
        let ask = || {
            let index = Index::open(&config, Freshness::AsCommitted).unwrap();
            let everything = SearchScope {
                limit: Some(1_000),
                ..SearchScope::default()
            };
            // What is answered of rows like these is open; whoever asks goes on living.
            let _ = index.search("user OR a OR *e*", &everything);
            let _ = index.sql("SELECT raw(entry) FROM entries", &[]).unwrap();
            for session in index.list(&ListScope::default()).unwrap().sessions {
                let _ = index.show(&session, &ShowScope::default());
            }
            let with_text = ListScope {
                with_text: true,
                ..ListScope::default()
            };
            let _ = index.list(&with_text);
            index
        };
        ask();
        fs::remove_dir_all(config.index_dir.join("v5/words")).unwrap();
        ask();
        Indexer::open(&config).unwrap().sync().unwrap();
        let index = ask();
        let found = index.verify().unwrap().differences;
        assert!(found.is_empty(), "{damage}: {found:?}");
    }
}

/// Another process must go on seeing that this one has the catalogue open, or it empties the WAL
/// under it.
#[cfg(target_os = "linux")]
#[test]
fn to_open_a_catalogue_again_gives_up_no_lock_on_it() {
    use std::os::unix::fs::MetadataExt;

    let home = tempfile::tempdir().unwrap();
    let root = root("pi", "pi", &home.path().join("sessions"));
    let config = Config::new(home.path().join("index"), vec![root]);
    Indexer::open(&config).unwrap().sync().unwrap();
    let file = fs::metadata(config.index_dir.join(CATALOGUE)).unwrap();
    let locks = || {
        let all = fs::read_to_string("/proc/locks").unwrap();
        let of_file = format!(":{} ", file.ino());
        let of_us = format!(" {} ", std::process::id());
        all.lines()
            .filter(|lock| lock.contains(&of_file) && lock.contains(&of_us))
            .count()
    };
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    index.list(&ListScope::default()).unwrap();
    assert!(locks() > 0);
    drop(Indexer::open(&config).unwrap());
    assert!(locks() > 0);
    drop(index);
    assert_eq!(locks(), 0);
}

/// SQLite takes any bytes for text.
#[test]
fn bytes_that_are_no_text_are_damage_that_is_mended() {
    let home = Sandbox::new();
    let lines = "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}\n\
        {\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"please\"}}\n";
    home.write(".pi/agent/sessions/--w--/1.jsonl", lines);
    let index = home.home.join("index");
    let named = index.to_str().unwrap();
    let asked = |arguments: &[&str]| {
        let output = home.output(&[&["--index", named], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let out = without_backlog_counts(output.stdout);
        (output.status.code(), out, said)
    };
    asked(&["sync"]);
    for (damage, question) in [
        (
            "UPDATE _rows SET json = CAST(x'7bff' AS TEXT)",
            &["list", "--all", "--json"][..],
        ),
        (
            "UPDATE _sessions SET cwd = CAST(x'2fff' AS TEXT)",
            &["search", "--json", "agent:pi please"],
        ),
        (
            "UPDATE _entries SET kind = CAST(x'ff' AS TEXT)",
            &["tree", "s1", "--json"],
        ),
    ] {
        let (_, expected, _) = asked(question);
        let catalogue = Connection::open(index.join(CATALOGUE)).unwrap();
        assert!(catalogue.execute(damage, []).unwrap() > 0);
        drop(catalogue);
        let (code, answer, said) = asked(question);
        assert_eq!(code, Some(0), "{damage}: {said}");
        assert!(said.contains(REBUILT), "{damage}: {said}");
        assert_eq!(answer, expected, "{damage}");
        assert!(!asked(question).2.contains(REBUILT), "{damage}");
    }
}

/// What a list prints of a row as it stands is read by nobody before.
#[test]
fn a_flipped_bit_in_a_row_of_a_list_is_damage_that_is_mended() {
    let place = Place::new();
    let lists = [
        &["list", "--all", "--json"][..],
        &["list", "--all", "--jsonl"],
        &["list", "--all"],
    ];
    let expected = lists.map(|list| place.ask(&place.whole, list).1);
    let row = {
        let catalogue = Connection::open(place.whole.join(CATALOGUE)).unwrap();
        let first = "SELECT session, json FROM _rows ORDER BY session LIMIT 1";
        let row = catalogue.query_row(first, [], |r| Ok((r.get(0)?, r.get(1)?)));
        let row: (i64, String) = row.unwrap();
        row
    };
    for at in 0..9 {
        let index = place.home.home.join(format!("row{at}"));
        copy_all(&place.whole, &index);
        let (session, mut json) = (row.0, row.1.clone().into_bytes());
        let place_of = at * (json.len() - 1) / 8;
        // It stays ASCII text, and mostly JSON.
        json[place_of] ^= 1 << (at % 3);
        let catalogue = Connection::open(index.join(CATALOGUE)).unwrap();
        let flip = "UPDATE _rows SET json = CAST(?1 AS TEXT) WHERE session = ?2";
        assert_eq!(catalogue.execute(flip, (json, session)).unwrap(), 1);
        drop(catalogue);
        let when = format!("bit {} of byte {place_of}", at % 3);
        let (code, out, said) = place.ask(&index, lists[at % 3]);
        assert_eq!(code, Some(0), "{when}: {said}");
        assert!(said.contains(REBUILT), "{when}: {said}");
        assert_eq!(
            String::from_utf8_lossy(&out),
            String::from_utf8_lossy(&expected[at % 3]),
            "{when}"
        );
        assert!(
            !place.ask(&index, lists[at % 3]).2.contains(REBUILT),
            "{when}"
        );
    }
}
