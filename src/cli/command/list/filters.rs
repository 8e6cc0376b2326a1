//! What do the words behind `--since`, `--until`, `--project` and `--agent` ask for?

use std::path::{Component, Path, PathBuf};

use sessionary::Config;
use sessionary::settings::known_names;
use sessionary::syntax::{self, Filters};

use crate::failure::Failure;
use crate::output::Screen;
use crate::output::fields::nearest;

/// From when on, and until when.
pub fn moments(
    since: Option<&str>,
    until: Option<&str>,
    screen: &Screen,
) -> Result<(Option<i64>, Option<i64>), Failure> {
    let since_ms = moment("since", since, screen)?.since_ms;
    let until_ms = moment("until", until, screen)?.until_ms;
    if let (Some(since), Some(until)) = (since, until)
        && since_ms >= until_ms
    {
        return Err(Failure::usage(format!(
            "--since {since} is not before the end of --until {until}"
        ))
        .hint("--since takes the earlier time, --until the later one"));
    }
    Ok((since_ms, until_ms))
}

/// A directory made absolute; a name stays as it is.
pub fn project(text: &str) -> String {
    if !text.contains(std::path::is_separator) && ![".", ".."].contains(&text) {
        return text.to_owned();
    }
    let path = Path::new(text);
    let found = path.canonicalize().unwrap_or_else(|_| {
        // A folder that is gone: by its name alone.
        let mut found = PathBuf::new();
        for part in std::path::absolute(path)
            .as_deref()
            .unwrap_or(path)
            .components()
        {
            match part {
                Component::ParentDir => drop(found.pop()),
                part => found.push(part),
            }
        }
        found
    });
    let mut found = found.display().to_string();
    // What has no separator would be taken for a name.
    found.push(std::path::MAIN_SEPARATOR);
    found
}

/// A moment as `search` reads it.
fn moment(which: &str, when: Option<&str>, screen: &Screen) -> Result<Filters, Failure> {
    moment_called(&format!("--{which}"), which, when, screen)
}

/// A moment as `search` reads it, by what whoever asks calls it.
pub fn moment_called(
    called: &str,
    which: &str,
    when: Option<&str>,
    screen: &Screen,
) -> Result<Filters, Failure> {
    let Some(when) = when else {
        return Ok(Filters::default());
    };
    let query = format!("{which}:\"{when}\"");
    let read = syntax::parse(&query, screen.now());
    let meant = read.as_ref().err().and_then(|error| {
        let said = error.suggestion.as_deref()?;
        let meant = said.strip_prefix("did you mean ")?.strip_prefix(which)?;
        Some(format!("did you mean {}", meant.strip_prefix(':')?))
    });
    // What closes the quotes is no time, whatever stands behind them.
    let is_time = |query: &syntax::Query| query.typed.iter().all(|one| one.value == when);
    read.ok()
        .filter(is_time)
        .and_then(|query| query.only().map(|only| only.filters.clone()))
        .ok_or_else(|| {
            let failure = Failure::usage(format!("{called} {when}: not a time"));
            meant.into_iter().fold(failure, Failure::hint).hint(
                "for example 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026-10 or 2026-10-05",
            )
        })
}

/// An agent as it is called here, where one is named in whatever case.
pub fn known_agent(named: Option<&str>, config: &Config) -> Result<Option<String>, Failure> {
    let Some(named) = named else {
        return Ok(None);
    };
    let mut known = known_names();
    known.extend(
        config
            .roots
            .iter()
            .map(|root| root.agent.as_str())
            .filter(|name| !known_names().contains(name)),
    );
    let is_it = |known: &&&str| known.eq_ignore_ascii_case(named);
    // Two folders may be of agents whose names differ by case alone.
    let exactly = known.iter().find(|known| **known == named);
    match exactly.or_else(|| known.iter().find(is_it)) {
        Some(agent) => Ok(Some((*agent).to_owned())),
        None => {
            let meant = meant_agent(&named.to_lowercase(), &known);
            let meant = meant.map(|meant| format!("did you mean `{meant}`?"));
            let failure = Failure::usage(format!("no agent is called `{named}`"));
            let failure = meant.into_iter().fold(failure, Failure::hint);
            Err(failure.hint(format!("known agents: {}", known.join(", "))))
        }
    }
}

/// The agent that may have been meant: one whose name is a word of what is typed, as in
/// `claude-code`, else the nearest.
fn meant_agent<'k>(named: &str, known: &[&'k str]) -> Option<&'k str> {
    let mut words = named.split(|sign: char| !sign.is_alphanumeric());
    let word = words.find_map(|word| known.iter().find(|known| **known == word));
    word.copied().or_else(|| nearest(named, known))
}
