//! What people habitually type is read as they mean it, or they are told.

use super::*;

/// What a query of one alternative asks for.
fn asked(text: &str) -> String {
    read(text).expr.as_ref().map(show).unwrap_or_default()
}

fn notes(text: &str) -> Vec<String> {
    read(text).notes
}

#[test]
fn bars_are_or_where_they_stand_apart() {
    for (text, expected) in [
        ("a | b", "(a | b)"),
        ("a || b", "(a | b)"),
        ("a| b", "(a | b)"),
        ("a |b", "(a | b)"),
        ("a|| b", "(a | b)"),
        ("(a |b) c", "((a | b) & c)"),
        ("\"a b\"|\"c d\"", "(\"a b\" | \"c d\")"),
        ("(a b)|(c d)", "((a & b) | (c & d))"),
        ("/a|b/ | c", "(/a|b/ | c)"),
        ("a && b", "(a & b)"),
        ("a||b", "(a | b)"),
        ("Wall|c99", "(Wall | c99)"),
        ("(koala|walrus|yak) x", "((koala | walrus | yak) & x)"),
        ("*a|b*", "*a|b*"),
        ("\"a|b\"", "\"a|b\""),
        // Code.
        ("f(a|b)", "f(a|b)"),
        ("a&&b", "a&&b"),
        ("|x| x", "(|x| & x)"),
        ("|a|b|", "|a|b|"),
        ("|a, b| a.cmp(b)", "(|a, & b| & a.cmp(b))"),
        ("sort_by(|a, b| a.cmp(b))", "(sort_by(|a, & b| & a.cmp(b)))"),
        ("a | (|b| c)", "(a | (|b| & c))"),
        ("x |> y", "(x & y)"),
        ("x |= y", "(x & y)"),
        ("a ||| b", "(a & b)"),
        ("\"a | b\"", "\"a | b\""),
    ] {
        assert_eq!(asked(text), expected, "{text}");
    }
    assert_eq!(
        alternatives_of("role:user| label:x"),
        ["role:user", "label:x"]
    );
    assert_eq!(
        notes("| a"),
        [
            "column 1: | is left out: expected a word on both sides of OR; *|* finds it as it is written"
        ]
    );
}

#[test]
fn an_exclamation_mark_negates_what_follows() {
    for (text, expected) in [
        ("a !b", "(a & !b)"),
        ("a !\"x y\"", "(a & !\"x y\")"),
        ("a !“x y”", "(a & !\"x y\")"),
        ("a !(b c)", "(a & !(b & c))"),
        ("a !*mid*", "(a & !*mid*)"),
        ("a !/x+/", "(a & !/x+/)"),
        ("NOT !b", "b"),
        // Code, and what is said with emphasis.
        ("vec! macro", "(vec! & macro)"),
        ("a != b", "(a & b)"),
        ("a !== b", "(a & b)"),
        ("a ! b", "(a & b)"),
        ("!!a", "!!a"),
        ("#!/bin/sh", "#!/bin/sh"),
        ("![alt](x)", "![alt](x)"),
        ("wow!", "wow!"),
    ] {
        assert_eq!(asked(text), expected, "{text}");
    }
    assert_eq!(alternatives_of("a !role:user"), ["-role:user a"]);
}

