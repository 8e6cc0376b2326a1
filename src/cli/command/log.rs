//! Which sessions touched a file?

use std::path::{Component, Path, PathBuf};

use clap::Args;
use sessionary::Config;
use sessionary::index::BlameScope;
use sessionary::model::FileLog;

use crate::background::afterwards;
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::style::Tone;
use crate::output::table::{Column, Table};
use crate::output::text::plain_line;
use crate::output::{Screen, quote};

/// List the sessions that read or changed a file
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary log src/main.rs            the session that touched it last first\n  \
    sessionary log src/main.rs --json     for a program: sessions, counts, times\n\n\
    Counted is what agents' tools for files were told to do with it, also where that failed; what \
    commands did to it is not known. The file need not be there any more. Exit code 1: no session \
    is known to have touched it.")]
pub struct Log {
    /// The file
    #[arg(value_name = "FILE", add = values::file())]
    file: PathBuf,
}

pub fn run(args: &Log, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let file = super::current_directory()?.join(&args.file);
    // By what is in it is known from where it was moved.
    let is_file = file.metadata().is_ok_and(|found| found.is_file());
    let text = is_file.then(|| std::fs::read_to_string(&file).ok());
    let scope = BlameScope {
        text: text.flatten().unwrap_or_default(),
        file,
        mask: screen.mask(),
        ..BlameScope::default()
    };
    let mut index = super::answerable(super::open(config, screen)?)?;
    let log = index.ask(|snapshot| snapshot.file_log(&scope))?;
    if screen.json {
        screen.json(&log)?;
    } else if log.sessions.is_empty() {
        say_nothing(&args.file, scope.file.is_dir(), screen);
        super::other_trees::say(&scope.file, &index, screen)?;
    } else {
        let ids = index.ask(|snapshot| snapshot.short_ids())?;
        let table = table(&log, &ids, screen);
        super::page(table.into(), &mut index, screen)?;
    }
    screen.say_redacted();
    super::say_pending(screen, &index, log.complete, None);
    afterwards(&mut index, screen);
    Ok(Outcome::of(!log.sessions.is_empty()))
}

/// Says that nothing is known of a path, and how more than one file is asked for.
fn say_nothing(typed: &Path, is_folder: bool, screen: &Screen) {
    let path = screen.path(typed);
    screen.say(&match is_folder {
        true => format!("{path} is a folder: `log` lists the sessions of one file."),
        false => format!("No session is known to have touched a file of the path {path}."),
    });
    let typed_text = typed.to_string_lossy();
    if let (false, (_, Some(_))) = (is_folder, super::blame::place(&typed_text)) {
        let named = quote::posix(&plain_line(&typed_text));
        screen.say(&format!("`sessionary blame {named}` is asked of one line."));
    }
    let searched: PathBuf = typed
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .collect();
    let is_plain = |sign: char| sign.is_alphanumeric() || "-_./@+".contains(sign);
    // A path that leads up is no part of what calls name, and a query would read other signs.
    let leads_up = searched
        .components()
        .any(|part| part == Component::ParentDir);
    let searched = searched.to_string_lossy();
    if !searched.is_empty() && !leads_up && searched.chars().all(is_plain) {
        let what = match is_folder {
            true => "the calls that name a file in it",
            false => "the calls that name any file or folder so",
        };
        screen.say(&format!(
            "`sessionary search file:{searched}` finds {what}."
        ));
    }
}

fn table(log: &FileLog, ids: &sessionary::model::ShortIds, screen: &Screen) -> String {
    let mut table = Table::new(&[
        Column::text("SESSION"),
        Column::text("AGENT"),
        Column::text("LAST"),
        Column::number("CHANGED"),
        Column::number("READ"),
        Column::long("TITLE"),
    ]);
    for of in &log.sessions {
        let id = plain_line(ids.short(&of.session.id));
        let agent = super::labelled(&of.session.agent, of.session.label.as_deref());
        table.row(vec![
            (Tone::Name, id),
            (Tone::Plain, plain_line(&agent)),
            (Tone::Plain, screen.minute(of.last.as_deref())),
            (Tone::Plain, of.modifications.to_string()),
            (Tone::Plain, of.reads.to_string()),
            super::title(&of.session),
        ]);
    }
    table.render(screen.style, screen.width)
}
