//! How is a transcript written as one HTML page that loads nothing and runs nothing?
//!
//! Whatever stands in a session is text: it is escaped, and of the Markdown in it only what marks
//! up text becomes HTML. Should something get through all the same, the page's own policy lets it
//! load and run nothing.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use sessionary::model::{Class, SessionRow, ShownEntry, Zone};

use super::Screen;
use super::text::{inert_lines, plain_line};
use super::time::minute;
use super::transcript::{about, call, is_markdown, who};

/// Lines of a tool's output up to which it is shown unasked.
const OPEN_LINES: usize = 14;

/// What stands behind the entries.
pub const END: &str = concat!(
    "</main>\n<footer>Exported by sessionary ",
    env!("CARGO_PKG_VERSION"),
    "</footer>\n</body>\n</html>\n"
);

/// What stands above the entries.
pub fn head(row: &SessionRow, screen: &Screen) -> String {
    let title = escaped(&crate::command::title(row).1);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"sessionary {}\">\n\
         <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<header>\n<h1 dir=\"auto\">{title}</h1>\n<dl>\n",
        env!("CARGO_PKG_VERSION"),
        include_str!("page.css"),
    );
    for (name, value) in about(row, screen) {
        let value = escaped(&value);
        out.push_str(&format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
    }
    out.push_str("</dl>\n</header>\n<main>\n");
    out
}

/// One entry.
pub fn entry(entry: &ShownEntry, zone: &Zone) -> String {
    let role = entry.role.as_deref().unwrap_or(&entry.kind);
    let side = match role {
        "user" => "user",
        "assistant" => "assistant",
        "toolResult" | "tool" | "tool_result" | "bashExecution" => "tool",
        _ => "note",
    };
    let is_markdown = is_markdown(entry);
    let bad = if entry.is_error { " bad" } else { "" };
    let id = escaped(&plain_line(&entry.id));
    let mut out = format!(
        "<article class=\"{side}{bad}\" id=\"e-{id}\">\n<h2><span>{}</span>",
        escaped(&who(entry))
    );
    if let Some(label) = &entry.label {
        out.push_str(&format!("<mark>{}</mark>", escaped(&plain_line(label))));
    }
    if entry.is_error {
        out.push_str("<em>error</em>");
    }
    if entry.has_image {
        out.push_str("<em>image</em>");
    }
    let time = escaped(&minute(entry.time.as_deref(), zone));
    out.push_str(&format!(
        "<a href=\"#e-{id}\">{time} <code>{id}</code></a></h2>\n"
    ));
    if let Some(problem) = &entry.problem {
        let problem = escaped(&plain_line(problem));
        out.push_str(&format!("<p class=\"call\"><em>{problem}</em></p>\n"));
    }
    for (class, pieces) in &entry.text {
        match class {
            Class::Prose => {
                for piece in pieces.iter().map(|piece| inert_lines(piece)) {
                    out.push_str(&match is_markdown {
                        true => format!(
                            "<div class=\"said\" dir=\"auto\">{}</div>\n",
                            marked_up(&piece)
                        ),
                        false => format!(
                            "<div class=\"typed\" dir=\"auto\">{}</div>\n",
                            escaped(piece.trim_end())
                        ),
                    });
                }
            }
            _ => out.push_str(&output(pieces)),
        }
    }
    out.push_str("</article>\n");
    out
}

/// What a tool was given or gave, folded up where it is long.
fn output(pieces: &[String]) -> String {
    let (name, text) = call(pieces);
    let text = text.trim_end();
    let lines = text.lines().count();
    let name = escaped(name.as_deref().unwrap_or("output"));
    if text.is_empty() {
        return format!("<p class=\"call\"><code>{name}</code></p>\n");
    }
    let first = text.lines().next().unwrap_or_default();
    let short: String = first.chars().take(100).collect();
    let (open, hint) = match lines <= OPEN_LINES {
        true => (" open", String::new()),
        false => (
            "",
            format!(" <span>{} · {lines} lines</span>", escaped(&short)),
        ),
    };
    format!(
        "<details{open}><summary><code>{name}</code>{hint}</summary>\n<pre>{}</pre></details>\n",
        escaped(text)
    )
}

/// Markdown as HTML. HTML in it is shown as code, images are their description, and links lead to
/// the web or nowhere.
fn marked_up(text: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut links: Vec<bool> = Vec::new();
    let events = Parser::new_ext(text, options).filter_map(|event| match event {
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::CodeBlock(CodeBlockKind::Indented))),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::CodeBlock)),
        Event::Html(html) | Event::InlineHtml(html) => Some(Event::Text(html)),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        Event::Start(Tag::Link { ref dest_url, .. }) => {
            links.push(leads_to_the_web(dest_url));
            links.last()?.then_some(event)
        }
        Event::End(TagEnd::Link) => links.pop()?.then_some(event),
        // What is typed on a line of its own is shown so.
        Event::SoftBreak => Some(Event::HardBreak),
        event => Some(event),
    });
    let mut out = String::with_capacity(text.len() * 2);
    pulldown_cmark::html::push_html(&mut out, events);
    out
}

fn leads_to_the_web(url: &str) -> bool {
    let url = url.trim_start().to_ascii_lowercase();
    ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

/// Text as HTML that shows it.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_marks_up_and_does_nothing_else() {
        assert_eq!(
            marked_up("**a**\nb"),
            "<p><strong>a</strong><br />\nb</p>\n"
        );
        assert_eq!(
            marked_up("<script>alert(1)</script>\n\n<img src=x onerror=y> c"),
            "<pre><code>&lt;script&gt;alert(1)&lt;/script&gt;\n</code></pre>\n<p>&lt;img src=x onerror=y&gt; c</p>\n"
        );
        assert_eq!(marked_up("![a](http://x/y.png)"), "<p>a</p>\n");
        assert_eq!(
            marked_up("[a](javascript:b) [c](https://d/\"e)"),
            "<p>a <a href=\"https://d/%22e\">c</a></p>\n"
        );
        assert_eq!(marked_up("[![a](b)](JaVaScRiPt:c)"), "<p>a</p>\n");
        assert_eq!(
            marked_up("<javascript:a> <https://b.c>"),
            "<p>javascript:a <a href=\"https://b.c\">https://b.c</a></p>\n"
        );
        assert_eq!(
            marked_up("```\"><b>\nx\n```"),
            "<pre><code class=\"language-&quot;&gt;&lt;b&gt;\">x\n</code></pre>\n"
        );
    }

    #[test]
    fn what_a_tool_gave_is_text_and_folded_where_it_is_long() {
        let short = output(&["bash".into(), "</pre><script>".into()]);
        assert_eq!(
            short,
            "<details open><summary><code>bash</code></summary>\n<pre>&lt;/pre&gt;&lt;script&gt;</pre></details>\n"
        );
        let long = output(&["bash".into(), "x\n".repeat(50)]);
        assert!(
            long.starts_with("<details><summary><code>bash</code> <span>x · 50 lines</span>"),
            "{long}"
        );
    }
}
