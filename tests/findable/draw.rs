//! Which queries would somebody type who knows the text? Drawn from the text itself.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use sessionary::model::Expr;

use super::oracle::{Condition, Oracle};
use super::rules;

/// A query as typed and as meant.
pub struct Query<M = Expr> {
    pub typed: String,
    pub meant: M,
}

/// A query drawn from the corpus, every third one with filters in it.
pub fn any_query(oracle: &Oracle, random: &mut ChaCha8Rng) -> Query<Condition> {
    let text = |random: &mut ChaCha8Rng| {
        let drawn = query(oracle, random);
        Query {
            typed: match drawn.meant {
                Expr::And(_) | Expr::Or(_) if drawn.typed.contains(' ') => {
                    format!("({})", drawn.typed)
                }
                _ => drawn.typed,
            },
            meant: Condition::Text(drawn.meant),
        }
    };
    if random.random_range(0..3) > 0 {
        let drawn = query(oracle, random);
        return Query {
            typed: drawn.typed,
            meant: Condition::Text(drawn.meant),
        };
    }
    let (one, two) = (text(random), text(random));
    let (this, that) = (filter(oracle, random), filter(oracle, random));
    let both = |a: &Query<Condition>, b: &Query<Condition>| {
        Condition::All(vec![a.meant.clone(), b.meant.clone()])
    };
    let either = |a: Condition, b: Condition| Condition::Any(vec![a, b]);
    let (typed, meant) = match random.random_range(0..7) {
        0 => (
            format!("({} OR {}) {}", this.typed, that.typed, one.typed),
            Condition::All(vec![either(this.meant, that.meant), one.meant]),
        ),
        1 => (
            format!(
                "({} {}) OR ({} {})",
                this.typed, one.typed, two.typed, that.typed
            ),
            either(both(&this, &one), both(&that, &two)),
        ),
        2 => (
            format!("{} OR {} OR {}", one.typed, this.typed, two.typed),
            Condition::Any(vec![one.meant, this.meant, two.meant]),
        ),
        3 => (
            format!("-({} {}) {}", this.typed, one.typed, two.typed),
            Condition::All(vec![Condition::Not(Box::new(both(&this, &one))), two.meant]),
        ),
        4 => (
            format!("{} NOT ({} OR {})", two.typed, this.typed, one.typed),
            Condition::All(vec![
                two.meant,
                Condition::Not(Box::new(either(this.meant, one.meant))),
            ]),
        ),
        5 => (
            format!("{} OR {}", this.typed, that.typed),
            either(this.meant, that.meant),
        ),
        _ => (format!("{} {}", this.typed, one.typed), both(&this, &one)),
    };
    Query { typed, meant }
}

/// A filter that some entries pass, and others do not.
fn filter(oracle: &Oracle, random: &mut ChaCha8Rng) -> Query<Condition> {
    loop {
        let passage = oracle.passages.choose(random).unwrap();
        let (typed, meant) = match random.random_range(0..3) {
            0 => (
                format!("agent:{}", passage.agent),
                Condition::Agent(passage.agent),
            ),
            1 => match &passage.role {
                Some(role) => (format!("role:{role}"), Condition::Role(role.clone())),
                None => continue,
            },
            _ if passage.kind.is_empty() => continue,
            _ => (
                format!("kind:\"{}\"", passage.kind),
                Condition::Kind(passage.kind.clone()),
            ),
        };
        return match random.random_ratio(1, 3) {
            true => Query {
                typed: format!("-{typed}"),
                meant: Condition::Not(Box::new(meant)),
            },
            false => Query { typed, meant },
        };
    }
}

