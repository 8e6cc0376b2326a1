//! Which files lie below a root, with the identity of each. Directories are read in parallel.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::identity::Identity;
use crate::format::Format;
use crate::model::{Part, Placement};

/// A source as found.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Found {
    /// Path below the root.
    pub relative: String,
    pub identity: Identity,
    /// Key of its session below the root.
    pub place: String,
    pub part: Part,
    pub unlisted: Option<String>,
}

/// All that lies below one root.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// The sources, sorted by path.
    pub found: Vec<Found>,
    /// Files that are no source, and why.
    pub strays: Vec<(String, String)>,
    /// Directories and files that could not be read: nothing below them counts as gone.
    pub unreadable: Vec<(String, String)>,
    /// Device of the root.
    pub device: i64,
    /// The root itself could not be read: nothing below it counts as gone.
    pub error: Option<String>,
}

impl Discovery {
    /// Whether a source that was not found may still exist.
    pub fn hides(&self, relative: &str) -> bool {
        self.error.is_some()
            || self.unreadable.iter().any(|(below, _)| {
                relative == below
                    || relative
                        .strip_prefix(below.as_str())
                        .is_some_and(|rest| rest.starts_with('/'))
            })
    }

    fn add(&mut self, mut other: Discovery) {
        self.found.append(&mut other.found);
        self.strays.append(&mut other.strays);
        self.unreadable.append(&mut other.unreadable);
    }
}

/// Walk the root at `path`.
pub fn discover(path: &Path, flat: bool, format: &dyn Format) -> Discovery {
    let metadata = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => metadata,
        Ok(_) => {
            return Discovery {
                error: Some("not a directory".into()),
                ..Discovery::default()
            };
        }
        Err(error) => {
            return Discovery {
                error: Some(error.to_string()),
                ..Discovery::default()
            };
        }
    };
    let walk = Walk {
        root: path,
        flat,
        format,
    };
    let identity = Identity::of(&metadata);
    let mut all = walk.directory(Path::new(""), &[(identity.device, identity.inode)]);
    if let Some(at) = all
        .unreadable
        .iter()
        .position(|(relative, _)| relative.is_empty())
    {
        let (_, error) = all.unreadable.swap_remove(at);
        all.error = Some(error);
    }
    all.device = identity.device;
    all.found
        .sort_unstable_by(|a, b| a.relative.cmp(&b.relative));
    all.strays.sort();
    all.unreadable.sort();
    all
}

struct Walk<'a> {
    root: &'a Path,
    flat: bool,
    format: &'a dyn Format,
}

impl Walk<'_> {
    /// `below` is the directory's path below the root; `above` are device and inode of every directory on the way
    /// here, so that links cannot lead in circles.
    fn directory(&self, below: &Path, above: &[(i64, i64)]) -> Discovery {
        let mut here = Discovery::default();
        let mut deeper = Vec::new();
        let entries = match fs::read_dir(self.root.join(below)) {
            Ok(entries) => entries,
            Err(error) => {
                here.unreadable.push((lossy(below), error.to_string()));
                return here;
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    here.unreadable.push((lossy(below), error.to_string()));
                    continue;
                }
            };
            let path = below.join(entry.file_name());
            let metadata = match entry.metadata() {
                Ok(metadata) if metadata.is_symlink() => match fs::metadata(entry.path()) {
                    Ok(metadata) => metadata,
                    Err(error) => {
                        here.strays
                            .push((lossy(&path), format!("link that leads nowhere: {error}")));
                        continue;
                    }
                },
                Ok(metadata) => metadata,
                // Gone between the listing and the look.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => {
                    here.unreadable.push((lossy(&path), error.to_string()));
                    continue;
                }
            };
            if metadata.is_dir() {
                let identity = Identity::of(&metadata);
                let own = (identity.device, identity.inode);
                // Without inodes (Windows) a link to a folder above cannot be told; it is not followed.
                if self.flat {
                    // Often a folder of a project: what lies below it is the project's.
                    continue;
                }
                let is_link = entry.file_type().is_ok_and(|t| t.is_symlink());
                if is_link && (own == (0, 0) || above.contains(&own)) {
                    here.strays
                        .push((lossy(&path), "link to a folder above it".into()));
                } else {
                    deeper.push((path, own));
                }
            } else if metadata.is_file() {
                self.file(path, &metadata, &mut here);
            }
        }
        let deeper: Vec<Discovery> = deeper
            .into_par_iter()
            .map(|(path, own)| {
                let mut above = above.to_vec();
                above.push(own);
                self.directory(&path, &above)
            })
            .collect();
        for each in deeper {
            here.add(each);
        }
        here
    }

    fn file(&self, path: PathBuf, metadata: &fs::Metadata, here: &mut Discovery) {
        let placement = self.format.place(&path, self.flat);
        let relative = match path.into_os_string().into_string() {
            Ok(relative) if cfg!(windows) => relative.replace('\\', "/"),
            Ok(relative) => relative,
            Err(name) => {
                here.strays.push((
                    name.to_string_lossy().into_owned(),
                    "name is not UTF-8".into(),
                ));
                return;
            }
        };
        match placement {
            Placement::Source {
                session,
                part,
                unlisted,
            } => here.found.push(Found {
                relative,
                identity: Identity::of(metadata),
                place: session,
                part,
                unlisted,
            }),
            Placement::Ignore(reason) => here.strays.push((relative, reason.to_string())),
        }
    }
}

fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
