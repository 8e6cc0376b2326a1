//! Which files are excluded? They are not stored, and what was stored of them is removed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::beside::{cwd_held, cwd_listed};
use super::keep::{Keeper, with_twins};
use super::targets::{SyncTargets, SyncedRoot};
use crate::archive::SourcePath;
use crate::catalogue::excluded::ExcludedSource;
use crate::catalogue::read::StoredSource;
use crate::catalogue::{Catalogue, Error};
use crate::config::Config;
use crate::format::{Format, Shape, format_named};
use crate::model::{Fold, SourcePart};
use crate::source::checkpoint::hash;
use crate::source::content::Location;
use crate::source::discover::{Discovery, ForeignFile, FoundSource};
use crate::source::exclude::{Exclude, ExcludedFiles};
use crate::source::fingerprints::DirectoryFingerprint;
use crate::source::identity::Identity;
use crate::source::root::RootSpec;

/// In a file of lines, the header is searched only in the first so many bytes.
const MOST_HEADER: u64 = 64 << 10;
/// A document is read as a whole, up to this length.
const MOST_DOCUMENT: u64 = 16 << 20;

/// Why a session is not read that a list may exclude.
const UNREAD_LIST: &str = "its directory may stand in a list that cannot be read, and be excluded";

/// What was left out of a scan.
#[derive(Debug, Default)]
pub struct ExclusionResult {
    /// Files, sources or not.
    pub files: u64,
    /// Sessions left out by their working directory, and those with parts that are left out only
    /// as such: hash of the key, and the main sources, or the part, as they are.
    pub by_key: BTreeMap<i64, DirectoryFingerprint>,
}

impl ExclusionResult {
    /// Whether the session of this key is one of those.
    pub fn holds(&self, session_key: &str) -> bool {
        self.by_key.contains_key(&hash_of(session_key))
    }
}

/// Take what is excluded out of a discovery of all files below a root.
///
/// The beginning of a session that is not catalogued yet is read for its working directory, so that
/// nothing of an excluded session is stored even for a moment. If the beginning does not say it,
/// [`sweep`] finds it later. Where a list may say it that cannot be read, the session is not read
/// until it can.
pub fn leave_out(
    catalogue: &Catalogue,
    root: Option<i64>,
    spec: &RootSpec,
    format: &dyn Format,
    exclude: &Exclude,
    discovery: &mut Discovery,
) -> Result<ExclusionResult, Error> {
    let mut left = ExclusionResult::default();
    if exclude.is_empty() {
        return Ok(left);
    }
    let files = ExcludedFiles::by(exclude);
    let is_in = |foreign_file: &ForeignFile| !files.holds_at(&spec.at(&foreign_file.relative));
    let before = discovery.found.len() + discovery.foreign_files.len();
    leave_out_by_files((spec, format), &files, discovery, &mut left);
    discovery.foreign_files.retain(is_in);
    discovery.unreadable.retain(is_in);
    // A place that never existed leaves no row.
    let is_met = root.is_some() || spec.path.exists();
    if discovery.error.is_some() && is_met && files.holds_at(&spec.path) {
        discovery.error = None;
    }
    let (known, remembered) = match root {
        Some(root) => (catalogue.session_keys(root)?, catalogue.excluded(root)?),
        None => (HashSet::new(), BTreeMap::new()),
    };
    let mut new: BTreeMap<&str, Vec<&FoundSource>> = BTreeMap::new();
    for found in &discovery.found {
        if found.part == SourcePart::Main && !known.contains(&found.session_key) {
            new.entry(&found.session_key).or_default().push(found);
        }
    }
    let mut out: HashSet<String> = HashSet::new();
    let mut unknown: HashSet<String> = HashSet::new();
    for (session_key, sources) in new {
        let key = hash_of(session_key);
        match out_by_cwd((spec, format), &files, &sources, remembered.get(&key)) {
            OutByCwd::No => {}
            OutByCwd::Unknown => {
                unknown.insert(session_key.to_owned());
            }
            OutByCwd::Yes(fingerprint) => {
                left.by_key.insert(key, fingerprint);
                out.insert(session_key.to_owned());
            }
        }
    }
    discovery
        .found
        .retain(|found| !out.contains(&found.session_key));
    left.files = (before - discovery.found.len() - discovery.foreign_files.len()) as u64;
    leave_unread(&unknown, discovery);
    Ok(left)
}

