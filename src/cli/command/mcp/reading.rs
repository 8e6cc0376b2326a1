//! What does an entry say, which sessions are there, and what branches have they?

use std::cell::RefCell;
use std::collections::HashMap;

use sessionary::Error;
use sessionary::index::{ListScope, ShowScope, ShownPart, TreeFilter, TreePart, TreeScope};
use sessionary::model::{SessionRow, ShownEntry, Sort, TreeRow};

use super::plain::{self, Page};
use super::tools::{Call, ListSessions, SessionTree, ShowEntry, mask};
use crate::background::go_on;
use crate::command::{answer, list as listing};
use crate::failure::Failure;
use crate::output::bounded::Item;
use crate::output::cursor::{Shown, question};
use crate::output::text::plain_line;
use crate::output::time::count;

/// Bytes of a list or a tree.
const PAGE: usize = 6_000;
/// Bytes of the entry that was asked for, of all beside it, and of each of these, as they are
/// quoted. With the lines above and below each, that is less than an answer has room for.
const ENTRY: usize = 4_000;
const AROUND: usize = 3_600;
const BESIDE: usize = 500;
/// Bytes of an address, at most.
const ADDRESS: usize = 500;
/// Entries before and after it, at most.
const CONTEXT: usize = 10;
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
    let ((entries, focus, lost), streamed) = answer(|| {
        let (mut entries, mut focus, mut lost) = (Vec::new(), None, None);
        let streamed = call.index.show_each(&session, &scope, &mut |part| {
            match part {
                ShownPart::Head(head) => {
                    focus.clone_from(&head.focus);
                    lost.clone_from(&head.lost);
                }
                ShownPart::Entry(entry) => entries.push(entry),
            }
            go_on(&call.cancel)
        })?;
        Ok(((entries, focus, lost), streamed))
    })?;
    let mut page = Page::framed_without_cursor();
    page.line(&heading(call, &session, lost.as_deref()));
    let origins = Origins::of(call);
    for entry in &entries {
        let is_it = focus.as_ref() == Some(&entry.id);
        let (from, most) = if is_it {
            (asked.from, ENTRY)
        } else {
            (0, BESIDE.min(AROUND / entries.len()))
        };
        let home = origins.home(&session, entry.inherited_from.as_deref(), &entry.id)?;
        shown(&mut page, &home, entry, from, most);
    }
    plain::unread(&mut page, streamed.complete);
    Ok(page.end())
}

/// One entry, from a byte of its text on.
fn shown(page: &mut Page, home: &str, entry: &ShownEntry, from: usize, most: usize) {
    let who = entry.role.as_deref().unwrap_or(&entry.kind);
    let failed = if entry.is_error { " · failed" } else { "" };
    let image = if entry.has_image { " · image" } else { "" };
    page.line(&format!(
        "\n{} · {} · {}{failed}{image}",
        plain::address(home, &entry.id),
        plain::name(who),
        plain::minute(entry.time.as_deref()),
    ));
    let pieces = entry.text.iter().flat_map(|(_, pieces)| pieces);
    let text: Vec<&str> = pieces.map(String::as_str).collect();
    let text = text.join("\n");
    let start = plain::boundary(&text, from);
    let end = plain::end_of_quote(&text, start, most);
    page.quote(&text[start..end]);
    if end < text.len() {
        let left = text.len() - end;
        page.line(&format!(
            "[{left} more bytes: show_entry of this address with from {end} reads on]"
        ));
    }
}

/// The session and the entry that an address names. A colon may belong to an id.
fn addressed(call: &Call, address: &str) -> Result<(SessionRow, String), Failure> {
    let colons = address.rmatch_indices(':');
    for (at, _) in colons.filter(|_| address.len() <= ADDRESS) {
        go_on(&call.cancel)?;
        if let Some(session) = call.find(&address[..at])? {
            let entry = call
                .index
                .ask(|snapshot| snapshot.entry_named(&session, &address[at + 1..]))?;
            return Ok((session, entry));
        }
    }
    Err(Failure::not_found(
        "There is no such entry here. An entry is named by SESSION:ENTRY, as search_sessions and \
         session_tree print it.",
    ))
}

/// What list_sessions says.
pub fn list(call: &Call, asked: &ListSessions) -> Result<String, Failure> {
    let moment = |name: &str, when: &Option<String>| {
        listing::moment_called(name, name, when.as_deref(), &call.screen)
    };
    let (since, until) = (
        moment("since", &asked.since)?,
        moment("until", &asked.until)?,
    );
    let scope = call.list_scope(ListScope {
        agent: listing::known_agent(asked.agent.as_deref(), call.index.config())?,
        since_ms: since.since_ms,
        until_ms: until.until_ms,
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
        if call.asking.contains(&row.id) {
            left_out += 1;
            return Ok(());
        }
        let line = plain::heading(&row, call.is_live(&row));
        // One that is being written may be the one that asks.
        match call.is_live(&row) {
            true => live.push((row.number(), line)),
            false => pages.offer(row.number(), &line),
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
    let ((pages, lost), streamed) = answer(|| {
        let pages = RefCell::new(Pages::of(question, &asked.cursor)?);
        let mut lost = None;
        let scope = TreeScope {
            // What tools gave back is read by show_entry alone.
            filter: TreeFilter::NoTools,
            mask: Some(mask()),
            without: Some(&|place| !pages.borrow().wants(u64::from(place))),
        };
        let streamed =
            call.index
                .tree_each(&session, scope, &mut |part| -> Result<(), Failure> {
                    match part {
                        TreePart::Head(head) => lost.clone_from(&head.lost),
                        TreePart::Row(row) => {
                            let home =
                                origins.home(&session, row.inherited_from.as_deref(), &row.id)?;
                            let line = line(&home, &row);
                            pages.borrow_mut().offer(u64::from(row.ordinal), &line);
                        }
                        TreePart::Parents(_) => {}
                    }
                    Ok(go_on(&call.cancel)?)
                })?;
        Ok(((pages.into_inner(), lost), streamed))
    })?;
    let head = format!(
        "{}\n* is on the active branch; an address is SESSION:ENTRY.",
        heading(call, &session, lost.as_deref())
    );
    let otherwise = "show_entry of the last address, with context, reads on from there";
    Ok(pages.end(&head, streamed.complete, otherwise))
}

/// What stands above what is quoted of a session.
fn heading(call: &Call, session: &SessionRow, lost: Option<&str>) -> String {
    let heading = plain::heading(session, call.is_live(session));
    match lost {
        Some(lost) => format!("{heading}\nIts beginning is missing: {}.", plain_line(lost)),
        None => heading,
    }
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

fn line(home: &str, row: &TreeRow) -> String {
    let indent = " ".repeat((row.depth as usize).min(20));
    let active = if row.on_active_branch { "*" } else { "-" };
    let who = row.role.as_deref().unwrap_or(&row.kind);
    let label = row.label.as_deref();
    let label = label.map(|label| format!("\n{indent}> [{}]", plain::short(label, LINE)));
    let said = match row.role.as_deref() {
        Some("user" | "assistant") if !row.text.is_empty() => {
            format!("\n{indent}> {}", plain::short(&row.text, LINE))
        }
        _ => String::new(),
    };
    format!(
        "{indent}{active} {} · {} · {}{}{said}",
        plain::address(home, &row.id),
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
