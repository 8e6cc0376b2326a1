//! What does an agent's own list show of the sessions of a root?

use std::path::PathBuf;

use super::error::Error;
use super::open::Catalogue;

/// A row of such a list.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct AgentRow {
    pub session: i64,
    /// When its file was changed.
    pub mtime_ns: i64,
    pub path: PathBuf,
    pub id: String,
    pub cwd: String,
    pub name: Option<String>,
    pub parent_session: Option<String>,
    pub created_ms: Option<i64>,
    pub modified_ms: i64,
    pub messages: u64,
    pub first_message: Option<String>,
}

impl Catalogue {
    /// Files and folders of a root that the last scan could not read; `None` when that was the root
    /// itself.
    pub fn unread_in(&self, root: i64) -> Result<Option<Vec<PathBuf>>, Error> {
        self.with(|c| {
            let (above, error): (String, Option<String>) = c
                .prepare_cached("SELECT path, error FROM _roots WHERE root = ?1")?
                .query_row([root], |r| Ok((r.get(0)?, r.get(1)?)))?;
            if error.is_some() {
                return Ok(None);
            }
            let unread = "SELECT relative FROM _sources WHERE root = ?1 AND unread IS NOT NULL
                 UNION SELECT relative FROM _strays WHERE root = ?1 AND unread";
            c.prepare_cached(unread)?
                .query_map([root], |r| {
                    Ok(PathBuf::from(&above).join(r.get::<_, String>(0)?))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
                .map(Some)
        })
    }

    /// The sessions of a root that its agent would list, in no order: those in the archive alone
    /// are not there for it.
    pub fn agent_list(&self, root: i64) -> Result<Vec<AgentRow>, Error> {
        // pi itself does not read `branchedFrom`.
        let sql = "SELECT session, max(f.mtime_ns), s.path, s.id, s.cwd, s.name,
               CASE WHEN json_extract(s.own, '$.branchedFrom') IS NULL THEN s.parent_session END, s.created_ms,
               s.modified_ms, s.messages, s.first_message
            FROM _sessions s JOIN _session_sources USING (session) JOIN _sources f USING (source)
            WHERE s.root = ?1 AND s.hidden IS NULL AND s.gone_ms IS NULL GROUP BY session";
        self.all(sql, [root], |r| {
            Ok(AgentRow {
                session: r.get(0)?,
                mtime_ns: r.get(1)?,
                path: PathBuf::from(r.get::<_, String>(2)?),
                id: r.get(3)?,
                cwd: r.get(4)?,
                name: r.get(5)?,
                parent_session: r.get(6)?,
                created_ms: r.get(7)?,
                modified_ms: r.get(8)?,
                messages: r.get::<_, i64>(9)? as u64,
                first_message: r.get(10)?,
            })
        })
    }
}
