//! Which words of a question tell something?

use std::collections::BTreeSet;
use std::ops::Range;

use sessionary::syntax;

/// Words of questions, which stand in every session and tell nothing about one.
const TELL_NOTHING: [&str; 78] = [
    "a",
    "about",
    "again",
    "all",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "ever",
    "for",
    "from",
    "had",
    "has",
    "have",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "last",
    "me",
    "my",
    "no",
    "not",
    "of",
    "on",
    "or",
    "our",
    "out",
    "session",
    "sessions",
    "should",
    "so",
    "some",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "they",
    "this",
    "to",
    "up",
    "us",
    "use",
    "used",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "earlier",
    "previously",
];

/// Words behind which one of these says only what kind of thing is asked for.
const ASKING: [&str; 2] = ["what", "which"];
const KINDS: [&str; 6] = ["command", "commands", "file", "files", "tool", "tools"];
/// What a word counts that has signs between its letters as only names in code have: it stands
/// nowhere by chance.
const NAME_IN_CODE: f32 = 2.0;

/// How much a word or phrase counts, where a usual one counts 1.
pub fn weight(word: &str) -> f32 {
    let is_phrase = word.starts_with('"');
    let is_in_code = word.contains('_') || word.contains("\\:\\:");
    match is_in_code && !is_phrase {
        true => NAME_IN_CODE,
        false => 1.0,
    }
}

/// Words and phrases of a question; whatever would be more than that to the query language is a
/// blank.
pub fn words(query: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (number, part) in query.split('"').enumerate() {
        // In quotes: it stands next to each other. A backslash before the last one would make that
        // a part of the phrase.
        let phrase = part.replace('\\', " ");
        if number % 2 == 1 && phrase.split_whitespace().count() > 1 {
            all.push(format!("\"{}\"", phrase.trim()));
            continue;
        }
        let is_blank = |c: char| c.is_whitespace() || "()|*~!\\,;<>{}[]'`’?".contains(c);
        // `C++` and `.env` are searched with their signs, as the query language does. But `PR#` is
        // a word before a number.
        let is_number_sign = |word: &str| word.ends_with('#') && word.chars().count() > 2;
        let mut signed = syntax::signed(part);
        signed.retain(|word| !is_number_sign(&part[word.clone()]));
        let mut signed = &signed[..];
        let (mut at, mut asks) = (0, false);
        for piece in part.split_inclusive(is_blank) {
            let mut inner = word_in(piece);
            inner = at + inner.start..at + inner.end;
            at += piece.len();
            // Both are in order: those before this piece are before the next ones, too.
            let behind = signed.iter().position(|word| word.end > inner.start);
            signed = &signed[behind.unwrap_or(signed.len())..];
            for word in signed {
                if word.start >= inner.end {
                    break;
                }
                if inner.start < word.end {
                    inner = word.start.min(inner.start)..word.end.max(inner.end);
                }
            }
            let word = &part[inner];
            let word = word.to_lowercase();
            let is_kind = asks && KINDS.contains(&word.as_str());
            let is_telling = !is_kind && !TELL_NOTHING.contains(&word.as_str());
            asks = ASKING.contains(&word.as_str());
            if !word.is_empty() && is_telling {
                // An operator in lower case is a word, and so is a filter whose sign is escaped.
                all.push(word.replace(':', "\\:"));
            }
        }
    }
    let mut known = BTreeSet::new();
    all.retain(|word| known.insert(word.clone()));
    all
}

/// Where the word in a piece stands, without what is around it.
fn word_in(piece: &str) -> Range<usize> {
    let is_edge = |c: char| !c.is_alphanumeric() && c != '_';
    let behind = piece.trim_start_matches(is_edge);
    let start = piece.len() - behind.len();
    start..start + behind.trim_end_matches(is_edge).len()
}

#[cfg(test)]
mod tests {
    use sessionary::syntax::Now;

    use super::*;

    #[test]
    fn a_question_is_words_and_phrases() {
        let query = r#"What did WE decide about "the line  index" and role:user /re.*gex/ -x NOT y? a/b.rs "#;
        let words = words(query);
        let expected = [
            r#""the line  index""#,
            "decide",
            "role\\:user",
            "re",
            "gex",
            "x",
            "y",
            "a/b.rs",
        ];
        let mut sorted = words.clone();
        sorted.sort();
        let mut expected = expected.map(str::to_owned).to_vec();
        expected.sort();
        // A dot at the end of a piece goes with what was cut off.
        assert_eq!(sorted, expected);
        let said = syntax::parse(&words.join(" "), Now::utc(0)).unwrap();
        assert!(said.typed.is_empty(), "{said:?}");
    }

    #[test]
    fn the_kind_of_what_is_asked_for_is_no_word() {
        let query = "Which command fixed the file? What tools, which tokenizer of file";
        assert_eq!(words(query), ["fixed", "file", "tokenizer"]);
        let weights = ["ssl_get_x", "a\\:\\:b", "fix", "\"a_b c\"", "c++"].map(weight);
        assert_eq!(weights, [2.0, 2.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn words_keep_the_signs_that_are_searched() {
        let query =
            "Why C++, not C#? (.env) -.net: --flag $VAR @scope/pkg node.js. foo().bar() a++b";
        let expected = [
            "c++",
            "c#",
            ".env",
            ".net",
            "flag",
            "var",
            "scope/pkg",
            "node.js",
            "foo",
            "bar",
            "a++b",
        ];
        let words = words(query);
        assert_eq!(words, expected);
        let said = syntax::parse(&words.join(" "), Now::utc(0)).unwrap();
        assert!(said.typed.is_empty(), "{said:?}");
    }

    #[test]
    fn a_long_question_is_read_once() {
        assert_eq!(words(&"C++ ".repeat(100_000)), ["c++"]);
        assert_eq!(words(&"PR# 12, ".repeat(50_000)), ["pr", "12"]);
    }

    #[test]
    fn a_phrase_ends_where_its_quotes_do() {
        let words = words(r#""C:\my logs\" crash "\ \"#);
        assert_eq!(words, [r#""C: my logs""#, "crash"]);
        let query = format!("{} since:\"2w\"", words.join(" "));
        let said = syntax::parse(&query, Now::utc(0)).unwrap();
        let typed: Vec<&str> = said.typed.iter().map(|one| one.value.as_str()).collect();
        assert_eq!(typed, ["2w"]);
    }
}
