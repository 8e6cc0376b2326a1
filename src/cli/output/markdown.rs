//! How is a transcript written as Markdown?

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

/// What somebody said in Markdown, with nothing in it that reaches beyond its own end: fences are closed, and HTML that goes
/// on to an end of its own is text.
fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open: Option<(char, usize)> = None;
    for line in text.trim_end().lines() {
        let inner = line.trim_start_matches(' ');
        let is_deep = line.len() - inner.len() > 3;
        let first = inner.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = first.map_or(0, |c| inner.chars().take_while(|other| *other == c).count());
        match (open, first) {
            // A fence of backticks has none behind it.
            (None, Some(mark))
                if run >= 3 && !is_deep && (mark == '~' || !inner[run..].contains('`')) =>
            {
                open = Some((mark, run));
            }
            (Some((mark, length)), Some(here))
                if mark == here && run >= length && !is_deep && inner[run..].trim().is_empty() =>
            {
                open = None;
            }
            (None, _) if inner.starts_with('<') && !is_deep && goes_on(inner) => {
                out.push_str(&format!("\\{inner}\n"));
                continue;
            }
            _ => {}
        }
        out.push_str(line);
        out.push('\n');
    }
    if let Some((mark, length)) = open {
        out.push_str(&mark.to_string().repeat(length));
    }
    out.truncate(out.trim_end().len());
    out
}

/// Whether a line begins HTML that blank lines do not end.
fn goes_on(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["<script", "<pre", "<style", "<textarea", "<!", "<?"]
        .iter()
        .any(|begin| line.starts_with(begin))
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
            "\\<!-- open\n<b>x</b>\n\\<SCRIPT>"
        );
        assert_eq!(prose("```\n<!-- in code\n```"), "```\n<!-- in code\n```");
        assert_eq!(fenced("a ``` b"), "````\na ``` b\n````\n");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(escaped("a*b <c>"), "a\\*b \\<c\\>");
    }
}
