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

/// Nothing is called by a name that is longer than this.
const LONGEST_NAME: usize = 128;

/// Masks what stands behind a name, as it would be in `name=text` or `name="text"`: some secrets
/// are known only by what they are called.
pub fn masked_behind(name: &str, said: &str, mask: Mask) -> Option<String> {
    let behind = |quote: &str| {
        let masked = mask(&format!("{name}={quote}{said}{quote}"))?;
        let value = masked.strip_prefix(name)?.strip_prefix('=')?;
        let value = value.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(value.to_owned())
    };
    // In quotes it does not end with its first word or sign. Bare it can be no more than a word.
    let quoted = || {
        let is_word = said.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let free = |quote: &&str| !is_word && !said.contains(*quote);
        ["\"", "'", "`"]
            .iter()
            .find(|quote| free(quote))
            .and_then(|quote| behind(quote))
    };
    let bare = || {
        (!said.contains(char::is_whitespace))
            .then(|| behind(""))
            .flatten()
    };
    let is_value = !name.is_empty() && name.len() <= LONGEST_NAME && said.len() <= MASKED_BEHIND;
    let masked = is_value.then(|| quoted().or_else(bare)).flatten();
    masked.or_else(|| mask(said))
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
