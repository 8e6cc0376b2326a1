//! Which sessions are there?

mod filters;
mod folders;
mod own;
mod rows;
mod said;

use std::io::Write;
use std::ops::ControlFlow;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Deserialize;
use sessionary::index::{ListEvent, ListPage, ListScope, Snapshot, WrittenList};
use sessionary::model::{SessionRow, ShortIds, Sort};
use sessionary::{Config, Index};

pub use self::filters::{known_agent, moment_called, moments, project};
use self::own::OwnList;
use self::rows::ColumnWidths;
pub use self::rows::{OptionalColumns, table};
use self::said::say_scope;
use crate::background::afterwards;
use crate::completing::values;
use crate::deletions;
use crate::failure::{Failure, Outcome};
use crate::here::Here;
use crate::output::bounded::{Page, PageArgs};
use crate::output::cursor::question;
use crate::output::fields::{FieldArgs, Fields, names_of};
use crate::output::provisional::LiveLines;
use crate::output::spool::Spool;
use crate::output::text::terminal_safe_json;
use crate::output::{SafeJson, Screen};

/// What lines of values tell of each session where no fields are named.
const COLUMNS: [&str; 5] = ["id", "agent", "modified", "cwd", "title"];

/// List the sessions of this repository, or all sessions
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary list                              sessions of this repository, in all its work trees\n  \
    sessionary list --dir                        only those that were started in this directory\n  \
    sessionary list --all --limit 20 --page 2    skip the newest twenty\n  \
    sessionary list --all --since 2w --errors    what went wrong in the last two weeks\n  \
    sessionary list --all --sort cost --limit 5  the five most expensive\n  \
    sessionary list --project app --named        named sessions in directories like `app`\n  \
    sessionary list --agent clido --json\n  \
    sessionary list --all --jsonl | head -1      one session per line\n\n\
    Outside of a repository, and where it is the home folder, this directory counts with all below it;\n\
    the home folder alone.\n\
    First come the sessions that the agents themselves would list, in their order; then those they would\n\
    not list, marked with the reason. --sort puts all of them in a single order.\n\
    WHEN is 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026, 2026-10, 2026-10-05 or\n\
    2026-10-05T14:30, in your time zone.")]
pub struct List {
    /// List the sessions of every directory
    #[arg(short, long)]
    all: bool,
    /// Only sessions of this agent
    #[arg(short = 'A', long, value_name = "NAME", add = values::agent())]
    agent: Option<String>,
    /// Only sessions of directories whose name contains TEXT; a path means itself and everything
    /// below it
    #[arg(short, long, value_name = "TEXT|DIR", add = values::project())]
    project: Option<String>,
    /// Only sessions that used a model whose name contains TEXT
    #[arg(long, value_name = "TEXT", add = values::model())]
    model: Option<String>,
    /// Only sessions with a name
    #[arg(long)]
    named: bool,
    /// Leave out archived sessions: those whose files are gone
    #[arg(long)]
    only_live: bool,
    /// Only sessions in which something failed
    #[arg(short, long)]
    errors: bool,
    /// Only sessions that cost at least this many US dollars
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    cost: Option<f64>,
    /// Only sessions last modified at WHEN or later
    #[arg(short, long, value_name = "WHEN", add = values::when())]
    since: Option<String>,
    /// Only sessions last modified at WHEN or earlier; with --since, those in which something
    /// happened between the two
    #[arg(short, long, value_name = "WHEN", add = values::when())]
    until: Option<String>,
    /// List sessions of subagents as rows, not as a count on their parent
    #[arg(long)]
    subagents: bool,
    /// Sort by KEY, largest or newest first
    #[arg(short = 'S', long, value_name = "KEY")]
    sort: Option<SortKey>,
    /// Reverse the order
    #[arg(short, long)]
    reverse: bool,
    /// At most N sessions; 0 for all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Show page P, with N sessions per page
    #[arg(long, value_name = "P", requires = "limit", conflicts_with_all = ["max_bytes", "cursor"], default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    page: u32,
    /// Print one line of JSON per session
    #[arg(long, conflicts_with_all = ["json", "tsv", "max_bytes", "cursor"])]
    jsonl: bool,
    /// While files are still being read, print what is known so far: one whole list per line, the
    /// last of which is the answer
    #[arg(long, conflicts_with_all = ["max_bytes", "cursor", "fields"])]
    provisional: bool,
    /// Include the text of all messages in the JSON
    #[arg(long)]
    with_text: bool,
    #[command(flatten)]
    bounds: PageArgs,
    #[command(flatten)]
    fields: FieldArgs,
    #[command(flatten)]
    own: OwnList,
}

/// What a list can be sorted by, largest or newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortKey {
    Modified,
    Created,
    Messages,
    Tokens,
    Cost,
    Size,
    Errors,
}

