//! How does a session leave for people and programs that have no sessionary?

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde::Serialize;
use sessionary::index::{ShowScope, ShownPart, StreamOutcome};
use sessionary::model::{SCHEMA_VERSION, SessionRow};
use sessionary::{Config, Error, Index};

use crate::background::afterwards;
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::spool::Spool;
use crate::output::text::plain_line;
use crate::output::time::{bytes, count};
use crate::output::transcript::{is_setting, says_nothing};
use crate::output::{Screen, html, markdown};

/// Export a branch of a session as Markdown, an HTML page or a session file
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary export last > talk.md\n  \
    sessionary export last --out talk.html                a page that loads and runs nothing\n  \
    sessionary export 019b3f2a:c1d2e3f4 --out way.jsonl   its branch, byte for byte\n  \
    sessionary export last --out talk.html --dry-run      what would be written\n\n\
    The extension of --out decides the format; without one it is Markdown. In HTML and Markdown, the\n\
    session's own HTML, links, images, control characters and marks that reorder text appear as plain\n\
    text and do nothing. Keys and tokens are redacted in both (see --reveal, and `redact` in the\n\
    configuration file); JSONL is exact.")]
pub struct Export {
    /// A session; with :ENTRY, the branch that ends at that entry instead of the active one
    #[arg(value_name = "SESSION[:ENTRY]", add = values::address())]
    session: String,
    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    format: Option<ExportFormat>,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", add = values::file())]
    out: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(short, long, requires = "out")]
    force: bool,
    /// Show what would be written and where, without writing it
    #[arg(long)]
    dry_run: bool,
}

/// Bytes of the name that a file is given, at most.
const MOST_STEM: usize = 60;

/// Its variants carry no help of their own, which would stretch the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    // As its files are called.
    #[value(alias = "md")]
    Markdown,
    Html,
    Jsonl,
}

impl ExportFormat {
    /// How its files are called.
    fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Jsonl => "jsonl",
        }
    }
}

/// What `export --json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    schema_version: u32,
    dry_run: bool,
    session: &'a str,
    format: ExportFormat,
    /// `null`: standard output.
    path: Option<&'a Path>,
    entries: u64,
    bytes: u64,
    /// Whether the file was (or would be) another one's place.
    replaced: bool,
    /// Whether all of the session was read.
    complete: bool,
    /// Whether the beginning of the session is not in what was written, because it stands in the
    /// session that this one goes on from.
    lacks_beginning: bool,
}

pub fn run(args: &Export, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let form = args.form()?;
    let out = args.out.as_deref().map(std::path::absolute).transpose()?;
    if screen.json && out.is_none() && !args.dry_run {
        return Err(Failure::usage(
            "--json reports what was written, so it needs --out FILE",
        ));
    }
    if let Some(out) = &out {
        may_lie_at(out, config, screen)?;
    }
    let replaced = out
        .as_ref()
        .is_some_and(|out| out.symlink_metadata().is_ok());
    if replaced && !args.force {
        let path = out.as_deref().unwrap_or(Path::new(""));
        return Err(Failure::usage(format!("{} already exists", path.display()))
            .hint("--force replaces it"));
    }
    let mut index = super::open(config, screen)?;
    let (row, entry) = super::naming::named(&args.session, &mut index, config, screen)?;
    refuse_itself(out.as_deref(), &row, &index, screen)?;
    let ((spool, (entries, lacks)), streamed) = super::answer(|| {
        let mut spool = Spool::default();
        let (written, streamed) = written(form, &index, &row, entry.clone(), screen, &mut spool)?;
        Ok(((spool, written), streamed))
    })?;
    let size = spool.bytes();
    match &out {
        _ if args.dry_run => {}
        None => spool.print()?,
        Some(out) => to_file(out, args.force, spool)?,
    }
    let path = out.as_deref();
    if screen.json {
        screen.json(&Answer {
            schema_version: SCHEMA_VERSION,
            dry_run: args.dry_run,
            session: &row.id,
            format: form,
            path,
            entries,
            bytes: size,
            replaced,
            complete: streamed.complete,
            lacks_beginning: lacks.is_some(),
        })?;
    } else {
        let what = format!("{}, {}", count(entries, "entry"), bytes(size));
        args.say_written(&what, path, replaced, screen);
        lacks.iter().for_each(|lacks| screen.say(lacks));
    }
    screen.say_redacted();
    super::say_ended(screen, &index, &streamed);
    afterwards(&mut index, screen);
    Ok(Outcome::of(entries > 0))
}

impl Export {
    fn say_written(&self, what: &str, path: Option<&Path>, replaced: bool, screen: &Screen) {
        let place = path.map_or_else(|| "standard output".to_owned(), |path| screen.path(path));
        match (self.dry_run, path.is_some()) {
            (true, _) if replaced => screen.say(&format!("Would replace {place}: {what}")),
            (true, _) => screen.say(&format!("Would write to {place}: {what}")),
            (false, true) => screen.say(&format!("Written to {place}: {what}")),
            (false, false) => {}
        }
    }

