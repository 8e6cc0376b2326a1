//! Does `verify` notice when the stores say something else than the files?

use std::fs;
use std::ops::Bound;
use std::path::Path;
use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::Connection;
use rusqlite::types::Value;
use sessionary::model::Verification;
use sessionary::{Config, Freshness, GENERATION, Index, Indexer};
use tantivy::Term;
use tantivy::query::RangeQuery;

use super::dump::{clean, root};
use super::lines;

const DAMAGES: usize = 200;

/// What no file can contradict: columns that `verify` leaves alone, and why.
const NOT_HELD: [(&str, &[&str], &str); 8] = [
    (
        "_changes",
        &["seq", "session", "what", "id", "path"],
        "the feed tells of the past",
    ),
    (
        "_store",
        &[
            "id",
            "last_batch",
            "last_scan_ms",
            "entries_gone",
            "index_id",
            "zone",
            "archive",
            "archive_changes",
        ],
        "counters, clock and time zone of the index itself",
    ),
    (
        "_roots",
        &[
            "device",
            "inode",
            "current",
            "error",
            "full_scan_ms",
            "folders_revision",
            "archive",
            "archive_forgets",
            "is_kept",
        ],
        "what the last scan met",
    ),
    (
        "_sources",
        &[
            "device", "inode", "size", "mtime_ns", "ctime_ns", "racy", "revision", "unread",
            "unproven", "is_kept",
        ],
        "another value only makes the next sync read the file again",
    ),
    (
        "_checkpoints",
        &["turn"],
        "another value only makes the next sync read all rows of the session",
    ),
    (
        "_folders",
        &["seal"],
        "another value only makes the next look read the directory",
    ),
    (
        "_sessions",
        &["next_arrival"],
        "gaps between arrivals are allowed",
    ),
    (
        "_outbox",
        &["bytes", "newest_ms"],
        "the size and order of work that is owed",
    ),
];

struct Column {
    name: String,
    of_type: String,
    is_key: bool,
}

