//! How do sessions stand in a table, however many there are? All are looked at first, which is when
//! the columns are measured; then they are printed one after the other. What stands in the lines is
//! kept in between where they are few.

use std::path::Path;

use sessionary::model::{SessionRow, ShortIds};

use crate::command::{labelled, title_within};
use crate::output::Screen;
use crate::output::style::Tone;
use crate::output::table::{Cell, Column, Columns, Lines};
use crate::output::text::plain_line;
use crate::output::time::{bytes, money, number};
use crate::places;

/// What a table shows beside age, id, agent, messages and title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionalColumns {
    Project,
    /// The project, where any is not the current directory.
    OtherProject,
    Created,
    Tokens,
    Cost,
    Size,
    Errors,
}

/// So many lines are kept at most: each takes some hundred bytes, and half the time is what is not
/// done twice.
const KEPT: usize = 4096;

/// The rows as a table.
pub fn table(
    rows: &[SessionRow],
    ids: ShortIds,
    shown: &[OptionalColumns],
    screen: &Screen,
) -> String {
    let mut look = ColumnWidths::new(ids, shown, screen);
    rows.iter().for_each(|row| look.see(row));
    let mut printed = look.rows();
    printed.all().unwrap_or_else(|| {
        let mut out = printed.header();
        rows.iter().for_each(|row| printed.line(&mut out, row));
        out
    })
}

/// Sessions that are looked at before any of them is printed.
pub struct ColumnWidths<'a> {
    columns: Columns,
    ids: ShortIds,
    /// The cells of all of them, where they are few.
    kept: Option<Vec<Vec<Cell>>>,
    shown: &'a [OptionalColumns],
    screen: &'a Screen,
}

impl<'a> ColumnWidths<'a> {
    /// At none of them yet.
    pub fn new(ids: ShortIds, shown: &'a [OptionalColumns], screen: &'a Screen) -> Self {
        let mut columns = vec![
            Column::text("AGE"),
            Column::text("SESSION"),
            Column::text("AGENT"),
            Column::number("MSGS"),
            Column::number("SUBS").where_any(),
        ];
        columns.extend(shown.iter().map(|column| match column {
            OptionalColumns::Project | OptionalColumns::OtherProject => Column::path("PROJECT"),
            OptionalColumns::Created => Column::text("CREATED"),
            OptionalColumns::Tokens => Column::number("TOKENS"),
            OptionalColumns::Cost => Column::number("COST"),
            OptionalColumns::Size => Column::number("SIZE"),
            OptionalColumns::Errors => Column::number("ERRORS"),
        }));
        columns.push(Column::long("TITLE"));
        let always = columns.len() - shown.len() - 1;
        let mut columns = Columns::new(&columns);
        let other = shown
            .iter()
            .position(|column| *column == OptionalColumns::OtherProject);
        if let Some(at) = other {
            columns.leave_out_usual(always + at, screen.path(&places::surroundings().cwd));
        }
        Self {
            columns,
            ids,
            kept: Some(Vec::new()),
            shown,
            screen,
        }
    }

    /// Takes the measure of a session.
    pub fn see(&mut self, row: &SessionRow) {
        let cells = cells(row, &self.ids, self.shown, self.screen);
        self.columns.hold(&cells);
        self.kept = self.kept.take().filter(|kept| kept.len() < KEPT);
        if let Some(kept) = &mut self.kept {
            kept.push(cells);
        }
    }

    /// All have been looked at.
    pub fn rows(self) -> Rows<'a> {
        Rows {
            lines: self
                .columns
                .side_by_side(self.screen.style, self.screen.width),
            ids: self.ids,
            kept: self.kept,
            shown: self.shown,
            screen: self.screen,
        }
    }
}

/// Sessions that are printed one after the other. One that has changed since the first look may not
/// fit its columns.
pub struct Rows<'a> {
    lines: Lines,
    ids: ShortIds,
    kept: Option<Vec<Vec<Cell>>>,
    shown: &'a [OptionalColumns],
    screen: &'a Screen,
}

impl Rows<'_> {
    /// The line above all.
    pub fn header(&self) -> String {
        self.lines.header()
    }

    /// The line of a session.
    pub fn line(&self, out: &mut String, row: &SessionRow) {
        let cells = cells(row, &self.ids, self.shown, self.screen);
        self.lines.line(out, &cells);
    }

    /// The whole table; `None`: they are so many that they must be printed again.
    pub fn all(&mut self) -> Option<String> {
        let kept = self.kept.take()?;
        let mut out = self.header();
        for cells in kept {
            self.lines.line(&mut out, &cells);
        }
        Some(out)
    }
}

/// What stands in a session's line.
fn cells(
    row: &SessionRow,
    ids: &ShortIds,
    shown: &[OptionalColumns],
    screen: &Screen,
) -> Vec<Cell> {
    let agent = labelled(&row.agent, row.label.as_deref());
    let subagents = match row.subagents {
        0 => String::new(),
        some => some.to_string(),
    };
    let counted = |count: String| match row.not_read_yet {
        true => "…".to_owned(),
        false => count,
    };
    let mut cells = vec![
        (Tone::Quiet, screen.age(row.modified.as_deref())),
        (Tone::Name, plain_line(ids.short(&row.id))),
        (Tone::Plain, plain_line(&agent)),
        (Tone::Quiet, counted(number(row.message_count))),
        (Tone::Quiet, subagents),
    ];
    cells.extend(shown.iter().map(|column| match column {
        OptionalColumns::Project | OptionalColumns::OtherProject => {
            (Tone::Plain, screen.path(Path::new(&row.cwd)))
        }
        OptionalColumns::Created => (Tone::Quiet, screen.age(row.created.as_deref())),
        OptionalColumns::Tokens => (Tone::Quiet, row.tokens.map(number).unwrap_or_default()),
        OptionalColumns::Cost => (Tone::Quiet, row.cost.map(money).unwrap_or_default()),
        OptionalColumns::Size => (Tone::Quiet, counted(bytes(row.bytes))),
        OptionalColumns::Errors => (Tone::Quiet, counted(number(row.errors))),
    }));
    cells.push(marked_title(row));
    cells
}

/// The title, and that its file is gone, or why the agent would not list the session.
fn marked_title(row: &SessionRow) -> Cell {
    // In a pipe nothing else cuts a first message of many pages.
    let (tone, title) = title_within(row, 200);
    if row.archived {
        return (Tone::Quiet, format!("[archived] {title}"));
    }
    if row.listed_by_agent {
        return (tone, title);
    }
    let reason = plain_line(row.reason.as_deref().unwrap_or("unknown reason"));
    (Tone::Warn, format!("[unlisted: {reason}] {title}"))
}
