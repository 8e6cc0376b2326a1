//! What was set, and by what? Flag before variable before configuration file before default.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::de::DeTable;

use crate::args::Global;
use crate::failure::Failure;
use crate::redact::Redact;

/// Variable that names the index folder.
pub const INDEX_VARIABLE: &str = "SESSIONARY_INDEX_DIR";
/// What says that nobody waits at a terminal, on most build servers.
const CI_VARIABLE: &str = "CI";

/// A value and where it comes from: `--flag`, `$VARIABLE`, `config` or `default`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting<T> {
    pub value: T,
    pub source: &'static str,
}

/// Everything that can be set for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// The index folder.
    pub index: Setting<PathBuf>,
    /// Further folders of sessions, as `--root` takes them.
    pub roots: Setting<Vec<String>>,
    /// What is left out.
    pub exclude: Setting<Vec<String>>,
    /// Whether symbolic links are followed out of the folders of sessions.
    pub follow_links: Setting<bool>,
    /// Whether words are indexed for a moment after an answer.
    pub background: Setting<bool>,
    /// When keys and tokens are left out of what is printed.
    pub redact: Setting<Redact>,
}

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    index: Option<PathBuf>,
    roots: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    follow_links: Option<bool>,
    background: Option<bool>,
    redact: Option<Redact>,
}

/// Keys of the file, each with what it is for.
pub const KEYS: [(&str, &str); 6] = [
    ("index", "folder of the index"),
    (
        "roots",
        "further folders of sessions, each as --root takes it",
    ),
    (
        "exclude",
        "globs on working directories and files: nothing of them is stored",
    ),
    (
        "follow_links",
        "whether symbolic links are followed out of the folders of sessions",
    ),
    (
        "background",
        "whether words are indexed for a moment after an answer",
    ),
    ("redact", "when keys and tokens are left out"),
];

impl Settings {
    /// Reads the file, the variables and the flags.
    pub fn read(global: &Global) -> Result<Settings, Failure> {
        let file = match path() {
            Some(path) => read(&path)?,
            None => File::default(),
        };
        Ok(Settings {
            index: index(global, file.index)?,
            roots: from_file(file.roots, "default", Vec::new()),
            exclude: from_file(file.exclude, "default", Vec::new()),
            follow_links: match global.follow_links {
                true => Setting {
                    value: true,
                    source: "--follow-links",
                },
                false => from_file(file.follow_links, "default", false),
            },
            background: match env::var_os(CI_VARIABLE).filter(|ci| !ci.is_empty()) {
                Some(_) => Setting {
                    value: false,
                    source: "$CI",
                },
                None => from_file(file.background, "default", true),
            },
            redact: match global.reveal {
                true => Setting {
                    value: Redact::Never,
                    source: "--reveal",
                },
                false => from_file(file.redact, "default", Redact::default()),
            },
        })
    }
}

fn from_file<T>(value: Option<T>, otherwise: &'static str, default: T) -> Setting<T> {
    match value {
        Some(value) => Setting {
            value,
            source: "config",
        },
        None => Setting {
            value: default,
            source: otherwise,
        },
    }
}

fn index(global: &Global, configured: Option<PathBuf>) -> Result<Setting<PathBuf>, Failure> {
    let of = |value, source| Setting { value, source };
    if let Some(named) = &global.index {
        return Ok(of(named.clone(), "--index"));
    }
    if let Some(named) = env::var_os(INDEX_VARIABLE).filter(|named| !named.is_empty()) {
        return Ok(of(named.into(), "$SESSIONARY_INDEX_DIR"));
    }
    if let Some(named) = configured {
        // A relative one starts at the file, wherever the command runs.
        let named = expanded(&named);
        return Ok(of(folder().unwrap_or_default().join(named), "config"));
    }
    let cache = dirs::cache_dir().ok_or_else(|| {
        Failure::usage("there is no home folder, so there is no cache folder for the index")
            .hint(format!("name one: --index DIR or ${INDEX_VARIABLE}"))
    })?;
    Ok(of(cache.join("sessionary"), "default"))
}

/// A leading `~` as the home folder: the file is read by no shell.
pub fn expanded(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), dirs::home_dir()) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path.to_path_buf(),
    }
}

/// Where the file is, or would be; `None` without a home folder.
pub fn path() -> Option<PathBuf> {
    Some(dirs::config_dir()?.join("sessionary").join("config.toml"))
}

/// The folder of the file: relative places in it start there.
pub fn folder() -> Option<PathBuf> {
    path()?.parent().map(Path::to_path_buf)
}

/// Reads the file; none is as good as an empty one.
fn read(path: &Path) -> Result<File, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(File::default()),
        Err(error) => {
            return Err(Failure::usage(format!("{}: {error}", path.display())));
        }
    };
    parse(&text).map_err(|(offset, message, hint)| {
        let line = text[..offset.min(text.len())].matches('\n').count() + 1;
        let failure = Failure::usage(format!("{}:{line}: {message}", path.display()));
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    })
}

/// What is wrong: where, what, and what to do.
type Wrong = (usize, String, Option<String>);

fn parse(text: &str) -> Result<File, Wrong> {
    let wrong = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, error.message().to_owned(), None)
    };
    let table = DeTable::parse(text).map_err(wrong)?;
    for key in table.get_ref().keys() {
        let name = key.get_ref().as_ref();
        if KEYS.iter().all(|(known, _)| *known != name) {
            let message = format!("unknown key `{name}`");
            return Err((key.span().start, message, Some(suggestion(name))));
        }
    }
    toml::from_str(text).map_err(wrong)
}

fn suggestion(name: &str) -> String {
    let near = KEYS
        .iter()
        .map(|(known, _)| (strsim::jaro_winkler(name, known), known))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(similar, _)| *similar > 0.7);
    let known = KEYS.map(|(known, _)| known).join(", ");
    match near {
        Some((_, near)) => format!("did you mean `{near}`? Known are {known}"),
        None => format!("known are {known}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let file = parse("roots = [\"pi:~/x\"]\nbackground = false\n").ok();
        let file = file.map(|file| (file.roots, file.background));
        assert_eq!(file, Some((Some(vec!["pi:~/x".to_owned()]), Some(false))));
        let wrong = |text: &str| {
            parse(text).map_or_else(
                |(at, what, hint)| format!("{at}: {what}; {hint:?}"),
                |_| "right".to_owned(),
            )
        };
        assert_eq!(
            wrong("\nrot = []\n"),
            "1: unknown key `rot`; Some(\"did you mean `roots`? Known are index, roots, exclude, follow_links, background, redact\")"
        );
        assert_eq!(
            wrong("zzz = 1"),
            "0: unknown key `zzz`; Some(\"known are index, roots, exclude, follow_links, background, redact\")"
        );
        assert_eq!(
            wrong("background = 1"),
            "13: invalid type: integer `1`, expected a boolean; None"
        );
        assert!(
            wrong("roots = [").starts_with("9: "),
            "{}",
            wrong("roots = [")
        );
    }
}
