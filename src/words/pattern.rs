//! Which tokens does a typed word, phrase or prefix ask for?

use super::literal::needed;
use super::tokenizer::{Kind, segment};
use crate::model::Class;

/// What a typed text asks for: its tokens at their distances, or the token of the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// `(distance from the first, token)`, ascending; empty when the text holds no word.
    pub parts: Vec<(u32, String)>,
    /// The token of the whole, when the text is one identifier, dotted number or name in `.js`.
    pub whole: Option<String>,
    /// The last part, and the whole word, may continue in a match.
    pub prefix: bool,
}

impl Pattern {
    pub fn new(text: &str, prefix: bool) -> Self {
        let mut parts = Vec::new();
        let mut signed: Vec<(u32, String)> = Vec::new();
        let mut whole = None;
        let positions = segment(text, |token| match token.kind {
            Kind::Word => parts.push((token.position, token.text.to_owned())),
            Kind::Signed => signed.push((token.position, token.text.to_owned())),
            Kind::Whole { span } if token.position == 0 => {
                whole = Some((span, token.text.to_owned()));
            }
            Kind::Joined if token.position == 0 && !prefix => {
                whole = Some((2, token.text.to_owned()));
            }
            Kind::Whole { .. } | Kind::Joined | Kind::Extra => {}
        });
        for (position, part) in &mut parts {
            if let Ok(at) = signed.binary_search_by_key(position, |(position, _)| *position) {
                part.clone_from(&signed[at].1);
            }
        }
        let whole = whole
            .filter(|(span, _)| *span == positions && signed.is_empty())
            .map(|(_, text)| text);
        let mut pattern = Self {
            parts,
            whole,
            prefix,
        };
        // A number is the same number however it is spelled, and no part of a longer one.
        let is_number = |whole: &mut String| whole.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(number) = pattern.whole.take_if(is_number) {
            pattern.parts = vec![(0, number)];
        }
        pattern
    }

    /// Whether a passage of `class` is asked for the parts as well as for the whole. What tools
    /// print is indexed without positions, so there each passage with all parts would have to be
    /// read; and what a program prints of an identifier is mostly the identifier as it stands. So
    /// there an identifier, or a dotted number, is one word; see also [`Pattern::longer_number`].
    pub fn asks_for_parts(&self, class: Class) -> bool {
        class == Class::Prose || self.whole.is_none()
    }

    /// What the token of a longer dotted number begins with, if the text is such a number:
    /// `192.168.1.` for `192.168.1.10`. Where the parts are not asked for, this finds it.
    pub fn longer_number(&self) -> Option<String> {
        let number = self.whole.as_ref().filter(|whole| whole.contains('.'))?;
        // A prefix finds it anyway.
        (!self.prefix).then(|| format!("{number}."))
    }

    /// The token, if the text is one and no more.
    pub fn only_word(&self) -> Option<&str> {
        match (self.parts.as_slice(), &self.whole) {
            ([(_, word)], None) => Some(word),
            _ => None,
        }
    }

    /// The token of the only word, or of the whole.
    pub fn into_word(self) -> Option<String> {
        let only = self.only_word().map(str::to_owned);
        only.or(self.whole)
    }

    /// ASCII text that the text of a match must contain, up to case, before folding.
    /// A whole is its parts put together, so its parts are in it as well.
    pub fn literals(&self) -> Vec<&str> {
        let last = self.parts.len().saturating_sub(1);
        let parts = self.parts.iter().enumerate();
        parts
            .flat_map(|(at, (_, part))| needed(part, self.prefix && at == last))
            .collect()
    }
}
