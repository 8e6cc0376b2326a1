//! Which repository is a directory of, and which are its working trees? Read from `.git`; git is
//! not run.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a file of git's that are read at most: each of these names one path.
const MOST_BYTES: u64 = 16 << 10;

/// A git repository, as its files describe it; links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The folder that all its working trees share, by which it is known.
    pub common: PathBuf,
    /// The working tree that was asked about, or the repository itself where that has none.
    pub top: PathBuf,
    /// Its working trees of now, `top` first: the main one and the linked ones.
    pub trees: Vec<PathBuf>,
}

impl Repository {
    /// The repository of `directory`: that of the nearest folder above it with a `.git`. A
    /// submodule is a repository of its own.
    pub fn around(directory: &Path) -> Option<Self> {
        let directory = directory.canonicalize().ok()?;
        let (top, common) = directory.ancestors().find_map(repository)?;
        // Beside a folder of another name (`app.git`, `.bare`) there need not be a working tree.
        let main = common.file_name().is_some_and(|name| name == ".git");
        let main = common.parent().filter(|_| main).map(Path::to_path_buf);
        let linked = fs::read_dir(common.join("worktrees"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let private = entry.path();
                let file = private.join(first_line(&private.join("gitdir"))?);
                file.parent().map(Path::to_path_buf)
            });
        let mut others: Vec<PathBuf> = main
            .into_iter()
            .chain(linked)
            .map(|path| path.canonicalize().unwrap_or(path))
            .filter(|path| *path != top && path.is_absolute())
            .collect();
        others.sort();
        others.dedup();
        let trees = std::iter::once(top.clone()).chain(others).collect();
        Some(Self { common, top, trees })
    }
}

/// If `directory` is the top of a working tree or a bare repository: itself, and the repository's
/// common folder.
fn repository(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = directory.join(".git");
    let own = directory.to_path_buf();
    let Ok(metadata) = fs::metadata(&git) else {
        let is_bare = directory.join("HEAD").is_file()
            && directory.join("objects").is_dir()
            && directory.join("refs").is_dir();
        return is_bare.then(|| (own.clone(), own));
    };
    if metadata.is_dir() {
        return Some((own, git.canonicalize().ok()?));
    }
    // A linked working tree: `.git` names a folder of its own, in which `commondir` names the
    // shared one. In the folder of a submodule nothing does.
    let line = first_line(&git)?;
    let private = directory.join(line.strip_prefix("gitdir:")?.trim());
    let common = match first_line(&private.join("commondir")) {
        Some(common) => private.join(common),
        None => private,
    };
    // A working tree whose repository was moved away is still one.
    let common = common.canonicalize().unwrap_or_else(|_| git.clone());
    Some((own, common))
}

fn first_line(file: &Path) -> Option<String> {
    // Whoever opened a pipe would wait for its writer.
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let mut file = File::open(file).ok()?.take(MOST_BYTES);
    file.read_to_string(&mut text).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with files; `~` in them stands for it.
    fn folder(files: &[(&str, &str)]) -> std::io::Result<(tempfile::TempDir, PathBuf)> {
        let folder = tempfile::tempdir()?;
        let at = folder.path().canonicalize()?;
        for (path, text) in files {
            let path = at.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&at))?;
            fs::write(path, text.replace('~', &at.display().to_string()))?;
        }
        Ok((folder, at))
    }

    /// The working trees of the repository around `directory`, below `at`.
    fn trees(at: &Path, directory: &str) -> Vec<String> {
        let found = Repository::around(&at.join(directory));
        let trees = found.map_or_else(Vec::new, |found| found.trees);
        let below = |path: &PathBuf| path.strip_prefix(at).unwrap_or(path).display().to_string();
        trees.iter().map(below).collect()
    }

    #[test]
    fn main_and_linked_trees_know_each_other() -> std::io::Result<()> {
        let (_folder, at) = folder(&[
            ("app/src/main.rs", ""),
            ("app/.git/worktrees/fix/commondir", "../..\n"),
            ("app/.git/worktrees/fix/gitdir", "~/app-fix/.git\n"),
            // As git writes it with `worktree.useRelativePaths`.
            ("app/.git/worktrees/near/gitdir", "../../../../near/.git\n"),
            ("app/.git/worktrees/near/commondir", "../..\n"),
            ("near/.git", "gitdir: ../app/.git/worktrees/near\n"),
            ("app-fix/.git", "gitdir: ~/app/.git/worktrees/fix\n"),
            ("none/file", ""),
        ])?;
        assert_eq!(trees(&at, "app/src"), ["app", "app-fix", "near"]);
        assert_eq!(trees(&at, "app-fix"), ["app-fix", "app", "near"]);
        assert_eq!(trees(&at, "near"), ["near", "app", "app-fix"]);
        assert_eq!(trees(&at, "none"), Vec::<String>::new());
        let common = |directory| Repository::around(&at.join(directory)).map(|found| found.common);
        assert_eq!(common("near"), common("app"));
        Ok(())
    }

    #[test]
    fn bare_repositories_submodules_and_what_is_broken() -> std::io::Result<()> {
        let (_folder, at) = folder(&[
            ("app.git/HEAD", ""),
            ("app.git/objects/x", ""),
            ("app.git/refs/x", ""),
            ("app.git/worktrees/fix/commondir", "../..\n"),
            ("app.git/worktrees/fix/gitdir", "~/fix/.git\n"),
            ("fix/.git", "gitdir: ~/app.git/worktrees/fix\n"),
            ("new/.git", "gitdir: ./.bare\n"),
            ("new/.bare/worktrees/one/gitdir", "~/new/one/.git\n"),
            ("new/.bare/worktrees/one/commondir", "../..\n"),
            ("new/one/.git", "gitdir: ~/new/.bare/worktrees/one\n"),
            ("whole/.git/modules/part/HEAD", ""),
            ("whole/part/.git", "gitdir: ../.git/modules/part\n"),
            ("moved/.git", "gitdir: /nowhere/.git/worktrees/moved\n"),
            ("whole/rubbish/.git", "no such thing"),
        ])?;
        fs::write(at.join("whole/rubbish/.git"), [0xff; 99])?;
        assert_eq!(trees(&at, "fix"), ["fix"]);
        assert_eq!(trees(&at, "app.git"), ["app.git", "fix"]);
        assert_eq!(trees(&at, "new"), ["new", "new/one"]);
        assert_eq!(trees(&at, "new/one"), ["new/one"]);
        assert_eq!(trees(&at, "whole/part"), ["whole/part"]);
        assert_eq!(trees(&at, "whole"), ["whole"]);
        assert_eq!(trees(&at, "moved"), ["moved"]);
        assert_eq!(trees(&at, "whole/rubbish"), ["whole"]);
        Ok(())
    }
}
