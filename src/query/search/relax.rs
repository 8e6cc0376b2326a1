//! What else could be asked when a query finds too little?

use super::Search;
use super::compiled::{EntryFilter, PassageQuery};
use super::counted::MatchCounts;
use super::endings::forms;
use crate::error::Error;
use crate::model::{Expr, HitGroup, SearchAnswer};
use crate::query::filter::FilteredEntries;
use crate::query::here::Here;
use crate::syntax::Filters;
use crate::words::{other_tokens, single_token};

/// Characters of a word that may have a typo: shorter words have too many neighbours.
const SHORTEST: usize = 4;
/// Characters of a word that may go on: shorter words are the beginning of too many.
const SHORTEST_BEGINNING: usize = 3;
/// At most so many of the words that were found besides are shown.
const MOST_ALSO: usize = 5;

/// Some of the words instead of all. What is excluded stays excluded.
pub(super) fn any_word(expr: &Expr) -> Expr {
    let Expr::And(members) = expr else {
        return expr.clone();
    };
    let (nots, wanted): (Vec<Expr>, Vec<Expr>) = members
        .iter()
        .cloned()
        .partition(|member| matches!(member, Expr::Not(_)));
    match (wanted.is_empty(), nots.is_empty()) {
        (true, _) => expr.clone(),
        (false, true) => Expr::Or(wanted),
        (false, false) => Expr::And(std::iter::once(Expr::Or(wanted)).chain(nots).collect()),
    }
}

/// Relax each of these that can be; `None` where none can.
pub(super) fn relax_each(
    exprs: &[Option<Expr>],
    relax: impl Fn(&Expr) -> Option<Expr>,
) -> Option<Vec<Option<Expr>>> {
    let relaxed: Vec<_> = exprs.iter().map(|expr| relax(expr.as_ref()?)).collect();
    let some = relaxed.iter().any(Option::is_some);
    let or_itself = |(relaxed, expr): (Option<Expr>, &Option<Expr>)| relaxed.or(expr.clone());
    some.then(|| relaxed.into_iter().zip(exprs).map(or_itself).collect())
}

/// What a word may be found by besides itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relaxation {
    /// Other endings and more letters at the end: bytes alone rule out nearly all text.
    Endings,
    /// These, and words with a typo: nearly all text has to be taken apart.
    EndingsAndTypos,
}

/// These words, some of them with others allowed in their place; `None` where none of those may
/// have any.
pub(super) fn relax_words(
    words: &[Expr],
    which: &[usize],
    relaxation: Relaxation,
) -> Option<Vec<Expr>> {
    let mut changed = false;
    let mut words = words.to_vec();
    for at in which {
        if let Some(word) = words.get_mut(*at)
            && let Some(near) = near(word, relaxation)
        {
            *word = near;
            changed = true;
        }
    }
    changed.then_some(words)
}

/// `expr` with others allowed in the place of each word; `None` where no word may have any. What is
/// excluded must match to the letter.
pub(super) fn near(expr: &Expr, relaxation: Relaxation) -> Option<Expr> {
    let mut changed = false;
    let near = with_alternatives(expr, relaxation, &mut changed);
    changed.then_some(near)
}

fn with_alternatives(expr: &Expr, relaxation: Relaxation, changed: &mut bool) -> Expr {
    let mut each = |members: &[Expr]| -> Vec<Expr> {
        let members = members.iter();
        let relaxed = members.map(|member| with_alternatives(member, relaxation, changed));
        relaxed.collect()
    };
    match expr {
        Expr::And(members) => Expr::And(each(members)),
        Expr::Or(members) if !is_commit(members) => Expr::Or(each(members)),
        Expr::Word(text) => match alternatives(text, relaxation) {
            alternatives if alternatives.is_empty() => expr.clone(),
            alternatives => {
                *changed = true;
                // The word itself still counts by how rare it is.
                Expr::Or(std::iter::once(expr.clone()).chain(alternatives).collect())
            }
        },
        _ => expr.clone(),
    }
}

/// What else may be meant by a word.
fn alternatives(text: &str, relaxation: Relaxation) -> Vec<Expr> {
    let mut alternatives = Vec::new();
    if may_have_typo(text) {
        if relaxation == Relaxation::EndingsAndTypos {
            alternatives.push(Expr::Near(text.to_owned()));
        }
        alternatives.extend(forms(text).into_iter().map(Expr::Word));
    }
    if may_go_on(text) {
        alternatives.push(Expr::Longer(text.to_owned()));
    }
    alternatives
}

/// Whether the word may be mistyped. Numbers, hashes and identifiers of several parts are taken to
/// the letter.
fn may_have_typo(text: &str) -> bool {
    text.chars().count() >= SHORTEST
        && text.chars().all(char::is_alphabetic)
        && !text.chars().skip(1).any(char::is_uppercase)
}

