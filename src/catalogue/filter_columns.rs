//! What do filters ask that the words do not know? Where sessions belong, and files, labels, models
//! and images of entries.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;

use super::entries::KINDS_BESIDE;
use super::error::Error;
use super::open::Catalogue;
use super::read::{SESSION, StoredSession, numbers, stored_session};
use super::ties::{NAMES_PARENT, SESSION_ORDER};
use super::usage_row::what::{ANSWER, REPEATED, STEP};
use super::write::key_range;

/// So many messages before a call of this program, at most, stands what it was called for.
const SHORTLY: i64 = 20;

/// A tool call or its result, as far as files are concerned.
#[derive(Debug)]
pub struct CallRow<'a> {
    /// The entry.
    pub key: i64,
    /// By which call and result find each other.
    pub call_id: Option<&'a str>,
    /// The path or command of a call.
    pub subject: Option<&'a str>,
}

/// A session, as far as filters and counts are concerned.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct SessionFilterRow<'a> {
    pub session: i64,
    pub agent: &'a str,
    /// The machine that it was copied from; "" for this one.
    pub host: &'a str,
    /// The label of its root.
    pub label: Option<&'a str>,
    pub path: &'a str,
    pub id: &'a str,
    pub cwd: &'a str,
    /// The repository that it is of, as its remote names it.
    pub repository: Option<&'a str>,
    pub name: Option<&'a str>,
    /// The provider that was in use at the end of the session.
    pub provider: Option<&'a str>,
    /// The model that was in use at the end of the session.
    pub model: Option<&'a str>,
    /// Whether its file is gone.
    pub archived: bool,
    own: Option<&'a str>,
}

impl SessionFilterRow<'_> {
    /// A text that only its agent records, by the agent's own name for it.
    pub fn own(&self, name: &str) -> Option<String> {
        let own: serde_json::Map<String, Value> = serde_json::from_str(self.own?).ok()?;
        own.get(name)?.as_str().map(str::to_owned)
    }
}

