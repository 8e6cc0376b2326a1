//! What does this machine have to share, as its index says?

use std::collections::BTreeSet;

use sessionary::index::Index;
use sessionary::redact::{REVISION, redacted};

use crate::error::{Error, Problem};
use crate::manifest::Place;

/// One file of a session that may be shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFile {
    /// The agent's name.
    pub agent: String,
    /// The id of its session.
    pub session: String,
    /// The repository in which the session ran: host and path of its remote.
    pub repository: String,
    /// The directory in which it ran.
    pub cwd: Option<String>,
    /// The path within its root, with `/` between its parts.
    pub path: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// When it was changed last, in milliseconds since 1970.
    pub modified_ms: i64,
    /// The file itself, as the index knows it.
    pub(crate) found: sessionary::index::SharedFile,
}

impl SharedFile {
    /// Which file it is.
    pub fn place(&self) -> Place {
        Place {
            agent: self.agent.clone(),
            path: self.path.clone(),
        }
    }
}

/// What there is to share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedFiles {
    /// In a stable order.
    pub files: Vec<SharedFile>,
    /// What belongs to a shared repository and cannot be shared, and why.
    pub unshared: Vec<Problem>,
    /// Those of them of which only nothing says any more that they belong to it.
    pub guesses: BTreeSet<Place>,
}

/// What a file says to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedBytes {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Secrets that were left out of them.
    pub redactions: u64,
    /// Whether they are all that the file had, and not all but an end that is being written.
    pub is_whole: bool,
}

/// The sessions of this machine, as its index knows them.
pub struct Sessions {
    index: Index,
}

impl Sessions {
    /// Those of this index.
    pub fn of(index: Index) -> Sessions {
        Sessions { index }
    }

    /// The files of the sessions of these repositories, but for what the user excludes.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn files(&self, repositories: &[String]) -> Result<SharedFiles, Error> {
        let index = &self.index;
        let found = index.ask(|snapshot| snapshot.shared_files(repositories))?;
        let guesses = found.unshared.iter().filter(|of| of.is_a_guess);
        let guesses = guesses.map(|of| Place {
            agent: of.agent.clone(),
            path: of.path.clone(),
        });
        let guesses = guesses.collect();
        let unshared = found.unshared.into_iter();
        let unshared = unshared.map(|of| Problem::new(format!("{}/{}", of.agent, of.path), of.why));
        let files = found.files.into_iter().filter_map(|file| {
            Some(SharedFile {
                agent: file.agent.clone(),
                session: file.session.clone(),
                repository: file.repository.clone()?,
                cwd: file.cwd.clone(),
                path: file.path.clone(),
                bytes: file.bytes,
                modified_ms: file.modified_ms,
                found: file,
            })
        });
        Ok(SharedFiles {
            files: files.collect(),
            unshared: unshared.collect(),
            guesses,
        })
    }

    /// What one of them says, with its secrets or without; `None`: it has gone.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn bytes(&self, file: &SharedFile, raw: bool) -> Result<Option<SharedBytes>, Error> {
        let mask = (!raw).then_some(redacted as fn(&str) -> Option<String>);
        let index = &self.index;
        let shared = index.ask(|snapshot| snapshot.shared_bytes(&file.found, mask))?;
        Ok(shared.map(|shared| SharedBytes {
            bytes: shared.bytes,
            redactions: shared.redactions as u64,
            is_whole: shared.unfinished == 0,
        }))
    }

    /// The rules by which secrets are left out; others make other bytes of the same file.
    pub fn rules() -> String {
        format!("redacted by rules {REVISION}")
    }
}
