//! What talks to other machines? A program of its own, `sessionary-team`, which this verb runs: in
//! `sessionary` nothing opens a connection.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process;

use clap::Args;
use sessionary::settings::INDEX_VARIABLE;

use crate::args::Global;
use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::on_path;
use crate::output::Screen;

/// Share the sessions of chosen repositories with other machines, by `sessionary-team`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary team init dir:/home/ada/Sync/sessions   name a folder that something else synchronises\n  \
    sessionary team share .                            share the sessions of this repository\n  \
    sessionary team push                               send what is new\n  \
    sessionary team pull                               bring what other machines share\n  \
    sessionary team help                               every command, as `sessionary-team` explains it\n\n\
    It runs `sessionary-team`, which stands beside this program or on the PATH.\n\
    Exit codes: those of `sessionary-team`; 2 where it is missing.")]
pub struct Team {
    /// What `sessionary-team` is asked for
    #[arg(
        value_name = "ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    arguments: Vec<OsString>,
}

pub fn run(args: &Team, global: &Global, screen: &Screen) -> Result<Outcome, Failure> {
    hand_over(&args.arguments, global, screen)
}

/// Become `sessionary-team`, asked for this.
pub fn hand_over(
    arguments: &[OsString],
    global: &Global,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    demo::refuse(
        "made-up sessions are shared with nobody",
        "without --demo it shares yours",
    )?;
    if !global.roots.is_empty() || global.no_default_roots || global.follow_links {
        return Err(Failure::usage(
            "--root, --no-default-roots and --follow-links do not hold for what is shared",
        )
        .hint("`roots` and `follow_links` in the configuration file do"));
    }
    if global.dir {
        return Err(Failure::usage("--dir means nothing to what is shared"));
    }
    if global.reveal {
        return Err(Failure::usage(
            "--reveal does not bring back what was redacted when it was shared",
        )
        .hint("whoever shares sends keys and tokens by `sessionary team push --raw`"));
    }
    let mut command = command(global);
    if screen.json {
        command.arg("--json");
    }
    if global.utc {
        command.arg("--utc");
    }
    let error = super::become_it(command.args(arguments));
    Err(match error.kind() {
        io::ErrorKind::NotFound => missing(),
        _ => Failure::refused(format!("sessionary-team: {error}")),
    })
}

/// Says that there is no `sessionary-team`, and where it comes from.
pub fn missing() -> Failure {
    Failure::refused("sessionary-team is neither beside this program nor on the PATH")
        .hint(
            "`pip install sessionary-team` installs it, or `npm install --global \
             @sessionary/team-linux-x64` (or another system's name); the program of the archive \
             sessionary-team-… is put beside this one",
        )
        .hint("in a checkout, `cargo install --locked --path crates/team` installs it")
}

/// `sessionary-team`, with the index that is meant.
pub fn command(global: &Global) -> process::Command {
    let mut command = process::Command::new(program());
    if let Some(index) = &global.index {
        command.env(INDEX_VARIABLE, index);
    }
    command
}

/// The one beside this program, which is of its version; else whichever the PATH has. On Windows
/// npm puts a batch file there.
fn program() -> PathBuf {
    let name = format!("sessionary-team{}", env::consts::EXE_SUFFIX);
    let own = env::current_exe().and_then(|own| own.canonicalize());
    let beside = own.ok().map(|own| own.with_file_name(&name));
    let beside = beside.filter(|beside| beside.is_file());
    beside.unwrap_or_else(|| on_path::program("sessionary-team"))
}
