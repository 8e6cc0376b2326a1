//! What can the word become that is being typed? The name of a filter, or a value of one that the
//! catalogue knows.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use sessionary::{Config, Freshness, Index};

use super::latest::Latest;
use super::line::QueryLine;
use super::message::{Candidates, CompletionRequest, Message};
use super::start_thread;
use crate::completing::catalogue::KnownValues;
use crate::completing::values;
use crate::output::Screen;
use crate::output::text::acts;

/// Candidates that are offered, at most.
const MOST: usize = 100;

/// What is offered for the word before the cursor.
pub struct Completion {
    /// The last request.
    pub number: u64,
    /// The byte of the line from which on the cursor's word is replaced.
    pub start: usize,
    /// Whether the word is the name of a filter.
    is_name: bool,
    /// What it can become; empty until that is known.
    pub candidates: Vec<String>,
    /// The candidate on which the selection stands.
    pub selected: usize,
    /// One candidate alone is put in at once.
    is_at_once: bool,
}

/// What is typed before the cursor.
#[derive(Debug, PartialEq, Eq)]
pub struct Stem<'a> {
    /// The byte at which it begins.
    pub start: usize,
    /// The filter whose value it is; `None`: it may be the name of one.
    pub filter: Option<String>,
    pub typed: &'a str,
}

impl Completion {
    /// Asks what the word before the cursor can become.
    /// Until that is known, what was offered before is, as far as it still fits.
    pub fn ask(
        line: &QueryLine,
        number: u64,
        is_at_once: bool,
        before: Option<Self>,
    ) -> (Self, CompletionRequest) {
        let stem = stem(line);
        let before = before.filter(|before| before.start == stem.start);
        let before = before.map_or_else(Vec::new, |before| before.candidates);
        let completion = Self {
            number,
            start: stem.start,
            is_name: stem.filter.is_none(),
            candidates: fitting(stem.typed, stem.filter.is_none(), before),
            selected: 0,
            is_at_once,
        };
        let request = CompletionRequest {
            number,
            filter: stem.filter,
            typed: stem.typed.to_owned(),
        };
        (completion, request)
    }

    /// Whether the word that is typed now is still the one that was to be completed, or a value
    /// behind it.
    pub fn goes_on(&self, line: &QueryLine) -> bool {
        let stem = stem(line);
        stem.start == self.start || stem.filter.is_some()
    }

    /// Takes what the word can become. Whether one is to be put in at once.
    pub fn take(&mut self, candidates: Vec<String>) -> bool {
        self.selected = 0;
        self.candidates = candidates;
        self.is_at_once && self.candidates.len() == 1
    }

    /// Moves the selection one down, or one up.
    pub fn step(&mut self, down: bool) {
        let count = self.candidates.len().max(1);
        self.selected = match down {
            true => (self.selected + 1) % count,
            false => (self.selected + count - 1) % count,
        };
    }

    /// Puts the candidate in on which the selection stands. Whether it is a name, behind which a
    /// value is to follow.
    pub fn put_in(&self, line: &mut QueryLine) -> bool {
        let Some(candidate) = self.candidates.get(self.selected) else {
            return false;
        };
        if self.is_name {
            line.put_from(self.start, &format!("{candidate}:"));
            return true;
        }
        let goes_on = line.text()[line.cursor()..].starts_with(char::is_whitespace);
        let blank = if goes_on { "" } else { " " };
        line.put_from(self.start, &format!("{}{blank}", quoted(candidate)));
        false
    }
}

/// What is typed before the cursor: the last part of a word, which a blank or a parenthesis outside
/// quotes begins, a sign, or behind a filter's name a colon or a comma.
pub fn stem(line: &QueryLine) -> Stem<'_> {
    let head = &line.text()[..line.cursor()];
    let (mut start, mut filter, mut in_quotes) = (0, None::<String>, false);
    for (at, letter) in head.char_indices() {
        let after = at + letter.len_utf8();
        match letter {
            '"' => {
                in_quotes = !in_quotes;
            }
            _ if in_quotes => {}
            '(' | ')' => (start, filter) = (after, None),
            _ if letter.is_whitespace() => (start, filter) = (after, None),
            '-' | '!' | '+' if at == start && filter.is_none() => start = after,
            ':' if filter.is_none() => {
                let name = head[start..at].to_lowercase();
                if values::filter_names().any(|known| known == name) {
                    (start, filter) = (after, Some(name));
                }
            }
            ',' if filter.is_some() => start = after,
            _ => {}
        }
    }
    let typed = &head[start..];
    Stem {
        start,
        filter,
        typed: typed.strip_prefix('"').unwrap_or(typed),
    }
}

/// A value as a query reads it.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./@+".contains(c);
    match value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("\"{value}\""),
    }
}

/// Says what words can become until nobody asks any more.
pub fn start(
    requests: &Arc<Latest<CompletionRequest>>,
    config: &Config,
    screen: &Screen,
    tell: &Sender<Message>,
) {
    let (requests, tell) = (Arc::clone(requests), tell.clone());
    let mut config = config.clone();
    // Else the settings of every project would be read.
    config.project_roots = None;
    let shows_keys = screen.mask().is_none();
    start_thread("picker-knows", move || {
        while let Some((request, cancel)) = requests.take() {
            let candidates = candidates(&request, || {
                let index = Index::open(&config, Freshness::AsCommitted).ok()?;
                Some(KnownValues::of(index, shows_keys))
            });
            let number = request.number;
            let completed = Message::Completed(Candidates {
                number,
                words: candidates,
            });
            if !cancel.is_cancelled() && tell.send(completed).is_err() {
                return;
            }
        }
    });
}

