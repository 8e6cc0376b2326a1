//! What is in one file, wherever it lies? Catalogued in memory for one answer; nothing of it is
//! kept.

use std::path::Path;

use super::plan::SourcePlan;
use super::reading::{Cost, read_source};
use crate::catalogue::{Catalogue, Error};
use crate::databases::{KnownIdentities, store};
use crate::format::{About, Format, Shape};
use crate::model::Placement;
use crate::source::content::file_name;
use crate::source::root::RootSpec;

/// Why no agent lists it.
const OUTSIDE: &str = "outside the folders that are scanned";
/// Of sessions that are in no index.
const NOTHING_KNOWN: KnownIdentities<'_> = KnownIdentities {
    of: &|_| None,
    stand: false,
};

/// Read the file with the format in which it is most of a session: one with a header that its agent
/// lists, else one with a header, else one with any entry. `None` when it holds no entry in any
/// format.
pub fn catalogue_file(
    path: &Path,
    formats: &[&'static dyn Format],
) -> Result<std::io::Result<Option<(Catalogue, RootSpec)>>, Error> {
    let mut best: Option<(u8, Catalogue, RootSpec)> = None;
    // A document is read as a whole: no format of documents looks at what is none of its own.
    let may_read = |format: &dyn Format| {
        format.shape_of(path) == Shape::Lines
            || !matches!(
                format.place(path, false),
                Placement::Ignore(_) | Placement::Database
            )
    };
    // The first dialect of a format stands for all, because the file does not say whose it is.
    let is_first = |about: About| about.family == about.name;
    let may_read = |format: &&&dyn Format| is_first(format.about()) && may_read(**format);
    for format in formats.iter().filter(may_read) {
        let within = match whole_session(path, *format) {
            Whole::Session(key) => Some(key),
            Whole::Nothing => continue,
            Whole::None => None,
        };
        let (catalogue, root, worth) = match read_as(path, within.as_deref(), *format)? {
            Ok(read) => read,
            Err(error) => return Ok(Err(error)),
        };
        if worth > best.as_ref().map_or(0, |(worth, ..)| *worth) {
            best = Some((worth, catalogue, root));
        }
    }
    Ok(Ok(best.map(|(_, catalogue, root)| (catalogue, root))))
}

/// What a document is that may hold a session as its agent exports it.
enum Whole {
    /// The session of this key.
    Session(String),
    /// It holds none.
    Nothing,
    /// It is no such document.
    None,
}

fn whole_session(path: &Path, format: &dyn Format) -> Whole {
    let documents = format.about().database.filter(|_| !path.is_dir());
    let Some(documents) = documents.and_then(|database| store(path, database)) else {
        return Whole::None;
    };
    let listed = documents.list(NOTHING_KNOWN).unwrap_or_default();
    match listed.into_keys().next() {
        Some(key) => Whole::Session(key),
        None => Whole::Nothing,
    }
}

/// Read the file, or the session of that key within it.
fn read_as(
    path: &Path,
    within: Option<&str>,
    format: &'static dyn Format,
) -> Result<std::io::Result<(Catalogue, RootSpec, u8)>, Error> {
    let spec = RootSpec {
        flat: true,
        ..RootSpec::new(format.about().name, path.parent().unwrap_or(path))
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (path, name) = match within.map(file_name) {
        Some(session) => (path.join(&session), format!("{name}/{session}")),
        None => (path.to_path_buf(), name.into_owned()),
    };
    let catalogue = Catalogue::in_memory()?;
    let (root, key) = (catalogue.ensure_root(&spec)?, within.unwrap_or(&name));
    let plan = SourcePlan {
        unlisted: Some(OUTSIDE.to_owned()),
        ..SourcePlan::whole(root, path.into(), &name, key, format)
    };
    let mut worth = 0;
    let mut applied = Ok(());
    let (mut buffer, mut cost) = (Vec::new(), Cost::default());
    catalogue.begin()?;
    let read = read_source(&plan, &mut buffer, &mut cost, &mut |chunk, _| {
        worth = match (&chunk.shown.header, &chunk.shown.hidden) {
            (Some(_), None) => 3,
            (Some(_), Some(_)) => 2,
            (None, _) if chunk.shown.entries > 0 => 1,
            (None, _) => worth,
        };
        if applied.is_ok() {
            applied = catalogue
                .apply(&chunk, format)
                .and_then(|stale| match stale {
                    Some(session) => catalogue.refold_session(session, format),
                    None => Ok(()),
                });
        }
    });
    applied?;
    catalogue.commit()?;
    Ok(read.map(|_| (catalogue, spec, worth)))
}
