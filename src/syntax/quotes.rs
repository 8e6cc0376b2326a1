//! Which marks are quotes, and where does quoted text end?

/// Quotes beside `"`.
struct Marks {
    open: &'static [char],
    close: &'static [char],
    /// Nobody writes the opening mark for anything else. Others may be apostrophes: they are quotes
    /// only around whole words, and text where they are not closed.
    certain: bool,
}

const MARKS: [Marks; 6] = [
    Marks {
        open: &['“', '„', '‟'],
        close: &['“', '”'],
        certain: true,
    },
    Marks {
        open: &['«'],
        close: &['»'],
        certain: true,
    },
    // As Swedes and Danes write them.
    Marks {
        open: &['”'],
        close: &['”'],
        certain: false,
    },
    Marks {
        open: &['»'],
        close: &['«', '»'],
        certain: false,
    },
    Marks {
        open: &['‘', '’', '‚'],
        close: &['‘', '’'],
        certain: false,
    },
    Marks {
        open: &['\''],
        close: &['\''],
        certain: false,
    },
];

/// Text in quotes.
pub(super) struct QuotedText {
    pub text: String,
    /// Behind the closing mark.
    pub end: usize,
    /// Nothing closes it, so that it is everything up to the end.
    pub is_open: bool,
}

/// Whether quoted text may begin with this mark.
pub(crate) fn opens(mark: char) -> bool {
    mark == '"' || MARKS.iter().any(|marks| marks.open.contains(&mark))
}

/// The quoted text that begins at `start`; `None`: the mark there is text.
pub(super) fn quoted(
    characters: &[char],
    start: usize,
    ends_word: impl Fn(usize) -> bool,
) -> Option<QuotedText> {
    let mark = characters.get(start)?;
    if *mark == '"' {
        return Some(plain(characters, start + 1));
    }
    let marks = MARKS.iter().find(|marks| marks.open.contains(mark))?;
    let from = start + 1;
    for (at, next) in characters.iter().enumerate().skip(from) {
        // In `'a 'b'` the first mark is no quote: one begins before it ends.
        let is_inside = at == from || characters[at - 1].is_whitespace();
        let closes = marks.close.contains(next);
        if closes && (marks.certain || !is_inside && ends_word(at + 1)) {
            return Some(QuotedText {
                text: characters[from..at].iter().collect(),
                end: at + 1,
                is_open: false,
            });
        }
        let is_blank = at == from && next.is_whitespace();
        if !marks.certain && (is_blank || is_inside && marks.open.contains(next)) {
            return None;
        }
    }
    marks.certain.then(|| QuotedText {
        text: characters[from..].iter().collect(),
        end: characters.len(),
        is_open: true,
    })
}

/// The query that finds this text as it stands, whatever signs are in it: for a program that puts a
/// query together. Behind the name of a filter it is its value. A `\` at its end, which would keep
/// the quote open, is left out.
///
/// ```
/// use sessionary::syntax::phrase;
/// assert_eq!(phrase("a OR b"), r#""a OR b""#);
/// let query = format!("cwd:{} linker", phrase(r#"/home/ada/the "old" one"#));
/// assert_eq!(query, r#"cwd:"/home/ada/the \"old\" one" linker"#);
/// ```
pub fn phrase(text: &str) -> String {
    let text = text.trim_end_matches('\\').replace('"', "\\\"");
    format!("\"{text}\"")
}

/// Text behind a `"`; `\"` is a quote in it.
fn plain(characters: &[char], from: usize) -> QuotedText {
    let mut text = String::new();
    let mut at = from;
    while let Some(next) = characters.get(at) {
        at += 1;
        match next {
            '"' => {
                return QuotedText {
                    text,
                    end: at,
                    is_open: false,
                };
            }
            '\\' if characters.get(at) == Some(&'"') => {
                at += 1;
                text.push('"');
            }
            _ => text.push(*next),
        }
    }
    QuotedText {
        text,
        end: at,
        is_open: true,
    }
}

/// The text between `*"` at `start` and the `"*` at a word's end; `None`: there is none.
pub(super) fn quoted_part(
    characters: &[char],
    start: usize,
    ends_word: impl Fn(usize) -> bool,
) -> Option<(String, usize)> {
    let is_at = |at: usize, sign| characters.get(at) == Some(&sign);
    if !(is_at(start, '*') && is_at(start + 1, '"')) {
        return None;
    }
    let mut text = String::new();
    let mut at = start + 2;
    loop {
        match characters.get(at)? {
            '"' if is_at(at + 1, '*') && ends_word(at + 2) => {
                return (!text.trim().is_empty()).then_some((text, at + 2));
            }
            // Another one begins before this one ends.
            '*' if is_at(at + 1, '"') && characters[at - 1].is_whitespace() => return None,
            '\\' if is_at(at + 1, '"') => {
                text.push('"');
                at += 1;
            }
            next => text.push(*next),
        }
        at += 1;
    }
}
