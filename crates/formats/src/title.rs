//! What is a session called that has no name? By the first thing that its person typed.

use std::borrow::Cow;

use crate::injected::{injected_blocks, is_within, pasted_blocks, without_paste_tags};

/// Characters of what a person typed that are a title, at most.
pub const LONGEST_TITLE: usize = 200;
/// Bytes of a message that are looked at.
const LOOKED_AT: usize = 64 << 10;

/// How clients begin a message that only hands a plan over.
const PLANS: [&str; 4] = [
    "implement the following plan",
    "implement this plan",
    "please implement the following plan",
    "please implement this plan",
];

/// What a message says that a person would know a session by, on one line: without what programs
/// put in between tags, without the name of a command, without "Implement the following plan:"
/// before the plan, without a block of code before what is asked about it, without signs of
/// Markdown before a heading. `None` where nothing is left, as of a command without words.
pub fn typed_title(message: &str) -> Option<String> {
    let text = typed(&beginning(message));
    let text = without_command(text.trim());
    let mut text = without_pasted(without_plan(text));
    // A name of a command, a plan or a file alone says nothing.
    text = text.trim_start_matches(['#', '>', '*', '-', '=', '`', ' ', '\t', '\n', '\r', ':']);
    let title = one_line(text);
    title.contains(char::is_alphanumeric).then_some(title)
}

/// What is looked at of a message. What is pasted where that ends has its end tag there.
fn beginning(message: &str) -> Cow<'_, str> {
    if message.len() <= LOOKED_AT {
        return message.into();
    }
    let mut ends = (0..=LOOKED_AT).rev();
    let end = ends.find(|&at| message.is_char_boundary(at));
    let end = end.unwrap_or_default();
    let beginning = &message[..end];
    let mut pasted = pasted_blocks(message).into_iter();
    let cut = pasted.find(|block| block.start < end && end < block.end);
    match cut.and_then(|block| message[block].rsplit_once("</")) {
        Some((_, tag)) => format!("{beginning}</{tag}").into(),
        None => beginning.into(),
    }
}

/// What is left without the blocks that programs put in, and without the tags around what a person
/// pasted, in which no other tag is one. What a person typed behind a command stands in a block of
/// its own (`<command-args>`, as Claude Code writes it), and what they asked for in another
/// (`<user_query>`, as Cursor does).
fn typed(message: &str) -> String {
    let pasted = pasted_blocks(message);
    for tag in ["command-args", "user_query"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let find = |tag: &str, from: usize| {
            let mut places = message.match_indices(tag).map(|(at, _)| at);
            places.find(|at| *at >= from && !is_within(&pasted, *at))
        };
        if let Some(from) = find(&open, 0).map(|at| at + open.len())
            && let Some(end) = find(&close, from)
        {
            return without_paste_tags(&message[from..end]).into_owned();
        }
    }
    let mut typed = String::new();
    let mut at = 0;
    for block in injected_blocks(message) {
        typed.push_str(&message[at..block.start]);
        typed.push('\n');
        at = block.end;
    }
    typed.push_str(&message[at..]);
    without_paste_tags(&typed).into_owned()
}

/// What stands behind the name of a command (`/review the parser`). A path is none.
fn without_command(text: &str) -> &str {
    let Some(rest) = text.strip_prefix('/') else {
        return text;
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    let is_command = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
    match is_command {
        true => behind.trim_start(),
        false => text,
    }
}

/// The plan, where one is handed over.
fn without_plan(text: &str) -> &str {
    let begins = |plan: &&&str| {
        let head = text.get(..plan.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(plan))
    };
    match PLANS.iter().find(begins) {
        Some(plan) => text[plan.len()..].trim_start_matches([':', '.', ' ', '\n', '\r']),
        None => text,
    }
}

/// What is asked about a block of code or a log that stands before it.
fn without_pasted(text: &str) -> &str {
    let behind = text
        .strip_prefix("```")
        .and_then(|block| block.split_once("\n```"));
    let behind = behind.map(|(_, behind)| behind.trim());
    let says_something = |behind: &&str| behind.contains(char::is_alphanumeric);
    behind.filter(says_something).unwrap_or(text)
}

fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut characters = 0;
    for word in text.split_whitespace() {
        let blank = (!line.is_empty()).then_some(' ');
        for character in blank.into_iter().chain(word.chars()) {
            if characters == LONGEST_TITLE {
                return line;
            }
            line.push(character);
            characters += 1;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::typed_title;

    #[test]
    fn a_title_is_what_the_person_typed() {
        for (message, title) in [
            ("Fix the\n  login bug", Some("Fix the login bug")),
            (
                "<system-reminder>\nbe good\n</system-reminder>\nFix it",
                Some("Fix it"),
            ),
            (
                "<skill name=\"review\" location=\"/x\">\nlong\n</skill>\n\nthe parser",
                Some("the parser"),
            ),
            ("<skill name=\"review\">long</skill>", None),
            ("/clear", None),
            ("/review:all the parser", Some("the parser")),
            ("/home/ada/x fails", Some("/home/ada/x fails")),
            (
                "<command-name>/plan</command-name><command-args>add dark mode</command-args>",
                Some("add dark mode"),
            ),
            (
                "Implement the following plan:\n\n# Cache the prompts\n\n## Why",
                Some("Cache the prompts ## Why"),
            ),
            ("Implement the following plan:", None),
            ("Please implement this plan: # Cache", Some("Cache")),
            ("```\nlet x = 1;\n```", Some("let x = 1; ```")),
            (
                "```rust\nlet x = 1;\n```\nWhy does this crash?",
                Some("Why does this crash?"),
            ),
            ("a <b> c", Some("a <b> c")),
            ("日本語で説明して", Some("日本語で説明して")),
            ("…", None),
            ("", None),
        ] {
            assert_eq!(typed_title(message).as_deref(), title, "{message}");
        }
        let long = typed_title(&"日 ".repeat(100_000)).unwrap_or_default();
        assert_eq!(long.chars().count(), 200);
    }
}
