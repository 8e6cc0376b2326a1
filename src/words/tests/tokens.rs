//! The tokenizer's rules by example.

use crate::model::{Class, Expr};
use crate::words::tokenizer::{Kind, segment};
use crate::words::{highlights, matches_text};

/// `whole@0 part@0 part@1`, extras with a `+`, wholes with their span.
fn tokens(text: &str) -> String {
    let mut list = Vec::new();
    segment(text, |token| {
        let sign = match token.kind {
            Kind::Word => String::new(),
            Kind::Whole { span } => format!("/{span}"),
            Kind::Extra => "+".to_owned(),
        };
        list.push(format!("{}@{}{sign}", token.text, token.position));
    });
    list.join(" ")
}

#[test]
fn table() {
    for (text, expected) in [
        ("The quick, brown.", "the@0 quick@1 brown@2"),
        ("fooBar", "foobar@0/2 foo@0 bar@1"),
        ("HTTPServer", "httpserver@0/2 http@0 server@1"),
        ("utf8String", "utf8string@0/2 utf8@0 string@1"),
        ("foo_bar_baz", "foo_bar_baz@0/3 foo@0 bar@1 baz@2"),
        ("__init__", "init@0"),
        ("foo__barBaz x", "foo__barbaz@0/3 foo@0 bar@1 baz@2 x@3"),
        ("SCREAMING_CASE", "screaming_case@0/2 screaming@0 case@1"),
        ("___", ""),
        ("e0502 E0502", "e0502@0 e0502@1"),
        (
            "deadbeef DEADBEEF 0xDEADBEEF",
            "deadbeef@0 deadbeef@1 0xdeadbeef@2/2 0x@2 deadbeef@3",
        ),
        ("src/foo/bar.rs", "src@0 foo@1 bar@2 rs@3"),
        ("kebab-case", "kebab@0 case@1"),
        ("don't", "don@0 t@1"),
        ("3.14", "3@0 14@1"),
        ("1.2.3", "1.2.3@0/3 1@0 2@1 3@2"),
        ("v1.2", "1@0+ v1@0 2@1"),
        ("V1.2.3-rc1", "v1.2.3@0/3 1.2.3@0+ 1@0+ v1@0 2@1 3@2 rc1@3"),
        ("1.2.3rc1", "1@0 2@1 3rc1@2"),
        ("127.0.0.1.", "127.0.0.1@0/4 127@0 0@1 0@2 1@3"),
        (
            "版本1.2.3版",
            "版本@0 版@0+ 本@1+ 1.2.3@2/3 1@2 2@3 3@4 版@5",
        ),
        ("日本語", "日本@0 日@0+ 本語@1 本@1+ 語@2+"),
        ("日", "日@0"),
        ("use日本", "use@0 日本@1 日@1+ 本@2+"),
        ("カﾞ か\u{3099}", "ガ@0 が@1"),
        ("각 \u{1100}\u{1161}\u{11A8}", "각@0 각@1"),
        ("Café CAFE\u{301}", "cafe@0 cafe@1"),
        ("Straße ÆØŁ ﬁx İıſ", "strasse@0 aeol@1 fix@2 iis@3"),
        ("Ｆｏｏ＿Ｂａｒ", "foo_bar@0/2 foo@0 bar@1"),
        ("ÉcoleÉlite", "ecoleelite@0/2 ecole@0 elite@1"),
        ("soft\u{AD}hyphen", "softhyphen@0"),
        (
            r"line\nmigration failed\tquietly\r\n42",
            "line@0 migration@1+ nmigration@1 failed@2 quietly@3+ tquietly@3 r@4 42@5+ n42@5",
        ),
        (
            r"\nfoo_bar \tMyName_ \n__x__",
            "foo_bar@0+ foo@0+ nfoo_bar@0/2 nfoo@0 bar@1 myname@2+ my@2+ tmyname@2/3 t@2 my@3 name@4 x@5+ n__x@5/2 n@5 x@6",
        ),
        (
            r"\\network \new \News \abla \_nx \",
            "network@0 ew@1+ new@1 news@2 abla@3 nx@4",
        ),
        ("\\nfoo日 \\nfoo— \\é", "nfoo@0 日@1 nfoo@2 e@3"),
        ("foo🎉bar 👨\u{200D}👩 1\u{FE0F}\u{20E3}", "foo@0 bar@1 1@2"),
        ("ΣΊΣΥΦΟΣ", "σισυφοσ@0"),
        ("", ""),
    ] {
        assert_eq!(tokens(text), expected, "{text}");
    }
}

