//! What does a session say? Its transcript, one entry of it, or its exact bytes.

use std::io::Write;

use clap::Args;
use sessionary::index::{Highlighter, ShowScope, ShownPart};
use sessionary::model::{Class, SessionRow, ShortIds, ShownEntry};
use sessionary::syntax::{self, Now};
use sessionary::{Config, Error, Index};

use super::naming;
use super::session_page::{self, Made};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::bounded::PageArgs;
use crate::output::cursor::question;
use crate::output::fields::{FieldArgs, Fields, names_of};
use crate::output::spool::Spool;
use crate::output::style::Tone;
use crate::output::text::{columns, plain_line, plain_lines};
use crate::output::transcript::{self, is_of_another, is_setting, says_nothing};
use crate::output::wrap::Wrap;
use crate::picker::Purpose;

/// Lines of a tool's output, or of a system prompt, that a terminal is shown.
const OUTPUT_LINES: usize = 12;

/// Read back a session, or one entry of it
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary show last                        the active branch of the newest session here\n  \
    sessionary show 019b3f2a:c1d2e3f4           one entry, as `search` prints its address\n  \
    sessionary show 019b3f2a:L17 --context 3    line 17, three entries before and three after\n  \
    sessionary show 019b3f2a --raw > copy.jsonl the exact bytes\n  \
    sessionary show last --json --max-bytes 20000    for a program: the rest follows by --cursor\n\n\
    On a terminal long tool output and system prompts are cut. --full shows all of them, and so \
    does a pipe or naming the entry.")]
pub struct Show {
    /// Session id, the start of one, a path, a name or title, `last`, or `last~N`; `:ENTRY` names
    /// one entry (an id, the start of one, or L<line>)
    #[arg(value_name = "SESSION[:ENTRY]", add = values::address())]
    session: Option<String>,
    /// Show N entries before and after ENTRY too
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    context: usize,
    /// Show the branch that ends at this entry instead of the active one
    #[arg(short, long, value_name = "LEAF", conflicts_with = "all")]
    branch: Option<String>,
    /// Show all entries in file order, those that say nothing, and bytes that are not entries
    #[arg(short, long)]
    all: bool,
    /// Print the exact bytes of the file
    #[arg(long, conflicts_with_all = ["branch", "all", "fields", "tsv", "context", "full"])]
    raw: bool,
    /// Do not cut long tool output and system prompts
    #[arg(long)]
    full: bool,
    /// Make what QUERY finds stand out, where there are colours
    #[arg(long, value_name = "QUERY", conflicts_with_all = ["raw", "json", "fields", "tsv"])]
    highlight: Option<String>,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    fields: FieldArgs,
}

pub fn run(args: &Show, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    if args.raw && screen.json {
        return Err(Failure::usage(
            "--raw prints the bytes of the file, which --json cannot hold",
        ));
    }
    args.page.check(screen.json)?;
    let highlighter = highlighter(args.highlight.as_deref(), screen)?;
    let named = super::pick::named("show", &args.session, Purpose::Show, config, screen)?;
    let Some(name) = named else {
        return Ok(Outcome::No);
    };
    let mut index = super::open(config, screen)?;
    let (session, entry) = naming::named(&name, &mut index, config, screen)?;
    if args.raw {
        return raw(&session, entry.as_deref(), &index);
    }
    let branch = args.branch.as_deref();
    let branch = branch.map(|leaf| index.ask(|snapshot| snapshot.entry_named(&session, leaf)));
    let scope = ShowScope {
        entry,
        context: args.context,
        branch: branch.transpose()?,
        all: args.all,
        everything: false,
        mask: screen.mask(),
    };
    if args.page.is_asked() || args.fields.are_asked() {
        return part(args, &session, &scope, &mut index, screen);
    }
    let look = Look {
        full: args.full || screen.width.is_none(),
        all: args.all,
        highlighter,
        ids: index.ask(|snapshot| snapshot.short_entry_ids(&session))?,
        screen,
    };
    whole(&session, &scope, &look, &mut index)
}

/// Prints all of it, piece by piece.
fn whole(
    session: &SessionRow,
    scope: &ShowScope,
    look: &Look<'_>,
    index: &mut Index,
) -> Result<Outcome, Failure> {
    let screen = look.screen;
    session_page::whole(index, screen, |index, whole| {
        index.show_each(session, scope, &mut |part| match part {
            ShownPart::Head(head) => {
                super::say_lost(screen, head.lost.as_deref());
                whole.begin(head, || super::tree::heading(&head.session, screen))
            }
            ShownPart::Entry(entry) => {
                let focus = whole.head.as_ref().and_then(|head| head.focus.as_ref());
                let focused = focus == Some(&entry.id);
                whole.entry(&entry, || printed(&entry, focused, look))
            }
        })
    })
}

/// Prints a part of it: no more bytes, or no other fields, than are asked for.
fn part(
    args: &Show,
    session: &SessionRow,
    scope: &ShowScope,
    index: &mut Index,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let columns = ["id", "role", "time", "text"];
    let fields = args
        .fields
        .of(names_of::<ShownEntry>, &columns, screen.json)?;
    let made = page(index, session, scope, &args.page, &fields, &|| Ok(()))?;
    session_page::print(made, index, screen)
}

/// That part as it is printed, and how many entries it shows. Before each of them `go_on` is asked,
/// whose error ends it.
pub fn page(
    index: &Index,
    session: &SessionRow,
    scope: &ShowScope,
    bounds: &PageArgs,
    fields: &Fields,
    go_on: &dyn Fn() -> Result<(), Error>,
) -> Result<Made, Failure> {
    let (entry, branch) = (&scope.entry, &scope.branch);
    let question = question((
        "show",
        &session.path,
        entry,
        scope.context,
        branch,
        scope.all,
    ));
    session_page::page(&session.id, bounds, fields, question, |page, head| {
        index.show_each(session, scope, &mut |part| match part {
            ShownPart::Head(opening) => {
                *head = Some(opening.clone());
                Ok(())
            }
            ShownPart::Entry(entry) => {
                go_on()?;
                page.offer(entry)
            }
        })
    })
}