/// What a name or a value can become.
fn candidates(
    request: &CompletionRequest,
    known: impl FnOnce() -> Option<KnownValues>,
) -> Vec<String> {
    let all = match &request.filter {
        None => values::filter_names().map(str::to_owned).collect(),
        Some(filter) => known()
            .and_then(|known| values::values_of(filter, &known))
            .unwrap_or_default(),
    };
    fitting(&request.typed, request.filter.is_none(), all)
}

/// What begins as it is typed, in any case; of values then those that hold it.
fn fitting(typed: &str, is_name: bool, all: Vec<String>) -> Vec<String> {
    let typed = typed.to_lowercase();
    // What a terminal would act on could not be typed, and a quote ends what is quoted.
    let can_be_typed =
        |value: &String| !value.is_empty() && !value.contains(|c| acts(c) || c == '"');
    let all = all.into_iter().filter(can_be_typed);
    let mut found: Vec<(bool, String)> = all
        .filter_map(|value| {
            let at = value.to_lowercase().find(&typed)?;
            Some((at > 0, value))
        })
        .collect();
    found.retain(|(is_within, _)| !(is_name && *is_within));
    found.sort_by_key(|(is_within, _)| *is_within);
    found.truncate(MOST);
    found.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line, with `|` where the cursor stands.
    fn line(text: &str) -> QueryLine {
        let (before, behind) = text.split_once('|').expect("a cursor");
        let mut line = QueryLine::new(behind);
        line.home();
        line.insert(before);
        line
    }

    #[test]
    fn the_word_before_the_cursor() {
        for (text, start, filter, typed) in [
            ("|", 0, None, ""),
            ("ag|", 0, None, "ag"),
            ("error ag|", 6, None, "ag"),
            ("-ag|", 1, None, "ag"),
            ("(ag|", 1, None, "ag"),
            ("(a) ag| x", 4, None, "ag"),
            ("agent:|", 6, Some("agent"), ""),
            ("AGENT:p|i", 6, Some("agent"), "p"),
            ("!role:us|", 6, Some("role"), "us"),
            ("role:user,as|", 10, Some("role"), "as"),
            ("label:\"to d|", 6, Some("label"), "to d"),
            ("label:\"a, b\",c|", 13, Some("label"), "c"),
            ("x label:\"to do\" ag|", 16, None, "ag"),
            // No filter is called so.
            ("http://x|", 0, None, "http://x"),
            ("\"agent:p|", 0, None, "agent:p"),
            ("日本 age|", 7, None, "age"),
        ] {
            let line = line(text);
            let stem = stem(&line);
            let expected = Stem {
                start,
                filter: filter.map(str::to_owned),
                typed,
            };
            assert_eq!(stem, expected, "{text}");
        }
    }

    fn put_in(text: &str, candidate: &str) -> (String, usize) {
        let mut line = line(text);
        let (mut completion, _) = Completion::ask(&line, 1, true, None);
        assert!(completion.take(vec![candidate.to_owned()]), "{text}");
        completion.put_in(&mut line);
        (line.text().to_owned(), line.cursor())
    }

    #[test]
    fn a_candidate_takes_the_place_of_the_word() {
        for (text, candidate, becomes) in [
            ("x ag|", "agent", "x agent:|"),
            ("-ro| y", "role", "-role:| y"),
            ("agent:p|", "pi", "agent:pi |"),
            ("agent:p| y", "pi", "agent:pi| y"),
            ("role:user,as|", "assistant", "role:user,assistant |"),
            ("label:to|", "to do", "label:\"to do\" |"),
            ("label:\"to|", "to do", "label:\"to do\" |"),
        ] {
            let (text_then, cursor) = put_in(text, candidate);
            let with_cursor = format!("{}|{}", &text_then[..cursor], &text_then[cursor..]);
            assert_eq!(with_cursor, becomes, "{text}");
        }
    }

    #[test]
    fn what_begins_so_comes_before_what_holds_it() {
        let all = ["app", "my-app", "Apple", "x", "", "ap\u{1b}p", "ap\"p"];
        let all = || all.map(str::to_owned).to_vec();
        assert_eq!(fitting("ap", false, all()), ["app", "Apple", "my-app"]);
        assert_eq!(fitting("ap", true, all()), ["app", "Apple"]);
        assert_eq!(fitting("", false, all()).len(), 4);
        let names = CompletionRequest {
            number: 1,
            filter: None,
            typed: "la".to_owned(),
        };
        assert_eq!(candidates(&names, || None), ["label"]);
    }

    #[test]
    fn several_are_stepped_through() {
        let (mut completion, _) = Completion::ask(&line("a|"), 1, true, None);
        assert!(!completion.take(["a", "b", "c"].map(str::to_owned).to_vec()));
        completion.step(true);
        completion.step(true);
        completion.step(true);
        assert_eq!(completion.selected, 0);
        completion.step(false);
        assert_eq!(completion.selected, 2);
        // While somebody types, nothing is put in.
        let (mut typing, _) = Completion::ask(&line("a|"), 2, false, None);
        assert!(!typing.take(vec!["agent".to_owned()]));
    }
}
