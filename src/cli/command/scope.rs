//! Of which sessions does a report tell?

use clap::Args;
use sessionary::Config;

use super::list::{known_agent, moments, project};
use crate::completing::values;
use crate::failure::Failure;
use crate::output::Screen;

/// What can be typed to have a report tell of some sessions only.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// Only sessions of this agent
    #[arg(short = 'A', long, value_name = "NAME", add = values::agent())]
    agent: Option<String>,
    /// Only sessions of directories whose name contains TEXT; a path means itself and everything
    /// below it
    #[arg(short, long, value_name = "TEXT|DIR", add = values::project())]
    project: Option<String>,
    /// Only what happened at WHEN or later
    #[arg(short, long, value_name = "WHEN", add = values::when())]
    since: Option<String>,
    /// Only what happened at WHEN or earlier
    #[arg(short, long, value_name = "WHEN", add = values::when())]
    until: Option<String>,
}

/// The same as the index is asked.
pub struct Scope {
    pub agent: Option<String>,
    pub project: Option<String>,
    pub since_ms: Option<i64>,
    pub until_ms: Option<i64>,
}

impl ScopeArgs {
    pub fn read(&self, config: &Config, screen: &Screen) -> Result<Scope, Failure> {
        let (since, until) = (self.since.as_deref(), self.until.as_deref());
        let (since_ms, until_ms) = moments(since, until, screen)?;
        Ok(Scope {
            agent: known_agent(self.agent.as_deref(), config)?,
            project: self.project.as_deref().map(project),
            since_ms,
            until_ms,
        })
    }
}
