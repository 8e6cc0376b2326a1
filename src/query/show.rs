//! What was said? A session's transcript, or one entry with what is around it, read from its file.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use super::lineage::Lineage;
use super::masked::{all_texts, mask_labels, mask_pieces, masked_name};
use super::outline::{Outline, OutlineQuery, Without};
use super::tree::current_labels;
use super::unreadable::Unreadable;
use crate::archive::SourcePath;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::read::StoredSession;
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::format::Shape;
use crate::ingest::OpenSource;
use crate::model::{Class, Mask, SCHEMA_VERSION, SessionRow, ShownEntry, Transcript, iso};
use crate::query::Snapshot;
use crate::source::content::{self, Content};
use crate::source::place::RangeReader;

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
    /// With `all`: also what a transcript leaves out. Each entry is shown with its system prompts
    /// and tool schemas, and again with every text of its record except pictures and encrypted
    /// text. Bytes that are no entry are shown to their end; long ones in parts with the same id
    /// that overlap.
    pub everything: bool,
    /// Makes parts of what is shown unreadable.
    pub mask: Option<Mask>,
}

/// An entry's pieces of text by class.
pub(super) type Text = Vec<(Class, Vec<String>)>;

/// The problem of an entry that is shown although its bytes have changed.
const CHANGED: &str = "its bytes have changed since they were catalogued";

/// How an entry is named: its id, else its line.
pub(super) fn address(entry: &StoredEntry) -> String {
    match &entry.id {
        Some(id) if !id.is_empty() => id.clone(),
        _ => format!("L{}", entry.line),
    }
}

/// A transcript piece by piece: a session may be larger than the memory.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and never kept")]
pub enum ShownPart<'a> {
    /// All but the entries.
    Head(&'a Transcript),
    /// The next entry.
    Entry(ShownEntry),
}

