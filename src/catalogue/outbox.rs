//! What do the words still lack? Batches make sure that a crash between the commits of the two
//! stores loses nothing.

use rusqlite::params;

use super::error::Error;
use super::insert::OUTBOX_BYTES;
use super::open::{Catalogue, step};
use super::write::ARRIVAL_BITS;
use super::write::flag::{self, PROVISIONAL};

/// Entries of one source that the words lack. Of the keys `first..=last` these are the tool results
/// (`of_tools`), or all the others (prose). So each entry is read once.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct OutboxItem {
    pub item: i64,
    pub source: i64,
    pub first: i64,
    pub last: i64,
    /// The entries with the result of a tool, or all others.
    pub of_tools: bool,
    pub bytes: u64,
}

/// Entries that the words lack something of, each once, and the bytes of their lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Backlog {
    pub entries: u64,
    pub bytes: u64,
}

/// Keys the words must drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct StaleKeys {
    pub item: i64,
    pub first: i64,
    pub last: i64,
}

impl Catalogue {
    /// The catalogue's epoch and the highest batch it ever stamped.
    pub fn epoch(&self) -> Result<(String, i64), Error> {
        self.one("SELECT epoch, last_batch FROM _store", [], |r| {
            Ok((r.get(0)?, r.get(1)?))
        })
    }

    /// Before any words work: rows of batches up to `done` are in the words, later ones are to be
    /// done again.
    pub fn settle_batches(&self, done: i64) -> Result<(), Error> {
        // In one transaction: half of it says that the words are older than the catalogue.
        let settle = |c: &rusqlite::Connection| {
            step("catalogue.trim")?;
            for table in ["_outbox", "_dead"] {
                c.execute(&format!("DELETE FROM {table} WHERE batch <= ?1"), [done])?;
                c.execute(
                    &format!("UPDATE {table} SET batch = NULL WHERE batch > ?1"),
                    [done],
                )?;
            }
            step("catalogue.renumber")?;
            // The numbers of batches that never came into the words are given again.
            c.execute(
                "UPDATE _store SET last_batch = ?1 WHERE last_batch > ?1",
                [done],
            )?;
            Ok(())
        };
        self.transaction(|| self.with(settle))
    }

    /// Whether a batch after `done` was settled, so that words that are done up to `done` only are
    /// older than the catalogue.
    pub fn has_settled_after(&self, done: i64) -> Result<bool, Error> {
        let sql = "SELECT last_batch > ?1 AND NOT EXISTS (SELECT 1 FROM _outbox WHERE batch > ?1)
            AND NOT EXISTS (SELECT 1 FROM _dead WHERE batch > ?1) FROM _store";
        self.one(sql, [done], |r| r.get(0))
    }

    /// The words are rebuilt: put everything into the outbox again, under a new epoch.
    pub fn queue_everything(&self) -> Result<(), Error> {
        if self.epoch()?.1 == 0 {
            // No batch is in the new words, so the whole outbox is still to be indexed.
            let restart = "UPDATE _store SET epoch = lower(hex(randomblob(8))); DELETE FROM _dead;
                        UPDATE _outbox SET batch = NULL WHERE batch IS NOT NULL;";
            return self.with_path(self.connection.execute_batch(restart));
        }
        self.with_path(self.connection.execute_batch(&format!(
            "UPDATE _store SET epoch = lower(hex(randomblob(8))), last_batch = 0;
             DELETE FROM _dead; DELETE FROM _outbox;
             INSERT INTO _outbox (source, first, last, answers, bytes, newest_ms)
               SELECT source, min(key), max(key), answers, sum(length), max(coalesce(s.file_ms, 0))
               FROM (SELECT source, key, length, key >> {ARRIVAL_BITS} AS session,
                            sum(length) OVER (PARTITION BY source ORDER BY key) / {OUTBOX_BYTES} AS part
                     FROM _entries WHERE flags & {PROVISIONAL} = 0) e
                    JOIN _sessions s USING (session), (SELECT 0 AS answers UNION ALL SELECT 1)
               GROUP BY source, e.session, part, answers;"
        )))
    }

