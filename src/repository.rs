//! Of which repository is a directory, and which are its working trees? Read from git's own files;
//! git is not run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::format::remote_of;
use crate::regular;

mod remotes;
mod settings;

pub(crate) use self::remotes::{FoundRemote, Remotes};
use self::settings::{Setting, settings};

/// What git's log says stood at a place before its first commit.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// Bytes of a file of git's that are read at most: each of them names one path.
const MOST_BYTES: u64 = 16 << 10;
/// Bytes of a file of settings that are read at most.
const MOST_SETTINGS: u64 = 256 << 10;
/// Bytes of the file of all references that are read at most: about a million of them.
const MOST_REFERENCES: u64 = 64 << 20;

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
        let (top, common) = top_around(&directory)?;
        let canonical = |path: PathBuf| path.canonicalize().unwrap_or(path);
        // The settings of a submodule name its working tree. Those of a repository that was made
        // with --separate-git-dir do not.
        let main = [
            core_setting(&common, "worktree").map(|path| common.join(path)),
            common.parent().map(Path::to_path_buf),
            Some(common.clone()),
        ];
        let main = main.into_iter().flatten().map(canonical);
        let main = main.filter(|tree| common_folder(tree).as_ref() == Some(&common));
        let linked = fs::read_dir(common.join("worktrees"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let private = entry.path();
                let file = private.join(first_line(&private.join("gitdir"))?);
                file.parent().map(Path::to_path_buf)
            });
        let linked = linked.map(canonical).filter(|tree| is_tree(tree, &common));
        let mut others: Vec<PathBuf> = main.chain(linked).filter(|tree| *tree != top).collect();
        others.sort();
        others.dedup();
        let trees = std::iter::once(top.clone()).chain(others).collect();
        Some(Self { common, top, trees })
    }

    /// Its remote, as [`remote_of`] names it: `origin`, or else its only one. What its settings
    /// include, and `insteadOf`, are left alone.
    pub fn remote(&self) -> Option<String> {
        remote(&self.common, &self.top)
    }

    /// When its working tree came to be where it is, in milliseconds since 1970. `None`: it began
    /// here, or nothing tells.
    ///
    /// A linked working tree is as old as the file that leads to its repository. The first line of
    /// git's log says when anything came into the main one, unless older lines were cleaned up:
    /// then git's `description`, which is written with a new repository and not again, is as old.
    pub fn here_since_ms(&self) -> Option<i64> {
        if own_folder(&self.top).is_some_and(|own| own.join("commondir").is_file()) {
            return modified_ms(&self.top.join(".git"));
        }
        let first = first_line(&self.common.join("logs/HEAD"))?;
        let (who, what) = first.split_once('\t').unwrap_or((&first, ""));
        if !who.starts_with(NO_COMMIT) {
            return modified_ms(&self.common.join("description"));
        }
        if what.starts_with("commit (initial)") {
            return None;
        }
        let seconds: i64 = who.rsplit(' ').nth(1)?.parse().ok()?;
        Some(seconds.saturating_mul(1000))
    }

    /// The name of the commit that is checked out; `None`: there is none yet, or git keeps it in a
    /// way that is not read here.
    pub fn head(&self) -> Option<String> {
        let git = self.top.join(".git");
        let private = own_folder(&self.top).or_else(|| git.is_dir().then_some(git));
        let private = private.unwrap_or_else(|| self.common.clone());
        let head = first_line(&private.join("HEAD"))?;
        let Some(reference) = head.strip_prefix("ref:").map(str::trim) else {
            return Some(head);
        };
        self.reference(reference)
    }

    /// What a branch or a tag of this name is of, here or as a remote has it; `None`: there is
    /// none, or git keeps it in a way that is not read here. An annotated tag is an object of its
    /// own.
    pub fn named(&self, name: &str) -> Option<String> {
        // No name of git's leads out of the folder of references.
        let is_name = |part: &str| !part.is_empty() && !part.starts_with('.');
        if !name.split('/').all(is_name) || name.contains(['\\', ':']) {
            return None;
        }
        let folders = ["refs", "refs/tags", "refs/heads", "refs/remotes"];
        folders.iter().find_map(|folder| {
            let found = self.reference(&format!("{folder}/{name}"))?;
            let is_object = found.len() == 40 && found.bytes().all(|b| b.is_ascii_hexdigit());
            is_object.then_some(found)
        })
    }

    /// What a reference leads to, which has a file of its own or a line in that of all.
    fn reference(&self, reference: &str) -> Option<String> {
        let loose = first_line(&self.common.join(reference));
        loose.or_else(|| {
            let packed = beginning(&self.common.join("packed-refs"), MOST_REFERENCES)?;
            let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
            let (commit, _) = lines.find(|(_, name)| *name == reference)?;
            Some(commit.to_owned())
        })
    }
}