#[test]
fn curly_and_single_quotes_are_quotes_around_whole_words() {
    for (text, expected) in [
        ("“off by one” x", "(\"off by one\" & x)"),
        ("„off by one“", "\"off by one\""),
        ("„off by one”", "\"off by one\""),
        ("‟off by one”", "\"off by one\""),
        ("«off by one»", "\"off by one\""),
        ("»off by one«", "\"off by one\""),
        ("‘off by one’", "\"off by one\""),
        ("'off by one' x", "(\"off by one\" & x)"),
        ("'don't panic' x", "(\"don't panic\" & x)"),
        ("('a b' OR c)", "(\"a b\" | c)"),
        ("-'a b' c", "(!\"a b\" & c)"),
        ("'role:user x'", "\"role:user x\""),
        ("“a b”, c", "(\"a b\" & c)"),
        // Apostrophes, lifetimes and characters.
        ("don't", "don't"),
        ("it’s", "it’s"),
        ("’tis so", "(’tis & so)"),
        ("'static str", "('static & str)"),
        ("'a 'b", "('a & 'b)"),
        ("dogs' 'x", "(dogs' & 'x)"),
        ("x' or ' y", "(x' & or & y)"),
        ("'a', 'b c'", "('a', & \"b c\")"),
    ] {
        assert_eq!(asked(text), expected, "{text}");
    }
    for text in [
        "name:'release notes'",
        "name:“release notes”",
        "name:«release notes»",
    ] {
        assert_eq!(read(text).filters.name.any, ["release notes"], "{text}");
    }
    assert_eq!(read("name:'a b','c'").filters.name.any, ["a b", "c"]);
    assert_eq!(read("name:it's").filters.name.any, ["it's"]);
}

#[test]
fn what_is_half_typed_is_read_as_far_as_it_goes() {
    for (text, expected, note) in [
        (
            "foo \"bar baz",
            "(foo & \"bar baz\")",
            "column 5: the quote is not closed",
        ),
        (
            "foo “bar baz",
            "(foo & \"bar baz\")",
            "column 5: the quote is not closed",
        ),
        ("foo \"", "foo", "column 5: nothing stands in the quotes"),
        ("foo (bar", "(foo & bar)", "column 5: the ( is not closed"),
        (
            "(foo (bar OR baz",
            "(foo & (bar | baz))",
            "column 1: the ( is not closed",
        ),
        (
            "foo OR",
            "foo",
            "column 5: OR is left out: expected a word on both sides",
        ),
        ("OR foo", "foo", "column 1: OR is left out"),
        ("foo OR OR bar", "(foo | bar)", "column 5: OR is left out"),
        ("foo |", "foo", "column 5: | is left out"),
        ("foo AND", "foo", "column 5: AND is left out"),
        ("AND foo", "foo", "column 1: AND is left out"),
        ("a AND OR b", "(a | b)", "column 3: AND is left out"),
        ("a NOT", "a", "column 3: NOT is left out"),
        ("a NOT AND b", "(a & !b)", "column 7: AND is left out"),
        ("(a NOT) b", "(a & b)", "column 4: NOT is left out"),
        ("foo -", "foo", "column 5: - has no letters"),
        ("(foo -)", "foo", "column 6: - has no letters"),
        ("foo !", "foo", "column 5: ! has no letters"),
        (
            "(foo OR bar)) baz",
            "((foo | bar) & baz)",
            "column 13: ) has no letters",
        ),
        ("foo bar)", "(foo & bar)", "column 8: the ) closes nothing"),
        (
            "foo role:",
            "foo",
            "column 10: role: is left out: expected a value after `role:`",
        ),
        ("role: user", "user", "did you mean role:user?"),
        ("since: 2w", "2w", "did you mean since:2w?"),
        (
            "foo role: tool: bar",
            "(foo & bar)",
            "to search for the text, write \"role:\"",
        ),
        ("foo since:", "foo", "column 11: since: is left out"),
        ("foo since:\"", "foo", "column 11: since: is left out"),
    ] {
        let one = read(text);
        assert_eq!(asked(text), expected, "{text}");
        assert_eq!(one.filters, Filters::default(), "{text}");
        assert!(one.notes[0].contains(note), "{text}: {:?}", one.notes);
    }
    for (text, note) in [
        ("role:user, Assistant", "did you mean role:user,Assistant?"),
        ("role:,user x", "to search for the text, write \"role:\""),
    ] {
        let told = notes(text);
        assert!(told[0].ends_with(note), "{text}: {told:?}");
    }
    for text in ["role:user,", "role:,user", "(role:user OR)", "role:\"user"] {
        let one = read(text);
        assert_eq!(one.filters.role.any, ["user"], "{text}");
        assert_eq!(one.notes.len(), 1, "{text}: {:?}", one.notes);
    }
    // A call may stand over several words, and has its own parentheses.
    for text in ["main(a, b)", "f(x)", ":)", "a)b"] {
        let one = parse_as_typed(text, Now::utc(NOW));
        let is_told = |note: &String| note.contains("closes nothing");
        assert!(!one.notes.iter().any(is_told), "{text}: {:?}", one.notes);
    }
    let passages = parse("foo \"bar", Now::utc(NOW)).unwrap();
    assert!(passages.words.is_empty());
    let sessions = parse("foo bar)", Now::utc(NOW)).unwrap();
    assert_eq!(sessions.words.len(), 2);
}

