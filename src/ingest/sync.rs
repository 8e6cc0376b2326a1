//! The catalogue stage: discover, read what changed on every core, write it with one writer.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::mpsc::channel;
use std::time::Instant;

use rayon::prelude::*;

use super::cancel::Cancel;
use super::flight::Flight;
use super::look::{Seen, look};
use super::plan::{Plan, Work, plan};
use super::reading::{CHUNK_BYTES, Cost, Outcome, read_source};
use super::sought::{Sighted, Sightings, Span};
use crate::catalogue::write::{Chunk, Inserts};
use crate::catalogue::{Catalogue, Error};
use crate::format::Format;
use crate::index::{Config, RootSpec};
use crate::model::Report;
use crate::source::discover::{Discovery, Stray};
use crate::source::folders::parent;
use crate::source::identity::now_ns;
use crate::source::links::{ABOVE_A_ROOT, NOT_FOLLOWED};
use crate::threads;

/// How far a sync has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum Event {
    /// Another process writes the index: its turn is waited for. Told again and again.
    Waiting,
    /// So many files must be looked into.
    Discovered { files: u64, bytes: u64 },
    /// So many of them are in the catalogue.
    Catalogued { files: u64, bytes: u64 },
    /// What was catalogued so far is committed: others can read it.
    Readable,
    /// So many bytes of `of` are in the words.
    Indexed { bytes: u64, of: u64 },
    /// So many of them were compared with what is stored of them.
    Compared { files: u64, bytes: u64 },
    /// So many bytes of `of` were read through for a search.
    Scanned { bytes: u64, of: u64 },
    /// The end.
    Done,
}

/// Entries in one transaction, about.
const ENTRIES_A_TRANSACTION: u64 = 20_000;
/// The same of the very first one: somebody waits for the newest sessions.
const ENTRIES_FIRST: u64 = 500;
/// Bytes of sources in one transaction, about: bounds what a crash costs.
const BYTES_A_TRANSACTION: u64 = 16 << 20;
/// Bytes of sources, or of their rows where those are more, that are on their way to the writer: enough to read on while it
/// waits for the disk, and enough for it while a large file is read.
const BYTES_IN_FLIGHT: u64 = 6 * CHUNK_BYTES;

/// Bytes of session files that a sync killed in the catalogue stage has read in vain, at most, where no line is longer
/// than a chunk: an open transaction, the chunks that wait for it, and one that each thread is reading.
pub fn catalogue_batch() -> u64 {
    // One that a thread is reading, and one that it sent when there was hardly room.
    let by_thread = 2 * threads::count() as u64 * CHUNK_BYTES;
    BYTES_A_TRANSACTION + BYTES_IN_FLIGHT + by_thread
}

enum Message {
    Chunk(usize, Box<Chunk<Inserts>>, Vec<Span>),
    Done(usize, std::io::Result<Outcome>, Cost),
}

