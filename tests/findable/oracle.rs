//! Which passages match? Plain maps over all words of all files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

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
    line: usize,
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
                        line: number,
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

    /// The passages that match. Where no words are asked for, of each entry the first one.
    pub fn search(&self, condition: &Condition) -> BTreeSet<Address> {
        let alternatives = condition.alternatives(false);
        let has_words = alternatives.iter().any(Alternative::has_words);
        let matching = self.passages.iter();
        let mut matching: Vec<&Passage> = matching
            .filter(|passage| alternatives.iter().any(|one| one.holds(passage)))
            .collect();
        if !has_words {
            let entry = |passage: &&Passage| (passage.address.0.clone(), passage.line);
            matching.sort_by_key(|passage| (entry(passage), passage.address.2));
            matching.dedup_by_key(|passage| entry(passage));
        }
        let addresses = matching.iter().map(|passage| passage.address.clone());
        addresses.collect()
    }
}

/// Conditions of which all have to hold.
#[derive(Clone, Default)]
struct Alternative(Vec<Rc<Leaf>>);

/// One that has no parts, with its text read, and whether it must not hold.
struct Leaf {
    condition: Condition,
    text: Option<CompiledExpr>,
    negated: bool,
}

impl Leaf {
    fn holds(&self, passage: &Passage) -> bool {
        self.negated
            != match &self.condition {
                Condition::Agent(agent) => passage.agent == *agent,
                Condition::Role(role) => passage.role.as_ref() == Some(role),
                Condition::Kind(kind) => passage.kind == *kind,
                _ => self.text.as_ref().is_some_and(|text| text.holds(passage)),
            }
    }
}

impl Alternative {
    fn has_words(&self) -> bool {
        self.0.iter().any(|leaf| leaf.text.is_some())
    }

    /// Filters alone find settings only where a kind is asked for.
    fn holds(&self, passage: &Passage) -> bool {
        let is_setting = ["model_change", "thinking_level_change"].contains(&&*passage.kind);
        let mut leaves = self.0.iter();
        let asks_for_kind = leaves.any(|leaf| matches!(leaf.condition, Condition::Kind(_)));
        let may_hold = !is_setting || asks_for_kind || self.has_words();
        may_hold && self.0.iter().all(|leaf| leaf.holds(passage))
    }
}

impl Condition {
    /// Of which alternatives one has to hold, or where `negated` none of the condition's.
    fn alternatives(&self, negated: bool) -> Vec<Alternative> {
        let of_each = |members: &[Condition]| -> Vec<Vec<Alternative>> {
            let of_each = members.iter().map(|member| member.alternatives(negated));
            of_each.collect()
        };
        match self {
            Condition::Not(inner) => inner.alternatives(!negated),
            Condition::All(members) if !negated => both(of_each(members)),
            Condition::Any(members) if negated => both(of_each(members)),
            Condition::All(members) | Condition::Any(members) => of_each(members).concat(),
            leaf => vec![Alternative(vec![Rc::new(Leaf {
                condition: leaf.clone(),
                text: match leaf {
                    Condition::Text(expr) => Some(CompiledExpr::new(expr)),
                    _ => None,
                },
                negated,
            })])],
        }
    }
}

/// One of each, in all combinations.
fn both(of_each: Vec<Vec<Alternative>>) -> Vec<Alternative> {
    let one = vec![Alternative::default()];
    of_each.into_iter().fold(one, |done, next| {
        let pairs = done.iter().flat_map(|a| next.iter().map(move |b| (a, b)));
        let joined = pairs.map(|(a, b)| Alternative([a.0.clone(), b.0.clone()].concat()));
        joined.collect()
    })
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
                CompiledExpr::Regex(regex.multi_line(true).crlf(true).build().unwrap())
            }
            Expr::And(members) => {
                CompiledExpr::All(members.iter().map(CompiledExpr::new).collect())
            }
            Expr::Or(members) => CompiledExpr::Any(members.iter().map(CompiledExpr::new).collect()),
            Expr::Not(inner) => CompiledExpr::Not(Box::new(CompiledExpr::new(inner))),
            _ => panic!("{expr:?}"),
        }
    }

    fn holds(&self, passage: &Passage) -> bool {
        match self {
            CompiledExpr::Text { reading, prefix } => said(reading, *prefix, passage),
            CompiledExpr::Near(word) => {
                let mut tokens = passage.tokens.keys();
                tokens.any(|token| rules::is_near(word, token))
            }
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
    // What tools print holds an identifier as a whole, or not; a number may go on.
    if passage.address.2 == Class::Output
        && let Some(whole) = &asked.whole
    {
        return whole.contains('.') && !positions(&format!("{whole}."), true).is_empty();
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
