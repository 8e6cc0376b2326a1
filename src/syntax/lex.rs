//! Which words, quotes, filters and parentheses does a query consist of?

use super::SyntaxError;
use super::field::{FIELDS, looks_like_code, nearest};

/// One piece of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lexeme {
    /// Where it starts, in characters from 1.
    pub column: usize,
    /// A `-` stands before it.
    pub negated: bool,
    /// A `+` stands before it.
    pub demanded: bool,
    pub piece: TokenKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word(String),
    Phrase(String),
    /// Between two `/`; `column` is where it starts.
    Regex {
        pattern: String,
        column: usize,
        /// Characters at the beginning of the pattern that were made of its flags.
        added: usize,
    },
    Filter {
        name: String,
        values: Vec<Value>,
    },
    Open,
    Close,
    Or,
    And,
    Not,
}

/// A value of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    /// Where it begins, in characters from 1.
    pub column: usize,
    pub text: String,
}

/// The lexemes, and what may have been meant otherwise.
pub(super) fn lex(text: &str) -> Result<(Vec<Lexeme>, Vec<String>), SyntaxError> {
    let characters: Vec<char> = text.chars().collect();
    let mut lexer = Lexer {
        characters: &characters,
        at: 0,
        depth: 0,
        notes: Vec::new(),
    };
    let mut lexemes = Vec::new();
    while let Some(lexeme) = lexer.next()? {
        lexemes.push(lexeme);
    }
    Ok((lexemes, lexer.notes))
}

