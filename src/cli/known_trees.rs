//! Which working trees has a repository had? What was seen of them is kept in a small file, as
//! their sessions outlive them.
//!
//! Nothing depends on it: where it cannot be read or written, or is rubbish, nothing is known.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessionary::settings::Surroundings;
use tempfile::NamedTempFile;

use crate::worktrees::Repository;

/// Bytes of the file that are read at most.
const MOST_BYTES: u64 = 4 << 20;
/// Working trees that are kept at most, of all repositories.
const MOST_TREES: usize = 2_000;
/// The longest path that is kept, in bytes.
const MOST_PATH: usize = 1_024;

/// What the file holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct KnownTrees {
    /// Those that something was learned of last come first.
    #[serde(default)]
    repositories: Vec<KnownRepository>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KnownRepository {
    /// The folder that all its working trees share.
    common: PathBuf,
    /// All that were ever seen, the newest first.
    trees: Vec<PathBuf>,
}

/// Where the file is.
pub fn file(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(surroundings.data_dir()?.join("sessionary/worktrees.json"))
}

/// All working trees of a repository: those of now, then those that it had. What is new is written
/// down.
pub fn all_trees(repository: &Repository, file: Option<&Path>) -> Vec<PathBuf> {
    let mut known = file.and_then(read).unwrap_or_default();
    let is_it = |one: &KnownRepository| one.common == repository.common;
    let at = known.repositories.iter().position(is_it);
    let mut own = match at {
        Some(at) => known.repositories.remove(at),
        None => KnownRepository {
            common: repository.common.clone(),
            trees: Vec::new(),
        },
    };
    let fits = |path: &PathBuf| path.to_str().is_some_and(|path| path.len() <= MOST_PATH);
    let is_new = |tree: &&PathBuf| fits(tree) && !own.trees.contains(tree);
    let new: Vec<PathBuf> = repository.trees.iter().filter(is_new).cloned().collect();
    let gone: Vec<PathBuf> = own
        .trees
        .iter()
        .filter(|tree| !repository.trees.contains(tree) && is_still_its(tree, &own.common))
        .cloned()
        .collect();
    // One working tree that is there tells of itself.
    let is_worth_it = own.trees.len() + new.len() > 1 && fits(&own.common);
    if let Some(file) = file.filter(|_| is_worth_it && !new.is_empty()) {
        own.trees.splice(0..0, new);
        known.repositories.insert(0, own);
        known.cut();
        // Next time it is learned again.
        let _ = write(file, &known);
    }
    repository.trees.iter().cloned().chain(gone).collect()
}

/// Whether a folder that was a working tree belongs to no other repository now.
fn is_still_its(tree: &Path, common: &Path) -> bool {
    if !tree.is_absolute() {
        return false;
    }
    match tree.join(".git").exists() {
        true => Repository::around(tree).is_some_and(|now| now.common == common),
        false => true,
    }
}

impl KnownTrees {
    /// Leaves out what is oldest where it is too much.
    fn cut(&mut self) {
        let mut left = MOST_TREES;
        for repository in &mut self.repositories {
            repository.trees.truncate(left);
            left -= repository.trees.len();
        }
        self.repositories.retain(|one| !one.trees.is_empty());
    }
}

fn read(file: &Path) -> Option<KnownTrees> {
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    File::open(file)
        .ok()?
        .take(MOST_BYTES)
        .read_to_end(&mut text)
        .ok()?;
    serde_json::from_slice(&text).ok()
}

/// Replaces the file as a whole. Nobody else may read it: it names what somebody works on.
fn write(file: &Path, known: &KnownTrees) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // Made with mode 0600.
    let mut new = NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut new, known)?;
    new.write_all(b"\n")?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(common: &str, trees: &[&str]) -> Repository {
        let trees: Vec<PathBuf> = trees.iter().map(PathBuf::from).collect();
        Repository {
            common: common.into(),
            top: trees[0].clone(),
            trees,
        }
    }

    fn told(repository: &Repository, file: &Path) -> Vec<String> {
        let trees = all_trees(repository, Some(file));
        trees.iter().map(|one| one.display().to_string()).collect()
    }

    #[test]
    fn trees_are_remembered_when_they_are_gone() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("data/sessionary/worktrees.json");
        // One tree is not worth a file.
        assert_eq!(told(&of("/a/.git", &["/a"]), &file), ["/a"]);
        assert!(!file.exists());
        told(&of("/a/.git", &["/a", "/a-fix"]), &file);
        told(&of("/b/.git", &["/b", "/b-fix"]), &file);
        told(&of("/a/.git", &["/a-new", "/a"]), &file);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
        }
        let before = fs::read(&file)?;
        assert_eq!(
            told(&of("/a/.git", &["/a"]), &file),
            ["/a", "/a-new", "/a-fix"]
        );
        assert_eq!(told(&of("/b/.git", &["/b"]), &file), ["/b", "/b-fix"]);
        assert_eq!(told(&of("/c/.git", &["/c"]), &file), ["/c"]);
        assert_eq!(fs::read(&file)?, before, "nothing was learned");
        Ok(())
    }

    #[test]
    fn what_became_another_repository_is_its_no_more() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |path: &str| folder.path().join(path).display().to_string();
        let file = folder.path().join("worktrees.json");
        let now = of("/a/.git", &["/a", &at("fix")]);
        all_trees(&now, Some(&file));
        fs::create_dir_all(at("fix"))?;
        assert_eq!(told(&of("/a/.git", &["/a"]), &file).len(), 2);
        fs::create_dir_all(at("fix/.git"))?;
        assert_eq!(told(&of("/a/.git", &["/a"]), &file), ["/a"]);
        Ok(())
    }

    #[test]
    fn rubbish_is_replaced_and_what_is_too_much_left_out() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("worktrees.json");
        fs::write(&file, b"\xff{")?;
        assert_eq!(told(&of("/a/.git", &["/a", "/b"]), &file), ["/a", "/b"]);
        let trees: Vec<String> = (0..3_000).map(|tree| format!("/many/{tree}")).collect();
        let many: Vec<&str> = trees.iter().map(String::as_str).collect();
        assert_eq!(told(&of("/many/.git", &many), &file).len(), 3_000);
        let kept = read(&file).unwrap();
        let kept: usize = kept.repositories.iter().map(|one| one.trees.len()).sum();
        assert_eq!(kept, MOST_TREES);
        // A folder stands where the file would.
        fs::remove_file(&file)?;
        fs::create_dir(&file)?;
        assert_eq!(told(&of("/a/.git", &["/a", "/b"]), &file), ["/a", "/b"]);
        Ok(())
    }
}
