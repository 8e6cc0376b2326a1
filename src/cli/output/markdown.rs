//! How is a transcript written as Markdown?

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
use sessionary::model::{Class, SessionRow, ShownEntry, Zone};

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
pub fn entry(entry: &ShownEntry, zone: &Zone) -> String {
    let mut above = vec![format!("**{}**", escaped(&who(entry)))];
    above.push(minute(entry.time.as_deref(), zone));
    above.extend(entry.label.as_deref().map(|label| code(&plain_line(label))));
    if entry.is_error {
        above.push("error".to_owned());
    }
    if entry.has_image {
        above.push("image".to_owned());
    }
    above.push(code(&plain_line(&entry.id)));
    above.retain(|part| !part.is_empty());
    let mut out = format!("{}\n", above.join(" · "));
    if let Some(problem) = &entry.problem {
        out.push_str(&format!("\n*{}*\n", escaped(&plain_line(problem))));
    }
    for (class, pieces) in &entry.text {
        match class {
            Class::Prose => {
                for piece in pieces {
                    out.push_str(&format!("\n{}\n", inert(&inert_lines(piece))));
                }
            }
            _ => {
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
    // Behind a list what is indented is no code any more, but a part of the list: pieces are looked
    // at together, too.
    format!("\n---\n\n{}\n", inert(&out))
}

/// Text as a block of code, whatever is in it.
fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    format!("{fence}\n{text}\n{fence}\n")
}

/// Text in a line as code.
fn code(text: &str) -> String {
    if text.is_empty() {
        // Two marks alone would begin some.
        return String::new();
    }
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
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '{' => out.push_str("&#123;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' => {
                out.extend(['\\', character]);
            }
            _ => out.push(character),
        }
    }
    out
}

/// How Markdown is read: by the standard, as on GitHub, and with everything that some add to it.
const DIALECTS: [Options; 3] = [
    Options::empty(),
    Options::ENABLE_TABLES
        .union(Options::ENABLE_STRIKETHROUGH)
        .union(Options::ENABLE_TASKLISTS)
        .union(Options::ENABLE_FOOTNOTES)
        .union(Options::ENABLE_GFM),
    Options::all(),
];
/// What becomes text may turn other text into code, or out of it. Where that has no end so soon,
/// all of it becomes code.
const ROUNDS: usize = 16;

/// What somebody said in Markdown, with nothing in it that acts or reaches beyond its own end,
/// whoever reads it: tags, links, images and attributes are text, and a fence that is open is
/// closed.
fn inert(text: &str) -> String {
    let mut inert = text.trim_end().to_owned();
    for _ in 0..ROUNDS {
        let edits = DIALECTS.iter().flat_map(|dialect| live(&inert, *dialect));
        let edits: BTreeMap<usize, Edit> = edits.collect();
        if !edits.is_empty() {
            inert = edited(&inert, edits);
            continue;
        }
        let mut dialects = DIALECTS.iter();
        let Some(fence) = dialects.find_map(|dialect| open_fence(&inert, *dialect)) else {
            return inert;
        };
        inert.push('\n');
        inert.push_str(&fence);
    }
    fenced(text.trim_end()).trim_end().to_owned()
}

/// The end of what is replaced, and by what.
type Edit = (usize, String);

fn edited(text: &str, edits: BTreeMap<usize, Edit>) -> String {
    let mut out = String::with_capacity(text.len() + 4 * edits.len());
    let mut from = 0;
    for (at, (to, by)) in edits {
        // Of two that overlap the other one follows in the next round.
        if let Some(before) = text.get(from..at) {
            out.push_str(before);
            out.push_str(&by);
            from = to;
        }
    }
    out.push_str(&text[from..]);
    out
}

fn parsed(text: &str, dialect: Options) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, dialect).into_offset_iter()
}

