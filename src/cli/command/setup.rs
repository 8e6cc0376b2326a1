//! How does an agent get the tools of `mcp`? By its own command, which is shown first and run after
//! a yes; no agent's file is edited here.

use std::io::{self, ErrorKind};
use std::process::Command;

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;
use sessionary::Config;
use sessionary::model::SCHEMA_VERSION;

use crate::again;
use crate::args::Global;
use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::on_path;
use crate::output::Screen;
use crate::output::quote;

/// Give an agent the tools of `mcp`, by the agent's own command
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary setup claude            shows the command, and runs it after a yes\n  \
    sessionary setup codex --yes       without a question\n  \
    sessionary setup gemini --print    only shows it\n\n\
    The agent then starts `sessionary mcp` by itself, and finds earlier sessions of the repository in\n\
    which it works; docs/mcp.md says what it may see. --index, --root, --no-default-roots and\n\
    --follow-links are passed on. `sessionary skill` prints the same as a skill, for agents that run\n\
    commands.")]
pub struct Setup {
    /// The agent
    #[arg(value_name = "AGENT")]
    agent: Client,
    /// Let it see the sessions of every directory, not only of the repository in which it works
    #[arg(short, long)]
    all: bool,
    /// Run the command without a question
    #[arg(short, long, conflicts_with = "print")]
    yes: bool,
    /// Print the command, and run nothing
    #[arg(long)]
    print: bool,
}

/// Agents that take MCP servers. Their variants carry no help, which would stretch the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    Claude,
    Codex,
    Copilot,
    Cursor,
    Gemini,
    #[value(name = "opencode")]
    OpenCode,
    Pi,
    Qwen,
}

/// How an agent takes a server.
enum Way {
    /// By a command: its words before those of the server. For every project of this user.
    Command(&'static [&'static str]),
    /// It has none: this file of its own, in the home folder, takes lines of JSON.
    File(&'static str),
}

impl Client {
    /// As these versions do: Claude Code 2.1.330, Codex 0.169.0, Copilot CLI 1.0.102, Gemini CLI
    /// 0.61.0, OpenCode 1.18.33, Qwen Code 0.24.4, each tried; pi since 1.0.
    fn way(self) -> Way {
        Way::Command(match self {
            Self::Claude => &[
                "claude",
                "mcp",
                "add",
                "--scope",
                "user",
                "sessionary",
                "--",
            ],
            Self::Codex => &["codex", "mcp", "add", "sessionary", "--"],
            Self::Copilot => &["copilot", "mcp", "add", "sessionary", "--"],
            Self::Gemini => &["gemini", "mcp", "add", "--scope", "user", "sessionary"],
            Self::OpenCode => &["opencode", "mcp", "add", "sessionary", "--"],
            Self::Pi => &["pi", "mcp", "add", "sessionary", "--"],
            Self::Qwen => &["qwen", "mcp", "add", "--scope", "user", "sessionary"],
            Self::Cursor => return Way::File(".cursor/mcp.json"),
        })
    }

    /// What takes a server out again, of those that add none in place of another; the rest put the
    /// new one in its place.
    fn removal(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("claude mcp remove --scope user sessionary"),
            Self::Copilot => Some("copilot mcp remove sessionary"),
            _ => None,
        }
    }
}

/// What `setup --json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    schema_version: u32,
    /// The command that adds the server; `null`: the agent has none.
    argv: Option<&'a [String]>,
    /// The file to which `lines` are to be added by hand, below the home folder.
    file: Option<&'a str>,
    lines: Option<serde_json::Value>,
    /// Whether the command was run.
    ran: bool,
}

pub fn run(
    args: &Setup,
    global: &Global,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    demo::refuse(
        "an agent would ask for made-up sessions",
        "without --demo it is set up for yours",
    )?;
    let server = server(args.all, global, config)?;
    match args.agent.way() {
        Way::Command(words) => {
            let words = words.iter().map(|word| (*word).to_owned());
            let argv: Vec<String> = words.chain(server).collect();
            by_command(args, &argv, screen)
        }
        Way::File(file) => by_hand(file, &server, screen),
    }
}

