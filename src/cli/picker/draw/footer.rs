//! What does the line at the bottom say? Where is looked, by which filters, how much there is, how
//! current it is, and what was noticed.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

use super::ROW_LINES;
use crate::output::text::{fit, plain_line};
use crate::output::time::{count, number};
use crate::output::wrap;
use crate::picker::message::{Order, Place};
use crate::picker::palette::Palette;
use crate::picker::reading::keys_in_short;
use crate::picker::state::Focus;
use crate::picker::{Purpose, State};

/// Filters that are named, at most.
const MOST_FILTERS: usize = 6;

pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, palette: Palette) {
    if let Some(notice) = &state.notice {
        return say(frame, area, &plain_line(notice), MOST_LINES);
    }
    let (quiet, chip) = (palette.quiet(), palette.selected());
    let mut spans = vec![Span::styled(place(state), palette.name())];
    for filter in state.summary.filters.iter().take(MOST_FILTERS) {
        spans.push(Span::raw(" "));
        spans.push(Span::styled(format!(" {} ", plain_line(filter)), chip));
    }
    let mut said = vec![String::new()];
    said.extend(found(state));
    if !state.marked.is_empty() {
        said.push(format!("{} marked", state.marked.len()));
    }
    said.extend(of_one_alone(state).map(str::to_owned));
    said.extend(took(state));
    said.extend(progress(state));
    if state.is_waiting() {
        said.push("waiting for the list".to_owned());
    }
    spans.push(Span::styled(said.join(" · "), quiet));
    let mut line = Line::from(spans);
    let width = usize::from(area.width);
    if let Some(noticed) = noticed(state) {
        let behind = Span::styled(format!(" · {noticed}"), quiet);
        match (
            line.width() + behind.width() <= width,
            free(frame, area, state),
        ) {
            (true, _) => line.push_span(behind),
            // It says why the answer is none, or not a whole one.
            (false, 0) => return say(frame, area, &noticed, 1),
            (false, free) => {
                let above = Rect {
                    y: area.y - 1,
                    ..area
                };
                say(frame, above, &noticed, MOST_LINES.min(free));
            }
        }
    }
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

/// That Enter does nothing with what is marked, where it does not.
fn of_one_alone(state: &State) -> Option<&'static str> {
    let said = match state.purpose {
        Purpose::Resume => "Enter continues the one selected",
        Purpose::Show => "Enter reads the one selected",
        Purpose::Tree => "Enter draws the tree of the one selected",
        Purpose::Print(_) => return None,
    };
    Some(said).filter(|_| state.marked.len() > 1)
}

/// What is wrong with the answer, or with what it is made from.
fn noticed(state: &State) -> Option<String> {
    let noticed = state.behind.iter().chain(state.summary.notes.first());
    let noticed: Vec<String> = noticed.map(|noticed| plain_line(noticed)).collect();
    (!noticed.is_empty()).then(|| noticed.join(" · "))
}

/// Lines above the last one where nobody stands.
fn free(frame: &Frame<'_>, area: Rect, state: &State) -> usize {
    if state.focus != Focus::List {
        return 0;
    }
    let seen = state.rows.len().min(state.selected + 1);
    let rows = seen.saturating_sub(state.top) * usize::from(ROW_LINES);
    let above = usize::from(area.y.saturating_sub(frame.area().y));
    // The query stands above the rows.
    above.saturating_sub(1 + rows)
}

/// How fast that was; nothing where nothing is said of how much there is.
fn took(state: &State) -> Option<String> {
    let summary = &state.summary;
    let is_told = found(state).is_some() && !summary.is_provisional;
    is_told.then(|| format!("{} ms", summary.took.as_millis()))
}

