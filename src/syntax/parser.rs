//! What do the pieces of a query ask for together?

use std::collections::HashMap;

use super::alternatives::{Filter, Tree, alternatives};
use super::lex::{Lexeme, TokenKind, Value};
use super::notes::{Notes, as_written, short};
use super::word::word;
use super::{
    Alternative, FilterValue, Filters, Now, Query, RememberedWord, SyntaxError, searchable,
};
use crate::model::Expr;
use crate::words::regex_error;

pub(super) struct Parser<'a> {
    characters: &'a [char],
    lexemes: &'a [Lexeme],
    at: usize,
    now: Now<'a>,
    typed: Vec<FilterValue>,
    notes: Notes,
}

impl<'a> Parser<'a> {
    pub fn new(characters: &'a [char], lexemes: &'a [Lexeme], now: Now<'a>, notes: Notes) -> Self {
        Self {
            characters,
            lexemes,
            at: 0,
            now,
            typed: Vec::new(),
            notes,
        }
    }

    pub fn query(mut self) -> Result<Query, SyntaxError> {
        let alternatives = match self.either()? {
            Some(tree) => self.alternatives(&tree)?,
            None if self.notes.is_typing => vec![Alternative::default()],
            None => return Err(self.nothing()),
        };
        Ok(Query {
            alternatives,
            words: self.plain_words().unwrap_or_default(),
            typed: self.typed,
            notes: self.notes.into_said(),
        })
    }

