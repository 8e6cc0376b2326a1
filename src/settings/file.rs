//! What stands in the configuration file?

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{BadSetting, Redact};

/// Keys of the file, each with what it is for.
pub const KEYS: &[(&str, &str)] = &[
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

/// The table of the keys for sharing.
const TEAM: &str = "team";

/// What may stand there for `roots`, and for `exclude`.
pub const EXAMPLE_OF_ROOTS: &str = r#"roots = ["pi:~/backup/sessions=laptop"]"#;
pub const EXAMPLE_OF_EXCLUDE: &str = r#"exclude = ["~/code/secret", "*.draft.jsonl"]"#;

/// Characters of a wrong value that are repeated, at most.
const LONGEST_VALUE: usize = 60;

/// The file.
#[derive(Debug, Default)]
pub struct ConfigFile {
    pub index: Option<Written>,
    pub roots: Option<Vec<Written>>,
    pub exclude: Option<Vec<Written>>,
    pub follow_links: Option<bool>,
    pub background: Option<bool>,
    pub redact: Option<Redact>,
    pub pager: Option<bool>,
    pub timezone: Option<Written>,
    pub team_auto: Option<bool>,
}

/// A text of the file, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Written {
    /// What stands there.
    pub text: String,
    /// The file and the line, for errors to name them.
    #[serde(skip)]
    pub place: String,
}

impl From<String> for Written {
    /// A text that a program puts in the place of one of the file.
    fn from(text: String) -> Self {
        let place = "configuration".to_owned();
        Self { text, place }
    }
}

impl Written {
    /// What is wrong with it.
    pub(super) fn wrong(&self, key: &str, what: &str) -> BadSetting {
        BadSetting::new(format!("{}: `{key}`: {what}", self.place))
    }
}

/// The file as it is read, each text with the bytes at which it stands.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Keys {
    index: Option<Spanned<String>>,
    roots: Option<Vec<Spanned<String>>>,
    exclude: Option<Vec<Spanned<String>>>,
    follow_links: Option<bool>,
    background: Option<bool>,
    redact: Option<Redact>,
    pager: Option<bool>,
    timezone: Option<Spanned<String>>,
    team: TeamTable,
}

/// What of it is for sharing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TeamTable {
    auto: Option<bool>,
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
    let place = |offset: usize| {
        let line = text[..offset.min(text.len())].matches('\n').count() + 1;
        format!("{}:{line}", path.display())
    };
    let keys = parse(&text).map_err(|(offset, what, hint)| BadSetting {
        what: format!("{}: {what}", place(offset)),
        hint,
    })?;
    let written = |value: Spanned<String>| Written {
        place: place(value.span().start),
        text: value.into_inner(),
    };
    let all = |values: Vec<Spanned<String>>| values.into_iter().map(written).collect();
    Ok(ConfigFile {
        index: keys.index.map(written),
        roots: keys.roots.map(all),
        exclude: keys.exclude.map(all),
        follow_links: keys.follow_links,
        background: keys.background,
        redact: keys.redact,
        pager: keys.pager,
        timezone: keys.timezone.map(written),
        team_auto: keys.team.auto,
    })
}

/// What is wrong: where, what, and what to do.
type ParseError = (usize, String, Option<String>);

fn parse(text: &str) -> Result<Keys, ParseError> {
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let table =
        DeTable::parse(text).map_err(|error| (start(&error), error.message().to_owned(), None))?;
    let keys = keys_of(table.get_ref());
    let is_known = |name: &str| KEYS.iter().any(|(known, _)| *known == name) || name == TEAM;
    if let Some((at, name)) = keys.iter().find(|(_, name)| !is_known(name)) {
        let what = format!("unknown key `{name}`");
        return Err((*at, what, Some(suggestion(name))));
    }
    toml::from_str(text).map_err(|error| {
        let at = start(&error);
        // A value stands behind its key.
        let before = keys.iter().rev().find(|(key, _)| *key <= at);
        let Some((_, key)) = before.filter(|_| error.span().is_some()) else {
            return (at, error.message().to_owned(), None);
        };
        let value = error.span().and_then(|span| text.get(span));
        let value = value
            .and_then(|value| value.lines().next())
            .unwrap_or_default();
        let value: String = value.chars().take(LONGEST_VALUE).collect();
        let (wanted, example) = takes(key);
        let what = format!("`{key}` takes {wanted}, not {value}");
        (at, what, Some(format!("for example {example}")))
    })
}

