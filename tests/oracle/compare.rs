//! Are two answers about the same sessions equal? Pure comparison; every complaint is one line.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::Deserialize;
use serde_json::Value;

use super::differences::{Effect, File, Rule};

/// What an agent said about all sessions.
#[derive(Deserialize)]
pub struct Golden {
    pub sessions: Vec<Session>,
    /// The list of every working directory, by path.
    pub folders: HashMap<String, Vec<String>>,
    pub trees: HashMap<String, Tree>,
}

/// One row of a list: the agent's `SessionInfo`, times in ms.
#[derive(Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub path: String,
    id: String,
    cwd: String,
    name: Option<String>,
    parent_session_path: Value,
    created: Option<i64>,
    modified: Option<i64>,
    message_count: u64,
    first_message: String,
    all_messages_text: String,
}

impl Session {
    /// One row of our `list --json`, its path made relative to `root`.
    pub fn from_row(row: &Value, root: &Path) -> Self {
        let text = |key: &str| row[key].as_str().map(str::to_owned);
        let path = text("path").unwrap_or_default();
        Self {
            path: Path::new(&path)
                .strip_prefix(root)
                .map_or(path.clone(), |below| below.to_string_lossy().into_owned()),
            id: text("id").unwrap_or_default(),
            cwd: text("cwd").unwrap_or_default(),
            name: text("name"),
            parent_session_path: row["parentSessionPath"].clone(),
            created: text("created").and_then(|time| milliseconds(&time)),
            modified: text("modified").and_then(|time| milliseconds(&time)),
            message_count: row["messageCount"].as_u64().unwrap_or(u64::MAX),
            first_message: text("firstMessage").unwrap_or_default(),
            all_messages_text: text("allMessagesText").unwrap_or_default(),
        }
    }

    /// The names of the fields in which two rows differ, and how.
    fn differences(&self, ours: &Self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let mut field =
            |name, theirs: &dyn std::fmt::Debug, ours: &dyn std::fmt::Debug, equal: bool| {
                if !equal {
                    found.push((
                        name,
                        format!("{name}: agent {} ours {}", short(theirs), short(ours)),
                    ));
                }
            };
        field("id", &self.id, &ours.id, self.id == ours.id);
        field("cwd", &self.cwd, &ours.cwd, self.cwd == ours.cwd);
        field("name", &self.name, &ours.name, self.name == ours.name);
        field(
            "parentSessionPath",
            &self.parent_session_path,
            &ours.parent_session_path,
            as_text(&self.parent_session_path) == as_text(&ours.parent_session_path),
        );
        field(
            "created",
            &self.created,
            &ours.created,
            self.created == ours.created,
        );
        field(
            "modified",
            &self.modified,
            &ours.modified,
            self.modified == ours.modified,
        );
        field(
            "messageCount",
            &self.message_count,
            &ours.message_count,
            self.message_count == ours.message_count,
        );
        field(
            "firstMessage",
            &self.first_message,
            &ours.first_message,
            self.first_message == ours.first_message,
        );
        let at = first_difference(&self.all_messages_text, &ours.all_messages_text);
        field(
            "allMessagesText",
            &&self.all_messages_text[at..],
            &&ours.all_messages_text[at.min(ours.all_messages_text.len())..],
            self.all_messages_text == ours.all_messages_text,
        );
        found
    }
}

/// A value that JavaScript hands through untyped, as the text that our list shows for it.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn short(value: &dyn std::fmt::Debug) -> String {
    format!("{value:?}").chars().take(90).collect()
}

/// Start of the first character in which two texts differ.
fn first_difference(a: &str, b: &str) -> usize {
    a.char_indices()
        .zip(b.chars())
        .find(|((_, x), y)| x != y)
        .map_or(a.len().min(b.len()), |((at, _), _)| at)
}

