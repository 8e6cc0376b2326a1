//! How does a session get a name?

use clap::Args;
use sessionary::Config;
use sessionary::model::SessionRow;
use sessionary::session::SessionManager;
use sessionary::session::clido::SessionLine;

use super::writing::{DryRun, WriteResult, change, changed};
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Name a session
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary name last \"Refactor the parser\"\n  \
    sessionary name 019b3f2a \"\"                remove the name\n  \
    sessionary name last Parser --dry-run\n\n\
    The name is one entry at the end of the session's file; the agent shows it too. In a session of\n\
    clido it is a title: clido's list shows the last one, a resumed session the first. indusagi\n\
    passes over empty names: there a name is replaced, not removed.")]
pub struct Name {
    /// Session id, the start of one, a path, a name or title, `last`, or `last~N`
    #[arg(add = values::session())]
    session: String,
    /// The name; an empty one removes it
    name: String,
    #[command(flatten)]
    dry_run: DryRun,
}

pub fn run(args: &Name, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    change(
        &args.session,
        args.dry_run,
        config,
        screen,
        |session, _| given(session, &args.name),
        || Ok(title(&args.name)),
    )
}

/// Gives a session a name.
pub fn name(
    row: &SessionRow,
    name: &str,
    config: &Config,
    screen: &Screen,
) -> Result<WriteResult, Failure> {
    let work = |session: &mut SessionManager, _: Option<&str>| given(session, name);
    let for_real = DryRun::default();
    changed(row, None, for_real, config, screen, work, || {
        Ok(title(name))
    })
}

fn given(session: &mut SessionManager, name: &str) -> Result<Option<String>, Failure> {
    Ok(Some(session.append_session_info(name)?))
}

/// What clido has instead of a name.
fn title(name: &str) -> SessionLine {
    let title = name.replace(['\r', '\n'], " ").trim().to_owned();
    SessionLine::Title { title }
}