/// Whether the word may be the beginning of a longer one: of the hash of a commit, too, or of a
/// name that goes on with a number (`oauth` of `OAuth2Token`). CJK text is not a single token.
fn may_go_on(text: &str) -> bool {
    single_token(text).is_some_and(|word| word.chars().count() >= SHORTEST_BEGINNING)
}

/// Whether these are the forms of a commit: all of it, or one of its beginnings as a whole word.
fn is_commit(members: &[Expr]) -> bool {
    let Some((Expr::Prefix(whole), short)) = members.split_first() else {
        return false;
    };
    let is_short =
        |expr: &Expr| matches!(expr, Expr::Word(text) if whole.starts_with(text.as_str()));
    short.iter().all(is_short)
}

/// Words other than those typed that the shown hits were found by.
pub(super) fn words_found_instead(exprs: &[Option<Expr>], groups: &[HitGroup]) -> Vec<String> {
    let mut asked = Vec::new();
    let exprs = exprs.iter().flatten();
    exprs.for_each(|expr| words(expr, &mut asked));
    let forms: Vec<String> = asked.iter().flat_map(|word| forms(word)).collect();
    let mut also: Vec<String> = Vec::new();
    for hit in groups.iter().flat_map(|group| &group.hits) {
        for (from, to) in &hit.highlights {
            let marked = hit.snippet.get(*from..*to).unwrap_or_default();
            for token in other_tokens(&asked, &forms, marked) {
                if !also.contains(&token) && also.len() < MOST_ALSO {
                    also.push(token);
                }
            }
        }
    }
    also
}

/// The words of an expression that may stand for others.
fn words<'e>(expr: &'e Expr, found: &mut Vec<&'e str>) {
    match expr {
        Expr::Word(text) if !alternatives(text, Relaxation::EndingsAndTypos).is_empty() => {
            found.push(text)
        }
        Expr::Or(members) if is_commit(members) => {}
        Expr::And(members) | Expr::Or(members) => {
            members.iter().for_each(|member| words(member, found));
        }
        _ => {}
    }
}

/// The parts that a passage must say, without those that it must not.
fn wanted(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::And(members) => members
            .iter()
            .filter(|member| !matches!(member, Expr::Not(_)))
            .collect(),
        Expr::Not(_) => Vec::new(),
        _ => vec![expr],
    }
}

/// As it was typed, or nearly.
pub(super) fn as_typed(expr: &Expr) -> String {
    match expr {
        Expr::Word(text) => text.clone(),
        Expr::Phrase(text) => format!("\"{text}\""),
        Expr::Prefix(text) => format!("{text}*"),
        Expr::Near(text) => format!("{text}~"),
        Expr::Longer(text) => format!("{text}…"),
        Expr::Substring(text) => format!("*{text}*"),
        Expr::Regex(text) => format!("/{text}/"),
        Expr::And(members) => format!("({})", joined(members, " ")),
        Expr::Or(members) => match members.first() {
            // The forms of a commit.
            Some(Expr::Prefix(text)) if is_commit(members) => text.clone(),
            _ => format!("({})", joined(members, " OR ")),
        },
        Expr::Not(inner) => format!("-{}", as_typed(inner)),
    }
}

fn joined(members: &[Expr], sign: &str) -> String {
    members.iter().map(as_typed).collect::<Vec<_>>().join(sign)
}

