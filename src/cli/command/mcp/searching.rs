//! Where was that said? And is what was found an answer at all?

use std::collections::BTreeSet;

use sessionary::index::SearchScope;
use sessionary::model::{Class, Hit, HitGroup, SearchAnswer};
use sessionary::syntax::{self, Now};

use super::plain::{self, Page};
use super::tools::{Call, MASK, SearchSessions};
use crate::command::list;
use crate::failure::Failure;
use crate::output::time::count;

/// Sessions on a page, at most.
const SESSIONS: usize = 5;
/// Passages of each, at most.
const PASSAGES: usize = 2;
/// Words and phrases of a question, at most: each is looked up.
const WORDS: usize = 40;
/// Characters of a passage.
const SNIPPET: usize = 300;
/// Of the words that tell something, as far as any session holds them, a session must hold this
/// part to be an answer. What only tools printed counts half.
const FLOOR: f32 = 0.5;

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

/// What search_sessions says.
pub fn search(call: &Call, asked: &SearchSessions) -> Result<String, Failure> {
    let words = words(&asked.query);
    if words.is_empty() {
        return Err(Failure::usage(
            "The query has no word to look for: question words, and `session`, do not count.",
        ));
    }
    if words.len() > WORDS {
        return Err(Failure::usage(format!(
            "The query has {} words and phrases; at most {WORDS} are looked up.",
            words.len()
        )));
    }
    let query = query(call, asked, &words)?;
    let live = call.live()?;
    let scope = SearchScope {
        limit: SESSIONS * PASSAGES,
        per_session: Some(PASSAGES),
        explain: true,
        now_ms: call.screen.now_ms,
        cursor: asked.cursor.clone(),
        cancel: call.cancel.clone(),
        mask: Some(MASK),
        without: [call.asking.as_slice(), &live].concat(),
        ..SearchScope::default()
    };
    let scope = match call.place() {
        Some(place) => place.search(scope),
        None => scope,
    };
    let answer = call.index.search(&query, &scope)?;
    let fits = fits(&answer, &words);
    let groups = answer.sessions.iter();
    let groups: Vec<&HitGroup> = groups
        .filter(|group| asked.cursor.is_some() || fits(group))
        .collect();
    let live = match asked.cursor {
        None => written_now(call, &query, &words, &live, scope)?,
        Some(_) => Vec::new(),
    };
    match groups.is_empty() && live.is_empty() {
        true => Ok(nothing(&answer, asked)),
        false => Ok(found(&answer, &groups, &live)),
    }
}

/// What the sessions hold that are being written. One of them may be the one that asks, and holds
/// whatever it asks for: among the others it would hide them.
fn written_now(
    call: &Call,
    query: &str,
    words: &[String],
    live: &[String],
    scope: SearchScope,
) -> Result<Vec<HitGroup>, Failure> {
    let named = live.iter().filter(|id| !id.contains('"'));
    let named: String = named.map(|id| format!(" session:\"{id}\"")).collect();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let scope = SearchScope {
        without: Vec::new(),
        ..scope
    };
    let mut answer = call.index.search(&format!("{query}{named}"), &scope)?;
    let fits = fits(&answer, words);
    answer.sessions.retain(fits);
    Ok(answer.sessions)
}

