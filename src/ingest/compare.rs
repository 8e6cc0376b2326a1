//! One source read anew, as if never seen, and held against its rows.

use std::path::Path;

use super::plan::Plan;
use super::reading::{Cost, read_source};
use crate::catalogue::entries::Children;
use crate::catalogue::read::Known;
use crate::catalogue::write::{Chunk, EntryRow, flag};
use crate::catalogue::{Catalogue, Error};
use crate::format::Format;
use crate::model::{Class, Part};
use crate::source::identity::Identity;

/// What the comparison found.
#[derive(Default)]
pub struct Comparison {
    /// Bytes read.
    pub bytes_read: u64,
    /// Entries in the file.
    pub entries: u64,
    /// The passages that the words must have, by key.
    pub passages: Vec<(u64, Class)>,
    /// What differs.
    pub differences: Vec<String>,
    /// Why the file could not be read, though it is there.
    pub unread: Option<String>,
}

/// Read `path` and compare it with what is stored of it.
pub fn compare_source(
    catalogue: &Catalogue,
    root: i64,
    path: &Path,
    known: &Known,
    format: &dyn Format,
) -> Result<Comparison, Error> {
    let mut result = Comparison::default();
    let plan = Plan {
        root,
        path: path.to_path_buf(),
        relative: &known.relative,
        place: &known.relative,
        part: Part::Main,
        unlisted: known.unlisted.clone(),
        format,
        known: None,
        checkpoint: None,
        size: 0,
        mtime_ns: 0,
    };
    let mut chunks: Vec<Chunk<Vec<EntryRow>>> = Vec::new();
    let mut cost = Cost::default();
    match read_source(&plan, None, &mut Vec::new(), &mut cost, &mut |chunk, _| {
        chunks.push(chunk)
    }) {
        Ok(_) => {}
        Err(error) => {
            match error.kind() {
                std::io::ErrorKind::NotFound => {
                    result.differences.push(format!("cannot be read: {error}"));
                }
                _ => result.unread = Some(error.to_string()),
            }
            return Ok(result);
        }
    }
    result.bytes_read = cost.bytes_read;
    let observed = chunks.last().map(|c| c.identity).unwrap_or_default();
    let same = Identity {
        ctime_ns: 0,
        ..observed
    } == Identity {
        ctime_ns: 0,
        ..known.stored.identity
    };
    let stored = catalogue.entries_of_source(known.source)?;
    let problems = catalogue.problems(known.source)?;
    let entries: Vec<_> = chunks.iter().flat_map(|c| &c.entries).collect();
    result.entries = entries.len() as u64;
    tiles(&chunks, path, &mut result);
    if stored.len() != entries.len() {
        let when = if same {
            ""
        } else {
            " (the file changed since the last sync)"
        };
        result.differences.push(format!(
            "{} entries in the file, {} rows{when}",
            entries.len(),
            stored.len()
        ));
    }
    for (row, entry) in stored.iter().zip(&entries) {
        let f = &entry.facts;
        let equal = row.start == entry.start
            && row.length == entry.length
            && row.line == entry.line
            && row.hash == entry.hash
            && row.kind == f.kind
            && row.role == f.role
            && row.id == f.id
            && row.parent == f.parent
            && row.time_ms == f.time_ms
            && row.agent_sees == f.agent_sees
            && row.flags == entry.flags
            && row.stop_reason == f.stop_reason;
        if !equal {
            result.differences.push(format!(
                "line {}: the row differs from the entry at byte {}",
                entry.line, entry.start
            ));
        }
        let children = catalogue.children(row.key)?;
        if children != Children::of(f) {
            result.differences.push(format!(
                "line {}: calls, usage, files, label, compaction or run differ",
                entry.line
            ));
        }
    }
    let fresh: Vec<_> = chunks.iter().flat_map(|c| &c.problems).collect();
    let equal = fresh.len() == problems.len()
        && fresh.iter().zip(&problems).all(|(a, b)| {
            (a.start, a.length, a.provisional, &a.reason)
                == (b.start, b.length, b.provisional, &b.reason)
        });
    if !equal {
        result.differences.push(format!(
            "{} problems in the file, {} rows, or others",
            fresh.len(),
            problems.len()
        ));
    }
    if let Some(last) = chunks.last() {
        let fold = serde_json::to_string(&last.fold).unwrap_or_default();
        let checkpoint = catalogue.checkpoint(known.source)?;
        if checkpoint.as_ref().is_none_or(|c| c.fold != fold) {
            result.differences.push("the saved fold differs".into());
        }
        if last.consumed != known.stored.consumed
            || checkpoint.is_none_or(|c| c.proof != last.proof)
        {
            result.differences.push("the checkpoint differs".into());
        }
        if let Some(what) = catalogue.session_differs(known.source, format, &last.shown)? {
            result.differences.push(what);
        }
    }
    if same || stored.len() == entries.len() {
        passages(path, format, &stored, &mut result);
    }
    Ok(result)
}

/// Entries, problems and separators tile the file exactly.
fn tiles(chunks: &[Chunk<Vec<EntryRow>>], path: &Path, result: &mut Comparison) {
    let Ok(bytes) = std::fs::read(path) else {
        return;
    };
    let mut ranges: Vec<(u64, u64)> = chunks
        .iter()
        .flat_map(|c| {
            c.entries
                .iter()
                .map(|e| (e.start, e.length))
                .chain(c.problems.iter().map(|p| (p.start, p.length)))
        })
        .collect();
    ranges.sort_unstable();
    let mut at = 0;
    let size = bytes.len() as u64;
    for (start, length) in ranges.into_iter().chain([(size, 0)]) {
        if start < at || start + length > size {
            result.differences.push(format!(
                "byte {start} is accounted for twice, or not in the file"
            ));
            return;
        }
        let gap = &bytes[at as usize..start as usize];
        let blank = String::from_utf8_lossy(gap)
            .chars()
            .all(|c| crate::format::json::trim(c.encode_utf8(&mut [0; 4])).is_empty());
        if !blank {
            result.differences.push(format!(
                "bytes {at} to {start} are accounted for by nothing"
            ));
        }
        at = start + length;
    }
}

fn passages(
    path: &Path,
    format: &dyn Format,
    stored: &[crate::catalogue::entries::StoredEntry],
    result: &mut Comparison,
) {
    let Ok(bytes) = std::fs::read(path) else {
        return;
    };
    for row in stored.iter().filter(|r| r.flags & flag::PROVISIONAL == 0) {
        let Some(record) = bytes.get(row.start as usize..(row.start + row.length) as usize) else {
            continue;
        };
        result.passages.extend(
            format
                .passages_at(path, record)
                .into_iter()
                .map(|p| (row.key as u64, p.class)),
        );
    }
}
