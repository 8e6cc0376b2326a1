//! What has changed at the paths that hints name? A sync of these paths only.

use std::collections::BTreeSet;
use std::iter::repeat_n;
use std::path::Path;
use std::time::Instant;

use super::beside::{doubt_directories, doubt_names};
use super::exclude::is_enough;
use super::keep::{ArchivedSource, placement};
use super::listed::{DatabaseListing, Look};
use super::names::{FOLDER, NamesToList};
use super::plan::{SourcePlan, plan_root};
use super::sync::{OutdatedSessions, links_note, ms, read_all, remove_source};
use super::targets::{SyncTargets, SyncedRoot};
use crate::archive::twin;
use crate::catalogue::read::StoredSource;
use crate::catalogue::{Catalogue, Error};
use crate::config::Config;
use crate::format::Format;
use crate::format::names::is_beside_root;
use crate::model::Report;
use crate::source::discover::{
    Discovery, ForeignFile, FoundSource, discover_at, hinted, outermost, relative,
};
use crate::source::identity::{Identity, now_ns};
use crate::source::links::{ABOVE_A_ROOT, NOT_FOLLOWED};
use crate::source::root::RootSpec;

/// Paths below one root at which something may have changed.
#[derive(Debug)]
pub struct HintedPaths<'a> {
    /// The root.
    pub spec: &'a RootSpec,
    /// Paths below it.
    pub paths: BTreeSet<String>,
    /// Prove racy files again, though nothing at them says that they changed.
    pub prove: bool,
}

/// What a sync of hints leaves to be done.
#[derive(Debug, Default)]
pub struct RemainingHints {
    /// Roots that must be scanned as a whole, by their position in the list.
    pub whole: Vec<usize>,
    /// Files read so soon after a change that only a further notification would tell of another
    /// one.
    pub racy: Vec<(usize, String)>,
    /// Racy files with such a notification, though they look the same. They may be proven later.
    pub doubted: Vec<(usize, String)>,
}

/// A root's hints with what is there and what was.
struct HintScan<'a> {
    at: usize,
    root: SyncedRoot<'a>,
    paths: BTreeSet<String>,
    discovery: Discovery,
    known: Vec<StoredSource>,
    /// What is read from the archive, because its file is gone.
    archived: Vec<ArchivedSource>,
    /// Foreign files that are stored there, where others are there now.
    old_foreign_files: Option<Vec<ForeignFile>>,
    foreign_files: Vec<ForeignFile>,
}

/// Bring the catalogue up to the files at these paths.
pub fn sync_hints(
    targets: SyncTargets<'_>,
    config: &Config,
    hinted: &[HintedPaths<'_>],
    report: &mut Report,
) -> Result<RemainingHints, Error> {
    let SyncTargets { catalogue, keeper } = targets;
    catalogue.doubt_remotes();
    // Reads are in the same transaction as writes, because each read by itself would take and
    // release locks.
    catalogue.transaction(|| {
        let started = Instant::now();
        let mut left = RemainingHints::default();
        let mut all = Vec::with_capacity(hinted.len());
        for (at, hint) in hinted.iter().enumerate() {
            let Some(format) = config.format(&hint.spec.format) else {
                continue;
            };
            match scan_paths(targets, config, at, hint, format)? {
                Some(scan) => all.push(scan),
                None => left.whole.push(at),
            }
        }
        report.ms.discover += ms(started);
        let started = Instant::now();
        let work = plan_hinted(targets, hinted, &all, &mut left, report)?;
        let changed = (work.plans.len() + work.gone.len()) as u64;
        report.files_changed += changed;
        if changed == 0 && all.iter().all(|scan| scan.old_foreign_files.is_none()) {
            return Ok(left);
        }
        for scan in &all {
            replace_foreign_files(catalogue, scan, report)?;
            catalogue.doubt_folders_at(scan.root.number, &scan.paths)?;
        }
        let mut stale: OutdatedSessions<'_> = OutdatedSessions::new();
        for (known, format) in work.gone {
            remove_source(catalogue, known.source, format, &mut stale, report)?;
        }
        let (plans, cancel) = (&work.plans, &config.cancel);
        let roots: Vec<SyncedRoot<'_>> = all.iter().map(|scan| scan.root).collect();
        let racy = read_all(targets, &roots, plans, stale, cancel, &mut |_| {}, report)?;
        keeper.tell(report);
        catalogue.note_some()?;
        let file = |at: usize| (work.root_of_plan[at], plans[at].relative.to_owned());
        left.racy.extend(racy.into_iter().map(file));
        report.ms.catalogue += ms(started);
        Ok(left)
    })
}

/// What the hints make necessary: the sources to read, and those that are gone.
struct HintPlan<'a> {
    plans: Vec<SourcePlan<'a>>,
    /// The place in the list of hints of each plan's root.
    root_of_plan: Vec<usize>,
    gone: Vec<(&'a StoredSource, &'a dyn Format)>,
}

