//! What stands in the configuration file?

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::DeTable;

use super::{BadSetting, Redact};

/// Keys of the file, each with what it is for.
pub const KEYS: [(&str, &str); 9] = [
    ("index", "folder of the index"),
    ("roots", "more session folders, each as --root takes it"),
    (
        "exclude",
        "globs for working directories and files that are not stored",
    ),
    (
        "follow_links",
        "whether symbolic links are followed out of the session folders",
    ),
    (
        "background",
        "whether words are indexed for a moment after an answer",
    ),
    ("redact", "when keys and tokens are redacted"),
    (
        "pager",
        "whether long output on a terminal is shown in a pager",
    ),
    ("timezone", "the time zone of days and printed times"),
    ("team.auto", "whether `watch` pushes what is shared"),
];

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ConfigFile {
    pub index: Option<PathBuf>,
    pub roots: Option<Vec<String>>,
    pub exclude: Option<Vec<String>>,
    pub follow_links: Option<bool>,
    pub background: Option<bool>,
    pub redact: Option<Redact>,
    pub pager: Option<bool>,
    pub timezone: Option<String>,
    pub team: TeamTable,
}

/// What of it is for sharing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TeamTable {
    pub auto: Option<bool>,
}

/// Reads the file. A missing file counts as empty.
pub fn read(path: &Path) -> Result<ConfigFile, BadSetting> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ConfigFile::default()),
        Err(error) => {
            return Err(BadSetting::new(format!("{}: {error}", path.display())));
        }
    };
    parse(&text).map_err(|(offset, what, hint)| {
        let line = text[..offset.min(text.len())].matches('\n').count() + 1;
        BadSetting {
            what: format!("{}:{line}: {what}", path.display()),
            hint,
        }
    })
}

/// What is wrong: where, what, and what to do.
type ParseError = (usize, String, Option<String>);

fn parse(text: &str) -> Result<ConfigFile, ParseError> {
    let wrong = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, error.message().to_owned(), None)
    };
    let table = DeTable::parse(text).map_err(wrong)?;
    for key in table.get_ref().keys() {
        let name = key.get_ref().as_ref();
        let table = |known: &'static str| known.split('.').next();
        if KEYS.iter().all(|(known, _)| table(known) != Some(name)) {
            let what = format!("unknown key `{name}`");
            return Err((key.span().start, what, Some(suggestion(name))));
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
        Some((_, near)) => format!("did you mean `{near}`? Known keys: {known}"),
        None => format!("known keys: {known}"),
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
            "1: unknown key `rot`; Some(\"did you mean `roots`? Known keys: index, roots, exclude, follow_links, background, redact, pager, timezone, team.auto\")"
        );
        assert_eq!(
            wrong("zzz = 1"),
            "0: unknown key `zzz`; Some(\"known keys: index, roots, exclude, follow_links, background, redact, pager, timezone, team.auto\")"
        );
        assert_eq!(
            wrong("background = 1"),
            "13: invalid type: integer `1`, expected a boolean; None"
        );
        assert_eq!(
            wrong("team.aut = true"),
            "5: unknown field `aut`, expected `auto`; None"
        );
        assert!(
            wrong("roots = [").starts_with("9: "),
            "{}",
            wrong("roots = [")
        );
    }
}
