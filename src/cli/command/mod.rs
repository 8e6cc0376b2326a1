//! Which verb runs? One file a verb; what several of them do is here.

pub mod address;
pub mod append;
pub mod archive;
pub mod blame;
pub mod clean;
pub mod clido;
pub mod commit;
pub mod completions;
pub mod config;
pub mod context;
pub mod delete;
pub mod export;
mod foreign;
pub mod fork;
pub mod hit_fields;
pub mod init;
pub mod label;
pub mod list;
pub mod log;
pub mod man;
pub mod mcp;
pub mod migrate;
pub mod name;
pub mod naming;
pub mod new;
mod other_trees;
pub mod overview;
pub mod pick;
mod place;
pub mod rebuild;
pub mod report;
pub mod resume;
pub mod roots;
mod scope;
pub mod search;
pub mod secrets;
pub mod serve;
mod session_page;
pub mod setup;
pub mod show;
pub mod skill;
pub mod sql;
pub mod status;
pub mod sync;
pub mod team;
pub mod trashing;
pub mod tree;
pub mod verify;
pub mod watch;
pub mod writing;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process;
use std::sync::Once;

use sessionary::format::LONGEST_TITLE;
use sessionary::index::StreamOutcome;
use sessionary::model::SessionRow;
use sessionary::{
    Config, Error, Freshness, Index, Indexer, RootOrigin, RootSpec, StoreFault, with_causes,
};

use crate::args::{Cli, Command, Global};
use crate::background::afterwards;
use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::here::Here;
use crate::output::progress::Progress;
use crate::output::spool::Spool;
use crate::output::style::Tone;
use crate::output::text::{plain_beginning, plain_line};
use crate::output::time::count;
use crate::output::{Screen, spool};
use crate::places;

/// Lines about the check that a read verb says before its answer, at most.
const NOTES: usize = 5;

/// Where files that could not be read are named.
const UNREAD: &str =
    "`sessionary sql \"SELECT * FROM problems WHERE what IN ('unread', 'root')\"` lists them";

/// Runs what was typed: once more where the catalogue turned out to be damaged, or was rebuilt by
/// another process. No verb changes a session before the index has answered all that the verb asks
/// of it.
pub fn run(cli: Cli, screen: &Screen) -> Result<Outcome, Failure> {
    let Cli { global, command } = cli;
    match verb(&global, command.as_ref(), screen) {
        // A watcher mends what it meets itself.
        Err(failure)
            if (failure.is_damage() || failure.is_replaced())
                && !spool::has_begun()
                && !matches!(command, Some(Command::Watch(_))) =>
        {
            // Opened again it is rebuilt, or is another one.
            open(&config(&global, command.as_ref(), screen)?, screen)?;
            verb(&global, command.as_ref(), screen)
        }
        ended => ended,
    }
}

fn config(global: &Global, command: Option<&Command>, screen: &Screen) -> Result<Config, Failure> {
    let settings = places::settings(global)?;
    screen.take(&settings);
    let config = places::config(global, &settings)?;
    // `status` says of each root whether it is there.
    if !matches!(command, Some(Command::Status(_))) {
        say_missing(&config, screen);
    }
    Ok(config)
}

/// Says once which folders were named with `--root` and are not there: whoever typed one wrong
/// would take an answer for all that it has.
fn say_missing(config: &Config, screen: &Screen) {
    static SAID: Once = Once::new();
    let is_missing = |root: &&RootSpec| {
        root.why == RootOrigin::Flag && root.path.try_exists().is_ok_and(|exists| !exists)
    };
    SAID.call_once(|| {
        for root in config.roots.iter().filter(is_missing) {
            screen.say(&format!(
                "--root {}: there is no such folder",
                screen.path(&root.path)
            ));
        }
    });
}