/// Take these sessions out, of which nobody knows whether they are excluded.
fn leave_unread(sessions: &HashSet<String>, discovery: &mut Discovery) {
    if sessions.is_empty() {
        return;
    }
    let is_unread = |found: &mut FoundSource| sessions.contains(&found.session_key);
    let unread = discovery.found.extract_if(.., is_unread);
    let unread = unread.map(|found| ForeignFile::unread(found.relative, &UNREAD_LIST));
    discovery.unreadable.extend(unread);
    discovery.unreadable.sort();
}

/// Whether a session is excluded by its working directory.
enum OutByCwd {
    Yes(DirectoryFingerprint),
    No,
    /// A list may say it that cannot be read.
    Unknown,
}

/// Whether a session with these main sources is excluded by its working directory, or was when it
/// had the remembered fingerprint.
fn out_by_cwd(
    (spec, format): (&RootSpec, &dyn Format),
    files: &ExcludedFiles<'_>,
    sources: &[&FoundSource],
    remembered: Option<&DirectoryFingerprint>,
) -> OutByCwd {
    let mut fingerprint = DirectoryFingerprint(0);
    let mut all: Vec<(Location, CwdBeside)> = Vec::new();
    for found in sources {
        let path = Location::from(spec.at(&found.relative));
        let told = CwdBeside::of(&path, format);
        add_source(&mut fingerprint, &found.identity, &told);
        all.push((path, told));
    }
    // What a file beside it says may be something else meanwhile.
    let is_told = all.iter().any(|(_, told)| told.is_decisive());
    if !is_told && remembered == Some(&fingerprint) {
        return OutByCwd::Yes(fingerprint);
    }
    let mut out = OutByCwd::No;
    for (path, told) in all {
        let may_be_listed = matches!(told, CwdBeside::UnreadableList);
        match told.or_own(&path, format) {
            Some(cwd) if files.holds_folder(Path::new(&cwd)) => return OutByCwd::Yes(fingerprint),
            None if may_be_listed => out = OutByCwd::Unknown,
            _ => {}
        }
    }
    out
}

/// Take out what matches, and where nothing else is the main source of a session the other parts of
/// the session, and what lies in the folder that is called like it.
fn leave_out_by_files(
    (spec, format): (&RootSpec, &dyn Format),
    files: &ExcludedFiles<'_>,
    discovery: &mut Discovery,
    left: &mut ExclusionResult,
) {
    let is_out = |found: &FoundSource| files.holds(&spec.at(&found.relative), found.is_link);
    let found = std::mem::take(&mut discovery.found);
    let (out, mut staying): (Vec<_>, Vec<_>) = found.into_iter().partition(is_out);
    let is_main = |found: &&FoundSource| found.part == SourcePart::Main;
    let with_another: HashSet<String> = staying
        .iter()
        .filter(is_main)
        .map(|found| found.session_key.clone())
        .collect();
    let (mut sessions, mut folders) = (HashSet::new(), HashSet::new());
    for found in out.iter().filter(is_main) {
        if !with_another.contains(&*found.session_key) {
            sessions.insert(&*found.session_key);
            folders.extend(format.folder_of(Path::new(&found.relative)));
        }
    }
    staying.retain(|found| {
        let is_part =
            sessions.contains(&*found.session_key) || is_in(Path::new(&found.relative), &folders);
        if is_part {
            let fingerprint = DirectoryFingerprint::of_directory(&found.identity);
            let key = left.by_key.entry(hash_of(&found.session_key));
            key.or_insert(fingerprint);
        }
        !is_part
    });
    discovery.found = staying;
}

pub(super) fn is_in(path: &Path, folders: &HashSet<PathBuf>) -> bool {
    !folders.is_empty()
        && path
            .ancestors()
            .skip(1)
            .any(|above| folders.contains(above))
}

