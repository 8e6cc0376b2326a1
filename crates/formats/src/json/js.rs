//! What JavaScript's own rules make of values: `String.trim`, `String(value)`, `new Date(value)`.

use super::date::{date_ms, is_valid};

/// The characters `String.prototype.trim` removes: unlike Rust's it takes U+FEFF and leaves U+0085.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}')
}

/// `String.prototype.trim`.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `new Date(value).getTime()` of any JSON value, given as text; `None` is NaN.
pub fn time_ms(raw: &str) -> Option<i64> {
    match raw {
        "null" | "false" => Some(0),
        "true" => Some(1),
        _ => match raw.as_bytes().first()? {
            b'"' => date_ms(&super::decode(raw.as_bytes())),
            b'[' | b'{' => date_ms(&string(raw)),
            _ => number_ms(raw.parse().ok()?),
        },
    }
}

/// What is true to JavaScript: everything but null, false, 0 and the empty string. Given as JSON
/// without white space around it.
pub fn is_truthy(raw: &str) -> bool {
    match raw.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => raw.parse() != Ok(0.0),
        _ => !matches!(raw, "null" | "false" | "\"\""),
    }
}

/// `Number(value)` of any JSON value, given as text; `None` is NaN.
pub fn to_number(raw: &str) -> Option<f64> {
    match raw {
        "null" | "false" => Some(0.0),
        "true" => Some(1.0),
        _ => match raw.as_bytes().first()? {
            b'"' => number_of(&super::decode(raw.as_bytes())),
            b'[' | b'{' => number_of(&string(raw)),
            _ => raw.parse().ok(),
        },
    }
}

/// `Number(text)`; `None` is NaN.
fn number_of(text: &str) -> Option<f64> {
    let text = trim(text);
    // Rust takes a sign here.
    let digits = |radix| {
        let digits = text
            .get(2..)
            .filter(|digits| !digits.starts_with(['+', '-']))?;
        i64::from_str_radix(digits, radix).ok()
    };
    let whole = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => Some(digits(16)),
        Some("0o") => Some(digits(8)),
        Some("0b") => Some(digits(2)),
        _ => None,
    };
    match (whole, text) {
        // A sign may stand in front of decimal numbers alone.
        (Some(whole), _) => whole.map(|whole| whole as f64),
        (None, "") => Some(0.0),
        (None, "Infinity" | "+Infinity") => Some(f64::INFINITY),
        (None, "-Infinity") => Some(f64::NEG_INFINITY),
        // Rust reads names as well: "inf", "nan".
        (None, _) => {
            let is_decimal = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
            text.parse().ok().filter(|_| text.chars().all(is_decimal))
        }
    }
}

/// `new Date(number).getTime()`: cut to whole, NaN beyond what a Date can hold.
fn number_ms(number: f64) -> Option<i64> {
    let ms = number as i64;
    (number.is_finite() && is_valid(ms)).then_some(ms)
}

/// `String(value)` of the value whose JSON text this is, in an array: null is empty.
/// Arrays within arrays are joined by the same comma, so no depth is kept but that of objects.
pub fn string(raw: &str) -> String {
    let bytes = raw.as_bytes();
    let (mut shown, mut objects, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        let start = at;
        at += 1;
        match bytes[start] {
            b'"' => {
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                if objects == 0 {
                    shown.push_str(&super::decode(&bytes[start..at]));
                }
            }
            b'{' => {
                if objects == 0 {
                    shown.push_str("[object Object]");
                }
                objects += 1;
            }
            b'}' => objects -= 1,
            _ if objects > 0 => {}
            b',' => shown.push(','),
            b'[' | b']' | b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => {
                while at < bytes.len() && !b",]} \t\n\r".contains(&bytes[at]) {
                    at += 1;
                }
                match &raw[start..at] {
                    "null" => {}
                    scalar => match scalar.parse::<f64>() {
                        Ok(value) => shown.push_str(&number(value)),
                        Err(_) => shown.push_str(scalar),
                    },
                }
            }
        }
    }
    shown
}

/// `String(number)`: the shortest digits, with an exponent from 1e21 and below 1e-6.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if !value.is_finite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else if (1e-6..1e21).contains(&size) {
        value.to_string()
    } else {
        let text = format!("{value:e}");
        if size < 1.0 {
            text
        } else {
            text.replace('e', "e+")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values printed by `[value].join()` of Node 20.
    #[test]
    fn values_are_shown_as_in_an_array() {
        for (raw, text) in [
            ("5", "5"),
            ("-0.5", "-0.5"),
            ("1e21", "1e+21"),
            ("1E-7", "1e-7"),
            ("100000000000000000000", "100000000000000000000"),
            ("-0", "0"),
            ("null", ""),
            ("true", "true"),
            ("[1,[2,null]]", "1,2,"),
            ("[\"a,b\", \"c\"]", "a,b,c"),
            ("{\"a\":[1,\"}\"]}", "[object Object]"),
            ("[[], {}, []]", ",[object Object],"),
            ("\"\\\"x\"", "\"x"),
        ] {
            assert_eq!(string(raw), text, "{raw}");
        }
    }

    #[test]
    fn times_of_values_are_node_times() {
        for (raw, ms) in [
            ("null", Some(0)),
            ("true", Some(1)),
            ("1.5", Some(1)),
            ("-1.5", Some(-1)),
            ("1e300", None),
            ("8.64e15", Some(8_640_000_000_000_000)),
            ("{}", None),
            ("[]", None),
            ("[\"2026\"]", Some(1767225600000)),
            ("\"2026\"", Some(1767225600000)),
        ] {
            assert_eq!(time_ms(raw), ms, "{raw}");
        }
    }

    /// What Node 20 gives for `Number(value)`.
    #[test]
    fn values_are_numbers_as_in_node() {
        for (raw, number) in [
            ("3", Some(3.0)),
            ("\"3\"", Some(3.0)),
            ("\" 1e1\\n\"", Some(10.0)),
            ("\"\"", Some(0.0)),
            ("\"0x1F\"", Some(31.0)),
            ("\"0b11\"", Some(3.0)),
            ("\"-0x1\"", None),
            ("\"0x-1\"", None),
            ("\"0x+1\"", None),
            ("\"0x\"", None),
            ("\".5\"", Some(0.5)),
            ("\"5.\"", Some(5.0)),
            ("\"+7\"", Some(7.0)),
            ("\"inf\"", None),
            ("\"-Infinity\"", Some(f64::NEG_INFINITY)),
            ("\"v3\"", None),
            ("\"e\"", None),
            ("true", Some(1.0)),
            ("null", Some(0.0)),
            ("[]", Some(0.0)),
            ("[3]", Some(3.0)),
            ("[1,2]", None),
            ("{}", None),
        ] {
            assert_eq!(to_number(raw), number, "{raw}");
        }
    }

    #[test]
    fn trim_is_javascripts() {
        assert_eq!(trim("\u{feff}\u{a0}\t x\u{85} \r\n"), "x\u{85}");
    }
}
