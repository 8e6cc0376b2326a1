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
    let (Some(first), Some(last)) = (members.first(), members.last()) else {
        return object.to_owned();
    };
    let mut out = object[..first.range.start].to_owned();
    let mut comma = None;
    for (place, member) in members.iter().enumerate() {
        if member.key == key {
            continue;
        }
        out.push_str(comma.unwrap_or_default());
        out.push_str(&object[member.range.clone()]);
        let next = members.get(place + 1);
        comma = next.map(|next| &object[member.range.end..next.range.start]);
    }
    out.push_str(&object[last.range.end..]);
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
            (
                r#"{"b":2 , "a":1,"a":3,"a":4}"#,
                r#"{"b":2 , "a":1,"a":3,"a":7}"#,
                r#"{"b":2}"#,
            ),
            (
                r#"{"a":1,"b":2 , "a":3,"c":{}}"#,
                r#"{"a":1,"b":2 , "a":7,"c":{}}"#,
                r#"{"b":2 , "c":{}}"#,
            ),
        ] {
            assert_eq!(set(object, "a", "7"), set_to);
            assert_eq!(without(object, "a"), without_a);
        }
    }
}