impl Search<'_> {
    /// Why there are no hits: which words nothing holds, how many hits some of the words would
    /// have, and how many there would be without filters.
    pub(super) fn explain_nothing(
        &self,
        questions: &[PassageQuery<'_>],
        answer: &mut SearchAnswer,
    ) -> Result<(), Error> {
        let parts = match self.ranks_sessions {
            // Which of the words are nowhere is known.
            true => Vec::new(),
            false => parts(questions),
        };
        for (typed, asked) in parts {
            // A part that is the whole query was asked for already.
            let is_all = questions.len() == 1 && questions[0].expr == asked[0].expr;
            if !is_all && self.count(&asked)?.total > 0 {
                continue;
            }
            match self.missing_words(&asked)? {
                words if words.is_empty() => answer.missing.push(typed),
                words => answer.missing.extend(words),
            }
        }
        let mut exprs = questions.iter().filter_map(|question| question.expr);
        if exprs.any(|expr| wanted(expr).len() > 1) {
            let some = self.count_any(questions)?;
            answer.with_any = Some(some.total);
            answer.counts_exact &= some.is_exact;
        }
        let none = Filters::default();
        if questions.iter().any(|q| *q.entry_filter.filters != none) {
            let bare = self.count_without_filters(questions)?;
            answer.without_filters = Some(bare.total);
            answer.counts_exact &= bare.is_exact;
        }
        Ok(())
    }

    /// The words of a phrase that nothing holds: they say more than the phrase does. Empty for
    /// anything else.
    fn missing_words(&self, asked: &[PassageQuery<'_>]) -> Result<Vec<String>, Error> {
        let mut missing: Vec<String> = Vec::new();
        let Some(Expr::Phrase(text)) = asked[0].expr else {
            return Ok(missing);
        };
        for word in text.split_whitespace().filter(|word| *word != text) {
            let expr = Expr::Word(word.to_owned());
            let alone = asked.iter().map(|question| PassageQuery {
                expr: Some(&expr),
                ..*question
            });
            // Signs between words are not indexed, so counting them says nothing.
            if !missing.iter().any(|known| known == word)
                && word.chars().any(char::is_alphanumeric)
                && self.count(&alone.collect::<Vec<_>>())?.total == 0
            {
                missing.push(word.to_owned());
            }
        }
        Ok(missing)
    }

    /// How many passages say some of the words instead of all.
    fn count_any(&self, questions: &[PassageQuery<'_>]) -> Result<MatchCounts, Error> {
        let exprs: Vec<_> = questions.iter().map(|q| q.expr.map(any_word)).collect();
        let some = exprs
            .iter()
            .zip(questions)
            .map(|(expr, question)| PassageQuery {
                expr: expr.as_ref(),
                ..*question
            });
        self.count(&some.collect::<Vec<_>>())
    }

    /// How many passages match when only the directory counts.
    fn count_without_filters(&self, questions: &[PassageQuery<'_>]) -> Result<MatchCounts, Error> {
        let none = Filters::default();
        let here = Here::of(&self.scope.at);
        let entry_filter = EntryFilter {
            filters: &none,
            left: FilteredEntries::new(self.snapshot, &none, &here, self.scope.only_live)?,
            wide: None,
        };
        let bare = questions.iter().filter(|question| question.expr.is_some());
        let bare = bare.map(|question| PassageQuery {
            expr: question.expr,
            read_for: None,
            entry_filter: &entry_filter,
        });
        self.count(&bare.collect::<Vec<_>>())
    }
}

/// What passages must say part by part: each part as it was typed, with the questions that ask for
/// it.
fn parts<'q>(questions: &[PassageQuery<'q>]) -> Vec<(String, Vec<PassageQuery<'q>>)> {
    let mut parts: Vec<(String, Vec<PassageQuery<'q>>)> = Vec::new();
    for question in questions {
        for member in question.expr.map(wanted).unwrap_or_default() {
            let part = PassageQuery {
                expr: Some(member),
                ..*question
            };
            let typed = as_typed(member);
            match parts.iter_mut().find(|(known, _)| *known == typed) {
                Some((_, asked)) => asked.push(part),
                None => parts.push((typed, vec![part])),
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Now, parse};

    fn read(text: &str) -> Expr {
        let query = parse(text, Now::utc(0)).unwrap();
        query.only().and_then(|only| only.expr.clone()).unwrap()
    }

    #[test]
    fn some_instead_of_all() {
        for (all, some) in [
            ("a b", "a OR b"),
            ("a \"b c\" -d", "(a OR \"b c\") -d"),
            ("a", "a"),
            ("-a -b", "-a -b"),
            ("a OR b", "a OR b"),
        ] {
            assert_eq!(any_word(&read(all)), read(some), "{all}");
        }
    }

    #[test]
    fn words_may_have_a_typo_and_names_may_only_go_on() {
        let word = |text: &str| Expr::Word(text.to_owned());
        let longer = |text: &str| Expr::Longer(text.to_owned());
        let relaxed = |text: &str| {
            let mut any = vec![word(text), Expr::Near(text.to_owned())];
            any.extend(forms(text).into_iter().map(Expr::Word));
            any.push(longer(text));
            Expr::Or(any)
        };
        let near = |expr: &Expr| near(expr, Relaxation::EndingsAndTypos);
        let both = |one, other| Some(Expr::And(vec![one, other]));
        let goes_on = |text: &str| Expr::Or(vec![word(text), longer(text)]);
        assert_eq!(
            near(&read("linker eror")),
            both(relaxed("linker"), relaxed("eror"))
        );
        let not = Expr::Not(Box::new(word("panic")));
        assert_eq!(near(&read("fix -panic")), both(goes_on("fix"), not));
        for text in ["fooBar", "foo_bar", "a1b2", "Việ"] {
            assert_eq!(near(&read(text)), Some(goes_on(text)), "{text}");
        }
        for text in [
            "if",
            "__a",
            "\"two words\"",
            "word*",
            "-word",
            "v1.2",
            "7d9f1ab01234567890abcdef01234567890abcde",
        ] {
            assert_eq!(near(&read(text)), None, "{text}");
        }
    }
}
