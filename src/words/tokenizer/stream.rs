//! How does tantivy call [`segment`](super::segment)?

use tantivy::tokenizer as api;

use super::Segmenter;

/// `segment` as tantivy calls it.
#[derive(Debug, Clone, Default)]
pub struct WordTokenizer {
    segmenter: Segmenter,
    token: api::Token,
}

/// The tokens of one text, for tantivy.
pub struct WordStream<'a> {
    text: &'a str,
    tokenizer: &'a mut WordTokenizer,
    /// Filled only when tantivy asks token by token, which indexing does not.
    collected: Option<std::vec::IntoIter<api::Token>>,
}

impl api::Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        WordStream {
            text,
            tokenizer: self,
            collected: None,
        }
    }
}

impl api::TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        if self.collected.is_none() {
            let mut tokens = Vec::new();
            self.process(&mut |token| tokens.push(token.clone()));
            self.collected = Some(tokens.into_iter());
        }
        match self.collected.as_mut().and_then(Iterator::next) {
            Some(token) => {
                self.tokenizer.token = token;
                true
            }
            None => false,
        }
    }

    fn token(&self) -> &api::Token {
        &self.tokenizer.token
    }

    fn token_mut(&mut self) -> &mut api::Token {
        &mut self.tokenizer.token
    }

    fn process(&mut self, sink: &mut dyn FnMut(&api::Token)) {
        let WordTokenizer {
            segmenter,
            token: out,
        } = &mut *self.tokenizer;
        segmenter.run(self.text, |token| {
            out.text.clear();
            out.text.push_str(token.text);
            out.position = token.position as usize;
            out.offset_from = token.start;
            out.offset_to = token.end;
            sink(out);
        });
    }
}