    fn form(&self) -> Result<ExportFormat, Failure> {
        if let Some(form) = self.format {
            return Ok(form);
        }
        let Some(out) = &self.out else {
            return Ok(ExportFormat::Markdown);
        };
        match out.extension().and_then(OsStr::to_str) {
            Some("md" | "markdown") => Ok(ExportFormat::Markdown),
            Some("html" | "htm") => Ok(ExportFormat::Html),
            Some("jsonl") => Ok(ExportFormat::Jsonl),
            _ => Err(Failure::usage(format!(
                "{}: its extension does not name a format",
                out.display()
            ))
            .hint("name one with --format markdown, html or jsonl")),
        }
    }
}

/// A file in an agent's folder would be taken for one of its sessions, or be in the place of one.
pub fn may_lie_at(out: &Path, config: &Config, screen: &Screen) -> Result<(), Failure> {
    let folder = out.parent().unwrap_or(out);
    let folder = folder.canonicalize();
    let folder = folder.with_context(|| format!("the folder of {}", out.display()))?;
    let is_inside = |root: &Path| {
        root.canonicalize()
            .is_ok_and(|root| folder.starts_with(root))
    };
    if let Some(root) = config.roots.iter().find(|root| is_inside(&root.path)) {
        return Err(Failure::usage(format!(
            "{} is in {}, where {} keeps its sessions",
            screen.path(out),
            screen.path(&root.path),
            root.agent
        ))
        .hint("choose a place outside it"));
    }
    let why = match out.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => "is a directory",
        Ok(metadata) if !metadata.is_file() => "is not a regular file, so it cannot be replaced",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!("{} {why}", screen.path(out))))
}

/// A branch in place of the session itself would be all that is left of it.
fn refuse_itself(
    out: Option<&Path>,
    row: &SessionRow,
    index: &Index,
    screen: &Screen,
) -> Result<(), Failure> {
    let there = out.and_then(|out| Some((out, out.canonicalize().ok()?)));
    let Some((out, real)) = there else {
        return Ok(());
    };
    let files = index.ask(|snapshot| snapshot.session_files(row))?;
    let mut files = files.into_iter();
    if files.any(|file| file.path.canonicalize().is_ok_and(|file| file == real)) {
        let (out, id) = (screen.path(out), plain_line(&row.id));
        return Err(
            Failure::usage(format!("{out} is a file of {id} itself")).hint("choose another place")
        );
    }
    Ok(())
}

/// The sentence about the beginning of a session that stands in another one alone, as lines are
/// copied of one session.
const ELSEWHERE: &str =
    "Its beginning stands in the session that it goes on from, and is not in the copy.";

/// How many entries were written, and what is to be said of a beginning that is not among them.
type Written = (u64, Option<String>);

fn written(
    form: ExportFormat,
    index: &Index,
    row: &SessionRow,
    leaf: Option<String>,
    screen: &Screen,
    spool: &mut Spool,
) -> Result<(Written, StreamOutcome), Failure> {
    match form {
        ExportFormat::Jsonl => {
            let copied =
                index.stream(|snapshot| snapshot.copy_branch(row, leaf.as_deref(), &mut *spool));
            let (copied, streamed) = copied.map_err(|error| match error {
                Error::NotLines { .. } => Failure::usage(error.to_string())
                    .hint("--format markdown and --format html can write it"),
                error => error.into(),
            })?;
            let lacks = copied.lacks_beginning.then(|| ELSEWHERE.to_owned());
            Ok(((copied.lines, lacks), streamed))
        }
        ExportFormat::Markdown | ExportFormat::Html => {
            if let Some(entry) = &leaf
                && !index.ask(|snapshot| snapshot.is_on_branch(row, entry))?
            {
                let entry = plain_line(entry);
                let what = format!("{entry} is on no branch: it says something of the session");
                let hint = format!("without :{entry} the active branch is exported");
                return Err(Failure::usage(what).hint(hint));
            }
            let scope = ShowScope {
                branch: leaf,
                ..ShowScope::default()
            };
            page(form, index, row, scope, screen, spool)
        }
    }
}

/// Writes what was said as Markdown or as an HTML page.
fn page(
    form: ExportFormat,
    index: &Index,
    row: &SessionRow,
    scope: ShowScope,
    screen: &Screen,
    spool: &mut Spool,
) -> Result<(Written, StreamOutcome), Failure> {
    let scope = ShowScope {
        // Whoever is given it may pass it on, wherever it goes first.
        mask: screen.mask_of_files(),
        ..scope
    };
    let (mut entries, mut lacks) = (0, None);
    let streamed = index.show_each(row, &scope, &mut |part| -> Result<(), Failure> {
        let text = match part {
            ShownPart::Head(head) => {
                lacks = head.lost.as_deref().map(super::missing_beginning);
                match form {
                    ExportFormat::Html => html::head(&head.session, screen),
                    _ => markdown::head(&head.session, screen),
                }
            }
            // A page is about what was said.
            ShownPart::Entry(entry) if is_setting(&entry) || says_nothing(&entry) => {
                return Ok(());
            }
            ShownPart::Entry(entry) => {
                entries += 1;
                match form {
                    ExportFormat::Html => html::entry(&entry, screen.zone()),
                    _ => markdown::entry(&entry, screen.zone()),
                }
            }
        };
        Ok(spool.write_all(text.as_bytes())?)
    })?;
    if form == ExportFormat::Html {
        spool.write_all(html::END.as_bytes())?;
    }
    Ok(((entries, lacks), streamed))
}