/// Whether what was found at some paths of a root is enough to know what is excluded there: all of
/// it belongs to catalogued sessions, and nothing is gone that was not gone before. Otherwise the
/// whole root has to be scanned.
pub fn is_enough(
    catalogue: &Catalogue,
    root: SyncedRoot<'_>,
    exclude: &Exclude,
    paths: &BTreeSet<String>,
    discovery: &Discovery,
    known: &[StoredSource],
) -> Result<bool, Error> {
    let found = discovery.found.iter().map(|found| &found.relative);
    let met: Vec<&String> = found
        .chain(known.iter().map(|known| &known.relative))
        .collect();
    let is_met = |path: &String| met.iter().any(|met| Path::new(met).starts_with(path));
    let others = discovery.foreign_files.iter().chain(&discovery.unreadable);
    let all = met
        .iter()
        .copied()
        .chain(others.map(|foreign_file| &foreign_file.relative));
    let mut all = all.map(|relative| root.spec.at(relative));
    let files = ExcludedFiles::by(exclude);
    if !paths.iter().all(is_met) || all.any(|path| files.holds_at(&path)) {
        return Ok(false);
    }
    for found in &discovery.found {
        if !catalogue.has_session(root.number, &found.session_key)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What the file beside a source, or a list, says of its working directory.
enum CwdBeside {
    /// There is none: its format has no such files.
    Never,
    /// It says nothing, or is not there.
    Nothing,
    Said(String),
    /// It cannot be read now, and neither is the source.
    Unreadable,
    /// Nothing says it, but a list cannot be read.
    UnreadableList,
}

impl CwdBeside {
    fn of(path: &Path, format: &dyn Format) -> CwdBeside {
        if format.cwd_beside(path).is_none() {
            return CwdBeside::Never;
        }
        let listed = match cwd_held(format, path) {
            Ok(None) => cwd_listed(format, path),
            Ok(Some(cwd)) => return CwdBeside::Said(cwd),
            Err(_) => return CwdBeside::Unreadable,
        };
        match listed {
            Ok(None) => CwdBeside::Nothing,
            Ok(Some(cwd)) => CwdBeside::Said(cwd),
            Err(_) => CwdBeside::UnreadableList,
        }
    }

    /// Whether the source itself is not asked.
    fn is_decisive(&self) -> bool {
        matches!(self, CwdBeside::Said(_) | CwdBeside::Unreadable)
    }

    /// What it says, or what the source's own beginning names, or proves.
    fn or_own(self, path: &Location, format: &dyn Format) -> Option<String> {
        match self {
            CwdBeside::Never => cwd_of_header(path, format),
            CwdBeside::Nothing | CwdBeside::UnreadableList => proven_cwd(path, format),
            CwdBeside::Said(cwd) => Some(cwd),
            CwdBeside::Unreadable => None,
        }
    }
}

/// Adds one of a session's main sources to what has to be the same for it to stay left out. Where a
/// file beside it says so, that has to be there still.
fn add_source(sum: &mut DirectoryFingerprint, identity: &Identity, told: &CwdBeside) {
    let one = DirectoryFingerprint::of_directory(identity).0;
    sum.0 = sum.0.wrapping_add(one);
    if told.is_decisive() {
        sum.0 = sum.0.wrapping_add(1);
    }
}

/// The working directory that a file beside it holds, or that its own beginning names, or proves.
fn cwd_of(path: &Location, format: &dyn Format) -> Option<String> {
    CwdBeside::of(path, format).or_own(path, format)
}

/// The working directory that its header names.
fn cwd_of_header(path: &Location, format: &dyn Format) -> Option<String> {
    let shape = format.shape_of(path);
    let most = match shape {
        Shape::Lines => MOST_HEADER,
        _ => MOST_DOCUMENT,
    };
    let mut bytes = Vec::new();
    path.open(format)
        .ok()?
        .take(most)
        .read_to_end(&mut bytes)
        .ok()?;
    bytes.drain(..format.passed_over(&bytes));
    let records: Vec<&[u8]> = match shape {
        Shape::Lines => bytes.split(|byte| *byte == b'\n').collect(),
        Shape::Elements => {
            let elements = format.elements(path, &bytes)?.into_iter();
            elements.filter_map(|at| bytes.get(at)).collect()
        }
        _ => vec![bytes.as_slice()],
    };
    let mut records = records.into_iter().filter(|record| is_whole(record));
    records
        .find_map(|record| format.facts_at(path, record).header)?
        .cwd
}

/// The working directory that any of its records proves: no more of them are read than the format
/// looks at.
fn proven_cwd(path: &Location, format: &dyn Format) -> Option<String> {
    let mut file = BufReader::new(path.open(format).ok()?.take(MOST_DOCUMENT));
    let mut fold = Fold::default();
    let mut prove = |record: &[u8]| match is_whole(record) {
        true => format.prove_cwd(path, &mut fold, record).break_value(),
        false => None,
    };
    if format.shape_of(path) == Shape::Lines {
        let mut lines = file.split(b'\n').map_while(Result::ok);
        return lines.find_map(|line| prove(&line))?;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let mut elements = format.elements(path, &bytes)?.into_iter();
    elements.find_map(|at| prove(bytes.get(at)?))?
}

fn is_whole(record: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(record).is_ok()
}

fn hash_of(session_key: &str) -> i64 {
    hash(session_key.as_bytes()).cast_signed()
}

/// When what is left out is so by other rules than before: forget what they exclude, and what was
/// left out by the old ones.
pub fn apply(targets: SyncTargets<'_>, config: &Config) -> Result<u64, Error> {
    let catalogue = targets.catalogue;
    let (exclude, rules) = (config.rules.exclude(), config.left_out_by());
    if catalogue.excluded_by()? == rules {
        return Ok(0);
    }
    in_transaction(catalogue, || {
        catalogue.exclude_by(rules)?;
        let gone = remove(targets, exclude, &config.formats, DecidingCwd::First)?;
        let files = ExcludedFiles::by(exclude);
        let foreign_files = catalogue.forget_foreign_files(|path| files.holds_at(path))?;
        if gone + foreign_files > 0 {
            catalogue.request_wipe()?;
        }
        Ok(gone)
    })
}

/// After reading: forget sessions whose working directory turned out to be excluded. How many
/// files.
pub fn sweep(
    targets: SyncTargets<'_>,
    exclude: &Exclude,
    formats: &[&'static dyn Format],
) -> Result<u64, Error> {
    let catalogue = targets.catalogue;
    let excluded = ExcludedFiles::by(exclude);
    let is_out = |cwd: &String| excluded.holds_folder(Path::new(cwd));
    if exclude.is_empty() || !catalogue.working_directories()?.iter().any(is_out) {
        return Ok(0);
    }
    in_transaction(catalogue, || {
        let gone = remove(targets, exclude, formats, DecidingCwd::Last)?;
        catalogue.request_wipe()?;
        Ok(gone)
    })
}

fn in_transaction<T>(
    catalogue: &Catalogue,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    catalogue.keep_more_pages()?;
    catalogue.transaction(work)
}

/// Which working directory of a session decides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DecidingCwd {
    /// The one that is stored, which is the last one of a session that was moved.
    Last,
    /// Also the one that its beginning names, which is read for that.
    First,
}

/// What is excluded of what is stored, and whether that is by its session's working directory.
fn excluded_sources(
    catalogue: &Catalogue,
    files_out: &ExcludedFiles<'_>,
    formats: &[&'static dyn Format],
    deciding: DecidingCwd,
) -> Result<Vec<(ExcludedSource, bool)>, Error> {
    let mut out: Vec<(ExcludedSource, bool)> = Vec::new();
    let mut staying: Vec<(i64, i64)> = Vec::new();
    catalogue.sources_with_sessions(|stored| {
        let by_cwd = !stored.cwd.is_empty() && files_out.holds_folder(Path::new(&stored.cwd));
        if by_cwd || files_out.holds_at(&stored.path) {
            out.push((stored, by_cwd));
        } else if stored.is_main {
            staying.extend(stored.session.map(|session| (session, stored.source)));
        }
    })?;
    let mut began_there = HashSet::new();
    for (session, source) in staying.iter().filter(|_| deciding == DecidingCwd::First) {
        let Some((path, format)) = catalogue.source_place(*source)? else {
            continue;
        };
        let cwd = format_named(formats, &format).and_then(|format| cwd_of(&path, format));
        if cwd.is_some_and(|cwd| files_out.holds_folder(Path::new(&cwd))) {
            began_there.insert(*session);
        }
    }
    let with_another: HashSet<i64> = staying.iter().map(|(session, _)| *session).collect();
    let (mut sessions, mut folders) = (HashSet::new(), HashSet::new());
    for (stored, by_cwd) in out.iter().filter(|(stored, _)| stored.is_main) {
        let alone = stored.session.filter(|one| !with_another.contains(one));
        if let Some(session) = alone.filter(|_| !by_cwd) {
            sessions.insert(session);
            let format = format_named(formats, &stored.format);
            folders.extend(format.and_then(|format| format.folder_of(&stored.path)));
        }
    }
    let known: HashSet<i64> = out.iter().map(|(stored, _)| stored.source).collect();
    if !(began_there.is_empty() && sessions.is_empty()) {
        catalogue.sources_with_sessions(|stored| {
            let is_of = |sessions: &HashSet<i64>| {
                let session = stored.session.as_ref();
                session.is_some_and(|session| sessions.contains(session))
            };
            let by_cwd = is_of(&began_there);
            let is_part = is_of(&sessions) || is_in(&stored.path, &folders);
            if (by_cwd || is_part) && !known.contains(&stored.source) {
                out.push((stored, by_cwd));
            }
        })?;
    }
    Ok(out)
}

/// Remove every source that is excluded, and remember the sessions that are by their working
/// directory.
fn remove(
    SyncTargets { catalogue, keeper }: SyncTargets<'_>,
    exclude: &Exclude,
    formats: &[&'static dyn Format],
    deciding: DecidingCwd,
) -> Result<u64, Error> {
    if exclude.is_empty() {
        return Ok(0);
    }
    let files_out = ExcludedFiles::by(exclude);
    let out = excluded_sources(catalogue, &files_out, formats, deciding)?;
    let mut places: HashMap<i64, BTreeMap<i64, DirectoryFingerprint>> = HashMap::new();
    let mut files: HashMap<i64, u64> = HashMap::new();
    let mut stale: BTreeMap<i64, String> = BTreeMap::new();
    let mut emptied: HashSet<i64> = HashSet::new();
    for (stored, by_cwd) in &out {
        let (vanished, left) = catalogue.remove_source(stored.source)?;
        if vanished {
            emptied.extend(stored.session);
        }
        stale.extend(
            left.into_iter()
                .map(|session| (session, stored.format.clone())),
        );
        *files.entry(stored.root).or_default() += 1;
        if let Some(format) = format_named(formats, &stored.format)
            && *by_cwd
            && stored.is_main
        {
            let root = places.entry(stored.root).or_default();
            let key = hash_of(&stored.session_key);
            let fingerprint = root.entry(key).or_insert(DirectoryFingerprint(0));
            let told = CwdBeside::of(&stored.path, format);
            add_source(fingerprint, &stored.identity, &told);
        }
    }
    let mut kept = archived_places(&out);
    kept.extend(places_with_parts(keeper, &files_out, formats)?);
    keeper.forget(catalogue, &kept, &[], formats)?;
    stale.retain(|session, _| !emptied.contains(session));
    for (session, format) in &stale {
        if let Some(format) = format_named(formats, format) {
            catalogue.refold_session(*session, format)?;
        }
    }
    let roots: BTreeSet<i64> = files.keys().copied().collect();
    for root in roots {
        let mut known = catalogue.excluded(root)?;
        known.extend(places.remove(&root).unwrap_or_default());
        let before = catalogue.excluded_files(root)?;
        let more = files.get(&root).copied().unwrap_or(0);
        catalogue.note_excluded(root, &known, before + more)?;
    }
    // A session of which some files stay keeps its name.
    let gone: HashSet<i64> = out
        .iter()
        .filter_map(|(stored, _)| stored.session)
        .collect();
    let is_gone = |session| gone.contains(&session) && !stale.contains_key(&session);
    catalogue.forget_names(|session, path| is_gone(session) || files_out.holds_at(path))?;
    Ok(out.len() as u64)
}

/// What is in the archive at paths that are excluded, and in the folders that are called like one:
/// a new catalogue knows of no session to which that belongs.
fn places_with_parts(
    keeper: &Keeper,
    files_out: &ExcludedFiles<'_>,
    formats: &[&'static dyn Format],
) -> Result<Vec<SourcePath>, Error> {
    let mut places = keeper.places_at(|path| files_out.holds_at(path))?;
    places.extend(keeper.parts_of(&places, formats)?);
    Ok(places)
}

/// What these sources are called in the archive; of a session that is excluded also what its files
/// were called when they were not compressed, or were.
fn archived_places(out: &[(ExcludedSource, bool)]) -> Vec<SourcePath> {
    let place = |(stored, _): &(ExcludedSource, bool)| stored.kept_as.clone();
    let (sessions, files): (Vec<_>, Vec<_>) = out.iter().partition(|(_, by_cwd)| *by_cwd);
    let sessions: Vec<SourcePath> = sessions.into_iter().map(place).collect();
    let mut places = with_twins(&sessions);
    places.extend(files.into_iter().map(place));
    places
}
