//! One file becomes chunks: from the first byte that is not proven to the end.

use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::sync::Arc;

use self::lines::LineParser;
use self::proof::{GrowingProof, is_rows};
use self::same::SameEntries;
use self::start::{ReadStart, resume_point};
use self::turns::LastTurn;
use super::beside::{cwd_beside, named_beside};
use super::plan::SourcePlan;
use crate::archive::{PackedBytes, Packer};
use crate::catalogue::write::{Chunk, Entries, flag};
use crate::databases::RowNames;
use crate::format::Shape;
use crate::model::Fold;
use crate::source::checkpoint::{self, NO_REVISION, Proof};
use crate::source::content::Content;
use crate::source::identity::{Identity, now_ns};
use crate::source::lines::Lines;
use crate::source::place::bytes_at;

mod lines;
mod proof;
mod same;
mod start;
mod turns;

/// Bytes of a source that go into the catalogue at once, about: bounds what a crash costs.
pub const CHUNK_BYTES: u64 = 4 << 20;
/// The limit for the rows built from them: rows of short lines take more memory than the lines.
const CHUNK_ROWS: usize = 4 << 20;

/// Bytes that are read at once of a file that is only kept.
pub const PACKED_AT_ONCE: usize = 256 << 10;

/// What reading a file cost.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)]
pub struct Cost {
    pub bytes_read: u64,
    pub proof_bytes: u64,
    /// How often the file was read: more than once if it was changed meanwhile.
    pub reads: usize,
}

/// What came of it.
pub enum Outcome {
    /// Unchanged: only the identity moved.
    Same {
        /// As observed.
        identity: Identity,
        /// See [`Identity::is_racy`].
        racy: bool,
        /// Every block was compared.
        proven: bool,
    },
    /// Chunks were emitted.
    Read,
}

/// Takes what was read: a chunk, and with it the bytes for the archive that are complete, where the
/// source is kept.
pub type Emit<'e, E> = dyn FnMut(Chunk<E>, Option<PackedBytes>) + 'e;

/// How often a file is read at most when it keeps changing.
const READS: usize = 4;

/// Read the source of `plan`, giving each chunk to `emit` in order. If it is changed meanwhile,
/// other than by appending, it is read again from its first byte.
///
/// # Errors
/// [`ErrorKind::ResourceBusy`] when it keeps changing: then the chunks may say what the file said
/// at no moment.
pub fn read_source<E: Entries>(
    plan: &SourcePlan<'_>,
    buffer: &mut Vec<u8>,
    cost: &mut Cost,
    emit: &mut Emit<'_, E>,
) -> std::io::Result<Outcome> {
    while cost.reads < READS {
        let is_again = cost.reads > 0;
        cost.reads += 1;
        match read_once(plan, is_again, buffer, cost, emit) {
            Ok(ReadOutcome::Changed) => {}
            Ok(ReadOutcome::Done(outcome)) => return Ok(outcome),
            // The chunks emitted before are not what the file said at the end.
            Err(error) if is_again && error.kind() == ErrorKind::NotFound => break,
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::new(
        ErrorKind::ResourceBusy,
        "it keeps changing while it is read",
    ))
}

/// What came of one reading.
pub enum ReadOutcome {
    Done(Outcome),
    /// Somebody changed the file meanwhile, and not only by appending to it.
    Changed,
}

/// Read the source of `plan` once; `is_again` when chunks of it were emitted that do not count.
pub fn read_once<E: Entries>(
    plan: &SourcePlan<'_>,
    is_again: bool,
    buffer: &mut Vec<u8>,
    cost: &mut Cost,
    emit: &mut Emit<'_, E>,
) -> std::io::Result<ReadOutcome> {
    let opened_ns = now_ns();
    let (mut file, at_turn) = turns::open(plan, is_again)?;
    // The identity is taken from the open file before reading: what is read belongs to it or to
    // something newer.
    let (identity, length) = (file.identity()?, file.length()?);
    let racy = file.is_racy(&identity, now_ns());
    let start = match is_again {
        true => ReadStart::beginning(),
        false => resume_point(plan, &mut file, &at_turn, &identity, length, cost)?,
    };
    let (from, proof, fold, unproven) = match start {
        ReadStart::Same { proven } => {
            return Ok(ReadOutcome::Done(Outcome::Same {
                identity,
                racy,
                proven,
            }));
        }
        ReadStart::At {
            from,
            proof,
            fold,
            unproven,
        } => (from, proof, fold, unproven),
    };
    file.seek(SeekFrom::Start(from))?;
    let mut fold = *fold;
    fold.cwd_beside = cwd_beside(plan.format, &plan.path)?.or(fold.cwd_beside);
    fold.named_beside = named_beside(plan.format, &plan.path)?.or(fold.named_beside);
    let packs = plan.kept_as.is_some() && !file.is_kept_whole();
    let reader = Reader {
        packer: packs.then(|| Packer::at(from)).transpose()?,
        plan,
        identity,
        length,
        racy,
        unproven,
        from,
        proof,
        fold,
        rows: file.row_names(),
        is_rows: is_rows(plan, &file),
        chunk_from: from,
        is_again,
        same: SameEntries::of(plan, from == 0 && !is_again, &at_turn),
        last_turn: LastTurn::of(&mut file, length, opened_ns),
    };
    let since = match plan.format.shape_of(&plan.path) {
        Shape::Lines => reader.lines(&mut file, buffer, cost, emit)?,
        Shape::Document | Shape::Text | Shape::Elements => {
            reader.document(&mut file, cost, emit)?
        }
    };
    Ok(match since {
        IdentityChange::Changed => ReadOutcome::Changed,
        IdentityChange::Nothing | IdentityChange::Grown => ReadOutcome::Done(Outcome::Read),
    })
}

/// What was done to a file since its identity was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdentityChange {
    Nothing,
    /// It was appended to, judging by the last bytes that were read before.
    Grown,
    Changed,
}

