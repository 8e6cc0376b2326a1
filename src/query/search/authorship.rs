//! Did a person type this, or did a program put it into their message, or did they paste it?
//!
//! Agents add reminders, environment descriptions, instructions, files and skills to what a person
//! typed, between tags: such whose name has a hyphen or a `_` in it (`<system-reminder>`,
//! `<environment_context>`) or is in capitals (`<INSTRUCTIONS>`), or which have a name themselves
//! (`<file name="…">`). People hardly ever write such in prose.
//!
//! Pasted are logs, stack traces and code: ten lines and more, one after the other, that are
//! fenced, or that begin as programs begin lines.

use std::collections::HashMap;
use std::ops::Range;

/// Bytes in which a tag ends.
const LONGEST_TAG: usize = 1024;
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
    let injected = match text.contains("</") {
        true => blocks(text),
        false => Vec::new(),
    };
    let pasted = match text.lines().nth(PASTE - 1) {
        Some(_) => pastes(text),
        None => Vec::new(),
    };
    // Blocks are in order, and none is in another.
    let is_in = |blocks: &[Range<usize>], place: &Range<usize>| {
        let next = blocks.partition_point(|block| block.end < place.end);
        blocks
            .get(next)
            .is_some_and(|block| block.start <= place.start)
    };
    let mut author = Author::Program;
    for place in found {
        author = match place {
            place if is_in(&injected, place) => author,
            place if is_in(&pasted, place) => Author::Paste,
            _ => return Author::Person,
        };
    }
    match found.is_empty() {
        true => Author::Person,
        false => author,
    }
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

/// Where tagged blocks are; those within others are left out.
fn blocks(text: &str) -> Vec<Range<usize>> {
    // By name, where their ends begin: a name whose end is missing is not looked for again and
    // again.
    let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, _) in text.match_indices("</") {
        let name = name_at(text, at + 2);
        if text[at + 2 + name.len()..].starts_with('>') {
            ends.entry(name).or_default().push(at);
        }
    }
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (open, _) in text.match_indices('<') {
        if blocks.last().is_some_and(|block| open < block.end) {
            continue;
        }
        let name = name_at(text, open + 1);
        let rest = &text[open + 1 + name.len()..];
        let is_capital = name.len() > 3 && name.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_programs = name.contains(['-', '_']) || is_capital || rest.starts_with(" name=");
        if !is_programs || !rest.starts_with(['>', ' ']) || is_empty(rest) {
            continue;
        }
        let ends = ends.get(name).map_or(&[][..], Vec::as_slice);
        let next = ends.partition_point(|end| *end <= open);
        if let Some(end) = ends.get(next) {
            blocks.push(open..end + "</>".len() + name.len());
        }
    }
    blocks
}

/// The name of a tag that may stand there.
fn name_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    &rest[..rest.bytes().take_while(|byte| is_in_name(byte)).count()]
}

/// Whether a tag that goes on so has nothing in it (`<property name="a"/>`).
fn is_empty(rest: &str) -> bool {
    let tag = &rest.as_bytes()[..rest.len().min(LONGEST_TAG)];
    let end = tag.iter().position(|byte| *byte == b'>');
    end.is_some_and(|end| tag[..end].ends_with(b"/"))
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
