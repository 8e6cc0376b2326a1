//! What has the user set? Which store, under which name, and which repositories: `team.json` in the
//! data folder, readable by its owner alone.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::block::{Key, hex};
use crate::error::Error;
use crate::files::{self, Readers};
use crate::manifest::Host;
use crate::names::check_host;

/// The layout of `team.json`.
const VERSION: u32 = 1;
/// It has no more bytes.
const LONGEST: u64 = 16 << 20;

/// What `team.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    version: u32,
    /// What this machine is called in the store.
    pub host: String,
    /// By which it is told from another one of that name.
    pub id: String,
    /// Where sessions are put: `dir:PATH` or `postgres:…`.
    pub store: String,
    /// Whether this machine has made its place in that store.
    #[serde(default)]
    pub has_pushed: bool,
    /// By which the ids of blocks are made.
    key: String,
    /// The repositories that are shared: host and path of their remotes.
    pub repositories: BTreeSet<String>,
    /// Sessions that were taken back one by one and are not pushed again.
    pub withheld: BTreeSet<String>,
    /// Whether `push --raw` is allowed.
    pub allow_raw: bool,
}

impl Settings {
    /// For a new host.
    ///
    /// # Errors
    /// When the name cannot be that of a host, or the system gives no random bytes.
    pub fn new(host: &str, store: &str, allow_raw: bool) -> Result<Settings, Error> {
        let settings = Settings {
            version: VERSION,
            host: String::new(),
            id: hex(&random::<16>()?),
            store: store.to_owned(),
            has_pushed: false,
            key: hex(&random::<32>()?),
            repositories: BTreeSet::new(),
            withheld: BTreeSet::new(),
            allow_raw,
        };
        settings.called(host)
    }

    /// The same under this name.
    ///
    /// # Errors
    /// When it cannot be that of a host.
    pub fn called(self, host: &str) -> Result<Settings, Error> {
        check_host(host).map_err(|why| {
            Error::refused(format!("{host}: {why}"), "choose another with --host NAME")
        })?;
        let host = host.to_owned();
        Ok(Settings { host, ..self })
    }

    /// What this machine says of itself in a store.
    pub fn this_host(&self) -> Host {
        Host {
            version: crate::manifest::VERSION,
            host: self.host.clone(),
            id: self.id.clone(),
        }
    }

    /// Whether a file of a session is never sent: the session was purged, or the one whose subagent
    /// it is, below whose id agents keep its file.
    pub fn withholds(&self, session: &str, path: &str) -> bool {
        let mut folders = path.split('/');
        folders.next_back();
        self.withheld.contains(session) || folders.any(|of| self.withheld.contains(of))
    }

    /// By which the ids of its blocks are made.
    pub fn key(&self) -> Key {
        let digit = |at: usize| u8::from_str_radix(&self.key[2 * at..2 * at + 2], 16).unwrap_or(0);
        Key(std::array::from_fn(digit))
    }
}

/// A random value from the system.
fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], Error> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|why| {
        Error::refused(
            format!("the system gives no random bytes: {why}"),
            "try again",
        )
    })?;
    Ok(bytes)
}

/// Where the settings, and the files of other hosts, are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolder(PathBuf);

impl DataFolder {
    /// The project's folder within the user's folder for program data.
    pub fn of(data_dir: &Path) -> DataFolder {
        DataFolder(data_dir.join("sessionary"))
    }

    /// Where the settings are.
    pub fn settings(&self) -> PathBuf {
        self.0.join("team.json")
    }

    /// Below which the files of other hosts are.
    pub fn hosts(&self) -> PathBuf {
        self.0.join("team")
    }

    /// In which rows are made of what is pushed. It is removed in the end; only a push that was
    /// killed leaves it.
    pub fn rows(&self) -> PathBuf {
        self.0.join("team.rows")
    }

