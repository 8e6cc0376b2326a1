//! What can be typed next? A shell asks this program, which answers from its own definition and
//! from the catalogue as it is: nothing is scanned, written or started for it, and nothing is said
//! when it fails.

pub mod catalogue;
pub mod values;

use std::ffi::OsString;
use std::io;
use std::panic;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};

use crate::args::Cli;

/// Set by a shell that asks, to its name.
const VARIABLE: &str = "SESSIONARY_COMPLETE";

/// What is typed to run this program.
const PROGRAM: &str = "sessionary";

/// The shells that can ask.
const SHELLS: Shells<'static> = Shells(&[&ColonBash, &Elvish, &Fish, &Powershell, &Zsh]);

/// How clap's script for zsh names the words that were typed.
const ZSH_WORDS: &str = r#""${words[@]}""#;

/// The same without their quotes: of a quote that is open at the cursor zsh knows the beginning,
/// and the end that it still lacks. Words that are empty stay.
const ZSH_WORDS_UNQUOTED: &str = r#""${(@Q)words[1,CURRENT-1]}" \
        "${(Q):-$QIPREFIX$PREFIX$compstate[quote]}" "${(@Q)words[CURRENT+1,-1]}""#;

/// How clap's script for fish asks for the word that is being typed.
const FISH_WORD: &str = "(commandline --current-token)";

/// The same without its quotes, if fish can read them.
const FISH_WORD_UNQUOTED: &str =
    "(commandline --current-token | string unescape; or commandline --current-token)";

/// Answers a shell, if one asks.
pub fn answered() -> bool {
    if std::env::var_os(VARIABLE).is_none_or(|shell| shell.is_empty()) {
        return false;
    }
    panic::set_hook(Box::new(|_| ()));
    if is_left_out(std::env::args_os()) {
        return true;
    }
    let cwd = std::env::current_dir().ok();
    let _ = panic::catch_unwind(|| {
        CompleteEnv::with_factory(asked)
            .var(VARIABLE)
            .shells(SHELLS)
            .try_complete(std::env::args_os(), cwd.as_deref())
    });
    true
}

/// Whether a word with a minus is typed into a query, where it is taken for letters of options.
fn is_left_out(words: impl Iterator<Item = OsString>) -> bool {
    // The first `--` stands before what was typed.
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let typed: Vec<String> = words.skip_while(|word| word != "--").skip(1).collect();
    let is_in = |word: &str| typed.iter().any(|typed| typed == word);
    let last = typed.last().and_then(|word| word.strip_prefix('-'));
    let is_word = last.is_some_and(|rest| rest.len() > 1 && !rest.starts_with('-'));
    is_word && is_in("search") && !is_in("--")
}

/// The script that has a shell ask this program, as `PATH` finds it.
pub fn script(shell: &str) -> io::Result<String> {
    let unknown = || io::Error::other(format!("no shell is called `{shell}`"));
    let known = SHELLS.completer(shell).ok_or_else(unknown)?;
    let mut script = Vec::new();
    known.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    let mut script = String::from_utf8(script).map_err(io::Error::other)?;
    // What is asked for is what a word says, and not how it is quoted.
    let (as_typed, as_meant) = match shell {
        "zsh" => (ZSH_WORDS, ZSH_WORDS_UNQUOTED),
        "fish" => (FISH_WORD, FISH_WORD_UNQUOTED),
        _ => return Ok(script),
    };
    script = script.replace(as_typed, as_meant);
    if shell == "zsh" {
        // Read from a folder of functions, the file is run by the first question.
        script
            .push_str("[[ $funcstack[1] != _sessionary ]] || _clap_dynamic_completer_sessionary\n");
    }
    Ok(script)
}

/// The command line. Options are offered only where nothing else is, or a hyphen is typed.
fn asked() -> Command {
    let last = std::env::args_os().next_back().unwrap_or_default();
    match last.as_encoded_bytes().starts_with(b"-") {
        true => Cli::command(),
        false => without_options(Cli::command()),
    }
}

fn without_options(command: Command) -> Command {
    command
        .disable_help_flag(true)
        .disable_version_flag(true)
        .mut_args(|argument| match argument.is_positional() {
            true => argument,
            false => argument.hide(true),
        })
        .mut_subcommands(without_options)
}

/// Bash, with words that hold colons.
struct ColonBash;

impl EnvCompleter for ColonBash {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        _: &str,
        _: &str,
        program: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let script = include_str!("completing/bash.sh");
        let script = script.replace("VARIABLE", variable);
        out.write_all(script.replace("PROGRAM", program).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        cwd: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        Bash.write_complete(command, words, cwd, out)
    }
}
