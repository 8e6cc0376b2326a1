//! Names in a path, as text. Signs in them that are no UTF-8 are replaced.

use std::borrow::Cow;
use std::path::Path;

/// All names along a path.
pub(crate) fn names(path: &Path) -> Vec<Cow<'_, str>> {
    let parts = path.components();
    parts
        .map(|part| part.as_os_str().to_string_lossy())
        .collect()
}

/// The last name; empty where there is none.
pub(crate) fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The last name, without what stands behind its last dot.
pub(crate) fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Whether a name is a UUID.
pub(crate) fn is_uuid(name: &str) -> bool {
    name.len() == 36
        && name.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