fn verb(global: &Global, command: Option<&Command>, screen: &Screen) -> Result<Outcome, Failure> {
    let config = || config(global, command, screen);
    match command {
        None if pick::is_wanted(global) => pick::bare(&config()?, screen),
        None => overview::run(&config()?, screen),
        Some(Command::List(args)) => list::run(args, &config()?, screen),
        Some(Command::Pick(args)) => pick::run(args, &config()?, screen),
        Some(Command::Search(args)) => search::run(args, &config()?, screen),
        Some(Command::Tree(args)) => tree::run(args, &config()?, screen),
        Some(Command::Show(args)) => show::run(args, &config()?, screen),
        Some(Command::Resume(args)) => resume::run(args, &config()?, screen),
        Some(Command::Context(args)) => context::run(args, &config()?, screen),
        Some(Command::New(args)) => new::run(args, &config()?, screen),
        Some(Command::Append(args)) => append::run(args, &config()?, screen),
        Some(Command::Name(args)) => name::run(args, &config()?, screen),
        Some(Command::Label(args)) => label::run(args, &config()?, screen),
        Some(Command::Branch(args)) => fork::run_branch(args, &config()?, screen),
        Some(Command::Fork(args)) => fork::run(args, &config()?, screen),
        Some(Command::Migrate(args)) => migrate::run(args, &config()?, screen),
        Some(Command::Export(args)) => export::run(args, &config()?, screen),
        Some(Command::Delete(args)) => delete::run(args, &config()?, screen),
        Some(Command::Report(args)) => report::run(args, &config()?, screen),
        Some(Command::Blame(args)) => blame::run(args, &config()?, screen),
        Some(Command::Commit(args)) => commit::run(args, &config()?, screen),
        Some(Command::Log(args)) => log::run(args, &config()?, screen),
        Some(Command::Secrets(args)) => secrets::run(args, &config()?, screen),
        Some(Command::Sql(args)) => match sql::for_team(args) {
            Some(asked) => team::hand_over(&asked, global, screen),
            None => sql::run(args, &config()?, screen),
        },
        Some(Command::Sync(args)) => sync::run(args, &config()?, screen),
        Some(Command::Watch(args)) => watch::run(args, global, &config()?, screen),
        Some(Command::Serve(args)) => serve::run(args, &config()?, screen),
        Some(Command::Mcp(args)) => mcp::run(args, &config()?, screen),
        Some(Command::Rebuild(args)) => rebuild::run(args, &config()?, screen),
        Some(Command::Roots(args)) => roots::run(args, &config()?, screen),
        Some(Command::Archive(args)) => archive::run(args, &config()?, screen),
        Some(Command::Status(args)) => status::run(args, &config()?, screen),
        Some(Command::Verify(_)) => verify::run(&config()?, screen),
        Some(Command::Config(args)) => config::run(args, global, screen),
        Some(Command::Clean(args)) => clean::run(args, global, screen),
        Some(Command::Setup(args)) => setup::run(args, global, &config()?, screen),
        Some(Command::Skill(args)) => skill::run(args, screen),
        Some(Command::Team(args)) => team::run(args, global, screen),
        Some(Command::Init(args)) => init::run(args, screen),
        Some(Command::Completions(args)) => completions::run(args, screen),
        Some(Command::Man(args)) => man::run(args, screen),
    }
}

/// Opens the index for a read verb, brought up to date first.
fn open(config: &Config, screen: &Screen) -> Result<Index, Failure> {
    let mut progress = Progress::new();
    let index = Index::open_with(config, Freshness::Check, &mut |event| progress.event(event))?;
    drop(progress);
    Ok(opened(index, screen))
}

/// Opens the index for a verb that writes it: whoever writes it already is waited for, or not.
fn writer(config: &Config, wait: bool, progress: &mut Progress) -> Result<Indexer, Failure> {
    Ok(match wait {
        true => Indexer::open_with(config, &mut |event| progress.event(event))?,
        false => Indexer::try_open(config)?,
    })
}

/// The index again, for a verb that asks all of it; an error where there is none and none can be
/// made.
fn answerable(index: Index) -> Result<Index, Failure> {
    match no_index(&index) {
        Some(failure) => Err(failure),
        None => Ok(index),
    }
}

/// Why there is no index and none can be made. While another process makes it, there will be one.
fn no_index(index: &Index) -> Option<Failure> {
    let obstacle = index.obstacle().filter(|_| !index.is_made())?;
    (!matches!(obstacle, Error::Busy { .. })).then(|| Failure::from_kept(obstacle))
}