#[test]
fn what_is_being_typed_is_never_refused_and_goes_on() {
    for (text, expected) in [
        ("tok", "tok*"),
        ("bug tok", "(bug & tok*)"),
        ("bug tok ", "(bug & tok)"),
        ("bug -tok", "(bug & !tok)"),
        ("bug OR tok", "(bug | tok*)"),
        ("\"off by on", "off by on*"),
        ("\"off by\"", "\"off by\""),
        ("bug (a tok", "(bug & (a & tok*))"),
        ("bug t", "bug"),
        ("bug t ", "(bug & t)"),
        ("\"off by o", "\"off by\""),
        ("bug \u{6f22}", "(bug & \u{6f22}*)"),
        ("bug /a(b/", "bug"),
        ("bug since:yesterd", "bug"),
        ("bug is:err", "bug"),
        ("is:error -is:error a be", "(a & be*)"),
        ("role:user (role:tool a OR b) cd", "((a | b) & cd*)"),
        ("on:2026-13-45 ab", "ab*"),
        ("a ->", "a"),
    ] {
        let query = parse_as_typed(text, Now::utc(NOW));
        let only = query.only().unwrap_or_else(|| panic!("{text}: {query:?}"));
        let expr = only.expr.as_ref().map(show);
        assert_eq!(expr.as_deref(), Some(expected), "{text}");
        assert_eq!(only.filters, Filters::default(), "{text}");
    }
    for text in [
        "", "  ", "a", "\"a", "***", "\"", "(", "-", "role:", "is:x", "OR",
    ] {
        let query = parse_as_typed(text, Now::utc(NOW));
        assert_eq!(query.alternatives, [Alternative::default()], "{text}");
    }
    let many = parse_as_typed(&"(a role:x OR b) ".repeat(6), Now::utc(NOW));
    assert!(many.notes[0].contains("every filter is left out: expected at most 32"));
    let deep = parse_as_typed(&format!("{}ab", "(".repeat(100_000)), Now::utc(NOW));
    assert_eq!(
        deep.only()
            .and_then(|only| only.expr.as_ref())
            .map(show)
            .as_deref(),
        Some("ab*")
    );
    assert!(deep.notes.len() <= 10);
    let words = |text: &str| -> Vec<(String, bool)> {
        let words = parse_as_typed(text, Now::utc(NOW)).words.into_iter();
        words
            .map(|word| (show(&word.expr), word.is_demanded))
            .collect()
    };
    assert_eq!(words("tokenizer bu")[1].0, "bu");
    assert_eq!(words("tokenizer b\u{fc}")[1].0, "b\u{fc}*");
    assert_eq!(words("tokenizer bu*")[1].0, "bu*");
    assert_eq!(words("tokenizer b"), []);
    // A word that is typed twice is one.
    let twice = words("bug tokenizer Bug bug +tokenizer ");
    let expected = [("bug", false), ("tokenizer", true), ("Bug", false)];
    assert_eq!(
        twice,
        expected.map(|(word, is_demanded)| (word.to_owned(), is_demanded))
    );
    let words = words("+tokenizer bug");
    assert_eq!(
        words,
        [("tokenizer".to_owned(), true), ("bug*".to_owned(), false)]
    );
}

