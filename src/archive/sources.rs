//! Which sources are kept, and what did each of them hold?

use std::path::{Component, Path, PathBuf};

use rusqlite::params;

use super::error::Error;
use super::open::{Archive, size};
use crate::sqlite_file::beside;
use crate::stored_path;

/// Where the file of a session lies, or lay.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePath {
    /// The agent.
    pub agent: String,
    /// The folder that is scanned for its sessions.
    pub root: PathBuf,
    /// The path below it.
    pub relative: String,
}

impl SourcePath {
    /// The path, if it leads nowhere but below the root.
    pub fn path(&self) -> Option<PathBuf> {
        let relative = Path::new(&self.relative);
        let mut parts = relative.components();
        let is_below = parts.all(|part| matches!(part, Component::Normal(_)));
        (is_below && !self.relative.is_empty()).then(|| stored_path::below(&self.root, relative))
    }

    /// Its [`twin`].
    pub fn twin(&self) -> SourcePath {
        SourcePath {
            relative: twin(&self.relative),
            ..self.clone()
        }
    }
}

/// Where the same file is when it is compressed; of a compressed one where the plain one is. An
/// agent that makes one of the other has one of them at a time.
pub fn twin(relative: &str) -> String {
    let plain = relative.strip_suffix(".zst");
    plain.map_or_else(|| format!("{relative}.zst"), str::to_owned)
}

/// By what a session is known, whatever files it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionName {
    /// The agent.
    pub agent: String,
    /// The folder that is scanned for its sessions.
    pub root: PathBuf,
    /// Its key below the root.
    pub session_key: String,
    /// Its id, where it has one.
    pub id: String,
}

/// One content that a source had: it grew until the next generation began, which is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation {
    /// Its number; later ones are greater.
    pub number: i64,
    /// Its bytes.
    pub length: u64,
    /// The modification time of the file when it was last read.
    pub mtime_ns: i64,
    /// When its first bytes were read.
    pub begun_ms: i64,
    /// When its last bytes were read.
    pub kept_ms: i64,
}

/// What there is of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArchiveTotals {
    /// The agent.
    pub agent: String,
    /// Files.
    pub sources: u64,
    /// Contents of them.
    pub generations: u64,
    /// Bytes of the newest content of each.
    pub bytes: u64,
    /// Bytes of all contents.
    pub all_bytes: u64,
}

const GENERATION: &str = "SELECT generation, length, mtime_ns, begun_ms, kept_ms FROM generations";

impl Archive {
    /// Its number, where the source is known.
    pub(super) fn source(&self, place: &SourcePath) -> Result<Option<i64>, Error> {
        let of = "SELECT source FROM sources WHERE agent = ?1 AND root = ?2 AND relative = ?3";
        let root = place.root.to_string_lossy();
        self.first(of, params![place.agent, root, place.relative], |r| r.get(0))
    }

    /// Every content of a source, the oldest first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn generations(&self, place: &SourcePath) -> Result<Vec<Generation>, Error> {
        let Some(source) = self.source(place)? else {
            return Ok(Vec::new());
        };
        let sql = format!("{GENERATION} WHERE source = ?1 ORDER BY generation");
        self.all(&sql, [source], generation)
    }

    pub(super) fn newest(&self, source: i64) -> Result<Option<Generation>, Error> {
        let sql = format!("{GENERATION} WHERE source = ?1 ORDER BY generation DESC LIMIT 1");
        self.first(&sql, [source], generation)
    }

    /// The sources below a root.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn places_below(&self, agent: &str, root: &Path) -> Result<Vec<SourcePath>, Error> {
        let sql = "SELECT relative FROM sources WHERE agent = ?1 AND root = ?2 ORDER BY relative";
        let bound = params![agent, root.to_string_lossy()];
        self.all(sql, bound, |r| {
            Ok(SourcePath {
                agent: agent.to_owned(),
                root: root.to_path_buf(),
                relative: r.get(0)?,
            })
        })
    }

    /// Every source.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn places(&self) -> Result<Vec<SourcePath>, Error> {
        let sql = "SELECT agent, root, relative FROM sources ORDER BY agent, root, relative";
        self.all(sql, [], |r| {
            Ok(SourcePath {
                agent: r.get(0)?,
                root: PathBuf::from(r.get::<_, String>(1)?),
                relative: r.get(2)?,
            })
        })
    }

    /// What there is of each agent.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn totals(&self) -> Result<Vec<ArchiveTotals>, Error> {
        let sql = "SELECT s.agent, count(DISTINCT s.source), count(g.generation),
                sum(CASE WHEN g.generation = (SELECT max(generation) FROM generations n WHERE n.source = s.source)
                         THEN g.length ELSE 0 END), sum(g.length)
            FROM sources s JOIN generations g USING (source) GROUP BY s.agent ORDER BY s.agent";
        self.all(sql, [], |r| {
            Ok(ArchiveTotals {
                agent: r.get(0)?,
                sources: r.get(1)?,
                generations: r.get(2)?,
                bytes: r.get(3)?,
                all_bytes: r.get(4)?,
            })
        })
    }

    /// Bytes that its files take.
    pub fn stored_bytes(&self) -> u64 {
        size(&self.path) + size(&beside(&self.path, "-wal"))
    }
}

fn generation(r: &rusqlite::Row<'_>) -> rusqlite::Result<Generation> {
    Ok(Generation {
        number: r.get(0)?,
        length: r.get(1)?,
        mtime_ns: r.get(2)?,
        begun_ms: r.get(3)?,
        kept_ms: r.get(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_leads_nowhere_but_below_its_root() {
        let path = |relative: &str| {
            let place = SourcePath {
                agent: "pi".into(),
                root: "/r".into(),
                relative: relative.into(),
            };
            place.path()
        };
        assert_eq!(path("a/b"), Some("/r/a/b".into()));
        for outside in ["", "/etc/passwd", "../a", "a/../../b"] {
            assert_eq!(path(outside), None, "{outside}");
        }
    }
}
