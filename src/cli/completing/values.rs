//! What may stand in the place of one value? Nothing that a terminal would act on is offered.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, is_separator};

use clap::CommandFactory;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use sessionary::model::{ShortIds, project_name};
use sessionary::settings::known_names;

use super::catalogue::KnownValues;
use crate::args::Cli;
use crate::output::text::{acts, plain_beginning};
use crate::output::time::age;

/// Characters of a title that are shown, at most.
const TITLE: usize = 60;
/// Colons behind which an entry may begin, at most: each is looked up.
const MOST_COLONS: usize = 3;

/// Times as they are typed most.
const TIMES: [&str; 8] = [
    "today",
    "yesterday",
    "2h",
    "1d",
    "3d",
    "1w",
    "last-week",
    "1mo",
];

/// Of so many of the newest entries it is told which roles, kinds and ends they have: to look at
/// all would take longer than somebody waits for a word.
const NEWEST: usize = 10_000;

/// The filters of a query whose values are few or known, and those values for which no catalogue is
/// needed.
const FILTERS: [(&str, &[&str]); 19] = [
    ("agent", &[]),
    ("project", &[]),
    ("repo", &[]),
    ("host", &[]),
    ("model", &[]),
    ("provider", &[]),
    ("tool", &[]),
    ("label", &[]),
    (
        "role",
        &[
            "user",
            "assistant",
            "toolResult",
            "bashExecution",
            "injected",
            "system",
        ],
    ),
    (
        "kind",
        &[
            "message",
            "compaction",
            "branch_summary",
            "label",
            "session_info",
            "model_change",
            "system",
        ],
    ),
    ("status", &["error", "aborted", "completed"]),
    ("is", &["error", "branch", "named"]),
    ("has", &["image"]),
    ("since", &TIMES),
    ("until", &TIMES),
    ("on", &["today", "yesterday", "last-week"]),
    ("session", &[""]),
    ("file", &[""]),
    ("cwd", &[""]),
];

/// Sessions by id, beside their titles, or by title where no id begins so; files where a path is
/// typed.
pub fn session() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| sessions(typed, Named::Anyhow))
}

/// Sessions by id or by name, as those are named that are removed.
pub fn session_in_full() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| sessions(typed, Named::InFull))
}

/// Sessions, and behind a colon their labelled entries.
pub fn address() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| sessions(typed, Named::WithEntry))
}

/// Names of agents.
pub fn agent() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| matching(typed, agents(KnownValues::open().as_ref())))
}

/// Projects by the name of their folder, or folders where a path is typed.
pub fn project() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| match is_path(typed) {
        true => paths(typed, PathCompleter::dir()),
        false => matching(typed, known(projects)),
    })
}

/// Models.
pub fn model() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| matching(typed, known(|asked| used("model", asked))))
}

/// Labels.
pub fn label() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| matching(typed, known(labels)))
}

/// Words of a query: filters and what they compare with.
pub fn query() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| filters(typed))
}

/// Commands.
pub fn command() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let all = Cli::command();
        let names = all.get_subcommands().map(|one| one.get_name().to_owned());
        matching(typed, names.collect())
    })
}

/// Moments.
pub fn when() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| matching(typed, TIMES.map(str::to_owned).to_vec()))
}

/// Folders.
pub fn folder() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| paths(typed, PathCompleter::dir()))
}

/// Files.
pub fn file() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| paths(typed, PathCompleter::file()))
}

/// How a session may be named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Anyhow,
    /// And an entry of it behind a colon.
    WithEntry,
    /// Not by its place in a list, nor by what was typed first in it.
    InFull,
}

