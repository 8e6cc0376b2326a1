//! How bytes become JSON the way agents read it: what `JSON.parse` accepts is accepted here.
//!
//! Two tiers. The fast one is a borrowed serde parse. Where serde is stricter than `JSON.parse`
//! (lone surrogates, overflowing numbers, duplicate keys, invalid UTF-8) the record is rewritten
//! once by [`normalise`] and parsed again; [`tiers`] does both. Nothing here recurses, so any
//! depth of nesting is read.

mod collation;
mod date;
mod js;
mod labels;
mod lenient;
mod loose;
mod members;
mod scan;
mod stringify;
mod walk;

pub use collation::Collation;
pub use date::date_ms;
pub use js::{is_truthy, string, time_ms, to_number, trim};
pub use lenient::{decode, normalise, unquote};
pub use loose::{Count, Flag, Int, Loose, Mixed, Num, Raw, Text, Texts};
pub use members::{Member, elements, member, members, walk_array, walk_object};
pub use scan::{NULS, Piece, PieceKind, TORN, scan_value, split, whole};
pub use stringify::{indented, stringify};
pub use walk::{Leaf, is_encoded, leaves, masked, masked_arguments, masked_but, named_leaves};

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde_json::Value;

/// Parse one JSON text. Fields a type does not name are skipped without recursion, so the depth
/// limit of serde_json is off.
pub fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    let mut parser = serde_json::Deserializer::from_str(text);
    parser.disable_recursion_limit();
    let value = T::deserialize(&mut parser).ok()?;
    parser.end().ok()?;
    Some(value)
}

/// Levels of a value that is kept as it is. serde_json reads 128, and what is kept stands within
/// other values.
const MOST_LEVELS: usize = 64;

/// A value that is kept as it is; `None` where it goes too deep for that.
pub fn kept(text: &str) -> Option<Value> {
    let value = serde_json::from_str(text).ok();
    value.filter(|value| has_at_most(value, MOST_LEVELS))
}

fn has_at_most(value: &Value, levels: usize) -> bool {
    let is_within = |one: &Value| levels > 0 && has_at_most(one, levels - 1);
    match value {
        Value::Array(all) => all.iter().all(is_within),
        Value::Object(all) => all.values().all(is_within),
        _ => true,
    }
}

/// What is wrong, without the text that serde repeats of it: reasons are printed and logged where
/// text must not be.
pub fn complaint(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let said = said
        .rsplit_once(" at line ")
        .map_or(&*said, |(said, _)| said);
    for what in ["string", "character", "unknown variant", "unknown field"] {
        let quote = if what == "string" { '"' } else { '`' };
        let (open, close) = (format!("{what} {quote}"), format!("{quote}, expected "));
        // The text may hold anything, the end of the message holds neither.
        if let (Some(from), Some(to)) = (said.find(&open), said.rfind(&close)) {
            return format!("{}{what}{}", &said[..from], &said[to + 1..]);
        }
    }
    said.to_owned()
}

/// Read `record` with `read`: first as it is, then, where that yields nothing, as [`normalise`]
/// rewrites it.
pub fn tiers<R>(record: &[u8], read: impl Fn(&str) -> Option<R>) -> Option<R> {
    if let Some(found) = utf8(record).and_then(&read) {
        return Some(found);
    }
    let clean = normalise(record)?;
    read(std::str::from_utf8(&clean).ok()?)
}

/// The bytes as text, where they are UTF-8.
pub fn utf8(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}
