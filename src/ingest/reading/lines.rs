//! Which entries and problems are in a line, or in a whole document?

use super::same::SameEntries;
use crate::catalogue::write::{Chunk, Entries, EntryRow, ProblemRow, flag};
use crate::databases::RowNames;
use crate::format::json::{NULS, PieceKind, TORN, split, whole};
use crate::ingest::plan::SourcePlan;
use crate::model::{Facts, Fold};
use crate::source::checkpoint;

/// One line becomes entries and problems of a chunk.
pub struct LineParser<'a, 'p, E> {
    pub plan: &'a SourcePlan<'p>,
    pub chunk: &'a mut Chunk<E>,
    pub fold: &'a mut Fold,
    /// Which rows of a database the lines are; `None`: they are none.
    pub rows: Option<&'a RowNames>,
    /// What need not be written again.
    pub same: &'a mut SameEntries<'p>,
}

impl<E: Entries> LineParser<'_, '_, E> {
    /// Cut one line into entries and problems. The same for a whole document. Gives back the hash
    /// of the line where it is one entry from its first byte to its last.
    pub fn add_line(&mut self, line: &[u8], at: u64, flags: i64) -> Option<u64> {
        let format = self.plan.format;
        if let Some(why) = self.rows.and_then(|rows| rows.problem(at)) {
            self.add_problem(at, line.len(), false, why.to_owned());
            return None;
        }
        let nuls = line.iter().take_while(|byte| **byte == 0).count();
        if nuls > 0 && format.about().passes_over_nuls && whole(&line[nuls..]).is_some() {
            self.add_problem(at, nuls, flags & flag::PROVISIONAL != 0, NULS.to_owned());
            self.add_line(&line[nuls..], at + nuls as u64, flags);
            return None;
        }
        let begins = if at == 0 { format.passed_over(line) } else { 0 };
        let (line, at) = (&line[begins..], at + begins as u64);
        // Most lines are one strict value: reading it proves that, and nothing needs to look for
        // its end.
        if let Some(facts) = format.facts_of_line_at(&self.plan.path, line) {
            let before = line.len() - line.trim_ascii_start().len();
            let entry = line.trim_ascii();
            let hash = self.add_entry(entry, at + before as u64, flags, facts);
            return Some(hash).filter(|_| begins == 0 && entry.len() == line.len());
        }
        format.fold_line(self.fold, line);
        for piece in split(line) {
            let bytes = &line[piece.range.clone()];
            let start = at + piece.range.start as u64;
            match piece.kind {
                PieceKind::Blank => {}
                PieceKind::Bad(reason) => {
                    let torn = flags & flag::PROVISIONAL != 0;
                    // NULs at the end are no line that goes on.
                    let reason = match torn && reason != NULS && reason != TORN {
                        true => format!("torn: {reason}"),
                        false => reason.to_owned(),
                    };
                    self.add_problem(start, bytes.len(), torn, reason);
                }
                PieceKind::Value { fused: false } => self.add_value(bytes, start, flags),
                PieceKind::Value { fused: true } => {
                    // Agents parse a line as a whole. If there is anything besides the value,
                    // they drop the whole line.
                    let facts = Facts {
                        agent_sees: false,
                        ..format.facts_at(&self.plan.path, bytes)
                    };
                    self.add_entry(bytes, start, flags | flag::FUSED, facts);
                }
            }
        }
        None
    }

    fn add_problem(&mut self, start: u64, length: usize, provisional: bool, reason: String) {
        self.chunk.problems.push(ProblemRow {
            start,
            length: length as u64,
            provisional,
            reason,
        });
    }

    /// Add the entry that a line's only value is, or those that it holds.
    fn add_value(&mut self, value: &[u8], start: u64, flags: i64) {
        let format = self.plan.format;
        let mut within = format.entries_within(self.fold, value);
        if within.is_empty() {
            within.push(0..value.len());
        }
        for range in within {
            let (bytes, start) = (&value[range.clone()], start + range.start as u64);
            let facts = format.facts_at(&self.plan.path, bytes);
            self.add_entry(bytes, start, flags, facts);
        }
    }

