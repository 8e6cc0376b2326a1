//! How does an entry get a label?

use clap::Args;
use sessionary::Config;

use super::clido::has_no;
use super::writing::{DryRun, change};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Label an entry of a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary label 019b3f2a:c1d2e3f4 \"tests are green\"\n  \
    sessionary label last \"good\"                 the entry where the session stands\n  \
    sessionary label 019b3f2a:c1d2e3f4 --clear   take its label away")]
pub struct Label {
    /// A session, and the entry; without one the entry where the session stands
    #[arg(value_name = "SESSION[:ENTRY]")]
    entry: String,
    /// The label
    #[arg(required_unless_present = "clear")]
    label: Option<String>,
    /// Take the label away
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
        return Err(Failure::usage("the label is empty").hint("--clear takes a label away"));
    }
    change(
        &args.entry,
        args.dry_run,
        config,
        screen,
        |session, entry| {
            let entry = match entry.or(session.leaf_id()) {
                Some(entry) => entry.to_owned(),
                None => return Err(Failure::usage("the session has no entry to label")),
            };
            Ok(Some(
                session.append_label_change(&entry, args.label.as_deref())?,
            ))
        },
        || Err(has_no("labels").hint("`sessionary name` names all of it")),
    )
}
