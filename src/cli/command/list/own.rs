//! What would the agent's own list show? Its rows, field by field, for programs that stand in for
//! it.

use std::io::{self, BufWriter, Write, stdout};
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use clap::Args;
use serde::Serialize;
use sessionary::index::AgentListScope;
use sessionary::model::Mask;
use sessionary::session::{Profile, SessionInfo, Setup};
use sessionary::{Config, Freshness, Index, RootSpec};

use crate::completing::values;
use crate::failure::{Failure, Outcome};
use crate::output::{SafeJson, Screen, spool};

/// What the agent calls a session in which nobody has typed anything.
const NO_MESSAGES: &str = "(no messages)";

/// Options of the list that an agent would show.
#[derive(Debug, Args)]
#[command(next_help_heading = "An agent's own list")]
pub struct OwnList {
    /// Print the list that this agent itself would show, in its order and with its fields; what it
    /// leaves out is left out. For pi and indusagi, with --jsonl
    #[arg(id = "own_agent", long = "as", value_name = "NAME", requires = "jsonl", add = values::agent(),
        conflicts_with_all = ["all", "agent", "project", "model", "named", "only_live", "errors",
            "cost", "since", "until", "subagents", "sort", "reverse", "limit", "page", "fields"])]
    agent: Option<String>,
    /// Its list for this working directory, instead of all
    #[arg(long = "in", value_name = "DIR", requires = "own_agent", add = values::folder())]
    directory: Option<String>,
    /// Its sessions folder, with a folder for each working directory [default: the first root]
    #[arg(long, value_name = "DIR", requires = "own_agent", add = values::folder())]
    sessions: Option<PathBuf>,
    /// The one folder in which it keeps the sessions of all working directories
    #[arg(long, value_name = "DIR", requires = "own_agent", conflicts_with = "sessions",
        add = values::folder())]
    session_dir: Option<PathBuf>,
}

/// A row, as the agent's own program has it: what it lacks is not there, and is not null.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OwnRow<'a> {
    path: &'a str,
    id: &'a str,
    cwd: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session_path: Option<&'a str>,
    /// In ms since the epoch; null: what stands in the file is no time.
    created: Option<i64>,
    modified: i64,
    message_count: u64,
    first_message: &'a str,
    all_messages_text: &'a str,
}

impl OwnList {
    /// Whether it is asked for.
    pub fn is_asked(&self) -> bool {
        self.agent.is_some()
    }

    /// How the agent keeps its sessions.
    fn setup(&self, config: &Config) -> Result<Setup, Failure> {
        let agent = self.agent.as_deref().unwrap_or_default();
        let is_own = |root: &&RootSpec| root.host.is_none() && root.agent == agent;
        let mut roots = config.roots.iter().filter(is_own);
        let root = roots.find(|root| !root.flat);
        let format = root.map_or(agent, |root| &root.format);
        let folder = self.sessions.as_ref().or(root.map(|root| &root.path));
        let folder = folder.or(self.session_dir.as_ref()).ok_or_else(|| {
            let unknown = format!("no folder for sessions of {agent} is known");
            Failure::usage(unknown).hint("--sessions names it")
        })?;
        let profile = Profile::of(format).ok_or_else(|| {
            let unknown = format!("the list that {agent} itself would show cannot be printed");
            Failure::usage(unknown).hint("those of pi and indusagi can")
        })?;
        let mut setup = Setup::new(profile, folder);
        setup.flat.clone_from(&self.session_dir);
        Ok(setup)
    }
}

/// Prints the list, a row a line, with what was said in `all_messages_text` if that is wanted. The
/// words are left to other commands: a picker waits for the end of this one.
pub fn run(
    args: &OwnList,
    with_text: bool,
    config: &Config,
    screen: &Screen,
) -> Result<Outcome, Failure> {
    let setup = args.setup(config)?;
    let index = Index::open(config, Freshness::Check)?;
    let asked_for = AgentListScope {
        cwd: args.directory.clone(),
        with_text,
    };
    let (give, rows) = mpsc::channel();
    let is_read = AtomicBool::new(true);
    // What nobody reads is not waited for by who asks the index, nor read for nobody.
    let go_on = &|_, _| match is_read.load(Ordering::Relaxed) {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let (asked, printed) = thread::scope(|scope| {
        let mask = screen.mask();
        let printing =
            thread::Builder::new().spawn_scoped(scope, move || print(&rows, mask.as_ref()))?;
        let each = &mut |row| is_read.store(give.send(row).is_ok(), Ordering::Relaxed);
        let asked =
            index.stream(|snapshot| snapshot.agent_list_each(&setup, &asked_for, go_on, each));
        drop(give);
        let printed = printing.join();
        Ok::<_, io::Error>((asked, printed.unwrap_or_else(|why| resume_unwind(why))))
    })?;
    let count = printed?;
    let _ = asked?;
    screen.say_redacted();
    super::super::leave(index);
    Ok(Outcome::of(count > 0))
}

/// Prints each row as soon as it is there, and counts them.
fn print(rows: &mpsc::Receiver<SessionInfo>, mask: Option<&Mask>) -> Result<usize, Failure> {
    let mut out = SafeJson(BufWriter::new(stdout().lock()));
    let (mut count, mut json) = (0, Vec::new());
    for mut row in rows {
        if let Some(mask) = mask {
            masked(&mut row, mask);
        }
        json.clear();
        write(&row, &mut json)?;
        // Asked once more, the list would go out behind these rows.
        spool::begin();
        out.write_all(&json)?;
        count += 1;
    }
    out.flush()?;
    Ok(count)
}

/// A row as a line of JSON.
fn write(row: &SessionInfo, json: &mut Vec<u8>) -> Result<(), Failure> {
    let path = row.path.to_string_lossy();
    let row = OwnRow {
        path: &path,
        id: &row.id,
        cwd: &row.cwd,
        name: row.name.as_deref(),
        parent_session_path: row.parent_session_path.as_deref(),
        created: row.created_ms,
        modified: row.modified_ms,
        message_count: row.message_count,
        first_message: row.first_message.as_deref().unwrap_or(NO_MESSAGES),
        all_messages_text: &row.all_messages_text,
    };
    serde_json::to_writer(&mut *json, &row)?;
    json.push(b'\n');
    Ok(())
}

/// Leaves keys and tokens out of what was said.
fn masked(row: &mut SessionInfo, mask: &Mask) {
    let said = [&mut row.name, &mut row.first_message]
        .into_iter()
        .flatten();
    for text in said.chain([&mut row.all_messages_text]) {
        if let Some(masked) = mask.of(text) {
            *text = masked;
        }
    }
}
