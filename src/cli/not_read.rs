//! What lies on this machine that is not read: a list that is empty, or too short, says so.

use std::collections::{BTreeMap, BTreeSet};

use sessionary::Config;
use sessionary::locations::NotRead;
use sessionary::model::RootStatus;

use crate::output::Screen;
use crate::output::quote::posix;
use crate::output::text::plain_line;
use crate::output::time::{bytes, count};
use crate::places;

/// More lines than one in so many that cannot be read are worth a word, where they are more than
/// torn ones.
const UNPARSED_SHARE: u64 = 20;
const UNPARSED_LEAST: u64 = 10;

/// A line for each agent whose sessions are there and are not read.
pub fn others(config: &Config) -> Vec<NotRead> {
    places::surroundings().not_read(&config.roots)
}

/// `Cursor: 412 files, 1.2 GB, not read by this version`, or how it is read.
pub fn sentence(other: &NotRead) -> String {
    let more = if other.has_more { "more than " } else { "" };
    let how = match &other.root {
        None => "not read by this version".to_owned(),
        Some(root) => format!("read with `--root {}` only", plain_line(&posix(root))),
    };
    format!(
        "{}: {more}{}, {more}{}, {how}",
        plain_line(&other.agent),
        count(other.files, "file"),
        bytes(other.bytes)
    )
}

/// All that is not read: sessions of other agents, with their places, and of known ones what is of
/// another shape than it was.
pub fn lines(others: &[NotRead], roots: &[RootStatus], screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    for root in roots {
        let agent = plain_line(&root.agent);
        if let Some(first) = &root.first_unknown {
            lines.push(format!(
                "{agent}: {} of a shape that this version does not know; first: {}, line 1",
                count(root.unknown, "file"),
                screen.path(first)
            ));
        }
        let all = root.entries + root.unparsed;
        if root.unparsed >= UNPARSED_LEAST && root.unparsed * UNPARSED_SHARE > all {
            lines.push(format!(
                "{agent}: {} of {} cannot be read; `sessionary sql 'SELECT * FROM problems'` lists them",
                root.unparsed,
                count(all, "line")
            ));
        }
    }
    lines.extend(types(roots));
    for other in others {
        let places: Vec<String> = other
            .places
            .iter()
            .map(|place| screen.path(place))
            .collect();
        lines.push(format!("{} ({})", sentence(other), places.join(", ")));
    }
    lines
}

/// Most types that are named in one sentence.
const MOST_TYPES: usize = 5;

/// A line for each agent and version of it that writes many lines of types that are not known,
/// whatever roots they are below.
fn types(roots: &[RootStatus]) -> Vec<String> {
    let mut all: BTreeMap<_, (BTreeSet<&str>, u64, u64)> = BTreeMap::new();
    for root in roots {
        for types in &root.unknown_types {
            let (kinds, entries, of) = all.entry((&root.agent, &types.version)).or_default();
            kinds.extend(types.kinds.iter().map(String::as_str));
            *entries += types.entries;
            *of += types.of;
        }
    }
    let line = |((agent, version), (kinds, entries, of)): (_, (BTreeSet<&str>, u64, u64))| {
        let (agent, version): (&String, &Option<String>) = (agent, version);
        let version = version.as_ref().map(|version| format!(" {version}"));
        let named: Vec<&str> = kinds.into_iter().take(MOST_TYPES).collect();
        let text = |kind: &&str| format!("'{}'", kind.replace('\'', "''"));
        let texts: Vec<String> = named.iter().map(text).collect();
        let sql = format!(
            "SELECT session, line FROM entries WHERE kind IN ({})",
            texts.join(", ")
        );
        plain_line(&format!(
            "{agent}{}: {entries} of the last {} are of types that this version does not know ({}); \
             `sessionary sql {}` lists them",
            version.unwrap_or_default(),
            count(of, "line"),
            named.join(", "),
            argument(&sql)
        ))
    };
    all.into_iter().map(line).collect()
}

/// A word of a command, between double quotes where these change nothing in it: it holds quotes.
fn argument(sql: &str) -> String {
    match sql.contains(['"', '$', '`', '\\', '!']) {
        true => posix(sql),
        false => format!("\"{sql}\""),
    }
}

/// The same on stderr, beside an answer.
pub fn say(config: &Config, roots: &[RootStatus], screen: &Screen) {
    for line in lines(&others(config), roots, screen) {
        screen.say(&line);
    }
}
