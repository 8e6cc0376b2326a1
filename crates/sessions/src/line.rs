//! What does the line of a new entry look like?

use super::value::{Json, put};
use sessionary_formats::json;

/// What every entry begins with, or, where its agent writes them last, ends with.
pub(super) struct EntryHead<'a> {
    pub id: &'a str,
    /// The parent's id as it is written, in JSON.
    pub parent: Option<&'a str>,
    /// When it was written, in JSON; `None`: it does not say.
    pub timestamp: Option<&'a str>,
}

impl EntryHead<'_> {
    /// The line of an entry, as `JSON.stringify` writes it: `members` adds what its type has beside
    /// the base.
    pub(super) fn line(&self, kind: &str, members: impl FnOnce(&mut String)) -> String {
        let mut out = "{".to_owned();
        put(&mut out, "type", &kind.to_owned());
        // Of these two pi makes the object in another order.
        if matches!(kind, "custom" | "custom_message") {
            members(&mut out);
            self.write(&mut out);
        } else {
            self.write(&mut out);
            members(&mut out);
        }
        out.push('}');
        // What callers hand in may be written in any way.
        json::stringify(out.as_bytes()).unwrap_or(out)
    }

    fn write(&self, out: &mut String) {
        put(out, "id", &self.id.to_owned());
        out.push_str(",\"parentId\":");
        out.push_str(self.parent.unwrap_or("null"));
        put(out, "timestamp", &self.timestamp.map(Json::trusted));
    }
}