/// The branch on which an entry stands, with what follows it, or the active one, as Markdown or as
/// an HTML page. An error where a file of it says something else by now, or is gone: the page would
/// lack what it said.
pub fn branch_through(
    form: ExportFormat,
    entry: Option<&str>,
    row: &SessionRow,
    index: &Index,
    screen: &Screen,
) -> Result<Spool, Failure> {
    let scope = ShowScope {
        branch: match entry {
            Some(entry) => end_of_branch(entry, row, index)?,
            None => None,
        },
        ..ShowScope::default()
    };
    let (spool, streamed) = super::answer(|| {
        let mut spool = Spool::default();
        let (_, streamed) = page(form, index, row, scope.clone(), screen, &mut spool)?;
        Ok((spool, streamed))
    })?;
    match streamed.changed_files.is_empty() {
        true => Ok(spool),
        false => Err(Failure::refused(
            "its file is gone, or has changed since it was read",
        )),
    }
}

/// The last entry of the branch on which an entry stands.
fn end_of_branch(entry: &str, row: &SessionRow, index: &Index) -> Result<Option<String>, Failure> {
    let snapshot = index.snapshot()?;
    let branch = snapshot.branch(row, Some(entry))?;
    let last = branch.len().checked_sub(1);
    let mut end = None;
    snapshot.read_branch(row, &branch, last, None, &mut |_, last| {
        end = Some(last.id);
        Ok::<(), Error>(())
    })?;
    Ok(end)
}

/// Writes it to a file of a name that is free in that folder, and says which that is.
pub fn to_free_name(
    folder: &Path,
    title: &str,
    form: ExportFormat,
    spool: Spool,
    config: &Config,
    screen: &Screen,
) -> Result<PathBuf, Failure> {
    let (stem, extension) = (file_stem(title), form.extension());
    let names = (1..).map(|number: u32| match number {
        1 => format!("{stem}.{extension}"),
        _ => format!("{stem}-{number}.{extension}"),
    });
    let mut places = names.map(|name| folder.join(name));
    let is_free = |place: &PathBuf| place.symlink_metadata().is_err();
    let place = places.find(is_free).unwrap_or_default();
    may_lie_at(&place, config, screen)?;
    to_file(&place, false, spool)?;
    Ok(place)
}

/// A title as the name of a file: the letters and digits of its first words, in lower case. What
/// stands before them keeps a session from choosing a name that means something, as AGENTS.md does.
fn file_stem(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric());
    let mut stem = "session".to_owned();
    for word in words.filter(|word| !word.is_empty()) {
        if stem.len() + 1 + word.len() > MOST_STEM {
            break;
        }
        stem.push('-');
        stem.push_str(&word.to_lowercase());
    }
    stem
}

/// Writes a file beside its place, readable by its owner alone, and moves it there when it is
/// whole.
fn to_file(path: &Path, force: bool, mut spool: Spool) -> Result<(), Failure> {
    let place = || path.display().to_string();
    let folder = path.parent().unwrap_or(Path::new("/"));
    let new = tempfile::NamedTempFile::new_in(folder).map_err(|error| without_place(&error));
    let mut file = new.with_context(place)?;
    spool.copy_to(file.as_file_mut()).with_context(place)?;
    match force {
        true => file.persist(path).map(drop),
        false => file.persist_noclobber(path).map(drop),
    }
    .map_err(|refusal| refusal.error)
    .with_context(place)?;
    Ok(())
}

/// What is wrong, without the name of the file beside the place, which nobody has typed.
fn without_place(error: &std::io::Error) -> anyhow::Error {
    let said = error.to_string();
    let what = said
        .split_once(" at path ")
        .map_or(&*said, |(what, _)| what);
    anyhow::Error::msg(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_names_a_file_that_means_nothing_else() {
        for (title, stem) in [
            ("Why does the build end?", "session-why-does-the-build-end"),
            ("AGENTS.md", "session-agents-md"),
            ("../../.bashrc", "session-bashrc"),
            ("日本語 テスト", "session-日本語-テスト"),
            (" \u{1b}[31m/", "session-31m"),
            ("", "session"),
            (&"x".repeat(100), "session"),
            (&"ab ".repeat(50), &format!("session{}", "-ab".repeat(17))),
        ] {
            assert_eq!(file_stem(title), stem, "{title}");
        }
    }
}
