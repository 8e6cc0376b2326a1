//! Which session wrote which line of a file, and which sessions touched it? Asked of the calls that
//! name the file; what they were given is read from the session files.

mod calls;
mod commands;
mod commit;
mod committing;
mod moves;
mod names;
mod prompts;
mod renames;
mod seen;
mod shell_moves;

pub use self::commit::CommitScope;
pub(super) use self::names::absolute;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use self::calls::{Calls, FileCall};
use self::names::FileNames;
use self::renames::FileName;
use super::Snapshot;
use crate::blame::{bare, is_telling, lines};
use crate::error::Error;
use crate::model::{
    ARRIVAL_BITS, Blame, BlamedLine, FileLog, FileSession, LineCall, LineOrigin, Mask,
    SCHEMA_VERSION, iso,
};

/// The file that is asked about, as it is now.
#[derive(Debug, Clone, Default)]
pub struct BlameScope {
    /// Where it is: an absolute path. It need not be there any more to be asked who touched it.
    pub file: PathBuf,
    /// To be asked who touched it in any of these working trees of one repository: then `file` is
    /// its path within them.
    pub trees: Vec<PathBuf>,
    /// What is in it.
    pub text: String,
    /// Only this line, counted from 1.
    pub line: Option<u64>,
    /// Makes parts of what is shown unreadable. It is asked about all of the text at once: what is
    /// secret may be told by another line. Of a mask that keeps the ends of lines, as
    /// [`redacted_by_line`](crate::redact::redacted_by_line) does, every line is shown.
    pub mask: Option<Mask>,
}

impl Snapshot<'_> {
    /// Who wrote each line of a file.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn blame(&self, scope: &BlameScope) -> Result<Blame, Error> {
        let mut calls = Calls::of(self, FileNames::of(&scope.file), &scope.text)?;
        let texts = lines(&scope.text);
        let all: Vec<usize> = (0..calls.count()).collect();
        let state = calls.state_after(&all)?;
        let writers = state.writers(&texts);
        let open: Vec<bool> = writers.iter().map(Option::is_none).collect();
        let respaced = state.writers_but_for_space(&texts, &open);
        let mut found: Vec<(LineOrigin, Option<usize>)> = Vec::new();
        for (writer, respaced) in writers.into_iter().zip(respaced) {
            found.push(match (writer, respaced) {
                (Some(call), _) => (LineOrigin::Edit, Some(call)),
                (None, Some(call)) => (LineOrigin::WhiteSpace, Some(call)),
                (None, None) => (LineOrigin::NoSession, None),
            });
        }
        let is_asked = |number: usize| scope.line.is_none_or(|line| line == number as u64 + 1);
        let filled = calls.filled();
        for ((origin, call), line) in found.iter_mut().zip(&texts) {
            let by_command = filled.get(&bare(line)).copied().filter(|call| {
                is_telling(line) && !state.is_disputed(line, calls.session_of(*call))
            });
            if let (None, Some(by_command)) = (&call, by_command) {
                (*origin, *call) = (LineOrigin::Command, Some(by_command));
            }
        }
        let shown = masked_lines(&scope.text, scope.mask.as_ref());
        let numbered = found.into_iter().zip(shown).enumerate();
        let numbered = numbered.filter(|(at, _)| is_asked(*at));
        let blamed = numbered.map(|(at, ((origin, call), text))| BlamedLine {
            line: at as u64 + 1,
            origin,
            call,
            text,
        });
        let mut answer = Blame {
            schema_version: SCHEMA_VERSION,
            file: scope.file.clone(),
            lines: blamed.collect(),
            changes: calls.edits() as u64,
            ..Blame::default()
        };
        answer.calls = self.only_named(&mut answer.lines, &mut calls, scope.mask.as_ref())?;
        answer.complete = self.is_complete();
        answer.changed_files = self.changed_files();
        Ok(answer)
    }

    /// The calls that lines name, which name them by their places among these from now on.
    fn only_named(
        &self,
        lines: &mut [BlamedLine],
        calls: &mut Calls<'_>,
        mask: Option<&Mask>,
    ) -> Result<Vec<LineCall>, Error> {
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        places.extend(lines.iter().filter_map(|line| Some((line.call?, 0))));
        let mut named = Vec::new();
        for (number, place) in &mut places {
            *place = named.len();
            named.extend(calls.shown(*number, mask)?);
        }
        for line in lines {
            line.call = line.call.and_then(|call| places.get(&call).copied());
        }
        Ok(named)
    }

    /// Which sessions read or changed a file.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn file_log(&self, scope: &BlameScope) -> Result<FileLog, Error> {
        let mut calls = Calls::new(self);
        let names = match scope.trees.is_empty() {
            true => FileNames::of(&scope.file),
            false => FileNames::anywhere(&scope.file, &scope.trees),
        };
        let (all, _) = calls.under_all_names(names, &scope.text)?;
        let mut found = Touches::default();
        for name in &all {
            self.add_touches(name, scope.mask.as_ref(), &mut calls, &mut found)?;
        }
        let mut sessions: Vec<FileSession> = found.sessions.into_values().collect();
        for of in &mut sessions {
            (of.first, of.last) = (of.first_ms.and_then(iso), of.last_ms.and_then(iso));
        }
        sessions.sort_by(|a, b| {
            let order = b.last_ms.cmp(&a.last_ms);
            order.then_with(|| a.session.path.cmp(&b.session.path))
        });
        Ok(FileLog {
            schema_version: SCHEMA_VERSION,
            file: scope.file.clone(),
            sessions,
            complete: self.is_complete(),
        })
    }
}

