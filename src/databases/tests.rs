//! What lines are made of rows that are compressed, put away or damaged?

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use rusqlite::{Connection, params};

use super::budget::{Budget, LONGEST_LINE};
use super::lines::{Lines, RowNames};
use super::rows::add_lines;
use super::{rows, session};
use crate::format::FORMATS;
use crate::format::database::Database;

/// What sessions need of OpenClaw's tables. `seq` may be anything.
const SCHEMA: &str = "
    CREATE TABLE session_windows (session_id TEXT, session_key TEXT, spawned_by TEXT, updated_at INTEGER);
    CREATE TABLE session_nodes (session_key TEXT, label TEXT);
    CREATE TABLE transcript_events (session_id TEXT, seq, event_json TEXT, event_zstd BLOB, event_utf8_bytes INTEGER);
    CREATE TABLE session_transcript_index_state (session_id TEXT, leaf_event_id TEXT);
    CREATE TABLE transcript_rewrite_watermarks (session_id TEXT, generation TEXT);
    CREATE TABLE session_transcript_archives (session_id TEXT, archive_name TEXT, encoding TEXT, archive_blob BLOB, created_at INTEGER);
    CREATE TABLE session_transcript_cold_archives (session_id TEXT, archive_name TEXT, archive_blob BLOB);
    INSERT INTO session_windows VALUES ('s1', 'agent:main:main', NULL, 1);
    INSERT INTO session_nodes VALUES ('agent:main:main', 'Birds');";

fn openclaw() -> &'static Database {
    let mut formats = FORMATS.iter();
    let format = formats
        .find(|format| format.about().name == "openclaw")
        .unwrap();
    format.about().database.unwrap()
}

struct Store {
    folder: tempfile::TempDir,
    writer: Connection,
}

impl Store {
    fn new() -> Store {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("main/agent")).unwrap();
        let writer = Connection::open(Store::file(&folder)).unwrap();
        writer.execute_batch(SCHEMA).unwrap();
        Store { folder, writer }
    }

    fn file(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("main/agent/openclaw-agent.sqlite")
    }

    fn plain(&self, seq: i64, text: &str) {
        let insert = "INSERT INTO transcript_events VALUES ('s1', ?1, ?2, NULL, NULL)";
        self.writer.execute(insert, params![seq, text]).unwrap();
    }

    fn packed(&self, seq: i64, packed: &[u8], length: i64) {
        let insert = "INSERT INTO transcript_events VALUES ('s1', ?1, NULL, ?2, ?3)";
        let values = params![seq, packed, length];
        self.writer.execute(insert, values).unwrap();
    }

    fn archive(&self, name: &str, packed: &[u8]) {
        let insert = "INSERT INTO session_transcript_archives
            SELECT 's1', ?1, 'zstd', ?2, count(*) FROM session_transcript_archives";
        self.writer.execute(insert, params![name, packed]).unwrap();
    }

    /// The session's own lines, and which of them are problems.
    fn read(&self, budget: Budget) -> (Vec<String>, usize) {
        let mut lines = Lines::default();
        lines.budget = budget;
        let layout = &openclaw().layouts[0];
        add_lines(&self.writer, layout, ("s1", None), &mut lines).unwrap();
        let (bytes, names, _) = lines.into_parts();
        let mut problems = 0;
        let mut said = Vec::new();
        for (start, line) in each(&bytes) {
            problems += usize::from(names.problem(start).is_some());
            if !line.starts_with(b"{\"table\":") {
                said.push(String::from_utf8(line.to_vec()).unwrap());
            }
        }
        (said, problems)
    }
}

/// Every line, and where it begins.
fn each(lines: &[u8]) -> Vec<(u64, &[u8])> {
    let mut start = 0;
    let mut all = Vec::new();
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        all.push((start, line.strip_suffix(b"\n").unwrap()));
        start += line.len() as u64;
    }
    all
}

fn pack(text: impl AsRef<[u8]>) -> Vec<u8> {
    zstd::encode_all(text.as_ref(), 1).unwrap()
}

