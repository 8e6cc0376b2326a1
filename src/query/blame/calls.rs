//! Which calls changed a file, in which order, and what is known of each?

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::{Path, PathBuf};

use super::masked;
use super::names::{FileNames, absolute};
use super::prompts::Chain;
use crate::blame::{GivenTexts, SessionEdit, State, bare};
use crate::catalogue::edited::{EndedCall, NamedFile};
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::read::StoredSession;
use crate::error::Error;
use crate::format::edits::{Change, Edit, Outcome, edits, folder, outcomes};
use crate::model::{ARRIVAL_BITS, Class, LineCall, Mask, SessionRow, iso};
use crate::query::Snapshot;
use crate::query::outline::OutlineQuery;
use crate::query::show::{Reader, address};

/// What Codex answers where a patch was applied, whatever else it says of that.
const PATCHED: &str = "Success. Updated the following files";

/// With what its answer to a script begins that came to its end.
const COMPLETED: &str = "Script completed\n";

/// A call that changed the file.
pub(super) struct FileCall {
    pub key: i64,
    pub entry: StoredEntry,
    pub tool: Option<String>,
    /// When it was done: the time of its answer, else its own.
    pub done_ms: Option<i64>,
    pub call_id: Option<String>,
    /// In which working tree, where the file of any of them is asked for.
    pub tree: PathBuf,
    /// The entry that says what the file was before: it is read again where that is asked for.
    pub before_in: Option<i64>,
    pub made: SessionEdit,
}

/// What was done to a file of one name.
#[derive(Default)]
pub(super) struct CallsOfName {
    pub calls: Vec<FileCall>,
    /// From where patches moved it there, and when.
    pub moved: Vec<(PathBuf, i64)>,
}

/// The calls that changed a file, the oldest first, commands among them.
pub(super) struct Calls<'s> {
    pub(super) snapshot: &'s Snapshot<'s>,
    pub(super) reader: Reader<'s>,
    pub(super) calls: Vec<FileCall>,
    pub(super) sessions: HashMap<i64, StoredSession>,
    chains: HashMap<i64, Chain>,
    /// The active branch of sessions that were asked for it; `None`: all entries are on it.
    active: HashMap<i64, Option<HashSet<i64>>>,
}

impl<'s> Calls<'s> {
    pub fn new(snapshot: &'s Snapshot<'s>) -> Self {
        Self {
            snapshot,
            reader: Reader::new(snapshot),
            calls: Vec::new(),
            sessions: HashMap::new(),
            chains: HashMap::new(),
            active: HashMap::new(),
        }
    }

    /// Those that changed the file, under this name and those that it had before.
    pub fn of(snapshot: &'s Snapshot<'s>, names: FileNames, text: &str) -> Result<Self, Error> {
        let mut calls = Self::new(snapshot);
        let is_one_file = names.file().is_some();
        let (all, mut found) = calls.under_all_names(names, text)?;
        if is_one_file {
            for name in &all {
                found.extend(calls.filling(name)?);
            }
        }
        calls.leave_out_copies(&mut found)?;
        found.sort_by_key(FileCall::order);
        calls.calls = found;
        let names: Vec<&str> = all.iter().map(|name| name.names.file_name()).collect();
        calls.read_what_was_seen(&names)?;
        Ok(calls)
    }

    /// The file after these calls, each of which is read by itself.
    pub fn state_after(&mut self, numbers: &[usize]) -> Result<State, Error> {
        let mut state = State::new();
        for number in numbers {
            let Some(from) = self.calls[*number].before_in else {
                state.add(&self.calls[*number].made);
                continue;
            };
            let record = self.record(from)?;
            let call = &self.calls[*number];
            let outcome = record.map(|(_, record)| outcome(&record, call.call_id.as_deref()));
            let before = outcome.and_then(|outcome| outcome.before);
            state.add(&SessionEdit {
                // Its file has changed since.
                is_uncertain: call.made.is_uncertain || before.is_none(),
                before,
                ..call.made.clone()
            });
        }
        Ok(state)
    }

    /// How many calls there are, commands among them.
    pub fn count(&self) -> usize {
        self.calls.len()
    }

    /// The calls that were done before this time, in order, by the working trees they were done in.
    pub fn in_trees(&self, before_ms: i64) -> Vec<Vec<usize>> {
        let mut trees: BTreeMap<&PathBuf, Vec<usize>> = BTreeMap::new();
        for (number, call) in self.calls.iter().enumerate() {
            if call.done_ms.is_some_and(|ms| ms < before_ms) {
                trees.entry(&call.tree).or_default().push(number);
            }
        }
        trees.into_values().collect()
    }

