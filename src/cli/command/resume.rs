//! How does a session go on? Its agent takes it up again, in its directory.

use std::io;
use std::path::{Path, PathBuf};
use std::process;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use sessionary::Config;
use sessionary::format::agent_called;
use sessionary::model::{Resume, SCHEMA_VERSION, SessionRow};

use super::Reply;
use super::writing::comes_back;
use crate::completing::values;
use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::known_trees;
use crate::on_path;
use crate::output::Screen;
use crate::output::quote;
use crate::output::text::plain_line;
use crate::picker::{Choice, Purpose};
use crate::places;

/// Continue a session with its agent, in its directory
#[derive(Debug, Args)]
#[command(
    name = "resume",
    after_help = "Examples:\n  \
    sessionary resume last              continue the newest session of this repository\n  \
    sessionary resume last~1            the one before it\n  \
    sessionary resume \"fix the linker\"  by its name or title\n  \
    sessionary resume 019b3f2a --print  print the command instead, quoted for the shell\n  \
    sessionary resume 019b3f2a --in .   start it here, not where it was\n\n\
    Rows of `list --json`, `search --json` and `show --json` hold the same command in `resume`."
)]
pub struct ResumeArgs {
    /// Session id, the start of one, a path, a name or title, `last`, or `last~N`
    #[arg(add = values::session())]
    session: Option<String>,
    /// Print the command for the shell instead of running it
    #[arg(long)]
    print: bool,
    /// Start in DIR instead of the session's directory
    #[arg(long = "in", value_name = "DIR", add = values::folder())]
    directory: Option<PathBuf>,
}

/// What `resume --json` prints.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Resumption")]
pub struct Answer<'a> {
    schema_version: u32,
    session: &'a SessionRow,
    resume: &'a Resume,
}

impl<'a> Answer<'a> {
    /// How its agent takes a session up again, if that is known.
    pub fn of(session: &'a SessionRow) -> Result<Self, Failure> {
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            session,
            resume: session.resume.as_ref().ok_or_else(|| not_known(session))?,
        })
    }
}

pub fn run(args: &ResumeArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let Some(session) = session_meant(args, config, screen)? else {
        return Ok(Outcome::No);
    };
    let named = args.directory.as_deref();
    let named = named
        .map(|named| super::writing::directory(Some(named)))
        .transpose()?;
    if let Some(host) = session
        .host
        .as_deref()
        .filter(|_| !args.print && !screen.json)
    {
        return of_host(host, &session, named.as_deref(), config, screen);
    }
    let mut resume = session.resume.clone().ok_or_else(|| not_known(&session))?;
    let elsewhere = named.as_deref().filter(|named| !finds(&session, named));
    let elsewhere = elsewhere.map(|named| not_there(&session, named, screen));
    if named.is_some() {
        resume.cwd = named;
    }
    if let Some(elsewhere) = elsewhere {
        screen.say(&elsewhere);
    }
    if screen.json {
        let mut session = session;
        screen
            .mask()
            .into_iter()
            .for_each(|mask| session.mask(&mask));
        screen.json(&Answer {
            schema_version: SCHEMA_VERSION,
            session: &session,
            resume: &resume,
        })?;
        return Ok(Outcome::Yes);
    }
    if args.print {
        if let Some(gone) = resume.cwd.as_deref().filter(|cwd| !cwd.is_dir()) {
            let help = match resumes_there_alone(&session.agent) {
                true => made_again(gone),
                false => "--in DIR names another directory".to_owned(),
            };
            screen.say(&format!("{} is gone; {help}.", screen.path(gone)));
        }
        screen.print(&for_the_shell(&resume))?;
        return Ok(Outcome::Yes);
    }
    start(&resume, &session.agent, screen)
}

/// Whether the agent finds a session only in the session's own directory.
fn resumes_there_alone(agent: &str) -> bool {
    agent_called(agent).is_some_and(|agent| agent.resumes_there_alone)
}

/// Whether the session's agent finds it in this directory, as far as that is known.
fn finds(session: &SessionRow, directory: &Path) -> bool {
    let own = Path::new(&session.cwd);
    let is_own = || own == directory || own.canonicalize().ok() == directory.canonicalize().ok();
    session.cwd.is_empty() || !resumes_there_alone(&session.agent) || is_own()
}

/// What is said where the session's agent is started where it finds nothing. It is not kept from
/// it: who has moved the session's file as well knows better.
fn not_there(session: &SessionRow, directory: &Path, screen: &Screen) -> String {
    format!(
        "{} finds a session only in its own directory, which is {}: in {} it may not find this one.",
        plain_line(&session.agent),
        screen.path(Path::new(&session.cwd)),
        screen.path(directory)
    )
}

/// How a directory that is gone comes back: as a work tree of its repository, or empty.
fn made_again(gone: &Path) -> String {
    let known = known_trees::file(&places::surroundings());
    if let Some((tree, common)) = known.and_then(|file| known_trees::gone_tree(gone, &file)) {
        let quote = match cfg!(windows) {
            true => quote::powershell,
            false => quote::posix,
        };
        let [tree, common] = [tree, common].map(|path| quote(&path.display().to_string()));
        // Where it was not removed by git, git still counts it: -f takes its place.
        return format!(
            "`git --git-dir {common} worktree add -f {tree}` makes its work tree again"
        );
    }
    let path = gone.display().to_string();
    let command = match cfg!(windows) {
        true => format!("mkdir {}", quote::powershell(&path)),
        false => format!("mkdir -p {}", quote::posix(&path)),
    };
    format!("`{command}` makes it again, empty")
}