    /// The next items of one class, prose before output, newest sessions first: about `bytes` in
    /// total, at least one item. If less than a quarter of that would be left, it is included.
    pub fn next_work(
        &self,
        bytes: u64,
        except: &std::collections::HashSet<i64>,
    ) -> Result<Vec<OutboxItem>, Error> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT item, source, first, last, answers, bytes FROM _outbox WHERE batch IS NULL
                 ORDER BY answers, newest_ms DESC",
            )?;
            let mut rows = statement.query([])?;
            let mut work: Vec<OutboxItem> = Vec::new();
            let (mut sum, mut enough) = (0, None);
            while let Some(row) = rows.next()? {
                let item = item_of(row)?;
                if except.contains(&item.item) {
                    continue;
                }
                if work
                    .first()
                    .is_some_and(|first| first.of_tools != item.of_tools)
                {
                    break;
                }
                sum += item.bytes;
                if sum > bytes && !work.is_empty() {
                    let enough = *enough.get_or_insert(work.len());
                    if sum > bytes.saturating_add(bytes / 4) {
                        work.truncate(enough);
                        break;
                    }
                }
                work.push(item);
            }
            Ok(work)
        })
    }

    /// All that the words at batch `done` lack.
    pub fn outbox(&self, done: i64) -> Result<Vec<OutboxItem>, Error> {
        let sql = "SELECT item, source, first, last, answers, bytes FROM _outbox WHERE batch IS NULL OR batch > ?1
            ORDER BY answers, newest_ms DESC";
        self.all(sql, [done], item_of)
    }

    /// The entries that are lacking where there are no words to trust: all.
    pub fn backlog_without_words(&self) -> Result<Backlog, Error> {
        let all = "SELECT count(*), coalesce(sum(length), 0) FROM _entries WHERE flags & ?1 = 0";
        self.one(all, [flag::PROVISIONAL], lack_of)
    }

    /// All that the words at batch `done` still hold though it is gone.
    pub fn dead(&self, done: i64) -> Result<Vec<StaleKeys>, Error> {
        self.all(
            "SELECT item, first, last FROM _dead WHERE batch IS NULL OR batch > ?1",
            [done],
            |r| {
                Ok(StaleKeys {
                    item: r.get(0)?,
                    first: r.get(1)?,
                    last: r.get(2)?,
                })
            },
        )
    }

    /// Bytes of the entries that the words still lack something of.
    pub fn backlog_bytes(&self) -> Result<u64, Error> {
        // An item is in the outbox twice, once for the conversation and once for the answers of
        // tools, and both are in the same bytes.
        let sql = "SELECT coalesce(max(of), 0) FROM (SELECT sum(bytes) AS of FROM _outbox GROUP BY answers)";
        self.one(sql, [], |r| Ok(r.get::<_, i64>(0)? as u64))
    }

    /// Bytes of all sources.
    pub fn source_bytes(&self) -> Result<u64, Error> {
        let sum = "SELECT coalesce(sum(length), 0) FROM _sources";
        self.one(sum, [], |r| Ok(r.get::<_, i64>(0)? as u64))
    }

    /// The entries that the words at batch `done` lack. They are counted one by one, as an item
    /// does not say how many it stands for: an entry is of the item of its source and class alone,
    /// so it counts once.
    pub fn backlog(&self, done: i64) -> Result<Backlog, Error> {
        let mut items = self.outbox(done)?;
        items.sort_unstable_by_key(|item| (item.source, item.first, item.last));
        let is_pair = |a: &OutboxItem, b: &OutboxItem| {
            (a.source, a.first, a.last) == (b.source, b.first, b.last) && a.of_tools != b.of_tools
        };
        self.with(|c| {
            let mut of_item = c.prepare_cached(
                "SELECT count(*), coalesce(sum(length), 0) FROM _entries
                 WHERE key BETWEEN ?1 AND ?2 AND source = ?3 AND flags & ?4 = 0
                   AND (?5 IS NULL OR (flags & ?6 <> 0) = ?5)",
            )?;
            let mut lack = Backlog::default();
            for items in items.chunk_by(is_pair) {
                // Both classes are all entries.
                let (item, class) = match items {
                    [] => continue,
                    [item] => (item, Some(item.of_tools)),
                    [item, ..] => (item, None),
                };
                let (provisional, result) = (flag::PROVISIONAL, flag::TOOL_RESULT);
                let asked = params![
                    item.first,
                    item.last,
                    item.source,
                    provisional,
                    class,
                    result
                ];
                let more = of_item.query_row(asked, lack_of)?;
                lack.entries += more.entries;
                lack.bytes += more.bytes;
            }
            Ok(lack)
        })
    }

    /// How much work is left at batch `done`: the bytes of its items, and their number.
    pub fn work_left(&self, done: i64) -> Result<(u64, u64), Error> {
        let sql = "SELECT coalesce(sum(bytes), 0), count(*) FROM _outbox WHERE batch IS NULL OR batch > ?1";
        self.one(sql, [done], |r| {
            Ok((r.get::<_, i64>(0)? as u64, r.get::<_, i64>(1)? as u64))
        })
    }

    /// Stamp the chosen rows with a new batch number, durably, before the words commit. Returns the
    /// batch.
    pub fn stamp(&self, work: &[OutboxItem], dead: &[StaleKeys]) -> Result<i64, Error> {
        self.with(|c| {
            // The words' commit is durable; the stamp it refers to must be durable before.
            c.pragma_update(None, "synchronous", "FULL")?;
            let stamped = (|| {
                c.execute_batch("BEGIN IMMEDIATE")?;
                let batch: i64 = c.query_row(
                    "UPDATE _store SET last_batch = last_batch + 1 RETURNING last_batch",
                    [],
                    |r| r.get(0),
                )?;
                for item in work {
                    c.prepare_cached("UPDATE _outbox SET batch = ?2 WHERE item = ?1")?
                        .execute(params![item.item, batch])?;
                }
                for dead in dead {
                    c.prepare_cached("UPDATE _dead SET batch = ?2 WHERE item = ?1")?
                        .execute(params![dead.item, batch])?;
                }
                step("catalogue.stamp")?;
                c.execute_batch("COMMIT")?;
                Ok(batch)
            })();
            if stamped.is_err() {
                self.rollback();
            }
            c.pragma_update(None, "synchronous", "NORMAL")?;
            step("catalogue.stamped")?;
            stamped
        })
    }
}

fn lack_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Backlog> {
    Ok(Backlog {
        entries: row.get::<_, i64>(0)?.cast_unsigned(),
        bytes: row.get::<_, i64>(1)?.cast_unsigned(),
    })
}

fn item_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<OutboxItem> {
    Ok(OutboxItem {
        item: row.get(0)?,
        source: row.get(1)?,
        first: row.get(2)?,
        last: row.get(3)?,
        of_tools: row.get(4)?,
        bytes: row.get::<_, i64>(5)? as u64,
    })
}
