//! How is the text of an entry masked? The name of a secret stands only in the record, not in the
//! text that is taken from it.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::format::json::{Leaf, is_encoded, masked_arguments, named_leaves};
use crate::format::terminal::seen;
use crate::model::{MASKED_BEHIND, Mask, masked_behind};

/// Masks pieces of a record's text, each with the names that it stands behind in the record.
pub(super) fn mask_pieces<'a>(
    record: &[u8],
    pieces: impl Iterator<Item = &'a mut String>,
    mask: &Mask,
) {
    let mut names: HashMap<String, BTreeSet<String>> = HashMap::new();
    // A text may occur many times: the mask is asked about each of its names only once.
    let mut behind: HashMap<String, Option<String>> = HashMap::new();
    named_leaves(record, &mut |called, leaf| {
        if let Leaf::Text(text) = &leaf
            && let Some(masked) = masked_given(called, text, mask)
        {
            behind.insert(seen(text.clone()).into_owned(), Some(masked));
            return;
        }
        let text = match leaf {
            Leaf::Text(text) => seen(text),
            Leaf::Number(number) => Cow::Borrowed(number),
        };
        if text.len() > MASKED_BEHIND {
            return;
        }
        let names = names.entry(text.into_owned()).or_default();
        for name in called {
            if !names.contains(*name) {
                names.insert((*name).to_owned());
            }
        }
    });
    for piece in pieces {
        let masked = match names.remove_entry(piece.as_str()) {
            Some((text, names)) => {
                let masked = masked_behind(names.iter().map(|name| &**name), &text, mask);
                behind.entry(text).or_insert(masked).clone()
            }
            None => match behind.get(piece.as_str()) {
                Some(masked) => masked.clone(),
                None => mask.of(piece),
            },
        };
        if let Some(masked) = masked {
            *piece = masked;
        }
    }
}

/// What a tool was given as a string of JSON.
fn masked_given(names: &[&str], text: &str, mask: &Mask) -> Option<String> {
    let mut names = names.iter();
    names.find_map(|name| masked_arguments(name, text, mask))
}

/// All texts of a record but pictures and what is encrypted, masked.
pub(super) fn all_texts(record: &[u8], mask: Option<&Mask>) -> Vec<String> {
    let mut texts = Vec::new();
    named_leaves(record, &mut |names, leaf| {
        if let Leaf::Text(text) = leaf
            && !is_encoded(text.as_bytes())
        {
            let masked = mask.and_then(|mask| {
                let given = masked_given(names, &text, mask);
                given.or_else(|| masked_behind(names.iter().copied(), &text, mask))
            });
            texts.push(masked.unwrap_or_else(|| text.into_owned()));
        }
    });
    texts
}

/// A name that an agent or an extension gave: of a kind of entries, a role, a tool.
pub(super) fn masked_name(name: String, mask: Option<&Mask>) -> String {
    mask.and_then(|mask| mask.of(&name)).unwrap_or(name)
}

/// Masks labels, by whatever they hang on.
pub(super) fn mask_labels(labels: &mut HashMap<String, String>, mask: &Mask) {
    for label in labels.values_mut() {
        if let Some(masked) = mask.of(label) {
            *label = masked;
        }
    }
}
