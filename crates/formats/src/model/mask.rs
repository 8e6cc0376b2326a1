//! How is text of a session made unreadable? By a function that the caller gives.

/// Gives a text with what is not to be read replaced; `None`: nothing is to be. The library has
/// none of its own.
pub type Mask = fn(&str) -> Option<String>;

/// A value that is longer than this is a text of its own, whatever it is called.
pub const MASKED_BEHIND: usize = 4 << 10;

/// Nothing is called by a name that is longer than this.
const LONGEST_NAME: usize = 128;

/// Masks what stands behind one of the names, as it would be in `name=text` or `name="text"`: some
/// secrets are known only by what they are called.
pub fn masked_behind<'a>(
    names: impl IntoIterator<Item = &'a str>,
    said: &str,
    mask: Mask,
) -> Option<String> {
    let is_value = said.len() <= MASKED_BEHIND;
    let is_name = |name: &&str| is_value && !name.is_empty() && name.len() <= LONGEST_NAME;
    let mut names = names.into_iter().filter(is_name);
    let masked = names.find_map(|name| behind(name, said, mask));
    masked.or_else(|| mask(said))
}

fn behind(name: &str, said: &str, mask: Mask) -> Option<String> {
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
    quoted().or_else(bare)
}
