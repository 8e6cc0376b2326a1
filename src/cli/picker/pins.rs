//! Which sessions stand first? Those that somebody pinned. A small file of ours in the data folder
//! says so; the agents' files know nothing of it.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessionary::settings::Surroundings;

use super::message::Key;
use crate::kept;

/// What the file holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Pins {
    /// The last one that was pinned comes first.
    pins: Vec<Pin>,
}

/// A session that is pinned, whether it is there or not: its disk may only be away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pin {
    id: String,
    path: PathBuf,
}

/// Why it is not known what is pinned.
#[derive(Debug)]
pub enum PinsProblem {
    /// It cannot be read.
    Unreadable(io::Error),
    /// What is in it was not written by us.
    Damaged,
}

/// What came of pinning or unpinning.
#[derive(Debug, PartialEq, Eq)]
pub struct PinsChange {
    /// Whether the sessions are pinned now.
    pub pinned: bool,
    /// Where a damaged file went.
    pub kept_beside: Option<PathBuf>,
}

/// Where the file is.
pub fn file(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(surroundings.data_dir()?.join("sessionary/pins.json"))
}

/// The file, and the damaged ones that were kept beside it.
pub fn all_files(file: &Path) -> Vec<PathBuf> {
    let own = file.is_file().then(|| file.to_path_buf());
    let damaged = damaged_names(file).take_while(|file| file.is_file());
    own.into_iter().chain(damaged).collect()
}

/// The sessions that are pinned, the last one first.
pub fn read(file: &Path) -> Result<Vec<Key>, PinsProblem> {
    let pins = read_file(file)?.pins.into_iter();
    Ok(pins.map(|pin| (pin.path, pin.id)).collect())
}

/// Pins these sessions; where all of them are pinned, unpins them.
pub fn toggle(sessions: &[Key], file: &Path) -> io::Result<PinsChange> {
    let _lock = kept::lock(file)?;
    let (mut pins, kept_beside) = match read_file(file) {
        Ok(Pins { pins }) => (pins, None),
        Err(PinsProblem::Unreadable(error)) => return Err(error),
        Err(PinsProblem::Damaged) => (Vec::new(), Some(keep_beside(file)?)),
    };
    let new: Vec<Pin> = {
        let had: HashSet<(&Path, &str)> = pins.iter().map(|pin| (&*pin.path, &*pin.id)).collect();
        let asked = sessions.iter();
        let new = asked.filter(|(path, id)| !had.contains(&(path, id)));
        let pin = |(path, id): &Key| Pin {
            id: id.clone(),
            path: path.clone(),
        };
        new.map(pin).collect()
    };
    let pinned = !new.is_empty();
    match pinned {
        true => drop(pins.splice(..0, new)),
        false => pins.retain(|pin| {
            let mut asked = sessions.iter();
            !asked.any(|(path, id)| pin.path == *path && pin.id == *id)
        }),
    }
    kept::replace(file, &Pins { pins })?;
    Ok(PinsChange {
        pinned,
        kept_beside,
    })
}

fn read_file(file: &Path) -> Result<Pins, PinsProblem> {
    match kept::read(file) {
        Ok(None) => Ok(Pins::default()),
        Ok(Some(text)) => serde_json::from_slice(&text).map_err(|_| PinsProblem::Damaged),
        Err(error) => Err(PinsProblem::Unreadable(error)),
    }
}

/// Gives the file another name, of which there is no file yet.
fn keep_beside(file: &Path) -> io::Result<PathBuf> {
    let is_free = |name: &PathBuf| name.symlink_metadata().is_err();
    let free = damaged_names(file).find(is_free);
    let free = free.ok_or(io::ErrorKind::AlreadyExists)?;
    fs::rename(file, &free)?;
    Ok(free)
}

/// `pins.json.damaged`, `pins.json.damaged-2`, and so on.
fn damaged_names(file: &Path) -> impl Iterator<Item = PathBuf> {
    let name = file.file_name().unwrap_or_default().to_os_string();
    let file = file.to_path_buf();
    (1..=99).map(move |number| {
        let mut name = name.clone();
        name.push(match number {
            1 => ".damaged".to_owned(),
            _ => format!(".damaged-{number}"),
        });
        file.with_file_name(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        (PathBuf::from(format!("/s/{name}.jsonl")), name.to_owned())
    }

    fn ids(file: &Path) -> Vec<String> {
        let pins = read(file).expect("pins");
        pins.into_iter().map(|(_, id)| id).collect()
    }

    #[test]
    fn sessions_are_pinned_and_unpinned() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("data/sessionary/pins.json");
        assert!(ids(&file).is_empty());
        assert!(toggle(&[key("a")], &file)?.pinned);
        assert!(toggle(&[key("b"), key("c")], &file)?.pinned);
        assert_eq!(ids(&file), ["b", "c", "a"]);
        // Some of them are not pinned: then all are.
        assert!(toggle(&[key("a"), key("d")], &file)?.pinned);
        assert_eq!(ids(&file), ["d", "b", "c", "a"]);
        let last = toggle(&[key("a"), key("b")], &file)?;
        assert_eq!(
            last,
            PinsChange {
                pinned: false,
                kept_beside: None
            }
        );
        assert_eq!(ids(&file), ["d", "c"]);
        // A copy of a session is another one.
        let copy = (PathBuf::from("/other/c.jsonl"), "c".to_owned());
        assert!(toggle(std::slice::from_ref(&copy), &file)?.pinned);
        assert!(!toggle(&[copy], &file)?.pinned);
        assert_eq!(ids(&file), ["d", "c"]);
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_it() -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("pins.json");
        fs::write(&file, "{\"pins\":[]}")?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
        toggle(&[key("a")], &file)?;
        assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
        Ok(())
    }

    #[test]
    fn what_is_damaged_is_told_and_kept() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("pins.json");
        for (number, damaged) in ["", "{\"pins\": 7}", "\u{0}\u{1}"].iter().enumerate() {
            fs::write(&file, damaged)?;
            assert!(matches!(read(&file), Err(PinsProblem::Damaged)));
            assert_eq!(
                fs::read_to_string(&file)?,
                **damaged,
                "reading changes nothing"
            );
            let change = toggle(&[key("a")], &file)?;
            let beside = change.kept_beside.expect("it is kept");
            assert_eq!(fs::read_to_string(&beside)?, **damaged);
            assert_eq!(ids(&file), ["a"]);
            assert_eq!(all_files(&file).len(), 2 + number);
        }
        assert_eq!(toggle(&[key("b")], &file)?.kept_beside, None);
        assert!(folder.path().join("pins.json.damaged-3").is_file());
        Ok(())
    }

    #[test]
    fn where_it_cannot_be_read_nothing_is_written() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("pins.json");
        fs::create_dir(&file)?;
        assert!(matches!(read(&file), Err(PinsProblem::Unreadable(_))));
        assert!(toggle(&[key("a")], &file).is_err());
        assert!(file.is_dir());
        Ok(())
    }

    #[test]
    fn two_at_once_lose_nothing() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("pins.json");
        std::thread::scope(|scope| {
            for one in 0..12 {
                let file = &file;
                scope.spawn(move || toggle(&[key(&one.to_string())], file).expect("written"));
            }
        });
        assert_eq!(ids(&file).len(), 12);
        Ok(())
    }
}
