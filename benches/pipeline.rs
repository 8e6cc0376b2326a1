//! How long does it take on this machine from a write() to a row, when nothing is done but that?
//!
//! The pipeline that the targets of a live watcher were set by: `notify` tells of the file, the new
//! bytes are read, the line is parsed, and one transaction holds its row, the offset and a row of
//! the outbox. On the machine where the targets were set its median was 0.167 ms.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher};
use rusqlite::{Connection, params};
use serde::Deserialize;

use crate::Result;

/// Its median where the targets were set.
pub const THERE_MS: f64 = 0.167;

#[derive(Deserialize)]
struct Line<'l> {
    #[serde(rename = "type")]
    kind: &'l str,
    id: &'l str,
    #[serde(rename = "parentId")]
    parent: Option<&'l str>,
    timestamp: &'l str,
}

/// A file, a database, and a thread that brings the one into the other.
pub struct Pipeline {
    file: File,
    size: u64,
    reader: Connection,
    /// Dropped first: then the thread ends.
    watcher: Option<notify::RecommendedWatcher>,
    thread: Option<JoinHandle<()>>,
}

impl Pipeline {
    /// In a folder of its own.
    pub fn start(folder: &Path) -> Result<Pipeline> {
        let watched = folder.join("watched");
        fs::create_dir_all(&watched)?;
        let (path, database) = (watched.join("one.jsonl"), folder.join("rows.sqlite"));
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        let writer = Connection::open(&database)?;
        writer.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             CREATE TABLE entries (key INTEGER PRIMARY KEY, start INTEGER, length INTEGER, kind TEXT, id TEXT, parent TEXT, time TEXT);
             CREATE TABLE files (file INTEGER PRIMARY KEY, consumed INTEGER);
             CREATE TABLE outbox (op INTEGER PRIMARY KEY AUTOINCREMENT, first INTEGER, last INTEGER);
             INSERT INTO files VALUES (1, 0);",
        )?;
        let (told, hints) = channel();
        let mut watcher = notify::recommended_watcher(move |event| {
            let _ = told.send(event);
        })?;
        watcher.watch(&watched, RecursiveMode::NonRecursive)?;
        let mut source = File::open(&path)?;
        let thread = spawn(move || {
            let mut consumed = 0;
            while hints.recv().is_ok() {
                while hints.try_recv().is_ok() {}
                follow(&writer, &mut source, &mut consumed).expect("the pipeline of the benchmark");
            }
        });
        Ok(Pipeline {
            file,
            size: 0,
            reader: Connection::open(&database)?,
            watcher: Some(watcher),
            thread: Some(thread),
        })
    }

    /// Append a line, and wait until another connection sees its row.
    pub fn append(&mut self, line: &str) -> Result<Duration> {
        self.size += line.len() as u64;
        let mut consumed = self
            .reader
            .prepare_cached("SELECT consumed FROM files WHERE file = 1")?;
        let written = Instant::now();
        self.file.write_all(line.as_bytes())?;
        while consumed.query_row([], |r| r.get::<_, i64>(0))? < self.size as i64 {
            if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                return Err("the pipeline of the benchmark has ended".into());
            }
        }
        Ok(written.elapsed())
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.watcher = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn follow(writer: &Connection, source: &mut File, consumed: &mut u64) -> Result<()> {
    let mut bytes = Vec::new();
    source.seek(SeekFrom::Start(*consumed))?;
    source.read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        return Ok(());
    }
    writer.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let start = *consumed;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let entry: Line<'_> = serde_json::from_slice(line)?;
        let mut insert = writer.prepare_cached(
            "INSERT INTO entries (start, length, kind, id, parent, time) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        insert.execute(params![
            *consumed as i64,
            line.len() as i64,
            entry.kind,
            entry.id,
            entry.parent,
            entry.timestamp
        ])?;
        *consumed += line.len() as u64;
    }
    writer
        .prepare_cached("UPDATE files SET consumed = ?1 WHERE file = 1")?
        .execute([*consumed as i64])?;
    writer
        .prepare_cached("INSERT INTO outbox (first, last) VALUES (?1, ?2)")?
        .execute([start as i64, *consumed as i64])?;
    writer.prepare_cached("COMMIT")?.execute([])?;
    Ok(())
}