fn sessions(typed: &OsStr, named: Named) -> Vec<CompletionCandidate> {
    if is_path(typed) {
        return paths(typed, PathCompleter::file());
    }
    let (Some(typed), Some(asked)) = (typed.to_str(), KnownValues::open()) else {
        return Vec::new();
    };
    // A colon may belong to the name itself.
    let entries = typed.rmatch_indices(':').take(MOST_COLONS).map(|(at, _)| {
        let (session, entry) = (&typed[..at], &typed[at + 1..]);
        let labelled = asked.labelled(session).into_iter();
        let begun = labelled.filter(|(id, _)| id.starts_with(entry));
        let offers = begun.filter_map(|(id, label)| offered(&format!("{session}:{id}"), &label));
        offers.collect::<Vec<_>>()
    });
    let entries = entries.filter(|offers| named == Named::WithEntry && !offers.is_empty());
    let entries = { entries }.next().unwrap_or_default();
    let short = ShortIds::of(asked.ids().into_iter().map(Into::into).collect());
    let mut sessions = asked.sessions(typed);
    // Made printable it would be no id any more.
    sessions.retain(|one| !one.id.contains(|c: char| acts(c) || c.is_control()));
    let sessions = sessions.into_iter().filter_map(|one| {
        // What is typed stays as it is.
        let id = match short.short(&one.id) {
            short if short.starts_with(typed) => short.to_owned(),
            _ => one.id,
        };
        let modified = jiff::Timestamp::from_millisecond(one.modified_ms).ok()?;
        let about = [
            age(Some(&modified.to_string()), asked.now()),
            plain_beginning(&one.title, TITLE),
            Path::new(&one.cwd)
                .file_name()?
                .to_string_lossy()
                .into_owned(),
        ];
        offered(&id, &about.join(" · "))
    });
    let last = offered("last", "the first session of a list here");
    let last = last.filter(|_| named != Named::InFull && "last".starts_with(typed));
    let all: Vec<_> = entries.into_iter().chain(last).chain(sessions).collect();
    if typed.is_empty() || !all.is_empty() {
        return all;
    }
    let column = if named == Named::InFull {
        "name"
    } else {
        "title"
    };
    let titles = asked.called(column, typed).into_iter();
    let titles = titles.filter(|title| !title.contains(char::is_control));
    titles.filter_map(|title| offered(&title, "")).collect()
}

fn filters(typed: &OsStr) -> Vec<CompletionCandidate> {
    // Nobody who has typed nothing needs all of them.
    let Some(typed) = typed.to_str().filter(|typed| !typed.is_empty()) else {
        return Vec::new();
    };
    // What is left out is found by the same filters.
    let sign = typed.starts_with(['-', '!', '+']).then_some(&typed[..1]);
    let sign = sign.unwrap_or_default();
    let (whole, typed) = (typed, &typed[sign.len()..]);
    let name = typed.split(':').next().unwrap_or_default();
    let begun = |filter: &&(&str, &[&str])| match name.len() < typed.len() {
        true => filter.0 == name,
        false => filter.0.starts_with(name),
    };
    let asked = KnownValues::open();
    let mut all = Vec::new();
    for (filter, values) in FILTERS.iter().filter(begun) {
        let mut known = with(values, asked.as_ref().map(|asked| of_filter(filter, asked)));
        // Others would have to be quoted for the query and once more for the shell.
        known.retain(|value| {
            value
                .chars()
                .all(|c| c.is_alphanumeric() || "-_./@+".contains(c))
        });
        all.extend(known.iter().map(|value| format!("{sign}{filter}:{value}")));
    }
    matching(OsStr::new(whole), all)
}

/// The names of the filters.
pub fn filter_names() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().map(|(name, _)| *name)
}

/// What a filter can compare with, as far as that is known: its few values, or those of the
/// catalogue. `None`: there is no filter of that name.
pub fn values_of(filter: &str, asked: &KnownValues) -> Option<Vec<String>> {
    let (name, values) = FILTERS.iter().find(|(name, _)| *name == filter)?;
    Some(with(values, Some(of_filter(name, asked))))
}

/// These values, and those of the catalogue that are others.
fn with(values: &[&str], of_catalogue: Option<Vec<String>>) -> Vec<String> {
    let mut others = of_catalogue.unwrap_or_default();
    others.retain(|value| !values.contains(&value.as_str()));
    let values = values.iter().map(|value| (*value).to_owned());
    values.chain(others).collect()
}

