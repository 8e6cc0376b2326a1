//! Does the catalogue say what a source says? It is read again as if it were new, and compared with
//! its rows.
//!
//! Whether the catalogued bytes are still there is known by their proof. As long as it holds, the
//! rows must say what these bytes say, whatever was appended to them. No transaction is open while
//! the file is read. Comparing the state of the source before and after shows whether rows were
//! replaced meanwhile, and a source that differs is compared again.

use std::io::ErrorKind;

use self::source::SourceComparison;
use super::plan::SourcePlan;
use super::reading::{Cost, read_once};
use crate::catalogue::read::SourceState;
use crate::catalogue::{Catalogue, Error};
use crate::format::{Format, Shape};
use crate::model::Class;
use crate::source::content::Location;
use crate::source::identity::Identity;

mod differences;
mod source;

/// How many times a source that differs is compared at most; without concurrent writes it is
/// compared twice.
const LOOKS: usize = 4;

/// What came of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The rows say what the file says.
    Equal,
    /// The file was written since it was catalogued, or its rows are being written now.
    Behind(String),
    /// Where bytes were catalogued other ones stand now.
    OtherBytes,
    /// The rows say something else than the bytes that were catalogued.
    Differs(String),
    /// The file could not be read, though it is there.
    Unread(String),
}

/// A passage that the words must have.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct ExpectedPassage {
    pub key: u64,
    pub class: Class,
    /// Whether its entry holds the result of a tool.
    pub of_tools: bool,
}

/// A source as compared with what is stored of it.
pub struct Comparison {
    /// What came of it.
    pub finding: Finding,
    /// Its number; `None` when it is no longer in the catalogue.
    pub source: Option<i64>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Entries in the file.
    pub entries: u64,
    /// The passages that the words must have, by key.
    pub passages: Vec<ExpectedPassage>,
    /// Keys of entries whose bytes could not be read: it is unknown what the words must have of
    /// them.
    pub unread_entries: Vec<u64>,
}

impl Comparison {
    /// The comparison of a source whose rows were not read.
    fn without_rows(
        catalogue: &Catalogue,
        source: Option<i64>,
        finding: Finding,
    ) -> Result<Comparison, Error> {
        Ok(Comparison {
            finding,
            source,
            bytes_read: 0,
            entries: 0,
            passages: Vec::new(),
            unread_entries: match source {
                Some(source) => keys_of_source(catalogue, source)?,
                None => Vec::new(),
            },
        })
    }
}

/// Keys of all entries of a source.
fn keys_of_source(catalogue: &Catalogue, source: i64) -> Result<Vec<u64>, Error> {
    let rows = catalogue.each_entry_of_source(source)?;
    rows.map(|row| Ok(row?.key as u64)).collect()
}

/// Read `path` and compare it with what is stored of it, chunk by chunk, so that memory does not
/// grow with the file. `read` gets the number of bytes of each chunk.
pub fn compare_source(
    catalogue: &Catalogue,
    root: i64,
    path: &Location,
    relative: &str,
    format: &dyn Format,
    read: &mut dyn FnMut(u64),
) -> Result<Comparison, Error> {
    let (mut looks, mut bytes_read) = (0, 0);
    loop {
        looks += 1;
        let Some(state) = catalogue.source_state(root, relative)? else {
            let gone = Finding::Behind("is no longer in the catalogue".into());
            return Comparison::without_rows(catalogue, None, gone);
        };
        let (mut compared, is_certain) =
            compare_once(catalogue, root, path, relative, &state, format, read)?;
        bytes_read += compared.bytes_read;
        compared.bytes_read = bytes_read;
        let differs = matches!(compared.finding, Finding::Differs(_) | Finding::OtherBytes);
        if !differs || (is_certain && looks > 1) {
            return Ok(compared);
        }
        if looks == LOOKS {
            compared.finding = Finding::Behind("is being written".into());
            return Ok(compared);
        }
    }
}

/// Compare a source once, and say whether its rows stayed in place meanwhile.
fn compare_once(
    catalogue: &Catalogue,
    root: i64,
    path: &Location,
    relative: &str,
    state: &SourceState,
    format: &dyn Format,
    read: &mut dyn FnMut(u64),
) -> Result<(Comparison, bool), Error> {
    let source = state.known.source;
    let without_rows = |finding| {
        let compared = Comparison::without_rows(catalogue, Some(source), finding)?;
        Ok((compared, true))
    };
    let (is_whole, until) = match readable_part(path, state, format) {
        Ok(part) => part,
        Err(finding) => return without_rows(finding),
    };
    let plan = SourcePlan {
        gone_ms: state.known.gone_ms,
        unlisted: state.known.unlisted.clone(),
        until: Some(until),
        ..SourcePlan::whole(root, path.clone(), relative, relative, format)
    };
    let mut look = SourceComparison::new(catalogue, path, state, format, is_whole)?;
    let (mut cost, mut compared) = (Cost::default(), Ok(()));
    let done = read_once(&plan, false, &mut Vec::new(), &mut cost, &mut |chunk, _| {
        if compared.is_ok() {
            read(chunk.source_bytes);
            compared = look.take(chunk);
        }
    });
    if let Err(error) = done {
        return without_rows(unreadable(&error));
    }
    compared?;
    look.compared.bytes_read = cost.bytes_read;
    look.end(root, relative)
}

/// How much of a file has to be read to compare it: whether that is all of it, and up to which
/// byte. An error is what the comparison finds without reading.
fn readable_part(
    path: &Location,
    state: &SourceState,
    format: &dyn Format,
) -> Result<(bool, u64), Finding> {
    let stored = &state.known.stored;
    let observed = path.identity(format).map_err(|error| unreadable(&error))?;
    if stored.revision != format.about().revision {
        return Err(Finding::Behind("has to be read again".into()));
    }
    let is_same = is_same(&observed, &stored.identity);
    if !path.is_file(format) {
        // What is made may be anything once its identity is another one.
        return match is_same {
            true => Ok((true, u64::MAX)),
            false => Err(other_bytes(path, format)),
        };
    }
    let is_whole = is_same || observed.size == stored.identity.size;
    let is_lines = format.shape_of(path) == Shape::Lines;
    if !is_same && (observed.size < stored.consumed || !(is_whole || is_lines)) {
        return Err(other_bytes(path, format));
    }
    Ok(match is_whole {
        true => (true, observed.size),
        false => (false, stored.consumed),
    })
}

/// What a comparison finds where other bytes stand, if they can be read: the next sync reads them
/// no better.
fn other_bytes(path: &Location, format: &dyn Format) -> Finding {
    match path.open(format) {
        Ok(_) => Finding::OtherBytes,
        Err(error) => unreadable(&error),
    }
}

/// What a comparison finds in a file that cannot be read.
fn unreadable(error: &std::io::Error) -> Finding {
    match error.kind() {
        ErrorKind::NotFound => Finding::Behind("is gone".into()),
        _ => Finding::Unread(error.to_string()),
    }
}

/// Whether a file is unchanged. A new ctime alone does not count, because it leaves the bytes and
/// the modification time as they are.
fn is_same(now: &Identity, then: &Identity) -> bool {
    Identity {
        ctime_ns: 0,
        ..*now
    } == Identity {
        ctime_ns: 0,
        ..*then
    }
}
