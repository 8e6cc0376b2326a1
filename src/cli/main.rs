//! What happens when someone types `sessionary`? Arguments are read, one verb runs, the exit code
//! tells.
//!
//! The binary is a thin shell: it reads the environment, calls the library, and prints the structs
//! that come back. stdout is data, stderr is talk.

#![cfg_attr(
    not(test),
    warn(
        clippy::too_many_lines,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable
    )
)]

mod again;
mod agents;
mod args;
mod autostart;
mod background;
mod command;
mod completing;
mod confined;
mod deletions;
mod demo;
mod failure;
mod groups;
mod here;
mod kept;
mod known_trees;
mod news;
mod not_read;
mod on_path;
mod output;
mod picker;
mod places;
mod pusher;
mod redact;
mod rpc;
mod suggest;

use std::process::ExitCode;

use args::Cli;
use demo::Demo;
use failure::{Failure, Outcome};
use output::Screen;

fn main() -> ExitCode {
    if completing::answered() {
        return ExitCode::SUCCESS;
    }
    keep_quiet_of_caught_panics();
    survive_limits();
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(error) => return failure::usage(error),
    };
    let json = cli.global.json;
    match run(cli) {
        Ok(outcome) => outcome.into(),
        Err(failure) => failure.report(json),
    }
}

fn run(cli: Cli) -> Result<Outcome, Failure> {
    // To its end: then its folder goes.
    let _demo = match cli.global.demo {
        true => Some(Demo::begin(&cli.global)?),
        false => None,
    };
    let screen = Screen::new(&cli.global)?;
    command::run(cli, &screen)
}

/// Whoever writes beyond the limit on the length of files is to be told so, as of a full disk; by
/// default that ends the process. What is started from here has the default again.
fn survive_limits() {
    #[cfg(unix)]
    {
        let too_long = rustix::process::Signal::XFSZ.as_raw();
        // Where that is refused it is as it was.
        let _ = signal_hook::flag::register(too_long, std::sync::Arc::default());
    }
}

/// Damaged words are told by the answer itself; what they made the engine assert is of no use to
/// anybody.
fn keep_quiet_of_caught_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !sessionary::index::panic_is_caught() {
            usual(panic);
        }
    }));
}
