//! Which cookies of a header may be keys?
//!
//! A header's cookies are pairs that semicolons part (RFC 6265). It ends with its line, or with a
//! quote that closes what it stands in; a value may stand in quotes of its own.

use std::ops::Range;

use memchr::{memchr, memchr2, memchr3, memmem};

use super::value::{Family, ValueContext, is_secret};

/// So much of a header is looked at.
const HEADER: usize = 4 << 10;

/// The value of a cookie that is a key has so many letters.
const LEAST: usize = 16;

/// Words in the names of cookies that say who somebody is.
const TELLING: &[&str] = &["sess", "sid", "auth", "token", "jwt", "remember"];

/// What follows `Cookie:`, or curl's `-b`.
struct Cookies<'a> {
    text: &'a str,
    /// As much of it as is looked at.
    bytes: &'a [u8],
    at: usize,
    /// The quote that they stand in.
    quote: Option<u8>,
    /// Without a quote a blank ends them.
    is_word: bool,
}

/// From the first cookie of a header that may be a key to the last one.
pub fn of_header(text: &str) -> Option<Range<usize>> {
    Cookies::of(text, false).keys()
}

/// As [`of_header`], of what an argument is.
pub fn of_argument(text: &str) -> Option<Range<usize>> {
    Cookies::of(text, true).keys()
}

impl<'a> Cookies<'a> {
    fn of(text: &'a str, is_word: bool) -> Self {
        let mut cut = text.len().min(HEADER);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        let bytes = &text.as_bytes()[..cut];
        let opens = |byte: &&u8| b" [".contains(byte);
        let at = bytes.iter().take(3).take_while(opens).count();
        let quote = bytes.get(at).copied();
        let quote = quote.filter(|byte| b"\"'`".contains(byte));
        Cookies {
            text,
            bytes,
            at: at + usize::from(quote.is_some()),
            quote,
            is_word,
        }
    }

    fn keys(mut self) -> Option<Range<usize>> {
        let mut keys: Option<Range<usize>> = None;
        let mut end = self.end();
        loop {
            self.at += self.run(end, |byte| byte == b' ');
            let start = self.at;
            let rest = &self.bytes[start.min(end)..end];
            self.at += memchr3(b'=', b';', b',', rest).unwrap_or(rest.len());
            let name = &self.text[start..self.at];
            if self.takes(b'=') {
                let value = match self.quoted() {
                    Some(value) => {
                        end = self.end();
                        value
                    }
                    None => self.value(end),
                };
                // Beside one key another may be called anything.
                let is_told = keys.is_some() || is_telling(name);
                let text = self.text.get(value.clone());
                if text.is_some_and(|text| is_key(text, is_told)) {
                    keys = Some(keys.map_or(value.start, |keys| keys.start)..value.end);
                }
            } else {
                let rest = &self.bytes[self.at.min(end)..end];
                self.at += memchr(b';', rest).unwrap_or(rest.len());
            }
            let is_other = keys.is_none() && begins_again(&self.bytes[start..self.at]);
            if is_other || !(self.takes(b';') || self.takes(b',')) {
                break;
            }
        }
        keys.map(|keys| self.whole(keys))
    }

    fn run(&self, end: usize, is_of: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes[self.at.min(end)..end].iter();
        rest.take_while(|byte| is_of(**byte)).count()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let takes = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(takes);
        takes
    }

    /// The value that begins here; goes on behind all that stands before the next semicolon.
    fn value(&mut self, end: usize) -> Range<usize> {
        let start = self.at;
        let rest = &self.bytes[start.min(end)..end];
        // Several headers may have been joined.
        let ends = [memchr(b';', rest), memmem::find(rest, b", ")];
        let all = ends.into_iter().flatten().min().unwrap_or(rest.len());
        self.at += all;
        start..start + memchr(b' ', &rest[..all]).unwrap_or(all)
    }

    /// The value in quotes of its own, behind which the next cookie or the end is.
    fn quoted(&mut self) -> Option<Range<usize>> {
        let is_own = self.bytes.get(self.at) == Some(&b'"') && self.quote != Some(b'"');
        let rest = self.bytes.get(self.at + 1..).filter(|_| is_own)?;
        let length = memchr3(b'"', b'\n', b';', rest)?;
        let (start, end) = (self.at + 1, self.at + 1 + length);
        let behind = &self.bytes[end..];
        let is_closed = matches!(
            behind,
            [b'"'] | [b'"', b';' | b'\n' | b'\r' | b'\'' | b'`', ..]
        );
        is_closed.then(|| {
            self.at = end + 1;
            start..end
        })
    }

    /// Where the cookies end that go on from here.
    fn end(&self) -> usize {
        let rest = &self.bytes[self.at..];
        let of_line = memchr3(b'\n', b'\r', b'\\', rest);
        let of_quote = match self.quote {
            // One of JSON, or of code, ends what is in it too.
            Some(quote) => memchr2(quote, b'"', rest),
            None => memchr3(b'"', b'\'', b'`', rest),
        };
        let is_word = self.is_word && self.quote.is_none();
        let of_word = || {
            let signs = memchr3(b'|', b'&', b'>', rest);
            memchr2(b' ', b'\t', rest).into_iter().chain(signs).min()
        };
        let of_word = is_word.then(of_word).flatten();
        let ends = of_line.into_iter().chain(of_quote).chain(of_word);
        self.at + ends.min().unwrap_or(rest.len())
    }

    /// What a key goes on with behind all that is looked at is part of it.
    fn whole(&self, keys: Range<usize>) -> Range<usize> {
        let is_cut = keys.end == self.bytes.len();
        let behind = self.text.as_bytes()[keys.end..].iter();
        let of_value = |byte: &&u8| byte.is_ascii_graphic() && !b";\"'`\\".contains(byte);
        let more = behind.take_while(of_value).count();
        keys.start..keys.end + if is_cut { more } else { 0 }
    }
}

/// Whether another header begins in it, which is looked at by itself: so no part of a text is
/// looked at for each header before it.
fn begins_again(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"ookie";
    memmem::find_iter(bytes, NAME).any(|at| {
        let behind = bytes.get(at + NAME.len());
        behind.is_some_and(|byte| b"=:\"' ".contains(byte))
    })
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TELLING.iter().any(|word| name.contains(word))
}

fn is_key(value: &str, is_told: bool) -> bool {
    let (family, place) = match is_told {
        true => (Family::Token, ValueContext::Passed),
        false => (Family::Unsure, ValueContext::Quoted),
    };
    value.len() >= LEAST && is_secret(value, family, place)
}