#[test]
fn long_words_are_cut() {
    let long = format!("{}Tail", "ab".repeat(80));
    assert_eq!(
        tokens(&format!("{long} x")),
        format!("{}@0 x@1", "ab".repeat(64))
    );
    // 129 bytes: the last character does not fit.
    assert_eq!(
        tokens(&format!("{}яя", "a".repeat(125))),
        format!("{}я@0", "a".repeat(125))
    );
    assert_eq!(tokens(&"_".repeat(1000)), "");
    // Numbers beyond all versions are still the phrase of their words, in linear time.
    assert_eq!(tokens(&"1.".repeat(100_000)).split(' ').count(), 100_000);
}

#[test]
fn a_query_word_means_its_whole_or_its_parts() {
    let says_in = |class: Class, query: &str, text: &str| {
        matches_text(&Expr::Word(query.into()), class, &[text.to_owned()])
    };
    let says = |query: &str, text: &str| says_in(Class::Prose, query, text);
    assert!(says("foo", "fooBar"));
    assert!(says("foobar", "fooBar"));
    assert!(says("foo_bar", "fooBar"));
    assert!(says("fooBar", "foobar"));
    assert!(says("fooBar", "foo bar"));
    assert!(!says("fooBar", "bar foo"));
    assert!(says("src/foo.rs", "in /home/x/src/foo.rs:12"));
    assert!(says("1.2.3", "v1.2.3"));
    assert!(says("v1.2.3", "v1.2.3"));
    assert!(!says("v1.2.3", "1.2.3"));
    assert!(says("本", "日本語"));
    assert!(says("本語", "日本語です"));
    assert!(!says("日語", "日本語"));
    assert!(!says("…", "…"));
    // In what tools print an identifier is one word; what is none is a phrase there, too.
    let printed = |query: &str, text: &str| says_in(Class::Output, query, text);
    for text in ["fooBar", "foobar", "a.fooBar()", "\\nfooBar"] {
        assert!(printed("fooBar", text), "{text}");
    }
    for text in ["foo bar", "foo_bar", "fooBarBaz", "getFooBar"] {
        assert!(!printed("fooBar", text), "{text}");
    }
    assert!(printed("1.2.3", "v1.2.3") && !printed("1.2.3", "1.2.3.4"));
    assert!(printed("src/fooBar", "src/foo-bar"));
    assert!(printed("foo", "getFooBar"));
}

#[test]
fn highlights_are_ranges_of_the_original() {
    let marked = |expr: Expr, text: &str| {
        let ranges = highlights(&expr, Class::Prose, text);
        ranges
            .iter()
            .map(|range| text[range.clone()].to_owned())
            .collect::<Vec<_>>()
    };
    let word = |text: &str| Expr::Word(text.into());
    assert_eq!(
        marked(word("cafe"), "Ein CAFE\u{301}, zwei Cafés"),
        ["CAFE\u{301}"]
    );
    assert_eq!(
        marked(Expr::Prefix("cafe".into()), "Ein CAFE\u{301}, zwei Cafés"),
        ["CAFE\u{301}", "Cafés"]
    );
    assert_eq!(
        marked(word("fooBar"), "fooBar foo bar foobar"),
        ["fooBar", "foo bar", "foobar"]
    );
    assert_eq!(marked(word("bar"), "fooBar"), ["Bar"]);
    assert_eq!(marked(word("本語"), "日本語です"), ["本語"]);
    assert_eq!(
        marked(
            Expr::And(vec![word("a"), Expr::Not(Box::new(word("b")))]),
            "a b a"
        ),
        ["a", "a"]
    );
}
