//! How does the preview look? The text, and at its left where its reader stands.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Padding};

use crate::output::Screen;
use crate::output::text::{columns, fit};
use crate::picker::State;
use crate::picker::palette::Palette;
use crate::picker::pane::VisibleLine;
use crate::picker::state::Focus;

/// The line at the left, of an entry, and where somebody stands in it.
const BAR: &str = "│";
const ENTRY: &str = "┃";
const HERE: &str = "▶";

/// Where its text stands.
pub fn text_area(area: Rect) -> Rect {
    let left = Padding::left(1);
    Block::new()
        .borders(Borders::LEFT)
        .padding(left)
        .inner(area)
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, screen: &Screen) {
    let palette = Palette::of(screen);
    let text = text_area(area);
    let tree = state.pane.tree.as_ref();
    let mut seen = state.pane.seen().take_while(|_| tree.is_none());
    for (row, beside) in text.rows().zip(area.rows()) {
        let seen = seen.next();
        frame.render_widget(bar(state, seen.as_ref(), palette), beside);
        if let Some(seen) = seen {
            frame.render_widget(seen.line, row);
        }
    }
    if let Some(tree) = tree {
        super::tree::draw(frame, text, tree, palette);
    }
    if let Some(note) = &state.pane.note {
        self::note(frame, text, note, palette);
    }
}

/// What stands at the left of a line.
fn bar(state: &State, seen: Option<&VisibleLine<'_>>, palette: Palette) -> Span<'static> {
    // Who scrolls it from the list is told too which entry is meant by now.
    let is_told = state.focus == Focus::Preview || state.pane.is_moved();
    let seen = seen.filter(|_| is_told);
    match seen {
        Some(seen) if seen.is_here => Span::styled(HERE, palette.current()),
        Some(seen) if seen.is_of_entry => Span::styled(ENTRY, palette.current()),
        _ => Span::styled(BAR, palette.quiet()),
    }
}

/// Says something in the corner.
fn note(frame: &mut Frame<'_>, area: Rect, note: &str, palette: Palette) {
    let note = fit(&format!(" {note} "), usize::from(area.width));
    let width = u16::try_from(columns(&note)).unwrap_or(area.width);
    let corner = Rect {
        x: area.right().saturating_sub(width),
        y: area.bottom().saturating_sub(1),
        width,
        height: 1,
    };
    let line = Line::styled(note, palette.selected());
    frame.render_widget(line, corner.intersection(area));
}
