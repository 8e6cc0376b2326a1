//! Which words, quotes, filters and parentheses does a query consist of?

use super::SyntaxError;
use super::field::FIELDS;
use super::notes::Notes;
use super::quotes::{self, opens};
use super::time;

/// One piece of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lexeme {
    /// Where it starts, in characters from 1.
    pub column: usize,
    /// The column of its last character.
    pub end: usize,
    /// A `-` or `!` stands before it.
    pub negated: bool,
    /// A `+` stands before it.
    pub demanded: bool,
    pub piece: TokenKind,
}

impl Lexeme {
    /// As it was typed, with the sign before it.
    pub fn typed(&self, characters: &[char]) -> String {
        characters[self.column - 1..self.end].iter().collect()
    }

    /// Whether an operator may follow.
    fn ends_member(&self) -> bool {
        use TokenKind::{And, Not, Open, Or};
        !matches!(self.piece, And | Not | Open | Or)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word(String),
    Phrase {
        text: String,
        /// Nothing closes it: it goes up to the end.
        is_open: bool,
    },
    /// Any part of the text that stood between `*"` and `"*`, or between a `*` before one word and
    /// a `*` behind a later one.
    Part(String),
    /// Between two `/`; `column` is where it starts.
    Regex {
        pattern: String,
        column: usize,
        /// Characters at the beginning of the pattern that were made of its flags.
        added: usize,
    },
    /// At least one value.
    Filter {
        name: String,
        values: Vec<Value>,
    },
    /// For each there is a `Close`.
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

/// Deeper groups are refused: every level costs stack in whoever walks the tree.
const MAX_DEPTH: usize = 50;

/// Characters of a regular expression, at most: a longer one is read as words.
const LONGEST_PATTERN: usize = 8 << 10;

/// The lexemes of a query, every group of them closed.
pub(super) fn lex(characters: &[char], notes: &mut Notes) -> Result<Vec<Lexeme>, SyntaxError> {
    let mut lexer = Lexer {
        characters,
        at: 0,
        open: Vec::new(),
        in_words: 0,
        in_bars: false,
        choice_end: 0,
        follows_member: false,
        notes,
    };
    let mut lexemes: Vec<Lexeme> = Vec::new();
    while lexer.skip_blanks() {
        lexemes.extend(lexer.next()?);
        lexer.follows_member = lexemes.last().is_some_and(Lexeme::ends_member);
    }
    for column in std::mem::take(&mut lexer.open) {
        lexer.notes.say(
            column,
            "the ( is not closed, and is read up to the end; in quotes it is text",
        );
        lexemes.push(Lexeme {
            column: characters.len() + 1,
            end: characters.len(),
            negated: false,
            demanded: false,
            piece: TokenKind::Close,
        });
    }
    Ok(join_parts(lexemes, characters))
}

/// Words from one that begins with a `*` to one that ends with a `*` are one part of the text.
fn join_parts(lexemes: Vec<Lexeme>, characters: &[char]) -> Vec<Lexeme> {
    let mut joined: Vec<Lexeme> = Vec::with_capacity(lexemes.len());
    // Where the words begin that may become one.
    let mut begin: Option<usize> = None;
    for lexeme in lexemes {
        let text = match &lexeme.piece {
            TokenKind::Word(text) => text.as_str(),
            _ => "",
        };
        let starred = text.matches('*').count();
        if text.starts_with('*') && starred == 1 && text.len() > 1 {
            begin = Some(joined.len());
        } else if text.is_empty() || lexeme.negated || lexeme.demanded {
            begin = None;
        } else if starred > 0 {
            let from = begin.take().filter(|_| starred == 1 && text.ends_with('*'));
            if let Some(from) = from.filter(|_| text.len() > 1) {
                joined.truncate(from + 1);
                if let Some(part) = joined.last_mut() {
                    let sign = usize::from(part.negated || part.demanded);
                    let inner = &characters[part.column + sign..lexeme.end - 1];
                    part.piece = TokenKind::Part(inner.iter().collect());
                    part.end = lexeme.end;
                }
                continue;
            }
        }
        joined.push(lexeme);
    }
    joined
}

struct Lexer<'a> {
    characters: &'a [char],
    at: usize,
    /// The columns of the groups that are open.
    open: Vec<usize>,
    /// Parentheses within words that are open: `main(a, b)` is two words.
    in_words: usize,
    /// A `|` within a word is open: `|a, b| a + b` is a closure.
    in_bars: bool,
    /// Up to here each `|` is an OR: `koala|walrus`.
    choice_end: usize,
    /// What an OR may have on its left comes before.
    follows_member: bool,
    notes: &'a mut Notes,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    /// Whether there is more than blanks.
    fn skip_blanks(&mut self) -> bool {
        while self.peek(0).is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        self.at < self.characters.len()
    }

    /// Whether no word goes on at `at`.
    fn ends_word(&self, at: usize) -> bool {
        match self.characters.get(at) {
            Some(')') => !self.open.is_empty(),
            next => next.is_none_or(|next| next.is_whitespace()),
        }
    }

    /// `None`: what comes next is left out.
    fn next(&mut self) -> Result<Option<Lexeme>, SyntaxError> {
        let start = self.at;
        let sign = self.sign();
        self.at += usize::from(sign.is_some());
        let piece = self.piece(sign)?;
        Ok(piece.map(|piece| Lexeme {
            column: start + 1,
            end: self.at,
            negated: matches!(sign, Some('-' | '!')),
            demanded: sign == Some('+'),
            piece,
        }))
    }

    /// The `-`, `!` or `+` before what comes next. `!=`, `!!x`, `--x` and `->` at the end of a
    /// query are text, and `vec!` as well.
    fn sign(&self) -> Option<char> {
        let (sign, next) = (self.peek(0)?, self.peek(1)?);
        // Letters and digits, and what stands in quotes, a group or two `*`.
        let begins = next.is_alphanumeric() || matches!(next, '_' | '(' | '*') || opens(next);
        let is_sign = match sign {
            '-' => next != '-' && !self.ends_word(self.at + 1),
            '!' => begins || next == '/',
            '+' => begins,
            _ => false,
        };
        is_sign.then_some(sign)
    }

    fn piece(&mut self, sign: Option<char>) -> Result<Option<TokenKind>, SyntaxError> {
        if sign.is_none()
            && let Some((operator, length)) = self.operator()
        {
            self.at += length;
            return Ok(Some(operator));
        }
        match self.peek(0) {
            Some('(') => return self.group(),
            Some(')') if self.open.pop().is_some() => {
                self.at += 1;
                return Ok(Some(TokenKind::Close));
            }
            _ => {}
        }
        let ends_word = |at| self.ends_word(at);
        if let Some((text, end)) = quotes::quoted_part(self.characters, self.at, ends_word) {
            self.at = end;
            return Ok(Some(TokenKind::Part(text)));
        }
        if let Some((text, is_open)) = self.quoted(false) {
            return Ok(Some(TokenKind::Phrase { text, is_open }));
        }
        if let Some(regex) = self.regex() {
            return Ok(Some(regex));
        }
        Ok(match self.filter() {
            Some((_, values)) if values.is_empty() => None,
            Some((name, values)) => Some(TokenKind::Filter { name, values }),
            None => Some(TokenKind::Word(self.word())),
        })
    }

    /// The operator that comes next, and its characters.
    fn operator(&self) -> Option<(TokenKind, usize)> {
        let words = [
            ("OR", TokenKind::Or),
            ("AND", TokenKind::And),
            ("&&", TokenKind::And),
            ("NOT", TokenKind::Not),
        ];
        let rest = &self.characters[self.at..];
        let is_next = |(word, _): &(&str, TokenKind)| {
            rest.iter().take(word.len()).copied().eq(word.chars())
                && self.ends_word(self.at + word.len())
        };
        if let Some((word, operator)) = words.into_iter().find(is_next) {
            return Some((operator, word.len()));
        }
        let bars = self.bars()?;
        let is_operator = match rest.get(bars) {
            _ if self.ends_word(self.at + bars) || self.at < self.choice_end => true,
            // `|x| x + 1` is code, `|>` as well.
            _ if !self.follows_member => false,
            Some(next) if *next == '(' || opens(*next) => true,
            Some(next) if next.is_alphanumeric() || matches!(next, '_' | '*' | '/') => {
                let mut word = rest[bars..].iter().take_while(|next| !next.is_whitespace());
                !word.any(|next| *next == '|')
            }
            _ => false,
        };
        is_operator.then_some((TokenKind::Or, bars))
    }

    /// How many characters the `|` or `||` has that comes next.
    fn bars(&self) -> Option<usize> {
        let bars = (0..3).take_while(|ahead| self.peek(*ahead) == Some('|'));
        Some(bars.count()).filter(|bars| matches!(bars, 1 | 2))
    }

    /// Whether a word ends here, at a `|` or `||` with a blank behind it or between plain words.
    /// `f(a|b)` is one word.
    fn ends_at_bars(&self, word: &str) -> bool {
        self.bars()
            .is_some_and(|bars| self.at < self.choice_end || self.ends_word(self.at + bars))
            && !(self.in_bars || word.contains('|'))
            && word.contains(char::is_alphanumeric)
    }

    /// Where the plain words end that begin here with a `|` or `||` between each two of them.
    fn choice_end(&self) -> usize {
        let mut end = self.at;
        while !self.ends_word(end) {
            end += 1;
        }
        let text: String = self.characters[self.at..end].iter().collect();
        let is_plain = |member: &str| {
            member.contains(char::is_alphanumeric)
                && member
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_-.".contains(c))
        };
        match !self.in_bars && text.replace("||", "|").split('|').all(is_plain) {
            true => end,
            false => self.choice_end,
        }
    }

    fn group(&mut self) -> Result<Option<TokenKind>, SyntaxError> {
        self.at += 1;
        if self.open.len() == MAX_DEPTH {
            let error = SyntaxError::new(self.at, "fewer nested groups", None);
            self.notes.refuse("(", error)?;
            return Ok(None);
        }
        self.open.push(self.at);
        Ok(Some(TokenKind::Open))
    }

    /// Text in quotes, and whether nothing closes it.
    fn quoted(&mut self, in_value: bool) -> Option<(String, bool)> {
        let ends_word =
            |at| self.ends_word(at) || in_value && self.characters.get(at) == Some(&',');
        let quoted = quotes::quoted(self.characters, self.at, ends_word)?;
        if quoted.is_open && !quoted.text.trim().is_empty() {
            let what = "the quote is not closed, and is read up to the end";
            self.notes.say(self.at + 1, what);
        }
        self.at = quoted.end;
        Some((quoted.text, quoted.is_open))
    }

    /// What stands from this `/` to the next one, where that comes before [`LONGEST_PATTERN`], and
    /// where that is; a `/` in `[…]` is skipped, if there are `classes`.
    fn pattern(&self, classes: bool) -> Option<(String, usize)> {
        let mut pattern = String::new();
        let mut in_class = false;
        let mut at = self.at + 1;
        loop {
            match *self
                .characters
                .get(at)
                .filter(|_| at - self.at <= LONGEST_PATTERN + 1)?
            {
                '/' if !in_class => return Some((pattern, at)),
                '\\' => {
                    pattern.push('\\');
                    at += 1;
                    pattern.push(*self.characters.get(at)?);
                }
                next => {
                    in_class = classes && (next == '[' || in_class && next != ']');
                    pattern.push(next);
                }
            }
            at += 1;
        }
    }

    /// `/…/` and its flags, where both ends stand alone and no blank is beside them: `/usr/bin` is
    /// a path. A `/` within is written `\/` or stands in `[…]`.
    fn regex(&mut self) -> Option<TokenKind> {
        if self.peek(0) != Some('/') {
            return None;
        }
        let column = self.at + 2;
        // A `[` that nothing closes makes it no path, but a pattern that cannot be read.
        let (pattern, at) = self.pattern(true).or_else(|| self.pattern(false))?;
        let blank = |end: Option<char>| end.is_none_or(char::is_whitespace);
        if blank(pattern.chars().next()) || blank(pattern.chars().next_back()) {
            return None;
        }
        let flags: String = self.characters[at + 1..]
            .iter()
            .take_while(|next| matches!(next, 'i' | 's' | 'x' | 'U'))
            .collect();
        let end = at + 1 + flags.len();
        if !self.ends_word(end) {
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

    /// What is written without quotes, up to the next blank.
    fn word(&mut self) -> String {
        // A `)` belongs to the word if its `(` does: main(), not (a OR b).
        let (mut inner, mut stray) = (0usize, 0usize);
        if self.at >= self.choice_end {
            self.choice_end = self.choice_end();
        }
        let mut text = String::new();
        while let Some(next) = self.peek(0) {
            match next {
                _ if next.is_whitespace() => break,
                '(' => inner += 1,
                ')' if inner > 0 => inner -= 1,
                ')' if !self.open.is_empty() => break,
                ')' => stray += 1,
                '|' if self.ends_at_bars(&text) => break,
                '\\' if self.peek(1) == Some(':') => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            text.push(next);
            self.at += 1;
        }
        self.in_bars ^= text.matches('|').count() % 2 == 1;
        let closed = stray.min(self.in_words);
        self.in_words += inner;
        self.in_words -= closed;
        let word = text.trim_end_matches(')');
        let stray = (stray - closed).min(text.len() - word.len());
        // `:)` has another meaning.
        if stray > 0 && word.contains(char::is_alphanumeric) {
            text.truncate(text.len() - stray);
            let column = self.at - stray + 1;
            self.notes.say(
                column,
                "the ) closes nothing, and is left out; in quotes it is text",
            );
        }
        text
    }

    /// `name:values`; `None` when this is text.
    fn filter(&mut self) -> Option<(String, Vec<Value>)> {
        let rest = &self.characters[self.at..];
        let name: String = rest
            .iter()
            .take_while(|next| next.is_alphabetic())
            .collect();
        let length = name.chars().count();
        let name = name.to_lowercase();
        if rest.get(length) != Some(&':') || !FIELDS.contains(&name.as_str()) {
            return None;
        }
        let start = self.at;
        self.at += length + 1;
        let values = self.values(&name);
        if values.is_none() {
            self.at = start;
        }
        Some((name, values?))
    }

    /// The values after `name:`, and where they are. `None` when this is code after all (`is::x`,
    /// `session://x`).
    fn values(&mut self, name: &str) -> Option<Vec<Value>> {
        let column = self.at + 1;
        let is_path = matches!(
            name,
            "cwd" | "project" | "repo" | "root" | "session" | "name" | "label" | "file" | "model"
        );
        let begin = (self.peek(0), self.peek(1));
        if matches!(begin, (Some(':'), _) | (Some('/'), Some('/')))
            || begin.0 == Some('/') && !is_path
        {
            return None;
        }
        let mut values = Vec::new();
        let mut lacks_one = false;
        loop {
            let at = self.at + 1;
            let text = match self.quoted(true) {
                Some((text, _)) => text,
                None => {
                    let value = self.value();
                    self.two_words(name, value)
                }
            };
            match text.is_empty() {
                true => lacks_one = true,
                false => values.push(Value { column: at, text }),
            }
            if self.peek(0) != Some(',') {
                break;
            }
            self.at += 1;
        }
        if lacks_one {
            self.tell_half(name, column, &values);
        }
        Some(values)
    }

    /// A value that is not in quotes.
    fn value(&mut self) -> String {
        let mut text = String::new();
        while let Some(next) = self.peek(0)
            && next != ','
            && !self.ends_word(self.at)
            && !(next == '|' && self.ends_at_bars(&text))
        {
            text.push(next);
            self.at += 1;
        }
        text
    }

    /// `since:last week` and `since:3 days ago` are one time, and so is `on:last monday`, of which
    /// it is told what is meant.
    fn two_words(&mut self, name: &str, mut value: String) -> String {
        let is_time = matches!(name, "since" | "until" | "after" | "before" | "on");
        let next = self.next_word(self.at).filter(|_| is_time);
        let Some((unit, end)) = next else {
            return value;
        };
        let is_beside = matches!(value.to_lowercase().as_str(), "last" | "this" | "past");
        // A number of four digits is a year.
        let is_number =
            (1..4).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit());
        if is_beside && (time::is_name(&unit) || time::is_unit(&unit)) {
            self.at = end;
            value.push('-');
            value.push_str(&unit);
        } else if is_number && time::is_unit(&unit) {
            let ago = self.next_word(end).filter(|(word, _)| word == "ago");
            self.at = ago.map_or(end, |(_, end)| end);
            value.push_str(&unit);
        }
        value
    }

    /// The word behind the blank at `at`, in lowercase, and where it ends.
    fn next_word(&self, at: usize) -> Option<(String, usize)> {
        let rest = self.characters.get(at..)?.strip_prefix(&[' '])?.iter();
        let word: String = rest.take_while(|next| next.is_alphanumeric()).collect();
        let end = at + 1 + word.chars().count();
        (!word.is_empty() && self.ends_word(end)).then(|| (word.to_lowercase(), end))
    }

    /// A filter lacks a value, or has none at all.
    fn tell_half(&mut self, name: &str, column: usize, values: &[Value]) {
        let is_plain = |value: &Value| value.text.chars().all(char::is_alphanumeric);
        let lacks_last = matches!(self.characters.get(self.at - 1), Some(',' | ':'));
        let next = self.next_word(self.at).filter(|(word, _)| word.len() <= 20);
        let next = next.filter(|_| lacks_last && values.iter().all(is_plain));
        // `role: user` and `role:user, assistant`
        let meant = next.map(|(_, end)| {
            let next: String = self.characters[self.at + 1..end].iter().collect();
            let values = values.iter().map(|value| value.text.as_str());
            let values: Vec<&str> = values.chain([next.as_str()]).collect();
            format!("did you mean {name}:{}?", values.join(","))
        });
        let hint = meant.unwrap_or_else(|| format!("to search for the text, write \"{name}:\""));
        let error = SyntaxError::new(column, format!("a value after `{name}:`"), Some(hint));
        let typed = match values.is_empty() {
            true => format!("{name}:"),
            false => ",".to_owned(),
        };
        self.notes.leave_out(&typed, error);
    }
}
