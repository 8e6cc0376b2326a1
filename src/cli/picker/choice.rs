//! What was chosen, and what becomes of it?

use clap::ValueEnum;
use sessionary::model::SessionRow;

/// What the picker is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Enter continues the session.
    #[default]
    Resume,
    /// Enter reads it back.
    Show,
    /// Enter draws its tree.
    Tree,
    /// Enter prints what is marked, for another program.
    Print(PrintFormat),
}

/// What is printed of each session that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrintFormat {
    /// Its id
    Id,
    /// The path of its file
    Path,
    /// The command that resumes it, quoted for the shell
    Command,
    /// The rows of `list --json`
    Json,
}

/// What was chosen.
#[derive(Debug, Clone)]
pub struct Choice {
    pub action: ChosenAction,
    /// The marked sessions in the order of the list, else the one on which the selection stood.
    pub sessions: Vec<SessionRow>,
    /// The entry that was shown, where the action is about one.
    pub entry: Option<String>,
}

/// What is done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenAction {
    /// What the picker was opened for.
    Accept,
    /// Continue from the entry shown.
    ResumeFrom,
}
