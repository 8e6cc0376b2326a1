//! What surrounds an agent that is started: where it would look for its own folders.

use std::ffi::OsString;
use std::path::PathBuf;

/// What an agent started now, here, would find around it.
#[derive(Clone)]
pub struct Environment<'a> {
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The platform's folder for program data (`~/.local/share` or `$XDG_DATA_HOME` on Linux).
    pub data_dir: Option<PathBuf>,
    /// Looks up an environment variable.
    pub var: &'a dyn Fn(&str) -> Option<OsString>,
    /// The current directory: relative places and project settings are those of it.
    pub cwd: PathBuf,
    /// Whether the agents' settings files may be read.
    pub read_settings: bool,
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("home", &self.home)
            .field("data_dir", &self.data_dir)
            .field("cwd", &self.cwd)
            .field("read_settings", &self.read_settings)
            .finish_non_exhaustive()
    }
}
