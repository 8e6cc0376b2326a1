//! Which words, quotes, filters and parentheses does a query consist of?

use super::{FIELDS, SyntaxError, looks_like_code, nearest};

/// One piece of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lexeme {
    /// Where it starts, in characters from 1.
    pub column: usize,
    /// A `-` stands before it.
    pub negated: bool,
    pub piece: Piece,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Word(String),
    Phrase(String),
    Filter { name: String, values: Vec<String> },
    Open,
    Close,
    Or,
}

pub(super) fn lex(text: &str) -> Result<Vec<Lexeme>, SyntaxError> {
    let characters: Vec<char> = text.chars().collect();
    let mut lexer = Lexer {
        characters: &characters,
        at: 0,
        depth: 0,
    };
    let mut lexemes = Vec::new();
    while let Some(lexeme) = lexer.next()? {
        lexemes.push(lexeme);
    }
    Ok(lexemes)
}

struct Lexer<'a> {
    characters: &'a [char],
    at: usize,
    depth: usize,
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
        if negated {
            self.at += 1;
        }
        let Some(first) = self.peek(0) else {
            return Ok(None);
        };
        let piece = match first {
            '"' => Piece::Phrase(self.quoted()?),
            '(' => {
                self.at += 1;
                self.depth += 1;
                Piece::Open
            }
            ')' if self.depth > 0 => {
                self.at += 1;
                self.depth -= 1;
                Piece::Close
            }
            _ => self.word(negated)?,
        };
        Ok(Some(Lexeme {
            column,
            negated,
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
        Err(SyntaxError::new(column, "a second `\"` for this one", None))
    }

    fn word(&mut self, negated: bool) -> Result<Piece, SyntaxError> {
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
                    return Ok(Piece::Filter {
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
                if !looks_like_code(&name, &value) {
                    let column = start + 1;
                    let quoted = format!("to search for the text, write \"{name}:{value}\"");
                    let hint = match nearest(&lower) {
                        Some(field) => format!("did you mean {field}:? {quoted}"),
                        None => quoted,
                    };
                    let expected = format!("one of the fields {}", FIELDS.join(", "));
                    return Err(SyntaxError::new(column, expected, Some(hint)));
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
        if text == "OR" && !negated {
            return Ok(Piece::Or);
        }
        Ok(Piece::Word(text))
    }

    /// The values after `name:`. `None` when this is code after all (`is::x`, `session://x`).
    fn values(&mut self, name: &str) -> Result<Option<Vec<String>>, SyntaxError> {
        let column = self.at + 1;
        let is_path = matches!(name, "cwd" | "project" | "session");
        if self.peek(0) == Some(':') || (self.peek(0) == Some('/') && !is_path) {
            return Ok(None);
        }
        if self.peek(0) == Some('/') && self.peek(1) == Some('/') {
            return Ok(None);
        }
        let mut values = Vec::new();
        loop {
            let value = if self.peek(0) == Some('"') {
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
            if value.is_empty() {
                let hint = format!("to search for the text, write \"{name}:\"");
                return Err(SyntaxError::new(
                    column,
                    format!("a value after `{name}:`"),
                    Some(hint),
                ));
            }
            values.push(value);
            if self.peek(0) != Some(',') {
                return Ok(Some(values));
            }
            self.at += 1;
        }
    }
}
