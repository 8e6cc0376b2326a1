//! What does `JSON.parse` make of bytes that were decoded as UTF-8? ECMA-262's grammar, read one
//! character at a time.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// A value as JavaScript has it: numbers are doubles (those that are none are null in these files),
/// of equal keys the last counts.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Text(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

/// What came of it.
pub enum Outcome {
    Value(Json),
    Refused,
    /// Nested deeper than this reference reads.
    Deep,
}

const DEEPEST: usize = 100;

pub fn parse(bytes: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader {
        rest: text.chars().peekable(),
        depth: 0,
        deep: false,
    };
    let value = reader.value();
    reader.space();
    match (reader.deep, value) {
        (true, _) => Outcome::Deep,
        (false, Some(value)) if reader.rest.peek().is_none() => Outcome::Value(value),
        _ => Outcome::Refused,
    }
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
    deep: bool,
}

impl Reader<'_> {
    fn space(&mut self) {
        while self
            .rest
            .next_if(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
            .is_some()
        {}
    }

    fn expect(&mut self, word: &str) -> Option<()> {
        word.chars()
            .try_for_each(|c| self.rest.next_if_eq(&c).map(drop))
    }

    fn value(&mut self) -> Option<Json> {
        self.space();
        match self.rest.peek()? {
            'n' => self.expect("null").map(|()| Json::Null),
            't' => self.expect("true").map(|()| Json::Bool(true)),
            'f' => self.expect("false").map(|()| Json::Bool(false)),
            '"' => self.text().map(Json::Text),
            '[' | '{' => {
                if self.depth == DEEPEST {
                    self.deep = true;
                    return None;
                }
                self.depth += 1;
                let value = match self.rest.next() {
                    Some('[') => self.array(),
                    _ => self.object(),
                };
                self.depth -= 1;
                value
            }
            _ => self.number(),
        }
    }

    fn array(&mut self) -> Option<Json> {
        let mut items = Vec::new();
        self.space();
        if self.rest.next_if_eq(&']').is_some() {
            return Some(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.space();
            match self.rest.next()? {
                ',' => {}
                ']' => return Some(Json::Array(items)),
                _ => return None,
            }
        }
    }

    fn object(&mut self) -> Option<Json> {
        let mut members = BTreeMap::new();
        self.space();
        if self.rest.next_if_eq(&'}').is_some() {
            return Some(Json::Object(members));
        }
        loop {
            self.space();
            let key = self.text()?;
            self.space();
            self.expect(":")?;
            let value = self.value()?;
            members.insert(key, value);
            self.space();
            match self.rest.next()? {
                ',' => {}
                '}' => return Some(Json::Object(members)),
                _ => return None,
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        self.expect("\"")?;
        let mut units: Vec<u16> = Vec::new();
        loop {
            match self.rest.next()? {
                '"' => break,
                '\\' => units.push(match self.rest.next()? {
                    c @ ('"' | '\\' | '/') => c as u16,
                    'b' => 8,
                    'f' => 12,
                    'n' => 10,
                    'r' => 13,
                    't' => 9,
                    'u' => {
                        let mut unit = 0;
                        for _ in 0..4 {
                            unit = unit * 16 + self.rest.next()?.to_digit(16)?;
                        }
                        unit as u16
                    }
                    _ => return None,
                }),
                c if c < ' ' => return None,
                c => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            }
        }
        Some(String::from_utf16_lossy(&units))
    }

    fn digits(&mut self, into: &mut String) -> Option<()> {
        into.push(self.rest.next_if(char::is_ascii_digit)?);
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            into.push(digit);
        }
        Some(())
    }

    fn number(&mut self) -> Option<Json> {
        let mut text = String::new();
        text.extend(self.rest.next_if_eq(&'-'));
        match self.rest.next_if_eq(&'0') {
            Some(zero) => text.push(zero),
            None => self.digits(&mut text)?,
        }
        if let Some(point) = self.rest.next_if_eq(&'.') {
            text.push(point);
            self.digits(&mut text)?;
        }
        if self.rest.next_if(|c| matches!(c, 'e' | 'E')).is_some() {
            text.push('e');
            text.extend(self.rest.next_if(|c| matches!(c, '+' | '-')));
            self.digits(&mut text)?;
        }
        Some(number(text.parse().ok()?))
    }
}

fn number(double: f64) -> Json {
    match double.is_finite() {
        true => Json::Number(double.to_bits()),
        false => Json::Null,
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Json {
        use serde_json::Value;
        match value {
            Value::Null => Json::Null,
            Value::Bool(yes) => Json::Bool(yes),
            Value::Number(n) => number(n.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => Json::Text(text),
            Value::Array(items) => Json::Array(items.into_iter().map(Json::from).collect()),
            Value::Object(members) => Json::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (key, value.into()))
                    .collect(),
            ),
        }
    }
}
