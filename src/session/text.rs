//! Where do an entry and what it says stand? In what was read of a file, which is kept and not copied.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::format::json;

/// The text of an entry, within what was read with it: a line of a file is not copied.
#[derive(Clone)]
pub(super) struct Text {
    read: Arc<String>,
    range: Range<usize>,
}

impl Text {
    /// What stands there in a text, which is kept as a whole.
    pub(super) fn within(read: &Arc<String>, range: Range<usize>) -> Self {
        Self {
            read: Arc::clone(read),
            range,
        }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.read[self.range.clone()]
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Where something stands in the text of an entry: a session has many entries, and most say the same few things.
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
pub(super) struct Found(pub Span, pub Option<Box<str>>);

impl Found {
    /// The text of a string, and where `any` of another value but null.
    pub(super) fn of(json: &str, value: Range<usize>, any: bool) -> Self {
        let raw = &json[value.clone()];
        let plain = match raw.as_bytes() {
            [b'"', inner @ .., b'"'] => {
                if memchr::memchr(b'\\', inner).is_some() {
                    return Self(Span::default(), Some(json::decode(raw.as_bytes()).into()));
                }
                value.start + 1..value.end - 1
            }
            b"null" => return Self::default(),
            _ if any => value,
            _ => return Self::default(),
        };
        match Span::of(plain.clone()) {
            Some(span) => Self(span, None),
            None => Self(Span::default(), Some(json[plain].into())),
        }
    }
}