struct Lexer<'a> {
    characters: &'a [char],
    at: usize,
    depth: usize,
    notes: Vec<String>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Result<Option<Lexeme>, SyntaxError> {
        while self.peek(0).is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        let column = self.at + 1;
        let negated = self.peek(0) == Some('-')
            && self
                .peek(1)
                .is_some_and(|next| !next.is_whitespace() && next != '-');
        // Whatever is no sign may be demanded, and what stands in quotes, a group or two `*`.
        let demanded = !negated
            && self.peek(0) == Some('+')
            && self
                .peek(1)
                .is_some_and(|next| next.is_alphanumeric() || "_\"(*".contains(next));
        if negated || demanded {
            self.at += 1;
        }
        let Some(first) = self.peek(0) else {
            return Ok(None);
        };
        let piece = match first {
            '"' => TokenKind::Phrase(self.quoted()?),
            '(' => {
                self.at += 1;
                self.depth += 1;
                TokenKind::Open
            }
            ')' if self.depth > 0 => {
                self.at += 1;
                self.depth -= 1;
                TokenKind::Close
            }
            '/' => match self.regex() {
                Some(regex) => regex,
                None => self.word(negated)?,
            },
            _ => self.word(negated)?,
        };
        Ok(Some(Lexeme {
            column,
            negated,
            demanded,
            piece,
        }))
    }

    /// Text in quotes; `\"` is a quote in it.
    fn quoted(&mut self) -> Result<String, SyntaxError> {
        let column = self.at + 1;
        self.at += 1;
        let mut text = String::new();
        while let Some(next) = self.peek(0) {
            self.at += 1;
            match next {
                '"' => return Ok(text),
                '\\' if self.peek(0) == Some('"') => {
                    self.at += 1;
                    text.push('"');
                }
                _ => text.push(next),
            }
        }
        Err(SyntaxError::new(column, "a closing `\"`", None))
    }

    /// `/…/` and its flags, where both ends stand alone and no blank is beside them: `/usr/bin` is
    /// a path. A `/` within is written `\/` or stands in `[…]`.
    fn regex(&mut self) -> Option<TokenKind> {
        let column = self.at + 2;
        let mut pattern = String::new();
        let mut in_class = false;
        let mut at = self.at + 1;
        loop {
            match *self.characters.get(at)? {
                '/' if !in_class => break,
                '\\' => {
                    pattern.push('\\');
                    at += 1;
                    pattern.push(*self.characters.get(at)?);
                }
                next => {
                    in_class = next == '[' || in_class && next != ']';
                    pattern.push(next);
                }
            }
            at += 1;
        }
        let blank = |end: Option<char>| end.is_none_or(char::is_whitespace);
        if blank(pattern.chars().next()) || blank(pattern.chars().next_back()) {
            return None;
        }
        let flags: String = self.characters[at + 1..]
            .iter()
            .take_while(|next| matches!(next, 'i' | 's' | 'x' | 'U'))
            .collect();
        let end = at + 1 + flags.len();
        let ends_here = match self.characters.get(end) {
            Some(')') => self.depth > 0,
            next => next.is_none_or(|next| next.is_whitespace()),
        };
        if !ends_here {
            return None;
        }
        self.at = end;
        Some(TokenKind::Regex {
            added: match flags.len() {
                0 => 0,
                flags => "(?)".len() + flags,
            },
            pattern: match flags.as_str() {
                "" => pattern,
                flags => format!("(?{flags}){pattern}"),
            },
            column,
        })
    }

    fn word(&mut self, negated: bool) -> Result<TokenKind, SyntaxError> {
        let start = self.at;
        let name: String = self.characters[start..]
            .iter()
            .take_while(|next| next.is_alphabetic())
            .collect();
        let length = name.chars().count();
        if length > 0 && self.peek(length) == Some(':') {
            let lower = name.to_lowercase();
            if FIELDS.contains(&lower.as_str()) {
                self.at += length + 1;
                if let Some(values) = self.values(&lower)? {
                    return Ok(TokenKind::Filter {
                        name: lower,
                        values,
                    });
                }
                self.at = start;
            } else {
                let rest = &self.characters[start + length + 1..];
                let value: String = rest
                    .iter()
                    .take_while(|next| !next.is_whitespace())
                    .collect();
                if !looks_like_code(&name, &value)
                    && let Some(field) = nearest(&lower)
                {
                    self.notes.push(format!(
                        "column {}: {name}: is not a field, so {name}:{value} is searched as text; did you mean {field}:{value}?",
                        start + 1
                    ));
                }
            }
        }
        // A `)` belongs to the word if its `(` does: main(), not (a OR b).
        let mut inner = 0usize;
        let mut text = String::new();
        while let Some(next) = self.peek(0) {
            match next {
                _ if next.is_whitespace() => break,
                '(' => inner += 1,
                ')' if inner > 0 => inner -= 1,
                ')' if self.depth > 0 => break,
                '\\' if self.peek(1) == Some(':') => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            text.push(next);
            self.at += 1;
        }
        Ok(match text.as_str() {
            "OR" if !negated => TokenKind::Or,
            "AND" if !negated => TokenKind::And,
            "NOT" if !negated => TokenKind::Not,
            _ => TokenKind::Word(text),
        })
    }

    /// The values after `name:`, and where they are. `None` when this is code after all (`is::x`,
    /// `session://x`).
    fn values(&mut self, name: &str) -> Result<Option<Vec<Value>>, SyntaxError> {
        let column = self.at + 1;
        let is_path = matches!(
            name,
            "cwd" | "project" | "root" | "session" | "name" | "label" | "file" | "model"
        );
        if self.peek(0) == Some(':') || (self.peek(0) == Some('/') && !is_path) {
            return Ok(None);
        }
        if self.peek(0) == Some('/') && self.peek(1) == Some('/') {
            return Ok(None);
        }
        let mut values = Vec::new();
        loop {
            let at = self.at + 1;
            let text = if self.peek(0) == Some('"') {
                self.quoted()?
            } else {
                let start = self.at;
                while self.peek(0).is_some_and(|next| {
                    !next.is_whitespace() && next != ',' && !(next == ')' && self.depth > 0)
                }) {
                    self.at += 1;
                }
                self.characters[start..self.at].iter().collect()
            };
            if text.is_empty() {
                let hint = format!("to search for the text, write \"{name}:\"");
                return Err(SyntaxError::new(
                    column,
                    format!("a value after `{name}:`"),
                    Some(hint),
                ));
            }
            values.push(Value { column: at, text });
            if self.peek(0) != Some(',') {
                return Ok(Some(values));
            }
            self.at += 1;
        }
    }
}