/// The session that is named, or picked; `None`: none was picked.
fn session_meant(
    args: &ResumeArgs,
    config: &Config,
    screen: &Screen,
) -> Result<Option<SessionRow>, Failure> {
    let Some(name) = &args.session else {
        let picked = super::pick::instead_of("resume", Purpose::Resume, config, screen)?;
        return Ok(picked.and_then(|choice| choice.sessions.into_iter().next()));
    };
    let mut index = super::open(config, screen)?;
    let (session, entry) = super::naming::named(name, &mut index, config, screen)?;
    if entry.is_some() {
        let whole = Failure::usage(format!("{name}: an agent goes on at the end of a session"));
        return Err(whole.hint(format!(
            "`sessionary branch {}` makes a session that ends there",
            quote::posix(name)
        )));
    }
    Ok(Some(session))
}

/// Continues a session of another machine, if that is confirmed.
fn of_host(
    host: &str,
    session: &SessionRow,
    directory: Option<&Path>,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let directory = super::writing::directory(directory)?;
    match super::foreign::resumed(session, host, &directory, config, screen)? {
        Some(resume) => start(&resume, &session.agent, screen),
        None => Ok(Outcome::No),
    }
}

/// Continues what was picked.
pub fn chosen(choice: &Choice, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let Some(session) = choice.sessions.first() else {
        return Ok(Outcome::No);
    };
    if let Some(host) = &session.host {
        return of_host(host, session, None, config, screen);
    }
    let resume = session.resume.clone().ok_or_else(|| not_known(session))?;
    start(&resume, &session.agent, screen)
}

/// The command that continues a session, on one line for the shell.
pub fn command(session: &SessionRow) -> Result<String, Failure> {
    let resume = session.resume.as_ref().ok_or_else(|| not_known(session))?;
    Ok(for_the_shell(resume))
}

fn not_known(session: &SessionRow) -> Failure {
    let agent = plain_line(&session.agent);
    if let Err(foreign) = super::foreign::refuse(session) {
        return foreign;
    }
    if let Some(remedy) = comes_back(session).filter(|_| session.archived) {
        return Failure::usage(format!(
            "{agent} cannot resume this session: its file is gone"
        ))
        .hint(remedy);
    }
    match &session.reason {
        Some(reason) => Failure::usage(format!(
            "{agent} does not list this session, so it would not resume it: {}",
            plain_line(reason)
        )),
        None => Failure::usage(format!(
            "sessionary does not know how {agent} resumes a session"
        )),
    }
    .hint(format!(
        "`sessionary show {}` reads it back",
        quote::posix(&session.id)
    ))
}

/// The command on one line.
fn for_the_shell(resume: &Resume) -> String {
    let cwd = resume.cwd.as_ref().map(|cwd| cwd.display().to_string());
    let quoted = |quote: fn(&str) -> String| {
        let words: Vec<String> = resume.argv.iter().map(|word| quote(word)).collect();
        words.join(" ")
    };
    if cfg!(windows) {
        let place = cwd.map(|cwd| {
            format!(
                "Set-Location -LiteralPath {} -ErrorAction Stop; ",
                quote::powershell(&cwd)
            )
        });
        format!(
            "{}& {}\n",
            place.unwrap_or_default(),
            quoted(quote::powershell)
        )
    } else {
        let place = cwd.map(|cwd| format!("cd -- {} && ", quote::posix(&cwd)));
        format!("{}{}\n", place.unwrap_or_default(), quoted(quote::posix))
    }
}

fn start(resume: &Resume, agent: &str, screen: &Screen) -> Result<Outcome, Failure> {
    demo::refuse(
        "no agent knows a made-up session",
        "--print prints the command that would be run",
    )?;
    let [program, arguments @ ..] = resume.argv.as_slice() else {
        return Err(Failure::usage("there is no command to run"));
    };
    let mut command = process::Command::new(on_path::program(program));
    command.args(arguments);
    let cwd = match resume.cwd.as_deref() {
        None => {
            screen.say("The session names no directory, so it continues in this one.");
            None
        }
        Some(cwd) if cwd.is_dir() => Some(cwd),
        Some(cwd) if resumes_there_alone(agent) => {
            let (shown, agent) = (screen.path(cwd), plain_line(agent));
            let gone = anyhow::anyhow!(
                "{shown}: the session's directory is gone, and {agent} finds the session in no other"
            );
            return Err(Failure::from(gone).hint(made_again(cwd)));
        }
        Some(cwd) => {
            let shown = screen.path(cwd);
            match super::ask(&format!(
                "{shown} is gone. Continue in this directory? [y/N] "
            ))? {
                Reply::Yes => None,
                Reply::No => {
                    screen.say("No: nothing was started.");
                    return Ok(Outcome::No);
                }
                Reply::Nobody => {
                    let gone = anyhow::anyhow!("{shown}: the session's directory is gone");
                    return Err(Failure::from(gone)
                        .hint("--in DIR continues it in another directory, for example --in ."));
                }
            }
        }
    };
    if let Some(cwd) = cwd {
        // Shells believe it rather than ask the system.
        command.env("PWD", cwd);
        command.current_dir(cwd);
    }
    let error = super::become_it(&mut command);
    let what = match error.kind() {
        io::ErrorKind::NotFound => "is not on the PATH".to_owned(),
        _ => error.to_string(),
    };
    Err(Failure::from(anyhow::anyhow!("{program}: {what}"))
        .hint("--print prints the command instead"))
}
