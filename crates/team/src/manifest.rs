//! What does a store say of one file of a session? Whose it is, where it stands within its root,
//! and which blocks it is made of, in order.

use std::collections::BTreeMap;

use ring::digest;
use serde::{Deserialize, Serialize};

use crate::block::{LEAST, Part};
use crate::error::Problem;
use crate::names::{check_agent, check_host, check_path};
use crate::rows::BundleKey;

/// The layout of a manifest. A reader leaves later ones alone.
pub const VERSION: u32 = 1;

/// What its form is called where secrets were not left out.
pub const RAW: &str = "raw";

/// A file has no more bytes, as it is and as it is shared.
pub const LARGEST: u64 = 4 << 30;
/// Nor more parts: blocks of the least length, and a tail, of whose parts each is half of the one
/// before.
const MOST_PARTS: usize = (LARGEST / LEAST as u64) as usize + 64;

/// Which file it is: its agent, and its path within the root with `/` between its parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The agent's name.
    pub agent: String,
    /// The path within its root.
    pub path: String,
}

impl Place {
    /// That of a file of this agent.
    pub fn of(agent: &str, path: &str) -> Place {
        Place {
            agent: agent.to_owned(),
            path: path.to_owned(),
        }
    }

    /// By what the manifest of a file is called: says nothing of its name.
    pub fn name(&self) -> String {
        let mut hash = digest::Context::new(&digest::SHA256);
        hash.update(self.agent.as_bytes());
        hash.update(&[0]);
        hash.update(self.path.as_bytes());
        crate::block::hex(hash.finish().as_ref())
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}/{}", self.agent, self.path)
    }
}

/// One file of a session in a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The layout: [`VERSION`].
    pub version: u32,
    /// The host that has the file.
    pub host: String,
    /// Which file it is.
    #[serde(flatten)]
    pub place: Place,
    /// The id of its session.
    pub session: String,
    /// The repository by which it is shared: host and path of its remote.
    pub repository: String,
    /// The directory in which the session ran, on its host.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cwd: Option<String>,
    /// When the file was changed last, in milliseconds since 1970.
    pub modified_ms: i64,
    /// What it is made of, in order.
    pub parts: Vec<Part>,
    /// What was read for it, by which its host knows what it need not send again.
    pub source: Source,
}

/// What a manifest was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Bytes of the file on its host, secrets and all.
    pub bytes: u64,
    /// What was done with its secrets: [`RAW`], or the rules by which they were left out.
    pub form: String,
    /// Whether the file had not changed for a while when it was read. Where it had, its size and
    /// time prove nothing.
    pub settled: bool,
}

impl Manifest {
    /// Bytes of the file as it is written elsewhere.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.bytes)).sum()
    }

    /// Whether it may be used for a file of this host.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, host: &str) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!(
                "layout {}, which this version does not know",
                self.version
            ));
        }
        if self.host != host {
            return Err("it names another host than the one in whose place it stands".to_owned());
        }
        check_host(&self.host)?;
        check_agent(&self.place.agent)?;
        check_path(&self.place.path)?;
        self.parts.iter().try_for_each(Part::check)?;
        match self.bytes() > LARGEST || self.parts.len() > MOST_PARTS {
            true => Err(TOO_LARGE.to_owned()),
            false => Ok(()),
        }
    }
}

/// Why a file is not shared that is larger.
pub const TOO_LARGE: &str = "the file has more than 4 GiB, or more blocks than that has";

/// The manifests of one host, and what could not be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifests {
    /// By the file that each is of.
    pub files: BTreeMap<Place, Manifest>,
    /// What could not be used: where there is any of that, a file that is not named may be there.
    pub problems: Vec<Problem>,
    /// The files of which a store that keeps rows has a manifest that could not be used, each with
    /// the bundle to which it belongs.
    pub unread: BTreeMap<Place, BundleKey>,
}

/// A host, as it says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The layout: [`VERSION`].
    pub version: u32,
    /// Its name.
    pub host: String,
    /// A random text, by which two machines of one name are told apart.
    pub id: String,
}
