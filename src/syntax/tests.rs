use super::*;
use crate::model::Zone;

/// 2026-11-21T14:30:00Z, a Saturday.
const NOW: i64 = 1_795_271_400_000;
const DAY: i64 = 86_400_000;
const MIDNIGHT: i64 = NOW - NOW % DAY;

/// A query of one alternative.
#[derive(Debug, PartialEq)]
struct One {
    expr: Option<Expr>,
    filters: Filters,
    notes: Vec<String>,
}

fn read(text: &str) -> One {
    let query = parse(text, Now::utc(NOW)).unwrap_or_else(|error| panic!("{text}: {error}"));
    let [one] = query
        .alternatives
        .try_into()
        .unwrap_or_else(|all| panic!("{text}: {all:?}"));
    One {
        expr: one.expr,
        filters: one.filters,
        notes: query.notes,
    }
}

fn fails(text: &str) -> SyntaxError {
    match parse(text, Now::utc(NOW)) {
        Ok(query) => panic!("{text}: {query:?}"),
        Err(error) => error,
    }
}

/// An expression, written so that it is easily compared.
fn show(expr: &Expr) -> String {
    let list = |members: &[Expr], sign: &str| {
        let members: Vec<_> = members.iter().map(show).collect();
        format!("({})", members.join(sign))
    };
    match expr {
        Expr::Word(text) => text.clone(),
        Expr::Phrase(text) => format!("\"{text}\""),
        Expr::Prefix(text) => format!("{text}*"),
        Expr::Near(text) => format!("{text}~"),
        Expr::Longer(text) => format!("{text}…"),
        Expr::Substring(text) => format!("*{text}*"),
        Expr::Regex(text) => format!("/{text}/"),
        Expr::And(members) => list(members, " & "),
        Expr::Or(members) => list(members, " | "),
        Expr::Not(inner) => format!("!{}", show(inner)),
    }
}

#[test]
fn expressions() {
    for (text, expected) in [
        ("foo", "foo"),
        ("foo bar", "(foo & bar)"),
        ("foo OR bar baz", "(foo | (bar & baz))"),
        ("a OR b OR c", "(a | b | c)"),
        ("(a OR b) c", "((a | b) & c)"),
        ("a -(b c) -\"d e\"", "(a & !(b & c) & !\"d e\")"),
        ("-foo", "!foo"),
        ("foo*", "foo*"),
        ("src/foo*", "src/foo*"),
        ("foo(*", "foo(*"),
        ("\"say \\\"hi\\\"\"", "\"say \"hi\"\""),
        ("foo or bar", "(foo & or & bar)"),
        ("main() fn", "(main() & fn)"),
        ("(main(x) OR y)", "(main(x) | y)"),
        ("((a))", "a"),
        ("foo = bar - baz", "(foo & bar & baz)"),
        ("a) b", "(a & b)"),
        ("--flag", "--flag"),
        ("well-known", "well-known"),
        ("日本 語", "(日本 & 語)"),
        ("foo AND bar", "(foo & bar)"),
        ("foo AND (bar OR baz)", "(foo & (bar | baz))"),
        ("foo NOT bar", "(foo & !bar)"),
        ("foo AND NOT (bar baz)", "(foo & !(bar & baz))"),
        ("NOT -foo", "foo"),
        ("NOT NOT foo", "foo"),
        ("a NOT NOT NOT foo", "(a & !foo)"),
        ("NOT NOT -foo", "!foo"),
        ("foo and not bar", "(foo & and & not & bar)"),
        ("tokenzier~", "tokenzier~"),
        ("*midd*", "*midd*"),
        ("*->*", "*->*"),
        ("-*midd* foo", "(!*midd* & foo)"),
        ("*self", "*self"),
        ("**bold**", "**bold**"),
        ("/fo+/", "/fo+/"),
        ("/a b/i x", "(/(?i)a b/ & x)"),
        ("/[^/]+\\/x/", "/[^/]+\\/x/"),
        ("(/a|b/ OR c)", "(/a|b/ | c)"),
        ("-/a/", "!/a/"),
        ("/usr/bin /tmp", "(/usr/bin & /tmp)"),
        ("/home and / x", "(/home & and & x)"),
        ("3f2b8c1", "3f2b8c1*"),
        ("3F2B8C1", "3F2B8C1*"),
        ("\u{1b}[31mzork\u{1b}[0m\u{1b}[K", "zork"),
        ("3f2b8c1e", "(3f2b8c1e* | 3f2b8c1)"),
        ("3f2b8c1ed", "(3f2b8c1ed* | 3f2b8c1 | 3f2b8c1e)"),
        ("deadbeef", "deadbeef"),
        ("12345678", "12345678"),
    ] {
        let query = read(text);
        assert_eq!(
            query.expr.as_ref().map(show).as_deref(),
            Some(expected),
            "{text}"
        );
        assert_eq!(query.filters, Filters::default(), "{text}");
    }
}