/// A query drawn from the corpus.
pub fn query(oracle: &Oracle, random: &mut ChaCha8Rng) -> Query {
    loop {
        let kind = random.random_range(0..12);
        let drawn = match kind {
            0 | 1 => term(oracle, random),
            2 => part(oracle, random).map(quoted),
            3 => adjacent(oracle, random).map(quoted),
            4 => prefix(oracle, random),
            5 => cjk(oracle, random).map(quoted),
            9 => near(oracle, random),
            10 => substring(oracle, random),
            11 => regex(oracle, random),
            _ => {
                let (Some(one), Some(two)) = (term(oracle, random), term(oracle, random)) else {
                    continue;
                };
                Some(match kind {
                    6 => Query {
                        typed: format!("{} {}", one.typed, two.typed),
                        meant: Expr::And(vec![one.meant, two.meant]),
                    },
                    7 => Query {
                        typed: format!("{} -{}", one.typed, two.typed),
                        meant: Expr::And(vec![one.meant, Expr::Not(Box::new(two.meant))]),
                    },
                    _ => Query {
                        typed: format!("{} OR {}", one.typed, two.typed),
                        meant: Expr::Or(vec![one.meant, two.meant]),
                    },
                })
            }
        };
        if let Some(query) = drawn {
            return query;
        }
    }
}

fn quoted(text: String) -> Query {
    Query {
        typed: format!("\"{text}\""),
        meant: Expr::Phrase(text),
    }
}

fn can_be_quoted(text: &str) -> bool {
    !text.contains('"')
        && !text.ends_with('\\')
        && text.len() < 400
        && rules::read(text).positions > 0
}

fn piece<'a>(oracle: &'a Oracle, random: &mut ChaCha8Rng) -> &'a str {
    // Some entries have no text.
    loop {
        let passage = oracle.passages.choose(random).unwrap();
        if let Some(piece) = passage.pieces.choose(random) {
            return piece;
        }
    }
}

/// Where the chunks between white space are; of long text a part, its end as likely as the rest.
fn chunks(text: &str, random: &mut ChaCha8Rng) -> Vec<(usize, usize)> {
    let from = if text.len() > 4000 && random.random_bool(0.5) {
        text.len() - 500
    } else {
        random.random_range(0..=text.len().saturating_sub(2000))
    };
    let from = text.ceil_char_boundary_(from);
    let to = text.ceil_char_boundary_((from + 2000).min(text.len()));
    let part = &text[from..to];
    part.split_whitespace()
        .map(|chunk| {
            let at = chunk.as_ptr() as usize - text.as_ptr() as usize;
            (at, at + chunk.len())
        })
        .collect()
}

trait Boundary {
    fn ceil_char_boundary_(&self, at: usize) -> usize;
}

impl Boundary for str {
    fn ceil_char_boundary_(&self, at: usize) -> usize {
        (at..=self.len())
            .find(|at| self.is_char_boundary(*at))
            .unwrap_or(self.len())
    }
}

