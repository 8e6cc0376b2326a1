//! Which sessions hold keys and tokens?

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use serde::Serialize;
use sessionary::index::{ListScope, ShowScope, ShownPart};
use sessionary::model::{SCHEMA_VERSION, SessionRow, ShownEntry, Sort};
use sessionary::{Config, Index};

use super::list::{known_agent, moments, project};
use crate::background::afterwards;
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::spool::Spool;
use crate::output::style::Tone;
use crate::output::text::plain_line;
use crate::output::time::count;
use crate::redact;

/// Find the sessions that hold keys and tokens
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary secrets                        in all sessions\n  \
    sessionary secrets --project app --since 2w\n  \
    sessionary secrets --json                 for a program: sessions, entries, rules, counts\n\n\
    Every entry is read, also of branches that were given up, and looked through by the rules of\n\
    redaction. Named are session, entry and rule; the value is never printed. Exit code 1 says that\n\
    there are some, 0 that none were found. A key that was in a session is best taken as known to\n\
    others: withdraw it where it was issued; `delete` removes the session.\n\
    WHEN is 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026, 2026-10, 2026-10-05 or\n\
    2026-10-05T14:30.")]
pub struct Secrets {
    /// Only sessions of this agent
    #[arg(short = 'A', long, value_name = "NAME", add = values::agent())]
    agent: Option<String>,
    /// Only sessions of directories whose name contains TEXT; a path means itself and everything
    /// below it
    #[arg(short, long, value_name = "TEXT|DIR", add = values::project())]
    project: Option<String>,
    /// Only sessions last modified at WHEN or later
    #[arg(short, long, value_name = "WHEN", add = values::when())]
    since: Option<String>,
    /// Only sessions last modified at WHEN or earlier
    #[arg(short, long, value_name = "WHEN", add = values::when())]
    until: Option<String>,
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
    /// How many are found by each rule.
    secrets: BTreeMap<&'static str, u64>,
}

pub fn run(args: &Secrets, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    if let Some(agent) = &args.agent {
        known_agent(agent, config)?;
    }
    let (since_ms, until_ms) = moments(args.since.as_deref(), args.until.as_deref(), screen)?;
    let mut index = super::answerable(super::open(config, screen)?)?;
    let scope = ListScope {
        agent: args.agent.clone(),
        project: args.project.as_deref().map(project),
        since_ms,
        until_ms,
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
    afterwards(&mut index, screen);
    Ok(match answer.sessions.is_empty() {
        true => Outcome::Found,
        false => Outcome::Nothing,
    })
}

fn look_through(index: &Index, scope: &ListScope) -> Result<Answer, Failure> {
    let listing = index.list(scope)?;
    let mut answer = Answer {
        schema_version: SCHEMA_VERSION,
        complete: listing.complete,
        ..Answer::default()
    };
    for mut session in listing.sessions {
        let entries = of_session(index, &session, &mut answer)?;
        if !entries.is_empty() {
            // Whatever is configured.
            session.mask(Screen::MASK);
            answer.sessions.push(Holder { session, entries });
        }
    }
    Ok(answer)
}

/// The entries of a session that hold secrets. What a fork inherits is its parent's.
fn of_session(
    index: &Index,
    session: &SessionRow,
    answer: &mut Answer,
) -> Result<Vec<Held>, Failure> {
    let scope = ShowScope {
        all: true,
        ..ShowScope::default()
    };
    let mut held = Vec::new();
    let (mut entries, searched) = (0, &mut answer.searched);
    let streamed = index.show_each(session, &scope, &mut |part| -> Result<(), Failure> {
        if let ShownPart::Entry(entry) = part
            && entry.inherited_from.is_none()
        {
            entries += 1;
            held.extend(of_entry(entry));
        }
        Ok(())
    })?;
    searched.sessions += 1;
    searched.entries += entries;
    answer.complete &= streamed.complete;
    answer.unread.extend(streamed.changed_files);
    Ok(held)
}

fn of_entry(entry: ShownEntry) -> Option<Held> {
    let mut secrets = BTreeMap::new();
    let pieces = entry.text.iter().flat_map(|(_, pieces)| pieces);
    for rule in pieces.flat_map(|piece| redact::rules_of(piece)) {
        *secrets.entry(rule).or_default() += 1;
    }
    (!secrets.is_empty()).then_some(Held {
        id: entry.id,
        role: entry.role,
        kind: entry.kind,
        time: entry.time,
        secrets,
    })
}

fn print(answer: &Answer, index: &Index, screen: &Screen, out: &mut Spool) -> Result<(), Failure> {
    let paint = |tone, text: &str| screen.style.paint(tone, text);
    let ids = index.short_ids()?;
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
        let short = index.short_entry_ids(session)?;
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

/// A rule, and how often it found something where that is more than once.
fn times((rule, number): (&&str, &u64)) -> String {
    match number {
        1 => (*rule).to_owned(),
        some => format!("{rule} ×{some}"),
    }
}

fn say(answer: &Answer, screen: &Screen) {
    let searched = &answer.searched;
    if searched.sessions == 0 {
        screen.say("No session like that: nothing was looked through.");
        return;
    }
    let holders = answer.sessions.len() as u64;
    let entries = answer.sessions.iter().flat_map(|of| &of.entries);
    let all = format!(
        "{} with {} looked through",
        count(searched.sessions, "session"),
        count(searched.entries, "entry")
    );
    screen.say(&match holders {
        0 => format!("{all}: no key or token that the rules know."),
        _ => format!(
            "{all}: {} in {} hold keys or tokens, which are not shown.",
            count(entries.count() as u64, "entry"),
            count(holders, "session")
        ),
    });
}
