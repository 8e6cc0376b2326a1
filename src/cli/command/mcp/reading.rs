//! What does an entry say, which sessions are there, and what branches have they?

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use sessionary::Error;
use sessionary::index::{ListScope, ShowScope, ShownPart, TreeFilter, TreePart, TreeScope};
use sessionary::model::{SessionRow, ShownEntry, Sort, TreeRow};

use super::plain::{self, Page};
use super::searching::span;
use super::tools::{Call, ListSessions, SessionTree, ShowEntry, mask};
use crate::background::go_on;
use crate::command::address::before_colon;
use crate::command::{answer, list as listing};
use crate::failure::Failure;
use crate::output::bounded::Item;
use crate::output::cursor::{Shown, question};
use crate::output::text::plain_line;
use crate::output::time::count;

/// Bytes of a list or a tree.
const PAGE: usize = 6_000;
/// Bytes of the entry that was asked for, and of all beside it, as they are quoted.
const ENTRY: usize = 4_000;
const AROUND: usize = 8_000;
/// Bytes of what says that a part is left out, at most.
const NOTICE: usize = 90;
/// Of each that is cut, so many hundredths are of its beginning; the others are of its end, where
/// what it comes to stands.
const BEGINNING: usize = 60;
/// Entries before and after it, at most.
const CONTEXT: usize = 10;
/// Characters of a UUID, and of one in a tree, where these are enough.
const UUID: usize = 36;
const SHORT: usize = 8;
/// Characters of an entry in a tree.
const LINE: usize = 120;

/// What show_entry says.
pub fn show(call: &Call, asked: &ShowEntry) -> Result<String, Failure> {
    let (session, entry) = addressed(call, &asked.address)?;
    let scope = ShowScope {
        entry: Some(entry),
        context: asked.context.min(CONTEXT),
        mask: Some(mask()),
        ..ShowScope::default()
    };
    let ((entries, focus, is_lost), streamed) = answer(|| {
        let (mut entries, mut focus, mut is_lost) = (Vec::new(), None, false);
        let streamed = call.index.show_each(&session, &scope, &mut |part| {
            match part {
                ShownPart::Head(head) => {
                    focus.clone_from(&head.focus);
                    is_lost = head.lost.is_some();
                }
                ShownPart::Entry(entry) => entries.push(entry),
            }
            go_on(&call.cancel)
        })?;
        Ok(((entries, focus, is_lost), streamed))
    })?;
    let mut page = Page::framed_without_cursor();
    page.line(&heading(call, &session, is_lost));
    let origins = Origins::of(call);
    let mut told = Vec::new();
    for entry in &entries {
        let home = origins.home(&session, entry.inherited_from.as_deref(), &entry.id)?;
        told.push((above(&home, entry), said(entry)));
    }
    let is_it = |at: usize| focus.as_ref() == Some(&entries[at].id);
    let heads: usize = told.iter().map(|(head, _)| head.len() + 1 + NOTICE).sum();
    let room = page.room().saturating_sub(heads + ENTRY).min(AROUND);
    let beside = told.iter().enumerate().filter(|(at, _)| !is_it(*at));
    let most = share(
        beside.map(|(_, (_, text))| plain::quoted_bytes(text, AROUND)),
        room,
    );
    for (at, (head, text)) in told.iter().enumerate() {
        page.line(head);
        match is_it(at) {
            true => shown(&mut page, text, asked.from),
            false => shown_beside(&mut page, text, most),
        }
    }
    plain::unread(&mut page, streamed.complete);
    Ok(page.end())
}

/// How much each of these sizes may have, so that all together have no more than there is room for:
/// the short ones all of it, and what they leave is for the others.
fn share(sizes: impl Iterator<Item = usize>, mut room: usize) -> usize {
    let mut sizes: Vec<usize> = sizes.collect();
    sizes.sort_unstable();
    let mut most = room;
    for (at, size) in sizes.iter().enumerate() {
        most = room / (sizes.len() - at);
        if *size > most {
            break;
        }
        room -= size;
    }
    most
}

