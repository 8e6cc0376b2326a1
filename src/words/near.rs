//! Which words are one edit away from another?
//!
//! An edit adds, drops or replaces a letter, or swaps two neighbours. No edit brings in a letter of
//! three or more bytes (CJK, Hangul, Thai, …) where the word has none: nobody types one by mistake
//! in a word of Latin, Greek or Cyrillic letters, and a dictionary that holds some texts in such
//! letters has tens of thousands of branches for them, of which a walk would look at every one.

use tantivy::Term;
use tantivy::query::{AutomatonWeight, EnableScoring, FuzzyTermQuery, Query, Weight};
use tantivy_fst::Automaton;

/// The first byte of the shortest letter of three bytes.
const WIDE: u8 = 0xE0;

/// The passages that hold a word or one that is an edit away, all with the same score.
#[derive(Debug, Clone)]
pub(super) struct NearQuery(Term);

impl NearQuery {
    pub fn new(word: Term) -> Self {
        Self(word)
    }
}

impl Query for NearQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        // One automaton for all letters; a swap of neighbours is one edit.
        let automaton = FuzzyTermQuery::new(self.0.clone(), 1, true).automaton()?;
        Ok(match has_wide(self.0.serialized_value_bytes()) {
            true => Box::new(AutomatonWeight::new(self.0.field(), automaton)),
            false => Box::new(AutomatonWeight::new(self.0.field(), Narrow(automaton))),
        })
    }
}

/// An automaton that takes no wide letter.
struct Narrow<A>(A);

impl<A: Automaton> Automaton for Narrow<A> {
    /// `None`: a wide letter was met.
    type State = Option<A::State>;

    fn start(&self) -> Self::State {
        Some(self.0.start())
    }

    fn is_match(&self, state: &Self::State) -> bool {
        state.as_ref().is_some_and(|state| self.0.is_match(state))
    }

    fn can_match(&self, state: &Self::State) -> bool {
        state.as_ref().is_some_and(|state| self.0.can_match(state))
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        let state = state.as_ref().filter(|_| byte < WIDE)?;
        Some(self.0.accept(state, byte))
    }
}

fn has_wide(text: &[u8]) -> bool {
    text.iter().any(|byte| *byte >= WIDE)
}

/// Whether a token is a word, or one edit makes it of the word.
pub(super) fn is_near(word: &str, token: &str) -> bool {
    is_one_edit(word, token) && (has_wide(word.as_bytes()) || !has_wide(token.as_bytes()))
}

/// Whether at most one edit leads from one word to the other. Asked of every word of a text, so it
/// allocates nothing.
fn is_one_edit(one: &str, other: &str) -> bool {
    if one.len().abs_diff(other.len()) > 4 {
        return false;
    }
    let same = |((_, a), (_, b)): &((usize, char), (usize, char))| a == b;
    let pairs = one.char_indices().zip(other.char_indices());
    let equal = pairs.take_while(same).last();
    let head = equal.map_or(0, |((at, letter), _)| at + letter.len_utf8());
    let (one, other) = (&one[head..], &other[head..]);
    let (rest, other_rest) = (without_first(one), without_first(other));
    match (rest, other_rest) {
        (None, None) => true,
        (Some((_, rest)), None) => rest.is_empty(),
        (None, Some((_, rest))) => rest.is_empty(),
        (Some((a, rest)), Some((b, other_rest))) => {
            let swapped = without_first(rest).zip(without_first(other_rest));
            let is_swap = swapped
                .is_some_and(|((c, rest), (d, other_rest))| a == d && b == c && rest == other_rest);
            rest == other || one == other_rest || rest == other_rest || is_swap
        }
    }
}

/// The first letter, and what follows it.
fn without_first(word: &str) -> Option<(char, &str)> {
    let mut letters = word.chars();
    letters.next().map(|first| (first, letters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn one_edit_is_near_and_two_are_not() {
        for (other, near) in [
            ("word", true),
            ("wrod", true),
            ("wodr", true),
            ("owrd", true),
            ("wor", true),
            ("ord", true),
            ("words", true),
            ("sword", true),
            ("woord", true),
            ("w\u{f6}rd", true),
            ("wort", true),
            ("wo", false),
            ("drow", false),
            ("wrods", false),
            ("rwdo", false),
            ("", false),
        ] {
            assert_eq!(is_near("word", other), near, "{other}");
            assert_eq!(is_near(other, "word"), near, "{other}");
        }
    }

    #[test]
    fn no_edit_brings_in_a_letter_of_another_script() {
        assert!(!is_near("word", "wo\u{6f22}d") && !is_near("word", "word\u{ac00}"));
        assert!(is_near("wo\u{6f22}d", "word") && is_near("\u{6f22}\u{5b57}", "\u{6f22}\u{5b50}"));
        assert!(is_near(
            "\u{441}\u{43b}\u{43e}\u{432}\u{43e}",
            "\u{441}\u{43b}\u{43e}\u{432}"
        ));
    }
}
