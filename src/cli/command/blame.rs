//! Which session wrote this line, and what was it asked for?

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use sessionary::index::BlameScope;
use sessionary::model::{Blame, BlamedLine, LineCall, LineOrigin};
use sessionary::{Config, Error, Index};

use crate::background::afterwards;
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::address::ShortAddresses;
use crate::output::spool::Spool;
use crate::output::style::Tone;
use crate::output::text::{fit, plain_beginning, plain_line, plain_lines};
use crate::output::time::count;

/// Characters of a prompt that a person is shown.
const PROMPT: usize = 300;

/// Find out which session wrote each line of a file
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary blame src/main.rs              each line with the call that wrote it\n  \
    sessionary blame src/main.rs:120          this line: call, session, and what was asked for\n  \
    sessionary blame src/main.rs --json       for a program: lines, and the calls that wrote them\n\n\
    The edits, writes and patches of all sessions are made again on the file, in order of time. \
    A line is a session's only where nobody else can have written it; the others have no address. \
    `~` marks a line that differs in white space from what the session wrote, as after a \
    formatter, and `$` a line that stands in a command which fills the file. Exit code 1: no \
    session is known to have written any line that was asked for.")]
pub struct BlameArgs {
    /// The file, and `:LINE` for one of its lines
    #[arg(value_name = "FILE[:LINE]", add = values::file())]
    file: String,
}

pub fn run(args: &BlameArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let (file, line) = place(&args.file);
    let scope = scope(&file, line, screen)?;
    let mut index = super::answerable(super::open(config, screen)?)?;
    let blame = index.ask(|snapshot| snapshot.blame(&scope))?;
    let is_found = blame.lines.iter().any(|line| line.call.is_some());
    if screen.json {
        screen.json(&blame)?;
    } else {
        let mut out = Spool::default();
        match (line, blame.lines.first()) {
            (Some(_), Some(line)) => print_one(line, &blame, &index, screen, &mut out)?,
            _ => print_all(&blame, &index, screen, &mut out)?,
        }
        super::page(out, &mut index, screen)?;
        say(&blame, line, screen);
        if blame.changes == 0 && !is_found {
            super::other_trees::say(&scope.file, &index, screen)?;
        }
    }
    screen.say_redacted();
    super::say_changed(screen, &blame.changed_files);
    super::say_pending(screen, &index, blame.complete, None);
    afterwards(&mut index, screen);
    Ok(Outcome::of(is_found))
}

/// The file, and the line that is named behind it.
pub fn place(typed: &str) -> (PathBuf, Option<u64>) {
    let named = typed.rsplit_once(':');
    let line = named.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    match line {
        Some((file, line)) if !Path::new(typed).exists() => (file.into(), Some(line)),
        _ => (typed.into(), None),
    }
}

/// Whether a range of lines stands behind a file that is there: `FILE:1-20`.
fn names_lines(typed: &Path) -> bool {
    let named = typed.to_str().and_then(|typed| typed.rsplit_once(':'));
    named.is_some_and(|(file, lines)| {
        let is_range = |sign: char| sign.is_ascii_digit() || "-,:".contains(sign);
        lines.contains(|sign: char| sign.is_ascii_digit())
            && lines.chars().all(is_range)
            && Path::new(file).is_file()
    })
}

/// What is asked about a file: of one that is there also what is in it.
fn scope(file: &Path, line: Option<u64>, screen: &Screen) -> Result<BlameScope, Failure> {
    let failed = |source| {
        Failure::from(Error::Io {
            path: file.to_owned(),
            source,
        })
    };
    let metadata = std::fs::metadata(file).map_err(|error| match names_lines(file) {
        true => {
            failed(error).hint("FILE:LINE is one line, as in src/main.rs:120; no range of lines")
        }
        false if error.kind() == ErrorKind::NotFound => failed(error)
            .hint("`sessionary log FILE` lists the sessions that touched a file that is gone"),
        false => failed(error),
    })?;
    if !metadata.is_file() {
        return Err(Failure::usage(format!("{} is no file", screen.path(file))));
    }
    let text = String::from_utf8(std::fs::read(file).map_err(failed)?);
    let text = text.map_err(|_| {
        let file = screen.path(file);
        Failure::usage(format!("{file} is not UTF-8: lines of it cannot be told"))
    })?;
    let lines = text.lines().count() as u64;
    if let Some(line) = line.filter(|line| !(1..=lines).contains(line)) {
        let file = screen.path(file);
        let lines = count(lines, "line");
        return Err(Failure::usage(format!(
            "{file} has {lines}, and no line {line}"
        )));
    }
    Ok(BlameScope {
        file: super::current_directory()?.join(file),
        text,
        line,
        mask: screen.mask_by_line(),
        ..BlameScope::default()
    })
}