/// Hold what was found against what is known. Files that look as they did when they were read
/// become `left.doubted`.
fn plan_hinted<'a>(
    targets: SyncTargets<'_>,
    hinted: &[HintedPaths<'_>],
    all: &'a [HintScan<'_>],
    left: &mut RemainingHints,
    report: &mut Report,
) -> Result<HintPlan<'a>, Error> {
    let (mut plans, mut root_of_plan, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    for scan in all {
        let discovery = &scan.discovery;
        report.files_seen += discovery.found.len() as u64;
        report.files_unreadable += discovery.unreadable.len() as u64;
        let notes = discovery.unread_notes(&scan.root.spec.path);
        report.notes.extend(notes);
        let passes = |plan: &SourcePlan<'_>| {
            let is_doubted = !hinted[scan.at].prove && looks_the_same(plan, scan);
            if is_doubted {
                left.doubted.push((scan.at, plan.relative.to_owned()));
            }
            !is_doubted
        };
        let (root, archived) = (scan.root, &scan.archived);
        let work = plan_root(targets, root, discovery, &scan.known, archived, passes)?;
        root_of_plan.extend(repeat_n(scan.at, work.plans.len()));
        plans.extend(work.plans);
        let lost = work.gone.into_iter();
        gone.extend(lost.map(|known| (known, root.format)));
    }
    Ok(HintPlan {
        plans,
        root_of_plan,
        gone,
    })
}

/// Store the foreign files that are there now, if others were stored, and report links that are
/// new.
fn replace_foreign_files(
    catalogue: &Catalogue,
    scan: &HintScan<'_>,
    report: &mut Report,
) -> Result<(), Error> {
    let Some(old) = &scan.old_foreign_files else {
        return Ok(());
    };
    for reason in [NOT_FOLLOWED, ABOVE_A_ROOT] {
        let is_new = |foreign_file: &&ForeignFile| {
            foreign_file.reason == reason && !old.contains(foreign_file)
        };
        let links = scan.foreign_files.iter().filter(is_new).count();
        report
            .notes
            .extend(links_note(scan.root.spec, reason, links));
    }
    catalogue.replace_foreign_files(scan.root.number, old, &scan.foreign_files)
}

/// Compare what is at the hinted paths of one root with what is stored. `None`: the whole root has
/// to be scanned.
fn scan_paths<'a>(
    SyncTargets { catalogue, keeper }: SyncTargets<'_>,
    config: &Config,
    at: usize,
    hint: &HintedPaths<'a>,
    format: &'static dyn Format,
) -> Result<Option<HintScan<'a>>, Error> {
    let spec = hint.spec;
    // The root itself has no path below itself.
    if hint.paths.contains("") {
        return Ok(None);
    }
    let stored = catalogue.root_of(&spec.agent, &spec.path)?;
    let device = match stored {
        Some(root) => {
            // What the root is called or how it is read may have changed.
            if !catalogue.root_is_as(root, spec)? {
                return Ok(None);
            }
            catalogue.root_device(root)?
        }
        None => None,
    };
    let mut paths = outermost(&paths_below(hint, format));
    let links = config.links(spec);
    let found = discover_at(&spec.path, spec.flat, format, &links, device, &paths);
    let Some(mut discovery) = found else {
        return Ok(None);
    };
    // Of one that is new nothing is stored unless something is found there.
    let number = match stored {
        Some(number) => number,
        None => catalogue.ensure_root(spec)?,
    };
    let root = SyncedRoot {
        number,
        spec,
        format,
    };
    let mut known = catalogue.known_at(number, &paths)?;
    if !add_sessions(catalogue, root, &known, &mut discovery)? {
        return Ok(None);
    }
    let below = outermost(&hinted_paths(hint, format));
    if add_names(catalogue, root, hint, &known, &mut discovery)? {
        paths.insert(FOLDER.to_owned());
        known = catalogue.known_at(number, &paths)?;
    }
    doubt_directories(catalogue, spec, format, &discovery, &mut known)?;
    doubt_names(catalogue, spec, format, &discovery, &mut known)?;
    let exclude = config.rules.exclude();
    if !exclude.is_empty() && !is_enough(catalogue, root, exclude, &below, &discovery, &known)? {
        return Ok(None);
    }
    let mut foreign_files = discovery.foreign_files.clone();
    foreign_files.extend(discovery.unreadable.iter().cloned());
    let foreign_files = ForeignFile::one_a_path(foreign_files);
    let stored = catalogue.foreign_files_at(number, &paths)?;
    Ok(Some(HintScan {
        archived: keeper.archived(root, &discovery, &known),
        at,
        root,
        paths,
        known,
        old_foreign_files: (stored != foreign_files).then_some(stored),
        foreign_files,
        discovery,
    }))
}

