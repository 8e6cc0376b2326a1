//! The entries that a search reads itself: no more of each than it asks for.

use std::ops::{Range, RangeInclusive};

use rusqlite::params;

use super::entries::in_file;
use super::entries::{ENTRY, SEARCHED, StoredEntry, stored_entry};
use super::error::Error;
use super::open::Catalogue;
use super::read::{LOCATION, location};
use super::write::{flag, key_range};
use crate::source::content::Location;
use crate::source::identity::Identity;

/// Entries of one session in one source that lie near each other, keys `first..=last`, all within
/// the bytes `start..end`.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct BacklogRange {
    pub source: i64,
    pub first: i64,
    pub last: i64,
    pub start: u64,
    pub end: u64,
    pub path: Location,
    pub format: String,
    /// The identity of the source when it was read; `None` when the file may have changed without a
    /// new identity.
    pub identity: Option<Identity>,
}

/// An entry's place in its source, and the facts that searches filter by.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct BacklogRow<'a> {
    pub key: i64,
    pub start: u64,
    pub length: u64,
    pub hash: u64,
    pub searched_ms: Option<i64>,
    pub flags: i64,
    pub kind: &'a str,
    pub role: Option<&'a str>,
    /// It says why it ended.
    pub ended: bool,
    /// Of a row of a database which it is, `table:key`.
    pub row: Option<&'a str>,
}

impl Catalogue {
    /// Show the entries of one source whose keys lie in `first..=last`, by key.
    pub fn backlog_entries(
        &self,
        source: i64,
        first: i64,
        last: i64,
        mut each: impl FnMut(BacklogRow<'_>),
    ) -> Result<(), Error> {
        let sql = format!(
            "SELECT key, start, length, hash, {SEARCHED}, flags, kind, role, stop_reason IS NOT NULL, row
             FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3"
        );
        self.each(&sql, params![first, last, source], |row| {
            let kind = row.get_ref(6)?;
            let role = row.get_ref(7)?;
            let name = row.get_ref(9)?;
            each(BacklogRow {
                key: row.get(0)?,
                start: in_file(row.get(1)?),
                length: in_file(row.get(2)?),
                hash: row.get::<_, i64>(3)? as u64,
                searched_ms: row.get(4)?,
                flags: row.get(5)?,
                kind: kind.as_str()?,
                role: role.as_str_or_null()?,
                ended: row.get(8)?,
                row: name.as_str_or_null()?,
            });
            Ok(())
        })
    }

    /// Entries that are provisional: they live in the overlay only.
    pub fn provisional_entries(&self) -> Result<Vec<StoredEntry>, Error> {
        self.with(|c| {
            // They are of the last line of a source whose end is not consumed; one that grew while
            // it was read is racy.
            let mut unfinished = c.prepare_cached(
                "SELECT source, session FROM _sources CROSS JOIN _session_sources USING (source)
                 WHERE consumed < length OR racy",
            )?;
            // Entries of one source arrive in the order of its bytes: from the last one on until
            // one is not provisional. By any other way a search would read the whole session, or,
            // as the planner would have it, all entries.
            let mut last_of_source = c.prepare_cached(&format!(
                "SELECT {ENTRY} FROM _entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY key DESC"
            ))?;
            let mut provisional = Vec::new();
            let mut sources = unfinished.query([])?;
            while let Some(row) = sources.next()? {
                let (source, session): (i64, i64) = (row.get(0)?, row.get(1)?);
                let (first, last) = key_range(session);
                let entries = last_of_source.query_map([first, last, source], stored_entry)?;
                for entry in entries {
                    let entry = entry?;
                    if entry.flags & flag::PROVISIONAL == 0 {
                        break;
                    }
                    provisional.push(entry);
                }
            }
            Ok(provisional)
        })
    }

    /// Show everything: each session's part of each source, and of larger ones than `part` bytes
    /// stretches of about so many.
    pub fn stretches(&self, part: u64, mut each: impl FnMut(BacklogRange)) -> Result<(), Error> {
        self.with(|c| {
            let mut statement = c.prepare_cached(&format!(
                "SELECT source, session, next_arrival, r.format,
                        s.racy OR s.unproven, s.device, s.inode, s.size, s.mtime_ns, s.ctime_ns, s.length, {LOCATION}
                 FROM _session_sources JOIN _sessions USING (session)
                      JOIN _sources s USING (source) JOIN _roots r ON r.root = s.root"
            ))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (source, session): (i64, i64) = (row.get(0)?, row.get(1)?);
                let identity = Identity {
                    device: row.get(5)?,
                    inode: row.get(6)?,
                    size: row.get::<_, i64>(7)? as u64,
                    mtime_ns: row.get(8)?,
                    ctime_ns: row.get(9)?,
                };
                let length = in_file(row.get(10)?);
                let (path, format) = (location(row, 11)?, row.get(3)?);
                let known = (!row.get::<_, bool>(4)?).then_some(identity);
                let stretch = |keys: RangeInclusive<i64>, bytes: Range<u64>| BacklogRange {
                    source,
                    first: *keys.start(),
                    last: *keys.end(),
                    start: bytes.start,
                    end: bytes.end,
                    path: path.clone(),
                    format: String::clone(&format),
                    identity: known,
                };
                let (first, last) = key_range(session);
                if length <= part {
                    each(stretch(first..=last, 0..length));
                    continue;
                }
                // Entries are about as many everywhere in a file; where they are not, the stretches
                // are divided again.
                let arrivals: i64 = row.get(2)?;
                let step = (arrivals / length.div_ceil(part) as i64).max(1);
                let mut left: Vec<_> = (0..=arrivals / step)
                    .map(|at| first + at * step)
                    .map(|from| (from, (from + step - 1).min(last)))
                    .collect();
                while let Some((first, last)) = left.pop() {
                    let Some((bytes, entries)) = self.span(source, first, last)? else {
                        continue;
                    };
                    if bytes.end.saturating_sub(bytes.start) > 2 * part && entries > 1 {
                        let middle = first + (last - first) / 2;
                        left.extend([(first, middle), (middle + 1, last)]);
                    } else {
                        each(stretch(first..=last, bytes));
                    }
                }
            }
            Ok(())
        })
    }