    fn peek(&self) -> Option<&'a Lexeme> {
        self.lexemes.get(self.at)
    }

    /// The words of a query that is nothing but two or more of them and filters.
    fn plain_words(&self) -> Option<Vec<RememberedWord>> {
        let mut words: Vec<RememberedWord> = Vec::new();
        // Where each of them stands: somebody may paste thousands.
        let mut places: HashMap<Expr, usize> = HashMap::new();
        for lexeme in self.lexemes {
            match &lexeme.piece {
                TokenKind::Filter { .. } => {}
                TokenKind::Word(text) => {
                    // What has no letters is left out, with a minus before it or not.
                    let Some(expr) = self.goes_on(lexeme, word(text)) else {
                        continue;
                    };
                    let expr = match is_short(text) {
                        true => word(text).unwrap_or(expr),
                        false => expr,
                    };
                    if lexeme.negated || expr.reads_text() {
                        return None;
                    }
                    let place = *places.entry(expr.clone()).or_insert(words.len());
                    match words.get_mut(place) {
                        Some(known) => known.is_demanded |= lexeme.demanded,
                        None => words.push(RememberedWord {
                            expr,
                            is_demanded: lexeme.demanded,
                        }),
                    }
                }
                _ => return None,
            }
        }
        (words.len() > 1).then_some(words)
    }

    /// `None`: nothing that can be searched for.
    fn either(&mut self) -> Result<Option<Tree>, SyntaxError> {
        let mut members: Vec<Tree> = self.all()?.into_iter().collect();
        while let Some(lexeme) = self.peek().filter(|lexeme| lexeme.piece == TokenKind::Or) {
            self.at += 1;
            let first = self.at;
            let next = self.all()?;
            let is_half = self.at == first + 1 && self.is_half_typed(first);
            if members.is_empty() || next.is_none() && !is_half {
                self.leave_out_operator(lexeme, "a word on both sides of OR");
            }
            members.extend(next);
        }
        Ok(match members.len() {
            0 | 1 => members.pop(),
            _ => Some(Tree::Any(members)),
        })
    }

    /// Members that stand side by side, or with AND between them, up to an OR or `)`.
    fn all(&mut self) -> Result<Option<Tree>, SyntaxError> {
        let mut members: Vec<Tree> = Vec::new();
        let (mut is_first, mut is_behind_and) = (true, false);
        // The NOT before the next lexeme, and whether it and the NOTs before it negate that lexeme.
        let mut not_at: Option<(&Lexeme, bool)> = None;
        while let Some(lexeme) = self.peek() {
            let member = match &lexeme.piece {
                TokenKind::Or | TokenKind::Close => break,
                TokenKind::And => {
                    self.at += 1;
                    if is_first || not_at.is_some() || !self.begins_member() {
                        self.leave_out_operator(lexeme, "a word on both sides of AND");
                    }
                    is_behind_and = true;
                    continue;
                }
                TokenKind::Not => {
                    not_at = Some((lexeme, !is_negated(not_at)));
                    self.at += 1;
                    continue;
                }
                TokenKind::Filter { name, values } => {
                    let negated = lexeme.negated ^ is_negated(not_at.take());
                    let filter = self.filter(lexeme, name, values, negated)?;
                    self.take_filter(lexeme, filter, is_behind_and, &mut members)?;
                    self.at += 1;
                    (is_first, is_behind_and) = (false, false);
                    continue;
                }
                TokenKind::Open => {
                    self.at += 1;
                    // Up to its `)`, which every group has.
                    self.either()?
                }
                TokenKind::Phrase { text, .. } => {
                    let phrase = searchable(text).then(|| Expr::Phrase(text.clone()));
                    self.text(lexeme, text, phrase)
                }
                TokenKind::Word(text) => {
                    self.text(lexeme, &lexeme.typed(self.characters), word(text))
                }
                TokenKind::Part(text) => Some(Tree::Text(Expr::Substring(text.clone()))),
                TokenKind::Regex {
                    pattern,
                    column,
                    added,
                } => self.regex(lexeme, regex(pattern, *column, *added))?,
            };
            self.at += 1;
            (is_first, is_behind_and) = (false, false);
            let negated = lexeme.negated ^ is_negated(not_at.take());
            members.extend(member.map(|member| match negated {
                true => Tree::Not(Box::new(member)),
                false => member,
            }));
        }
        if let Some((not, _)) = not_at {
            self.leave_out_operator(not, "a word after NOT");
        }
        Ok(match members.len() {
            0 | 1 => members.pop(),
            _ => Some(Tree::All(members)),
        })
    }

    /// Adds a filter to the members beside it, or tells why it cannot stand there.
    fn take_filter(
        &mut self,
        lexeme: &Lexeme,
        filter: Option<Filter>,
        is_behind_and: bool,
        members: &mut Vec<Tree>,
    ) -> Result<(), SyntaxError> {
        let refused = filter.and_then(|filter| add_filter(members, filter, is_behind_and));
        match refused {
            Some(error) => self.notes.refuse(&lexeme.typed(self.characters), error),
            None => Ok(()),
        }
    }

    /// A filter with its values. What is wrong with it is reported even where no alternative needs
    /// it.
    fn filter(
        &mut self,
        lexeme: &Lexeme,
        name: &str,
        values: &[Value],
        negated: bool,
    ) -> Result<Option<Filter>, SyntaxError> {
        let filter = Filter {
            column: lexeme.column,
            value_column: lexeme.column + name.chars().count() + 1 + usize::from(lexeme.negated),
            negated,
            name: name.to_owned(),
            values: values.iter().map(|value| value.text.clone()).collect(),
            is_half_typed: self.notes.is_typing
                && lexeme.end == self.characters.len()
                && self.characters.last() != Some(&'"'),
        };
        if let Err(error) = Filters::default().take(&filter, negated, self.now) {
            self.notes.refuse(&lexeme.typed(self.characters), error)?;
            return Ok(None);
        }
        self.typed.extend(values.iter().map(|value| FilterValue {
            column: value.column,
            field: name.to_owned(),
            value: value.text.clone(),
        }));
        Ok(Some(filter))
    }

    fn regex(
        &mut self,
        lexeme: &Lexeme,
        read: Result<Expr, SyntaxError>,
    ) -> Result<Option<Tree>, SyntaxError> {
        match read {
            Ok(expr) => Ok(Some(Tree::Text(expr))),
            Err(error) => {
                self.notes.refuse(&lexeme.typed(self.characters), error)?;
                Ok(None)
            }
        }
    }

    /// What a word or phrase asks for; where that is nothing, a note says so.
    fn text(&mut self, lexeme: &Lexeme, text: &str, expr: Option<Expr>) -> Option<Tree> {
        if expr.is_none() {
            let what = match text.trim() {
                "" => "nothing stands in the quotes, so they are left out".to_owned(),
                text => format!(
                    "{} has no letters or digits and is left out{}",
                    short(text),
                    found_as_written(text)
                ),
            };
            self.notes.say(lexeme.column, &what);
        }
        self.goes_on(lexeme, expr).map(Tree::Text)
    }

    /// What a word or phrase asks for that may be the beginning of what is being typed.
    fn goes_on(&self, lexeme: &Lexeme, expr: Option<Expr>) -> Option<Expr> {
        let is_last = match &lexeme.piece {
            TokenKind::Phrase { is_open, .. } => *is_open,
            _ => lexeme.end == self.characters.len(),
        };
        let goes_on = is_last && self.notes.is_typing && !lexeme.negated;
        match expr? {
            Expr::Word(text) | Expr::Phrase(text)
                if goes_on
                    && text.ends_with(|last: char| last.is_alphanumeric() || last == '_') =>
            {
                match without_first_letter(&text) {
                    "" => None,
                    before if before.len() < text.len() => Some(Expr::Phrase(before.to_owned())),
                    _ => Some(Expr::Prefix(text)),
                }
            }
            expr => Some(expr),
        }
    }

    /// Whether this is the word that is being typed.
    fn is_half_typed(&self, at: usize) -> bool {
        let lexeme = self.lexemes.get(at).filter(|_| self.notes.is_typing);
        lexeme.is_some_and(|lexeme| {
            lexeme.end == self.characters.len()
                && matches!(&lexeme.piece, TokenKind::Word(text) if word(text).is_some())
        })
    }

    /// Whether a word, group or filter comes next.
    fn begins_member(&self) -> bool {
        self.peek().is_some_and(|next| {
            !matches!(
                next.piece,
                TokenKind::Or | TokenKind::And | TokenKind::Close
            )
        })
    }

    /// An operator that lacks what it stands beside.
    fn leave_out_operator(&mut self, lexeme: &Lexeme, expected: &str) {
        let typed = lexeme.typed(self.characters);
        let hint = match typed.contains(char::is_alphabetic) {
            true => format!(
                "to search for the word itself, write \"{}\"",
                typed.to_lowercase()
            ),
            false => format!("{} finds it as it is written", as_written(&typed)),
        };
        let error = SyntaxError::new(lexeme.column, expected, Some(hint));
        self.notes.leave_out(&typed, error);
    }

    /// The alternatives; while the query is being typed, only the text where its filters contradict
    /// each other.
    fn alternatives(&mut self, tree: &Tree) -> Result<Vec<Alternative>, SyntaxError> {
        match alternatives(tree, self.now) {
            Ok(found) => Ok(found),
            Err(error) => {
                self.notes.refuse("every filter", error)?;
                Ok(vec![Alternative {
                    expr: tree.text_alone(),
                    filters: Filters::default(),
                }])
            }
        }
    }

    /// Why there is nothing to search for.
    fn nothing(&mut self) -> SyntaxError {
        if let Some(error) = self.notes.first_left_out() {
            return error;
        }
        let typed = |lexeme: &Lexeme| match &lexeme.piece {
            TokenKind::Word(text) | TokenKind::Phrase { text, .. } => Some(text.clone()),
            _ => None,
        };
        let texts = self.lexemes.iter().filter_map(typed);
        let mut texts = texts.filter(|text| !text.trim().is_empty());
        let whole = || self.characters.iter().collect::<String>();
        let text = texts.next().unwrap_or_else(whole);
        let hint = (!text.trim().is_empty()).then(|| {
            format!(
                "only letters and digits are indexed{}",
                found_as_written(&text)
            )
        });
        SyntaxError::new(1, "a word to search for", hint)
    }
}

