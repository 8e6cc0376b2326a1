//! What became of these files? They alone are looked at: no walk, and no look at any other file.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::cancel::Cancel;
use super::exclude::leave_out;
use super::plan::{Work, plan};
use super::sync::{Stale, read_all};
use crate::catalogue::{Catalogue, Error, read::Known};
use crate::format::Format;
use crate::index::RootSpec;
use crate::model::{Part, Report};
use crate::source::discover::{Discovery, discover_files, slashed};
use crate::source::exclude::Exclude;
use crate::source::folders::parent;

/// What was found of one root.
struct Seen<'a> {
    spec: &'a RootSpec,
    format: &'a dyn Format,
    root: i64,
    /// As given, found or not.
    relative: BTreeSet<String>,
    discovery: Discovery,
    known: Vec<Known>,
}

/// Bring the catalogue up to these files, wherever below `roots` they lie. Those that are gone take their rows with
/// them; those that are no sources, and those below no root, are left to the next look at everything.
pub fn sync_files(
    catalogue: &Catalogue,
    roots: &[RootSpec],
    formats: &[&'static dyn Format],
    exclude: &Exclude,
    cancel: &Cancel,
    files: &[PathBuf],
    report: &mut Report,
) -> Result<(), Error> {
    let mut seen = Vec::new();
    for spec in roots {
        if let Some(format) = formats.iter().find(|f| f.name() == spec.format) {
            seen.extend(look(catalogue, spec, *format, exclude, files, report)?);
        }
    }
    let mut work: Work<'_> = Work::default();
    let mut gone = Vec::new();
    for seen in &seen {
        let Seen {
            spec, format, root, ..
        } = seen;
        let mut of_root = plan(*root, &spec.path, *format, &seen.discovery, &seen.known);
        work.plans.append(&mut of_root.plans);
        gone.extend(of_root.gone.into_iter().map(|known| (known, *format)));
    }
    for plan in &mut work.plans {
        if let Some(known) = plan.known {
            plan.checkpoint = catalogue.checkpoint(known.source)?;
        }
    }
    let changed = work.plans.len() + gone.len();
    report.files_changed += changed as u64;
    if changed == 0 {
        return Ok(());
    }
    catalogue.begin()?;
    let result = (|| {
        let mut stale: Stale<'_> = BTreeMap::new();
        for seen in &seen {
            // What else lies in these directories is for the next look at everything.
            let folders = seen.relative.iter().map(|file| parent(file).to_owned());
            let folders: Vec<_> = folders.map(|folder| (folder, Vec::new())).collect();
            catalogue.doubt_folders(seen.root, &folders)?;
        }
        for (known, format) in gone {
            let (vanished, left) = catalogue.remove_source(known.source)?;
            report.vanished += u64::from(vanished);
            stale.extend(left.into_iter().map(|session| (session, format)));
        }
        read_all(catalogue, &work.plans, stale, cancel, &mut |_| {}, report)
    })();
    if let Err(error) = result {
        catalogue.rollback();
        return Err(error);
    }
    catalogue.commit()
}

/// What there is and what is known of those of the files that lie below a root.
fn look<'a>(
    catalogue: &Catalogue,
    spec: &'a RootSpec,
    format: &'a dyn Format,
    exclude: &Exclude,
    files: &[PathBuf],
    report: &mut Report,
) -> Result<Option<Seen<'a>>, Error> {
    let below = |file: &'_ PathBuf| file.strip_prefix(&spec.path).ok().map(Path::to_path_buf);
    let below: Vec<PathBuf> = files.iter().filter_map(below).collect();
    let is_in = |file: &&Path| !spec.flat || file.components().count() == 1;
    let below: BTreeSet<&Path> = below.iter().map(|file| &**file).filter(is_in).collect();
    if below.is_empty() {
        return Ok(None);
    }
    let mut discovery = discover_files(&spec.path, spec.flat, format, &below);
    report.files_seen += discovery.found.len() as u64;
    report.files_unreadable += discovery.unreadable.len() as u64;
    for unread in &discovery.unreadable {
        let path = spec.path.join(&unread.relative);
        let note = format!("{}: {}", path.display(), unread.reason);
        report.notes.push(note);
    }
    let root = catalogue.root_of(&spec.agent, &spec.path)?;
    leave_out(catalogue, root, spec, format, exclude, &mut discovery)?;
    if !exclude.is_empty() {
        pass_over_strangers(catalogue, root, &mut discovery)?;
    }
    let root = match root {
        Some(root) => root,
        None if discovery.found.is_empty() => return Ok(None),
        None => catalogue.ensure_root(spec)?,
    };
    let relative: BTreeSet<String> = below
        .iter()
        .filter_map(|file| file.to_str().map(slashed))
        .collect();
    let mut known = Vec::new();
    for file in &relative {
        known.extend(catalogue.known_source(root, file)?);
    }
    Ok(Some(Seen {
        spec,
        format,
        root,
        relative,
        discovery,
        known,
    }))
}

/// Files of sessions whose main file is neither known nor among these: only that one tells whether they are excluded, and
/// the next look at everything asks it.
fn pass_over_strangers(
    catalogue: &Catalogue,
    root: Option<i64>,
    discovery: &mut Discovery,
) -> Result<(), Error> {
    let mut places = match root {
        Some(root) => catalogue.places(root)?,
        None => HashSet::new(),
    };
    let main = discovery.found.iter().filter(|f| f.part == Part::Main);
    places.extend(main.map(|found| found.place.clone()));
    discovery
        .found
        .retain(|found| places.contains(&found.place));
    Ok(())
}
