//! `sessionary-team`: what `sessionary team …` runs. The one program of the project that may go to
//! the network.

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

mod context;
mod init;
mod leave;
mod output;
mod pull;
mod purge;
mod push;
mod revoke;
mod share;
mod sql;
mod status;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use sessionary_team::Error;

use context::Context;
use output::Outcome;

/// Share the sessions of chosen repositories between machines and people
///
/// Nothing is shared but the sessions of repositories that `share` names, and of these no keys and
/// tokens. What `exclude` in the configuration file names never leaves this machine.
#[derive(Debug, Parser)]
#[command(name = "sessionary-team", bin_name = "sessionary team", version)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Examples:\n  \
    sessionary team init dir:/home/ada/Sync/sessions   a folder that something else synchronises\n  \
    sessionary team share .                            the repository around the current directory\n  \
    sessionary team push --dry-run                     what would be sent, without sending it\n  \
    sessionary team push                               send it\n  \
    sessionary team pull                               bring what other machines share\n  \
    sessionary team revoke .                           take it back\n\n\
    Exit codes: 0 done; 1 done, but for what is named on standard error; 2 error.")]
struct Cli {
    /// Print JSON instead of text
    #[arg(long, global = true)]
    json: bool,
    /// Have days and times in UTC instead of your time zone
    #[arg(long, global = true)]
    utc: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Init),
    Share(share::Share),
    Push(push::Push),
    Pull(pull::Pull),
    Status(status::Status),
    Revoke(revoke::Revoke),
    Purge(purge::Purge),
    Sql(sql::Sql),
    Leave(leave::Leave),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    match run(&cli) {
        Ok(outcome) => outcome.into(),
        Err(error) => output::report(&error, cli.json),
    }
}

fn run(cli: &Cli) -> Result<Outcome, Error> {
    let context = Context::of_this_process(cli.json, cli.utc)?;
    match &cli.command {
        Command::Init(args) => init::run(args, &context),
        Command::Share(args) => share::run(args, &context),
        Command::Push(args) => push::run(args, &context),
        Command::Pull(args) => pull::run(args, &context),
        Command::Status(args) => status::run(args, &context),
        Command::Revoke(args) => revoke::run(args, &context),
        Command::Purge(args) => purge::run(args, &context),
        Command::Leave(args) => leave::run(args, &context),
        Command::Sql(args) => sql::run(args, &context),
    }
}
