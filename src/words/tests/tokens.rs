//! The tokenizer's rules by example.

use crate::model::{Class, Expr};
use crate::words::tokenizer::{Kind, segment};
use crate::words::{highlights, loose, matches_text, other_tokens};

/// `whole@0 part@0 part@1`, extras with a `+`, wholes with their span.
fn tokens(text: &str) -> String {
    let mut list = Vec::new();
    segment(text, |token| {
        let sign = match token.kind {
            Kind::Word => String::new(),
            Kind::Whole { span } => format!("/{span}"),
            Kind::Extra => "+".to_owned(),
            Kind::Signed => "!".to_owned(),
            Kind::Joined => "=".to_owned(),
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
        (
            "C++ C++17 g++-12 .F#",
            "c++@0! c@0 c++@1! c@1 17@2 g++@3! g@3 12@4 .f#@5! f@5",
        ),
        (
            "i++; a++b c+++ x_++ fooBar++ 1++",
            "i++@0! i@0 a@1 b@2 c@3 x@4 foobar@5/2 foo@5 bar@6 1@7",
        ),
        (
            "C# F#, C## c#a # c é#",
            "c#@0! c@0 f#@1! f@1 c@2 c@3 a@4 c@5 e@6",
        ),
        (
            ".NET a.net ..rc .map( (.env)",
            ".net@0! net@0 a@1 net@2 rc@3 map@4 .env@5! env@5",
        ),
        (
            r"a\n.env\nC++ b\\n.env",
            "a@0 n@1 .env@2! env@2 c@3+ c++@3+ nc@3/2 n@3 c@4 b@5 n@6 env@7",
        ),
        (
            "用C++写.net。é.env",
            "用@0 c++@1! c@1 写@2 .net@3! net@3 e@4 env@5",
        ),
        (
            "1,234,567 1_234_567 1'234",
            "1234567@0/3 1@0 234@1 567@2 1234567@3/3 1@3 234@4 567@5 1234@6/2 1@6 234@7",
        ),
        (
            "1,234.56 1.234,567 1,23 1'234,567 1,2345",
            "1234@0/2 1@0 234@1 56@2 1@3 234@4 567@5 1@6 23@7 1@8 234@9 567@10 1@11 2345@12",
        ),
        (
            "python3.12 iOS17.2.1 foo_3.1",
            "python3@0 3@0+ 12@1 ios17@2/2 i@2 os17@3 17@3+ 17.2.1@3+ 2@4 1@5 foo_3@6/2 foo@6 3@7 1@8",
        ),
        (
            "Node.js d3.JS src/app.js.map a_b.js 3.js node.json node.js2 fooBar.js",
            "nodejs@0= node@0 js@1 d3js@2= d3@2 js@3 src@4 appjs@5= app@5 js@6 map@7 a_b@8/2 a@8 b@9 js@10 3@11 js@12 node@13 json@14 node@15 js2@16 foobar@17/2 foo@17 bar@18 js@19",
        ),
        (
            r"用node.js写 \nnode.js \tvue.js",
            "用@0 nodejs@1= node@1 js@2 写@3 node@4+ nodejs@4+ nnodejs@4= nnode@4 js@5 vue@6+ vuejs@6+ tvuejs@6= tvue@6 js@7",
        ),
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
    for class in [Class::Prose, Class::Output] {
        assert!(says_in(class, "nodejs", "runs on Node.js 20"));
        assert!(says_in(class, "node.js", "runs on NodeJS 20"));
        assert!(says_in(class, "node.js", r"a line\nnode.js"));
        assert!(!says_in(class, "nodejs", "node.json") && !says_in(class, "node.js", "nodes"));
    }
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
    assert!(printed("1.2.3", "v1.2.3") && !printed("1.2.3", "1.2.30"));
    // A dotted number that goes on is found by its beginning.
    assert!(printed("1.2.3", "v1.2.3.4") && !printed("1.2.3", "1.2.30.4"));
    assert!(printed("src/fooBar", "src/foo-bar"));
    assert!(printed("foo", "getFooBar"));
}

#[test]
fn a_word_without_its_signs_is_no_other_form_of_it() {
    assert_eq!(other_tokens(&[".env"], &[], "src/.env .envrc"), [".envrc"]);
    assert_eq!(
        other_tokens(&["word"], &[], "wrod words"),
        ["wrod", "words"]
    );
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
    assert_eq!(marked(word("c++"), "C++17, not c"), ["C++"]);
    assert_eq!(marked(word(".env"), "env of src/.env"), [".env"]);
    assert_eq!(
        marked(word("1234567"), "1,234,567 and 1_234_567"),
        ["1,234,567", "1_234_567"]
    );
    assert_eq!(marked(word("3.12"), "python3.12.1, 13.12"), ["3.12"]);
    let addresses = "192.168.1.10 192.168.1 192.168.10";
    assert_eq!(marked(word("192.168.1"), addresses), ["192.168.1"; 2]);
    let printed = highlights(&word("192.168.1"), Class::Output, addresses);
    assert_eq!(printed, [0..12, 13..22]);
    assert_eq!(
        marked(
            Expr::And(vec![word("a"), Expr::Not(Box::new(word("b")))]),
            "a b a"
        ),
        ["a", "a"]
    );
}

#[test]
fn parts_that_repeat_are_asked_for_once() {
    let word = |text: &str| Expr::Word(text.to_owned());
    let once = Expr::And(vec![word("日日")]);
    let expected = Expr::Or(vec![word("日日日日"), once]);
    assert_eq!(loose(&word("日日日日")), expected);
}