/// Prints an entry, or the session's file, as it is.
fn raw(session: &SessionRow, entry: Option<&str>, index: &Index) -> Result<Outcome, Failure> {
    if entry.is_some() {
        let mut out = Spool::default();
        index.copy_raw(session, entry, &mut out)?;
        out.print()?;
    } else {
        // A whole file may be long, and no snapshot is held while it is copied.
        let mut out = std::io::stdout().lock();
        index.copy_raw(session, None, &mut out)?;
        out.flush()?;
    }
    Ok(Outcome::Yes)
}

/// How entries look.
struct Look<'a> {
    /// Long tool output is not cut.
    full: bool,
    /// Settings are shown as all other entries are, and those that say nothing, too.
    all: bool,
    highlighter: Option<Highlighter>,
    ids: ShortIds,
    screen: &'a Screen,
}

/// What makes parts of the text stand out.
fn highlighter(query: Option<&str>, screen: &Screen) -> Result<Option<Highlighter>, Failure> {
    let Some(query) = query else {
        return Ok(None);
    };
    let query = syntax::parse(query, Now::utc(screen.now_ms)).map_err(sessionary::Error::from)?;
    Ok(Highlighter::new(&query))
}

fn printed(entry: &ShownEntry, focused: bool, look: &Look<'_>) -> String {
    // The entry before says it, under whose name it stands.
    if !focused && is_of_another(entry) {
        return String::new();
    }
    if !look.all && !focused {
        if says_nothing(entry) {
            return String::new();
        }
        if is_setting(entry) {
            return setting(entry, look.screen);
        }
    }
    let mut out = format!("\n{}", rule(entry, focused, look));
    // A system prompt may be longer than all that was said.
    let is_prompt = entry.role.as_deref() == Some("system");
    for (class, pieces) in &entry.text {
        let stands_back = is_prompt || *class == Class::Output;
        for piece in pieces {
            out.push_str(&paragraph(*class, piece, stands_back, focused, look));
        }
    }
    out
}

/// A setting, on one line.
fn setting(entry: &ShownEntry, screen: &Screen) -> String {
    let line = format!("── {}", transcript::setting(entry));
    format!("\n{}\n", screen.style.paint(Tone::Quiet, line.trim_end()))
}

/// The line above an entry: who, when, which.
fn rule(entry: &ShownEntry, focused: bool, look: &Look<'_>) -> String {
    let screen = look.screen;
    let style = screen.style;
    let head = transcript::head(entry, screen.zone());
    let after: String = head.after.iter().map(|part| format!(" · {part}")).collect();
    // Bytes that are no entry cannot be asked for.
    let id = match entry.kind.as_str() {
        "problem" => String::new(),
        _ => format!(" · {}", plain_line(look.ids.short(&entry.id))),
    };
    let mark = if focused { "▶▶" } else { "──" };
    let taken = 3 + columns(&head.who) + columns(&after) + columns(&id) + 1;
    let rest = screen.width.unwrap_or(80).min(100).saturating_sub(taken);
    let tone = if head.is_bad { Tone::Bad } else { Tone::Strong };
    format!(
        "{} {}{}{} {}\n",
        style.paint(Tone::Quiet, mark),
        style.paint(tone, &head.who),
        style.paint(Tone::Quiet, &after),
        style.paint(Tone::Name, &id),
        style.paint(Tone::Quiet, &"─".repeat(rest)),
    )
    .trim_end()
    .to_owned()
        + "\n"
}

/// One piece of text; what tools took and gave, and system prompts, stand back and may be cut.
fn paragraph(
    class: Class,
    piece: &str,
    stands_back: bool,
    focused: bool,
    look: &Look<'_>,
) -> String {
    let text = plain_lines(piece);
    let text = text.trim_end_matches('\n');
    let marks = look
        .highlighter
        .iter()
        .flat_map(|one| one.marks(class, text));
    let marks: Vec<(usize, usize)> = marks.map(|mark| (mark.start, mark.end)).collect();
    let style = look.screen.style;
    let (tone, margin, most) = match stands_back {
        false => (Tone::Plain, "", usize::MAX),
        true if look.full || focused => (Tone::Quiet, "  │ ", usize::MAX),
        true => (Tone::Quiet, "  │ ", OUTPUT_LINES),
    };
    // An empty text of a person's is a line of its own.
    let number = text.lines().count().max(usize::from(class == Class::Prose));
    let shown = if number <= most.saturating_add(2) {
        number
    } else {
        most
    };
    // Only what is said in words is broken at words.
    let width = look.screen.width.filter(|_| class == Class::Prose);
    let mut wrap = Wrap::new(width);
    let (mut out, mut at) = (String::new(), 0);
    for line in text.split('\n').take(shown) {
        for (indent, piece) in wrap.pieces(line) {
            let before = format!("{margin}{:indent$}", "");
            let part = at + piece.start..at + piece.end;
            let painted = match marks.is_empty() {
                true => style.paint(tone, &(before + &text[part])),
                false => style.paint(tone, &before) + &style.paint_marked(tone, text, part, &marks),
            };
            out.push_str(&painted);
            out.push('\n');
        }
        at += line.len() + 1;
    }
    if shown < number {
        out.push_str(&format!(
            "  … {} more lines; --full shows them\n",
            number - shown
        ));
    }
    out
}