impl Snapshot<'_> {
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
        let no_session = || self.not_found(&session.id);
        Ok(Transcript {
            entries,
            complete: self.is_complete(),
            changed_files: self.changed_files(),
            ..transcript.ok_or_else(no_session)?
        })
    }

    /// Hands the transcript to `each` piece by piece: the head first, then the entries. An error of
    /// `each` ends it.
    ///
    /// # Errors
    /// As [`Snapshot::show`], before the first piece.
    pub fn show_each<E: From<Error>>(
        &self,
        session: &SessionRow,
        scope: &ShowScope,
        each: &mut dyn FnMut(ShownPart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (catalogue, stored) = (self.catalogue, self.stored(session)?);
        let shown = self.shown_entries(session, &stored, scope)?;
        let mut labels = current_labels(catalogue.labels(stored.session).map_err(Error::from)?);
        let mut session = stored.row;
        if let Some(mask) = &scope.mask {
            session.mask(mask);
            mask_labels(&mut labels, mask);
        }
        let stored_entry = |key: i64| catalogue.entry(key).map_err(Error::from);
        let focus = shown.focus.map(stored_entry).transpose()?.flatten();
        let mut unreadable = match scope.all {
            true => self.unreadable(stored.session, scope)?,
            false => Vec::new(),
        };
        each(ShownPart::Head(&Transcript {
            schema_version: SCHEMA_VERSION,
            session,
            entries: Vec::new(),
            focus: focus.as_ref().map(address),
            lost: shown.lineage.lost.clone(),
            complete: self.is_complete(),
            changed_files: self.changed_files(),
        }))?;
        let mask = scope.mask.as_ref();
        let mut reader = Reader::new(self).masking(mask).asked(shown.focus);
        reader.everything = scope.everything;
        // Around one entry, unreadable bytes are shown only where they stand between the entries
        // that are shown.
        let is_part = scope.entry.is_some();
        for (number, (place, key)) in shown.keys.into_iter().enumerate() {
            let Some(entry) = stored_entry(key)? else {
                continue;
            };
            // Entries of several files are ordered by their times, so bytes of one of the files
            // have no place among them.
            if let [of_file] = &mut *unreadable {
                if is_part && number == 0 {
                    of_file.skip_before(entry.start).map_err(Error::from)?;
                }
                while let Some(bytes) = of_file.next_before(entry.start).map_err(Error::from)? {
                    each(ShownPart::Entry(bytes))?;
                }
                of_file.pass(entry.start + entry.length, entry.line);
            }
            let entry = reader.shown(entry, &labels)?;
            each(ShownPart::Entry(ShownEntry {
                ordinal: u32::try_from(place).ok(),
                inherited_from: shown.lineage.origin(key),
                ..entry
            }))?;
        }
        for of_file in unreadable.iter_mut().filter(|_| !is_part) {
            while let Some(bytes) = of_file.next_before(u64::MAX).map_err(Error::from)? {
                each(ShownPart::Entry(bytes))?;
            }
        }
        for source in unreadable.iter().filter_map(Unreadable::lost) {
            if let Some((path, _)) = catalogue.source_place(source).map_err(Error::from)? {
                self.note_changed(source, &path);
            }
        }
        Ok(())
    }

    /// Whether there is an entry of this name in the session: an id, or `L<line>`.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn has_entry(&self, session: &SessionRow, entry: &str) -> Result<bool, Error> {
        self.finds(session, entry, false)
    }

    /// Whether there is an entry of this name (an id, or `L<line>`) in the session, or in what it
    /// inherits from the session in which it begins.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn shows_entry(&self, session: &SessionRow, entry: &str) -> Result<bool, Error> {
        self.finds(session, entry, true)
    }

    fn finds(&self, session: &SessionRow, entry: &str, inherited: bool) -> Result<bool, Error> {
        let ask = OutlineQuery {
            without: Without::Nothing,
            find: &[entry],
            inherited,
        };
        let outline = self.outline(&self.stored(session)?, ask)?;
        Ok(outline.found.iter().all(Option::is_some))
    }

    /// Which entries the scope asks for.
    fn shown_entries(
        &self,
        session: &SessionRow,
        stored: &StoredSession,
        scope: &ShowScope,
    ) -> Result<ShownEntries, Error> {
        let (entry, leaf) = (scope.entry.as_deref(), scope.branch.as_deref());
        let names: Vec<&str> = entry.into_iter().chain(leaf).collect();
        let ask = OutlineQuery {
            without: match scope.all {
                true => Without::Nothing,
                false => Without::Headers,
            },
            find: &names,
            inherited: !scope.all,
        };
        let outline = self.outline(stored, ask)?;
        let mut found = names
            .iter()
            .zip(&outline.found)
            .map(|(name, found)| found.ok_or_else(|| self.no_entry(session, name)));
        let focus = entry.and_then(|_| found.next()).transpose()?;
        let leaf = match scope.all {
            true => None,
            false => leaf.and_then(|_| found.next()).transpose()?,
        };
        let mut all = match scope.all {
            true => (0..outline.keys.len()).collect(),
            false => branch_from_root(&outline, leaf, focus),
        };
        all.retain(|at| scope.all || outline.is_read(*at) || Some(*at) == focus);
        let places = match focus {
            Some(at) => around(&all, at, scope.context),
            None => &all,
        };
        Ok(ShownEntries {
            keys: places.iter().map(|at| (*at, outline.keys[*at])).collect(),
            focus: focus.map(|at| outline.keys[at]),
            lineage: outline.lineage,
        })
    }

    /// The unreadable bytes of each of a session's files.
    fn unreadable(&self, session: i64, scope: &ShowScope) -> Result<Vec<Unreadable<'_>>, Error> {
        let mut unreadable = Vec::new();
        for source in self.catalogue.sources_of(session)? {
            let place = self.catalogue.source_place(source)?;
            let place = place.and_then(|(path, name)| Some((path, self.config().format(&name)?)));
            let has_lines = place
                .as_ref()
                .is_some_and(|(path, format)| format.shape_of(path) == Shape::Lines);
            let place = place.filter(|_| has_lines || scope.everything);
            let file =
                place.and_then(|(path, format)| RangeReader::new(path.open(format).ok()?).ok());
            let of_source = Unreadable::new(self.catalogue, source, file, scope.mask.as_ref());
            unreadable.push(match scope.everything {
                true => of_source.whole(has_lines),
                false => of_source,
            });
        }
        Ok(unreadable)
    }

    /// What the files of a session are called in the archive.
    pub(crate) fn source_paths_of(&self, session: &SessionRow) -> Result<Vec<SourcePath>, Error> {
        Ok(self
            .catalogue
            .source_paths_of(&session.agent, &session.path)?)
    }

    /// The same of its subagents, as far as these are files; its own are among them.
    pub(crate) fn source_paths_with_subagents(
        &self,
        session: &SessionRow,
    ) -> Result<Vec<SourcePath>, Error> {
        let format = self.config().format(&self.stored(session)?.format);
        let mut places = self
            .catalogue
            .source_paths_with_subagents(&session.agent, &session.path)?;
        places.retain(|place| {
            format.is_some_and(|format| !content::is_in_database(format, &place.relative))
        });
        Ok(places)
    }

    /// What the session's main source holds, opened.
    pub(crate) fn content(&self, session: &SessionRow) -> Result<Content, Error> {
        let failed = |e| Error::io(&session.path, e);
        let format = self.config().format(&self.stored(session)?.format);
        let format = format.ok_or_else(|| failed(ErrorKind::Unsupported.into()))?;
        let place = self.catalogue.main_source(&session.path)?;
        let place = place.unwrap_or_else(|| session.path.clone().into());
        place.open(format).map_err(failed)
    }

    /// Whether the session is, or was, rows of its agent's database.
    pub(crate) fn is_in_database(&self, session: &SessionRow) -> Result<bool, Error> {
        let format = self.config().format(&self.stored(session)?.format);
        let places = self.source_paths_of(session)?;
        let is_rows = |place: &SourcePath| {
            format.is_some_and(|format| content::is_in_database(format, &place.relative))
        };
        Ok(places.iter().any(is_rows))
    }

    /// Whether the catalogue has no file of the session itself any more, but something that belongs
    /// to it.
    pub(crate) fn has_lost_its_file(&self, session: &SessionRow) -> Result<bool, Error> {
        let is_known = !self.source_paths_of(session)?.is_empty();
        Ok(is_known && !self.catalogue.has_own_source(&session.path)?)
    }

    /// The document that the session's agent exports of it; `None`: it is no session in a database,
    /// or it is not known what its agent exports of it.
    pub(crate) fn exported(&self, session: &SessionRow) -> Result<Option<String>, Error> {
        let format = self.config().format(&self.stored(session)?.format);
        let (Some(format), true) = (format, self.is_in_database(session)?) else {
            return Ok(None);
        };
        let mut rows = String::new();
        let read = self.content(session)?.read_to_string(&mut rows);
        read.map_err(|error| Error::io(&session.path, error))?;
        Ok(format.about().exported.and_then(|exported| exported(&rows)))
    }

    /// The exact bytes of one entry, or of the session's main file.
    ///
    /// # Errors
    /// [`Error::NoEntry`] when the entry is not in the session; [`Error::Changed`] when its bytes
    /// have changed; [`Error::Io`] of the file.
    pub fn raw(&self, session: &SessionRow, entry: Option<&str>) -> Result<Vec<u8>, Error> {
        let Some(name) = entry else {
            let mut bytes = Vec::new();
            let read = self.content(session)?.read_to_end(&mut bytes);
            return read.map(|_| bytes).map_err(|e| Error::io(&session.path, e));
        };
        let stored = self.stored(session)?;
        let ask = OutlineQuery {
            without: Without::Nothing,
            find: &[name],
            inherited: true,
        };
        let outline = self.outline(&stored, ask)?;
        let at = self.found_in(&outline, session, name)?;
        let entry = self.catalogue.entry(outline.keys[at])?;
        let entry = entry.ok_or_else(|| self.no_entry(session, name))?;
        let bytes = Reader::new(self).bytes(&entry)?;
        bytes.ok_or_else(|| Error::Changed {
            path: session.path.clone(),
        })
    }
}