/// How much was found; nothing where nobody knows yet what there is.
fn found(state: &State) -> Option<String> {
    let summary = &state.summary;
    let most = if summary.total_exact { "" } else { "at most " };
    if summary.is_provisional {
        return Some("by titles so far…".to_owned());
    }
    let is_list = summary.question.query.trim().is_empty();
    // What is named by its id is listed too, though its text has nothing of it.
    let total = summary.total.max(state.rows.len() as u64);
    let is_unknown = is_list || summary.all == 0 || !summary.total_exact;
    if total == 0 && !summary.complete && is_unknown {
        return None;
    }
    Some(match (is_list, summary.all) {
        (true, _) => count(summary.total, "session"),
        // Before they were listed, nobody knows how many there are; those of subagents are found,
        // and are not counted in all.
        (false, all) if all < total => format!("{most}{} found", number(total)),
        (false, 0) => "0 found".to_owned(),
        (false, all) => format!("{most}{} of {}", number(total), number(all)),
    })
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
fn say(frame: &mut Frame<'_>, area: Rect, notice: &str, most: usize) {
    let width = usize::from(area.width.max(1));
    let lines = notice_lines(notice, width, most);
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
fn notice_lines(notice: &str, width: usize, most: usize) -> Vec<String> {
    let pieces = wrap::pieces(notice, width);
    let line = |(number, (_, part)): (usize, &wrap::Piece)| match number + 1 == most {
        true => fit(&notice[part.start..], width),
        false => notice[part.clone()].to_owned(),
    };
    let pieces = pieces.iter().take(most).enumerate();
    pieces.map(line).collect()
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::layout::Size;
    use sessionary::model::SessionRow;

    use super::*;
    use crate::picker::asker::row;
    use crate::picker::marks::Marks;
    use crate::picker::message::{Answer, Question};
    use crate::picker::{Opening, PrintFormat};

    fn state(query: &str) -> State {
        let opening = Opening {
            query: query.to_owned(),
            purpose: Purpose::Resume,
            height: None,
            here: None,
        };
        State::new(&opening, Size::new(80, 24))
    }

    #[test]
    fn of_how_many_is_said_once_that_is_known() {
        let mut state = state("bulk");
        for (query, total, all, wanted) in [
            ("bulk", 40, 0, "40 found"),
            ("bulk", 40, 90, "40 of 90"),
            // Some have come since they were counted, or are of subagents.
            ("bulk", 95, 90, "95 found"),
            ("", 90, 90, "90 sessions"),
            // Nothing has been read yet.
            ("", 0, 0, ""),
            ("bulk", 0, 0, ""),
            ("bulk", 0, 90, "0 of 90"),
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
        // Its id was typed.
        state.rows = vec![row(SessionRow::default())];
        state.summary.question.query = "6513270e".to_owned();
        state.summary.total = 0;
        assert_eq!(found(&state).as_deref(), Some("1 of 90"));
    }

    /// What is seen on a screen of that size.
    fn seen(state: &State, width: u16, height: u16) -> String {
        let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
        let Ok(_) = terminal.draw(|frame| {
            let all = frame.area();
            let last = Rect::new(0, all.bottom() - 1, all.width, 1);
            draw(frame, last, state, Palette::new(true).plain(true));
        });
        terminal.backend().to_string()
    }

    #[test]
    fn a_reason_is_seen_whole_and_hides_neither_the_selection_nor_how_much_was_found() {
        let mut state = state("linker");
        state.rows = vec![row(SessionRow::default())];
        state.marked.toggle(&state.rows[0]);
        state.summary = Answer {
            question: Question {
                query: "linker".to_owned(),
                ..Question::default()
            },
            filters: vec!["project:x".to_owned()],
            total_exact: true,
            complete: true,
            notes: vec!["column 22: project: is left out while it is typed".to_owned()],
            ..Answer::default()
        };
        let screen = seen(&state, 40, 10);
        assert!(
            screen.contains("column 22: project: is left out while it"),
            "{screen}"
        );
        assert!(screen.contains("is typed"), "{screen}");
        assert!(screen.contains("1 found · 1 marked"), "{screen}");
        // Where it fits, it takes no line of its own.
        let last = seen(&state, 120, 10).lines().last().map(str::to_owned);
        assert!(last.is_some_and(|last| last.contains("is typed")));
        // The row on which the selection stands stays.
        let screen = seen(&state, 40, 4);
        assert_eq!(
            screen
                .lines()
                .filter(|line| line.contains(char::is_alphabetic))
                .count(),
            1
        );
        assert!(screen.contains("column 22"), "{screen}");
    }

    #[test]
    fn where_enter_takes_one_alone_that_is_said() {
        let mut state = state("");
        for (purpose, said) in [
            (Purpose::Resume, Some("continues")),
            (Purpose::Show, Some("reads")),
            (Purpose::Tree, Some("draws")),
            (Purpose::Print(PrintFormat::Id), None),
        ] {
            state.purpose = purpose;
            state.marked = Marks::default();
            for (id, is_said) in [("a", false), ("b", said.is_some())] {
                let mut session = SessionRow::default();
                session.id = id.to_owned();
                state.marked.toggle(&row(session));
                assert_eq!(of_one_alone(&state).is_some(), is_said, "{purpose:?}");
            }
            let has = |said: &str| of_one_alone(&state).is_some_and(|all| all.contains(said));
            assert!(said.is_none_or(has), "{purpose:?}");
        }
    }

    #[test]
    fn a_notice_that_is_too_long_ends_where_it_no_longer_fits() {
        let notice_lines = |notice, width| notice_lines(notice, width, MOST_LINES);
        assert_eq!(notice_lines("Moved.", 10), ["Moved."]);
        let long = "It was not moved: the disk is full and nobody knows";
        let lines = notice_lines(long, 12);
        assert_eq!(lines, ["It was not", "moved: the", "disk is ful…"]);
        // Words that stand on lines of their own are still words where they share the last.
        assert_eq!(notice_lines("aaaa bbbb c d e", 4), ["aaaa", "bbbb", "c d…"]);
    }
}
