//! What can be shown of an answer that takes longer than a frame? Sessions whose title or directory
//! holds what is typed, from memory.

use std::path::PathBuf;

use sessionary::model::SessionRow;

use super::message::Key;
use crate::output::text::plain_line;

/// The titles of all sessions, the newest first.
#[derive(Debug, Default)]
pub struct Titles(Vec<Title>);

#[derive(Debug)]
struct Title {
    /// In small letters.
    text: Box<str>,
    path: PathBuf,
    id: Box<str>,
}

impl Titles {
    pub fn add(&mut self, session: &SessionRow) {
        let name = session.name.as_deref().unwrap_or_default();
        let text = format!("{name} {} {}", session.title, session.cwd);
        self.0.push(Title {
            text: plain_line(&text).to_lowercase().into(),
            path: session.path.clone(),
            id: session.id.as_str().into(),
        });
    }

    /// The first sessions whose titles hold all of these words, so many at most.
    pub fn find(&self, words: &[String], most: usize) -> Vec<Key> {
        let holds = |title: &&Title| words.iter().all(|word| title.text.contains(word.as_str()));
        let found = self.0.iter().filter(holds).take(most);
        found
            .map(|title| (title.path.clone(), title.id.to_string()))
            .collect()
    }
}

/// The words of a query that has nothing but words; `None` where a title cannot tell what it asks
/// for.
pub fn words(query: &str) -> Option<Vec<String>> {
    let words = query.split_whitespace().map(str::to_lowercase);
    let words: Vec<String> = words.collect();
    let is_plain = |word: &String| {
        word.chars()
            .all(|c| c.is_alphanumeric() || "_-./".contains(c))
    };
    let is_asked = |word: &String| !word.starts_with(['-', '/']) && word != "or" && word != "and";
    (!words.is_empty() && words.iter().all(|word| is_plain(word) && is_asked(word)))
        .then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_hold_words_in_any_order_and_case() {
        let mut titles = Titles::default();
        for (id, title) in [
            ("a", "Fix the Linker"),
            ("b", "Tea"),
            ("c", "the linker again"),
        ] {
            let mut session = SessionRow::default();
            (session.id, session.title) = (id.to_owned(), title.to_owned());
            session.cwd = "/code/app".to_owned();
            titles.add(&session);
        }
        let found = |query: &str, most| -> Vec<String> {
            let words = words(query).unwrap_or_default();
            let found = titles.find(&words, most).into_iter();
            found.map(|(_, id)| id).collect()
        };
        assert_eq!(found("LINK the", 9), ["a", "c"]);
        assert_eq!(found("app", 2), ["a", "b"]);
        assert!(found("coffee", 9).is_empty());
        for query in ["", "-tea", "role:user", "\"tea", "a OR b", "/tea/"] {
            assert!(words(query).is_none(), "{query}");
        }
        assert!(words("src/main.rs").is_some());
    }
}
