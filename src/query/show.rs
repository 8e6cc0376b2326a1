//! What was said? A session's transcript, or one entry with what is around it, read from its file.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

use super::tree::{Shape, current_labels};
use crate::catalogue::Catalogue;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::write::flag;
use crate::index::{Error, Index};
use crate::ingest::entry_bytes;
use crate::model::{Class, SCHEMA_VERSION, SessionRow, ShownEntry, Transcript, iso};

/// Which entries a transcript shows.
#[derive(Debug, Clone, Default)]
pub struct ShowScope {
    /// Only this entry (id, or `L<line>`) and its context.
    pub entry: Option<String>,
    /// Entries before and after it along the branch.
    pub context: usize,
    /// The branch that ends at this entry, instead of the active one.
    pub branch: Option<String>,
    /// Every entry and problem of the files in file order, instead of one branch.
    pub all: bool,
}

/// An entry's pieces of text by class.
pub(super) type Text = Vec<(Class, Vec<String>)>;

/// How an entry is named: its id, else its line.
pub(super) fn address(entry: &StoredEntry) -> String {
    match &entry.id {
        Some(id) if !id.is_empty() => id.clone(),
        _ => format!("L{}", entry.line),
    }
}

impl Index {
    /// The transcript of the active branch, of another, of all, or around one entry.
    ///
    /// # Errors
    /// [`Error::NoEntry`] when the entry or branch asked for is not in the session.
    pub fn show(&self, session: &SessionRow, scope: &ShowScope) -> Result<Transcript, Error> {
        let stored = self.stored(session)?;
        let Some(catalogue) = &self.catalogue else {
            return Err(Error::NotFound {
                name: session.id.clone(),
            });
        };
        let all = self.entries_in_order(catalogue, &stored)?;
        let entries: Vec<&StoredEntry> = if scope.all {
            all.iter().collect()
        } else {
            all.iter().filter(|e| e.kind != "session").collect()
        };
        let find = |name: &str| -> Result<usize, Error> {
            find(&entries, name).ok_or_else(|| Error::NoEntry {
                session: session.id.clone(),
                entry: name.to_string(),
            })
        };
        let focus = scope.entry.as_deref().map(find).transpose()?;
        let chosen: Vec<usize> = if scope.all {
            (0..entries.len()).collect()
        } else {
            let shape = Shape::of(&entries, self.is_linear(&stored));
            let active = shape.active_branch(&entries);
            let mut branch = match (&scope.branch, focus) {
                (Some(leaf), _) => shape.branch(find(leaf)?),
                // An entry off the active branch is shown on the branch it ends.
                (None, Some(at)) if !active.contains(&at) => shape.branch(at),
                (None, _) => active,
            };
            branch.reverse();
            branch
        };
        let chosen = match focus {
            Some(at) => {
                let here = chosen.iter().position(|c| *c == at).unwrap_or(0);
                let from = here.saturating_sub(scope.context);
                let to = (here + scope.context + 1).min(chosen.len());
                chosen[from..to].to_vec()
            }
            None => chosen,
        };
        let labels = current_labels(catalogue.labels(stored.session)?);
        let mut reader = Reader::new(self, catalogue);
        let mut shown = Vec::with_capacity(chosen.len());
        for at in chosen {
            let entry = entries[at];
            shown.push(ShownEntry {
                id: address(entry),
                parent: entry.parent.clone(),
                line: entry.line,
                start: entry.start,
                end: entry.start + entry.length,
                kind: entry.kind.clone(),
                role: entry.role.clone(),
                label: entry.id.as_ref().and_then(|id| labels.get(id)).cloned(),
                time: entry.time_ms.and_then(iso),
                is_error: entry.flags & flag::ERROR != 0,
                text: reader.text(entry)?,
                problem: None,
            });
        }
        if scope.all {
            for source in catalogue.sources_of(stored.session)? {
                for problem in catalogue.problems(source)? {
                    shown.push(ShownEntry {
                        id: format!("@{}", problem.start),
                        parent: None,
                        line: 0,
                        start: problem.start,
                        end: problem.start + problem.length,
                        kind: "problem".into(),
                        role: None,
                        label: None,
                        time: None,
                        is_error: false,
                        text: Vec::new(),
                        problem: Some(problem.reason),
                    });
                }
            }
        }
        Ok(Transcript {
            schema_version: SCHEMA_VERSION,
            complete: self.complete,
            session: stored.row,
            entries: shown,
            focus: focus.map(|at| address(entries[at])),
        })
    }