/// A chunk as it stands: a word, an identifier, a path, code.
fn chunk(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<String> {
    let text = piece(oracle, random);
    let (from, to) = *chunks(text, random).choose(random)?;
    Some(text[from..to].to_owned()).filter(|chunk| can_be_quoted(chunk))
}

/// A chunk in quotes or, where it is plain, as it is, in any case.
fn term(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<Query> {
    let chunk = chunk(oracle, random)?;
    let bare = chunk
        .chars()
        .all(|c| c.is_alphanumeric() || "_./".contains(c))
        && chunk != "OR";
    if !bare || random.random_bool(0.3) {
        return Some(quoted(chunk));
    }
    let chunk = match random.random_range(0..6) {
        0 => chunk.to_lowercase(),
        1 => chunk.to_uppercase(),
        _ => chunk,
    };
    let keyword = ["OR", "AND", "NOT"].contains(&chunk.as_str());
    let slashed = chunk.starts_with('/') && chunk.ends_with('/');
    (!keyword && !slashed).then(|| Query {
        typed: chunk.clone(),
        meant: bare_word(&chunk),
    })
}

/// What a bare word means: the hash of a commit stands for its longer and shorter forms.
fn bare_word(word: &str) -> Expr {
    let is_hash = (7..=40).contains(&word.len())
        && word.chars().all(|c| "0123456789abcdef".contains(c))
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_lowercase());
    if !is_hash {
        return Expr::Word(word.to_owned());
    }
    let mut forms = vec![Expr::Prefix(word.to_owned())];
    forms.extend((7..word.len().min(13)).map(|length| Expr::Word(word[..length].to_owned())));
    Expr::Or(forms)
}

/// A word with one letter dropped, doubled, replaced or swapped with the next.
fn near(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<Query> {
    let mut word: Vec<char> = part(oracle, random)?.chars().collect();
    let at = random.random_range(0..word.len());
    match random.random_range(0..5) {
        0 => {
            word.remove(at);
        }
        1 => word.insert(at, word[at]),
        2 => word[at] = 'q',
        3 if at > 0 => word.swap(at - 1, at),
        _ => {}
    }
    let word: String = word.into_iter().collect();
    let plain = word.chars().all(char::is_alphanumeric) && !word.is_empty();
    plain.then(|| Query {
        typed: format!("{word}~"),
        meant: Expr::Near(word),
    })
}

/// Any characters beside each other, without white space.
fn run(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<String> {
    let chunk: Vec<char> = chunk(oracle, random)?.chars().collect();
    let from = random.random_range(0..chunk.len());
    let to = (from + random.random_range(1..12)).min(chunk.len());
    // Letters whose other case is several letters have no one answer.
    Some(chunk[from..to].iter().collect())
        .filter(|run: &String| !run.contains(['*', '"', 'İ', 'ß', 'ﬁ', 'ﬂ', '(', ')', ':', '\\']))
}

fn substring(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<Query> {
    let run = run(oracle, random)?;
    Some(Query {
        typed: format!("*{run}*"),
        meant: Expr::Substring(run),
    })
}

fn regex(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<Query> {
    let run = run(oracle, random)?;
    let escaped = regex::escape(&run).replace('/', r"\/");
    let pattern = match random.random_range(0..4) {
        0 => format!(r"\b{escaped}"),
        1 => format!("({escaped}|zzzz+)"),
        2 => format!("{escaped}.?$"),
        _ => escaped,
    };
    let any_case = random.random_bool(0.3);
    Some(Query {
        typed: format!("/{pattern}/{}", if any_case { "i" } else { "" }),
        meant: Expr::Regex(if any_case {
            format!("(?i){pattern}")
        } else {
            pattern
        }),
    })
}

/// One token of a piece: a part of an identifier, a CJK bigram, a word of a path.
fn part(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<String> {
    let chunk = chunk(oracle, random)?;
    let reading = rules::read(&chunk);
    Some(reading.tokens.choose(random)?.1.clone()).filter(|token| can_be_quoted(token))
}

/// Chunks beside each other, with what stands between them.
fn adjacent(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<String> {
    let text = piece(oracle, random);
    let chunks = chunks(text, random);
    let first = random.random_range(0..chunks.len().max(1));
    let last = (first + random.random_range(1..4)).min(chunks.len().saturating_sub(1));
    let (from, to) = (chunks.get(first)?.0, chunks.get(last)?.1);
    Some(text[from..to].to_owned()).filter(|phrase| can_be_quoted(phrase))
}

/// The beginning of a word.
fn prefix(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<Query> {
    let text = piece(oracle, random);
    let (from, to) = *chunks(text, random).choose(random)?;
    let words: Vec<&str> = text[from..to]
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let word: Vec<char> = words.choose(random)?.chars().collect();
    let stem: String = word[..random.random_range(1..=word.len())].iter().collect();
    let good = stem.chars().count() > 1
        && stem.ends_with(char::is_alphanumeric)
        && rules::read(&stem).positions > 0;
    good.then(|| Query {
        typed: format!("{stem}*"),
        meant: Expr::Prefix(stem),
    })
}

/// Two CJK characters beside each other.
fn cjk(oracle: &Oracle, random: &mut ChaCha8Rng) -> Option<String> {
    let text = piece(oracle, random);
    let is_cjk =
        |c: &char| ('\u{3041}'..='\u{9FFF}').contains(c) || ('\u{AC00}'..='\u{D7A3}').contains(c);
    let letters: Vec<char> = text.chars().collect();
    let at: Vec<usize> = (1..letters.len())
        .filter(|at| letters[at - 1..=*at].iter().all(is_cjk))
        .collect();
    let at = *at.choose(random)?;
    Some(letters[at - 1..=at].iter().collect())
}
