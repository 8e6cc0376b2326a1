//! Which calls changed a file, in which order, and what is known of each?

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::masked;
use super::names::{FileNames, absolute};
use super::prompts::Chain;
use crate::blame::{GivenTexts, SessionEdit};
use crate::catalogue::edited::EndedCall;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::read::StoredSession;
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::format::edits::{Change, Command, Edit, Outcome, commands, edits, outcomes};
use crate::model::{ARRIVAL_BITS, Class, LineCall, Mask, iso};
use crate::query::Snapshot;
use crate::query::outline::{OutlineQuery, Without};
use crate::query::show::{Reader, address};

/// What Codex answers where a patch was applied, whatever else it says of that.
const PATCHED: &str = "Success. Updated the following files";

/// A call that changed the file.
pub(super) struct FileCall {
    pub key: i64,
    pub entry: StoredEntry,
    pub tool: Option<String>,
    /// When it was done: the time of its answer, else its own.
    pub done_ms: Option<i64>,
    call_id: Option<String>,
    /// In which working tree, where the file of any of them is asked for.
    tree: PathBuf,
    pub made: SessionEdit,
}

/// What was done to a file of one name.
#[derive(Default)]
pub(super) struct CallsOfName {
    pub calls: Vec<FileCall>,
    /// From where patches moved it there, and when.
    pub moved: Vec<(PathBuf, i64)>,
}

/// A command that was run, and did not fail.
pub(super) struct DoneCommand {
    pub command: Command,
    pub ms: i64,
    pub cwd: String,
}

/// The calls that changed a file, the oldest first, and behind them commands that may have.
pub(super) struct Calls<'s> {
    snapshot: &'s Snapshot<'s>,
    reader: Reader<'s>,
    calls: Vec<FileCall>,
    /// How many of them are edits.
    edits: usize,
    sessions: HashMap<i64, StoredSession>,
    chains: HashMap<i64, Chain>,
    /// The active branch of sessions that were asked for it; `None`: all entries are on it.
    active: HashMap<i64, Option<HashSet<i64>>>,
}

impl<'s> Calls<'s> {
    pub fn none(snapshot: &'s Snapshot<'s>) -> Self {
        Self {
            snapshot,
            reader: Reader::new(snapshot),
            calls: Vec::new(),
            edits: 0,
            sessions: HashMap::new(),
            chains: HashMap::new(),
            active: HashMap::new(),
        }
    }

    /// Those that changed the file, under this name and those that it had before.
    pub fn of(snapshot: &'s Snapshot<'s>, names: FileNames, text: &str) -> Result<Self, Error> {
        let mut calls = Self::none(snapshot);
        let (all, mut found) = calls.under_all_names(names, text)?;
        let Some(names) = all.first().map(|of| &of.names) else {
            return Ok(calls);
        };
        calls.leave_out_copies(&mut found);
        found.sort_by_key(FileCall::order);
        calls.edits = found.len();
        calls.calls = found;
        calls.read_what_was_seen(names)?;
        Ok(calls)
    }

    /// What was done, in order.
    pub fn made(&self) -> Vec<SessionEdit> {
        let edits = self.calls[..self.edits].iter();
        edits.map(|call| call.made.clone()).collect()
    }

    /// The calls that were done before this time, in order, by the working trees they were done in.
    pub fn in_trees(&self, before_ms: i64) -> Vec<Vec<usize>> {
        let mut trees: BTreeMap<&PathBuf, Vec<usize>> = BTreeMap::new();
        for (number, call) in self.calls[..self.edits].iter().enumerate() {
            if call.done_ms.is_some_and(|ms| ms < before_ms) {
                trees.entry(&call.tree).or_default().push(number);
            }
        }
        trees.into_values().collect()
    }

    /// What a call did.
    pub fn made_by(&self, number: usize) -> SessionEdit {
        self.calls[number].made.clone()
    }

    /// Whose call it is.
    pub fn session_of(&self, number: usize) -> i64 {
        self.calls[number].made.session
    }

    /// How many calls changed the file.
    pub fn edits(&self) -> usize {
        self.edits
    }

