//! In which folder does a new session go? In the one where its agent looks for it.

use std::path::Path;

use sessionary::format::agent_called;
use sessionary::model::SessionRow;
use sessionary::{Config, RootSpec};

use super::writing::format_of;
use crate::failure::Failure;
use crate::output::text::plain_line;
use crate::places;

/// The folder for a session that an agent begins in this directory.
pub fn of_new(agent: &str, directory: &Path, config: &Config) -> Result<RootSpec, Failure> {
    let format = agent_called(agent).map_or(agent, |agent| agent.format);
    of_agent(agent, format, directory, config)
}

/// The folder for a fork of a session for this directory. Who named the folder above the session
/// keeps it together; from any other place the fork goes to its agent's own.
pub fn of_fork(row: &SessionRow, directory: &Path, config: &Config) -> Result<RootSpec, Failure> {
    let is_above = |root: &&RootSpec| {
        let is_own = row.host.is_none() && root.host.is_none() && root.agent == row.agent;
        is_own && root.is_named_by_hand() && row.path.starts_with(&root.path)
    };
    let above = config.roots.iter().filter(is_above);
    match above.max_by_key(|root| root.path.components().count()) {
        // Nobody says of such a folder whether its sessions lie in it or in folders of projects.
        Some(root) => Ok(RootSpec {
            flat: root.flat || row.path.parent() == Some(&root.path),
            ..root.clone()
        }),
        None => of_agent(&row.agent, format_of(row, config), directory, config),
    }
}

fn of_agent(
    agent: &str,
    format: &str,
    directory: &Path,
    config: &Config,
) -> Result<RootSpec, Failure> {
    // With --no-default-roots the places of agents are not looked at.
    if config.project_roots.is_some()
        && let Some(root) = places::surroundings().root_of_new(agent, format, directory)
    {
        return Ok(root);
    }
    let is_own =
        |root: &&RootSpec| root.host.is_none() && root.agent == agent && root.format == format;
    let roots = || config.roots.iter().filter(is_own);
    let root = roots().find(|root| !root.flat).or_else(|| roots().next());
    root.cloned().ok_or_else(|| {
        let agent = plain_line(agent);
        let what = format!("no folder for sessions of {agent} on this machine is known");
        Failure::usage(what).hint("name one with --root")
    })
}

/// The configuration with this folder among its roots. A directory's settings may name one that no
/// session here has led to yet.
pub fn known(root: &RootSpec, config: &Config) -> Config {
    let mut config = config.clone();
    config.roots.push(root.clone());
    config
}