    /// Within which bytes the entries of a source stand whose keys lie in `first..=last`, and how
    /// many there are.
    fn span(
        &self,
        source: i64,
        first: i64,
        last: i64,
    ) -> rusqlite::Result<Option<(Range<u64>, u64)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT min(start), max(start + length), count(*) FROM _entries
             WHERE key BETWEEN ?1 AND ?2 AND source = ?3",
        )?;
        statement.query_row(params![first, last, source], |row| {
            let of = |at| -> rusqlite::Result<Option<u64>> {
                Ok(row.get::<_, Option<i64>>(at)?.map(i64::cast_unsigned))
            };
            let bytes = of(0)?.zip(of(1)?).map(|(start, end)| start..end);
            Ok(bytes.zip(of(2)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use crate::format::FORMATS;
    use crate::ingest::catalogue_file;

    #[test]
    fn stretches_hold_every_entry_once_and_are_of_about_the_size_asked_for() {
        const PART: u64 = 10_000;
        let mut file = tempfile::NamedTempFile::with_suffix(".jsonl").unwrap();
        writeln!(file, r#"{{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}}"#).unwrap();
        for at in 0..2_000 {
            // Mostly small, some of many parts, and a crowd of them at the end.
            let length = match at {
                700 | 701 | 1_234 => 50_000,
                1_900.. => 3_000,
                _ => at % 90,
            };
            let text = "x".repeat(length);
            writeln!(file, r#"{{"type":"message","id":"e{at}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#).unwrap();
        }
        let (catalogue, _) = catalogue_file(file.path(), FORMATS)
            .unwrap()
            .unwrap()
            .unwrap();
        let mut stretches = Vec::new();
        catalogue
            .stretches(PART, |one| stretches.push(one))
            .unwrap();
        stretches.sort_by_key(|one| one.first);
        assert!(stretches.is_sorted_by(|a, b| a.last < b.first && a.end <= b.start));
        let mut entries = 0;
        for one in &stretches {
            let mut within = 0;
            let show = |row: super::BacklogRow<'_>| {
                assert!(one.start <= row.start && row.start + row.length <= one.end);
                within += 1;
            };
            catalogue
                .backlog_entries(one.source, one.first, one.last, show)
                .unwrap();
            assert!(within == 1 || one.end - one.start <= 2 * PART, "{one:?}");
            entries += within;
        }
        assert_eq!(entries, 2_001);
        assert!(stretches.len() < 120, "{}", stretches.len());
    }

    #[test]
    fn a_provisional_last_line_is_found_without_a_look_at_all_others() {
        const LINES: u32 = 5_000;
        let mut file = tempfile::NamedTempFile::with_suffix(".jsonl").unwrap();
        writeln!(file, r#"{{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}}"#).unwrap();
        let line = |id: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"x"}}}}"#
            )
        };
        for at in 0..LINES {
            writeln!(file, "{}", line(&format!("e{at}"))).unwrap();
        }
        // Two records in one line, and no end of it.
        write!(file, "{}{}", line("one"), line("two")).unwrap();
        let (mut catalogue, _) = catalogue_file(file.path(), FORMATS)
            .unwrap()
            .unwrap()
            .unwrap();
        let steps = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&steps);
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        };
        catalogue
            .connection
            .progress_handler(1, Some(count))
            .unwrap();
        let found = catalogue.provisional_entries().unwrap();
        let ids: Vec<_> = found
            .iter()
            .filter_map(|entry| entry.id.as_deref())
            .collect();
        assert_eq!(ids, ["two", "one"]);
        let steps = steps.load(Ordering::Relaxed);
        assert!(steps < LINES / 10, "{steps} steps");
    }
}
