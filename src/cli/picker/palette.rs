//! How do the picker's parts look? In the terminal's own sixteen colours, which its owner has
//! chosen to be read on its background; without colours by brightness, lines and reversal alone.

use ratatui::style::{Color, Modifier, Style};

use crate::output::Screen;
use crate::output::style::Tone;

/// How parts look on this terminal.
#[derive(Debug, Clone, Copy)]
pub struct Palette {
    has_colours: bool,
    /// Nothing is said by how bright it is.
    is_plain: bool,
}

impl Palette {
    /// What flags and environment ask for.
    pub fn of(screen: &Screen) -> Self {
        Self::new(screen.has_colours)
    }

    /// With colours or without.
    pub fn new(has_colours: bool) -> Self {
        Self {
            has_colours,
            is_plain: false,
        }
    }

    /// The same, for somebody who hears it read.
    pub fn plain(self, is_plain: bool) -> Self {
        Self { is_plain, ..self }
    }

    /// Whether what is selected is told by a sign.
    pub fn is_plain(self) -> bool {
        self.is_plain
    }

    /// A match. It stands out on any background, and in text of any look.
    pub fn matched(self) -> Style {
        let style = match self.has_colours {
            true => Style::new().fg(Color::Black).bg(Color::Yellow),
            false => Style::new().add_modifier(Modifier::REVERSED),
        };
        style.remove_modifier(Modifier::DIM)
    }

    /// Said beside the point.
    pub fn quiet(self) -> Style {
        match self.is_plain {
            true => Style::new(),
            false => Style::new().add_modifier(Modifier::DIM),
        }
    }

    /// A title or a heading.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What can be typed back, and code within a sentence.
    pub fn name(self) -> Style {
        self.coloured(Color::Cyan)
    }

    /// The person.
    pub fn person(self) -> Style {
        self.coloured(Color::Magenta).add_modifier(Modifier::BOLD)
    }

    /// Something to be wary of.
    pub fn warning(self) -> Style {
        // Yellow letters cannot be read on white.
        self.coloured(Color::Magenta)
    }

    /// An error.
    pub fn bad(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Where somebody stands in what has the keys.
    pub fn current(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// The selected line of a list.
    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// What is painted so elsewhere.
    pub fn tone(self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => Style::new(),
            Tone::Strong => self.strong(),
            Tone::Quiet => self.quiet(),
            Tone::Name => self.name(),
            Tone::Warn => self.warning(),
            Tone::Bad => self.bad(),
            Tone::Match => self.matched(),
        }
    }

    fn coloured(self, colour: Color) -> Style {
        match self.has_colours {
            true => Style::new().fg(colour),
            false => Style::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Modifier, Style};

    use super::Palette;
    use crate::output::style::Tone;

    const TONES: [Tone; 7] = [
        Tone::Plain,
        Tone::Strong,
        Tone::Quiet,
        Tone::Name,
        Tone::Warn,
        Tone::Bad,
        Tone::Match,
    ];

    fn all(palette: Palette) -> Vec<Style> {
        let tones = TONES.map(|tone| palette.tone(tone));
        let others = [palette.person(), palette.current(), palette.selected()];
        tones.into_iter().chain(others).collect()
    }

    #[test]
    fn without_colours_there_are_none_and_matches_still_stand_out() {
        let palette = Palette::new(false);
        let has_colour = |style: &Style| style.fg.is_some() || style.bg.is_some();
        assert!(!all(palette).iter().any(has_colour));
        let matched = Style::new()
            .add_modifier(Modifier::DIM)
            .patch(palette.matched());
        assert_eq!(matched.add_modifier, Modifier::REVERSED);
    }

    #[test]
    fn colours_are_the_terminals_own() {
        let is_own = |colour: Option<Color>| {
            let own = [
                Color::Black,
                Color::Red,
                Color::Green,
                Color::Yellow,
                Color::Blue,
                Color::Magenta,
                Color::Cyan,
            ];
            colour.is_none_or(|colour| own.contains(&colour))
        };
        for style in all(Palette::new(true)) {
            assert!(is_own(style.fg) && is_own(style.bg), "{style:?}");
            // Only on a background that is known a letter may have its colour.
            assert!(style.fg != Some(Color::Black) || style.bg.is_some());
        }
    }
}