    /// Whose call it is.
    pub fn session_of(&self, number: usize) -> i64 {
        self.calls[number].made.session
    }

    /// The last command that put each line into the file, by its text without white space.
    pub fn filled(&self) -> HashMap<String, usize> {
        let certain = self.calls.iter().enumerate();
        let certain = certain.filter(|(_, call)| !call.made.is_uncertain);
        let lines = certain.flat_map(|(number, call)| {
            let lines = call.made.filled.lines();
            lines.map(move |line| (bare(line), number))
        });
        lines.collect()
    }

    /// Whether an entry touched the file.
    pub fn is_touched(
        &mut self,
        names: &FileNames,
        touch: &NamedFile,
        session: &SessionRow,
    ) -> Result<bool, Error> {
        let path = self.below_home(&touch.path, session);
        if Path::new(&path).is_absolute() || session.host.is_some() {
            return Ok(names.mean(&path, None, session));
        }
        let Some((entry, record)) = self.record(touch.key)? else {
            return Ok(names.mean(&path, None, session));
        };
        let folder = self.folder_of(&entry, &record)?;
        Ok(names.mean(&path, Some(&folder), session))
    }

    /// How many calls changed the file, commands aside.
    pub fn edits(&self) -> usize {
        let edits = self.calls.iter();
        edits.filter(|call| !call.made.changes.is_empty()).count()
    }

    /// The calls that changed the file under this name, and what patches moved there: from where,
    /// and when.
    pub(super) fn under_name(&mut self, names: &FileNames) -> Result<CallsOfName, Error> {
        let mut found = CallsOfName::default();
        for key in self.snapshot.catalogue.entries_editing(names.file_name())? {
            let session = self.session(key >> ARRIVAL_BITS)?;
            let Some(mut session) = session.map(|session| session.row.clone()) else {
                continue;
            };
            let Some((entry, record)) = self.record(key)? else {
                continue;
            };
            let mut all = edits(&record);
            if all.is_empty() {
                continue;
            }
            session.cwd = self.folder_of(&entry, &record)?;
            for edit in &mut all {
                edit.path = self.below_home(&edit.path, &session);
            }
            let is_meant = |edit: &Edit| names.mean(&edit.path, edit.folder.as_deref(), &session);
            let comes_here = |edit: &Edit| match &edit.change {
                Change::Move(to) => names.mean(to, edit.folder.as_deref(), &session),
                _ => false,
            };
            let meant = all.iter().filter(|edit| is_meant(edit));
            let mut calls = self.ended(&entry, &record, meant.clone())?;
            let tree = meant
                .into_iter()
                .find_map(|edit| names.tree(&edit.path, edit.folder.as_deref(), &session));
            for call in &mut calls {
                call.tree = tree.clone().unwrap_or_default();
            }
            found.calls.extend(calls);
            // What another machine moved had its name there, which may be another file's here.
            let comes_here = |edit: &&Edit| session.host.is_none() && comes_here(edit);
            for edit in all.iter().filter(comes_here) {
                let moved = self.ended(&entry, &record, std::iter::once(edit))?;
                if moved.iter().any(|call| !call.made.is_uncertain) {
                    let from = absolute(&edit.path, edit.folder.as_deref(), &session.cwd);
                    found.moved.extend(entry.searched_ms.map(|ms| (from, ms)));
                }
            }
        }
        Ok(found)
    }

