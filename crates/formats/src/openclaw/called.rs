//! Did anybody name a session? Since 2026.8 OpenClaw itself calls it as its first message begins,
//! with all that it put into that.

/// Behind a name that was cut.
const CUT: char = '…';

/// OpenClaw cuts a name to 60 UTF-16 units, at the last blank among those behind the 36th (source,
/// `truncateTitle`).
const LONGEST: usize = 60;
const SHORTEST: usize = 37;

/// So many characters of a message are looked at.
const LOOKED_AT: usize = 1_024;

/// How the line of metadata is marked, which the import into the database writes otherwise than
/// the message was from which it made the name.
const MARK: &str = " ⟦openclaw:ctx⟧";
const UNTRUSTED: &str = " (untrusted";

/// What is kept of the first message to know a name by. `None`: it has no text.
pub(super) fn beginning(message: &str) -> Option<String> {
    let looked_at: String = message.chars().take(LOOKED_AT).collect();
    // One more than a name has, which says that there is more.
    let kept: String = plain(&looked_at, false).chars().take(LONGEST + 1).collect();
    Some(kept).filter(|kept| !kept.is_empty())
}

/// Whether a name is only the beginning of the first message, of which [`beginning`] was kept.
pub(super) fn is_beginning(name: &str, message: &str) -> bool {
    let Some(cut) = name.trim().strip_suffix(CUT) else {
        return plain(name, false) == message;
    };
    let is_cut = (SHORTEST..LONGEST).contains(&cut.encode_utf16().count());
    is_cut && message.starts_with(&plain(cut, true))
}

/// A text with its blanks folded, and without what marks metadata; of one that was cut also without
/// a mark that does not end.
fn plain(text: &str, is_cut: bool) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let folded = words.join(" ").replace(MARK, "");
    let mut plain = String::new();
    let mut rest = &*folded;
    while let Some((before, behind)) = rest.split_once(UNTRUSTED) {
        match behind.split_once("):") {
            Some((_, behind)) => {
                plain.extend([before, ":"]);
                rest = behind;
            }
            // A name may be cut within the mark.
            None if is_cut => return plain + before,
            None => break,
        }
    }
    plain + rest
}
