//! How is text of a session made unreadable? By a function that the caller gives.

use std::fmt;
use std::sync::Arc;

/// A text with what is not to be read replaced; `None`: nothing is to be.
type Replace = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Makes text of sessions unreadable, by a function that the caller gives and that may hold what
/// the caller knows to be secret. Clones are one function.
#[derive(Clone)]
pub struct Mask(Arc<Replace>);

impl Mask {
    /// By this function: it gives a text with what is not to be read replaced; `None`: nothing is
    /// to be. It may be asked by several threads at once.
    pub fn new(masked: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Mask {
        Mask(Arc::new(masked))
    }

    /// The text with what is not to be read replaced; `None`: nothing is to be.
    pub fn of(&self, text: &str) -> Option<String> {
        (self.0)(text)
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").finish_non_exhaustive()
    }
}

/// A value that is longer than this is a text of its own, whatever it is called.
pub const MASKED_BEHIND: usize = 4 << 10;

/// Nothing is called by a name that is longer than this.
const LONGEST_NAME: usize = 128;

/// Masks what stands behind one of the names, as it would be in `name=text` or `name="text"`: some
/// secrets are known only by what they are called.
pub fn masked_behind<'a>(
    names: impl IntoIterator<Item = &'a str>,
    said: &str,
    mask: &Mask,
) -> Option<String> {
    let is_value = said.len() <= MASKED_BEHIND;
    let is_name = |name: &&str| is_value && !name.is_empty() && name.len() <= LONGEST_NAME;
    let mut names = names.into_iter().filter(is_name);
    let masked = names.find_map(|name| behind(name, said, mask));
    masked.or_else(|| mask.of(said))
}

fn behind(name: &str, said: &str, mask: &Mask) -> Option<String> {
    let behind = |quote: &str| {
        let masked = mask.of(&format!("{name}={quote}{said}{quote}"))?;
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
    quoted().or_else(bare)
}
