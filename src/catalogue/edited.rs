//! Which entries may have changed a file, and how did their calls end?

use super::answered::NEAR;
use super::error::Error;
use super::open::Catalogue;
use super::write::key_range;

/// A call of a tool, with how it ended.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct EndedCall {
    pub call_id: Option<String>,
    pub tool: Option<String>,
    /// The entry that answers it, where that is another one.
    pub answer: Option<i64>,
    /// `None`: nobody knows.
    pub is_error: Option<bool>,
}

/// What a call is about, and which entry answers it.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct CallSubject {
    pub key: i64,
    /// The entry that answers it, where that is another one.
    pub answer: Option<i64>,
    /// Its command, or what else it is about.
    pub subject: Option<String>,
    /// That is the file which its tool reads or changes.
    pub is_file: bool,
}

/// A file that an entry names, as it names it.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct NamedFile {
    pub key: i64,
    pub path: String,
    pub modified: bool,
    pub time_ms: Option<i64>,
}

impl Catalogue {
    /// Entries with calls that may change a file of this name: those that say so, and those whose
    /// tools are given patches or are told in another argument what to do.
    pub fn entries_editing(&self, name: &str) -> Result<Vec<i64>, Error> {
        let sql = "SELECT key FROM _files WHERE modified AND substr(path, -length(?1)) = ?1
            UNION SELECT key FROM _calls WHERE NOT is_result
                AND tool IN ('apply_patch', 'patch', 'str_replace_editor', 'str_replace_based_edit_tool')
            ORDER BY 1";
        self.all(sql, [name], |r| r.get(0))
    }

    /// Entries with calls whose command, or another argument that says what they are about, holds
    /// this text.
    pub fn entries_calling_with(&self, text: &str) -> Result<Vec<i64>, Error> {
        let sql = "SELECT DISTINCT key FROM _calls WHERE NOT is_result AND instr(subject, ?1) ORDER BY key";
        self.all(sql, [text], |r| r.get(0))
    }

    /// Entries with calls whose answer says that they changed a file of this name, and that answer.
    pub fn calls_changing(&self, name: &str) -> Result<Vec<(i64, i64)>, Error> {
        let sql = "SELECT DISTINCT c.key, a.key FROM _files f
              CROSS JOIN _calls a ON a.key = f.key AND a.is_result
              CROSS JOIN _calls c ON c.key BETWEEN a.key - ?2 AND a.key AND c.answer = a.key
            WHERE f.modified AND substr(f.path, -length(?1)) = ?1 ORDER BY c.key";
        self.all(sql, rusqlite::params![name, NEAR], |r| {
            Ok((r.get(0)?, r.get(1)?))
        })
    }

    /// Entries between these times with calls whose command, or another argument that says what
    /// they are about, holds this text.
    pub fn entries_calling_between(
        &self,
        text: &str,
        from_ms: i64,
        to_ms: i64,
    ) -> Result<Vec<i64>, Error> {
        let sql = "SELECT DISTINCT c.key FROM _calls c JOIN _entries e USING (key)
            WHERE NOT c.is_result AND instr(c.subject, ?1)
                AND coalesce(e.time_ms, e.taken_ms) BETWEEN ?2 AND ?3 ORDER BY c.key";
        self.all(sql, rusqlite::params![text, from_ms, to_ms], |r| r.get(0))
    }

    /// Files of this name that entries say they read or modified.
    pub fn files_named(&self, name: &str) -> Result<Vec<NamedFile>, Error> {
        let sql = "SELECT f.key, f.path, f.modified, coalesce(e.time_ms, e.taken_ms)
            FROM _files f JOIN _entries e USING (key)
            WHERE substr(f.path, -length(?1)) = ?1 ORDER BY f.key, f.ordinal";
        self.all(sql, [name], |r| {
            Ok(NamedFile {
                key: r.get(0)?,
                path: r.get(1)?,
                modified: r.get(2)?,
                time_ms: r.get(3)?,
            })
        })
    }

    /// Show the working directory of each session of this machine with each path that it says it
    /// read or modified, when, and whether all calls that may have done so failed; as often as it
    /// says so. What an answer says was modified may have been removed.
    pub fn each_touched_path(
        &self,
        mut each: impl FnMut(&str, &str, Option<i64>, bool),
    ) -> Result<(), Error> {
        let sql = "SELECT s.cwd, f.path, coalesce(e.time_ms, e.taken_ms),
                coalesce((SELECT min(c.is_error IS 1) FROM _calls c WHERE c.key = f.key AND NOT c.is_result), 0)
            FROM _files f JOIN _entries e USING (key) JOIN _sessions s ON s.session = f.key >> 24
                JOIN _roots r ON r.root = s.root
            WHERE r.host = '' AND NOT (r.format = 'claude' AND f.modified
                AND EXISTS (SELECT 1 FROM _calls a WHERE a.key = f.key AND a.is_result))";
        self.each(sql, [], |r| {
            let (cwd, path) = (r.get_ref(0)?.as_str()?, r.get_ref(1)?.as_str()?);
            each(cwd, path, r.get(2)?, r.get(3)?);
            Ok(())
        })
    }

    /// Show every directory in which sessions of this machine ran, and when the first of them
    /// began.
    pub fn each_own_directory(&self, mut each: impl FnMut(&str, Option<i64>)) -> Result<(), Error> {
        let sql =
            "SELECT s.cwd, min(s.created_ms) FROM _sessions s JOIN _roots r ON r.root = s.root
            WHERE r.host = '' AND s.cwd <> '' GROUP BY s.cwd";
        self.each(sql, [], |r| {
            each(r.get_ref(0)?.as_str()?, r.get(1)?);
            Ok(())
        })
    }

    /// The calls of a session, with what they are about.
    pub fn calls_of_session(&self, session: i64) -> Result<Vec<CallSubject>, Error> {
        let (first, last) = key_range(session);
        let sql = "SELECT c.key, c.answer, c.subject, EXISTS (SELECT 1 FROM _files f WHERE f.key = c.key AND f.path = c.subject)
            FROM _calls c WHERE c.key BETWEEN ?1 AND ?2 AND NOT c.is_result";
        self.all(sql, [first, last], |r| {
            Ok(CallSubject {
                key: r.get(0)?,
                answer: r.get(1)?,
                subject: r.get(2)?,
                is_file: r.get(3)?,
            })
        })
    }

    /// What an entry with calls says, as a number that is the same in all its copies; `None`: that
    /// is not known.
    pub fn said_by(&self, key: i64) -> Result<Option<i64>, Error> {
        let sql = "SELECT said FROM _usage WHERE key = ?1";
        self.first(sql, [key], |r| r.get(0))
    }

    /// The calls of an entry.
    pub fn ended_calls(&self, key: i64) -> Result<Vec<EndedCall>, Error> {
        let sql = "SELECT call_id, tool, answer, is_error FROM _calls
            WHERE key = ?1 AND NOT is_result ORDER BY ordinal";
        self.all(sql, [key], |r| {
            Ok(EndedCall {
                call_id: r.get(0)?,
                tool: r.get(1)?,
                answer: r.get(2)?,
                is_error: r.get(3)?,
            })
        })
    }
}
