//! What is to be left out? Globs on working directories and on paths of files.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::checkpoint::hash;

/// Globs; a session is left out when its working directory or the path of its file matches one: the
/// path by which it is named, or the one to which links lead. A glob may name a folder by a link,
/// too.
///
/// A glob without a separator matches a name at any depth, `*` does not cross a separator, `**`
/// does; what matches stands for all that lies below it, and `folder/**` for the folder too.
///
/// ```
/// use sessionary::Exclude;
/// let exclude = Exclude::new(&["/home/ada/secret", "*.draft.jsonl"])?;
/// assert!(exclude.matches("/home/ada/secret/plans".as_ref()));
/// assert!(exclude.matches("/anywhere/a.draft.jsonl".as_ref()));
/// assert!(!exclude.matches("/home/ada/secretary".as_ref()));
/// # Ok::<(), sessionary::BadGlob>(())
/// ```
#[derive(Clone, Default)]
pub struct Exclude {
    globs: Vec<String>,
    set: Option<Arc<GlobSet>>,
}

/// So many may be open in a glob, at most.
const MOST_BRACES: usize = 100;

/// A glob that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{glob}: {why}")]
#[non_exhaustive]
pub struct BadGlob {
    /// As written.
    pub glob: String,
    /// What is wrong with it.
    pub why: String,
}

impl PartialEq for Exclude {
    fn eq(&self, other: &Exclude) -> bool {
        self.globs == other.globs
    }
}

impl Eq for Exclude {}

impl Exclude {
    /// Of globs with `/` between names, on Windows too.
    ///
    /// # Errors
    /// The first of them that cannot be read.
    pub fn new(globs: &[impl AsRef<str>]) -> Result<Exclude, BadGlob> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let glob = glob.as_ref();
            let bad = |error: globset::Error| BadGlob {
                glob: glob.to_owned(),
                why: error.kind().to_string(),
            };
            let trimmed = glob.trim_end_matches('/');
            if trimmed.is_empty() && glob != "/" {
                return Err(BadGlob {
                    glob: format!("{glob:?}"),
                    why: "it names nothing, and as a glob it would match everything".to_owned(),
                });
            }
            if glob.matches('{').count() > MOST_BRACES {
                return Err(BadGlob {
                    glob: glob.to_owned(),
                    why: format!("it has more than {MOST_BRACES} braces"),
                });
            }
            // What lies below a folder is asked for with it.
            let folder = trimmed.trim_end_matches("/**");
            let whole = match glob {
                // The root of all: `/**` is what lies below it.
                "/" => String::new(),
                _ if trimmed.contains('/') => folder.to_owned(),
                _ => format!("**/{trimmed}"),
            };
            for whole in without_links(&whole).into_iter().chain([whole]) {
                for glob in [format!("{whole}/**"), whole] {
                    let glob = GlobBuilder::new(&glob).literal_separator(true).build();
                    set.add(glob.map_err(bad)?);
                }
            }
        }
        let all = set.build().map_err(|error| BadGlob {
            glob: String::new(),
            why: error.to_string(),
        })?;
        Ok(Exclude {
            globs: globs.iter().map(|glob| glob.as_ref().to_owned()).collect(),
            set: Some(Arc::new(all)).filter(|_| !globs.is_empty()),
        })
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.set.is_none()
    }

    /// Whether a working directory or a file is left out.
    pub fn matches(&self, path: &Path) -> bool {
        match &self.set {
            Some(set) if cfg!(windows) => set.is_match(path.to_string_lossy().replace('\\', "/")),
            Some(set) => set.is_match(path),
            None => false,
        }
    }

    /// The globs as they were given.
    pub fn globs(&self) -> &[String] {
        &self.globs
    }

    /// A fingerprint of the globs; `None` when there are none.
    pub(crate) fn fingerprint(&self) -> Option<i64> {
        // The prefix makes it differ from those of versions that left out less.
        let text = format!(
            "links everywhere, folders too, whole sessions\n{}",
            self.globs.join("\n")
        );
        (!self.is_empty()).then(|| hash(text.as_bytes()).cast_signed())
    }
}

/// Tells which files and working directories are left out, however they are reached.
pub struct ExcludedFiles<'a> {
    exclude: &'a Exclude,
    /// Folders without links, by the names by which they were asked for: there are fewer of them
    /// than files.
    real: RefCell<HashMap<PathBuf, PathBuf>>,
}

