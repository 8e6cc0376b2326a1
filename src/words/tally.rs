//! How often does a passage hold the tokens that are asked for? One pass over its text.

use std::collections::HashMap;

use super::near::is_near;
use super::sessions::closeness;
use super::tokenizer::Segmenter;

/// A token that is asked for.
#[derive(Debug)]
struct Term {
    text: String,
    /// Which tokens it is.
    kind: Kind,
    /// Its positions are asked for as well.
    placed: bool,
}

/// Which tokens a text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// That token.
    Whole,
    /// Any token that begins so.
    Prefix,
    /// That token, and those that one edit makes of it.
    Near,
}

impl Kind {
    /// [`Kind::Prefix`] if the token may be the beginning of a longer one, else [`Kind::Whole`].
    pub fn of(prefix: bool) -> Self {
        if prefix { Self::Prefix } else { Self::Whole }
    }
}

/// The tokens that are asked for, numbered.
#[derive(Debug, Default)]
pub(super) struct Terms {
    list: Vec<Term>,
    /// The number of each: a query may be as long as what somebody pastes.
    numbers: HashMap<(Kind, String), usize>,
    /// Numbers of the terms by their first byte; nearly all tokens of a text end here.
    by_first: Vec<Vec<usize>>,
    /// Those that a token of any first byte may be.
    near: Vec<usize>,
}

impl Terms {
    /// The number of a token, which is asked for from now on. No token is empty.
    pub fn add(&mut self, text: &str, kind: Kind, placed: bool) -> usize {
        let new = self.list.len();
        let number = *self.numbers.entry((kind, text.to_owned())).or_insert(new);
        if number < new {
            self.list[number].placed |= placed;
            return number;
        }
        self.list.push(Term {
            text: text.to_owned(),
            kind,
            placed,
        });
        self.by_first.resize(256, Vec::new());
        if kind == Kind::Near {
            self.near.push(number);
        } else if let Some(first) = text.as_bytes().first() {
            self.by_first[usize::from(*first)].push(number);
        }
        number
    }

    /// Which terms a token of the text `token` is one of.
    pub fn of<'a>(&'a self, token: &'a str) -> impl Iterator<Item = usize> + 'a {
        let first = token.as_bytes().first().copied().unwrap_or_default();
        let near = self.by_first.get(usize::from(first));
        let near = near.into_iter().flatten().chain(&self.near).copied();
        near.filter(move |number| {
            let term = &self.list[*number];
            match term.kind {
                Kind::Whole => token == term.text,
                Kind::Prefix => token.starts_with(term.text.as_str()),
                Kind::Near => is_near(&term.text, token),
            }
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Number and text of the terms that are whole tokens.
    pub fn whole(&self) -> impl Iterator<Item = (usize, &str)> {
        self.list
            .iter()
            .enumerate()
            .filter(|(_, term)| term.kind == Kind::Whole)
            .map(|(number, term)| (number, term.text.as_str()))
    }
}

/// What one passage holds, and the room to count it in, used again for the next.
#[derive(Debug, Default)]
pub(super) struct TermCounts {
    /// All tokens of the passage.
    pub tokens: u32,
    /// By number of the term.
    counts: Vec<u32>,
    /// Ascending, by number of the term; empty unless asked for.
    places: Vec<Vec<u32>>,
    segmenter: Segmenter,
}

impl TermCounts {
    /// Count the tokens of a passage of these pieces.
    pub fn count<T: AsRef<str>>(&mut self, terms: &Terms, pieces: &[T]) {
        self.counts.clear();
        self.counts.resize(terms.list.len(), 0);
        self.places.resize_with(terms.list.len(), Vec::new);
        self.places.iter_mut().for_each(Vec::clear);
        self.tokens = 0;
        let mut first = 0;
        for piece in pieces {
            first = self.count_piece(terms, piece.as_ref(), first) + 1;
        }
    }

    /// Count the tokens of a piece whose first position is `first`. Returns the end of its
    /// positions.
    fn count_piece(&mut self, terms: &Terms, piece: &str, first: u32) -> u32 {
        let Self {
            tokens,
            counts,
            places,
            segmenter,
        } = self;
        first
            + segmenter.run(piece, |token| {
                *tokens += 1;
                for number in terms.of(token.text) {
                    counts[number] += 1;
                    if terms.list[number].placed {
                        places[number].push(first + token.position);
                    }
                }
            })
    }

    /// How often the passage holds a term.
    pub fn times(&self, term: usize) -> u32 {
        self.counts[term]
    }

    /// How near each other these terms stand, all of whose positions were asked for.
    pub fn closeness(&self, terms: &[usize]) -> f32 {
        let places: Vec<&[u32]> = terms.iter().map(|term| &*self.places[*term]).collect();
        closeness(&places)
    }

    /// How often these terms stand at their distances from the first.
    pub fn runs(&self, parts: &[(u32, usize)]) -> u32 {
        let Some(((start, head), rest)) = parts.split_first() else {
            return 0;
        };
        if rest.is_empty() {
            return self.counts[*head];
        }
        let stand = |position: &&u32| {
            rest.iter().all(|(distance, term)| {
                self.places[*term]
                    .binary_search(&(**position + distance - start))
                    .is_ok()
            })
        };
        self.places[*head].iter().filter(stand).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, TermCounts, Terms};

    #[test]
    fn a_token_that_is_asked_for_twice_has_one_number() {
        let mut terms = Terms::default();
        let whole = terms.add("walrus", Kind::Whole, false);
        let prefix = terms.add("walrus", Kind::Prefix, false);
        assert_eq!(terms.add("walrus", Kind::Whole, true), whole);
        assert_eq!(terms.add("walrus", Kind::Prefix, false), prefix);
        assert_eq!((terms.len(), whole == prefix), (2, false));
        let mut counts = TermCounts::default();
        counts.count(&terms, &["a walrus and walruses"]);
        assert_eq!((counts.times(whole), counts.times(prefix)), (1, 2));
        assert_eq!(
            (&*counts.places[whole], &*counts.places[prefix]),
            (&[1][..], &[][..])
        );
    }
}
