//! Of which words, numbers and signs does a date consist, as V8 cuts it?

use crate::json::js::is_space;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Token {
    Number {
        value: i64,
        length: usize,
    },
    Symbol(char),
    Month(i64),
    /// am: 0, pm: 12.
    HalfDay(i64),
    /// Hours from UTC, and whether it is the letter Z alone.
    Zone(i64, bool),
    /// The letter T alone.
    T,
    Word,
    Space,
    /// Any other character, or a remark in parentheses.
    Other,
    End,
}

impl Token {
    pub(super) fn is_sign(self) -> bool {
        matches!(self, Token::Symbol('+' | '-'))
    }

    pub(super) fn is_z(self) -> bool {
        matches!(self, Token::Zone(_, true))
    }

    /// The value of a number of exactly so many digits.
    pub(super) fn digits(self, count: usize) -> Option<i64> {
        match self {
            Token::Number { value, length } if length == count => Some(value),
            _ => None,
        }
    }
}

const WORDS: [(&str, Token); 27] = [
    ("jan", Token::Month(1)),
    ("feb", Token::Month(2)),
    ("mar", Token::Month(3)),
    ("apr", Token::Month(4)),
    ("may", Token::Month(5)),
    ("jun", Token::Month(6)),
    ("jul", Token::Month(7)),
    ("aug", Token::Month(8)),
    ("sep", Token::Month(9)),
    ("oct", Token::Month(10)),
    ("nov", Token::Month(11)),
    ("dec", Token::Month(12)),
    ("am", Token::HalfDay(0)),
    ("pm", Token::HalfDay(12)),
    ("ut", Token::Zone(0, false)),
    ("utc", Token::Zone(0, false)),
    ("z", Token::Zone(0, true)),
    ("gmt", Token::Zone(0, false)),
    ("cdt", Token::Zone(-5, false)),
    ("cst", Token::Zone(-6, false)),
    ("edt", Token::Zone(-4, false)),
    ("est", Token::Zone(-5, false)),
    ("mdt", Token::Zone(-6, false)),
    ("mst", Token::Zone(-7, false)),
    ("pdt", Token::Zone(-7, false)),
    ("pst", Token::Zone(-8, false)),
    ("t", Token::T),
];

/// One token ahead.
pub(super) struct Scanner<'a> {
    rest: &'a str,
    pub(super) peeked: Token,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut scanner = Self {
            rest: text,
            peeked: Token::End,
        };
        scanner.next();
        scanner
    }

    /// The token ahead, which is then behind.
    pub(super) fn next(&mut self) -> Token {
        let scanned = self.scan();
        std::mem::replace(&mut self.peeked, scanned)
    }

    pub(super) fn skip(&mut self, symbol: char) -> bool {
        let hit = self.peeked == Token::Symbol(symbol);
        if hit {
            self.next();
        }
        hit
    }

    fn take(&mut self, part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn scan(&mut self) -> Token {
        let Some(first) = self.rest.chars().next() else {
            return Token::End;
        };
        if first.is_ascii_digit() {
            let digits = self.take(|c| c.is_ascii_digit());
            // Nine digits count, after leading zeros; the others are passed over.
            let value = digits.trim_start_matches('0').bytes().take(9);
            let value = value.fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
            return Token::Number {
                value,
                length: digits.len(),
            };
        }
        if first >= 'A' && !is_space(first) {
            return word(self.take(|c| c >= 'A' && !is_space(c)));
        }
        if first == '(' {
            self.parentheses();
            return Token::Other;
        }
        self.rest = &self.rest[first.len_utf8()..];
        match first {
            ':' | '-' | '+' | '.' | ')' => Token::Symbol(first),
            _ if is_space(first) => Token::Space,
            _ => Token::Other,
        }
    }

    /// Past the matching parenthesis, or the end.
    fn parentheses(&mut self) {
        let mut depth = 0;
        for (at, byte) in self.rest.bytes().enumerate() {
            depth += match byte {
                b'(' => 1,
                b')' => -1,
                _ => 0,
            };
            if depth == 0 {
                self.rest = &self.rest[at + 1..];
                return;
            }
        }
        self.rest = "";
    }
}

/// Only names of months may be longer than three letters.
fn word(word: &str) -> Token {
    let short: String = word
        .chars()
        .take(3)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let known = WORDS.iter().find(|(name, _)| *name == short);
    match known {
        Some((_, token @ Token::Month(_))) => *token,
        Some((_, token)) if word.len() <= 3 => *token,
        _ => Token::Word,
    }
}
