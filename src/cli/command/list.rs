//! Which sessions are there?

use std::path::{Path, PathBuf};

use clap::Args;
use sessionary::index::ListScope;
use sessionary::model::{Listing, SessionRow};
use sessionary::{Config, Index};

use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::style::Tone;
use crate::output::table::{Column, Table};
use crate::output::text::plain_line;
use crate::output::time::count;
use crate::{places, worktrees};

/// List the sessions of this directory, or all of them
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary list                      sessions that were started in this directory\n  \
    sessionary list --all --limit 20     the newest twenty of all\n  \
    sessionary list --agent clido --json\n\n\
    First come the sessions that the agents themselves would list, in their order; then those they would\n\
    not list, marked with the reason.")]
pub struct List {
    /// Sessions of every directory
    #[arg(long)]
    all: bool,
    /// Only sessions of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// At most N sessions
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// With the text of all messages (JSON only)
    #[arg(long, requires = "json")]
    with_text: bool,
}

const NOTHING: &str = "No sessions. `sessionary status` shows where they were looked for.";

pub fn run(args: &List, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    if let Some(agent) = &args.agent {
        known_agent(agent, config)?;
    }
    let cwd = if args.all { None } else { Some(super::here()?) };
    let mut index = super::open(config, screen)?;
    let scope = ListScope {
        cwd: cwd.clone(),
        agent: args.agent.clone(),
        with_text: args.with_text,
        limit: args.limit,
    };
    if screen.json && args.all {
        let list = screen.json_in_pieces(|out| {
            let list = index.write_list(&scope, out)?;
            out.write_all(b"\n").map_err(super::cannot_print)?;
            Ok(list)
        })?;
        super::say_pending(screen, &index, list.complete, Some(list.pending_files));
        if list.sessions == 0 {
            screen.say(NOTHING);
        }
        super::afterwards(&mut index);
        return Ok(Outcome::found(list.sessions > 0));
    }
    let listing = index.list(&scope)?;
    if screen.json {
        screen.json(&listing)?;
    } else if !listing.sessions.is_empty() {
        screen.print(&table(&listing.sessions, args.all, screen))?;
    }
    super::say_pending(
        screen,
        &index,
        listing.complete,
        Some(listing.pending_files),
    );
    say_scope(args, &listing, cwd.as_deref(), &index, screen)?;
    super::afterwards(&mut index);
    Ok(Outcome::found(!listing.sessions.is_empty()))
}

fn known_agent(agent: &str, config: &Config) -> Result<(), Failure> {
    let mut known = places::known_names();
    known.extend(
        config
            .roots
            .iter()
            .map(|root| root.agent.as_str())
            .filter(|name| !places::known_names().contains(name)),
    );
    if known.contains(&agent) {
        return Ok(());
    }
    Err(Failure::usage(format!("no agent is called `{agent}`"))
        .hint(format!("known are {}", known.join(", "))))
}

/// One line on what the other scope would add.
fn say_scope(
    args: &List,
    listing: &Listing,
    cwd: Option<&Path>,
    index: &Index,
    screen: &Screen,
) -> Result<(), Failure> {
    let Some(cwd) = cwd else {
        if listing.sessions.is_empty() {
            screen.say(NOTHING);
        }
        return Ok(());
    };
    let here = screen.path(cwd);
    if listing.sessions.is_empty() {
        let mut line = format!("No sessions in {here}.");
        if listing.elsewhere > 0 {
            let scope = ListScope {
                cwd: None,
                agent: args.agent.clone(),
                with_text: false,
                limit: None,
            };
            if let Some((place, number)) = nearest(cwd, &index.list(&scope)?.sessions) {
                line.push_str(&format!(
                    " {} in {}.",
                    count(number, "session"),
                    screen.path(&place)
                ));
            }
            line.push_str(&format!(
                " --all lists {}.",
                count(listing.elsewhere, "session")
            ));
        }
        screen.say(&line);
    } else if listing.elsewhere > 0 {
        screen.say(&format!("{} more elsewhere: --all", listing.elsewhere));
    }
    Ok(())
}

