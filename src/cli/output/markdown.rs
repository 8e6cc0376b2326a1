//! How is a transcript written as Markdown?

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use sessionary::model::{Class, SessionRow, ShownEntry};

use super::Screen;
use super::text::{inert_lines, plain_line};
use super::time::minute;
use super::transcript::{about, call, who};

/// What stands above the entries.
pub fn head(row: &SessionRow, screen: &Screen) -> String {
    let title = crate::command::title(row).1;
    let mut out = format!("# {}\n\n", escaped(&title));
    for (name, value) in about(row, screen) {
        out.push_str(&format!("- {name}: {}\n", code(&value)));
    }
    out
}

/// One entry.
pub fn entry(entry: &ShownEntry) -> String {
    let mut above = vec![format!("**{}**", escaped(&who(entry)))];
    above.push(minute(entry.time.as_deref()));
    above.extend(entry.label.as_deref().map(|label| code(&plain_line(label))));
    if entry.is_error {
        above.push("error".to_owned());
    }
    above.push(code(&plain_line(&entry.id)));
    above.retain(|part| !part.is_empty());
    let mut out = format!("\n---\n\n{}\n", above.join(" · "));
    if let Some(problem) = &entry.problem {
        out.push_str(&format!("\n*{}*\n", escaped(&plain_line(problem))));
    }
    for (class, pieces) in &entry.text {
        match class {
            Class::Prose => {
                for piece in pieces {
                    out.push_str(&format!("\n{}\n", prose(&inert_lines(piece))));
                }
            }
            Class::Output => {
                let (name, text) = call(pieces);
                if let Some(name) = name {
                    out.push_str(&format!("\n{}\n", code(&name)));
                }
                if !text.trim_end().is_empty() {
                    out.push_str(&format!("\n{}", fenced(text.trim_end())));
                }
            }
        }
    }
    out
}

/// Text as a block of code, whatever is in it.
fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    format!("{fence}\n{text}\n{fence}\n")
}

/// Text in a line as code.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`') + 1);
    match text.starts_with('`') || text.ends_with('`') {
        true => format!("{fence} {text} {fence}"),
        false => format!("{fence}{text}{fence}"),
    }
}

fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for character in text.chars() {
        run = if character == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Text in a line as text.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '&' | '|' | '~'
        ) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// What somebody said in Markdown, with nothing in it that acts or reaches beyond its own end: HTML is text, images are
/// links, and a fence that is open is closed.
fn prose(text: &str) -> String {
    let mut text = text.trim_end().to_owned();
    // What was hidden in HTML may be Markdown once that is text. Each time there is less of it.
    loop {
        let live = live(&text);
        if live.is_empty() {
            break;
        }
        for at in live.into_iter().rev() {
            text.insert(at, '\\');
        }
    }
    if let Some(fence) = open_fence(&text) {
        text.push('\n');
        text.push_str(&fence);
    }
    text
}

fn parsed(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    Parser::new_ext(text, options).into_offset_iter()
}

/// Where HTML begins, or could for a reader of another kind, and where images do.
fn live(text: &str) -> BTreeSet<usize> {
    let is_bare = |at: &usize| {
        let before = text.as_bytes()[..*at].iter().rev();
        before.take_while(|byte| **byte == b'\\').count() % 2 == 0
    };
    // Alone it is text; a definition in another piece would make an image of it.
    let is_image = |at: &usize| text[at + 1..].starts_with('[');
    let begins = |at: &usize| {
        let behind = text[at + 1..].chars().next();
        behind.is_some_and(|c| c.is_ascii_alphabetic() || "/!?".contains(c))
    };
    let mut found = BTreeSet::new();
    let mut is_code = false;
    for (event, range) in parsed(text) {
        let marks = memchr::memchr_iter(b'<', text[range.clone()].as_bytes());
        let marks = marks.map(|at| range.start + at).filter(is_bare);
        match event {
            Event::Html(_) | Event::InlineHtml(_) => found.extend(marks),
            Event::Text(_) if !is_code => {
                let images = memchr::memchr_iter(b'!', text[range.clone()].as_bytes());
                let images = images.map(|at| range.start + at).filter(is_bare);
                found.extend(images.filter(is_image));
                found.extend(marks.filter(begins));
            }
            Event::Start(Tag::Image { .. }) => found.extend(Some(range.start)),
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            _ => {}
        }
    }
    found
}

