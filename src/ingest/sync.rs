//! The catalogue stage: discover, read what changed on every core, write it with one writer.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use super::keep::ArchivedSource;
use super::plan::{SourcePlan, plan, plan_root};
use super::scan::{RootScan, scan_root};
use super::targets::{SyncTargets, SyncedRoot};
use crate::catalogue::read::StoredSource;
use crate::catalogue::{Catalogue, Error};
use crate::config::Config;
use crate::model::{Event, Report};
use crate::source::discover::{Discovery, ForeignFile};
use crate::source::fingerprints::parent;
use crate::source::identity::now_ns;
use crate::source::links::{ABOVE_A_ROOT, NOT_FOLLOWED};
use crate::source::root::RootSpec;

mod first_list;
mod read_all;

pub(super) use read_all::{OutdatedSessions, read_all, remove_source};

/// Bring the catalogue up to the files below `roots`, or as far as it came when it was called off.
pub fn sync_catalogue(
    targets: SyncTargets<'_>,
    config: &Config,
    roots: &[RootSpec],
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<(), Error> {
    let catalogue = targets.catalogue;
    let started = Instant::now();
    let now_ms = now_ns() / 1_000_000;
    catalogue.doubt_remotes();
    let scanned = scan_roots(targets, config, roots, now_ms, report)?;
    let roots = scanned.iter().map(|scanned| scanned.root);
    let mut foreign = roots.filter(|root| root.spec.host.is_some());
    foreign.try_for_each(|root| note_remotes(catalogue, root.number))?;
    report.ms.discover += ms(started);
    let started = Instant::now();
    let work = plan_scanned(targets, &scanned)?;
    report.files_changed += work.changed();
    progress(Event::Discovered {
        files: work.plans.len() as u64,
        bytes: work.plans.iter().map(|plan| plan.size).sum(),
    });
    if work.changed() > 0 {
        catalogue.keep_more_pages()?;
    }
    catalogue.transaction(|| write(targets, config, &scanned, work, now_ms, progress, report))?;
    targets.keeper.tell(report);
    report.ms.catalogue += ms(started);
    Ok(())
}

/// Another machine may name the repositories of its sessions after these were read.
fn note_remotes(catalogue: &Catalogue, root: i64) -> Result<(), Error> {
    let named = catalogue.named_remotes(root)?;
    if named.is_empty() {
        return Ok(());
    }
    let note = |(session, remote): &(i64, String)| catalogue.note_remote(*session, remote);
    catalogue.transaction(|| named.iter().try_for_each(note))
}

/// A root after its scan.
struct ScannedRoot<'a> {
    root: SyncedRoot<'a>,
    scan: RootScan,
    /// What is read from the archive, because its file is gone.
    archived: Vec<ArchivedSource>,
    /// See [`super::keep::Keeper::add_gone_before`].
    asked: Option<i64>,
}

/// Scan every root. Nothing is written but the numbers of new ones.
fn scan_roots<'a>(
    SyncTargets { catalogue, keeper }: SyncTargets<'_>,
    config: &'a Config,
    roots: &'a [RootSpec],
    now_ms: i64,
    report: &mut Report,
) -> Result<Vec<ScannedRoot<'a>>, Error> {
    let mut scanned = Vec::with_capacity(roots.len());
    for spec in roots {
        // Who opened the index has checked that there is one.
        let Some(format) = config.format(&spec.format) else {
            continue;
        };
        let known_root = catalogue.root_of(&spec.agent, &spec.path)?;
        let archive = keeper.sessions_to_ask_for(catalogue, known_root, spec, format)?;
        let mut scan = scan_root(catalogue, config, spec, format, known_root, archive, now_ms)?;
        let files = scan.files();
        let (discovery, known) = (&mut scan.discovery, &scan.known);
        let number = match known_root {
            Some(number) => number,
            // A place that never existed leaves no row.
            None if discovery.error.is_some() && !spec.path.exists() && !keeper.has_any(spec) => {
                continue;
            }
            None => catalogue.ensure_root(spec)?,
        };
        let device = catalogue.root_device(number)?;
        if discovery.error.is_none()
            && discovery.found.is_empty()
            && !known.is_empty()
            && device.is_some_and(|d| d != discovery.device)
        {
            discovery.error = Some("empty, and on another device than before: not mounted?".into());
        }
        if let Some(error) = &discovery.error {
            let path = spec.path.display();
            let note = format!("{path}: {error}; what is known of it is kept");
            report.notes.push(note);
        }
        report.notes.extend(discovery.unread_notes(&spec.path));
        report.files_unreadable += unreadable(spec, discovery);
        report.files_seen += files;
        let root = SyncedRoot {
            number,
            spec,
            format,
        };
        let mut archived = keeper.archived(root, &scan.discovery, &scan.known);
        let asked = keeper.add_gone_before(catalogue, root, &scan.discovery, &mut archived)?;
        archived.retain(|gone| !scan.left_out.holds(&gone.found.session_key));
        scanned.push(ScannedRoot {
            root,
            scan,
            archived,
            asked,
        });
    }
    Ok(scanned)
}