/// Compares two lists as sets: what only one side lists, and every field of what both list. A
/// difference that a rule explains is counted under its name instead.
pub fn lists(
    agent: &[Session],
    ours: &[Session],
    root: &Path,
    rules: &[&'static Rule],
    explained: &mut BTreeMap<&'static str, usize>,
) -> Vec<String> {
    let by_path: HashMap<&str, &Session> = ours
        .iter()
        .map(|session| (session.path.as_str(), session))
        .collect();
    let theirs: HashMap<&str, &Session> = agent
        .iter()
        .map(|session| (session.path.as_str(), session))
        .collect();
    let mut complaints = Vec::new();
    let mut judge = |path: &str, effects: &[Effect], complaint: String| {
        let file = File::read(root, path);
        let reasons: Vec<_> = rules.iter().filter(|rule| (rule.found_in)(&file)).collect();
        if effects
            .iter()
            .all(|effect| reasons.iter().any(|rule| rule.effects.contains(effect)))
        {
            for rule in reasons {
                *explained.entry(rule.name).or_default() += 1;
            }
        } else {
            complaints.push(format!("{path}: {complaint}"));
        }
    };
    for session in agent {
        match by_path.get(session.path.as_str()) {
            None => judge(
                &session.path,
                &[Effect::OnlyAgent],
                "only the agent lists it".to_owned(),
            ),
            Some(row) => {
                let found = session.differences(row);
                if !found.is_empty() {
                    let effects: Vec<_> =
                        found.iter().map(|(name, _)| Effect::Field(name)).collect();
                    judge(
                        &session.path,
                        &effects,
                        found
                            .into_iter()
                            .map(|(_, how)| how)
                            .collect::<Vec<_>>()
                            .join("; "),
                    );
                }
            }
        }
    }
    for session in ours
        .iter()
        .filter(|session| !theirs.contains_key(session.path.as_str()))
    {
        judge(
            &session.path,
            &[Effect::OnlyOurs],
            "only ours lists it".to_owned(),
        );
    }
    if by_path.len() != ours.len() {
        complaints.push(format!(
            "{} sessions are listed more than once",
            ours.len() - by_path.len()
        ));
    }
    complaints
}

/// Compares the order of what both list with the same modified time. Only sessions that tie in
/// everything the agent sorts by (modified, file time, file name) may stand in any order.
pub fn order(agent: &[Session], ours: &[Session], root: &Path) -> Vec<String> {
    let modified: HashMap<&str, Option<i64>> = ours
        .iter()
        .map(|session| (session.path.as_str(), session.modified))
        .collect();
    let theirs: Vec<&Session> = agent
        .iter()
        .filter(|session| modified.get(session.path.as_str()) == Some(&session.modified))
        .collect();
    let kept: std::collections::HashSet<&str> =
        theirs.iter().map(|session| session.path.as_str()).collect();
    let ours = ours
        .iter()
        .filter(|session| kept.contains(session.path.as_str()));
    let key = |session: &Session| {
        let path = root.join(&session.path);
        let time = path
            .metadata()
            .and_then(|data| data.modified())
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        (
            session.modified,
            time,
            path.file_name().map(ToOwned::to_owned),
        )
    };
    theirs
        .iter()
        .zip(ours)
        .enumerate()
        .filter(|(_, (agent, ours))| agent.path != ours.path && key(agent) != key(ours))
        .map(|(place, (agent, ours))| {
            format!("place {place}: agent {} ours {}", agent.path, ours.path)
        })
        .collect()
}

/// A session's tree as an agent builds it.
#[derive(Deserialize, Default)]
pub struct Tree {
    #[serde(default)]
    leaf: Value,
    #[serde(default)]
    branch: Value,
    #[serde(default)]
    nodes: Value,
}

/// A tree in the form that both sides can be brought into.
pub struct CommonTree {
    leaf: Option<String>,
    branch: Vec<String>,
    /// Id, depth and label, parents before children, in the order shown.
    nodes: Vec<(String, u64, Option<String>)>,
}

impl Tree {
    /// `None` where the agent cannot open the file, would loop for ever, or has entries without an
    /// id.
    pub fn comparable(&self) -> Option<CommonTree> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(CommonTree {
            leaf: text(&self.leaf),
            branch: self
                .branch
                .as_array()?
                .iter()
                .map(text)
                .collect::<Option<_>>()?,
            nodes: self
                .nodes
                .as_array()?
                .iter()
                .map(|node| Some((text(&node[0])?, node[2].as_u64()?, text(&node[3]))))
                .collect::<Option<_>>()?,
        })
    }

    /// Our `tree --json`. Entries without an id are named by their line, which becomes their place
    /// as in the agent's answer.
    pub fn from_answer(answer: &Value) -> CommonTree {
        let rows = answer["entries"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let line = |id: &str| {
            id.strip_prefix('L')
                .and_then(|number| number.parse::<u64>().ok())
        };
        let mut lines: Vec<u64> = rows
            .iter()
            .filter_map(|row| line(row["id"].as_str()?))
            .collect();
        lines.sort_unstable();
        let name = |row: &Value| {
            let id = row["id"].as_str().unwrap_or_default();
            line(id)
                .and_then(|number| lines.binary_search(&number).ok())
                .map_or(id.to_owned(), |place| format!("#{place}"))
        };
        let mut branch: Vec<(u64, String)> = rows
            .iter()
            .filter(|row| row["on_active_branch"] == true)
            .map(|row| (row["depth"].as_u64().unwrap_or_default(), name(row)))
            .collect();
        branch.sort();
        CommonTree {
            leaf: rows.iter().find(|row| row["is_leaf"] == true).map(name),
            branch: branch.into_iter().map(|(_, id)| id).collect(),
            nodes: rows
                .iter()
                .map(|row| {
                    (
                        name(row),
                        row["depth"].as_u64().unwrap_or(u64::MAX),
                        row["label"].as_str().map(str::to_owned),
                    )
                })
                .collect(),
        }
    }
}

/// The first thing in which two trees differ.
pub fn trees(agent: &CommonTree, ours: &CommonTree) -> Option<String> {
    if agent.nodes.len() != ours.nodes.len() {
        return Some(format!(
            "agent has {} entries, ours {}",
            agent.nodes.len(),
            ours.nodes.len()
        ));
    }
    if let Some((theirs, ours)) = agent
        .nodes
        .iter()
        .zip(&ours.nodes)
        .find(|(theirs, ours)| theirs != ours)
    {
        return Some(format!("agent {theirs:?} ours {ours:?}"));
    }
    if agent.leaf != ours.leaf {
        return Some(format!("leaf: agent {:?} ours {:?}", agent.leaf, ours.leaf));
    }
    (agent.branch != ours.branch)
        .then(|| format!("branch: agent {:?} ours {:?}", agent.branch, ours.branch))
}

/// Milliseconds of a time as `Date.toISOString` writes it: `2026-01-05T09:00:00.000Z`, years beyond
/// four digits as `+012026`.
fn milliseconds(text: &str) -> Option<i64> {
    let (year, rest) = match text.as_bytes().first()? {
        b'+' | b'-' => text.split_at_checked(7)?,
        _ => text.split_at_checked(4)?,
    };
    let year: i64 = year.parse().ok()?;
    let number = |range: std::ops::Range<usize>| rest.get(range)?.parse::<i64>().ok();
    if rest.len() != "-01-05T09:00:00.000Z".len() || !rest.ends_with('Z') {
        return None;
    }
    let (month, day) = (number(1..3)?, number(4..6)?);
    // Days since 1970 in the proleptic Gregorian calendar; years begin in March, so that the leap
    // day is the last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * shifted + shifted.div_euclid(4) - shifted.div_euclid(100)
        + shifted.div_euclid(400)
        + day_of_year
        - 719_468;
    Some(
        ((days * 24 + number(7..9)?) * 60 + number(10..12)?) * 60_000
            + number(13..15)? * 1000
            + number(16..19)?,
    )
}

#[test]
fn times_are_read_as_javascript_writes_them() {
    for (text, expected) in [
        ("1970-01-01T00:00:00.000Z", Some(0)),
        ("2026-01-05T09:00:00.250Z", Some(1_767_603_600_250)),
        ("+275760-09-13T00:00:00.000Z", Some(8_640_000_000_000_000)),
        ("-000001-01-05T10:00:00.000Z", Some(-62_198_373_600_000)),
        ("yesterday", None),
    ] {
        assert_eq!(milliseconds(text), expected, "{text}");
    }
}
