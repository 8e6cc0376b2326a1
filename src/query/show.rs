//! What was said? A session's transcript, or one entry with what is around it, read from its file.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

use super::masked::{mask_labels, mask_pieces};
use super::outline::Ask;
use super::tree::current_labels;
use crate::catalogue::Catalogue;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::write::flag;
use crate::index::{Error, Index};
use crate::ingest::entry_bytes;
use crate::model::{Class, Mask, SCHEMA_VERSION, SessionRow, ShownEntry, Transcript, iso};

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
    /// Makes parts of what is shown unreadable.
    pub mask: Option<Mask>,
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

/// A transcript piece by piece: a session may be larger than the memory.
#[expect(clippy::large_enum_variant, reason = "one at a time, and never kept")]
pub enum ShownPart<'a> {
    /// All but the entries.
    Head(&'a Transcript),
    /// The next entry.
    Entry(ShownEntry),
}

impl Index {
    /// The transcript of the active branch, of another, of all, or around one entry.
    ///
    /// # Errors
    /// [`Error::NoEntry`] when the entry or branch asked for is not in the session.
    pub fn show(&self, session: &SessionRow, scope: &ShowScope) -> Result<Transcript, Error> {
        let (mut transcript, mut entries) = (None, Vec::new());
        self.show_each(session, scope, &mut |part| {
            match part {
                ShownPart::Head(head) => transcript = Some(head.clone()),
                ShownPart::Entry(entry) => entries.push(entry),
            }
            Ok::<(), Error>(())
        })?;
        let no_session = || Error::NotFound {
            name: session.id.clone(),
        };
        Ok(Transcript {
            entries,
            ..transcript.ok_or_else(no_session)?
        })
    }

    /// The same, piece by piece. An error of `each` ends it.
    ///
    /// # Errors
    /// As [`Index::show`], before the first piece.
    pub fn show_each<E: From<Error>>(
        &self,
        session: &SessionRow,
        scope: &ShowScope,
        each: &mut dyn FnMut(ShownPart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let stored = self.stored(session)?;
        let Some(catalogue) = &self.catalogue else {
            return Err(Error::NotFound {
                name: session.id.clone(),
            }
            .into());
        };
        let (entry, leaf) = (scope.entry.as_deref(), scope.branch.as_deref());
        let names: Vec<&str> = entry.into_iter().chain(leaf).collect();
        let ask = Ask {
            without: if scope.all { &[] } else { &["session"] },
            find: &names,
        };
        let outline = self.outline(catalogue, stored.session, self.is_linear(&stored), ask)?;
        let mut found = names.iter().zip(&outline.found).map(|(name, found)| {
            found.ok_or_else(|| Error::NoEntry {
                session: session.id.clone(),
                entry: (*name).to_owned(),
            })
        });
        let focus = entry.and_then(|_| found.next()).transpose()?;
        let leaf = match scope.all {
            true => None,
            false => leaf.and_then(|_| found.next()).transpose()?,
        };
        let mut chosen: Vec<usize> = if scope.all {
            (0..outline.keys.len()).collect()
        } else {
            let active = outline.active_branch();
            let mut branch = match (leaf, focus) {
                (Some(leaf), _) => outline.branch(leaf),
                // An entry off the active branch is shown on the branch it ends.
                (None, Some(at)) if !active.contains(&at) => outline.branch(at),
                (None, _) => active,
            };
            branch.reverse();
            branch
        };
        if let Some(at) = focus {
            let here = chosen.iter().position(|c| *c == at).unwrap_or(0);
            let from = here.saturating_sub(scope.context);
            let to = here
                .saturating_add(scope.context)
                .saturating_add(1)
                .min(chosen.len());
            chosen = chosen[from..to].to_vec();
        }
        let mut labels = current_labels(catalogue.labels(stored.session).map_err(Error::from)?);
        let mut session = stored.row;
        if let Some(mask) = scope.mask {
            session.mask(mask);
            mask_labels(&mut labels, mask);
        }
        let stored_entry = |at: usize| catalogue.entry(outline.keys[at]).map_err(Error::from);
        let focus = match focus {
            Some(at) => stored_entry(at)?.map(|entry| address(&entry)),
            None => None,
        };
        let sources = catalogue.sources_of(stored.session).map_err(Error::from)?;
        each(ShownPart::Head(&Transcript {
            schema_version: SCHEMA_VERSION,
            complete: self.complete,
            session,
            entries: Vec::new(),
            focus,
        }))?;
        let mut reader = Reader::new(self, catalogue).masking(scope.mask);
        for at in chosen {
            let Some(entry) = stored_entry(at)? else {
                continue;
            };
            let text = match reader.text(&entry) {
                Err(Error::Io { .. }) => None,
                text => text?,
            };
            let gone = "its bytes have changed or cannot be read; ask again";
            each(ShownPart::Entry(ShownEntry {
                id: address(&entry),
                label: entry.id.as_ref().and_then(|id| labels.get(id)).cloned(),
                time: entry.time_ms.and_then(iso),
                is_error: entry.flags & flag::ERROR != 0,
                problem: text.is_none().then(|| gone.to_owned()),
                text: text.unwrap_or_default(),
                parent: entry.parent,
                line: entry.line,
                start: entry.start,
                end: entry.start + entry.length,
                kind: entry.kind,
                role: entry.role,
            }))?;
        }
        if scope.all {
            for source in sources {
                let mut problems = catalogue.problems(source);
                while let Some(problem) = problems.next().map_err(Error::from)? {
                    each(ShownPart::Entry(ShownEntry {
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
                    }))?;
                }
            }
        }
        Ok(())
    }

    /// The exact bytes of one entry, or of the session's main file.
    pub fn raw(&self, session: &SessionRow, entry: Option<&str>) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.copy_raw(session, entry, &mut bytes)?;
        Ok(bytes)
    }

