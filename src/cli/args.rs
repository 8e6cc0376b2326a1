//! What can be typed after `sessionary`? The options that every verb shares, and the list of verbs.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::command::{
    append, archive, blame, clean, commit, completions, config, context, delete, export, fork,
    init, label, list, log, man, mcp, migrate, name, new, pick, rebuild, report, resume, roots,
    search, secrets, serve, setup, show, skill, sql, status, sync, team, tree, verify, watch,
};
use crate::completing::values;
use crate::groups::in_groups;

/// Find and read back every session you ever had with a coding agent
///
/// Without a command it opens the picker, or prints a short overview where there is no terminal.
#[derive(Debug, Parser)]
#[command(name = "sessionary", version)]
#[command(after_help = "Examples:\n  \
    sessionary                         pick a session, and go on with it\n  \
    sessionary ls -a                   every session, newest first, unlisted ones last (list --all)\n  \
    sessionary search tokenizer bug    where was that said?\n  \
    sessionary show last               read back the newest session of this repository\n  \
    sessionary resume last             continue it with its agent\n  \
    sessionary sql 'SELECT local_day, round(cost_total, 2) FROM usage_by_local_day'\n\n\
    Session files are written by new, append, name, label, branch, fork, migrate, `archive restore`, resume (a fork of another machine's session) and the picker's actions; delete moves them to the trash, and back. The index is a cache: delete it and nothing is lost.\n\
    Exit codes: 0 found or done; 1 nothing found, a question answered with no, or what `verify` or `secrets` found; 2 error.")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What was typed.
pub fn parse() -> Result<Cli, clap::Error> {
    let own = env!("CARGO_PKG_VERSION");
    let version = format!("{own}\n{}", sessionary::index::versions());
    // Known only now, and needed to the end of the process.
    let command = in_groups(Cli::command()).long_version(&*version.leak());
    let mut command = Rehearsal::augment_args(command);
    let typed = command.try_get_matches_from_mut(std::env::args_os())?;
    conflicts(&mut command, &typed)?;
    let mut cli = Cli::from_arg_matches(&typed)?;
    let rehearsal = Rehearsal::from_arg_matches(&typed)?;
    cli.global.width = rehearsal.width;
    cli.global.now = rehearsal.now;
    Ok(cli)
}

/// Refuses options that exclude each other. Clap does so on one side of the verb only:
/// `--json list --jsonl` passes it.
fn conflicts(command: &mut clap::Command, typed: &ArgMatches) -> Result<(), clap::Error> {
    let Some((verb, typed)) = typed.subcommand() else {
        return Ok(());
    };
    let Some(command) = command.find_subcommand_mut(verb) else {
        return Ok(());
    };
    let is_typed = |argument: &&clap::Arg| {
        typed.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let pair = command.get_arguments().filter(is_typed).find_map(|one| {
        let others = command.get_arg_conflicts_with(one);
        let other = others.into_iter().find(is_typed)?;
        Some(format!(
            "the argument '{one}' cannot be used with '{other}'"
        ))
    });
    match pair {
        Some(said) => Err(command.error(ErrorKind::ArgumentConflict, said)),
        None => conflicts(command, typed),
    }
}

// What makes two runs print the same, for tests and pictures. It stands apart from the others, so
// that no help, completion or manual knows it.
#[derive(Debug, Args)]
struct Rehearsal {
    /// Fit the output into N columns, as if printed on a terminal that wide
    #[arg(
        long,
        global = true,
        value_name = "N",
        hide = true,
        overrides_with = "width"
    )]
    width: Option<usize>,
    /// Count ages from this moment
    #[arg(
        long,
        global = true,
        value_name = "ISO",
        hide = true,
        overrides_with = "now"
    )]
    now: Option<jiff::Timestamp>,
}

impl Rehearsal {
    /// Whether an option is one of them.
    fn has(option: &str) -> bool {
        ["--width", "--now"].contains(&option)
    }
}

/// The words that anybody may type.
pub fn without_rehearsal(typed: &[String]) -> Vec<String> {
    let mut words = typed.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match Rehearsal::has(word) {
            true => drop(words.next()),
            false => kept.push(word.clone()),
        }
    }
    kept
}

/// Whether clap offers an option that nobody is to know.
pub fn offers_hidden(error: &clap::Error) -> bool {
    let offered = error.get(ContextKind::SuggestedArg);
    matches!(offered, Some(ContextValue::String(option)) if Rehearsal::has(option))
}