impl Catalogue {
    /// Show every session of these roots.
    pub fn each_session(
        &self,
        roots: &[i64],
        mut each: impl FnMut(SessionFilterRow<'_>),
    ) -> Result<(), Error> {
        let query = format!(
            "SELECT s.session, r.agent, r.label, s.path, s.id, s.cwd, s.name, s.provider, s.model, s.own, s.gone_ms IS NOT NULL,
                    coalesce(s.repository, s.remote), r.host
             FROM _sessions s JOIN _roots r USING (root) WHERE s.root IN ({})",
            numbers(roots)
        );
        self.each(&query, [], |row| {
            each(SessionFilterRow {
                session: row.get(0)?,
                agent: row.get_ref(1)?.as_str()?,
                host: row.get_ref(12)?.as_str()?,
                label: row.get_ref(2)?.as_str_or_null()?,
                path: row.get_ref(3)?.as_str()?,
                id: row.get_ref(4)?.as_str()?,
                cwd: row.get_ref(5)?.as_str()?,
                repository: row.get_ref(11)?.as_str_or_null()?,
                name: row.get_ref(6)?.as_str_or_null()?,
                provider: row.get_ref(7)?.as_str_or_null()?,
                model: row.get_ref(8)?.as_str_or_null()?,
                // As everywhere: what cannot be read there is not recorded.
                archived: row.get(10)?,
                own: row.get_ref(9)?.as_str_or_null().unwrap_or_default(),
            });
            Ok(())
        })
    }

    /// The directory in which each session ran, where that is known.
    pub fn cwd_of_each_session(&self) -> Result<HashMap<i64, String>, Error> {
        let sql = "SELECT session, cwd FROM _sessions WHERE cwd <> ''";
        let all: Vec<_> = self.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(all.into_iter().collect())
    }

    /// Show every call and result, in the order of their entries.
    pub fn each_call(&self, mut each: impl FnMut(CallRow<'_>)) -> Result<(), Error> {
        self.each("SELECT key, call_id, subject FROM _calls", [], |row| {
            each(CallRow {
                key: row.get(0)?,
                call_id: row.get_ref(1)?.as_str_or_null()?,
                subject: row.get_ref(2)?.as_str_or_null()?,
            });
            Ok(())
        })
    }

    /// Show every file that an entry says was read or modified.
    pub fn each_file(&self, mut each: impl FnMut(i64, &str)) -> Result<(), Error> {
        self.each("SELECT key, path FROM _files", [], |row| {
            each(row.get(0)?, row.get_ref(1)?.as_str()?);
            Ok(())
        })
    }

    /// Show why answers stopped and how runs ended, where that is recorded.
    pub fn each_stop(&self, mut each: impl FnMut(i64, &str)) -> Result<(), Error> {
        let query = "SELECT key, stop_reason FROM _entries WHERE stop_reason IS NOT NULL";
        self.each(query, [], |row| {
            each(row.get(0)?, row.get_ref(1)?.as_str()?);
            Ok(())
        })
    }

    /// Show each provider and model that recorded tokens in a session.
    pub fn each_model(&self, mut each: impl FnMut(i64, &str, &str)) -> Result<(), Error> {
        let query = format!(
            "SELECT DISTINCT key >> 24, coalesce(provider, ''), coalesce(model, '') FROM _usage
             WHERE what IN ({ANSWER}, {STEP}, {REPEATED})"
        );
        self.each(&query, [], |row| {
            each(
                row.get(0)?,
                row.get_ref(1)?.as_str()?,
                row.get_ref(2)?.as_str()?,
            );
            Ok(())
        })
    }

    /// Sessions in which a label was ever set.
    pub fn labelled_sessions(&self) -> Result<Vec<i64>, Error> {
        self.all("SELECT DISTINCT key >> 24 FROM _labels", [], |row| {
            row.get(0)
        })
    }

    /// Entries with one of these bits in their flags.
    pub fn flagged(&self, flags: i64) -> Result<Vec<i64>, Error> {
        let query = format!("SELECT key FROM _entries WHERE flags & {flags}");
        self.all(&query, [], |row| row.get(0))
    }

    /// The compactions of a session, and the id of the first entry that each kept.
    pub fn compactions(&self, session: i64) -> Result<Vec<(i64, Option<String>)>, Error> {
        let (low, high) = key_range(session);
        self.all(
            "SELECT key, first_kept FROM _compactions WHERE key BETWEEN ?1 AND ?2",
            [low, high],
            |r| Ok((r.get(0)?, r.get(1)?)),
        )
    }

    /// The entry that a compaction of entries without ids kept first: the agent counts those that
    /// it reads, in file order.
    pub fn first_kept_by_index(&self, session: i64, compaction: i64) -> Result<Option<i64>, Error> {
        let (low, high) = key_range(session);
        self.with(|c| {
            let index: Option<i64> = c
                .prepare_cached("SELECT first_kept_index FROM _compactions WHERE key = ?1")?
                .query_row([compaction], |r| r.get(0))
                .optional()?
                .flatten();
            let Some(index) = index.filter(|index| *index > 0) else {
                return Ok(None);
            };
            c.prepare_cached(
                "SELECT key FROM _entries WHERE key BETWEEN ?1 AND ?2 AND agent_sees
                     ORDER BY source, start LIMIT 1 OFFSET ?3",
            )?
            .query_row([low, high, index], |r| r.get(0))
            .optional()
        })
    }

    /// The entry of that id in a session's tree; of several the last, as agents resolve them.
    pub fn key_of_id(&self, session: i64, id: &str) -> Result<Option<i64>, Error> {
        let (low, high) = key_range(session);
        let sql = "SELECT key FROM _entries
            WHERE key BETWEEN ?1 AND ?2 AND id = ?3 AND kind <> ?4 AND kind <> ?5
            ORDER BY source DESC, start DESC LIMIT 1";
        let bound = params![low, high, id, KINDS_BESIDE[0], KINDS_BESIDE[1]];
        self.first(sql, bound, |r| r.get(0))
    }

    /// Entries of sessions of these roots with this id, or whose id begins so: `most` of them, the
    /// one with this very id first, then the newest, of copies that of the original, and how many
    /// there are.
    pub fn keys_of_id(
        &self,
        roots: &[i64],
        id: &str,
        most: usize,
    ) -> Result<(Vec<i64>, u64), Error> {
        let sql = format!(
            "SELECT key, count(*) OVER () FROM _entries e CROSS JOIN _sessions s ON s.session = e.key >> 24
               CROSS JOIN _roots r USING (root)
             WHERE e.id >= ?1 AND e.id < ?1 || char(1114111) AND s.root IN ({})
             ORDER BY e.id = ?1 DESC, e.time_ms DESC, s.subagent, {NAMES_PARENT},
               {SESSION_ORDER}, key LIMIT ?2",
            numbers(roots)
        );
        // More than SQLite can count are all of them.
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let row = |r: &Row<'_>| Ok((r.get(0)?, r.get::<_, i64>(1)?));
        let found: Vec<(i64, i64)> = self.all(&sql, params![id, most], row)?;
        let all = found.first().map_or(0, |(_, all)| all.cast_unsigned());
        Ok((found.into_iter().map(|(key, _)| key).collect(), all))
    }

    /// The first entry of a session that stands on this line of its file.
    pub fn key_of_line(&self, session: i64, line: i64) -> Result<Option<i64>, Error> {
        let (low, high) = key_range(session);
        let query = "SELECT min(key) FROM _entries WHERE key BETWEEN ?1 AND ?2 AND line = ?3";
        self.one(query, [low, high, line], |r| r.get(0))
    }

    /// Sessions of these roots whose id begins so, whatever its case; the newest first, then
    /// those of this machine, then by path.
    pub fn sessions_by_id(
        &self,
        roots: &[i64],
        id: &str,
        most: usize,
    ) -> Result<Vec<StoredSession>, Error> {
        let query = format!(
            "{SESSION} WHERE s.root IN ({}) AND lower(substr(s.id, 1, length(?1))) = lower(?1)
             ORDER BY s.modified_ms DESC, r.host <> '', s.path, r.agent, s.place LIMIT ?2",
            numbers(roots)
        );
        self.all(&query, params![id, most as i64], stored_session)
    }

    /// How many sessions of these roots have an id that begins so.
    pub fn count_sessions_by_id(&self, roots: &[i64], id: &str) -> Result<u64, Error> {
        let query = format!(
            "SELECT count(*) FROM _sessions WHERE root IN ({})
               AND lower(substr(id, 1, length(?1))) = lower(?1)",
            numbers(roots)
        );
        let count = self.one(&query, [id], |r| r.get::<_, i64>(0))?;
        Ok(count.cast_unsigned())
    }

    /// Calls of this program in a session, by whatever prefix an agent gives its tools, and the
    /// entries that answer them.
    pub fn own_calls(&self, session: i64) -> Result<Vec<i64>, Error> {
        let (low, high) = key_range(session);
        // Hardly any session has such calls; only then their answers are looked for.
        self.with(|c| {
            let calls: Vec<(i64, Option<String>)> = c
                .prepare_cached(
                    "SELECT key, call_id FROM _calls WHERE key BETWEEN ?1 AND ?2
                       AND (instr(tool, 'sessionary') OR tool GLOB '*session_search'
                         OR tool GLOB '*search_sessions' OR tool GLOB '*show_entry'
                         OR tool GLOB '*list_sessions' OR tool GLOB '*session_tree'
                         OR tool GLOB '*session_show'
                         OR instr(subject, 'sessionary search')
                         OR instr(subject, 'sessionary show')
                         OR subject GLOB '*sessionary --* search *'
                         OR subject GLOB '*sessionary --* show *')",
                )?
                .query_map([low, high], |r| Ok((r.get(0)?, r.get(1)?)))?
                .collect::<Result<_, _>>()?;
            let mut keys: Vec<i64> = calls.iter().map(|(key, _)| *key).collect();
            let mut answers = c.prepare_cached(
                "SELECT key FROM _calls WHERE key BETWEEN ?1 AND ?2 AND call_id = ?3 AND is_result",
            )?;
            for id in calls.iter().filter_map(|(_, id)| id.as_ref()) {
                for key in answers.query_map(params![low, high, id], |r| r.get(0))? {
                    keys.push(key?);
                }
            }
            Ok(keys)
        })
    }

    /// Of the calls of an entry: whether all of them failed, whether it holds an answer too, and of
    /// which tool all of them are.
    pub fn became_of_calls(&self, key: i64) -> Result<(bool, bool, Option<String>), Error> {
        let query = "SELECT coalesce(min(coalesce(is_error, 0)) FILTER (WHERE NOT is_result),
                max(is_error), 0), coalesce(max(is_result), 0),
                CASE WHEN min(tool) = max(tool) THEN min(tool) END
            FROM _calls WHERE key = ?1";
        self.with(|c| {
            c.prepare_cached(query)?
                .query_row([key], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
        })
    }

    /// How many calls a session holds.
    pub fn count_calls(&self, session: i64) -> Result<u64, Error> {
        let (low, high) = key_range(session);
        let query = "SELECT count(*) FROM _calls WHERE key BETWEEN ?1 AND ?2 AND NOT is_result";
        let count = self.one(query, [low, high], |r| r.get::<_, i64>(0))?;
        Ok(count.cast_unsigned())
    }

    /// What somebody typed shortly before these entries of a session, with no answer of a model
    /// between what belongs together.
    pub fn typed_before(&self, session: i64, keys: &[i64]) -> Result<Vec<i64>, Error> {
        let (low, _) = key_range(session);
        let mut typed = Vec::new();
        for key in keys {
            let before: Vec<(i64, bool)> = self.all(
                "SELECT key, role = 'user' FROM _entries
                 WHERE key >= ?1 AND key < ?2 AND role IN ('user', 'assistant')
                 ORDER BY key DESC LIMIT ?3",
                [low, *key, SHORTLY],
                |r| Ok((r.get(0)?, r.get(1)?)),
            )?;
            let said = before.into_iter().skip_while(|(_, is_typed)| !is_typed);
            typed.extend(
                said.take_while(|(_, is_typed)| *is_typed)
                    .map(|(key, _)| key),
            );
        }
        Ok(typed)
    }

    /// An entry's role, or its kind where it has none; `None` when there is no such entry.
    pub fn role(&self, key: i64) -> Result<Option<String>, Error> {
        self.first(
            "SELECT coalesce(role, kind) FROM _entries WHERE key = ?1",
            [key],
            |r| r.get(0),
        )
    }
}
