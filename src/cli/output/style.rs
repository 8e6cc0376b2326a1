//! Which words stand out, and how?

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
}