    /// Write the exact bytes of one entry, or of the session's main file, to `out`.
    ///
    /// # Errors
    /// [`Error::NoEntry`] when the entry is not in the session or its bytes have changed; [`Error::Io`] of the file
    /// or of `out`.
    pub fn copy_raw(
        &self,
        session: &SessionRow,
        entry: Option<&str>,
        out: &mut dyn std::io::Write,
    ) -> Result<(), Error> {
        let failed = |e| Error::io(&session.path, e);
        let Some(name) = entry else {
            let mut file = File::open(&session.path).map_err(failed)?;
            return std::io::copy(&mut file, out).map(drop).map_err(failed);
        };
        let stored = self.stored(session)?;
        let no_entry = || Error::NoEntry {
            session: session.id.clone(),
            entry: name.to_string(),
        };
        let catalogue = self.catalogue.as_ref().ok_or_else(no_entry)?;
        let ask = Ask {
            without: &[],
            find: &[name],
        };
        let outline = self.outline(catalogue, stored.session, self.is_linear(&stored), ask)?;
        let at = outline
            .found
            .first()
            .copied()
            .flatten()
            .ok_or_else(no_entry)?;
        let entry = catalogue.entry(outline.keys[at])?.ok_or_else(no_entry)?;
        let bytes = Reader::new(self, catalogue)
            .bytes(&entry)?
            .ok_or_else(no_entry)?;
        out.write_all(&bytes).map_err(failed)
    }
}

/// Entries read again from their files, each file opened once.
pub(super) struct Reader<'a> {
    index: &'a Index,
    catalogue: &'a Catalogue,
    open: HashMap<i64, Option<(PathBuf, String, Option<File>)>>,
    mask: Option<Mask>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(index: &'a Index, catalogue: &'a Catalogue) -> Reader<'a> {
        Reader {
            index,
            catalogue,
            open: HashMap::new(),
            mask: None,
        }
    }

    /// From now on [`Reader::text`] is masked.
    pub(super) fn masking(self, mask: Option<Mask>) -> Reader<'a> {
        Reader { mask, ..self }
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

    /// The text by class; `None` when the bytes changed.
    pub(super) fn text(&mut self, entry: &StoredEntry) -> Result<Option<Text>, Error> {
        let Some(record) = self.bytes(entry)? else {
            return Ok(None);
        };
        let mut text = self.passages_of(entry, &record);
        if let Some(mask) = self.mask {
            let passages = text.iter_mut().flatten();
            mask_pieces(&record, passages.flat_map(|(_, pieces)| pieces), mask);
        }
        Ok(text)
    }

    /// The same unmasked, and the record it is of; `None` as well when the bytes cannot be read any more.
    pub(super) fn unmasked(
        &mut self,
        entry: &StoredEntry,
    ) -> Result<Option<(Text, Vec<u8>)>, Error> {
        match self.bytes(entry) {
            Ok(Some(record)) => Ok(self.passages_of(entry, &record).map(|text| (text, record))),
            Ok(None) | Err(Error::Io { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The system prompts and tool schemas in an entry.
    pub(super) fn prompts(&mut self, entry: &StoredEntry) -> Result<Vec<String>, Error> {
        let record = self.bytes(entry)?;
        let prompts = record.and_then(|record| {
            let (path, format, _) = self.open.get(&entry.source)?.as_ref()?;
            Some(self.index.config.format(format)?.prompts_at(path, &record))
        });
        Ok(prompts.unwrap_or_default())
    }

    fn passages_of(&self, entry: &StoredEntry, record: &[u8]) -> Option<Text> {
        let (path, format, _) = self.open.get(&entry.source)?.as_ref()?;
        let format = self.index.config.format(format)?;
        let passages = format.passages_at(path, record);
        // A message of the system's says nothing else; in others the prompt is not what a reader looks for.
        if passages.is_empty() && entry.role.as_deref() == Some("system") {
            return Some(vec![(Class::Prose, format.prompts_at(path, record))]);
        }
        Some(passages.into_iter().map(|p| (p.class, p.pieces)).collect())
    }
}