/// What begins, or could for a reader of another kind, a tag, a link, an image, a definition or
/// attributes; and lines that are rules here and enclose metadata elsewhere.
fn live(text: &str, dialect: Options) -> Vec<(usize, Edit)> {
    let mut edits = Vec::new();
    // Where text is code, in order. What stands behind the mark of a fence is not.
    let mut codes: Vec<Range<usize>> = Vec::new();
    for (event, range) in parsed(text, dialect) {
        match event {
            Event::Code(_) => codes.push(range),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => codes.push(range),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                let block = &text[range.clone()];
                let first = block.find('\n').unwrap_or(block.len());
                codes.push(range.start + first..range.end);
            }
            Event::Rule if text[range.clone()].starts_with("---") => {
                let stars = text[range.clone()].replace('-', "*");
                edits.push((range.start, (range.end, stars)));
            }
            _ => {}
        }
    }
    let mut codes = codes.into_iter().peekable();
    for at in memchr::memchr3_iter(b'<', b'[', b'{', text.as_bytes()) {
        while codes.next_if(|code| code.end <= at).is_some() {}
        if codes.peek().is_some_and(|code| code.contains(&at)) {
            continue;
        }
        let before = text.as_bytes()[..at].iter().rev();
        let is_bare = before.take_while(|byte| **byte == b'\\').count() % 2 == 0;
        let behind = text[at + 1..].chars().next();
        let is_tag = behind.is_some_and(|c| c.is_ascii_alphabetic() || "/!?".contains(c));
        let by = match text.as_bytes()[at] {
            b'[' if is_bare => {
                edits.push((at, (at, "\\".to_owned())));
                continue;
            }
            b'{' => "&#123;",
            b'<' if is_tag => "&lt;",
            _ => continue,
        };
        // Not everybody knows these with a backslash.
        let from = if is_bare { at } else { at - 1 };
        edits.push((from, (at + 1, by.to_owned())));
    }
    edits
}

