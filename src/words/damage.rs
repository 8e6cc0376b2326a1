//! What if a file of the index is damaged inside? tantivy fails or panics somewhere in the middle
//! of it. Here that becomes an error, and a mark that makes the next writer rebuild the words.

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use tantivy::Index;
use tantivy::index::{SegmentComponent, SegmentMeta};

use super::{Words, WordsError};
use crate::causes::with_causes;
use crate::private;

/// The name of the mark, a file in the folder of the index that says why the index must not be read
/// any more.
pub(super) const MARK: &str = "damaged";

thread_local! {
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread would now be caught and become an error. The engine of the
/// full-text index panics in assertions that damaged files break. A program that is built with
/// `panic = "abort"` ends there instead: nothing is caught, and this is of no use to it. Otherwise
/// a program's panic hook may keep silent then:
///
/// ```
/// let usual = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !sessionary::index::panic_is_caught() {
///         usual(panic);
///     }
/// }));
/// ```
pub fn panic_is_caught() -> bool {
    CAUGHT.get()
}

/// Read the index. Whatever fails or panics meanwhile is damage.
pub(super) fn reading<T>(read: impl FnOnce() -> Result<T, WordsError>) -> Result<T, WordsError> {
    let before = CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(read));
    CAUGHT.set(before);
    match done {
        Ok(Err(WordsError::Engine(error))) => Err(WordsError::of_reading(error)),
        Ok(done) => done,
        Err(panic) => Err(WordsError::Unreadable(said(&*panic))),
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    match text.or_else(|| panic.downcast_ref::<&str>().copied()) {
        Some(text) => format!("tantivy gave up ({text})"),
        None => "tantivy gave up".into(),
    }
}

/// Mark the index in `dir` as one that has to be rebuilt. If the mark cannot be written, the next
/// reader finds the damage again.
pub fn condemn(dir: &Path, why: &str) {
    let _ = private::write(&dir.join(MARK), why);
}

/// Why the index in `dir` has to be rebuilt, if it was found damaged. A mark that is older than the
/// last commit may be about files that a writer was just deleting.
pub fn condemned(dir: &Path) -> Option<String> {
    let why = std::fs::read_to_string(dir.join(MARK)).ok()?;
    let written = |name| std::fs::metadata(dir.join(name)).and_then(|m| m.modified());
    match (written(MARK), written("meta.json")) {
        (Ok(mark), Ok(commit)) if mark < commit => None,
        _ => Some(why),
    }
}

impl Words {
    /// Files of the index whose checksum is wrong, or that cannot be asked for it.
    pub fn damaged_files(&self) -> Result<Vec<String>, WordsError> {
        let index = self.searcher.index();
        let files = || -> Result<BTreeSet<PathBuf>, WordsError> {
            let segments = index.searchable_segment_metas()?;
            Ok(segments.iter().flat_map(files_of).collect())
        };
        reading(|| {
            let mut damaged = files()?;
            damaged.retain(|path| !matches!(index.directory().validate_checksum(path), Ok(true)));
            // What a commit has thrown away meanwhile is not there, and no damage.
            if !damaged.is_empty() {
                let now = files()?;
                damaged.retain(|path| now.contains(path));
            }
            let name = |path: &PathBuf| path.display().to_string();
            Ok(damaged.iter().map(name).collect())
        })
    }

    /// What is wrong, as exactly as possible, after reading has failed: the checksums of all files
    /// are verified.
    pub fn diagnosis(&self, error: &WordsError) -> String {
        match self.damaged_files() {
            Ok(damaged) if !damaged.is_empty() => {
                WordsError::Unreadable(format!("{} damaged", damaged.join(", "))).to_string()
            }
            _ => with_causes(error),
        }
    }
}

/// The parts of a segment that are files, always or when passages of it were deleted.
pub(super) const FILES: [SegmentComponent; 6] = [
    SegmentComponent::Terms,
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
    SegmentComponent::Store,
];

/// All files of a segment.
fn files_of(segment: &SegmentMeta) -> Vec<PathBuf> {
    parts_of(segment, &FILES)
        .map(|part| segment.relative_path(part))
        .collect()
}

/// These parts of a segment, and what says which of its passages are deleted.
fn parts_of(
    segment: &SegmentMeta,
    parts: &[SegmentComponent],
) -> impl Iterator<Item = SegmentComponent> {
    let deletions = segment.has_deletes().then_some(SegmentComponent::Delete);
    parts.iter().cloned().chain(deletions)
}

/// The first of these parts of a segment whose checksum is wrong, or that cannot be read.
pub(super) fn damaged_part(
    index: &Index,
    segment: &SegmentMeta,
    parts: &[SegmentComponent],
) -> Option<PathBuf> {
    parts_of(segment, parts)
        .map(|part| segment.relative_path(part))
        .find(|path| !matches!(index.directory().validate_checksum(path), Ok(true)))
}

/// See that the columns of these segments are as they were written, some 5 MB of a gigabyte of
/// sessions.
pub(super) fn columns_are_whole(index: &Index, segments: &[SegmentMeta]) -> Result<(), WordsError> {
    let damaged = |segment| damaged_part(index, segment, &[SegmentComponent::FastFields]);
    match segments.iter().find_map(damaged) {
        Some(path) => Err(WordsError::damaged(&path)),
        None => Ok(()),
    }
}
