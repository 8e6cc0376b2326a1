//! What was set, and by what? Flag before variable before configuration file before default.
//!
//! The command uses this module, and so does any program that wants to find what its user's command
//! finds: for a program, [`Config::of`] is all it takes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::Config;
pub use crate::error::BadSetting;
use crate::error::Error;
use crate::model::Zone;

mod file;
mod places;
mod surroundings;
mod timezone;

#[doc(hidden)]
pub use self::file::KEYS;
pub use self::file::Written;
pub use self::places::known_names;
pub use self::surroundings::Surroundings;

/// Variable that names the index folder.
pub const INDEX_VARIABLE: &str = "SESSIONARY_INDEX_DIR";
/// Variable that is set on most build servers: nobody waits at a terminal there.
const CI_VARIABLE: &str = "CI";

/// Flag that makes one run follow links, whatever the configuration says.
const THIS_TIME: &str = "--follow-links";

/// The command's flags, which override everything else. A program has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--index`: the index folder.
    pub index: Option<PathBuf>,
    /// `--root`: further folders of sessions, `FORMAT:DIR[=LABEL]`.
    pub roots: Vec<String>,
    /// `--no-default-roots`: neither the agents' usual places nor what the file names.
    pub no_default_roots: bool,
    /// `--follow-links`.
    pub follow_links: bool,
    /// `--reveal`.
    pub reveal: bool,
    /// `--utc`.
    pub utc: bool,
    /// `--no-pager`.
    pub no_pager: bool,
}

/// A value and where it comes from: `--flag`, `$VARIABLE`, `config`, `system` or `default`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting<T> {
    /// The value that applies.
    pub value: T,
    /// Where it comes from.
    pub source: &'static str,
}

/// When the command leaves keys and tokens out of what it prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Redact {
    /// Never.
    Never,
    /// Where a program or a file gets them, which may pass them on; so may an agent, whose shell
    /// may have a terminal.
    #[default]
    NotATerminal,
    /// On terminals too.
    Always,
}

/// Everything that can be set permanently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Settings {
    /// The index folder.
    pub index: Setting<PathBuf>,
    /// Further folders of sessions, as `--root` takes them.
    pub roots: Setting<Vec<Written>>,
    /// What is left out.
    pub exclude: Setting<Vec<Written>>,
    /// Whether symbolic links are followed out of the folders of sessions.
    pub follow_links: Setting<bool>,
    /// Whether words are indexed for a moment after an answer.
    pub background: Setting<bool>,
    /// When keys and tokens are left out of what is printed.
    pub redact: Setting<Redact>,
    /// Whether long answers are read in a pager on a terminal; which one is the command's to know.
    pub pager: Setting<bool>,
    /// The reader's time zone.
    pub timezone: Setting<Zone>,
    /// Whether `watch` pushes what is shared, once it has changed.
    pub team_auto: Setting<bool>,
    /// What was set that cannot be, and what holds instead: for the user to read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Config {
    /// What the command, run without flags in these surroundings, would open: its index, all roots,
    /// and its settings. What is to be left out is said [for an index that knows of no rules
    /// yet](crate::Rules::at_first): it does not change those of an index that does.
    ///
    /// ```no_run
    /// use sessionary::settings::Surroundings;
    /// use sessionary::{Config, Freshness, Index};
    ///
    /// let config = Config::of(&Surroundings {
    ///     variables: std::env::vars_os().collect(),
    ///     home: std::env::home_dir(),
    ///     cwd: std::env::current_dir()?,
    /// })?;
    /// let index = Index::open(&config, Freshness::Check)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Setting`] when the configuration file cannot be read, or there is no home folder to
    /// begin at.
    pub fn of(surroundings: &Surroundings) -> Result<Config, Error> {
        let flags = Flags::default();
        let settings = Settings::read(surroundings, &flags)?;
        Ok(settings.config(surroundings, &flags)?)
    }
}