/// Words and phrases of a question; whatever would be more than that to the query language is a
/// blank.
fn words(query: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (number, part) in query.split('"').enumerate() {
        // In quotes: it stands next to each other.
        if number % 2 == 1 && part.split_whitespace().count() > 1 {
            all.push(format!("\"{}\"", part.trim()));
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

/// The query of the library's language that asks for these words.
fn query(call: &Call, asked: &SearchSessions, words: &[String]) -> Result<String, Failure> {
    let now = Now::utc(call.screen.now_ms);
    let said = syntax::parse(&words.join(" "), now).map_err(sessionary::Error::from)?;
    let mut expressions = said.alternatives.iter().filter_map(|one| one.expr.as_ref());
    if !said.typed.is_empty() || expressions.any(|expr| expr.reads_text()) {
        return Err(Failure::usage(
            "The query is words and phrases, and nothing else.",
        ));
    }
    let mut query = words.join(" ");
    for (name, when) in [("since", &asked.since), ("until", &asked.until)] {
        if let Some(when) = when {
            list::moment(name, Some(when), &call.screen)?;
            query.push_str(&format!(" {name}:\"{when}\""));
        }
    }
    if let Some(agent) = &asked.agent {
        list::known_agent(agent, &call.config)?;
        query.push_str(&format!(" agent:\"{agent}\""));
    }
    Ok(query)
}

/// Whether a session of this answer holds enough of the words to be one.
fn fits(answer: &SearchAnswer, words: &[String]) -> impl Fn(&HitGroup) -> bool + use<> {
    let missing = answer.missing.len();
    let is_known = 2 * missing < words.len() || missing == 0;
    move |group| is_known && evidence(group) >= FLOOR
}

/// How much of what was asked a session holds, by how rare the words are: from 0 to 1.
fn evidence(group: &HitGroup) -> f32 {
    let explained = group.hits.iter();
    let explained = explained.filter_map(|hit| hit.explanation.as_ref());
    let held = explained.filter_map(|explanation| explanation.session);
    // Where a passage has all of the words there is no such figure.
    let held = held.map(|session| session.held).reduce(f32::max);
    held.unwrap_or(1.0)
}

fn found(answer: &SearchAnswer, groups: &[&HitGroup], live: &[HitGroup]) -> String {
    let mut page = Page::framed();
    let mut show = |group: &HitGroup, is_live| {
        let heading = plain::heading(&group.session, is_live);
        page.line(&format!("\n{heading}"));
        group.hits.iter().for_each(|hit| passage(&mut page, hit));
    };
    groups.iter().for_each(|group| show(group, false));
    live.iter().for_each(|group| show(group, true));
    let (live, shown) = (live.len() as u64, (groups.len() + live.len()) as u64);
    let all = answer.total_sessions + live;
    if groups.is_empty() {
        page.below("\nNothing fits but what is being written now, maybe by you.");
    }
    page.below(&format!(
        "\n{shown} of {}. show_entry reads what an address names, with `context` what \
         stands around it.",
        count(all, "session")
    ));
    if let Some(missing) = missing(answer) {
        page.below(&missing);
    }
    end(page, answer)
}

fn passage(page: &mut Page, hit: &Hit) {
    let who = hit.role.as_deref().unwrap_or(&hit.kind);
    let time = plain::minute(hit.time.as_deref());
    page.line(&format!(
        "{} · {} · {time}",
        plain::id(&hit.address),
        plain::name(who)
    ));
    match hit.class {
        Class::Prose => page.quote(&plain::short(&hit.snippet, SNIPPET)),
        Class::Output => page.line("(tool output: only show_entry reads it)"),
    }
}

/// That nothing fits is an answer.
fn nothing(answer: &SearchAnswer, asked: &SearchSessions) -> String {
    let mut page = Page::default();
    match asked.cursor {
        Some(_) => page.line("That was all."),
        None => page.line(
            "Nothing fits: no earlier session here holds enough of these words to be an answer.",
        ),
    }
    if let Some(missing) = missing(answer) {
        page.below(&missing);
    }
    // What follows holds no more of them.
    plain::unread(&mut page, answer.complete);
    page.end()
}

fn missing(answer: &SearchAnswer) -> Option<String> {
    let words = answer.missing.iter().map(|word| plain::short(word, 40));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("No earlier session here holds: {}.", words.join(", ")))
}

fn end(mut page: Page, answer: &SearchAnswer) -> String {
    plain::unread(&mut page, answer.complete);
    if let Some(cursor) = &answer.cursor {
        plain::more(&mut page, cursor);
    }
    page.end()
}

#[cfg(test)]
mod tests {
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
}
