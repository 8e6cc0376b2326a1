//! The words room against an oracle that shares no code with it.

mod index;
mod many;
mod oracle;
mod queued;
mod random;
mod records;
mod segments;
mod tokens;

use std::path::Path;
use std::time::Duration;

use crate::model::Standing;

use super::{BacklogEntry, Doc, Facts, Overlay, Scan, Scope, WordsError, WordsLock, WordsWriter};

/// The writer of the index in a folder, which nobody else holds.
fn writer(dir: &Path, memory: usize, adders: usize) -> Result<WordsWriter, WordsError> {
    let lock = WordsLock::take(dir, Duration::ZERO)?;
    WordsWriter::open(lock, memory, adders)
}

/// Read passages into `scan` as if the disk lacked them, each a sample of itself, and ask
/// `with` of the overlay they make.
fn overlaid<R>(
    docs: &[Doc],
    expr: Option<&crate::model::Expr>,
    scope: &Scope<'_>,
    with: impl FnOnce(&Overlay<'_>) -> R,
) -> R {
    let scan = Scan::new(expr);
    // Two threads share the work.
    let mut parts = [scan.part(), scan.part()];
    for (number, doc) in docs.iter().enumerate() {
        let part = &mut parts[number % 2];
        let entry = BacklogEntry {
            key: doc.key,
            time_ms: doc.time_ms,
            standing: Standing::of(doc.class, doc.is_name, doc.role.as_deref()),
            admitted: scope.admits(&Facts {
                time_ms: doc.time_ms,
                kind: &doc.kind,
                role: doc.role.as_deref(),
                tools: &doc.tools,
                is_error: doc.is_error,
            }),
        };
        part.cover(doc.class, doc.key, doc.key);
        part.read(entry, doc.class, &doc.pieces);
    }
    with(&Overlay::new(&scan, parts.into(), docs.len() as u64))
}