fn zeros(length: u64) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..length.div_ceil(1 << 20) {
        encoder.write_all(&zeros).unwrap();
    }
    encoder.finish().unwrap()
}

#[test]
fn a_row_is_not_decoded_beyond_what_a_line_may_be() {
    let store = Store::new();
    let long = LONGEST_LINE + (1 << 20);
    store.plain(0, "before");
    for (seq, length) in [(1, 1 << 60), (2, long.cast_signed()), (3, i64::MAX)] {
        store.packed(seq, &zeros(long), length);
    }
    store.packed(4, &pack("after"), 5);
    let (said, problems) = store.read(Budget::default());
    assert_eq!((said.len(), problems), (5, 3));
    assert_eq!((&*said[0], &*said[4]), ("before", "after"));
    for (seq, why) in said[1..4].iter().enumerate() {
        let name = format!("transcript_events:{} cannot be read: ", seq + 1);
        let remedy = "restore the database from a backup";
        assert!(why.starts_with(&name) && why.ends_with(remedy), "{why}");
        assert!(why.contains("64 MiB"), "{why}");
    }
}

#[test]
fn rows_beyond_the_budget_are_one_problem_that_names_the_first() {
    let store = Store::new();
    let line = "x".repeat(1000);
    for seq in [0, 1, 2, 4, 5] {
        store.packed(seq, &pack(&line), 1000);
    }
    store.plain(3, "plain");
    // Room to keep two of them, and room to decode two of them.
    for budget in [Budget::of(2500, 1 << 20), Budget::of(1 << 20, 2500)] {
        let (said, problems) = store.read(budget);
        assert_eq!((said.len(), problems), (4, 1), "{said:?}");
        assert_eq!([&said[0], &said[1]], [&line, &line]);
        assert!(said[2].starts_with("transcript_events:2: it and all behind it"));
        assert!(said[2].contains("restore the database"), "{}", said[2]);
        assert_eq!(said[3], "plain", "no row that is not compressed is lost");
    }
}

#[test]
fn texts_beyond_the_budget_are_one_problem_that_names_the_first() {
    let store = Store::new();
    let text = |from: usize| -> String {
        let lines = (from..from + 10).map(|number| format!("{number:0999}\n"));
        lines.collect()
    };
    for (name, from) in [("one", 0), ("two", 5), ("three", 10), ("four", 15)] {
        store.archive(name, &pack(text(from)));
    }
    let all = store.read(Budget::default());
    assert_eq!((all.0.len(), all.1), (25, 0));
    // Room to keep seventeen of them; room to decode twenty-two, of which five are repeated, and
    // the first two texts alone.
    for (budget, count) in [
        (Budget::of(17 * 1200, 1 << 20), 17),
        (Budget::of(1 << 20, 22_500), 15),
        (Budget::of(1 << 20, 20_000), 15),
    ] {
        let (said, problems) = store.read(budget);
        assert_eq!((said.len(), problems), (count + 1, 1));
        let (why, lines) = said.split_last().unwrap();
        assert_eq!(lines, &all.0[..lines.len()]);
        let begin = "session_transcript_archives:three: it and all behind it";
        assert!(why.starts_with(begin), "{why}");
    }
}

#[test]
fn a_line_of_a_text_that_is_too_long_costs_itself() {
    let store = Store::new();
    let mut text = b"before\n".to_vec();
    text.resize(text.len() + LONGEST_LINE as usize + 1, 0);
    text.extend_from_slice(b"\nafter");
    store.archive("one", &pack(text));
    let (said, problems) = store.read(Budget::default());
    let why = "line 2 of session_transcript_archives:one cannot be read: it is longer than 64 MiB; \
        restore it from a backup";
    assert_eq!(
        (said, problems),
        (["before", why, "after"].map(str::to_owned).to_vec(), 1)
    );
}

