//! How does a shell know what can be typed?

use clap::Args;
use clap_complete::Shell;

use crate::completing;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "They are printed, not installed; new shells read them from the places below. `sessionary init` \
    prints them with a short name, for the file that your shell reads.\n\n\
    Examples:\n  \
    sessionary completions bash > ~/.local/share/bash-completion/completions/sessionary\n  \
    sessionary completions zsh > ~/.zfunc/_sessionary\n  \
    sessionary completions fish > ~/.config/fish/completions/sessionary.fish\n  \
    sessionary completions powershell >> $PROFILE\n  \
    sessionary completions elvish >> ~/.config/elvish/rc.elv"
)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub fn run(args: &Completions, screen: &Screen) -> Result<Outcome, Failure> {
    if screen.json {
        return Err(Failure::usage("completions are a script, not JSON"));
    }
    screen.print(&completing::script(&args.shell.to_string())?)?;
    Ok(Outcome::Yes)
}
