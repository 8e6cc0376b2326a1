//! In which files is a session, and which others cannot do without it?

use std::path::PathBuf;

use crate::error::Error;
use crate::model::SessionRow;
use crate::query::Snapshot;

/// A file of a session, or of one in an agent's database the path of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionFile {
    /// Where it is, or was: it may be gone.
    pub path: PathBuf,
    /// The id of another session that is in it as well.
    pub shared_with: Option<String>,
}

impl Snapshot<'_> {
    /// All files of a session, its main ones first; not those in which an agent keeps what all its
    /// sessions are called.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it is not in the index.
    pub fn session_files(&self, session: &SessionRow) -> Result<Vec<SessionFile>, Error> {
        let files = self.catalogue.files_of(self.stored(session)?.session)?;
        let files = files.into_iter();
        let files = files.map(|(path, shared_with)| SessionFile { path, shared_with });
        Ok(files.collect())
    }

    /// The folder beside its file in which its agent keeps more of the session, where it is there.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it is not in the index.
    pub fn session_folder(&self, session: &SessionRow) -> Result<Option<PathBuf>, Error> {
        let stored = self.stored(session)?;
        let format = self.config().format(&stored.format);
        let folder = format.and_then(|format| format.folder_of(&stored.row.path));
        Ok(folder.filter(|folder| folder.is_dir()))
    }

    /// The sessions of this machine that were forked from this one and hold only what is their own:
    /// without it they have no beginning.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn leaning_on(&self, session: &SessionRow) -> Result<Vec<SessionRow>, Error> {
        let leaning = self.catalogue.leaning_on(&session.id, &session.agent)?;
        let leaning = self.catalogue.sessions_by_number(&leaning)?;
        Ok(leaning.into_iter().map(|stored| stored.row).collect())
    }
}