/// Says what was noticed on the way.
fn opened(index: Index, screen: &Screen) -> Index {
    let notes = index.report().map_or(&[][..], |report| &report.notes);
    for note in notes.iter().take(NOTES) {
        screen.say(&plain_line(note));
    }
    if notes.len() > NOTES {
        let more = notes.len() - NOTES;
        screen.say(&format!(
            "and {more} more: `sessionary sync` prints all of them"
        ));
    }
    index
}

/// Says so when an answer is not complete. `files` is their number, where known.
fn say_pending(screen: &Screen, index: &Index, complete: bool, files: Option<u64>) {
    if complete {
        return;
    }
    let is_unreadable = index.obstacle().is_none() && !index.is_complete();
    let are = match (is_unreadable, files) {
        (true, _) => "could not be read",
        (false, Some(1)) => "has not been read yet",
        (false, _) => "have not been read yet",
    };
    let why = why_pending(screen, index);
    let files = match files {
        Some(files) if files > 0 => count(files, "file"),
        _ => "some files".to_owned(),
    };
    screen.say(&format!(
        "This answer is incomplete, as {files} {are}: {why}."
    ));
}

/// Asks, and again where files turned out to have changed and were read again meanwhile. Only the
/// last answer is printed.
fn answer<T>(
    mut question: impl FnMut() -> Result<(T, StreamOutcome), Failure>,
) -> Result<(T, StreamOutcome), Failure> {
    let mut tries = 1;
    loop {
        match question() {
            Ok((_, streamed)) if streamed.healed && tries < Index::TRIES => tries += 1,
            Err(failure) if failure.is_of_changed_file() && tries < Index::TRIES => tries += 1,
            answered => return answered,
        }
    }
}

/// Says how an answer has ended that was given piece by piece.
fn say_ended(screen: &Screen, index: &Index, streamed: &StreamOutcome) {
    let changed = &streamed.changed_files;
    say_changed(screen, changed);
    // Those that changed are named; there may be more.
    let is_said = !changed.is_empty() && index.is_complete();
    say_pending(screen, index, streamed.complete || is_said, None);
}

/// Says how much may lie behind links, unless opening has just said it.
fn say_links(screen: &Screen, index: &Index) {
    let notes = index.report().map_or(&[][..], |report| &report.notes);
    let is_said = notes.iter().any(|note| note.contains("--follow-links"));
    match index.ask(|snapshot| snapshot.links_not_followed()) {
        Ok(links) if links > 0 && !is_said => screen.say(&format!(
            "{} out of the session folders {} not followed; --follow-links follows {}.",
            count(links, "link"),
            if links == 1 { "is" } else { "are" },
            if links == 1 { "it" } else { "them" },
        )),
        _ => {}
    }
}

/// Says why the beginning that a session inherits is not shown.
fn say_lost(screen: &Screen, lost: Option<&str>) {
    if let Some(why) = lost {
        screen.say(&missing_beginning(why));
    }
}

fn missing_beginning(why: &str) -> String {
    format!("Its beginning is missing: {}.", plain_line(why))
}

/// Names files that hold other bytes than those catalogued.
fn say_changed(screen: &Screen, files: &[PathBuf]) {
    for file in files.iter().take(NOTES) {
        let file = screen.path(file);
        screen.say(&format!(
            "{file} has changed since it was read and cannot be read again now: the answer may \
             miss what it says."
        ));
    }
}

/// Why some files are not in an answer, or where they are named.
fn why_pending(screen: &Screen, index: &Index) -> String {
    match index.obstacle() {
        None if !index.is_complete() => UNREAD.to_owned(),
        // Another one has emptied the index since it was opened, or holds it.
        None | Some(Error::Busy { .. }) => "another sessionary is writing the index".to_owned(),
        Some(error) => {
            let why = screen.with_paths(&with_causes(error));
            match error.fault() {
                Some(StoreFault::Locked) => why,
                _ => format!("{why}. --index puts the index in another place"),
            }
        }
    }
}

