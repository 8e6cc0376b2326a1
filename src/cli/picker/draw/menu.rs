//! How does a question look? A box at the bottom of the list, above the last line.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders};

use crate::output::text::{columns, fit, grapheme_columns, graphemes, plain_line};
use crate::output::wrap;
use crate::picker::State;
use crate::picker::line::QueryLine;
use crate::picker::menu::{Dialog, Menu};
use crate::picker::palette::Palette;

/// Columns of a line in which a name is typed, if there is room.
const NAME: u16 = 50;

/// Draws what is asked, if something is.
pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, palette: Palette) {
    match &state.dialog {
        Some(Dialog::Menu(menu)) => choices(frame, area, menu, palette),
        Some(Dialog::Prompt(prompt)) => name(frame, area, &prompt.title, &prompt.line),
        Some(Dialog::Confirmation(question)) => {
            confirmation(frame, area, &plain_line(&question.text), palette);
        }
        None => {}
    }
}

/// A question, on as many lines as it takes: its end says which key answers it.
fn confirmation(frame: &mut Frame<'_>, area: Rect, text: &str, palette: Palette) {
    let room = usize::from(area.width.saturating_sub(4)).max(1);
    let lines = wrap::pieces(text, room);
    let widths = lines.iter().map(|(_, line)| columns(&text[line.clone()]));
    let width = u16::try_from(widths.max().unwrap_or(0)).unwrap_or(u16::MAX);
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let inner = open(frame, area, "", width, height);
    let hidden = lines.len().saturating_sub(usize::from(inner.height));
    for ((_, line), row) in lines.into_iter().skip(hidden).zip(inner.rows()) {
        let line = fit(&text[line], usize::from(inner.width));
        frame.render_widget(Line::styled(line, palette.strong()), row);
    }
}

/// Clears a box for so much text, and gives its inside.
fn open(frame: &mut Frame<'_>, area: Rect, title: &str, width: u16, height: u16) -> Rect {
    let title = plain_line(title);
    let title_width = u16::try_from(columns(&title)).unwrap_or(u16::MAX);
    let width = width.max(title_width).saturating_add(4).min(area.width);
    let height = height.saturating_add(2).min(area.height);
    let place = Rect {
        x: area.x,
        y: area.bottom().saturating_sub(height),
        width,
        height,
    };
    let title = fit(&title, usize::from(width.saturating_sub(4)));
    let mut block = Block::new().borders(Borders::ALL);
    if !title.is_empty() {
        block = block.title(format!(" {title} "));
    }
    let inner = block.inner(place);
    super::clear(frame, place);
    frame.render_widget(block, place);
    Rect {
        x: inner.x.saturating_add(1).min(inner.right()),
        width: inner.width.saturating_sub(2),
        ..inner
    }
}

fn choices(frame: &mut Frame<'_>, area: Rect, menu: &Menu, palette: Palette) {
    let widths = menu.items.iter().map(|item| columns(item.text()) + 3);
    let width = u16::try_from(widths.max().unwrap_or(0)).unwrap_or(u16::MAX);
    let height = u16::try_from(menu.items.len()).unwrap_or(u16::MAX);
    let inner = open(frame, area, &menu.title, width, height);
    // Where not all of it fits, the selection is seen.
    let shown = usize::from(inner.height).max(1);
    let top = (menu.selected + 1).saturating_sub(shown);
    let items = menu.items.iter().enumerate().skip(top);
    for ((at, item), row) in items.zip(inner.rows()) {
        let line = Line::from(vec![
            Span::styled(item.letter().to_string(), palette.strong()),
            Span::raw("  "),
            Span::raw(item.text()),
        ]);
        choice(frame, row, line, at == menu.selected, palette);
    }
}

/// A line that can be chosen. Where nothing is said by looks, a sign left of it says that it is
/// selected.
pub fn choice(
    frame: &mut Frame<'_>,
    row: Rect,
    line: Line<'_>,
    is_selected: bool,
    palette: Palette,
) {
    frame.render_widget(line, row);
    if !is_selected {
        return;
    }
    frame.buffer_mut().set_style(row, palette.selected());
    let left = Position::new(row.x.saturating_sub(1), row.y);
    if palette.is_plain()
        && let Some(cell) = frame.buffer_mut().cell_mut(left)
    {
        cell.set_symbol(">");
    }
}

