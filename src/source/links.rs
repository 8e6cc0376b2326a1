//! May a symbolic link be followed? Not out of the roots, unless that was asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Why a link is no source and leads to none.
pub const NOT_FOLLOWED: &str = "link that leads out of the roots: not followed";

/// Where links below a root may lead.
#[derive(Debug, Default)]
pub struct Links {
    /// `None`: anywhere.
    roots: Option<Vec<PathBuf>>,
    /// Those that are there, by their real paths; asked for at the first link.
    real: OnceLock<Vec<PathBuf>>,
}

impl Links {
    /// To what lies below one of these directories.
    pub fn within(roots: Vec<PathBuf>) -> Links {
        Links {
            roots: Some(roots),
            real: OnceLock::new(),
        }
    }

    /// Whether the link at this path is followed. One that leads nowhere leads out of nothing, but is not.
    pub fn follow(&self, link: &Path) -> bool {
        let Some(roots) = &self.roots else {
            return true;
        };
        let real = self.real.get_or_init(|| {
            let real = roots.iter().map(fs::canonicalize);
            real.flatten().collect()
        });
        fs::canonicalize(link).is_ok_and(|target| real.iter().any(|root| target.starts_with(root)))
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
        let follows = |name: &str| links.follow(&at("root").join(name));
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
            assert!(Links::default().follow(&at("root").join(name)), "{name}");
        }
    }
}