/// What touched a file under any of its names.
#[derive(Default)]
struct Touches {
    sessions: HashMap<i64, FileSession>,
    /// The entries that did, and whether they changed it. A file may have had one name for several
    /// reasons, as a command and the commit behind it, and a patch that moves it names two.
    entries: HashSet<(i64, bool)>,
}

impl Snapshot<'_> {
    /// Adds the sessions that touched a file while it had this name, by entries that did not do so
    /// under another one.
    fn add_touches(
        &self,
        name: &FileName,
        mask: Option<&Mask>,
        calls: &mut Calls<'_>,
        found: &mut Touches,
    ) -> Result<(), Error> {
        let touches = self.catalogue.files_named(name.names.file_name())?;
        let mut sessions: Vec<i64> = touches
            .iter()
            .map(|touch| touch.key >> ARRIVAL_BITS)
            .collect();
        sessions.dedup();
        let rows = self.catalogue.sessions_by_number(&sessions)?.into_iter();
        let rows: HashMap<i64, _> = rows.map(|of| (of.session, of.row)).collect();
        let mut entries = Vec::new();
        for touch in touches {
            let session = touch.key >> ARRIVAL_BITS;
            let Some(row) = rows.get(&session) else {
                continue;
            };
            let is_of_file = name.counts(touch.time_ms) && !name.is_of_another(touch.time_ms);
            let is_new = is_of_file && !found.entries.contains(&(touch.key, touch.modified));
            if !is_new || !calls.is_touched(&name.names, &touch, row)? {
                continue;
            }
            entries.push((touch.key, touch.modified));
            let of = found.sessions.entry(session).or_insert_with(|| {
                let mut row = row.clone();
                mask.into_iter().for_each(|mask| row.mask(mask));
                FileSession {
                    session: row,
                    ..FileSession::default()
                }
            });
            of.reads += u64::from(!touch.modified);
            of.modifications += u64::from(touch.modified);
            of.first_ms = of.first_ms.into_iter().chain(touch.time_ms).min();
            of.last_ms = of.last_ms.max(touch.time_ms);
        }
        found.entries.extend(entries);
        Ok(())
    }
}

/// The lines of a text, masked as a whole.
fn masked_lines(text: &str, mask: Option<&Mask>) -> Vec<String> {
    let masked = masked(text, mask);
    let (before, after) = (lines(text), lines(&masked));
    if before.len() == after.len() {
        return after.into_iter().map(str::to_owned).collect();
    }
    // The mask has joined lines: of these nobody knows which is which.
    let same = |(before, after): &(&&str, &&str)| before == after;
    let head = before.iter().zip(&after).take_while(same).count();
    let tail = before[head..].iter().rev().zip(after[head..].iter().rev());
    let tail = before.len() - tail.take_while(same).count();
    let known = |(at, line): (usize, &str)| match at < head || at >= tail {
        true => line.to_owned(),
        false => String::new(),
    };
    before.into_iter().enumerate().map(known).collect()
}

fn masked(text: &str, mask: Option<&Mask>) -> String {
    let masked = mask.and_then(|mask| mask.of(text));
    masked.unwrap_or_else(|| text.to_owned())
}

impl FileCall {
    /// When it was done, by which calls are made again.
    fn order(&self) -> (Option<i64>, i64) {
        (self.done_ms, self.key)
    }
}
