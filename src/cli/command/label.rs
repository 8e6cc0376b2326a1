//! How does an entry get a label?

use clap::Args;
use sessionary::Config;
use sessionary::index::TreeFilter;
use sessionary::model::SessionRow;
use sessionary::session::SessionManager;
use sessionary::session::clido::SessionLine;

use super::clido::has_no;
use super::writing::{DryRun, WriteResult, change, changed};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Label an entry of a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary label 019b3f2a:c1d2e3f4 \"tests are green\"\n  \
    sessionary label last \"good\"                 the session's last entry\n  \
    sessionary label 019b3f2a:c1d2e3f4 --clear   remove its label")]
pub struct Label {
    /// An entry of a session; without :ENTRY, the last one that `tree` shows
    #[arg(value_name = "SESSION[:ENTRY]", add = values::address())]
    entry: String,
    /// The label
    #[arg(required_unless_present = "clear", add = values::label())]
    label: Option<String>,
    /// Remove the label
    #[arg(long, conflicts_with = "label")]
    clear: bool,
    #[command(flatten)]
    dry_run: DryRun,
}

pub fn run(args: &Label, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    if args
        .label
        .as_ref()
        .is_some_and(|label| label.trim().is_empty())
    {
        return Err(Failure::usage("the label is empty").hint("--clear removes a label"));
    }
    change(
        &args.entry,
        args.dry_run,
        config,
        screen,
        |session, entry| given(session, entry, args.label.as_deref()),
        no_labels,
    )
}

/// Gives an entry of a session, or its last, a label; `None`: takes it away.
pub fn label(
    row: &SessionRow,
    entry: Option<String>,
    label: Option<&str>,
    config: &Config,
    screen: &Screen,
) -> Result<WriteResult, Failure> {
    let work = |session: &mut SessionManager, entry: Option<&str>| given(session, entry, label);
    let for_real = DryRun::default();
    changed(row, entry, for_real, config, screen, work, no_labels)
}

fn given(
    session: &mut SessionManager,
    entry: Option<&str>,
    label: Option<&str>,
) -> Result<Option<String>, Failure> {
    let entry = entry.or_else(|| last_entry(session)).map(str::to_owned);
    let entry = entry.ok_or_else(|| Failure::usage("the session has no entry to label"))?;
    if label.is_none() && session.label(&entry).is_none() {
        return Err(Failure::usage(format!("entry {entry} has no label")));
    }
    Ok(Some(session.append_label_change(&entry, label)?))
}

/// The last entry on the active branch that a tree shows. Labels, names and settings are entries
/// too, but agents do not show them, and copies of a branch leave labels of labels out.
fn last_entry(session: &SessionManager) -> Option<&str> {
    let branch = session.branch();
    let is_shown = |kind: &str| !TreeFilter::Default.hides(kind);
    let last = branch
        .into_iter()
        .rev()
        .find(|entry| is_shown(entry.kind()));
    last?.id()
}

fn no_labels() -> Result<SessionLine, Failure> {
    Err(has_no("labels").hint("`sessionary name` names the whole session"))
}
