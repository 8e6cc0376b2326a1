//! Which parts of an answer are text of a session? Who passes answers on may want some of it unreadable.

use serde_json::Value;

use super::{Listing, Named, SessionRow, UnknownValue};

/// Gives a text with what is not to be read replaced; `None`: nothing is to be. The library has none of its own.
pub type Mask = fn(&str) -> Option<String>;

fn text(text: &mut String, mask: Mask) {
    if let Some(masked) = mask(text) {
        *text = masked;
    }
}

/// A value that is longer than this is a text of its own, whatever it is called.
pub const MASKED_BEHIND: usize = 4 << 10;

/// Masks what stands behind a name, as it would be in `name=text`: some secrets are known only by what they are called.
pub fn masked_behind(name: &str, said: &str, mask: Mask) -> Option<String> {
    let behind = || {
        let masked = mask(&format!("{name}={said}"))?;
        let value = masked.strip_prefix(name)?.strip_prefix('=')?;
        Some(value.to_owned())
    };
    let is_value = !name.is_empty() && said.len() <= MASKED_BEHIND;
    is_value.then(behind).flatten().or_else(|| mask(said))
}

fn value(json: &mut Value, name: &str, mask: Mask) {
    match json {
        Value::String(said) => {
            if let Some(masked) = masked_behind(name, said, mask) {
                *said = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| value(item, name, mask)),
        Value::Object(members) => members
            .iter_mut()
            .for_each(|(name, member)| value(member, name, mask)),
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
            value(own, "", mask);
        }
    }
}

impl Listing {
    /// Masks its rows.
    pub fn mask(&mut self, mask: Mask) {
        self.sessions.iter_mut().for_each(|row| row.mask(mask));
    }
}

impl UnknownValue {
    /// Masks what sessions and entries are called.
    pub fn mask(&mut self, mask: Mask) {
        let all = self.known.iter_mut().chain(&mut self.suggestion);
        all.for_each(|said| text(said, mask));
    }
}

impl Named {
    /// Masks the session.
    pub fn mask(&mut self, mask: Mask) {
        self.session.mask(mask);
    }
}