/// The entries that a transcript shows, by their keys in the catalogue.
struct ShownEntries {
    /// In the order in which they are shown, each with its place in file order.
    keys: Vec<(usize, i64)>,
    /// The one that was asked for.
    focus: Option<i64>,
    /// From where those are that stand before the session's own.
    lineage: Lineage,
}

/// The branch that is shown, from its root to its end: the one of `leaf`, else the one through
/// `focus`, else the active one.
fn branch_from_root(outline: &Outline, leaf: Option<usize>, focus: Option<usize>) -> Vec<usize> {
    let mut branch = match (leaf, focus) {
        (Some(leaf), _) => outline.branch(leaf),
        (None, Some(at)) => outline.branch_through(at),
        (None, None) => outline.active_branch(),
    };
    branch.reverse();
    branch
}

/// The entry at `focus` with up to `context` entries on each side of it.
pub(super) fn around(places: &[usize], focus: usize, context: usize) -> &[usize] {
    let here = places.iter().position(|at| *at == focus).unwrap_or(0);
    let from = here.saturating_sub(context);
    let to = here.saturating_add(context).saturating_add(1);
    &places[from..to.min(places.len())]
}

/// Entries read again from their files, each file opened once.
pub(super) struct Reader<'a> {
    snapshot: &'a Snapshot<'a>,
    open: HashMap<i64, Option<OpenSource>>,
    mask: Option<Mask>,
    /// Key of the entry that was asked for by its name.
    asked: Option<i64>,
    /// As [`ShowScope::everything`].
    everything: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(snapshot: &'a Snapshot<'a>) -> Reader<'a> {
        Reader {
            snapshot,
            open: HashMap::new(),
            mask: None,
            asked: None,
            everything: false,
        }
    }

    /// From now on [`Reader::text`] is masked.
    pub(super) fn masking(self, mask: Option<&Mask>) -> Reader<'a> {
        Reader {
            mask: mask.cloned(),
            ..self
        }
    }

    /// Of that entry the prompt is shown too where it holds nothing else: `kind:system` finds it.
    fn asked(self, asked: Option<i64>) -> Reader<'a> {
        Reader { asked, ..self }
    }

    /// The entry as a transcript shows it. Where its bytes have changed, a problem says so.
    pub(super) fn shown(
        &mut self,
        entry: StoredEntry,
        labels: &HashMap<String, String>,
    ) -> Result<ShownEntry, Error> {
        let text = self.text(&entry)?;
        let problem = text.is_none().then(|| CHANGED.to_owned());
        let text = match text {
            Some(text) => text,
            None => self.text_as_it_stands(&entry),
        };
        Ok(ShownEntry {
            id: address(&entry),
            label: entry.id.as_ref().and_then(|id| labels.get(id)).cloned(),
            time: entry.time_ms.and_then(iso),
            time_ms: entry.time_ms,
            is_error: entry.flags & flag::ERROR != 0,
            has_image: entry.flags & flag::IMAGE != 0,
            agent_sees: entry.agent_sees,
            problem,
            ordinal: None,
            inherited_from: None,
            text,
            parent: entry.parent,
            line: entry.line,
            start: entry.start,
            end: entry.start + entry.length,
            kind: masked_name(entry.kind, self.mask.as_ref()),
            role: entry.role.map(|role| masked_name(role, self.mask.as_ref())),
        })
    }

    /// The file of a source from which an entry was read.
    pub(super) fn file(&self, source: i64) -> PathBuf {
        let open = self.open.get(&source).and_then(Option::as_ref);
        open.map(|source| source.path.to_path_buf())
            .unwrap_or_default()
    }

    /// The bytes; `None` when they are no longer what was catalogued, or cannot be read any more,
    /// which is noted on the snapshot.
    pub(super) fn bytes(&mut self, entry: &StoredEntry) -> Result<Option<Vec<u8>>, Error> {
        use std::collections::hash_map::Entry;
        let place = match self.open.entry(entry.source) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(new) => {
                let (catalogue, config) = (self.snapshot.catalogue, self.snapshot.config());
                new.insert(OpenSource::find(entry.source, catalogue, &config.formats)?)
            }
        };
        let Some(source) = place else {
            return Ok(None);
        };
        // A file that cannot be read counts as changed, too.
        let bytes = source.record(entry).unwrap_or_default();
        if bytes.is_none() {
            self.snapshot.note_changed(entry.source, &source.path);
        }
        Ok(bytes)
    }

    /// The text by class; `None` when the bytes changed.
    pub(super) fn text(&mut self, entry: &StoredEntry) -> Result<Option<Text>, Error> {
        let record = self.bytes(entry)?;
        Ok(record.and_then(|record| self.masked_text(entry, &record)))
    }

    /// The text that the file now has where the entry was; empty when the format cannot read a
    /// record there.
    fn text_as_it_stands(&mut self, entry: &StoredEntry) -> Text {
        let place = self.open.get_mut(&entry.source).and_then(Option::as_mut);
        let record = place.and_then(|source| source.bytes(entry).ok().flatten());
        let text = record.and_then(|record| self.masked_text(entry, &record));
        text.unwrap_or_default()
    }

    fn masked_text(&self, entry: &StoredEntry, record: &[u8]) -> Option<Text> {
        let mut text = self.passages_of(entry, record);
        if let Some(mask) = &self.mask {
            let passages = text.iter_mut().flatten();
            mask_pieces(record, passages.flat_map(|(_, pieces)| pieces), mask);
        }
        if let Some(text) = text.as_mut().filter(|_| self.everything) {
            text.push((Class::Output, all_texts(record, self.mask.as_ref())));
        }
        text
    }

    /// Whether the bytes of an entry that was read are JSON, not plain text.
    pub(super) fn is_json(&self, entry: &StoredEntry) -> bool {
        let source = self.open.get(&entry.source).and_then(Option::as_ref);
        source.is_some_and(|source| source.format.shape_of(&source.path) != Shape::Text)
    }

    /// The system prompts and tool schemas in an entry.
    pub(super) fn prompts(&mut self, entry: &StoredEntry) -> Result<Vec<String>, Error> {
        let record = self.bytes(entry)?;
        let prompts = record.and_then(|record| {
            let source = self.open.get(&entry.source)?.as_ref()?;
            Some(source.format.prompts_at(&source.path, &record))
        });
        Ok(prompts.unwrap_or_default())
    }

    /// The text by class, without the mask, of an entry that was read.
    pub(super) fn passages_of(&self, entry: &StoredEntry, record: &[u8]) -> Option<Text> {
        let source = self.open.get(&entry.source)?.as_ref()?;
        let (path, format) = (&source.path, source.format);
        let is_silent = entry.flags & flag::SILENT != 0 && !self.everything;
        let passages = match is_silent {
            true => Vec::new(),
            false => format.passages_at(path, record),
        };
        let mut text: Text = passages.into_iter().map(|p| (p.class, p.pieces)).collect();
        // A system message holds nothing but its prompt. In other entries the prompt is left out,
        // because it is not what a reader looks for.
        let is_system = entry.role.as_deref() == Some("system");
        let is_prompt = match self.everything {
            true => is_system || entry.flags & flag::PROMPT != 0,
            false => text.is_empty() && (is_system || self.asked == Some(entry.key)),
        };
        if is_prompt {
            text.push((Class::Prose, format.prompts_at(path, record)));
        }
        Some(text)
    }
}
