//! Where are the nearest sessions, if none are here?

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The working directories of a list's sessions, in its order, and how many sessions each has.
#[derive(Default)]
pub struct Folders {
    all: Vec<(PathBuf, u64)>,
    places: HashMap<PathBuf, usize>,
}

impl Folders {
    /// Adds the directory of a session.
    pub fn add(&mut self, cwd: String) {
        let folder = PathBuf::from(cwd);
        match self
            .places
            .get(&folder)
            .and_then(|at| self.all.get_mut(*at))
        {
            Some((_, sessions)) => *sessions += 1,
            None => {
                self.places.insert(folder.clone(), self.all.len());
                self.all.push((folder, 1));
            }
        }
    }

    /// The nearest directory above `cwd` that has sessions, else the one with the newest in one of
    /// the directories `near`.
    pub fn nearest(&self, cwd: &Path, near: &[PathBuf]) -> Option<(&Path, u64)> {
        let canonical = cwd.canonicalize().unwrap_or_else(|_| cwd.to_path_buf());
        let is_named = |(path, _): &&(PathBuf, u64)| !path.as_os_str().is_empty();
        let above = self
            .all
            .iter()
            .filter(is_named)
            .filter(|(path, _)| canonical.starts_with(path))
            .max_by_key(|(path, _)| path.components().count());
        let is_near = |path: &Path| near.iter().any(|folder| path.starts_with(folder));
        let beside = || self.all.iter().find(|(path, _)| is_near(path));
        let (place, sessions) = above.or_else(beside)?;
        Some((place, *sessions))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_directory() {
        let of = |folders: &[&str]| {
            let mut all = Folders::default();
            folders.iter().for_each(|cwd| all.add((*cwd).to_owned()));
            all
        };
        let all = [
            "/nowhere/a/b/c/d",
            "/nowhere/a",
            "/nowhere",
            "/nowhere/a/",
            "",
        ];
        let said = |folders: &[&str], cwd: &str| {
            let folders = of(folders);
            let nearest = folders.nearest(Path::new(cwd), &[cwd.into()]);
            nearest.map(|(path, sessions)| (path.display().to_string(), sessions))
        };
        let is = |path: &str, sessions| Some((path.to_owned(), sessions));
        assert_eq!(said(&all, "/nowhere/a/b"), is("/nowhere/a", 2));
        assert_eq!(said(&all, "/nowhere/x"), is("/nowhere", 1));
        assert_eq!(said(&all[..1], "/nowhere/a/b"), is("/nowhere/a/b/c/d", 1));
        assert_eq!(said(&all, "/elsewhere"), None);
    }
}
