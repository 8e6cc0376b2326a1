//! Which session made a commit? The one that ran `git commit` and was told this name of it; else
//! the only one that wrote lines of it, if these are half of its lines or more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::calls::Calls;
use super::committing::COMMITTING;
use super::masked;
use super::names::FileNames;
use crate::blame::{Between, Origin, carry, is_telling, lines};
use crate::commits::{self, ChangedFile, Commit};
use crate::error::Error;
use crate::model::{
    CommitEvidence, CommitSession, CommitWriter, LineCall, Mask, SCHEMA_VERSION, iso,
};
use crate::query::Snapshot;

/// How far from a commit's own time the time of the call is that made it, at most.
const NEAR_MS: i64 = 24 * 60 * 60 * 1000;

/// A commit that is asked about.
#[derive(Debug, Clone, Default)]
pub struct CommitScope {
    /// The folder that all working trees of its repository share.
    pub common: PathBuf,
    /// The working trees, those that are gone among them.
    pub trees: Vec<PathBuf>,
    /// Its SHA-1, or the beginning of it.
    pub commit: String,
    /// Makes parts of what is shown unreadable.
    pub mask: Option<Mask>,
}

/// The telling lines that a commit adds, and those that sessions wrote.
#[derive(Default)]
struct AddedLines {
    lines: u64,
    /// By session: how many, and the last call that wrote one.
    by: BTreeMap<i64, (u64, LineCall)>,
}

impl Snapshot<'_> {
    /// Which session made a commit; `None`: the repository has no such commit, or several.
    ///
    /// # Errors
    /// When the catalogue or git's objects cannot be read.
    pub fn commit(&self, scope: &CommitScope) -> Result<Option<CommitWriter>, Error> {
        let found = commits::commit(&scope.common, &scope.commit);
        let found = found.map_err(|error| Error::io(&scope.common, error))?;
        let Some(commit) = found else {
            return Ok(None);
        };
        let mut answer = CommitWriter {
            schema_version: SCHEMA_VERSION,
            commit: commit.id.clone(),
            subject: masked(&commit.subject, scope.mask.as_ref()),
            time: iso(commit.time_ms),
            time_ms: commit.time_ms,
            ..CommitWriter::default()
        };
        let recorded = self.recorded(&commit, scope.mask.as_ref())?;
        let mut added = AddedLines::default();
        // What a commit that joins branches adds was made in others.
        if !commit.is_merge {
            for (path, file) in &commit.files {
                self.count(path, file, &commit, scope, &mut added)?;
            }
        }
        let is_half = |lines: u64| lines > 0 && lines * 2 >= added.lines;
        let mut by = added.by.values();
        (answer.evidence, answer.call) = match (&*recorded, by.next(), by.next()) {
            ([one], ..) => (Some(CommitEvidence::Recorded), Some(one.clone())),
            ([], Some((lines, call)), None) if is_half(*lines) => {
                (Some(CommitEvidence::Lines), Some(call.clone()))
            }
            _ => (None, None),
        };
        answer.lines = added.lines;
        let sessions = added.by.into_values().map(|(lines, call)| CommitSession {
            session: call.session,
            lines,
        });
        answer.sessions = sessions.collect();
        answer.sessions.sort_by(|a, b| {
            let order = b.lines.cmp(&a.lines);
            let order = order.then_with(|| a.session.id.cmp(&b.session.id));
            order.then_with(|| a.session.path.cmp(&b.session.path))
        });
        answer.complete = self.is_complete();
        answer.changed_files = self.changed_files();
        Ok(Some(answer))
    }

    /// The calls that made the commit and were told so, one of each session.
    fn recorded(&self, commit: &Commit, mask: Option<&Mask>) -> Result<Vec<LineCall>, Error> {
        let (from, to) = (
            commit.time_ms.saturating_sub(NEAR_MS),
            commit.time_ms.saturating_add(NEAR_MS),
        );
        let mut calls = Calls::new(self);
        let mut keys = Vec::new();
        for text in COMMITTING {
            keys.extend(self.catalogue.entries_calling_between(text, from, to)?);
        }
        keys.sort_unstable();
        keys.dedup();
        let made = calls.committing(&keys, &commit.id, &commit.subject)?;
        let mut recorded: Vec<LineCall> = Vec::new();
        for number in made {
            let call = calls.shown(number, mask)?;
            let is_other = |call: &LineCall| {
                recorded
                    .iter()
                    .all(|other| other.session.path != call.session.path)
            };
            let call = call.filter(is_other);
            recorded.extend(call);
        }
        Ok(recorded)
    }

    /// Counts the lines that a commit adds to a file, and whose they are.
    fn count(
        &self,
        path: &str,
        file: &ChangedFile,
        commit: &Commit,
        scope: &CommitScope,
        added: &mut AddedLines,
    ) -> Result<(), Error> {
        let (before, after) = (lines(&file.before), lines(&file.after));
        let before: Vec<Option<&str>> = before.into_iter().map(Some).collect();
        let origins = carry(&before, &after, Between::One).into_iter();
        let is_added: Vec<bool> = origins
            .zip(&after)
            .map(|(origin, line)| origin == Origin::New && is_telling(line))
            .collect();
        let count = is_added.iter().filter(|is_added| **is_added).count();
        if count == 0 {
            return Ok(());
        }
        added.lines += count as u64;
        let names = FileNames::anywhere(Path::new(path), &scope.trees);
        let mut calls = Calls::of(self, names, "")?;
        // Git counts seconds.
        let trees = calls.in_trees(commit.time_ms.saturating_add(1000));
        let mut wrote: BTreeMap<usize, usize> = BTreeMap::new();
        for numbers in trees {
            let writers = calls.state_after(&numbers)?.writers(&after);
            for (writer, is_added) in writers.into_iter().zip(&is_added) {
                let number = writer.filter(|_| *is_added);
                if let Some(number) = number.and_then(|writer| numbers.get(writer)) {
                    *wrote.entry(*number).or_default() += 1;
                }
            }
        }
        for (number, count) in wrote {
            let session = calls.session_of(number);
            let Some(call) = calls.shown(number, scope.mask.as_ref())? else {
                continue;
            };
            let of = added.by.entry(session).or_default();
            of.0 += count as u64;
            if of.1.time_ms <= call.time_ms {
                of.1 = call;
            }
        }
        Ok(())
    }
}
