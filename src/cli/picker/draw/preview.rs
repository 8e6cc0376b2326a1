//! How does the preview look?

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, Borders};

use crate::picker::State;

/// Where its text stands.
pub fn text_area(area: Rect) -> Rect {
    block().inner(area)
}

fn block() -> Block<'static> {
    Block::new()
        .borders(Borders::LEFT)
        .border_style(Style::new().add_modifier(Modifier::DIM))
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    frame.render_widget(block(), area);
    let area = text_area(area);
    let Some(preview) = &state.preview else {
        return;
    };
    let shown = preview.lines.iter().skip(state.preview_top);
    for (line, row) in shown.zip(area.rows()) {
        frame.render_widget(line, row);
    }
}
