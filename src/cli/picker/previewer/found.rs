//! What stands out in a session for somebody who found it by a query, and where is the best of it?

use std::collections::BTreeSet;
use std::ops::Range;

use sessionary::index::Highlighter;
use sessionary::model::Hit;
use sessionary::syntax::{self, Now};

/// Letters by which the place of a snippet is told from others.
const ENOUGH: usize = 48;

/// What makes matches stand out: what the query asks for, and what was found for it instead, as
/// words with a typo are. `None`: nothing does.
pub fn highlighter(query: &str, hits: &[Hit]) -> Option<Highlighter> {
    let of = |query: &str| Highlighter::new(&syntax::parse_as_typed(query, Now::utc(0)));
    let asked = of(query)?;
    let mut others = BTreeSet::new();
    for hit in hits {
        for word in marked(hit) {
            let marks = asked.marks(hit.class, word);
            let is_asked = marks.first().is_some_and(|mark| mark.len() == word.len());
            if !is_asked && word.chars().all(char::is_alphanumeric) {
                others.insert(format!("\"{word}\" "));
            }
        }
    }
    match others.is_empty() {
        true => Some(asked),
        // What is typed just now may be open at its end.
        false => of(&format!("{}{query}", String::from_iter(others))),
    }
}

/// The matches in a hit's snippet.
fn marked(hit: &Hit) -> impl Iterator<Item = &str> {
    let words = hit.highlights.iter();
    words.filter_map(|(from, to)| hit.snippet.get(*from..*to))
}

/// Which of these matches in a text is the one that a hit's snippet shows first.
pub fn shown_first(hit: &Hit, text: &str, marks: &[Range<usize>]) -> Option<usize> {
    let (from, _) = *hit.highlights.first()?;
    let shown = hit.snippet.get(from..)?.split('…').next()?;
    let shown: Vec<char> = solid(shown).take(ENOUGH).collect();
    let goes_on_so = |mark: &Range<usize>| {
        let there = solid(text.get(mark.start..).unwrap_or_default());
        there.take(shown.len()).eq(shown.iter().copied())
    };
    let found = marks.iter().find(|mark| goes_on_so(mark));
    found.map(|mark| mark.start)
}

/// The letters of a text, but for blanks and what stands for characters that act: a snippet has its
/// own way to write those.
fn solid(text: &str) -> impl Iterator<Item = char> {
    let is_solid = |c: &char| !c.is_whitespace() && !c.is_control();
    let stands_for_one = |c: &char| ('\u{2400}'..='\u{2421}').contains(c) || *c == '\u{fffd}';
    text.chars()
        .filter(move |c| is_solid(c) && !stands_for_one(c))
}

#[cfg(test)]
pub mod tests {
    use sessionary::model::Hit;

    use super::*;
    use sessionary::model::Class;

    /// A hit in this entry that shows this snippet, `[so]` the matches in it.
    pub fn hit(entry: &str, class: &str, snippet: &str) -> Hit {
        let (mut text, mut highlights) = (String::new(), Vec::new());
        for letter in snippet.chars() {
            match letter {
                '[' => highlights.push((text.len(), 0)),
                ']' => {
                    let end = text.len();
                    highlights.iter_mut().last().expect("an opened one").1 = end;
                }
                letter => text.push(letter),
            }
        }
        let hit = serde_json::json!({
            "address": format!("s:{entry}"), "entry": entry, "class": class, "kind": "message",
            "role": "user", "tool": null, "time": null, "score": 1.0, "standing": "typed",
            "place": null, "copies": 0, "snippet": text, "highlights": highlights,
        });
        serde_json::from_value(hit).expect("a hit")
    }

    fn marks(query: &str, hits: &[Hit], text: &str) -> Vec<String> {
        let found = highlighter(query, hits);
        let marks = found.iter().flat_map(|one| one.marks(Class::Prose, text));
        marks.map(|range| text[range].to_owned()).collect()
    }

    #[test]
    fn what_was_found_instead_stands_out_too() {
        let text = "the linker links a deployment";
        assert_eq!(marks("linker", &[], text), ["linker"]);
        assert_eq!(marks("deploymnet link", &[], text), ["linker", "links"]);
        let found = [hit("e", "prose", "a [deployment] by the [linker]")];
        assert_eq!(
            marks("deploymnet \"linke", &found, text),
            ["linker", "deployment"]
        );
        // Filters alone find sessions and no words.
        assert!(highlighter("agent:pi", &[]).is_none());
    }

    #[test]
    fn the_place_of_a_snippet_is_found_again() {
        let text = "a needle in hay\n\n    the needle\u{2407} in\tstraw, and a needle at the end";
        let at: Vec<usize> = text.match_indices("needle").map(|(at, _)| at).collect();
        let marks: Vec<Range<usize>> = at.iter().map(|at| *at..at + 6).collect();
        let first = |snippet: &str| shown_first(&hit("e", "prose", snippet), text, &marks);
        assert_eq!(
            first("…hay the [needle] in straw, and a [needle]…"),
            Some(at[1])
        );
        assert_eq!(first("a [needle] in hay … [needle] at"), Some(at[0]));
        assert_eq!(first("…and a [needle] at the end"), Some(at[2]));
        assert_eq!(first("a [needle] elsewhere"), None);
        assert_eq!(first("no match"), None);
    }
}
