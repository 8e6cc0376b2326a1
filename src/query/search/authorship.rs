//! Did a person type this, or did a program put it into their message, or did they paste it?
//!
//! What agents add stands between [tags](injected_blocks).
//!
//! Pasted is what an agent [marks](pasted_blocks) so, whatever tags it holds. Else it is logs,
//! stack traces and code: ten lines and more, one after the other, that are fenced, or that begin
//! as programs begin lines.

use std::ops::Range;

use crate::format::{injected_blocks, pasted_blocks};

/// So many lines of a program's are no quotation but a paste.
const PASTE: usize = 10;

/// Who wrote something, those first who are asked for least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Author {
    /// A program put it there.
    Program,
    /// A person put it there, who did not write it.
    Paste,
    /// A person.
    Person,
}

/// Who wrote what was found. `found` is not empty; a person, if one wrote any of it.
pub(super) fn author(text: &str, found: &[Range<usize>]) -> Author {
    let (injected, marked) = match text.contains("</") {
        true => (injected_blocks(text), pasted_blocks(text)),
        false => (Vec::new(), Vec::new()),
    };
    let pasted = match text.lines().nth(PASTE - 1) {
        Some(_) => pastes(text),
        None => Vec::new(),
    };
    let mut author = Author::Program;
    for place in found {
        author = match place {
            place if is_in(&injected, place) => author,
            place if is_in(&marked, place) || is_in(&pasted, place) => Author::Paste,
            _ => return Author::Person,
        };
    }
    match found.is_empty() {
        true => Author::Person,
        false => author,
    }
}

/// Whether a place is in one of the blocks. These are in order, and none is in another.
fn is_in(blocks: &[Range<usize>], place: &Range<usize>) -> bool {
    let next = blocks.partition_point(|block| block.end < place.end);
    let next = blocks.get(next);
    next.is_some_and(|block| block.start <= place.start)
}

/// Where pastes are.
fn pastes(text: &str) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push(at..at + line.len());
        at += line.len();
    }
    let is_fence = |line: &Range<usize>| {
        let fence = text[line.clone()].trim_start().strip_prefix("```");
        fence.is_some_and(|rest| !rest.contains("```"))
    };
    let fences: Vec<usize> = (0..lines.len())
        .filter(|at| is_fence(&lines[*at]))
        .collect();
    let mut fences = fences.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    let mut fence = fences.next();
    let mut pastes = Vec::new();
    // Lines of a program, and where the first begins and the last ends.
    let mut run = (0, 0..0);
    let mut end_run = |run: &mut (usize, Range<usize>)| {
        if run.0 >= PASTE {
            pastes.push(run.1.clone());
        }
        *run = (0, 0..0);
    };
    for (number, line) in lines.into_iter().enumerate() {
        fence = fence.filter(|(_, last)| number <= *last).or_else(|| {
            let next = fences.next();
            next.filter(|(_, last)| number <= *last)
        });
        let (is_edge, is_fenced) = fence.map_or((false, false), |(first, last)| {
            (
                number == first || number == last,
                first < number && number < last,
            )
        });
        let said = &text[line.clone()];
        if is_edge {
            end_run(&mut run);
        } else if is_fenced || is_of_program(said) {
            if run.0 == 0 {
                run.1.start = line.start;
            }
            run = (run.0 + 1, run.1.start..line.end);
        } else if !said.trim().is_empty() {
            end_run(&mut run);
        }
    }
    end_run(&mut run);
    pastes
}

/// Whether a line begins as programs begin them: indented, with a time, a level, a path, a prompt
/// or a bracket. Lists and headings are what people write.
fn is_of_program(line: &str) -> bool {
    let text = line.trim();
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_list = matches!(first, "-" | "*" | "+" | "•")
        || first
            .strip_suffix(['.', ')'])
            .is_some_and(|number| number.len() <= 3 && number.bytes().all(|b| b.is_ascii_digit()));
    if first.is_empty() || is_list {
        return false;
    }
    let is_indented = line.starts_with([' ', '\t']);
    let level = first.trim_matches(|c: char| !c.is_ascii_alphabetic());
    let is_level = [
        "trace", "debug", "info", "warn", "warning", "error", "fatal", "panic",
    ]
    .iter()
    .any(|known| level.eq_ignore_ascii_case(known));
    // A time, an address: not a number alone.
    let is_number =
        first.starts_with(|c: char| c.is_ascii_digit()) && first.contains([':', '-', '/', '.']);
    let begins_so = |c: char| "[{}<|>$/~+@".contains(c);
    is_indented || is_level || is_number || first == "at" || text.starts_with(begins_so)
}

