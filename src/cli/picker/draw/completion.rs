//! How does it look what a word can become? A small list below the word.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Block;

use crate::output::text::{columns, fit, plain_line};
use crate::picker::State;
use crate::picker::palette::Palette;

/// Candidates that are seen at once, where there is room: all filters are.
const SHOWN: usize = 17;

/// Draws it in `area`, which begins below the query line; `prompt`: columns before the query.
pub fn draw(frame: &mut Frame<'_>, area: Rect, prompt: usize, state: &State, palette: Palette) {
    let Some(completion) = &state.completion else {
        return;
    };
    if completion.candidates.is_empty() {
        return;
    }
    let shown = SHOWN.min(usize::from(area.height.saturating_sub(2)));
    let top = (completion.selected + 1).saturating_sub(shown);
    let seen = completion.candidates.iter().enumerate();
    let seen: Vec<(usize, String)> = seen
        .skip(top)
        .take(shown)
        .map(|(at, candidate)| (at, plain_line(candidate)))
        .collect();
    let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
    let widest = seen.iter().map(|(_, text)| columns(text)).max();
    let width = short(widest.unwrap_or(0) + 2).min(area.width);
    // The candidates stand right below the word.
    let text = state.line.text();
    let before = text.get(..completion.start).map_or(0, columns) + prompt;
    let x = short(before.saturating_sub(1)).min(area.width.saturating_sub(width));
    let place = Rect {
        x: area.x + x,
        y: area.y,
        width,
        height: short(seen.len() + 2).min(area.height),
    };
    let block = Block::bordered();
    let inner = block.inner(place);
    super::clear(frame, place);
    frame.render_widget(block, place);
    for ((at, text), row) in seen.iter().zip(inner.rows()) {
        let is_selected = *at == completion.selected;
        let line = Line::raw(fit(text, usize::from(inner.width)));
        super::menu::choice(frame, row, line, is_selected, palette);
    }
}
