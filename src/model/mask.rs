//! Which parts of an answer are text of a session? A program that passes answers on may want some
//! of that text unreadable.

use serde_json::Value;
use sessionary_formats::json::masked;

use super::{Listing, Mask, NamedMatch, SessionRow, Spending, SpendingBy, UnknownValue};

fn text(text: &mut String, mask: &Mask) {
    if let Some(masked) = mask.of(text) {
        *text = masked;
    }
}

fn maybe(said: &mut Option<String>, mask: &Mask) {
    said.iter_mut().for_each(|said| text(said, mask));
}

fn value(json: &mut Value, mask: &Mask) {
    let masked = masked(&json.to_string(), mask);
    if let Some(masked) = masked.and_then(|masked| serde_json::from_str(&masked).ok()) {
        *json = masked;
    }
}

impl SessionRow {
    /// Masks what was said in it, and the names in it. Ids, paths and commands stay: they would
    /// lead nowhere.
    pub fn mask(&mut self, mask: &Mask) {
        text(&mut self.title, mask);
        for said in [
            &mut self.first_message,
            &mut self.name,
            &mut self.all_messages_text,
        ] {
            maybe(said, mask);
        }
        for named in [
            &mut self.provider,
            &mut self.model,
            &mut self.git_branch,
            &mut self.thinking_level,
        ] {
            maybe(named, mask);
        }
        if let Some(own) = &mut self.own {
            value(own, mask);
        }
    }
}

impl Spending {
    /// Masks the names of models and their providers.
    pub fn mask(&mut self, mask: &Mask) {
        let is_named = self.by == SpendingBy::Model;
        for row in self.rows.iter_mut().chain([&mut self.total]) {
            if is_named {
                maybe(&mut row.key, mask);
            }
            for without in &mut row.without_cost {
                maybe(&mut without.provider, mask);
                maybe(&mut without.model, mask);
            }
        }
    }
}

impl Listing {
    /// Masks its rows.
    pub fn mask(&mut self, mask: &Mask) {
        self.sessions.iter_mut().for_each(|row| row.mask(mask));
    }
}

impl UnknownValue {
    /// Masks what sessions and entries are called.
    pub fn mask(&mut self, mask: &Mask) {
        let all = self.known.iter_mut().chain(&mut self.suggestion);
        all.for_each(|said| text(said, mask));
    }
}

impl NamedMatch {
    /// Masks the session.
    pub fn mask(&mut self, mask: &Mask) {
        self.session.mask(mask);
    }
}
