//! What does the agent's own list show, without reading every file?

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::Snapshot;
use crate::catalogue::agent_list::AgentRow;
use crate::error::Error;
use crate::session::{self, Progress, SessionInfo, SessionManager, Setup, in_order, read_again};

/// Which sessions an agent's own list is to show, and how much of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentListScope {
    /// Only those of this working directory, as [`SessionManager::list`] has them; `None`: all.
    pub cwd: Option<String>,
    /// With what was said in each. Without it [`SessionInfo::all_messages_text`] stays empty, and
    /// no session file is read.
    pub with_text: bool,
}

impl Snapshot<'_> {
    /// What [`SessionManager::list`] gives for a working directory, or without one
    /// [`SessionManager::list_all`]: the same values in the same order, out of the index as it was
    /// opened.
    ///
    /// Where the index does not know the folder, or could not be brought up to the files, they are
    /// read. A file that could not be read when the index was opened is tried again, alone. What is
    /// excluded from the index is not listed, nor what a link out of the roots leads to unless the
    /// [rules](crate::Rules) follow it.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` broke.
    pub fn agent_list(
        &self,
        setup: &Setup,
        scope: &AgentListScope,
        progress: Progress<'_>,
    ) -> Result<Vec<SessionInfo>, Error> {
        let mut found = Vec::new();
        self.agent_list_each(setup, scope, progress, &mut |row| found.push(row))?;
        Ok(found)
    }

    /// [`Snapshot::agent_list`], row by row: each is handed to `each` once its text is read. A
    /// session whose file turns out to hold other bytes than those catalogued is read from that
    /// file, and stands where it stood.
    ///
    /// # Errors
    /// As [`Snapshot::agent_list`].
    pub fn agent_list_each(
        &self,
        setup: &Setup,
        scope: &AgentListScope,
        progress: Progress<'_>,
        each: &mut dyn FnMut(SessionInfo),
    ) -> Result<(), Error> {
        let cwd = scope.cwd.as_deref();
        let Some(rows) = self.agent_rows(setup, cwd)? else {
            let read = match cwd {
                Some(cwd) => SessionManager::list_with(setup, cwd, progress),
                None => SessionManager::list_all_with(setup, progress),
            }
            .map_err(|error| match error {
                session::Error::Cancelled => Error::Cancelled,
                error => error.into(),
            })?;
            read.into_iter().for_each(|mut info| {
                if !scope.with_text {
                    info.all_messages_text.clear();
                }
                each(info);
            });
            return Ok(());
        };
        if scope.with_text {
            return self.each_with_text(rows, setup, progress, each);
        }
        let all = rows.len();
        for (at, mut row) in rows.into_iter().enumerate() {
            if progress(at + 1, all).is_break() {
                return Err(Error::Cancelled);
            }
            row.info.all_messages_text.clear();
            each(row.info);
        }
        Ok(())
    }

    /// Hands out the rows with what was said, which is read for those that come from the index.
    fn each_with_text(
        &self,
        rows: Vec<AgentListRow>,
        setup: &Setup,
        progress: Progress<'_>,
        each: &mut dyn FnMut(SessionInfo),
    ) -> Result<(), Error> {
        let sessions: Vec<i64> = rows.iter().filter_map(|row| row.session).collect();
        let (all, read_already) = (rows.len(), rows.len() - sessions.len());
        let progress = |done, _| progress(read_already + done, all);
        let mut rows = rows.into_iter().peekable();
        let is_read = |row: &AgentListRow| row.session.is_none();
        let take = &mut |text: Option<String>| {
            while let Some(row) = rows.next_if(is_read) {
                each(row.info);
            }
            let Some(mut row) = rows.next() else { return };
            match text {
                Some(text) => {
                    row.info.all_messages_text = text;
                    each(row.info);
                }
                None => {
                    let read = read_again(setup, &[row.info.path]);
                    read.into_iter().for_each(|(_, info)| each(info));
                }
            }
        };
        self.each_text(&sessions, setup.profile.dialect.name, &progress, take)?;
        rows.for_each(|row| each(row.info));
        Ok(())
    }

    /// The rows in their order, those from the index without text; `None` where the files are to
    /// be read instead.
    fn agent_rows(
        &self,
        setup: &Setup,
        cwd: Option<&str>,
    ) -> Result<Option<Vec<AgentListRow>>, Error> {
        let Some((root, unread)) = self.known(setup)? else {
            return Ok(None);
        };
        let rows = self.catalogue.agent_list(root)?.into_iter();
        let mut found: Vec<AgentListRow> = rows.map(AgentListRow::from).collect();
        if !unread.is_empty() {
            let is_unread = |path: &Path| unread.iter().any(|unread| path.starts_with(unread));
            found.retain(|row| !is_unread(&row.info.path));
            found.extend(
                read_again(setup, &unread)
                    .into_iter()
                    .map(AgentListRow::from),
            );
        }
        if let Some(cwd) = cwd {
            let folder = setup.session_dir(cwd);
            found.retain(|row| {
                row.info.path.parent() == Some(&folder) && setup.lists(cwd, &row.info)
            });
        }
        let by_change = cwd.is_none() && setup.flat.is_none();
        in_order(&mut found, |row| {
            (&row.info.path, by_change.then_some(row.mtime_ns))
        });
        found.sort_by_key(|row| Reverse(row.info.modified_ms));
        Ok(Some(found))
    }

    /// The root of these sessions, and what of it the index could not read; `None` where the files
    /// are to be read instead.
    fn known(&self, setup: &Setup) -> Result<Option<(i64, Vec<PathBuf>)>, Error> {
        // All files were looked at, though some could not be read.
        let was_checked = self.stores.complete || self.stores.was_checked;
        let root = match was_checked {
            true => self.root_of(setup)?,
            false => None,
        };
        let Some(root) = root else {
            return Ok(None);
        };
        let unread = match self.stores.complete {
            true => Some(Vec::new()),
            false => self.catalogue.unread_in(root)?,
        };
        Ok(unread.map(|unread| (root, unread)))
    }

    /// The root that is the folder of these sessions, scanned as the agent looks through it.
    fn root_of(&self, setup: &Setup) -> Result<Option<i64>, Error> {
        let (folder, flat): (&Path, bool) = match &setup.flat {
            Some(flat) => (flat, true),
            None => (&setup.sessions, false),
        };
        let spec = self.config().roots.iter().find(|spec| {
            spec.format == setup.profile.dialect.name && spec.path == folder && spec.flat == flat
        });
        match spec {
            Some(spec) => Ok(self.catalogue.root_of(&spec.agent, &spec.path)?),
            None => Ok(None),
        }
    }
}

/// A row on its way into its place.
struct AgentListRow {
    /// `None`: it was read from its file just now.
    session: Option<i64>,
    mtime_ns: i64,
    info: SessionInfo,
}

impl From<AgentRow> for AgentListRow {
    fn from(row: AgentRow) -> Self {
        Self {
            session: Some(row.session),
            mtime_ns: row.mtime_ns,
            info: SessionInfo {
                path: row.path,
                id: row.id,
                cwd: row.cwd,
                name: row.name,
                parent_session_path: row.parent_session,
                created_ms: row.created_ms,
                modified_ms: row.modified_ms,
                message_count: row.messages,
                first_message: row.first_message,
                all_messages_text: String::new(),
            },
        }
    }
}

impl From<(i64, SessionInfo)> for AgentListRow {
    fn from((mtime_ns, info): (i64, SessionInfo)) -> Self {
        Self {
            session: None,
            mtime_ns,
            info,
        }
    }
}
