//! Which tools were called, and how often did they fail?

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use super::page::is_of_project;
use super::{Snapshot, SpendingScope};
use crate::catalogue::called::CalledRow;
use crate::error::Error;
use crate::model::{SCHEMA_VERSION, ToolReport, ToolUse};

impl Snapshot<'_> {
    /// The tools that were called in the sessions of the index's roots. Of the scope, by what is
    /// added up and the time zone play no part, and times are exact.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn tool_use(&self, scope: &SpendingScope) -> Result<ToolReport, Error> {
        let mut sums: BTreeMap<Option<String>, Sum> = BTreeMap::new();
        let holds = |row: &CalledRow<'_>| {
            let (agent, project) = (scope.agent.as_ref(), scope.project.as_ref());
            agent.is_none_or(|agent| row.agent.eq_ignore_ascii_case(agent))
                && project.is_none_or(|project| is_of_project(row.cwd, project))
        };
        let (since_ms, until_ms) = (scope.since_ms, scope.until_ms);
        let roots = self.root_numbers()?;
        let mut total = Sum::default();
        self.catalogue
            .each_called(&roots, since_ms, until_ms, |row| {
                if holds(&row) {
                    total.add(&row);
                    let tool = row.tool.filter(|tool| !tool.is_empty());
                    sums.entry(tool.map(str::to_owned)).or_default().add(&row);
                }
            })?;
        let tools = sums.into_iter().map(|(tool, sum)| sum.of(tool));
        let mut tools: Vec<ToolUse> = tools.collect();
        tools.sort_by_key(|tool| Reverse(tool.calls));
        Ok(ToolReport {
            schema_version: SCHEMA_VERSION,
            tools,
            total: total.of(None),
            complete: self.is_complete(),
        })
    }
}

/// Calls of some sessions.
#[derive(Default)]
struct Sum {
    used: ToolUse,
    sessions: HashSet<i64>,
    timed: u64,
    ms: u64,
}

impl Sum {
    fn add(&mut self, row: &CalledRow<'_>) {
        self.sessions.insert(row.session);
        self.used.calls += row.calls;
        self.used.answered += row.answered;
        self.used.errors += row.errors;
        self.timed += row.timed;
        self.ms = self.ms.saturating_add(row.ms);
    }

    fn of(self, tool: Option<String>) -> ToolUse {
        let mean_ms = (self.timed > 0).then(|| self.ms as f64 / self.timed as f64);
        ToolUse {
            tool,
            sessions: self.sessions.len() as u64,
            mean_ms,
            ..self.used
        }
    }
}
