//! What goes into a shell's own configuration? Completions, and a short name if one is wished for.

use clap::{Args, ValueEnum};

use crate::completing;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Print the lines that set up a shell: completions, and a short name
#[derive(Debug, Args)]
#[command(
    after_help = "They are printed, not installed: add the line to the file that your shell reads.\n\n\
    Examples:\n  \
    sessionary init bash              in ~/.bashrc: eval \"$(sessionary init bash)\"\n  \
    sessionary init zsh --alias sy    in ~/.zshrc: eval \"$(sessionary init zsh --alias sy)\"\n  \
    sessionary init fish              in ~/.config/fish/config.fish: sessionary init fish | source\n\n\
    Completions know sessions (zsh and fish show their titles, bash ids alone), agents, projects, \
    labels and the filters of a query. They answer from the index as it is, and scan nothing."
)]
pub struct Init {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: InitShell,
    /// Also let NAME stand for sessionary
    #[arg(long, value_name = "NAME")]
    alias: Option<String>,
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
    Ok(Outcome::Found)
}

/// A name that no shell reads as anything else.
fn checked(name: &str) -> Result<&str, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain) {
        return Ok(name);
    }
    Err(Failure::usage(format!("`{name}` cannot be a short name"))
        .hint("it starts with a letter, and only letters, digits, - and _ follow"))
}
