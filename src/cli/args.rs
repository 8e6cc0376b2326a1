//! What can be typed after `sessionary`? The options that every verb shares, and the list of verbs.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::command::{
    config, list, rebuild, resume, search, show, sql, status, sync, tree, verify,
};

/// Find and read back every session you ever had with a coding agent
///
/// Without a command: a short overview of what is there.
#[derive(Debug, Parser)]
#[command(name = "sessionary", version)]
#[command(
    after_help = "Session files are only ever read. The index is a cache: delete it and nothing is lost.\n\
    Exit codes: 0 found or done, 1 nothing found or `verify` differs, 2 error."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every verb.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options for every command")]
pub struct Global {
    /// Keep the index in DIR [default: $SESSIONARY_INDEX_DIR, else `index` of the configuration file, else the user's cache folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub index: Option<PathBuf>,
    /// Also read the sessions in DIR; FORMAT is the name of an agent or a format
    #[arg(long = "root", global = true, value_name = "FORMAT:DIR[=LABEL]")]
    pub roots: Vec<String>,
    /// Read only what --root names, not the agents' usual places
    #[arg(long, global = true)]
    pub no_default_roots: bool,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Use colours; `auto`: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Fit the output into N columns, as if printed on a terminal that wide
    #[arg(
        long,
        global = true,
        value_name = "N",
        hide = true,
        overrides_with = "width"
    )]
    pub width: Option<usize>,
    /// Count ages from this moment
    #[arg(long, global = true, value_name = "ISO", hide = true)]
    pub now: Option<jiff::Timestamp>,
}

/// When to use colours. Its variants carry no help of their own, which would stretch every page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    List(list::List),
    Search(search::Search),
    Tree(tree::TreeArgs),
    Show(show::Show),
    Resume(resume::ResumeArgs),
    Sql(sql::Sql),
    Sync(sync::Sync),
    Rebuild(rebuild::Rebuild),
    Status(status::StatusArgs),
    Verify(verify::Verify),
    Config(config::ConfigArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn shared_options_may_stand_on_either_side_of_the_verb() {
        for typed in ["sessionary --json list", "sessionary list --json"] {
            assert!(
                Cli::try_parse_from(typed.split(' ')).is_ok_and(|cli| cli.global.json),
                "{typed}"
            );
        }
    }
}