/// What is to be done: the sources to read, newest first, and those that are gone, by root.
struct SyncPlan<'a> {
    plans: Vec<SourcePlan<'a>>,
    gone_by_root: Vec<Vec<&'a StoredSource>>,
}

impl SyncPlan<'_> {
    /// How many files have changed.
    fn changed(&self) -> u64 {
        let gone: usize = self.gone_by_root.iter().map(Vec::len).sum();
        (self.plans.len() + gone) as u64
    }
}

/// Hold what was found against what is known.
fn plan_scanned<'a>(
    targets: SyncTargets<'_>,
    scanned: &'a [ScannedRoot<'a>],
) -> Result<SyncPlan<'a>, Error> {
    let (mut plans, mut gone_by_root) = (Vec::new(), Vec::with_capacity(scanned.len()));
    for at in scanned {
        let (discovery, known) = (&at.scan.discovery, &at.scan.known);
        let work = plan_root(targets, at.root, discovery, known, &at.archived, |_| true)?;
        plans.extend(work.plans);
        gone_by_root.push(work.gone);
    }
    // What a person looks for is most often recent.
    plans.sort_by_key(|plan| std::cmp::Reverse(plan.mtime_ns));
    Ok(SyncPlan {
        plans,
        gone_by_root,
    })
}