/// Every line behind what wrote it, one below the other.
fn print_all(
    blame: &Blame,
    index: &Index,
    screen: &Screen,
    out: &mut Spool,
) -> Result<(), Failure> {
    let called = || {
        let calls = blame.calls.iter();
        calls.map(|call| (&call.session, call.entry.as_str()))
    };
    let names = ShortAddresses::of_entries(called(), index)?;
    let addresses = called().map(|(session, entry)| names.address(session, entry));
    let addresses: Vec<String> = addresses.collect();
    let named = |line: &BlamedLine| {
        let address = line.call.and_then(|call| addresses.get(call));
        address.map_or("", String::as_str)
    };
    let call = |line: &BlamedLine| blame.calls.get(line.call?);
    let agent = |line: &BlamedLine| call(line).map_or("", |call| &call.session.agent).to_owned();
    // A format takes no more.
    let most = usize::from(u16::MAX);
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0).min(most);
    let lines = || blame.lines.iter();
    let address = widest(&mut lines().map(|line| named(line).len()));
    let agents = widest(&mut lines().map(|line| agent(line).len()));
    let number = blame.lines.len().to_string().len();
    for line in &blame.lines {
        let time = call(line).and_then(|call| call.time.as_deref());
        let minute = time.map_or_else(String::new, |time| screen.minute(Some(time)));
        let named = format!("{:address$}", named(line));
        let before = format!(
            "{} {} {:agents$}  {minute:16}  {:number$}  ",
            screen.style.paint(Tone::Name, &named),
            sign(line.origin),
            agent(line),
            line.line,
        );
        let text = plain_lines(&line.text);
        let text = match screen.width {
            Some(width) => {
                let taken = address + agents + number + 25;
                fit(&text, width.saturating_sub(taken).max(20))
            }
            None => text,
        };
        writeln!(out, "{}", format!("{before}{text}").trim_end())?;
    }
    Ok(())
}

fn sign(origin: LineOrigin) -> &'static str {
    match origin {
        LineOrigin::WhiteSpace => "~",
        LineOrigin::Command => "$",
        _ => " ",
    }
}

/// One line, and all that is known of what wrote it.
fn print_one(
    line: &BlamedLine,
    blame: &Blame,
    index: &Index,
    screen: &Screen,
    out: &mut Spool,
) -> Result<(), Failure> {
    writeln!(out, "{}", plain_lines(&line.text))?;
    let Some(call) = line.call.and_then(|call| blame.calls.get(call)) else {
        return Ok(());
    };
    let tool = call.tool.as_deref().unwrap_or("a call");
    let how = match line.origin {
        LineOrigin::WhiteSpace => format!("{tool}, but for white space"),
        LineOrigin::Command => format!("in a command, {tool}"),
        _ => tool.to_owned(),
    };
    print_call(call, ("written by", &how), index, screen, out)
}

/// What is known of a call, a fact a line; the first one says how it is known.
pub fn print_call(
    call: &LineCall,
    (first, how): (&str, &str),
    index: &Index,
    screen: &Screen,
    out: &mut Spool,
) -> Result<(), Failure> {
    let names = ShortAddresses::of_entries([(&call.session, call.entry.as_str())], index)?;
    let (_, title) = super::title(&call.session);
    let branch = match call.on_active_branch {
        true => "the active branch",
        false => "a branch that was given up",
    };
    let agent = match &call.session.host {
        Some(host) => plain_line(&format!("{} on {host}", call.session.agent)),
        None => call.session.agent.clone(),
    };
    let prompt = call.prompt.as_deref().unwrap_or_default();
    let facts = [
        (first, plain_line(how)),
        ("entry", names.address(&call.session, &call.entry)),
        ("when", screen.minute(call.time.as_deref())),
        ("session", title),
        ("agent", agent),
        ("folder", screen.path(call.session.cwd.as_ref())),
        ("branch", branch.to_owned()),
        ("asked for", plain_beginning(prompt, PROMPT)),
    ];
    for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        let name = screen.style.paint(Tone::Quiet, &format!("{name:10}"));
        writeln!(out, "  {name}  {fact}")?;
    }
    Ok(())
}

fn say(blame: &Blame, line: Option<u64>, screen: &Screen) {
    let file = screen.path(&blame.file);
    let all = blame.lines.len() as u64;
    let known = blame
        .lines
        .iter()
        .filter(|line| line.call.is_some())
        .count() as u64;
    if blame.changes == 0 && known == 0 {
        screen.say(&format!("No session is known to have changed {file}."));
    } else if known == 0 {
        let what = match line {
            Some(_) => "this line",
            None => "any line of it",
        };
        screen.say(&format!("No session is known to have written {what}."));
    } else if line.is_none() {
        let (lines, calls) = (count(all, "line"), count(blame.changes, "call"));
        let were = if known == 1 { "was" } else { "were" };
        let how = match blame.changes {
            0 => "by commands of sessions".to_owned(),
            _ => format!("by sessions; they changed the file in {calls}"),
        };
        screen.say(&format!("{known} of {lines} {were} written {how}."));
    }
}
