//! Which sessions have what is typed in their titles or directories?

use memchr::memmem::Finder;
use sessionary::model::SessionRow;

use crate::output::text::plain_line;

/// The titles of all sessions in the order of their list, in memory: there may be 100,000.
#[derive(Debug, Default)]
pub struct Titles {
    /// All of them in small letters, each with its directory, on a line of its own.
    text: String,
    sessions: Vec<Title>,
}

#[derive(Debug)]
struct Title {
    /// Where its line ends.
    end: usize,
    /// The session's id.
    id: Box<str>,
}

impl Titles {
    pub fn add(&mut self, session: &SessionRow) {
        let name = session.name.as_deref().unwrap_or_default();
        let text = format!("{name} {} {}", session.title, session.cwd);
        self.text.push_str(&plain_line(&text).to_lowercase());
        self.text.push('\n');
        self.sessions.push(Title {
            end: self.text.len(),
            id: session.id.as_str().into(),
        });
    }

    /// The ids of the first sessions whose lines hold all of these, so many at most.
    pub fn find(&self, words: &[String], most: usize) -> Vec<String> {
        let mut words: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
        // The longest is the rarest, mostly.
        words.sort_by_key(|word| std::cmp::Reverse(word.needle().len()));
        let Some((first, others)) = words.split_first() else {
            return Vec::new();
        };
        let (mut found, mut from) = (Vec::new(), 0);
        while found.len() < most
            && let Some(at) = first.find(&self.text.as_bytes()[from..])
        {
            let number = self
                .sessions
                .partition_point(|title| title.end <= from + at);
            let Some(title) = self.sessions.get(number) else {
                break;
            };
            let before = number.checked_sub(1).map(|before| &self.sessions[before]);
            let line = &self.text.as_bytes()[before.map_or(0, |before| before.end)..title.end];
            if others.iter().all(|word| word.find(line).is_some()) {
                found.push(title.id.to_string());
            }
            from = title.end;
        }
        found
    }
}

/// The words of a query that has nothing but words, and what stands between quotes as one; `None`
/// where a title cannot tell what it asks for.
pub fn words(query: &str) -> Option<Vec<String>> {
    let query = query.to_lowercase();
    let mut words = Vec::new();
    for (number, part) in query.split('"').enumerate() {
        let part = part.trim();
        match number % 2 == 1 {
            true if !part.is_empty() => words.push(part.to_owned()),
            true => {}
            false => words.extend(part.split_whitespace().map(str::to_owned)),
        }
    }
    let is_plain = |word: &String| {
        let is_usual = |c: char| c.is_alphanumeric() || "_-./ ".contains(c);
        word.chars().all(is_usual)
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
            ("c", "the linker again, the linker"),
        ] {
            let mut session = SessionRow::default();
            (session.id, session.title) = (id.to_owned(), title.to_owned());
            session.cwd = "/code/app".to_owned();
            titles.add(&session);
        }
        let found = |query: &str, most| titles.find(&words(query).unwrap_or_default(), most);
        assert_eq!(found("LINK the", 9), ["a", "c"]);
        assert_eq!(found("\"the linker", 9), ["a", "c"]);
        assert_eq!(found("\"linker again\" app", 9), ["c"]);
        assert_eq!(found("app", 2), ["a", "b"]);
        assert!(found("coffee", 9).is_empty());
        // One word at the end of a line, and one at the beginning of the next.
        assert!(found("\"app tea", 9).is_empty());
        for query in ["", "-tea", "role:user", "\"", "a OR b", "/tea/", "\"a:b"] {
            assert!(words(query).is_none(), "{query}");
        }
        assert!(words("src/main.rs").is_some());
    }
}