/// What the agent is to start: this very program, wherever it is installed, with what was said of
/// index and roots.
fn server(all: bool, global: &Global, config: &Config) -> Result<Vec<String>, Failure> {
    let words = || -> io::Result<Vec<String>> {
        let program = again::absolute(&again::program()?)?;
        let mut words = vec![program, "mcp".to_owned()];
        words.extend(all.then(|| "--all".to_owned()));
        if let Some(index) = &global.index {
            words.extend(["--index".to_owned(), again::absolute(index)?]);
        }
        words.extend(again::sessions_meant(global, config)?);
        Ok(words)
    };
    Ok(words().context("the agent cannot be told what to start")?)
}

/// A command as the system's shell reads it.
fn line(argv: &[String], is_windows: bool) -> String {
    let quote = match is_windows {
        true => quote::powershell,
        false => quote::posix,
    };
    let words: Vec<String> = argv.iter().map(|word| quote(word)).collect();
    let words = words.join(" ");
    match is_windows {
        // A word in quotes is a text to PowerShell, which it runs only if told to.
        true => format!("& {words}"),
        false => words,
    }
}

fn by_command(args: &Setup, argv: &[String], screen: &Screen) -> Result<Outcome, Failure> {
    let shown = line(argv, cfg!(windows));
    let answer = |ran| Answer {
        schema_version: SCHEMA_VERSION,
        argv: Some(argv),
        file: None,
        lines: None,
        ran,
    };
    if args.print || screen.json && !args.yes {
        match screen.json {
            true => screen.json(&answer(false))?,
            false => screen.print(&format!("{shown}\n"))?,
        }
        return Ok(Outcome::Yes);
    }
    if args.yes {
        screen.say(&format!("Running {shown}"));
    } else {
        screen.say(&format!("This would run: {shown}"));
        let question = "Run it? [y/N] ";
        let hint = "--yes runs it without a question, --print only prints it";
        if let Some(ended) = super::declined(question, "nothing was run", hint, screen)? {
            return Ok(ended);
        }
    }
    start(args.agent, argv, screen.json)?;
    if screen.json {
        screen.json(&answer(true))?;
    }
    Ok(Outcome::Yes)
}

/// Runs the agent's command to its end. What it prints belongs to people.
fn start(agent: Client, argv: &[String], quietly: bool) -> Result<(), Failure> {
    let [program, words @ ..] = argv else {
        return Ok(());
    };
    let by_hand = format!("`sessionary setup {program} --print` prints the command");
    let mut command = Command::new(on_path::program(program));
    command.args(words);
    if quietly {
        command.stdout(io::stderr());
    }
    let ended = command.status().map_err(|error| {
        let what = match error.kind() {
            ErrorKind::NotFound => "is not on the PATH".to_owned(),
            _ => error.to_string(),
        };
        Failure::from(anyhow::anyhow!("{program}: {what}")).hint(&by_hand)
    })?;
    if ended.success() {
        return Ok(());
    }
    let failed = anyhow::anyhow!("{program} did not add the server: it ended with {ended}");
    let failure = Failure::from(failed).hint(&by_hand);
    Err(match agent.removal() {
        Some(removal) => failure.hint(format!(
            "where it has the server already, `{removal}` removes it"
        )),
        None => failure,
    })
}

/// The agent has no command for it: what is to be added is printed.
fn by_hand(file: &str, server: &[String], screen: &Screen) -> Result<Outcome, Failure> {
    let [program, words @ ..] = server else {
        return Ok(Outcome::No);
    };
    let lines = json!({"mcpServers": {"sessionary": {"command": program, "args": words}}});
    if screen.json {
        screen.json(&Answer {
            schema_version: SCHEMA_VERSION,
            argv: None,
            file: Some(file),
            lines: Some(lines),
            ran: false,
        })?;
    } else {
        screen.print(&format!("{lines:#}\n"))?;
        screen.say(&format!(
            "It has no command for this: add these lines to ~/{file}, beside the servers that are there."
        ));
    }
    Ok(Outcome::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powershell_runs_what_is_in_quotes() {
        let argv = ["claude", "--", r"C:\my programs\sessionary.exe"].map(str::to_owned);
        let shown = r"& 'claude' '--' 'C:\my programs\sessionary.exe'";
        assert_eq!(line(&argv, true), shown);
        let shown = r"claude -- 'C:\my programs\sessionary.exe'";
        assert_eq!(line(&argv, false), shown);
    }
}
