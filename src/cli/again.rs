//! How is this program called again, for the same index and sessions? At once, as it was typed;
//! from what another program keeps, in words that mean the same in any directory.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sessionary::format::{AGENTS, Agent};
use sessionary::{Config, RootOrigin};

use crate::args::Global;

/// The options that say which index and which sessions, as they were typed: for a process that is
/// started at once, in this directory.
pub fn as_typed(global: &Global) -> Vec<OsString> {
    let mut typed: Vec<OsString> = Vec::new();
    if let Some(index) = &global.index {
        typed.extend(["--index".into(), index.into()]);
    }
    for root in &global.roots {
        typed.extend(["--root".into(), root.into()]);
    }
    if global.no_default_roots {
        typed.push("--no-default-roots".into());
    }
    if global.follow_links {
        typed.push("--follow-links".into());
    }
    typed
}

/// The options that say which sessions, so that they name the same ones from any directory and at
/// any time: for what is kept in a file. The index is named beside them.
pub fn sessions_meant(global: &Global, config: &Config) -> io::Result<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    if global.no_default_roots {
        words.push("--no-default-roots".into());
    }
    if global.follow_links {
        words.push("--follow-links".into());
    }
    for root in config
        .roots
        .iter()
        .filter(|root| root.why == RootOrigin::Flag)
    {
        let label = root.label.as_ref().map(|label| format!("={label}"));
        // A dialect is not its agent's usual format.
        let is_usual = |agent: &Agent| agent.name == root.agent && agent.format == root.format;
        let name = match AGENTS.iter().any(is_usual) {
            true => &root.agent,
            false => &root.format,
        };
        words.push("--root".into());
        words.push(format!(
            "{name}:{}{}",
            absolute(&root.path)?,
            label.unwrap_or_default()
        ));
    }
    Ok(words)
}

/// A path as it is written where it is kept and read from any directory.
pub fn absolute(path: &Path) -> io::Result<String> {
    text(std::path::absolute(path)?.into_os_string())
}

/// A value as text: what keeps it can hold nothing else.
pub fn text(value: OsString) -> io::Result<String> {
    let refused = |value: OsString| {
        let value = value.display();
        io::Error::other(format!("{value}: not UTF-8, as what is kept of it must be"))
    };
    value.into_string().map_err(refused)
}

/// The program by its name on the PATH, else by the name it was called by: an upgrade puts another
/// one behind a link, and the old one stays where it is, or goes.
pub fn program() -> io::Result<PathBuf> {
    let real = env::current_exe()?;
    let called = env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let folders = env::var_os("PATH").unwrap_or_default();
    let name = called.file_name().unwrap_or_default();
    let named = env::split_paths(&folders).map(|folder| folder.join(name));
    let canonical = fs::canonicalize(&real)?;
    let is_it = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|path| path == canonical);
    let mut named = named.chain(std::iter::once(env::current_dir()?.join(&called)));
    Ok(named.find(is_it).unwrap_or(real))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn what_names_index_and_sessions_is_typed_again() {
        let typed = [
            "sessionary",
            "--index",
            "/x y",
            "--root",
            "pi:/a",
            "--root",
            "pi:/b=c",
            "--no-default-roots",
            "--follow-links",
        ];
        let cli = Cli::try_parse_from(typed.iter().chain(&["--json", "list"])).expect("it parses");
        assert_eq!(as_typed(&cli.global), typed[1..]);
    }
}