/// Whether a folder that is said to be, or to have been, a working tree of the repository with this
/// common folder is one: it leads back there, or it is gone.
pub fn is_tree(folder: &Path, common: &Path) -> bool {
    let leads_back = || common_folder(folder).is_some_and(|found| found == common);
    folder.is_absolute() && (!folder.exists() || leads_back())
}

/// The top of the repository around `directory`, and the common folder of that.
fn top_around(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let of = |top: &Path| Some((top.to_path_buf(), common_folder(top)?));
    directory.ancestors().find_map(of)
}

/// The folder for a working tree alone that a file `.git` at its top names.
fn own_folder(top: &Path) -> Option<PathBuf> {
    let line = first_line(&top.join(".git"))?;
    Some(top.join(line.strip_prefix("gitdir:")?.trim()))
}

/// The common folder of the repository of which `directory` is the top: of a working tree, or bare.
pub(crate) fn common_folder(directory: &Path) -> Option<PathBuf> {
    // Within the folder of git's own files is no working tree.
    if directory.file_name().is_some_and(|name| name == ".git") {
        return None;
    }
    let git = directory.join(".git");
    let Ok(metadata) = fs::metadata(&git) else {
        let is_bare = directory.join("HEAD").is_file()
            && directory.join("objects").is_dir()
            && directory.join("refs").is_dir()
            && core_setting(directory, "bare").is_none_or(|bare| bare == "true");
        return is_bare.then(|| directory.to_path_buf());
    };
    if metadata.is_dir() {
        // As git does, which passes over an empty one.
        let is_repository = git.join("HEAD").symlink_metadata().is_ok();
        return is_repository.then(|| git.canonicalize().ok()).flatten();
    }
    // A linked working tree: `.git` names a folder of its own, in which `commondir` names the
    // shared one. In the folder of a submodule nothing does.
    let private = own_folder(directory)?;
    let common = match first_line(&private.join("commondir")) {
        Some(common) => private.join(common),
        None => private,
    };
    // A working tree whose repository was moved away is still one.
    Some(common.canonicalize().unwrap_or_else(|_| git.clone()))
}

/// A setting of the section `core`.
fn core_setting(common: &Path, name: &str) -> Option<String> {
    let files = ["config.worktree", "config"].map(|file| common.join(file));
    files.iter().find_map(|file| {
        let mut all = settings(&beginning(file, MOST_SETTINGS)?).into_iter();
        let found = all.find(|one| one.section == "core" && one.part.is_none() && one.name == name);
        found.map(|one| one.value)
    })
}