/// The fence of a block of code that the end of the text does not close. In a list or a quotation
/// it ends with that.
fn open_fence(text: &str, dialect: Options) -> Option<String> {
    let mut depth = 0;
    let mut last = None;
    for (event, range) in parsed(text, dialect) {
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
    use pulldown_cmark::TagEnd;
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_reaches_beyond_its_own_end() {
        assert_eq!(inert("a\n```rust\nfn x() {}"), "a\n```rust\nfn x() {}\n```");
        assert_eq!(inert("```\n~~~\n```\nb"), "```\n~~~\n```\nb");
        assert_eq!(inert("~~~~\n~~~\n"), "~~~~\n~~~\n~~~~");
        assert_eq!(inert("``` a`b\ntext"), "``` a`b\ntext");
        assert_eq!(
            inert("<!-- open\n<b>x</b>\n<SCRIPT>"),
            "&lt;!-- open\n&lt;b>x&lt;/b>\n&lt;SCRIPT>"
        );
        assert_eq!(inert("```\n<!-- in code\n```"), "```\n<!-- in code\n```");
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
            assert_eq!(inert(closed), closed.trim_end());
        }
        assert_eq!(inert("- a\n\n```\nx"), "- a\n\n```\nx\n```");
        assert_eq!(inert("```\nx\n    ```"), "```\nx\n    ```\n```");
        assert_eq!(inert("```"), "```\n```");
        assert_eq!(fenced("a ``` b"), "````\na ``` b\n````\n");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(code(""), "");
        assert_eq!(escaped("a*b <c> {d}"), "a\\*b &lt;c&gt; &#123;d}");
    }

    #[test]
    fn html_and_pictures_and_links_that_act_are_written_as_text() {
        for (text, written) in [
            ("a <b>c</b> `<i>` d", "a &lt;b>c&lt;/b> `<i>` d"),
            ("![a](https://b/c.png)", "!\\[a](https://b/c.png)"),
            ("[a](javascript:b) c", "\\[a](javascript:b) c"),
            ("![a][r]\n\n[r]: data:b", "!\\[a]\\[r]\n\n\\[r]: data:b"),
            ("[![a](b)](c)", "\\[!\\[a](b)](c)"),
            // What is defined elsewhere in the document.
            ("a ![b][r] `![b][r]`", "a !\\[b]\\[r] `![b][r]`"),
            ("\\[r] and \\\\[r]", "\\[r] and \\\\\\[r]"),
            ("<!-- ![a](b) -->", "&lt;!-- !\\[a](b) -->"),
            ("<div onclick=\nx", "&lt;div onclick=\nx"),
            // Not everybody knows that as an escape.
            ("x \\<b>", "x &lt;b>"),
            ("x \\\\<b>", "x \\\\&lt;b>"),
            (
                "1 < 2 <3 and <https://a.b>",
                "1 < 2 <3 and &lt;https://a.b>",
            ),
            (
                "    <b>\n\n```\n<b> ![a](b)\n```",
                "    <b>\n\n```\n<b> ![a](b)\n```",
            ),
            ("> <b>\n- <i>", "> &lt;b>\n- &lt;i>"),
            ("| a |\n|---|\n| <b> |", "| a |\n|---|\n| &lt;b> |"),
            // Code where tables are unknown, and where they are known.
            (
                "| a | b |\n|---|---|\n| `<b> | ` |",
                "| a | b |\n|---|---|\n| `&lt;b> | ` |",
            ),
            (
                "| a | b |\n|---|---|\n| ` | `<b>` |",
                "| a | b |\n|---|---|\n| ` | `&lt;b>` |",
            ),
            ("# a {onclick=b}", "# a &#123;onclick=b}"),
            ("# a \\{onclick=b}", "# a &#123;onclick=b}"),
            (
                "``` {onclick=b}\n{c}\n```",
                "``` &#123;onclick=b}\n{c}\n```",
            ),
            ("---\na: b\n---\nc", "***\na: b\n---\nc"),
        ] {
            assert_eq!(inert(text), written);
            is_inert(text, written);
        }
    }

    /// Whatever a session is made of, no reader finds more than marked up text in it.
    fn is_inert(text: &str, written: &str) {
        let document = format!("{written}\n\n---\n\nBEHIND\n");
        for dialect in DIALECTS {
            let (mut plain, mut inside) = (false, Vec::new());
            for (event, _) in parsed(&document, dialect) {
                let acts = match &event {
                    Event::Html(_) | Event::InlineHtml(_) | Event::FootnoteReference(_) => true,
                    Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::HtmlBlock) => true,
                    Event::Start(Tag::Heading {
                        id, classes, attrs, ..
                    }) => id.is_some() || !classes.is_empty() || !attrs.is_empty(),
                    _ => false,
                };
                assert!(!acts, "{event:?} in {text:?}: {document:?}");
                match event {
                    Event::Start(tag) => inside.push(tag.to_end()),
                    Event::End(_) => drop(inside.pop()),
                    Event::Text(said) if &*said == "BEHIND" => {
                        plain = matches!(inside[..], [TagEnd::Paragraph]);
                    }
                    _ => {}
                }
            }
            assert!(plain, "{text:?}: {document:?}");
        }
    }

    #[test]
    fn nothing_acts_whatever_it_is_made_of() {
        let parts = [
            "<",
            "b",
            ">",
            "!",
            "[",
            "]",
            "(",
            ")",
            "`",
            "\\",
            "\n",
            " ",
            "-",
            "&lt;",
            "é",
            "<!--",
            "-->",
            "```",
            "~",
            "{",
            "}",
            "]:",
            "---\n",
            "|",
            "$",
            "    ",
            "\n\n",
            "- ",
            ": ",
            "=",
            "<a x=\"`\">",
            "![[",
            "\n|-|-|\n",
            "~~~",
            "> ",
            "+++\n",
            "^",
            "\t",
            "1. ",
            "# ",
        ];
        let mut state = 1_u64;
        for round in 0..12_000 {
            let mut text = String::new();
            for _ in 0..10 + round % 20 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(parts[(state >> 33) as usize % parts.len()]);
            }
            is_inert(&text, &inert(&text));
        }
    }

    #[test]
    fn pieces_do_not_help_one_another() {
        let written = |pieces: &[&str]| {
            let written = json!({
                "id": "a`<b>", "line": 1, "start": 0, "end": 0, "kind": "<c>", "label": "",
                "is_error": false, "text": [[Class::Prose, pieces], [Class::Output, []]],
            });
            let written = serde_json::from_value(written).expect("an entry");
            entry(&written, &Zone::UTC)
        };
        for pieces in [
            &["- a", "    <script>b</script>"][..],
            &["[a][b]", "[b]: javascript:c"],
            &["```", "<b>", "```", "<c>"],
            &["a", ":     b\n\n          <i>"],
            &["<!--", "--> <b>"],
            &["`", "<b> `"],
        ] {
            is_inert(&pieces.concat(), &written(pieces));
        }
    }

    #[test]
    fn what_would_have_no_end_becomes_code() {
        // A tag that is text lets go of the mark in it, and so of the tag in the code behind it.
        let chain = |length: usize| {
            let tag = |at| format!("<a x=\"{}\">", "`".repeat(at));
            let mut text = tag(1);
            for at in 1..length {
                let mark = "`".repeat(at);
                text += &format!(" {mark} {} {mark}", tag(at + 1));
            }
            text
        };
        for (length, is_code) in [(5, false), (3 * ROUNDS, true)] {
            let text = chain(length);
            let written = inert(&text);
            assert_eq!(
                written.ends_with(&format!("\n{}", "`".repeat(length + 1))),
                is_code
            );
            is_inert(&text, &written);
        }
    }
}
