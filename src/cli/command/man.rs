//! What does the manual say? The same as `--help`, as pages for man.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory};

use crate::args::Cli;
use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::suggest;

/// Print the manual page of sessionary or of one command
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary man | man -l -\n  \
    sessionary man search | man -l -\n  \
    sessionary man --to ~/.local/share/man/man1   one page per command")]
pub struct Man {
    /// The command
    #[arg(value_name = "COMMAND", add = values::command())]
    command: Option<String>,
    /// Write one page per command into DIR instead
    #[arg(long, value_name = "DIR", conflicts_with = "command", add = values::folder())]
    to: Option<PathBuf>,
}

pub fn run(args: &Man, screen: &Screen) -> Result<Outcome, Failure> {
    if screen.json {
        return Err(Failure::usage("a manual page is not JSON"));
    }
    let mut cli = Cli::command();
    // Names the subcommands `sessionary-list` and gives them the options of every command.
    cli.build();
    if let Some(folder) = &args.to {
        let with_folder = |error| Failure::from(anyhow::anyhow!("{}: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(with_folder)?;
        clap_mangen::generate_to(cli, folder).map_err(with_folder)?;
        screen.say(&format!("Pages written to {}.", screen.path(folder)));
        return Ok(Outcome::Yes);
    }
    let page = match &args.command {
        None => cli,
        Some(name) => cli.find_subcommand(name).cloned().ok_or_else(|| {
            let none = Failure::usage(format!("no command is called `{name}`"));
            let near = suggest::nearest(name, &cli);
            let near = near.iter().map(|name| format!("did you mean `{name}`?"));
            near.fold(none, Failure::hint)
                .hint("`sessionary --help` lists them")
        })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    screen.bytes(&text)?;
    Ok(Outcome::Yes)
}
