//! The scanner against serde_json, the second tier against what Node's `JSON.parse` yields.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde::de::IgnoredAny;

use super::*;
use crate::model::Mask;

fn kinds(line: &[u8]) -> Vec<(&[u8], PieceKind)> {
    let pieces = split(line);
    let mut at = 0;
    for piece in &pieces {
        assert_eq!(
            piece.range.start,
            at,
            "pieces tile {:?}",
            String::from_utf8_lossy(line)
        );
        at = piece.range.end;
    }
    assert_eq!(at, line.len());
    pieces
        .into_iter()
        .map(|piece| (&line[piece.range], piece.kind))
        .collect()
}

/// What a line is cut into.
type Pieces<'a> = &'a [(&'a [u8], PieceKind)];

const ALONE: PieceKind = PieceKind::Value { fused: false };
const FUSED: PieceKind = PieceKind::Value { fused: true };
const BLANK: PieceKind = PieceKind::Blank;
const TORN: PieceKind = PieceKind::Bad("torn");
const NUL: PieceKind = PieceKind::Bad(super::NULS);
const BAD: PieceKind = PieceKind::Bad("not JSON");

#[test]
fn lines_are_cut_into_values_blanks_and_damage() {
    let cases: &[(&[u8], Pieces<'_>)] = &[
        (b"", &[]),
        (b"\r\n", &[(b"\r\n", BLANK)]),
        (b"{}", &[(b"{}", ALONE)]),
        (
            b" {\"a\":1} \r\n",
            &[(b" ", BLANK), (b"{\"a\":1}", ALONE), (b" \r\n", BLANK)],
        ),
        (b"42\n", &[(b"42", ALONE), (b"\n", BLANK)]),
        (
            b"{\"a\":1}{\"b\":2}\n",
            &[(b"{\"a\":1}", FUSED), (b"{\"b\":2}", FUSED), (b"\n", BLANK)],
        ),
        (
            b"\0\0\0{\"a\":1}\n",
            &[(b"\0\0\0", NUL), (b"{\"a\":1}", FUSED), (b"\n", BLANK)],
        ),
        (b"\0\0\0\n", &[(b"\0\0\0", NUL), (b"\n", BLANK)]),
        (
            b" \0\0 \0\r\n",
            &[(b" ", BLANK), (b"\0\0 \0", NUL), (b"\r\n", BLANK)],
        ),
        (
            b"\xef\xbb\xbf{\"a\":1}",
            &[(b"\xef\xbb\xbf", BLANK), (b"{\"a\":1}", FUSED)],
        ),
        (
            b"{\"type\":\"x\",\"t\":\"hel{\"type\":\"y\"}\n",
            &[
                (b"{\"type\":\"x\",\"t\":\"hel", TORN),
                (b"{\"type\":\"y\"}", FUSED),
                (b"\n", BLANK),
            ],
        ),
        (
            b"{\"a\":tru{\"b\":1}",
            &[(b"{\"a\":tru", TORN), (b"{\"b\":1}", FUSED)],
        ),
        (
            b"{\"a\":\"x\\u00{\"b\":1}",
            &[(b"{\"a\":\"x\\u00", TORN), (b"{\"b\":1}", FUSED)],
        ),
        (
            b"{\"a\":\"x\0\0\0{\"b\":1}",
            &[
                (b"{\"a\":\"x", TORN),
                (b"\0\0\0", NUL),
                (b"{\"b\":1}", FUSED),
            ],
        ),
        (
            b"{\"a\":1}{\"b\":\"to",
            &[(b"{\"a\":1}", FUSED), (b"{\"b\":\"to", TORN)],
        ),
        // A block inside a torn message is not an entry of its own.
        (
            b"{\"m\":[{\"type\":\"text\",\"text\":\"a\"}",
            &[(b"{\"m\":[{\"type\":\"text\",\"text\":\"a\"}", TORN)],
        ),
        (
            b"{\"a\":\"\\*\"}\n",
            &[(b"{\"a\":\"\\*\"}", BAD), (b"\n", BLANK)],
        ),
        (
            b"42 is no record\r\n",
            &[(b"42 is no record", BAD), (b"\r\n", BLANK)],
        ),
        (
            "\u{a0}\u{2028}\n".as_bytes(),
            &[("\u{a0}\u{2028}\n".as_bytes(), BLANK)],
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(
            kinds(line),
            *expected,
            "{:?}",
            String::from_utf8_lossy(line)
        );
    }
}

/// Mutated records: the scanner accepts exactly what serde_json's own skipping parser accepts.
#[test]
fn scanner_agrees_with_serde_json() {
    let seeds: &[&[u8]] = &[
        br#"{"type":"message","id":"ab","n":[1,-2.5e+3,0.1,true,false,null],"t":"x\n\u00e9\"y\\"}"#,
        br#"[[[{"a":{"b":[]}}]],"",0,-0,1E5,{}]"#,
    ];
    let letters = br#"{}[]",:\/bfnrtu0123456789eE+-. xal"#;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let mut accepted = 0;
    for round in 0..60_000 {
        let mut bytes = seeds[round % seeds.len()].to_vec();
        for _ in 0..random.random_range(0..4) {
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..3) {
                0 => bytes[at] = *letters.choose(&mut random).unwrap_or(&b' '),
                1 => bytes.insert(at, *letters.choose(&mut random).unwrap_or(&b' ')),
                _ => {
                    bytes.remove(at);
                }
            }
        }
        let text = std::str::from_utf8(&bytes).unwrap();
        let theirs = parse::<IgnoredAny>(text).is_some();
        assert_eq!(whole(&bytes).is_some(), theirs, "{text}");
        accepted += u32::from(theirs);
        kinds(&bytes);
    }
    assert!((1000..50_000).contains(&accepted), "{accepted}");
}

#[test]
fn depth_is_free() {
    for depth in [63, 64, 65, 128, 129, 1_000_000] {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(whole(deep.as_bytes()), Some(0..deep.len()));
        assert_eq!(whole(&deep.as_bytes()[..deep.len() - 1]), None);
        assert!(normalise(deep.as_bytes()).is_some());
        let mut seen = 0;
        leaves(deep.as_bytes(), |_, _| seen += 1);
        assert_eq!(seen, 1);
    }
    // A name with an escape in it is decoded once, not for every level.
    let name = format!("\\n{}", "a".repeat(1 << 16));
    let (open, close) = ("[".repeat(1_000_000), "]".repeat(1_000_000));
    let named = format!("{{\"{name}\":{open}1{close}}}");
    leaves(named.as_bytes(), |key, _| {
        assert_eq!(key.len(), (1 << 16) + 1)
    });
    let mixed = format!("{}1{}", "[{\"a\":".repeat(500), "}]".repeat(500));
    assert_eq!(whole(mixed.as_bytes()), Some(0..mixed.len()));
}

fn clean(text: &[u8]) -> String {
    String::from_utf8(normalise(text).unwrap().into_owned()).unwrap()
}

#[test]
fn second_tier_means_what_json_parse_means() {
    for (text, meaning) in [
        (&br#"{"a":1}"#[..], r#"{"a":1}"#),
        (br#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
        (
            br#"{"a":"\udc00\ud83d\ude00"}"#,
            r#"{"a":"\ufffd\ud83d\ude00"}"#,
        ),
        (
            br#"{"a":"\ud83d\ud83d\ude00\\ud83d"}"#,
            r#"{"a":"\ufffd\ud83d\ude00\\ud83d"}"#,
        ),
        (
            br#"{"a":1e400,"b":-1e400,"c":1e5}"#,
            r#"{"a":null,"b":null,"c":1e5}"#,
        ),
        (br#"{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#),
        (
            br#"{"a":1,"a":{"c":1,"c":2},"a":{"c":[{"d":1,"d":2}]}}"#,
            r#"{"a":{"c":[{"d":2}]}}"#,
        ),
        (br#"{"a":1,"\u0061":2}"#, r#"{"\u0061":2}"#),
        (br#"[{"a":1},{"a":2}]"#, r#"[{"a":1},{"a":2}]"#),
        (b"\"\xff\"", "\"\u{fffd}\""),
        (b"\"\xe6\x97\"", "\"\u{fffd}\""),
    ] {
        assert_eq!(clean(text), meaning);
    }
    for refused in [
        &b"{"[..],
        b"{}{}",
        br#"{"a":"\*"}"#,
        b"\xff",
        b"NaN",
        b"{'a':1}",
        b"[1,]",
        b"01",
        b"\"\n\"",
    ] {
        assert!(
            normalise(refused).is_none(),
            "{:?}",
            String::from_utf8_lossy(refused)
        );
    }
}

/// Every text serde can decode decodes to the same here.
#[test]
fn decoding_agrees_with_serde_json() {
    let parts = [
        "a",
        "é",
        "日",
        "\\n",
        "\\t",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\\\",
        "\\\"",
        "\\/",
        "\\b\\f\\r",
        "\u{2028}",
        "😀",
    ];
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(8);
    for _ in 0..5_000 {
        let body: String = (0..random.random_range(0..9))
            .map(|_| *parts.choose(&mut random).unwrap_or(&""))
            .collect();
        let literal = format!("\"{body}\"");
        assert_eq!(
            decode(literal.as_bytes()),
            serde_json::from_str::<String>(&literal).unwrap()
        );
    }
    assert_eq!(decode(br#""a\ud83db""#), "a\u{fffd}b");
}

#[test]
fn fields_of_any_type_never_fail_a_parse() {
    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct All<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        num: Num,
        int: Int,
        count: Count,
        flag: Flag,
        #[serde(borrow)]
        raw: Raw<'a>,
    }
    for value in [
        "null",
        "true",
        "1",
        "-1",
        "1.5",
        "\"x\"",
        "\"\\n\"",
        "[[1],{}]",
        "{\"a\":[{}]}",
    ] {
        let text = ["text", "num", "int", "count", "flag", "raw"]
            .map(|key| format!("\"{key}\":{value}"))
            .join(",");
        let text = format!("{{{text}}}");
        let all: All<'_> = parse(&text).unwrap();
        assert_eq!(all.text.0.is_some(), value.starts_with('"'), "{value}");
        assert_eq!(all.num.0.is_some(), value.parse::<f64>().is_ok(), "{value}");
        assert_eq!(all.int.0.is_some(), value.parse::<f64>().is_ok(), "{value}");
        let is_count = value.parse::<f64>().is_ok_and(|number| number >= 0.0);
        assert_eq!(all.count.0.is_some(), is_count, "{value}");
        assert_eq!(all.flag.0.is_some(), value == "true", "{value}");
        assert_eq!(all.raw.0, Some(value));
    }
}

#[test]
fn a_string_ends_where_it_ends_however_long_it_is() {
    for length in 0..150 {
        for at in 0..length {
            for (byte, is_end) in [(b'"', true), (0x1f, false), (b'\\', false)] {
                let mut text = vec![b'"'];
                text.extend((0..length).map(|n| [b'x', 0xff, 0x20, b'!', b'#', b'[', b']'][n % 7]));
                text[1 + at] = byte;
                let end = super::scan_value(&text, 0);
                assert_eq!(end, is_end.then_some(at + 2), "{length} {at} {byte}");
            }
        }
    }
}

#[test]
fn complaints_hold_no_text() {
    #[derive(Debug, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Choice {
        One,
        Two,
    }
    let of_number = |json: &str| serde_json::from_str::<u32>(json).map_err(|e| complaint(&e));
    let of_choice = |json: &str| serde_json::from_str::<Choice>(json).map_err(|e| complaint(&e));
    for said in [
        "x",
        "",
        "a \\\" b",
        "\\\", expected x",
        "`, expected one of `x",
        " at line 3 ` \\\"",
    ] {
        let json = format!("\"{said}\"");
        assert_eq!(
            of_number(&json),
            Err("invalid type: string, expected u32".to_owned())
        );
        let Err(why) = of_choice(&json) else {
            panic!("{json}")
        };
        assert_eq!(why, "unknown variant, expected `one` or `two`");
    }
}

#[test]
fn json_in_json_is_followed_a_few_times() {
    let nested = |times: u32| {
        let mut json = r#"{"input":"Ada"}"#.to_owned();
        for _ in 0..times {
            json = serde_json::json!({ "input": json }).to_string();
        }
        json
    };
    let is_found = |json: &str| {
        let mut is_found = false;
        named_leaves(json.as_bytes(), &mut |_, leaf| {
            is_found |= matches!(leaf, Leaf::Text(text) if text == "Ada");
        });
        is_found
    };
    assert!(is_found(&nested(3)) && !is_found(&nested(12)));
    let mask = Mask::new(|text| text.contains("Ada").then(|| text.replace("Ada", "A")));
    let nothing = Mask::new(|_| None);
    for times in [0, 3, 8] {
        let json = nested(times);
        assert_eq!(
            masked(&json, &mask),
            Some(json.replace("Ada", "A")),
            "{times}"
        );
    }
    // A mask that finds nothing by itself: what nobody looks into is not shown all the same.
    for times in [9, 12] {
        let masked = masked(&nested(times), &nothing);
        assert!(masked.is_some_and(|said| !said.contains("Ada")), "{times}");
    }
    assert_eq!(masked(&nested(8), &nothing), None);
}

#[test]
fn a_long_selector_tells_by_its_end_and_a_field_by_where_it_is() {
    let json =
        br##"[{"selector": "form#login div.row div.column input#password-field", "value": "a"},
        {"element": "Textbox for the password of ada", "text": "b"}]"##;
    let mut found = 0;
    named_leaves(json, &mut |names, leaf| {
        if matches!(leaf, Leaf::Text(text) if text.len() == 1) {
            assert!(names.contains(&"password"), "{names:?}");
            found += 1;
        }
    });
    assert_eq!(found, 2);
}

#[test]
fn a_leaf_is_called_by_its_key_and_by_the_names_beside_it() {
    let json = br##"{"fields": [{"name": "Password", "value": ["a", 1]}, {"value": "b"}],
        "text": "c", "element": "The  Password input field of ada", "name": {"text": "d"},
        "key": ["e"], "value": {"x": "f", "text": "g"}, "selector": "#pass-word > input",
        "arguments": "{\"label\": \"PIN\", \"value\": 2}", "input": "[no json"}"##;
    let mut found = Vec::new();
    named_leaves(json, &mut |names, leaf| {
        let said = match leaf {
            Leaf::Text(text) => text.into_owned(),
            Leaf::Number(number) => number.to_owned(),
        };
        if said.len() == 1 {
            found.push(format!("{said}: {}", names.join(" ")));
        }
    });
    let expected = [
        "a: value Password",
        "1: value Password",
        "b: value",
        "c: text The_Password The Password pass-word",
        "d: text",
        "e: key",
        "f: x",
        "g: text",
        "2: value PIN",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_masked_stays_json() {
    let mask = Mask::new(|text| {
        let masked = text
            .replace("token=1234", "token=*")
            .replace("token=\"a b", "token=\"*");
        (masked != text).then_some(masked)
    });
    for (json, expected) in [
        (
            r#"{"token": 1234, "n": 1234}"#,
            Some(r#"{"token": "*", "n": 1234}"#),
        ),
        (
            r#"[{"value": "a b", "name": "token"}, {"value": "a b"}]"#,
            Some(r#"[{"value": "*", "name": "token"}, {"value": "a b"}]"#),
        ),
        (
            r#"{"arguments": "{\"token\": 1234}", "text": "{\"token\": 1234}"}"#,
            Some(r#"{"arguments": "{\"token\": \"*\"}", "text": "{\"token\": 1234}"}"#),
        ),
        (r#"{"token": 123, "name": "token", "n": "a b"}"#, None),
    ] {
        assert_eq!(masked(json, &mask).as_deref(), expected, "{json}");
    }
}
