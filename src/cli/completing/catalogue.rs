//! What does the catalogue know of that may be typed next? As the last writer left it.

use std::collections::HashSet;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches};
use sessionary::index::{NameScope, TitleMatch};
use sessionary::model::Zone;
use sessionary::settings::{Redact, Surroundings};
use sessionary::syntax::Now;
use sessionary::{Freshness, Index};

use crate::args::{Cli, Global};
use crate::here::Here;
use crate::places;
use crate::redact;

/// Answers that are offered, at most.
const MOST: usize = 100;

/// Characters of a title that is offered, at most: nobody goes on typing a longer one.
const LONGEST_TITLE: usize = 60;

/// A session that may be meant.
pub struct SessionCandidate {
    pub id: String,
    pub title: String,
    pub cwd: String,
    pub modified_ms: i64,
}

/// The catalogue that the words typed so far speak of.
pub struct KnownValues {
    index: Index,
    /// The current directory, as it is typed and with links resolved.
    cwd: Vec<PathBuf>,
    /// What `last` is the newest session of.
    here: Here,
    shows_keys: bool,
    zone: Zone,
}

impl KnownValues {
    /// `None` where there is none, for whatever reason.
    pub fn open() -> Option<Self> {
        let typed = std::env::args_os().skip_while(|word| word != "--").skip(1);
        let typed = Cli::command()
            .ignore_errors(true)
            .try_get_matches_from(typed);
        let global = Global::from_arg_matches(&typed.ok()?).ok()?;
        // A demo has its sessions only while it runs.
        if global.demo {
            return None;
        }
        let settings = places::settings(&global).ok()?;
        let mut config = places::config(&global, &settings).ok()?;
        // Else the settings of every project would be read.
        config.project_roots = None;
        let index = Index::open(&config, Freshness::AsCommitted).ok()?;
        let cwd = places::surroundings().cwd;
        // Told nothing else it writes nothing, and knows no working trees that are gone.
        let here = match global.dir {
            true => Here::alone(cwd.clone()),
            false => Here::around(cwd.clone(), &Surroundings::default()),
        };
        Some(Self {
            here,
            cwd: cwd.canonicalize().into_iter().chain([cwd]).collect(),
            shows_keys: settings.redact.value == Redact::Never || global.reveal,
            index: Some(index).filter(Index::is_made)?,
            zone: settings.timezone.value,
        })
    }

    /// What this index knows.
    pub fn of(index: Index, shows_keys: bool) -> Self {
        Self {
            index,
            cwd: Vec::new(),
            here: Here::alone(PathBuf::new()),
            shows_keys,
            zone: Zone::UTC,
        }
    }

    /// Sessions whose id starts so, those of this directory first, then the newest.
    pub fn sessions(&self, beginning: &str) -> Vec<SessionCandidate> {
        let rows = self.rows(&format!(
            "SELECT id, substr(title, 1, 400), cwd, modified_ms FROM sessions
             WHERE current AND NOT is_subagent AND {} ORDER BY {} DESC, modified_ms DESC",
            starts("id", beginning),
            self.is_here()
        ));
        let offered = rows.into_iter().filter_map(|row| {
            let [id, title, cwd, modified_ms] = <[String; 4]>::try_from(row).ok()?;
            Some(SessionCandidate {
                id,
                title: self.shown(title),
                cwd: self.shown(cwd),
                modified_ms: modified_ms.parse().unwrap_or_default(),
            })
        });
        offered.collect()
    }

    /// What sessions are called in this column, where that starts so and can be typed; those of
    /// this directory first, then the newest.
    pub fn called(&self, column: &str, beginning: &str) -> Vec<String> {
        let rows = self.rows(&format!(
            "SELECT {column} FROM sessions WHERE current AND NOT is_subagent AND {}
             AND length({column}) <= {LONGEST_TITLE} ORDER BY {} DESC, modified_ms DESC",
            starts(column, beginning),
            self.is_here()
        ));
        let mut titles: Vec<String> = rows.into_iter().flatten().collect();
        // Shells offer only what begins as it is typed.
        titles.retain(|title| title.starts_with(beginning) && *title == self.shown(title.clone()));
        let mut seen = HashSet::new();
        titles.retain(|title| seen.insert(title.clone()));
        titles
    }

    /// The moment and the zone that ages are told in.
    pub fn now(&self) -> Now<'_> {
        Now {
            ms: jiff::Timestamp::now().as_millisecond(),
            zone: &self.zone,
        }
    }

    /// The ids of all sessions.
    pub fn ids(&self) -> Vec<String> {
        self.texts("SELECT id FROM sessions WHERE current")
    }

    /// The labelled entries of a session, by any of its names, and their labels.
    pub fn labelled(&self, session: &str) -> Vec<(String, String)> {
        let scope = NameScope {
            cwd: self.here.directory.clone(),
            last: Some(self.here.own_list()),
            titles: TitleMatch::Part,
        };
        // A beginning of several ids may still become one.
        let is_meant = match self.index.resolve(session, &scope) {
            Ok(row) => format!("path = {}", quoted(&row.path.to_string_lossy())),
            Err(_) => starts("id", session),
        };
        let which =
            format!("session IN (SELECT session FROM sessions WHERE current AND {is_meant})");
        // Of several labels of an entry the last one holds.
        let rows = self.rows(&format!(
            "SELECT target, text FROM (SELECT target, text, max(entry) FROM labels WHERE {which}
             GROUP BY session, target) WHERE text <> ''"
        ));
        let pairs = rows
            .into_iter()
            .filter_map(|row| <[String; 2]>::try_from(row).ok());
        pairs
            .map(|[entry, text]| (entry, self.shown(text)))
            .collect()
    }

    /// What stands in the one column of an answer, each once. What is redacted where it is printed
    /// is not offered: it could not be typed like that.
    pub fn column(&self, query: &str) -> Vec<String> {
        let mut values = self.texts(query);
        values.retain(|value| self.shows_keys || redact::redacted(value).is_none());
        values
    }

    fn texts(&self, query: &str) -> Vec<String> {
        let mut values: Vec<String> = self
            .index
            .sql(query, &[])
            .map(|answer| answer.rows)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|row| text(row.into_iter().next()?))
            .collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    fn rows(&self, query: &str) -> Vec<Vec<String>> {
        let answer = self.index.sql(&format!("{query} LIMIT {MOST}"), &[]);
        let rows = answer.map(|answer| answer.rows).unwrap_or_default();
        let texts = |row: Vec<serde_json::Value>| {
            row.into_iter()
                .map(|value| text(value).unwrap_or_default())
                .collect()
        };
        rows.into_iter().map(texts).collect()
    }

    /// Whether a session ran in this directory, in SQL.
    fn is_here(&self) -> String {
        let here = self.cwd.iter().filter_map(|path| path.to_str());
        let here: Vec<String> = here.map(quoted).collect();
        format!("cwd IN ({})", here.join(", "))
    }

    /// Text of a session, keys left out.
    fn shown(&self, text: String) -> String {
        match self.shows_keys {
            true => text,
            false => redact::redacted(&text).unwrap_or(text),
        }
    }
}

/// Whether a column starts so, in any case, in SQL.
fn starts(column: &str, beginning: &str) -> String {
    let length = beginning.chars().count();
    let beginning = quoted(&beginning.to_lowercase());
    format!("lower(substr({column}, 1, {length})) = {beginning}")
}

/// A text in SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn text(value: serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Null => None,
        other => Some(other.to_string()),
    }
}
