//! Which sources must be read: what is found × what is known.

use std::path::{Path, PathBuf};

use crate::catalogue::read::Known;
use crate::format::Format;
use crate::model::Part;
use crate::source::checkpoint::{Decision, decide};
use crate::source::discover::{Discovery, Found};

/// One source to be looked into.
pub struct Plan<'a> {
    /// Number of the root.
    pub root: i64,
    /// Where the file is.
    pub path: PathBuf,
    /// Path below the root.
    pub relative: &'a str,
    /// Key of its session below the root.
    pub place: &'a str,
    /// Which part of the session it is.
    pub part: Part,
    /// Why the agent would not list it.
    pub unlisted: Option<String>,
    /// The format that reads it.
    pub format: &'a dyn Format,
    /// What is known of it.
    pub known: Option<&'a Known>,
    /// Size as found.
    pub size: u64,
    /// Modification time as found: newest first.
    pub mtime_ns: i64,
}

/// The work of one root: sources to read, and sources that are gone.
#[derive(Default)]
pub struct Work<'a> {
    /// To be looked into.
    pub plans: Vec<Plan<'a>>,
    /// Known and no longer there.
    pub gone: Vec<&'a Known>,
}

/// Compare what was found with what is known; both are sorted by path.
pub fn plan<'a>(
    root: i64,
    path: &Path,
    format: &'a dyn Format,
    discovery: &'a Discovery,
    known: &'a [Known],
) -> Work<'a> {
    let mut work = Work::default();
    let by_path: std::collections::HashMap<&str, &Known> =
        known.iter().map(|k| (k.relative.as_str(), k)).collect();
    let mut seen = std::collections::HashSet::with_capacity(discovery.found.len());
    for found in &discovery.found {
        seen.insert(found.relative.as_str());
        let known = by_path.get(found.relative.as_str()).copied();
        if is_current(known, found, format) {
            continue;
        }
        work.plans.push(Plan {
            root,
            path: path.join(&found.relative),
            relative: &found.relative,
            place: &found.place,
            part: found.part,
            unlisted: found.unlisted.clone(),
            format,
            known,
            size: found.identity.size,
            mtime_ns: found.identity.mtime_ns,
        });
    }
    work.gone = known
        .iter()
        .filter(|k| !seen.contains(k.relative.as_str()) && !discovery.hides(&k.relative))
        .collect();
    work
}

fn is_current(known: Option<&Known>, found: &Found, format: &dyn Format) -> bool {
    known.is_some_and(|k| {
        !k.unread
            && k.unlisted == found.unlisted
            && decide(
                Some(&k.stored),
                &found.identity,
                format.write_mode(),
                format.revision(),
            ) == Decision::Unchanged
    })
}