#[test]
fn filters_of_other_languages_are_told_once() {
    for (text, meant) in [
        (
            "user:x",
            "user: is no filter, so user:x is searched as text; did you mean role:user x?",
        ),
        (
            "banana:y",
            "banana: is no filter, so banana:y is searched as text",
        ),
        (
            "sinec:2w",
            "so sinec:2w is searched as text; did you mean since:2w?",
        ),
        ("title:x", "did you mean name:x?"),
        (
            "a title:\"release notes\"",
            "did you mean name:\"release notes\"?",
        ),
        // The branch of git is no filter, and is:branch is something else.
        ("branch:main", "so branch:main is searched as text"),
        ("branch:fix/hang", "so branch:fix/hang is searched as text"),
        ("type:user", "did you mean role:user?"),
        ("type:message", "did you mean kind:message?"),
        ("path:src/a.rs", "did you mean file:src/a.rs?"),
        ("dir:/w/app", "did you mean cwd:/w/app?"),
        ("dir:app", "did you mean project:app?"),
        ("date:2026-10-01", "did you mean on:2026-10-01?"),
        ("from:yesterday", "did you mean since:yesterday?"),
        ("from:user", "did you mean role:user?"),
        ("to:2026", "did you mean until:2026?"),
        ("repository:app", "did you mean repo:app?"),
        ("version:latest", "so version:latest is searched as text"),
        ("-titel:x title:y", "column 2: titel: is no filter"),
    ] {
        let notes = parse(text, Now::utc(NOW)).unwrap().notes;
        assert_eq!(notes.len(), 1, "{text}: {notes:?}");
        assert!(
            notes[0].ends_with(meant) || notes[0].starts_with(meant),
            "{notes:?}"
        );
    }
    for text in [
        "http://x",
        "https://x.de/y",
        "std::io",
        "foo:bar.rs:12",
        "C:\\x",
        "12:30",
        "a:b",
        "localhost:8080",
        "port:8080",
        "line:12",
        "main:12",
        "main.rs:12",
        "TypeError:x",
        "note:",
        "title\\:x",
        "x:=y",
        "src/app:latest",
        "date:1.2",
        "conversations:x",
        "\"title:x\"",
    ] {
        assert!(notes(text).is_empty(), "{text}: {:?}", notes(text));
    }
}