#[test]
fn what_looks_like_code_is_text() {
    for text in [
        "http://x.de/y",
        "std::fmt",
        "is::x",
        "C:\\x",
        "C:/x",
        "localhost:8080",
        "main.rs:12",
        "12:30",
        "TypeError:x",
        "error:",
        "foo_bar:baz",
        "role\\:user",
        "tool://x",
        "file:///x",
        "foo:bar",
        "error[E0502]",
        "std::io",
        "rol:user",
        "banana:y",
    ] {
        let query = read(text);
        assert_eq!(query.filters, Filters::default(), "{text}");
        assert!(
            matches!(query.expr, Some(Expr::Word(_))),
            "{text}: {query:?}"
        );
    }
}

#[test]
fn filters() {
    let query =
        read("role:user,assistant -tool:bash project:\"my project\" Agent:pi foo -is:error");
    assert_eq!(query.expr, Some(Expr::Word("foo".into())));
    assert_eq!(query.filters.role.any, ["user", "assistant"]);
    assert_eq!(query.filters.tool.none, ["bash"]);
    assert_eq!(query.filters.project.any, ["my project"]);
    assert_eq!(query.filters.agent.any, ["pi"]);
    assert_eq!(query.filters.error, Some(false));
    let query = read("cwd:/home/x session:abc kind:message is:error");
    assert_eq!(query.expr, None);
    assert_eq!(query.filters.cwd.any, ["/home/x"]);
    assert_eq!(query.filters.session.any, ["abc"]);
    assert_eq!(query.filters.error, Some(true));
}

#[test]
fn a_name_that_is_nearly_a_field_is_text_and_noted() {
    for (text, note) in [
        (
            "rol:user",
            "column 1: rol: is no filter, so rol:user is searched as text; did you mean role:user?",
        ),
        (
            "x projct:y",
            "column 3: projct: is no filter, so projct:y is searched as text; did you mean project:y?",
        ),
        (
            "path:src",
            "column 1: path: is no filter, so path:src is searched as text; did you mean file:src?",
        ),
    ] {
        assert_eq!(read(text).notes, [note], "{text}");
    }
    for text in ["http://x", "role:user", "localhost:80"] {
        assert!(read(text).notes.is_empty(), "{text}");
    }
}

#[test]
fn every_field_can_be_negated_and_quoted() {
    for field in FIELDS {
        let value = match field {
            "is" => "error",
            "has" => "image",
            "since" | "until" | "after" | "before" | "on" => "2026-10-01",
            _ => "a b",
        };
        let plain = read(&format!("{field}:\"{value}\""));
        let negated = read(&format!("-{field}:\"{value}\""));
        assert!(plain.expr.is_none() && negated.expr.is_none(), "{field}");
        assert_ne!(plain.filters, Filters::default(), "{field}");
        assert_ne!(negated.filters, Filters::default(), "{field}");
        assert_ne!(plain.filters, negated.filters, "{field}");
        assert_eq!(
            read(&format!("NOT {field}:\"{value}\"")),
            negated,
            "{field}"
        );
    }
}

