//! Which words stand out, and how?

use std::ops::Range;

/// What a piece of text is, not how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Like any text.
    #[default]
    Plain,
    /// A title or a heading.
    Strong,
    /// Said beside the point: ages, counts, addresses.
    Quiet,
    /// What can be typed back: ids.
    Name,
    /// Something to be wary of.
    Warn,
    /// An error.
    Bad,
    /// A match.
    Match,
}

/// Colours or none.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    colours: bool,
}

impl Style {
    /// With colours or without.
    pub fn new(colours: bool) -> Self {
        Self { colours }
    }

    /// The text, dressed for its tone. It must be safe to print already.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if !self.colours || text.is_empty() => return text.to_owned(),
            Tone::Plain => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Name => "36",
            Tone::Warn => "33",
            Tone::Bad => "31",
            Tone::Match => "1;33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// This part of a text, dressed for its tone but for the marked bytes of the text, which are
    /// matches. The marks ascend and are disjoint.
    pub fn paint_marked(
        self,
        tone: Tone,
        text: &str,
        part: Range<usize>,
        marks: &[(usize, usize)],
    ) -> String {
        let (mut out, mut at) = (String::new(), part.start);
        let first = marks.partition_point(|(_, to)| *to <= part.start);
        for &(from, to) in marks[first..]
            .iter()
            .take_while(|(from, _)| *from < part.end)
        {
            let (from, to) = (from.max(at), to.min(part.end));
            if from < to {
                out.push_str(&self.paint(tone, text.get(at..from).unwrap_or_default()));
                out.push_str(&self.paint(Tone::Match, text.get(from..to).unwrap_or_default()));
                at = to;
            }
        }
        out + &self.paint(tone, text.get(at..part.end).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_stand_out_within_a_part() {
        let style = Style::new(true);
        let painted = style.paint_marked(Tone::Quiet, "one two three", 2..9, &[(0, 3), (8, 13)]);
        let part = |code: &str, text: &str| format!("\u{1b}[{code}m{text}\u{1b}[0m");
        let parts = [part("1;33", "e"), part("2", " two "), part("1;33", "t")];
        assert_eq!(painted, parts.concat());
        let plain = Style::new(false).paint_marked(Tone::Quiet, "one two", 0..7, &[(0, 3)]);
        assert_eq!(plain, "one two");
    }
}
