//! What is to be left out? Globs on working directories and on paths of files.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::checkpoint::hash;

/// Globs; a session is left out when its working directory or the path of its file matches one.
///
/// A glob without a separator matches a name at any depth, `*` does not cross a separator, `**` does; what matches
/// stands for all that lies below it.
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

/// A glob that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{glob}: {why}")]
pub struct BadGlob {
    /// As written.
    pub glob: String,
    /// What is wrong with it.
    pub why: String,
}

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
            let whole = match glob {
                // The root of all: `/**` is what lies below it.
                "/" => String::new(),
                _ if trimmed.contains('/') => trimmed.to_owned(),
                _ => format!("**/{trimmed}"),
            };
            for glob in [format!("{whole}/**"), whole] {
                let glob = GlobBuilder::new(&glob).literal_separator(true).build();
                set.add(glob.map_err(bad)?);
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

    /// What tells other globs from these; `None` when there are none.
    pub(crate) fn fingerprint(&self) -> Option<i64> {
        let text = self.globs.join("\n");
        (!self.is_empty()).then(|| hash(text.as_bytes()).cast_signed())
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
    fn globs_stand_for_all_below_them() -> Result<(), BadGlob> {
        let exclude = Exclude::new(&["/a/b", "private", "/c/*/x/", "**/*.tmp.jsonl"])?;
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
            ("", false),
        ] {
            assert_eq!(exclude.matches(path.as_ref()), is_out, "{path}");
        }
        assert!(!Exclude::new(&[""; 0])?.matches("/a".as_ref()));
        assert!(Exclude::new(&["/"])?.matches("/a/b".as_ref()));
        assert!(Exclude::new(&["a{b"]).is_err());
        assert!(Exclude::new(&["/a", ""]).is_err() && Exclude::new(&["//"]).is_err());
        Ok(())
    }
}