#[test]
fn errors_say_where_and_what() {
    for (text, column, part) in [
        ("", 1, "a word"),
        ("…  ()", 1, "a word"),
        ("OR", 1, "both sides"),
        ("role:", 6, "a value"),
        ("since:soon", 7, "a date"),
        ("-since:soon", 8, "a date"),
        ("since:2026-13", 7, "a date"),
        ("is:fine", 4, "`error`"),
        ("is:image", 4, "did you mean has:image?"),
        ("has:error", 5, "did you mean is:error?"),
        ("on:soon", 4, "a date"),
        ("on:2026-07 on:2026-09", 15, "narrow each other"),
        ("on:2026-07 since:2026-08", 18, "narrow each other"),
        ("until:2026-07 since:2026-08", 21, "narrow each other"),
        ("is:eror", 4, "did you mean is:error?"),
        ("has:imag", 5, "did you mean has:image?"),
        ("before:yesterdy", 8, "did you mean before:yesterday?"),
        ("since:\"past week\"", 7, "did you mean since:1w?"),
        ("since:past week", 7, "did you mean since:1w?"),
        ("on:last monday x", 4, "did you mean on:monday?"),
        ("since:lastweek", 7, "did you mean since:last-week?"),
        ("on:last-monday", 4, "did you mean on:monday?"),
        ("-on:\"last monday\"", 5, "did you mean on:monday?"),
        ("since:octobr", 7, "did you mean since:october?"),
        ("☃", 1, "*☃* finds it as it is written"),
        ("!=", 1, "*!=*"),
        ("\"!=\"", 1, "*!=*"),
        ("*", 1, r"/\*/ finds it as it is written"),
        ("***", 1, r"/\*\*\*/ finds it as it is written"),
        ("\"", 1, "/\"/ finds it as it is written"),
        ("NOT", 1, "a word after NOT"),
        ("foo /a(b/", 7, "unclosed group"),
        ("/a{2,1}/", 3, "repetition"),
        ("is:error -is:error", 10, "either"),
        (
            "role:user (role:tool a OR b c -role:x)",
            12,
            "no role: beside the one in column 1",
        ),
        ("(is:error a) -is:error", 14, "either is:error or"),
        ("role:user AND x AND role:tool", 21, "no role: behind AND"),
    ] {
        let error = fails(text);
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
    assert!(fails(&"(".repeat(1000)).to_string().contains("nested"));
}

/// Alternatives, with each filter as its name and values.
fn alternatives_of(text: &str) -> Vec<String> {
    let query = parse(text, Now::utc(NOW)).unwrap_or_else(|error| panic!("{text}: {error}"));
    let shown = |one: &Alternative| {
        let f = &one.filters;
        let mut parts = Vec::new();
        for (name, names) in [
            ("agent", &f.agent),
            ("role", &f.role),
            ("tool", &f.tool),
            ("label", &f.label),
        ] {
            let shown = |sign: &str, list: &[String]| {
                (!list.is_empty()).then(|| format!("{sign}{name}:{}", list.join(",")))
            };
            parts.extend(shown("", &names.any));
            parts.extend(shown("-", &names.none));
        }
        parts.extend(
            f.error
                .map(|error| if error { "is:error" } else { "-is:error" }.to_owned()),
        );
        parts.extend(f.since_ms.map(|_| "since".to_owned()));
        parts.extend(f.until_ms.map(|_| "until".to_owned()));
        parts.extend(f.outside_ms.iter().map(|_| "outside".to_owned()));
        parts.extend(one.expr.as_ref().map(show));
        parts.join(" ")
    };
    query.alternatives.iter().map(shown).collect()
}

#[test]
fn filters_stand_wherever_words_do() {
    for (text, expected) in [
        ("(role:user) a", &["role:user a"][..]),
        ("role:user a b", &["role:user (a & b)"]),
        (
            "(role:user OR label:x) hook",
            &["role:user hook", "label:x hook"],
        ),
        ("agent:pi OR agent:clido", &["agent:pi", "agent:clido"]),
        (
            "(tool:bash error) OR (tool:edit conflict)",
            &["tool:bash error", "tool:edit conflict"],
        ),
        ("a OR role:user OR b", &["role:user", "(a | b)"]),
        ("-(role:user a)", &["-role:user", "!a"]),
        ("-(role:user OR a) b", &["-role:user (!a & b)"]),
        ("NOT (-role:user)", &["role:user"]),
        (
            "-(a OR b -role:user,tool)",
            &["role:user,tool !a", "(!a & !b)"],
        ),
        ("(is:error OR a) -is:error", &["-is:error a"]),
        (
            "(since:2d OR is:error) role:user role:tool",
            &["role:user,tool since", "role:user,tool is:error"],
        ),
        ("-(since:2d role:user)", &["outside", "-role:user"]),
    ] {
        assert_eq!(alternatives_of(text), expected, "{text}");
    }
    let many = "(a role:x OR b) ".repeat(6);
    let error = fails(&many);
    assert!(
        error.column == 4 && error.to_string().contains("at most 32"),
        "{error}"
    );
}

#[test]
fn what_has_no_letters_is_left_out_and_noted() {
    for (text, note) in [
        (
            "a ->",
            "column 3: -> has no letters or digits and is left out; *->* finds it as it is written",
        ),
        (
            "a -\"…\"",
            "column 3: … has no letters or digits and is left out; *…* finds it as it is written",
        ),
        (
            "a **",
            r"column 3: ** has no letters or digits and is left out; /\*\*/ finds it as it is written",
        ),
        (
            "a \"\"",
            "column 3: nothing stands in the quotes, so they are left out",
        ),
    ] {
        let query = read(text);
        assert_eq!(query.expr, Some(Expr::Word("a".into())), "{text}");
        assert_eq!(query.notes, [note], "{text}");
    }
}

#[test]
fn signs_that_are_not_searched_are_noted_once() {
    for (text, note) in [
        (
            "$VAR @scope/pkg",
            "column 1: $ is not searched, so $VAR finds VAR; *$VAR* finds it as it is written",
        ),
        (
            "foo, --no-verify",
            "column 6: -- is not searched, so --no-verify finds no-verify; *--no-verify* finds it as it is written",
        ),
        (
            "\"$HOME is\"",
            "column 1: $ is not searched, so $HOME is finds HOME is",
        ),
        (
            "c++ x--",
            "column 5: -- is not searched, so x-- finds x; *x--* finds it as it is written",
        ),
        (
            "c++=",
            "column 1: = is not searched, so c++= finds c++; *c++=* finds it as it is written",
        ),
        ("--fl*", "column 1: -- is not searched, so --fl* finds fl*"),
        (
            "fooBar++",
            "column 1: ++ is not searched, so fooBar++ finds fooBar; *fooBar++* finds it as it is written",
        ),
        (
            ".json",
            "column 1: .json is a name that starts with a dot; json finds x.json, too",
        ),
    ] {
        assert_eq!(read(text).notes, [note], "{text}");
    }
    for text in [
        "c++ C# i++",
        "foo, (foo) foo. foo? foo: foo! 'foo' \"foo.\" <foo> [foo] ~/foo",
        "src/.env .env.local a.b",
        "*$x* -$x /$x/ +foo foo~ foo* role:user 1,234",
    ] {
        assert!(
            read(text).notes.is_empty(),
            "{text}: {:?}",
            read(text).notes
        );
    }
}

#[test]
fn any_text_is_read_or_refused_and_never_while_it_is_typed() {
    use rand::{Rng, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let atoms = [
        "(", ")", "\"", "-", "*", ":", ",", " ", "OR", "a", "é", "日", "role:", "since:", "1",
        "\\", "/", "2w", "\u{301}", "AND", "NOT", "~", "[", "on:", "has:", "i", "|", "!", "'", "“",
        "”", "«", "’", "+", "&&", "is:error", "$", ".", "#", "user:", "last", "week", "^2",
    ];
    for _ in 0..20_000 {
        let length = random.random_range(0..12);
        let text: String = (0..length)
            .map(|_| atoms[random.random_range(0..atoms.len())])
            .collect();
        let read = parse(&text, Now::utc(NOW));
        let typed = parse_as_typed(&text, Now::utc(NOW));
        assert!(!typed.alternatives.is_empty(), "{text}");
        // Whatever can be read is not refused, nor read otherwise, but for the word at the end.
        if let Ok(read) = read {
            assert_eq!(read.notes, typed.notes, "{text}");
            assert_eq!(read.typed, typed.typed, "{text}");
        }
    }
}

mod habits;
mod times;

/// A program pastes text into a query: it stays one value, and what follows is read as it stands.
#[test]
fn a_phrase_ends_where_it_ends() {
    for text in [
        "a OR b",
        r#"say "no" twice"#,
        r"C:\code\",
        r#"ends with a "quote""#,
        r#"\" -x"#,
        "a:b (c)",
        "/x/",
        "*any*",
        "‘one’ ‚two‘ “three”",
        r#"\\"\\"#,
    ] {
        let query = read(&format!("cwd:{} agent:pi", phrase(text)));
        assert_eq!(
            query.filters.cwd.any,
            [text.trim_end_matches('\\')],
            "{text}"
        );
        assert_eq!(query.filters.agent.any, ["pi"], "{text}");
        assert_eq!(query.expr, None, "{text}");
        assert_eq!(query.notes, [""; 0], "{text}");
        let words = read(&format!("{} agent:pi", phrase(text)));
        assert_eq!(words.filters.agent.any, ["pi"], "{text}");
        assert!(words.filters.cwd == Filters::default().cwd, "{text}");
    }
}
