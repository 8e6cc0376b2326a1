//! What is said beside a list: further pages, other directories, why there is nothing.

use sessionary::Index;
use sessionary::index::{ListScope, WhereScope, WrittenList};

use super::folders::Folders;
use crate::command::status::say_nothing;
use crate::failure::Failure;
use crate::here::Here;
use crate::output::Screen;
use crate::output::time::count;
use crate::places;

/// What else there is: further pages, other directories.
pub fn say_scope(
    scope: &ListScope,
    here: Option<&Here>,
    list: &WrittenList,
    index: &Index,
    screen: &Screen,
) -> Result<(), Failure> {
    if list.total > list.sessions as u64 {
        screen.say(&part(scope, list));
        return Ok(());
    }
    let Some(here) = here else {
        if list.sessions == 0 {
            say_how_many(scope, index, screen)?;
        }
        return Ok(());
    };
    if list.sessions == 0 {
        let mut line = nothing_here(scope, here, index, screen)?;
        if list.elsewhere > 0 {
            let everywhere = ListScope {
                at: WhereScope::default(),
                with_text: false,
                limit: None,
                offset: 0,
                ..scope.clone()
            };
            let mut folders = Folders::default();
            let snapshot = index.snapshot()?;
            snapshot.each_row(&snapshot.page(&everywhere)?, |row| {
                folders.add(row.cwd);
                Ok(())
            })?;
            drop(snapshot);
            // Without --dir these would count. The home folder has all below it, so none is near.
            let near = Here::around(here.directory.clone(), &places::surroundings()).within;
            if let Some((place, number)) = folders.nearest(&here.directory, &near) {
                line.push_str(&format!(
                    " {} in {}.",
                    count(number, "session"),
                    screen.path(place)
                ));
            }
            line.push_str(&format!(
                " --all lists {}.",
                count(list.elsewhere, "session")
            ));
        } else if !index.ask(|snapshot| snapshot.has_sessions())? {
            return say_nothing(index, screen);
        }
        screen.say(&line);
    } else if list.elsewhere > 0 {
        screen.say(&format!(
            "{} more elsewhere; --all lists them",
            list.elsewhere
        ));
    }
    Ok(())
}

/// Nothing matches: how many sessions there are that might have.
fn say_how_many(scope: &ListScope, index: &Index, screen: &Screen) -> Result<(), Failure> {
    let all = index.list(&ListScope {
        limit: Some(1),
        fold_subagents: scope.fold_subagents,
        ..ListScope::default()
    })?;
    match all.total {
        0 => say_nothing(index, screen)?,
        some => screen.say(&format!(
            "No matching sessions; there {} in all.",
            there(some)
        )),
    }
    Ok(())
}

/// Nothing is listed here: whether that is because nothing is here, or nothing matches.
fn nothing_here(
    scope: &ListScope,
    here: &Here,
    index: &Index,
    screen: &Screen,
) -> Result<String, Failure> {
    let all = index.list(&ListScope {
        at: scope.at.clone(),
        fold_subagents: scope.fold_subagents,
        limit: Some(1),
        ..ListScope::default()
    })?;
    let name = here.name(screen);
    Ok(match all.total {
        0 => format!("No sessions in {name}."),
        some => format!("No matching sessions in {name}; there {}.", there(some)),
    })
}

fn there(sessions: u64) -> String {
    match sessions {
        1 => "is 1".to_owned(),
        some => format!("are {some}"),
    }
}

/// Which page it is.
fn part(scope: &ListScope, list: &WrittenList) -> String {
    let total = count(list.total, "session");
    if list.sessions == 0 {
        return format!("That page is past the last one: {total} in all.");
    }
    let last = scope.offset + list.sessions;
    let more = match (last as u64) < list.total {
        true => format!(
            "; next: --page {}",
            last.div_ceil(scope.limit.unwrap_or(last).max(1)) + 1
        ),
        false => String::new(),
    };
    format!("{} to {last} of {total}{more}.", scope.offset + 1)
}
