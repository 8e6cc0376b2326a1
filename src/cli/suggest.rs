//! What was meant by words that cannot be understood?

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Parser};
use sessionary::settings::known_names;
use sessionary::syntax::{self, Now};

use crate::args::{self, Cli};
use crate::completing::values;
use crate::failure::Failure;
use crate::output::quote;

/// Commands that are named, at most.
const MOST: usize = 2;

/// What other programs call commands of this one.
const SYNONYMS: [(&str, &str); 9] = [
    ("remove", "delete"),
    ("erase", "delete"),
    ("find", "search"),
    ("grep", "search"),
    ("cat", "show"),
    ("less", "show"),
    ("open", "show"),
    ("read", "show"),
    ("view", "show"),
];

/// Options that one looks for at `search`: why there is none, and what does it.
const INSTEAD: [(&str, &str, &str); 3] = [
    (
        "--page",
        "it has one page",
        "--limit N shows more of it, --limit 0 all",
    ),
    (
        "--any",
        "sessions with some of the words are found, too",
        "+WORD demands a word",
    ),
    (
        "--flat",
        "it ranks sessions",
        "--passages ranks single passages",
    ),
];
/// The same at `report`.
const INSTEAD_IN_REPORT: [(&str, &str, &str); 2] = [
    ("--all", EVERYWHERE, NARROWER),
    ("-a", EVERYWHERE, NARROWER),
];
const EVERYWHERE: &str = "the sessions of every directory count";
const NARROWER: &str = "--project . narrows it to this directory";

/// What is longer than this is not typed again.
const LONGEST: usize = 300;

/// Words that no command is called by, and what does what they ask for.
static MEANT: [(&[&str], &[&str]); 5] = [
    (&["restore"], &[FROM_TRASH]),
    (
        &["undelete", "undo", "recover", "trash"],
        &[FROM_TRASH, FROM_ARCHIVE],
    ),
    (
        &[
            "cost", "costs", "usage", "spend", "spent", "spending", "token", "tokens", "money",
        ],
        &["what each month cost: `sessionary report --by month`"],
    ),
    (
        &["pin", "unpin", "pins"],
        &["pins are set in the picker: `sessionary pick`, then Alt-P"],
    ),
    (&["version"], &["the version: `sessionary --version`"]),
];
const FROM_TRASH: &str =
    "how a session comes back from the trash: `sessionary delete --restore SESSION`";
const FROM_ARCHIVE: &str =
    "what an agent deleted and the archive keeps: `sessionary archive restore SESSION`";

/// A failure that helps more than clap's own, where there is one. `typed` is what stands behind the
/// program's name.
pub fn failure(error: &clap::Error, typed: &[String]) -> Option<Failure> {
    let typed = args::without_rehearsal(typed);
    match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_command(error, &typed),
        ErrorKind::UnknownArgument => {
            let option = no_such_option(error, &typed).or_else(|| word_at_list(error, &typed));
            option.or_else(|| word_left_out(&typed))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::DisplayHelp => {
            word_left_out(&typed)
        }
        _ => None,
    }
}

/// A word where a command is expected: the nearest commands, and a search for it.
fn unknown_command(error: &clap::Error, typed: &[String]) -> Option<Failure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let at = typed.iter().position(|typed| typed == word)?;
    let mut cli = Cli::command();
    cli.build();
    let mut within = &cli;
    let mut help = vec!["--help".to_owned()];
    for before in &typed[..at] {
        let Some(inner) = within.find_subcommand(before) else {
            continue;
        };
        within = inner;
        if inner.get_name() != "help" {
            help.insert(help.len() - 1, inner.get_name().to_owned());
        }
    }
    let is_first = within.get_name() == cli.get_name();
    let mut failure = Failure::usage(format!("no command is called `{word}`"));
    // Whoever types what `list` means by --all searches for nothing.
    let is_for_list = typed[at + 1..]
        .iter()
        .any(|word| word == "-a" || word == "--all");
    let mut is_search = is_first && !is_for_list;
    for names in meant_commands(word, within, is_first) {
        let mut meant = [&typed[..at], &names[..], &typed[at + 1..]].concat();
        // What stands behind it may be the rest of a search, or options of another program.
        let is_synonym = synonym(&word.to_lowercase()).is_some();
        if is_synonym && is_refused(&meant) {
            meant.truncate(at + names.len());
        }
        if (names.len() > 1 || is_synonym) && is_refused(&meant) {
            continue;
        }
        is_search &= !is_synonym && !names_session(word);
        failure = failure.hint(format!("did you mean `{}`?", again(&meant)));
    }
    if is_first {
        for hint in answers(word) {
            failure = failure.hint(*hint);
        }
        let search = [&typed[..at], &["search".to_owned()], &typed[at..]].concat();
        // Options of another command are none of `search`.
        if is_search && !is_refused(&search) {
            failure = failure.hint(format!("to search for it: `{}`", again(&search)));
        }
    }
    Some(failure.hint(format!("`{}` lists the commands", again(&help))))
}

