//! How does the list look? Two lines a session.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::ROW_LINES;
use crate::command::title;
use crate::output::Screen;
use crate::output::text::{fit, plain_line, plain_line_marked};
use crate::output::time::{count, money};
use crate::picker::State;
use crate::picker::message::Row;

/// The first row that is seen.
pub fn top(area: Rect, selected: usize) -> usize {
    selected.saturating_sub(shown(area) - 1)
}

fn shown(area: Rect) -> usize {
    usize::from(area.height / ROW_LINES).max(1)
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, screen: &Screen) {
    let (shown, top) = (shown(area), top(area, state.selected));
    for (at, row) in state.rows.iter().enumerate().skip(top).take(shown) {
        let y = area.y + u16::try_from(at - top).unwrap_or(0) * ROW_LINES;
        let is_selected = at == state.selected;
        let is_marked = state.marked.contains(&row.key());
        let [first, second] = lines(row, is_selected, is_marked, usize::from(area.width), screen);
        frame.render_widget(first, Rect::new(area.x, y, area.width, 1));
        if y + 1 < area.bottom() {
            frame.render_widget(second, Rect::new(area.x, y + 1, area.width, 1));
        }
    }
}

fn lines<'a>(
    row: &Row,
    is_selected: bool,
    is_marked: bool,
    width: usize,
    screen: &Screen,
) -> [Line<'a>; 2] {
    let quiet = Style::new().add_modifier(Modifier::DIM);
    let sign = match (is_selected, is_marked) {
        (true, true) => "▌●",
        (true, false) => "▌ ",
        (false, true) => " ●",
        (false, false) => "  ",
    };
    let age = screen.age(row.session.modified.as_deref());
    let room = width.saturating_sub(2 + 1 + age.len());
    let title = fit(&title(&row.session).1, room);
    let gap = room.saturating_sub(crate::output::text::columns(&title)) + 1;
    let strong = match is_selected {
        true => Style::new().add_modifier(Modifier::BOLD),
        false => Style::new(),
    };
    let first = Line::from(vec![
        Span::styled(sign, Style::new().fg(Color::Cyan)),
        Span::styled(title, strong),
        Span::raw(" ".repeat(gap)),
        Span::styled(age, quiet),
    ]);
    let mut second = vec![Span::styled(
        if is_selected { "▌ " } else { "  " },
        Style::new().fg(Color::Cyan),
    )];
    match row.hits.first() {
        Some(hit) => {
            let (text, marks) = plain_line_marked(&hit.snippet, &hit.highlights);
            let mut at = 0;
            for (from, to) in marks {
                second.push(Span::styled(text[at..from].to_owned(), quiet));
                let matched = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
                second.push(Span::styled(text[from..to].to_owned(), matched));
                at = to;
            }
            second.push(Span::styled(text[at..].to_owned(), quiet));
        }
        None => second.push(Span::styled(about(row, screen), quiet)),
    }
    [first, Line::from(second)]
}

/// What is known of a session.
fn about(row: &Row, screen: &Screen) -> String {
    let session = &row.session;
    let mut parts = vec![
        screen.path(std::path::Path::new(&session.cwd)),
        plain_line(&session.agent),
        count(session.message_count, "message"),
    ];
    parts.extend(session.cost.filter(|cost| *cost > 0.0).map(money));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}