impl<E> Chunk<E> {
    /// What was read is proven later where the file has grown, and proves nothing where it is
    /// another one by now.
    fn note(&mut self, since: IdentityChange) {
        match since {
            IdentityChange::Nothing => {}
            IdentityChange::Grown => self.unproven = true,
            IdentityChange::Changed => self.revision = NO_REVISION,
        }
    }
}

struct Reader<'p> {
    plan: &'p SourcePlan<'p>,
    identity: Identity,
    /// Bytes of the content when its identity was taken.
    length: u64,
    racy: bool,
    unproven: bool,
    from: u64,
    proof: GrowingProof,
    fold: Fold,
    rows: Option<Arc<RowNames>>,
    /// Whether it is a session in a database.
    is_rows: bool,
    /// Where the chunk under way begins.
    chunk_from: u64,
    is_again: bool,
    /// What need not be written again.
    same: SameEntries<'p>,
    /// From where it may be read on.
    last_turn: LastTurn,
    /// Packs what is read, where it is kept.
    packer: Option<Packer>,
}

impl Reader<'_> {
    fn chunk<E: Entries>(&self, forget_from: Option<u64>) -> Chunk<E> {
        Chunk {
            root: self.plan.root,
            relative: self.plan.relative.to_string(),
            session_key: self.plan.session_key.to_string(),
            part: self.plan.part,
            unlisted: self.plan.unlisted.clone(),
            gone_ms: self.plan.gone_ms,
            forget_from,
            moved: None,
            entries: E::default(),
            problems: Vec::new(),
            identity: self.identity,
            length: self.length,
            racy: self.racy,
            unproven: self.unproven,
            revision: self.plan.format.about().revision,
            consumed: 0,
            proof: Proof::default(),
            fold: Fold::default(),
            shown: Fold::default(),
            turn: None,
            last: false,
            source_bytes: 0,
        }
    }

    fn close<E>(&mut self, chunk: &mut Chunk<E>, consumed: u64, shown: Option<Fold>, last: bool) {
        chunk.source_bytes = consumed - self.chunk_from;
        self.chunk_from = consumed;
        chunk.consumed = consumed;
        chunk.proof = self.proof.so_far().clone();
        chunk.fold = self.fold.clone();
        chunk.shown = shown.unwrap_or_else(|| self.fold.clone());
        chunk.turn = self.last_turn.to_text().filter(|_| last);
        chunk.last = last;
    }

    /// Whether the chunk, which reaches up to `end`, is to be written. Until something has changed
    /// there is nothing to write.
    fn is_full<E: Entries>(&self, chunk: &Chunk<E>, end: u64) -> bool {
        let is_much = end - self.chunk_from >= CHUNK_BYTES || chunk.rows_memory() >= CHUNK_ROWS;
        is_much && !self.same.goes_on()
    }

    /// Add these whole lines, which begin there.
    fn add_lines<E: Entries>(&mut self, chunk: &mut Chunk<E>, lines: &[u8], at: u64) {
        let (mut hashes, mut start) = (Vec::new(), 0);
        for end in memchr::memchr_iter(b'\n', lines) {
            let (line, begins) = (&lines[start..end], at + start as u64);
            self.last_turn.pass(begins, &self.fold);
            let mut taking = LineParser {
                plan: self.plan,
                chunk: &mut *chunk,
                fold: &mut self.fold,
                rows: self.rows.as_deref(),
                same: &mut self.same,
            };
            let hash = taking.add_line(line, begins, 0);
            if self.is_rows {
                hashes.push(hash.unwrap_or_else(|| checkpoint::hash(line)));
            }
            self.fold.lines += 1;
            start = end + 1;
        }
        match self.is_rows {
            true => self.proof.add_row_hashes(&hashes),
            false => self.proof.add(lines),
        }
    }

    /// What was done to the file, which was read up to `end`.
    fn since(&self, file: &Content, end: u64) -> std::io::Result<IdentityChange> {
        let now = file.identity()?;
        // Comparing these two is enough: a file that was replaced at its path stays unchanged
        // itself.
        let is_same = (now.size, now.mtime_ns) == (self.identity.size, self.identity.mtime_ns);
        let may_have_grown = file.grows() && now.size > self.length && now.size >= end;
        Ok(match (is_same, may_have_grown) {
            (true, _) => IdentityChange::Nothing,
            (false, true) => IdentityChange::Grown,
            (false, false) => IdentityChange::Changed,
        })
    }

    /// What was done to a file of lines, which was read up to `end`; its whole lines end at
    /// `consumed`.
    fn since_lines(
        &mut self,
        file: &mut Content,
        consumed: u64,
        end: u64,
        cost: &mut Cost,
    ) -> std::io::Result<IdentityChange> {
        let since = self.since(file, end)?;
        if since != IdentityChange::Grown {
            return Ok(since);
        }
        let is_as_read = if self.plan.kept_as.is_some() {
            // Nor may what is kept be of two states of the file.
            let proof = self.proof.so_far();
            let (all, bytes) = checkpoint::prove_all(file, proof)?;
            cost.proof_bytes += bytes;
            all && proof.covers() == consumed
        } else {
            let length = self.proof.tail().len() as u64;
            let tail = bytes_at(file, consumed - length, length)?;
            tail.is_some_and(|tail| tail == self.proof.tail())
        };
        Ok(match is_as_read {
            true => IdentityChange::Grown,
            false => IdentityChange::Changed,
        })
    }

    /// What is still to be kept of the source when all of it was read. Nothing of a file that is
    /// read again because it was changed meanwhile.
    fn rest_packed(
        &mut self,
        file: &mut Content,
        since: IdentityChange,
    ) -> std::io::Result<Option<PackedBytes>> {
        if self.plan.kept_as.is_none() || since == IdentityChange::Changed {
            return Ok(None);
        }
        let packer = match file.is_kept_whole() {
            false => self.packer.take(),
            true => Some(pack_all(file.kept()?)?),
        };
        let end_ns = self.identity.mtime_ns;
        packer.map(|packer| packer.finish(end_ns)).transpose()
    }

    fn lines<E: Entries>(
        mut self,
        file: &mut Content,
        buffer: &mut Vec<u8>,
        cost: &mut Cost,
        emit: &mut Emit<'_, E>,
    ) -> std::io::Result<IdentityChange> {
        let mut chunk = self.chunk::<E>(Some(self.from));
        let mut at = self.from;
        let until = self.plan.until.unwrap_or(u64::MAX);
        let mut lines = Lines::new(
            file.by_ref().take(until.saturating_sub(self.from)),
            std::mem::take(buffer),
            self.length.min(until).saturating_sub(self.from),
        );
        let mut shown = None;
        while let Some((block, terminated)) = lines.next_block()? {
            if let Some(packer) = &mut self.packer {
                packer.push(block)?;
            }
            if !terminated {
                let mut fold = self.fold.clone();
                let mut taking = LineParser {
                    plan: self.plan,
                    chunk: &mut chunk,
                    fold: &mut fold,
                    rows: self.rows.as_deref(),
                    same: &mut self.same,
                };
                taking.add_line(block, at, flag::PROVISIONAL);
                shown = Some(fold);
                continue;
            }
            self.add_lines(&mut chunk, block, at);
            at += block.len() as u64;
            if self.is_full(&chunk, at) {
                self.close(&mut chunk, at, None, false);
                let next = self.chunk(None);
                let packed = self.packer.as_mut().map(Packer::packed);
                emit(std::mem::replace(&mut chunk, next), packed);
            }
        }
        let end = self.from + lines.bytes_read;
        self.same.end(end, &mut chunk);
        cost.bytes_read += lines.bytes_read;
        *buffer = lines.into_buffer();
        let since = self.since_lines(file, at, end, cost)?;
        chunk.note(since);
        // The file grew since the scan, so its length then does not show that something follows
        // the last whole line.
        chunk.racy |= shown.is_some() && at >= self.length;
        // The row of a session of several files is also made where another of them has changed,
        // from what is stored of this one.
        let shown = shown.filter(|_| !self.plan.format.about().has_several_files);
        self.close(&mut chunk, at, shown, true);
        emit(chunk, self.rest_packed(file, since)?);
        Ok(since)
    }

    /// The whole file at once: one record where all is well, or the records that the format finds
    /// in it, or whatever it holds.
    fn document<E: Entries>(
        mut self,
        file: &mut Content,
        cost: &mut Cost,
        emit: &mut Emit<'_, E>,
    ) -> std::io::Result<IdentityChange> {
        let mut bytes = Vec::new();
        let room = usize::try_from(self.length).map(|size| bytes.try_reserve_exact(size));
        if !matches!(room, Ok(Ok(()))) {
            return Err(ErrorKind::OutOfMemory.into());
        }
        file.read_to_end(&mut bytes)?;
        cost.bytes_read += bytes.len() as u64;
        // A source that was never seen has nothing to remove, and looking for it would cost reading
        // all rows of its session.
        let is_seen = self.plan.known.is_some() || self.is_again;
        let mut chunk = self.chunk::<E>(is_seen.then_some(0));
        let mut taking = LineParser {
            plan: self.plan,
            chunk: &mut chunk,
            fold: &mut self.fold,
            rows: self.rows.as_deref(),
            same: &mut self.same,
        };
        match self.plan.format.shape_of(&self.plan.path) {
            Shape::Elements => taking.add_elements(&bytes),
            Shape::Text if bytes.is_empty() => {}
            Shape::Text => {
                let facts = self.plan.format.facts_at(&self.plan.path, &bytes);
                taking.add_entry(&bytes, 0, 0, facts);
            }
            Shape::Document | Shape::Lines => drop(taking.add_line(&bytes, 0, 0)),
        }
        self.proof.add(&bytes);
        let end = bytes.len() as u64;
        // A document that has grown is another one.
        let since = match self.since(file, end)? {
            IdentityChange::Grown => IdentityChange::Changed,
            since => since,
        };
        chunk.note(since);
        self.close(&mut chunk, end, None, true);
        if let Some(packer) = &mut self.packer {
            packer.push(&bytes)?;
        }
        emit(chunk, self.rest_packed(file, since)?);
        Ok(since)
    }
}

/// Pack all bytes that follow.
fn pack_all(file: &mut dyn Read) -> std::io::Result<Packer> {
    let mut packer = Packer::at(0)?;
    let mut buffer = vec![0; PACKED_AT_ONCE];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(packer),
            length => packer.push(&buffer[..length])?,
        }
    }
}

#[cfg(test)]
mod tests;