impl Settings {
    /// Reads the file, the variables and the flags.
    ///
    /// # Errors
    /// When the file cannot be read, or there is neither a name nor a home folder for the index.
    pub fn read(surroundings: &Surroundings, flags: &Flags) -> Result<Settings, BadSetting> {
        let settled = match path(surroundings) {
            Some(path) => file::read(&path)?,
            None => file::ConfigFile::default(),
        };
        let (timezone, warning) = timezone::timezone(surroundings, flags, settled.timezone)?;
        Ok(Settings {
            timezone,
            warnings: warning.into_iter().collect(),
            index: index(surroundings, flags, settled.index)?,
            roots: from_file(settled.roots, Vec::new()),
            exclude: from_file(settled.exclude, Vec::new()),
            follow_links: match flags.follow_links && settled.follow_links != Some(true) {
                true => of(true, THIS_TIME),
                false => from_file(settled.follow_links, false),
            },
            background: match surroundings.is_ci() {
                true => of(false, "$CI"),
                false => from_file(settled.background, true),
            },
            redact: match flags.reveal {
                true => of(Redact::Never, "--reveal"),
                false => from_file(settled.redact, Redact::default()),
            },
            pager: match flags.no_pager {
                true => of(false, "--no-pager"),
                false => from_file(settled.pager, true),
            },
            team_auto: from_file(settled.team_auto, false),
        })
    }
}

fn of<T>(value: T, source: &'static str) -> Setting<T> {
    Setting { value, source }
}

fn from_file<T>(value: Option<T>, default: T) -> Setting<T> {
    match value {
        Some(value) => of(value, "config"),
        None => of(default, "default"),
    }
}

fn index(
    surroundings: &Surroundings,
    flags: &Flags,
    configured: Option<Written>,
) -> Result<Setting<PathBuf>, BadSetting> {
    // Shells do not expand the `~` of `--index=~/x`, and nobody wants a folder named `~`.
    if let Some(named) = &flags.index {
        return Ok(of(expanded(surroundings, named), "--index"));
    }
    if let Some(named) = surroundings.set_variable(INDEX_VARIABLE) {
        let named = expanded(surroundings, named.as_ref());
        return Ok(of(named, "$SESSIONARY_INDEX_DIR"));
    }
    if let Some(written) = configured {
        // Else the index would be the folder of the file itself.
        if written.text.trim().is_empty() {
            let hint =
                "name a folder, for example index = \"~/.cache/sessionary\", or leave the line out";
            return Err(written.wrong("index", "it is empty").hint(hint));
        }
        if let Some(hint) = without_variable(&written.text) {
            let what = format!("{} begins with a variable", written.text);
            return Err(written.wrong("index", &what).hint(hint));
        }
        // A relative path starts at the folder of the file, wherever the command runs.
        let named = expanded(surroundings, written.text.as_ref());
        let folder = folder(surroundings).unwrap_or_default();
        return Ok(of(folder.join(named), "config"));
    }
    let cache = surroundings.cache_dir().ok_or_else(|| {
        BadSetting::new("there is no home folder, so there is no cache folder for the index")
            .hint(format!("name one: --index DIR or ${INDEX_VARIABLE}"))
    })?;
    Ok(of(cache.join("sessionary"), "default"))
}

/// What to write instead of a path in the file that begins with a variable, if it does: no shell
/// reads the file, so that would be a folder named `$HOME`.
fn without_variable(path: &str) -> Option<String> {
    let (_, below) = path.strip_prefix('$')?.split_once('/').unwrap_or_default();
    Some(format!(
        "no variables are read in this file; ~ is your home folder, as in ~/{below}"
    ))
}

/// A leading `~` as the home folder: no shell has read it.
fn expanded(surroundings: &Surroundings, path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), &surroundings.home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path.to_path_buf(),
    }
}

/// Where the file is, or would be; `None` without a home folder.
pub fn path(surroundings: &Surroundings) -> Option<PathBuf> {
    let folder = surroundings.config_dir()?.join("sessionary");
    Some(folder.join("config.toml"))
}

/// The folder of the file: relative places in it start there.
fn folder(surroundings: &Surroundings) -> Option<PathBuf> {
    path(surroundings)?.parent().map(Path::to_path_buf)
}
