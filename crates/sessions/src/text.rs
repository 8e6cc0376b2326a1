//! Where does what an entry says stand in its text? There it is kept and not copied.

use std::borrow::Cow;
use std::ops::Range;

use sessionary_formats::json;

/// Where something stands in the text of an entry: a session has many entries, and most say the
/// same few things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// `None` in a text of more than 4 GB.
    pub(super) fn of(range: Range<usize>) -> Option<Self> {
        Some(Self {
            start: u32::try_from(range.start).ok()?,
            end: u32::try_from(range.end).ok()?,
        })
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A text on its way into an entry: where it stands, or what it reads as.
#[derive(Default)]
pub(super) struct PendingText(pub Span, pub Option<Box<str>>);

impl PendingText {
    /// The text of a string, and where `any` of another value but null.
    pub(super) fn of(json: &str, value: Range<usize>, any: bool) -> Self {
        let raw = &json[value.clone()];
        let plain = match raw.as_bytes().first() {
            Some(b'"') => match json::unquote(raw) {
                Cow::Borrowed(_) => value.start + 1..value.end - 1,
                Cow::Owned(text) => return Self(Span::default(), Some(text.into())),
            },
            _ if any && raw != "null" => value,
            _ => return Self::default(),
        };
        match Span::of(plain.clone()) {
            Some(span) => Self(span, None),
            None => Self(Span::default(), Some(json[plain].into())),
        }
    }
}