fn columns(connection: &Connection, table: &str) -> Vec<Column> {
    let mut statement = connection
        .prepare(&format!("PRAGMA table_info({table})"))
        .unwrap();
    let rows = statement.query_map([], |r| {
        Ok(Column {
            name: r.get(1)?,
            of_type: r.get(2)?,
            is_key: r.get::<_, i64>(5)? > 0,
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

fn random_row(
    connection: &Connection,
    table: &str,
    columns: &[Column],
    rng: &mut ChaCha8Rng,
) -> Option<Vec<Value>> {
    let mut statement = connection
        .prepare(&format!("SELECT * FROM {table}"))
        .unwrap();
    let rows: Vec<Vec<Value>> = statement
        .query_map([], |r| (0..columns.len()).map(|at| r.get(at)).collect())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    rows.choose(rng).cloned()
}

fn other(value: &Value, of_type: &str) -> Value {
    match value {
        Value::Null if of_type == "TEXT" => Value::Text("planted".into()),
        Value::Null if of_type == "REAL" => Value::Real(1.5),
        Value::Null => Value::Integer(1),
        Value::Integer(0) => Value::Integer(1),
        Value::Integer(number) => Value::Integer(number ^ 1),
        Value::Real(number) => Value::Real(number + 0.001),
        Value::Text(text) => Value::Text(format!("{text}x")),
        Value::Blob(bytes) => Value::Blob(
            bytes
                .iter()
                .enumerate()
                .map(|(at, b)| if at == 0 { b ^ 1 } else { *b })
                .collect(),
        ),
    }
}

/// One random damage to the catalogue; `None` when it could not be done.
fn damage_catalogue(path: &Path, rng: &mut ChaCha8Rng) -> Option<String> {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch("PRAGMA foreign_keys = OFF")
        .unwrap();
    let tables: Vec<String> = connection
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '\\_%' ESCAPE '\\'",
        )
        .unwrap()
        .query_map([], |r| r.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let table = tables.choose(rng)?;
    let all = columns(&connection, table);
    let spared = NOT_HELD
        .iter()
        .find(|(of, ..)| of == table)
        .map_or(&[][..], |(_, columns, _)| columns);
    let row = random_row(&connection, table, &all, rng)?;
    let keys: Vec<usize> = (0..all.len()).filter(|at| all[*at].is_key).collect();
    let here: Vec<String> = keys
        .iter()
        .map(|at| format!("{} IS ?{}", all[*at].name, at + 1))
        .collect();
    let here = here.join(" AND ");
    let bind = |statement: &str, row: &[Value]| {
        let mut prepared = connection.prepare(statement).ok()?;
        // Parameters are numbered by column; those a statement does not name are not bound.
        for (at, value) in row.iter().enumerate().take(prepared.parameter_count()) {
            prepared.raw_bind_parameter(at + 1, value).ok()?;
        }
        (prepared.raw_execute().ok()? == 1).then_some(())
    };
    let whole_table_is_spared = all
        .iter()
        .all(|column| spared.contains(&column.name.as_str()));
    match rng.random_range(0..4) {
        0 if !whole_table_is_spared => {
            bind(&format!("DELETE FROM {table} WHERE {here}"), &row)?;
            Some(format!("DELETE FROM {table}: {row:?}"))
        }
        // A root that is not asked for now may be in the index: it was asked for before.
        1 if !whole_table_is_spared && table != "_store" && table != "_roots" => {
            let mut row = row;
            for at in &keys {
                row[*at] = match &row[*at] {
                    Value::Integer(number) => Value::Integer(number + 7),
                    value => other(value, &all[*at].of_type),
                };
            }
            // Unique columns must differ as well, or the row is refused.
            for (at, column) in all.iter().enumerate() {
                if ["relative", "place", "path"].contains(&column.name.as_str())
                    && table != "_files"
                    && !column.is_key
                {
                    row[at] = other(&row[at], &column.of_type);
                }
            }
            let marks: Vec<String> = (1..=row.len()).map(|at| format!("?{at}")).collect();
            bind(
                &format!("INSERT INTO {table} VALUES ({})", marks.join(",")),
                &row,
            )?;
            Some(format!("INSERT INTO {table}: {row:?}"))
        }
        _ => {
            let at = rng.random_range(0..all.len());
            let column = &all[at];
            if spared.contains(&column.name.as_str()) {
                return None;
            }
            let planted = match rng.random_range(0..4) {
                0 if row[at] != Value::Null => Value::Null,
                _ => other(&row[at], &column.of_type),
            };
            let mut values = row.clone();
            values.push(planted.clone());
            // A key of several tables may be named by the old value only.
            bind(
                &format!(
                    "UPDATE {table} SET {} = ?{} WHERE {here}",
                    column.name,
                    values.len()
                ),
                &values,
            )?;
            Some(format!(
                "UPDATE {table}.{}: {:?} to {planted:?}",
                column.name, row[at]
            ))
        }
    }
}

/// Take the passages of an entry out of the words, as if they had never been given to them.
pub fn forget_passages(directory: &Path, key: u64) {
    let index = tantivy::Index::open_in_dir(directory).unwrap();
    let payload = index.load_metas().unwrap().payload.unwrap();
    let field = index.schema().get_field("key").unwrap();
    let mut writer: tantivy::IndexWriter = index.writer_with_num_threads(1, 20_000_000).unwrap();
    let term = Term::from_field_u64(field, key);
    writer
        .delete_query(Box::new(RangeQuery::new(
            Bound::Included(term.clone()),
            Bound::Included(term),
        )))
        .unwrap();
    let mut prepared = writer.prepare_commit().unwrap();
    prepared.set_payload(&payload);
    prepared.commit().unwrap();
    writer.wait_merging_threads().unwrap();
}

/// One random damage to the words.
fn damage_words(directory: &Path, rng: &mut ChaCha8Rng) -> Option<String> {
    // `.managed.json` only says which files may be deleted; lock files are empty.
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'))
        .collect();
    files.sort();
    let file = files.choose(rng)?;
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    match rng.random_range(0..3) {
        0 => {
            fs::remove_file(file).unwrap();
            Some(format!("{name} deleted"))
        }
        1 if name != "meta.json" => {
            let mut bytes = fs::read(file).unwrap();
            if bytes.is_empty() {
                return None;
            }
            // tantivy ends each file with a footer (JSON, its length, a magic number) that its
            // checksum does not cover; a flip there changes nothing that is read, or fails on
            // opening.
            let footer = bytes.len().checked_sub(8).map_or(0, |at| {
                u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
                    as usize
                    + 8
            });
            let body = bytes.len().saturating_sub(footer);
            if body == 0 {
                return None;
            }
            let at = rng.random_range(0..body);
            bytes[at] ^= 1 << rng.random_range(0..8);
            fs::write(file, bytes).unwrap();
            Some(format!("a bit of byte {at} of {name}"))
        }
        _ => {
            let index = tantivy::Index::open_in_dir(directory).unwrap();
            let reader = index.reader().unwrap();
            let searcher = reader.searcher();
            let segment = searcher.segment_readers().choose(rng)?;
            let doc = segment
                .doc_ids_alive()
                .nth(rng.random_range(0..segment.num_docs()) as usize)?;
            let value = segment.fast_fields().u64("key").unwrap().first(doc)?;
            forget_passages(directory, value);
            Some(format!("the passages of entry {value} deleted"))
        }
    }
}

pub fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn verify_reports_every_planted_damage() {
    let seeds = super::seeds(11, 3, "SESSIONARY_DAMAGES");
    let at_once = std::thread::available_parallelism().map_or(2, |n| n.get());
    let mut missed = Vec::new();
    for seeds in seeds.chunks(at_once) {
        std::thread::scope(|scope| {
            let running: Vec<_> = seeds
                .iter()
                .map(|seed| scope.spawn(|| plant(*seed)))
                .collect();
            for seed in running {
                missed.extend(seed.join().unwrap());
            }
        });
    }
    assert!(missed.is_empty(), "not reported:\n{}", missed.join("\n"));
}

/// Plants damages, each in a copy of a clean index. Gives back those that `verify` did not report.
fn plant(seed: u64) -> Vec<String> {
    println!("SESSIONARY_SEED={seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let place = tempfile::tempdir().unwrap();
    for (agent, file) in [
        ("pi", "--w--/one.jsonl"),
        ("pi", "--w--/two.jsonl"),
        ("pi", "--v--/empty.jsonl"),
        ("clido", "--w--/c.jsonl"),
        ("claude", "--w--/d.jsonl"),
        (
            "codex",
            "2026/01/05/rollout-2026-01-05T09-00-00-019b8d5e-7c80-7000-8000-0000000000aa.jsonl",
        ),
        (
            "copilot",
            "00000000-0000-4000-8000-000000000001/events.jsonl",
        ),
        ("cursor", "w/agent-transcripts/one/one.jsonl"),
        ("gemini", "w/chats/session-2026-01-05T09-00-00000001.jsonl"),
        ("qwen", "w/chats/00000000-0000-4000-8000-000000000001.jsonl"),
        ("openclaw", "main/sessions/one.jsonl"),
        ("induscode", "--w--/01KE6P0000000000000000000A.ndjson"),
        ("pi", "notes.txt"),
    ] {
        let path = place.path().join(agent).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut bytes = Vec::new();
        for id in 0..if file.contains("empty") { 0 } else { 25 } {
            bytes.extend(match agent {
                "pi" | "openclaw" => lines::pi(&mut rng, id),
                "claude" => lines::claude(&mut rng, id),
                "codex" => lines::codex(&mut rng, id),
                "copilot" => lines::copilot(&mut rng, id),
                "cursor" => lines::cursor(&mut rng, id),
                "induscode" => lines::induscode(&mut rng, id),
                "gemini" => lines::gemini(&mut rng, id),
                "qwen" => lines::qwen(&mut rng, id),
                _ => lines::clido(&mut rng, id),
            });
            bytes.push(b'\n');
        }
        fs::write(path, bytes).unwrap();
    }
    // Only directories whose files are old enough vouch for what is stored of them.
    std::thread::sleep(Duration::from_millis(100));
    let agents = [
        "pi",
        "clido",
        "claude",
        "codex",
        "copilot",
        "cursor",
        "gemini",
        "qwen",
        "openclaw",
        "induscode",
    ];
    let roots = agents.map(|agent| root(agent, agent, &place.path().join(agent)));
    let config = Config::new(place.path().join("index"), roots.to_vec());
    Indexer::open(&config).unwrap().sync().unwrap();
    clean(
        &Index::open(&config, Freshness::AsCommitted).unwrap(),
        "undamaged",
    );

    let (mut planted, mut missed) = (0, Vec::new());
    for trial in 0..20 * DAMAGES {
        if planted == DAMAGES {
            break;
        }
        let damaged = place.path().join(format!("damaged{trial}"));
        copy_all(&config.index_dir, &damaged);
        let generation = damaged.join(format!("v{GENERATION}"));
        let done = if rng.random_ratio(1, 6) {
            damage_words(&generation.join("words"), &mut rng)
        } else {
            damage_catalogue(&generation.join("catalogue.sqlite"), &mut rng)
        };
        if let Some(what) = done {
            planted += 1;
            let config = Config {
                index_dir: damaged.clone(),
                ..config.clone()
            };
            let found =
                Index::open(&config, Freshness::AsCommitted).and_then(|index| index.verify());
            // A root that is asked for and not known is read by the next look, and a wipe that is
            // owed is done by it.
            let is_mended = ["UPDATE _roots.", "UPDATE _store.wipe:"];
            let is_mended = is_mended.iter().any(|start| what.starts_with(start));
            let is_silent = |found: Verification| {
                let is_behind = is_mended && !found.behind.is_empty();
                found.differences.is_empty() && !is_behind
            };
            if found.is_ok_and(is_silent) {
                missed.push(format!("SESSIONARY_SEED={seed}: {what}"));
            }
        }
        fs::remove_dir_all(&damaged).unwrap();
    }
    println!(
        "SESSIONARY_SEED={seed}: {planted} damages planted, {} missed",
        missed.len()
    );
    assert_eq!(planted, DAMAGES, "SESSIONARY_SEED={seed}");
    missed
}
