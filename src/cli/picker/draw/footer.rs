//! What does the line at the bottom say?

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use crate::output::time::number;
use crate::picker::State;
use crate::picker::message::{Order, Place};

pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let said = &state.said;
    let mut parts = Vec::new();
    parts.push(match state.place {
        Place::Everywhere => "all".to_owned(),
        Place::Here => "here".to_owned(),
    });
    if state.order == Order::Newest {
        parts.push("newest first".to_owned());
    }
    let most = if said.total_exact { "" } else { "at most " };
    let all = said.all.max(said.total);
    let took = said.took.as_millis();
    parts.push(format!(
        "{most}{} of {} · {took} ms",
        number(said.total),
        number(all)
    ));
    if let Some((done, all)) = state.reading {
        parts.push(format!("reading {} %", done * 100 / all.max(1)));
    }
    if !state.marked.is_empty() {
        parts.push(format!("{} marked", state.marked.len()));
    }
    parts.extend(state.behind.clone());
    parts.extend(said.notes.first().cloned());
    parts.push("F1 help".to_owned());
    let quiet = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(Line::styled(parts.join(" · "), quiet), area);
}
