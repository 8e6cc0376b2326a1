//! One member of an object set or taken away in its text; every other byte stays.

use sessionary_formats::json;

/// The object with `key` set to `value` (JSON text): at its place, where it has that member, else
/// at the end.
pub(super) fn set(object: &str, key: &str, value: &str) -> String {
    let members = json::members(object);
    let mut out = String::with_capacity(object.len() + key.len() + value.len() + 4);
    match members.iter().rfind(|member| member.key == key) {
        Some(member) => {
            let range = member.value_range();
            out.push_str(&object[..range.start]);
            out.push_str(value);
            out.push_str(&object[range.end..]);
        }
        None => {
            let end = match members.last() {
                Some(last) => last.range.end,
                None => object.find('{').map_or(object.len(), |brace| brace + 1),
            };
            out.push_str(&object[..end]);
            if !members.is_empty() {
                out.push(',');
            }
            super::value::quote(&mut out, key);
            out.push(':');
            out.push_str(value);
            out.push_str(&object[end..]);
        }
    }
    out
}

/// The object without `key`, however often it is written.
pub(super) fn without(object: &str, key: &str) -> String {
    let members = json::members(object);
    let mut out = String::with_capacity(object.len());
    let mut at = 0;
    for (place, member) in members.iter().enumerate() {
        if member.key != key {
            continue;
        }
        // With the comma behind it, or where none follows, the one before.
        let (from, to) = match (members.get(place + 1), place.checked_sub(1)) {
            (Some(next), _) => (member.range.start, next.range.start),
            (None, Some(before)) => (members[before].range.end, member.range.end),
            (None, None) => (member.range.start, member.range.end),
        };
        out.push_str(&object[at.min(from)..from]);
        at = to;
    }
    out.push_str(&object[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_member_changes() {
        for (object, set_to, without_a) in [
            ("{}", r#"{"a":7}"#, "{}"),
            (r#"{ "b" : 1 }"#, r#"{ "b" : 1,"a":7 }"#, r#"{ "b" : 1 }"#),
            (r#"{"a": "x" , "b":2}"#, r#"{"a": 7 , "b":2}"#, r#"{"b":2}"#),
            (r#"{"b":2, "a":3 }"#, r#"{"b":2, "a":7 }"#, r#"{"b":2 }"#),
            (r#"{"a":3}"#, r#"{"a":7}"#, "{}"),
            (
                r#"{"a":1,"b":2,"a":3}"#,
                r#"{"a":1,"b":2,"a":7}"#,
                r#"{"b":2}"#,
            ),
            (r#"{"a":1,"a":3}"#, r#"{"a":1,"a":7}"#, "{}"),
        ] {
            assert_eq!(set(object, "a", "7"), set_to);
            assert_eq!(without(object, "a"), without_a);
        }
    }
}
