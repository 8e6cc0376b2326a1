//! What does this machine have to share, as its index says?

use sessionary::index::{Index, SharedFile, SharedFiles};
use sessionary::model::Mask;
use sessionary::redact::redacted;
use sessionary::share::SharedBytes;

use crate::error::Error;

/// The sessions of this machine, as its index knows them.
pub struct Sessions(Index);

impl Sessions {
    /// Those of this index.
    pub fn of(index: Index) -> Sessions {
        Sessions(index)
    }

    /// The files of the sessions of these repositories, but for what the user excludes.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn files(&self, repositories: &[String]) -> Result<SharedFiles, Error> {
        let files = self.0.ask(|snapshot| snapshot.shared_files(repositories))?;
        Ok(files)
    }

    /// What one of them says, with its secrets or without; `None`: it has gone.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn bytes(&self, file: &SharedFile, raw: bool) -> Result<Option<SharedBytes>, Error> {
        let mask = (!raw).then(|| Mask::new(redacted));
        let bytes = self
            .0
            .ask(|snapshot| snapshot.shared_bytes(file, mask.as_ref()))?;
        Ok(bytes)
    }
}
