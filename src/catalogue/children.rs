//! What hangs on an entry: its calls, usage, files, label, compaction and run.

use std::borrow::Cow;

use super::error::Error;
use super::open::Catalogue;
use super::usage_row::{UsageRow, what};
use super::write::EntryRow;
use crate::model::{Call, Compaction, FileTouch, Label, Run, Usage};

/// The child rows of one entry.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Children {
    pub calls: Vec<Call>,
    pub usage: Option<UsageRow<'static>>,
    pub files: Vec<FileTouch>,
    pub label: Option<Label>,
    pub compaction: Option<Compaction>,
    pub run: Option<Run>,
}

impl Children {
    /// The child rows that the facts of an entry lead to.
    pub fn of(entry: &EntryRow) -> Children {
        let facts = &entry.facts;
        Children {
            calls: facts.calls.clone(),
            usage: UsageRow::of(entry).map(UsageRow::into_owned),
            files: facts.files.clone(),
            label: facts.label.clone(),
            compaction: facts.compaction.clone(),
            run: facts.run.clone(),
        }
    }
}

impl Catalogue {
    /// The child rows that are stored for an entry.
    pub fn children(&self, key: i64) -> Result<Children, Error> {
        Ok(Children {
            calls: self.calls_of_entry(key)?,
            usage: self.usage_of_entry(key)?,
            files: self.files_of_entry(key)?,
            label: self.label_of_entry(key)?,
            compaction: self.compaction_of_entry(key)?,
            run: self.run_of_entry(key)?,
        })
    }

    /// Calls and results of tools, each with what its own record says: what was copied to a call
    /// from its answer is left out.
    fn calls_of_entry(&self, key: i64) -> Result<Vec<Call>, Error> {
        let sql =
            "SELECT call_id, tool, is_result, CASE WHEN answer IS NULL THEN is_error END, subject,
                CASE WHEN answer IS NULL THEN duration_ms END
            FROM _calls WHERE key = ?1 ORDER BY ordinal";
        self.all(sql, [key], |r| {
            Ok(Call {
                call_id: r.get(0)?,
                tool: r.get(1)?,
                is_result: r.get(2)?,
                is_error: r.get(3)?,
                subject: r.get(4)?,
                duration_ms: r.get(5)?,
            })
        })
    }

    fn usage_of_entry(&self, key: i64) -> Result<Option<UsageRow<'static>>, Error> {
        let sql = format!(
            "SELECT provider, model, response_id, input, output, cache_read, cache_write, reasoning, total,
                cost_input, cost_output, cost_cache_read, cost_cache_write, cost_total, what, said, time_ms
            FROM _usage WHERE key = ?1 AND what <> {}",
            what::TURN
        );
        self.first(&sql, [key], |r| {
            let usage = Usage {
                provider: r.get(0)?,
                model: r.get(1)?,
                response_id: r.get(2)?,
                input: r.get(3)?,
                output: r.get(4)?,
                cache_read: r.get(5)?,
                cache_write: r.get(6)?,
                reasoning: r.get(7)?,
                total: r.get(8)?,
                cost_input: r.get(9)?,
                cost_output: r.get(10)?,
                cost_cache_read: r.get(11)?,
                cost_cache_write: r.get(12)?,
                cost_total: r.get(13)?,
                is_repeated: r.get::<_, i64>(14)? == what::REPEATED,
            };
            Ok(UsageRow {
                usage: Cow::Owned(usage),
                what: r.get(14)?,
                said: r.get(15)?,
                time_ms: r.get(16)?,
            })
        })
    }

    fn files_of_entry(&self, key: i64) -> Result<Vec<FileTouch>, Error> {
        let sql = "SELECT path, modified FROM _files WHERE key = ?1 ORDER BY ordinal";
        self.all(sql, [key], |r| {
            Ok(FileTouch {
                path: r.get(0)?,
                modified: r.get(1)?,
            })
        })
    }

    fn label_of_entry(&self, key: i64) -> Result<Option<Label>, Error> {
        let sql = "SELECT target, text FROM _labels WHERE key = ?1";
        self.first(sql, [key], |r| {
            Ok(Label {
                target: r.get(0)?,
                text: r.get(1)?,
            })
        })
    }

    fn compaction_of_entry(&self, key: i64) -> Result<Option<Compaction>, Error> {
        let sql =
            "SELECT first_kept, tokens_before, first_kept_index FROM _compactions WHERE key = ?1";
        self.first(sql, [key], |r| {
            Ok(Compaction {
                first_kept: r.get(0)?,
                tokens_before: r.get(1)?,
                first_kept_index: r.get(2)?,
            })
        })
    }

    fn run_of_entry(&self, key: i64) -> Result<Option<Run>, Error> {
        let sql = "SELECT turns, cost, duration_ms FROM _runs WHERE key = ?1";
        self.first(sql, [key], |r| {
            Ok(Run {
                turns: r.get(0)?,
                cost: r.get(1)?,
                duration_ms: r.get(2)?,
            })
        })
    }
}
