//! What does a scan below a root leave alone? Links that lead out of the roots, unless they are to
//! be followed, and what another root has.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Why a link is no source and leads to none.
pub const NOT_FOLLOWED: &str = "link that leads out of the roots: not followed";
/// Why a link to a folder that contains a root is never followed, whatever the rules say: it would
/// mean scanning most of a disk.
pub const ABOVE_A_ROOT: &str = "link to a folder that a root lies in: not followed";

/// Where links below a root may lead, and which folders are roots of their own.
#[derive(Debug, Default)]
pub struct Links {
    roots: Vec<PathBuf>,
    /// What lies in these is read there; in flat ones no more than their own files.
    others: Vec<(PathBuf, bool)>,
    /// Only to what lies below the roots.
    within: bool,
    /// Those that are there, by their real paths; asked for at the first link.
    real: OnceLock<Vec<PathBuf>>,
}

impl Links {
    /// To what lies below one of these directories.
    pub fn within(roots: Vec<PathBuf>) -> Links {
        Links {
            within: true,
            ..Links::anywhere(roots)
        }
    }

    /// Anywhere but to the folders that these directories lie in.
    pub fn anywhere(roots: Vec<PathBuf>) -> Links {
        Links {
            roots,
            others: Vec::new(),
            within: false,
            real: OnceLock::new(),
        }
    }

    /// Without what these roots have, each with whether it is flat.
    pub fn beside(self, others: Vec<(PathBuf, bool)>) -> Links {
        Links { others, ..self }
    }

    /// The paths below `root` of other roots, and whether they are flat.
    pub fn nested_in(&self, root: &Path) -> Vec<(PathBuf, bool)> {
        let below = |(other, flat): &(PathBuf, bool)| {
            let below = other.strip_prefix(root).ok()?;
            (!below.as_os_str().is_empty()).then(|| (below.to_path_buf(), *flat))
        };
        self.others.iter().filter_map(below).collect()
    }

    /// Whether the link at this path is followed, or why not. One that leads nowhere leads out of
    /// nothing, but is not.
    pub fn follow(&self, link: &Path) -> Result<(), &'static str> {
        let real = self.real.get_or_init(|| {
            let real = self.roots.iter().map(fs::canonicalize);
            real.flatten().collect()
        });
        let target = fs::canonicalize(link);
        let is_below = |target: &PathBuf| real.iter().any(|root| target.starts_with(root));
        let is_above = |target: &PathBuf| {
            let mut roots = real.iter();
            roots.any(|root| root.starts_with(target) && root != target)
        };
        match (self.within, target) {
            (true, target) if !target.as_ref().is_ok_and(is_below) => Err(NOT_FOLLOWED),
            (false, Ok(target)) if is_above(&target) => Err(ABOVE_A_ROOT),
            _ => Ok(()),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_followed_to_where_it_ends() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for folder in ["real/a", "other", "out/a", "rootless"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("out/a/file"), "").unwrap();
        for (target, link) in [
            ("real", "root"),
            ("../a", "real/a/here"),
            ("../other", "real/beside"),
            ("../out/a", "real/out"),
            ("../out/a/file", "real/file"),
            ("../back", "real/back"),
            ("real/a", "back"),
            ("../nowhere", "real/lost"),
            ("../rootless", "real/begins-alike"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        // A root may be a link itself, and may be missing.
        let links = Links::within(vec![at("root"), at("other"), at("gone")]);
        let follows = |name: &str| links.follow(&at("root").join(name)).is_ok();
        for (name, followed) in [
            ("a/here", true),
            ("beside", true),
            ("back", true),
            ("out", false),
            ("file", false),
            ("lost", false),
            ("begins-alike", false),
        ] {
            assert_eq!(follows(name), followed, "{name}");
            let anywhere = Links::anywhere(vec![at("root")]);
            assert_eq!(anywhere.follow(&at("root").join(name)), Ok(()), "{name}");
        }
        // To the folder of the root, and to that of everything.
        for (target, link) in [("..", "real/up"), ("/", "real/all")] {
            symlink(target, at(link)).unwrap();
            let anywhere = Links::anywhere(vec![at("root")]);
            assert_eq!(anywhere.follow(&at(link)), Err(ABOVE_A_ROOT));
            assert_eq!(links.follow(&at(link)), Err(NOT_FOLLOWED));
        }
    }
}