impl From<SortKey> for Sort {
    fn from(key: SortKey) -> Self {
        match key {
            SortKey::Modified => Self::Modified,
            SortKey::Created => Self::Created,
            SortKey::Messages => Self::Messages,
            SortKey::Tokens => Self::Tokens,
            SortKey::Cost => Self::Cost,
            SortKey::Size => Self::Size,
            SortKey::Errors => Self::Errors,
        }
    }
}

pub fn run(args: &List, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    args.bounds.check(screen.json)?;
    if args.provisional && !screen.json {
        return Err(Failure::usage("--provisional prints JSON").hint("add --json"));
    }
    if args.own.is_asked() {
        return own::run(&args.own, args.with_text, config, screen);
    }
    let here = match args.all || args.project.is_some() {
        true => None,
        false => Some(super::here(screen)?),
    };
    let scope = scope(args, here.as_ref(), config, screen)?;
    if args.with_text && !(screen.json || args.jsonl || args.fields.are_asked()) {
        return Err(Failure::usage("--with-text needs --json, --jsonl or --tsv"));
    }
    if screen.dir && here.is_none() {
        let option = if args.all { "--all" } else { "--project" };
        let both = format!("{option} looks at every directory, --dir at this one alone");
        return Err(Failure::usage(both).hint("leave out one of them"));
    }
    let index = open(args, &scope, config, screen)?;
    let mut index = super::answerable(index)?;
    // All that is printed is of one state, and nothing of it is held while it is printed.
    let json = screen.json || args.jsonl;
    let fields = args.fields.of(names_of::<SessionRow>, &COLUMNS, json)?;
    let is_part = args.bounds.is_asked() || args.fields.are_asked();
    let (list, printed) = {
        let snapshot = index.snapshot()?;
        let page = snapshot.page(&scope)?;
        let mut out = Spool::default();
        let list = if args.jsonl && is_part {
            lines(&snapshot, &page, &fields, &mut out)?
        } else if is_part {
            selected(args, &fields, &snapshot, &page, &scope, &mut out)?
        } else if screen.json {
            let list = snapshot.write_page(&page, &mut SafeJson(&mut out))?;
            out.write_all(b"\n")?;
            list
        } else if args.jsonl {
            snapshot.write_page_lines(&page, &mut SafeJson(&mut out))?
        } else {
            rows(&snapshot, &page, &columns(args, &scope), screen, &mut out)?
        };
        (list, out)
    };
    match is_part || args.jsonl {
        true => printed.print()?,
        false => super::page(printed, &mut index, screen)?,
    }
    super::say_pending(screen, &index, list.complete, Some(list.pending_files));
    super::say_links(screen, &index);
    screen.say_redacted();
    if list.sessions == 0 || !args.bounds.is_asked() {
        say_scope(&scope, here.as_ref(), &list, &index, screen)?;
    }
    deletions::say_once(&index, config, screen);
    afterwards(&mut index, screen);
    super::leave(index);
    Ok(Outcome::of(list.sessions > 0))
}

/// A part of it: no more bytes, or no other fields, than are asked for.
fn selected(
    args: &List,
    fields: &Fields,
    snapshot: &Snapshot<'_>,
    page: &ListPage,
    scope: &ListScope,
    out: &mut Spool,
) -> Result<WrittenList, Failure> {
    // The working trees of a repository may change from page to page.
    let place = match scope.at.repositories.as_slice() {
        [] => (&scope.at.cwd, &scope.at.within[..]),
        repositories => (&None, repositories),
    };
    let texts = (&args.agent, &args.model, &args.since, &args.until);
    let folders = (place, &scope.project, texts);
    let flags = (
        (args.named, args.only_live),
        args.errors,
        args.subagents,
        args.reverse,
        args.with_text,
    );
    let order = (args.sort.map(|key| key as u8), args.cost.map(f64::to_bits));
    let question = question(("list", folders, flags, order));
    let most = match args.bounds.is_asked() {
        true => args.limit.filter(|limit| *limit > 0),
        false => None,
    };
    let bounded = Page::new(&args.bounds, fields, question)?;
    let mut bounded = bounded.of_items(most.unwrap_or(usize::MAX));
    let mut failed = Ok(());
    let list = snapshot.each_row(page, |row| {
        if failed.is_ok() {
            failed = bounded.offer(row);
        }
        Ok(())
    })?;
    failed?;
    let list = WrittenList {
        sessions: bounded.len(),
        ..list
    };
    let printed = bounded.print(list.head(scope), "sessions", |_| Vec::new())?;
    out.write_all(printed.as_bytes())?;
    Ok(list)
}

/// These fields of each session, a line of JSON.
fn lines(
    snapshot: &Snapshot<'_>,
    page: &ListPage,
    fields: &Fields,
    out: &mut Spool,
) -> Result<WrittenList, Failure> {
    let mut failed = Ok(());
    let list = snapshot.each_row(page, |row| {
        if failed.is_ok() {
            failed = line(&row, fields, out);
        }
        Ok(())
    })?;
    failed?;
    Ok(list)
}