fn name(frame: &mut Frame<'_>, area: Rect, title: &str, line: &QueryLine) {
    let inner = open(frame, area, title, NAME, 1);
    let width = usize::from(inner.width.max(1));
    let before = columns(&line.text()[..line.cursor()]);
    // The end of what is before the cursor is seen, and the cursor.
    let hidden = before.saturating_sub(width - 1);
    let mut left = 0;
    let from = graphemes(line.text()).find(|(_, letter)| {
        let is_seen = left >= hidden;
        left += grapheme_columns(letter);
        is_seen
    });
    let from = from.map_or(line.text().len(), |(at, _)| at);
    let text = &line.text()[from..];
    frame.render_widget(Line::raw(plain_line_at(text)), inner);
    let at = columns(&line.text()[from..line.cursor().max(from)]);
    let x = inner
        .x
        .saturating_add(u16::try_from(at).unwrap_or(u16::MAX));
    let x = x.min(inner.right().saturating_sub(1));
    frame.set_cursor_position(Position::new(x, inner.y));
}

/// What is typed, with blanks as they are; nothing of it acts.
fn plain_line_at(text: &str) -> String {
    let shown = |letter: char| match crate::output::text::acts(letter) {
        true => '\u{fffd}',
        false => letter,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::layout::Size;

    use super::*;
    use crate::picker::menu::{ACTIONS, Confirmation, NameTarget, Prompt};
    use crate::picker::message::Message;
    use crate::picker::{Opening, Purpose};

    fn state() -> State {
        let opening = Opening {
            query: "ag".to_owned(),
            purpose: Purpose::Resume,
            height: None,
            here: None,
        };
        State::new(&opening, Size::new(80, 24))
    }

    fn target() -> crate::picker::actions::Target {
        crate::picker::actions::Target {
            session: sessionary::model::SessionRow::default(),
            entry: None,
            through: None,
        }
    }

    /// What is seen on a screen of that size.
    fn seen(state: &State, width: u16, height: u16) -> String {
        let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
        let Ok(_) = terminal.draw(|frame| {
            let palette = Palette::new(true).plain(true);
            draw(frame, frame.area(), state, palette);
            super::super::completion::draw(frame, frame.area(), 2, state, palette);
        });
        terminal.backend().to_string()
    }

    #[test]
    fn it_is_drawn_on_a_screen_of_any_size() {
        let mut all: Vec<State> = Vec::new();
        for selected in [0, 6] {
            let mut menu = state();
            menu.dialog = Some(Dialog::Menu(Box::new(Menu {
                title: "Do: “日本語 title”".to_owned(),
                items: ACTIONS.to_vec(),
                selected,
                targets: vec![target()],
            })));
            all.push(menu);
        }
        let mut prompt = state();
        prompt.dialog = Some(Dialog::Prompt(Prompt {
            title: "Name of “x”".to_owned(),
            line: QueryLine::new(&"日本 a\u{301} ".repeat(30)),
            about: NameTarget::Entries(vec![target()]),
        }));
        all.push(prompt);
        let mut question = state();
        question.dialog = Some(Dialog::Confirmation(Confirmation {
            text: "Move 3 sessions to the trash? y/N".to_owned(),
            sessions: Vec::new(),
        }));
        all.push(question);
        let mut offered = state();
        offered.complete(true);
        let candidates = ["agent", "日本", "x\u{1b}[31m"].map(str::to_owned).to_vec();
        offered.take(Message::Completed(crate::picker::message::Candidates {
            number: 1,
            words: candidates,
        }));
        all.push(offered);
        for state in &all {
            for width in (1..40).chain([80, 200]) {
                for height in (1..14).chain([24, 60]) {
                    let seen = seen(state, width, height);
                    assert!(!seen.contains('\u{1b}'), "{seen}");
                }
            }
        }
        // Half of a wide letter takes no part of the frame away.
        let Ok(mut terminal) = Terminal::new(TestBackend::new(20, 3));
        let Ok(_) = terminal.draw(|frame| {
            frame.render_widget(Line::raw("日本語日本語"), Rect::new(0, 1, 20, 1));
            let place = Rect::new(3, 0, 5, 3);
            super::super::clear(frame, place);
            frame.render_widget(Block::new().borders(Borders::ALL), place);
        });
        let rows = terminal.backend().to_string();
        assert!(rows.contains("日 │   │本語"), "{rows}");
        assert!(seen(&all[0], 60, 12).contains("r  rename"));
        // The selection is seen where not all fits.
        assert!(seen(&all[1], 60, 4).contains(">u  bring back"));
        assert!(seen(&all[3], 60, 12).contains("Move 3 sessions to the trash? y/N"));
        assert!(seen(&all[4], 60, 12).contains("agent"));
    }

    #[test]
    fn which_key_answers_a_question_is_seen_however_little_room_there_is() {
        let mut state = state();
        state.dialog = Some(Dialog::Confirmation(Confirmation {
            text: "Move “A title of some forty columns, as long…” to the trash? y/N".to_owned(),
            sessions: Vec::new(),
        }));
        for (width, height) in [(80, 12), (66, 12), (40, 12), (24, 10), (24, 4)] {
            let seen = seen(&state, width, height);
            assert!(seen.contains("y/N"), "{width} {height}\n{seen}");
        }
    }
}
