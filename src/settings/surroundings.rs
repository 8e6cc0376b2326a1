//! What would the command find around it? Variables, home and directory, handed in by whoever may
//! look at them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::CI_VARIABLE;
use crate::format::agent_called;
use crate::locations::{self, Environment, NotRead};
use crate::source::root::RootSpec;

/// What a program finds around it. The library looks at nothing of that itself.
///
/// ```
/// use sessionary::settings::Surroundings;
/// let here = Surroundings {
///     variables: std::env::vars_os().collect(),
///     home: std::env::home_dir(),
///     cwd: std::env::current_dir()?,
/// };
/// # assert_eq!(here.variable("surely not set"), None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The environment's variables.
    pub variables: BTreeMap<OsString, OsString>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The current directory: relative places and the agents' settings of a project are those of
    /// it.
    pub cwd: PathBuf,
}

impl Surroundings {
    /// A variable; on Windows whatever the case of its name.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let value = match cfg!(windows) {
            false => self.variables.get(OsStr::new(name)),
            true => {
                let mut all = self.variables.iter();
                let is_it = |known: &OsString| known.eq_ignore_ascii_case(name);
                all.find_map(|(known, value)| is_it(known).then_some(value))
            }
        };
        value.map(OsString::as_os_str)
    }

    /// A variable that is set and not empty.
    pub(super) fn set_variable(&self, name: &str) -> Option<&OsStr> {
        self.variable(name).filter(|value| !value.is_empty())
    }

    /// Whether a service builds or tests something here: `$CI` is set, and neither `false` nor `0`.
    pub(super) fn is_ci(&self) -> bool {
        let set = self.set_variable(CI_VARIABLE);
        set.is_some_and(|ci| ci != "0" && !ci.eq_ignore_ascii_case("false"))
    }

    /// The user's folder for what can be made again: `~/.cache`, `~/Library/Caches`,
    /// `%LOCALAPPDATA%`.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        self.folder("XDG_CACHE_HOME", ".cache", "Library/Caches", "LOCALAPPDATA")
    }

    /// The user's folder for settings: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.folder("XDG_CONFIG_HOME", ".config", SUPPORT, "APPDATA")
    }

    /// The user's folder for program data: `~/.local/share`, `~/Library/Application Support`,
    /// `%APPDATA%`.
    pub fn data_dir(&self) -> Option<PathBuf> {
        self.folder("XDG_DATA_HOME", ".local/share", SUPPORT, "APPDATA")
    }

    /// A folder of the user's, by the rules of the system: of freedesktop.org (a variable counts if
    /// it is absolute), of macOS, of Windows.
    fn folder(&self, xdg: &str, unix: &str, macos: &str, windows: &str) -> Option<PathBuf> {
        let named = |name: &str| {
            let named = self.variable(name).map(Path::new);
            named.filter(|named| named.is_absolute())
        };
        let below = |folder: &str| Some(self.home.as_ref()?.join(folder));
        if cfg!(windows) {
            named(windows).map(Path::to_path_buf)
        } else if cfg!(target_os = "macos") {
            below(macos)
        } else {
            named(xdg).map(Path::to_path_buf).or_else(|| below(unix))
        }
    }

    /// The agents whose sessions are there and are not read where only these roots are.
    pub fn not_read(&self, roots: &[RootSpec]) -> Vec<NotRead> {
        self.ask(&self.cwd, |environment| {
            locations::not_read(environment, roots)
        })
    }

    /// The folder in which that agent itself would begin a session of this directory, in files of
    /// that format, as [`locations::root_of_new`] finds it.
    pub fn root_of_new(&self, agent: &str, format: &str, directory: &Path) -> Option<RootSpec> {
        let agent = agent_called(agent)?;
        self.ask(directory, |environment| {
            locations::root_of_new(agent, format, environment)
        })
    }

    /// Ask the agents' places of it, as of a program that runs in `cwd`.
    pub(super) fn ask<T>(&self, cwd: &Path, ask: impl FnOnce(&Environment<'_>) -> T) -> T {
        ask(&Environment {
            home: self.home.clone(),
            data_dir: self.data_dir(),
            var: &|name| self.variable(name).map(OsStr::to_os_string),
            cwd: cwd.to_path_buf(),
            read_settings: true,
        })
    }
}

/// Where macOS has programs keep what is theirs.
const SUPPORT: &str = "Library/Application Support";
