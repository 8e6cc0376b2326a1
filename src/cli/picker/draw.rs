//! How does the picker look? The query line on top, the list, the preview beside it or below it,
//! one line of what there is at the bottom.

mod completion;
mod footer;
mod help;
mod list;
mod menu;
mod preview;
mod tree;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;
use sessionary::syntax::Now;

use super::State;
use super::palette::Palette;
use super::state::Focus;
use crate::output::Screen;
use crate::output::text::{columns, prefix};

/// From so many columns on the preview stands beside the list.
const WIDE: u16 = 100;
/// From so many columns on there is a preview at all.
const NARROW: u16 = 60;
/// Lines of a row: its title, and what is known of it.
pub const ROW_LINES: u16 = 2;
/// What stands before the query.
const PROMPT: &str = "> ";

/// The parts of the screen.
struct Parts {
    query: Rect,
    list: Rect,
    preview: Option<Rect>,
    footer: Rect,
}

/// `is_plain`: the list alone, as below the prompt.
fn parts(area: Rect, is_plain: bool) -> Parts {
    let [query, middle, footer] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    let (list, preview) = match area.width {
        _ if is_plain => (middle, None),
        width if width >= WIDE => {
            let [list, preview] =
                Layout::horizontal([Constraint::Percentage(45), Constraint::Fill(1)]).areas(middle);
            (list, Some(preview))
        }
        width if width >= NARROW && middle.height >= 8 => {
            let [list, preview] =
                Layout::vertical([Constraint::Percentage(50), Constraint::Fill(1)]).areas(middle);
            (list, Some(preview))
        }
        _ => (middle, None),
    };
    Parts {
        query,
        list,
        preview,
        footer,
    }
}

fn area(size: Size) -> Rect {
    Rect::new(0, 0, size.width, size.height)
}

/// How large the text of the preview is; `None` where there is none.
pub fn preview_size(size: Size, is_plain: bool) -> Option<Size> {
    let preview = parts(area(size), is_plain).preview?;
    Some(preview::text_area(preview).as_size())
}

/// Rows of the list on the screen.
pub fn rows_shown(size: Size, is_plain: bool) -> usize {
    usize::from(parts(area(size), is_plain).list.height / ROW_LINES)
}

/// Who reads it, and when.
pub struct Reader<'a> {
    pub screen: &'a Screen,
    /// What ages count to.
    pub now: Now<'a>,
    pub palette: Palette,
}

impl Reader<'_> {
    /// The age of an ISO 8601 time; empty where there is none.
    pub fn age(&self, time: Option<&str>) -> String {
        crate::output::time::age(time, self.now)
    }
}

/// What is at a place of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// A row of the list.
    Row(usize),
    /// A line of the preview.
    Preview(usize),
}

/// What is there, where the list begins with its row `top`. There is no mouse below a prompt.
pub fn spot(size: Size, top: usize, column: u16, line: u16) -> Option<Spot> {
    let parts = parts(area(size), false);
    let at = Position::new(column, line);
    if parts.list.contains(at) {
        let row = (line - parts.list.y) / ROW_LINES;
        return Some(Spot::Row(top + usize::from(row)));
    }
    let preview = parts.preview.filter(|preview| preview.contains(at))?;
    let text = preview::text_area(preview);
    Some(Spot::Preview(usize::from(line.saturating_sub(text.y))))
}

/// How many lines the help has, and how many of them are seen.
pub fn help_size(size: Size) -> (usize, usize) {
    help::size(area(size))
}

/// Draws all of it.
pub fn frame(frame: &mut Frame<'_>, state: &State, reader: &Reader<'_>) {
    let parts = parts(frame.area(), state.is_plain);
    query(frame, parts.query, state);
    list::draw(frame, parts.list, state, reader);
    if let Some(area) = parts.preview {
        preview::draw(frame, area, state, reader.screen);
    }
    footer::draw(frame, parts.footer, state, reader.palette);
    let all = frame.area();
    let above_footer = Rect {
        height: all.height.saturating_sub(1),
        ..all
    };
    let below_query = Rect {
        y: above_footer.y.saturating_add(1).min(above_footer.bottom()),
        height: above_footer.height.saturating_sub(1),
        ..above_footer
    };
    let palette = reader.palette;
    completion::draw(frame, below_query, columns(PROMPT), state, palette);
    if state.focus == Focus::Help {
        help::draw(frame, all, state, palette);
    }
    menu::draw(frame, above_footer, state, palette);
}

/// Clears a place for what stands over everything else.
fn clear(frame: &mut Frame<'_>, place: Rect) {
    frame.render_widget(Clear, place);
    let Some(left) = place.x.checked_sub(1) else {
        return;
    };
    for y in place.top()..place.bottom() {
        // Half of a wide letter would take the first column of it.
        if let Some(cell) = frame.buffer_mut().cell_mut(Position::new(left, y))
            && columns(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
    }
}

fn query(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let (text, cursor) = (state.line.text(), state.line.cursor());
    let room = usize::from(area.width).saturating_sub(columns(PROMPT) + 1);
    // Of a long query the end is seen up to which it is typed.
    let hidden = prefix(text, columns(&text[..cursor]).saturating_sub(room)).len();
    let seen = prefix(&text[hidden..], room);
    let line = Line::from(vec![Span::raw(PROMPT), Span::raw(seen)]);
    frame.render_widget(line, area);
    if state.focus != Focus::List {
        return;
    }
    let before = columns(PROMPT) + columns(text.get(hidden..cursor).unwrap_or_default());
    let x = area.x + u16::try_from(before).unwrap_or(u16::MAX).min(area.width);
    frame.set_cursor_position(Position::new(x.min(area.right().saturating_sub(1)), area.y));
}

/// A line of at most so many columns: half of a wide letter is no letter.
fn fitted(line: Line<'static>, room: usize) -> Line<'static> {
    let (style, mut left) = (line.style, room);
    let spans = line.spans.into_iter().map(|span| {
        let seen = prefix(&span.content, left).to_owned();
        // Behind what was cut nothing is seen.
        left = match seen.len() < span.content.len() {
            true => 0,
            false => left - columns(&seen),
        };
        Span::styled(seen, span.style)
    });
    Line::from(spans.collect::<Vec<_>>()).style(style)
}