/// The fence of a block of code that the end of the text does not close. In a list or a quotation it ends with that.
fn open_fence(text: &str) -> Option<String> {
    let mut depth = 0;
    let mut last = None;
    for (event, range) in parsed(text) {
        match event {
            Event::Start(tag) => {
                let is_fenced = matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_)));
                last = (depth == 0 && is_fenced).then_some(range);
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    let block = text[last?].trim_start_matches(' ');
    let mark = block.chars().next()?;
    let length = |line: &str| line.chars().take_while(|c| *c == mark).count();
    let (begin, rest) = block.split_once('\n').unwrap_or((block, ""));
    let end = rest.lines().next_back().unwrap_or_default();
    let closing = end.trim_start_matches(' ');
    let is_closed = end.len() - closing.len() <= 3
        && length(closing) >= length(begin)
        && closing.trim_end().chars().all(|c| c == mark);
    (!is_closed).then(|| mark.to_string().repeat(length(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_beyond_its_own_end() {
        assert_eq!(prose("a\n```rust\nfn x() {}"), "a\n```rust\nfn x() {}\n```");
        assert_eq!(prose("```\n~~~\n```\nb"), "```\n~~~\n```\nb");
        assert_eq!(prose("~~~~\n~~~\n"), "~~~~\n~~~\n~~~~");
        assert_eq!(prose("``` a`b\ntext"), "``` a`b\ntext");
        assert_eq!(
            prose("<!-- open\n<b>x</b>\n<SCRIPT>"),
            "\\<!-- open\n\\<b>x\\</b>\n\\<SCRIPT>"
        );
        assert_eq!(prose("```\n<!-- in code\n```"), "```\n<!-- in code\n```");
        // Behind a list mark or in a quotation the fence ends with those.
        for closed in [
            "- ```rust\n  x\n  ```",
            "- ```rust\n  x",
            "> ```\n> x",
            "1. a\n\n   ```\n   x\n   ```\n2. b",
            "```\nx\n  ````  ",
            "    ```",
            "a\n    ```",
        ] {
            assert_eq!(prose(closed), closed.trim_end());
        }
        assert_eq!(prose("- a\n\n```\nx"), "- a\n\n```\nx\n```");
        assert_eq!(prose("```\nx\n    ```"), "```\nx\n    ```\n```");
        assert_eq!(prose("```"), "```\n```");
        assert_eq!(fenced("a ``` b"), "````\na ``` b\n````\n");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(escaped("a*b <c>"), "a\\*b \\<c\\>");
    }

    #[test]
    fn nothing_acts() {
        for (text, written) in [
            ("a <b>c</b> `<i>` d", "a \\<b>c\\</b> `<i>` d"),
            ("![a](https://b/c.png)", "\\![a](https://b/c.png)"),
            ("![a][r]\n\n[r]: https://b", "\\![a][r]\n\n[r]: https://b"),
            ("[![a](b)](c)", "[\\![a](b)](c)"),
            // What is defined elsewhere in the document.
            ("a ![b][r] `![b][r]`", "a \\![b][r] `![b][r]`"),
            ("![r] and \\![r] !", "\\![r] and \\![r] !"),
            ("<!-- ![a](b) -->", "\\<!-- \\![a](b) -->"),
            ("<div onclick=\nx", "\\<div onclick=\nx"),
            ("x \\<b>", "x \\<b>"),
            ("x \\\\<b>", "x \\\\\\<b>"),
            ("1 < 2 <3 and <https://a.b>", "1 < 2 <3 and <https://a.b>"),
            (
                "    <b>\n\n```\n<b> ![a](b)\n```",
                "    <b>\n\n```\n<b> ![a](b)\n```",
            ),
            ("> <b>\n- <i>", "> \\<b>\n- \\<i>"),
            ("| a |\n|---|\n| <b> |", "| a |\n|---|\n| \\<b> |"),
        ] {
            assert_eq!(prose(text), written);
        }
        // Whatever it is made of.
        let parts = [
            "<", "b", ">", "!", "[", "]", "(", ")", "`", "\\", "\n", " ", "-", "&lt;", "é", "<!--",
            "-->", "```", "~",
        ];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(parts[(state >> 33) as usize % parts.len()]);
            }
            let written = format!("{}\n\n---\n\nBEHIND\n", prose(&text));
            let (mut plain, mut inside) = (false, Vec::new());
            for (event, _) in parsed(&written) {
                assert!(
                    !matches!(
                        event,
                        Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. })
                    ),
                    "{text:?}: {written:?}"
                );
                match event {
                    Event::Start(tag) => inside.push(tag),
                    Event::End(_) => drop(inside.pop()),
                    Event::Text(said) if &*said == "BEHIND" => {
                        plain = matches!(inside[..], [Tag::Paragraph]);
                    }
                    _ => {}
                }
            }
            assert!(plain, "{text:?}: {written:?}");
        }
    }
}