    /// The calls that changed the file under this name, and what patches moved there: from where,
    /// and when.
    pub(super) fn under_name(&mut self, names: &FileNames) -> Result<CallsOfName, Error> {
        let mut found = CallsOfName::default();
        for key in self.snapshot.catalogue.entries_editing(names.last())? {
            let session = self.session(key >> ARRIVAL_BITS)?;
            let Some(session) = session.map(|session| session.row.clone()) else {
                continue;
            };
            let Some((entry, record)) = self.record(key)? else {
                continue;
            };
            let all = edits(&record);
            let is_meant =
                |edit: &Edit| names.are_meant(&edit.path, edit.folder.as_deref(), &session);
            let comes_here = |edit: &Edit| match &edit.change {
                Change::Move(to) => names.are_meant(to, edit.folder.as_deref(), &session),
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
                let from = absolute(&edit.path, edit.folder.as_deref(), &session.cwd);
                found.moved.extend(entry.searched_ms.map(|ms| (from, ms)));
            }
        }
        Ok(found)
    }

    /// The commands of sessions of this machine that hold this text and did not fail, each with its
    /// time and the directory of its session.
    pub(super) fn done_commands(&mut self, text: &str) -> Result<Vec<DoneCommand>, Error> {
        let mut done = Vec::new();
        for key in self.snapshot.catalogue.entries_calling_with(text)? {
            let session = self.session(key >> ARRIVAL_BITS)?;
            let own = session.filter(|session| session.row.host.is_none());
            let Some(cwd) = own.map(|session| session.row.cwd.clone()) else {
                continue;
            };
            let Some((entry, record)) = self.record(key)? else {
                continue;
            };
            let known = self.snapshot.catalogue.ended_calls(key)?;
            for command in commands(&record) {
                let mut ends = known.iter();
                let end = ends.find(|call| call.call_id == command.call_id);
                let has_failed = end.is_some_and(|end| end.is_error == Some(true));
                if let Some(ms) = entry.searched_ms.filter(|_| !has_failed) {
                    let cwd = cwd.clone();
                    done.push(DoneCommand { command, ms, cwd });
                }
            }
        }
        Ok(done)
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
        let by_command = edits.iter().any(|edit| edit.by_command);
        let is_error = end.and_then(|end| end.is_error);
        if is_error == Some(true) && !by_command {
            return Ok(None);
        }
        let answer = match end.and_then(|end| end.answer) {
            Some(key) => self.record(key)?,
            None => None,
        };
        let answered = answer.as_ref().map_or(record, |(_, record)| record);
        let mut same = outcomes(answered)
            .into_iter()
            .filter(|outcome| outcome.call_id.is_some() && outcome.call_id == call_id);
        let outcome = same.next().filter(|_| same.next().is_none());
        let outcome: Outcome = outcome.unwrap_or_default();
        let is_done = match (is_error, &answer) {
            (Some(is_error), _) => !is_error,
            (None, Some((answer, _))) => self.says(answer, PATCHED)?,
            (None, None) => false,
        };
        let done_ms = answer.as_ref().and_then(|(entry, _)| entry.searched_ms);
        Ok(Some(FileCall {
            key: entry.key,
            entry: entry.clone(),
            tool: end.and_then(|end| end.tool.clone()),
            done_ms: done_ms.or(entry.searched_ms),
            call_id,
            tree: PathBuf::new(),
            made: SessionEdit {
                session: entry.key >> ARRIVAL_BITS,
                changes: edits.iter().map(|edit| edit.change.clone()).collect(),
                before: outcome.before,
                is_new: outcome.is_new,
                hunks: outcome.hunks,
                is_uncertain: !is_done || outcome.is_altered,
                seen: GivenTexts::default(),
            },
        }))
    }

    fn says(&mut self, entry: &StoredEntry, what: &str) -> Result<bool, Error> {
        let text = self.reader.text(entry)?.unwrap_or_default();
        let mut pieces = text.iter().flat_map(|(_, pieces)| pieces);
        Ok(pieces.any(|piece| piece.contains(what)))
    }

    /// Leaves out what forks and copies repeat, and earlier versions of an entry: the call counts
    /// that its session made, not the one of a session that began as its copy.
    fn leave_out_copies(&self, found: &mut Vec<FileCall>) {
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
        let mut met = HashSet::new();
        found.retain(|call| {
            let changes = format!("{:?}", call.made.changes);
            met.insert((call.call_id.clone(), call.entry.time_ms, changes))
        });
    }