/// How a text without letters is found, unless it is too long for anybody to want that.
fn found_as_written(text: &str) -> String {
    match short(text) == text {
        true => format!("; {} finds it as it is written", as_written(text)),
        false => String::new(),
    }
}

/// A regular expression that can be run. `column`: where its pattern stands in the query; `added`:
/// so many characters at its beginning were made from flags and not typed.
fn regex(pattern: &str, column: usize, added: usize) -> Result<Expr, SyntaxError> {
    match regex_error(pattern) {
        None => Ok(Expr::Regex(pattern.to_owned())),
        Some((at, message)) => Err(SyntaxError::new(
            column + at.saturating_sub(added),
            format!("a regular expression ({message})"),
            Some(format!(
                "to search for the text, write \"/{}/\"",
                &pattern[added..]
            )),
        )),
    }
}

/// Whether the NOTs before a lexeme ask for its opposite: two of them do not.
fn is_negated(not_at: Option<(&Lexeme, bool)>) -> bool {
    not_at.is_some_and(|(_, negated)| negated)
}

/// Names of one filter side by side add up: `role:user role:assistant` is either. With AND between
/// them both would have to hold, which cannot be asked for: that is what is given back.
fn add_filter(members: &mut Vec<Tree>, filter: Filter, is_behind_and: bool) -> Option<SyntaxError> {
    let same = members.iter_mut().find_map(|member| match member {
        Tree::Filter(other) if other.name == filter.name && other.negated == filter.negated => {
            Some(other)
        }
        _ => None,
    });
    match same {
        Some(other) if filter.takes_names() && is_behind_and && !filter.negated => {
            let (name, column) = (&filter.name, other.column);
            let expected = format!("no {name}: behind AND beside the one in column {column}");
            let hint = format!("{name}:a,b is either; both at once cannot be asked for");
            return Some(SyntaxError::new(filter.column, expected, Some(hint)));
        }
        Some(other) if filter.takes_names() => {
            other.values.extend(filter.values);
            other.is_half_typed |= filter.is_half_typed;
        }
        _ => members.push(Tree::Filter(filter)),
    }
    None
}

/// The text without its last word, where that is one letter so far. Hardly any session has no word
/// that begins with it: it is looked for when it has gone on, or ended. A sign of CJK is a word.
fn without_first_letter(text: &str) -> &str {
    let before = text.trim_end_matches(|c: char| !c.is_whitespace());
    let mut last = text[before.len()..].chars();
    match (last.next(), last.next()) {
        (Some(letter), None) if letter.len_utf8() < 3 => before.trim_end(),
        _ => text,
    }
}

/// Whether nearly every session has a word that begins so: of several words such a one counts where
/// it stands as it is.
fn is_short(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
