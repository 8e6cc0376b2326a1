//! Where was that said?

use sessionary::index::{EntryCalls, SearchScope, Snapshot};
use sessionary::model::{Class, EntryPlace, Hit, HitGroup, SearchAnswer};
use sessionary::syntax::{self, Now};

use super::fitting::{Fitting, Floor};
use super::plain::{self, Page};
use super::question;
use super::tools::{Call, SearchSessions, mask};
use crate::command::list;
use crate::failure::Failure;
use crate::output::bounded::Item;
use crate::output::time::count;

/// Sessions on a page, at most.
const SESSIONS: usize = 5;
/// Passages of each, at most.
const PASSAGES: usize = 2;
/// So many more are asked for: they may repeat what the session is called, which stands above.
const TITLES: usize = 2;
/// So many are looked at before nothing fits.
const LOOKED_AT: usize = 4;
/// So many pages of sessions are looked at before nothing fits; and so many, as long as there are
/// sessions on them that only asked for the same, before that fills an answer.
const PAGES: usize = 2;
const PAGES_OF_ASKING: usize = 4;
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
    let floor = Floor::new(call, &words);
    let passages_of = |ids: &[String], most| of_sessions(call, &query, ids, &scope, most);
    let more = |ids: &[String]| passages_of(ids, LOOKED_AT);
    let (answer, fitting) = judged(call, &query, &scope, |groups| floor.fitting(groups, more))?;
    if asked.cursor.is_some() {
        return match fitting.sessions.is_empty() {
            true => no_more(call, &answer, &fitting.near),
            false => found(call, &answer, &fitting.sessions, &[]),
        };
    }
    // One of them may be the one that asks, and holds whatever it asks for: among the others it
    // would hide them.
    let live = passages_of(&live, PASSAGES)?;
    let live = floor.fitting(&live, more)?.sessions;
    match fitting.sessions.is_empty() && live.is_empty() {
        true => nothing(call, &answer, &fitting.near),
        false => found(call, &answer, &fitting.sessions, &live),
    }
}

/// The best sessions, and which of them fit. Where none does, those behind them may say in one
/// place what the best say here and there; those that only asked take the place of none.
fn judged(
    call: &Call,
    query: &str,
    scope: &SearchScope,
    fitting: impl Fn(&[HitGroup]) -> Result<Fitting, sessionary::Error>,
) -> Result<(SearchAnswer, Fitting), sessionary::Error> {
    let mut answer = page(call, query, scope, SESSIONS)?;
    let mut all = fitting(&answer.sessions)?;
    for looked_at in 1..PAGES_OF_ASKING {
        let room = SESSIONS.saturating_sub(all.sessions.len());
        let is_nothing = all.sessions.is_empty() && looked_at < PAGES;
        if room == 0 || answer.cursor.is_none() || !(is_nothing || all.have_asked) {
            break;
        }
        let behind = SearchScope {
            cursor: answer.cursor.take(),
            ..scope.clone()
        };
        let further = page(call, query, &behind, room)?;
        all.add(fitting(&further.sessions)?);
        answer.cursor = further.cursor;
    }
    Ok((answer, all))
}

