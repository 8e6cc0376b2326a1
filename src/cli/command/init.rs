//! What goes into a shell's own configuration? Completions, a key that opens the picker, and a
//! short name if one is wished for.

use clap::{Args, ValueEnum};

use crate::completing;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Print the lines that set up a shell: completions, a key for the picker, and a short name
#[derive(Debug, Args)]
#[command(
    after_help = "They are printed, not installed: add the line to the file that your shell reads.\n\n\
    Examples:\n  \
    sessionary init bash              in ~/.bashrc: eval \"$(sessionary init bash)\"\n  \
    sessionary init zsh --alias sy    in ~/.zshrc: eval \"$(sessionary init zsh --alias sy)\"\n  \
    sessionary init fish              in ~/.config/fish/config.fish: sessionary init fish | source\n  \
    sessionary init zsh --key ctrl-g  another key for the picker; --no-key: none\n\n\
    Alt-I opens the picker, and puts the command that continues the chosen session into the command line, where the cursor is. \
    bash, zsh and fish leave that key free; Alt-S, for one, is taken in zsh and fish, Ctrl-G in bash and zsh.\n\n\
    Completions know sessions by id (zsh and fish show their titles) and by title, agents, projects, \
    labels and the filters of a query. They answer from the index as it is, and scan nothing."
)]
pub struct Init {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: InitShell,
    /// Also let NAME stand for sessionary
    #[arg(long, value_name = "NAME")]
    alias: Option<String>,
    /// The key that opens the picker: alt- or ctrl-, and a letter
    #[arg(long, value_name = "KEY", default_value = "alt-i", conflicts_with = "no_key", value_parser = Key::parse)]
    key: Key,
    /// Without a key for the picker
    #[arg(long)]
    no_key: bool,
    /// Also define `pir`, which opens the picker on pi's sessions, as `pi -r` opens pi's own list
    #[arg(long)]
    pi: bool,
}

/// A key that a shell can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Alt(char),
    Ctrl(char),
}

impl Key {
    fn parse(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        let (kind, letter) = lower.split_once('-').unwrap_or((&lower, ""));
        let mut letters = letter.chars();
        let letter = letters.next().filter(char::is_ascii_lowercase);
        match (kind, letter.filter(|_| letters.next().is_none())) {
            ("alt", Some(letter)) => Ok(Self::Alt(letter)),
            // They are Tab and Enter, interrupt, end and stop.
            ("ctrl", Some('i' | 'j' | 'm' | 'c' | 'd' | 'z')) => {
                Err("a shell cannot do without that key".to_owned())
            }
            ("ctrl", Some(letter)) => Ok(Self::Ctrl(letter)),
            _ => Err("alt- or ctrl-, and a letter, as in alt-i".to_owned()),
        }
    }

    /// As a shell's own `bind` reads it.
    fn of_shell(self, shell: InitShell) -> String {
        match (self, shell) {
            (Self::Alt(letter), InitShell::Zsh) => format!("^[{letter}"),
            (Self::Alt(letter), _) => format!("\\e{letter}"),
            (Self::Ctrl(letter), InitShell::Bash) => format!("\\C-{letter}"),
            (Self::Ctrl(letter), InitShell::Zsh) => format!("^{}", letter.to_ascii_uppercase()),
            (Self::Ctrl(letter), InitShell::Fish) => format!("\\c{letter}"),
        }
    }
}

/// Shells that can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InitShell {
    Bash,
    Zsh,
    Fish,
}

pub fn run(args: &Init, screen: &Screen) -> Result<Outcome, Failure> {
    if screen.json {
        return Err(Failure::usage("these are lines for a shell, not JSON"));
    }
    let alias = args.alias.as_deref().map(checked).transpose()?;
    let mut lines = String::new();
    if args.shell == InitShell::Zsh {
        // Without it there is nothing to register with.
        lines.push_str("(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n");
    }
    let shell = match args.shell {
        InitShell::Bash => "bash",
        InitShell::Zsh => "zsh",
        InitShell::Fish => "fish",
    };
    lines.push_str(&completing::script(shell)?);
    if !args.no_key {
        let script = match args.shell {
            InitShell::Bash => include_str!("init/key.bash"),
            InitShell::Zsh => include_str!("init/key.zsh"),
            InitShell::Fish => include_str!("init/key.fish"),
        };
        lines.push_str(&script.replace("KEY", &args.key.of_shell(args.shell)));
    }
    if args.pi {
        lines.push_str(match args.shell {
            InitShell::Bash | InitShell::Zsh => "pir() { sessionary pick \"agent:pi $*\"; }\n",
            InitShell::Fish => "function pir; sessionary pick \"agent:pi $argv\"; end\n",
        });
    }
    if let Some(alias) = alias {
        lines.push_str(&match args.shell {
            InitShell::Bash => {
                format!("alias {alias}=sessionary\ncomplete -F _sessionary {alias}\n")
            }
            // It completes what an alias stands for.
            InitShell::Zsh => format!("alias {alias}=sessionary\n"),
            InitShell::Fish => format!("alias {alias} sessionary\n"),
        });
    }
    screen.print(&lines)?;
    Ok(Outcome::Yes)
}

/// Words that bash, zsh or fish keeps for its own grammar. An alias of that name would break every
/// line that has the word: after `alias if=sessionary` no `if` of any script is one.
const RESERVED: [&str; 46] = [
    "and",
    "argparse",
    "begin",
    "break",
    "builtin",
    "case",
    "command",
    "continue",
    "coproc",
    "declare",
    "do",
    "done",
    "elif",
    "else",
    "end",
    "esac",
    "eval",
    "exec",
    "export",
    "fi",
    "float",
    "for",
    "foreach",
    "function",
    "if",
    "in",
    "integer",
    "local",
    "nocorrect",
    "not",
    "or",
    "read",
    "readonly",
    "repeat",
    "return",
    "select",
    "set",
    "status",
    "string",
    "switch",
    "test",
    "then",
    "time",
    "typeset",
    "until",
    "while",
];

/// A name that no shell reads as anything else. One configuration is often shared by several
/// shells, so what one of them reserves is refused for all.
fn checked(name: &str) -> Result<&str, Failure> {
    let refused = || Failure::usage(format!("`{name}` cannot be a short name"));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_plain) {
        return Err(
            refused().hint("it starts with a letter, and only letters, digits, - and _ follow")
        );
    }
    if RESERVED.contains(&name) {
        return Err(refused()
            .hint("bash, zsh or fish has that word for something else; choose another, say sy"));
    }
    Ok(name)
}
