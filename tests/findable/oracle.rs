//! Which passages match? Plain maps over all words of all files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use sessionary::model::{Class, Expr};

use super::{Place, rules, text};

/// File, entry (its id, or `L` and its line) and class.
pub type Address = (PathBuf, String, Class);

/// What a query asks for: text, filters, and both together.
#[derive(Debug, Clone)]
pub enum Condition {
    Text(Expr),
    Agent(&'static str),
    Role(String),
    Kind(String),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
}

/// One passage of the corpus.
pub struct Passage {
    pub address: Address,
    pub agent: &'static str,
    pub role: Option<String>,
    pub kind: String,
    pub pieces: Vec<String>,
    /// Token to its positions.
    tokens: BTreeMap<String, Vec<u32>>,
}

/// All passages of all files.
pub struct Oracle {
    pub passages: Vec<Passage>,
}

impl Oracle {
    /// Read every file from its beginning.
    pub fn read(place: &Place) -> Oracle {
        let mut passages = Vec::new();
        for (format, path) in place.files() {
            let content = fs::read(&path).unwrap();
            for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
                // A torn last line is no entry yet.
                let Ok(value) = serde_json::from_slice::<Value>(line) else {
                    continue;
                };
                let entry = match (format, &value["id"]) {
                    ("pi", Value::String(id)) if !id.is_empty() => id.clone(),
                    ("pi", Value::Number(id)) => id.to_string(),
                    _ => format!("L{}", number + 1),
                };
                let string = |value: &Value| value.as_str().map(str::to_owned);
                let kind = string(&value["type"]).unwrap_or_default();
                let role = match format {
                    "pi" => string(&value["message"]["role"]),
                    _ if kind == "assistant_message" => Some("assistant".to_owned()),
                    _ => string(&value["role"]),
                };
                let pieces = if format == "pi" {
                    text::pi(&value)
                } else {
                    text::clido(&value)
                };
                let mut texts = pieces.passages();
                if texts.is_empty() {
                    texts.extend(text::told_without_text(&value).map(|class| (class, Vec::new())));
                }
                for (class, pieces) in texts {
                    let mut tokens: BTreeMap<String, Vec<u32>> = BTreeMap::new();
                    for (position, token) in rules::read_pieces(&pieces) {
                        tokens.entry(token).or_default().push(position);
                    }
                    passages.push(Passage {
                        address: (path.clone(), entry.clone(), class),
                        agent: format,
                        role: role.clone(),
                        kind: kind.clone(),
                        pieces,
                        tokens,
                    });
                }
            }
        }
        Oracle { passages }
    }

    /// The passages that match.
    pub fn search(&self, condition: &Condition) -> BTreeSet<Address> {
        let holds = condition.test();
        self.passages
            .iter()
            .filter(|passage| holds(passage))
            .map(|passage| passage.address.clone())
            .collect()
    }
}

impl Condition {
    /// Its test, with all texts read once.
    fn test(&self) -> Box<dyn Fn(&Passage) -> bool> {
        let all = |members: &[Condition]| members.iter().map(Condition::test).collect::<Vec<_>>();
        match self {
            Condition::Text(expr) => {
                let expr = CompiledExpr::new(expr);
                Box::new(move |passage| expr.holds(passage))
            }
            Condition::Agent(agent) => {
                let agent = *agent;
                Box::new(move |passage| passage.agent == agent)
            }
            Condition::Role(role) => {
                let role = Some(role.clone());
                Box::new(move |passage| passage.role == role)
            }
            Condition::Kind(kind) => {
                let kind = kind.clone();
                Box::new(move |passage| passage.kind == kind)
            }
            Condition::All(members) => {
                let members = all(members);
                Box::new(move |passage| members.iter().all(|member| member(passage)))
            }
            Condition::Any(members) => {
                let members = all(members);
                Box::new(move |passage| members.iter().any(|member| member(passage)))
            }
            Condition::Not(inner) => {
                let inner = inner.test();
                Box::new(move |passage| !inner(passage))
            }
        }
    }
}

