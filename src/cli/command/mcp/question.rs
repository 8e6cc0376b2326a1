//! Which words of a question tell something?

use std::collections::BTreeSet;

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
        for word in part.split(is_blank) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            let is_telling = !TELL_NOTHING.contains(&word.to_lowercase().as_str());
            if !word.is_empty() && is_telling {
                // An operator in lower case is a word, and so is a filter whose sign is escaped.
                all.push(word.to_lowercase().replace(':', "\\:"));
            }
        }
    }
    let mut known = BTreeSet::new();
    all.retain(|word| known.insert(word.clone()));
    all
}

#[cfg(test)]
mod tests {
    use sessionary::syntax::{self, Now};

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
    fn a_phrase_ends_where_its_quotes_do() {
        let words = words(r#""C:\my logs\" crash "\ \"#);
        assert_eq!(words, [r#""C: my logs""#, "crash"]);
        let query = format!("{} since:\"2w\"", words.join(" "));
        let said = syntax::parse(&query, Now::utc(0)).unwrap();
        let typed: Vec<&str> = said.typed.iter().map(|one| one.value.as_str()).collect();
        assert_eq!(typed, ["2w"]);
    }
}