/// What stands above an entry.
fn above(home: &str, entry: &ShownEntry) -> String {
    let who = entry.role.as_deref().unwrap_or(&entry.kind);
    let failed = if entry.is_error { " · failed" } else { "" };
    let image = if entry.has_image { " · image" } else { "" };
    // A line number names an entry of its own session alone.
    let line = match entry.inherited_from {
        None => entry.line,
        Some(_) => 0,
    };
    format!(
        "\n{} · {} · {}{failed}{image}",
        plain::address(home, &entry.id, line),
        plain::name(who),
        plain::minute(entry.time.as_deref()),
    )
}

fn said(entry: &ShownEntry) -> String {
    let pieces = entry.text.iter().flat_map(|(_, pieces)| pieces);
    let text: Vec<&str> = pieces.map(String::as_str).collect();
    text.join("\n")
}

/// The entry that was asked for, from a byte of its text on.
fn shown(page: &mut Page, text: &str, from: usize) {
    let start = plain::boundary(text, from);
    let end = plain::end_of_quote(text, start, ENTRY);
    page.quote(&text[start..end]);
    if text.trim().is_empty() {
        page.line("(no text)");
    } else if start == text.len() {
        page.line(&format!("(nothing behind byte {start})"));
    }
    if end < text.len() {
        let left = text.len() - end;
        page.line(&format!(
            "[{left} more bytes: show_entry of this address with from {end} reads on]"
        ));
    }
}

/// One beside it, in so many bytes: its beginning and its end.
fn shown_beside(page: &mut Page, text: &str, most: usize) {
    if plain::end_of_quote(text, 0, most) == text.len() {
        page.quote(text);
        return;
    }
    let head = plain::end_of_quote(text, 0, most * BEGINNING / 100);
    let tail = plain::start_of_quote(text, head, most * (100 - BEGINNING) / 100);
    page.quote(&text[..head]);
    let left = tail - head;
    page.line(&format!("[{left} bytes left out: from {head} reads on]"));
    page.quote(&text[tail..]);
}

/// The session and the entry that an address names. A colon may belong to an id.
fn addressed(call: &Call, address: &str) -> Result<(SessionRow, String), Failure> {
    let none = || {
        Failure::not_found(
            "There is no such entry here. An entry is named by SESSION:ENTRY, as search_sessions \
             and session_tree print it.",
        )
    };
    let find = |id: &str| call.find(id)?.ok_or_else(none);
    let found = before_colon(address, &call.cancel, find)?;
    // What is never told cannot be asked for.
    let (session, name) = found
        .filter(|(_, name)| plain::is_told(name))
        .ok_or_else(none)?;
    let entry = call
        .index
        .ask(|snapshot| snapshot.entry_named(&session, name))?;
    Ok((session, entry))
}

/// What list_sessions says.
pub fn list(call: &Call, asked: &ListSessions) -> Result<String, Failure> {
    let (since_ms, until_ms) = span(call, &asked.since, &asked.until)?;
    let scope = call.list_scope(ListScope {
        agent: listing::known_agent(asked.agent.as_deref(), call.index.config())?,
        since_ms,
        until_ms,
        fold_subagents: true,
        sort: Sort::Modified,
        ..ListScope::default()
    });
    let asked_for = (&asked.agent, &asked.since, &asked.until);
    let mut pages = Pages::of(question(("mcp list", asked_for)), &asked.cursor)?;
    let (mut live, mut left_out) = (Vec::new(), 0);
    let snapshot = call.index.snapshot()?;
    let written = snapshot.each_row(&snapshot.page(&scope)?, |row| {
        go_on(&call.cancel)?;
        let (number, is_live) = (row.number(), call.is_live(&row));
        if call.asking.contains(&row.id) {
            left_out += 1;
        } else if pages.wants(number) {
            let line = plain::heading(&row, is_live);
            // One that is being written may be the one that asks.
            match is_live {
                true => live.push((number, line)),
                false => pages.offer(number, &line),
            }
        }
        Ok(())
    })?;
    live.iter()
        .for_each(|(number, line)| pages.offer(*number, line));
    let place = call.place().and_then(|place| place.name.as_deref());
    let place = place.map_or_else(|| "every directory".to_owned(), plain_line);
    let sessions = count(written.total.saturating_sub(left_out), "session");
    let head = format!("{sessions} of {place}, the newest first.");
    Ok(pages.end(&head, written.complete, "narrow it"))
}

