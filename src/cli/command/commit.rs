//! Which session made this commit?

use std::io::Write;

use clap::Args;
use sessionary::index::CommitScope;
use sessionary::model::{CommitEvidence, CommitWriter, ShortIds};
use sessionary::repository::Repository;
use sessionary::{Config, Index};

use crate::background::afterwards;
use crate::failure::{Failure, Outcome};
use crate::known_trees;
use crate::output::spool::Spool;
use crate::output::style::Tone;
use crate::output::text::plain_line;
use crate::output::time::count;
use crate::output::{Screen, quote};
use crate::places;

/// Find out which session made a commit
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary commit                     the commit that is checked out\n  \
    sessionary commit 1a2b3c4             another one of this repository\n  \
    sessionary commit 1a2b3c4 --json      for a program: session, evidence, lines\n\n\
    A session made it that ran `git commit` and was told this name of it; else the only session \
    that wrote lines of it, if it wrote half of them or more. Git's objects are read, git is not \
    run. Exit code 1: no session is known to have made it.")]
pub struct CommitArgs {
    /// The commit's SHA-1 or the beginning of it, a branch or a tag
    #[arg(value_name = "COMMIT", default_value = "HEAD")]
    commit: String,
}

/// Whether this can be the whole name of a commit alone.
fn is_whole(name: &str) -> bool {
    name.len() == 40 && name.bytes().all(|sign| sign.is_ascii_hexdigit())
}

pub fn run(args: &CommitArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let directory = super::current_directory()?;
    let repository = Repository::around(&directory).ok_or_else(|| {
        let here = screen.path(&directory);
        Failure::usage(format!("{here} is in no git repository"))
    })?;
    let name = name_of(&args.commit, &repository, screen)?;
    let known = known_trees::file(&places::surroundings());
    let scope = CommitScope {
        trees: known_trees::all_trees(&repository, known.as_deref()),
        common: repository.common,
        commit: name,
        mask: screen.mask(),
    };
    let mut index = super::answerable(super::open(config, screen)?)?;
    let Some(writer) = index.ask(|snapshot| snapshot.commit(&scope))? else {
        let name = &scope.commit;
        return Err(Failure::usage(format!(
            "no commit of this repository is called {name}, or several objects are"
        ))
        .hint(format!(
            "`git rev-parse --disambiguate={name}` prints the whole names that begin so; \
             where it prints none, fetch the commit first"
        )));
    };
    if screen.json {
        screen.json(&writer)?;
    } else {
        let mut out = Spool::default();
        print(&writer, &index, screen, &mut out)?;
        super::page(out, &mut index, screen)?;
        let ids = index.ask(|snapshot| snapshot.short_ids())?;
        say(&writer, &ids, screen);
    }
    screen.say_redacted();
    super::say_changed(screen, &writer.changed_files);
    super::say_pending(screen, &index, writer.complete, None);
    afterwards(&mut index, screen);
    Ok(Outcome::of(writer.evidence.is_some()))
}

/// The SHA-1 of what is typed, or the beginning of it.
fn name_of(typed: &str, repository: &Repository, screen: &Screen) -> Result<String, Failure> {
    let name = match typed {
        "HEAD" => Some(repository.head().ok_or_else(|| {
            let top = screen.path(&repository.top);
            Failure::usage(format!(
                "no commit is checked out in {top}: there is none yet, or none on this branch"
            ))
        })?),
        // As with git a branch or a tag comes before the beginning of a SHA-1.
        name => {
            let named = Some(name).filter(|name| !is_whole(name));
            let named = named.and_then(|name| repository.named(name));
            Some(named.unwrap_or_else(|| name.to_lowercase()))
        }
    };
    let is_name = |name: &String| {
        (4..=40).contains(&name.len()) && name.bytes().all(|sign| sign.is_ascii_hexdigit())
    };
    name.filter(is_name).ok_or_else(|| {
        let typed = plain_line(typed);
        Failure::usage(format!(
            "{typed} is no branch or tag, no SHA-1 of a commit, nor the beginning of one"
        ))
        .hint(format!(
            "git knows more names: `sessionary commit $(git rev-parse {})`",
            quote::posix(&typed)
        ))
    })
}

fn print(
    writer: &CommitWriter,
    index: &Index,
    screen: &Screen,
    out: &mut Spool,
) -> Result<(), Failure> {
    let short = writer.commit.get(..10).unwrap_or(&writer.commit);
    let commit = screen.style.paint(Tone::Name, short);
    writeln!(out, "{commit}  {}", plain_line(&writer.subject))?;
    let Some(call) = &writer.call else {
        return Ok(());
    };
    super::blame::print_call(call, ("known by", how(writer.evidence)), index, screen, out)
}

fn how(evidence: Option<CommitEvidence>) -> &'static str {
    match evidence {
        Some(CommitEvidence::Recorded) => "what git commit printed",
        _ => "the lines that this session wrote",
    }
}

fn say(writer: &CommitWriter, ids: &ShortIds, screen: &Screen) {
    let lines = count(writer.lines, "line");
    let by = writer.sessions.iter();
    let by: Vec<String> = by
        .map(|of| format!("{} by {}", of.lines, plain_line(ids.short(&of.session.id))))
        .collect();
    let by = match by.is_empty() {
        true => "none by a session".to_owned(),
        false => by.join(", "),
    };
    let what = match writer.evidence {
        Some(_) => "",
        None => "No session is known to have made it. ",
    };
    let whose = match writer.lines {
        // Of a commit that joins branches lines are not counted.
        0 => "There are no lines of it that could tell.".to_owned(),
        _ => format!("Of {lines} that it adds, brackets and the like aside: {by}."),
    };
    screen.say(&format!("{what}{whose}"));
}
