//! Which working trees has a repository had? What was seen of them is kept in a small file, as
//! their sessions outlive them.
//!
//! Nothing depends on it: where it cannot be read or written, or is rubbish, nothing is known.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sessionary::repository::{Repository, is_tree};
use sessionary::settings::Surroundings;

use crate::kept;

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
    let known = file.and_then(read).unwrap_or_default();
    let had = known.trees_of(&repository.common);
    if let Some(file) = file.filter(|_| !new_trees(repository, had).is_empty()) {
        // Next time it is learned again.
        let _ = learn(repository, file);
    }
    let now: HashSet<&PathBuf> = repository.trees.iter().collect();
    let had = had.iter().filter(|tree| !now.contains(tree));
    let had = had.filter(|tree| is_tree(tree, &repository.common));
    repository.trees.iter().chain(had).cloned().collect()
}

/// The working tree that is gone and in which this folder was, and the folder that all those of its
/// repository share.
pub fn gone_tree(folder: &Path, file: &Path) -> Option<(PathBuf, PathBuf)> {
    let known = read(file)?.repositories.into_iter();
    let mut trees = known.flat_map(|one| {
        let common = one.common;
        one.trees
            .into_iter()
            .map(move |tree| (tree, common.clone()))
    });
    trees.find(|(tree, common)| folder.starts_with(tree) && !tree.exists() && common.is_dir())
}

/// Which of its working trees of now are not known yet. One that is there tells of itself.
fn new_trees<'a>(repository: &'a Repository, known: &[PathBuf]) -> Vec<&'a PathBuf> {
    let known: HashSet<&PathBuf> = known.iter().collect();
    let worth_it = worth_keeping(repository);
    let is_alone = known.is_empty() && worth_it.len() < 2;
    let new = worth_it.into_iter().filter(|tree| !known.contains(tree));
    new.filter(|_| !is_alone).collect()
}

/// Its working trees of now, as many as are kept.
fn worth_keeping(repository: &Repository) -> Vec<&PathBuf> {
    let fits = |path: &&PathBuf| path.to_str().is_some_and(|path| path.len() <= MOST_PATH);
    let trees = repository.trees.iter().filter(fits).take(MOST_TREES);
    trees.filter(|_| fits(&&repository.common)).collect()
}

/// Writes down what is new, by one process at a time.
fn learn(repository: &Repository, file: &Path) -> io::Result<()> {
    let _lock = kept::lock(file)?;
    let mut known = read(file).unwrap_or_default();
    let now: Vec<PathBuf> = worth_keeping(repository).into_iter().cloned().collect();
    let is_gone = {
        let now: HashSet<&PathBuf> = now.iter().collect();
        let had = known.trees_of(&repository.common).iter();
        had.filter(|tree| !now.contains(tree))
            .cloned()
            .collect::<Vec<_>>()
    };
    known
        .repositories
        .retain(|one| one.common != repository.common);
    let own = KnownRepository {
        common: repository.common.clone(),
        trees: now.into_iter().chain(is_gone).collect(),
    };
    known.repositories.insert(0, own);
    known.cut();
    kept::replace(file, &known)
}

impl KnownTrees {
    fn trees_of(&self, common: &Path) -> &[PathBuf] {
        let own = self.repositories.iter().find(|one| one.common == common);
        own.map_or(&[], |own| &own.trees)
    }

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
    let text = kept::read(file).ok().flatten()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::thread;

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
        // Only of a repository that is there a working tree can be made again.
        let common = folder.path().join(".git");
        let was = folder.path().join("was");
        let [at, tree] = [&common, &was].map(|path| path.display().to_string());
        told(&of(&at, &["/main", &tree]), &file);
        assert_eq!(gone_tree(&was.join("src"), &file), None);
        fs::create_dir(&common)?;
        assert_eq!(gone_tree(&was.join("src"), &file), Some((was, common)));
        Ok(())
    }

    #[test]
    fn what_is_there_and_leads_elsewhere_is_its_no_more() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = |path: &str| folder.path().join(path).display().to_string();
        let file = folder.path().join("worktrees.json");
        let now = of("/a/.git", &["/a", &at("fix")]);
        all_trees(&now, Some(&file));
        assert_eq!(told(&of("/a/.git", &["/a"]), &file).len(), 2);
        fs::create_dir_all(at("fix"))?;
        assert_eq!(told(&of("/a/.git", &["/a"]), &file), ["/a"]);
        Ok(())
    }

    #[test]
    fn many_at_once_learn_and_lose_nothing() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("data/worktrees.json");
        thread::scope(|scope| {
            for one in 0..12 {
                let file = &file;
                scope.spawn(move || {
                    let at = |path: &str| format!("/{one}/{path}");
                    told(&of(&at(".git"), &[&at("a"), &at("b")]), file)
                });
            }
        });
        assert_eq!(read(&file).unwrap().repositories.len(), 12);
        // Whoever does not let go of the lock keeps nobody from an answer.
        let held = File::create(kept::lock_file(&file))?;
        held.lock()?;
        assert_eq!(told(&of("/x/.git", &["/x", "/y"]), &file), ["/x", "/y"]);
        assert_eq!(read(&file).unwrap().repositories.len(), 12);
        kept::forget(&file)?;
        assert!(!folder.path().join("data").exists());
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
        // What is too much is not learned again each time, from wherever it is looked at.
        let from_another = [&many[2_500..2_501], &many[..]].concat();
        for trees in [&many, &from_another] {
            let many = of("/many/.git", trees);
            told(&many, &file);
            let kept = read(&file).unwrap();
            assert!(new_trees(&many, kept.trees_of(&many.common)).is_empty());
        }
        // A folder stands where the file would.
        fs::remove_file(&file)?;
        fs::create_dir(&file)?;
        assert_eq!(told(&of("/a/.git", &["/a", "/b"]), &file), ["/a", "/b"]);
        Ok(())
    }
}