/// Prints an answer that people read. While somebody reads it in a pager, the words are indexed.
fn page(answer: Spool, index: &mut Index, screen: &Screen) -> Result<(), Failure> {
    let meanwhile = || drop(afterwards(index, screen));
    Ok(screen.page(answer, meanwhile)?)
}

/// What went wrong while an answer was printed.
fn cannot_print(source: std::io::Error) -> Error {
    Error::Output { source }
}

/// This process becomes another program; only a failure comes back.
#[cfg(unix)]
fn become_it(command: &mut process::Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

/// Another program runs to its end, which is ours too; only a failure comes back.
#[cfg(not(unix))]
fn become_it(command: &mut process::Command) -> std::io::Error {
    match command.status() {
        Ok(status) => process::exit(status.code().unwrap_or(2)),
        Err(error) => error,
    }
}

/// What becomes of a question.
enum Reply {
    Yes,
    No,
    /// There is no terminal at which somebody could be asked.
    Nobody,
}

/// An agent, with the label of a root of it.
pub fn labelled(agent: &str, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{agent}={label}"),
        None => agent.to_owned(),
    }
}

/// Asks on a terminal; anything but yes is no.
fn ask(question: &str) -> std::io::Result<Reply> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Ok(Reply::Nobody);
    }
    write!(std::io::stderr(), "{question}")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let is_yes = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    Ok(if is_yes { Reply::Yes } else { Reply::No })
}

/// Asks before something is done. `Some`: it is not, and how the command ends. A no is an answer,
/// and no error; without anybody to ask it is one, and `hint` says what helps.
fn declined(
    question: &str,
    nothing: &str,
    hint: &str,
    screen: &Screen,
) -> Result<Option<Outcome>, Failure> {
    match ask(question)? {
        Reply::Yes => Ok(None),
        Reply::No => {
            screen.say(&format!("No: {nothing}."));
            Ok(Some(Outcome::No))
        }
        Reply::Nobody => {
            let nobody = format!("{nothing}: there is no terminal to ask on");
            Err(Failure::usage(nobody).hint(hint))
        }
    }
}

/// Ends with an index at the end of the process.
fn leave(index: Index) {
    match demo::runs() {
        // Open files would keep its folder from being removed on Windows.
        true => drop(index),
        false => index.leave(),
    }
}

/// What counts as the place where somebody stands.
fn here(screen: &Screen) -> Result<Here, Failure> {
    let directory = current_directory()?;
    Ok(match screen.dir {
        true => Here::alone(directory),
        false => Here::around(directory, &places::surroundings()),
    })
}

/// The current directory.
fn current_directory() -> Result<PathBuf, Failure> {
    if let Some(demo) = demo::surroundings() {
        return Ok(demo.cwd);
    }
    std::env::current_dir().map_err(|error| {
        Failure::from(anyhow::Error::new(error).context("the current directory cannot be found"))
            .hint("go to another one; `list --all`, `search` without --here and ids of sessions need none")
    })
}

/// A session's title: its name, else what its person typed first.
pub fn title(row: &SessionRow) -> (Tone, String) {
    title_within(row, usize::MAX)
}

/// A session's title, cut to at most `most` characters.
fn title_within(row: &SessionRow, most: usize) -> (Tone, String) {
    let name = row.name.as_deref().map(|name| plain_beginning(name, most));
    match name.filter(|name| !name.is_empty()) {
        Some(name) => (Tone::Strong, name),
        None => {
            let mut title = plain_beginning(&row.title, most);
            if is_cut(row) && !title.ends_with('…') {
                title.push('…');
            }
            (Tone::Plain, title)
        }
    }
}

/// Whether the title is the beginning of something longer that was typed, which nothing in it
/// says.
fn is_cut(row: &SessionRow) -> bool {
    let typed = plain_line(row.first_message.as_deref().unwrap_or_default());
    let title = plain_line(&row.title);
    let goes_on = typed.len() > title.len() && typed.starts_with(&title);
    row.title.chars().count() == LONGEST_TITLE && (goes_on || !typed.ends_with(&title))
}
