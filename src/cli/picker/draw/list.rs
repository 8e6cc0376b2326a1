//! How does the list look? Two lines a session: its title and age; what is known of it, or what was
//! found in it.

use std::path::Path;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use sessionary::model::{BranchPlace, Hit, SessionRow};

use super::{ROW_LINES, Reader, fitted};
use crate::command::title;
use crate::output::text::{columns, fit, fit_end, plain_line, plain_line_marked, prefix};
use crate::output::time::{count, money};
use crate::output::wrap;
use crate::picker::State;
use crate::picker::message::Row;
use crate::picker::palette::Palette;

/// A session that was written so shortly ago is being written.
const LIVE_MS: i64 = 2 * 60_000;
/// Columns of a folder's end that are shown, whatever else is known.
const LEAST_FOLDER: usize = 12;
/// What stands before each line of the row on which the selection stands, and of others; and before
/// its title where nothing is said by looks.
const SELECTED: &str = "▌";
const SELECTED_PLAIN: &str = ">";
const OTHER: &str = " ";

pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, reader: &Reader<'_>) {
    if state.rows.is_empty() {
        let width = usize::from(area.width);
        let lines = state.summary.not_found.iter().flat_map(|text| {
            let pieces = wrap::pieces(text, width.saturating_sub(2).max(1)).into_iter();
            pieces.map(move |(_, part)| format!(" {}", &text[part]))
        });
        for (text, row) in lines.zip(area.rows()) {
            let line = Line::styled(text, reader.palette.quiet());
            frame.render_widget(fitted(line, width), row);
        }
    }
    let shown = usize::from(area.height / ROW_LINES).max(1);
    let rows = state.rows.iter().enumerate().skip(state.top).take(shown);
    for (at, row) in rows {
        let y = area.y + u16::try_from(at - state.top).unwrap_or(0) * ROW_LINES;
        let look = Look {
            is_selected: at == state.selected,
            is_marked: state.marked.contains(&row.key()),
            width: usize::from(area.width),
            reader,
        };
        for (line, y) in look.lines(row).into_iter().zip(y..) {
            if y < area.bottom() {
                let line = fitted(line, usize::from(area.width));
                frame.render_widget(line, Rect::new(area.x, y, area.width, 1));
            }
        }
    }
}

/// How a row is drawn.
struct Look<'a> {
    is_selected: bool,
    is_marked: bool,
    width: usize,
    reader: &'a Reader<'a>,
}

impl Look<'_> {
    /// The title, and at the right how long ago it was written; then what was found, or what is
    /// known where that stands in the title.
    fn lines(&self, row: &Row) -> [Line<'static>; 2] {
        let (session, palette) = (&row.session, self.reader.palette);
        let age = self.age(session);
        let pin = if row.is_pinned { "★ " } else { "" };
        let room = self
            .width
            .saturating_sub(3 + columns(&age.content) + columns(pin));
        let whole = title(session).1;
        let seen = fit(&whole, room);
        let found = row.hits.first();
        let on_branch = found.filter(|hit| place(hit).is_empty());
        let in_title = on_branch.and_then(|hit| {
            let (text, marks) = snippet(hit);
            marks_in_title(&text, marks, &whole, &seen)
        });
        let strong = match self.is_selected {
            true => palette.strong(),
            false => Style::new(),
        };
        let mark = if self.is_marked { "●" } else { " " };
        let gap = room.saturating_sub(columns(&seen)) + 1;
        let mut first = vec![
            self.edge(SELECTED_PLAIN),
            Span::styled(mark, palette.person()),
            Span::styled(pin, strong),
        ];
        let marks = in_title.as_deref().unwrap_or_default();
        first.extend(marked(&seen, 0, marks, [strong, palette.matched()]));
        first.extend([Span::raw(" ".repeat(gap)), age]);
        let mut second = vec![self.edge(OTHER), Span::raw(" ")];
        let room = self.width.saturating_sub(2);
        second.extend(match found.filter(|_| in_title.is_none()) {
            Some(hit) => said(hit, room, palette),
            None => self.known(row, room),
        });
        [Line::from(first), Line::from(second)]
    }

    /// How long ago it was written.
    fn age(&self, session: &SessionRow) -> Span<'static> {
        let palette = self.reader.palette;
        let is_live = session
            .modified_ms
            .is_some_and(|ms| (0..LIVE_MS).contains(&(self.reader.now.ms - ms)));
        match is_live {
            true => Span::styled("writing", palette.name()),
            false => Span::styled(
                self.reader.age(session.modified.as_deref()),
                palette.quiet(),
            ),
        }
    }

    /// Its folder, and what else is known.
    fn known(&self, row: &Row, room: usize) -> Vec<Span<'static>> {
        let palette = self.reader.palette;
        let folder = self.reader.screen.path(Path::new(&row.session.cwd));
        let look = match row.is_here {
            true => palette.name(),
            false => palette.quiet(),
        };
        let known = known(&row.session);
        let room = room.saturating_sub(columns(&known)).max(LEAST_FOLDER);
        vec![
            Span::styled(fit_end(&folder, room), look),
            Span::styled(known, palette.quiet()),
        ]
    }

    /// What stands at the left; `plain` for somebody who hears it read.
    fn edge(&self, plain: &'static str) -> Span<'static> {
        let palette = self.reader.palette;
        let edge = match (self.is_selected, palette.is_plain()) {
            (false, _) => OTHER,
            (true, true) => plain,
            (true, false) => SELECTED,
        };
        Span::styled(edge, palette.current())
    }
}

