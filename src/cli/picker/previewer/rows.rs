//! How does a text with looks and matches become lines of the screen?

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::Span;

/// A text and how its parts look.
pub struct StyledText<'a> {
    pub text: &'a str,
    /// How all of it looks.
    pub base: Style,
    /// How parts of it look besides; ascending and disjoint.
    pub styles: &'a [(Range<usize>, Style)],
    /// Matches in it; ascending and disjoint.
    pub marks: &'a [Range<usize>],
    /// How a match looks.
    pub matched: Style,
}

impl StyledText<'_> {
    /// A part of it, to be drawn on one line.
    pub fn spans(&self, part: Range<usize>) -> Vec<Span<'static>> {
        let mut styles = self.styles;
        styles = &styles[styles.partition_point(|(range, _)| range.end <= part.start)..];
        let mut marks = self.marks;
        marks = &marks[marks.partition_point(|range| range.end <= part.start)..];
        let (mut spans, mut at) = (Vec::new(), part.start);
        while at < part.end {
            let (mut style, mut to) = (self.base, part.end);
            if let Some((range, more)) = styles.first() {
                to = to.min(edge(range, at));
                style = if range.start <= at {
                    style.patch(*more)
                } else {
                    style
                };
            }
            if let Some(range) = marks.first() {
                to = to.min(edge(range, at));
                style = match range.start <= at {
                    true => style.patch(self.matched),
                    false => style,
                };
            }
            let text = self.text.get(at..to).unwrap_or_default();
            spans.push(Span::styled(text.to_owned(), style));
            at = to;
            styles = skip(styles, |(range, _)| range.end <= at);
            marks = skip(marks, |range| range.end <= at);
        }
        spans
    }

    /// Whether a match begins in a part.
    pub fn has_match(&self, part: &Range<usize>) -> bool {
        let next = self.marks.partition_point(|range| range.start < part.start);
        let next = self.marks.get(next);
        next.is_some_and(|range| range.start < part.end)
    }
}

/// Where the look changes next.
fn edge(range: &Range<usize>, at: usize) -> usize {
    match range.start > at {
        true => range.start,
        false => range.end,
    }
}

fn skip<T>(all: &[T], is_past: impl Fn(&T) -> bool) -> &[T] {
    match all.first() {
        Some(first) if is_past(first) => &all[1..],
        _ => all,
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Modifier, Style};

    use super::StyledText;

    #[test]
    fn looks_and_matches_lie_upon_each_other() {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let red = Style::new().fg(Color::Red);
        let styled = StyledText {
            text: "one two three",
            base: Style::new(),
            styles: &[(0..7, bold), (8..9, bold)],
            marks: &[2..5, 12..13],
            matched: red,
        };
        let spans = styled.spans(1..13);
        let spans: Vec<_> = spans
            .iter()
            .map(|span| (&*span.content, span.style))
            .collect();
        let plain = Style::new();
        assert_eq!(
            spans,
            [
                ("n", bold),
                ("e t", bold.patch(red)),
                ("wo", bold),
                (" ", plain),
                ("t", bold),
                ("hre", plain),
                ("e", red),
            ]
        );
        let found = [0..2, 2..4, 4..12, 4..13].map(|part| styled.has_match(&part));
        assert_eq!(found, [false, true, false, true]);
    }
}