    /// The calls of an entry that ask for these changes of the file, unless they failed.
    fn ended<'e>(
        &mut self,
        entry: &StoredEntry,
        record: &[u8],
        edits: impl Iterator<Item = &'e Edit>,
    ) -> Result<Vec<FileCall>, Error> {
        let mut by_call: Vec<(Option<String>, Vec<&Edit>)> = Vec::new();
        for edit in edits {
            match by_call.last_mut() {
                Some((id, edits)) if *id == edit.call_id => edits.push(edit),
                _ => by_call.push((edit.call_id.clone(), vec![edit])),
            }
        }
        if by_call.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.snapshot.catalogue.ended_calls(entry.key)?;
        let mut found = Vec::new();
        for (call_id, edits) in by_call {
            let mut same = known.iter().filter(|call| call.call_id == call_id);
            let end = match (same.next(), same.next()) {
                (Some(call), None) => Some(call),
                _ => None,
            };
            found.extend(self.ended_call(entry, record, call_id, &edits, end)?);
        }
        Ok(found)
    }

    /// A call that asks for these changes; `None`: it failed.
    fn ended_call(
        &mut self,
        entry: &StoredEntry,
        record: &[u8],
        call_id: Option<String>,
        edits: &[&Edit],
        end: Option<&EndedCall>,
    ) -> Result<Option<FileCall>, Error> {
        let by_command = edits.iter().find_map(|edit| edit.by_command);
        let is_error = end.and_then(|end| end.is_error);
        if is_error == Some(true) && by_command.is_none() {
            return Ok(None);
        }
        let answer = match end.and_then(|end| end.answer) {
            Some(key) => self.record(key)?,
            None => None,
        };
        let answered = answer.as_ref().map_or(record, |(_, record)| record);
        let outcome = outcome(answered, call_id.as_deref());
        let is_done = match (is_error, &answer, by_command) {
            (Some(is_error), _, None) => !is_error,
            (_, Some((answer, _)), Some(by)) if by.is_script => {
                is_error == Some(false) && by.fails_with_them && self.begins(answer, COMPLETED)?
            }
            (Some(false), _, Some(by)) if by.fails_with_them && !by.is_script => true,
            (_, Some((answer, _)), by) => {
                self.says(answer, PATCHED)? >= by.map_or(1, |by| by.patches)
            }
            (_, None, _) => false,
        };
        let done_ms = answer.as_ref().and_then(|(entry, _)| entry.searched_ms);
        Ok(Some(FileCall {
            key: entry.key,
            entry: entry.clone(),
            tool: end.and_then(|end| end.tool.clone()),
            done_ms: done_ms.or(entry.searched_ms),
            call_id,
            tree: PathBuf::new(),
            before_in: outcome
                .before
                .map(|_| answer.map_or(entry.key, |(answer, _)| answer.key)),
            made: SessionEdit {
                session: entry.key >> ARRIVAL_BITS,
                changes: edits.iter().map(|edit| edit.change.clone()).collect(),
                before: None,
                is_new: outcome.is_new,
                hunks: outcome.hunks,
                is_uncertain: !is_done || outcome.is_altered,
                seen: GivenTexts::default(),
                filled: String::new(),
            },
        }))
    }

    /// How often the text of an entry says this.
    fn says(&mut self, entry: &StoredEntry, what: &str) -> Result<usize, Error> {
        let text = self.reader.text(entry)?.unwrap_or_default();
        let pieces = text.iter().flat_map(|(_, pieces)| pieces);
        Ok(pieces.map(|piece| piece.matches(what).count()).sum())
    }

    /// Whether the text of an entry begins so.
    fn begins(&mut self, entry: &StoredEntry, what: &str) -> Result<bool, Error> {
        let text = self.reader.text(entry)?.unwrap_or_default();
        let first = text.iter().find_map(|(_, pieces)| pieces.first());
        Ok(first.is_some_and(|piece| piece.starts_with(what)))
    }

    /// Leaves out what forks and copies repeat, and earlier versions of an entry: the call counts
    /// that its session made, not the one of a session that began as its copy.
    pub(super) fn leave_out_copies(&self, found: &mut Vec<FileCall>) -> Result<(), Error> {
        let rank = |call: &FileCall| {
            let of = self
                .sessions
                .get(&(call.key >> ARRIVAL_BITS))
                .map(|of| &of.row);
            let is_fork = of.is_some_and(|row| row.parent_session_path.is_some());
            let created = of.and_then(|row| row.created_ms);
            let path = of.map(|row| row.path.clone());
            (call.made.is_uncertain, is_fork, created, path, call.key)
        };
        found.sort_by_cached_key(rank);
        // Copies agree in their times, or else the catalogue knows that they say the same.
        let mut said = HashMap::new();
        for call in &*found {
            said.insert(call.key, self.snapshot.catalogue.said_by(call.key)?);
        }
        let (mut at_times, mut saying) = (HashSet::new(), HashSet::new());
        found.retain(|call| {
            let changes = format!("{:?}{}", call.made.changes, call.made.filled);
            let changes = BuildHasherDefault::<DefaultHasher>::default().hash_one(changes);
            let said = said.get(&call.key).copied().flatten();
            let is_new = at_times.insert((call.call_id.clone(), call.entry.time_ms, changes));
            let says_more =
                said.is_none_or(|said| saying.insert((call.call_id.clone(), said, changes)));
            is_new && says_more
        });
        Ok(())
    }

    /// In which folder the calls of an entry run: the session's own, where nothing else is said.
    pub(super) fn folder_of(
        &mut self,
        entry: &StoredEntry,
        record: &[u8],
    ) -> Result<String, Error> {
        if let Some(folder) = folder(record) {
            return Ok(folder);
        }
        let session = entry.key >> ARRIVAL_BITS;
        let of = self.session(session)?;
        let (mut cwd, format) = match of {
            Some(of) => (of.row.cwd.clone(), of.format.clone()),
            None => return Ok(String::new()),
        };
        // Codex says it of each turn.
        if format == "codex" {
            let is_told = |of: &&StoredEntry| {
                of.source == entry.source && of.key < entry.key && of.kind == "turn_context"
            };
            let entries = self.chain(session)?.entries().iter();
            let told = entries.rev().find(is_told).cloned();
            let told = told.map(|told| self.reader.bytes(&told)).transpose()?;
            cwd = told.flatten().and_then(|told| folder(&told)).unwrap_or(cwd);
        }
        Ok(cwd)
    }

    /// The path that a session of this machine writes as `~/…`.
    pub(super) fn below_home(&self, path: &str, session: &SessionRow) -> String {
        let home = self.snapshot.config().home.as_ref();
        let home = home.filter(|_| session.host.is_none());
        match home.zip(path.strip_prefix("~/")) {
            Some((home, below)) => home.join(below).to_string_lossy().into_owned(),
            None => path.to_owned(),
        }
    }

    /// A call as it is shown; `None`: its session is gone.
    pub fn shown(&mut self, number: usize, mask: Option<&Mask>) -> Result<Option<LineCall>, Error> {
        let call = &self.calls[number];
        let (key, session) = (call.key, call.made.session);
        let mut shown = LineCall {
            entry: address(&call.entry),
            tool: call.tool.clone(),
            time: call.entry.searched_ms.and_then(iso),
            time_ms: call.entry.searched_ms,
            ..LineCall::default()
        };
        shown.on_active_branch = self.is_on_active_branch(session, key)?;
        if let Some(prompt) = self.chain(session)?.prompt_of(key).cloned() {
            shown.prompt_entry = Some(address(&prompt));
            let text = self.reader.text(&prompt)?.unwrap_or_default();
            let prose = text.into_iter().filter(|(class, _)| *class == Class::Prose);
            let pieces: Vec<String> = prose.flat_map(|(_, pieces)| pieces).collect();
            shown.prompt = Some(masked(&pieces.join("\n"), mask));
        }
        let Some(of) = self.sessions.get(&session) else {
            return Ok(None);
        };
        shown.session = of.row.clone();
        mask.into_iter().for_each(|mask| shown.session.mask(mask));
        Ok(Some(shown))
    }

    fn is_on_active_branch(&mut self, session: i64, key: i64) -> Result<bool, Error> {
        if !self.active.contains_key(&session) {
            let active = self.active_branch(session)?;
            self.active.insert(session, active);
        }
        let active = self.active.get(&session).and_then(Option::as_ref);
        Ok(active.is_none_or(|active| active.contains(&key)))
    }

    fn active_branch(&self, session: i64) -> Result<Option<HashSet<i64>>, Error> {
        let of = self.sessions.get(&session);
        let Some(of) = of.filter(|of| self.snapshot.has_branches(of)) else {
            return Ok(None);
        };
        let outline = self.snapshot.outline(of, OutlineQuery::BRANCHES)?;
        let branch = outline.active_branch().into_iter();
        Ok(Some(branch.map(|at| outline.keys[at]).collect()))
    }

    pub(super) fn record(&mut self, key: i64) -> Result<Option<(StoredEntry, Vec<u8>)>, Error> {
        let Some(entry) = self.snapshot.catalogue.entry(key)? else {
            return Ok(None);
        };
        let record = self.reader.bytes(&entry)?;
        Ok(record.map(|record| (entry, record)))
    }

    pub(super) fn session(&mut self, session: i64) -> Result<Option<&StoredSession>, Error> {
        if !self.sessions.contains_key(&session) {
            let found = self.snapshot.catalogue.sessions_by_number(&[session])?;
            let found = found.into_iter().map(|of| (session, of));
            self.sessions.extend(found);
        }
        Ok(self.sessions.get(&session))
    }

    pub(super) fn chain(&mut self, session: i64) -> Result<&Chain, Error> {
        use std::collections::hash_map::Entry;
        Ok(match self.chains.entry(session) {
            Entry::Occupied(chain) => chain.into_mut(),
            Entry::Vacant(new) => new.insert(Chain::of(self.snapshot.catalogue.entries(session)?)),
        })
    }
}

/// What a record says of the call that it answers, if it says that once.
fn outcome(record: &[u8], call_id: Option<&str>) -> Outcome {
    let mut same = outcomes(record)
        .into_iter()
        .filter(|outcome| outcome.call_id.is_some() && outcome.call_id.as_deref() == call_id);
    let outcome = same.next().filter(|_| same.next().is_none());
    outcome.unwrap_or_default()
}
