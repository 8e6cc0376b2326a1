//! Which sessions hold keys and tokens?

use std::collections::{BTreeMap, HashSet};
use std::io::Write;

use clap::Args;
use serde::Serialize;
use sessionary::format::json;
use sessionary::index::{ListScope, ShowScope, ShownPart, StreamOutcome};
use sessionary::model::{Mask, SCHEMA_VERSION, SessionRow, ShownEntry, Sort};
use sessionary::{Config, Index};

use super::scope::ScopeArgs;
use crate::background::afterwards;
use crate::failure::{Failure, Kind, Outcome};
use crate::output::Screen;
use crate::output::spool::Spool;
use crate::output::style::Tone;
use crate::output::text::plain_line;
use crate::output::time::count;
use crate::redact::{self, FoundSecret};

/// Find the sessions that hold keys and tokens
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary secrets                        in all sessions\n  \
    sessionary secrets --project app --since 2w\n  \
    sessionary secrets --json                 for a program: sessions, entries, rules, counts\n\n\
    Every entry is read whole, also of branches that were given up and of system prompts, and what is\n\
    no entry; all but pictures and what is encrypted is looked through by the rules of redaction.\n\
    Named are session, entry, and each rule with how many it found where these are several. A value is\n\
    never printed, unless it is part of an id or a path. A fork that only refers to its parent's\n\
    entries is named for its own: where --project, --agent or a time leaves the parent out, the\n\
    parent's are not looked through. --since and --until go by when a session was last modified, both\n\
    together by what happened in between.\n\
    Exit code 0 says that all was looked through and nothing found, 1 that there are some, 2 that\n\
    none were found, but no session fits or not all could be read.\n\
    A key that was in a session is best taken as known to others: withdraw it where it was issued;\n\
    `delete` removes the session.\n\
    WHEN is 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026, 2026-10, 2026-10-05 or\n\
    2026-10-05T14:30.")]
pub struct Secrets {
    #[command(flatten)]
    scope: ScopeArgs,
}

/// What `secrets --json` prints.
#[derive(Default, Serialize)]
struct Answer {
    schema_version: u32,
    /// Those with secrets, the newest first.
    sessions: Vec<Holder>,
    /// How many sessions and entries were looked through.
    searched: Searched,
    /// Files that changed or went while they were read: what they hold now was not looked through.
    unread: Vec<std::path::PathBuf>,
    complete: bool,
}

#[derive(Default, Serialize)]
struct Searched {
    sessions: u64,
    entries: u64,
}

/// A session that holds secrets.
#[derive(Serialize)]
struct Holder {
    session: SessionRow,
    entries: Vec<Held>,
}

/// An entry that holds secrets.
#[derive(Serialize)]
struct Held {
    /// Its id, else `L<line>`; of bytes that are no entry `@<start>`.
    id: String,
    role: Option<String>,
    kind: String,
    time: Option<String>,
    /// How many different ones are found by each rule.
    secrets: BTreeMap<&'static str, u64>,
    #[serde(skip)]
    known: HashSet<FoundSecret>,
}

pub fn run(args: &Secrets, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let asked = args.scope.read(config, screen)?;
    let mut index = super::answerable(super::open(config, screen)?)?;
    let scope = ListScope {
        agent: asked.agent,
        project: asked.project,
        since_ms: asked.since_ms,
        until_ms: asked.until_ms,
        sort: Sort::Modified,
        ..ListScope::default()
    };
    let answer = look_through(&index, &scope)?;
    if screen.json {
        screen.json(&answer)?;
    } else {
        let mut out = Spool::default();
        print(&answer, &index, screen, &mut out)?;
        super::page(out, &mut index, screen)?;
        say(&answer, screen);
    }
    super::say_pending(screen, &index, answer.complete, None);
    super::say_changed(screen, &answer.unread);
    super::say_links(screen, &index);
    afterwards(&mut index, screen);
    answer.outcome()
}

impl Answer {
    /// Whoever asks before something is published takes 0 for "there are none".
    fn outcome(&self) -> Result<Outcome, Failure> {
        let is_all = self.complete && self.unread.is_empty();
        match (self.sessions.is_empty(), self.searched.sessions) {
            (false, _) => Ok(Outcome::No),
            (true, 0) => Err(Failure::refused(
                "nothing was looked through: there is no session like that",
            )
            .hint("`sessionary list --all` shows every session")),
            (true, _) if is_all => Ok(Outcome::Yes),
            (true, _) => Err(Failure::refused(
                "not everything was looked through, and nothing found in the rest",
            )),
        }
    }
}

fn look_through(index: &Index, scope: &ListScope) -> Result<Answer, Failure> {
    let listing = index.list(scope)?;
    let mut answer = Answer {
        schema_version: SCHEMA_VERSION,
        complete: listing.complete,
        ..Answer::default()
    };
    for session in listing.sessions {
        let (looked, streamed) = match super::answer(|| of_session(index, &session)) {
            // It went meanwhile.
            Err(failure) if failure.kind() == Kind::NotFound => {
                answer.unread.push(session.path);
                continue;
            }
            looked => looked?,
        };
        answer.searched.sessions += 1;
        answer.searched.entries += looked.entries;
        answer.complete &= streamed.complete;
        answer.unread.extend(streamed.changed_files);
        if !looked.held.is_empty() {
            answer.sessions.push(Holder {
                session: masked(session)?,
                entries: looked.held,
            });
        }
    }
    Ok(answer)
}