    /// Reads what sessions had read before they wrote all of the file, where nothing else says what
    /// was in it before.
    fn read_what_was_seen(&mut self, names: &FileNames) -> Result<(), Error> {
        for at in 0..self.edits {
            let call = &self.calls[at];
            let made = &call.made;
            let is_told = made.before.is_some() || made.is_new == Some(true);
            let writes = made.changes.iter().any(|it| matches!(it, Change::Write(_)));
            if is_told || made.hunks.is_some() || !writes {
                continue;
            }
            let (key, ms, session) = (call.key, call.entry.searched_ms, made.session);
            let seen = self.seen_before(session, key, ms, names)?;
            self.calls[at].made.seen = seen;
        }
        Ok(())
    }

    fn seen_before(
        &mut self,
        session: i64,
        key: i64,
        ms: Option<i64>,
        names: &FileNames,
    ) -> Result<GivenTexts, Error> {
        // What it goes on from is not in its file.
        if self
            .sessions
            .get(&session)
            .is_none_or(|of| of.base.is_some())
        {
            return Ok(GivenTexts::anything());
        }
        let is_own = |entry: &StoredEntry| {
            entry.role.as_deref() == Some("assistant") && entry.flags & flag::ANSWER == 0
        };
        let source = self
            .snapshot
            .catalogue
            .entry(key)?
            .map(|entry| entry.source);
        // The keys of one source are in file order.
        let is_before = |entry: &StoredEntry| match Some(entry.source) == source {
            true => entry.key < key,
            false => entry.searched_ms <= ms,
        };
        let naming = self.naming(session, names)?;
        let entries = self.chain(session)?.entries().iter();
        let before = entries
            .filter(|entry| is_before(entry) && !is_own(entry))
            .cloned();
        let before: Vec<StoredEntry> = before.collect();
        let mut texts: Vec<Arc<str>> = Vec::new();
        for entry in before {
            let text = self.reader.text(&entry)?.unwrap_or_default();
            let pieces = text.into_iter().flat_map(|(_, pieces)| pieces);
            let is_of_file = naming.contains(&entry.key);
            let pieces = pieces.filter(|text| is_of_file || text.contains(names.last()));
            texts.extend(pieces.map(Arc::from));
        }
        Ok(GivenTexts::new(texts))
    }

    /// The entries of a session that call for something with this file, or with any, and those that
    /// answer.
    fn naming(&self, session: i64, names: &FileNames) -> Result<HashSet<i64>, Error> {
        let mut naming = HashSet::new();
        for text in [names.last(), "*"] {
            let keys = self.snapshot.catalogue.entries_calling_with(text)?;
            for key in keys
                .into_iter()
                .filter(|key| key >> ARRIVAL_BITS == session)
            {
                let calls = self.snapshot.catalogue.ended_calls(key)?;
                naming.extend(calls.into_iter().filter_map(|call| call.answer));
                naming.insert(key);
            }
        }
        Ok(naming)
    }

    /// For each of these lines the command that it stands in, if one session alone ran such a
    /// command that names the file. The commands found are calls from now on.
    pub fn commands(
        &mut self,
        names: &FileNames,
        lines: &[&str],
    ) -> Result<Vec<Option<usize>>, Error> {
        let mut found: Vec<Vec<usize>> = vec![Vec::new(); lines.len()];
        let is_in =
            |line: &str, text: &str| crate::blame::is_telling(line) && text.contains(line.trim());
        if lines.iter().any(|line| crate::blame::is_telling(line)) {
            for key in self.snapshot.catalogue.entries_calling_with(names.last())? {
                for (number, text) in self.add_commands(key, |text| {
                    text.contains(names.last()) && lines.iter().any(|line| is_in(line, text))
                })? {
                    let held = lines.iter().zip(&mut found);
                    held.filter(|(line, _)| is_in(line, &text))
                        .for_each(|(_, found)| found.push(number));
                }
            }
        }
        let only = |found: Vec<usize>| {
            let first = found.first().map(|number| self.session_of(*number));
            let is_one = found
                .iter()
                .all(|number| Some(self.session_of(*number)) == first);
            found.last().copied().filter(|_| is_one)
        };
        Ok(found.into_iter().map(only).collect())
    }

