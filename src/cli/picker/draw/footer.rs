//! What does the line at the bottom say? Where is looked, by which filters, how much there is, how
//! current it is, and what was noticed.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

use crate::output::text::{fit, plain_line};
use crate::output::time::{count, number};
use crate::output::wrap;
use crate::picker::message::{Order, Place};
use crate::picker::palette::Palette;
use crate::picker::reading::keys_in_short;
use crate::picker::{Purpose, State};

/// Filters that are named, at most.
const MOST_FILTERS: usize = 6;

pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, palette: Palette) {
    if let Some(notice) = &state.notice {
        return say(frame, area, &plain_line(notice));
    }
    let (quiet, chip) = (palette.quiet(), palette.selected());
    let mut spans = vec![Span::styled(place(state), palette.name())];
    for filter in state.summary.filters.iter().take(MOST_FILTERS) {
        spans.push(Span::raw(" "));
        spans.push(Span::styled(format!(" {} ", plain_line(filter)), chip));
    }
    let mut said = vec![String::new()];
    said.extend(found(state));
    said.extend(progress(state));
    if state.is_waiting() {
        said.push("waiting for the list".to_owned());
    }
    if !state.marked.is_empty() {
        said.push(format!("{} marked", state.marked.len()));
    }
    if state.marked.len() > 1 && state.purpose == Purpose::Resume {
        said.push("Enter continues the one selected".to_owned());
    }
    let noticed = state.behind.iter().chain(state.summary.notes.first());
    said.extend(noticed.map(|noticed| plain_line(noticed)));
    spans.push(Span::styled(said.join(" · "), quiet));
    let mut line = Line::from(spans);
    let width = usize::from(area.width);
    for key in keys_in_short(state.focus).split(" · ") {
        let key = Span::styled(format!(" · {key}"), quiet);
        if line.width() + key.width() > width {
            break;
        }
        line.push_span(key);
    }
    frame.render_widget(super::fitted(line, width), area);
}

/// Where is looked, and in which order.
fn place(state: &State) -> String {
    let place = match state.place {
        Place::Everywhere => "all",
        Place::Here => "here",
    };
    match (state.order, state.line.text().trim().is_empty()) {
        (Order::Newest, false) => format!("{place}, newest first"),
        _ => place.to_owned(),
    }
}

/// How much was found, and how fast; nothing where nobody knows yet what there is.
fn found(state: &State) -> Option<String> {
    let summary = &state.summary;
    let most = if summary.total_exact { "" } else { "at most " };
    if summary.is_provisional {
        return Some("by titles so far…".to_owned());
    }
    let is_list = summary.question.query.trim().is_empty();
    let is_unknown = is_list || summary.all == 0 || !summary.total_exact;
    if summary.total == 0 && !summary.complete && is_unknown {
        return None;
    }
    let found = match (is_list, summary.all) {
        (true, _) => count(summary.total, "session"),
        // Before they were listed, nobody knows how many there are.
        (false, 0) => format!("{most}{}", count(summary.total, "session")),
        (false, all) => {
            let (total, all) = (summary.total, all.max(summary.total));
            format!("{most}{} of {}", number(total), number(all))
        }
    };
    Some(format!("{found} · {} ms", summary.took.as_millis()))
}

/// How much is still to be read or indexed.
fn progress(state: &State) -> Option<String> {
    let percent = |done: u64, all: u64| done.saturating_mul(100) / all.max(1);
    match (state.reading, state.summary.unindexed) {
        (Some((done, all)), _) => Some(format!("reading {} %", percent(done, all))),
        (None, unindexed) if unindexed > 0 => {
            let all = state.most_unindexed.max(unindexed);
            Some(format!("indexing {} %", percent(all - unindexed, all)))
        }
        (None, _) if !state.summary.complete && state.behind.is_none() => {
            Some("not all files were read".to_owned())
        }
        _ => None,
    }
}

/// Lines that a notice takes, at most.
const MOST_LINES: usize = 3;

/// A notice that is longer than the line takes some of what is above.
fn say(frame: &mut Frame<'_>, area: Rect, notice: &str) {
    let width = usize::from(area.width.max(1));
    let lines = notice_lines(notice, width);
    let above = u16::try_from(lines.len().saturating_sub(1))
        .unwrap_or(0)
        .min(area.y);
    let place = Rect {
        y: area.y - above,
        height: area.height + above,
        ..area
    };
    frame.render_widget(Clear, place);
    for (line, row) in lines.into_iter().zip(place.rows()) {
        frame.render_widget(Line::raw(line), row);
    }
}

/// A notice in lines, the last of which holds what fits of the rest.
fn notice_lines(notice: &str, width: usize) -> Vec<String> {
    let pieces = wrap::pieces(notice, width);
    let line = |(number, (_, part)): (usize, &wrap::Piece)| match number + 1 == MOST_LINES {
        true => fit(&notice[part.start..], width),
        false => notice[part.clone()].to_owned(),
    };
    let pieces = pieces.iter().take(MOST_LINES).enumerate();
    pieces.map(line).collect()
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Size;

    use super::{found, notice_lines};
    use crate::picker::message::{Answer, Question};
    use crate::picker::{Opening, Purpose, State};

    #[test]
    fn of_how_many_is_said_once_that_is_known() {
        let opening = Opening {
            query: "bulk".to_owned(),
            purpose: Purpose::Resume,
            height: None,
            here: None,
        };
        let mut state = State::new(&opening, Size::new(80, 24));
        for (query, total, all, wanted) in [
            ("bulk", 40, 0, "40 sessions · 0 ms"),
            ("bulk", 1, 0, "1 session · 0 ms"),
            ("bulk", 40, 90, "40 of 90 · 0 ms"),
            // Some have come since they were counted.
            ("bulk", 95, 90, "95 of 95 · 0 ms"),
            ("", 90, 90, "90 sessions · 0 ms"),
            // Nothing has been read yet.
            ("", 0, 0, ""),
            ("bulk", 0, 0, ""),
            ("bulk", 0, 90, "0 of 90 · 0 ms"),
        ] {
            state.summary = Answer {
                question: Question {
                    query: query.to_owned(),
                    ..Question::default()
                },
                total,
                total_exact: true,
                all,
                ..Answer::default()
            };
            assert_eq!(found(&state).unwrap_or_default(), wanted);
            state.summary.complete = true;
            assert!(found(&state).is_some());
        }
    }

    #[test]
    fn a_notice_that_is_too_long_ends_where_it_no_longer_fits() {
        assert_eq!(notice_lines("Moved.", 10), ["Moved."]);
        let long = "It was not moved: the disk is full and nobody knows";
        let lines = notice_lines(long, 12);
        assert_eq!(lines, ["It was not", "moved: the", "disk is ful…"]);
        // Words that stand on lines of their own are still words where they share the last.
        assert_eq!(notice_lines("aaaa bbbb c d e", 4), ["aaaa", "bbbb", "c d…"]);
    }
}