    /// Remove what a push left that was killed.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove_rows(&self) -> Result<(), Error> {
        remove_folder(&self.rows())
    }

    /// What is set; `None`: nothing yet.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self) -> Result<Option<Settings>, Error> {
        let path = self.settings();
        let Some(bytes) = files::read(&path, LONGEST).map_err(Error::at(&path))? else {
            return Ok(None);
        };
        let damaged = |why: String| Error::Damaged {
            path: path.clone(),
            why,
        };
        let settings: Settings =
            serde_json::from_slice(&bytes).map_err(|why| damaged(why.to_string()))?;
        let is_key =
            settings.key.len() == 64 && settings.key.bytes().all(|of| of.is_ascii_hexdigit());
        if settings.version != VERSION {
            let version = settings.version;
            return Err(damaged(format!(
                "layout {version} is of another version of this program"
            )));
        }
        if !is_key {
            return Err(damaged("`key` is not 64 hexadecimal digits".to_owned()));
        }
        check_host(&settings.host).map_err(|why| damaged(format!("`host`: {why}")))?;
        Ok(Some(settings))
    }

    /// Set this from now on.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, settings: &Settings) -> Result<(), Error> {
        let path = self.settings();
        let mut text = serde_json::to_vec_pretty(settings).unwrap_or_default();
        text.push(b'\n');
        files::write(&path, &text, Readers::Owner).map_err(Error::at(&path))
    }

    /// Remove all copies of other hosts' files, and what a push has left.
    ///
    /// # Errors
    /// When something of it cannot be removed.
    pub fn remove_copies(&self) -> Result<(), Error> {
        remove_folder(&self.hosts())?;
        self.remove_rows()
    }

    /// Remove the settings, and the lock with which that is done.
    ///
    /// # Errors
    /// When they cannot be removed.
    pub fn remove(&self, lock: File) -> Result<(), Error> {
        let settings = self.settings();
        files::remove(&settings).map_err(Error::at(&settings))?;
        // Who has waited for the lock finds no settings any more.
        drop(lock);
        let lock = self.0.join("team.lock");
        files::remove(&lock).map_err(Error::at(&lock))
    }

    /// Be the one process that pushes, pulls or sets, until the lock is dropped; another one is
    /// waited for, once `waits` is told.
    ///
    /// # Errors
    /// When the lock file cannot be made.
    pub fn lock(&self, waits: &dyn Fn()) -> Result<File, Error> {
        let path = self.0.join("team.lock");
        let locked = files::make_folder(&self.0, Readers::Owner).and_then(|()| {
            let mut options = File::options();
            options.write(true).create(true).truncate(false);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    waits();
                    file.lock()?;
                }
                tried => tried?,
            }
            Ok(file)
        });
        locked.map_err(Error::at(&path))
    }
}

/// Remove a folder with all that is in it; one that is not there is removed. No link is followed:
/// what is behind one is not ours.
fn remove_folder(folder: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::at(folder)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::of(folder.path());
        assert!(data.read().unwrap().is_none());
        let mut settings = Settings::new("laptop", "dir:/there", false).unwrap();
        settings
            .repositories
            .insert("github.com/ada/boat".to_owned());
        data.write(&settings).unwrap();
        assert_eq!(data.read().unwrap().as_ref(), Some(&settings));
        let other = Settings::new("laptop", "dir:/there", false).unwrap();
        assert_ne!(settings.key().0, other.key().0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(data.settings())
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn who_waits_for_the_lock_is_told_before() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::of(folder.path());
        let first = data.lock(&|| panic!("nobody else runs")).unwrap();
        let held = std::cell::Cell::new(Some(first));
        // It ends when the other is told; without that the other would wait for ever.
        data.lock(&|| drop(held.take())).unwrap();
        assert!(held.take().is_none());
    }

    #[test]
    fn what_cannot_be_is_an_error_that_names_the_file() {
        assert!(Settings::new("../x", "dir:/there", false).is_err());
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::of(folder.path());
        data.write(&Settings::new("laptop", "dir:/there", false).unwrap())
            .unwrap();
        let good = std::fs::read_to_string(data.settings()).unwrap();
        for (from, to) in [
            ("laptop", "../up"),
            ("\"version\": 1", "\"version\": 9"),
            ("{", "["),
        ] {
            std::fs::write(data.settings(), good.replacen(from, to, 1)).unwrap();
            let error = data.read().unwrap_err().to_string();
            assert!(error.contains("team.json"), "{error}");
        }
    }
}
