//! Which agents delete sessions that nobody keeps, though nobody said that they are not to be kept?
//! `list` says it once, and `status` until somebody has decided, with what keeps them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use sessionary::format::{AGENTS, Agent};
use sessionary::{Config, Index};

use crate::kept;
use crate::output::Screen;
use crate::output::time::bytes;
use crate::places;

/// What the archive takes of the bytes of sessions, about: docs/performance.md.
const SHARE: f64 = 0.22;

/// An agent that deletes sessions, and how many bytes of them there are.
struct Deletion {
    agent: &'static Agent,
    when: &'static str,
    bytes: u64,
}

/// What is to be said of agents that delete, whose sessions are here and are not kept, until
/// somebody has turned that on or off.
pub fn notices(index: &Index, config: &Config) -> Vec<(&'static str, String)> {
    let deleting = AGENTS.iter().filter_map(|agent| {
        let when = agent.deletes?;
        let bytes = bytes_of(index, agent.name).filter(|bytes| *bytes > 0)?;
        let is_decided = config.archive_dir.is_none()
            || config.keeps(agent.name).unwrap_or(true)
            || config.is_turned_off(agent.name).unwrap_or(true);
        (!is_decided).then_some(Deletion { agent, when, bytes })
    });
    deleting
        .map(|deletion| (deletion.agent.name, deletion.sentence()))
        .collect()
}

/// Says each of them once in a lifetime: which were said is noted in a file.
pub fn say_once(index: &Index, config: &Config, screen: &Screen) {
    if screen.json {
        return;
    }
    let Some(file) = file() else {
        return;
    };
    let said = kept::read(&file).ok().flatten();
    let mut said: BTreeSet<String> = said
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let before = said.len();
    for (agent, sentence) in notices(index, config) {
        if said.insert(agent.to_owned()) {
            screen.say(&sentence);
        }
    }
    if said.len() > before {
        // Where it cannot be noted, it is said again.
        let _ = kept::lock(&file).and_then(|_lock| kept::replace(&file, &said));
    }
}

/// Where that is noted.
pub fn file() -> Option<PathBuf> {
    let data = places::surroundings().data_dir();
    Some(data?.join("sessionary/deletions-told.json"))
}

fn bytes_of(index: &Index, agent: &str) -> Option<u64> {
    let sql = "SELECT agent, sum(bytes) FROM sessions GROUP BY agent";
    let rows = index.sql(sql, &[]).ok()?.rows;
    let row = rows
        .iter()
        .find(|row| row.first().is_some_and(|name| name == agent))?;
    row.get(1)?.as_u64()
}

impl Deletion {
    fn sentence(&self) -> String {
        let name = self.agent.name;
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let stored = (self.bytes as f64 * SHARE) as u64;
        format!(
            "{name} deletes its sessions {}. `sessionary archive on {name}` keeps them: a second copy of \
             everything they say, about {} for {} of sessions, in your data folder.",
            self.when,
            bytes(stored),
            bytes(self.bytes),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_names_the_command_the_size_and_the_consequence() {
        let deletion = Deletion {
            agent: &AGENTS[0],
            when: "after 30 days",
            bytes: 1_000_000_000,
        };
        assert_eq!(
            deletion.sentence(),
            "pi deletes its sessions after 30 days. `sessionary archive on pi` keeps them: a second copy \
             of everything they say, about 220 MB for 1.0 GB of sessions, in your data folder."
        );
    }
}
