//! What branches does a session have?

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Deserialize;
use sessionary::index::{TreeFilter, TreePart, TreeScope};
use sessionary::model::{SessionRow, Tree, TreeRow};
use sessionary::{Config, Index};

use super::session_page::{self, Made};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::bounded::PageArgs;
use crate::output::branches::{ASCII, Signs, UNICODE, prefixes, row_parts};
use crate::output::cursor::question;
use crate::output::fields::{FieldArgs, Fields, names_of};
use crate::output::style::Tone;
use crate::output::text::{fit, plain_line};
use crate::output::wrap::Wrap;
use crate::picker::Purpose;

/// Show the tree of a session: branches, labels, the active leaf
#[derive(Debug, Args)]
#[command(
    name = "tree",
    after_help = "Examples:\n  \
    sessionary tree last\n  \
    sessionary tree 019b3f2a --filter user-only\n  \
    sessionary tree ~/.pi/agent/sessions/--code--/2026-01-05T09-00-00-250Z_019b.jsonl --filter all\n\n\
    Only branches are indented. ● and ◆ are on the active branch; ◆ is its leaf."
)]
pub struct TreeArgs {
    /// Session id, the start of one, a path, a name or title, `last`, or `last~N`
    #[arg(add = values::session())]
    session: Option<String>,
    /// Which entries to show
    #[arg(long, value_name = "WHICH", default_value = "default")]
    filter: Filter,
    /// Draw with ASCII characters
    #[arg(long)]
    ascii: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    fields: FieldArgs,
}

/// pi's tree filters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// What pi shows by default
    #[default]
    Default,
    /// Without what tools were told and gave back
    NoTools,
    /// Only what the user said
    UserOnly,
    /// Only labelled entries
    LabeledOnly,
    /// Every entry
    All,
}

impl From<Filter> for TreeFilter {
    fn from(filter: Filter) -> Self {
        match filter {
            Filter::Default => Self::Default,
            Filter::NoTools => Self::NoTools,
            Filter::UserOnly => Self::UserOnly,
            Filter::LabeledOnly => Self::LabeledOnly,
            Filter::All => Self::All,
        }
    }
}

pub fn run(args: &TreeArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    args.page.check(screen.json)?;
    let named = super::pick::named("tree", &args.session, Purpose::Tree, config, screen)?;
    let Some(name) = named else {
        return Ok(Outcome::No);
    };
    let mut index = super::open(config, screen)?;
    // The address of an entry names its session.
    let (session, _) = super::naming::named(&name, &mut index, config, screen)?;
    let scope = TreeScope {
        filter: args.filter.into(),
        mask: screen.mask(),
        ..TreeScope::default()
    };
    if args.page.is_asked() || args.fields.are_asked() {
        return part(args, &session, scope, &mut index, screen);
    }
    whole(args, &session, scope, &mut index, screen)
}

/// Prints all of it, piece by piece.
fn whole(
    args: &TreeArgs,
    session: &SessionRow,
    scope: TreeScope<'_>,
    index: &mut Index,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let signs = if args.ascii { &ASCII } else { &UNICODE };
    let ids = index.ask(|snapshot| snapshot.short_entry_ids(session))?;
    let outcome = session_page::whole(index, screen, |index, whole| {
        let mut before = Vec::new();
        index.tree_each(session, scope.clone(), &mut |part| match part {
            TreePart::Head(head) => {
                super::say_lost(screen, head.lost.as_deref());
                whole.begin(head, || above(head, screen))
            }
            TreePart::Parents(_) if screen.json => Ok(()),
            TreePart::Parents(parents) => {
                before = prefixes(parents, signs);
                Ok(())
            }
            TreePart::Row(row) => {
                let prefix = before.get(whole.shown);
                let prefix = prefix.map_or("", |prefix: &Rc<str>| prefix);
                whole.entry(&row, || {
                    let id = plain_line(ids.short(&row.id));
                    line(&row, &id, prefix, signs, screen)
                })
            }
        })
    })?;
    if outcome == Outcome::No {
        screen.say("No entries to show; --filter all shows every entry.");
    }
    Ok(outcome)
}

/// Prints a part of it: no more bytes, or no other fields, than are asked for.
fn part(
    args: &TreeArgs,
    session: &SessionRow,
    scope: TreeScope<'_>,
    index: &mut Index,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let columns = ["id", "role", "time", "text"];
    let fields = args.fields.of(names_of::<TreeRow>, &columns, screen.json)?;
    let made = page(index, session, scope, &args.page, &fields)?;
    session_page::print(made, index, screen)
}

