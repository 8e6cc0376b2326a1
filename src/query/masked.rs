//! How is what an entry says masked? What a secret is called stands in the record alone, not in the text it yields.

use std::collections::HashMap;

use crate::format::json::{Leaf, leaves};
use crate::format::terminal::seen;
use crate::model::{MASKED_BEHIND, Mask, masked_behind};

/// Masks pieces of a record's text, each with the names that it stands behind in the record.
pub(super) fn mask_pieces<'a>(
    record: &[u8],
    pieces: impl Iterator<Item = &'a mut String>,
    mask: Mask,
) {
    let mut names: HashMap<String, Vec<String>> = HashMap::new();
    leaves(record, |name, leaf| {
        if let Leaf::Text(text) = leaf
            && let text = seen(text)
            && text.len() <= MASKED_BEHIND
        {
            let names = names.entry(text.into_owned()).or_default();
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    });
    for piece in pieces {
        let names = names.get(piece.as_str());
        let mut behind = names.into_iter().flatten();
        let masked = behind.find_map(|name| masked_behind(name, piece, mask));
        if let Some(masked) = masked.or_else(|| mask(piece)) {
            *piece = masked;
        }
    }
}

/// Masks labels, by whatever they hang on.
pub(super) fn mask_labels(labels: &mut HashMap<String, String>, mask: Mask) {
    for label in labels.values_mut() {
        if let Some(masked) = mask(label) {
            *label = masked;
        }
    }
}
