//! Which session is it? The picker, for people, and lent to other programs.

use std::io::IsTerminal;

use clap::Args;
use sessionary::Config;
use sessionary::model::SessionRow;

use crate::args::Global;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::text::{acts, plain_line};
use crate::picker::{self, Choice, ChosenAction, Height, Opening, PrintFormat, Purpose};

/// Pick a session from a list that is searched as you type
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary pick                        as `sessionary` alone: Enter continues the session\n  \
    sessionary pick linker error           begin with a query\n  \
    sessionary pick --print id             print the id of what is chosen, for another program\n  \
    sessionary pick --height 40%           below the prompt, as fzf does, instead of the whole screen\n\n\
    F1 lists its keys. What is typed is a query as `search` takes it.\n\
    With --print, what is chosen goes to standard output, a line each; the picker itself is drawn on the terminal.\n\
    Exit codes: 0 something was chosen; 1 nothing was; 2 error.")]
pub struct Pick {
    /// What stands in the query line at the beginning
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Print this of the chosen sessions instead of continuing one
    #[arg(long, value_name = "WHAT")]
    print: Option<PrintFormat>,
    /// Take so many lines, or so much of the terminal, below the prompt: 15, 40%
    #[arg(long, value_name = "N", value_parser = Height::parse)]
    height: Option<Height>,
}

pub fn run(args: &Pick, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let print = args.print.or(screen.json.then_some(PrintFormat::Json));
    let purpose = print.map_or(Purpose::Resume, Purpose::Print);
    let chosen = open(&args.query.join(" "), purpose, args.height, config, screen)?;
    let Some(choice) = chosen else {
        return Ok(Outcome::No);
    };
    match print {
        Some(print) => print_each(print, &choice, screen),
        None => super::resume::chosen(&choice, config, screen),
    }
}

/// Whether somebody at a terminal has typed the program's name alone.
pub fn is_wanted(global: &Global) -> bool {
    !global.json && is_for_a_person()
}

/// Whether a command that was not asked to pick may open the picker.
fn is_for_a_person() -> bool {
    let streams = [
        std::io::stdin().is_terminal(),
        std::io::stdout().is_terminal(),
        std::io::stderr().is_terminal(),
    ];
    streams == [true; 3]
}

/// The picker for somebody who typed the program's name alone.
pub fn bare(config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    match open("", Purpose::Resume, None, config, screen)? {
        Some(choice) => super::resume::chosen(&choice, config, screen),
        None => Ok(Outcome::No),
    }
}

/// Whether the picker can be opened: somebody is there to see it and to type. It is drawn on the
/// terminal itself, so that one of the streams may lead elsewhere.
fn is_possible() -> bool {
    let is_at_one = std::io::stdin().is_terminal() || std::io::stderr().is_terminal();
    is_at_one && picker::is_there()
}

/// Lets somebody pick what a command needs and was not given.
pub fn instead_of(
    command: &str,
    purpose: Purpose,
    config: &Config,
    screen: &Screen,
) -> Result<Option<Choice>, Failure> {
    if screen.json || !is_for_a_person() {
        let asks =
            format!("`{command}` asks which session, and there is no terminal to pick one on");
        return Err(Failure::usage(asks).hint(format!("name it: `sessionary {command} last`")));
    }
    open("", purpose, None, config, screen)
}

/// The session that a command was given, or that somebody picks instead; `None`: nothing was
/// picked.
pub fn named(
    command: &str,
    given: &Option<String>,
    purpose: Purpose,
    config: &Config,
    screen: &Screen,
) -> Result<Option<String>, Failure> {
    if let Some(given) = given {
        return Ok(Some(given.clone()));
    }
    let Some(choice) = instead_of(command, purpose, config, screen)? else {
        return Ok(None);
    };
    let session = choice.sessions.first();
    let path = session.map(|session| session.path.display().to_string());
    Ok(
        match entry_of(&choice).filter(|_| purpose == Purpose::Show) {
            Some(entry) => path.map(|path| format!("{path}:{entry}")),
            None => path,
        },
    )
}

fn open(
    query: &str,
    purpose: Purpose,
    height: Option<Height>,
    config: &Config,
    screen: &Screen,
) -> Result<Option<Choice>, Failure> {
    if !is_possible() {
        return Err(Failure::usage("there is no terminal to pick on")
            .hint("`sessionary list` and `sessionary search` print what there is"));
    }
    let opening = Opening {
        query: query.to_owned(),
        purpose,
        height,
        here: super::here(screen).ok(),
    };
    picker::open(opening, config, screen)
}

fn print_each(print: PrintFormat, choice: &Choice, screen: &Screen) -> Result<Outcome, Failure> {
    let mut out = String::new();
    for session in &choice.sessions {
        out.push_str(&line(print, session, screen)?);
        out.push('\n');
    }
    screen.print(&out)?;
    Ok(Outcome::Yes)
}

fn line(print: PrintFormat, session: &SessionRow, screen: &Screen) -> Result<String, Failure> {
    Ok(match print {
        PrintFormat::Id => inert(&session.id),
        PrintFormat::Path => inert(&session.path.to_string_lossy()),
        PrintFormat::Command => super::resume::command(session)?.trim_end().to_owned(),
        PrintFormat::Json => {
            let mut session = session.clone();
            let mask = screen.mask();
            mask.into_iter().for_each(|mask| session.mask(&mask));
            let json = serde_json::to_string(&session)?;
            crate::output::text::terminal_safe_json(&json).into_owned()
        }
    })
}

/// As it is; on one line and with signs in its place where a terminal would act on it.
fn inert(text: &str) -> String {
    match text.contains(acts) {
        true => plain_line(text),
        false => text.to_owned(),
    }
}

/// The entry that was chosen, where it is one that counts.
fn entry_of(choice: &Choice) -> Option<&str> {
    let goes_on = choice.action == ChosenAction::ResumeFrom;
    choice.entry.as_deref().filter(|_| goes_on)
}
