//! Which parts of an answer are text of a session? Who passes answers on may want some of it unreadable.

use serde_json::Value;

use super::{Hit, HitGroup, Listing, Named, SessionRow, ShownEntry, Transcript, Tree, TreeRow};

/// Gives a text with what is not to be read replaced, never longer than it was; `None`: nothing is to be. The library has none of its own.
pub type Mask = fn(&str) -> Option<String>;

fn text(text: &mut String, mask: Mask) {
    if let Some(masked) = mask(text) {
        *text = masked;
    }
}

fn value(json: &mut Value, mask: Mask) {
    match json {
        Value::String(string) => text(string, mask),
        Value::Array(items) => items.iter_mut().for_each(|item| value(item, mask)),
        Value::Object(members) => members.values_mut().for_each(|item| value(item, mask)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl SessionRow {
    /// Masks what was said in it. Ids, paths and commands stay: they would lead nowhere.
    pub fn mask(&mut self, mask: Mask) {
        text(&mut self.first_message, mask);
        let optional = [&mut self.name, &mut self.all_messages_text];
        optional
            .into_iter()
            .flatten()
            .for_each(|said| text(said, mask));
        if let Some(own) = &mut self.own {
            value(own, mask);
        }
    }
}

impl Listing {
    /// Masks its rows.
    pub fn mask(&mut self, mask: Mask) {
        self.sessions.iter_mut().for_each(|row| row.mask(mask));
    }
}

impl Named {
    /// Masks the session.
    pub fn mask(&mut self, mask: Mask) {
        self.session.mask(mask);
    }
}

impl HitGroup {
    /// Masks the session and its hits.
    pub fn mask(&mut self, mask: Mask) {
        self.session.mask(mask);
        self.hits.iter_mut().for_each(|hit| hit.mask(mask));
    }
}

impl Hit {
    /// Masks the entries beside it. A snippet has marks in it and is cut from a longer text: it is masked before
    /// that, by [`crate::index::SearchScope::mask`].
    pub fn mask(&mut self, mask: Mask) {
        let beside = self.context.iter_mut();
        beside.for_each(|beside| text(&mut beside.text, mask));
    }
}

impl TreeRow {
    /// Masks its text and its label.
    pub fn mask(&mut self, mask: Mask) {
        text(&mut self.text, mask);
        self.label.iter_mut().for_each(|label| text(label, mask));
    }
}

impl Tree {
    /// Masks the session and the rows.
    pub fn mask(&mut self, mask: Mask) {
        self.session.mask(mask);
        self.entries.iter_mut().for_each(|row| row.mask(mask));
    }
}

impl ShownEntry {
    /// Masks its text and its label.
    pub fn mask(&mut self, mask: Mask) {
        let pieces = self.text.iter_mut().flat_map(|(_, pieces)| pieces);
        pieces
            .chain(self.label.iter_mut())
            .for_each(|said| text(said, mask));
    }
}

impl Transcript {
    /// Masks the session and the entries.
    pub fn mask(&mut self, mask: Mask) {
        self.session.mask(mask);
        self.entries.iter_mut().for_each(|entry| entry.mask(mask));
    }
}
