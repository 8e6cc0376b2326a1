//! Which folder is a session's, and what is it called?

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use sessionary_formats::agentuse::is_session_folder;

/// The folder that is the session whose `session.json` this is, with all its messages and
/// subagents. `None` where the folder has no name of a session, so that other things may lie in it.
pub fn folder_of(session_json: &Path) -> Option<&Path> {
    let folder = session_json.parent()?;
    let name = folder.file_name()?.to_str()?;
    is_session_folder(name).then_some(folder)
}

/// The folder of a project's sessions below agentuse's own (`~/.local/share/agentuse`). `root` is
/// what `git rev-parse --show-toplevel` says in the project, or without git the project's absolute
/// path.
pub fn project_folder(agentuse: &Path, root: &str) -> PathBuf {
    let hash = Sha256::digest(root.as_bytes());
    let name: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    agentuse.join("project").join(name)
}

/// The name of a session's folder: its id, and the agent's as far as it can stand in a name.
pub fn folder_name(session_id: &str, agent: &str) -> String {
    format!("{session_id}-{}", plain(agent))
}

/// Lower case letters, digits, `_`, and single hyphens in place of everything else (twice that of
/// what JavaScript counts as two), one hyphen at either end taken away.
fn plain(agent: &str) -> String {
    let mut out = String::with_capacity(agent.len());
    // One that counts as two becomes two hyphens, and a run of hyphens one: no need to count.
    for c in agent.trim().to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' | '_' => out.push(c),
            _ if out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    let out = out.strip_prefix('-').unwrap_or(&out);
    let out = out.strip_suffix('-').unwrap_or(out);
    match out {
        "" => "default".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What agentuse itself made of these.
    #[test]
    fn folders_are_named_as_agentuse_names_them() {
        for (agent, name) in [
            ("agents/Triage Bot", "agents-triage-bot"),
            ("日本語", "default"),
            ("émile", "mile"),
            ("a.b", "a-b"),
            ("-_-", "_"),
            ("", "default"),
            ("  ", "default"),
            ("a--b", "a-b"),
        ] {
            assert_eq!(plain(agent), name, "{agent}");
        }
        let folder = project_folder(Path::new("/d"), "/home/ada/mono");
        assert_eq!(folder, Path::new("/d/project/d56553675460857d"));
    }
}