/// Options of every verb.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options for every command")]
pub struct Global {
    /// Keep the index in DIR [default: $SESSIONARY_INDEX_DIR, else `index` in the configuration
    /// file, else the user's cache folder]
    #[arg(long, global = true, value_name = "DIR", add = values::folder())]
    pub index: Option<PathBuf>,
    /// Also read the sessions in DIR; FORMAT is the name of an agent or a format
    #[arg(long = "root", global = true, value_name = "FORMAT:DIR[=LABEL]")]
    pub roots: Vec<String>,
    /// Read only what --root names: neither the agents' usual places nor `roots` in the
    /// configuration file
    #[arg(long, global = true)]
    pub no_default_roots: bool,
    /// Follow symbolic links that lead out of the session folders, for this command only
    #[arg(long, global = true)]
    pub follow_links: bool,
    /// Use made-up sessions in a temporary folder; yours are neither read nor written
    #[arg(long, global = true)]
    pub demo: bool,
    /// Narrow "here" from the repository to this directory alone
    #[arg(long, global = true)]
    pub dir: bool,
    /// Print JSON
    #[arg(short, long, global = true)]
    pub json: bool,
    /// Show keys and tokens instead of redacting them; see `redact` in `config --help`
    #[arg(long, global = true)]
    pub reveal: bool,
    /// Show times and cut days in UTC instead of your time zone; see `timezone` in `config --help`
    #[arg(long, global = true)]
    pub utc: bool,
    /// Do not show long output in a pager; see `pager` in `config --help`
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// When to use colours; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// As [`Rehearsal`] says.
    #[arg(skip)]
    pub width: Option<usize>,
    /// As [`Rehearsal`] says.
    #[arg(skip)]
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
    #[command(visible_alias = "ls")]
    List(list::List),
    Search(search::Search),
    Pick(pick::Pick),
    Tree(tree::TreeArgs),
    Show(show::Show),
    Resume(resume::ResumeArgs),
    Context(context::Context),
    New(new::New),
    Append(append::Append),
    Name(name::Name),
    Label(label::Label),
    Branch(fork::Branch),
    Fork(fork::Fork),
    Migrate(migrate::Migrate),
    Export(export::Export),
    #[command(visible_alias = "rm")]
    Delete(delete::Delete),
    Report(report::ReportArgs),
    Blame(blame::BlameArgs),
    Log(log::Log),
    Commit(commit::CommitArgs),
    Secrets(secrets::Secrets),
    Sql(sql::Sql),
    Sync(sync::Sync),
    Watch(watch::WatchArgs),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpArgs),
    Setup(setup::Setup),
    Skill(skill::Skill),
    Rebuild(rebuild::Rebuild),
    Roots(roots::RootsArgs),
    Archive(archive::ArchiveArgs),
    Status(status::StatusArgs),
    Verify(verify::Verify),
    Config(config::ConfigArgs),
    Clean(clean::Clean),
    Team(team::Team),
    Init(init::Init),
    Completions(completions::Completions),
    Man(man::Man),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueHint;
    use clap_complete::engine::ArgValueCompleter;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_letter_means_the_same_everywhere() {
        let mut cli = Cli::command();
        cli.build();
        let mut commands = vec![&cli];
        let mut letters: BTreeMap<char, BTreeSet<&str>> = BTreeMap::new();
        let mut names: BTreeMap<&str, BTreeSet<Option<char>>> = BTreeMap::new();
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands());
            for option in command.get_arguments() {
                let Some(name) = option.get_long() else {
                    continue;
                };
                names.entry(name).or_default().insert(option.get_short());
                if let Some(letter) = option.get_short() {
                    letters.entry(letter).or_default().insert(name);
                }
            }
        }
        assert!(letters.len() > 15, "{letters:?}");
        assert!(
            letters.values().all(|names| names.len() == 1),
            "{letters:?}"
        );
        assert!(
            names.values().all(|letters| letters.len() == 1),
            "{names:?}"
        );
    }

    #[test]
    fn the_table_of_letters_names_every_command_that_has_one() {
        type Letters = BTreeMap<(char, String), BTreeSet<String>>;
        let mut cli = Cli::command();
        cli.build();
        let mut commands = vec![(String::new(), &cli)];
        let mut letters = Letters::new();
        while let Some((name, command)) = commands.pop() {
            for below in command.get_subcommands() {
                let path = format!("{name} {}", below.get_name());
                commands.push((path.trim().to_owned(), below));
            }
            let told = |option: &&clap::Arg| !option.is_hide_set();
            for option in command.get_arguments().filter(told) {
                let (Some(letter), Some(long)) = (option.get_short(), option.get_long()) else {
                    continue;
                };
                let place = match option.is_global_set() {
                    true => "every command".to_owned(),
                    false => name.clone(),
                };
                let places = letters.entry((letter, long.to_owned())).or_default();
                places.insert(place);
            }
        }
        letters.retain(|(_, long), _| !["help", "version"].contains(&long.as_str()));
        let usage = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/usage.md");
        let usage = std::fs::read_to_string(usage).expect("the document");
        let (_, table) = usage.split_once("\n| letter |").expect("the table");
        let rows = table.lines().skip(2).take_while(|row| row.starts_with('|'));
        let quoted = |cell: &str| -> Vec<String> {
            let words = cell.split('`').skip(1).step_by(2);
            words.map(str::to_owned).collect()
        };
        let mut documented = Letters::new();
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            for (letter, long) in quoted(cells[0]).iter().zip(quoted(cells[1])) {
                let mut places = BTreeSet::new();
                for part in cells[2].split(';') {
                    let words = quoted(part);
                    match words.first() {
                        None => drop(places.insert(part.trim().to_owned())),
                        // It is of this letter alone.
                        Some(first) if first.starts_with('-') => {
                            let is_meant = first == letter;
                            places.extend(words.into_iter().skip(1).filter(|_| is_meant));
                        }
                        Some(_) => places.extend(words),
                    }
                }
                let letter = letter.chars().nth(1).expect("a letter");
                documented.insert((letter, long.trim_start_matches('-').to_owned()), places);
            }
        }
        assert_eq!(letters, documented);
    }

    #[test]
    fn paths_are_offered_by_what_keeps_terminals_safe() {
        let mut cli = Cli::command();
        cli.build();
        let mut commands = vec![&cli];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands());
            for argument in command.get_arguments() {
                let is_safe = argument.get_value_hint() == ValueHint::Unknown
                    || argument.get::<ArgValueCompleter>().is_some();
                assert!(is_safe, "{} {}", command.get_name(), argument.get_id());
            }
        }
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

    #[test]
    fn options_that_exclude_each_other_do_so_on_either_side_of_the_verb() {
        for (verb, excluded) in [
            ("list", "--jsonl"),
            ("list", "--fields=id --tsv"),
            ("report", "--csv"),
            ("report", "--html"),
            ("sql x", "--jsonl"),
            ("show last", "--highlight=x"),
        ] {
            for typed in [
                format!("sessionary --json {verb} {excluded}"),
                format!("sessionary {verb} {excluded} --json"),
            ] {
                let mut command = Cli::command();
                let refused = command
                    .try_get_matches_from_mut(typed.split(' '))
                    .and_then(|matches| conflicts(&mut command, &matches));
                let error = refused.expect_err(&typed);
                assert_eq!(error.kind(), ErrorKind::ArgumentConflict, "{typed}");
                assert!(error.to_string().contains("--json"), "{typed}: {error}");
            }
            let mut command = Cli::command();
            let typed = format!("sessionary {verb} {excluded}");
            let matches = command.try_get_matches_from_mut(typed.split(' '));
            let passed = matches.and_then(|matches| conflicts(&mut command, &matches));
            passed.expect(&typed);
        }
    }

    /// The words of our command in a pipeline, as a shell splits these.
    fn words(pipeline: &str) -> Vec<String> {
        let mut commands = vec![Vec::new()];
        let mut word: Option<String> = None;
        let mut quote = None;
        for character in pipeline.chars().chain([' ']) {
            let words = commands.last_mut().expect("a command");
            match (character, quote) {
                ('"' | '\'', None) => {
                    quote = Some(character);
                    word.get_or_insert_default();
                }
                (_, Some(open)) if open == character => quote = None,
                // What is redirected to is a command of its own here.
                ('|' | '>' | '<', None) => commands.push(Vec::new()),
                (' ', None) => words.extend(word.take()),
                _ => word.get_or_insert_default().push(character),
            }
        }
        commands.retain(|words| words.first().is_some_and(|word| word == "sessionary"));
        commands.into_iter().next().unwrap_or_default()
    }

    #[test]
    fn every_example_of_every_help_can_be_typed() {
        let mut verbs = BTreeSet::new();
        let mut commands = vec![Cli::command()];
        commands.extend(Cli::command().get_subcommands().cloned());
        for command in &commands {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let examples = help
                .split_once("Examples:\n")
                .map_or("", |(_, after)| after);
            let examples = examples.lines().take_while(|line| line.starts_with("  "));
            // What follows several blanks explains.
            let typed = examples.map(|line| line.trim_start().split("  ").next().unwrap_or(line));
            let mut of_its_own = 0;
            for typed in typed {
                let words = words(typed);
                let wrong = Cli::try_parse_from(&words)
                    .err()
                    .map(|error| error.to_string());
                assert_eq!(wrong, None, "{typed}");
                of_its_own += usize::from(words.iter().any(|word| word == command.get_name()));
                verbs.extend(words.into_iter().skip(1));
            }
            assert!(of_its_own > 1, "{}: examples", command.get_name());
            // Within a sentence a longer line that is broken by hand would be broken once more.
            for line in help.lines() {
                let fits = line.chars().count() <= 100 || line.ends_with('.');
                assert!(fits, "{}: {line}", command.get_name());
            }
        }
        for verb in Cli::command().get_subcommands() {
            assert!(verbs.contains(verb.get_name()), "{}", verb.get_name());
        }
    }
}
