//! How do the parts of a Markdown text look? Nothing of it is taken away or moved: what marks up
//! stands back, what is marked up stands out.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};
use ratatui::style::{Modifier, Style};

use crate::picker::palette::Palette;

/// Byte ranges of the text that do not look like plain text, ascending and disjoint.
pub fn styles(text: &str, palette: Palette) -> Vec<(Range<usize>, Style)> {
    let mut painter = Painter {
        at: 0,
        styles: Vec::new(),
    };
    let mut around = vec![Style::new()];
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let outer = around.last().copied().unwrap_or_default();
        // What stands between the texts marks up.
        match event {
            Event::Start(tag) => {
                painter.paint(range.start, palette.quiet());
                around.push(outer.patch(of(&tag, palette)));
            }
            Event::End(_) => {
                painter.paint(range.end, palette.quiet());
                around.pop();
            }
            Event::Code(_) => {
                painter.paint(range.start, palette.quiet());
                painter.paint(range.end, outer.patch(palette.name()));
            }
            Event::Rule | Event::TaskListMarker(_) => painter.paint(range.end, palette.quiet()),
            _ => {
                painter.paint(range.start, palette.quiet());
                painter.paint(range.end, outer);
            }
        }
    }
    painter.styles
}

fn of(tag: &Tag<'_>, palette: Palette) -> Style {
    match tag {
        Tag::Heading { .. } | Tag::TableHead => palette.strong(),
        Tag::Strong => Style::new().add_modifier(Modifier::BOLD),
        Tag::Emphasis => Style::new().add_modifier(Modifier::ITALIC),
        Tag::Strikethrough => Style::new().add_modifier(Modifier::CROSSED_OUT),
        Tag::Link { .. } | Tag::Image { .. } => Style::new().add_modifier(Modifier::UNDERLINED),
        _ => Style::new(),
    }
}

/// Goes through a text once.
struct Painter {
    at: usize,
    styles: Vec<(Range<usize>, Style)>,
}

impl Painter {
    /// All up to there looks so.
    fn paint(&mut self, to: usize, style: Style) {
        if to <= self.at {
            return;
        }
        let range = std::mem::replace(&mut self.at, to)..to;
        match self.styles.last_mut() {
            Some((last, same)) if last.end == range.start && *same == style => last.end = to,
            _ if style == Style::new() => {}
            _ => self.styles.push((range, style)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with what each part looks like: `<b …>`.
    fn painted(text: &str) -> String {
        let palette = Palette::new(true);
        let (mut out, mut at) = (String::new(), 0);
        for (range, style) in styles(text, palette) {
            let mut looks = String::new();
            for (modifier, name) in [
                (Modifier::BOLD, 'b'),
                (Modifier::ITALIC, 'i'),
                (Modifier::DIM, 'q'),
                (Modifier::UNDERLINED, 'u'),
                (Modifier::CROSSED_OUT, 'x'),
            ] {
                if style.add_modifier.contains(modifier) {
                    looks.push(name);
                }
            }
            if style.fg == palette.name().fg {
                looks.push('c');
            }
            out += &format!(
                "{}<{looks} {}>",
                &text[at..range.start],
                &text[range.clone()]
            );
            at = range.end;
        }
        out + &text[at..]
    }

    #[test]
    fn what_is_marked_up_stands_out_and_nothing_is_lost() {
        for (text, expected) in [
            ("plain", "plain"),
            ("# Head `a`\n", "<q # ><b Head ><bc `a`><q \n>"),
            ("a **b *c*** d", "a <q **><b b ><q *><bi c><q ***> d"),
            ("- one\n- two", "<q - >one<q \n- >two"),
            ("a ~~b~~", "a <q ~~><x b><q ~~>"),
            ("see [a](https://b.c)", "see <q [><u a><q ](https://b.c)>"),
            (
                "x\n```rust\nlet *a* = 1;\n```\ny",
                "x<q \n```rust\n>let *a* = 1;\n<q ```\n>y",
            ),
            ("<b>a</b>", "<b>a</b>"),
            ("a\n\n---\n\nb", "a<q \n\n---\n\n>b"),
        ] {
            assert_eq!(painted(text), expected, "{text:?}");
        }
    }

    #[test]
    fn ranges_ascend_whatever_the_text() {
        let parts = [
            "*", "**", "`", "```\n", "\n", "a", " ", "- ", "> ", "[", "](", ")", "|", "\n|-|\n",
            "#", "# ", "é", "~~", "<b>", "\\", "    ", "1. ", "![", "[ ] ", "---\n", "&amp;",
        ];
        let mut state = 1_u64;
        for round in 0..4_000 {
            let mut text = String::new();
            for _ in 0..round % 30 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(parts[(state >> 33) as usize % parts.len()]);
            }
            let mut at = 0;
            for (range, _) in styles(&text, Palette::new(true)) {
                assert!(range.start >= at && range.end > range.start, "{text:?}");
                assert!(text.get(range.clone()).is_some(), "{text:?}: {range:?}");
                at = range.end;
            }
        }
    }
}
