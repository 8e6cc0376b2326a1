//! Which rows one entry becomes: the inserts of its own row and of its child rows.

use rusqlite::{CachedStatement, Connection};

use super::write::EntryRow;

/// The statements, kept open for all entries of a chunk: taking each from the cache for every row
/// costs more than a row.
pub(super) struct Inserts<'c> {
    entry: CachedStatement<'c>,
    call: CachedStatement<'c>,
    usage: CachedStatement<'c>,
    file: CachedStatement<'c>,
    label: CachedStatement<'c>,
    compaction: CachedStatement<'c>,
}

impl<'c> Inserts<'c> {
    pub(super) fn into(connection: &'c Connection) -> rusqlite::Result<Inserts<'c>> {
        let prepare = |sql| connection.prepare_cached(sql);
        Ok(Inserts {
            entry: prepare(
                "INSERT INTO _entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?,
            call: prepare("INSERT INTO _calls VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?,
            usage: prepare(
                "INSERT INTO _usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?,
            file: prepare("INSERT INTO _files VALUES (?1, ?2, ?3, ?4)")?,
            label: prepare("INSERT INTO _labels VALUES (?1, ?2, ?3)")?,
            compaction: prepare("INSERT INTO _compactions VALUES (?1, ?2, ?3)")?,
        })
    }

    /// Tuples are bound without a virtual call a value, as `params!` makes one.
    pub(super) fn entry(
        &mut self,
        key: i64,
        source: i64,
        entry: &EntryRow,
    ) -> rusqlite::Result<()> {
        let f = &entry.facts;
        self.entry.execute((
            key,
            source,
            entry.start as i64,
            entry.length as i64,
            entry.line as i64,
            entry.hash as i64,
            f.kind.as_str(),
            f.role.as_deref(),
            f.id.as_deref(),
            f.parent.as_deref(),
            f.time_ms,
            f.agent_sees,
            entry.flags,
            f.stop_reason.as_deref(),
        ))?;
        for (ordinal, call) in f.calls.iter().enumerate() {
            self.call.execute((
                key,
                ordinal as i64,
                call.call_id.as_deref(),
                call.tool.as_deref(),
                call.is_result,
                call.is_error,
                call.subject.as_deref(),
                call.duration_ms,
            ))?;
        }
        if let Some(u) = &f.usage {
            self.usage.execute((
                key,
                u.provider.as_deref(),
                u.model.as_deref(),
                u.response_id.as_deref(),
                u.input,
                u.output,
                u.cache_read,
                u.cache_write,
                u.reasoning,
                u.total,
                u.cost_input,
                u.cost_output,
                u.cost_cache_read,
                u.cost_cache_write,
                u.cost_total,
            ))?;
        }
        for (ordinal, file) in f.files.iter().enumerate() {
            self.file
                .execute((key, ordinal as i64, file.path.as_str(), file.modified))?;
        }
        if let Some(label) = &f.label {
            self.label
                .execute((key, label.target.as_str(), label.text.as_deref()))?;
        }
        if let Some(compaction) = &f.compaction {
            self.compaction.execute((
                key,
                compaction.first_kept.as_deref(),
                compaction.tokens_before,
            ))?;
        }
        Ok(())
    }
}