/// Bring the catalogue up to the files below `roots`, or as far as it came when it was called off. Of each root what was
/// `seen` before is not looked at again. Where the catalogue is filled for the first time, `sighted` notes what is looked for.
pub fn sync_catalogue(
    catalogue: &Catalogue,
    config: &Config,
    roots: &[RootSpec],
    seen: Vec<Option<Seen>>,
    mut sighted: Option<&mut Sighted>,
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<(), Error> {
    let (exclude, cancel) = (config.rules.exclude(), &config.cancel);
    let started = Instant::now();
    let now_ms = now_ns() / 1_000_000;
    let mut scanned = Vec::new();
    let seen = seen.into_iter().chain(std::iter::repeat_with(|| None));
    for (spec, seen) in roots.iter().zip(seen) {
        // Who opened the index has checked that there is one.
        let Some(format) = config.format(&spec.format) else {
            continue;
        };
        let known_root = catalogue.root_of(&spec.agent, &spec.path)?;
        let mut look = look(catalogue, config, spec, format, known_root, now_ms, seen)?;
        let files = look.files();
        let (discovery, known) = (&mut look.discovery, &look.known);
        let root = match known_root {
            Some(root) => root,
            // A place that never existed leaves no row.
            None if discovery.error.is_some() && !spec.path.exists() => continue,
            None => catalogue.ensure_root(spec)?,
        };
        let device = catalogue.root_device(root)?;
        if discovery.error.is_none()
            && discovery.found.is_empty()
            && !known.is_empty()
            && device.is_some_and(|d| d != discovery.device)
        {
            discovery.error = Some("empty, and on another device than before: not mounted?".into());
        }
        if let Some(error) = &discovery.error {
            report.notes.push(format!(
                "{}: {error}; what is known of it is kept",
                spec.path.display()
            ));
        }
        for unread in &discovery.unreadable {
            let path = spec.path.join(&unread.relative);
            report
                .notes
                .push(format!("{}: {}", path.display(), unread.reason));
        }
        report.files_unreadable += unreadable(spec, discovery);
        report.files_seen += files;
        scanned.push((spec, format, root, look));
    }
    report.ms.discover += ms(started);

    let started = Instant::now();
    let mut work: Work<'_> = Work::default();
    let mut gone_by_root = Vec::with_capacity(scanned.len());
    for (spec, format, root, look) in &scanned {
        let Work { mut plans, gone } =
            plan(*root, &spec.path, *format, &look.discovery, &look.known);
        work.plans.append(&mut plans);
        gone_by_root.push(gone);
    }
    for plan in &mut work.plans {
        if let Some(known) = plan.known {
            plan.checkpoint = catalogue.checkpoint(known.source)?;
        }
    }
    // Newest first: what a person looks for is most often recent.
    work.plans.sort_by_key(|p| std::cmp::Reverse(p.mtime_ns));
    let gone: usize = gone_by_root.iter().map(Vec::len).sum();
    let changed = (work.plans.len() + gone) as u64;
    report.files_changed += changed;
    let bytes = work.plans.iter().map(|p| p.size).sum();
    progress(Event::Discovered {
        files: work.plans.len() as u64,
        bytes,
    });
    if let Some(sighted) = &mut sighted {
        sighted.expect(bytes);
    }
    if changed > 0 {
        catalogue.keep_more_pages()?;
    }
    let result = (|| {
        catalogue.begin()?;
        let mut stale: Stale<'_> = BTreeMap::new();
        for ((spec, format, root, look), gone) in scanned.iter().zip(&gone_by_root) {
            catalogue.ensure_root(spec)?;
            let mut strays = look.discovery.strays.clone();
            strays.extend(look.strays_kept(catalogue, *root)?);
            strays.extend(look.discovery.unreadable.iter().cloned());
            strays.sort();
            strays.dedup_by(|a, b| a.relative == b.relative);
            for reason in [NOT_FOLLOWED, ABOVE_A_ROOT] {
                let links = strays.iter().filter(|s| s.reason == reason).count();
                if links as u64 != catalogue.links_not_followed(*root, reason)? {
                    report.notes.extend(links_note(spec, reason, links));
                }
            }
            catalogue.note_root(
                *root,
                (look.discovery.device, look.discovery.inode),
                look.discovery.error.as_deref(),
                &strays,
            )?;
            if look.discovery.error.is_none() {
                let left = &look.left_out;
                catalogue.note_excluded(*root, &left.places, left.files)?;
            }
            // Until all of it is in, what is in these directories is not known to be as it was.
            if changed > 0 {
                catalogue.doubt_folders(*root, &look.discovery.read)?;
            }
            for gone in gone {
                let (vanished, left) = catalogue.remove_source(gone.source)?;
                report.vanished += u64::from(vanished);
                stale.extend(left.into_iter().map(|session| (session, *format)));
            }
        }
        let doubtful = read_all(
            catalogue,
            &work.plans,
            stale,
            cancel,
            sighted,
            progress,
            report,
        )?;
        if cancel.is_cancelled() {
            return Ok(());
        }
        let doubtful = doubtful.into_iter().map(|at| {
            let plan = &work.plans[at];
            (plan.root, parent(plan.relative).to_owned())
        });
        let doubtful: HashSet<(i64, String)> = doubtful.collect();
        for (_, format, root, look) in &scanned {
            if look.discovery.error.is_none() && exclude.is_empty() {
                look.note_folders(catalogue, *root, *format, now_ms, &doubtful)?;
            }
        }
        catalogue.note_scan(now_ns() / 1_000_000, changed > 0)
    })();
    let committed = result.and_then(|()| catalogue.commit());
    if committed.is_err() {
        catalogue.rollback();
    }
    committed?;
    report.ms.catalogue += ms(started);
    Ok(())
}

/// How much of a root could not be looked at: files, folders, or the root itself. A place that is gone holds nothing; one
/// that is there may.
fn unreadable(spec: &RootSpec, discovery: &Discovery) -> u64 {
    let root = discovery.error.is_some() && !matches!(spec.path.try_exists(), Ok(false));
    discovery.unreadable.len() as u64 + u64::from(root)
}

/// What is said of links below a root that are not followed, when they are met for the first time.
pub(super) fn links_note(spec: &RootSpec, reason: &str, links: usize) -> Option<String> {
    let path = spec.path.display();
    match links {
        0 => None,
        1 if reason == ABOVE_A_ROOT => Some(format!(
            "{path}: a link leads to a folder that a root lies in and is not followed"
        )),
        _ if reason == ABOVE_A_ROOT => Some(format!(
            "{path}: {links} links lead to folders that a root lies in and are not followed"
        )),
        1 => Some(format!(
            "{path}: a link leads out of the roots and is not followed; --follow-links follows it"
        )),
        _ => Some(format!(
            "{path}: {links} links lead out of the roots and are not followed; --follow-links follows them"
        )),
    }
}

/// How many files a sync would look into. Reads the catalogue and the directories, writes nothing.
pub fn count_pending(catalogue: &Catalogue, config: &Config) -> Result<u64, Error> {
    let mut pending = 0;
    for spec in &config.roots {
        let Some(format) = config.format(&spec.format) else {
            continue;
        };
        let root = catalogue.root_of(&spec.agent, &spec.path)?;
        let now_ms = now_ns() / 1_000_000;
        let found = look(catalogue, config, spec, format, root, now_ms, None)?;
        let work = plan(0, &spec.path, format, &found.discovery, &found.known);
        pending += (work.plans.len() + work.gone.len()) as u64;
        pending += unreadable(spec, &found.discovery);
    }
    Ok(pending)
}

/// Read every plan on all cores; this thread is the one writer. Gives back the plans whose files must be looked at again.
pub(super) fn read_all(
    catalogue: &Catalogue,
    plans: &[Plan<'_>],
    stale: Stale<'_>,
    cancel: &Cancel,
    sighted: Option<&mut Sighted>,
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<BTreeSet<usize>, Error> {
    let (sought, sightings) = sighted.map(Sighted::split).unzip();
    let mut writer = Writer {
        catalogue,
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
        sightings,
        doubtful: BTreeSet::new(),
    };
    // For one file, and above all for none, no thread is worth starting.
    let pool = (plans.len() > 1).then(threads::pool).flatten();
    let Some(pool) = pool else {
        let mut buffer = Vec::new();
        for (at, plan) in plans.iter().enumerate() {
            let (mut written, mut cost) = (Ok(()), Cost::default());
            let emit = &mut |chunk, spans| {
                if written.is_ok() {
                    written = writer.take(Message::Chunk(at, Box::new(chunk), spans));
                }
            };
            let outcome = read_source(plan, sought, &mut buffer, &mut cost, emit);
            written?;
            writer.take(Message::Done(at, outcome, cost))?;
            if cancel.is_cancelled() {
                break;
            }
        }
        writer.settle()?;
        return Ok(writer.doubtful);
    };
    let flight = &Flight::of(BYTES_IN_FLIGHT);
    pool.in_place_scope(|scope| {
        let (send, receive) = channel();
        let _end = flight.until_dropped();
        scope.spawn(move |_| {
            // One after the other as threads become free: the order is that of the plans.
            plans
                .iter()
                .enumerate()
                .par_bridge()
                .for_each_init(Vec::new, |buffer, (at, plan)| {
                    if cancel.is_cancelled() {
                        return;
                    }
                    let mut cost = Cost::default();
                    // A closed channel means the writer failed; reading on is of no use, and its error is told.
                    let emit = &mut |chunk: Chunk<Inserts>, spans| {
                        let bytes = flight.depart(chunk.memory().max(chunk.source_bytes));
                        let _ = send.send((Message::Chunk(at, Box::new(chunk), spans), bytes));
                    };
                    let outcome = read_source(plan, sought, buffer, &mut cost, emit);
                    let bytes = flight.depart(0);
                    let _ = send.send((Message::Done(at, outcome, cost), bytes));
                });
        });
        for (message, bytes) in receive {
            writer.take(message)?;
            flight.land(bytes);
        }
        writer.settle()
    })?;
    Ok(writer.doubtful)
}

struct Writer<'a> {
    catalogue: &'a Catalogue,
    report: &'a mut Report,
    progress: &'a mut dyn FnMut(Event),
    cancel: &'a Cancel,
    plans: &'a [Plan<'a>],
    files: u64,
    bytes: u64,
    open_entries: u64,
    most_entries: u64,
    open_bytes: u64,
    /// Plans whose session is full.
    full: HashSet<usize>,
    stale: Stale<'a>,
    sightings: Option<Sightings<'a>>,
    /// Plans whose file was racy or could not be read.
    doubtful: BTreeSet<usize>,
}

/// Sessions of many files whose rows do not say yet what their files say, and the formats that do.
pub(super) type Stale<'a> = BTreeMap<i64, &'a dyn Format>;

impl Writer<'_> {
    /// Before a commit: rows of sessions follow their files.
    fn settle(&mut self) -> Result<(), Error> {
        for (session, format) in std::mem::take(&mut self.stale) {
            self.catalogue.refold_session(session, format)?;
        }
        Ok(())
    }

    fn take(&mut self, message: Message) -> Result<(), Error> {
        // What is in stays; what comes no more is read on by the next sync.
        if self.cancel.is_cancelled() {
            return Ok(());
        }
        match message {
            Message::Chunk(at, chunk, spans) => {
                if self.full.contains(&at) {
                    return Ok(());
                }
                match self.catalogue.apply(&chunk, self.plans[at].format) {
                    Err(Error::Full { relative }) => {
                        self.report.notes.push(Error::Full { relative }.to_string());
                        self.report.files_unreadable += 1;
                        self.full.insert(at);
                        self.doubtful.insert(at);
                        return Ok(());
                    }
                    applied => {
                        let (applied, plan) = (applied?, &self.plans[at]);
                        if let Some(sightings) = &mut self.sightings {
                            sightings.add(plan, &chunk, &applied, &spans);
                        }
                        let stale = applied.stale.map(|session| (session, plan.format));
                        self.stale.extend(stale);
                    }
                }
                if chunk.last && chunk.racy {
                    self.doubtful.insert(at);
                }
                let entries = chunk.entries.count() as u64;
                self.report.entries += entries;
                self.report.problems += chunk.problems.len() as u64;
                self.open_entries += entries;
                self.open_bytes += chunk.source_bytes;
                if self.open_entries >= self.most_entries || self.open_bytes >= BYTES_A_TRANSACTION
                {
                    self.settle()?;
                    self.catalogue.commit()?;
                    (self.progress)(Event::Readable);
                    self.catalogue.begin()?;
                    (self.open_entries, self.open_bytes) = (0, 0);
                    self.most_entries = ENTRIES_A_TRANSACTION.min(self.most_entries * 4);
                }
            }
            Message::Done(at, outcome, cost) => {
                if matches!(outcome, Err(_) | Ok(Outcome::Same { racy: true, .. })) {
                    self.doubtful.insert(at);
                }
                if let Some(sightings) = &mut self.sightings
                    && cost.reads > 1
                {
                    sightings.give_up();
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
                            if identity.mtime_ns != known.stored.identity.mtime_ns {
                                self.catalogue
                                    .refold_source(known.source, plan.format, None)?;
                            }
                        }
                    }
                    // Gone between the walk and the reading: the next scan takes its rows.
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Err(error) => {
                        self.report.files_unreadable += 1;
                        self.report
                            .notes
                            .push(format!("{}: {error}", plan.path.display()));
                        // Some of it may have been read before that.
                        let known = self.catalogue.source_state(plan.root, plan.relative)?;
                        match known {
                            Some(state) => self
                                .catalogue
                                .note_unread(state.known.source, &error.to_string())?,
                            None => self.catalogue.note_stray(
                                plan.root,
                                &Stray {
                                    relative: plan.relative.to_owned(),
                                    reason: error.to_string(),
                                    unread: true,
                                },
                            )?,
                        }
                    }
                }
                self.files += 1;
                self.bytes += plan.size;
                (self.progress)(Event::Catalogued {
                    files: self.files,
                    bytes: self.bytes,
                });
            }
        }
        Ok(())
    }
}

pub(super) fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