/// The best so many sessions, each with its best passages. A session that the cursor names does
/// not come again.
fn page(
    call: &Call,
    query: &str,
    scope: &SearchScope,
    sessions: usize,
) -> Result<SearchAnswer, sessionary::Error> {
    let scope = SearchScope {
        limit: Some(sessions),
        per_session: Some(1),
        ..scope.clone()
    };
    let mut answer = call.index.search(query, &scope)?;
    let ids = answer.sessions.iter().map(|group| group.session.id.clone());
    let ids: Vec<String> = ids.collect();
    for group in of_sessions(call, query, &ids, &scope, PASSAGES)? {
        let number = group.session.number();
        let mut known = answer.sessions.iter_mut();
        if let Some(known) = known.find(|known| known.session.number() == number) {
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
        limit: Some(ids.len() * (passages + TITLES)),
        per_session: Some(passages + TITLES),
        cursor: None,
        without: Vec::new(),
        ..scope.clone()
    };
    let mut answer = call.index.search(&format!("{query}{named}"), &scope)?;
    for group in &mut answer.sessions {
        let title = plain::title(&group.session);
        let mut room = passages;
        group.hits.retain(|hit| {
            let has_room = room > 0;
            room -= usize::from(has_room && !repeats(hit, &title));
            has_room
        });
    }
    Ok(answer.sessions)
}

/// Whether a passage says no more than the title of its session.
fn repeats(hit: &Hit, title: &str) -> bool {
    hit.class == Class::Prose && plain::short(&hit.snippet, SNIPPET) == title
}

/// The passages of a session that are shown: its title stands above them.
fn shown(group: &HitGroup) -> Vec<&Hit> {
    let title = plain::title(&group.session);
    let hits = group.hits.iter().filter(|hit| !repeats(hit, &title));
    let mut hits: Vec<&Hit> = hits.take(PASSAGES).collect();
    if hits.is_empty() {
        hits.extend(group.hits.first());
    }
    hits
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
    span(call, &asked.since, &asked.until)?;
    for (name, when) in [("since", &asked.since), ("until", &asked.until)] {
        if let Some(when) = when {
            query.push_str(&format!(" {name}:\"{when}\""));
        }
    }
    if let Some(agent) = list::known_agent(asked.agent.as_deref(), call.index.config())? {
        query.push_str(&format!(" agent:\"{agent}\""));
    }
    Ok(query)
}

/// What the two times are, in ms since the epoch.
pub fn span(
    call: &Call,
    since: &Option<String>,
    until: &Option<String>,
) -> Result<(Option<i64>, Option<i64>), Failure> {
    let moment = |name: &str, when: &Option<String>| {
        list::moment_called(name, name, when.as_deref(), &call.screen)
    };
    let (from, to) = (
        moment("since", since)?.since_ms,
        moment("until", until)?.until_ms,
    );
    match from.zip(to) {
        Some((from, to)) if from > to => Err(Failure::usage(
            "since is later than until: there is no time between them.",
        )),
        _ => Ok((from, to)),
    }
}

/// That nothing fits any more.
fn no_more(call: &Call, answer: &SearchAnswer, near: &[HitGroup]) -> Result<String, Failure> {
    let mut page = Page::default();
    page.line("That was all that fits.");
    come_near(call, &mut page, near)?;
    plain::unread(&mut page, answer.complete);
    Ok(page.end())
}

fn found(
    call: &Call,
    answer: &SearchAnswer,
    groups: &[HitGroup],
    live: &[HitGroup],
) -> Result<String, Failure> {
    let mut page = Page::framed();
    let fitting = groups.iter().map(|group| (group, false));
    let live_ones = live.iter().map(|group| (group, true));
    for (group, is_live) in fitting.chain(live_ones) {
        let heading = plain::heading(&group.session, is_live);
        page.line(&format!("\n{heading}"));
        for hit in shown(group) {
            passage(call, &mut page, group, hit)?;
        }
    }
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
        page.below_where_room(&missing);
    }
    Ok(end(page, answer))
}

/// What a session says. A call is its agent's own word; what tools gave back is not.
fn passage(call: &Call, page: &mut Page, group: &HitGroup, hit: &Hit) -> Result<(), Failure> {
    let who = hit.role.as_deref().unwrap_or(&hit.kind);
    let time = plain::minute(hit.time.as_deref());
    let line = match hit.at {
        EntryPlace::Bytes { line, .. } => line,
        _ => 0,
    };
    let calls = |snapshot: &Snapshot<'_>| snapshot.entry_calls(&group.session, &hit.entry);
    let calls = match hit.class {
        Class::Prose => EntryCalls::default(),
        Class::Output => call.index.ask(calls)?,
    };
    let failed = if calls.failed { " · failed" } else { "" };
    page.line(&format!(
        "{} · {} · {time}{failed}",
        plain::address(&group.session.id, &hit.entry, line),
        plain::name(who)
    ));
    let is_call = hit.role.as_deref() == Some("assistant") && !calls.holds_output;
    match hit.class {
        Class::Prose => page.quote(&plain::short(&hit.snippet, SNIPPET)),
        Class::Output if is_call => {
            // Of which of several calls the words are is not known.
            let tool = calls.tool.as_deref().unwrap_or("tools");
            let said = format!("{}: {}", plain::name(tool), hit.snippet);
            page.quote(&plain::short(&said, SNIPPET));
        }
        Class::Output => page.line("(tool output: only show_entry reads it)"),
    }
    Ok(())
}

/// That nothing fits is an answer. What comes near is named, and no more than that.
fn nothing(call: &Call, answer: &SearchAnswer, near: &[HitGroup]) -> Result<String, Failure> {
    let mut page = Page::default();
    page.line("Nothing fits: no earlier session here holds enough of these words to be an answer.");
    come_near(call, &mut page, near)?;
    if let Some(missing) = missing(answer) {
        page.below_where_room(&missing);
    }
    // What follows holds no more of them.
    plain::unread(&mut page, answer.complete);
    Ok(page.end())
}

/// What holds some of the words, each with one passage.
fn come_near(call: &Call, page: &mut Page, near: &[HitGroup]) -> Result<(), Failure> {
    if !near.is_empty() {
        page.line("What follows holds only some of them, and may be about something else.");
        page.frame();
    }
    for group in near.iter().take(NEAR) {
        page.line(&format!("\n{}", plain::heading(&group.session, false)));
        if let Some(hit) = shown(group).first() {
            passage(call, page, group, hit)?;
        }
    }
    Ok(())
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