/// A session's row without keys and tokens, whatever is configured. Its id and its path stay: by
/// these it is found.
fn masked(session: SessionRow) -> Result<SessionRow, Failure> {
    let row = serde_json::to_string(&session)?;
    Ok(match json::masked(&row, &Screen::redacting()) {
        None => session,
        Some(row) => {
            let mut masked: SessionRow = serde_json::from_str(&row)?;
            (masked.id, masked.path) = (session.id, session.path);
            masked
        }
    })
}

/// What was looked through of a session.
#[derive(Default)]
struct LookedThrough {
    entries: u64,
    /// The entries that hold secrets.
    held: Vec<Held>,
}

/// Looks through a session. What a fork inherits is its parent's.
fn of_session(
    index: &Index,
    session: &SessionRow,
) -> Result<(LookedThrough, StreamOutcome), Failure> {
    let scope = ShowScope {
        all: true,
        everything: true,
        mask: Some(Mask::new(redact::noting)),
        ..ShowScope::default()
    };
    let mut looked = LookedThrough::default();
    let mut last = String::new();
    let streamed = index.show_each(session, &scope, &mut |part| -> Result<(), Failure> {
        let found = redact::found();
        let ShownPart::Entry(entry) = part else {
            return Ok(());
        };
        if entry.inherited_from.is_some() {
            return Ok(());
        }
        // What another model took has no bytes to look through.
        if entry.start == entry.end {
            return Ok(());
        }
        // Else it is the next part of bytes that are no entry.
        let is_new = entry.problem.is_none() || entry.id != last;
        looked.entries += u64::from(is_new);
        last.clone_from(&entry.id);
        if !found.is_empty() {
            let is_held = looked.held.last().is_some_and(|held| held.id == entry.id);
            if is_new || !is_held {
                looked.held.push(Held::of(entry));
            }
            let held = looked.held.last_mut();
            held.into_iter().for_each(|held| held.add(&found));
        }
        Ok(())
    })?;
    Ok((looked, streamed))
}

impl Held {
    fn of(entry: ShownEntry) -> Self {
        let mask = Screen::redacting();
        let masked = |text: String| mask.of(&text).unwrap_or(text);
        Held {
            id: entry.id,
            role: entry.role.map(masked),
            kind: masked(entry.kind),
            time: entry.time,
            secrets: BTreeMap::new(),
            known: HashSet::new(),
        }
    }

    fn add(&mut self, found: &[FoundSecret]) {
        for secret in found {
            if self.known.insert(*secret) {
                *self.secrets.entry(secret.rule).or_default() += 1;
            }
        }
    }
}

fn print(answer: &Answer, index: &Index, screen: &Screen, out: &mut Spool) -> Result<(), Failure> {
    let paint = |tone, text: &str| screen.style.paint(tone, text);
    let ids = index.ask(|snapshot| snapshot.short_ids())?;
    for Holder { session, entries } in &answer.sessions {
        let id = plain_line(ids.short(&session.id));
        let (_, title) = super::title(session);
        writeln!(
            out,
            "{}  {}  {}  {title}",
            paint(Tone::Name, &id),
            session.agent,
            screen.path(session.cwd.as_ref()),
        )?;
        let short = index.ask(|snapshot| snapshot.short_entry_ids(session))?;
        for held in entries {
            let entry = plain_line(short.short(&held.id));
            let role = plain_line(held.role.as_deref().unwrap_or(&held.kind));
            let rules: Vec<String> = held.secrets.iter().map(times).collect();
            let address = paint(Tone::Quiet, &format!("{id}:{entry}"));
            writeln!(out, "  {address}  {role}  {}", rules.join(", "))?;
        }
    }
    Ok(())
}

/// A rule, and how many it found where these are more than one.
fn times((rule, number): (&&str, &u64)) -> String {
    match number {
        1 => (*rule).to_owned(),
        some => format!("{rule} ×{some}"),
    }
}

fn say(answer: &Answer, screen: &Screen) {
    let searched = &answer.searched;
    if searched.sessions == 0 {
        return;
    }
    let holders = answer.sessions.len() as u64;
    let entries = answer.sessions.iter().map(|of| of.entries.len() as u64);
    let entries: u64 = entries.sum();
    let all = format!(
        "{} with {} looked through",
        count(searched.sessions, "session"),
        count(searched.entries, "entry")
    );
    screen.say(&match holders {
        0 => format!("{all}: no key or token that the rules know."),
        _ => format!(
            "{all}: {} in {} {} keys or tokens, which are not shown.",
            count(entries, "entry"),
            count(holders, "session"),
            if entries == 1 { "holds" } else { "hold" },
        ),
    });
}
