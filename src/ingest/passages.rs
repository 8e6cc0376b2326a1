//! Which passages has an entry? What its text makes of it, and an empty one where filters alone can
//! find it.

use std::path::Path;

use crate::catalogue::write::flag;
use crate::format::Format;
use crate::model::{Class, Passage};

/// What can be asked of an entry without any text: an image, an error, why it ended.
const ASKED: i64 = flag::IMAGE | flag::ERROR;

/// The passages of the `record` at `path` whose row has these `flags`, and says why it ended or
/// not.
pub fn passages(
    format: &dyn Format,
    path: &Path,
    record: &[u8],
    flags: i64,
    ended: bool,
) -> Vec<Passage> {
    let mut passages = match flags & flag::SILENT {
        0 => format.passages_at(path, record),
        _ => Vec::new(),
    };
    passages.retain(|passage| flags & flag::repeated(passage.class) == 0);
    if passages.is_empty() && (flags & ASKED != 0 || ended) {
        passages.push(Passage {
            class: match flags & flag::TOOL_RESULT {
                0 => Class::Prose,
                _ => Class::Output,
            },
            pieces: Vec::new(),
        });
    }
    passages
}
