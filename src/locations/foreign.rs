//! Which folders hold copies of other machines' sessions? `HOST/AGENT` in the folder of the team.

use std::fs;
use std::path::Path;

use crate::source::root::{RootOrigin, RootSpec};

/// Folders of hosts, and of agents of a host, that are looked at.
const MOST: usize = 10_000;

/// The roots in the folder of the team, in the order of their paths. A folder whose name is no
/// agent's is none, nor is a link.
pub fn foreign_roots(team: &Path) -> Vec<RootSpec> {
    let hosts = folders(team).into_iter();
    hosts
        .flat_map(|host| {
            let agents = folders(&team.join(&host)).into_iter();
            agents.filter_map(move |name| {
                let root = RootSpec::named(&name, team.join(&host).join(&name))?;
                Some(RootSpec {
                    label: Some(host.clone()),
                    host: Some(host.clone()),
                    why: RootOrigin::Team,
                    ..root
                })
            })
        })
        .collect()
}

/// The names of the folders in one, but of those that are hidden.
fn folders(folder: &Path) -> Vec<String> {
    let Ok(read) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let entries = read.flatten().take(MOST);
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_an_agent_of_each_host() -> std::io::Result<()> {
        let team = tempfile::tempdir()?;
        for folder in [
            "laptop/pi",
            "laptop/pindusagi",
            "laptop/vim",
            "desk/claude",
            ".new/pi",
        ] {
            fs::create_dir_all(team.path().join(folder))?;
        }
        fs::write(team.path().join("laptop/repositories.json"), "{}")?;
        #[cfg(unix)]
        std::os::unix::fs::symlink(team.path().join("laptop"), team.path().join("tower"))?;
        let roots = foreign_roots(team.path());
        let said = |root: &RootSpec| {
            let host = root.host.as_deref().unwrap_or_default();
            assert!(root.path.starts_with(team.path().join(host)), "{root:?}");
            format!("{host} {} {}", root.agent, root.format)
        };
        let said: Vec<String> = roots.iter().map(said).collect();
        let expected = [
            "desk claude claude",
            "laptop pi pi",
            "laptop indusagi pindusagi",
        ];
        assert_eq!(said, expected);
        assert_eq!(foreign_roots(&team.path().join("none")), []);
        Ok(())
    }
}
