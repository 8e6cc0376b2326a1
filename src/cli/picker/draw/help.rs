//! How does the help look? Two columns of keys, or one where there is little room.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

use crate::output::text::columns;
use crate::picker::help::{KeyHelp, PARTS, Part};
use crate::picker::keys::Action;
use crate::picker::palette::Palette;
use crate::picker::state::Focus;
use crate::picker::{Purpose, State};

/// From so many columns on there are two columns of keys.
const TWO: u16 = 80;
/// What stands above the keys.
const TITLE: &str = "Keys of the picker";
/// What stands below them.
const END: &str = "Any key closes this.";
const END_MORE: &str = "↑ ↓ PgUp PgDn scroll; others close this";

/// How many lines of keys there are, and how many of them are seen.
pub fn size(area: Rect) -> (usize, usize) {
    let lines = match area.width {
        width if width >= TWO => lines_of(true).max(lines_of(false)),
        _ => lines_of(true) + 1 + lines_of(false),
    };
    (lines, usize::from(area.height.saturating_sub(2)))
}

fn lines_of(is_left: bool) -> usize {
    column(is_left, Purpose::Resume, Palette::new(false)).len()
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, palette: Palette) {
    frame.render_widget(Clear, area);
    let [title, keys, end] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Line::styled(TITLE, palette.strong()), title);
    let (lines, shown) = size(area);
    let said = if lines > shown { END_MORE } else { END };
    frame.render_widget(Line::styled(said, palette.quiet()), end);
    match area.width {
        width if width >= TWO => {
            let [left, right] =
                Layout::horizontal([Constraint::Length(41), Constraint::Fill(1)]).areas(keys);
            put(
                frame,
                left,
                column(true, state.purpose, palette),
                state.help_top,
            );
            put(
                frame,
                right,
                column(false, state.purpose, palette),
                state.help_top,
            );
        }
        _ => {
            let blank = std::iter::once(Line::default());
            let all = column(true, state.purpose, palette)
                .into_iter()
                .chain(blank);
            let all = all.chain(column(false, state.purpose, palette));
            put(frame, keys, all.collect(), state.help_top);
        }
    }
}

fn put(frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'_>>, top: usize) {
    for (line, row) in lines.into_iter().skip(top).zip(area.rows()) {
        frame.render_widget(line, row);
    }
}

/// The parts of one column.
fn column(is_left: bool, purpose: Purpose, palette: Palette) -> Vec<Line<'static>> {
    let parts = || PARTS.iter().filter(move |part| part.is_left == is_left);
    let keys = parts().flat_map(Part::keys);
    let width = keys.map(|(_, (keys, ..))| columns(keys)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for part in parts() {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::styled(part.heading, palette.strong()));
        lines.extend(
            part.keys()
                .map(|(focus, key)| line(focus, key, purpose, width, palette)),
        );
    }
    lines
}

fn line(
    focus: Focus,
    key: &KeyHelp,
    purpose: Purpose,
    width: usize,
    palette: Palette,
) -> Line<'static> {
    let (keys, ..) = *key;
    let blanks = " ".repeat(width - columns(keys) + 1);
    Line::from(vec![
        Span::raw(keys),
        Span::raw(blanks),
        Span::styled(does(focus, key, purpose), palette.quiet()),
    ])
}

/// What a key does where the picker is opened for this.
fn does(focus: Focus, &(_, does, actions): &KeyHelp, purpose: Purpose) -> &'static str {
    if focus != Focus::List {
        return does;
    }
    match (actions.first(), purpose) {
        (Some(Action::Accept), Purpose::Print(_)) => "print what is marked",
        (Some(Action::AcceptEntry), Purpose::Print(_)) => "branch at this entry",
        (Some(Action::Accept), Purpose::Show) => "read the session",
        (Some(Action::AcceptEntry), Purpose::Show) => "read this entry",
        (Some(Action::Accept | Action::AcceptEntry), Purpose::Tree) => "draw the tree",
        _ => does,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_a_small_terminal() {
        let (lines, shown) = size(Rect::new(0, 0, 80, 24));
        assert!(lines <= shown, "{lines} lines in {shown}");
        for is_left in [true, false] {
            let widest = column(is_left, Purpose::Resume, Palette::new(false));
            let widest = widest.iter().map(Line::width).max();
            let most = if is_left { 40 } else { 39 };
            assert!(widest.is_some_and(|width| width <= most), "{widest:?}");
        }
        let (lines, shown) = size(Rect::new(0, 0, 79, 24));
        assert!(lines > shown, "it scrolls");
    }
}
