//! How do sessions stand in a table, however many there are? All are looked at first, which is when
//! the columns are measured; then they are printed one after the other. What stands in the lines is
//! kept in between where they are few.

use std::path::Path;

use sessionary::model::SessionRow;

use crate::command::title_within;
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

/// Which of a line's cells is the id.
const ID: usize = 1;

/// The rows as a table.
pub fn table(rows: &[SessionRow], shown: &[OptionalColumns], screen: &Screen) -> String {
    let mut look = ColumnWidths::new(shown, screen);
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
    ids: Vec<Box<str>>,
    /// The cells of all of them, where they are few.
    kept: Option<Vec<Vec<Cell>>>,
    shown: &'a [OptionalColumns],
    screen: &'a Screen,
}

impl<'a> ColumnWidths<'a> {
    /// At none of them yet.
    pub fn new(shown: &'a [OptionalColumns], screen: &'a Screen) -> Self {
        let mut columns = vec![
            Column::text("AGE"),
            Column::text("SESSION"),
            Column::text("AGENT"),
            Column::number("MSGS"),
            Column::number("SUBAGENTS").where_any(),
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
            ids: Vec::new(),
            kept: Some(Vec::new()),
            shown,
            screen,
        }
    }

    /// Takes the measure of a session.
    pub fn see(&mut self, row: &SessionRow) {
        let mut cells = cells(row, self.shown, self.screen);
        // How much of its id is shown depends on the others.
        let id = cells.get_mut(ID).map(|(_, id)| std::mem::take(id));
        self.columns.hold(&cells);
        if let (Some((_, empty)), Some(id)) = (cells.get_mut(ID), id) {
            *empty = id;
        }
        self.ids.push(row.id.as_str().into());
        self.kept = self.kept.take().filter(|kept| kept.len() < KEPT);
        if let Some(kept) = &mut self.kept {
            kept.push(cells);
        }
    }

    /// All have been looked at.
    pub fn rows(mut self) -> Rows<'a> {
        let ids = ShortIds::of(self.ids);
        for id in ids.all() {
            self.columns
                .hold(&[(Tone::Quiet, String::new()), (Tone::Name, id)]);
        }
        Rows {
            lines: self
                .columns
                .side_by_side(self.screen.style, self.screen.width),
            ids,
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
        self.put(out, &mut cells(row, self.shown, self.screen));
    }

    /// The whole table; `None`: they are so many that they must be printed again.
    pub fn all(&mut self) -> Option<String> {
        let kept = self.kept.take()?;
        let mut out = self.header();
        for mut cells in kept {
            self.put(&mut out, &mut cells);
        }
        Some(out)
    }

    fn put(&self, out: &mut String, cells: &mut [Cell]) {
        if let Some((_, id)) = cells.get_mut(ID) {
            *id = self.ids.short(id);
        }
        self.lines.line(out, cells);
    }
}

/// What stands in a session's line, its id in full.
fn cells(row: &SessionRow, shown: &[OptionalColumns], screen: &Screen) -> Vec<Cell> {
    let agent = match &row.label {
        Some(label) => format!("{}={label}", row.agent),
        None => row.agent.clone(),
    };
    let subagents = match row.subagents {
        0 => String::new(),
        some => some.to_string(),
    };
    let mut cells = vec![
        (Tone::Quiet, screen.age(row.modified.as_deref())),
        (Tone::Name, row.id.clone()),
        (Tone::Plain, plain_line(&agent)),
        (Tone::Quiet, number(row.message_count)),
        (Tone::Quiet, subagents),
    ];
    cells.extend(shown.iter().map(|column| match column {
        OptionalColumns::Project | OptionalColumns::OtherProject => {
            (Tone::Plain, screen.path(Path::new(&row.cwd)))
        }
        OptionalColumns::Created => (Tone::Quiet, screen.age(row.created.as_deref())),
        OptionalColumns::Tokens => (Tone::Quiet, row.tokens.map(number).unwrap_or_default()),
        OptionalColumns::Cost => (Tone::Quiet, row.cost.map(money).unwrap_or_default()),
        OptionalColumns::Size => (Tone::Quiet, bytes(row.bytes)),
        OptionalColumns::Errors => (Tone::Quiet, number(row.errors)),
    }));
    cells.push(marked_title(row));
    cells
}

/// The title, and why the agent would not list the session.
fn marked_title(row: &SessionRow) -> Cell {
    // In a pipe nothing else cuts a first message of many pages.
    let (tone, title) = title_within(row, 200);
    if row.listed_by_agent {
        return (tone, title);
    }
    let reason = plain_line(row.reason.as_deref().unwrap_or("unknown reason"));
    (
        Tone::Warn,
        format!(
            "[not listed by {}: {reason}] {title}",
            plain_line(&row.agent)
        ),
    )
}

/// Shortest beginnings of ids, at least eight characters long, that tell them apart.
pub struct ShortIds {
    sorted: Vec<Box<str>>,
}

impl ShortIds {
    /// Of these ids.
    pub fn of(mut ids: Vec<Box<str>>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        Self { sorted: ids }
    }

    fn all(&self) -> impl Iterator<Item = String> {
        self.sorted.iter().map(|id| self.short(id))
    }

    /// The beginning of one of them.
    pub fn short(&self, id: &str) -> String {
        let shared = |other: &str| {
            let both = other.chars().zip(id.chars());
            both.take_while(|(a, b)| a == b).count()
        };
        let before = self.sorted.partition_point(|other| **other < *id);
        let after = self.sorted.partition_point(|other| **other <= *id);
        let beside = [before.checked_sub(1), Some(after)];
        let others = beside.into_iter().filter_map(|at| self.sorted.get(at?));
        let shared = others.map(|other| shared(other)).max();
        let needed = (shared.unwrap_or(0) + 1).max(8);
        // An id that ends just behind is not worth cutting; neither is a trailing hyphen.
        let end = match id.char_indices().nth(needed + 4) {
            Some(_) => id.char_indices().nth(needed).map_or(id.len(), |(at, _)| at),
            None => id.len(),
        };
        plain_line(id[..end].trim_end_matches('-'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_where_they_differ() {
        let ids = [
            "019b0000-0000-7000-8000-00000000000a",
            "019b0000-0001-7000-8000-00000000000b",
            "abc",
            "f47ac10b-58cc-4372-a567-0e02b2c3d479",
        ];
        let short = ShortIds::of(ids.map(Into::into).to_vec());
        assert_eq!(
            short.all().collect::<Vec<_>>(),
            ["019b0000-0000", "019b0000-0001", "abc", "f47ac10b"]
        );
        // One that has come since is told apart from them all the same.
        assert_eq!(
            short.short("019b0000-0001-7000-8000-00000000000c"),
            "019b0000-0001-7000-8000-00000000000c"
        );
    }
}