/// An expression with its texts read once.
enum CompiledExpr {
    Text {
        reading: rules::Reading,
        prefix: bool,
    },
    /// A word with at most one edit.
    Near(String),
    /// A token that begins so.
    Longer(String),
    /// A part of the text.
    Substring(Expr),
    Regex(regex::Regex),
    All(Vec<CompiledExpr>),
    Any(Vec<CompiledExpr>),
    Not(Box<CompiledExpr>),
}

impl CompiledExpr {
    fn new(expr: &Expr) -> CompiledExpr {
        match expr {
            Expr::Word(text) | Expr::Phrase(text) => CompiledExpr::Text {
                reading: rules::read(text),
                prefix: false,
            },
            Expr::Prefix(text) => CompiledExpr::Text {
                reading: rules::read(text),
                prefix: true,
            },
            Expr::Near(text) => match rules::single(text) {
                Some(word) => CompiledExpr::Near(word),
                None => CompiledExpr::new(&Expr::Word(text.clone())),
            },
            Expr::Longer(text) => match rules::single(text).or(rules::read(text).whole) {
                Some(word) => CompiledExpr::Longer(word),
                None => CompiledExpr::Any(Vec::new()),
            },
            Expr::Substring(_) => CompiledExpr::Substring(expr.clone()),
            Expr::Regex(pattern) => {
                let mut regex = regex::RegexBuilder::new(pattern);
                CompiledExpr::Regex(regex.multi_line(true).build().unwrap())
            }
            Expr::And(members) => {
                CompiledExpr::All(members.iter().map(CompiledExpr::new).collect())
            }
            Expr::Or(members) => CompiledExpr::Any(members.iter().map(CompiledExpr::new).collect()),
            Expr::Not(inner) => CompiledExpr::Not(Box::new(CompiledExpr::new(inner))),
        }
    }

    fn holds(&self, passage: &Passage) -> bool {
        match self {
            CompiledExpr::Text { reading, prefix } => said(reading, *prefix, passage),
            CompiledExpr::Near(word) => passage
                .tokens
                .keys()
                .any(|token| rules::edits(word, token) <= 1),
            CompiledExpr::Longer(word) => passage
                .tokens
                .keys()
                .any(|token| token.starts_with(word.as_str())),
            CompiledExpr::Regex(regex) => passage.pieces.iter().any(|piece| regex.is_match(piece)),
            CompiledExpr::Substring(expr) => passage
                .pieces
                .iter()
                .any(|piece| rules::in_text(expr, piece)),
            CompiledExpr::All(members) => members.iter().all(|member| member.holds(passage)),
            CompiledExpr::Any(members) => members.iter().any(|member| member.holds(passage)),
            CompiledExpr::Not(inner) => !inner.holds(passage),
        }
    }
}

/// Whether the tokens of the text stand in the passage at their distances, or that of the whole
/// does.
fn said(asked: &rules::Reading, prefix: bool, passage: &Passage) -> bool {
    let positions = |token: &str, open: bool| -> BTreeSet<u32> {
        let from = passage.tokens.range(token.to_owned()..);
        let fits = from.take_while(|(known, _)| {
            if open {
                known.starts_with(token)
            } else {
                known.as_str() == token
            }
        });
        fits.flat_map(|(_, positions)| positions.iter().copied())
            .collect()
    };
    if asked
        .whole
        .as_ref()
        .is_some_and(|whole| !positions(whole, prefix).is_empty())
    {
        return true;
    }
    // What tools print holds an identifier as a whole, or not.
    if passage.address.2 == Class::Output && asked.whole.is_some() {
        return false;
    }
    let Some((last, _)) = asked.spelled.last() else {
        return false;
    };
    let mut starts: Option<BTreeSet<u32>> = None;
    for (at, token) in &asked.spelled {
        let found: BTreeSet<u32> = positions(token, prefix && at == last)
            .into_iter()
            .filter_map(|position| position.checked_sub(*at))
            .collect();
        starts = Some(match starts {
            Some(before) => before.intersection(&found).copied().collect(),
            None => found,
        });
    }
    starts.is_some_and(|starts| !starts.is_empty())
}
