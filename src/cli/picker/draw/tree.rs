//! How does the tree of a session look? As `tree` prints it.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::picker::palette::Palette;
use crate::picker::tree::{TreeLine, TreePane};

pub fn draw(frame: &mut Frame<'_>, area: Rect, tree: &TreePane, palette: Palette) {
    let mut places = area.rows();
    if let Some(first) = places.next() {
        frame.render_widget(Line::styled(tree.title(), palette.quiet()), first);
    }
    let rows = tree.rows.iter().enumerate().skip(tree.top);
    for ((at, row), place) in rows.zip(places) {
        frame.render_widget(line(row, palette), place);
        if at == tree.selected {
            frame.buffer_mut().set_style(place, palette.selected());
        }
    }
}

fn line(row: &TreeLine, palette: Palette) -> Line<'_> {
    let parts = row.parts.iter();
    let spans = parts.map(|(tone, text)| Span::styled(text.as_str(), palette.tone(*tone)));
    spans.collect()
}