/// That part as it is printed, and how many entries it shows. What it has no room for is not read.
pub fn page(
    index: &Index,
    session: &SessionRow,
    scope: TreeScope<'_>,
    bounds: &PageArgs,
    fields: &Fields,
) -> Result<Made, Failure> {
    let question = question(("tree", &session.path, scope.filter));
    session_page::page(&session.id, bounds, fields, question, |page, head| {
        let page = RefCell::new(page);
        let scope = TreeScope {
            without: Some(&|place| !page.borrow().wants(u64::from(place))),
            ..scope.clone()
        };
        index.tree_each(session, scope, &mut |part| match part {
            TreePart::Head(opening) => {
                *head = Some(opening.clone());
                Ok(())
            }
            TreePart::Parents(_) => Ok(()),
            TreePart::Row(row) => page.borrow_mut().offer(row),
        })
    })
}

/// Lines about a session, above its tree or transcript.
pub fn heading(row: &SessionRow, screen: &Screen) -> String {
    let mut about = vec![plain_line(&row.agent)];
    about.extend(row.label.as_deref().map(plain_line));
    about.push(screen.path(Path::new(&row.cwd)));
    about.push(screen.minute(row.created.as_deref()));
    about.extend(row.model.as_deref().map(plain_line));
    about.push(crate::output::time::count(row.entries, "entry"));
    about.retain(|part| !part.is_empty());
    let title = super::title(row).1;
    let title = fit(&title, screen.width.unwrap_or(200));
    let quiet = |text: &str| format!("{}\n", screen.style.paint(Tone::Quiet, text));
    let mut out = format!("{}\n", screen.style.paint(Tone::Strong, &title));
    let about = about.join(" · ");
    for (_, piece) in Wrap::new(screen.width).pieces(&about) {
        out.push_str(&quiet(&about[piece]));
    }
    out.push_str(&quiet(&screen.path(&row.path)));
    if row.archived {
        let since = screen.minute(row.gone_since.as_deref());
        let line = format!("archived: its file is gone since {since}");
        out.push_str(&quiet(line.trim_end_matches(" since ")));
    }
    if !row.listed_by_agent {
        let reason = plain_line(row.reason.as_deref().unwrap_or("unknown reason"));
        let line = format!("not listed by {}: {reason}", plain_line(&row.agent));
        out.push_str(&format!("{}\n", screen.style.paint(Tone::Warn, &line)));
    }
    out
}

/// All that stands above the rows.
fn above(tree: &Tree, screen: &Screen) -> String {
    let mut out = heading(&tree.session, screen);
    for (what, paths) in [
        ("subagent of", &tree.started_by),
        ("forked from", &tree.ancestors),
        ("fork", &tree.forks),
        ("subagent", &tree.subagents),
    ] {
        for path in paths {
            out.push_str(&format!("{what} {}\n", screen.path(Path::new(path))));
        }
    }
    out.push('\n');
    out
}

/// The line of an entry.
fn line(row: &TreeRow, id: &str, prefix: &str, signs: &Signs, screen: &Screen) -> String {
    let parts = row_parts(row, id, prefix, signs, screen.width);
    let parts = parts
        .iter()
        .map(|(tone, text)| screen.style.paint(*tone, text));
    let mut out: String = parts.collect();
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use sessionary::index::ListScope;
    use sessionary::model::Mask;
    use sessionary::{Freshness, Indexer, RootSpec};

    use super::*;

    #[test]
    fn what_a_page_has_no_room_for_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap().join("sessions");
        fs::create_dir(&root).unwrap();
        let at = "2026-01-05T09:00:00.000Z";
        let mut lines = vec![serde_json::json!(
            {"type": "session", "version": 3, "id": "s", "timestamp": at, "cwd": "/w"}
        )];
        lines.extend((0..60).map(|number: usize| {
            let parent = number.checked_sub(1).map(|above| format!("e{above}"));
            serde_json::json!({"type": "message", "id": format!("e{number}"), "parentId": parent,
                "timestamp": at, "message": {"role": "user", "content": "said"}})
        }));
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(root.join("one.jsonl"), lines).unwrap();
        let config = Config::new(folder.path().join("index"), vec![RootSpec::new("pi", root)]);
        Indexer::open(&config).unwrap().sync().unwrap();
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let session = index
            .list(&ListScope::default())
            .unwrap()
            .sessions
            .remove(0);

        let read = |most| {
            let texts = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&texts);
            let count = move |text: &str| {
                counted.fetch_add(usize::from(text == "said"), Ordering::Relaxed);
                None
            };
            let scope = TreeScope {
                mask: Some(Mask::new(count)),
                ..TreeScope::default()
            };
            let bounds = PageArgs::of(most, None);
            let (_, shown, _) = page(&index, &session, scope, &bounds, &Fields::ALL).unwrap();
            (shown, texts.load(Ordering::Relaxed))
        };
        let (all, of_all) = read(None);
        let (shown, of_page) = read(Some(3_000));
        assert!(all == 60 && of_all >= all);
        // What the head has of them is read anyway.
        assert!(
            (1..30).contains(&shown) && of_page < 30,
            "{shown} {of_page}"
        );
    }
}