/// Whether these words are wrong, and not only too few.
fn is_refused(words: &[String]) -> bool {
    let words = [&["sessionary".to_owned()], words].concat();
    Cli::try_parse_from(words)
        .is_err_and(|error| error.kind() != ErrorKind::MissingRequiredArgument)
}

/// What does what a word asks for that no command is called by.
fn answers(word: &str) -> &'static [&'static str] {
    let word = word.to_lowercase();
    let mut known = MEANT.iter();
    match known.find(|(words, _)| words.contains(&word.as_str())) {
        Some((_, answers)) => answers,
        None => &[],
    }
}

/// Whether a word is the name of a session by its form: `last`, `last~2`, or so many digits as ids
/// are shortened to.
fn names_session(word: &str) -> bool {
    let number = word.strip_prefix("last~");
    let is_number = number.is_some_and(|number| number.parse::<u32>().is_ok());
    let is_digit = |sign: u8| sign.is_ascii_hexdigit();
    // A date has a hyphen before that.
    let is_begun = word.bytes().take_while(|sign| is_digit(*sign)).count() >= 8;
    let is_id = is_begun && word.bytes().all(|sign| is_digit(sign) || sign == b'-');
    word == "last" || is_number || is_id
}

/// The commands that `word` may stand for, each as it is typed. A name that is spelt like it is no
/// guess where the word is known, or is the name of a command of a command.
fn meant_commands(word: &str, within: &Command, is_first: bool) -> Vec<Vec<String>> {
    if is_first && names_session(word) {
        return vec![vec!["show".to_owned(), word.to_owned()]];
    }
    let below: Vec<Vec<String>> = match is_first {
        true => commands_below(&word.to_lowercase(), within),
        false => Vec::new(),
    };
    let is_known = is_first && !(below.is_empty() && answers(word).is_empty());
    let near = match is_known {
        true => synonym(&word.to_lowercase())
            .map(str::to_owned)
            .into_iter()
            .collect(),
        false => nearest(word, within),
    };
    near.into_iter()
        .map(|name| vec![name])
        .chain(below)
        .collect()
}

/// The commands of commands that are called so, as `archive restore`.
fn commands_below(word: &str, within: &Command) -> Vec<Vec<String>> {
    let above = within
        .get_subcommands()
        .filter(|above| above.get_name() != "help");
    let called = above.filter(|above| {
        let mut below = above.get_subcommands();
        below.any(|below| below.get_name() == word)
    });
    let names = called.map(|above| vec![above.get_name().to_owned(), word.to_owned()]);
    names.take(MOST).collect()
}

/// The command that other programs call so.
fn synonym(word: &str) -> Option<&'static str> {
    let known = SYNONYMS.iter().find(|(synonym, _)| *synonym == word);
    known.map(|(_, name)| *name)
}

/// An option that `search` or `report` lacks, and what does it there.
fn no_such_option(error: &clap::Error, typed: &[String]) -> Option<Failure> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let verbs = [("search", &INSTEAD[..]), ("report", &INSTEAD_IN_REPORT[..])];
    let (verb, known) = { verbs.into_iter() }.find(|(verb, _)| typed.iter().any(|w| w == verb))?;
    let known = known.iter().find(|(option, ..)| option == given);
    let known = known.map(|(_, why, instead)| (*why, (*instead).to_owned()));
    let in_query = || Some(("the query says it", in_query(given)?)).filter(|_| verb == "search");
    let (why, instead) = known.or_else(in_query)?;
    Some(Failure::usage(format!("`{verb}` has no {given}: {why}")).hint(instead))
}

/// The filter of a query that stands for an option, as of `list`.
fn in_query(option: &str) -> Option<String> {
    let name = match option {
        "-p" => "project",
        "-A" => "agent",
        "-s" => "since",
        "-u" => "until",
        "-e" | "--errors" => return Some("is:error".to_owned()),
        "--named" => return Some("is:named".to_owned()),
        long => long.strip_prefix("--")?,
    };
    let value = match name {
        "since" | "until" => "2w, or yesterday, or 2026-01-31",
        _ => "NAME",
    };
    let is_filter = values::filter_names().any(|filter| filter == name);
    is_filter.then(|| format!("{name}:{value}"))
}