/// All keys with where they begin, in that order; those of the table for sharing with its name.
fn keys_of(table: &DeTable<'_>) -> Vec<(usize, String)> {
    let mut keys = Vec::new();
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        keys.push((key.span().start, name.to_owned()));
        if let (TEAM, DeValue::Table(inner)) = (name, value.get_ref()) {
            let inner = inner.keys();
            keys.extend(inner.map(|key| (key.span().start, format!("{TEAM}.{}", key.get_ref()))));
        }
    }
    keys.sort();
    keys
}

/// What a key takes, and a line that is right.
fn takes(key: &str) -> (&'static str, &'static str) {
    match key {
        "index" => ("the path of a folder", r#"index = "~/.cache/sessionary""#),
        "roots" => ("a list of texts", EXAMPLE_OF_ROOTS),
        "exclude" => ("a list of texts", EXAMPLE_OF_EXCLUDE),
        "follow_links" => ("true or false", "follow_links = true"),
        "redact" => (
            r#""never", "not-a-terminal" or "always""#,
            r#"redact = "always""#,
        ),
        "pager" => ("true or false", "pager = false"),
        "timezone" => ("the name of a time zone", r#"timezone = "Europe/Berlin""#),
        TEAM => ("a table", "team.auto = true"),
        "team.auto" => ("true or false", "team.auto = true"),
        _ => ("true or false", "background = false"),
    }
}

fn suggestion(name: &str) -> String {
    let near = KEYS
        .iter()
        .map(|(known, _)| (strsim::jaro_winkler(name, known), known))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(similar, _)| *similar > 0.7);
    let known: Vec<&str> = KEYS.iter().map(|(known, _)| *known).collect();
    let known = known.join(", ");
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
        let keys = parse("roots = [\"pi:~/x\"]\nbackground = false\n").unwrap();
        let roots = keys.roots.unwrap();
        assert_eq!(
            (roots[0].get_ref().as_str(), roots[0].span()),
            ("pi:~/x", 9..17)
        );
        assert_eq!(keys.background, Some(false));
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
            wrong("team.aut = true"),
            "5: unknown key `team.aut`; Some(\"did you mean `team.auto`? Known keys: index, roots, exclude, follow_links, background, redact, pager, timezone, team.auto\")"
        );
        assert!(
            wrong("roots = [").starts_with("9: "),
            "{}",
            wrong("roots = [")
        );
    }
    /// Each key, each where something else stands before it.
    #[test]
    fn a_value_of_another_kind_is_told_with_its_key_and_an_example() {
        for (wrong, said) in [
            ("index = 7", "`index` takes the path of a folder, not 7"),
            (
                "roots = \"pi:~/x\"",
                "`roots` takes a list of texts, not \"pi:~/x\"",
            ),
            (
                "roots = [\"pi:~/x\", 7]",
                "`roots` takes a list of texts, not 7",
            ),
            (
                "exclude = \"~/x\"",
                "`exclude` takes a list of texts, not \"~/x\"",
            ),
            ("exclude = [[]]", "`exclude` takes a list of texts, not []"),
            (
                "follow_links = 0",
                "`follow_links` takes true or false, not 0",
            ),
            ("background = 1", "`background` takes true or false, not 1"),
            (
                "redact = true",
                "`redact` takes \"never\", \"not-a-terminal\" or \"always\", not true",
            ),
            (
                "redact = \"sometimes\"",
                "`redact` takes \"never\", \"not-a-terminal\" or \"always\", not \"sometimes\"",
            ),
            (
                "pager = \"less\"",
                "`pager` takes true or false, not \"less\"",
            ),
            (
                "timezone = 1",
                "`timezone` takes the name of a time zone, not 1",
            ),
            ("team = true", "`team` takes a table, not true"),
            ("team.auto = 1", "`team.auto` takes true or false, not 1"),
            ("[team]\nauto = 1", "`team.auto` takes true or false, not 1"),
        ] {
            let text = format!("# first\n{wrong}\n");
            let (at, what, hint) = parse(&text).map(|_| wrong).unwrap_err();
            assert_eq!(what, said);
            assert_eq!(
                text[..at].matches('\n').count(),
                wrong.matches('\n').count() + 1
            );
            // What is proposed is right, and is of that key.
            let hint = hint.unwrap();
            let example = hint.strip_prefix("for example ").unwrap();
            assert!(parse(example).is_ok(), "{example}");
            let key = said.split('`').nth(1).unwrap();
            assert!(example.starts_with(key), "{example}");
        }
    }
}