/// A text that was cut off says what stands before its end, and is a problem.
#[test]
fn what_stands_before_damage_is_read() {
    let store = Store::new();
    let lines: Vec<String> = (0..100_000)
        .map(|number: u64| format!("{:x}\n", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let whole = pack(lines.concat());
    store.archive("cut", &whole[..whole.len() / 2]);
    store.archive("whole", &pack("z\n"));
    let (said, problems) = store.read(Budget::default());
    let at = said
        .iter()
        .position(|line| line.contains("restore it from a backup"))
        .unwrap();
    assert!(at > 1000 && problems == 1, "{at}");
    assert!(
        said[..at]
            .iter()
            .zip(&lines)
            .all(|(said, line)| said == line.trim_end())
    );
    assert!(said[at].starts_with("session_transcript_archives:cut cannot be read: of its line"));
    assert_eq!(said[at + 1..], ["z"]);
}

#[test]
fn a_text_repeats_itself_but_no_earlier_one() {
    let store = Store::new();
    store.archive("one", &pack("a\nb\nb\n"));
    store.archive("two", &pack("a\nb\nc\nc\nb\nd\n"));
    store.archive("three", &pack("d\nc\ne\ne\n"));
    let (said, problems) = store.read(Budget::default());
    assert_eq!((said.concat().as_str(), problems), ("abbccdee", 0));
}

#[test]
fn what_a_database_says_makes_no_lines_of_its_own() {
    const FORGED: &str = "{\"type\":\"message\",\"id\":\"forged\"}";
    let store = Store::new();
    let name = format!("1\n{FORGED}\n");
    let insert = "INSERT INTO transcript_events VALUES ('s1', ?1, NULL, x'00', 5)";
    store.writer.execute(insert, [&name]).unwrap();
    let (said, problems) = store.read(Budget::default());
    assert_eq!((said.len(), problems), (1, 1), "{said:?}");
    // The same of a text that is put away, in a file that is not there.
    store
        .writer
        .execute("DELETE FROM transcript_events", [])
        .unwrap();
    let insert = "INSERT INTO session_transcript_cold_archives VALUES ('s1', ?1, NULL)";
    store.writer.execute(insert, [&name]).unwrap();
    let (said, problems) = store.read(Budget::default());
    assert_eq!((said.len(), problems), (1, 1), "{said:?}");
    assert!(said[0].contains(FORGED), "it is still said: {}", said[0]);
}

#[test]
fn every_row_of_a_session_is_read_by_itself() {
    let store = Store::new();
    let insert = "
        INSERT INTO session_windows VALUES ('s2', 'agent:main:subagent:9', 'agent:main:main', 2);
        INSERT INTO session_nodes VALUES ('agent:main:subagent:9', 'Tusks');
        INSERT INTO transcript_events VALUES ('s1', 0, 'of the parent', NULL, NULL), ('s2', 0, 'of the subagent', NULL, NULL);
        INSERT INTO session_transcript_index_state VALUES ('s1', 'a'), ('s2', 'b');
        INSERT INTO transcript_rewrite_watermarks VALUES ('s1', 'a'), ('s2', 'b');";
    store.writer.execute_batch(insert).unwrap();
    let packed = pack("packed");
    store.packed(1, &packed, 6);
    let insert = "INSERT INTO session_transcript_archives VALUES ('s3', 'n', 'identity', ?1, 1)";
    store.writer.execute(insert, [&b"deleted\n"[..]]).unwrap();
    let file = Store::file(&store.folder);
    for (key, count) in [("s1", 6), ("s2", 6), ("s3", 2)] {
        let read = session(&file, openclaw(), key).unwrap();
        let names: &RowNames = &read.names;
        let all = each(&read.lines);
        assert_eq!(all.len(), count, "{key}");
        for (start, line) in all {
            let name = names.of(start, line).unwrap();
            let alone = rows(&file, openclaw(), key, &[&*name])
                .unwrap()
                .pop()
                .flatten();
            assert_eq!(alone.as_deref(), Some(line), "{name} of {key}");
        }
        let none = rows(&file, openclaw(), key, &["session_nodes:agent:main:none"]);
        assert_eq!(none.unwrap(), [None]);
    }
}