impl<'a> ExcludedFiles<'a> {
    /// By these globs.
    pub fn by(exclude: &'a Exclude) -> ExcludedFiles<'a> {
        ExcludedFiles {
            exclude,
            real: RefCell::default(),
        }
    }

    /// Whether the file at this path is left out. `is_link`: the path itself may be a link.
    pub fn holds(&self, path: &Path, is_link: bool) -> bool {
        if self.exclude.is_empty() || self.exclude.matches(path) {
            return !self.exclude.is_empty();
        }
        let real = match (is_link, path.parent(), path.file_name()) {
            (false, Some(folder), Some(name)) => self.real(folder).join(name),
            _ => self.real(path),
        };
        real != path && self.exclude.matches(&real)
    }

    /// Whether the working directory that a session names is left out.
    pub fn holds_folder(&self, cwd: &Path) -> bool {
        self.holds(cwd, true)
    }

    /// Whether the file at this path is left out; whether it is a link is looked up.
    pub fn holds_at(&self, path: &Path) -> bool {
        self.holds(path, path.is_symlink())
    }

    /// A path without links, as far as there is something at it.
    fn real(&self, path: &Path) -> PathBuf {
        let mut known = self.real.borrow_mut();
        if let Some(real) = known.get(path) {
            return real.clone();
        }
        let real = real(path);
        known.insert(path.to_path_buf(), real.clone());
        real
    }
}

/// Bytes of the longest path that a system takes: Windows' limit, the highest.
const LONGEST_PATH: usize = 32_767;

/// A path without links, as far as there is something at it.
fn real(path: &Path) -> PathBuf {
    // A relative path cannot be resolved, because its base is unknown here. Nor is there anything
    // at a path that no system takes; a session may say one of any length.
    if !path.is_absolute() || path.as_os_str().len() > LONGEST_PATH {
        return path.to_path_buf();
    }
    let there = path
        .ancestors()
        .find_map(|folder| Some((folder, plain(fs::canonicalize(folder).ok()?))));
    match there {
        Some((folder, real)) if folder == path => real,
        Some((folder, real)) => match path.strip_prefix(folder) {
            Ok(rest) => real.join(rest),
            Err(_) => path.to_path_buf(),
        },
        None => path.to_path_buf(),
    }
}

/// The glob with the folder it begins with named without links; `None` where there are none in it.
fn without_links(glob: &str) -> Option<String> {
    let signs = glob.find(['*', '?', '[', '{', '\\']);
    let (folder, rest) = match signs {
        Some(at) => glob.split_at(glob[..at].rfind('/')?),
        None => (glob, ""),
    };
    let real = real(folder.as_ref());
    let real = real.to_str().filter(|real| *real != folder)?;
    let real = match cfg!(windows) {
        true => real.replace('\\', "/"),
        false => real.to_owned(),
    };
    Some(globset::escape(&real) + rest)
}

/// Windows returns a form of the path that is never written in a glob.
fn plain(path: PathBuf) -> PathBuf {
    let text = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    match text.filter(|_| cfg!(windows)) {
        Some(plain) => plain.into(),
        None => path,
    }
}

impl fmt::Debug for Exclude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.globs).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_may_be_as_long_as_a_session_says() -> Result<(), BadGlob> {
        let exclude = Exclude::new(&["/private"])?;
        let files = ExcludedFiles::by(&exclude);
        assert!(!files.holds_folder(Path::new(&"/a".repeat(200_000))));
        assert!(files.holds_folder(Path::new(&("/private".to_owned() + &"/a".repeat(200_000)))));
        let braces = format!("/x/{}a{}", "{".repeat(50_000), "}".repeat(50_000));
        assert!(Exclude::new(&[&braces]).is_err_and(|bad| bad.glob == braces));
        let glob = "/a".repeat(10_000);
        assert!(Exclude::new(&[&glob])?.matches(Path::new(&glob)));
        Ok(())
    }

    #[test]
    fn globs_stand_for_all_below_them() -> Result<(), BadGlob> {
        let globs = ["/a/b", "private", "/c/*/x/", "**/*.tmp.jsonl", "/d/e/**"];
        let exclude = Exclude::new(&globs)?;
        for (path, is_out) in [
            ("/a/b", true),
            ("/a/b/c/d", true),
            ("/a/bc", false),
            ("/x/private/y", true),
            ("/x/private", true),
            ("/x/privateer", false),
            ("/c/1/x/2", true),
            ("/c/1/2/x", false),
            ("/q/w.tmp.jsonl", true),
            ("/d/e", true),
            ("/d/e/f/g", true),
            ("/d/ef", false),
            ("", false),
        ] {
            assert_eq!(exclude.matches(path.as_ref()), is_out, "{path}");
        }
        assert!(!Exclude::new(&[""; 0])?.matches("/a".as_ref()));
        assert!(Exclude::new(&["/"])?.matches("/a/b".as_ref()));
        assert!(Exclude::new(&["/**"])?.matches("/a/b".as_ref()));
        assert!(Exclude::new(&["a{b"]).is_err());
        assert!(Exclude::new(&["/a", ""]).is_err() && Exclude::new(&["//"]).is_err());
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_may_be_named_by_a_link() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap();
        fs::create_dir_all(real.join("disk [1]/code")).unwrap();
        std::os::unix::fs::symlink("disk [1]/code", real.join("code")).unwrap();
        let at = |path: &str| format!("{}/{path}", real.display());
        for glob in ["code", "code/hush", "code/hush/", "code/h*", "code/*ush/**"] {
            let exclude = Exclude::new(&[at(glob)]).unwrap();
            for by in ["code/hush/deep", "disk [1]/code/hush/deep"] {
                assert!(exclude.matches(at(by).as_ref()), "{glob}: {by}");
            }
            assert!(!exclude.matches(at("disk [1]/other").as_ref()), "{glob}");
            assert_eq!(exclude.globs(), [at(glob)], "they stay as they were given");
        }
        // The other way round.
        let exclude = Exclude::new(&[at("disk \\[1\\]/code/hush")]).unwrap();
        let files = ExcludedFiles::by(&exclude);
        assert!(files.holds_folder(at("code/hush/not/there").as_ref()));
        assert!(!files.holds_folder(at("code/open").as_ref()));
        assert!(!files.holds_folder("code/hush".as_ref()));
    }
}
