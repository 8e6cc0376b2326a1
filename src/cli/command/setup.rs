//! How does an agent get the tools of `mcp`? By its own command, which is shown first and run after
//! a yes; no agent's file is edited here.

use std::env;
use std::process::Command;

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;
use sessionary::model::SCHEMA_VERSION;

use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::quote;

/// Give an agent the tools of `mcp`, by the agent's own command
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary setup claude            shows the command, and runs it after a yes\n  \
    sessionary setup codex --yes       without a question\n  \
    sessionary setup gemini --print    only shows it\n\n\
    The agent then starts `sessionary mcp` by itself, and finds earlier sessions of the repository in\n\
    which it works; docs/mcp.md says what it may see. `sessionary skill` prints the same as a skill,\n\
    for agents that run commands.")]
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

pub fn run(args: &Setup, screen: &Screen) -> Result<Outcome, Failure> {
    demo::refuse(
        "an agent would ask for made-up sessions",
        "without --demo it is set up for yours",
    )?;
    let server = server(args.all)?;
    match args.agent.way() {
        Way::Command(words) => {
            let words = words.iter().map(|word| (*word).to_owned());
            let argv: Vec<String> = words.chain(server).collect();
            by_command(args, &argv, screen)
        }
        Way::File(file) => by_hand(file, &server, screen),
    }
}

/// What the agent is to start: this very program, wherever it is installed.
fn server(all: bool) -> Result<Vec<String>, Failure> {
    let program = env::current_exe().context("the path of this program cannot be found")?;
    let program = program.to_str().ok_or_else(|| {
        let path = program.display();
        Failure::usage(format!(
            "{path}: an agent takes no path that is not Unicode"
        ))
    })?;
    let mut server = vec![program.to_owned(), "mcp".to_owned()];
    server.extend(all.then(|| "--all".to_owned()));
    Ok(server)
}

fn by_command(args: &Setup, argv: &[String], screen: &Screen) -> Result<Outcome, Failure> {
    let quote = match cfg!(windows) {
        true => quote::powershell,
        false => quote::posix,
    };
    let words: Vec<String> = argv.iter().map(|word| quote(word)).collect();
    let shown = words.join(" ");
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
        return Ok(Outcome::Found);
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
    start(argv, screen.json)?;
    if screen.json {
        screen.json(&answer(true))?;
    }
    Ok(Outcome::Found)
}

/// Runs the agent's command to its end. What it prints belongs to people.
fn start(argv: &[String], quietly: bool) -> Result<(), Failure> {
    let [program, words @ ..] = argv else {
        return Ok(());
    };
    let by_hand = format!("`sessionary setup {program} --print` prints the command");
    let mut command = Command::new(program);
    command.args(words);
    if quietly {
        command.stdout(std::io::stderr());
    }
    let ended = command.status().map_err(|error| {
        let what = match error.kind() {
            std::io::ErrorKind::NotFound => "is not on the PATH".to_owned(),
            _ => error.to_string(),
        };
        Failure::from(anyhow::anyhow!("{program}: {what}")).hint(&by_hand)
    })?;
    match ended.success() {
        true => Ok(()),
        false => Err(Failure::from(anyhow::anyhow!(
            "{program} did not add the server: it ended with {ended}"
        ))
        .hint(&by_hand)),
    }
}

/// The agent has no command for it: what is to be added is printed.
fn by_hand(file: &str, server: &[String], screen: &Screen) -> Result<Outcome, Failure> {
    let [program, words @ ..] = server else {
        return Ok(Outcome::Nothing);
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
    Ok(Outcome::Found)
}