/// The nearest directory above `cwd` that has sessions, else the one below it with the newest, else the newest in
/// another working tree of its repository.
fn nearest(cwd: &Path, all: &[SessionRow]) -> Option<(PathBuf, u64)> {
    let canonical = cwd.canonicalize().unwrap_or_else(|_| cwd.to_path_buf());
    let related = |row: &&SessionRow| !row.cwd.is_empty() && canonical.starts_with(&row.cwd);
    let above = all
        .iter()
        .filter(related)
        .map(|row| Path::new(&row.cwd))
        .max_by_key(|path| path.components().count());
    let below = || {
        all.iter()
            .map(|row| Path::new(&row.cwd))
            .find(|path| path.starts_with(&canonical))
    };
    let beside = || {
        let trees = worktrees::siblings(&canonical);
        all.iter()
            .map(|row| Path::new(&row.cwd))
            .find(|path| trees.iter().any(|tree| path.starts_with(tree)))
    };
    let place = above.or_else(below).or_else(beside)?;
    let number = all
        .iter()
        .filter(|row| Path::new(&row.cwd) == place)
        .count();
    Some((place.to_path_buf(), number as u64))
}

/// The rows as a table; `projects` when they are of several directories.
pub fn table(rows: &[SessionRow], projects: bool, screen: &Screen) -> String {
    let ids = super::short_ids(&rows.iter().collect::<Vec<_>>());
    let mut columns = vec![
        Column::text("AGE"),
        Column::text("SESSION"),
        Column::text("AGENT"),
        Column::number("MSGS"),
    ];
    if projects {
        columns.push(Column::path("PROJECT"));
    }
    columns.push(Column::long("TITLE"));
    let mut table = Table::new(&columns);
    for (row, id) in rows.iter().zip(ids) {
        let agent = match &row.label {
            Some(label) => format!("{}={label}", row.agent),
            None => row.agent.clone(),
        };
        let mut cells = vec![
            (Tone::Quiet, screen.age(row.modified.as_deref())),
            (Tone::Name, id),
            (Tone::Plain, plain_line(&agent)),
            (Tone::Quiet, row.message_count.to_string()),
        ];
        if projects {
            cells.push((Tone::Plain, screen.path(Path::new(&row.cwd))));
        }
        cells.push(marked_title(row));
        table.row(cells);
    }
    table.render(screen.style, screen.width)
}

/// The title, and why the agent would not list the session.
fn marked_title(row: &SessionRow) -> (Tone, String) {
    let (tone, title) = super::title(row);
    // In a pipe nothing else cuts a first message of many pages.
    let title: String = if title.chars().count() > 200 {
        title.chars().take(199).chain(['…']).collect()
    } else {
        title
    };
    if row.listed_by_agent {
        return (tone, title);
    }
    let reason = plain_line(row.reason.as_deref().unwrap_or("no reason known"));
    (
        Tone::Warn,
        format!(
            "[not listed by {}: {reason}] {title}",
            plain_line(&row.agent)
        ),
    )
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_directory() {
        let row = |cwd: &str| SessionRow {
            cwd: cwd.to_owned(),
            ..SessionRow::default()
        };
        let rows = [
            row("/nowhere/a/b/c/d"),
            row("/nowhere/a"),
            row("/nowhere"),
            row("/nowhere/a"),
            row(""),
        ];
        let said = |cwd: &str| nearest(Path::new(cwd), &rows);
        assert_eq!(said("/nowhere/a/b"), Some(("/nowhere/a".into(), 2)));
        assert_eq!(said("/nowhere/x"), Some(("/nowhere".into(), 1)));
        assert_eq!(
            nearest(Path::new("/nowhere/a/b"), &rows[..1]),
            Some(("/nowhere/a/b/c/d".into(), 1))
        );
        assert_eq!(nearest(Path::new("/elsewhere"), &rows), None);
    }
}