/// Write what was found: of the roots, then of each file. A transaction is open before and after.
fn write(
    targets: SyncTargets<'_>,
    config: &Config,
    scanned: &[ScannedRoot<'_>],
    work: SyncPlan<'_>,
    now_ms: i64,
    progress: &mut dyn FnMut(Event),
    report: &mut Report,
) -> Result<(), Error> {
    let SyncTargets { catalogue, keeper } = targets;
    let has_changed = work.changed() > 0;
    let mut stale: OutdatedSessions<'_> = BTreeMap::new();
    let archive_has_changed = keeper.note_changes_since(catalogue)?;
    for (at, gone) in scanned.iter().zip(&work.gone_by_root) {
        let root = at.root;
        let left_out = &at.scan.left_out;
        // A catalogue that is new does not know what was kept before that was excluded, nor does
        // any what another index has kept.
        let is_known = !archive_has_changed && catalogue.excluded(root.number)? == left_out.by_key;
        if !(is_known || left_out.by_key.is_empty()) {
            let is_out = |key: &str| left_out.holds(key);
            keeper.forget_left_out(catalogue, root, is_out, &config.formats)?;
        }
        note_root(targets, at, report)?;
        for nowhere in keeper.prepare(catalogue, root, report)? {
            remove_source(catalogue, nowhere, root.format, &mut stale, report)?;
        }
        // Until all of it is in, what is in these directories is not known to be as it was.
        if has_changed {
            catalogue.doubt_folders(root.number, &at.scan.discovery.read)?;
        }
        for gone in gone {
            remove_source(catalogue, gone.source, root.format, &mut stale, report)?;
        }
    }
    let cancel = &config.cancel;
    let roots: Vec<SyncedRoot<'_>> = scanned.iter().map(|at| at.root).collect();
    let plans = &work.plans;
    let doubtful = read_all(targets, &roots, plans, stale, cancel, progress, report)?;
    if cancel.is_cancelled() {
        return Ok(());
    }
    for at in scanned {
        if let Some(forgets) = at.asked {
            catalogue.note_asked(at.root.number, forgets)?;
        }
    }
    let doubtful = doubtful.into_iter().map(|at| {
        let plan = &work.plans[at];
        (plan.root, parent(plan.relative).to_owned())
    });
    let doubtful: HashSet<(i64, String)> = doubtful.collect();
    for at in scanned {
        if at.scan.discovery.error.is_none() && config.rules.exclude().is_empty() {
            let (root, scan) = (at.root, &at.scan);
            scan.note_folders(catalogue, root.number, root.format, now_ms, &doubtful)?;
        }
    }
    catalogue.note_scan(now_ns() / 1_000_000, has_changed)
}

/// Store what was found of a root besides its sources.
fn note_root(
    SyncTargets { catalogue, keeper }: SyncTargets<'_>,
    scanned: &ScannedRoot<'_>,
    report: &mut Report,
) -> Result<(), Error> {
    let (root, spec, scan) = (scanned.root.number, scanned.root.spec, &scanned.scan);
    catalogue.ensure_root(spec)?;
    let discovery = &scan.discovery;
    let mut foreign_files = discovery.foreign_files.clone();
    foreign_files.extend(scan.foreign_files_kept(catalogue, root)?);
    foreign_files.extend(discovery.unreadable.iter().cloned());
    let foreign_files = ForeignFile::one_a_path(foreign_files);
    for reason in [NOT_FOLLOWED, ABOVE_A_ROOT] {
        let links = foreign_files.iter().filter(|s| s.reason == reason).count();
        if links as u64 != catalogue.links_not_followed(root, reason)? {
            report.notes.extend(links_note(spec, reason, links));
        }
    }
    let place = (discovery.device, discovery.inode);
    catalogue.note_root(root, place, discovery.error.as_deref(), &foreign_files)?;
    if discovery.error.is_none() {
        let left = &scan.left_out;
        // Where the archive fails they are still to be forgotten there.
        let (none, has_failed) = (BTreeMap::new(), keeper.has_failed());
        let places = if has_failed { &none } else { &left.by_key };
        catalogue.note_excluded(root, places, left.files)?;
    }
    Ok(())
}

/// How many files and folders of a root could not be read; the root itself counts, too, if it is
/// there. A root that is gone hides nothing.
fn unreadable(spec: &RootSpec, discovery: &Discovery) -> u64 {
    let root = discovery.error.is_some() && !discovery.root_is_gone(&spec.path);
    discovery.unreadable.len() as u64 + u64::from(root)
}

/// The note about links below a root that are not followed, made when they are found for the first
/// time.
pub(super) fn links_note(spec: &RootSpec, reason: &str, links: usize) -> Option<String> {
    let path = spec.path.display();
    match links {
        0 => None,
        1 if reason == ABOVE_A_ROOT => Some(format!(
            "{path}: a link to a folder that contains a root is not followed"
        )),
        _ if reason == ABOVE_A_ROOT => Some(format!(
            "{path}: {links} links to folders that contain a root are not followed"
        )),
        1 => Some(format!(
            "{path}: a link that leads out of the roots is not followed; --follow-links follows it"
        )),
        _ => Some(format!(
            "{path}: {links} links that lead out of the roots are not followed; --follow-links follows them"
        )),
    }
}

/// How many files a sync would read. This reads the catalogue and the directories and writes
/// nothing.
pub fn count_pending(catalogue: &Catalogue, config: &Config) -> Result<u64, Error> {
    let mut pending = 0;
    for spec in &config.roots {
        let Some(format) = config.format(&spec.format) else {
            continue;
        };
        let root = catalogue.root_of(&spec.agent, &spec.path)?;
        let now_ms = now_ns() / 1_000_000;
        let found = scan_root(
            catalogue,
            config,
            spec,
            format,
            root,
            HashSet::new(),
            now_ms,
        )?;
        let root = SyncedRoot {
            // Nothing is known yet of one that has no number, and nothing is read here.
            number: root.unwrap_or_default(),
            spec,
            format,
        };
        let work = plan(root, &found.discovery, &found.known);
        pending += (work.plans.len() + work.gone.len()) as u64;
        pending += unreadable(spec, &found.discovery);
    }
    Ok(pending)
}

pub(super) fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