    /// Cut a document of many records. One that its format does not know, as one that was cut off,
    /// is one problem.
    pub fn add_elements(&mut self, document: &[u8]) {
        let format = self.plan.format;
        match format.elements(&self.plan.path, document) {
            Some(elements) => {
                for element in elements {
                    let bytes = &document[element.clone()];
                    let facts = format.facts_at(&self.plan.path, bytes);
                    self.add_entry(bytes, element.start as u64, 0, facts);
                    self.fold.lines += 1;
                }
            }
            None if document.trim_ascii().is_empty() => {}
            None => self.chunk.problems.push(ProblemRow {
                start: 0,
                length: document.len() as u64,
                provisional: false,
                reason: "not a document of a known shape".to_owned(),
            }),
        }
    }

    /// Add the entry that `bytes` at `start` of the source are. Gives back their hash.
    pub fn add_entry(&mut self, bytes: &[u8], start: u64, line: i64, mut facts: Facts) -> u64 {
        let format = self.plan.format;
        if facts.agent_sees {
            // What it proves is in the fold.
            let _ = format.prove_cwd(&self.plan.path, self.fold, bytes);
        }
        format.relate(self.fold, bytes, &mut facts);
        let flags = line | flags_of(&facts);
        let taken_ms = match facts.time_ms {
            Some(own) => {
                self.fold.last_time_ms = Some(own);
                None
            }
            None => self.fold.last_time_ms,
        };
        let (length, hash) = (bytes.len() as u64, checkpoint::hash(bytes));
        let (same, chunk) = (&mut *self.same, &mut *self.chunk);
        let is_stored = same.is_next(start, length, hash, &facts, self.plan, chunk);
        format.fold(self.fold, &facts);
        let others = facts.others();
        if !is_stored {
            if flags & flag::BESIDE != 0 {
                facts.parent = facts.stands_at.take();
            }
            self.chunk.entries.add(EntryRow {
                start,
                length,
                line: self.fold.lines + 1,
                hash,
                flags,
                taken_ms,
                row: self.rows.and_then(|rows| rows.of(start, bytes)),
                facts,
            });
        }
        for other in others {
            self.add_other(start + length, line, taken_ms, other);
        }
        hash
    }

    /// Add what another model took in the entry that ends there: an entry without bytes.
    fn add_other(&mut self, end: u64, line: i64, taken_ms: Option<i64>, facts: Facts) {
        let hash = checkpoint::hash(&[]);
        self.fold.entries += 1;
        let (same, chunk) = (&mut *self.same, &mut *self.chunk);
        if same.is_next(end, 0, hash, &facts, self.plan, chunk) {
            return;
        }
        self.chunk.entries.add(EntryRow {
            start: end,
            length: 0,
            line: self.fold.lines + 1,
            hash,
            flags: line | flags_of(&facts),
            taken_ms,
            row: None,
            facts,
        });
    }
}

/// The flags of an entry, but for those of its line.
fn flags_of(facts: &Facts) -> i64 {
    let mut flags = 0;
    for class in &facts.repeats {
        flags |= flag::repeated(*class);
    }
    if facts.is_error {
        flags |= flag::ERROR;
    }
    if facts.has_image {
        flags |= flag::IMAGE;
    }
    if facts.calls.iter().any(|call| call.is_result) {
        flags |= flag::TOOL_RESULT;
    }
    if facts.text_cut {
        flags |= flag::CUT;
    }
    if facts.has_prompt {
        flags |= flag::PROMPT;
    }
    if facts.is_beside || facts.stands_at.is_some() {
        flags |= flag::BESIDE;
    }
    if facts.silent {
        flags |= flag::SILENT;
    }
    if facts.is_sidechain {
        flags |= flag::SIDECHAIN;
    }
    flags
}
