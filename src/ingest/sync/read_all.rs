//! Sources are read on every core, and written with one writer.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::archive::PackedBytes;
use crate::catalogue::write::{Chunk, EntryRows};
use crate::catalogue::{Catalogue, Error};
use crate::format::Format;
use crate::ingest::backpressure::ByteBudget;
use crate::ingest::keep::Keeper;
use crate::ingest::names::forget_names_of_none;
use crate::ingest::plan::SourcePlan;
use crate::ingest::reading::{CHUNK_BYTES, Cost, Outcome, read_source};
use crate::ingest::sync::first_list::{OwnRow, own_rows};
use crate::ingest::targets::{SyncTargets, SyncedRoot};
use crate::model::{Cancel, Event, Report};
use crate::source::discover::ForeignFile;
use crate::threads;

/// Entries in one transaction, about.
const ENTRIES_A_TRANSACTION: u64 = 20_000;
/// Entries in the very first transaction, about. It is short because somebody waits to see the
/// newest sessions.
const ENTRIES_FIRST: u64 = 500;
/// Sessions in one transaction of which nothing but their own rows is written: a few screens full.
const LISTED_A_TRANSACTION: usize = 250;
/// Bytes of sources in one transaction, about: bounds what a crash costs.
const BYTES_A_TRANSACTION: u64 = 64 << 20;
/// Bytes of sources, or of their rows where those are more, that are on their way to the writer:
/// enough to read on while it waits for the disk, and enough for it while a large file is read.
const MOST_BYTES_ON_THE_WAY: u64 = 6 * CHUNK_BYTES;

/// What a reader tells the writer: of the plan at this place.
enum Message {
    Chunk(usize, Box<Chunk<EntryRows>>, Option<PackedBytes>),
    Done(usize, std::io::Result<Outcome>, Cost),
}

