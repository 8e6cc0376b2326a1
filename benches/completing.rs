//! How long does a shell wait for a completion? The Tab key asks the program once.

use std::fs;
use std::process::{Command, Stdio};

use crate::Result;
use crate::machine::Machine;
use crate::process;
use crate::rows::Row;
use crate::run::Run;

/// What is typed before the Tab key, and what its completions are.
const TYPED: [(&str, &[&str]); 3] = [
    ("ids and titles", &["show", ""]),
    ("tools", &["search", "tool:"]),
    ("projects", &["list", "--project", ""]),
];

/// The most milliseconds that somebody should wait.
const TARGET: f64 = 30.0;

/// One row for each thing that is completed, as zsh asks for it.
pub fn completions(run: &Run, machine: Machine, rows: &mut Vec<Row>) -> Result<()> {
    let root = format!("{}:{}", run.agent, run.root.display());
    let index = run.index.display().to_string();
    let options = [
        "sessionary",
        "--no-default-roots",
        "--root",
        &root,
        "--index",
        &index,
    ];
    for (name, typed) in TYPED {
        let words = [&options[..], typed].concat();
        let offered = run.work.join("offered");
        let mut costs = Vec::new();
        // The first run does not count.
        for counts in std::iter::once(false).chain(std::iter::repeat_n(true, run.runs)) {
            let mut command = Command::new(&run.binary);
            command
                .arg("--")
                .args(&words)
                .env("SESSIONARY_COMPLETE", "zsh")
                .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
                .env("_CLAP_IFS", "\n")
                .env("HOME", &run.work)
                .stdin(Stdio::null())
                .stdout(fs::File::create(&offered)?);
            let cost = process::run(&mut command)?;
            if counts {
                costs.push(cost);
            }
        }
        let offered = fs::read_to_string(&offered)?.lines().count();
        let row = Row::beside(format!("completion of {name}"), costs);
        let row = row.note(match offered {
            0 => "NOT found: nothing is offered".to_owned(),
            _ => format!("{offered} are offered"),
        });
        let measured = row.measured;
        rows.push(row.to(TARGET, measured).on(machine.starts));
    }
    Ok(())
}