/// What session_tree says.
pub fn tree(call: &Call, asked: &SessionTree) -> Result<String, Failure> {
    let session = call.session(&asked.session)?;
    let question = question(("mcp tree", &session.path));
    let origins = Origins::of(call);
    let ((pages, is_lost), streamed) = answer(|| {
        let pages = RefCell::new(Pages::of(question, &asked.cursor)?);
        let (mut is_lost, mut forks) = (false, Vec::new());
        // Each row is asked for before it comes.
        let number = Cell::new(0_usize);
        let scope = TreeScope {
            // What tools gave back is read by show_entry alone.
            filter: TreeFilter::NoTools,
            mask: Some(mask()),
            without: Some(&|place| {
                number.set(number.get() + 1);
                !pages.borrow().wants(u64::from(place))
            }),
            cancel: call.cancel.clone(),
        };
        let streamed =
            call.index
                .tree_each(&session, scope, &mut |part| -> Result<(), Failure> {
                    match part {
                        TreePart::Head(head) => {
                            number.set(0);
                            is_lost = head.lost.is_some();
                        }
                        TreePart::Row(row) => {
                            let home =
                                origins.home(&session, row.inherited_from.as_deref(), &row.id)?;
                            let id = short_id(call, &session, &row)?;
                            let at = number.get().checked_sub(1);
                            let forks = at.and_then(|at| forks.get(at)).copied();
                            let line = line(&plain::address(&home, &id, 0), &row, forks);
                            pages.borrow_mut().offer(u64::from(row.ordinal), &line);
                        }
                        TreePart::Parents(parents) => forks = forks_above(parents),
                    }
                    Ok(())
                })?;
        Ok(((pages.into_inner(), is_lost), streamed))
    })?;
    let left_out = left_out(call, &session)?;
    let head = format!(
        "{}\n* is on the active branch; an address is SESSION:ENTRY.{left_out}",
        heading(call, &session, is_lost)
    );
    let otherwise = "show_entry of the last address, with context, reads on from there";
    Ok(pages.end(&head, streamed.complete, otherwise))
}

/// What a tree does not have.
fn left_out(call: &Call, session: &SessionRow) -> Result<String, Failure> {
    let calls = call.index.ask(|snapshot| snapshot.count_calls(session))?;
    Ok(match calls {
        0 => String::new(),
        1 => "\n1 tool call left out: show_entry with context reads it.".to_owned(),
        _ => format!("\n{calls} tool calls left out: show_entry with context reads them."),
    })
}

/// What stands above what is quoted of a session. What it goes on from may be called anything, as
/// it was recorded, and is not named.
fn heading(call: &Call, session: &SessionRow, is_lost: bool) -> String {
    let heading = plain::heading(session, call.is_live(session));
    let lost = if is_lost {
        "\nIts beginning is missing."
    } else {
        ""
    };
    format!("{heading}{lost}")
}

/// Which sessions that others go on from may be named to the client.
struct Origins<'a> {
    call: &'a Call,
    known: RefCell<HashMap<String, bool>>,
}

impl<'a> Origins<'a> {
    fn of(call: &'a Call) -> Self {
        Self {
            call,
            known: RefCell::default(),
        }
    }

    /// The session by which an entry is named: the one that it stands in, or where the client may
    /// not see that, the one that it is shown with. A line number names an entry of its own
    /// session alone.
    fn home(
        &self,
        shown: &SessionRow,
        origin: Option<&str>,
        entry: &str,
    ) -> Result<String, Failure> {
        let Some(origin) = origin else {
            return Ok(shown.id.clone());
        };
        let mut known = self.known.borrow_mut();
        let is_seen = match known.get(origin) {
            Some(is_seen) => *is_seen,
            None => {
                let is_seen = self.call.find(origin)?.is_some();
                known.insert(origin.to_owned(), is_seen);
                is_seen
            }
        };
        let is_line = entry
            .strip_prefix('L')
            .is_some_and(|line| line.parse::<u64>().is_ok());
        let home = if is_seen || is_line {
            origin
        } else {
            &shown.id
        };
        Ok(home.to_owned())
    }
}