fn line(row: &SessionRow, fields: &Fields, out: &mut Spool) -> Result<(), Failure> {
    let json = fields.of_json(serde_json::to_string(row)?)?;
    Ok(writeln!(out, "{}", terminal_safe_json(&json))?)
}

/// A page for people. A long one is gone through twice, as no line is written before the columns
/// are measured.
fn rows(
    snapshot: &Snapshot<'_>,
    page: &ListPage,
    shown: &[OptionalColumns],
    screen: &Screen,
    out: &mut Spool,
) -> Result<WrittenList, Failure> {
    let mut look = ColumnWidths::new(snapshot.short_ids()?, shown, screen);
    let seen = snapshot.each_row(page, |row| {
        look.see(&row);
        Ok(())
    })?;
    if seen.sessions == 0 {
        return Ok(seen);
    }
    let mut rows = look.rows();
    if let Some(all) = rows.all() {
        out.write_all(all.as_bytes())?;
        return Ok(seen);
    }
    let mut line = rows.header();
    let printed = snapshot.each_row(page, |row| {
        rows.line(&mut line, &row);
        out.write_all(line.as_bytes())
            .map_err(super::cannot_print)?;
        line.clear();
        Ok(())
    })?;
    Ok(printed)
}

/// Opens the index. A terminal is shown the first rows on the way; so is who asked for them.
fn open(
    args: &List,
    scope: &ListScope,
    config: &Config,
    screen: &Screen,
) -> Result<Index, Failure> {
    let go_on = ControlFlow::Continue(());
    if args.provisional {
        let mut printed = Ok(());
        let index = Index::open_listing(config, scope, &mut |listed| {
            if let ListEvent::Page(page) = listed {
                printed = screen.json(&*page);
            }
            match printed {
                Ok(()) => go_on,
                Err(_) => ControlFlow::Break(()),
            }
        });
        printed?;
        return Ok(super::opened(index?, screen));
    }
    let Some(mut provisional) = LiveLines::new().filter(|_| !screen.json && !args.jsonl) else {
        return super::open(config, screen);
    };
    let first = ListScope {
        limit: Some(LiveLines::most_rows().min(scope.limit.unwrap_or(usize::MAX))),
        ..scope.clone()
    };
    let index = Index::open_listing(config, &first, &mut |listed| {
        match listed {
            ListEvent::Page(page) if page.sessions.is_empty() => {}
            ListEvent::Page(page) => {
                // What tells these few apart: more are still being read.
                let ids = page.sessions.iter().map(|row| row.id.as_str().into());
                let ids = ShortIds::of(ids.collect());
                provisional.rows(table(&page.sessions, ids, &columns(args, scope), screen));
            }
            ListEvent::Loaded { loaded, total } => provisional.draw(loaded, total),
            _ => {}
        }
        go_on
    })?;
    drop(provisional);
    Ok(super::opened(index, screen))
}

/// What was typed, as the library takes it.
fn scope(
    args: &List,
    here: Option<&Here>,
    config: &Config,
    screen: &Screen,
) -> Result<ListScope, Failure> {
    let (since_ms, until_ms) = moments(args.since.as_deref(), args.until.as_deref(), screen)?;
    // Where pages go on by a cursor, what earlier ones have shown comes before the limit.
    let limit = args
        .limit
        .filter(|limit| *limit > 0 && !args.bounds.is_asked());
    Ok(ListScope {
        at: here.map(Here::scope).unwrap_or_default(),
        agent: known_agent(args.agent.as_deref(), config)?,
        project: args.project.as_deref().map(project),
        model: args.model.clone(),
        ids: None,
        numbers: None,
        named: args.named,
        only_live: args.only_live,
        only_own: false,
        errors: args.errors,
        cost: args.cost,
        since_ms,
        until_ms,
        fold_subagents: !args.subagents,
        sort: args.sort.map_or(Sort::Agents, Sort::from),
        reverse: args.reverse,
        with_text: args.with_text || args.fields.name("allMessagesText"),
        offset: limit
            .unwrap_or(usize::MAX)
            .saturating_mul(args.page as usize - 1),
        limit,
        mask: screen.mask(),
    })
}

/// What was asked about is shown.
fn columns(args: &List, scope: &ListScope) -> Vec<OptionalColumns> {
    let sorted = |key| args.sort == Some(key);
    [
        (OptionalColumns::Created, sorted(SortKey::Created)),
        (OptionalColumns::Tokens, sorted(SortKey::Tokens)),
        (
            OptionalColumns::Cost,
            sorted(SortKey::Cost) || args.cost.is_some(),
        ),
        (OptionalColumns::Size, sorted(SortKey::Size)),
        (
            OptionalColumns::Errors,
            sorted(SortKey::Errors) || args.errors,
        ),
        (
            OptionalColumns::Project,
            scope.at.cwd.is_none() && scope.at.within.is_empty(),
        ),
        (OptionalColumns::OtherProject, !scope.at.within.is_empty()),
    ]
    .into_iter()
    .filter_map(|(column, asked)| asked.then_some(column))
    .collect()
}
