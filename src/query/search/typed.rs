//! Did a person type this, or did a program put it into their message, or did they paste it?
//!
//! Agents add reminders, environment descriptions, instructions, files and skills to what a person typed, between tags:
//! such whose name has a hyphen or a `_` in it (`<system-reminder>`, `<environment_context>`) or is in capitals
//! (`<INSTRUCTIONS>`), or which have a name themselves (`<file name="…">`). People hardly ever write such in prose.
//!
//! Pasted are logs, stack traces and code: ten lines and more, one after the other, that are fenced, or that begin as programs
//! begin lines.

use std::ops::Range;

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
    let is_in = |blocks: &[Range<usize>], place: &Range<usize>| {
        blocks
            .iter()
            .any(|block| block.start <= place.start && place.end <= block.end)
    };
    let author = |place: &Range<usize>| match place {
        place if is_in(&injected, place) => Author::Program,
        place if is_in(&pasted, place) => Author::Paste,
        _ => Author::Person,
    };
    found.iter().map(author).max().unwrap_or(Author::Person)
}

/// Where pastes are.
fn pastes(text: &str) -> Vec<Range<usize>> {
    let mut pastes = Vec::new();
    // Lines of a program, and where the first begins and the last ends.
    let mut run = (0, 0..0);
    let mut is_fenced = false;
    let mut at = 0;
    let mut end_run = |run: &mut (usize, Range<usize>)| {
        if run.0 >= PASTE {
            pastes.push(run.1.clone());
        }
        *run = (0, 0..0);
    };
    for line in text.split_inclusive('\n') {
        let here = at..at + line.len();
        at = here.end;
        if line.trim_start().starts_with("```") {
            end_run(&mut run);
            is_fenced = !is_fenced;
        } else if is_fenced || is_of_program(line) {
            if run.0 == 0 {
                run.1.start = here.start;
            }
            run = (run.0 + 1, run.1.start..here.end);
        } else if !line.trim().is_empty() {
            end_run(&mut run);
        }
    }
    end_run(&mut run);
    pastes
}

/// Whether a line begins as programs begin them: indented, with a time, a level, a path, a prompt or a bracket. Lists and
/// headings are what people write.
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
    let begins_so = |c: char| c.is_ascii_digit() || "[{}<|>$/~+@".contains(c);
    is_indented || is_level || first == "at" || text.starts_with(begins_so)
}

/// Where tagged blocks are; those within others are left out.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('<').map(|offset| at + offset) {
        at = open + 1;
        let rest = &text[at..];
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            .count();
        let name = &rest[..length];
        let is_capital = name.len() > 3 && name.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_programs =
            name.contains(['-', '_']) || is_capital || rest[length..].starts_with(" name=");
        if !is_programs || !rest[length..].starts_with(['>', ' ']) {
            continue;
        }
        let close = format!("</{name}>");
        if let Some(end) = text[at..].find(&close) {
            let end = at + end + close.len();
            blocks.push(open..end);
            at = end;
        }
    }
    blocks
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
            "ERROR word\n".repeat(3),
        ] {
            assert_eq!(of(&written, "word"), Author::Person, "{written}");
        }
    }
}