    /// The exact bytes of one entry, or of the session's main file.
    pub fn raw(&self, session: &SessionRow, entry: Option<&str>) -> Result<Vec<u8>, Error> {
        let Some(name) = entry else {
            return std::fs::read(&session.path).map_err(|e| Error::io(&session.path, e));
        };
        let stored = self.stored(session)?;
        let no_entry = || Error::NoEntry {
            session: session.id.clone(),
            entry: name.to_string(),
        };
        let Some(catalogue) = &self.catalogue else {
            return Err(no_entry());
        };
        let all = self.entries_in_order(catalogue, &stored)?;
        let entries: Vec<&StoredEntry> = all.iter().collect();
        let at = find(&entries, name).ok_or_else(no_entry)?;
        Reader::new(self, catalogue)
            .bytes(entries[at])?
            .ok_or_else(no_entry)
    }
}

/// The entry of that name; with several of one id the last, as pi resolves them.
fn find(entries: &[&StoredEntry], name: &str) -> Option<usize> {
    entries
        .iter()
        .rposition(|e| e.id.as_deref() == Some(name))
        .or_else(|| {
            let line: u64 = name.strip_prefix('L')?.parse().ok()?;
            entries.iter().position(|e| e.line == line)
        })
}

/// Entries read again from their files, each file opened once.
pub(super) struct Reader<'a> {
    index: &'a Index,
    catalogue: &'a Catalogue,
    open: HashMap<i64, Option<(PathBuf, String, Option<File>)>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(index: &'a Index, catalogue: &'a Catalogue) -> Reader<'a> {
        Reader {
            index,
            catalogue,
            open: HashMap::new(),
        }
    }

    /// The bytes, `None` when they are no longer what was catalogued.
    pub(super) fn bytes(&mut self, entry: &StoredEntry) -> Result<Option<Vec<u8>>, Error> {
        use std::collections::hash_map::Entry;
        let place = match self.open.entry(entry.source) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(new) => new.insert(
                self.catalogue
                    .source_place(entry.source)?
                    .map(|(path, format)| (path, format, None)),
            ),
        };
        let Some((path, _, file)) = place else {
            return Ok(None);
        };
        entry_bytes(path, file, entry.start, entry.length, entry.hash)
            .map_err(|e| Error::io(path, e))
    }

    /// The text by class; empty when the bytes changed.
    pub(super) fn text(&mut self, entry: &StoredEntry) -> Result<Text, Error> {
        let record = self.bytes(entry)?;
        Ok(record
            .and_then(|record| self.passages_of(entry, &record))
            .unwrap_or_default())
    }

    /// The same; `None` when the bytes changed or cannot be read any more.
    pub(super) fn passages(&mut self, entry: &StoredEntry) -> Result<Option<Text>, Error> {
        match self.bytes(entry) {
            Ok(Some(record)) => Ok(self.passages_of(entry, &record)),
            Ok(None) | Err(Error::Io { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn passages_of(&self, entry: &StoredEntry, record: &[u8]) -> Option<Text> {
        let (path, format, _) = self.open.get(&entry.source)?.as_ref()?;
        let passages = self.index.config.format(format)?.passages_at(path, record);
        Some(passages.into_iter().map(|p| (p.class, p.pieces)).collect())
    }
}