#[test]
fn every_filter_that_is_meant_can_be_read() {
    use rand::{Rng, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(2);
    let names = [
        "title", "path", "ext", "dir", "in", "date", "from", "to", "by", "user", "branch", "error",
        "rol", "sinec", "untli", "befor", "hass", "si", "tools", "repo", "***", "-", "!=", "☃",
    ];
    let values = [
        "2w", "x", "app/src", "\"a b\"", "2026", "error", "user", "image", "*", "~/x",
    ];
    for _ in 0..2000 {
        let name = names[random.random_range(0..names.len())];
        let value = values[random.random_range(0..values.len())];
        let sign = [":", "", "::", " "][random.random_range(0..4)];
        let text = format!("{name}{sign}{value}");
        let told = match parse(&text, Now::utc(NOW)) {
            Ok(query) => query.notes.join("\n"),
            Err(error) => error.to_string(),
        };
        let advice = told
            .split_once("did you mean ")
            .and_then(|(_, rest)| rest.split_once('?'));
        let advice = advice.map(|(advice, _)| advice).or_else(|| {
            let (before, _) = told.split_once(" finds it as it is written")?;
            before.rsplit_once("; ").map(|(_, advice)| advice)
        });
        if let Some(advice) = advice {
            let followed = parse(advice, Now::utc(NOW));
            let followed = followed.unwrap_or_else(|error| panic!("{text}: {advice}: {error}"));
            assert!(followed.notes.is_empty(), "{text}: {advice}: {followed:?}");
        }
    }
}

#[test]
fn signs_of_other_languages_are_told() {
    for (text, note) in [
        (
            "gamma~2",
            "column 1: ~2 is searched as text; gamma~ finds words one letter off",
        ),
        (
            "gamma ~2",
            "column 7: ~2 is searched as text; gamma~ finds words one letter off",
        ),
        (
            "this or that",
            "column 6: or is searched as text; OR finds either",
        ),
        (
            "\"a b\"~3",
            "column 6: ~3 is searched as text: how far words stand apart cannot be asked for",
        ),
        (
            "a boost^4",
            "column 3: ^4 is searched as text: words have no weights; +boost demands the word",
        ),
        (
            "last week deploy",
            "column 1: last week is searched as text; on:last-week is the time",
        ),
        (
            "deploy This Month",
            "column 8: this month is searched as text; on:this-month is the time",
        ),
        (
            "deploy yesterday",
            "column 8: yesterday is searched as text; on:yesterday is the time",
        ),
    ] {
        let notes = notes(text);
        assert_eq!(notes.len(), 1, "{text}: {notes:?}");
        assert!(notes[0].starts_with(note), "{text}: {notes:?}");
    }
    for text in [
        "HEAD~2",
        "gamma~",
        "~/x",
        "a~b",
        "x^y",
        "last",
        "\"last week\"",
        "on:last-week",
    ] {
        assert!(notes(text).is_empty(), "{text}: {:?}", notes(text));
    }
}

#[test]
fn wildcards_and_open_single_quotes_are_told() {
    for (text, part) in [
        ("kang*roo", r"/kang\w*roo/i finds"),
        ("kang?roo", r"/kang\wroo/i finds"),
        ("kangaroo{3}", "/kangaroo{3}/ is"),
        ("*roo", "*roo* finds it within words"),
        ("${VAR}", "*${VAR}* finds it as it is written"),
        ("'kangaroo migr", "the quote is not closed"),
        ("‘kangaroo migr", "the quote is not closed"),
    ] {
        let notes = notes(text);
        assert_eq!(notes.len(), 1, "{text}: {notes:?}");
        assert!(notes[0].contains(part), "{text}: {notes:?}");
    }
    for text in [
        "don't x",
        "'tis so",
        "'static str",
        "kang*",
        "*kang*",
        "src/*.rs",
        "what?",
    ] {
        assert!(notes(text).is_empty(), "{text}: {:?}", notes(text));
    }
}

#[test]
fn times_are_read_as_people_write_them() {
    for (text, same) in [
        ("since:\"2 weeks\"", "since:2w"),
        ("since:\"3 days ago\"", "since:3d"),
        ("on:24.11.2026", "on:2026-11-24"),
        ("since:last week", "since:last-week"),
        ("a on:This Month b", "a on:this-month b"),
    ] {
        assert_eq!(read(text), read(same), "{text}");
    }
}

#[test]
fn a_part_of_the_text_may_hold_blanks() {
    for (text, expected) in [
        ("*pha bet*", "*pha bet*"),
        ("*\"pha bet\"*", "*pha bet*"),
        ("*\"a OR (b\"*", "*a OR (b*"),
        ("x *pha  the bet* -y", "(x & *pha  the bet* & !y)"),
        ("-*pha bet* x", "(!*pha bet* & x)"),
        ("(*pha bet*)", "*pha bet*"),
        // These are words, as they were.
        ("*self x", "(*self & x)"),
        ("*a* b*", "(*a* & b*)"),
        ("*a OR b*", "(*a | b*)"),
        ("*a role:user b*", "(*a & b*)"),
        ("*a -b c*", "(*a & !b & c*)"),
        ("*a *b", "(*a & *b)"),
        ("**bold text**", "(**bold & text**)"),
    ] {
        let asked = read(text).expr.as_ref().map(show);
        assert_eq!(asked.as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn weeks_months_and_years_beside_today() {
    let bounds = |text: &str| {
        let filters = read(text).filters;
        (filters.since_ms, filters.until_ms)
    };
    // It is Saturday, 21 November 2026.
    let monday = MIDNIGHT - 5 * DAY;
    let of = |from, until| (Some(from), Some(until));
    assert_eq!(bounds("on:this-week"), of(monday, monday + 7 * DAY));
    assert_eq!(bounds("on:last-week"), of(monday - 7 * DAY, monday));
    assert_eq!(bounds("on:\"Last Week\""), of(monday - 7 * DAY, monday));
    assert_eq!(bounds("since:last-week"), (Some(monday - 7 * DAY), None));
    assert_eq!(bounds("until:last-week"), (None, Some(monday)));
    for (name, same) in [
        ("this-month", "2026-11"),
        ("last-month", "2026-10"),
        ("this-year", "2026"),
        ("last-year", "2025"),
    ] {
        assert_eq!(bounds(&format!("on:{name}")), bounds(&format!("on:{same}")));
    }
    let monday = Now::utc(monday);
    let query = parse("on:this-week", monday).unwrap();
    assert_eq!(query.alternatives[0].filters.since_ms, Some(monday.ms));
}

#[test]
fn a_plus_beside_or_is_told_to_be_left_out() {
    for text in ["+a | b", "+a OR +b", "(a | +b) c"] {
        let query = parse(text, Now::utc(NOW)).expect("a query");
        assert_eq!(query.notes.len(), 1, "{text}: {:?}", query.notes);
        assert!(query.notes[0].contains("+ is left out"), "{text}");
    }
    for text in ["+a b", "+a", "+a AND b"] {
        let query = parse(text, Now::utc(NOW)).expect("a query");
        assert_eq!(query.notes, [] as [&str; 0], "{text}");
    }
}

#[test]
fn a_class_that_nothing_closes_is_told() {
    for text in ["/[/", "/[a/", "x /a[b/"] {
        let error = parse(text, Now::utc(NOW)).expect_err("no pattern");
        assert!(
            error.to_string().contains("regular expression"),
            "{text}: {error}"
        );
    }
    for text in ["/[a/]/", "/usr/[bin", "/[a"] {
        assert!(parse(text, Now::utc(NOW)).is_ok(), "{text}");
    }
}

#[test]
fn a_command_as_it_was_run_is_told_to_leave_out_its_flags() {
    for (text, note) in [
        (
            "psql -c",
            "column 6: -c leaves out what holds c; \"psql -c\" finds it as text",
        ),
        (
            "rm -rf migrations -v",
            "column 4: -rf leaves out what holds rf; \"rm -rf\" finds it as text",
        ),
        (
            "cargo build role:user -p shop",
            "column 23: -p leaves out what holds p; \"build -p\" finds it as text",
        ),
        (
            "\"select 1\" -c",
            "column 12: -c leaves out what holds c; *-c* finds it as text",
        ),
    ] {
        assert_eq!(read(text).notes, [note], "{text}");
        assert_eq!(parse_as_typed(text, Now::utc(NOW)).notes, [note], "{text}");
        let advice = note.split_once("; ").unwrap().1;
        let advice = advice.strip_suffix(" finds it as text").unwrap();
        let followed = read(advice);
        assert!(followed.notes.is_empty(), "{advice}: {followed:?}");
    }
    // What is of the language alone is meant.
    for text in [
        "psql -role:user",
        "psql NOT c",
        "psql !c",
        "psql -\"c d\"",
        "+psql -c",
        "(psql -c)",
        "psql OR shell -c",
        "psql -conn*",
        "-c psql",
        "role:user -c",
    ] {
        assert!(
            read(text).notes.is_empty(),
            "{text}: {:?}",
            read(text).notes
        );
    }
}