/// What is known of a session beside its folder.
fn known(session: &SessionRow) -> String {
    let mut parts = vec![
        String::new(),
        plain_line(&session.agent),
        match session.not_read_yet {
            true => "being read".to_owned(),
            false => count(session.message_count, "message"),
        },
    ];
    parts.extend(session.host.as_deref().map(plain_line));
    // What an agent does not list may be a subagent's, which has the one that started it above it.
    let is_fork = session.parent_session_path.is_some() && session.listed_by_agent;
    parts.extend(is_fork.then(|| "fork".to_owned()));
    parts.extend(session.archived.then(|| "archived".to_owned()));
    parts.extend(session.cost.filter(|cost| *cost > 0.0).map(money));
    if session.subagents > 0 {
        parts.push(count(session.subagents, "subagent"));
    }
    parts.join(" · ")
}

/// What is said of where it stands in the tree of its session.
fn place(hit: &Hit) -> &'static str {
    match hit.place {
        Some(BranchPlace::Abandoned) => "abandoned ",
        Some(BranchPlace::Compacted) => "before compaction ",
        Some(BranchPlace::Active) | None => "",
    }
}

/// The words around the match.
fn snippet(hit: &Hit) -> (String, Vec<(usize, usize)>) {
    plain_line_marked(&hit.snippet, &hit.highlights)
}

/// The words around the match, and where it stands in the tree of its session.
fn said(hit: &Hit, room: usize, palette: Palette) -> Vec<Span<'static>> {
    let (quiet, matched) = (palette.quiet(), palette.matched());
    let place = place(hit);
    let mut spans = vec![Span::styled(place, palette.warning())];
    let (text, marks) = snippet(hit);
    let room = room.saturating_sub(columns(place));
    let (from, cut) = beginning(&text, &marks, room);
    spans.extend(cut.map(|cut| Span::styled(cut, quiet)));
    spans.extend(marked(&text, from, &marks, [quiet, matched]));
    spans
}

/// A text from this byte on, with what matches in it.
fn marked(
    text: &str,
    from: usize,
    marks: &[(usize, usize)],
    [usual, matched]: [Style; 2],
) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut at = from;
    for (start, end) in marks {
        let start = at.max(*start);
        spans.push(Span::styled(text[at..start].to_owned(), usual));
        spans.push(Span::styled(text[start..*end].to_owned(), matched));
        at = *end;
    }
    spans.push(Span::styled(text[at..].to_owned(), usual));
    spans
}

/// What matches in a title, of which so much is `seen`, where it says all that was found.
fn marks_in_title(
    text: &str,
    marks: Vec<(usize, usize)>,
    title: &str,
    seen: &str,
) -> Option<Vec<(usize, usize)>> {
    let said = text.trim_end_matches('…');
    let least = said.len().min(seen.trim_end_matches('…').len());
    let is_seen = marks.last()?.1 <= least;
    (is_seen && title.starts_with(said)).then_some(marks)
}

/// From which byte on a line is shown that is longer than there is room, so that its first match is
/// seen; and what stands for what is left out.
fn beginning(text: &str, marks: &[(usize, usize)], room: usize) -> (usize, Option<&'static str>) {
    let Some((start, end)) = marks.first() else {
        return (0, None);
    };
    if columns(text) <= room || columns(&text[..*end]) <= room {
        return (0, None);
    }
    // A third of what is seen stands before the match.
    let before = columns(&text[..*start]).saturating_sub(room / 3);
    // What takes no room at the match goes with it.
    (prefix(text, before).len().min(*start), Some("…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_is_told_from_what_it_was_forked_from() {
        let mut session = SessionRow::default();
        session.agent = "pi".to_owned();
        session.listed_by_agent = true;
        assert_eq!(known(&session), " · pi · 0 messages");
        session.parent_session_path = Some("/s/a.jsonl".to_owned());
        assert_eq!(known(&session), " · pi · 0 messages · fork");
        session.listed_by_agent = false;
        assert_eq!(known(&session), " · pi · 0 messages");
    }

    #[test]
    fn what_the_title_says_is_not_said_twice() {
        let title = "Linker error in CI";
        let found = |text, seen| marks_in_title(text, vec![(7, 12)], title, seen);
        assert_eq!(found(title, title), Some(vec![(7, 12)]));
        assert_eq!(found("Linker error…", "Linker error…"), Some(vec![(7, 12)]));
        assert_eq!(found(title, "Linker er…"), None);
        assert_eq!(found("A tiny error", title), None);
        let on_dots = marks_in_title("foo…", vec![(3, 6)], "fooéé", "fooéé");
        assert_eq!(on_dots, None);
    }

    #[test]
    fn a_match_at_the_end_of_a_long_line_is_seen() {
        let text = format!("{}needle at the end", "hay ".repeat(40));
        let start = text.find("needle").unwrap_or_default();
        let (from, cut) = beginning(&text, &[(start, start + 6)], 40);
        assert!(cut.is_some() && start - from < 40 && start > from, "{from}");
        assert_eq!(beginning(&text, &[(0, 3)], 40), (0, None));
        let (text, marks) = ("hay e\u{301}\u{302} hay", [(5, 7), (7, 9)]);
        let (from, cut) = beginning(text, &marks, 2);
        assert_eq!((from, cut), (5, Some("…")));
        assert_eq!(marked(text, from, &marks, [Style::new(); 2]).len(), 5);
        assert_eq!(beginning("短い文", &[(0, 3)], 3), (0, None));
        let wide = "漢".repeat(60);
        let (from, _) = beginning(&wide, &[(150, 153)], 20);
        assert!(wide.is_char_boundary(from) && from < 150);
    }
}
