//! What an object or an array holds, one level deep: where each key and each value stand in the
//! text.

use std::borrow::Cow;
use std::ops::Range;

use super::scan::{skip_space, string};
use super::{scan_value, unquote};

/// One member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'a> {
    /// The key, decoded.
    pub key: Cow<'a, str>,
    /// The value as it is written.
    pub value: &'a str,
    /// Where key, colon and value stand in the text.
    pub range: Range<usize>,
}

impl Member<'_> {
    /// Where the value stands in the text.
    pub fn value_range(&self) -> Range<usize> {
        self.range.end - self.value.len()..self.range.end
    }
}

/// The members of an object in their order, repeated keys as often as they are written; none where
/// the text is no object.
pub fn members(json: &str) -> Vec<Member<'_>> {
    let mut found = Vec::new();
    each(json, b'{', |start, at| {
        let colon = string(json.as_bytes(), start).ok()?;
        let value = skip_space(json.as_bytes(), skip_space(json.as_bytes(), colon) + 1);
        let end = scan_value(json.as_bytes(), value)?;
        found.push(Member {
            key: unquote(&json[start..colon]),
            value: &json[value..end],
            range: start..end,
        });
        *at = end;
        Some(())
    });
    found
}

/// The value of the last member of that key, as `JSON.parse` takes it; `None` too where the text is
/// no object.
pub fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    members(json)
        .into_iter()
        .rfind(|member| member.key == key)
        .map(|member| member.value)
}

/// Walks an object that begins at `at` and is as `JSON.parse` wants it, as far as its own syntax
/// goes. `take` gets each key, decoded, and where its value begins, and returns where that ends.
/// Returns the end of the object; `None` where it has none, or `take` returned none.
pub fn walk_object(
    json: &str,
    at: usize,
    take: &mut dyn FnMut(&str, usize) -> Option<usize>,
) -> Option<usize> {
    let bytes = json.as_bytes();
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    let mut at = skip_space(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        return Some(at + 1);
    }
    loop {
        if bytes.get(at) != Some(&b'"') {
            return None;
        }
        let behind = string(bytes, at).ok()?;
        let colon = skip_space(bytes, behind);
        if bytes.get(colon) != Some(&b':') {
            return None;
        }
        let value = skip_space(bytes, colon + 1);
        let key = match &json[at + 1..behind - 1] {
            key if key.bytes().any(|byte| byte == b'\\') => unquote(&json[at..behind]),
            key => Cow::Borrowed(key),
        };
        at = skip_space(bytes, take(&key, value)?);
        match bytes.get(at)? {
            b',' => at = skip_space(bytes, at + 1),
            b'}' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Walks an array as [`walk_object`] does an object: `take` gets where each element begins.
pub fn walk_array(
    json: &str,
    at: usize,
    take: &mut dyn FnMut(usize) -> Option<usize>,
) -> Option<usize> {
    let bytes = json.as_bytes();
    if bytes.get(at) != Some(&b'[') {
        return None;
    }
    let mut at = skip_space(bytes, at + 1);
    if bytes.get(at) == Some(&b']') {
        return Some(at + 1);
    }
    loop {
        at = skip_space(bytes, take(at)?);
        match bytes.get(at)? {
            b',' => at = skip_space(bytes, at + 1),
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// The elements of an array as they are written; none where the text is no array.
pub fn elements(json: &str) -> Vec<&str> {
    let mut found = Vec::new();
    each(json, b'[', |start, at| {
        let end = scan_value(json.as_bytes(), start)?;
        found.push(&json[start..end]);
        *at = end;
        Some(())
    });
    found
}

/// Calls `take` where each part of the text begins; it says where the part ends.
fn each(json: &str, bracket: u8, mut take: impl FnMut(usize, &mut usize) -> Option<()>) {
    let bytes = json.as_bytes();
    let mut at = skip_space(bytes, 0);
    if bytes.get(at) != Some(&bracket) {
        return;
    }
    loop {
        at = skip_space(bytes, at + 1);
        if bytes.get(at).is_none_or(|byte| *byte == bracket + 2) || take(at, &mut at).is_none() {
            return;
        }
        at = skip_space(bytes, at);
        if bytes.get(at) != Some(&b',') {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_stands_where_it_is_said_to() {
        let json = r#" { "a" : 1 ,"b\u0063":{"a":[2,{}]}, "a":"x,y" } "#;
        let found = members(json);
        let shown: Vec<_> = found.iter().map(|m| (&*m.key, m.value)).collect();
        assert_eq!(
            shown,
            [("a", "1"), ("bc", r#"{"a":[2,{}]}"#), ("a", "\"x,y\"")]
        );
        for found in &found {
            assert_eq!(&json[found.value_range()], found.value);
        }
        assert_eq!(&json[found[0].range.clone()], r#""a" : 1"#);
        assert_eq!(member(json, "a"), Some("\"x,y\""));
        assert_eq!(member(json, "c"), None);
        assert_eq!(elements(r#"[1, [2,3] ,"]"]"#), ["1", "[2,3]", "\"]\""]);
        for nothing in ["{}", "[]", "7", "\"{\"", "", "{", "["] {
            assert!(members(nothing).is_empty() && elements(nothing).is_empty());
        }
    }
}