/// A word behind `list`, which takes none: it may be what an option takes, or what is searched for.
fn word_at_list(error: &clap::Error, typed: &[String]) -> Option<Failure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let commands = Cli::command();
    let is_command = |word: &String| commands.find_subcommand(word).is_some();
    let list = typed.iter().position(is_command)?;
    if typed[list] != "list" && typed[list] != "ls" {
        return None;
    }
    let at = list + typed[list..].iter().position(|typed| typed == word)?;
    if word.starts_with('-') {
        return None;
    }
    let mut failure = Failure::usage(format!("`list` takes options only, and no `{word}`"));
    for (what, option, is_it) in [
        ("since then", "--since", is_time(word)),
        ("of this agent", "--agent", known_names().contains(&&**word)),
        ("of this directory", "--project", Path::new(word).is_dir()),
    ] {
        let meant = [&typed[..at], &[option.to_owned()], &typed[at..]].concat();
        if is_it && !is_refused(&meant) {
            failure = failure.hint(format!("{what}: `{}`", again(&meant)));
        }
    }
    if word.contains(char::is_alphanumeric) {
        let search = again(&["search".to_owned(), word.to_owned()]);
        failure = failure.hint(format!("to search for it: `{search}`"));
    }
    Some(failure)
}

/// Whether `--since` takes it.
fn is_time(word: &str) -> bool {
    let now = Now::utc(jiff::Timestamp::now().as_millisecond());
    let read = syntax::parse(&format!("since:\"{word}\""), now);
    read.is_ok_and(|query| query.typed.iter().all(|one| one.value == word))
}

/// A word with a minus in a query, which stands for options of one letter: the first one that is
/// not understood as such.
fn word_left_out(typed: &[String]) -> Option<Failure> {
    let at = typed.iter().position(|word| word == "search")?;
    let is_word = |word: &&String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        let is_long = letters.chars().nth(1).is_some() && letters.starts_with(char::is_alphabetic);
        // The query itself is `x`.
        is_long && Cli::try_parse_from(["sessionary", "search", word.as_str(), "x"]).is_err()
    };
    let mut words = typed[at..].iter().take_while(|word| *word != "--");
    let word = words.find(is_word)?;
    let query = again(&["search".to_owned(), "--".to_owned()]);
    Some(
        Failure::usage(format!("`{word}` is no option")).hint(format!(
            "to leave a word out, put -- before the query: `{query} WORDS {}`",
            quote::posix(word)
        )),
    )
}

/// The command with these words, as it is typed.
fn again(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote::posix(word)).collect();
    let words = words.join(" ");
    match words.len() <= LONGEST {
        true => format!("sessionary {words}"),
        false => format!(
            "sessionary {}…",
            words.split(' ').next().unwrap_or_default()
        ),
    }
}

/// The names of the subcommands that `word` may stand for, the nearest first.
pub fn nearest(word: &str, command: &Command) -> Vec<String> {
    // Nobody mistypes so much.
    if word.len() > 30 {
        return Vec::new();
    }
    let word = word.to_lowercase();
    let named = command.get_subcommands().filter_map(|command| {
        let names = command.get_name_and_visible_aliases().into_iter();
        // Of one command the name that is nearest, else its own.
        let near = names.filter_map(|name| Some((distance(&word, name)?, name)));
        near.min_by_key(|(distance, _)| *distance)
    });
    let mut near: Vec<(usize, &str)> = match synonym(&word) {
        Some(name) => vec![(0, name)],
        None => named.collect(),
    };
    near.sort_unstable();
    let nearest = near.first().map_or(0, |(distance, _)| *distance);
    near.retain(|(distance, _)| *distance == nearest);
    let names = near.into_iter().take(MOST);
    names.map(|(_, name)| name.to_owned()).collect()
}

/// How many letters are wrong, missing, too many or swapped with the next; `None` when so many are
/// that another word is meant. A beginning of the name counts as one.
fn distance(word: &str, name: &str) -> Option<usize> {
    if word.len() > 1 && name.starts_with(word) {
        return Some(usize::from(word != name));
    }
    let is_same_start = word.chars().next() == name.chars().next();
    // The first letter is seldom wrong.
    let most = word.chars().count() / if is_same_start { 2 } else { 3 };
    let distance = strsim::osa_distance(word, name);
    (distance <= most.min(3)).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_command() {
        let mut cli = Cli::command();
        cli.build();
        for (typed, meant) in [
            ("serach", "search"),
            ("esarch", "search"),
            ("srch", "search"),
            ("Search", "search"),
            ("lsit", "list"),
            ("shwo", "show"),
            ("stauts", "status"),
            ("comp", "completions"),
            ("delte", "delete"),
            ("remove", "delete"),
            ("grep", "search"),
            ("cat", "show"),
            ("tokenizer", ""),
            ("foo", ""),
            ("bug", ""),
            ("the", ""),
            ("", ""),
            ("日本語", ""),
        ] {
            let said = nearest(typed, &cli);
            assert_eq!(
                said.first().map_or("", |said| said),
                meant,
                "{typed}: {said:?}"
            );
        }
        assert!(nearest(&"search".repeat(1000), &cli).is_empty());
    }
}