/// Read every plan of these roots on all cores; this thread is the one writer. Gives back the plans
/// whose files must be looked at again.
pub(in crate::ingest) fn read_all(
    SyncTargets { catalogue, keeper }: SyncTargets<'_>,
    roots: &[SyncedRoot<'_>],
    plans: &[SourcePlan<'_>],
    stale: OutdatedSessions<'_>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<BTreeSet<usize>, Error> {
    report.vanished += forget_names_of_none(catalogue, roots, plans)?;
    let mut writer = Writer {
        catalogue,
        keeper,
        report,
        progress,
        cancel,
        plans,
        files: 0,
        bytes: 0,
        open_entries: 0,
        most_entries: match catalogue.was_scanned()? {
            true => ENTRIES_A_TRANSACTION,
            false => ENTRIES_FIRST,
        },
        open_bytes: 0,
        full: HashSet::new(),
        stale,
        doubtful: BTreeSet::new(),
    };
    writer.list_first(&own_rows(plans))?;
    // For one file, and above all for none, no thread is worth starting.
    match (plans.len() > 1).then(threads::pool).flatten() {
        Some(pool) => read_on(pool, plans, cancel, &mut writer)?,
        None => read_here(plans, cancel, &mut writer)?,
    }
    writer.catch_up(roots)?;
    writer.settle()?;
    // A session may have gone while its name was read, or before its file was.
    forget_names_of_none(catalogue, roots, &[])?;
    keeper.commit(catalogue)?;
    Ok(writer.doubtful)
}

/// Read the plans one after the other on this thread.
fn read_here(
    plans: &[SourcePlan<'_>],
    cancel: &Cancel,
    writer: &mut Writer<'_>,
) -> Result<(), Error> {
    let mut buffer = Vec::new();
    for (at, plan) in plans.iter().enumerate() {
        let (mut written, mut cost) = (Ok(()), Cost::default());
        let emit = &mut |chunk, packed| {
            if written.is_ok() {
                written = writer.take(Message::Chunk(at, Box::new(chunk), packed));
            }
        };
        let outcome = read_source(plan, &mut buffer, &mut cost, emit);
        written?;
        writer.take(Message::Done(at, outcome, cost))?;
        if cancel.is_cancelled() {
            break;
        }
    }
    Ok(())
}

/// Read the plans on the threads of a pool and write on this one.
fn read_on(
    pool: &ThreadPool,
    plans: &[SourcePlan<'_>],
    cancel: &Cancel,
    writer: &mut Writer<'_>,
) -> Result<(), Error> {
    let budget = &ByteBudget::of(MOST_BYTES_ON_THE_WAY);
    // The writer has failed. Its error is reported, and nothing more is read.
    let has_failed = &AtomicBool::new(false);
    pool.in_place_scope(|scope| {
        let (send, receive) = channel();
        let _end = budget.until_dropped();
        scope.spawn(move |_| {
            // Each thread takes the next plan when it is free, so that they start in order.
            plans
                .iter()
                .enumerate()
                .par_bridge()
                .for_each_init(Vec::new, |buffer, (at, plan)| {
                    if cancel.is_cancelled() || has_failed.load(Ordering::Relaxed) {
                        return;
                    }
                    let mut cost = Cost::default();
                    let send = |message: Message, bytes: u64| {
                        if send.send((message, bytes)).is_err() {
                            has_failed.store(true, Ordering::Relaxed);
                        }
                    };
                    let emit = &mut |chunk: Chunk<EntryRows>, packed: Option<PackedBytes>| {
                        let kept = packed.as_ref().map_or(0, PackedBytes::memory);
                        let bytes = chunk.memory().max(chunk.source_bytes) + kept;
                        let bytes = budget.take(bytes);
                        send(Message::Chunk(at, Box::new(chunk), packed), bytes);
                    };
                    let outcome = read_source(plan, buffer, &mut cost, emit);
                    let bytes = budget.take(0);
                    send(Message::Done(at, outcome, cost), bytes);
                });
        });
        for (message, bytes) in receive {
            writer.take(message)?;
            budget.give_back(bytes);
        }
        Ok(())
    })
}

struct Writer<'a> {
    catalogue: &'a Catalogue,
    keeper: &'a Keeper,
    report: &'a mut Report,
    progress: &'a mut dyn FnMut(Event),
    cancel: &'a Cancel,
    plans: &'a [SourcePlan<'a>],
    files: u64,
    bytes: u64,
    open_entries: u64,
    most_entries: u64,
    open_bytes: u64,
    /// Plans whose session is full.
    full: HashSet<usize>,
    stale: OutdatedSessions<'a>,
    /// Plans whose file was racy or could not be read.
    doubtful: BTreeSet<usize>,
}

/// Sessions of many files whose rows do not say yet what their files say, and the formats that do.
pub(in crate::ingest) type OutdatedSessions<'a> = BTreeMap<i64, &'a dyn Format>;

/// Remove what is stored of a source that is gone. Within the transaction.
pub(in crate::ingest) fn remove_source<'a>(
    catalogue: &Catalogue,
    source: i64,
    format: &'a dyn Format,
    stale: &mut OutdatedSessions<'a>,
    report: &mut Report,
) -> Result<(), Error> {
    let (vanished, left) = catalogue.remove_source(source)?;
    report.vanished += u64::from(vanished);
    stale.extend(left.into_iter().map(|session| (session, format)));
    Ok(())
}

impl Writer<'_> {
    /// Before a commit: rows of sessions follow their files.
    fn settle(&mut self) -> Result<(), Error> {
        for (session, format) in std::mem::take(&mut self.stale) {
            self.catalogue.refold_session(session, format)?;
        }
        Ok(())
    }

    /// Write what sessions say of themselves, so that they are listed before they are read.
    fn list_first(&mut self, own_rows: &[OwnRow<'_>]) -> Result<(), Error> {
        for some in own_rows.chunks(LISTED_A_TRANSACTION) {
            if self.cancel.is_cancelled() {
                return Ok(());
            }
            for (plan, said) in some {
                self.catalogue.apply(said, plan.format)?;
            }
            self.commit()?;
        }
        Ok(())
    }

    fn take(&mut self, message: Message) -> Result<(), Error> {
        // What is written already stays; the next sync continues there.
        if self.cancel.is_cancelled() {
            return Ok(());
        }
        match message {
            Message::Chunk(at, chunk, packed) => self.take_chunk(at, &chunk, packed),
            Message::Done(at, outcome, cost) => self.take_outcome(at, outcome, cost),
        }
    }

    /// Write a chunk of a file, and commit when the transaction is large enough.
    fn take_chunk(
        &mut self,
        at: usize,
        chunk: &Chunk<EntryRows>,
        packed: Option<PackedBytes>,
    ) -> Result<(), Error> {
        let (plan, format) = (&self.plans[at], self.plans[at].format);
        if self.full.contains(&at) {
            return packed.map_or(Ok(()), |kept| self.keeper.keep(self.catalogue, plan, &kept));
        }
        match self.catalogue.apply(chunk, format) {
            Err(Error::Full { relative }) => {
                self.report.notes.push(Error::Full { relative }.to_string());
                self.report.files_unreadable += 1;
                self.full.insert(at);
                self.doubtful.insert(at);
                return Ok(());
            }
            applied => {
                let stale = applied?.map(|session| (session, format));
                self.stale.extend(stale);
            }
        }
        match packed {
            Some(packed) => self.keeper.keep(self.catalogue, plan, &packed)?,
            None => self.keeper.note_unkept(self.catalogue, plan)?,
        }
        if chunk.last && chunk.racy {
            self.doubtful.insert(at);
        }
        let entries = chunk.entries.count() as u64;
        self.report.entries += entries;
        self.report.problems += chunk.problems.len() as u64;
        self.open_entries += entries;
        self.open_bytes += chunk.source_bytes;
        if self.open_entries >= self.most_entries || self.open_bytes >= BYTES_A_TRANSACTION {
            self.commit()?;
        }
        Ok(())
    }

    /// Make what is written so far readable, and continue in a new transaction.
    fn commit(&mut self) -> Result<(), Error> {
        self.settle()?;
        self.keeper.commit(self.catalogue)?;
        self.catalogue.commit()?;
        (self.progress)(Event::Readable);
        self.catalogue.begin()?;
        (self.open_entries, self.open_bytes) = (0, 0);
        self.most_entries = ENTRIES_A_TRANSACTION.min(self.most_entries * 4);
        Ok(())
    }

    /// Keep the sources that were read without being kept.
    fn catch_up(&mut self, roots: &[SyncedRoot<'_>]) -> Result<(), Error> {
        let (catalogue, keeper) = (self.catalogue, self.keeper);
        keeper.catch_up(catalogue, roots, BYTES_A_TRANSACTION, || {
            self.commit()?;
            Ok(!self.cancel.is_cancelled())
        })
    }

    /// Note how reading a file ended: after its last chunk, or instead of any.
    fn take_outcome(
        &mut self,
        at: usize,
        outcome: std::io::Result<Outcome>,
        cost: Cost,
    ) -> Result<(), Error> {
        if matches!(outcome, Err(_) | Ok(Outcome::Same { racy: true, .. })) {
            self.doubtful.insert(at);
        }
        let plan = &self.plans[at];
        self.report.bytes_read += cost.bytes_read;
        self.report.proof_bytes += cost.proof_bytes;
        match outcome {
            Ok(Outcome::Read) => {}
            Ok(Outcome::Same {
                identity,
                racy,
                proven,
            }) => {
                if let Some(known) = plan.known {
                    self.catalogue
                        .note_identity(known.source, &identity, racy)?;
                    if proven {
                        self.catalogue.note_proven(known.source)?;
                    }
                    let gone = self.catalogue.note_gone_since(known.source, plan.gone_ms)?;
                    if gone || identity.mtime_ns != known.stored.identity.mtime_ns {
                        self.catalogue
                            .refold_source(known.source, plan.format, None)?;
                    }
                }
            }
            // It vanished between discovery and reading; the next scan removes its rows.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => self.note_unreadable(plan, &error)?,
        }
        self.files += 1;
        self.bytes += plan.size;
        (self.progress)(Event::Catalogued {
            files: self.files,
            bytes: self.bytes,
        });
        Ok(())
    }

    /// Note that a file could not be read, or not to its end.
    fn note_unreadable(
        &mut self,
        plan: &SourcePlan<'_>,
        error: &std::io::Error,
    ) -> Result<(), Error> {
        self.report.files_unreadable += 1;
        self.report
            .notes
            .push(format!("{}: {error}", plan.path.display()));
        // Chunks that were read before the error may have made it a known source.
        match self.catalogue.source_state(plan.root, plan.relative)? {
            Some(state) => self
                .catalogue
                .note_unread(state.known.source, &error.to_string()),
            None => {
                let unread = ForeignFile::unread(plan.relative.to_owned(), error);
                self.catalogue.note_foreign_file(plan.root, &unread)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/crash.rs` kills syncs and counts what they had read in vain, by these numbers.
    #[test]
    fn a_killed_sync_has_read_no_more_in_vain_than_is_promised() {
        let sizes = [BYTES_A_TRANSACTION, MOST_BYTES_ON_THE_WAY, CHUNK_BYTES];
        assert_eq!(sizes, [64 << 20, 24 << 20, 4 << 20]);
    }
}
