//! What is an agent told that runs commands? A skill: when to look into earlier sessions, and how.

use clap::Args;

use crate::failure::{Failure, Outcome};
use crate::output::Screen;

/// Print a skill (SKILL.md) that tells an agent how to look into earlier sessions
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary skill                           print it\n  \
    mkdir -p ~/.claude/skills/sessionary       where Claude Code looks for it\n  \
    sessionary skill > ~/.claude/skills/sessionary/SKILL.md\n\n\
    It is for agents that run commands; `sessionary setup` gives others the same as tools. Agents look\n\
    for skills in folders of their own, many in `skills` of their configuration folder.")]
pub struct Skill {}

pub fn run(_: &Skill, screen: &Screen) -> Result<Outcome, Failure> {
    if screen.json {
        return Err(Failure::usage("a skill is not JSON"));
    }
    screen.print(include_str!("skill.md"))?;
    Ok(Outcome::Yes)
}