#[cfg(test)]
mod tests {
    use super::{Author, author};

    fn of(text: &str, word: &str) -> Author {
        let found: Vec<std::ops::Range<usize>> = text
            .match_indices(word)
            .map(|(at, _)| at..at + word.len())
            .collect();
        assert!(!found.is_empty(), "{word}");
        author(text, &found)
    }

    #[test]
    fn between_tags_of_programs() {
        let text = "fix it <system-reminder>run fix again</system-reminder> please <b>fix</b>";
        assert_eq!(of(text, "again"), Author::Program);
        assert_eq!(of(text, "fix"), Author::Person);
        assert_eq!(of(text, "please"), Author::Person);
        assert_eq!(of("a <b>bold</b> word", "bold"), Author::Person);
        assert_eq!(of("<open-only> x", "x"), Author::Person);
        for text in [
            "<file name=\"src/main.rs\">\nfn main() { word }\n</file>\nwhat is that?",
            "# AGENTS.md instructions\n\n<INSTRUCTIONS>\nword\n</INSTRUCTIONS>",
            "<skill name=\"x\" location=\"/y\">word</skill> go",
        ] {
            assert_eq!(of(text, "word"), Author::Program, "{text}");
        }
        assert_eq!(author("x", &[]), Author::Person);
        let text = "<item name=\"x\"/> word <item>y</item>";
        assert_eq!(of(text, "word"), Author::Person);
    }

    #[test]
    fn between_the_tags_of_what_is_pasted() {
        let paste = |text: &str| {
            format!("<pasted_content id=\"8a62\">\n{text}\n</pasted_content id=\"8a62\">")
        };
        let text = format!("see {} and mend it", paste("a word"));
        assert_eq!(of(&text, "word"), Author::Paste);
        assert_eq!(of(&text, "mend"), Author::Person);
        // Tags that are pasted are nobody's.
        let text = paste("<task-notification>word</task-notification>");
        assert_eq!(of(&text, "word"), Author::Paste);
        let text = format!("{} mend it {}", paste("<a-b> one"), paste("two </a-b>"));
        assert_eq!(of(&text, "mend"), Author::Person);
        let text = format!("<system-reminder>word {}</system-reminder>", paste("x"));
        assert_eq!(of(&text, "word"), Author::Program);
        let text = format!("use <my-tag> here {}", paste("word </my-tag> x"));
        assert_eq!(of(&text, "word"), Author::Paste);
        let text = format!(
            "{}<system-reminder>word</system-reminder>",
            paste("<system-reminder>")
        );
        assert_eq!(of(&text, "word"), Author::Program);
    }

    #[test]
    fn hostile_text_is_looked_through_once() {
        // By what it costs to look through each tag's text to the end this would take minutes.
        for line in [
            "  <property name=\"a\" value=\"v\"/>\n",
            "<a-b> ",
            "<a-b>x</a-b> word ",
        ] {
            let text = format!("word\n{}</beans>", line.repeat(100_000));
            assert_eq!(of(&text, "word"), Author::Person);
        }
    }

    #[test]
    fn long_logs_and_code_are_pastes_and_lists_are_not() {
        let lines = |line: &str| line.repeat(12);
        for paste in [
            lines("2026-11-01 12:00:00 word failed\n"),
            lines("    at word (main.js:1)\n"),
            lines("ERROR word: failed\n\n"),
            format!("```\n{}```\n", lines("let word = 1;\n")),
        ] {
            let text = format!("Why does this happen?\n{paste}Do you know?");
            assert_eq!(of(&text, "word"), Author::Paste, "{text}");
            assert_eq!(of(&text, "happen"), Author::Person);
            assert_eq!(of(&text, "know"), Author::Person);
            let both = format!("The word fails\n{paste}");
            assert_eq!(of(&both, "word"), Author::Person);
        }
        for written in [
            lines("- do the word\n"),
            lines("1. do the word\n"),
            lines("  * do the word\n"),
            lines("Say a word about it.\n"),
            lines("3 words about it\n"),
            format!("```js foo()``` is what I wrote.\n{}", lines("A word.\n")),
            format!("```\n{}", lines("A word.\n")),
            "ERROR word\n".repeat(3),
        ] {
            assert_eq!(of(&written, "word"), Author::Person, "{written}");
        }
    }
}
