//! Where was that said?

use sessionary::index::SearchScope;
use sessionary::model::{Class, Hit, HitGroup, SearchAnswer};
use sessionary::syntax::{self, Now};

use super::fitting::Floor;
use super::plain::{self, Page};
use super::question;
use super::tools::{Call, SearchSessions, mask};
use crate::command::list;
use crate::failure::Failure;
use crate::output::time::count;

/// Sessions on a page, at most.
const SESSIONS: usize = 5;
/// Passages of each, at most.
const PASSAGES: usize = 2;
/// So many are looked at before nothing fits.
const LOOKED_AT: usize = 4;
/// Sessions that only come near, at most, each with one passage.
const NEAR: usize = 2;
/// Words and phrases of a question, at most: each is looked up.
const WORDS: usize = 40;
/// Characters of a passage.
const SNIPPET: usize = 300;

/// What search_sessions says.
pub fn search(call: &Call, asked: &SearchSessions) -> Result<String, Failure> {
    let words = question::words(&asked.query);
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
        now_ms: Some(call.screen.now_ms),
        cursor: asked.cursor.clone(),
        cancel: call.cancel.clone(),
        mask: Some(mask()),
        without: [call.asking.as_slice(), &live].concat(),
        ..SearchScope::default()
    };
    let scope = match call.place() {
        Some(place) => place.search(scope),
        None => scope,
    };
    let mut answer = page(call, &query, &scope)?;
    if asked.cursor.is_some() {
        return Ok(next(&answer));
    }
    let floor = Floor::new(call, &words);
    let passages_of = |ids: &[String], most| of_sessions(call, &query, ids, &scope, most);
    let more = |ids: &[String]| passages_of(ids, LOOKED_AT);
    let mut fitting = floor.fitting(&answer.sessions, more)?;
    if fitting.sessions.is_empty() && answer.cursor.is_some() {
        // Those behind them may say in one place what the best say here and there.
        let behind = SearchScope {
            cursor: answer.cursor.take(),
            ..scope.clone()
        };
        let further = page(call, &query, &behind)?;
        fitting.add(floor.fitting(&further.sessions, more)?);
        answer.cursor = further.cursor;
    }
    // One of them may be the one that asks, and holds whatever it asks for: among the others it
    // would hide them.
    let live = passages_of(&live, PASSAGES)?;
    let live = floor.fitting(&live, more)?.sessions;
    match fitting.sessions.is_empty() && live.is_empty() {
        true => Ok(nothing(&answer, &fitting.near)),
        false => Ok(found(&answer, &fitting.sessions, &live)),
    }
}

/// The best sessions, each with its best passages. A session that the cursor names does not come
/// again.
fn page(call: &Call, query: &str, scope: &SearchScope) -> Result<SearchAnswer, sessionary::Error> {
    let scope = SearchScope {
        limit: Some(SESSIONS),
        per_session: Some(1),
        ..scope.clone()
    };
    let mut answer = call.index.search(query, &scope)?;
    let ids = answer.sessions.iter().map(|group| group.session.id.clone());
    let ids: Vec<String> = ids.collect();
    for group in of_sessions(call, query, &ids, &scope, PASSAGES)? {
        let name = |group: &HitGroup| (group.session.path.clone(), group.session.id.clone());
        let mut known = answer.sessions.iter_mut();
        if let Some(known) = known.find(|known| name(known) == name(&group)) {
            *known = group;
        }
    }
    Ok(answer)
}

/// The best passages of each of these sessions, at most so many.
fn of_sessions(
    call: &Call,
    query: &str,
    ids: &[String],
    scope: &SearchScope,
    passages: usize,
) -> Result<Vec<HitGroup>, sessionary::Error> {
    let named = ids.iter().filter(|id| !id.contains('"'));
    let named: String = named.map(|id| format!(" session:\"{id}\"")).collect();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let scope = SearchScope {
        limit: Some(ids.len() * passages),
        per_session: Some(passages),
        cursor: None,
        without: Vec::new(),
        ..scope.clone()
    };
    let answer = call.index.search(&format!("{query}{named}"), &scope)?;
    Ok(answer.sessions)
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
            list::moment_called(name, name, Some(when), &call.screen)?;
            query.push_str(&format!(" {name}:\"{when}\""));
        }
    }
    if let Some(agent) = list::known_agent(asked.agent.as_deref(), call.index.config())? {
        query.push_str(&format!(" agent:\"{agent}\""));
    }
    Ok(query)
}

/// What goes on from a cursor.
fn next(answer: &SearchAnswer) -> String {
    if !answer.sessions.is_empty() {
        return found(answer, &answer.sessions, &[]);
    }
    let mut page = Page::default();
    page.line("That was all.");
    plain::unread(&mut page, answer.complete);
    page.end()
}

fn found(answer: &SearchAnswer, groups: &[HitGroup], live: &[HitGroup]) -> String {
    let mut page = Page::framed();
    let mut show = |group: &HitGroup, is_live| {
        let heading = plain::heading(&group.session, is_live);
        page.line(&format!("\n{heading}"));
        let hits = group.hits.iter().take(PASSAGES);
        hits.for_each(|hit| passage(&mut page, group, hit));
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

fn passage(page: &mut Page, group: &HitGroup, hit: &Hit) {
    let who = hit.role.as_deref().unwrap_or(&hit.kind);
    let time = plain::minute(hit.time.as_deref());
    page.line(&format!(
        "{} · {} · {time}",
        plain::address(&group.session.id, &hit.entry),
        plain::name(who)
    ));
    match hit.class {
        Class::Prose => page.quote(&plain::short(&hit.snippet, SNIPPET)),
        Class::Output => page.line("(tool output: only show_entry reads it)"),
    }
}

/// That nothing fits is an answer. What comes near is named, and no more than that.
fn nothing(answer: &SearchAnswer, near: &[HitGroup]) -> String {
    let mut page = Page::default();
    page.line("Nothing fits: no earlier session here holds enough of these words to be an answer.");
    if !near.is_empty() {
        page.line(
            "What follows holds some of them far from each other, and may be about something else.",
        );
        page.frame();
    }
    for group in near.iter().take(NEAR) {
        page.line(&format!("\n{}", plain::heading(&group.session, false)));
        group
            .hits
            .iter()
            .take(1)
            .for_each(|hit| passage(&mut page, group, hit));
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
        plain::more(&mut page, cursor, "narrow it");
    }
    page.end()
}
