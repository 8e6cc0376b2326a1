//! How often does a passage hold the tokens that are asked for? One pass over its text.

use super::tokenizer::Segmenter;

/// A token that is asked for.
#[derive(Debug, Clone)]
struct Term {
    text: String,
    /// Any token that begins so.
    prefix: bool,
    /// Its positions are asked for as well.
    placed: bool,
}

/// The tokens that are asked for, numbered.
#[derive(Debug, Default)]
pub(super) struct Terms {
    list: Vec<Term>,
    /// Numbers of the terms by their first byte; nearly all tokens of a text end here.
    by_first: Vec<Vec<usize>>,
}

impl Terms {
    /// The number of a token, which is asked for from now on. No token is empty.
    pub fn add(&mut self, text: &str, prefix: bool, placed: bool) -> usize {
        let known = self
            .list
            .iter()
            .position(|term| term.prefix == prefix && term.text == text);
        if let Some(number) = known {
            self.list[number].placed |= placed;
            return number;
        }
        let number = self.list.len();
        self.list.push(Term {
            text: text.to_owned(),
            prefix,
            placed,
        });
        self.by_first.resize(256, Vec::new());
        if let Some(first) = text.as_bytes().first() {
            self.by_first[usize::from(*first)].push(number);
        }
        number
    }

    /// Which terms a token of the text `token` is one of.
    pub fn of<'a>(&'a self, token: &'a str) -> impl Iterator<Item = usize> + 'a {
        let first = token.as_bytes().first().copied().unwrap_or_default();
        let near = self.by_first.get(usize::from(first));
        near.into_iter().flatten().copied().filter(move |number| {
            let term = &self.list[*number];
            if term.prefix {
                token.starts_with(term.text.as_str())
            } else {
                token == term.text
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
            .filter(|(_, term)| !term.prefix)
            .map(|(number, term)| (number, term.text.as_str()))
    }
}

/// What one passage holds, and the room to count it in, used again for the next.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// All tokens of the passage.
    pub tokens: u32,
    /// By number of the term.
    counts: Vec<u32>,
    /// Ascending, by number of the term; empty unless asked for.
    places: Vec<Vec<u32>>,
    segmenter: Segmenter,
}

impl Tally {
    /// Count the tokens of a passage of these pieces.
    pub fn count<T: AsRef<str>>(&mut self, terms: &Terms, pieces: &[T]) {
        self.counts.clear();
        self.counts.resize(terms.list.len(), 0);
        self.places.resize_with(terms.list.len(), Vec::new);
        self.places.iter_mut().for_each(Vec::clear);
        let Self {
            tokens,
            counts,
            places,
            segmenter,
        } = self;
        *tokens = 0;
        let mut first = 0;
        for piece in pieces {
            first += 1 + segmenter.run(piece.as_ref(), |token| {
                *tokens += 1;
                for number in terms.of(token.text) {
                    counts[number] += 1;
                    if terms.list[number].placed {
                        places[number].push(first + token.position);
                    }
                }
            });
        }
    }

    /// How often the passage holds a term.
    pub fn times(&self, term: usize) -> u32 {
        self.counts[term]
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
