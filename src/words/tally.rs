//! How often does a passage hold the tokens that are asked for? One pass over its text.

use super::count::chunk;
use super::literal::Literal;
use super::tokenizer::Segmenter;

/// A token that is asked for.
#[derive(Debug)]
struct Term {
    text: String,
    /// ASCII letters and digits that ASCII text must hold for it; `None` where it cannot hold it.
    literal: Option<Literal>,
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
        let letters = text.split(|c: char| !c.is_ascii_alphanumeric());
        let longest = letters.max_by_key(|letters| letters.len());
        self.list.push(Term {
            text: text.to_owned(),
            literal: longest
                .filter(|letters| !letters.is_empty() && text.is_ascii())
                .map(|letters| Literal::new(letters.as_bytes())),
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
    /// Where the literal of each term is next.
    next: Vec<Option<usize>>,
    segmenter: Segmenter,
}

impl Tally {
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
    /// positions. Most of a text holds nothing that is asked for: there the tokens are not cut.
    fn count_piece(&mut self, terms: &Terms, piece: &str, mut first: u32) -> u32 {
        let Self {
            tokens,
            counts,
            places,
            next,
            segmenter,
        } = self;
        let bytes = piece.as_bytes();
        let find = |term: &Term, from| term.literal.as_ref()?.find(bytes, from);
        next.clear();
        next.extend(terms.list.iter().map(|term| find(term, 0)));
        let mut at = 0;
        while at < bytes.len() {
            let chunk = chunk(bytes, at);
            let is_here = |next: &Option<usize>| next.is_some_and(|place| place < chunk.end);
            match chunk.count {
                Some(count) if !next.iter().any(is_here) => {
                    *tokens += count.tokens;
                    first += count.positions;
                }
                _ => {
                    first += segmenter.run(&piece[at..chunk.end], |token| {
                        *tokens += 1;
                        for number in terms.of(token.text) {
                            counts[number] += 1;
                            if terms.list[number].placed {
                                places[number].push(first + token.position);
                            }
                        }
                    });
                    for (term, next) in terms.list.iter().zip(next.iter_mut()) {
                        if is_here(next) {
                            *next = find(term, chunk.end);
                        }
                    }
                }
            }
            at = chunk.end;
        }
        first
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