    /// The calls among these entries that made a commit of this name, and were told so. They are
    /// calls from now on; what forks and copies repeat of them is left out.
    pub fn committing(&mut self, keys: &[i64], commit: &str) -> Result<Vec<usize>, Error> {
        for key in keys {
            let commands =
                self.add_commands(*key, |text| text.contains("git") && text.contains("commit"))?;
            for (number, _) in commands.into_iter().rev() {
                if !self.is_told(number, commit)? {
                    self.calls.remove(number);
                }
            }
        }
        let mut found = std::mem::take(&mut self.calls);
        self.leave_out_copies(&mut found);
        self.calls = found;
        Ok((0..self.calls.len()).collect())
    }

    /// Whether the answer of a call names a commit as `git commit` does.
    fn is_told(&mut self, number: usize, commit: &str) -> Result<bool, Error> {
        let call = &self.calls[number];
        let (key, call_id) = (call.key, call.call_id.clone());
        let known = self.snapshot.catalogue.ended_calls(key)?;
        let end = known.iter().find(|known| known.call_id == call_id);
        let answer = match end.and_then(|end| end.answer) {
            Some(answer) => self.snapshot.catalogue.entry(answer)?,
            None => self.snapshot.catalogue.entry(key)?,
        };
        let Some(answer) = answer else {
            return Ok(false);
        };
        let text = self.reader.text(&answer)?.unwrap_or_default();
        let mut pieces = text.iter().flat_map(|(_, pieces)| pieces);
        Ok(pieces.any(|piece| names_commit(piece, commit)))
    }

    /// Adds the commands of an entry that are asked for, each with its text.
    fn add_commands(
        &mut self,
        key: i64,
        is_asked: impl Fn(&str) -> bool,
    ) -> Result<Vec<(usize, String)>, Error> {
        let Some((entry, record)) = self.record(key)? else {
            return Ok(Vec::new());
        };
        if self.session(key >> ARRIVAL_BITS)?.is_none() {
            return Ok(Vec::new());
        }
        let known = self.snapshot.catalogue.ended_calls(key)?;
        let mut added = Vec::new();
        for command in commands(&record) {
            if !is_asked(&command.text) {
                continue;
            }
            let end = known.iter().find(|call| call.call_id == command.call_id);
            added.push((self.calls.len(), command.text));
            self.calls.push(FileCall {
                key,
                tool: end.and_then(|end| end.tool.clone()),
                done_ms: entry.searched_ms,
                call_id: command.call_id,
                tree: PathBuf::new(),
                entry: entry.clone(),
                made: SessionEdit {
                    session: key >> ARRIVAL_BITS,
                    ..SessionEdit::default()
                },
            });
        }
        Ok(added)
    }

    /// A call as it is shown; `None`: its session is gone.
    pub fn shown(&mut self, number: usize, mask: Option<Mask>) -> Result<Option<LineCall>, Error> {
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
        let ask = OutlineQuery {
            without: Without::Beside,
            find: &[],
            inherited: false,
        };
        let outline = self.snapshot.outline(of, ask)?;
        let branch = outline.active_branch().into_iter();
        Ok(Some(branch.map(|at| outline.keys[at]).collect()))
    }

    fn record(&mut self, key: i64) -> Result<Option<(StoredEntry, Vec<u8>)>, Error> {
        let Some(entry) = self.snapshot.catalogue.entry(key)? else {
            return Ok(None);
        };
        let record = self.reader.bytes(&entry)?;
        Ok(record.map(|record| (entry, record)))
    }

    fn session(&mut self, session: i64) -> Result<Option<&StoredSession>, Error> {
        if !self.sessions.contains_key(&session) {
            let found = self.snapshot.catalogue.sessions_by_number(&[session])?;
            let found = found.into_iter().map(|of| (session, of));
            self.sessions.extend(found);
        }
        Ok(self.sessions.get(&session))
    }

    fn chain(&mut self, session: i64) -> Result<&Chain, Error> {
        use std::collections::hash_map::Entry;
        Ok(match self.chains.entry(session) {
            Entry::Occupied(chain) => chain.into_mut(),
            Entry::Vacant(new) => new.insert(Chain::of(self.snapshot.catalogue.entries(session)?)),
        })
    }
}

/// Whether a text says that this commit was made: `[main 1a2b3c4] What changed`.
fn names_commit(text: &str, commit: &str) -> bool {
    let said = text
        .split('[')
        .skip(1)
        .filter_map(|said| said.split_once(']'));
    said.map(|(said, _)| said.rsplit(' ').next().unwrap_or_default())
        .any(|name| name.len() >= 7 && commit.starts_with(name))
}