/// What a filter can compare with that the catalogue knows.
fn of_filter(filter: &str, asked: &KnownValues) -> Vec<String> {
    match filter {
        "agent" => agents(Some(asked)),
        "project" => projects(asked),
        "repo" => asked.column("SELECT DISTINCT repository FROM sessions WHERE current"),
        "host" => asked.column("SELECT DISTINCT host FROM sessions WHERE current AND host <> ''"),
        "model" | "provider" => used(filter, asked),
        "tool" => asked.column("SELECT tool FROM tools"),
        "label" => labels(asked),
        "role" | "kind" => newest(filter, asked),
        "status" => newest("stop_reason", asked),
        _ => Vec::new(),
    }
}

/// The models or providers that sessions used, and those with which they stand. Read from the
/// table below the view `usage_by_model`, which adds all of it up: 0.03 s and 0.47 s of 18,000
/// sessions.
fn used(column: &str, asked: &KnownValues) -> Vec<String> {
    asked.column(&format!(
        "SELECT {column} FROM _usage_sums WHERE block >> 16 IN
             (SELECT session FROM _sessions JOIN _roots USING (root) WHERE current)
         UNION SELECT {column} FROM sessions WHERE current"
    ))
}

/// What the newest entries have in a column.
fn newest(column: &str, asked: &KnownValues) -> Vec<String> {
    asked.column(&format!(
        "SELECT DISTINCT {column} FROM
         (SELECT e.{column}
          FROM (SELECT session FROM sessions WHERE current
                ORDER BY modified_ms DESC LIMIT {NEWEST}) s CROSS JOIN entries e
          WHERE e.entry BETWEEN s.session << 24 AND (s.session << 24) + 16777215
          LIMIT {NEWEST})"
    ))
}

/// What the catalogue knows, if there is one.
fn known(of: impl Fn(&KnownValues) -> Vec<String>) -> Vec<String> {
    KnownValues::open()
        .map(|asked| of(&asked))
        .unwrap_or_default()
}

fn agents(asked: Option<&KnownValues>) -> Vec<String> {
    let known = known_names().into_iter().map(str::to_owned);
    let there = asked.map(|asked| asked.column("SELECT DISTINCT agent FROM sessions"));
    let all: BTreeSet<String> = known.chain(there.into_iter().flatten()).collect();
    all.into_iter().collect()
}

fn projects(asked: &KnownValues) -> Vec<String> {
    let folders = asked.column("SELECT DISTINCT cwd FROM sessions WHERE current");
    let names: BTreeSet<&str> = folders.iter().map(|cwd| project_name(cwd)).collect();
    let names = names.into_iter().filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

fn labels(asked: &KnownValues) -> Vec<String> {
    asked.column("SELECT DISTINCT text FROM labels WHERE text <> '' ORDER BY text LIMIT 200")
}

/// Those that start with what is typed.
fn matching(typed: &OsStr, all: Vec<String>) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else {
        return Vec::new();
    };
    all.into_iter()
        .filter(|value| value.starts_with(typed))
        .filter_map(|value| offered(&value, ""))
        .collect()
}

/// Paths that are no danger to a terminal.
fn paths(typed: &OsStr, of: PathCompleter) -> Vec<CompletionCandidate> {
    let mut paths = of.complete(typed);
    paths.retain(|path| {
        path.get_value()
            .to_str()
            .is_some_and(|text| !text.contains(acts))
    });
    paths
}

fn is_path(typed: &OsStr) -> bool {
    let typed = typed.to_string_lossy();
    typed.starts_with(['~', '.']) || typed.contains(is_separator)
}

/// A value and what is said about it; `None` when a terminal or a shell would act on it.
fn offered(value: &str, about: &str) -> Option<CompletionCandidate> {
    let is_plain = !value.is_empty() && !value.contains(acts);
    let about = plain_beginning(about, 2 * TITLE);
    let about = Some(about).filter(|about| !about.is_empty());
    is_plain.then(|| CompletionCandidate::new(value).help(about.map(Into::into)))
}