/// The paths below the root to look at: those that the hint names, and those that depend on them.
/// Of a file and its compressed twin only one is a source, so both are looked at; a file that holds
/// the working directory of others brings in their folder.
fn paths_below(hint: &HintedPaths<'_>, format: &dyn Format) -> BTreeSet<String> {
    let spec = hint.spec;
    let mut all = hinted_paths(hint, format);
    let is_source = |path: &String| placement(spec, format, path).is_some();
    let twins = all.iter().map(|path| twin(path)).filter(is_source);
    let folders = all.iter().filter_map(|path| {
        let folder = format.folder_beside(Path::new(path))?;
        relative(&folder)
    });
    let more: Vec<String> = twins.chain(folders).collect();
    all.extend(more);
    all
}

/// The paths of a hint alone. What lies beside the root is looked at for itself.
fn hinted_paths(hint: &HintedPaths<'_>, format: &dyn Format) -> BTreeSet<String> {
    let hints = hint.paths.iter().filter(|path| !is_beside_root(path));
    let hints = hints.filter_map(|path| hinted(format, hint.spec.flat, path));
    hints.collect()
}

/// Add the sessions of databases. `false`: one came into a database or left it beside which there
/// is a folder of documents, which may count no longer, or again.
fn add_sessions(
    catalogue: &Catalogue,
    root: SyncedRoot<'_>,
    known: &[StoredSource],
    discovery: &mut Discovery,
) -> Result<bool, Error> {
    let SyncedRoot {
        number,
        spec,
        format,
    } = root;
    let databases = DatabaseListing {
        catalogue,
        root: Some(number),
        spec,
        format,
        known,
        look: Look::Changes,
    };
    databases.add_to(discovery)?;
    let documents = format
        .about()
        .database
        .and_then(|database| database.documents);
    let Some(folder) = documents.map(|documents| documents.folder) else {
        return Ok(true);
    };
    let has_changed = |relative: &str| {
        let was_there = StoredSource::find(known, relative).is_some_and(|k| k.gone_ms.is_none());
        discovery.source(relative).is_some() != was_there
            && !discovery.hides(relative)
            && !Path::new(relative).starts_with(folder)
    };
    let found = discovery.found.iter().map(|found| &found.relative);
    let mut all = found.chain(known.iter().map(|known| &known.relative));
    Ok(!all.any(|relative| has_changed(relative)) || !spec.at(folder).is_dir())
}

/// Add what files beside the root call its sessions, where something may have changed in one of
/// them, or a session has come that one of them may name. `false`: there is no need.
fn add_names(
    catalogue: &Catalogue,
    root: SyncedRoot<'_>,
    hint: &HintedPaths<'_>,
    known: &[StoredSource],
    discovery: &mut Discovery,
) -> Result<bool, Error> {
    let (path, format) = (&root.spec.path, root.format);
    let is_new = |found: &FoundSource| StoredSource::find(known, &found.relative).is_none();
    let are_hinted = || hint.paths.iter().any(|path| is_beside_root(path));
    if format.names(path).is_none() || !are_hinted() && !discovery.found.iter().any(is_new) {
        return Ok(false);
    }
    NamesToList::all(path, format).list(catalogue, Some(root.number), path, discovery)?;
    Ok(true)
}

/// The file is as it was when it was read, and was read so soon after a change that this proves
/// nothing.
fn looks_the_same(plan: &SourcePlan<'_>, scan: &HintScan<'_>) -> bool {
    let (Some(known), Some(found)) = (plan.known, scan.discovery.source(plan.relative)) else {
        return false;
    };
    let stored = &known.stored;
    !known.unread
        && known.unlisted == plan.unlisted
        && stored.racy
        && stored.identity == found.identity
        && stored.revision == scan.root.format.about().revision
}

/// Settle racy files: every change of them was notified, and there was none since they were read,
/// so their content needs no further proof. Gives back the files for which it is still too early.
pub fn settle<'a>(
    catalogue: &Catalogue,
    roots: &[RootSpec],
    racy: impl IntoIterator<Item = &'a (usize, String)>,
) -> Result<Vec<(usize, String)>, Error> {
    let mut early = Vec::new();
    let mut settled = Vec::new();
    for (at, relative) in racy {
        let Some(spec) = roots.get(*at) else {
            continue;
        };
        let Some(root) = catalogue.root_of(&spec.agent, &spec.path)? else {
            continue;
        };
        let Ok(metadata) = std::fs::metadata(spec.at(relative)) else {
            continue;
        };
        let identity = Identity::of(&metadata);
        let paths = BTreeSet::from([relative.clone()]);
        for known in catalogue.known_at(root, &paths)? {
            match known.stored.identity == identity && known.stored.racy {
                true if identity.is_racy(now_ns()) => early.push((*at, relative.clone())),
                true => settled.push((known.source, identity)),
                false => {}
            }
        }
    }
    if settled.is_empty() {
        return Ok(early);
    }
    catalogue.transaction(|| {
        for (source, identity) in settled {
            catalogue.note_identity(source, &identity, false)?;
        }
        Ok(early)
    })
}