/// The remote of the repository with this common folder, `origin` or else its only one; a path is
/// taken from the working tree at `top`.
pub(crate) fn remote(common: &Path, top: &Path) -> Option<String> {
    let all = settings(&beginning(&common.join("config"), MOST_SETTINGS)?);
    let is_address = |one: &&Setting| {
        one.section == "remote" && one.name == "url" && one.part.is_some() && !one.value.is_empty()
    };
    let addresses: Vec<&Setting> = all.iter().filter(is_address).collect();
    let origin = { addresses.iter() }.find(|one| one.part.as_deref() == Some("origin"));
    let only = addresses.first().filter(|first| {
        let mut all = addresses.iter();
        all.all(|one| one.part == first.part)
    });
    let address = &origin.or(only)?.value;
    remote_of(address).or_else(|| {
        let folder = top.join(address).canonicalize().ok()?;
        remote_of(folder.to_str()?)
    })
}

/// Whether a folder is the home folder, one above it, or holds everything: a repository there is
/// nothing that somebody works on.
pub fn holds_home(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
}

fn first_line(file: &Path) -> Option<String> {
    Some(
        beginning(file, MOST_BYTES)?
            .lines()
            .next()?
            .trim()
            .to_owned(),
    )
}

fn modified_ms(file: &Path) -> Option<i64> {
    let modified = fs::metadata(file).ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

/// The beginning of a file, as text.
fn beginning(file: &Path, most: u64) -> Option<String> {
    let text = regular::read(file, most).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
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
            ("app/.git/HEAD", ""),
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
            ("new/.bare/HEAD", ""),
            ("new/.bare/objects/x", ""),
            ("new/.bare/refs/x", ""),
            ("new/.bare/worktrees/one/gitdir", "~/new/one/.git\n"),
            ("new/.bare/worktrees/one/commondir", "../..\n"),
            ("new/one/.git", "gitdir: ~/new/.bare/worktrees/one\n"),
            ("whole/.git/HEAD", ""),
            ("whole/.git/modules/part/HEAD", ""),
            ("whole/.git/modules/part/objects/x", ""),
            ("whole/.git/modules/part/refs/x", ""),
            (
                "whole/.git/modules/part/config",
                "[core]\n\tbare = false\n\tworktree = ../../../part\n[x]\n\tbare = true\n",
            ),
            (
                "whole/.git/modules/part/worktrees/one/gitdir",
                "~/one/.git\n",
            ),
            ("whole/.git/modules/part/worktrees/one/commondir", "../..\n"),
            (
                "one/.git",
                "gitdir: ~/whole/.git/modules/part/worktrees/one\n",
            ),
            ("whole/empty/.git/x", ""),
            ("whole/part/.git", "gitdir: ../.git/modules/part\n"),
            ("moved/.git", "gitdir: /nowhere/.git/worktrees/moved\n"),
            ("whole/rubbish/.git", "no such thing"),
        ])?;
        fs::write(at.join("whole/rubbish/.git"), [0xff; 99])?;
        assert_eq!(trees(&at, "fix"), ["fix", "app.git"]);
        assert_eq!(trees(&at, "app.git"), ["app.git", "fix"]);
        assert_eq!(trees(&at, "new"), ["new", "new/.bare", "new/one"]);
        assert_eq!(trees(&at, "new/one"), ["new/one", "new", "new/.bare"]);
        assert_eq!(trees(&at, "whole/part"), ["whole/part", "one"]);
        assert_eq!(trees(&at, "one"), ["one", "whole/part"]);
        // An empty `.git` is none, and git's own files are no working tree.
        for whole in [
            "whole",
            "whole/empty",
            "whole/.git",
            "whole/.git/modules/part",
        ] {
            assert_eq!(trees(&at, whole), ["whole"], "{whole}");
        }
        assert_eq!(trees(&at, "moved"), ["moved"]);
        assert_eq!(trees(&at, "whole/rubbish"), ["whole"]);
        Ok(())
    }

    #[test]
    fn the_remote_is_origin_or_the_only_one() -> std::io::Result<()> {
        let (_folder, at) = folder(&[
            ("app/.git/HEAD", ""),
            ("app/.git/worktrees/fix/commondir", "../..\n"),
            ("app/.git/worktrees/fix/gitdir", "~/fix/.git\n"),
            ("fix/.git", "gitdir: ~/app/.git/worktrees/fix\n"),
            ("app/part/.git", "gitdir: ../.git/modules/part\n"),
            ("app/.git/modules/part/HEAD", ""),
            (
                "app/.git/modules/part/config",
                "[remote \"origin\"]\nurl = https://host/part\n",
            ),
            ("bare.git/HEAD", ""),
            ("bare.git/objects/x", ""),
            ("bare.git/refs/x", ""),
        ])?;
        let of = |below: &str| Repository::around(&at.join(below)).and_then(|found| found.remote());
        assert_eq!(of("app"), None);
        for (settings, remote) in [
            ("[core]\nbare = false\n", None),
            ("[remote \"up\"]\nurl = git@host:up\n", Some("host/up")),
            (
                "[remote \"up\"]\nurl = git@host:up\n[remote \"x\"]\nurl = git@host:x\n",
                None,
            ),
            (
                "[remote \"up\"]\nurl = a:up\n[remote \"origin\"]\nurl = a:b\nurl = a:c\n",
                Some("a/b"),
            ),
            ("[remote \"origin\"]\nurl = https://u:p/w@host/x\n", None),
            ("[remote]\npushdefault = up\nurl = a:b\n", None),
        ] {
            fs::write(at.join("app/.git/config"), settings)?;
            // A linked working tree has that of its repository.
            assert_eq!(of("app").as_deref(), remote, "{settings}");
            assert_eq!(of("fix").as_deref(), remote, "{settings}");
        }
        assert_eq!(of("app/part").as_deref(), Some("host/part"));
        // Another folder is the remote of those that were cloned from it.
        let far = format!("[branch \"x\"]\n{}", "\tremote = origin\n".repeat(2_000));
        fs::write(
            at.join("app/.git/config"),
            format!("{far}[remote \"origin\"]\nurl = ../bare.git/\n"),
        )?;
        let bare = at.join("bare").display().to_string();
        assert_eq!(of("app"), Some(bare));
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn the_commit_is_that_of_a_file_and_of_nothing_else() -> std::io::Result<()> {
        let packed = "# pack-refs with: peeled\nabc123 refs/heads/main\nffff99 refs/heads/other\n";
        let (_folder, at) = folder(&[
            ("app/.git/HEAD", "ref: refs/heads/main\n"),
            ("app/.git/packed-refs", packed),
        ])?;
        let head = || Repository::around(&at.join("app")).and_then(|found| found.head());
        assert_eq!(head().as_deref(), Some("abc123"));
        let file = at.join("app/.git/packed-refs");
        fs::remove_file(&file)?;
        // Whoever opens it waits for a writer.
        nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU)?;
        assert_eq!(head(), None);
        Ok(())
    }

    #[test]
    fn a_tree_that_leads_to_another_repository_is_its() -> std::io::Result<()> {
        let (_folder, at) = folder(&[
            ("app/.git/HEAD", ""),
            ("app/.git/worktrees/gone/gitdir", "~/gone/.git\n"),
            ("app/.git/worktrees/own/gitdir", "~/own/.git\n"),
            ("app/.git/worktrees/plain/gitdir", "~/plain/.git\n"),
            ("app/.git/worktrees/kept/gitdir", "~/kept/.git\n"),
            ("app/.git/worktrees/kept/commondir", "../..\n"),
            ("kept/.git", "gitdir: ~/app/.git/worktrees/kept\n"),
            ("own/.git/HEAD", ""),
            ("plain/file", ""),
            ("copy/.git/HEAD", ""),
            ("copy/.git/worktrees/kept/gitdir", "~/kept/.git\n"),
        ])?;
        assert_eq!(trees(&at, "app"), ["app", "gone", "kept"]);
        assert_eq!(trees(&at, "own"), ["own"]);
        assert_eq!(trees(&at, "copy"), ["copy"]);
        Ok(())
    }
}