/// How many forks stand above each row, as a row that more than one hangs below is one: a chain of
/// rows is not indented.
fn forks_above(parents: &[Option<u32>]) -> Vec<usize> {
    let mut below = vec![0_usize; parents.len()];
    for parent in parents.iter().flatten() {
        below[*parent as usize] += 1;
    }
    let mut forks: Vec<usize> = Vec::with_capacity(parents.len());
    for parent in parents {
        let above = parent.map(|parent| parent as usize);
        forks.push(above.map_or(0, |above| forks[above] + usize::from(below[above] > 1)));
    }
    forks
}

/// The id of a row: of a UUID its beginning, where that is of no other entry of the session.
fn short_id(call: &Call, session: &SessionRow, row: &TreeRow) -> Result<String, Failure> {
    // Of other ids thousands may begin alike.
    let is_uuid = row.id.len() == UUID && row.id.as_bytes()[SHORT] == b'-';
    let start = row.id.get(..SHORT);
    let Some(start) = start.filter(|_| is_uuid && row.inherited_from.is_none()) else {
        return Ok(row.id.clone());
    };
    match call
        .index
        .ask(|snapshot| snapshot.entry_named(session, start))
    {
        Ok(named) if named == row.id && plain::is_told(&row.id) => Ok(start.to_owned()),
        Ok(_) | Err(Error::AmbiguousEntry { .. }) => Ok(row.id.clone()),
        Err(error) => Err(error.into()),
    }
}

fn line(address: &str, row: &TreeRow, forks: Option<usize>) -> String {
    let indent = " ".repeat(forks.unwrap_or_default().min(20));
    let active = if row.on_active_branch { "*" } else { "-" };
    let who = row.role.as_deref().unwrap_or(&row.kind);
    let failed = if row.is_error { " · failed" } else { "" };
    let label = row.label.as_deref();
    let label = label.map(|label| format!("\n{indent}> [{}]", plain::short(label, LINE)));
    let said = match row.role.as_deref() {
        Some("user" | "assistant") if !row.text.is_empty() => {
            format!("\n{indent}> {}", plain::short(&row.text, LINE))
        }
        _ => String::new(),
    };
    format!(
        "{indent}{active} {address} · {} · {}{failed}{}{said}",
        plain::name(who),
        plain::minute(row.time.as_deref()),
        label.unwrap_or_default(),
    )
}

/// A list of lines, a page at a time.
struct Pages {
    shown: Shown,
    lines: Vec<String>,
    bytes: usize,
    is_left: bool,
}

impl Pages {
    fn of(question: u64, cursor: &Option<String>) -> Result<Self, Error> {
        Ok(Self {
            shown: Shown::read(cursor.as_deref(), question)?,
            lines: Vec::new(),
            bytes: 0,
            is_left: false,
        })
    }

    /// Takes the next line, unless an earlier page had it or it is left to the next one.
    fn offer(&mut self, number: u64, line: &str) {
        if !self.wants(number) {
            return;
        }
        self.is_left = !self.lines.is_empty() && self.bytes + line.len() > PAGE;
        if !self.is_left {
            self.bytes += line.len() + 1;
            self.lines.push(line.to_owned());
            self.shown.add(number);
        }
    }

    /// Whether a line can still come onto this page. Where it cannot, it need not be made.
    fn wants(&self, number: u64) -> bool {
        !self.is_left && !self.shown.holds(number)
    }

    /// `otherwise`: what helps where there are more than a cursor can name.
    fn end(self, head: &str, is_complete: bool, otherwise: &str) -> String {
        let mut page = Page::framed();
        page.line(&format!("{head}\n"));
        self.lines.iter().for_each(|line| page.line(line));
        let cursor = self.shown.cursor();
        match (self.lines.is_empty(), self.is_left) {
            (true, _) => page.line("(none)"),
            (false, true) => plain::more(&mut page, &cursor, otherwise),
            (false, false) => {}
        }
        plain::unread(&mut page, is_complete);
        page.end()
    }
}
